/*
 * An oracle for every network: the rules of docs/models/noc.md, noc-general.md and noc-routing.md taken
 * literally, every virtual channel of every router in every cycle, flits as objects, lists of who asks. It
 * shares nothing with models/noc but the configuration and what packets draw at random, and is slow.
 */
#ifndef PIMSIM_TESTS_UNIT_NOC_ORACLE_ORACLE_H
#define PIMSIM_TESTS_UNIT_NOC_ORACLE_ORACLE_H

#include "tests/unit/noc_general/support.h"

#include "models/traffic/requests.h"

/*
 * Runs the stimulus and fills in the answers; a packet's `message` is its class. False when nothing has
 * moved for a long time: the network is stuck. `links` and `ends`, which may be NULL: as of run().
 */
bool oracle_run(const struct pim_noc_configuration *configuration, struct list *list, struct links *links,
                struct links *ends);

/*
 * Requests, replies and batches, by docs/models/noc-requests.md: the packets in the order in which they are
 * made, which `made` takes. `batch_cycles` has room for all batches, `links` as above. False as above, and
 * when a batch does not end.
 */
bool oracle_exchange(const struct pim_noc_configuration *configuration, const struct pim_requests *exchange,
                     const struct pim_packet_list *requests, struct list *made, uint64_t *batch_cycles,
                     struct links *links);

#endif

/*
 * An oracle for every network: the rules of docs/models/noc.md, noc-general.md and noc-routing.md taken
 * literally, every virtual channel of every router in every cycle, flits as objects, lists of who asks. It
 * shares nothing with models/noc but the configuration and what packets draw at random, and is slow.
 */
#ifndef PIMSIM_TESTS_UNIT_NOC_ORACLE_ORACLE_H
#define PIMSIM_TESTS_UNIT_NOC_ORACLE_ORACLE_H

#include "tests/unit/noc_general/support.h"

/*
 * Runs the stimulus and fills in the answers; a packet's `message` is its class. False when nothing has
 * moved for a long time: the network is stuck. `links`: as of run(), busy cycles left out.
 */
bool oracle_run(const struct pim_noc_configuration *configuration, struct list *list, struct links *links);

#endif

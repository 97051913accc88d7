/* Random networks of every topology, and random packets for them. */
#ifndef PIMSIM_TESTS_UNIT_NOC_ORACLE_RANDOM_NETWORK_H
#define PIMSIM_TESTS_UNIT_NOC_ORACLE_RANDOM_NETWORK_H

#include "tests/unit/noc_general/support.h"

/* A network that the check accepts; its file, if it has one, is written to /tmp. Packets of a list have
 * kinds of messages or classes when the network has. */
struct pim_noc_configuration random_network(struct pim_random *random);
void remove_files(const struct pim_noc_configuration *configuration);

struct list random_packets(struct pim_random *random, const struct pim_noc_configuration *configuration);

#endif

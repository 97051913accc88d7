/* Random networks of every topology, and random packets for them. */
#ifndef PIMSIM_TESTS_UNIT_NOC_ORACLE_RANDOM_NETWORK_H
#define PIMSIM_TESTS_UNIT_NOC_ORACLE_RANDOM_NETWORK_H

#include "tests/unit/noc_general/support.h"

enum variety {
    ORDINARY,
    USUAL,   /* a mesh or torus with the rules that most have, of which much is done in advance */
    FILES,   /* express links, links that differ, tables of ways */
    WIDE,    /* routers of up to 36 ports and 32 virtual channels */
    MESSAGES /* four kinds of messages */
};

/* A network that the check accepts; its files are written to /tmp. Packets of a list have
 * kinds of messages or classes when the network has. */
struct pim_noc_configuration random_network(struct pim_random *random, enum variety variety);
void remove_files(const struct pim_noc_configuration *configuration);

struct list random_packets(struct pim_random *random, const struct pim_noc_configuration *configuration);

#endif

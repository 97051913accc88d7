/* Random express links, links that differ and tables of ways, written to files of a configuration. */
#ifndef PIMSIM_TESTS_UNIT_NOC_ORACLE_RANDOM_FILES_H
#define PIMSIM_TESTS_UNIT_NOC_ORACLE_RANDOM_FILES_H

#include "tests/unit/noc_general/support.h"

/* Of a mesh or torus; `most`: leave a router. May write none. */
void random_express(struct pim_random *random, struct pim_noc_configuration *is, uint32_t most);

void random_links(struct pim_random *random, struct pim_noc_configuration *is);

/* A shortest way by random lengths of the links, from every router to every other. */
void random_table(struct pim_random *random, struct pim_noc_configuration *is);

#endif

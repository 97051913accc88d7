/* What the tests of the mesh share: the measured lists with their configurations, and random cases. */
#ifndef PIMSIM_TESTS_UNIT_NOC_CASES_H
#define PIMSIM_TESTS_UNIT_NOC_CASES_H

#include "tests/unit/noc/lists.h"

#include "sim/random.h"

enum { GOLDEN_LISTS = 14 };

/* The name of a list measured on BookSim 2 (tests/data/noc/), and the configuration it was measured with. */
const char *golden_name(int index);
struct pim_noc_configuration golden_configuration(int index);

/* The defaults with 8 virtual channels, as all measurements of 8x8. */
struct pim_noc_configuration eight_channels(void);

/* From least to most; true once in one_in times. */
uint32_t pick(struct pim_random *random, uint32_t least, uint32_t most);
bool chance(struct pim_random *random, uint32_t one_in);

/* Up to 6 x 6 routers with any options that the fast mesh knows. */
struct pim_noc_configuration random_mesh(struct pim_random *random);

/* Packets of up to 7 flits, most of one, at a rate between a few in the whole mesh and more than it can
 * take. */
struct list random_short_packets(struct pim_random *random,
                                 const struct pim_noc_configuration *configuration);

#endif

/*
 * Mappings near a mapping: a nest that was found good, changed in one place.
 *
 * All factors and orders of the nest are pinned, but for what a draw changes: two dimensions exchange prime
 * factors between two slots, the loops of a slot in time come in another order, all factors of one or two
 * dimensions are drawn anew, or those of all dimensions in two slots. What the space itself pins stays.
 */
#ifndef PIMSIM_MAPPERS_NEST_NEAR_H
#define PIMSIM_MAPPERS_NEST_NEAR_H

#include "mappers/nest/space.h"

/* The space of the samples near `nest`, a sample of `space`, after one change that is drawn. Its samples may
 * be `nest` itself, and there may be none. */
void pim_mapping_space_near(const struct pim_mapping_space *space, const struct pim_nest *nest,
                            struct pim_random *random, struct pim_mapping_space *near);

/* The same loops in the same order, but for loops that are in space or inside of a bank, whose order says
 * nothing about time. */
bool pim_nest_like(const struct pim_nest *one, const struct pim_nest *other);

#endif

/*
 * Layouts in which all layers take the same number of steps: a layer of w windows has w / s replicas, rounded
 * up, so that each of them goes through s windows at most. Where layers hold each other back, a layout of few
 * steps needs many replicas more at once, and a search that adds them one by one gains nothing on the way.
 */
#ifndef PIMSIM_MAPPERS_PIMCOMP_LAYOUT_EVEN_H
#define PIMSIM_MAPPERS_PIMCOMP_LAYOUT_EVEN_H

#include "mappers/pimcomp/representation/pimcomp.h"

/*
 * Up to `most` such layouts: that of the fewest steps which finds room, then of an eighth more steps each.
 * Replicas are placed first fit, layers by falling size of their groups. None when not even one replica of
 * each layer finds room like this. PIM_NO_MEMORY.
 */
enum pim_status pim_core_layouts_even(const struct pim_core_mapping *mapping, uint32_t most,
                                      struct pim_arena *arena, struct pim_core_layout *layout,
                                      uint32_t *count, struct pim_error *error);

#endif

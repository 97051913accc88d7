/*
 * The layout of an earlier plan, as `pimsim map pimcomp --format json` writes it: for each layer with weights
 * `replicas`, and `placement`, the core of each array group of each replica.
 */
#ifndef PIMSIM_MAPPERS_PIMCOMP_LAYOUT_PLAN_FILE_H
#define PIMSIM_MAPPERS_PIMCOMP_LAYOUT_PLAN_FILE_H

#include "mappers/pimcomp/representation/pimcomp.h"
#include "sim/output/json.h"

/* What a layer's entry says of its layout. */
void pim_core_layout_write(struct pim_json *json, const struct pim_core_partition_layer *partition,
                           const struct pim_core_layout_layer *layout);

/*
 * Reads the layout for a mapping without one; in `arena`, as are *taken, the name that the plan gives it.
 * *nothing_kept: the plan keeps no maps on chip. PIM_BAD_INPUT: the plan is of another network or partition,
 * or has no room on these cores.
 */
enum pim_status pim_core_layout_read(const char *path, const struct pim_core_mapping *mapping,
                                     struct pim_arena *arena, struct pim_core_layout *layout,
                                     const char **taken, bool *nothing_kept, struct pim_error *error);

/*
 * Reads the layouts of a file with one plan, or a list of them: those that differ, in their order, up to
 * `most`. PIM_BAD_INPUT as above, and where more differ.
 */
enum pim_status pim_core_layouts_read(const char *path, const struct pim_core_mapping *mapping, uint32_t most,
                                      struct pim_arena *arena, struct pim_core_layout *layout,
                                      uint32_t *count, struct pim_error *error);

#endif

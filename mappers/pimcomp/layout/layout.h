/*
 * Layouts: how many replicas of each layer there are, and which core holds which array group of which
 * replica (paper, section VI; docs/mappers/pimcomp.md, section Layout).
 *
 * All layouts keep invariants 3 and 4 of representation/pimcomp.h; pim_core_layout_check() verifies them.
 */
#ifndef PIMSIM_MAPPERS_PIMCOMP_LAYOUT_LAYOUT_H
#define PIMSIM_MAPPERS_PIMCOMP_LAYOUT_LAYOUT_H

#include "mappers/pimcomp/representation/pimcomp.h"

/* Fills the layout of a mapping, which is not looked at before; it then lives in `arena`. */
typedef enum pim_status pim_core_layout_rule(const struct pim_core_mapping *mapping, struct pim_arena *arena,
                                             struct pim_core_layout *layout, struct pim_error *error);

/*
 * One replica of every layer, groups in the order of layers first fit into cores from core 0 on. When that
 * fails for its fragments, groups are placed in order of falling size. PIM_BAD_INPUT says how many arrays
 * found no room.
 */
enum pim_status pim_core_layout_first(const struct pim_core_mapping *mapping, struct pim_arena *arena,
                                      struct pim_core_layout *layout, struct pim_error *error);

/*
 * The first layout with more replicas, as the released PIMCOMP's "balance": always one more for the layer
 * with the most windows for each replica, until half of the arrays that one replica of each leaves are used
 * or the layer's next replica finds no room. Fully connected layers (one window) keep one.
 */
enum pim_status pim_core_layout_balance(const struct pim_core_mapping *mapping, struct pim_arena *arena,
                                        struct pim_core_layout *layout, struct pim_error *error);

/* The first core with room for so many arrays, which it then has no longer; PIM_NONE: there is none. */
uint32_t pim_core_first_fit(uint32_t *vacant, uint32_t cores, uint32_t arrays);

/* The layer with the most windows for each replica of those that can have one more; PIM_NONE: none can. */
uint32_t pim_core_most_loaded(const struct pim_core_mapping *mapping, const struct pim_core_layout *layout);

/* PIM_INTERNAL names the layer or the core that breaks invariant 3 or 4. */
enum pim_status pim_core_layout_check(const struct pim_core_mapping *mapping, struct pim_error *error);

/* Whether two layouts of a mapping have the same cores in the same order. */
bool pim_core_layouts_equal(const struct pim_core_mapping *mapping, const struct pim_core_layout *one,
                            const struct pim_core_layout *two);

/* Arrays that a layout uses of all cores together. */
uint64_t pim_core_layout_arrays(const struct pim_core_mapping *mapping);

#endif

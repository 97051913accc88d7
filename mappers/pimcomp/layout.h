/*
 * Layouts: how many replicas of each layer there are, and which core holds which array group of which
 * replica (paper, section VI; docs/mappers/pimcomp.md, section Layout).
 *
 * All layouts keep invariants 3 and 4 of mappers/pimcomp/pimcomp.h; pim_core_layout_check() verifies them.
 */
#ifndef PIMSIM_MAPPERS_PIMCOMP_LAYOUT_H
#define PIMSIM_MAPPERS_PIMCOMP_LAYOUT_H

#include "mappers/pimcomp/pimcomp.h"

/*
 * Cuts the weight matrices of a network into array groups. `forced` (one entry for each layer of the network,
 * those without a matrix are ignored) chooses the unfoldings; NULL: the greedy choice of section V-B, which
 * takes the fewest computation cycles, then the fewest arrays (those saved make replicas), then in high
 * throughput the least load volume, in low latency the least additional memory. PIM_BAD_INPUT: one replica
 * of every layer does not fit the accelerator (the message says how many arrays are missing), or a single
 * column of a layer is too large for a core.
 */
enum pim_status pim_core_partition_make(const struct pim_core_network *network,
                                        const struct pim_core_architecture *architecture,
                                        enum pim_core_mode mode, const enum pim_unfolding *forced,
                                        struct pim_arena *arena, struct pim_core_partition *partition,
                                        struct pim_error *error);

/* "ikk_o_1", ..; NULL outside. */
const char *pim_unfolding_name(unsigned unfolding);

/*
 * One replica of every layer, groups in the order of layers first fit into cores from core 0 on. When that
 * fails for its fragments, groups are placed in order of falling size. PIM_BAD_INPUT says how many arrays
 * found no room.
 */
enum pim_status pim_core_layout_first(const struct pim_core_architecture *architecture,
                                      const struct pim_core_network *network,
                                      const struct pim_core_partition *partition, struct pim_arena *arena,
                                      struct pim_core_layout *layout, struct pim_error *error);

/*
 * The first layout with more replicas, as the released PIMCOMP's "balance": always one more for the layer
 * with the most windows for each replica, until half of the arrays that one replica of each leaves are used
 * or the layer's next replica finds no room. Fully connected layers (one window) keep one.
 */
enum pim_status pim_core_layout_balance(const struct pim_core_architecture *architecture,
                                        const struct pim_core_network *network,
                                        const struct pim_core_partition *partition, struct pim_arena *arena,
                                        struct pim_core_layout *layout, struct pim_error *error);

/* PIM_INTERNAL names the layer or the core that breaks invariant 3 or 4. */
enum pim_status pim_core_layout_check(const struct pim_core_mapping *mapping, struct pim_error *error);

/* Arrays that a layout uses of all cores together. */
uint64_t pim_core_layout_arrays(const struct pim_core_mapping *mapping);

#endif

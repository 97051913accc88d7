/* Weight matrices cut into array groups (paper, section V; docs/mappers/pimcomp.md, section Partition). */
#ifndef PIMSIM_MAPPERS_PIMCOMP_PARTITION_PARTITION_H
#define PIMSIM_MAPPERS_PIMCOMP_PARTITION_PARTITION_H

#include "mappers/pimcomp/representation/pimcomp.h"

/*
 * Cuts the weight matrices of a network into array groups, all by one unfolding; PIM_UNFOLDINGS: each by the
 * greedy choice of section V-B, which takes the fewest computation cycles, then the fewest arrays (those
 * saved make replicas), then in high throughput the least load volume, in low latency the least additional
 * memory. PIM_BAD_INPUT: one replica of every layer does not fit the accelerator (the message says how many
 * arrays are missing, and how many cores would do), or a single column of a layer is too large for a core.
 */
enum pim_status pim_core_partition_make(const struct pim_core_network *network,
                                        const struct pim_core_architecture *architecture,
                                        enum pim_core_mode mode, enum pim_unfolding forced,
                                        struct pim_arena *arena, struct pim_core_partition *partition,
                                        struct pim_error *error);

/* With how many cores of this kind one replica of every layer finds room, groups first fit by falling size
 * (pim_core_layout_first with as many cores succeeds); 0 without memory. */
uint32_t pim_core_partition_least_cores(const struct pim_core_network *network,
                                        const struct pim_core_architecture *architecture,
                                        const struct pim_core_partition *partition, struct pim_arena *arena);

/* That for a message, "; 9 cores would do": "" where it is not known, or no hardware has as many. */
struct pim_core_remedy {
    char text[32];
};
struct pim_core_remedy pim_core_partition_remedy(const struct pim_core_network *network,
                                                 const struct pim_core_architecture *architecture,
                                                 const struct pim_core_partition *partition,
                                                 struct pim_arena *arena);

/* "ikk_o_1", ..; NULL outside. */
const char *pim_unfolding_name(unsigned unfolding);

#endif

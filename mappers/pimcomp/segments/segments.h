/*
 * Networks larger than the chip: partitions in time. The layers, in their order, are cut into segments whose
 * weights fit. For each segment its weights are written into the crossbars, then the whole batch goes through
 * it; maps that a later segment reads lie in the global memory (docs/mappers/pimcomp-segments.md).
 *
 *     network --split--> network without layers wider than the chip --cut--> segments --schedule--> programs
 *
 * A segment is a network of its own, whose inputs are what it reads of the network's inputs and of earlier
 * segments. So all stages work on segments as they are.
 *
 * Invariants:
 *  1. Every layer that is no input is in one segment; sources of a segment lie in it or in earlier ones.
 *  2. The array groups of a segment fit into the arrays; those of segment s are set s + 1 of the trace.
 *  3. Weights lie in the global memory in the order in which they are written.
 */
#ifndef PIMSIM_MAPPERS_PIMCOMP_SEGMENTS_SEGMENTS_H
#define PIMSIM_MAPPERS_PIMCOMP_SEGMENTS_SEGMENTS_H

#include "mappers/pimcomp/representation/pimcomp.h"
#include "mappers/pimcomp/schedule/schedule.h"

struct pim_core_segment {
    uint32_t begin, end;             /* layers of the network; inputs among them are of no segment */
    struct pim_core_network network; /* its consumers are those within */
    uint32_t *origin;                /* of each of its layers: that of the network */
    struct pim_core_partition partition;
    struct pim_core_layout layout;
    const char *taken;     /* the layout */
    bool no_keeping;       /* high throughput */
    uint64_t weight_bytes; /* of all replicas: what is loaded and written */
    uint64_t write_cycles; /* estimate of that */
    uint64_t round_cycles; /* closed form: of a saturated round or an inference */
    uint64_t cycles;       /* of writing and of all samples */
};

struct pim_core_segments {
    uint32_t count;
    struct pim_core_segment *segment;
};

struct pim_core_segment_problem {
    const struct pim_core_architecture *architecture;
    const struct pim_core_network *network; /* split; while it is split: nobody looks */
    enum pim_unfolding forced;              /* of all layers; PIM_UNFOLDINGS: greedy */
    enum pim_core_mode mode;
    uint32_t samples; /* that go through a segment before the next is written */
};

/* The network with matrices that are larger than the chip in parts, layers of their own: of fewer output
 * channels, of a grouped convolution of fewer groups. PIM_NO_MEMORY; PIM_BAD_INPUT names a layer whose parts
 * would not fit either. */
enum pim_status pim_core_segments_split(const struct pim_core_network *network,
                                        const struct pim_core_segment_problem *problem,
                                        struct pim_arena *arena, struct pim_core_network *split,
                                        struct pim_error *error);

/* Layers [begin, end) as a network, without partition and layout. PIM_NO_MEMORY. */
enum pim_status pim_core_segment_slice(const struct pim_core_network *network, uint32_t begin, uint32_t end,
                                       struct pim_arena *arena, struct pim_core_segment *segment,
                                       struct pim_error *error);

/* A segment as what it is to the stages. */
struct pim_core_mapping pim_core_segment_mapping(const struct pim_core_segment_problem *problem,
                                                 const struct pim_core_segment *segment);

/* A segment with partition and the better of the layouts `first` and `balance` for all samples.
 * PIM_BAD_INPUT: it does not fit. */
enum pim_status pim_core_segment_make(const struct pim_core_segment_problem *problem, uint32_t begin,
                                      uint32_t end, struct pim_arena *arena, struct pim_core_segment *segment,
                                      struct pim_error *error);

/* Rounds in which all samples go through a segment, at most. */
uint64_t pim_core_segment_rounds(const struct pim_core_segment_problem *problem,
                                 const struct pim_core_segment *segment);

/* What writing and samples take with the segment's layout. PIM_NO_MEMORY. */
enum pim_status pim_core_segment_weigh(const struct pim_core_segment_problem *problem,
                                       struct pim_core_segment *segment, struct pim_error *error);

/* The segments with the least sum of `cycles` over all cuts of the order (dynamic programming); `longest`:
 * the rule of thumb, every segment as long as it fits. With many layers cuts are where few maps cross, or
 * anywhere if those do not suffice. PIM_BAD_INPUT: no cut makes the network fit; says which layer. */
enum pim_status pim_core_segments_cut(const struct pim_core_segment_problem *problem, bool longest,
                                      struct pim_arena *arena, struct pim_core_segments *segments,
                                      struct pim_error *error);

/* Partition and layout of all segments, as those of the network: for whoever looks at layers. */
enum pim_status pim_core_segments_join(const struct pim_core_segment_problem *problem,
                                       const struct pim_core_segments *segments, struct pim_arena *arena,
                                       struct pim_core_partition *partition, struct pim_core_layout *layout,
                                       struct pim_error *error);

/* Emits the programs of all segments: as pim_core_schedule(), for the whole network. `options->batch` is at
 * least 1 in high throughput. */
enum pim_status pim_core_segments_schedule(const struct pim_core_segment_problem *problem,
                                           const struct pim_core_segments *segments,
                                           struct pim_trace_writer *writer,
                                           const struct pim_core_schedule_options *options,
                                           struct pim_arena *arena, struct pim_core_memory_map *map,
                                           struct pim_error *error);

#endif

/* Where the order of layers is cut: segments.h. */
#include "mappers/pimcomp/cost/estimate.h"
#include "mappers/pimcomp/layout/layout.h"
#include "mappers/pimcomp/partition/partition.h"
#include "mappers/pimcomp/segments/segments.h"
#include "sim/try.h"

#include <inttypes.h>
#include <string.h>

enum { POSITIONS_MOST = 80 };

/* --- one segment --- */

struct pim_core_mapping pim_core_segment_mapping(const struct pim_core_segment_problem *problem,
                                                 const struct pim_core_segment *segment)
{
    return (struct pim_core_mapping){.architecture = problem->architecture,
                                     .network = &segment->network,
                                     .partition = &segment->partition,
                                     .layout = &segment->layout,
                                     .mode = problem->mode};
}

/* Rows of one group follow each other; loads share the memories of all chips. */
static uint64_t write_cycles(const struct pim_core_segment_problem *problem,
                             const struct pim_core_segment *segment)
{
    const struct pim_core_architecture *a = problem->architecture;
    uint64_t chips = pim_core_chips(a), rows = 0;
    uint64_t bandwidth = chips * a->global_bytes_per_cycle;
    for (uint32_t i = 0; i < segment->network.count; i++)
        for (uint32_t g = 0; g < segment->partition.layer[i].groups; g++)
            if (segment->partition.layer[i].group[g].rows > rows)
                rows = segment->partition.layer[i].group[g].rows;
    uint64_t loads = (segment->weight_bytes + bandwidth - 1) / bandwidth, writes = rows * a->write_row_cycles;
    return loads > writes ? loads : writes;
}

static uint64_t weight_bytes(const struct pim_core_segment *segment)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < segment->network.count; i++) {
        const struct pim_core_partition_layer *part = &segment->partition.layer[i];
        for (uint32_t g = 0; g < part->groups; g++)
            bytes += (uint64_t)part->group[g].rows * part->group[g].folds * part->group[g].columns *
                     PIM_CORE_ELEMENT_BYTES * segment->layout.layer[i].replicas;
    }
    return bytes;
}

uint64_t pim_core_segment_rounds(const struct pim_core_segment_problem *problem,
                                 const struct pim_core_segment *segment)
{
    uint64_t matrices = 0;
    for (uint32_t i = 0; i < segment->network.count; i++)
        matrices += segment->network.layer[i].kind == PIM_CORE_MATRIX;
    if (problem->mode == PIM_CORE_LOW_LATENCY || matrices == 0)
        return problem->samples;
    return problem->samples + matrices - 1; /* groups of layers, at most */
}

enum pim_status pim_core_segment_weigh(const struct pim_core_segment_problem *problem,
                                       struct pim_core_segment *segment, struct pim_error *error)
{
    const struct pim_core_mapping mapping = pim_core_segment_mapping(problem, segment);
    struct pim_core_estimate estimate;
    PIM_TRY(pim_core_estimate_layout(&mapping, &estimate, error));
    segment->weight_bytes = weight_bytes(segment);
    segment->write_cycles = write_cycles(problem, segment);
    segment->round_cycles = estimate.cycles;
    segment->cycles = segment->write_cycles + pim_core_segment_rounds(problem, segment) * estimate.cycles;
    return PIM_OK;
}

enum pim_status pim_core_segment_make(const struct pim_core_segment_problem *problem, uint32_t begin,
                                      uint32_t end, struct pim_arena *arena, struct pim_core_segment *segment,
                                      struct pim_error *error)
{
    struct pim_core_segment balanced;
    struct pim_error ignored = {0};
    const struct pim_core_mapping mapping = pim_core_segment_mapping(problem, segment);
    PIM_TRY(pim_core_segment_slice(problem->network, begin, end, arena, segment, error));
    PIM_TRY(pim_core_partition_make(&segment->network, problem->architecture, problem->mode, problem->forced,
                                    arena, &segment->partition, error));
    PIM_TRY(pim_core_layout_first(&mapping, arena, &segment->layout, error));
    PIM_TRY(pim_core_segment_weigh(problem, segment, error));
    segment->taken = "first";
    balanced = *segment;
    balanced.taken = "balance";
    if (pim_core_layout_balance(&mapping, arena, &balanced.layout, &ignored) == PIM_OK &&
        pim_core_segment_weigh(problem, &balanced, &ignored) == PIM_OK && balanced.cycles < segment->cycles)
        *segment = balanced;
    return PIM_OK;
}

/* --- the cut --- */

/* Places between layers, with the cheapest way to get there. */
struct cut {
    const struct pim_core_segment_problem *problem;
    uint32_t count;
    uint32_t *position; /* layers before it; the last one is behind all */
    uint64_t *cycles;   /* UINT64_MAX: no way */
    uint32_t *from;
    struct pim_error why; /* the longest prefix could not be continued: from this layer to that */
    uint32_t why_begin, why_end;
};

static bool has_matrix(const struct pim_core_network *network, uint32_t begin, uint32_t end)
{
    bool any = false;
    for (uint32_t i = begin; i < end; i++)
        any = any || network->layer[i].kind == PIM_CORE_MATRIX;
    return any;
}

/* Maps that are made before a position and read behind it; inputs of the network lie in the memory anyway. */
static uint32_t crossing(const struct pim_core_network *network, uint32_t position)
{
    uint32_t maps = 0;
    for (uint32_t i = 0; i < position; i++) {
        bool read = false;
        for (uint32_t c = 0; c < network->layer[i].consumers; c++)
            read = read || network->layer[i].consumer[c] >= position;
        maps += read && network->layer[i].kind != PIM_CORE_INPUT;
    }
    return maps;
}

/* All positions, or of more than POSITIONS_MOST those that one map crosses. */
static enum pim_status list_positions(struct cut *cut, struct pim_arena *arena, bool all,
                                      struct pim_error *error)
{
    const struct pim_core_network *network = cut->problem->network;
    cut->position = PIM_ARENA_ARRAY(arena, uint32_t, network->count + (size_t)1);
    cut->cycles = PIM_ARENA_ARRAY(arena, uint64_t, network->count + (size_t)1);
    cut->from = PIM_ARENA_ARRAY(arena, uint32_t, network->count + (size_t)1);
    PIM_NEED_MEMORY(cut->position && cut->cycles && cut->from, error, "no memory to cut %" PRIu32 " layers",
                    network->count);
    cut->count = 0;
    for (uint32_t i = 0; i <= network->count; i++)
        if (i == 0 || i == network->count || all || network->count <= POSITIONS_MOST ||
            crossing(network, i) <= 1)
            cut->position[cut->count++] = i;
    return PIM_OK;
}

/* Extends the best way to position `from` by every segment that fits; those behind one that lacks arrays lack
 * more. */
static enum pim_status extend(struct cut *cut, uint32_t from, bool longest, struct pim_error *error)
{
    uint32_t last = from;
    for (uint32_t to = from + 1; to < cut->count; to++) {
        struct pim_arena scratch;
        struct pim_core_segment segment;
        struct pim_error failure = {0};
        if (!has_matrix(cut->problem->network, cut->position[from], cut->position[to]) ||
            (to + 1 < cut->count &&
             !has_matrix(cut->problem->network, cut->position[to], cut->position[cut->count - 1])))
            continue;
        pim_arena_initialize(&scratch, 1 << 16);
        enum pim_status status = pim_core_segment_make(cut->problem, cut->position[from], cut->position[to],
                                                       &scratch, &segment, &failure);
        uint64_t cycles = status == PIM_OK ? cut->cycles[from] + segment.cycles : UINT64_MAX;
        pim_arena_terminate(&scratch);
        if (status == PIM_NO_MEMORY || status == PIM_INTERNAL) {
            *error = failure;
            return status;
        }
        if (status != PIM_OK) {
            cut->why = failure;
            cut->why_begin = cut->position[from];
            cut->why_end = cut->position[to];
            break;
        }
        last = to;
        if (!longest && cycles < cut->cycles[to]) {
            cut->cycles[to] = cycles;
            cut->from[to] = from;
        }
    }
    if (longest && last != from) {
        cut->cycles[last] = 0;
        cut->from[last] = from;
    }
    return PIM_OK;
}

static enum pim_status walk(struct cut *cut, bool longest, struct pim_error *error)
{
    for (uint32_t i = 0; i < cut->count; i++)
        cut->cycles[i] = UINT64_MAX;
    cut->cycles[0] = 0;
    for (uint32_t i = 0; i + 1 < cut->count; i++)
        if (cut->cycles[i] != UINT64_MAX && extend(cut, i, longest, error) != PIM_OK)
            return error->status;
    return PIM_OK;
}

/* The segments of the way to the end. */
static enum pim_status collect(const struct cut *cut, struct pim_arena *arena,
                               struct pim_core_segments *segments, struct pim_error *error)
{
    segments->count = 0;
    for (uint32_t at = cut->count - 1; at > 0; at = cut->from[at])
        segments->count++;
    segments->segment = PIM_ARENA_ARRAY(arena, struct pim_core_segment, segments->count);
    PIM_NEED_MEMORY(segments->segment, error, "no memory for %" PRIu32 " segments", segments->count);
    uint32_t number = segments->count;
    for (uint32_t at = cut->count - 1; at > 0; at = cut->from[at])
        PIM_TRY(pim_core_segment_make(cut->problem, cut->position[cut->from[at]], cut->position[at], arena,
                                      &segments->segment[--number], error));
    return PIM_OK;
}

enum pim_status pim_core_segments_cut(const struct pim_core_segment_problem *problem, bool longest,
                                      struct pim_arena *arena, struct pim_core_segments *segments,
                                      struct pim_error *error)
{
    struct cut cut = {.problem = problem};
    for (int all = 0; all < 2; all++) {
        PIM_TRY(list_positions(&cut, arena, all, error));
        PIM_TRY(walk(&cut, longest, error));
        if (cut.cycles[cut.count - 1] != UINT64_MAX)
            return collect(&cut, arena, segments, error);
    }
    if (cut.why.status == PIM_OK)
        return pim_fail(error, PIM_BAD_INPUT, "network %s has no weights to write", problem->network->name);
    *error = cut.why;
    return pim_fail_in(error, "no cut into segments makes the network fit: layers %s to %s",
                       problem->network->layer[cut.why_begin].name,
                       problem->network->layer[cut.why_end - 1].name);
}

enum pim_status pim_core_segments_join(const struct pim_core_segment_problem *problem,
                                       const struct pim_core_segments *segments, struct pim_arena *arena,
                                       struct pim_core_partition *partition, struct pim_core_layout *layout,
                                       struct pim_error *error)
{
    uint32_t layers = problem->network->count;
    *partition =
        (struct pim_core_partition){.layer = PIM_ARENA_ARRAY(arena, struct pim_core_partition_layer, layers)};
    layout->layer = PIM_ARENA_ARRAY(arena, struct pim_core_layout_layer, layers);
    PIM_NEED_MEMORY(partition->layer && layout->layer, error,
                    "no memory for the segments of %" PRIu32 " layers", layers);
    for (uint32_t s = 0; s < segments->count; s++) {
        const struct pim_core_segment *segment = &segments->segment[s];
        for (uint32_t i = 0; i < segment->network.count; i++) {
            if (segment->network.layer[i].kind != PIM_CORE_MATRIX)
                continue;
            partition->layer[segment->origin[i]] = segment->partition.layer[i];
            layout->layer[segment->origin[i]] = segment->layout.layer[i];
        }
        partition->arrays += segment->partition.arrays;
        partition->macs += segment->partition.macs;
        partition->weights += segment->partition.weights;
    }
    return PIM_OK;
}

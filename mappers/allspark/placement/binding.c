/*
 * Greedy binding of branches to sub-arrays (section VII-B2), and what a binding costs.
 *
 * Invariants of a run:
 *  1. placed[b] is the number of neighbours of b that have a slot; a branch with a slot is out of the race.
 *  2. open[0] to open[left - 1] are the free slots in ascending order.
 */
#include "mappers/allspark/placement/placement.h"
#include "sim/integer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define BOUND UINT32_MAX

struct run {
    const struct pim_dependency_graph *graph;
    const struct pim_placement_slot *slots;
    uint32_t *slot_of;
    uint32_t width, height;
    uint32_t *placed; /* BOUND: has a slot */
    uint32_t *open;
    uint32_t left;
    uint64_t *from_column, *from_row; /* sum of distances to the neighbours that are placed, along one axis */
};

/* distances[i] = sum over the `marks` (how many neighbours at each position) of |i - position|, by two
   sweeps; marks are cleared. */
static void tabulate(uint32_t *marks, uint32_t extent, uint64_t *distances)
{
    uint64_t seen = 0, sum = 0;
    for (uint32_t i = 0; i < extent; i++) {
        sum += seen;
        distances[i] = sum;
        seen += marks[i];
    }
    seen = sum = 0;
    for (uint32_t i = extent; i-- > 0;) {
        sum += seen;
        distances[i] += sum;
        seen += marks[i];
        marks[i] = 0;
    }
}

static uint32_t most_placed(const struct run *run)
{
    uint32_t best = BOUND;
    for (uint32_t b = 0; b < run->graph->branches; b++)
        if (run->placed[b] != BOUND && (best == BOUND || run->placed[b] > run->placed[best]))
            best = b;
    return best;
}

/* Index in `open` of the slot nearest to the placed neighbours of a branch. `marks` has room for the longer
   side of the array, all zero. */
static uint32_t nearest(struct run *run, uint32_t branch, uint32_t *marks)
{
    const struct pim_dependency_graph *graph = run->graph;
    for (int axis = 0; axis < 2; axis++) {
        for (uint32_t e = graph->first[branch]; e < graph->first[branch + 1]; e++) {
            uint32_t other = graph->neighbours[e].branch;
            if (run->placed[other] != BOUND)
                continue;
            const struct pim_placement_slot *slot = &run->slots[run->slot_of[other]];
            marks[axis ? slot->y : slot->x]++;
        }
        tabulate(marks, axis ? run->height : run->width, axis ? run->from_row : run->from_column);
    }
    uint32_t best = 0;
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < run->left; i++) {
        const struct pim_placement_slot *slot = &run->slots[run->open[i]];
        uint64_t distance = run->from_column[slot->x] + run->from_row[slot->y];
        if (distance < least) {
            least = distance;
            best = i;
        }
    }
    return best;
}

static void bind(struct run *run, uint32_t branch, uint32_t place)
{
    const struct pim_dependency_graph *graph = run->graph;
    run->slot_of[branch] = run->open[place];
    memmove(run->open + place, run->open + place + 1, (run->left - place - 1) * sizeof *run->open);
    run->left--;
    run->placed[branch] = BOUND;
    for (uint32_t e = graph->first[branch]; e < graph->first[branch + 1]; e++) {
        uint32_t other = graph->neighbours[e].branch;
        if (run->placed[other] != BOUND)
            run->placed[other]++;
    }
}

enum pim_status pim_placement_bind(const struct pim_dependency_graph *graph,
                                   const struct pim_placement_slot *slots, uint32_t count, uint32_t width,
                                   uint32_t height, uint32_t *slot_of, struct pim_error *error)
{
    assert(count >= graph->branches);
    uint32_t longer = width > height ? width : height;
    struct run run = {.graph = graph,
                      .slots = slots,
                      .slot_of = slot_of,
                      .width = width,
                      .height = height,
                      .placed = calloc((size_t)graph->branches + 1, sizeof *run.placed),
                      .open = calloc((size_t)count + 1, sizeof *run.open),
                      .left = count,
                      .from_column = calloc((size_t)longer + 1, sizeof *run.from_column),
                      .from_row = calloc((size_t)longer + 1, sizeof *run.from_row)};
    uint32_t *marks = calloc((size_t)longer + 1, sizeof *marks);
    bool enough = run.placed && run.open && run.from_column && run.from_row && marks;
    for (uint32_t i = 0; i < count && enough; i++)
        run.open[i] = i;
    for (uint32_t i = 0; i < graph->branches && enough; i++) {
        uint32_t branch = most_placed(&run);
        bind(&run, branch, nearest(&run, branch, marks));
    }
    free(run.placed);
    free(run.open);
    free(run.from_column);
    free(run.from_row);
    free(marks);
    return enough ? PIM_OK
                  : pim_fail(error, PIM_NO_MEMORY, "out of memory for the placement of %u branches",
                             (unsigned)graph->branches);
}

struct pim_placement_hops pim_placement_hops(const struct pim_dependency_graph *graph,
                                             const struct pim_placement_slot *slots, const uint32_t *slot_of)
{
    struct pim_placement_hops hops = {0};
    uint64_t sum = 0, weighted = 0, tokens = 0, ends = graph->first[graph->branches];
    for (uint32_t b = 0; b < graph->branches; b++)
        for (uint32_t e = graph->first[b]; e < graph->first[b + 1]; e++) {
            const struct pim_placement_slot *here = &slots[slot_of[b]],
                                            *there = &slots[slot_of[graph->neighbours[e].branch]];
            uint32_t distance = pim_difference(here->x, there->x) + pim_difference(here->y, there->y);
            sum += distance;
            weighted += (uint64_t)distance * graph->neighbours[e].tokens;
            tokens += graph->neighbours[e].tokens;
            hops.most = distance > hops.most ? distance : hops.most;
        }
    hops.edges = ends / 2; /* each is listed at both ends */
    if (ends > 0) {
        hops.average = (double)sum / (double)ends;
        hops.weighted = (double)weighted / (double)tokens;
    }
    return hops;
}

/* Sum over all ordered pairs of slots of their distance along one axis: marks[i] slots at position i. */
static uint64_t pairs_apart(const uint64_t *marks, uint32_t extent)
{
    uint64_t seen = 0, distances = 0, sum = 0;
    for (uint32_t i = 0; i < extent; i++) { /* distances: of position i to all slots before it */
        distances += seen;
        sum += distances * marks[i];
        seen += marks[i];
    }
    return 2 * sum;
}

double pim_placement_random_hops(const struct pim_placement_slot *slots, uint32_t count, uint32_t width,
                                 uint32_t height)
{
    uint32_t longer = width > height ? width : height;
    uint64_t *marks = calloc((size_t)longer + 1, sizeof *marks);
    uint64_t sum = 0;
    for (int axis = 0; axis < 2 && marks && count > 1; axis++) {
        memset(marks, 0, longer * sizeof *marks);
        for (uint32_t i = 0; i < count; i++)
            marks[axis ? slots[i].y : slots[i].x]++;
        sum += pairs_apart(marks, axis ? height : width);
    }
    double mean = marks && count > 1 ? (double)sum / ((double)count * (double)(count - 1)) : 0;
    free(marks);
    return mean;
}

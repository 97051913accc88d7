/*
 * The candidates of a stage: all u x v that make the largest part smaller, or the given ones, each with all
 * rings that fit the array and all useful numbers of chunks, with their costs by the closed forms.
 *
 * A partition appears up to four times: with its own weights, or with those of the whole copy (Term 1); and
 * in the last stage with the classifier or without. A whole copy appears as one that others reuse, too: its
 * tiles are other ones then.
 */
#include "mappers/allspark/candidates/candidates.h"
#include "mappers/allspark/sharing.h"

#include "mappers/allspark/memory.h"
#include "mappers/allspark/planning.h"
#include "mappers/allspark/shapes.h"
#include "sim/arena.h"
#include "sim/integer.h"
#include "sim/try.h"

#include <inttypes.h>
#include <stdlib.h>

uint32_t pim_collection_longest(const struct pim_allspark_plan *plan)
{
    return plan->hardware.width > plan->hardware.height ? plan->hardware.width : plan->hardware.height;
}

/* --- adding --- */

static enum pim_status no_memory(struct pim_collection *collection)
{
    return pim_fail(collection->error, PIM_NO_MEMORY, "out of memory for the plan");
}

enum pim_status pim_collection_append(struct pim_collection *collection,
                                      const struct pim_schedule_candidate *cost,
                                      const struct pim_allspark_partition *partition, uint32_t count)
{
    struct pim_candidates *candidates = collection->candidates;
    struct pim_candidate *items = pim_array_grow(candidates->items, &candidates->capacity,
                                                 (size_t)candidates->count + 1, sizeof *items);
    candidates->items = items ? items : candidates->items;
    struct pim_allspark_partition *partitions =
        pim_array_grow(candidates->partition, &candidates->partition_capacity,
                       (size_t)candidates->partitions + count, sizeof *partitions);
    candidates->partition = partitions ? partitions : candidates->partition;
    if (!items || !partitions)
        return no_memory(collection);
    candidates->items[candidates->count++] = (struct pim_candidate){candidates->partitions, count};
    for (uint32_t i = 0; i < count; i++)
        candidates->partition[candidates->partitions++] = partition[i];
    return pim_schedule_append(collection->problem, cost) ? PIM_OK : no_memory(collection);
}

/* --- costs --- */

bool pim_collection_partition(const struct pim_collection *collection, uint32_t u, uint32_t v, uint32_t ring,
                              uint32_t chunks, uint32_t row_blocks, struct pim_allspark_partition *part)
{
    const struct pim_estimate_hardware *hardware = &collection->plan->hardware;
    *part = *pim_collection_shape(collection);
    part->u = u;
    part->v = v;
    part->ring = ring;
    part->chunks = ring > 1 ? chunks : 1; /* pieces of what does not go round would only cost */
    part->row_blocks = row_blocks;
    part->batch = collection->plan->batch;
    part->prefetch = collection->plan->prefetch;
    part->slots = ring < u ? 1 : ring / u;
    part->layout.count = pim_allspark_layout_count(hardware->height, hardware->width, part->slots * u, v);
    return part->layout.count != 0;
}

enum pim_status pim_collection_estimate(struct pim_collection *collection,
                                        const struct pim_allspark_partition *part, uint64_t *cycles)
{
    struct pim_emitter *emitter = &collection->emitter;
    emitter->part = part;
    emitter->whole = part->reuses ? &collection->whole : NULL;
    emitter->status = PIM_OK;
    emitter->estimate_cycles = 0;
    *cycles = pim_estimate_layer(emitter);
    return emitter->status;
}

enum pim_status pim_collection_cost(struct pim_collection *collection, struct pim_allspark_partition *part,
                                    bool head, uint64_t cycles, struct pim_schedule_candidate *cost)
{
    struct pim_emitter *emitter = &collection->emitter;
    uint64_t pool_layer = 0, pool_once = 0;
    pim_partition_memory(part, pim_layer_capacity(part) >= part->branches);
    emitter->part = part;
    emitter->status = PIM_OK;
    pim_estimate_head(emitter, head, &pool_layer, &pool_once);
    *cost = (struct pim_schedule_candidate){.layer_cycles = cycles + pool_layer,
                                            .once_cycles = pool_once,
                                            .weights = part->weight_bytes + (head ? pim_head_bytes(part) : 0),
                                            .layer_bytes = part->batch * part->layer_bytes,
                                            .once_bytes = part->batch * part->sum_bytes,
                                            .scratch_bytes = part->scratch_bytes,
                                            .capacity = pim_layer_capacity(part),
                                            .provides = (head ? PIM_SCHEDULE_HEAD : 0u) |
                                                        (part->reused ? PIM_SCHEDULE_WHOLE : 0u),
                                            .needs = part->reuses ? PIM_SCHEDULE_WHOLE : 0};
    return emitter->status;
}

/* Adds a partition with the classifier and without, as far as the stage has use for it. */
static enum pim_status add_partition(struct pim_collection *collection, struct pim_allspark_partition *part,
                                     uint64_t cycles)
{
    bool last = part->classes > 0, alone = pim_layer_capacity(part) >= part->branches;
    for (int head = last ? 1 : 0; head >= (last && alone ? 1 : 0); head--) {
        struct pim_schedule_candidate cost;
        PIM_TRY(pim_collection_cost(collection, part, head != 0, cycles, &cost));
        PIM_TRY(pim_collection_append(collection, &cost, part, 1));
    }
    return PIM_OK;
}

/* --- one u x v --- */

/* The next number of chunks to try after `chunks`; 0: more would not save anything worth it. */
static uint32_t more_chunks(const struct pim_collection *collection,
                            const struct pim_allspark_partition *part)
{
    if (collection->options->chunks || 4 * part->chunks > PIM_CHUNKS)
        return 0;
    uint64_t activity = part->batch * part->activity_bytes;
    return part->scratch_bytes > activity + activity / 8 ? 4 * part->chunks : 0;
}

/* One ring. `cycles`: of a layer without the rounds of the weights, which alone depend on the ring. */
static enum pim_status add_ring(struct pim_collection *collection, struct pim_allspark_partition *part,
                                uint64_t cycles)
{
    collection->emitter.part = part;
    return add_partition(collection, part, cycles + pim_estimate_layer_sharing(&collection->emitter));
}

/* One ring, with `cycles` of a layer in so many chunks. Where nothing goes round, a partition has one; it is
   there already where all numbers of chunks are tried. */
static enum pim_status add_pieces(struct pim_collection *collection, struct pim_allspark_partition *part,
                                  uint32_t chunks, uint64_t cycles)
{
    if (part->chunks == chunks)
        return add_ring(collection, part, cycles);
    if (!collection->options->chunks)
        return PIM_OK;
    PIM_TRY(pim_collection_estimate(collection, part, &cycles));
    return add_partition(collection, part, cycles);
}

/* All rings with a number of chunks; *part is that with the shortest ring then. */
static enum pim_status add_chunks(struct pim_collection *collection, uint32_t chunks,
                                  struct pim_allspark_partition *part)
{
    uint32_t u = part->u, v = part->v, shortest = part->ring, rows = part->row_blocks;
    uint32_t most = collection->options->ring ? 0 : pim_collection_longest(collection->plan) / u;
    uint64_t cycles;
    if (!pim_collection_partition(collection, u, v, shortest, chunks, rows, part))
        return PIM_BAD_INPUT;
    struct pim_allspark_partition pieces = *part;
    pieces.chunks = chunks;
    enum pim_status status = pim_collection_estimate(collection, &pieces, &cycles);
    if (status != PIM_OK)
        return status;
    cycles -= pim_estimate_layer_sharing(&collection->emitter);
    /* Of the very long rings not every one. */
    for (uint32_t slots = 2; status == PIM_OK && slots <= most; slots += 1 + slots / 4) {
        struct pim_allspark_partition longer;
        if (pim_collection_partition(collection, u, v, slots * u, chunks, rows, &longer))
            status = add_ring(collection, &longer, cycles);
    }
    for (uint32_t ring = 1; status == PIM_OK && collection->options->copies && ring <= u / 2; ring++) {
        struct pim_allspark_partition copied;
        if (u % ring == 0 && pim_collection_partition(collection, u, v, ring, chunks, rows, &copied))
            status = add_pieces(collection, &copied, chunks, cycles);
    }
    return status == PIM_OK ? add_pieces(collection, part, chunks, cycles) : status;
}

/* All numbers of chunks and all rings, with so many blocks of rows. */
static enum pim_status add_row_blocks(struct pim_collection *collection, uint32_t u, uint32_t v,
                                      uint32_t row_blocks)
{
    const struct pim_allspark_options *options = collection->options;
    uint32_t ring = options->ring < u ? u : options->ring - options->ring % u;
    struct pim_allspark_partition part = {.u = u, .v = v, .ring = ring, .row_blocks = row_blocks};
    for (uint32_t chunks = options->chunks ? options->chunks : 1; chunks != 0;) {
        enum pim_status status = add_chunks(collection, chunks, &part);
        if (status != PIM_OK)
            return status;
        /* The ring that the shortest one stands for may be of one node, which shares nothing: look at a
         * longer. */
        struct pim_allspark_partition longer = part;
        if (part.ring == 1 && !options->ring &&
            pim_collection_partition(collection, u, v, 2, chunks, row_blocks, &longer))
            pim_partition_memory(&longer, true);
        chunks = more_chunks(collection, &longer);
    }
    return PIM_OK;
}

/* The next number of blocks of rows to try after `row_blocks`; 0: the scores are not the most of what a node
   needs while it works a layer, so that more blocks would not save anything worth it. */
static uint32_t more_row_blocks(const struct pim_collection *collection, uint32_t u, uint32_t v,
                                uint32_t row_blocks)
{
    struct pim_allspark_partition part;
    if (pim_collection_shape(collection)->work == PIM_ALLSPARK_PROJECTIONS ||
        !pim_collection_partition(collection, u, v, u, 1, row_blocks, &part))
        return 0;
    pim_partition_memory(&part, pim_layer_capacity(&part) >= part.branches);
    bool most = 2 * pim_scores_bytes(&part) > part.activity_bytes;
    uint32_t next = 4 * row_blocks;
    return most && next <= PIM_ROW_BLOCKS && next <= pim_stage_tokens(&part, 0) ? next : 0;
}

static enum pim_status add_scheme(struct pim_collection *collection, uint32_t u, uint32_t v)
{
    enum pim_status status = PIM_OK;
    for (uint32_t blocks = 1; status == PIM_OK && blocks != 0;) {
        status = add_row_blocks(collection, u, v, blocks);
        blocks = more_row_blocks(collection, u, v, blocks);
    }
    return status;
}

/* With the weights of the whole copy, there is nothing to share: rings are of one branch. */
static enum pim_status add_reuser(struct pim_collection *collection, uint32_t u, uint32_t v)
{
    struct pim_allspark_partition part;
    uint64_t cycles;
    if (collection->whole.u == 0 || u * v == 1 || !pim_collection_partition(collection, u, v, u, 1, 1, &part))
        return PIM_OK;
    part.reuses = true;
    enum pim_status status = pim_collection_estimate(collection, &part, &cycles);
    return status == PIM_OK ? add_partition(collection, &part, cycles) : status;
}

/* The whole copy that others may reuse. */
static enum pim_status add_whole(struct pim_collection *collection)
{
    struct pim_allspark_partition part;
    uint64_t cycles;
    if (pim_collection_shape(collection)->work == PIM_ALLSPARK_STRIPES ||
        !pim_collection_partition(collection, 1, 1, 1, 1, 1, &part))
        return PIM_OK; /* stripes have no weights */
    part.reused = true;
    enum pim_status status = pim_collection_estimate(collection, &part, &cycles);
    if (status != PIM_OK)
        return status;
    collection->whole = part;
    return add_partition(collection, &part, cycles);
}

/* Whether `parts` nodes are of use for `work` pieces: with fewer nodes the largest part would be larger. */
static bool useful(uint32_t work, uint32_t parts)
{
    return pim_divide_up32(work, pim_divide_up32(work, parts)) == parts;
}

static enum pim_status add_all(struct pim_collection *collection)
{
    const struct pim_allspark_partition *shape = pim_collection_shape(collection);
    uint32_t rows = shape->tokens < pim_collection_longest(collection->plan)
                        ? shape->tokens
                        : pim_collection_longest(collection->plan);
    uint32_t columns = shape->heads < pim_collection_longest(collection->plan)
                           ? shape->heads
                           : pim_collection_longest(collection->plan);
    /* A partition that does not fit the array or the buffers is left out; *error says why if all are. */
    if (collection->options->ring <= 1 && add_whole(collection) == PIM_NO_MEMORY)
        return PIM_NO_MEMORY;
    for (uint32_t u = 1; u <= rows; u++)
        for (uint32_t v = 1; useful(shape->tokens, u) && v <= columns; v++)
            if (useful(shape->heads, v) && (add_scheme(collection, u, v) == PIM_NO_MEMORY ||
                                            add_reuser(collection, u, v) == PIM_NO_MEMORY))
                return PIM_NO_MEMORY;
    return PIM_OK;
}

/* --- the whole --- */

enum pim_status pim_candidates_collect(const struct pim_allspark_plan *plan,
                                       const struct pim_allspark_options *options, uint32_t index,
                                       struct pim_candidates *candidates, struct pim_schedule_stage *problem,
                                       struct pim_error *error)
{
    struct pim_collection collection = {.plan = plan,
                                        .options = options,
                                        .index = index,
                                        .candidates = candidates,
                                        .problem = problem,
                                        .emitter = {.plan = plan,
                                                    .stage = &plan->stage[index],
                                                    .index = index,
                                                    .error = error,
                                                    .tilings = calloc(1, sizeof(struct pim_tilings))},
                                        .error = error};
    const struct pim_allspark_partition *shape = pim_collection_shape(&collection);
    *error = (struct pim_error){0};
    if (!collection.emitter.tilings)
        return no_memory(&collection);
    problem->branches = shape->branches;
    problem->staged = shape->work == PIM_ALLSPARK_PROJECTIONS ? pim_stripes_copies(plan, index) : 0;
    problem->needs = shape->classes > 0 ? PIM_SCHEDULE_HEAD : 0;
    enum pim_status status = options->scheme == PIM_ALLSPARK_AUTOMATIC
                                 ? add_all(&collection)
                                 : pim_collection_add_given(&collection);
    free(collection.emitter.tilings);
    if (status == PIM_NO_MEMORY || (candidates->count == 0 && error->status != PIM_OK))
        return error->status;
    if (candidates->count == 0)
        return pim_fail(error, PIM_BAD_INPUT,
                        "stage %" PRIu32 ": a weight ring of %" PRIu32
                        " nodes does not fit the array of %" PRIu32 " x %" PRIu32,
                        index + 1, options->ring, plan->hardware.height, plan->hardware.width);
    *error = (struct pim_error){0};
    return PIM_OK;
}

void pim_candidates_terminate(struct pim_candidates *candidates)
{
    free(candidates->items);
    free(candidates->partition);
    *candidates = (struct pim_candidates){0};
}

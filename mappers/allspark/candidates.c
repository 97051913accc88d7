/*
 * The candidates of a stage: all u x v that make the largest part smaller, or the given ones, each with all
 * rings that fit the array and all useful numbers of chunks, with their costs by the closed forms.
 *
 * A partition appears up to four times: with its own weights, or with those of the whole copy (Term 1); and
 * in the last stage with the classifier or without. A whole copy appears as one that others reuse, too: its
 * tiles are other ones then.
 */
#include "mappers/allspark/candidates.h"
#include "mappers/allspark/sharing.h"

#include "sim/arena.h"
#include "sim/integer.h"

#include <inttypes.h>
#include <stdlib.h>

struct collection {
    const struct pim_allspark_plan *plan;
    const struct pim_allspark_options *options;
    uint32_t index; /* of the stage */
    struct pim_candidates *candidates;
    struct pim_schedule_stage *problem;
    struct pim_emitter emitter;
    struct pim_allspark_partition whole; /* the copy that others reuse; u is 0: there is none */
    struct pim_error *error;
};

/* Longest side of a sub-array: the longer side of the array, since sub-arrays may be turned. */
static uint32_t longest(const struct pim_allspark_plan *plan)
{
    return plan->hardware.width > plan->hardware.height ? plan->hardware.width : plan->hardware.height;
}

static const struct pim_allspark_partition *shape_of(const struct collection *collection)
{
    return &collection->plan->stage[collection->index].partition[0];
}

/* --- adding --- */

static enum pim_status no_memory(struct collection *collection)
{
    return pim_fail(collection->error, PIM_NO_MEMORY, "out of memory for the plan");
}

static enum pim_status append(struct collection *collection, const struct pim_schedule_candidate *cost,
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

/* u, v, ring, chunks and blocks of rows of a partition; false when a group does not fit the array. */
static bool set_partition(const struct collection *collection, uint32_t u, uint32_t v, uint32_t ring,
                          uint32_t chunks, uint32_t row_blocks, struct pim_allspark_partition *part)
{
    const struct pim_estimate_hardware *hardware = &collection->plan->hardware;
    *part = *shape_of(collection);
    part->u = u;
    part->v = v;
    part->ring = ring;
    part->chunks = chunks;
    part->row_blocks = row_blocks;
    part->batch = collection->plan->batch;
    part->prefetch = collection->plan->prefetch;
    part->slots = ring < u ? 1 : ring / u;
    part->layout.count = pim_allspark_layout_count(hardware->height, hardware->width, part->slots * u, v);
    return part->layout.count != 0;
}

/* Cycles of one layer over all blocks. Fails with the reason, a product without a tile. */
static enum pim_status estimate(struct collection *collection, const struct pim_allspark_partition *part,
                                uint64_t *cycles)
{
    struct pim_emitter *emitter = &collection->emitter;
    emitter->part = part;
    emitter->whole = part->reuses ? &collection->whole : NULL;
    emitter->status = PIM_OK;
    emitter->estimate_cycles = 0;
    *cycles = pim_estimate_layer(emitter);
    return emitter->status;
}

/* What a partition costs; `head`: it has the classifier. `cycles`: those of a layer without pooling. */
static enum pim_status cost_of(struct collection *collection, struct pim_allspark_partition *part, bool head,
                               uint64_t cycles, struct pim_schedule_candidate *cost)
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
static enum pim_status add_partition(struct collection *collection, struct pim_allspark_partition *part,
                                     uint64_t cycles)
{
    bool last = part->classes > 0, alone = pim_layer_capacity(part) >= part->branches;
    for (int head = last ? 1 : 0; head >= (last && alone ? 1 : 0); head--) {
        struct pim_schedule_candidate cost;
        enum pim_status status = cost_of(collection, part, head != 0, cycles, &cost);
        if (status == PIM_OK)
            status = append(collection, &cost, part, 1);
        if (status != PIM_OK)
            return status;
    }
    return PIM_OK;
}

/* --- one u x v --- */

/* The next number of chunks to try after `chunks`; 0: more would not save anything worth it. */
static uint32_t more_chunks(const struct collection *collection, const struct pim_allspark_partition *part)
{
    if (collection->options->chunks || 4 * part->chunks > PIM_CHUNKS)
        return 0;
    uint64_t activity = part->batch * part->activity_bytes;
    return part->scratch_bytes > activity + activity / 8 ? 4 * part->chunks : 0;
}

/* One ring. `cycles`: of a layer without the rounds of the weights, which alone depend on the ring. */
static enum pim_status add_ring(struct collection *collection, struct pim_allspark_partition *part,
                                uint64_t cycles)
{
    collection->emitter.part = part;
    return add_partition(collection, part, cycles + pim_estimate_layer_sharing(&collection->emitter));
}

/* All rings with a number of chunks; *part is that with the shortest ring then. */
static enum pim_status add_chunks(struct collection *collection, uint32_t chunks,
                                  struct pim_allspark_partition *part)
{
    uint32_t u = part->u, v = part->v, shortest = part->ring, rows = part->row_blocks;
    uint32_t most = collection->options->ring ? 0 : longest(collection->plan) / u;
    uint64_t cycles;
    if (!set_partition(collection, u, v, shortest, chunks, rows, part))
        return PIM_BAD_INPUT;
    enum pim_status status = estimate(collection, part, &cycles);
    if (status != PIM_OK)
        return status;
    cycles -= pim_estimate_layer_sharing(&collection->emitter);
    /* Of the very long rings not every one. */
    for (uint32_t slots = 2; status == PIM_OK && slots <= most; slots += 1 + slots / 4) {
        struct pim_allspark_partition longer;
        if (set_partition(collection, u, v, slots * u, chunks, rows, &longer))
            status = add_ring(collection, &longer, cycles);
    }
    for (uint32_t ring = 1; status == PIM_OK && collection->options->copies && ring <= u / 2; ring++) {
        struct pim_allspark_partition copied;
        if (u % ring == 0 && set_partition(collection, u, v, ring, chunks, rows, &copied))
            status = add_ring(collection, &copied, cycles);
    }
    return status == PIM_OK ? add_ring(collection, part, cycles) : status;
}

/* All numbers of chunks and all rings, with so many blocks of rows. */
static enum pim_status add_row_blocks(struct collection *collection, uint32_t u, uint32_t v,
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
            set_partition(collection, u, v, 2, chunks, row_blocks, &longer))
            pim_partition_memory(&longer, true);
        chunks = more_chunks(collection, &longer);
    }
    return PIM_OK;
}

/* The next number of blocks of rows to try after `row_blocks`; 0: the scores are not the most of what a node
   needs while it works a layer, so that more blocks would not save anything worth it. */
static uint32_t more_row_blocks(const struct collection *collection, uint32_t u, uint32_t v,
                                uint32_t row_blocks)
{
    struct pim_allspark_partition part;
    if (shape_of(collection)->work == PIM_ALLSPARK_PROJECTIONS ||
        !set_partition(collection, u, v, u, 1, row_blocks, &part))
        return 0;
    pim_partition_memory(&part, pim_layer_capacity(&part) >= part.branches);
    bool most = 2 * pim_scores_bytes(&part) > part.activity_bytes;
    uint32_t next = 4 * row_blocks;
    return most && next <= PIM_ROW_BLOCKS && next <= pim_stage_tokens(&part, 0) ? next : 0;
}

static enum pim_status add_scheme(struct collection *collection, uint32_t u, uint32_t v)
{
    enum pim_status status = PIM_OK;
    for (uint32_t blocks = 1; status == PIM_OK && blocks != 0;) {
        status = add_row_blocks(collection, u, v, blocks);
        blocks = more_row_blocks(collection, u, v, blocks);
    }
    return status;
}

/* With the weights of the whole copy, there is nothing to share: rings are of one branch. */
static enum pim_status add_reuser(struct collection *collection, uint32_t u, uint32_t v)
{
    struct pim_allspark_partition part;
    uint64_t cycles;
    if (collection->whole.u == 0 || u * v == 1 || !set_partition(collection, u, v, u, 1, 1, &part))
        return PIM_OK;
    part.reuses = true;
    enum pim_status status = estimate(collection, &part, &cycles);
    return status == PIM_OK ? add_partition(collection, &part, cycles) : status;
}

/* The whole copy that others may reuse. */
static enum pim_status add_whole(struct collection *collection)
{
    struct pim_allspark_partition part;
    uint64_t cycles;
    if (shape_of(collection)->work == PIM_ALLSPARK_STRIPES ||
        !set_partition(collection, 1, 1, 1, 1, 1, &part))
        return PIM_OK; /* stripes have no weights */
    part.reused = true;
    enum pim_status status = estimate(collection, &part, &cycles);
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

static enum pim_status add_all(struct collection *collection)
{
    const struct pim_allspark_partition *shape = shape_of(collection);
    uint32_t rows = shape->tokens < longest(collection->plan) ? shape->tokens : longest(collection->plan);
    uint32_t columns = shape->heads < longest(collection->plan) ? shape->heads : longest(collection->plan);
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

/* --- explicit plans --- */

/* As many nodes as the work has chunks of `least` and a line of the array has nodes, of which each makes the
   largest part smaller. Heads are chunks of one; those of patches are not smaller than the PE array (p_min
   in section VI-A). */
static uint32_t line(const struct pim_allspark_plan *plan, uint32_t work, uint32_t least)
{
    uint32_t chunks = pim_divide_up32(work, least);
    uint32_t nodes = chunks < longest(plan) ? chunks : longest(plan);
    return pim_divide_up32(work, pim_divide_up32(work, nodes));
}

/* The list of a stage: the user's, or the single partition of a baseline. */
static uint32_t list_of(const struct collection *collection, struct pim_allspark_layers *list)
{
    const struct pim_allspark_options *options = collection->options;
    const struct pim_allspark_partition *shape = shape_of(collection);
    uint32_t given = options->explicit_count == 1 ? 0 : collection->index;
    list[0] = (struct pim_allspark_layers){.u = 1, .v = 1};
    if (options->scheme == PIM_ALLSPARK_PATCH)
        list[0].u = line(collection->plan, shape->tokens, collection->plan->hardware.pe_rows);
    if (options->scheme == PIM_ALLSPARK_HEAD)
        list[0].v = line(collection->plan, shape->heads, 1);
    if (options->scheme != PIM_ALLSPARK_EXPLICIT)
        return 1;
    for (uint32_t i = 0; i < options->lists[given]; i++)
        list[i] = options->list[given][i];
    return options->lists[given];
}

static enum pim_status check_layers(const struct collection *collection,
                                    const struct pim_allspark_layers *layers)
{
    const struct pim_allspark_partition *shape = shape_of(collection);
    const struct pim_estimate_hardware *hardware = &collection->plan->hardware;
    uint32_t u = layers->u, v = layers->v;
    if (u == 0 || u > shape->tokens || v == 0 || v > shape->heads)
        return pim_fail(
            collection->error, PIM_BAD_INPUT,
            "stage %" PRIu32 ": partition %" PRIu32 ",%" PRIu32 " does not fit a branch of %" PRIu32
            " tokens and %" PRIu32 " heads: u from 1 to %" PRIu32 " and v from 1 to %" PRIu32 " are possible",
            collection->index + 1, u, v, shape->tokens, shape->heads, shape->tokens, shape->heads);
    uint32_t most = pim_divide_up32(shape->tokens, u);
    if (layers->row_blocks > most)
        return pim_fail(collection->error, PIM_BAD_INPUT,
                        "stage %" PRIu32 ": %" PRIu32
                        " blocks of rows are more than a node has tokens: up to %" PRIu32 " are possible",
                        collection->index + 1, layers->row_blocks, most);
    if (pim_allspark_layout_count(hardware->height, hardware->width, u, v) == 0)
        return pim_fail(collection->error, PIM_BAD_INPUT,
                        "stage %" PRIu32 ": a sub-array of %" PRIu32 " x %" PRIu32
                        " nodes does not fit the array of %" PRIu32 " x %" PRIu32,
                        collection->index + 1, u, v, hardware->height, hardware->width);
    return PIM_OK;
}

/* Gives the partitions of a list their layers; the branches must fill them. */
static enum pim_status fill_layers(const struct collection *collection,
                                   const struct pim_allspark_layers *list, uint32_t count,
                                   struct pim_allspark_partition *parts)
{
    uint32_t left = parts[0].branches;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t capacity = pim_layer_capacity(&parts[i]);
        uint64_t layers = list[i].layers ? list[i].layers : (left + capacity - 1) / capacity;
        if (layers == 0 || (layers - 1) * capacity >= left)
            return pim_fail(collection->error, PIM_BAD_INPUT,
                            "stage %" PRIu32 ": no branch is left for a temporal layer of %" PRIu32
                            ",%" PRIu32 ": the layers before it take all %" PRIu32,
                            collection->index + 1, parts[i].u, parts[i].v, parts[i].branches);
        parts[i].layers = (uint32_t)layers;
        left -= layers * capacity < left ? (uint32_t)(layers * capacity) : left;
    }
    if (left > 0)
        return pim_fail(collection->error, PIM_BAD_INPUT,
                        "stage %" PRIu32 ": its temporal layers take %" PRIu32 " of %" PRIu32
                        " branches: add layers",
                        collection->index + 1, parts[0].branches - left, parts[0].branches);
    return PIM_OK;
}

/* Marks the whole copy of a list, if it has one, and those that reuse it. */
static enum pim_status mark_reuse(struct collection *collection, const struct pim_allspark_layers *list,
                                  uint32_t count, struct pim_allspark_partition *parts)
{
    uint32_t whole = 0;
    while (whole < count && !pim_partition_is_whole(&parts[whole]))
        whole++;
    for (uint32_t i = 0; i < count; i++) {
        if (whole == count && list[i].reuse == PIM_REUSE_WHOLE)
            return pim_fail(collection->error, PIM_BAD_INPUT,
                            "stage %" PRIu32 ": %" PRIu32 ",%" PRIu32
                            " reuses the weights of a whole copy: no layer of 1,1 with a ring of 1 has one",
                            collection->index + 1, parts[i].u, parts[i].v);
        if (whole < count && !pim_partition_is_whole(&parts[i]) && list[i].reuse != PIM_REUSE_NOTHING) {
            parts[i].reuses = true;
            parts[whole].reused = true;
        }
    }
    if (whole < count) {
        parts[whole].reused = parts[whole].reused || list[whole].whole;
        collection->whole = parts[whole];
    }
    return PIM_OK;
}

/* A list as one candidate that covers the stage: the sum of its partitions. */
static enum pim_status add_list(struct collection *collection, struct pim_allspark_partition *parts,
                                uint32_t count)
{
    struct pim_schedule_candidate sum = {.capacity = parts[0].branches,
                                         .provides = parts[0].classes > 0 ? PIM_SCHEDULE_HEAD : 0};
    uint32_t layers = 0;
    for (uint32_t i = 0; i < count; i++)
        layers += parts[i].layers;
    for (uint32_t i = 0; i < count; i++) {
        struct pim_schedule_candidate cost;
        uint64_t cycles;
        enum pim_status status = estimate(collection, &parts[i], &cycles);
        if (status == PIM_OK)
            status = cost_of(collection, &parts[i], i == 0 && parts[i].classes > 0, cycles, &cost);
        if (status != PIM_OK)
            return status;
        pim_partition_memory(&parts[i], layers == 1);
        sum.layer_cycles += parts[i].layers * cost.layer_cycles + cost.once_cycles;
        sum.weights += cost.weights;
        sum.layer_bytes += parts[i].batch * (parts[i].layers * parts[i].layer_bytes + parts[i].sum_bytes);
        sum.scratch_bytes =
            parts[i].scratch_bytes > sum.scratch_bytes ? parts[i].scratch_bytes : sum.scratch_bytes;
    }
    return append(collection, &sum, parts, count);
}

/* The ring of the layers of a list that was given; `asked`, for what does not say: 0 is the paper's. A list
 * may say that a branch has several copies of its weights. */
static uint32_t ring_of(const struct collection *collection, const struct pim_allspark_layers *layers,
                        uint32_t asked)
{
    const uint32_t u = layers->u, ring = layers->ring ? layers->ring : collection->options->ring;
    if (ring == 0)
        return asked ? asked : u;
    if (ring < u)
        return layers->ring && u % ring == 0 ? ring : u;
    return ring - ring % u;
}

/* The list of a stage with such a ring and so many chunks, where it does not say. */
static enum pim_status add_given(struct collection *collection, const struct pim_allspark_layers *list,
                                 uint32_t count, uint32_t asked, uint32_t chunks, bool *sharing)
{
    struct pim_allspark_partition parts[PIM_PARTITIONS] = {{0}};
    *sharing = false;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t ring = ring_of(collection, &list[i], asked);
        if (!set_partition(collection, list[i].u, list[i].v, ring, list[i].chunks ? list[i].chunks : chunks,
                           list[i].row_blocks ? list[i].row_blocks : 1, &parts[i]))
            return PIM_BAD_INPUT;
        *sharing = *sharing || ring > 1;
    }
    enum pim_status status = fill_layers(collection, list, count, parts);
    if (status == PIM_OK)
        status = mark_reuse(collection, list, count, parts);
    return status == PIM_OK ? add_list(collection, parts, count) : status;
}

/* The same with all numbers of chunks. */
static enum pim_status add_given_ring(struct collection *collection, const struct pim_allspark_layers *list,
                                      uint32_t count, uint32_t asked)
{
    const uint32_t given = collection->options->chunks;
    enum pim_status status = PIM_OK;
    bool sharing = true;
    for (uint32_t chunks = given ? given : 1; sharing && chunks <= PIM_CHUNKS; chunks *= 4) {
        status = add_given(collection, list, count, asked, chunks, &sharing);
        if (status != PIM_OK || given)
            break;
    }
    return status;
}

static enum pim_status add_explicit(struct collection *collection)
{
    struct pim_allspark_layers list[PIM_PARTITIONS];
    uint32_t count = list_of(collection, list), most = 1;
    if (count == 0)
        return pim_fail(collection->error, PIM_BAD_INPUT, "stage %" PRIu32 ": no partition is given",
                        collection->index + 1);
    for (uint32_t i = 0; i < count; i++)
        if (check_layers(collection, &list[i]) != PIM_OK)
            return PIM_BAD_INPUT;
    /* One partition alone takes the best ring; several have the paper's. */
    const bool alone = count == 1 && !list[0].ring && !collection->options->ring;
    if (alone)
        most = longest(collection->plan) / list[0].u;
    enum pim_status status = PIM_OK;
    for (uint32_t slots = 1; status != PIM_NO_MEMORY && slots <= most; slots += 1 + slots / 16) {
        status = add_given_ring(collection, list, count, most > 1 ? slots * list[0].u : 0);
        if (slots == 1 && status != PIM_OK)
            return status;
    }
    for (uint32_t ring = 1; alone && collection->options->copies && ring <= list[0].u / 2; ring++)
        if (status != PIM_NO_MEMORY && list[0].u % ring == 0)
            status = add_given_ring(collection, list, count, ring);
    return status == PIM_NO_MEMORY ? status : PIM_OK;
}

/* --- the whole --- */

enum pim_status pim_candidates_collect(const struct pim_allspark_plan *plan,
                                       const struct pim_allspark_options *options, uint32_t index,
                                       struct pim_candidates *candidates, struct pim_schedule_stage *problem,
                                       struct pim_error *error)
{
    struct collection collection = {.plan = plan,
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
    const struct pim_allspark_partition *shape = shape_of(&collection);
    *error = (struct pim_error){0};
    if (!collection.emitter.tilings)
        return no_memory(&collection);
    problem->branches = shape->branches;
    problem->staged = shape->work == PIM_ALLSPARK_PROJECTIONS ? pim_stripes_copies(plan, index) : 0;
    problem->needs = shape->classes > 0 ? PIM_SCHEDULE_HEAD : 0;
    enum pim_status status =
        options->scheme == PIM_ALLSPARK_AUTOMATIC ? add_all(&collection) : add_explicit(&collection);
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

/*
 * The partitions that a plan or a user gives, and those of the two baselines: lists of partitions, each one
 * candidate that covers the stage.
 */
#include "mappers/allspark/candidates/candidates.h"
#include "mappers/allspark/memory.h"
#include "mappers/allspark/shapes.h"
#include "sim/integer.h"

#include <inttypes.h>

/* As many nodes as the work has chunks of `least` and a line of the array has nodes, of which each makes the
   largest part smaller. Heads are chunks of one; those of patches are not smaller than the PE array (p_min
   in section VI-A). */
static uint32_t line(const struct pim_allspark_plan *plan, uint32_t work, uint32_t least)
{
    uint32_t chunks = pim_divide_up32(work, least);
    uint32_t nodes = chunks < pim_collection_longest(plan) ? chunks : pim_collection_longest(plan);
    return pim_divide_up32(work, pim_divide_up32(work, nodes));
}

/* The list of a stage: the user's, or the single partition of a baseline. */
static uint32_t list_of(const struct pim_collection *collection, struct pim_allspark_layers *list)
{
    const struct pim_allspark_options *options = collection->options;
    const struct pim_allspark_partition *shape = pim_collection_shape(collection);
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

static enum pim_status check_layers(const struct pim_collection *collection,
                                    const struct pim_allspark_layers *layers)
{
    const struct pim_allspark_partition *shape = pim_collection_shape(collection);
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
static enum pim_status fill_layers(const struct pim_collection *collection,
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
static enum pim_status mark_reuse(struct pim_collection *collection, const struct pim_allspark_layers *list,
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
static enum pim_status add_list(struct pim_collection *collection, struct pim_allspark_partition *parts,
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
        enum pim_status status = pim_collection_estimate(collection, &parts[i], &cycles);
        if (status == PIM_OK)
            status =
                pim_collection_cost(collection, &parts[i], i == 0 && parts[i].classes > 0, cycles, &cost);
        if (status != PIM_OK)
            return status;
        pim_partition_memory(&parts[i], layers == 1);
        sum.layer_cycles += parts[i].layers * cost.layer_cycles + cost.once_cycles;
        sum.weights += cost.weights;
        sum.layer_bytes += parts[i].batch * (parts[i].layers * parts[i].layer_bytes + parts[i].sum_bytes);
        sum.scratch_bytes =
            parts[i].scratch_bytes > sum.scratch_bytes ? parts[i].scratch_bytes : sum.scratch_bytes;
    }
    return pim_collection_append(collection, &sum, parts, count);
}

/* The ring of the layers of a list that was given; `asked`, for what does not say: 0 is the paper's. A list
 * may say that a branch has several copies of its weights. */
static uint32_t ring_of(const struct pim_collection *collection, const struct pim_allspark_layers *layers,
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
static enum pim_status add_given(struct pim_collection *collection, const struct pim_allspark_layers *list,
                                 uint32_t count, uint32_t asked, uint32_t chunks, bool *sharing)
{
    struct pim_allspark_partition parts[PIM_PARTITIONS] = {{0}};
    *sharing = false;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t ring = ring_of(collection, &list[i], asked);
        if (!pim_collection_partition(collection, list[i].u, list[i].v, ring,
                                      list[i].chunks ? list[i].chunks : chunks,
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
static enum pim_status add_given_ring(struct pim_collection *collection,
                                      const struct pim_allspark_layers *list, uint32_t count, uint32_t asked)
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

enum pim_status pim_collection_add_given(struct pim_collection *collection)
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
        most = pim_collection_longest(collection->plan) / list[0].u;
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

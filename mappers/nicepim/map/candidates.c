#include "mappers/nicepim/map/candidates.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SHARING = 1024, KNOWN = 1021 };

/* Cycles of the tiles of a part, remembered by its shape. */
struct known {
    uint64_t m, n, k;
    uint32_t count;
    bool filled, fits, sums;
    uint64_t cycles;
};

struct walk {
    const struct nice_plan *plan;
    const struct flow_operation *operation;
    uint32_t layer;
    struct known *known;
    struct candidate *best; /* by sharing */
};

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

static const struct known *tile_cycles(struct walk *walk, const struct tile_product *product)
{
    uint64_t hash = product->m * 0x9e3779b97f4a7c15u + product->n;
    hash = (hash ^ hash >> 29) * 0x9e3779b97f4a7c15u + product->k + product->count;
    struct known *known = &walk->known[(hash ^ hash >> 32) % KNOWN];
    if (!known->filled || known->m != product->m || known->n != product->n || known->k != product->k ||
        known->count != product->count || known->sums != product->sums) {
        struct tiling tiling;
        *known = (struct known){.m = product->m,
                                .n = product->n,
                                .k = product->k,
                                .count = product->count,
                                .sums = product->sums,
                                .filled = true};
        known->fits = tile_choose(walk->plan->hardware, product, &tiling);
        known->cycles = known->fits ? tiling.total : 0;
    }
    return known;
}

/* Nodes from a member of a group to the next along a side: parts of the loops that vary faster and do not
 * belong to the group's loops. */
static uint32_t stride(const struct pim_cut *cut, const uint32_t *parts, uint32_t loops)
{
    uint32_t product = 1, least = 0;
    for (size_t i = PIM_LOOPS; i-- > 0;) {
        uint8_t loop = cut->order[i];
        if (!(loops >> loop & 1))
            product *= parts[loop];
        else if (parts[loop] > 1 && least == 0)
            least = product;
    }
    return least;
}

/* How often the busiest link carries a piece while the groups of these loops pass theirs on: interleaved
 * groups cross each other's links, half of them in each direction. */
static uint64_t crossing(const struct pim_cut *cut, uint32_t loops)
{
    uint32_t high = stride(cut, cut->high, loops), wide = stride(cut, cut->wide, loops);
    uint32_t longest = high > wide ? high : wide;
    return longest > 2 ? longest / 2 : 1;
}

static uint64_t link_cycles(const struct nice_plan *plan, uint64_t bytes)
{
    const struct pim_estimate_hardware *hardware = plan->hardware;
    return divide_up(divide_up(bytes, hardware->flit_bytes) * hardware->logic_khz, hardware->network_khz);
}

static uint64_t share_cycles(const struct nice_plan *plan, uint64_t block, uint64_t members, uint64_t load)
{
    return members > 1 ? (members - 1) * load * link_cycles(plan, divide_up(block, members)) : 0;
}

static void consider(struct walk *walk, const struct pim_cut *cut, uint64_t cycles, uint64_t weights,
                     uint64_t needing)
{
    uint64_t load = crossing(cut, 1u << PIM_LOOP_B | 1u << PIM_LOOP_P | 1u << PIM_LOOP_Q);
    uint64_t port = walk->plan->hardware->port_bytes;
    for (uint32_t g = 1; g <= needing && g < MOST_SHARING; g++) {
        if (needing % g != 0)
            continue;
        uint64_t shared = walk->plan->sequential ? 0 : share_cycles(walk->plan, weights, g, load);
        uint64_t total = cycles + shared;
        struct candidate *best = &walk->best[g];
        if (best->sharing == g && best->cycles <= total)
            continue;
        *best = (struct candidate){.cut = *cut,
                                   .sharing = g,
                                   .cycles = total,
                                   .stored = divide_up(divide_up(weights, g), port) * port};
    }
}

static bool visit(void *context, const struct pim_cut *cut)
{
    struct walk *walk = context;
    const struct flow_operation *operation = walk->operation;
    struct pim_part part;
    struct tile_product product;
    uint32_t parts[PIM_LOOPS];
    for (size_t i = 0; i < PIM_LOOPS; i++)
        parts[i] = cut->high[i] * cut->wide[i];
    /* A part of more than one group has whole ones. */
    uint64_t channels = operation->dimension[1];
    uint64_t level = operation->groups > 1 ? channels / operation->groups * parts[PIM_LOOP_K] : 0;
    if (level > 0 && channels > level && channels % level != 0)
        return true;
    pim_cut_part(&operation->conv, cut, 0, 0, &part); /* the first part is the largest */
    if (!nice_tile_product(walk->plan, walk->layer, &part, parts[PIM_LOOP_C], &product))
        return true;
    const struct known *known = tile_cycles(walk, &product);
    if (!known->fits)
        return true;
    uint64_t needing = (uint64_t)parts[PIM_LOOP_B] * parts[PIM_LOOP_P] * parts[PIM_LOOP_Q];
    uint64_t weights = pim_part_weights(&operation->conv, &part) * FLOW_BYTES;
    if (walk->plan->sequential) {
        consider(walk, cut, known->cycles, weights, needing);
        return true;
    }
    struct pim_span box[4];
    flow_product_box(operation, &part, box);
    uint64_t inputs = flow_box_elements(box) * FLOW_BYTES, sharing = parts[PIM_LOOP_K];
    uint64_t cycles = known->cycles + link_cycles(walk->plan, divide_up(inputs, sharing));
    cycles += share_cycles(walk->plan, inputs, sharing, crossing(cut, 1u << PIM_LOOP_K));
    if (parts[PIM_LOOP_C] > 1) {
        uint64_t sums = pim_part_outputs(&part) * FLOW_SUM_BYTES;
        cycles += share_cycles(walk->plan, sums, parts[PIM_LOOP_C], crossing(cut, 1u << PIM_LOOP_C)) +
                  2 * pim_estimate_stream(walk->plan->hardware, sums, false);
    }
    consider(walk, cut, cycles, weights, needing);
    return true;
}

static void walk_cuts(struct walk *walk, uint32_t height, uint32_t width, bool idle)
{
    uint32_t limit[PIM_LOOPS];
    for (size_t i = 0; i < PIM_LOOPS; i++)
        limit[i] = idle ? UINT32_MAX : walk->operation->conv.length[i];
    if (walk->operation->groups > 1)
        limit[PIM_LOOP_C] = 1;
    pim_cuts_walk(height, width, limit, visit, walk);
}

static bool same_cut(const struct pim_cut *a, const struct pim_cut *b)
{
    return memcmp(a->high, b->high, sizeof a->high) == 0 && memcmp(a->wide, b->wide, sizeof a->wide) == 0 &&
           memcmp(a->order, b->order, sizeof a->order) == 0;
}

/* Of the baseline: the cut with the least cycles, whatever its weights, and all numbers of nodes for it. */
static void collect_one_cut(const struct candidate *best, struct candidate_list *list)
{
    for (uint32_t g = 1; g < MOST_SHARING; g++) {
        if (best[g].sharing == g && same_cut(&best[g].cut, &best[1].cut))
            list->items[list->count++] = best[g];
    }
}

/* Keeps those that no other beats in both size and time. */
static void collect(const struct candidate *best, struct candidate_list *list)
{
    for (uint32_t g = 1; g < MOST_SHARING; g++) {
        bool beaten = best[g].sharing != g;
        for (uint32_t other = 1; other < MOST_SHARING && !beaten; other++)
            beaten =
                other != g && best[other].sharing == other && best[other].stored <= best[g].stored &&
                best[other].cycles <= best[g].cycles &&
                (best[other].stored < best[g].stored || best[other].cycles < best[g].cycles || other < g);
        if (!beaten)
            list->items[list->count++] = best[g];
    }
}

enum pim_status candidates_find(const struct nice_plan *plan, uint32_t layer, uint32_t height, uint32_t width,
                                struct candidate_list *list, struct pim_error *error)
{
    struct walk walk = {.plan = plan,
                        .operation = &plan->flow.operation[layer],
                        .layer = layer,
                        .known = calloc(KNOWN, sizeof *walk.known),
                        .best = calloc(MOST_SHARING, sizeof *walk.best)};
    *list = (struct candidate_list){.items = calloc(MOST_SHARING, sizeof *list->items)};
    enum pim_status status = PIM_OK;
    if (!walk.known || !walk.best || !list->items) {
        status = pim_fail(error, PIM_NO_MEMORY, "out of memory for the candidates of a layer");
    } else {
        walk_cuts(&walk, height, width, false);
        (plan->sequential ? collect_one_cut : collect)(walk.best, list);
        if (list->count == 0) { /* more nodes than the loops are long: some stay idle */
            walk_cuts(&walk, height, width, true);
            (plan->sequential ? collect_one_cut : collect)(walk.best, list);
        }
        if (list->count == 0)
            status = pim_fail(error, PIM_BAD_INPUT,
                              "layer %.80s: no tile of any cut fits the buffers of %llu, %llu and %llu bytes",
                              plan->flow.graph->layers[layer].name,
                              (unsigned long long)plan->hardware->input_bytes,
                              (unsigned long long)plan->hardware->weight_bytes,
                              (unsigned long long)plan->hardware->output_bytes);
    }
    free(walk.known);
    free(walk.best);
    if (status != PIM_OK) {
        free(list->items);
        *list = (struct candidate_list){0};
    }
    return status;
}

#include "mappers/nicepim/map/candidates/candidates.h"

#include "mappers/nicepim/map/candidates/pieces.h"
#include "mappers/nicepim/map/program/messages.h"
#include "sim/integer.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SHARING = 1024, MOST_CANDIDATES = 1024 };
/* Loops whose parts all need the same weights. */
enum { NEED_WEIGHTS = 1u << PIM_LOOP_B | 1u << PIM_LOOP_P | 1u << PIM_LOOP_Q };

/* Which pieces of the input a node has: places[first[node]] .. places[first[node + 1] - 1]. */
struct owned {
    uint32_t *first;
    const struct place **places;
};

/* What the largest part of a cut, the first one, takes, in whatever order the loops are. */
struct largest {
    uint32_t high[PIM_LOOPS], wide[PIM_LOOPS]; /* of the cut; 0 before there was one */
    bool fits;                                 /* groups are whole, and a tile fits */
    struct pim_part part;
    struct tile_product product;
    uint64_t needing; /* nodes that need the same weights */
    uint64_t weights; /* bytes */
    uint64_t least;   /* cycles, at least */
    double alike;     /* parts of that size */
};

struct walk {
    const struct nice_plan *plan;
    const struct nice_region *region;
    struct owned owned[2]; /* of both inputs; without first: what moves is not looked at */
    const struct flow_operation *operation;
    uint32_t layer;
    struct largest largest;      /* of the cut that was looked at last */
    struct pieces *pieces[2];    /* of both inputs, where owned is */
    uint32_t busy[2];            /* the node that was found too slow last, of each side */
    struct candidate *best;      /* of the baseline: by sharing */
    struct candidate_list front; /* else: stored bytes up, cycles down; of the nearest: costs up */
    uint32_t nearest;            /* so many of least cost instead, one of each cut; 0: all that none beats */
    uint64_t most_stored;        /* bytes that one of them may have */
};

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

static uint64_t share_cycles(const struct nice_plan *plan, uint64_t block, uint64_t members, uint64_t load,
                             bool reduce)
{
    uint64_t piece = pim_divide_up(block, members);
    return members > 1 ? (members - 1) * program_ring_step(plan->hardware, piece, load * piece, block, reduce)
                       : 0;
}

/* Nodes between neighbours on a cycle of a group of these loops. */
static uint64_t apart(const struct pim_cut *cut, uint32_t loops)
{
    uint32_t high = stride(cut, cut->high, loops), wide = stride(cut, cut->wide, loops);
    if (high == 0 || wide == 0)
        return high > wide ? high : wide;
    return high < wide ? high : wide;
}

/* pJ of bytes that are read from one memory, sent over so many links and written to another. */
static double message_pj(const struct nice_plan *plan, double bytes, double links)
{
    const struct pim_energy_configuration *energy = &plan->hardware->energy;
    return 8 * bytes * (2 * energy->dram_pj_per_bit + links * energy->noc_pj_per_bit_hop);
}

/* Of `nodes` nodes in groups of `members`, each of which passes its block round. */
static double share_pj(const struct nice_plan *plan, const struct pim_cut *cut, uint32_t loops, double nodes,
                       uint64_t block, uint64_t members, bool reduce)
{
    if (members <= 1 || plan->weights.energy == 0)
        return 0;
    double bytes = nodes * (double)block * (double)(members - 1) / (double)members;
    const struct pim_energy_configuration *energy = &plan->hardware->energy;
    /* Sums are read twice, added and written on their way. */
    double added = 24 * bytes * (energy->dram_pj_per_bit + 2 * energy->sram_pj_per_bit) +
                   bytes / FLOW_SUM_BYTES * energy->acu_pj_per_operation;
    return message_pj(plan, bytes, (double)apart(cut, loops)) + (reduce ? added : 0);
}

static uint64_t cost_of(const struct nice_plan *plan, uint64_t cycles, double pj)
{
    return nice_cost(&plan->weights, cycles, pj);
}

/* Keeps those that no other beats in size or cost; of equal ones the first. */
static void insert(struct candidate_list *front, const struct candidate *trial)
{
    uint32_t at = 0, end;
    while (at < front->count && front->items[at].stored < trial->stored)
        at++;
    if (at > 0 && front->items[at - 1].cost <= trial->cost)
        return;
    if (at < front->count && front->items[at].stored == trial->stored && front->items[at].cost <= trial->cost)
        return;
    for (end = at; end < front->count && front->items[end].cost >= trial->cost; end++)
        ;
    if (end == at && front->count == MOST_CANDIDATES)
        return;
    memmove(front->items + at + 1, front->items + end, (front->count - end) * sizeof *front->items);
    front->items[at] = *trial;
    front->count = front->count - (end - at) + 1;
}

/* Keeps the cheapest, of equal ones the first. */
static void insert_nearest(struct walk *walk, const struct candidate *trial)
{
    struct candidate_list *list = &walk->front;
    uint32_t at = list->count;
    while (at > 0 && list->items[at - 1].cost > trial->cost)
        at--;
    if (at == walk->nearest)
        return;
    list->count -= list->count == walk->nearest;
    memmove(list->items + at + 1, list->items + at, (list->count - at) * sizeof *list->items);
    list->items[at] = *trial;
    list->count++;
}

/* What a candidate of this size must stay below. */
static uint64_t most_cost(const struct walk *walk, uint64_t stored)
{
    const struct candidate_list *front = &walk->front;
    uint32_t at = front->count;
    if (walk->nearest > 0)
        return at < walk->nearest ? UINT64_MAX : front->items[at - 1].cost;
    while (at > 0 && front->items[at - 1].stored > stored)
        at--;
    return at == 0 ? UINT64_MAX : front->items[at - 1].cost;
}

/* What is known of a cut but for its weights. */
struct trial {
    const struct pim_cut *cut;
    uint64_t cycles;
    double pj, nodes;
};

static void consider(struct walk *walk, const struct trial *cut, uint64_t weights, uint64_t needing)
{
    const struct nice_plan *plan = walk->plan;
    uint64_t load = crossing(cut->cut, NEED_WEIGHTS);
    uint64_t port = walk->plan->hardware->port_bytes;
    struct candidate nearest = {.cost = UINT64_MAX};
    for (uint32_t g = 1; g <= needing && g < MOST_SHARING; g++) {
        if (needing % g != 0 || (g > 1 && weights > walk->plan->copy_limit))
            continue;
        uint64_t shared = walk->plan->sequential ? 0 : share_cycles(walk->plan, weights, g, load, false);
        uint64_t total = cut->cycles + shared;
        double pj = cut->pj + share_pj(plan, cut->cut, NEED_WEIGHTS, cut->nodes, weights, g, false);
        struct candidate trial = {.cut = *cut->cut,
                                  .sharing = g,
                                  .cycles = total,
                                  .cost = cost_of(plan, total, pj),
                                  .stored = pim_divide_up(pim_divide_up(weights, g), port) * port};
        if (walk->nearest > 0)
            nearest = trial.cost < nearest.cost && trial.stored <= walk->most_stored ? trial : nearest;
        else if (!walk->plan->sequential)
            insert(&walk->front, &trial);
        else if (walk->best[g].sharing != g || walk->best[g].cycles > total) /* blind to energy */
            walk->best[g] = trial;
    }
    if (nearest.cost < UINT64_MAX)
        insert_nearest(walk, &nearest);
}

/* Parts of these loops that have something to do. */
static uint32_t parts_of(const struct walk *walk, const struct pim_cut *cut, uint32_t loops)
{
    uint32_t parts = 1;
    for (size_t loop = 0; loop < PIM_LOOPS; loop++) {
        if (loops >> loop & 1)
            parts *= pim_smaller32(cut->high[loop] * cut->wide[loop], walk->operation->conv.length[loop]);
    }
    return parts;
}

/* Elements of a box that a node has. */
static uint64_t has(const struct owned *owned, uint32_t node, const struct pim_span box[4])
{
    uint64_t elements = 0;
    for (uint32_t i = owned->first[node]; i < owned->first[node + 1]; i++)
        elements += pim_box_overlap(owned->places[i]->box, box);
    return elements;
}

/* Cycles of bringing inputs to the nodes that own a piece of them, from where they lie: the busiest node or,
 * on average, the links; what moves is packed on its way. */
static uint64_t move_cycles(struct walk *walk, const struct pim_cut *cut, size_t side, uint64_t limit,
                            double *pj)
{
    const struct pim_estimate_hardware *hardware = walk->plan->hardware;
    const struct nice_region *region = walk->region;
    struct pieces *pieces = walk->pieces[side];
    uint64_t most = 0, total = 0, copied = 0;
    pieces_begin(pieces, cut);
    /* A cut that is too slow mostly is so on the node on which the one before was. */
    uint32_t nodes = region->width * region->height, first = walk->busy[side];
    uint32_t row = first / region->width, column = first % region->width;
    for (uint32_t turn = 0; turn < nodes; turn++, column++) {
        if (column == region->width) {
            column = 0;
            row = row + 1 < region->height ? row + 1 : 0;
        }
        const struct cut_piece *piece = pieces_of(pieces, row, column);
        if (!piece->works)
            continue;
        uint32_t node = (region->y + row) * hardware->width + region->x + column;
        uint64_t own = has(&walk->owned[side], node, piece->box), missing = piece->elements - own;
        if (missing > most) {
            most = missing;
            if (pim_estimate_link(walk->plan->hardware, most * FLOW_BYTES) >= limit) {
                walk->busy[side] = row * region->width + column;
                return limit;
            }
        }
        copied = own > copied && pieces->sharing > 1 ? own : copied;
        total += missing;
    }
    uint64_t width = hardware->width, height = hardware->height, cycles = 0;
    *pj += message_pj(walk->plan, (double)(total * FLOW_BYTES), (double)(width + height) / 3);
    uint64_t links = 2 * (width * (height - 1) + height * (width - 1));
    if (total > 0) {
        uint64_t mean = links ? total * (width + height) / 3 / links : 0;
        most = most > mean ? most : mean;
        cycles = pim_estimate_link(hardware, most * FLOW_BYTES) + 4 * pim_estimate_access(hardware) +
                 pim_estimate_hops(hardware, width + height) +
                 pim_estimate_stream(hardware, most * FLOW_BYTES, false) +
                 pim_estimate_stream(hardware, most * FLOW_BYTES, true);
    }
    return cycles + (copied ? pim_estimate_stream(hardware, copied * FLOW_BYTES, false) +
                                  pim_estimate_stream(hardware, copied * FLOW_BYTES, true)
                            : 0);
}

/* Adds what passing inputs and partial sums round takes. */
static void count_sharing(const struct walk *walk, struct trial *trial, const struct pim_part *part)
{
    const struct nice_plan *plan = walk->plan;
    const struct pim_cut *cut = trial->cut;
    uint64_t of_k = parts_of(walk, cut, 1u << PIM_LOOP_K), of_c = parts_of(walk, cut, 1u << PIM_LOOP_C);
    struct pim_span box[4];
    flow_product_box(walk->operation, part, box);
    uint64_t inputs = flow_box_elements(box) * FLOW_BYTES;
    trial->cycles += share_cycles(plan, inputs, of_k, crossing(cut, 1u << PIM_LOOP_K), false);
    trial->pj += share_pj(plan, cut, 1u << PIM_LOOP_K, trial->nodes, inputs, of_k, false);
    if (walk->operation->right != FLOW_STORED) {
        enum { LOOPS = 1u << PIM_LOOP_P | 1u << PIM_LOOP_Q };
        flow_right_box(walk->operation, part, box);
        uint64_t right = flow_box_elements(box) * FLOW_BYTES, of_p = parts_of(walk, cut, LOOPS);
        trial->cycles += share_cycles(plan, right, of_p, crossing(cut, LOOPS), false);
        trial->pj += share_pj(plan, cut, LOOPS, trial->nodes, right, of_p, false);
    }
    if (of_c <= 1)
        return;
    uint64_t sums = pim_part_outputs(part) * FLOW_SUM_BYTES;
    trial->cycles += share_cycles(plan, sums, of_c, crossing(cut, 1u << PIM_LOOP_C), true) +
                     2 * pim_estimate_latency(plan->hardware) +
                     2 * place_run_cycles(plan->hardware, pim_divide_up(sums, of_c), sums, false);
    trial->pj += share_pj(plan, cut, 1u << PIM_LOOP_C, trial->nodes, sums, of_c, true);
}

/* Another cut than before, not only another order of its loops. */
static void look_at(struct walk *walk, const struct pim_cut *cut)
{
    const struct flow_operation *operation = walk->operation;
    struct largest *largest = &walk->largest;
    uint32_t parts[PIM_LOOPS];
    memcpy(largest->high, cut->high, sizeof largest->high);
    memcpy(largest->wide, cut->wide, sizeof largest->wide);
    for (size_t i = 0; i < PIM_LOOPS; i++)
        parts[i] = cut->high[i] * cut->wide[i];
    /* A part of more than one group has whole ones. */
    largest->fits = flow_groups_are_whole(operation, parts[PIM_LOOP_K]);
    if (!largest->fits)
        return;
    pim_cut_part(&operation->conv, cut, 0, 0, &largest->part);
    largest->alike = flow_parts_like(&operation->conv, &largest->part);
    /* Of a product without stored weights nothing is shared as weights are. */
    const bool stored = operation->right == FLOW_STORED;
    largest->needing = stored ? parts_of(walk, cut, NEED_WEIGHTS) : 1;
    largest->weights = stored ? pim_part_weights(&operation->conv, &largest->part) * FLOW_BYTES : 0;
    largest->fits = nice_tile_product(walk->plan, walk->layer, cut, &largest->part, &largest->product);
    if (largest->fits && !walk->plan->sequential)
        largest->least = tile_least_cycles(walk->plan->hardware, &largest->product);
}

static bool visit(void *context, const struct pim_cut *cut)
{
    struct walk *walk = context;
    const struct largest *largest = &walk->largest;
    struct tiling tiling;
    if (memcmp(largest->high, cut->high, sizeof cut->high) != 0 ||
        memcmp(largest->wide, cut->wide, sizeof cut->wide) != 0)
        look_at(walk, cut);
    if (!largest->fits)
        return true;
    struct trial trial = {.cut = cut, .nodes = largest->alike};
    /* What may move at most, so that the cut is worth something where all nodes hold a copy together. */
    uint64_t limit = most_cost(walk, pim_divide_up(largest->weights, largest->needing));
    if (!walk->plan->sequential) {
        count_sharing(walk, &trial, &largest->part);
        if (cost_of(walk->plan, trial.cycles + largest->least, trial.pj) >= limit)
            return true;
    }
    if (!nice_tiling(walk->plan, &largest->product, &tiling))
        return true;
    trial.cycles += tiling.total;
    trial.pj += tiling.pj * trial.nodes;
    if (walk->plan->sequential) {
        consider(walk, &trial, largest->weights, largest->needing);
        return true;
    }
    uint64_t cost = cost_of(walk->plan, trial.cycles, trial.pj);
    if (cost >= limit)
        return true;
    for (size_t side = 0; side < 2; side++) {
        bool fastest = walk->plan->weights.energy == 0 && walk->plan->weights.cycles == 1;
        if (walk->owned[side].first)
            trial.cycles += move_cycles(walk, cut, side, fastest ? limit - cost : UINT64_MAX, &trial.pj);
    }
    if (cost_of(walk->plan, trial.cycles, trial.pj) < limit)
        consider(walk, &trial, largest->weights, largest->needing);
    return true;
}

static void walk_cuts(struct walk *walk, uint32_t height, uint32_t width, bool idle)
{
    uint32_t limit[PIM_LOOPS];
    for (size_t i = 0; i < PIM_LOOPS; i++)
        limit[i] = idle ? UINT32_MAX : walk->operation->conv.length[i];
    if (walk->operation->groups > 1 || walk->operation->right != FLOW_STORED)
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

/* The candidates that were found, which *list gets. */
static void collect(struct walk *walk, struct candidate_list *list)
{
    if (walk->plan->sequential) {
        collect_one_cut(walk->best, list);
        return;
    }
    memcpy(list->items, walk->front.items, walk->front.count * sizeof *list->items);
    list->count = walk->front.count;
}

/* Places by their nodes. */
static bool own_pieces(const struct home *home, uint32_t nodes, struct owned *owned)
{
    owned->first = calloc((size_t)nodes + 2, sizeof *owned->first);
    owned->places = calloc((size_t)home->count + 1, sizeof *owned->places);
    if (!owned->first || !owned->places)
        return false;
    for (uint32_t i = 0; i < home->count; i++)
        owned->first[home->pieces[i].node + 2]++;
    for (uint32_t node = 0; node < nodes; node++)
        owned->first[node + 2] += owned->first[node + 1];
    for (uint32_t i = 0; i < home->count; i++)
        owned->places[owned->first[home->pieces[i].node + 1]++] = &home->pieces[i].place;
    return true;
}

/* Candidates as the walk that is begun here keeps them. */
static enum pim_status find(struct walk walk, const struct home *const inputs[2], struct candidate_list *list,
                            struct pim_error *error)
{
    const struct nice_plan *plan = walk.plan;
    const struct nice_region *region = walk.region;
    const uint32_t layer = walk.layer, nodes = plan->hardware->width * plan->hardware->height;
    walk.operation = &plan->flow.operation[layer];
    walk.best = calloc(MOST_SHARING, sizeof *walk.best);
    walk.front.items = calloc(MOST_CANDIDATES, sizeof *walk.front.items);
    *list = (struct candidate_list){.items = calloc(MOST_CANDIDATES, sizeof *list->items)};
    enum pim_status status = PIM_OK;
    bool owned = true;
    for (uint32_t side = 0; side < 2 && owned; side++) {
        if (!inputs[side] || inputs[side]->everywhere)
            continue;
        walk.pieces[side] =
            pieces_create(walk.operation, side, plan->layout[plan->flow.graph->layers[layer].input[side]]);
        owned = walk.pieces[side] && own_pieces(inputs[side], nodes, &walk.owned[side]);
    }
    if (!walk.best || !walk.front.items || !list->items || !owned) {
        status = pim_fail(error, PIM_NO_MEMORY, "out of memory for the candidates of a layer");
    } else {
        /* Of the nearest those are looked at as well that leave nodes idle. */
        walk_cuts(&walk, region->height, region->width, walk.nearest > 0);
        collect(&walk, list);
        if (list->count == 0 && walk.nearest == 0) { /* more nodes than the loops are long: some stay idle */
            walk_cuts(&walk, region->height, region->width, true);
            collect(&walk, list);
        }
        if (list->count == 0 && walk.nearest == 0)
            status = pim_fail(error, PIM_BAD_INPUT,
                              "layer %.80s: no tile of any cut fits the buffers of %llu, %llu and %llu bytes",
                              plan->flow.graph->layers[layer].name,
                              (unsigned long long)plan->hardware->input_bytes,
                              (unsigned long long)plan->hardware->weight_bytes,
                              (unsigned long long)plan->hardware->output_bytes);
    }
    free(walk.best);
    free(walk.front.items);
    for (size_t side = 0; side < 2; side++) {
        free(walk.pieces[side]);
        free(walk.owned[side].first);
        free(walk.owned[side].places);
    }
    if (status != PIM_OK) {
        free(list->items);
        *list = (struct candidate_list){0};
    }
    return status;
}

enum pim_status candidates_find(const struct nice_plan *plan, uint32_t layer,
                                const struct nice_region *region, const struct home *const inputs[2],
                                struct candidate_list *list, struct pim_error *error)
{
    return find((struct walk){.plan = plan, .region = region, .layer = layer}, inputs, list, error);
}

enum pim_status candidates_nearest(const struct nice_plan *plan, uint32_t layer,
                                   const struct nice_region *region, const struct home *const inputs[2],
                                   uint64_t most_stored, uint32_t count, struct candidate_list *list,
                                   struct pim_error *error)
{
    const struct walk walk = {
        .plan = plan, .region = region, .layer = layer, .nearest = count, .most_stored = most_stored};
    return find(walk, inputs, list, error);
}

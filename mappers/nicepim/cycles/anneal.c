/* Simulated annealing over the cycles of all sets together. Only the order of seeded random numbers
 * decides, so that the result is the same everywhere. */
#include "mappers/learn/elementary.h"
#include "mappers/nicepim/cycles/internal.h"
#include "sim/random.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    LONGEST_REVERSAL = 10,
    LONGEST_SHIFT = 3,
    MOST_ARCS = LONGEST_REVERSAL + 1,
    BLOCK = 256 /* steps at one temperature */
};

struct arc {
    uint32_t from, to;
};

/* Where a node is. */
struct point {
    uint32_t row, column;
};

/* A change of one tour: places are positions in the array of all tours. */
struct move {
    enum { REVERSE, SHIFT, SWAP } kind;
    size_t first, count;          /* the tour */
    size_t place, length, target; /* within it */
    bool turned;
    uint64_t weight;
    struct arc removed[MOST_ARCS], added[MOST_ARCS];
    size_t arcs;
};

struct state {
    const struct anneal *options;
    const struct pim_sharing *sharing;
    struct pim_random random;
    uint32_t *tour, *best, *scratch; /* nodes */
    uint32_t *place;                 /* of a node in its set */
    struct point *point;             /* of each node */
    size_t *movable;                 /* for each member of a set of three and more: its set */
    size_t movable_count;
    uint64_t *load;
    uint64_t excess, hops; /* load above K summed over the links; weighted hops */
    uint64_t best_excess, best_hops;
    double mean_weight;
};

/* --- loads --- */

static uint64_t above(uint64_t load, uint64_t limit)
{
    return load > limit ? load - limit : 0;
}

/* Adds `weight` to the links of one leg of a route, `step` entries apart; gives by how much the excess
 * changes. A weight that is taken off is added as its complement. */
static uint64_t load_leg(uint64_t *load, ptrdiff_t step, uint32_t length, uint64_t weight, uint64_t limit)
{
    uint64_t change = 0;
    for (uint32_t i = 0; i < length; i++, load += step) {
        const uint64_t old = *load, new = old + weight;
        *load = new;
        change += above(new, limit) - above(old, limit);
    }
    return change;
}

/* Puts an arc on its links, along the row and then along the column. */
static uint64_t load_arc(struct state *state, struct arc arc, uint64_t weight)
{
    const ptrdiff_t columns = state->sharing->columns;
    const struct point from = state->point[arc.from], to = state->point[arc.to];
    const uint64_t limit = state->options->load;
    uint64_t *row = state->load + (size_t)arc.from * LINK_DIRECTIONS;
    uint64_t *column = row + ((ptrdiff_t)to.column - (ptrdiff_t)from.column) * LINK_DIRECTIONS;
    uint64_t change =
        from.column < to.column
            ? load_leg(row + LINK_EAST, LINK_DIRECTIONS, to.column - from.column, weight, limit)
            : load_leg(row + LINK_WEST, -LINK_DIRECTIONS, from.column - to.column, weight, limit);
    change +=
        from.row < to.row
            ? load_leg(column + LINK_SOUTH, columns * LINK_DIRECTIONS, to.row - from.row, weight, limit)
            : load_leg(column + LINK_NORTH, -columns * LINK_DIRECTIONS, from.row - to.row, weight, limit);
    return change;
}

/* --- moves --- */

/* A place of a tour of `count` nodes that lies less than one round behind its end. */
static size_t wrap(size_t place, size_t count)
{
    return place < count ? place : place - count;
}

static void change_arc(struct move *move, uint32_t from, uint32_t to, uint32_t new_from, uint32_t new_to)
{
    move->removed[move->arcs] = (struct arc){from, to};
    move->added[move->arcs++] = (struct arc){new_from, new_to};
}

/* The arcs of a reversal of `length` nodes from `place` on. */
static void reverse_arcs(const uint32_t *tour, struct move *move)
{
    size_t n = move->count, p = move->place, length = move->length;
    uint32_t before = tour[wrap(p + n - 1, n)], after = tour[wrap(p + length, n)];
    for (size_t k = 0; k + 1 < length; k++) {
        uint32_t a = tour[wrap(p + k, n)], b = tour[wrap(p + k + 1, n)];
        change_arc(move, a, b, b, a);
    }
    uint32_t first = tour[p], last = tour[wrap(p + length - 1, n)];
    if (length == n) {
        change_arc(move, last, first, first, last);
        return;
    }
    change_arc(move, before, first, before, last);
    change_arc(move, last, after, first, after);
}

/* The arcs of moving `length` nodes from `place` behind the node at `target`. */
static void shift_arcs(const uint32_t *tour, struct move *move)
{
    size_t n = move->count, p = move->place, length = move->length;
    uint32_t before = tour[wrap(p + n - 1, n)], after = tour[wrap(p + length, n)];
    uint32_t first = tour[p], last = tour[wrap(p + length - 1, n)];
    uint32_t left = tour[move->target], right = tour[wrap(move->target + 1, n)];
    uint32_t head = move->turned ? last : first, tail = move->turned ? first : last;
    change_arc(move, before, first, before, after);
    change_arc(move, last, after, left, head);
    change_arc(move, left, right, tail, right);
    for (size_t k = 0; move->turned && k + 1 < length; k++) {
        uint32_t a = tour[wrap(p + k, n)], b = tour[wrap(p + k + 1, n)];
        change_arc(move, a, b, b, a);
    }
}

static uint32_t swapped(const uint32_t *tour, const struct move *move, size_t place)
{
    return tour[place == move->place ? move->target : place == move->target ? move->place : place];
}

static void swap_arcs(const uint32_t *tour, struct move *move)
{
    size_t n = move->count, places[4] = {wrap(move->place + n - 1, n), move->place,
                                         wrap(move->target + n - 1, n), move->target};
    for (size_t i = 0; i < 4; i++) {
        size_t a = places[i], b = wrap(a + 1, n);
        bool again = false;
        for (size_t j = 0; j < i; j++)
            again = again || places[j] == a;
        if (!again)
            change_arc(move, tour[a], tour[b], swapped(tour, move, a), swapped(tour, move, b));
    }
}

/* A random move of a set of three and more. */
static void draw_move(struct state *state, struct move *move)
{
    struct pim_random *random = &state->random;
    size_t set = state->movable[pim_random_below(random, state->movable_count)];
    size_t first = state->sharing->start[set], n = state->sharing->start[set + 1] - first;
    const uint32_t *tour = state->tour + first;
    uint64_t kind = pim_random_below(random, 4);
    move->first = first;
    move->count = n;
    move->place = pim_random_below(random, n);
    move->weight = state->sharing->weight[set];
    move->turned = false;
    move->arcs = 0; /* those behind are not looked at */
    if (kind <= 1) {
        size_t longest = n < LONGEST_REVERSAL ? n : LONGEST_REVERSAL;
        move->kind = REVERSE;
        move->length = pim_random_between(random, 2, longest);
        reverse_arcs(tour, move);
        return;
    }
    if (kind == 2) {
        size_t longest = n - 2 < LONGEST_SHIFT ? n - 2 : LONGEST_SHIFT;
        move->kind = SHIFT;
        move->length = pim_random_between(random, 1, longest);
        /* Behind one of the n - length - 1 nodes that are neither of the segment nor right before it. */
        move->target = wrap(move->place + move->length + pim_random_below(random, n - move->length - 1), n);
        move->turned = move->length > 1 && pim_random_below(random, 2) == 1;
        shift_arcs(tour, move);
        return;
    }
    move->kind = SWAP;
    move->target = wrap(move->place + 1 + pim_random_below(random, n - 1), n);
    swap_arcs(tour, move);
}

static void apply_reverse(uint32_t *tour, const struct move *move)
{
    size_t n = move->count;
    for (size_t k = 0; k < move->length / 2; k++) {
        uint32_t *a = &tour[wrap(move->place + k, n)],
                 *b = &tour[wrap(move->place + move->length - 1 - k, n)];
        uint32_t node = *a;
        *a = *b;
        *b = node;
    }
}

/* Rebuilds the tour: from behind the segment round to its target, the segment, the rest. */
static void apply_shift(uint32_t *tour, const struct move *move, uint32_t *scratch)
{
    size_t n = move->count, filled = 0, length = move->length, from = wrap(move->place + length, n);
    for (size_t k = 0; k < n - length; k++) {
        size_t place = wrap(from + k, n);
        scratch[filled++] = tour[place];
        for (size_t i = 0; place == move->target && i < length; i++)
            scratch[filled++] = tour[wrap(move->place + (move->turned ? length - 1 - i : i), n)];
    }
    memcpy(tour, scratch, n * sizeof *tour);
}

static void apply(struct state *state, const struct move *move)
{
    uint32_t *tour = state->tour + move->first;
    if (move->kind == REVERSE) {
        apply_reverse(tour, move);
    } else if (move->kind == SHIFT) {
        apply_shift(tour, move, state->scratch);
    } else {
        uint32_t node = tour[move->place];
        tour[move->place] = tour[move->target];
        tour[move->target] = node;
    }
}

/* --- search --- */

static uint32_t distance(uint32_t a, uint32_t b)
{
    return a < b ? b - a : a - b;
}

/* Weighted hops of arcs. */
static int64_t hops_of(const struct state *state, const struct move *move, const struct arc *arcs)
{
    int64_t hops = 0;
    for (size_t i = 0; i < move->arcs; i++) {
        const struct point from = state->point[arcs[i].from], to = state->point[arcs[i].to];
        hops += distance(from.row, to.row) + distance(from.column, to.column);
    }
    return hops * (int64_t)move->weight;
}

/* Puts the arcs of a move on their links, or takes them off with the complement of its weight; gives by how
 * much the excess changes. */
static int64_t load_arcs(struct state *state, const struct move *move, const struct arc *arcs,
                         uint64_t weight)
{
    uint64_t change = 0;
    for (size_t i = 0; i < move->arcs; i++)
        change += load_arc(state, arcs[i], weight);
    return (int64_t)change;
}

/* Fewer loads above K first, then fewer hops. */
static void keep_best(struct state *state)
{
    if (state->excess > state->best_excess ||
        (state->excess == state->best_excess && state->hops >= state->best_hops))
        return;
    state->best_excess = state->excess;
    state->best_hops = state->hops;
    memcpy(state->best, state->tour, state->sharing->start[state->sharing->set_count] * sizeof *state->best);
}

/*
 * One move, taken if it costs at most `-temperature ln u`, u uniform. Most are not, and many show it early:
 * no move saves more excess than there is, nor more than it takes off links.
 */
static void step(struct state *state, double temperature, double price)
{
    struct move move;
    draw_move(state, &move);
    const double allowed = -temperature * pim_logarithm(1 - pim_random_unit(&state->random));
    const int64_t removed = hops_of(state, &move, move.removed);
    const int64_t saved = removed - hops_of(state, &move, move.added);
    const int64_t least = -((uint64_t)removed < state->excess ? removed : (int64_t)state->excess);
    if (price * (double)least - (double)saved > allowed)
        return;
    int64_t excess = load_arcs(state, &move, move.removed, -move.weight);
    assert(excess >= least);
    if (price * (double)excess - (double)saved <= allowed) {
        excess += load_arcs(state, &move, move.added, move.weight);
        if (price * (double)excess - (double)saved <= allowed) {
            state->excess += (uint64_t)excess;
            state->hops -= (uint64_t)saved;
            apply(state, &move);
            keep_best(state);
            return;
        }
        (void)load_arcs(state, &move, move.added, -move.weight);
    }
    (void)load_arcs(state, &move, move.removed, move.weight);
}

static bool done(const struct state *state)
{
    return state->best_excess == 0 && state->best_hops <= state->options->hops_bound;
}

/* Cools geometrically from hot to cold while a unit of load above K gets dearer, from 3 to 15 hops. */
static void cool(struct state *state)
{
    const struct anneal *options = state->options;
    uint64_t blocks = options->steps / BLOCK;
    double rate =
        blocks > 1 ? pim_exponential(pim_logarithm(options->cold / options->hot) / (double)(blocks - 1)) : 1;
    double temperature = options->hot * state->mean_weight;
    for (uint64_t block = 0; block < blocks && !done(state) && !cycles_stopped(options->asked); block++) {
        double price = 3 + 12 * (double)block / (double)blocks;
        for (int i = 0; i < BLOCK; i++)
            step(state, temperature, price);
        temperature *= rate;
    }
}

static void start(struct state *state, const uint32_t *order)
{
    const struct pim_sharing *sharing = state->sharing;
    uint64_t arcs = 0, weights = 0;
    for (uint32_t i = 0; i < sharing_nodes(sharing); i++)
        state->point[i] = (struct point){i / sharing->columns, i % sharing->columns};
    for (size_t s = 0; s < sharing->set_count; s++) {
        size_t first = sharing->start[s], count = sharing->start[s + 1] - first;
        for (size_t i = 0; i < count; i++) {
            state->tour[first + i] = sharing->node[first + order[first + i]];
            if (count > 2)
                state->movable[state->movable_count++] = s;
        }
        for (size_t i = 0; count > 1 && i < count; i++) {
            struct arc arc = {state->tour[first + i], state->tour[first + (i + 1) % count]};
            state->excess += load_arc(state, arc, sharing->weight[s]);
            state->hops += sharing->weight[s] * sharing_distance(sharing, arc.from, arc.to);
            arcs++;
            weights += sharing->weight[s];
        }
    }
    state->mean_weight = arcs > 0 ? (double)weights / (double)arcs : 1;
    state->best_excess = UINT64_MAX;
    keep_best(state);
}

/* The best tours as indices into the sets. */
static void finish(const struct state *state, uint32_t *order)
{
    const struct pim_sharing *sharing = state->sharing;
    for (size_t s = 0; s < sharing->set_count; s++) {
        size_t first = sharing->start[s], end = sharing->start[s + 1];
        for (size_t i = first; i < end; i++)
            state->place[sharing->node[i]] = (uint32_t)(i - first);
        for (size_t i = first; i < end; i++)
            order[i] = state->place[state->best[i]];
    }
}

enum pim_status anneal_run(const struct anneal *anneal, uint32_t *order, bool *reached,
                           struct pim_error *error)
{
    const struct pim_sharing *sharing = anneal->sharing;
    size_t members = sharing->start[sharing->set_count], nodes = sharing_nodes(sharing);
    struct state state = {.options = anneal, .sharing = sharing};
    pim_random_initialize(&state.random, anneal->seed);
    state.tour = calloc(members, sizeof *state.tour);
    state.best = calloc(members, sizeof *state.best);
    state.scratch = calloc(members, sizeof *state.scratch);
    state.place = calloc(nodes, sizeof *state.place);
    state.point = calloc(nodes, sizeof *state.point);
    state.movable = calloc(members, sizeof *state.movable);
    state.load = calloc(nodes * LINK_DIRECTIONS, sizeof *state.load);
    bool allocated = state.tour && state.best && state.scratch && state.place && state.point &&
                     state.movable && state.load;
    if (allocated) {
        start(&state, order);
        if (state.movable_count > 0)
            cool(&state);
        finish(&state, order);
        *reached = state.best_excess == 0;
    }
    free(state.tour);
    free(state.best);
    free(state.scratch);
    free(state.place);
    free(state.point);
    free(state.movable);
    free(state.load);
    if (!allocated)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the cycles of %zu members", members);
    return PIM_OK;
}

/* Exchanges of places: descent and annealing; see place.h. */
#include "mappers/place/place.h"

#include "mappers/search/annealing.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EMPTY UINT32_MAX

struct board {
    const struct pim_grid *grid;
    const struct pim_flow *flows;
    struct pim_flow_index index;
    uint32_t count, things, cells;
};

/* An individual of the annealing: the thing in each cell, then the cell of each thing. */
static uint32_t *places_of(const struct board *board, uint32_t *cells)
{
    return cells + board->cells;
}

/* How much the flows of a thing gain or lose in hops when it goes to `target`, while `other` (EMPTY: nobody)
   goes where it was. Flows between the two do not change. */
static int64_t change_of(const struct board *board, const uint32_t *place, uint32_t thing, uint32_t target,
                         uint32_t other)
{
    int64_t change = 0;
    uint32_t from = place[thing];
    for (uint32_t k = board->index.first[thing]; k < board->index.first[thing + 1]; k++) {
        const struct pim_flow *flow = &board->flows[board->index.adjacent[k]];
        uint32_t peer = flow->from == thing ? flow->to : flow->from;
        if (peer == other)
            continue;
        change += (int64_t)flow->weight * ((int64_t)pim_grid_distance(board->grid, target, place[peer]) -
                                           (int64_t)pim_grid_distance(board->grid, from, place[peer]));
    }
    return change;
}

static int64_t exchange_change(const struct board *board, const uint32_t *cells, const uint32_t *place,
                               uint32_t thing, uint32_t cell)
{
    uint32_t other = cells[cell];
    int64_t change = change_of(board, place, thing, cell, other);
    return other == EMPTY ? change : change + change_of(board, place, other, place[thing], thing);
}

static void exchange(uint32_t *cells, uint32_t *place, uint32_t thing, uint32_t cell)
{
    uint32_t other = cells[cell], from = place[thing];
    cells[from] = other;
    cells[cell] = thing;
    place[thing] = cell;
    if (other != EMPTY)
        place[other] = from;
}

static enum pim_status make_board(struct board *board, const struct pim_grid *grid,
                                  const struct pim_flow *flows, uint32_t count, uint32_t things,
                                  struct pim_error *error)
{
    *board = (struct board){.grid = grid, .flows = flows, .count = count, .things = things};
    if (grid->width == 0 || grid->height == 0 || grid->height > PIM_PLACE_CELLS / grid->width)
        return pim_fail(error, PIM_BAD_INPUT,
                        "a grid of %" PRIu32 " x %" PRIu32 ": 1 to %d cells are possible", grid->width,
                        grid->height, PIM_PLACE_CELLS);
    board->cells = pim_grid_cells(grid);
    if (things > board->cells)
        return pim_fail(error, PIM_BAD_INPUT, "%" PRIu32 " things on a grid of %" PRIu32 " cells", things,
                        board->cells);
    return pim_flow_index_make(&board->index, flows, count, things, error);
}

static void descend(const struct board *board, uint32_t *cells, uint32_t *place, uint64_t steps)
{
    for (uint64_t step = 0; step < steps; step++) {
        int64_t best = 0;
        uint32_t thing = 0, cell = 0;
        for (uint32_t i = 0; i < board->things; i++)
            for (uint32_t c = 0; c < board->cells; c++) {
                if (c == place[i] || (cells[c] != EMPTY && cells[c] < i))
                    continue;
                int64_t change = exchange_change(board, cells, place, i, c);
                if (change < best) {
                    best = change;
                    thing = i;
                    cell = c;
                }
            }
        if (best == 0)
            return;
        exchange(cells, place, thing, cell);
    }
}

enum pim_status pim_place_descend(const struct pim_grid *grid, const struct pim_flow *flows, uint32_t count,
                                  uint32_t things, uint64_t steps, uint32_t *place, uint64_t *hops,
                                  struct pim_error *error)
{
    struct board board;
    enum pim_status status = make_board(&board, grid, flows, count, things, error);
    uint32_t *cells = status == PIM_OK ? malloc(((size_t)board.cells + 1) * sizeof *cells) : NULL;
    if (status == PIM_OK && !cells)
        status = pim_fail(error, PIM_NO_MEMORY, "no memory for %" PRIu32 " cells", board.cells);
    if (status == PIM_OK) {
        memset(cells, 0xff, board.cells * sizeof *cells);
        for (uint32_t i = 0; i < things && status == PIM_OK; i++) {
            if (place[i] >= board.cells || cells[place[i]] != EMPTY)
                status = pim_fail(error, PIM_BAD_INPUT, "thing %" PRIu32 " has no cell of its own", i);
            else
                cells[place[i]] = i;
        }
    }
    if (status == PIM_OK) {
        descend(&board, cells, place, steps);
        *hops = pim_place_hops(grid, flows, count, place);
    }
    free(cells);
    pim_flow_index_terminate(&board.index);
    return status;
}

/* --- annealing --- */

struct move {
    uint32_t thing, cell;
};

static void start(void *context, void *scratch, void *data, uint64_t index, struct pim_random *random)
{
    const struct board *board = context;
    uint32_t *cells = data, *place = places_of(board, cells);
    (void)scratch;
    (void)index;
    for (uint32_t c = 0; c < board->cells; c++)
        cells[c] = c < board->things ? c : EMPTY;
    pim_random_shuffle(random, cells, board->cells, sizeof *cells);
    for (uint32_t c = 0; c < board->cells; c++)
        if (cells[c] != EMPTY)
            place[cells[c]] = c;
}

static enum pim_status score(void *context, void *scratch, void *data, double *scores,
                             struct pim_error *error)
{
    const struct board *board = context;
    (void)scratch;
    (void)error;
    scores[0] = (double)pim_place_hops(board->grid, board->flows, board->count, places_of(board, data));
    return PIM_OK;
}

static double propose(void *context, void *scratch, void *data, struct pim_random *random)
{
    const struct board *board = context;
    uint32_t *cells = data, *place = places_of(board, cells);
    struct move *move = scratch;
    move->thing = (uint32_t)pim_random_below(random, board->things);
    move->cell = (uint32_t)pim_random_below(random, board->cells);
    if (move->cell == place[move->thing])
        return HUGE_VAL;
    return (double)exchange_change(board, cells, place, move->thing, move->cell);
}

static void accept(void *context, void *scratch, void *data)
{
    const struct board *board = context;
    const struct move *move = scratch;
    exchange(data, places_of(board, data), move->thing, move->cell);
}

enum pim_status pim_place_anneal(const struct pim_grid *grid, const struct pim_flow *flows, uint32_t count,
                                 uint32_t things, uint32_t chains, uint64_t moves, uint64_t seed,
                                 unsigned threads, uint32_t *place, uint64_t *hops, struct pim_error *error)
{
    struct board board;
    struct pim_search_result result;
    enum pim_status status = make_board(&board, grid, flows, count, things, error);
    *hops = 0;
    if (status != PIM_OK || things == 0) {
        pim_flow_index_terminate(&board.index);
        return status;
    }
    size_t size = ((size_t)board.cells + things) * sizeof *place;
    const struct pim_search_problem problem = {.context = &board,
                                               .size = size,
                                               .scratch_size = sizeof(struct move),
                                               .objectives = 1,
                                               .bound = -HUGE_VAL,
                                               .start = start,
                                               .score = score};
    const struct pim_annealing_options options = {
        .chains = chains, .moves = moves, .propose = propose, .accept = accept};
    const struct pim_search_budget budget = {.seed = seed, .steps = PIM_ANNEALING_LEVELS, .threads = threads};
    uint32_t *best = malloc(size);
    status = best ? pim_anneal(&problem, &options, &budget, best, &result, error)
                  : pim_fail(error, PIM_NO_MEMORY, "no memory for %" PRIu32 " cells", board.cells);
    if (status == PIM_OK) {
        memcpy(place, places_of(&board, best), things * sizeof *place);
        descend(&board, best, place, UINT64_MAX);
        *hops = pim_place_hops(grid, flows, count, place);
    }
    free(best);
    pim_flow_index_terminate(&board.index);
    return status;
}

#include "tests/unit/noc_oracle/match.h"

#include "tests/unit/test_main.h"

#include <stdlib.h>

void *zeros(size_t count, size_t size)
{
    void *items = calloc(count + 1, size);
    if (!items)
        ck_abort_msg("out of memory");
    return items;
}

/* --- arbiters --- */

void arbiter_create(struct arbiter *arbiter, enum pim_noc_arbiter kind, int size, int groups)
{
    *arbiter = (struct arbiter){.kind = kind, .size = size, .groups = kind == PIM_NOC_TREE ? groups : 1};
    arbiter->in_group = zeros((size_t)arbiter->groups, sizeof *arbiter->in_group);
    arbiter->served = zeros((size_t)size, sizeof *arbiter->served);
}

void arbiter_destroy(struct arbiter *arbiter)
{
    free(arbiter->in_group);
    free(arbiter->served);
}

static int behind(int i, int pointer, int size)
{
    return (i - pointer + size) % size;
}

bool arbiter_prefers(const struct arbiter *arbiter, int i, uint32_t packet_i, int j, uint32_t packet_j)
{
    int in_group = arbiter->size / arbiter->groups, a = i / in_group, b = j / in_group;
    switch (arbiter->kind) {
    case PIM_NOC_MATRIX:
        if (arbiter->served[i] != arbiter->served[j])
            return arbiter->served[i] < arbiter->served[j];
        return i > j; /* neither has been served */
    case PIM_NOC_FIXED_PRIORITY:
        return i < j;
    case PIM_NOC_TREE:
        if (a != b)
            return behind(a, arbiter->group_pointer, arbiter->groups) <
                   behind(b, arbiter->group_pointer, arbiter->groups);
        return behind(i % in_group, arbiter->in_group[a], in_group) <
               behind(j % in_group, arbiter->in_group[a], in_group);
    case PIM_NOC_AGE:
        if (packet_i != packet_j)
            return packet_i < packet_j;
        break;
    case PIM_NOC_ROUND_ROBIN:
    case PIM_NOC_WORKLOAD_BALANCE: /* without tasks */
    case PIM_NOC_ARBITERS:
        break;
    }
    return behind(i, arbiter->pointer, arbiter->size) < behind(j, arbiter->pointer, arbiter->size);
}

void arbiter_serve(struct arbiter *arbiter, int winner)
{
    int in_group = arbiter->size / arbiter->groups;
    arbiter->pointer = (winner + 1) % arbiter->size;
    arbiter->served[winner] = ++arbiter->clock;
    arbiter->in_group[winner / in_group] = (winner % in_group + 1) % in_group;
    arbiter->group_pointer = (winner / in_group + 1) % arbiter->groups;
}

/* --- requests --- */

void matching_create(struct matching *matching, enum pim_noc_allocator kind, uint32_t iterations, int rows,
                     int columns, enum pim_noc_arbiter arbiter, int groups)
{
    size_t cells = (size_t)rows * (size_t)columns;
    *matching = (struct matching){.kind = kind, .iterations = iterations, .rows = rows, .columns = columns};
    matching->row = zeros((size_t)rows, sizeof *matching->row);
    matching->column = zeros((size_t)columns, sizeof *matching->column);
    matching->priority = zeros(cells, sizeof *matching->priority);
    matching->packet = zeros(cells, sizeof *matching->packet);
    matching->row_asks = zeros((size_t)rows, sizeof *matching->row_asks);
    matching->column_asked = zeros((size_t)columns, sizeof *matching->column_asked);
    matching->partner = zeros((size_t)rows, sizeof *matching->partner);
    for (int row = 0; row < rows; row++)
        arbiter_create(&matching->row[row], arbiter, columns, groups);
    for (int column = 0; column < columns; column++)
        arbiter_create(&matching->column[column], arbiter, rows, groups);
    for (size_t cell = 0; cell < cells; cell++)
        matching->priority[cell] = NONE;
}

void matching_destroy(struct matching *matching)
{
    for (int row = 0; row < matching->rows; row++)
        arbiter_destroy(&matching->row[row]);
    for (int column = 0; column < matching->columns; column++)
        arbiter_destroy(&matching->column[column]);
    free(matching->row);
    free(matching->column);
    free(matching->priority);
    free(matching->packet);
    free(matching->row_asks);
    free(matching->column_asked);
    free(matching->partner);
}

void matching_clear(struct matching *matching)
{
    for (int row = 0; row < matching->rows; row++) {
        matching->partner[row] = NONE;
        for (int column = 0; column < matching->columns && matching->row_asks[row]; column++)
            matching->priority[row * matching->columns + column] = NONE;
        matching->row_asks[row] = false;
    }
    for (int column = 0; column < matching->columns; column++)
        matching->column_asked[column] = false;
    matching->requests = 0;
}

void matching_ask(struct matching *matching, int row, int column, int64_t priority, uint32_t packet)
{
    matching->priority[row * matching->columns + column] = priority;
    matching->packet[row * matching->columns + column] = packet;
    matching->row_asks[row] = matching->column_asked[column] = true;
    matching->requests++;
}

/* --- allocators --- */

/* The best of the cells first, first + step, ... whose index is in `allowed`. */
static int choose(const struct matching *matching, const struct arbiter *arbiter, int first, int step,
                  int ignores, const bool *allowed)
{
    int best = NONE;
    for (int i = 0; i < arbiter->size; i++) {
        int64_t priority = matching->priority[first + i * step];
        if (priority < 0 || !allowed[i])
            continue;
        int64_t other = best == NONE ? 0 : matching->priority[first + best * step];
        if (best == NONE || priority >> ignores > other >> ignores ||
            (priority >> ignores == other >> ignores &&
             arbiter_prefers(arbiter, i, matching->packet[first + i * step], best,
                             matching->packet[first + best * step])))
            best = i;
    }
    return best;
}

static int row_chooses(const struct matching *matching, int row, const bool *allowed)
{
    return choose(matching, &matching->row[row], row * matching->columns, 1, matching->row_ignores, allowed);
}

static int column_chooses(const struct matching *matching, int column, const bool *allowed)
{
    return choose(matching, &matching->column[column], column, matching->columns, matching->column_ignores,
                  allowed);
}

static void match(struct matching *matching, int row, int column, bool serve)
{
    matching->partner[row] = column;
    if (!serve)
        return;
    arbiter_serve(&matching->row[row], column);
    arbiter_serve(&matching->column[column], row);
}

/* Every column that is free offers itself to a row that is free, every row accepts an offer. */
static void columns_first(struct matching *matching, uint32_t iterations)
{
    bool *row_free = zeros((size_t)matching->rows, sizeof *row_free);
    bool *column_free = zeros((size_t)matching->columns, sizeof *column_free);
    bool *offers = zeros((size_t)matching->columns, sizeof *offers);
    int *offer = zeros((size_t)matching->columns, sizeof *offer);
    for (int row = 0; row < matching->rows; row++)
        row_free[row] = true;
    for (int column = 0; column < matching->columns; column++)
        column_free[column] = true;
    for (uint32_t iteration = 0; iteration < iterations; iteration++) {
        for (int column = 0; column < matching->columns; column++)
            offer[column] = matching->column_asked[column] && column_free[column]
                                ? column_chooses(matching, column, row_free)
                                : NONE;
        for (int row = 0; row < matching->rows; row++) {
            if (!matching->row_asks[row] || !row_free[row])
                continue;
            for (int column = 0; column < matching->columns; column++)
                offers[column] = offer[column] == row;
            int column = row_chooses(matching, row, offers);
            if (column == NONE)
                continue;
            match(matching, row, column, iteration == 0);
            row_free[row] = column_free[column] = false;
        }
    }
    free(row_free);
    free(column_free);
    free(offers);
    free(offer);
}

static void rows_first(struct matching *matching)
{
    bool *all = zeros((size_t)matching->columns, sizeof *all);
    bool *bids = zeros((size_t)matching->rows, sizeof *bids);
    int *choice = zeros((size_t)matching->rows, sizeof *choice);
    for (int column = 0; column < matching->columns; column++)
        all[column] = true;
    for (int row = 0; row < matching->rows; row++)
        choice[row] = matching->row_asks[row] ? row_chooses(matching, row, all) : NONE;
    for (int column = 0; column < matching->columns; column++) {
        if (!matching->column_asked[column])
            continue;
        for (int row = 0; row < matching->rows; row++)
            bids[row] = choice[row] == column;
        int row = column_chooses(matching, column, bids);
        if (row != NONE)
            match(matching, row, column, true);
    }
    free(all);
    free(bids);
    free(choice);
}

static void wavefront(struct matching *matching)
{
    int rows = matching->rows, columns = matching->columns, side = rows > columns ? rows : columns;
    bool *taken = zeros((size_t)columns, sizeof *taken);
    int first = NONE;
    for (int64_t below = INT64_MAX, value;; below = value) {
        value = NONE; /* the next lower priority that somebody asks with */
        for (int row = 0; row < rows; row++)
            for (int column = 0; column < columns && matching->row_asks[row]; column++) {
                int64_t priority = matching->priority[row * columns + column];
                if (priority < below && priority > value)
                    value = priority;
            }
        if (value == NONE)
            break;
        for (int i = 0; i < side; i++) {
            int diagonal = (matching->diagonal + i) % side;
            for (int row = 0; row < rows; row++) {
                int column = (diagonal - row % side + side) % side;
                if (column >= columns || matching->priority[row * columns + column] != value ||
                    matching->partner[row] != NONE || taken[column])
                    continue;
                match(matching, row, column, false);
                taken[column] = true;
                if (first == NONE)
                    first = diagonal;
            }
        }
    }
    free(taken);
    matching->diagonal =
        ((matching->kind == PIM_NOC_ROUND_ROBIN_WAVEFRONT ? first : matching->diagonal) + 1) % side;
}

void matching_make(struct matching *matching)
{
    if (matching->requests == 0)
        return;
    if (matching->kind == PIM_NOC_ISLIP)
        columns_first(matching, matching->iterations);
    else if (matching->kind == PIM_NOC_SEPARABLE_OUTPUT_FIRST)
        columns_first(matching, 1);
    else if (matching->kind == PIM_NOC_SEPARABLE_INPUT_FIRST)
        rows_first(matching);
    else
        wavefront(matching);
}

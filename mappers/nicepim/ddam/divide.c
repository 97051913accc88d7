#include "mappers/nicepim/ddam/divide.h"

#include "mappers/nicepim/map/candidates/candidates.h"
#include "sim/integer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Sides that regions have, beside those of the array. */
static const uint32_t lengths[] = {1, 2, 3, 4, 6, 8, 12, 16, 24};
enum { SIDES = 10, BANDS_MOST = 32, NONE = UINT16_MAX };

static const struct cost {
    uint64_t slowest, sum;
} never = {UINT64_MAX, UINT64_MAX};

/* What led to a state: the first product of the last part and the side of its region; of a band: its
 * width. */
struct step {
    uint16_t product, side;
};

struct division {
    struct nice_plan *plan;
    uint32_t products, width, height;
    uint32_t *layer;    /* of each product */
    uint32_t *order;    /* of each layer: the last product that it waits for */
    uint64_t *crossing; /* bytes of maps that a part which begins with a product gets from before it */
    uint32_t rows[SIDES], columns[SIDES], row_count, column_count;
    struct candidate_list *lists; /* of each product and shape; those of equal products stand once */
    uint32_t *like;               /* of each product: the first one that is equal */
    uint64_t *other;              /* of each shape and number of products: cycles of what is no product */
    uint64_t *part; /* of each shape, first product and end: cycles; UINT64_MAX: it does not fit */
};

static uint32_t fill_sides(uint32_t side, uint32_t sides[SIDES])
{
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        if (lengths[i] < side)
            sides[count++] = lengths[i];
    sides[count++] = side;
    return count;
}

/* --- the network --- */

/* Products in their order, and what crosses from before each of them. */
static void read_network(struct division *division)
{
    const struct flow *flow = &division->plan->flow;
    for (uint32_t i = 0; i < flow->count; i++) {
        const struct pim_layer *layer = &flow->graph->layers[i];
        if (flow->operation[i].kind == FLOW_PRODUCT) {
            division->order[i] = division->products;
            division->layer[division->products++] = i;
            continue;
        }
        for (uint32_t k = 0; k < layer->inputs; k++)
            if (division->order[layer->input[k]] > division->order[i])
                division->order[i] = division->order[layer->input[k]];
    }
    for (uint32_t i = 0; i < flow->count; i++) {
        uint32_t last = division->order[i];
        for (uint32_t j = i + 1; j < flow->count; j++)
            for (uint32_t k = 0; k < flow->graph->layers[j].inputs; k++)
                if (flow->graph->layers[j].input[k] == i && division->order[j] > last)
                    last = division->order[j];
        const uint32_t *size = flow->operation[i].dimension;
        uint64_t bytes = (uint64_t)size[0] * size[1] * size[2] * size[3] * FLOW_BYTES;
        for (uint32_t p = division->order[i] + 1; p <= last && flow->operation[i].kind != FLOW_INPUT; p++)
            division->crossing[p] += bytes;
    }
    for (uint32_t p = 0; p < division->products; p++)
        for (division->like[p] = 0; division->like[p] < p; division->like[p]++) {
            const struct flow_operation *a = &flow->operation[division->layer[p]],
                                        *b = &flow->operation[division->layer[division->like[p]]];
            if (memcmp(&a->conv, &b->conv, sizeof a->conv) == 0 && a->groups == b->groups &&
                memcmp(a->dimension, b->dimension, sizeof a->dimension) == 0)
                break;
        }
}

static size_t shape_of(const struct division *division, uint32_t row, uint32_t column)
{
    return (size_t)row * division->column_count + column;
}

static struct candidate_list *list_of(const struct division *division, size_t shape, uint32_t product)
{
    return &division->lists[shape * division->products + division->like[product]];
}

/* Vector operations, spread evenly: what they read, their work, what they write. */
static void add_others(struct division *division, size_t shape, uint32_t nodes)
{
    const struct flow *flow = &division->plan->flow;
    const struct pim_estimate_hardware *hardware = division->plan->hardware;
    uint64_t *other = division->other + shape * (division->products + 1);
    for (uint32_t i = 0; i < flow->count; i++) {
        const struct flow_operation *operation = &flow->operation[i];
        if (operation->kind != FLOW_VECTOR)
            continue;
        const uint32_t *size = operation->dimension;
        uint64_t elements = pim_divide_up((uint64_t)size[0] * size[1] * size[2] * size[3], nodes);
        other[division->order[i] + 1] +=
            pim_estimate_vector(hardware, 1, elements, operation->taps > 0 ? operation->taps : 1) +
            pim_estimate_stream(hardware, elements * FLOW_BYTES, true);
    }
    for (uint32_t p = 0; p < division->products; p++)
        other[p + 1] += other[p];
}

static enum pim_status find_lists(struct division *division, struct pim_error *error)
{
    const struct home *const unknown[2] = {NULL, NULL};
    for (uint32_t r = 0; r < division->row_count; r++)
        for (uint32_t c = 0; c < division->column_count; c++) {
            const struct nice_region region = {0, 0, division->columns[c], division->rows[r]};
            size_t shape = shape_of(division, r, c);
            add_others(division, shape, region.width * region.height);
            for (uint32_t p = 0; p < division->products; p++)
                if (division->like[p] == p &&
                    candidates_find(division->plan, division->layer[p], &region, unknown,
                                    list_of(division, shape, p), error) != PIM_OK)
                    return error->status;
        }
    return PIM_OK;
}

/* --- parts --- */

/* The candidates of the products [first, end): the fastest; where their weights do not fit, that of the layer
 * that holds most of them is given up for the next smaller one, again and again. False: nothing fits. */
static bool choose_part(const struct division *division, size_t shape, uint32_t first, uint32_t end,
                        uint32_t *taken, uint64_t *cycles, uint64_t *stored)
{
    *cycles = *stored = 0;
    for (uint32_t p = first; p < end; p++) {
        const struct candidate_list *list = list_of(division, shape, p);
        taken[p] = list->count - 1; /* sizes ascend, cycles descend */
        *cycles += list->items[taken[p]].cycles;
        *stored += list->items[taken[p]].stored;
    }
    while (*stored > division->plan->capacity) {
        uint32_t most = UINT32_MAX;
        uint64_t least = 0;
        for (uint32_t p = first; p < end; p++) {
            uint64_t bytes = list_of(division, shape, p)->items[taken[p]].stored;
            if (taken[p] > 0 && (most == UINT32_MAX || bytes > least)) {
                most = p;
                least = bytes;
            }
        }
        if (most == UINT32_MAX)
            return false;
        const struct candidate *from = &list_of(division, shape, most)->items[taken[most]--];
        *stored -= from->stored - from[-1].stored;
        *cycles += from[-1].cycles - from->cycles;
    }
    return true;
}

/* What a part gets from those before it, each node its share. */
static uint64_t arrival(const struct division *division, uint32_t first, uint32_t nodes)
{
    const struct pim_estimate_hardware *hardware = division->plan->hardware;
    uint64_t bytes = pim_divide_up(division->crossing[first], nodes);
    if (bytes == 0)
        return 0;
    return pim_estimate_worm(hardware, bytes) + pim_estimate_stream(hardware, bytes, false) +
           pim_estimate_stream(hardware, bytes, true) + 2 * pim_estimate_access(hardware) +
           pim_estimate_hops(hardware, (uint64_t)hardware->width + hardware->height);
}

static uint64_t *part_of(const struct division *division, size_t shape, uint32_t first, uint32_t end)
{
    return &division->part[(shape * division->products + first) * (division->products + 1) + end];
}

static void time_parts(struct division *division, uint32_t *taken)
{
    for (uint32_t r = 0; r < division->row_count; r++)
        for (uint32_t c = 0; c < division->column_count; c++) {
            size_t shape = shape_of(division, r, c);
            uint32_t nodes = division->rows[r] * division->columns[c];
            const uint64_t *other = division->other + shape * (division->products + 1);
            for (uint32_t first = 0; first < division->products; first++) {
                bool fits = true; /* a longer part needs no less */
                for (uint32_t end = first + 1; end <= division->products; end++) {
                    uint64_t cycles, stored;
                    fits = fits && choose_part(division, shape, first, end, taken, &cycles, &stored);
                    *part_of(division, shape, first, end) =
                        fits ? cycles + arrival(division, first, nodes) + other[end] - other[first]
                             : UINT64_MAX;
                }
            }
        }
}

/* --- the array --- */

/* Bands by the column at which they begin; in a band, states by rows used and products done. */
struct table {
    struct cost *at;       /* of each column and number of products */
    struct step *came;     /* how: `product` is the number of products before the band, `side` its width */
    struct cost *in;       /* of each row and number of products, of the band that is looked at */
    struct step *last;     /* of each column, width, row and number of products */
    size_t states, stride; /* products + 1; states of a band */
};

static bool less(struct cost a, struct cost b)
{
    return a.slowest < b.slowest || (a.slowest == b.slowest && a.sum < b.sum);
}

static struct step *last_of(const struct table *table, const struct division *division, uint32_t column,
                            uint32_t side)
{
    return table->last + ((size_t)column * division->column_count + side) * table->stride;
}

/* All ways to fill a band of whole columns, each from every state in which the columns before it are full. */
static void fill_band(const struct division *division, struct table *table, uint32_t column, uint32_t side)
{
    size_t n = table->states;
    struct step *last = last_of(table, division, column, side);
    uint32_t next = column + division->columns[side];
    for (uint32_t row = 0; row <= division->height; row++)
        for (uint32_t end = 0; end < n; end++) {
            struct cost best = row == 0 ? table->at[column * n + end] : never;
            struct step step = {NONE, NONE};
            for (uint32_t s = 0; s < division->row_count && division->rows[s] <= row; s++)
                for (uint32_t first = 0; first < end; first++) {
                    struct cost before = table->in[(row - division->rows[s]) * n + first];
                    uint64_t cycles = *part_of(division, shape_of(division, s, side), first, end);
                    if (before.slowest == UINT64_MAX || cycles == UINT64_MAX)
                        continue;
                    const struct cost trial = {before.slowest > cycles ? before.slowest : cycles,
                                               before.sum + cycles};
                    if (less(trial, best)) {
                        best = trial;
                        step = (struct step){(uint16_t)first, (uint16_t)s};
                    }
                }
            table->in[row * n + end] = best;
            last[row * n + end] = step;
        }
    for (uint32_t end = 0; end < n; end++) {
        struct cost full = table->in[division->height * n + end];
        if (full.slowest != UINT64_MAX && less(full, table->at[next * n + end])) {
            table->at[next * n + end] = full;
            table->came[next * n + end] = (struct step){0, (uint16_t)side};
        }
    }
}

/* Gives the products [first, end) their candidates on a region, as the part that is met next from the end. */
static void take_part(const struct division *division, uint32_t *taken, const struct nice_region *region,
                      size_t shape, uint32_t first, uint32_t end)
{
    struct nice_plan *plan = division->plan;
    uint64_t cycles, stored;
    (void)choose_part(division, shape, first, end, taken, &cycles, &stored);
    plan->stored = stored > plan->stored ? stored : plan->stored;
    for (uint32_t p = first; p < end; p++) {
        const struct candidate *candidate = &list_of(division, shape, p)->items[taken[p]];
        plan->decision[division->layer[p]] = (struct nice_decision){.region = *region,
                                                                    .cut = candidate->cut,
                                                                    .sharing = candidate->sharing,
                                                                    .cycles = candidate->cycles,
                                                                    .stored = candidate->stored};
        plan->part[division->layer[p]] = plan->parts;
    }
    plan->parts++;
}

/* From the last band to the first; parts get their numbers from the end, and are turned round after. */
static void take(const struct division *division, const struct table *table, uint32_t *taken)
{
    struct nice_plan *plan = division->plan;
    size_t n = table->states;
    uint32_t end = division->products, bands = 0, band = 0;
    uint32_t sides[BANDS_MOST] = {0}; /* of bands, from the last on */
    for (uint32_t column = division->width, at = end; column > 0; bands++) {
        uint32_t side = table->came[column * n + at].side;
        column -= division->columns[side];
        sides[bands] = side;
        const struct step *last = last_of(table, division, column, side);
        for (uint32_t row = division->height; row > 0;) {
            struct step step = last[row * n + at];
            row -= division->rows[step.side];
            at = step.product;
        }
    }
    plan->parts = 0;
    for (uint32_t column = division->width; column > 0; band++) {
        uint32_t side = sides[band];
        column -= division->columns[side];
        bool up = (bands - band) % 2 == 0; /* every second band runs upwards */
        const struct step *last = last_of(table, division, column, side);
        for (uint32_t row = division->height; row > 0;) {
            struct step step = last[row * n + end];
            uint32_t rows = division->rows[step.side];
            row -= rows;
            const struct nice_region region = {column, up ? division->height - row - rows : row,
                                               division->columns[side], rows};
            take_part(division, taken, &region, shape_of(division, step.side, side), step.product, end);
            end = step.product;
        }
    }
    for (uint32_t i = 0; i < plan->flow.count; i++) { /* all else where the last of its inputs is made */
        const struct pim_layer *layer = &plan->flow.graph->layers[i];
        if (plan->flow.operation[i].kind == FLOW_PRODUCT)
            plan->part[i] = plan->parts - 1 - plan->part[i];
        for (uint32_t k = 0; k < layer->inputs && plan->flow.operation[i].kind != FLOW_PRODUCT; k++)
            if (plan->part[layer->input[k]] > plan->part[i])
                plan->part[i] = plan->part[layer->input[k]];
    }
}

static enum pim_status fill_array(const struct division *division, uint32_t *taken, struct pim_error *error)
{
    size_t n = division->products + (size_t)1;
    struct table table = {.states = n, .stride = (division->height + (size_t)1) * n};
    table.at = calloc((division->width + (size_t)1) * n, sizeof *table.at);
    table.came = calloc((division->width + (size_t)1) * n, sizeof *table.came);
    table.in = calloc(table.stride, sizeof *table.in);
    table.last = calloc((size_t)division->width * division->column_count * table.stride, sizeof *table.last);
    enum pim_status status = PIM_OK;
    if (!table.at || !table.came || !table.in || !table.last) {
        status = pim_fail(error, PIM_NO_MEMORY, "out of memory for the parts of the network");
    } else {
        for (size_t i = 0; i < (division->width + (size_t)1) * n; i++)
            table.at[i] = never;
        table.at[0] = (struct cost){0, 0};
        for (uint32_t column = 0; column < division->width; column++)
            for (uint32_t side = 0; side < division->column_count; side++)
                if (column + division->columns[side] <= division->width)
                    fill_band(division, &table, column, side);
        struct cost best = table.at[division->width * n + division->products];
        division->plan->cost = best.slowest;
        if (best.slowest == UINT64_MAX)
            status =
                pim_fail(error, PIM_BAD_INPUT,
                         "however the network is cut into parts, the weights of one do not fit the %" PRIu64
                         " bytes that a node has for them",
                         division->plan->capacity);
        else
            take(division, &table, taken);
    }
    free(table.at);
    free(table.came);
    free(table.in);
    free(table.last);
    return status;
}

/* DDAM is for convolutional networks: its parts hold the weights of their products. */
static enum pim_status check_network(const struct flow *flow, struct pim_error *error)
{
    for (uint32_t i = 0; i < flow->count; i++)
        if (flow->operation[i].kind == FLOW_PRODUCT && flow->operation[i].right != FLOW_STORED)
            return pim_fail(
                error, PIM_BAD_INPUT,
                "layer %.80s multiplies two maps: DDAM's pipeline takes convolutional networks alone",
                flow->graph->layers[i].name);
    return PIM_OK;
}

enum pim_status ddam_divide(struct nice_plan *plan, struct pim_error *error)
{
    if (check_network(&plan->flow, error) != PIM_OK)
        return error->status;
    struct division division = {
        .plan = plan, .width = plan->hardware->width, .height = plan->hardware->height};
    size_t count = plan->flow.count + (size_t)1;
    division.row_count = fill_sides(division.height, division.rows);
    division.column_count = fill_sides(division.width, division.columns);
    division.layer = calloc(count, sizeof *division.layer);
    division.order = calloc(count, sizeof *division.order);
    division.crossing = calloc(count, sizeof *division.crossing);
    division.like = calloc(count, sizeof *division.like);
    uint32_t *taken = calloc(count, sizeof *taken);
    enum pim_status status = PIM_OK;
    if (!division.layer || !division.order || !division.crossing || !division.like || !taken)
        status = pim_fail(error, PIM_NO_MEMORY, "out of memory for the parts of the network");
    size_t shapes = (size_t)division.row_count * division.column_count, n = 0;
    if (status == PIM_OK) {
        read_network(&division);
        n = division.products;
        division.lists = calloc(shapes * n, sizeof *division.lists);
        division.other = calloc(shapes * (n + 1), sizeof *division.other);
        division.part = calloc(shapes * n * (n + 1), sizeof *division.part);
        if (n >= NONE || !division.lists || !division.other || !division.part)
            status = pim_fail(error, PIM_NO_MEMORY, "out of memory for the parts of %zu products", n);
    }
    if (status == PIM_OK)
        status = find_lists(&division, error);
    if (status == PIM_OK) {
        time_parts(&division, taken);
        plan->stored = 0;
        status = fill_array(&division, taken, error);
    }
    for (size_t i = 0; division.lists && i < shapes * n; i++)
        free(division.lists[i].items);
    free(division.lists);
    free(division.other);
    free(division.part);
    free(division.layer);
    free(division.order);
    free(division.crossing);
    free(division.like);
    free(taken);
    return status;
}

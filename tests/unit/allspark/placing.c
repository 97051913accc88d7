/* Weights of a stage, placed as the trace takes them. */
#include "tests/unit/allspark/placing.h"

#include "tests/unit/allspark/algebra.h"
#include "tests/unit/allspark/reference.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

uint32_t spread_before(const struct pim_allspark_partition *stage, uint64_t total, uint32_t column)
{
    uint64_t channels = share_start(stage->heads, stage->v, column) * stage->head_channels;
    return (uint32_t)(total * channels / stage->channels);
}

static const struct {
    enum pim_allspark_weight weight;
    const char *phase;
} weighted[] = {{PIM_ALLSPARK_MERGE, "merge"},         {PIM_ALLSPARK_QUERY, "query"},
                {PIM_ALLSPARK_REDUCTION, "reduction"}, {PIM_ALLSPARK_KEY, "key"},
                {PIM_ALLSPARK_VALUE, "value"},         {PIM_ALLSPARK_PROJECTION, "projection"},
                {PIM_ALLSPARK_EXPAND, "ffn_expand"},   {PIM_ALLSPARK_CONTRACT, "ffn_contract"}};

/* The columns of a weight matrix that a column of nodes works, and its rows. */
static void weight_extent(const struct pim_allspark_partition *stage, enum pim_allspark_weight weight,
                          uint32_t column, uint32_t *k, uint32_t *n0, uint32_t *n)
{
    uint32_t total = weight == PIM_ALLSPARK_EXPAND ? stage->hidden : stage->channels;
    *k = weight == PIM_ALLSPARK_MERGE       ? stage->merge_inputs
         : weight == PIM_ALLSPARK_CONTRACT  ? stage->hidden
         : weight == PIM_ALLSPARK_REDUCTION ? stage->reduction * stage->channels
                                            : stage->channels;
    *n0 = spread_before(stage, total, column);
    *n = spread_before(stage, total, column + 1) - *n0;
}

/* Rows that a node multiplies with a weight, in all images. */
static uint64_t weight_rows(const struct stage_run *run, const struct pim_allspark_partition *part,
                            enum pim_allspark_weight weight, uint32_t row)
{
    bool keys =
        weight == PIM_ALLSPARK_REDUCTION || weight == PIM_ALLSPARK_KEY || weight == PIM_ALLSPARK_VALUE;
    bool focal = run->plan->network->transformer->family == PIM_FAMILY_FOCAL;
    uint64_t rows = share_of(keys && !focal ? part->made_keys : part->tokens, part->u, row);
    rows += keys && focal && row + 1 == part->u; /* the pooled token */
    return run->plan->batch * (rows - (weight == PIM_ALLSPARK_MERGE && row == 0 ? part->class_tokens : 0));
}

/* The order of the weights is that of the first node of the ring that multiplies; all must agree, or the
   numbers come out wrong. */
static bool find_order(struct stage_run *run, const struct standing *first, enum pim_allspark_weight weight,
                       struct weight_order *wanted, uint64_t *order)
{
    for (uint32_t ring = 0; ring < first->part->slots * first->part->u; ring++) {
        const struct pim_allspark_tile *tile =
            &first->part->layout.tiles[first->part->reused ? 0 : first->group];
        uint32_t x = tile->turned ? tile->x + ring : tile->x + first->column,
                 y = tile->turned ? tile->y + first->column : tile->y + ring;
        wanted->rows = weight_rows(run, first->part, weight, ring % first->part->u);
        if (wanted->rows > 0 &&
            machine_weight_order(run->machine, y * run->plan->hardware.width + x, wanted, order))
            return true;
    }
    return false;
}

/* Columns of a chunk: eights, as many as make `chunks` of column 0's. */
static uint32_t chunk_columns(const struct pim_allspark_partition *part, enum pim_allspark_weight weight)
{
    uint32_t k, n0, n;
    weight_extent(part, weight, 0, &k, &n0, &n);
    return part->chunks > 1 ? ((n + part->chunks - 1) / part->chunks + 7) / 8 * 8 : UINT32_MAX;
}

/* The input of the reduction that row k of its weights multiplies: token * channels + channel, where pieces
   of the columns follow each other, in each the tokens of a key, in each of those the channels of the
   column. */
static uint32_t reduction_input(const struct pim_allspark_partition *part, uint32_t k)
{
    uint32_t column = 0;
    while (k >= part->reduction * spread_before(part, part->channels, column + 1))
        column++;
    uint32_t first = spread_before(part, part->channels, column),
             width = spread_before(part, part->channels, column + 1) - first;
    uint32_t inside = k - part->reduction * first;
    return inside / width * part->channels + first + inside % width;
}

/* This node's share of the elements order[0..total), at `address`. */
static void place_share(struct stage_run *run, const struct standing *at, uint32_t block,
                        enum pim_allspark_weight weight, const uint64_t *order, uint64_t total,
                        uint64_t address)
{
    const uint32_t own = at->ring % at->part->ring;
    uint64_t begin = share_start(total, at->part->ring, own), bytes = share_of(total, at->part->ring, own);
    uint32_t k, n0, n;
    weight_extent(at->part, weight, at->column, &k, &n0, &n);
    ck_assert_uint_ge(address, at->part->weight_base);
    ck_assert_uint_le(address + bytes, at->part->weight_base + at->part->weight_bytes);
    for (uint64_t i = 0; i < bytes; i++) {
        uint64_t element = order[begin + i];
        uint32_t input = (uint32_t)(element >> 32);
        if (weight == PIM_ALLSPARK_REDUCTION)
            input = reduction_input(run->stage, input);
        machine_place(run->machine, at->unit, address + i,
                      weight_value(run->index, block, weight, input, n0 + (uint32_t)element));
    }
}

static void place_weight(struct stage_run *run, const struct standing *at, uint32_t block, size_t which)
{
    uint32_t k, n0, n, widest;
    char name[64];
    enum pim_allspark_weight weight = weighted[which].weight;
    weight_extent(at->part, weight, 0, &k, &n0, &widest);
    weight_extent(at->part, weight, at->column, &k, &n0, &n);
    (void)snprintf(name, sizeof name, "stage%" PRIu32 "/block%" PRIu32 "/layer%" PRIu32 "/%s",
                   run->whole->of + 1, run->whole->first_block + block * run->whole->block_step,
                   at->part->first_layer, weighted[which].phase);
    uint64_t *order = calloc((size_t)k * n + 1, sizeof *order);
    ck_assert_ptr_nonnull(order);
    struct weight_order wanted = {.name = name, .k = k, .n = n, .width = chunk_columns(at->part, weight)};
    ck_assert_msg(find_order(run, at, weight, &wanted, order), "nobody multiplies in %s", name);
    uint64_t address = pim_weight_address(at->part, block, weight);
    for (uint32_t first = 0; first < n; first += wanted.width < n ? wanted.width : n) {
        uint32_t columns = n - first < wanted.width ? n - first : wanted.width;
        uint32_t room = widest - first < wanted.width ? widest - first : wanted.width;
        place_share(run, at, block, weight, order + (uint64_t)k * first, (uint64_t)k * columns, address);
        address += share_of((uint64_t)k * room, at->part->ring, 0);
    }
    free(order);
}

/* Focal: the weights of the pooling for the tokens of this row, in every block; and zeros. */
static void place_pooling(struct stage_run *run, const struct standing *at)
{
    const struct pim_allspark_partition *part = at->part;
    uint32_t first = (uint32_t)share_start(part->tokens, part->u, at->row);
    for (uint32_t block = 0; block < run->stage->blocks; block++)
        for (uint32_t i = 0; i < share_of(part->tokens, part->u, at->row); i++)
            machine_place(run->machine, at->unit, pim_weight_address(part, block, PIM_ALLSPARK_POOL) + i,
                          weight_value(run->index, block, PIM_ALLSPARK_POOL, first + i, 0));
    for (uint64_t i = 0; i < pim_zero_bytes(part); i++)
        machine_place(run->machine, at->unit, pim_zero_address(part) + i, 0);
}

/* The weights of the convolution of a position encoding: nine for each channel; those of the vertical stripes
   before those of the horizontal ones, which have the second half of the channels. And zeros. */
static void place_position(struct stage_run *run, const struct standing *at)
{
    const struct pim_allspark_partition *part = at->part;
    bool stripes = part->work == PIM_ALLSPARK_STRIPES,
         once = part->position.convolution == PIM_CONVOLUTION_OVER_MAP;
    uint32_t first = spread_before(part, part->channels, at->column),
             q = spread_before(part, part->channels, at->column + 1) - first;
    uint64_t widest = spread_before(part, part->channels, 1);
    uint32_t index = stripes ? run->whole->partner : run->index; /* of the projections */
    for (uint32_t block = 0; block < (once ? 1 : part->blocks); block++)
        for (uint32_t half = 0; half < (stripes ? 2 : 1); half++)
            for (uint32_t i = 0; i < 9 * q; i++)
                machine_place(run->machine, at->unit,
                              pim_weight_address(part, block, PIM_ALLSPARK_POSITION) + half * 9 * widest + i,
                              weight_value(index, block, WEIGHT_POSITION, i % 9,
                                           half * part->channels + first + i / 9));
    for (uint64_t i = 0; i < pim_zero_bytes(part); i++)
        machine_place(run->machine, at->unit, pim_zero_address(part) + i, 0);
}

void place_weights(void *context, const struct standing *standing)
{
    struct stage_run *run = context;
    if (standing->part->reuses)
        return;
    if (standing->part->position.convolution != PIM_NO_CONVOLUTION)
        place_position(run, standing);
    if (standing->part->work == PIM_ALLSPARK_STRIPES)
        return;
    if (run->plan->network->transformer->family == PIM_FAMILY_FOCAL)
        place_pooling(run, standing);
    for (uint32_t block = 0; block < run->stage->blocks; block++)
        for (size_t which = 0; which < sizeof weighted / sizeof weighted[0]; which++)
            if (weighted[which].weight == PIM_ALLSPARK_REDUCTION
                    ? run->stage->reduction > 1
                    : weighted[which].weight != PIM_ALLSPARK_MERGE ||
                          (block == 0 && run->stage->merge_inputs > 0))
                place_weight(run, standing, block, which);
}

uint32_t classes_of(const struct stage_run *run, uint32_t column)
{
    return (uint32_t)share_of(run->plan->network->transformer->classes, run->stage->v, column);
}

void place_head(void *context, const struct standing *standing)
{
    struct stage_run *run = context;
    uint32_t n = classes_of(run, standing->column), k = run->stage->channels;
    uint32_t n0 =
        (uint32_t)share_start(run->plan->network->transformer->classes, run->stage->v, standing->column);
    if (standing->index != 0 || standing->group != 0 || standing->ring != 0 || n == 0)
        return;
    uint64_t *order = calloc((size_t)k * n, sizeof *order);
    ck_assert_ptr_nonnull(order);
    const struct weight_order wanted = {.name = "head", .k = k, .n = n, .width = n, .rows = run->plan->batch};
    ck_assert(machine_weight_order(run->machine, standing->unit, &wanted, order));
    for (uint64_t i = 0; i < (uint64_t)k * n; i++)
        machine_place(
            run->machine, standing->unit, run->plan->head_base + i,
            weight_value(run->index, 0, WEIGHT_HEAD, (uint32_t)(order[i] >> 32), n0 + (uint32_t)order[i]));
    free(order);
}

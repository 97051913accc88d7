#include "mappers/allspark/check/placing.h"

#include "mappers/allspark/check/network/reference.h"
#include "mappers/allspark/check/numbers.h"
#include "mappers/allspark/check/standing.h"
#include "mappers/allspark/check/weight_order.h"
#include "mappers/allspark/memory.h"
#include "mappers/allspark/shapes.h"
#include "sim/try.h"

#include <inttypes.h>

enum { TAPS = 9, SHARED = 8 }; /* of a convolution; weights that go round */

static const struct {
    enum pim_allspark_weight weight;
    const char *step;
} shared[SHARED] = {{PIM_ALLSPARK_MERGE, "merge"},         {PIM_ALLSPARK_QUERY, "query"},
                    {PIM_ALLSPARK_REDUCTION, "reduction"}, {PIM_ALLSPARK_KEY, "key"},
                    {PIM_ALLSPARK_VALUE, "value"},         {PIM_ALLSPARK_PROJECTION, "projection"},
                    {PIM_ALLSPARK_EXPAND, "ffn_expand"},   {PIM_ALLSPARK_CONTRACT, "ffn_contract"}};

/* The numbers of a column of nodes, in the order in which they lie: [block][which]; NULL: none. */
typedef uint16_t *column_values[SHARED];

struct work {
    const struct placing *placing;
    const struct pim_allspark_stage *stage;
    /* of each partition, and in it of each column; NULL: it has no weights of its own that go round */
    column_values **values[PIM_PARTITIONS];
    uint16_t *zeros;
};

static enum pim_status no_memory(struct pim_error *error)
{
    return pim_fail(error, PIM_NO_MEMORY, "out of memory for the numbers of the weights");
}

/* --- shapes --- */

/* The columns of a weight matrix that a column of nodes works, and its rows. */
static void weight_extent(const struct pim_allspark_partition *part, enum pim_allspark_weight weight,
                          uint32_t column, uint32_t *k, uint32_t *n0, uint32_t *n)
{
    uint32_t total = weight == PIM_ALLSPARK_EXPAND ? part->hidden : part->channels;
    *k = weight == PIM_ALLSPARK_MERGE       ? part->merge_inputs
         : weight == PIM_ALLSPARK_CONTRACT  ? part->hidden
         : weight == PIM_ALLSPARK_REDUCTION ? part->reduction * part->channels
                                            : part->channels;
    *n0 = spread_before(part, total, column);
    *n = spread_before(part, total, column + 1) - *n0;
}

static bool exists(const struct pim_allspark_partition *part, enum pim_allspark_weight weight, uint32_t block)
{
    if (weight == PIM_ALLSPARK_REDUCTION)
        return part->reduction > 1;
    return weight != PIM_ALLSPARK_MERGE || (block == 0 && part->merge_inputs > 0);
}

/* Rows that a node multiplies with a weight, on the row of nodes that has most; as if the class token had a
   patch. */
static uint32_t most_rows(const struct work *work, const struct pim_allspark_partition *part,
                          enum pim_allspark_weight weight)
{
    bool keys =
        weight == PIM_ALLSPARK_REDUCTION || weight == PIM_ALLSPARK_KEY || weight == PIM_ALLSPARK_VALUE;
    bool focal = work->placing->plan->network->transformer->family == PIM_FAMILY_FOCAL;
    uint64_t most = 0;
    for (uint32_t row = 0; row < part->u; row++) {
        uint64_t pooled = keys && focal && row + 1 == part->u;
        most = pim_larger(most,
                          share_of(keys && !focal ? part->made_keys : part->tokens, part->u, row) + pooled);
    }
    return (uint32_t)most;
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

/* --- orders --- */

static struct weight_order order_of(const struct work *work, const struct pim_allspark_partition *part,
                                    uint32_t column, enum pim_allspark_weight weight)
{
    struct weight_order order = {.part = part,
                                 .width = chunk_columns(part, weight),
                                 .rows = most_rows(work, part, weight),
                                 .residual =
                                     weight == PIM_ALLSPARK_PROJECTION || weight == PIM_ALLSPARK_CONTRACT,
                                 .whole = part->v == 1 || (weight == PIM_ALLSPARK_MERGE && part->embeds),
                                 .grain = part->reused ? part->head_channels : 0,
                                 .input = weight == PIM_ALLSPARK_REDUCTION ? reduction_input : NULL};
    weight_extent(part, weight, column, &order.k, &order.first_n, &order.n);
    return order;
}

static enum pim_status no_tiles(const char *step, struct pim_error *error)
{
    return pim_fail(error, PIM_BAD_INPUT, "no tiles of the weights of %s fit the buffers", step);
}

/* The numbers of a column in all blocks, piece by piece. */
static enum pim_status fill_column(const struct work *work, const struct pim_allspark_partition *part,
                                   uint32_t column, uint32_t which, column_values *values,
                                   struct pim_error *error)
{
    enum pim_allspark_weight weight = shared[which].weight;
    const struct weight_order order = order_of(work, part, column, weight);
    struct pim_tiling tiling;
    for (uint32_t block = 0; block < part->blocks; block++)
        if (exists(part, weight, block)) {
            values[block][which] = PIM_ARENA_ITEMS(work->placing->arena, uint16_t, (size_t)order.k * order.n);
            if (!values[block][which])
                return no_memory(error);
        }
    for (uint64_t first = 0; first < order.n; first += order.width) {
        if (!weight_order_tiles(&order, &work->placing->plan->hardware, (uint32_t)first, &tiling))
            return no_tiles(shared[which].step, error);
        for (uint32_t block = 0; block < part->blocks; block++)
            if (values[block][which])
                weight_order_fill(&order, &tiling, (uint32_t)first,
                                  weight_matrix(work->placing->index, block, weight),
                                  values[block][which] + (size_t)order.k * first);
    }
    return PIM_OK;
}

static enum pim_status fill_partition(struct work *work, uint32_t index, struct pim_error *error)
{
    const struct pim_allspark_partition *part = &work->stage->partition[index];
    struct pim_arena *arena = work->placing->arena;
    if (part->reuses || part->work == PIM_ALLSPARK_STRIPES)
        return PIM_OK;
    work->values[index] = PIM_ARENA_ARRAY(arena, column_values *, part->v);
    if (!work->values[index])
        return no_memory(error);
    for (uint32_t column = 0; column < part->v; column++) {
        work->values[index][column] = PIM_ARENA_ARRAY(arena, column_values, part->blocks);
        if (!work->values[index][column])
            return no_memory(error);
        for (uint32_t which = 0; which < SHARED; which++)
            if (exists(part, shared[which].weight, 0))
                PIM_TRY(fill_column(work, part, column, which, work->values[index][column], error));
    }
    return PIM_OK;
}

/* --- nodes --- */

/* This node's share of each piece. */
static enum pim_status place_shared(const struct work *work, const struct standing *at, uint32_t block,
                                    uint32_t which, struct pim_error *error)
{
    const struct pim_allspark_partition *part = at->part;
    enum pim_allspark_weight weight = shared[which].weight;
    const uint16_t *values = work->values[at->index][at->column][block][which];
    uint32_t own = at->ring % part->ring, k, n0, n, widest, width = chunk_columns(part, weight);
    uint64_t address = pim_weight_address(part, block, weight);
    weight_extent(part, weight, 0, &k, &n0, &widest);
    weight_extent(part, weight, at->column, &k, &n0, &n);
    for (uint64_t first = 0; first < n; first += width) {
        uint64_t total = k * pim_smaller(n - first, width), bytes = share_of(total, part->ring, own);
        if (address < part->weight_base || address + bytes > part->weight_base + part->weight_bytes)
            return pim_fail(error, PIM_BAD_INPUT,
                            "weights of %s at byte %" PRIu64 " lie beyond those of the partition",
                            shared[which].step, address);
        PIM_TRY(machine_place_weights(work->placing->machine, at->unit, address,
                                      values + k * first + share_start(total, part->ring, own), bytes,
                                      error));
        address += share_of(k * pim_smaller(widest - first, width), part->ring, 0);
    }
    return PIM_OK;
}

static enum pim_status place_zeros(const struct work *work, const struct standing *at,
                                   struct pim_error *error)
{
    return machine_place_weights(work->placing->machine, at->unit, pim_zero_address(at->part), work->zeros,
                                 pim_zero_bytes(at->part), error);
}

/* Focal: the weights of the pooling for the tokens of this row, in every block. */
static enum pim_status place_pooling(const struct work *work, const struct standing *at,
                                     struct pim_error *error)
{
    const struct pim_allspark_partition *part = at->part;
    uint32_t first = (uint32_t)share_start(part->tokens, part->u, at->row),
             count = (uint32_t)share_of(part->tokens, part->u, at->row);
    for (uint32_t block = 0; block < part->blocks; block++) {
        uint64_t matrix = weight_matrix(work->placing->index, block, PIM_ALLSPARK_POOL);
        uint16_t *values = PIM_ARENA_ITEMS(work->placing->arena, uint16_t, count);
        if (!values)
            return no_memory(error);
        for (uint32_t i = 0; i < count; i++)
            values[i] = weight_number(weight_row(matrix, first + i), 0);
        PIM_TRY(machine_place_weights(work->placing->machine, at->unit,
                                      pim_weight_address(part, block, PIM_ALLSPARK_POOL), values, count,
                                      error));
    }
    return PIM_OK;
}

/* Nine weights for each channel of one convolution. */
static enum pim_status place_taps(const struct work *work, const struct standing *at, uint64_t address,
                                  uint64_t matrix, uint32_t first, uint32_t channels, struct pim_error *error)
{
    uint16_t *values = PIM_ARENA_ITEMS(work->placing->arena, uint16_t, (size_t)TAPS * channels);
    if (!values)
        return no_memory(error);
    for (uint32_t tap = 0; tap < TAPS; tap++)
        for (uint32_t i = 0; i < channels; i++)
            values[i * TAPS + tap] = weight_number(weight_row(matrix, tap), first + i);
    return machine_place_weights(work->placing->machine, at->unit, address, values, (uint64_t)TAPS * channels,
                                 error);
}

/* The weights of the convolution of a position encoding; those of the vertical stripes before those of the
   horizontal ones, which have the second half of the channels. */
static enum pim_status place_position(const struct work *work, const struct standing *at,
                                      struct pim_error *error)
{
    const struct pim_allspark_partition *part = at->part;
    bool stripes = part->work == PIM_ALLSPARK_STRIPES,
         once = part->position.convolution == PIM_CONVOLUTION_OVER_MAP;
    uint32_t first = spread_before(part, part->channels, at->column),
             q = spread_before(part, part->channels, at->column + 1) - first;
    uint64_t widest = spread_before(part, part->channels, 1);
    uint32_t index = stripes ? work->stage->partner : work->placing->index; /* of the projections */
    for (uint32_t block = 0; block < (once ? 1 : part->blocks); block++)
        for (uint32_t half = 0; half < (stripes ? 2 : 1); half++)
            PIM_TRY(place_taps(
                work, at, pim_weight_address(part, block, PIM_ALLSPARK_POSITION) + half * TAPS * widest,
                weight_matrix(index, block, PIM_ALLSPARK_POSITION), half * part->channels + first, q, error));
    return PIM_OK;
}

static enum pim_status place_node(void *context, const struct standing *at, struct pim_error *error)
{
    const struct work *work = context;
    const struct pim_allspark_partition *part = at->part;
    bool focal = work->placing->plan->network->transformer->family == PIM_FAMILY_FOCAL;
    if (part->reuses)
        return PIM_OK;
    if (part->position.convolution != PIM_NO_CONVOLUTION)
        PIM_TRY(place_position(work, at, error));
    if (focal && part->work != PIM_ALLSPARK_STRIPES)
        PIM_TRY(place_pooling(work, at, error));
    PIM_TRY(place_zeros(work, at, error));
    for (uint32_t block = 0; block < part->blocks && part->work != PIM_ALLSPARK_STRIPES; block++)
        for (uint32_t which = 0; which < SHARED; which++)
            if (exists(part, shared[which].weight, block))
                PIM_TRY(place_shared(work, at, block, which, error));
    return PIM_OK;
}

enum pim_status place_weights(const struct placing *placing, struct pim_error *error)
{
    struct work work = {.placing = placing, .stage = &placing->plan->stage[placing->index]};
    uint64_t zeros = 0;
    for (uint32_t i = 0; i < work.stage->partitions; i++) {
        PIM_TRY(fill_partition(&work, i, error));
        zeros = pim_larger(zeros, pim_zero_bytes(&work.stage->partition[i]));
    }
    work.zeros = PIM_ARENA_ARRAY(placing->arena, uint16_t, (size_t)zeros);
    if (!work.zeros)
        return no_memory(error);
    return each_standing(placing->plan, placing->index, place_node, &work, error);
}

/* --- the classifier --- */

static enum pim_status place_head_node(void *context, const struct standing *at, struct pim_error *error)
{
    const struct placing *placing = context;
    uint32_t classes = placing->plan->network->transformer->classes;
    struct pim_tiling tiling;
    const struct weight_order order = {.part = at->part,
                                       .k = at->part->channels,
                                       .n = (uint32_t)share_of(classes, at->part->v, at->column),
                                       .first_n = (uint32_t)share_start(classes, at->part->v, at->column),
                                       .width = UINT32_MAX,
                                       .rows = 1,
                                       .whole = at->part->v == 1};
    if (at->index != 0 || at->group != 0 || at->ring != 0 || order.n == 0)
        return PIM_OK;
    uint16_t *values = PIM_ARENA_ITEMS(placing->arena, uint16_t, (size_t)order.k * order.n);
    if (!values)
        return no_memory(error);
    if (!weight_order_tiles(&order, &placing->plan->hardware, 0, &tiling))
        return no_tiles("the classifier", error);
    weight_order_fill(&order, &tiling, 0, weight_matrix(placing->index, 0, WEIGHT_HEAD), values);
    return machine_place_weights(placing->machine, at->unit, placing->plan->head_base, values,
                                 (uint64_t)order.k * order.n, error);
}

enum pim_status place_head(const struct placing *placing, struct pim_error *error)
{
    struct placing copy = *placing;
    return each_standing(placing->plan, placing->index, place_head_node, &copy, error);
}

#include "mappers/allspark/check/placing.h"

#include "mappers/allspark/check/network/reference.h"
#include "mappers/allspark/check/numbers.h"
#include "mappers/allspark/check/standing.h"
#include "mappers/allspark/check/weight_order.h"
#include "mappers/allspark/memory.h"
#include "mappers/allspark/shapes.h"
#include "sim/try.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TAPS = 9, SHARED = 8 }; /* of a convolution; weights that go round */

static const struct {
    enum pim_allspark_weight weight;
    const char *step;
} shared[SHARED] = {{PIM_ALLSPARK_MERGE, "merge"},         {PIM_ALLSPARK_QUERY, "query"},
                    {PIM_ALLSPARK_REDUCTION, "reduction"}, {PIM_ALLSPARK_KEY, "key"},
                    {PIM_ALLSPARK_VALUE, "value"},         {PIM_ALLSPARK_PROJECTION, "projection"},
                    {PIM_ALLSPARK_EXPAND, "ffn_expand"},   {PIM_ALLSPARK_CONTRACT, "ffn_contract"}};

/* The numbers of a column of nodes, in the order in which they lie: [block][which]. */
typedef struct weight_order column_orders[SHARED];

struct work {
    const struct placing *placing;
    const struct pim_allspark_stage *stage;
    /* of each partition, and in it of each column; NULL: it has no weights of its own that go round */
    column_orders **orders[PIM_PARTITIONS];
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

/* Rows that a node multiplies with a weight, in all images. */
static uint64_t weight_rows(const struct work *work, const struct pim_allspark_partition *part,
                            enum pim_allspark_weight weight, uint32_t row)
{
    const struct pim_allspark_plan *plan = work->placing->plan;
    bool keys =
        weight == PIM_ALLSPARK_REDUCTION || weight == PIM_ALLSPARK_KEY || weight == PIM_ALLSPARK_VALUE;
    bool focal = plan->network->transformer->family == PIM_FAMILY_FOCAL;
    uint64_t rows = share_of(keys && !focal ? part->made_keys : part->tokens, part->u, row);
    rows += keys && focal && row + 1 == part->u; /* the pooled token */
    return plan->batch * (rows - (weight == PIM_ALLSPARK_MERGE && row == 0 ? part->class_tokens : 0));
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
static uint32_t reduction_input(const void *context, uint32_t k)
{
    const struct pim_allspark_partition *part = context;
    uint32_t column = 0;
    while (k >= part->reduction * spread_before(part, part->channels, column + 1))
        column++;
    uint32_t first = spread_before(part, part->channels, column),
             width = spread_before(part, part->channels, column + 1) - first;
    uint32_t inside = k - part->reduction * first;
    return inside / width * part->channels + first + inside % width;
}

/* --- orders --- */

/* The first place of the ring whose node multiplies with a weight. */
static uint32_t first_of_ring(const struct work *work, const struct pim_allspark_partition *part,
                              enum pim_allspark_weight weight)
{
    uint32_t ring = 0;
    while (ring + 1 < part->u && weight_rows(work, part, weight, ring) == 0)
        ring++;
    return ring;
}

/* The block of the stage and the weight of a phase, UINT32_MAX: it is none of the partition's. */
static uint32_t find_phase(const struct work *work, const struct pim_allspark_partition *part,
                           const char *name, uint32_t *which)
{
    const struct pim_allspark_stage *stage = work->stage;
    uint32_t of, block, layer;
    char step[24];
    if (sscanf(name, "stage%" SCNu32 "/block%" SCNu32 "/layer%" SCNu32 "/%23s", &of, &block, &layer, step) !=
            4 ||
        of != stage->of + 1 || layer != part->first_layer || block < stage->first_block ||
        (block - stage->first_block) % stage->block_step != 0)
        return UINT32_MAX;
    block = (block - stage->first_block) / stage->block_step;
    for (*which = 0; *which < SHARED && strcmp(step, shared[*which].step) != 0;)
        ++*which;
    return block < part->blocks && *which < SHARED && exists(part, shared[*which].weight, block) ? block
                                                                                                 : UINT32_MAX;
}

/* All the phases of a node whose weights are to be seen in its program. */
static enum pim_status read_node(const struct work *work, const struct pim_allspark_partition *part,
                                 uint32_t ring, uint32_t unit, column_orders *orders, struct pim_error *error)
{
    struct pim_trace_cursor *cursor;
    const struct pim_instruction *now;
    struct weight_order *order = NULL;
    PIM_TRY(pim_trace_cursor_create(work->placing->trace, unit, &cursor, error));
    enum pim_status status = pim_trace_cursor_next(cursor, &now, error);
    for (; status == PIM_OK && now; status = pim_trace_cursor_next(cursor, &now, error)) {
        if (now->opcode == PIM_OP_PHASE_BEGIN) {
            uint32_t which,
                block = find_phase(work, part,
                                   pim_trace_phase(work->placing->trace, now->u.control.phase)->name, &which);
            order = block != UINT32_MAX && first_of_ring(work, part, shared[which].weight) == ring
                        ? &orders[block][which]
                        : NULL;
        } else if (order && now->opcode == PIM_OP_MATRIX && !weight_order_take(order, now)) {
            status = pim_fail(error, PIM_BAD_INPUT,
                              "node %" PRIu32 " multiplies more than the %" PRIu32 " x %" PRIu32
                              " weights of a column",
                              unit, order->k, order->n);
            break;
        }
    }
    pim_trace_cursor_destroy(cursor);
    return status;
}

static bool prepare(const struct work *work, const struct pim_allspark_partition *part, uint32_t column,
                    uint32_t block, uint32_t which, struct weight_order *order)
{
    enum pim_allspark_weight weight = shared[which].weight;
    *order = (struct weight_order){.width = chunk_columns(part, weight),
                                   .rows = weight_rows(work, part, weight, first_of_ring(work, part, weight)),
                                   .matrix = weight_matrix(work->placing->index, block, weight),
                                   .input = weight == PIM_ALLSPARK_REDUCTION ? reduction_input : NULL,
                                   .context = part};
    weight_extent(part, weight, column, &order->k, &order->first_n, &order->n);
    order->values = PIM_ARENA_ITEMS(work->placing->arena, uint16_t, (size_t)order->k * order->n);
    weight_order_begin(order);
    return order->values != NULL;
}

static enum pim_status read_column(const struct work *work, const struct pim_allspark_partition *part,
                                   uint32_t column, column_orders *orders, struct pim_error *error)
{
    bool wanted[SHARED] = {false};
    for (uint32_t block = 0; block < part->blocks; block++)
        for (uint32_t which = 0; which < SHARED; which++)
            if (exists(part, shared[which].weight, block)) {
                wanted[which] = true;
                if (!prepare(work, part, column, block, which, &orders[block][which]))
                    return no_memory(error);
            }
    for (uint32_t ring = 0; ring < part->u; ring++)
        for (uint32_t which = 0; which < SHARED; which++)
            if (wanted[which] && first_of_ring(work, part, shared[which].weight) == ring) {
                PIM_TRY(read_node(work, part, ring, unit_of(work->placing->plan, part, 0, ring, column),
                                  orders, error));
                break;
            }
    for (uint32_t block = 0; block < part->blocks; block++)
        for (uint32_t which = 0; which < SHARED; which++)
            if (exists(part, shared[which].weight, block) && !weight_order_is_complete(&orders[block][which]))
                return pim_fail(error, PIM_BAD_INPUT,
                                "stage %" PRIu32 ", block %" PRIu32 ", layer %" PRIu32 ": column %" PRIu32
                                " does not multiply all of its weights in %s",
                                work->stage->of + 1, block, part->first_layer, column, shared[which].step);
    return PIM_OK;
}

static enum pim_status read_partition(struct work *work, uint32_t index, struct pim_error *error)
{
    const struct pim_allspark_partition *part = &work->stage->partition[index];
    struct pim_arena *arena = work->placing->arena;
    if (part->reuses || part->work == PIM_ALLSPARK_STRIPES)
        return PIM_OK;
    work->orders[index] = PIM_ARENA_ARRAY(arena, column_orders *, part->v);
    if (!work->orders[index])
        return no_memory(error);
    for (uint32_t column = 0; column < part->v; column++) {
        work->orders[index][column] = PIM_ARENA_ARRAY(arena, column_orders, part->blocks);
        if (!work->orders[index][column])
            return no_memory(error);
        PIM_TRY(read_column(work, part, column, work->orders[index][column], error));
    }
    return PIM_OK;
}

/* --- nodes --- */

/* This node's share of each piece. */
static enum pim_status place_shared(const struct work *work, const struct standing *at, uint32_t block,
                                    uint32_t which, struct pim_error *error)
{
    const struct pim_allspark_partition *part = at->part;
    const struct weight_order *order = &work->orders[at->index][at->column][block][which];
    uint32_t own = at->ring % part->ring, k, n0, widest;
    uint64_t address = pim_weight_address(part, block, shared[which].weight);
    weight_extent(part, shared[which].weight, 0, &k, &n0, &widest);
    for (uint32_t first = 0; first < order->n; first += order->width < order->n ? order->width : order->n) {
        uint32_t columns = order->n - first < order->width ? order->n - first : order->width;
        uint32_t room = widest - first < order->width ? widest - first : order->width;
        uint64_t total = (uint64_t)k * columns, bytes = share_of(total, part->ring, own);
        if (address < part->weight_base || address + bytes > part->weight_base + part->weight_bytes)
            return pim_fail(error, PIM_BAD_INPUT,
                            "weights of %s at byte %" PRIu64 " lie beyond those of the partition",
                            shared[which].step, address);
        PIM_TRY(machine_place_weights(
            work->placing->machine, at->unit, address,
            order->values + (uint64_t)k * first + share_start(total, part->ring, own), bytes, error));
        address += share_of((uint64_t)k * room, part->ring, 0);
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
        PIM_TRY(read_partition(&work, i, error));
        zeros = pim_larger(zeros, pim_zero_bytes(&work.stage->partition[i]));
    }
    work.zeros = PIM_ARENA_ARRAY(placing->arena, uint16_t, (size_t)zeros);
    if (!work.zeros)
        return no_memory(error);
    return each_standing(placing->plan, placing->index, place_node, &work, error);
}

/* --- the classifier --- */

static enum pim_status read_head(const struct placing *placing, uint32_t unit, struct weight_order *order,
                                 struct pim_error *error)
{
    struct pim_trace_cursor *cursor;
    const struct pim_instruction *now;
    bool inside = false;
    PIM_TRY(pim_trace_cursor_create(placing->trace, unit, &cursor, error));
    enum pim_status status = pim_trace_cursor_next(cursor, &now, error);
    for (; status == PIM_OK && now; status = pim_trace_cursor_next(cursor, &now, error)) {
        if (now->opcode == PIM_OP_PHASE_BEGIN)
            inside = strcmp(pim_trace_phase(placing->trace, now->u.control.phase)->name, "head") == 0;
        if (inside && now->opcode == PIM_OP_MATRIX && !weight_order_take(order, now)) {
            status = pim_fail(error, PIM_BAD_INPUT,
                              "node %" PRIu32 " multiplies more than its weights of the classifier", unit);
            break;
        }
    }
    pim_trace_cursor_destroy(cursor);
    if (status == PIM_OK && !weight_order_is_complete(order))
        status = pim_fail(error, PIM_BAD_INPUT,
                          "node %" PRIu32 " does not multiply all of its weights of the classifier", unit);
    return status;
}

static enum pim_status place_head_node(void *context, const struct standing *at, struct pim_error *error)
{
    const struct placing *placing = context;
    uint32_t classes = placing->plan->network->transformer->classes;
    struct weight_order order = {.k = at->part->channels,
                                 .n = (uint32_t)share_of(classes, at->part->v, at->column),
                                 .width = UINT32_MAX,
                                 .rows = placing->plan->batch,
                                 .matrix = weight_matrix(placing->index, 0, WEIGHT_HEAD),
                                 .first_n = (uint32_t)share_start(classes, at->part->v, at->column)};
    if (at->index != 0 || at->group != 0 || at->ring != 0 || order.n == 0)
        return PIM_OK;
    order.values = PIM_ARENA_ITEMS(placing->arena, uint16_t, (size_t)order.k * order.n);
    if (!order.values)
        return no_memory(error);
    weight_order_begin(&order);
    PIM_TRY(read_head(placing, at->unit, &order, error));
    return machine_place_weights(placing->machine, at->unit, placing->plan->head_base, order.values,
                                 (uint64_t)order.k * order.n, error);
}

enum pim_status place_head(const struct placing *placing, struct pim_error *error)
{
    struct placing copy = *placing;
    return each_standing(placing->plan, placing->index, place_head_node, &copy, error);
}

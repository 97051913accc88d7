/* What a node multiplies in each step of a block: operands, where they lie, and where results go. */
#include "mappers/allspark/steps.h"
#include "mappers/allspark/memory.h"
#include "mappers/allspark/redistribution/circulation.h"
#include "mappers/allspark/shapes.h"

#include <assert.h>

static const enum pim_allspark_weight step_weights[STEPS] = {
#define X(name, text, weight) weight,
    STEP_MAP(X)
#undef X
};

enum pim_allspark_weight pim_step_weight(enum pim_step step)
{
    assert((unsigned)step < STEPS);
    return step_weights[step];
}

struct pim_place pim_busiest_place(const struct pim_allspark_partition *part, enum pim_step step)
{
    bool last = pim_stage_focuses(part) && pim_stage_tokens(part, part->u - 1) == pim_stage_tokens(part, 0);
    struct pim_place place = {.active = true,
                              .row = part->u > 1 && part->class_tokens && step == STEP_MERGE ? 1u : 0u};
    if (last || step == STEP_POOL)
        place.row = part->u - 1;
    return place;
}

/* Query, keys and values that this node makes, of each layer where branches collect. */
static uint64_t own(const struct pim_emitter *emitter)
{
    return emitter->workspace.own + emitter->layer * emitter->workspace.own_stride;
}

static uint64_t query(const struct pim_emitter *emitter)
{
    return pim_stage_collects(emitter->part) ? own(emitter) : emitter->workspace.query;
}

/* Columns of a product's weights before those of column `column`. */
static uint32_t outputs_before(const struct pim_allspark_partition *part, enum pim_allspark_weight weight,
                               uint32_t column)
{
    return weight == PIM_ALLSPARK_EXPAND ? pim_stage_spread_before(part, part->hidden, column)
                                         : pim_stage_channels_before(part, column);
}

/* The right-hand operand of a partition that reuses the whole copy: blocks of columns as wide as the tiles of
   the partition that has the copy. */
static void reuse_weights(const struct pim_emitter *emitter, enum pim_step step, uint32_t block,
                          struct pim_product *product)
{
    assert(emitter->whole && !emitter->whole->reuses);
    struct pim_emitter owner = {
        .plan = emitter->plan, .error = emitter->error, .part = emitter->whole, .tilings = emitter->tilings};
    struct pim_product whole = pim_step_product(&owner, step, block, 0);
    struct pim_tiling tiling = {.n = whole.n};
    struct pim_matrix_estimate estimate;
    /* The copy's own products have tiles, or there would be no copy: a failure came up with them. */
    (void)pim_product_tiling(&owner, &whole, &tiling, &estimate);
    product->operand = PIM_OPERAND_BLOCKS;
    product->right = whole.right;
    product->right_block = tiling.n;
    product->right_first = outputs_before(emitter->part, pim_step_weight(step), emitter->place.column);
    product->right_total = whole.n;
}

/* Where attention has a stage of its own: query, keys and values are resident for it, and it leaves the
   context there. */
static void use_resident(const struct pim_emitter *emitter, enum pim_step step, struct pim_product *product)
{
    if (emitter->part->work != PIM_ALLSPARK_PROJECTIONS)
        return;
    if (step == STEP_QUERY || step == STEP_KEY || step == STEP_VALUE)
        product->output = pim_resident_matrix(emitter, step == STEP_QUERY ? 0u : step == STEP_KEY ? 1u : 2u);
    if (step != STEP_PROJECTION)
        return;
    if (emitter->part->v == 1)
        product->input = pim_resident_matrix(emitter, 0);
    product->own_segment = emitter->place.column;
    product->own = pim_resident_matrix(emitter, 0);
}

/* Rows that this node multiplies, and those that tiles are chosen for. */
static void set_rows(const struct pim_emitter *emitter, enum pim_step step, struct pim_product *product)
{
    const struct pim_allspark_partition *part = emitter->part;
    uint32_t row = emitter->place.row;
    bool keys = step == STEP_KEY || step == STEP_VALUE;
    product->m = step == STEP_MERGE ? pim_embedded_rows(emitter) : pim_stage_tokens(part, row);
    product->tile_rows = pim_stage_tokens(part, 0);
    if (keys && pim_stage_focuses(part)) {
        product->m = pim_stage_rows(part, row);
        product->tile_rows = pim_stage_most_rows(part);
    } else if (keys || step == STEP_REDUCTION) {
        product->m = pim_stage_made(part, row);
        product->tile_rows = pim_stage_made(part, 0);
    }
    if (step == STEP_QUERY)
        product->piece_rows = pim_stage_rows(part, row);
}

/* The input: mostly the gathered features, in pieces of all columns. */
static void set_input(const struct pim_emitter *emitter, enum pim_step step, struct pim_product *product)
{
    const struct pim_allspark_partition *part = emitter->part;
    const struct pim_workspace *space = &emitter->workspace;
    product->input = space->gathered;
    product->segments = product->own_segment = part->v;
    product->segment_width = pim_stage_spread;
    product->segment_total = product->k;
    product->input_stride = product->k;
    if ((step == STEP_KEY || step == STEP_VALUE) && part->reduction > 1)
        product->input = space->reduced;
    if (step == STEP_REDUCTION)
        product->input = space->reduction_inputs;
    if (step == STEP_CONTRACT)
        product->input = space->hidden;
    if (step != STEP_MERGE)
        return;
    product->input = space->merged;
    product->own_segment = emitter->place.column;
    product->own = pim_layer_inputs(emitter);
    if (part->embeds || part->v == 1) { /* every node has whole patches of the image */
        product->segments = 1;
        product->input = pim_layer_inputs(emitter);
    }
}

/* Where results go: mostly to the features of the layer. */
static uint64_t output_of(const struct pim_emitter *emitter, enum pim_step step, uint64_t rows)
{
    const struct pim_allspark_partition *part = emitter->part;
    const struct pim_workspace *space = &emitter->workspace;
    uint64_t q = pim_stage_channels(part, emitter->place.column),
             before = pim_even_begin(part->made_keys, part->u, emitter->place.row) * q;
    bool collects = pim_stage_collects(part);
    if (step == STEP_MERGE) /* behind the class token */
        return pim_layer_features(emitter) + q * (pim_stage_tokens(part, emitter->place.row) - rows);
    if (step == STEP_QUERY)
        return query(emitter);
    if (step == STEP_REDUCTION)
        return pim_own_piece(emitter, space->reduced, rows, part->channels);
    if (step == STEP_KEY)
        return collects ? own(emitter) + space->own_keys : space->keys + before;
    if (step == STEP_VALUE)
        return collects ? own(emitter) + space->own_values : space->values + before;
    if (step == STEP_EXPAND)
        return pim_own_piece(emitter, space->hidden, rows, part->hidden);
    return pim_layer_features(emitter);
}

struct pim_product pim_step_product(const struct pim_emitter *emitter, enum pim_step step, uint32_t block,
                                    uint32_t index)
{
    const struct pim_allspark_partition *part = emitter->part;
    struct pim_weight_shape shape = pim_weight_shape(part, pim_step_weight(step), emitter->place.column);
    struct pim_chunk chunk = pim_chunk(part, block, pim_step_weight(step), emitter->place.column, index);
    struct pim_product product = {.count = 1,
                                  .n = chunk.columns,
                                  .k = shape.k,
                                  .operand = PIM_OPERAND_WEIGHTS,
                                  .right = chunk.home,
                                  .grain = part->reused ? part->head_channels : 0,
                                  .output_stride = shape.n,
                                  .operation = step == STEP_EXPAND ? PIM_VECTOR_GELU : PIM_VECTOR_COPY,
                                  .add_residual = step == STEP_PROJECTION || step == STEP_CONTRACT};
    if (part->reuses)
        reuse_weights(emitter, step, block, &product);
    set_rows(emitter, step, &product);
    set_input(emitter, step, &product);
    product.output = output_of(emitter, step, product.m);
    use_resident(emitter, step, &product);
    product.output += chunk.first;
    product.residual = product.output;
    return product;
}

struct pim_product pim_step_attention(const struct pim_emitter *emitter, enum pim_step step, uint32_t head)
{
    const struct pim_allspark_partition *part = emitter->part;
    const struct pim_workspace *space = &emitter->workspace;
    uint64_t q = pim_stage_channels(part, emitter->place.column), d = part->head_channels,
             keys = part->key_tokens;
    uint64_t p = pim_stage_tokens(part, emitter->place.row);
    uint32_t rows = pim_block_rows(part, emitter->place.row, emitter->row_block);
    uint64_t before = q * pim_rows_before(part, emitter->place.row, emitter->row_block);
    uint64_t scores = space->scores + (uint64_t)head * rows * keys;
    bool stripes = part->work == PIM_ALLSPARK_STRIPES;
    uint32_t heads = (uint32_t)pim_even_part(part->heads, part->v, emitter->place.column);
    if (step == STEP_SCORES)
        return (struct pim_product){.count = heads,
                                    .m = rows,
                                    .n = (uint32_t)keys,
                                    .k = (uint32_t)d,
                                    .input = (stripes ? pim_resident_matrix(emitter, 0) : query(emitter)) +
                                             before + head * d,
                                    .segments = 1,
                                    .input_stride = q,
                                    .operand = PIM_OPERAND_COLUMNS,
                                    .right = space->keys + head * d,
                                    .right_stride = q,
                                    .output = scores,
                                    .output_stride = keys,
                                    .operation = PIM_VECTOR_SOFTMAX};
    return (struct pim_product){.count = heads,
                                .m = rows,
                                .n = (uint32_t)d,
                                .k = (uint32_t)keys,
                                .input = scores,
                                .segments = 1,
                                .input_stride = keys,
                                .operand = PIM_OPERAND_ROWS,
                                .right = space->values + head * d,
                                .right_stride = q,
                                .output =
                                    (stripes ? pim_resident_matrix(emitter, 0)
                                             : pim_own_piece(emitter, space->gathered, p, part->channels)) +
                                    before + head * d,
                                .output_stride = q,
                                .operation = PIM_VECTOR_COPY};
}

/*
 * The phases of a block (section V-C of the paper): patch merging in the first block of a stage, then layer
 * normalisation, query, key, value, scores, context, projection, normalisation, and the two layers of the
 * feed-forward network. Each phase shares its weights over the ring, gathers its input within the row (or
 * keys and values within the column), and computes; the three follow each other without overlap, as the
 * paper's objective (12) adds them up.
 */
#include "mappers/allspark/emitter.h"

#include <inttypes.h>
#include <stdio.h>

/* X(name, text, weight of the phase or PIM_ALLSPARK_WEIGHTS) */
#define STEP_MAP(X)                                                                                          \
    X(STEP_MERGE, "merge", PIM_ALLSPARK_MERGE)                                                               \
    X(STEP_NORM1, "norm1", PIM_ALLSPARK_WEIGHTS)                                                             \
    X(STEP_QUERY, "query", PIM_ALLSPARK_QUERY)                                                               \
    X(STEP_KEY, "key", PIM_ALLSPARK_KEY)                                                                     \
    X(STEP_VALUE, "value", PIM_ALLSPARK_VALUE)                                                               \
    X(STEP_SCORES, "scores", PIM_ALLSPARK_WEIGHTS)                                                           \
    X(STEP_CONTEXT, "context", PIM_ALLSPARK_WEIGHTS)                                                         \
    X(STEP_PROJECTION, "projection", PIM_ALLSPARK_PROJECTION)                                                \
    X(STEP_NORM2, "norm2", PIM_ALLSPARK_WEIGHTS)                                                             \
    X(STEP_EXPAND, "ffn_expand", PIM_ALLSPARK_EXPAND)                                                        \
    X(STEP_CONTRACT, "ffn_contract", PIM_ALLSPARK_CONTRACT)

enum step {
#define X(name, text, weight) name,
    STEP_MAP(X)
#undef X
        STEPS
};

static const char *const step_names[STEPS] = {
#define X(name, text, weight) text,
    STEP_MAP(X)
#undef X
};

static const enum pim_allspark_weight step_weights[STEPS] = {
#define X(name, text, weight) weight,
    STEP_MAP(X)
#undef X
};

/* --- what circulates --- */

/* Horizontal: piece c has `width(c)` bytes for each of the node's tokens. */
struct row_pieces {
    uint64_t base;
    uint64_t total; /* channels of all columns; 0: the fixed bytes of statistics */
    uint64_t own;   /* address of this node's piece, when it does not lie among the others; 0: it does */
};

static uint64_t row_width(const struct pim_emitter *emitter, const struct row_pieces *pieces, uint32_t column)
{
    return pieces->total == 0 ? PIM_STATISTICS_BYTES
                              : pim_stage_spread(emitter->stage, pieces->total, column);
}

static uint64_t row_bytes(const struct pim_emitter *emitter, const void *context, uint32_t piece)
{
    return row_width(emitter, context, piece) * pim_stage_tokens(emitter->stage, emitter->place.row);
}

static uint64_t row_address(const struct pim_emitter *emitter, const void *context, uint32_t piece)
{
    const struct row_pieces *pieces = context;
    if (piece == emitter->place.column && pieces->own != 0)
        return pieces->own;
    uint64_t address = pieces->base;
    for (uint32_t column = 0; column < piece; column++)
        address += row_bytes(emitter, context, column);
    return address;
}

/* Vertical: piece r is the rows of keys or values of row r of the sub-array. */
static uint64_t column_bytes(const struct pim_emitter *emitter, const void *context, uint32_t piece)
{
    (void)context;
    return (uint64_t)pim_stage_tokens(emitter->stage, piece) *
           pim_stage_channels(emitter->stage, emitter->place.column);
}

static uint64_t column_address(const struct pim_emitter *emitter, const void *context, uint32_t piece)
{
    const uint64_t *base = context;
    uint64_t first = pim_share_begin(emitter->stage->tokens, emitter->stage->u, piece);
    return *base + first * pim_stage_channels(emitter->stage, emitter->place.column);
}

/* Weights: piece i is the share of ring position i; this node's own lies where it was placed. */
struct weight_pieces {
    uint64_t total, home;
};

static uint64_t weight_bytes(const struct pim_emitter *emitter, const void *context, uint32_t piece)
{
    const struct weight_pieces *pieces = context;
    return pim_share(pieces->total, emitter->stage->ring, piece);
}

static uint64_t weight_address(const struct pim_emitter *emitter, const void *context, uint32_t piece)
{
    const struct weight_pieces *pieces = context;
    if (piece == emitter->place.ring)
        return pieces->home;
    return emitter->workspace.weights + pim_share_begin(pieces->total, emitter->stage->ring, piece);
}

static void share_weights(struct pim_emitter *emitter, enum pim_allspark_weight weight, uint32_t block,
                          uint32_t tag)
{
    const struct pim_allspark_stage *stage = emitter->stage;
    struct pim_weight_shape shape = pim_weight_shape(stage, weight, emitter->place.column);
    struct weight_pieces pieces = {.total = (uint64_t)shape.k * shape.n,
                                   .home = pim_weight_address(stage, block, weight)};
    struct pim_ring ring = {
        .nodes = stage->ring,
        .index = emitter->place.ring,
        .next = pim_place_unit(emitter, (emitter->place.ring + 1) % stage->ring, emitter->place.column),
        .previous = pim_place_unit(emitter, (emitter->place.ring + stage->ring - 1) % stage->ring,
                                   emitter->place.column),
        .tag = tag,
        .address = weight_address,
        .bytes = weight_bytes,
        .context = &pieces};
    pim_emit_ring(emitter, &ring);
    pim_emit_join(emitter);
}

static void gather_row(struct pim_emitter *emitter, const struct row_pieces *pieces, uint32_t tag)
{
    uint32_t v = emitter->stage->v, column = emitter->place.column;
    if (v == 1)
        return;
    struct pim_ring ring = {.nodes = v,
                            .index = column,
                            .next = pim_place_unit(emitter, emitter->place.ring, (column + 1) % v),
                            .previous = pim_place_unit(emitter, emitter->place.ring, (column + v - 1) % v),
                            .tag = tag,
                            .address = row_address,
                            .bytes = row_bytes,
                            .context = pieces};
    pim_emit_ring(emitter, &ring);
    pim_emit_join(emitter);
}

static void gather_column(struct pim_emitter *emitter, uint64_t base, uint32_t tag)
{
    uint32_t u = emitter->stage->u, row = emitter->place.row;
    if (u == 1)
        return;
    uint32_t top = emitter->place.ring - row;
    struct pim_ring ring = {.nodes = u,
                            .index = row,
                            .next = pim_place_unit(emitter, top + (row + 1) % u, emitter->place.column),
                            .previous =
                                pim_place_unit(emitter, top + (row + u - 1) % u, emitter->place.column),
                            .tag = tag,
                            .address = column_address,
                            .bytes = column_bytes,
                            .context = &base};
    pim_emit_ring(emitter, &ring);
    pim_emit_join(emitter);
}

/* --- products of a step --- */

/* This node's piece of a matrix that circulates within the row. */
static uint64_t own_piece(const struct pim_emitter *emitter, uint64_t base, uint64_t total)
{
    struct row_pieces pieces = {.base = base, .total = total};
    return row_address(emitter, &pieces, emitter->place.column);
}

/* What this node keeps from one temporal layer to the next. */
static uint64_t features(const struct pim_emitter *emitter)
{
    return emitter->workspace.features + emitter->layer * emitter->workspace.features_stride;
}

static uint64_t inputs(const struct pim_emitter *emitter)
{
    return emitter->workspace.inputs + emitter->layer * emitter->workspace.inputs_stride;
}

/* Rows that the patch embedding makes: the class token has no patch; it is the first token of the first
   row. */
static uint32_t embedded_rows(const struct pim_emitter *emitter)
{
    return pim_stage_tokens(emitter->stage, emitter->place.row) -
           (emitter->place.row == 0 ? emitter->stage->class_tokens : 0);
}

/* The product of a step with weights. */
static struct pim_product weighted(const struct pim_emitter *emitter, enum step step, uint32_t block)
{
    const struct pim_allspark_stage *stage = emitter->stage;
    const struct pim_workspace *space = &emitter->workspace;
    uint64_t q = pim_stage_channels(stage, emitter->place.column);
    struct pim_weight_shape shape = pim_weight_shape(stage, step_weights[step], emitter->place.column);
    struct pim_product product = {.m = pim_stage_tokens(stage, emitter->place.row),
                                  .count = 1,
                                  .tile_rows = pim_stage_tokens(stage, 0),
                                  .n = shape.n,
                                  .k = shape.k,
                                  .input = space->gathered,
                                  .segments = stage->v,
                                  .own_segment = stage->v,
                                  .segment_width = pim_stage_spread,
                                  .segment_total = shape.k,
                                  .input_stride = shape.k,
                                  .operand = PIM_OPERAND_WEIGHTS,
                                  .weight = step_weights[step],
                                  .block = block,
                                  .output = features(emitter),
                                  .output_stride = shape.n,
                                  .operation = PIM_VECTOR_COPY};
    uint64_t first = pim_share_begin(stage->tokens, stage->u, emitter->place.row);
    switch (step) {
    case STEP_MERGE:
        product.m = embedded_rows(emitter);
        product.input = space->merged;
        product.own_segment = emitter->place.column;
        product.own = inputs(emitter);
        if (stage->embeds || stage->v == 1) { /* every node has whole patches of the image */
            product.segments = 1;
            product.input = inputs(emitter);
        }
        product.output += q * (pim_stage_tokens(stage, emitter->place.row) - product.m);
        break;
    case STEP_QUERY:
        product.output = space->query;
        break;
    case STEP_KEY:
        product.output = space->keys + first * q;
        break;
    case STEP_VALUE:
        product.output = space->values + first * q;
        break;
    case STEP_EXPAND:
        product.output = own_piece(emitter, space->hidden, stage->hidden);
        product.operation = PIM_VECTOR_GELU;
        break;
    case STEP_CONTRACT:
        product.input = space->hidden;
        product.add_residual = true;
        break;
    case STEP_PROJECTION:
        product.add_residual = true;
        break;
    case STEP_NORM1:
    case STEP_NORM2:
    case STEP_SCORES:
    case STEP_CONTEXT:
    case STEPS:
        break;
    }
    product.residual = product.output;
    return product;
}

/* Scores or context of head `head` of this node: products of two activations. */
static struct pim_product attention(const struct pim_emitter *emitter, enum step step, uint32_t head)
{
    const struct pim_allspark_stage *stage = emitter->stage;
    const struct pim_workspace *space = &emitter->workspace;
    uint64_t q = pim_stage_channels(stage, emitter->place.column), d = stage->head_channels,
             tokens = stage->tokens;
    uint64_t p = pim_stage_tokens(stage, emitter->place.row);
    uint64_t scores = space->scores + head * p * tokens;
    uint32_t heads = (uint32_t)pim_share(stage->heads, stage->v, emitter->place.column);
    if (step == STEP_SCORES)
        return (struct pim_product){.count = heads,
                                    .m = (uint32_t)p,
                                    .n = (uint32_t)tokens,
                                    .k = (uint32_t)d,
                                    .input = space->query + head * d,
                                    .segments = 1,
                                    .input_stride = q,
                                    .operand = PIM_OPERAND_COLUMNS,
                                    .right = space->keys + head * d,
                                    .right_stride = q,
                                    .output = scores,
                                    .output_stride = tokens,
                                    .operation = PIM_VECTOR_SOFTMAX};
    return (struct pim_product){.count = heads,
                                .m = (uint32_t)p,
                                .n = (uint32_t)d,
                                .k = (uint32_t)tokens,
                                .input = scores,
                                .segments = 1,
                                .input_stride = tokens,
                                .operand = PIM_OPERAND_ROWS,
                                .right = space->values + head * d,
                                .right_stride = q,
                                .output = own_piece(emitter, space->gathered, stage->channels) + head * d,
                                .output_stride = q,
                                .operation = PIM_VECTOR_COPY};
}

static void emit_products(struct pim_emitter *emitter, enum step step, uint32_t block)
{
    bool heads = step == STEP_SCORES || step == STEP_CONTEXT;
    uint32_t count =
        heads ? (uint32_t)pim_share(emitter->stage->heads, emitter->stage->v, emitter->place.column) : 1;
    for (uint32_t head = 0; head < count && emitter->status == PIM_OK; head++) {
        struct pim_product product = heads ? attention(emitter, step, head) : weighted(emitter, step, block);
        struct pim_tiling tiling;
        struct pim_matrix_estimate estimate;
        if (product.m == 0)
            continue;
        emitter->status = pim_product_tiling(emitter, &product, &tiling, &estimate);
        if (emitter->status == PIM_OK)
            pim_emit_product(emitter, &product, &tiling);
    }
    pim_emit_flush(emitter);
}

/* Layer normalisation of the residual stream into this node's piece of the gathered input. */
static void emit_normalisation(struct pim_emitter *emitter, uint32_t tag)
{
    const struct pim_allspark_stage *stage = emitter->stage;
    const struct pim_workspace *space = &emitter->workspace;
    uint64_t p = pim_stage_tokens(stage, emitter->place.row),
             q = pim_stage_channels(stage, emitter->place.column);
    struct row_pieces statistics = {.base = space->statistics, .total = 0};
    uint64_t loaded =
        pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_NONE, features(emitter), p * q, 0, 1, PIM_NOTHING);
    uint64_t statistics_loaded = PIM_NOTHING;
    if (stage->v > 1) { /* mean and variance of a part of the channels, exchanged within the row */
        uint64_t mean = pim_emit_vector(emitter, PIM_VECTOR_AVERAGE, p, q, 0, loaded, PIM_NOTHING);
        (void)pim_emit_memory(emitter, PIM_OP_STORE, PIM_BUFFER_NONE,
                              row_address(emitter, &statistics, emitter->place.column),
                              row_bytes(emitter, &statistics, emitter->place.column), 0, 1, mean);
        pim_emit_join(emitter);
        gather_row(emitter, &statistics, tag);
        statistics_loaded = pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_NONE, space->statistics,
                                            p * PIM_STATISTICS_BYTES * stage->v, 0, 1, PIM_NOTHING);
        /* The ACU has no room for the features while the statistics go round: they come again. */
        loaded = pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_NONE, features(emitter), p * q, 0, 1,
                                 PIM_NOTHING);
    }
    uint64_t normal = pim_emit_vector(emitter, PIM_VECTOR_LAYERNORM, p, q, 0, loaded, statistics_loaded);
    (void)pim_emit_memory(emitter, PIM_OP_STORE, PIM_BUFFER_NONE,
                          own_piece(emitter, space->gathered, stage->channels), p * q, 0, 1, normal);
}

/* --- one phase --- */

/* Which matrix circulates within the row before the products of a step; false when none does. */
static bool row_input(const struct pim_emitter *emitter, enum step step, struct row_pieces *pieces)
{
    const struct pim_allspark_stage *stage = emitter->stage;
    if (step == STEP_QUERY || step == STEP_PROJECTION || step == STEP_EXPAND)
        *pieces = (struct row_pieces){.base = emitter->workspace.gathered, .total = stage->channels};
    else if (step == STEP_CONTRACT)
        *pieces = (struct row_pieces){.base = emitter->workspace.hidden, .total = stage->hidden};
    else if (step == STEP_MERGE && !stage->embeds)
        *pieces = (struct row_pieces){
            .base = emitter->workspace.merged, .total = stage->merge_inputs, .own = inputs(emitter)};
    else
        return false;
    return true;
}

static void emit_step(struct pim_emitter *emitter, enum step step, uint32_t block, uint32_t tag)
{
    const struct pim_allspark_stage *stage = emitter->stage;
    if (step_weights[step] != PIM_ALLSPARK_WEIGHTS && stage->ring > 1)
        share_weights(emitter, step_weights[step], block, tag);
    if (!emitter->place.active)
        return; /* this node only stores and passes on */
    uint32_t second = tag + stage->ring;
    struct row_pieces pieces;
    if (row_input(emitter, step, &pieces))
        gather_row(emitter, &pieces, second);
    if (step == STEP_SCORES)
        gather_column(emitter, emitter->workspace.keys, second);
    if (step == STEP_CONTEXT)
        gather_column(emitter, emitter->workspace.values, second);
    if (step == STEP_NORM1 || step == STEP_NORM2)
        emit_normalisation(emitter, second);
    else
        emit_products(emitter, step, block);
}

static uint64_t estimate_normalisation(const struct pim_emitter *emitter, struct pim_trace_phase *phase)
{
    const struct pim_allspark_stage *stage = emitter->stage;
    const struct pim_estimate_hardware *hardware = &emitter->plan->hardware;
    uint64_t p = pim_stage_tokens(stage, 0), q = pim_stage_channels(stage, 0);
    uint64_t vector = pim_estimate_vector(hardware, p, q, 2);
    uint64_t memory = 2 * pim_estimate_access(hardware) + pim_estimate_stream(hardware, p * q, false) +
                      pim_estimate_stream(hardware, p * q, true);
    if (stage->v > 1) {
        vector += pim_estimate_vector(hardware, p, q, 1);
        memory += 2 * pim_estimate_access(hardware) + pim_estimate_stream(hardware, p * q, false) +
                  pim_estimate_stream(hardware, p * PIM_STATISTICS_BYTES * (stage->v + 1), false);
        phase->estimate_parts[PIM_ESTIMATE_TRANSFER] +=
            pim_estimate_ring(hardware, p * PIM_STATISTICS_BYTES, stage->v);
    }
    phase->estimate_parts[PIM_ESTIMATE_VECTOR] += vector;
    phase->estimate_parts[PIM_ESTIMATE_MEMORY] += memory;
    return vector + memory;
}

/* The busiest node of a branch: row 0, column 0. */
static void estimate_step(struct pim_emitter *emitter, enum step step, uint32_t block,
                          struct pim_trace_phase *phase)
{
    const struct pim_allspark_stage *stage = emitter->stage;
    const struct pim_estimate_hardware *hardware = &emitter->plan->hardware;
    emitter->place = (struct pim_place){
        .active = true, .row = stage->u > 1 && stage->class_tokens && step == STEP_MERGE ? 1u : 0u};
    if (step_weights[step] != PIM_ALLSPARK_WEIGHTS) {
        struct pim_weight_shape shape = pim_weight_shape(stage, step_weights[step], 0);
        uint64_t share = pim_share((uint64_t)shape.k * shape.n, stage->ring, 0);
        phase->estimate_parts[PIM_ESTIMATE_WEIGHT_SHARING] = pim_estimate_ring(hardware, share, stage->ring);
    }
    struct row_pieces pieces;
    if (row_input(emitter, step, &pieces))
        phase->estimate_parts[PIM_ESTIMATE_TRANSFER] +=
            pim_estimate_ring(hardware, row_bytes(emitter, &pieces, 0), stage->v);
    if (step == STEP_SCORES || step == STEP_CONTEXT)
        phase->estimate_parts[PIM_ESTIMATE_TRANSFER] +=
            pim_estimate_ring(hardware, column_bytes(emitter, NULL, 0), stage->u);
    if (step == STEP_NORM1 || step == STEP_NORM2) {
        (void)estimate_normalisation(emitter, phase);
    } else {
        bool heads = step == STEP_SCORES || step == STEP_CONTEXT;
        struct pim_product product = heads ? attention(emitter, step, 0) : weighted(emitter, step, block);
        struct pim_tiling tiling;
        struct pim_matrix_estimate estimate;
        if (product.m == 0)
            return;
        emitter->status = pim_product_tiling(emitter, &product, &tiling, &estimate);
        if (emitter->status != PIM_OK)
            return;
        uint64_t rest = estimate.total - estimate.compute;
        phase->estimate_parts[PIM_ESTIMATE_COMPUTE] += estimate.compute;
        phase->estimate_parts[estimate.memory >= estimate.vector ? PIM_ESTIMATE_MEMORY
                                                                 : PIM_ESTIMATE_VECTOR] += rest;
    }
}

static void step_body(struct pim_emitter *emitter, unsigned step, uint32_t block, uint32_t tag)
{
    emit_step(emitter, (enum step)step, block, tag);
}

static void emit_phase(struct pim_emitter *emitter, uint32_t index, uint32_t block, uint32_t layer,
                       enum step step)
{
    const struct pim_allspark_stage *stage = emitter->stage;
    char name[96];
    (void)snprintf(name, sizeof name, "stage%" PRIu32 "/block%" PRIu32 "/layer%" PRIu32 "/%s", index + 1,
                   block, layer, step_names[step]);
    struct pim_trace_phase phase = {.name = name};
    estimate_step(emitter, step, block, &phase);
    pim_add_up(emitter, &phase);
    if (!emitter->writer || emitter->status != PIM_OK)
        return;
    uint32_t id = pim_trace_writer_phase(emitter->writer, &phase);
    uint32_t tag = emitter->tag;
    emitter->tag += 2 * (stage->ring + stage->v + stage->u);
    pim_for_each_node(emitter, layer, id, step_body, step, block, tag);
}

static void emit_layer(struct pim_emitter *emitter, uint32_t index, uint32_t block, uint32_t layer)
{
    emitter->layer = layer;
    for (unsigned step = 0; step < STEPS && emitter->status == PIM_OK; step++)
        if (step != STEP_MERGE || pim_weight_exists(emitter->stage, PIM_ALLSPARK_MERGE, block))
            emit_phase(emitter, index, block, layer, (enum step)step);
}

void pim_emit_stage(struct pim_emitter *emitter, uint32_t index)
{
    const struct pim_allspark_stage *stage = &emitter->plan->stage[index];
    emitter->stage = stage;
    pim_workspace_layout(stage, emitter->plan->workspace_base, &emitter->workspace);
    for (uint32_t block = 0; block < stage->blocks; block++)
        for (uint32_t layer = 0; layer < stage->layers && emitter->status == PIM_OK; layer++) {
            uint64_t before = emitter->estimate_cycles;
            emit_layer(emitter, index, block, layer);
            if (emitter->writer)
                continue;
            /* All layers cost the same, and so do all blocks but the first, which merges. */
            uint64_t times = block == 0 ? stage->layers : (uint64_t)stage->layers * (stage->blocks - 1);
            emitter->estimate_cycles = before + times * (emitter->estimate_cycles - before);
            if (block == 1)
                return;
            break;
        }
}

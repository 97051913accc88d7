/*
 * The phases of a block (section V-C of the paper): patch merging in the first block of a stage, then layer
 * normalisation, query, key, value, scores, context, projection, normalisation, and the two layers of the
 * feed-forward network. Each phase shares its weights over the ring, gathers its input within the row (or
 * keys and values within the column), and computes; the three follow each other without overlap, as the
 * paper's objective (12) adds them up.
 */
#include "mappers/allspark/circulation.h"
#include "mappers/allspark/emitter.h"
#include "mappers/allspark/interaction.h"

#include <inttypes.h>
#include <stdio.h>

/* X(name, text, weight of the phase or PIM_ALLSPARK_WEIGHTS) */
#define STEP_MAP(X)                                                                                          \
    X(STEP_MERGE, "merge", PIM_ALLSPARK_MERGE)                                                               \
    X(STEP_NORM1, "norm1", PIM_ALLSPARK_WEIGHTS)                                                             \
    X(STEP_QUERY, "query", PIM_ALLSPARK_QUERY)                                                               \
    X(STEP_REDUCTION, "reduction", PIM_ALLSPARK_REDUCTION)                                                   \
    X(STEP_REDUCTION_NORM, "reduction_norm", PIM_ALLSPARK_WEIGHTS)                                           \
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

/* --- products of a step --- */

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
    return pim_stage_tokens(emitter->part, emitter->place.row) -
           (emitter->place.row == 0 ? emitter->part->class_tokens : 0);
}

/* The product of a step with weights. */
static struct pim_product weighted(const struct pim_emitter *emitter, enum step step, uint32_t block)
{
    const struct pim_allspark_partition *part = emitter->part;
    const struct pim_workspace *space = &emitter->workspace;
    uint64_t q = pim_stage_channels(part, emitter->place.column);
    struct pim_weight_shape shape = pim_weight_shape(part, step_weights[step], emitter->place.column);
    struct pim_product product = {.m = pim_stage_tokens(part, emitter->place.row),
                                  .count = 1,
                                  .tile_rows = pim_stage_tokens(part, 0),
                                  .n = shape.n,
                                  .k = shape.k,
                                  .input = space->gathered,
                                  .segments = part->v,
                                  .own_segment = part->v,
                                  .segment_width = pim_stage_spread,
                                  .segment_total = shape.k,
                                  .input_stride = shape.k,
                                  .operand = PIM_OPERAND_WEIGHTS,
                                  .weight = step_weights[step],
                                  .block = block,
                                  .output = features(emitter),
                                  .output_stride = shape.n,
                                  .operation = PIM_VECTOR_COPY};
    uint64_t first_key = pim_share_begin(part->key_tokens, part->u, emitter->place.row);
    if (step == STEP_REDUCTION || step == STEP_KEY || step == STEP_VALUE) {
        product.m = pim_stage_keys(part, emitter->place.row);
        product.tile_rows = pim_stage_keys(part, 0);
        product.input = part->reduction > 1 ? space->reduced : space->gathered;
    }
    switch (step) {
    case STEP_MERGE:
        product.m = embedded_rows(emitter);
        product.input = space->merged;
        product.own_segment = emitter->place.column;
        product.own = inputs(emitter);
        if (part->embeds || part->v == 1) { /* every node has whole patches of the image */
            product.segments = 1;
            product.input = inputs(emitter);
        }
        product.output += q * (pim_stage_tokens(part, emitter->place.row) - product.m);
        break;
    case STEP_QUERY:
        product.output = space->query;
        break;
    case STEP_REDUCTION:
        product.input = space->reduction_inputs;
        product.output = pim_own_piece(emitter, space->reduced, product.m, part->channels);
        break;
    case STEP_KEY:
        product.output = space->keys + first_key * q;
        break;
    case STEP_VALUE:
        product.output = space->values + first_key * q;
        break;
    case STEP_EXPAND:
        product.output = pim_own_piece(emitter, space->hidden, product.m, part->hidden);
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
    case STEP_REDUCTION_NORM:
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
    const struct pim_allspark_partition *part = emitter->part;
    const struct pim_workspace *space = &emitter->workspace;
    uint64_t q = pim_stage_channels(part, emitter->place.column), d = part->head_channels,
             keys = part->key_tokens;
    uint64_t p = pim_stage_tokens(part, emitter->place.row);
    uint64_t scores = space->scores + head * p * keys;
    uint32_t heads = (uint32_t)pim_share(part->heads, part->v, emitter->place.column);
    if (step == STEP_SCORES)
        return (struct pim_product){.count = heads,
                                    .m = (uint32_t)p,
                                    .n = (uint32_t)keys,
                                    .k = (uint32_t)d,
                                    .input = space->query + head * d,
                                    .segments = 1,
                                    .input_stride = q,
                                    .operand = PIM_OPERAND_COLUMNS,
                                    .right = space->keys + head * d,
                                    .right_stride = q,
                                    .output = scores,
                                    .output_stride = keys,
                                    .operation = PIM_VECTOR_SOFTMAX};
    return (struct pim_product){.count = heads,
                                .m = (uint32_t)p,
                                .n = (uint32_t)d,
                                .k = (uint32_t)keys,
                                .input = scores,
                                .segments = 1,
                                .input_stride = keys,
                                .operand = PIM_OPERAND_ROWS,
                                .right = space->values + head * d,
                                .right_stride = q,
                                .output =
                                    pim_own_piece(emitter, space->gathered, p, part->channels) + head * d,
                                .output_stride = q,
                                .operation = PIM_VECTOR_COPY};
}

static void emit_products(struct pim_emitter *emitter, enum step step, uint32_t block)
{
    bool heads = step == STEP_SCORES || step == STEP_CONTEXT;
    uint32_t count =
        heads ? (uint32_t)pim_share(emitter->part->heads, emitter->part->v, emitter->place.column) : 1;
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

/* --- normalisation --- */

/* What a layer normalisation reads and writes on a node: rows x q, and its own piece of a gathered input. */
struct normalisation {
    uint64_t rows, source, output;
};

static struct normalisation normalisation_of(const struct pim_emitter *emitter, enum step step)
{
    const struct pim_allspark_partition *part = emitter->part;
    uint32_t row = emitter->place.row;
    uint64_t rows = step == STEP_REDUCTION_NORM ? pim_stage_keys(part, row) : pim_stage_tokens(part, row);
    if (step == STEP_REDUCTION_NORM) { /* in place */
        uint64_t piece = pim_own_piece(emitter, emitter->workspace.reduced, rows, part->channels);
        return (struct normalisation){rows, piece, piece};
    }
    return (struct normalisation){rows, features(emitter),
                                  pim_own_piece(emitter, emitter->workspace.gathered, rows, part->channels)};
}

static void emit_normalisation(struct pim_emitter *emitter, enum step step, uint32_t tag)
{
    const struct pim_allspark_partition *part = emitter->part;
    const struct pim_workspace *space = &emitter->workspace;
    const struct normalisation norm = normalisation_of(emitter, step);
    uint64_t p = norm.rows, q = pim_stage_channels(part, emitter->place.column);
    struct pim_row_pieces statistics = {.base = space->statistics, .rows = p, .total = 0};
    if (p == 0)
        return; /* fewer keys than rows */
    uint64_t loaded =
        pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_NONE, norm.source, p * q, 0, 1, PIM_NOTHING);
    uint64_t statistics_loaded = PIM_NOTHING;
    if (part->v > 1) { /* mean and variance of a part of the channels, exchanged within the row */
        uint64_t mean = pim_emit_vector(emitter, PIM_VECTOR_AVERAGE, p, q, 0, loaded, PIM_NOTHING);
        (void)pim_emit_memory(emitter, PIM_OP_STORE, PIM_BUFFER_NONE,
                              pim_row_address(emitter, &statistics, emitter->place.column),
                              pim_row_bytes(emitter, &statistics, emitter->place.column), 0, 1, mean);
        pim_emit_join(emitter);
        pim_gather_row(emitter, &statistics, tag);
        statistics_loaded = pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_NONE, space->statistics,
                                            p * PIM_STATISTICS_BYTES * part->v, 0, 1, PIM_NOTHING);
        /* The ACU has no room for the features while the statistics go round: they come again. */
        loaded =
            pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_NONE, norm.source, p * q, 0, 1, PIM_NOTHING);
    }
    uint64_t normal = pim_emit_vector(emitter, PIM_VECTOR_LAYERNORM, p, q, 0, loaded, statistics_loaded);
    (void)pim_emit_memory(emitter, PIM_OP_STORE, PIM_BUFFER_NONE, norm.output, p * q, 0, 1, normal);
}

/* --- one phase --- */

/* Which matrix circulates within the row before the products of a step; false when none does. */
static bool row_input(const struct pim_emitter *emitter, enum step step, struct pim_row_pieces *pieces)
{
    const struct pim_allspark_partition *part = emitter->part;
    const struct pim_workspace *space = &emitter->workspace;
    uint64_t keys = pim_stage_keys(part, emitter->place.row), channels = part->channels;
    *pieces = (struct pim_row_pieces){.rows = pim_stage_tokens(part, emitter->place.row)};
    if (step == STEP_QUERY || step == STEP_PROJECTION || step == STEP_EXPAND)
        *pieces = (struct pim_row_pieces){.base = space->gathered, .rows = pieces->rows, .total = channels};
    else if (step == STEP_CONTRACT)
        *pieces = (struct pim_row_pieces){.base = space->hidden, .rows = pieces->rows, .total = part->hidden};
    else if (step == STEP_MERGE && !part->embeds)
        *pieces = (struct pim_row_pieces){.base = space->merged,
                                          .rows = embedded_rows(emitter),
                                          .total = part->merge_inputs,
                                          .own = inputs(emitter)};
    else if (step == STEP_REDUCTION) /* the tokens of a key lie side by side: one row */
        *pieces = (struct pim_row_pieces){
            .base = space->reduction_inputs, .rows = keys, .total = part->reduction * channels};
    else if (step == STEP_KEY && part->reduction > 1)
        *pieces = (struct pim_row_pieces){.base = space->reduced, .rows = keys, .total = channels};
    else
        return false;
    return true;
}

static bool is_normalisation(enum step step)
{
    return step == STEP_NORM1 || step == STEP_NORM2 || step == STEP_REDUCTION_NORM;
}

static void emit_step(struct pim_emitter *emitter, enum step step, uint32_t block, uint32_t tag)
{
    const struct pim_allspark_partition *part = emitter->part;
    if (step_weights[step] != PIM_ALLSPARK_WEIGHTS && part->ring > 1 && !part->reuses)
        pim_share_weights(emitter, step_weights[step], block, tag);
    if (!emitter->place.active)
        return; /* this node only stores and passes on */
    uint32_t second = tag + part->ring;
    struct pim_row_pieces pieces;
    if (step == STEP_REDUCTION)
        pim_exchange_tokens(emitter, second + part->v);
    if (row_input(emitter, step, &pieces))
        pim_gather_row(emitter, &pieces, second);
    if (step == STEP_SCORES)
        pim_gather_column(emitter, emitter->workspace.keys, second);
    if (step == STEP_CONTEXT)
        pim_gather_column(emitter, emitter->workspace.values, second);
    if (is_normalisation(step))
        emit_normalisation(emitter, step, second);
    else
        emit_products(emitter, step, block);
}

static void estimate_normalisation(const struct pim_emitter *emitter, enum step step,
                                   struct pim_trace_phase *phase)
{
    const struct pim_allspark_partition *part = emitter->part;
    const struct pim_estimate_hardware *hardware = &emitter->plan->hardware;
    uint64_t p = normalisation_of(emitter, step).rows, q = pim_stage_channels(part, 0);
    uint64_t vector = pim_estimate_vector(hardware, p, q, 2);
    uint64_t memory = 2 * pim_estimate_access(hardware) + pim_estimate_stream(hardware, p * q, false) +
                      pim_estimate_stream(hardware, p * q, true);
    if (part->v > 1) {
        vector += pim_estimate_vector(hardware, p, q, 1);
        memory += 2 * pim_estimate_access(hardware) + pim_estimate_stream(hardware, p * q, false) +
                  pim_estimate_stream(hardware, p * PIM_STATISTICS_BYTES * (part->v + 1), false);
        phase->estimate_parts[PIM_ESTIMATE_TRANSFER] +=
            pim_estimate_ring(hardware, p * PIM_STATISTICS_BYTES, part->v);
    }
    phase->estimate_parts[PIM_ESTIMATE_VECTOR] += vector;
    phase->estimate_parts[PIM_ESTIMATE_MEMORY] += memory;
}

/* The busiest node of a branch: row 0, column 0. */
static void estimate_step(struct pim_emitter *emitter, enum step step, uint32_t block,
                          struct pim_trace_phase *phase)
{
    const struct pim_allspark_partition *part = emitter->part;
    const struct pim_estimate_hardware *hardware = &emitter->plan->hardware;
    emitter->place = (struct pim_place){
        .active = true, .row = part->u > 1 && part->class_tokens && step == STEP_MERGE ? 1u : 0u};
    if (step_weights[step] != PIM_ALLSPARK_WEIGHTS && !part->reuses) {
        struct pim_weight_shape shape = pim_weight_shape(part, step_weights[step], 0);
        uint64_t share = pim_share((uint64_t)shape.k * shape.n, part->ring, 0);
        phase->estimate_parts[PIM_ESTIMATE_WEIGHT_SHARING] = pim_estimate_ring(hardware, share, part->ring);
    }
    struct pim_row_pieces pieces;
    if (row_input(emitter, step, &pieces))
        phase->estimate_parts[PIM_ESTIMATE_TRANSFER] +=
            pim_estimate_ring(hardware, pim_row_bytes(emitter, &pieces, 0), part->v);
    if (step == STEP_SCORES || step == STEP_CONTEXT)
        phase->estimate_parts[PIM_ESTIMATE_TRANSFER] +=
            pim_estimate_ring(hardware, pim_column_bytes(emitter, NULL, 0), part->u);
    if (step == STEP_REDUCTION)
        pim_estimate_exchange(emitter, phase);
    if (is_normalisation(step)) {
        estimate_normalisation(emitter, step, phase);
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

static void emit_phase(struct pim_emitter *emitter, uint32_t block, enum step step)
{
    const struct pim_allspark_partition *part = emitter->part;
    char name[96];
    (void)snprintf(name, sizeof name, "stage%" PRIu32 "/block%" PRIu32 "/layer%" PRIu32 "/%s",
                   emitter->stage->of + 1, emitter->stage->first_block + block * emitter->stage->block_step,
                   part->first_layer + emitter->layer, step_names[step]);
    struct pim_trace_phase phase = {.name = name};
    estimate_step(emitter, step, block, &phase);
    pim_add_up(emitter, &phase);
    if (!emitter->writer || emitter->status != PIM_OK)
        return;
    uint32_t id = pim_trace_writer_phase(emitter->writer, &phase);
    uint32_t tag = emitter->tag;
    emitter->tag += 2 * (part->ring + part->v + part->u);
    pim_for_each_node(emitter, emitter->layer, id, step_body, step, block, tag);
}

static bool step_exists(const struct pim_allspark_partition *part, enum step step, uint32_t block)
{
    if (step == STEP_REDUCTION_NORM)
        return pim_weight_exists(part, PIM_ALLSPARK_REDUCTION, block);
    return step_weights[step] == PIM_ALLSPARK_WEIGHTS || pim_weight_exists(part, step_weights[step], block);
}

static void emit_layer(struct pim_emitter *emitter, uint32_t block)
{
    for (unsigned step = 0; step < STEPS && emitter->status == PIM_OK; step++)
        if (step_exists(emitter->part, (enum step)step, block))
            emit_phase(emitter, block, (enum step)step);
}

uint64_t pim_estimate_layer(struct pim_emitter *emitter)
{
    uint64_t before = emitter->estimate_cycles;
    emit_layer(emitter, 0);
    uint64_t first = emitter->estimate_cycles - before;
    if (emitter->part->blocks == 1 || emitter->status != PIM_OK)
        return first;
    emit_layer(emitter, 1); /* all blocks but the first, which merges, cost the same */
    uint64_t other = emitter->estimate_cycles - before - first;
    emitter->estimate_cycles = before;
    return first + (emitter->part->blocks - 1) * other;
}

/* The layers of one partition in one block. */
static void emit_partition(struct pim_emitter *emitter, uint32_t index, uint32_t block)
{
    emitter->part = &emitter->stage->partition[index];
    pim_workspace_layout(emitter->stage, index, emitter->plan->workspace_base, &emitter->workspace);
    for (emitter->layer = 0; emitter->layer < emitter->part->layers && emitter->status == PIM_OK;
         emitter->layer++)
        emit_layer(emitter, block);
}

/* The programs of a stage and its partner, block by block. */
static void emit_blocks(struct pim_emitter *emitter, const struct pim_interaction *interaction)
{
    const struct pim_allspark_stage *first = emitter->stage, *second = &emitter->plan->stage[first->partner];
    uint32_t blocks = first->partition[0].blocks + (second == first ? 0 : second->partition[0].blocks);
    bool shifts = first->partition[0].shift > 0;
    for (uint32_t block = 0; block < blocks && emitter->status == PIM_OK; block++) {
        bool other = (block - first->first_block) % first->block_step != 0; /* the partner's */
        if (shifts ? block % 2 == 1 : block > 0)
            pim_emit_interaction(emitter, interaction, block, !shifts && !other);
        emitter->stage = other ? second : first;
        for (uint32_t i = 0; i < emitter->stage->partitions; i++)
            emit_partition(emitter, i, block / first->block_step);
        emitter->stage = first;
        if (shifts && block % 2 == 1)
            pim_emit_interaction(emitter, interaction, block, true);
    }
}

void pim_emit_stage(struct pim_emitter *emitter, uint32_t index)
{
    const struct pim_allspark_stage *stage = &emitter->plan->stage[index];
    struct pim_interaction interaction;
    emitter->stage = stage;
    emitter->index = index;
    if (emitter->writer && stage->partner < index)
        return; /* written with its partner */
    pim_interaction_make(emitter, &interaction);
    if (emitter->writer)
        emit_blocks(emitter, &interaction);
    else
        pim_estimate_interaction(emitter, &interaction);
    for (uint32_t i = 0; !emitter->writer && i < stage->partitions && emitter->status == PIM_OK; i++) {
        uint64_t before = emitter->estimate_cycles;
        emitter->part = &stage->partition[i];
        uint64_t layer = pim_estimate_layer(emitter);
        emitter->estimate_cycles = before + emitter->part->layers * layer;
    }
    pim_interaction_terminate(&interaction);
}

/*
 * After the last stage: the average over all tokens (or the class token), and the classifier.
 *
 * Every node averages the tokens it has; the first row of the first branch collects the averages of its
 * column, the columns exchange their pieces, and each column works a part of the classes.
 */
#include "mappers/allspark/emitter.h"

/* Bytes of a column's piece of the one pooled token. */
static uint64_t token_bytes(const struct pim_emitter *emitter, const void *context, uint32_t piece)
{
    (void)context;
    return pim_stage_channels(emitter->stage, piece);
}

static uint64_t token_address(const struct pim_emitter *emitter, const void *context, uint32_t piece)
{
    (void)context;
    return emitter->workspace.gathered + pim_stage_channels_before(emitter->stage, piece);
}

/* Every active node averages its tokens; the first row of the first branch collects the averages of its
   column. */
static void pool_body(struct pim_emitter *emitter, unsigned step, uint32_t block, uint32_t tag)
{
    (void)step;
    (void)block;
    const struct pim_allspark_stage *stage = emitter->stage;
    struct pim_place place = emitter->place;
    if (!place.active)
        return;
    uint64_t p = pim_stage_tokens(stage, place.row), q = pim_stage_channels(stage, place.column);
    uint64_t sums = PIM_SUM_BYTES * q, pooled = emitter->workspace.pooled;
    /* One branch in each temporal layer, but for the last, which need not be full. */
    uint32_t mine = place.branch * stage->u + place.row, last = stage->layers - 1;
    uint64_t held = last + (place.branch < pim_branches_of_layer(stage, last));
    uint64_t loaded = pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_NONE, emitter->workspace.features,
                                      p * q, emitter->workspace.features_stride, held, PIM_NOTHING);
    uint64_t averaged = pim_emit_vector(emitter, PIM_VECTOR_AVERAGE, q, held * p, 0, loaded, PIM_NOTHING);
    (void)pim_emit_memory(emitter, PIM_OP_STORE, PIM_BUFFER_NONE, pooled, sums, 0, 1, averaged);
    pim_emit_join(emitter);
    uint32_t parts = (uint32_t)pim_pooled_parts(stage);
    struct pim_instruction message = {.opcode = PIM_OP_SEND};
    message.u.network.bytes = sums;
    message.u.network.address = pooled;
    if (mine != 0) {
        emitter->place.group = 0;
        message.u.network.peer = pim_place_unit(emitter, 0, place.column);
        message.u.network.tag = tag + mine;
        (void)pim_emit(emitter, message, PIM_NOTHING, PIM_NOTHING, PIM_NOTHING);
        emitter->place = place;
        return;
    }
    message.opcode = PIM_OP_RECEIVE;
    for (uint32_t other = 1; other < parts; other++) {
        uint32_t branch = other / stage->u;
        emitter->place.group = branch / stage->slots;
        message.u.network.peer =
            pim_place_unit(emitter, branch % stage->slots * stage->u + other % stage->u, place.column);
        emitter->place.group = 0;
        message.u.network.tag = tag + other;
        message.u.network.address = pooled + other * sums;
        (void)pim_emit(emitter, message, PIM_NOTHING, PIM_NOTHING, PIM_NOTHING);
    }
    pim_emit_join(emitter);
    loaded = pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_NONE, pooled, parts * sums, 0, 1, PIM_NOTHING);
    averaged = pim_emit_vector(emitter, PIM_VECTOR_AVERAGE, q, parts, 0, loaded, PIM_NOTHING);
    (void)pim_emit_memory(emitter, PIM_OP_STORE, PIM_BUFFER_NONE, token_address(emitter, NULL, place.column),
                          q, 0, 1, averaged);
}

/* The classifier on the first row of the first branch: each column has a part of the classes. */
static struct pim_product classifier(const struct pim_emitter *emitter)
{
    const struct pim_allspark_stage *stage = emitter->stage;
    uint32_t classes = emitter->plan->network->transformer->classes;
    uint32_t part = (uint32_t)pim_share(classes, stage->v, emitter->place.column);
    return (struct pim_product){.m = 1,
                                .count = 1,
                                .n = part,
                                .k = stage->channels,
                                .input = emitter->workspace.gathered,
                                .segments = stage->v,
                                .own_segment = stage->v,
                                .segment_width = pim_stage_spread,
                                .segment_total = stage->channels,
                                .input_stride = stage->channels,
                                .operand = PIM_OPERAND_PLACED,
                                .right = emitter->plan->head_base,
                                .output = emitter->workspace.logits,
                                .output_stride = part,
                                .operation = PIM_VECTOR_COPY};
}

static void head_body(struct pim_emitter *emitter, unsigned step, uint32_t block, uint32_t tag)
{
    (void)step;
    (void)block;
    const struct pim_allspark_stage *stage = emitter->stage;
    uint32_t column = emitter->place.column, v = stage->v;
    if (stage->class_tokens) { /* the class token is the first row of the residual stream */
        uint64_t q = pim_stage_channels(stage, column);
        uint64_t loaded = pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_NONE, emitter->workspace.features,
                                          q, 0, 1, PIM_NOTHING);
        (void)pim_emit_memory(emitter, PIM_OP_STORE, PIM_BUFFER_NONE, token_address(emitter, NULL, column), q,
                              0, 1, loaded);
        pim_emit_join(emitter);
    }
    if (v > 1) {
        struct pim_ring ring = {.nodes = v,
                                .index = column,
                                .next = pim_place_unit(emitter, 0, (column + 1) % v),
                                .previous = pim_place_unit(emitter, 0, (column + v - 1) % v),
                                .tag = tag,
                                .address = token_address,
                                .bytes = token_bytes};
        pim_emit_ring(emitter, &ring);
        pim_emit_join(emitter);
    }
    struct pim_product product = classifier(emitter);
    struct pim_tiling tiling;
    struct pim_matrix_estimate estimate;
    if (product.n == 0 || emitter->status != PIM_OK)
        return;
    emitter->status = pim_product_tiling(emitter, &product, &tiling, &estimate);
    if (emitter->status != PIM_OK)
        return;
    pim_emit_product(emitter, &product, &tiling);
    pim_emit_flush(emitter);
}

static void only_first_row(struct pim_emitter *emitter, unsigned step, uint32_t block, uint32_t tag)
{
    if (emitter->place.group == 0 && emitter->place.ring == 0)
        head_body(emitter, step, block, tag);
}

static void emit_pool(struct pim_emitter *emitter)
{
    const struct pim_allspark_stage *stage = emitter->stage;
    const struct pim_estimate_hardware *hardware = &emitter->plan->hardware;
    uint64_t p = pim_stage_tokens(stage, 0), q = pim_stage_channels(stage, 0);
    uint64_t held = stage->layers, parts = pim_pooled_parts(stage), sums = PIM_SUM_BYTES * q;
    struct pim_trace_phase phase = {.name = "pool"};
    phase.estimate_parts[PIM_ESTIMATE_VECTOR] =
        pim_estimate_vector(hardware, q, held * p, 1) + pim_estimate_vector(hardware, q, parts, 1);
    phase.estimate_parts[PIM_ESTIMATE_MEMORY] = 4 * pim_estimate_access(hardware) +
                                                pim_estimate_stream(hardware, held * p * q, false) +
                                                2 * pim_estimate_stream(hardware, parts * sums, true);
    /* The collecting node takes one message after another. */
    uint64_t message = sums / hardware->flit_bytes + 1;
    phase.estimate_parts[PIM_ESTIMATE_TRANSFER] =
        parts > 1 ? (parts - 1) * message + pim_estimate_ring(hardware, sums, 2) : 0;
    pim_add_up(emitter, &phase);
    if (!emitter->writer)
        return;
    uint32_t tag = emitter->tag;
    emitter->tag += (uint32_t)parts;
    pim_for_each_node(emitter, 0, pim_trace_writer_phase(emitter->writer, &phase), pool_body, 0, 0, tag);
}

void pim_emit_head(struct pim_emitter *emitter)
{
    uint32_t classes = emitter->plan->network->transformer->classes;
    if (classes == 0)
        return;
    if (pim_stage_pools(emitter->stage))
        emit_pool(emitter);
    struct pim_trace_phase phase = {.name = "head"};
    emitter->place = (struct pim_place){.active = true};
    struct pim_product product = classifier(emitter);
    struct pim_tiling tiling;
    struct pim_matrix_estimate estimate;
    emitter->status = pim_product_tiling(emitter, &product, &tiling, &estimate);
    if (emitter->status != PIM_OK)
        return;
    phase.estimate_parts[PIM_ESTIMATE_COMPUTE] = estimate.compute;
    phase.estimate_parts[PIM_ESTIMATE_MEMORY] = estimate.total - estimate.compute;
    phase.estimate_parts[PIM_ESTIMATE_TRANSFER] =
        pim_estimate_ring(&emitter->plan->hardware, pim_stage_channels(emitter->stage, 0), emitter->stage->v);
    pim_add_up(emitter, &phase);
    if (!emitter->writer)
        return;
    uint32_t tag = emitter->tag;
    emitter->tag += emitter->stage->v;
    pim_for_each_node(emitter, 0, pim_trace_writer_phase(emitter->writer, &phase), only_first_row, 0, 0, tag);
}

/*
 * After the last stage: the average over all tokens (or the class token), and the classifier.
 *
 * Every node averages the tokens it has; the first row of the first branch collects the averages of its
 * column, the columns exchange their pieces, and each column works a part of the classes. In a stage with
 * several partitions each does so, and the first collects what the others have; it has the classifier.
 */
#include "mappers/allspark/memory.h"
#include "mappers/allspark/planning.h"
#include "mappers/allspark/redistribution/circulation.h"
#include "mappers/allspark/redistribution/transport.h"
#include "mappers/allspark/shapes.h"

#include <inttypes.h>
#include <stdio.h>

/* The one token that is classified: pieces of all columns. */
static struct pim_row_pieces token_of(const struct pim_emitter *emitter)
{
    return (struct pim_row_pieces){
        .base = emitter->workspace.gathered, .rows = 1, .total = emitter->part->channels};
}

static uint64_t token_piece(const struct pim_emitter *emitter)
{
    return pim_own_piece(emitter, emitter->workspace.gathered, 1, emitter->part->channels);
}

/* Sums of this node's tokens in all layers of the partition, stored at `address`. */
static void sum_tokens(struct pim_emitter *emitter, uint64_t address)
{
    const struct pim_allspark_partition *part = emitter->part;
    const struct pim_place *place = &emitter->place;
    uint64_t p = pim_stage_tokens(part, place->row), q = pim_stage_channels(part, place->column);
    /* One branch in each temporal layer, but for the last, which need not be full. */
    uint32_t last = part->layers - 1;
    uint64_t held = last + (place->branch < pim_branches_of_layer(part, last));
    uint64_t loaded = pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_NONE, emitter->workspace.features,
                                      p * q, emitter->workspace.features_stride, held, PIM_NOTHING);
    uint64_t averaged = pim_emit_vector(emitter, PIM_VECTOR_AVERAGE, q, held * p, 0, loaded, PIM_NOTHING);
    (void)pim_emit_memory(emitter, PIM_OP_STORE, PIM_BUFFER_NONE, address, PIM_SUM_BYTES * q, 0, 1, averaged);
    pim_emit_join(emitter);
}

/* The sums of node `index` + 1 of a column, over all branches, go behind those of the ones before it on the
   first row of the first branch. */
static struct pim_transport_message sums_of(const struct pim_emitter *emitter, uint32_t index)
{
    const uint32_t from = index + 1;
    const struct pim_allspark_partition *part = emitter->part;
    const struct pim_allspark_tile *tiles = part->layout.tiles;
    uint32_t column = emitter->place.column, branch = from / part->u,
             ring = branch % part->slots * part->u + from % part->u;
    uint64_t sums = PIM_SUM_BYTES * (uint64_t)pim_stage_channels(part, column);
    return (struct pim_transport_message){
        .from_unit = pim_tile_unit(emitter->plan, &tiles[branch / part->slots], ring, column),
        .to_unit = pim_tile_unit(emitter->plan, &tiles[0], 0, column),
        .tag = from,
        .from = emitter->workspace.pooled,
        .to = emitter->workspace.pooled + from * sums,
        .bytes = sums};
}

/* The first row of the first branch receives the sums of all nodes of its column, the others send them. */
static void collect_column(struct pim_emitter *emitter, uint32_t mine, uint32_t tag)
{
    pim_transport_emit_plain(emitter, (uint32_t)pim_pooled_parts(emitter->part) - 1, sums_of, tag);
    if (mine == 0)
        pim_emit_join(emitter);
}

/* Averages `parts` sums; the result is `bytes` for each channel. */
static void average(struct pim_emitter *emitter, uint64_t parts, uint64_t address, uint64_t bytes)
{
    uint64_t q = pim_stage_channels(emitter->part, emitter->place.column);
    uint64_t loaded = pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_NONE, emitter->workspace.pooled,
                                      parts * PIM_SUM_BYTES * q, 0, 1, PIM_NOTHING);
    uint64_t averaged = pim_emit_vector(emitter, PIM_VECTOR_AVERAGE, q, parts, 0, loaded, PIM_NOTHING);
    (void)pim_emit_memory(emitter, PIM_OP_STORE, PIM_BUFFER_NONE, address, bytes * q, 0, 1, averaged);
}

/* What other partitions summed up goes behind the sums of this one. Returns the number of sums. */
static uint64_t append_others(struct pim_emitter *emitter)
{
    const struct pim_allspark_stage *stage = emitter->stage;
    uint64_t parts = pim_pooled_parts(emitter->part);
    uint64_t bytes = PIM_SUM_BYTES * (uint64_t)pim_stage_channels(emitter->part, emitter->place.column);
    for (uint32_t i = 1; i < stage->partitions; i++, parts++) {
        struct pim_workspace other;
        pim_workspace_layout(stage, i, emitter->image, emitter->plan->workspace_base, &other);
        (void)pim_emit_copy(emitter, other.collected, emitter->workspace.pooled + parts * bytes, bytes);
    }
    if (stage->partitions > 1)
        pim_emit_join(emitter);
    return parts;
}

/* The first partition: the sums become the one token that is classified. */
static void pool_body(struct pim_emitter *emitter, const void *context, uint32_t tag)
{
    (void)context;
    const struct pim_place *place = &emitter->place;
    if (!place->active)
        return;
    uint32_t mine = place->branch * emitter->part->u + place->row;
    for (uint32_t image = 0; image < emitter->part->batch; image++) {
        pim_emit_image(emitter, image);
        sum_tokens(emitter, emitter->workspace.pooled);
        collect_column(emitter, mine, tag + image * (uint32_t)pim_pooled_parts(emitter->part));
        if (mine == 0)
            average(emitter, append_others(emitter), token_piece(emitter), 1);
    }
}

/* --- the sums of another partition --- */

/* What column `column` of the partition has of the channels of column `target` of the first, number
   column * v + target. */
static struct pim_transport_message piece_of(const struct pim_emitter *emitter, uint32_t index)
{
    const struct pim_allspark_partition *part = emitter->part, *first = &emitter->stage->partition[0];
    const uint32_t column = index / first->v, target = index % first->v;
    const struct pim_range common =
        pim_common_range(pim_stage_channel_range(part, column), pim_stage_channel_range(first, target));
    return (struct pim_transport_message){
        .from_unit = pim_tile_unit(emitter->plan, &part->layout.tiles[0], 0, column),
        .to_unit = pim_tile_unit(emitter->plan, &first->layout.tiles[0], 0, target),
        .tag = index,
        .from = emitter->workspace.sums +
                PIM_SUM_BYTES * (common.first - pim_stage_channels_before(part, column)),
        .to = emitter->workspace.collected +
              PIM_SUM_BYTES * (common.first - pim_stage_channels_before(first, target)),
        .bytes = PIM_SUM_BYTES * (common.end - common.first)};
}

/* Tags of the messages for one image. */
static uint32_t sums_tags(const struct pim_emitter *emitter)
{
    return (uint32_t)pim_pooled_parts(emitter->part) + emitter->part->v * emitter->stage->partition[0].v;
}

static void sum_image(struct pim_emitter *emitter, uint32_t tag)
{
    const struct pim_allspark_partition *part = emitter->part;
    const struct pim_place *place = &emitter->place;
    uint32_t mine = place->branch * part->u + place->row, parts = (uint32_t)pim_pooled_parts(part);
    /* A node that only collects is none of the partition's. */
    bool works = place->active;
    if (works)
        sum_tokens(emitter, parts > 1 ? emitter->workspace.pooled : emitter->workspace.sums);
    if (works && parts > 1)
        collect_column(emitter, mine, tag);
    if (works && parts > 1 && mine == 0) {
        average(emitter, parts, emitter->workspace.sums, PIM_SUM_BYTES);
        pim_emit_join(emitter);
    }
    pim_transport_emit_plain(emitter, part->v * emitter->stage->partition[0].v, piece_of, tag + parts);
}

static void sums_body(struct pim_emitter *emitter, const void *context, uint32_t tag)
{
    (void)context;
    for (uint32_t image = 0; image < emitter->part->batch; image++) {
        pim_emit_image(emitter, image);
        sum_image(emitter, tag + image * sums_tags(emitter));
    }
}

/* The classifier on the first row of the first branch: each column has a part of the classes. */
static struct pim_product classifier(const struct pim_emitter *emitter)
{
    const struct pim_allspark_partition *part = emitter->part;
    uint32_t classes = emitter->plan->network->transformer->classes;
    uint32_t own = (uint32_t)pim_even_part(classes, part->v, emitter->place.column);
    return (struct pim_product){.m = 1,
                                .count = 1,
                                .n = own,
                                .k = part->channels,
                                .input = emitter->workspace.gathered,
                                .segments = part->v,
                                .own_segment = part->v,
                                .segment_width = pim_stage_spread,
                                .segment_total = part->channels,
                                .input_stride = part->channels,
                                .operand = PIM_OPERAND_PLACED,
                                .right = emitter->plan->head_base,
                                .output = emitter->workspace.logits,
                                .output_stride = own,
                                .operation = PIM_VECTOR_COPY};
}

static void classify(struct pim_emitter *emitter, uint32_t tag)
{
    const struct pim_allspark_partition *part = emitter->part;
    const struct pim_row_pieces token = token_of(emitter);
    if (part->class_tokens) { /* the class token is the first row of the residual stream */
        uint64_t q = pim_stage_channels(part, emitter->place.column);
        (void)pim_emit_copy(emitter, emitter->workspace.features, token_piece(emitter), q);
        pim_emit_join(emitter);
    }
    pim_gather_row(emitter, &token, tag);
    struct pim_product product = classifier(emitter);
    pim_emit_tiled(emitter, &product);
    pim_emit_flush(emitter);
}

static void head_body(struct pim_emitter *emitter, const void *context, uint32_t tag)
{
    (void)context;
    for (uint32_t image = 0; image < emitter->part->batch; image++)
        if (emitter->place.group == 0 && emitter->place.ring == 0) {
            pim_emit_image(emitter, image);
            classify(emitter, tag + image * emitter->part->v);
        }
}

/* --- estimates --- */

/* Of the sums that each layer of a partition adds; and of what comes once for a partition. Both do not depend
   on the other partitions of the stage, so that they add up. */
static void estimate_pool_layers(const struct pim_estimate_hardware *hardware,
                                 const struct pim_allspark_partition *part, uint64_t layers,
                                 struct pim_trace_phase *phase)
{
    uint64_t p = pim_stage_tokens(part, 0), q = pim_stage_channels(part, 0);
    phase->estimate_parts[PIM_ESTIMATE_VECTOR] += layers * pim_estimate_vector(hardware, q, p, 1);
    phase->estimate_parts[PIM_ESTIMATE_MEMORY] += layers * pim_estimate_stream(hardware, p * q, false);
}

static void estimate_pool_once(const struct pim_estimate_hardware *hardware,
                               const struct pim_allspark_partition *part, bool first,
                               struct pim_trace_phase *phase)
{
    uint64_t q = pim_stage_channels(part, 0), parts = pim_pooled_parts_at_most(part),
             sums = PIM_SUM_BYTES * q;
    uint64_t *estimate = phase->estimate_parts;
    estimate[PIM_ESTIMATE_VECTOR] += pim_estimate_vector(hardware, q, parts, 1);
    estimate[PIM_ESTIMATE_MEMORY] +=
        4 * pim_estimate_latency(hardware) + 2 * pim_estimate_stream(hardware, parts * sums, true);
    if (parts > 1)
        estimate[PIM_ESTIMATE_TRANSFER] += pim_transport_collect(hardware, sums, parts - 1);
    if (first)
        return;
    estimate[PIM_ESTIMATE_TRANSFER] += pim_estimate_ring(hardware, sums, 2);
    estimate[PIM_ESTIMATE_MEMORY] += 2 * pim_estimate_latency(hardware) +
                                     2 * pim_estimate_stream(hardware, PIM_SUM_BYTES * part->channels, true);
}

/* The classifier behind the partition that emitter->part is. */
static void estimate_classifier(struct pim_emitter *emitter, struct pim_trace_phase *phase)
{
    emitter->place = (struct pim_place){.active = true};
    struct pim_product product = classifier(emitter);
    const struct pim_matrix_estimate estimate = pim_product_estimate(emitter, &product);
    if (emitter->status != PIM_OK)
        return;
    phase->estimate_parts[PIM_ESTIMATE_COMPUTE] = estimate.compute;
    phase->estimate_parts[PIM_ESTIMATE_MEMORY] = estimate.total - estimate.compute;
    phase->estimate_parts[PIM_ESTIMATE_TRANSFER] =
        pim_estimate_ring(&emitter->plan->hardware, pim_stage_channels(emitter->part, 0), emitter->part->v);
}

static void multiply(struct pim_trace_phase *phase, uint64_t times)
{
    for (unsigned part = 0; part < PIM_ESTIMATE_PARTS; part++)
        phase->estimate_parts[part] *= times;
}

static uint64_t sum_of(const struct pim_trace_phase *phase)
{
    uint64_t cycles = 0;
    for (unsigned part = 0; part < PIM_ESTIMATE_PARTS; part++)
        cycles += phase->estimate_parts[part];
    return cycles;
}

void pim_estimate_head(struct pim_emitter *emitter, bool first, uint64_t *layer, uint64_t *once)
{
    const struct pim_estimate_hardware *hardware = &emitter->plan->hardware;
    struct pim_trace_phase layers = {0}, rest = {0}, head = {0};
    *layer = *once = 0;
    if (emitter->part->classes == 0)
        return;
    if (pim_stage_pools(emitter->part)) {
        estimate_pool_layers(hardware, emitter->part, 1, &layers);
        estimate_pool_once(hardware, emitter->part, first, &rest);
    }
    if (first)
        estimate_classifier(emitter, &head);
    *layer = emitter->part->batch * sum_of(&layers);
    *once = emitter->part->batch * (sum_of(&rest) + sum_of(&head));
}

/* --- phases --- */

/* Collecting nodes that are not of the partition whose sums they collect. */
static void collect_elsewhere(struct pim_emitter *emitter, uint32_t id, uint32_t tag)
{
    const struct pim_allspark_partition *part = emitter->part, *first = &emitter->stage->partition[0];
    for (uint32_t target = 0; target < first->v && emitter->status == PIM_OK; target++) {
        uint32_t unit = pim_tile_unit(emitter->plan, &first->layout.tiles[0], 0, target);
        if (!pim_layer_has_unit(emitter, 0, unit))
            pim_emit_node(emitter, (struct pim_place){.unit = unit, .branch = part->branches}, id, sums_body,
                          NULL, tag);
    }
}

/* Partition `index` of the last stage. */
static void emit_pool(struct pim_emitter *emitter, uint32_t index)
{
    const struct pim_allspark_stage *stage = emitter->stage;
    const struct pim_allspark_partition *part = &stage->partition[index];
    char name[32] = "pool";
    if (index > 0)
        (void)snprintf(name, sizeof name, "pool/partition%" PRIu32, index + 1);
    struct pim_trace_phase phase = {.name = name};
    pim_emit_begin_partition(emitter, index);
    estimate_pool_layers(&emitter->plan->hardware, part, part->layers, &phase);
    estimate_pool_once(&emitter->plan->hardware, part, index == 0, &phase);
    multiply(&phase, part->batch);
    pim_add_up(emitter, &phase);
    if (!emitter->writer)
        return;
    uint32_t id = pim_trace_writer_phase(emitter->writer, &phase);
    uint32_t tag = pim_program_tags(emitter->program, part->batch * sums_tags(emitter));
    pim_for_each_node(emitter, 0, id, index == 0 ? pool_body : sums_body, NULL, tag);
    if (index > 0)
        collect_elsewhere(emitter, id, tag);
}

void pim_emit_head(struct pim_emitter *emitter)
{
    const struct pim_allspark_stage *stage = emitter->stage;
    if (emitter->plan->network->transformer->classes == 0)
        return;
    for (uint32_t i = stage->partitions; i > 0 && pim_stage_pools(&stage->partition[0]); i--)
        emit_pool(emitter, i - 1);
    struct pim_trace_phase phase = {.name = "head"};
    pim_emit_begin_partition(emitter, 0);
    estimate_classifier(emitter, &phase);
    if (emitter->status != PIM_OK)
        return;
    multiply(&phase, emitter->part->batch);
    pim_add_up(emitter, &phase);
    if (!emitter->writer)
        return;
    uint32_t tag = pim_program_tags(emitter->program, emitter->part->batch * emitter->part->v);
    pim_for_each_node(emitter, 0, pim_trace_writer_phase(emitter->writer, &phase), head_body, NULL, tag);
}

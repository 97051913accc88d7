/*
 * The phases of a block (section V-C of the paper): patch merging in the first block of a stage, then layer
 * normalisation, query, key, value, scores, context, projection, normalisation, and the two layers of the
 * feed-forward network. Each phase shares its weights over the ring, gathers its input within the row (or
 * keys and values within the column), and computes; the three follow each other without overlap, as the
 * paper's objective (12) adds them up.
 */
#include "mappers/allspark/emitter.h"
#include "mappers/allspark/interaction/interaction.h"
#include "mappers/allspark/layers/layers.h"
#include "mappers/allspark/redistribution/circulation.h"
#include "mappers/allspark/sharing.h"
#include "mappers/allspark/steps.h"

#include "mappers/allspark/memory.h"
#include "mappers/allspark/shapes.h"
#include "sim/integer.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const step_names[STEPS] = {
#define X(name, text, weight) text,
    STEP_MAP(X)
#undef X
};

static void emit_products(struct pim_emitter *emitter, enum pim_step step, uint32_t block, uint32_t chunk)
{
    bool heads = step == STEP_SCORES || step == STEP_CONTEXT;
    uint32_t count =
        heads ? (uint32_t)pim_even_part(emitter->part->heads, emitter->part->v, emitter->place.column) : 1;
    for (uint32_t head = 0; head < count && emitter->status == PIM_OK; head++) {
        struct pim_product product =
            heads ? pim_step_attention(emitter, step, head) : pim_step_product(emitter, step, block, chunk);
        pim_emit_tiled(emitter, &product);
    }
    pim_emit_flush(emitter);
}

/* --- normalisation --- */

static struct pim_normalisation normalisation_of(const struct pim_emitter *emitter, enum pim_step step)
{
    const struct pim_allspark_partition *part = emitter->part;
    uint32_t row = emitter->place.row;
    uint64_t rows = step == STEP_REDUCTION_NORM ? pim_stage_made(part, row) : pim_stage_tokens(part, row);
    if (step == STEP_REDUCTION_NORM) { /* in place */
        uint64_t piece = pim_own_piece(emitter, emitter->workspace.reduced, rows, part->channels);
        return (struct pim_normalisation){rows, piece, piece};
    }
    uint64_t pitch = step == STEP_NORM1 ? pim_stage_rows(part, row) : rows;
    return (struct pim_normalisation){
        rows, pim_layer_features(emitter),
        pim_own_piece(emitter, emitter->workspace.gathered, pitch, part->channels)};
}

/* --- one phase --- */

/* Which matrix circulates within the row before the products of a step; false when none does. */
static bool row_input(const struct pim_emitter *emitter, enum pim_step step, struct pim_row_pieces *pieces)
{
    const struct pim_allspark_partition *part = emitter->part;
    const struct pim_workspace *space = &emitter->workspace;
    uint64_t keys = pim_stage_made(part, emitter->place.row), channels = part->channels;
    *pieces = (struct pim_row_pieces){.rows = pim_stage_tokens(part, emitter->place.row)};
    if (step == STEP_QUERY || step == STEP_PROJECTION || step == STEP_EXPAND) {
        *pieces = (struct pim_row_pieces){.base = space->gathered, .rows = pieces->rows, .total = channels};
        if (step == STEP_PROJECTION && part->work == PIM_ALLSPARK_PROJECTIONS)
            pieces->own = pim_resident_matrix(emitter, 0);
    } else if (step == STEP_CONTRACT)
        *pieces = (struct pim_row_pieces){.base = space->hidden, .rows = pieces->rows, .total = part->hidden};
    else if (step == STEP_MERGE && !part->embeds)
        *pieces = (struct pim_row_pieces){.base = space->merged,
                                          .rows = pim_embedded_rows(emitter),
                                          .total = part->merge_inputs,
                                          .own = pim_layer_inputs(emitter)};
    else if (step == STEP_REDUCTION) /* the tokens of a key lie side by side: one row */
        *pieces = (struct pim_row_pieces){
            .base = space->reduction_inputs, .rows = keys, .total = part->reduction * channels};
    else if (step == STEP_KEY && part->reduction > 1)
        *pieces = (struct pim_row_pieces){.base = space->reduced, .rows = keys, .total = channels};
    else
        return false;
    if (step == STEP_QUERY)
        pieces->rows = pim_stage_rows(part, emitter->place.row);
    return true;
}

static bool is_normalisation(enum pim_step step)
{
    return step == STEP_NORM1 || step == STEP_NORM2 || step == STEP_REDUCTION_NORM;
}

static bool is_convolution(enum pim_step step)
{
    return step == STEP_POSITION || step == STEP_LOCAL_POSITION;
}

/* What goes round before the products of a step: between rows, within the row, or within the column. */
static void gather(struct pim_emitter *emitter, enum pim_step step, uint32_t tag)
{
    struct pim_row_pieces pieces;
    if (step == STEP_REDUCTION)
        pim_exchange_tokens(emitter, tag + emitter->part->v);
    if (row_input(emitter, step, &pieces))
        pim_gather_row(emitter, &pieces, tag);
    if (emitter->row_block > 0)
        return; /* keys and values are there */
    if (emitter->part->work == PIM_ALLSPARK_STRIPES && (step == STEP_SCORES || step == STEP_CONTEXT))
        pim_stripes_place_keys(emitter, step == STEP_CONTEXT);
    if (step == STEP_SCORES)
        pim_gather_column(emitter, emitter->workspace.keys, tag);
    if (step == STEP_CONTEXT)
        pim_gather_column(emitter, emitter->workspace.values, tag);
}

/* One image: its data, with one chunk of the weights. Tags are those of the image, and of the weights. */
static void emit_image(struct pim_emitter *emitter, enum pim_step step, uint32_t block, uint32_t chunk,
                       uint32_t tag, uint32_t weights)
{
    if (chunk == 0)
        gather(emitter, step, tag);
    if (emitter->image + 1 == emitter->part->batch) /* nothing waits for all that is under way then */
        pim_prefetch_begin(emitter, step, block, chunk, weights);
    if (is_normalisation(step))
        pim_emit_normalisation(emitter, normalisation_of(emitter, step), tag);
    else if (step == STEP_POOL)
        pim_emit_pool(emitter, block, tag);
    else if (is_convolution(step))
        pim_emit_position(emitter, block);
    else
        emit_products(emitter, step, block, chunk);
    pim_prefetch_end(emitter);
}

/* Tags of a step: those of all chunks, then those of each image. */
static uint32_t image_tags(const struct pim_allspark_partition *part)
{
    return part->u + part->v + 1;
}

/* A step of a block: the context of its nodes. */
struct step_of_block {
    enum pim_step step;
    uint32_t block;
};

static void emit_step(struct pim_emitter *emitter, const void *context, uint32_t tag)
{
    const struct step_of_block *of = context;
    const enum pim_step step = of->step;
    const uint32_t block = of->block;
    const struct pim_allspark_partition *part = emitter->part;
    uint32_t chunks = pim_step_pieces(part, step, emitter->place.column);
    uint32_t images = tag + pim_sharing_tags(part, step);
    for (uint32_t i = 0; i < chunks; i++) {
        if (i > 0)
            pim_emit_join(emitter); /* the weights before are no longer needed */
        pim_share_piece(emitter, step, block, i, tag);
        for (uint32_t image = 0; emitter->place.active && image < part->batch; image++) {
            pim_emit_image(emitter, image);
            emit_image(emitter, step, block, i, images + image * image_tags(part), tag);
        }
        if (emitter->place.active)
            continue;
        pim_prefetch_begin(emitter, step, block, i, tag); /* this node only stores and passes on */
        pim_prefetch_end(emitter);
    }
}

static void estimate_product(struct pim_emitter *emitter, const struct pim_product *product,
                             struct pim_trace_phase *phase)
{
    const struct pim_matrix_estimate estimate = pim_product_estimate(emitter, product);
    pim_add_estimate(phase, &estimate);
}

/* What a step does for one image. */
static void estimate_image(struct pim_emitter *emitter, enum pim_step step, uint32_t block,
                           struct pim_trace_phase *phase)
{
    const struct pim_allspark_partition *part = emitter->part;
    const struct pim_estimate_hardware *hardware = &emitter->plan->hardware;
    struct pim_row_pieces pieces;
    if (row_input(emitter, step, &pieces))
        phase->estimate_parts[PIM_ESTIMATE_TRANSFER] +=
            pim_estimate_ring(hardware, pim_row_bytes(emitter, &pieces, 0), part->v);
    if (step == STEP_REDUCTION)
        pim_estimate_exchange(emitter, phase);
    if (step == STEP_SCORES || step == STEP_CONTEXT) {
        struct pim_product product = pim_step_attention(emitter, step, 0);
        estimate_product(emitter, &product, phase);
        if (emitter->row_block > 0)
            return;
        phase->estimate_parts[PIM_ESTIMATE_TRANSFER] +=
            pim_estimate_ring(hardware, pim_column_bytes(emitter, NULL, 0), part->u);
        if (part->work == PIM_ALLSPARK_STRIPES)
            pim_stripes_estimate_place_keys(emitter, phase);
    } else if (is_normalisation(step)) {
        pim_estimate_normalisation(emitter, normalisation_of(emitter, step).rows, phase);
    } else if (step == STEP_POOL) {
        pim_estimate_pool(emitter, block, phase);
    } else if (is_convolution(step)) {
        pim_estimate_position(emitter, phase);
    } else {
        for (uint32_t i = 0; i < pim_step_pieces(part, step, 0); i++) {
            struct pim_product product = pim_step_product(emitter, step, block, i);
            estimate_product(emitter, &product, phase);
        }
    }
}

/*
 * Images of a batch: what goes round for the next one does so behind the products of the one before, as far
 * as the unit fetches ahead of them and the memory port has time for both.
 */
static uint64_t behind_products(struct pim_emitter *emitter, enum pim_step step, uint32_t block)
{
    const struct pim_allspark_partition *part = emitter->part;
    const struct pim_estimate_hardware *hardware = &emitter->plan->hardware;
    const bool heads = step == STEP_SCORES || step == STEP_CONTEXT;
    struct pim_row_pieces pieces;
    struct pim_tiling tiling;
    struct pim_matrix_estimate products;
    bool waits = step == STEP_REDUCTION || part->work == PIM_ALLSPARK_STRIPES; /* a join stands between */
    if (waits || (heads ? emitter->row_block > 0 : !row_input(emitter, step, &pieces)))
        return 0;
    uint64_t bytes = heads ? pim_column_bytes(emitter, NULL, 0) : pim_row_bytes(emitter, &pieces, 0);
    uint32_t nodes = heads ? part->u : part->v;
    struct pim_product product =
        heads ? pim_step_attention(emitter, step, 0) : pim_step_product(emitter, step, block, 0);
    if (product.m == 0 || emitter->status != PIM_OK)
        return 0;
    emitter->status = pim_product_tiling(emitter, &product, &tiling, &products);
    if (emitter->status != PIM_OK || tiling.pass_rows)
        return 0; /* the second pass ends with a join */
    /* All of the products, or the last instructions of them. */
    if (hardware->window < products.instructions) {
        products.total = products.total * hardware->window / products.instructions;
        products.memory = products.memory * hardware->window / products.instructions;
    }
    uint64_t ring = pim_estimate_ring(hardware, bytes, nodes),
             port = products.memory + pim_estimate_ring_port(hardware, bytes, nodes);
    return ring + products.total -
           pim_larger(pim_larger(ring, products.total), pim_smaller(port, ring + products.total));
}

static void estimate_step(struct pim_emitter *emitter, enum pim_step step, uint32_t block,
                          struct pim_trace_phase *phase)
{
    const struct pim_allspark_partition *part = emitter->part;
    emitter->place = pim_busiest_place(part, step);
    estimate_image(emitter, step, block, phase);
    for (unsigned i = 0; i < PIM_ESTIMATE_PARTS; i++)
        phase->estimate_parts[i] *= part->batch;
    if (part->batch > 1)
        phase->estimate_parts[PIM_ESTIMATE_TRANSFER] -=
            (part->batch - 1) * behind_products(emitter, step, block);
    phase->estimate_parts[PIM_ESTIMATE_WEIGHT_SHARING] = pim_estimate_sharing(emitter, step, block);
}

static void emit_phase(struct pim_emitter *emitter, uint32_t block, enum pim_step step)
{
    const struct pim_allspark_partition *part = emitter->part;
    char name[112], rows[32] = "";
    if (pim_row_blocks(part) > 1 && (step == STEP_SCORES || step == STEP_CONTEXT))
        (void)snprintf(rows, sizeof rows, "rows%" PRIu32 "/", emitter->row_block);
    (void)snprintf(name, sizeof name, "stage%" PRIu32 "/block%" PRIu32 "/layer%" PRIu32 "/%s%s",
                   emitter->stage->of + 1, emitter->stage->first_block + block * emitter->stage->block_step,
                   part->first_layer + emitter->layer, rows, step_names[step]);
    struct pim_trace_phase phase = {.name = name};
    estimate_step(emitter, step, block, &phase);
    pim_add_up(emitter, &phase);
    if (!emitter->writer || emitter->status != PIM_OK)
        return;
    pim_equations_of_step(emitter, step, block, &phase);
    uint32_t id = pim_trace_writer_phase(emitter->writer, &phase);
    uint32_t tag =
        pim_program_tags(emitter->program, pim_sharing_tags(part, step) + part->batch * image_tags(part));
    pim_for_each_node(emitter, emitter->layer, id, emit_step, &(struct step_of_block){step, block}, tag);
}

static bool step_exists(const struct pim_allspark_partition *part, enum pim_step step, uint32_t block)
{
    bool attends = step == STEP_SCORES || step == STEP_CONTEXT || step == STEP_LOCAL_POSITION;
    bool over_map = part->position.convolution == PIM_CONVOLUTION_OVER_MAP;
    if (part->work != PIM_ALLSPARK_BLOCK && attends != (part->work == PIM_ALLSPARK_STRIPES))
        return false;
    if (step == STEP_REDUCTION_NORM)
        return pim_weight_exists(part, PIM_ALLSPARK_REDUCTION, block);
    if (step == STEP_POOL)
        return pim_weight_exists(part, PIM_ALLSPARK_POOL, block);
    if (is_convolution(step))
        return over_map == (step == STEP_POSITION) && pim_weight_exists(part, PIM_ALLSPARK_POSITION, block);
    return pim_step_weight(step) == PIM_ALLSPARK_WEIGHTS ||
           pim_weight_exists(part, pim_step_weight(step), block);
}

/* Scores and context of one block of rows after the other. */
static void emit_row_blocks(struct pim_emitter *emitter, uint32_t block)
{
    const uint32_t blocks = pim_row_blocks(emitter->part);
    for (; emitter->row_block < blocks && emitter->status == PIM_OK; emitter->row_block++) {
        emit_phase(emitter, block, STEP_SCORES);
        emit_phase(emitter, block, STEP_CONTEXT);
    }
    emitter->row_block = 0;
}

/* The steps from `first` to the one before `end`; context is no end of its own where it is a step. */
static void emit_layer(struct pim_emitter *emitter, uint32_t block, enum pim_step first, enum pim_step end)
{
    for (enum pim_step step = first; step < end && emitter->status == PIM_OK; step++) {
        if (!step_exists(emitter->part, step, block) || step == STEP_CONTEXT)
            continue;
        if (step == STEP_SCORES)
            emit_row_blocks(emitter, block);
        else
            emit_phase(emitter, block, step);
    }
}

/* What was added to the estimate since `before` counts `times` times. */
static void multiply_estimate(struct pim_emitter *emitter, const struct pim_emitter *before, uint64_t times)
{
    emitter->estimate_cycles =
        before->estimate_cycles + times * (emitter->estimate_cycles - before->estimate_cycles);
    for (unsigned part = 0; part < PIM_ESTIMATE_PARTS; part++)
        emitter->estimate_parts[part] =
            before->estimate_parts[part] +
            times * (emitter->estimate_parts[part] - before->estimate_parts[part]);
}

uint64_t pim_estimate_layer(struct pim_emitter *emitter)
{
    const struct pim_emitter before = *emitter;
    emit_layer(emitter, 0, STEP_MERGE, STEPS);
    if (emitter->part->blocks > 1 && emitter->status == PIM_OK) {
        const struct pim_emitter first = *emitter;
        emit_layer(emitter, 1, STEP_MERGE, STEPS); /* all blocks but the first, which merges, cost the same */
        multiply_estimate(emitter, &first, emitter->part->blocks - 1);
    }
    return emitter->estimate_cycles - before.estimate_cycles;
}

/* What branches of a stage get of others within a block. */
struct between {
    struct pim_neighbours neighbours;
    struct pim_exchange border;
};

static void make_between(struct pim_emitter *emitter, struct between *between)
{
    pim_neighbours_make(emitter, &between->neighbours);
    pim_border_make(emitter, &between->border);
}

/* The layers of one partition in one block. */
static void emit_partition(struct pim_emitter *emitter, uint32_t index, uint32_t block,
                           const struct pim_neighbours *neighbours, enum pim_step first, enum pim_step end)
{
    pim_emit_begin_partition(emitter, index);
    for (emitter->layer = 0; emitter->layer < emitter->part->layers && emitter->status == PIM_OK;
         emitter->layer++) {
        if (first == STEP_SCORES)
            pim_emit_neighbours(emitter, neighbours, block);
        emit_layer(emitter, block, first, end);
    }
}

/* All layers of a block; where branches collect, all have keys and values before the first goes on, and where
   a convolution goes over the map, all features. */
static void emit_block(struct pim_emitter *emitter, uint32_t block, const struct between *between)
{
    bool collects = pim_stage_collects(&emitter->stage->partition[0]);
    bool convolves = step_exists(&emitter->stage->partition[0], STEP_POSITION, block);
    enum pim_step pause = collects ? STEP_SCORES : convolves ? STEP_POSITION : STEPS;
    for (uint32_t i = 0; i < emitter->stage->partitions; i++)
        emit_partition(emitter, i, block, &between->neighbours, STEP_MERGE, pause);
    if (convolves)
        pim_emit_border(emitter, &between->border);
    for (uint32_t i = 0; i < emitter->stage->partitions && pause < STEPS; i++)
        emit_partition(emitter, i, block, &between->neighbours, pause, STEPS);
}

/* The programs of a stage and its partner, block by block. `between`: of both. */
static void emit_blocks(struct pim_emitter *emitter, const struct pim_interaction *interaction,
                        const struct between *between)
{
    const struct pim_allspark_stage *first = emitter->stage, *second = &emitter->plan->stage[first->partner];
    uint32_t blocks = first->partition[0].blocks + (second == first ? 0 : second->partition[0].blocks);
    bool shifts = first->partition[0].shift > 0;
    for (uint32_t block = 0; block < blocks && emitter->status == PIM_OK; block++) {
        bool other = (block - first->first_block) % first->block_step != 0; /* the partner's */
        if (shifts ? block % 2 == 1 : block > 0)
            pim_emit_interaction(emitter, interaction, block, !shifts && !other);
        emitter->stage = other ? second : first;
        emit_block(emitter, block / first->block_step, &between[other]);
        emitter->stage = first;
        if (shifts && block % 2 == 1)
            pim_emit_interaction(emitter, interaction, block, true);
    }
}

void pim_emit_partitions(struct pim_emitter *emitter, uint32_t block, enum pim_emit_part only)
{
    /* Stripes work the middle of the block: their projections are emitted before and after them. */
    enum pim_step first = only == PIM_EMIT_AFTER ? STEP_CONTEXT : STEP_MERGE,
                  end = only == PIM_EMIT_BEFORE ? STEP_SCORES : STEPS;
    for (uint32_t i = 0; i < emitter->stage->partitions; i++)
        emit_partition(emitter, i, block, NULL, first, end);
}

static void estimate_stage(struct pim_emitter *emitter)
{
    pim_estimate_between(emitter);
    for (uint32_t i = 0; i < emitter->stage->partitions && emitter->status == PIM_OK; i++) {
        const struct pim_emitter before = *emitter;
        pim_emit_begin_partition(emitter, i);
        (void)pim_estimate_layer(emitter);
        multiply_estimate(emitter, &before, emitter->part->layers);
    }
}

void pim_emit_stage(struct pim_emitter *emitter, uint32_t index)
{
    const struct pim_allspark_stage *stage = &emitter->plan->stage[index];
    struct pim_interaction interaction;
    struct between between[2] = {0}; /* of the stage, and of its partner */
    emitter->stage = stage;
    emitter->index = index;
    if (!emitter->writer)
        estimate_stage(emitter);
    if (!emitter->writer || stage->partner < index)
        return; /* written with its partner */
    pim_interaction_make(emitter, &interaction);
    pim_interaction_settle(emitter, &interaction);
    make_between(emitter, &between[0]);
    if (stage->partner != index) {
        emitter->stage = &emitter->plan->stage[stage->partner];
        make_between(emitter, &between[1]);
        emitter->stage = stage;
    }
    if (stage->partition[0].work != PIM_ALLSPARK_BLOCK)
        pim_stripes_emit(emitter, &interaction);
    else
        emit_blocks(emitter, &interaction, between);
    for (unsigned i = 0; i < 2; i++) {
        pim_neighbours_terminate(&between[i].neighbours);
        pim_exchange_terminate(&between[i].border);
    }
    pim_interaction_terminate(&interaction);
}

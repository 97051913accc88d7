#include "mappers/nicepim/map/program/emit.h"

#include "mappers/nicepim/ddam/pipeline.h"
#include "mappers/nicepim/map/program/product.h"
#include "mappers/nicepim/map/program/vectors.h"
#include "mappers/nicepim/map/results.h"

#include <stdlib.h>
#include <string.h>

/* --- products --- */

/* The product of a layer, with its inputs and weights where they are needed; NULL when memory is out. */
struct product *nice_start_product(struct emitter *emitter, uint32_t layer)
{
    struct program *program = &emitter->program;
    uint64_t parts[PIM_ESTIMATE_PARTS] = {0};
    struct product *product = product_create(emitter, layer);
    if (!product)
        return NULL;
    program_begin(program, emitter->plan->flow.graph->layers[layer].name, "share");
    program_gather(program, PIM_ESTIMATE_TRANSFER);
    product_share_inputs(emitter, product, true, parts);
    program_gather(program, PIM_ESTIMATE_WEIGHT_SHARING);
    parts[PIM_ESTIMATE_WEIGHT_SHARING] = product_share_weights(emitter, product);
    program_gathered(program, parts);
    program_end(program, parts);
    return product;
}

static void finish_product(struct emitter *emitter, struct product *product)
{
    struct program *program = &emitter->program;
    const char *name = emitter->plan->flow.graph->layers[product->layer].name;
    uint64_t compute[PIM_ESTIMATE_PARTS] = {0}, sums[PIM_ESTIMATE_PARTS] = {0};
    product_place_results(emitter, product);
    program_begin(program, name, "compute");
    product_compute(emitter, product, compute);
    program_end(program, compute);
    if (product->cuts_of_c <= 1)
        return;
    program_begin(program, name, "sums");
    program_gather(program, PIM_ESTIMATE_TRANSFER);
    sums[PIM_ESTIMATE_TRANSFER] = product_reduce_sums(emitter, product);
    program_gathered(program, sums);
    program_end(program, sums);
}

void nice_emit_product(struct emitter *emitter, uint32_t layer)
{
    struct product *product = emitter->started[layer];
    if (!product)
        product = nice_start_product(emitter, layer);
    emitter->started[layer] = NULL;
    if (product && emitter->program.status == PIM_OK)
        finish_product(emitter, product);
    product_destroy(product);
}

static void emit_operation(struct emitter *emitter, uint32_t layer)
{
    if (emitter->done[layer])
        return;
    if (emitter->plan->flow.operation[layer].kind == FLOW_PRODUCT)
        nice_emit_product(emitter, layer);
    else if (results_follow(emitter, layer))
        vector_emit(emitter, layer);
    emitter->done[layer] = true;
}

/* --- branches side by side --- */

/* The first and the last layer of a segment; false: all of its layers work on the same region. */
static bool is_parallel(const struct nice_plan *plan, uint32_t segment, uint32_t *first, uint32_t *last)
{
    const struct pim_segments *segments = &plan->flow.segments;
    uint32_t from = segments->first[segments->branch[segment]],
             to = segments->first[segments->branch[segment + 1]];
    bool parallel = false;
    *first = UINT32_MAX;
    *last = 0;
    for (uint32_t i = from; i < to; i++) {
        uint32_t layer = segments->layers[i];
        *first = layer < *first ? layer : *first;
        *last = layer > *last ? layer : *last;
        parallel |= memcmp(&plan->decision[layer].region, &plan->decision[segments->layers[from]].region,
                           sizeof plan->decision[layer].region) != 0;
    }
    return parallel;
}

/*
 * Brings all regions what they begin with before any of them works: nodes of one region send to another, and
 * would keep it waiting until their own layers are done. Operations whose inputs are there are done as well.
 */
static void open_segment(struct emitter *emitter, uint32_t first, uint32_t last)
{
    const struct flow *flow = &emitter->plan->flow;
    for (uint32_t i = first; i <= last && emitter->program.status == PIM_OK; i++) {
        bool ready = true;
        for (uint32_t k = 0; k < flow->graph->layers[i].inputs; k++)
            ready &= emitter->done[flow->graph->layers[i].input[k]];
        if (ready && flow->operation[i].kind == FLOW_PRODUCT)
            emitter->started[i] = nice_start_product(emitter, i);
        else if (ready)
            emit_operation(emitter, i);
    }
}

static bool takes_longer(const struct emitter *emitter)
{
    return emitter->plan->most_cycles > 0 && emitter->program.cycles > emitter->plan->most_cycles;
}

/* Layers in the order of the graph; what a segment of several regions receives is kept to its end. */
static void emit_layers(struct emitter *emitter)
{
    const struct nice_plan *plan = emitter->plan;
    uint32_t kept = 0;
    for (uint32_t s = 0; s < plan->flow.segments.segment_count; s++) {
        uint32_t first, last;
        if (!is_parallel(plan, s, &first, &last))
            continue;
        for (; kept < first && emitter->program.status == PIM_OK; kept++) {
            emit_operation(emitter, kept);
            program_give_back(&emitter->program);
        }
        open_segment(emitter, first, last);
        for (; kept <= last && emitter->program.status == PIM_OK; kept++)
            emit_operation(emitter, kept);
        program_give_back(&emitter->program);
    }
    for (; kept < plan->flow.count && emitter->program.status == PIM_OK && !takes_longer(emitter); kept++) {
        emit_operation(emitter, kept);
        program_give_back(&emitter->program);
    }
}

/* --- the network --- */

void nice_note_results(struct emitter *emitter)
{
    for (uint32_t i = 0; emitter->home && i < emitter->plan->flow.count; i++) {
        for (uint32_t p = 0; p < emitter->home[i].count; p++)
            program_note(&emitter->program, emitter->home[i].pieces[p].node,
                         &(struct nice_note){.kind = NICE_NOTE_RESULT,
                                             .layer = i,
                                             .place = emitter->home[i].pieces[p].place});
    }
}

enum pim_status nice_emit(const struct nice_plan *plan, struct pim_trace_writer *writer,
                          struct nice_result *result, struct pim_error *error)
{
    return nice_emit_observed(plan, writer, NULL, result, error);
}

enum pim_status nice_emit_observed(const struct nice_plan *plan, struct pim_trace_writer *writer,
                                   const struct nice_observer *observer, struct nice_result *result,
                                   struct pim_error *error)
{
    struct emitter emitter = {.plan = plan};
    struct program *program = &emitter.program;
    bool ready = program_initialize(program, plan, writer, error);
    program->observer = observer;
    emitter.home = calloc((size_t)plan->flow.count + 1, sizeof *emitter.home);
    emitter.done = calloc((size_t)plan->flow.count + 1, sizeof *emitter.done);
    emitter.started = calloc((size_t)plan->flow.count + 1, sizeof *emitter.started);
    if (!ready || !emitter.home || !emitter.done || !emitter.started)
        program->status = pim_fail(error, PIM_NO_MEMORY, "out of memory for the programs of %u nodes",
                                   (unsigned)program->nodes);
    uint64_t macs = plan->flow.macs * plan->images;
    if (program->status == PIM_OK && plan->parts > 0)
        ddam_emit(&emitter);
    else if (program->status == PIM_OK)
        emit_layers(&emitter);
    *result = (struct nice_result){.cycles = program->cycles, .macs = program->macs};
    memcpy(result->parts, program->parts, sizeof result->parts);
    nice_energy_of(plan->array, &program->actions, program->cycles, &result->energy);
    for (uint32_t node = 0; node < program->nodes && program->status == PIM_OK; node++) {
        uint64_t bytes = program->top[node] + program->most_scratch[node];
        result->memory_bytes = bytes > result->memory_bytes ? bytes : result->memory_bytes;
    }
    uint64_t memory = plan->hardware->memory_bytes;
    if (program->status == PIM_OK && writer && result->memory_bytes > memory)
        program->status =
            pim_fail(error, PIM_BAD_INPUT, "the fullest node needs %llu bytes of memory and has %llu",
                     (unsigned long long)result->memory_bytes, (unsigned long long)memory);
    if (program->status == PIM_OK && !takes_longer(&emitter) && program->macs != macs)
        program->status =
            pim_fail(error, PIM_INTERNAL, "the programs make %llu multiply-accumulates, the network has %llu",
                     (unsigned long long)program->macs, (unsigned long long)macs);
    nice_note_results(&emitter);
    for (uint32_t i = 0; emitter.home && i < plan->flow.count; i++)
        free(emitter.home[i].pieces);
    free(emitter.home);
    for (uint32_t i = 0; emitter.started && i < plan->flow.count; i++)
        product_destroy(emitter.started[i]);
    free(emitter.started);
    free(emitter.done);
    free(emitter.moves);
    program_terminate(program);
    return program->status;
}

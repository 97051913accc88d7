#include "mappers/nicepim/map/program/vectors.h"

#include <stdlib.h>

/* Bytes of a piece of the results and of where its inputs lie. */
static uint64_t bytes_among(const struct emitter *emitter, uint32_t layer, const struct piece *piece,
                            const struct operand *operands)
{
    uint64_t bytes = place_bytes(&piece->place);
    for (uint32_t k = 0; k < emitter->plan->flow.graph->layers[layer].inputs; k++)
        for (uint32_t i = 0; i < operands[k].count; i++)
            bytes += place_bytes(&operands[k].places[i]);
    return bytes;
}

/* Of the loads of a piece of the results. */
static uint64_t load_cycles(const struct emitter *emitter, uint32_t layer, const struct piece *piece,
                            const struct operand *operands)
{
    uint64_t cycles = 0, among = bytes_among(emitter, layer, piece, operands);
    for (uint32_t k = 0; k < emitter->plan->flow.graph->layers[layer].inputs; k++) {
        struct pim_span box[4];
        struct grid part[PLACE_DIMENSIONS], met[PLACE_DIMENSIONS];
        flow_needs(&emitter->plan->flow, layer, k, piece->place.box, box);
        grid_of_box(box, part);
        for (uint32_t i = 0; i < operands[k].count; i++) {
            if (place_meets(&operands[k].places[i], part, met))
                cycles += place_cycles(emitter->plan->hardware, &operands[k].places[i], met, among, false);
        }
    }
    return cycles;
}

/* A piece of the results of a vector operation; `operands`: where each of its inputs lies. */
static void vector_piece(struct emitter *emitter, uint32_t layer, const struct piece *piece,
                         const struct operand *operands)
{
    const struct flow_operation *operation = &emitter->plan->flow.operation[layer];
    const struct pim_layer *graph = &emitter->plan->flow.graph->layers[layer];
    uint64_t elements = flow_box_elements(piece->place.box), loaded = PROGRAM_NOTHING;
    for (uint32_t k = 0; k < graph->inputs; k++) {
        struct pim_span box[4];
        struct grid part[PLACE_DIMENSIONS];
        uint64_t moved = 0;
        flow_needs(&emitter->plan->flow, layer, k, piece->place.box, box);
        grid_of_box(box, part);
        uint64_t last = operand_part(emitter, piece->node, PIM_OP_LOAD, PIM_BUFFER_NONE, graph->input[k],
                                     &operands[k], part, PROGRAM_NOTHING, &moved);
        loaded = moved > 0 ? last : loaded;
    }
    bool groups = operation->reach == FLOW_CHANNELS;
    uint64_t rows = groups ? elements / operation->group : elements;
    uint64_t length = groups ? operation->group : operation->taps;
    length = length > 0 ? length : 1;
    enum pim_vector vector = operation->kind == FLOW_FLATTEN ? PIM_VECTOR_COPY : operation->vector;
    bool pairs = !groups && vector != PIM_VECTOR_MAXIMUM && vector != PIM_VECTOR_AVERAGE;
    const struct nice_note note = {.kind = NICE_NOTE_VECTOR, .layer = layer, .place = piece->place};
    emitter->program.note = &note;
    uint64_t done = program_vector(&emitter->program, piece->node, vector, pairs ? 1 : rows,
                                   pairs ? elements : length, 0, 8 * FLOW_BYTES, loaded, PROGRAM_NOTHING);
    emitter->program.note = NULL;
    (void)program_store_place(&emitter->program, piece->node, layer, &piece->place, done);
}

struct operand *vector_bring(struct emitter *emitter, uint32_t layer, uint64_t *cycles)
{
    const struct flow *flow = &emitter->plan->flow;
    const struct pim_layer *graph = &flow->graph->layers[layer];
    const struct home *home = &emitter->home[layer];
    struct operand *operands = calloc((size_t)home->count * graph->inputs + 1, sizeof *operands);
    if (!operands) {
        if (emitter->program.status == PIM_OK)
            emitter->program.status =
                pim_fail(emitter->program.error, PIM_NO_MEMORY, "out of memory for a layer");
        return NULL;
    }
    for (uint32_t p = 0; p < home->count; p++) {
        for (uint32_t k = 0; k < graph->inputs; k++) {
            struct pim_span box[4];
            flow_needs(flow, layer, k, home->pieces[p].place.box, box);
            operand_bring(emitter, graph->input[k], home->pieces[p].node, box,
                          &operands[p * graph->inputs + k]);
        }
    }
    *cycles = move_all(emitter);
    return operands;
}

void vector_release(const struct emitter *emitter, uint32_t layer, struct operand *operands)
{
    size_t count = (size_t)emitter->home[layer].count * emitter->plan->flow.graph->layers[layer].inputs;
    for (size_t i = 0; operands && i < count; i++)
        operand_terminate(&operands[i]);
    free(operands);
}

uint64_t vector_loads(const struct emitter *emitter, uint32_t layer, const struct operand *operands)
{
    const struct home *home = &emitter->home[layer];
    uint32_t inputs = emitter->plan->flow.graph->layers[layer].inputs;
    uint64_t slowest = 0, cycles = 0;
    for (uint32_t p = 0; p < home->count; p++) {
        cycles = p > 0 && home->pieces[p].node == home->pieces[p - 1].node ? cycles : 0;
        cycles += load_cycles(emitter, layer, &home->pieces[p], operands + (size_t)p * inputs);
        slowest = cycles > slowest ? cycles : slowest;
    }
    return slowest;
}

void vector_emit(struct emitter *emitter, uint32_t layer)
{
    const struct pim_layer *graph = &emitter->plan->flow.graph->layers[layer];
    const struct home *home = &emitter->home[layer];
    uint64_t move[PIM_ESTIMATE_PARTS] = {0}, work[PIM_ESTIMATE_PARTS] = {0};
    program_begin(&emitter->program, graph->name, "move");
    program_gather(&emitter->program, PIM_ESTIMATE_TRANSFER);
    struct operand *operands = vector_bring(emitter, layer, &move[PIM_ESTIMATE_TRANSFER]);
    program_gathered(&emitter->program, move);
    program_end(&emitter->program, move);
    program_begin(&emitter->program, graph->name, "vector");
    struct program *program = &emitter->program;
    program_pace_all(program);
    for (uint32_t p = 0; operands && p < home->count && program->status == PIM_OK; p++)
        vector_piece(emitter, layer, &home->pieces[p], operands + (size_t)p * graph->inputs);
    program_paced_all(program);
    work[PIM_ESTIMATE_VECTOR] = program_section(program);
    program_end(&emitter->program, work);
    vector_release(emitter, layer, operands);
}

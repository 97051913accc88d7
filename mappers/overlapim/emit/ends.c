#include "mappers/overlapim/emit/ends.h"

static uint32_t block_of(const struct pim_emission *emission, uint32_t layer)
{
    return layer / pim_intake_places(&emission->plan->search);
}

/* Whether a layer has a program on the unit. */
static bool works(const struct pim_emission *emission, uint32_t layer, uint32_t unit)
{
    uint32_t first = pim_emission_unit(emission, layer, 0);
    return unit >= first && unit - first < pim_emission_channels(emission, layer);
}

/* The part of a unit in a message that is handed over at the producer's end: by sender, then receiver. */
static enum pim_status put_flow(struct pim_emission_program *program, const struct pim_layer_flow *flow)
{
    const struct pim_emission *emission = program->emission;
    uint32_t senders = pim_emission_channels(emission, flow->producer),
             receivers = pim_emission_channels(emission, flow->consumer);
    for (uint64_t m = 0; m < flow->count; m++) {
        for (uint32_t s = 0; s < senders; s++) {
            uint32_t from = pim_emission_unit(emission, flow->producer, s);
            for (uint32_t r = 0; r < receivers; r++) {
                uint32_t to = pim_emission_unit(emission, flow->consumer, r);
                bool send = from == program->unit;
                uint64_t before = program->at;
                if (from == to || (!send && to != program->unit))
                    continue;
                if (pim_emission_message(program, flow, send, from, to, &flow->message[m],
                                         pim_emission_distance(program, send ? program->ordered
                                                                             : program->received)) != PIM_OK)
                    return emission->error->status;
                if (!send && program->at > before) { /* each behind the one before: the last is enough */
                    program->awaited[0] = program->received = program->at;
                    program->awaits = 1;
                }
            }
        }
    }
    return PIM_OK;
}

/* Messages of producer `producer`, by consumer: those to its own block, or to others; `receive`: those for a
 * layer from this one on that works on the unit, which does not work the producer. */
static enum pim_status put_flows(struct pim_emission_program *program, uint32_t producer, bool own,
                                 bool receive)
{
    struct pim_emission *emission = program->emission;
    for (uint32_t f = 0; f < emission->messages->flows; f++) {
        const struct pim_layer_flow *flow = &emission->messages->flow[f];
        if (!flow->ends || flow->producer != producer ||
            own != (block_of(emission, producer) == block_of(emission, flow->consumer)) ||
            (receive && (flow->consumer < program->layer || !works(emission, flow->consumer, program->unit))))
            continue;
        if (put_flow(program, flow) != PIM_OK)
            return emission->error->status;
    }
    return PIM_OK;
}

/* The first layer behind the one that the unit worked before. */
static uint32_t first_producer(const struct pim_emission_program *program)
{
    uint32_t places = pim_intake_places(&program->emission->plan->search), layer = program->layer;
    while (layer >= places) {
        layer -= places;
        if (works(program->emission, layer, program->unit))
            return layer + 1;
    }
    return 0;
}

enum pim_status pim_emission_begin(struct pim_emission_program *program)
{
    const struct pim_emission *emission = program->emission;
    uint32_t block = block_of(emission, program->layer);
    if (!emission->plan->ends[emission->plan->series])
        return PIM_OK;
    for (uint32_t i = first_producer(program); i < program->layer; i++) {
        bool own = block_of(emission, i) == block;
        for (uint32_t f = 0; own && f < emission->messages->flows;
             f++) { /* what others are for comes later */
            const struct pim_layer_flow *flow = &emission->messages->flow[f];
            if (flow->ends && flow->producer == i && flow->consumer == program->layer &&
                put_flow(program, flow) != PIM_OK)
                return emission->error->status;
        }
        if (!own && put_flows(program, i, false, true) != PIM_OK)
            return emission->error->status;
    }
    return PIM_OK;
}

enum pim_status pim_emission_end(struct pim_emission_program *program)
{
    const struct pim_emission *emission = program->emission;
    uint32_t block = block_of(emission, program->layer);
    if (!emission->plan->ends[emission->plan->series])
        return PIM_OK;
    if (put_flows(program, program->layer, true, false) != PIM_OK)
        return emission->error->status;
    for (uint32_t i = first_producer(program); i < program->layer; i++) {
        if (block_of(emission, i) == block && put_flows(program, i, false, true) != PIM_OK)
            return emission->error->status;
    }
    return put_flows(program, program->layer, false, false);
}

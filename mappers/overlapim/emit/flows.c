/* What layers hand to each other: messages, where they are sent and where they are received. */
#include "mappers/overlapim/emit/emission.h"

#include <string.h>

enum pim_status pim_emission_message(struct pim_emission_program *program, const struct pim_layer_flow *flow,
                                     bool send, uint32_t from, uint32_t to,
                                     const struct pim_layer_message *message, uint16_t after)
{
    const struct pim_emission *emission = program->emission;
    uint32_t width = emission->plan->machine.channels, unit = send ? from : to;
    struct pim_instruction instruction = {.opcode = send ? PIM_OP_ROW_SEND : PIM_OP_ROW_RECEIVE,
                                          .detail = from / width == to / width ? PIM_REACH_CHANNEL
                                                                               : PIM_REACH_STACK,
                                          .dependency = {after}};
    uint64_t left = message->data;
    const uint64_t limit = pim_emission_rows_at_once(emission, flow->producer, flow->consumer,
                                                     pim_emission_banks(emission, flow->producer));
    instruction.u.row_message.peer = send ? to : from;
    instruction.u.row_message.tag = (uint32_t)(flow - emission->messages->flow);
    const struct pim_real *real = &emission->real[flow->producer];
    instruction.u.row_message.row = !send ? pim_emission_row(emission, flow->consumer, PIM_MACHINE_LANDING)
                                    : real->used ? real->out
                                                 : 0;
    instruction.u.row_message.banks = (uint16_t)pim_emission_banks(emission, flow->producer);
    instruction.u.row_message.bank_stride = 1;
    for (; left > 0; left -= instruction.u.row_message.rows) {
        instruction.u.row_message.rows = (uint32_t)(left < limit ? left : limit);
        if (pim_emission_put(emission, unit, &instruction) != PIM_OK)
            return emission->error->status;
        instruction.dependency[0] = 1;
        program->at++;
    }
    return PIM_OK;
}

/* The number of the receive which the next one comes behind; 0: none. Of those that are awaited as many are
 * under way together as the instructions that move rows behind them can name. */
static uint64_t place_of_receive(struct pim_emission_program *program, uint64_t moved)
{
    const uint64_t most = moved > 1 ? moved * PIM_EMISSION_AWAITED_AT_ONCE : PIM_EMISSION_AWAITED_AT_ONCE;
    if (program->awaits < most && program->awaits < PIM_EMISSION_AWAITED)
        return 0;
    const uint64_t first = program->awaited[0];
    memmove(program->awaited, program->awaited + 1, --program->awaits * sizeof *program->awaited);
    return first;
}

enum pim_status pim_emission_receives(struct pim_emission_program *program, uint64_t row, uint32_t link,
                                      uint64_t moved)
{
    struct pim_emission *emission = program->emission;
    const struct pim_layer_flow *flow = emission->messages->flow;
    while (flow->consumer != program->layer || flow->link != link)
        flow++;
    if (flow->ends)
        return PIM_OK;
    uint64_t *received = &emission->received[flow - emission->messages->flow];
    uint32_t senders = pim_emission_channels(emission, flow->producer);
    for (; *received < flow->count && flow->message[*received].row <= row; ++*received) {
        for (uint32_t c = 0; c < senders; c++) { /* in the order in which they get to this channel */
            uint32_t at = (program->channel + senders - c % senders) % senders;
            uint32_t from = pim_emission_unit(emission, flow->producer, at);
            if (from == program->unit)
                continue;
            const uint16_t after = pim_emission_distance(program, place_of_receive(program, moved));
            if (pim_emission_message(program, flow, false, from, program->unit, &flow->message[*received],
                                     after) != PIM_OK)
                return emission->error->status;
            program->awaited[program->awaits++] = program->received = program->at;
        }
    }
    return PIM_OK;
}

/* Sends what consumers wait for, when `rows` rows have ended. */
enum pim_status pim_emission_sends(struct pim_emission_program *program, uint64_t rows)
{
    const struct pim_emission *emission = program->emission;
    for (uint32_t f = 0; f < emission->messages->flows; f++) {
        const struct pim_layer_flow *flow = &emission->messages->flow[f];
        if (flow->producer != program->layer || flow->ends)
            continue;
        uint64_t low = 0, high = flow->count; /* the first message behind fewer rows is not looked for */
        while (low < high) {
            uint64_t middle = low + (high - low) / 2;
            if (flow->message[middle].rows < rows)
                low = middle + 1;
            else
                high = middle;
        }
        if (low == flow->count || flow->message[low].rows != rows)
            continue;
        uint32_t receivers = pim_emission_channels(emission, flow->consumer);
        for (uint32_t c = 0; c < receivers; c++) { /* no two channels begin with the same */
            uint32_t to = pim_emission_unit(emission, flow->consumer, (program->channel + c) % receivers);
            if (to != program->unit &&
                pim_emission_message(program, flow, true, program->unit, to, &flow->message[low],
                                     pim_emission_distance(program, program->ordered)) != PIM_OK)
                return emission->error->status;
        }
    }
    return PIM_OK;
}

/* What layers hand to each other: messages, where they are sent and where they are received. */
#include "mappers/overlapim/emit/emission.h"
#include "mappers/overlapim/emit/ends.h"

#include <inttypes.h>
#include <stdlib.h>

/* --- flows --- */

/* Rows of each bank of the producer that are final after `rows` of its rows. */
static uint64_t data_after(const struct pim_emission *emission, uint32_t layer, uint64_t rows)
{
    const struct pim_column_use *use = &emission->use[layer];
    uint64_t all = emission->plan->machine.word_bits * use->outputs * use->output_stores;
    uint64_t of = emission->rows[layer].rows;
    return all / of * rows + all % of * rows / of;
}

static enum pim_status make_flow(struct pim_emission *emission, uint32_t consumer, uint32_t link,
                                 struct pim_emission_flow *flow)
{
    const struct pim_layer_rows *rows = &emission->rows[consumer];
    const struct pim_mapped_layer *layer = &emission->plan->layers.layer[consumer];
    uint64_t last = rows->need[link][rows->rows - 1], before = 0;
    *flow = (struct pim_emission_flow){
        .producer = layer->link[link].producer, .consumer = consumer, .link = link};
    flow->ends = pim_emission_hands_over_at_ends(emission, flow);
    flow->message = calloc(rows->rows, sizeof *flow->message);
    if (!flow->message)
        return pim_fail(emission->error, PIM_NO_MEMORY, "out of memory for messages");
    uint64_t data = 0;
    for (uint64_t r = 0; r < rows->rows; r++) {
        uint64_t need = flow->ends ? last : rows->need[link][r];
        if (need <= before)
            continue;
        uint64_t now = data_after(emission, flow->producer, need);
        uint64_t each = (now - data + pim_emission_channels(emission, consumer) - 1) /
                        pim_emission_channels(emission, consumer);
        flow->message[flow->count++] = (struct pim_emission_message){need, each > 0 ? each : 1};
        before = need;
        data = now;
    }
    return PIM_OK;
}

enum pim_status pim_emission_flows(struct pim_emission *emission)
{
    const struct pim_mapped_layers *layers = &emission->plan->layers;
    uint32_t links = 0;
    for (uint32_t i = 0; i < layers->count; i++)
        links += layers->layer[i].links;
    emission->flows = calloc(links + 1, sizeof *emission->flows);
    if (!emission->flows)
        return pim_fail(emission->error, PIM_NO_MEMORY, "out of memory for %" PRIu32 " links", links);
    for (uint32_t i = 0; i < layers->count; i++) {
        for (uint32_t j = 0; j < layers->layer[i].links; j++) {
            if (make_flow(emission, i, j, &emission->flows[emission->flow_count++]) != PIM_OK)
                return emission->error->status;
        }
    }
    return PIM_OK;
}

enum pim_status pim_emission_message(struct pim_emission_program *program,
                                     const struct pim_emission_flow *flow, bool send, uint32_t from,
                                     uint32_t to, const struct pim_emission_message *message, uint16_t after)
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
    instruction.u.row_message.tag = (uint32_t)(flow - emission->flows);
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

/* Receives what row `row` needs of a producer and this channel has not got. Two receives are under way for an
 * instruction that works on rows; further ones come behind them. */
enum pim_status pim_emission_receives(struct pim_emission_program *program, uint64_t row, uint32_t link)
{
    struct pim_emission *emission = program->emission;
    struct pim_emission_flow *flow = emission->flows;
    while (flow->consumer != program->layer || flow->link != link)
        flow++;
    if (flow->ends)
        return PIM_OK;
    uint64_t need = emission->rows[program->layer].need[link][row];
    uint32_t senders = pim_emission_channels(emission, flow->producer);
    for (; flow->sent < flow->count && flow->message[flow->sent].rows <= need; flow->sent++) {
        for (uint32_t c = 0; c < senders; c++) { /* in the order in which they get to this channel */
            uint32_t at = (program->channel + senders - c % senders) % senders;
            uint32_t from = pim_emission_unit(emission, flow->producer, at);
            uint64_t before = program->at;
            uint16_t after =
                program->earlier > program->ordered ? pim_emission_distance(program, program->earlier) : 0;
            if (from != program->unit && pim_emission_message(program, flow, false, from, program->unit,
                                                              &flow->message[flow->sent], after) != PIM_OK)
                return emission->error->status;
            if (program->at > before) {
                program->earlier = program->received;
                program->received = program->at;
            }
        }
    }
    return PIM_OK;
}

/* Sends what consumers wait for, when `rows` rows have ended. */
enum pim_status pim_emission_sends(struct pim_emission_program *program, uint64_t rows)
{
    const struct pim_emission *emission = program->emission;
    for (uint32_t f = 0; f < emission->flow_count; f++) {
        const struct pim_emission_flow *flow = &emission->flows[f];
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

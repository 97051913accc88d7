/* The programs of a relay, and what it takes. */
#include "mappers/allspark/redistribution/relay.h"

#include <stdlib.h>
#include <string.h>

/* --- copies --- */

/* Copies of a step that one load and one store can take: as many bytes each, evenly apart on both sides. */
struct group {
    uint32_t count;
    uint64_t from_stride, to_stride;
};

static struct group group_of(const struct pim_relay_copy *copy, uint32_t left)
{
    struct group group = {.count = 1};
    for (; group.count < left; group.count++) {
        const struct pim_relay_copy *before = &copy[group.count - 1], *next = before + 1;
        if (next->step != before->step || next->bytes != before->bytes ||
            next->from < before->from + before->bytes || next->to < before->to + before->bytes)
            break;
        uint64_t from = next->from - before->from, to = next->to - before->to;
        if (group.count > 1 && (from != group.from_stride || to != group.to_stride))
            break;
        group.from_stride = from;
        group.to_stride = to;
    }
    return group;
}

/* Those of a step, from `copy` on; returns the first behind them. A store follows one load later. */
static uint32_t emit_copies(struct pim_emitter *emitter, const struct pim_relay *relay, uint32_t copy,
                            uint32_t end, uint32_t step)
{
    while (copy < end && relay->copies[copy].step == step) {
        const struct pim_relay_copy *first = &relay->copies[copy];
        const struct group group = group_of(first, end - copy);
        uint64_t loaded = pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_NONE, first->from, first->bytes,
                                          group.from_stride, group.count, PIM_NOTHING);
        pim_emit_flush(emitter);
        emitter->store =
            (struct pim_pending_store){first->to, first->bytes, group.to_stride, group.count, loaded};
        copy += group.count;
    }
    pim_emit_flush(emitter);
    return copy;
}

static void emit_message(struct pim_emitter *emitter, const struct pim_relay_message *message, uint32_t tag)
{
    bool sends = message->from_unit == emitter->place.unit;
    struct pim_instruction instruction = {.opcode = sends ? PIM_OP_SEND : PIM_OP_RECEIVE,
                                          .detail = (uint8_t)message->kind};
    instruction.u.network.peer = sends ? message->to_unit : message->from_unit;
    instruction.u.network.tag = tag;
    instruction.u.network.address = sends ? message->from : message->to;
    instruction.u.network.bytes = message->bytes;
    (void)pim_emit(emitter, instruction, PIM_NOTHING, PIM_NOTHING, PIM_NOTHING);
}

void pim_relay_emit(struct pim_emitter *emitter, const struct pim_relay *relay, uint32_t tag)
{
    const uint32_t unit = emitter->place.unit;
    uint32_t copy = relay->first_copy[unit], end = relay->first_copy[unit + 1],
             next = relay->first_of_unit[unit], last = relay->first_of_unit[unit + 1];
    while (copy < end || next < last) {
        uint32_t step = copy < end ? relay->copies[copy].step : UINT32_MAX;
        if (next < last && relay->messages[relay->of_unit[next]].step < step)
            step = relay->messages[relay->of_unit[next]].step;
        copy = emit_copies(emitter, relay, copy, end, step);
        for (; next < last && relay->messages[relay->of_unit[next]].step == step; next++)
            emit_message(emitter, &relay->messages[relay->of_unit[next]], tag + relay->of_unit[next]);
        if (copy < end || next < last)
            pim_emit_join(emitter);
    }
}

bool pim_relay_has_unit(const struct pim_relay *relay, uint32_t unit)
{
    return relay->first_copy[unit] < relay->first_copy[unit + 1] ||
           relay->first_of_unit[unit] < relay->first_of_unit[unit + 1];
}

/* --- estimate --- */

/* What a unit does in a step. */
struct load {
    uint64_t copies, all;
};

/* The copies, from *next on. The first access goes to a closed row; afterwards loads and stores take turns at
   the port. */
static uint64_t copy_cycles(const struct pim_estimate_hardware *hardware, const struct pim_relay *relay,
                            uint32_t *next, uint32_t end, uint32_t step)
{
    uint64_t cycles = 0;
    while (*next < end && relay->copies[*next].step == step) {
        const struct pim_relay_copy *first = &relay->copies[*next];
        const struct group group = group_of(first, end - *next);
        if (cycles == 0)
            cycles = 2 * pim_estimate_access(hardware);
        cycles += pim_estimate_pieces(hardware, first->bytes, group.from_stride, group.count, 1, false) +
                  pim_estimate_pieces(hardware, first->bytes, group.to_stride, group.count, 1, true) +
                  pim_estimate_turns(hardware, 1);
        *next += group.count;
    }
    return cycles;
}

/* The messages of a unit in a step: what passes its links, and its memory port. */
struct passage {
    uint64_t flight, longest, out, in; /* flits */
    uint64_t port;                     /* when all of them go the same way: one run */
    uint64_t mixed;                    /* else every one opens rows of its own, and the port turns round */
};

static void add_message(const struct pim_estimate_hardware *hardware, const struct pim_relay_message *message,
                        uint32_t unit, struct passage *passage)
{
    bool sends = message->from_unit == unit;
    uint64_t bytes = message->bytes,
             flight = pim_exchange_flight(hardware, message->from_unit, message->to_unit);
    *(sends ? &passage->out : &passage->in) += (bytes + hardware->flit_bytes - 1) / hardware->flit_bytes;
    passage->port += pim_estimate_stream(hardware, bytes, !sends);
    passage->mixed += pim_estimate_pieces(hardware, bytes, 0, 1, 1, !sends) +
                      pim_estimate_turns(hardware, 1 + bytes / hardware->row_bytes);
    passage->flight = flight > passage->flight ? flight : passage->flight;
    passage->longest = bytes > passage->longest ? bytes : passage->longest;
}

/* The step of a unit: copies while messages come and go, which share the memory port with them. One flight is
   waited for, and one packet that is read before it leaves and written when it has come. */
static struct load load_of(const struct pim_estimate_hardware *hardware, const struct pim_relay *relay,
                           uint32_t unit, uint32_t *copy, uint32_t *next, uint32_t step)
{
    struct load load = {.copies = copy_cycles(hardware, relay, copy, relay->first_copy[unit + 1], step)};
    struct passage passage = {0};
    for (; *next < relay->first_of_unit[unit + 1]; ++*next) {
        const struct pim_relay_message *message = &relay->messages[relay->of_unit[*next]];
        if (message->step != step)
            break;
        add_message(hardware, message, unit, &passage);
    }
    uint64_t packet = passage.longest < hardware->packet_bytes ? passage.longest : hardware->packet_bytes;
    uint64_t flits = passage.out > passage.in ? passage.out : passage.in;
    uint64_t network = pim_estimate_network(hardware, flits);
    uint64_t port = load.copies + (passage.out > 0 && passage.in > 0 ? passage.mixed : passage.port);
    load.all = passage.flight + (port > network ? port : network);
    if (packet > 0)
        load.all +=
            pim_estimate_stream(hardware, packet, false) + pim_estimate_stream(hardware, packet, true);
    return load;
}

/* Flits over the links that leave each router to the east, west, south and north, with routes along x first;
   returns the number that the busiest of them has then. */
static uint64_t add_route(uint32_t width, uint32_t from, uint32_t to, uint64_t flits, uint64_t (*link)[4])
{
    enum { EAST, WEST, SOUTH, NORTH };
    uint64_t most = 0;
    while (from != to) {
        bool along_x = from % width != to % width;
        bool up = along_x ? from % width < to % width : from < to;
        uint64_t *busy = &link[from][along_x ? (up ? EAST : WEST) : (up ? SOUTH : NORTH)];
        uint32_t hop = along_x ? 1 : width;
        *busy += flits;
        most = *busy > most ? *busy : most;
        from = up ? from + hop : from - hop;
    }
    return most;
}

/* The busiest link of each step: messages of a step go at the same time. */
static bool add_links(const struct pim_estimate_hardware *hardware, const struct pim_relay *relay,
                      uint32_t units, struct load *most)
{
    uint64_t(*link)[4] = calloc((size_t)units + 1, sizeof *link);
    uint64_t busiest = 0;
    for (uint32_t i = 0; link && i < relay->message_count; i++) {
        const struct pim_relay_message *message = &relay->messages[i];
        bool last = i + 1 == relay->message_count || message[1].step != message->step;
        uint64_t flits = (message->bytes + hardware->flit_bytes - 1) / hardware->flit_bytes;
        uint64_t here = add_route(hardware->width, message->from_unit, message->to_unit, flits, link);
        busiest = here > busiest ? here : busiest;
        if (!last)
            continue;
        struct load *load = &most[message->step];
        uint64_t cycles = pim_estimate_network(hardware, busiest);
        load->all = load->copies + cycles > load->all ? load->copies + cycles : load->all;
        memset(link, 0, ((size_t)units + 1) * sizeof *link);
        busiest = 0;
    }
    bool added = link != NULL;
    free(link);
    return added;
}

bool pim_relay_price(const struct pim_estimate_hardware *hardware, struct pim_relay *relay, uint32_t units)
{
    struct load *most = calloc((size_t)relay->steps + 1, sizeof *most);
    for (uint32_t unit = 0; most && unit < units; unit++) {
        uint32_t copy = relay->first_copy[unit], next = relay->first_of_unit[unit];
        for (uint32_t step = 0; step < relay->steps; step++) {
            const struct load load = load_of(hardware, relay, unit, &copy, &next, step);
            most[step] = load.all > most[step].all ? load : most[step];
        }
    }
    bool priced = most && add_links(hardware, relay, units, most);
    relay->memory_cycles = relay->transfer_cycles = 0;
    for (uint32_t step = 0; priced && step < relay->steps; step++) {
        relay->memory_cycles += most[step].copies;
        relay->transfer_cycles += most[step].all - most[step].copies;
    }
    free(most);
    return priced;
}

/* The memory port of a unit: docs/models/node.md, "Memory port". */
#include "mappers/estimate/estimate.h"
#include "mappers/estimate/exchange/timing.h"
#include "sim/integer.h"

/* --- messages alone: a part of a packet --- */

/* Nothing is known of places: a packet opens its own rows, and anew when another came in between. */
static void access_memory(const struct timing *timing, uint32_t index, const struct request *request,
                          uint32_t bytes, uint64_t *free, uint64_t *done)
{
    const struct pim_estimate_hardware *hardware = timing->hardware;
    const bool write = request->burst.write;
    *free = timing->now +
            (timing->unit[index].moved != request->subject || request->moved % hardware->row_bytes == 0
                 ? pim_estimate_stream(hardware, bytes, write)
                 : pim_estimate_columns(hardware, pim_divide_up(bytes, hardware->port_bytes), 0, write));
    *done = *free + pim_estimate_latency(hardware);
}

/* True: all of the request is taken; when its data are there. */
static bool move_part(struct timing *timing, uint32_t index, struct request *request, uint64_t *done)
{
    struct unit *unit = &timing->unit[index];
    const uint32_t bytes =
        (uint32_t)pim_smaller(pim_estimate_turn(timing->hardware), request->burst.bytes - request->moved);
    access_memory(timing, index, request, bytes, &unit->port_free, done);
    unit->busy = true;
    unit->moved = request->subject;
    timing_at(timing, unit->port_free, EVENT_PORT, index);
    request->moved += bytes;
    return request->moved == request->burst.bytes;
}

/* --- programs: parts of any bursts, through the bank of the unit --- */

/* Arbitration is the last thing of its time, so that all requests of that time take part. */
static void schedule(struct timing *timing, uint32_t index)
{
    struct unit *unit = &timing->unit[index];
    if (unit->scheduled)
        return;
    unit->scheduled = true;
    const uint64_t edge = pim_divide_up(timing->now, timing->memory) * timing->memory;
    timing_last_at(timing, pim_larger(edge, unit->port_free), EVENT_PORT, index);
}

static bool take_part(struct timing *timing, uint32_t index, struct request *request, uint64_t *done)
{
    struct unit *unit = &timing->unit[index];
    uint64_t next;
    const bool all = pim_pace_part(timing->pace[index], &request->burst, &request->next,
                                   timing->now / timing->memory, &next, done);
    unit->port_free = next * timing->memory;
    *done *= timing->memory;
    if (all)
        timing_at(timing, timing->now, EVENT_START, index); /* the next of its client */
    return all;
}

/* --- both --- */

/* The first client behind the one that was served last; CLIENTS: none asks. */
static unsigned choose(const struct unit *unit)
{
    for (unsigned i = 1; i <= CLIENTS; i++) {
        const unsigned client = (unit->turn + i) % CLIENTS;
        if (unit->request[client].subject != NONE)
            return client;
    }
    return CLIENTS;
}

static enum event_kind served_event(unsigned client)
{
    return client == CLIENT_WORK ? EVENT_WORKED : client == CLIENT_SEND ? EVENT_READ : EVENT_WRITTEN;
}

static void serve(struct timing *timing, uint32_t index)
{
    struct unit *unit = &timing->unit[index];
    const unsigned client = choose(unit);
    if (unit->busy || client == CLIENTS)
        return;
    struct request *request = &unit->request[client];
    uint64_t done;
    unit->turn = client;
    const bool all = timing->programs ? take_part(timing, index, request, &done)
                                      : move_part(timing, index, request, &done);
    if (!all)
        return;
    timing_at(timing, done, served_event(client), request->subject);
    request->subject = NONE;
    if (client == CLIENT_RECEIVE)
        timing_queue_write(timing, index);
}

/* False: nothing is moved. */
static bool ask_burst(struct timing *timing, uint32_t index, unsigned client, uint32_t subject,
                      const struct pim_instruction *instruction)
{
    struct request request = {.subject = subject};
    if (!pim_pace_burst(timing->pace[index], instruction, &request.burst))
        return false;
    timing->unit[index].request[client] = request;
    schedule(timing, index);
    return true;
}

void timing_ask_memory(struct timing *timing, uint32_t place)
{
    const struct item *item = &timing->item[place];
    if (!ask_burst(timing, item->unit, CLIENT_WORK, place, item->instruction))
        timing_at(timing, timing->now, EVENT_WORKED, place);
}

void timing_ask_packet(struct timing *timing, uint32_t index, unsigned client, uint32_t place)
{
    const struct packet *packet = &timing->packet[place];
    const struct course *course = &timing->course[packet->transfer];
    const bool write = client == CLIENT_RECEIVE;
    if (!timing->programs) {
        timing->unit[index].request[client] =
            (struct request){.subject = place, .burst = {.bytes = packet->bytes, .count = 1, .write = write}};
        serve(timing, index);
        return;
    }
    const struct item *message = &timing->item[write ? course->received_at : course->sent_at];
    struct pim_instruction instruction = {.opcode = write ? PIM_OP_STORE : PIM_OP_LOAD};
    instruction.u.memory.address = message->instruction->u.network.address + packet->offset;
    instruction.u.memory.bytes = packet->bytes;
    instruction.u.memory.count = 1;
    if (!ask_burst(timing, index, client, place, &instruction))
        timing_at(timing, timing->now, served_event(client), place);
}

void timing_port(struct timing *timing, uint32_t index)
{
    struct unit *unit = &timing->unit[index];
    unit->busy = unit->scheduled = false;
    if (!timing->programs) {
        timing_pump(timing, index);
        timing_start(timing, index);
    }
    serve(timing, index);
    if (timing->programs && choose(unit) != CLIENTS)
        schedule(timing, index);
}

#include "mappers/estimate/messages.h"

#include "mappers/estimate/exchange/timing.h"
#include "sim/integer.h"

#include <assert.h>
#include <stdlib.h>

static void handle_of_transfer(struct timing *timing, const struct event *event)
{
    struct course *course = &timing->course[event->subject];
    const uint32_t from = timing->transfer[event->subject].from;
    if (event->kind == EVENT_ANNOUNCED) {
        course->granted = timing->granted;
    } else {
        course->granted++;
        timing_pump(timing, from);
    }
    timing_start(timing, from);
}

static void handle(struct timing *timing, const struct event *event)
{
    const uint32_t subject = event->subject;
    switch (event->kind) {
    case EVENT_BEGIN:
        timing->unit[subject].begun = true;
        timing_retire(timing, &timing->unit[subject]);
        timing_start(timing, subject);
        break;
    case EVENT_ANNOUNCED:
    case EVENT_GRANTED:
        handle_of_transfer(timing, event);
        break;
    case EVENT_PORT:
        timing_port(timing, subject);
        break;
    case EVENT_START:
        timing_pump(timing, subject);
        timing_start(timing, subject);
        break;
    case EVENT_READ:
        timing_inject(timing, subject);
        break;
    case EVENT_HOP:
        timing_hop(timing, subject);
        break;
    case EVENT_SIGNAL:
        timing_signal_hop(timing, subject);
        break;
    case EVENT_LEFT:
        timing_left(timing, subject);
        break;
    case EVENT_ARRIVED:
        timing_receive(timing, subject);
        break;
    case EVENT_WRITTEN:
        timing_written(timing, subject);
        break;
    case EVENT_WORKED:
        if (timing->item[subject].kind == ITEM_VECTOR)
            timing->unit[timing->item[subject].unit].working = false;
        timing_complete(timing, subject);
        break;
    }
}

/* A limit of 0 is none. */
static uint32_t no_limit(uint32_t limit)
{
    return limit > 0 ? limit : UINT32_MAX;
}

static struct timing begin(const struct pim_estimate_hardware *hardware, struct pim_pace *const *pace)
{
    return (struct timing){.hardware = hardware,
                           .grid = pim_machine_grid(&hardware->network, hardware->width, hardware->height),
                           .units = hardware->width * hardware->height,
                           .in_order = hardware->in_order,
                           .logic = 1,
                           .memory = 1,
                           .network = 1,
                           .open = no_limit(hardware->posted_receives),
                           .granted = no_limit(hardware->receive_packets),
                           .held = no_limit(hardware->send_packets),
                           .window = no_limit(hardware->window),
                           .pace = pace};
}

/* Room for units and links. */
static bool reserve_units(struct timing *timing)
{
    const size_t routers = (size_t)timing->grid.columns * timing->grid.rows;
    timing->unit = calloc((size_t)timing->units + 1, sizeof *timing->unit);
    timing->link_free = calloc(routers * PIM_MACHINE_UNIT + 1, sizeof *timing->link_free);
    return timing->unit && timing->link_free;
}

/* Room for transfers and their packets. */
static bool reserve_transfers(struct timing *timing)
{
    const uint64_t packet_bytes = no_limit(timing->hardware->packet_bytes);
    uint64_t packets = 0;
    for (uint32_t i = 0; i < timing->transfers; i++)
        packets += timing->transfer[i].bytes / packet_bytes + 1;
    timing->course = calloc((size_t)timing->transfers + 1, sizeof *timing->course);
    timing->packet = packets < NONE ? calloc((size_t)packets + 1, sizeof *timing->packet) : NULL;
    timing->signal = timing->packet && timing->programs
                         ? calloc((size_t)packets + 1, sizeof *timing->signal) /* one for each, at most */
                         : NULL;
    return timing->course && timing->packet && (timing->signal || !timing->programs);
}

/* Nothing of a unit has started; its items are known. */
static void reset(struct timing *timing, struct unit *unit)
{
    for (unsigned engine = 0; engine < ITEM_ENGINES; engine++)
        unit->next[engine] = unit->first;
    unit->oldest = unit->issued = unit->fence = unit->first;
    while (unit->fence < unit->last && timing->item[unit->fence].kind != ITEM_JOIN)
        unit->fence++;
    for (unsigned client = 0; client < CLIENTS; client++)
        unit->request[client].subject = NONE;
    unit->sending = unit->to_write = unit->newest = unit->moved = NONE;
    unit->turn = timing->programs ? CLIENT_RECEIVE : CLIENT_SEND;
}

/* The packets of a transfer, behind `packet` others; gives how many there are then. */
static uint32_t cut(struct timing *timing, uint32_t transfer, uint32_t packet)
{
    const uint32_t packet_bytes = no_limit(timing->hardware->packet_bytes);
    const uint64_t whole = timing->transfer[transfer].bytes;
    struct course *course = &timing->course[transfer];
    course->first_packet = packet;
    for (uint64_t left = whole; left > 0; course->packets++) {
        const uint32_t bytes = left < packet_bytes ? (uint32_t)left : packet_bytes;
        timing->packet[packet++] =
            (struct packet){.transfer = transfer, .bytes = bytes, .offset = whole - left, .next = NONE};
        left -= bytes;
    }
    return packet;
}

static void run(struct timing *timing, const uint64_t *start, uint64_t *end)
{
    timing->end = end;
    for (uint32_t u = 0; u < timing->units; u++) {
        end[u] = start[u] * timing->logic;
        timing_at(timing, end[u], EVENT_BEGIN, u);
    }
    while (timing->agenda.events > 0 && !timing->agenda.failed) {
        const struct event event = timing_next(timing);
        timing->now = event.time;
        handle(timing, &event);
    }
    for (uint32_t u = 0; u < timing->units && !timing->agenda.failed; u++) {
        assert(timing->unit[u].oldest == timing->unit[u].last); /* in no list units wait in a circle */
        end[u] = pim_divide_up(end[u], timing->logic);
    }
}

static bool finish(struct timing *timing, bool ready)
{
    free(timing->unit);
    free(timing->link_free);
    free(timing->item);
    free(timing->course);
    free(timing->packet);
    free(timing->signal);
    free(timing->agenda.heap);
    return ready && !timing->agenda.failed;
}

/* --- messages alone --- */

static bool is_message(const struct pim_estimate_message *message)
{
    return message->from != message->to && message->bytes > 0;
}

static uint32_t add_end(struct timing *timing, uint32_t index, uint32_t transfer, enum item_kind kind)
{
    struct unit *unit = &timing->unit[index];
    timing->item[unit->last] = (struct item){.transfer = transfer, .unit = index, .kind = (uint8_t)kind};
    return unit->last++;
}

static void list_messages(struct timing *timing)
{
    const struct pim_estimate_message *message = timing->transfer;
    for (uint32_t i = 0; i < timing->transfers; i++) {
        timing->unit[message[i].from].last += is_message(&message[i]);
        timing->unit[message[i].to].last += is_message(&message[i]);
    }
    for (uint32_t u = 0, place = 0; u < timing->units; u++) {
        struct unit *unit = &timing->unit[u];
        place += unit->last;
        unit->last = unit->first = place - unit->last;
    }
    for (uint32_t i = 0, packet = 0; i < timing->transfers; i++) {
        if (!is_message(&message[i]))
            continue;
        packet = cut(timing, i, packet);
        timing->course[i].sent_at = add_end(timing, message[i].from, i, ITEM_SEND);
        timing->course[i].received_at = add_end(timing, message[i].to, i, ITEM_RECEIVE);
    }
    for (uint32_t u = 0; u < timing->units; u++)
        reset(timing, &timing->unit[u]);
}

bool pim_estimate_messages(const struct pim_estimate_hardware *hardware,
                           const struct pim_estimate_message *messages, uint32_t count, const uint64_t *start,
                           uint64_t *end)
{
    struct timing timing = begin(hardware, NULL);
    timing.transfer = messages;
    timing.transfers = count;
    timing.item = calloc(2 * (size_t)count + 1, sizeof *timing.item);
    const bool ready = reserve_units(&timing) && timing.item && reserve_transfers(&timing);
    if (ready) {
        list_messages(&timing);
        run(&timing, start, end);
    }
    return finish(&timing, ready);
}

/* --- programs --- */

/* A send or a receive, and which of its (source, destination, tag) it is: in the order of the program. */
struct message_end {
    uint32_t from, to, tag, item;
};

static int compare_ends(const void *a, const void *b)
{
    const struct message_end *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    if (x->tag != y->tag)
        return x->tag < y->tag ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

static enum item_kind kind_of(const struct pim_instruction *instruction)
{
    switch (instruction->opcode) {
    case PIM_OP_RECEIVE:
        return ITEM_RECEIVE;
    case PIM_OP_SEND:
        return ITEM_SEND;
    case PIM_OP_LOAD:
    case PIM_OP_STORE:
        return ITEM_MEMORY;
    case PIM_OP_VECTOR:
        return ITEM_VECTOR;
    default:
        assert(instruction->opcode == PIM_OP_JOIN);
        return ITEM_JOIN;
    }
}

/* Items of all units; the sends and, behind them, the receives, each in the order of their names. */
static void list_programs(struct timing *timing, const struct pim_estimate_program *programs,
                          struct message_end *ends)
{
    uint32_t sends = 0, receives = timing->transfers, place = 0;
    for (uint32_t u = 0; u < timing->units; u++) {
        timing->unit[u].first = place;
        for (uint32_t i = 0; i < programs[u].count; i++, place++) {
            const struct pim_instruction *instruction = &programs[u].instructions[i];
            const enum item_kind kind = kind_of(instruction);
            timing->item[place] = (struct item){.instruction = instruction, .unit = u, .kind = (uint8_t)kind};
            if (kind == ITEM_SEND)
                ends[sends++] =
                    (struct message_end){u, instruction->u.network.peer, instruction->u.network.tag, place};
            else if (kind == ITEM_RECEIVE)
                ends[receives++] =
                    (struct message_end){instruction->u.network.peer, u, instruction->u.network.tag, place};
        }
        timing->unit[u].last = place;
        reset(timing, &timing->unit[u]);
    }
    assert(receives == 2 * sends);
    qsort(ends, sends, sizeof *ends, compare_ends);
    qsort(ends + sends, sends, sizeof *ends, compare_ends);
}

static void count_items(const struct pim_estimate_program *programs, uint32_t units, uint32_t *items,
                        uint32_t *sends)
{
    *items = *sends = 0;
    for (uint32_t u = 0; u < units; u++) {
        *items += programs[u].count;
        for (uint32_t i = 0; i < programs[u].count; i++)
            *sends += programs[u].instructions[i].opcode == PIM_OP_SEND;
    }
}

/* The i-th send of a name meets the i-th receive. */
static void meet(struct timing *timing, const struct message_end *sends, const struct message_end *receives,
                 struct pim_estimate_message *message)
{
    for (uint32_t i = 0; i < timing->transfers; i++) {
        struct item *send = &timing->item[sends[i].item], *receive = &timing->item[receives[i].item];
        assert(sends[i].from == receives[i].from && sends[i].to == receives[i].to);
        message[i] =
            (struct pim_estimate_message){sends[i].from, sends[i].to, send->instruction->u.network.bytes};
        send->transfer = receive->transfer = i;
    }
}

/* Programs of all units; false when memory is out. */
static bool prepare_programs(struct timing *timing, const struct pim_estimate_program *programs,
                             struct pim_estimate_message **messages)
{
    uint32_t items;
    count_items(programs, timing->units, &items, &timing->transfers);
    struct message_end *ends = calloc(2 * (size_t)timing->transfers + 1, sizeof *ends);
    *messages = calloc((size_t)timing->transfers + 1, sizeof **messages);
    timing->transfer = *messages;
    timing->item = calloc((size_t)items + 1, sizeof *timing->item);
    bool ready = reserve_units(timing) && ends && *messages && timing->item;
    if (ready) {
        list_programs(timing, programs, ends);
        meet(timing, ends, ends + timing->transfers, *messages);
        ready = reserve_transfers(timing);
    }
    for (uint32_t i = 0, packet = 0; ready && i < timing->transfers; i++) {
        assert(timing->transfer[i].bytes > 0);
        packet = cut(timing, i, packet);
        timing->course[i].sent_at = ends[i].item;
        timing->course[i].received_at = ends[timing->transfers + i].item;
    }
    free(ends);
    return ready;
}

/* When each instruction is complete, counted in cycles. */
static void read_ends(const struct timing *timing, const struct pim_estimate_program *programs)
{
    for (uint32_t u = 0; u < timing->units; u++)
        for (uint32_t i = 0; programs[u].end && i < programs[u].count; i++)
            programs[u].end[i] = pim_divide_up(timing->item[timing->unit[u].first + i].end, timing->logic);
}

/* All cycles are whole numbers of ticks. */
static void count_ticks(struct timing *timing)
{
    const struct pim_estimate_hardware *hardware = timing->hardware;
    uint64_t all = hardware->logic_khz;
    assert(all > 0 && hardware->memory_khz > 0 && hardware->network_khz > 0);
    all *= hardware->memory_khz / pim_greatest_divisor(all, hardware->memory_khz);
    all *= hardware->network_khz / pim_greatest_divisor(all, hardware->network_khz);
    timing->logic = all / hardware->logic_khz;
    timing->memory = all / hardware->memory_khz;
    timing->network = all / hardware->network_khz;
}

bool pim_estimate_programs(const struct pim_estimate_hardware *hardware,
                           const struct pim_estimate_program *programs, struct pim_pace *const *pace,
                           const uint64_t *start, uint64_t *end)
{
    struct timing timing = begin(hardware, pace);
    struct pim_estimate_message *messages;
    timing.programs = true;
    count_ticks(&timing);
    const bool ready = prepare_programs(&timing, programs, &messages);
    if (ready) {
        run(&timing, start, end);
        read_ends(&timing, programs);
    }
    free(messages);
    return finish(&timing, ready);
}

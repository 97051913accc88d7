/* Events in the order of time; of the same time, in the order in which they were made. */
#include "mappers/estimate/messages.h"
#include "mappers/estimate/estimate.h"
#include "sim/integer.h"

#include <assert.h>
#include <stdlib.h>

enum kind { BEGIN, ANNOUNCED, MADE, PORT_FREE, READ, HOP, LEFT, ARRIVED, WRITTEN, GRANTED };
static const uint32_t NONE = UINT32_MAX;
/* Links that leave a unit; the last two are those from and to its network interface. */
enum { EAST, WEST, SOUTH, NORTH, INJECTION, EJECTION, LINKS };

struct event {
    uint64_t time, number;
    enum kind kind;
    uint32_t subject; /* unit, transfer or packet */
};

struct packet {
    uint32_t transfer, bytes;
    uint64_t offset; /* in the message */
    uint32_t moved;  /* through the memory port of the unit that it is in */
    uint32_t at;     /* unit whose router it is in */
    uint32_t next;   /* in the queue of writes */
    uint32_t links;  /* that the head has passed since it was injected */
    bool gone;       /* when the tail leaves is known */
    uint64_t leaves; /* not before */
};

struct unit {
    uint32_t last;             /* of the list of its transfers */
    uint32_t send, receive;    /* next of the list */
    uint32_t oldest;           /* of the list that is not complete */
    uint32_t open, packets;    /* receives that are announced; packets between memory and network */
    uint32_t to_read;          /* packet that waits for the port */
    uint32_t to_write, newest; /* queue of packets that wait for it */
    uint32_t moved;            /* packet that it moved last */
    bool begun;
    bool busy, wrote; /* the port; what it did last */
    uint64_t link_free[LINKS];
};

/* What is known of a transfer. */
struct course {
    uint32_t first_packet, packets;
    uint32_t granted, asked, left, written;
    uint32_t sent_at, received_at; /* in the lists of both units */
    uint32_t passed_on;            /* the message that waits for this one to come; NONE: there is none */
    bool waits;                    /* for such a message, or for what is made of it */
};

struct timing {
    const struct pim_estimate_hardware *hardware;
    const struct pim_estimate_message *transfer;
    uint32_t units;
    uint32_t open, granted, held; /* most receives of a unit, packets of a transfer, packets of a sender */
    uint32_t window;              /* most of a list from the oldest on that are known to a unit */
    struct unit *unit;
    uint32_t *of_unit;
    bool *complete; /* of of_unit */
    struct pim_pace *const *pace;
    struct course *course;
    struct packet *packet;
    struct event *heap;
    size_t events, capacity;
    uint64_t made, now, *end;
    bool failed;
};

/* --- events --- */

static bool before(const struct event *a, const struct event *b)
{
    return a->time != b->time ? a->time < b->time : a->number < b->number;
}

static void add_event(struct timing *timing, uint64_t time, enum kind kind, uint32_t subject)
{
    if (timing->events == timing->capacity) {
        size_t capacity = timing->capacity ? 2 * timing->capacity : 1024;
        struct event *grown = realloc(timing->heap, capacity * sizeof *grown);
        if (!grown) {
            timing->failed = true;
            return;
        }
        timing->heap = grown;
        timing->capacity = capacity;
    }
    const struct event event = {time, timing->made++, kind, subject};
    size_t place = timing->events++;
    for (; place > 0 && before(&event, &timing->heap[(place - 1) / 2]); place = (place - 1) / 2)
        timing->heap[place] = timing->heap[(place - 1) / 2];
    timing->heap[place] = event;
}

static struct event take_event(struct timing *timing)
{
    struct event *heap = timing->heap, first = heap[0], last = heap[--timing->events];
    size_t place = 0;
    for (size_t child; (child = 2 * place + 1) < timing->events; place = child) {
        child += child + 1 < timing->events && before(&heap[child + 1], &heap[child]);
        if (!before(&heap[child], &last))
            break;
        heap[place] = heap[child];
    }
    heap[place] = last;
    return first;
}

/* --- the memory port --- */

/* So many bytes of a packet: with the rows that are open on the unit; or as far as nothing is known of them,
 * a packet opens its own, and anew when another came in between. */
static void access_memory(const struct timing *timing, uint32_t index, uint32_t place, uint32_t bytes,
                          uint64_t *free, uint64_t *done)
{
    const struct packet *packet = &timing->packet[place];
    const struct unit *unit = &timing->unit[index];
    const struct pim_estimate_message *message = &timing->transfer[packet->transfer];
    const struct pim_estimate_hardware *hardware = timing->hardware;
    if (timing->pace) {
        pim_pace_access(timing->pace[index], timing->now,
                        (unit->wrote ? message->target : message->source) + packet->offset + packet->moved,
                        bytes, unit->wrote, free, done);
        return;
    }
    *free = timing->now + (unit->moved != place || packet->moved % hardware->row_bytes == 0
                               ? pim_estimate_stream(hardware, bytes, unit->wrote)
                               : pim_estimate_columns(hardware, pim_divide_up(bytes, hardware->port_bytes), 0,
                                                      unit->wrote));
    *done = *free + pim_estimate_latency(hardware);
}

/* The port takes reads and writes by turns. */
static void use_port(struct timing *timing, uint32_t index)
{
    struct unit *unit = &timing->unit[index];
    bool reads = unit->to_read != NONE, writes = unit->to_write != NONE;
    if (unit->busy || (!reads && !writes))
        return;
    unit->wrote = writes && !(reads && unit->wrote);
    const uint32_t place = unit->wrote ? unit->to_write : unit->to_read;
    struct packet *packet = &timing->packet[place];
    const uint32_t bytes =
        (uint32_t)pim_smaller(pim_estimate_turn(timing->hardware), packet->bytes - packet->moved);
    uint64_t free, done;
    access_memory(timing, index, place, bytes, &free, &done);
    unit->busy = true;
    unit->moved = place;
    add_event(timing, free, PORT_FREE, index);
    packet->moved += bytes;
    if (packet->moved < packet->bytes)
        return;
    packet->moved = 0;
    if (unit->wrote)
        unit->to_write = packet->next;
    else
        unit->to_read = NONE;
    add_event(timing, done, unit->wrote ? WRITTEN : READ, place);
}

/* --- the network interface --- */

static uint32_t routers(const struct timing *timing, uint32_t from, uint32_t to)
{
    uint32_t width = timing->hardware->width, x = from % width, y = from / width;
    return 1 + pim_difference(x, to % width) + pim_difference(y, to / width);
}

/* A packet of one flit, which takes no time of the links. */
static void signal_sender(struct timing *timing, uint32_t transfer, enum kind kind)
{
    const struct pim_estimate_message *way = &timing->transfer[transfer];
    add_event(timing,
              timing->now + pim_estimate_zero_load(timing->hardware, routers(timing, way->to, way->from)),
              kind, transfer);
}

static void post_receives(struct timing *timing, uint32_t index)
{
    struct unit *unit = &timing->unit[index];
    unit->receive = (uint32_t)pim_larger(unit->receive, unit->oldest); /* sends, which are done with */
    for (; unit->receive < unit->last && unit->receive - unit->oldest < timing->window &&
           unit->open < timing->open;
         unit->receive++) {
        uint32_t transfer = timing->of_unit[unit->receive];
        if (timing->transfer[transfer].to != index)
            continue;
        unit->open++;
        signal_sender(timing, transfer, ANNOUNCED);
    }
}

/* Asks for the next packet of the send whose turn it is. */
static void try_send(struct timing *timing, uint32_t index)
{
    struct unit *unit = &timing->unit[index];
    while (unit->send < unit->last && timing->transfer[timing->of_unit[unit->send]].from != index)
        unit->send++;
    if (!unit->begun || unit->send == unit->last || unit->send - unit->oldest >= timing->window ||
        unit->to_read != NONE || unit->packets == timing->held)
        return;
    struct course *course = &timing->course[timing->of_unit[unit->send]];
    if (course->waits || course->asked == course->granted || course->asked == course->packets)
        return;
    unit->to_read = course->first_packet + course->asked++;
    unit->packets++;
    unit->send += course->asked == course->packets;
    use_port(timing, index);
}

/* A place of a unit's list is done with: the unit fetches on behind the oldest that is not. */
static void complete(struct timing *timing, uint32_t index, uint32_t place)
{
    struct unit *unit = &timing->unit[index];
    timing->complete[place] = true;
    timing->end[index] = timing->now;
    if (place != unit->oldest)
        return;
    while (unit->oldest < unit->last && timing->complete[unit->oldest])
        unit->oldest++;
    post_receives(timing, index);
    try_send(timing, index);
}

static void receive(struct timing *timing, uint32_t index)
{
    struct packet *packet = &timing->packet[index];
    uint32_t to = timing->transfer[packet->transfer].to;
    struct unit *unit = &timing->unit[to];
    if (unit->to_write == NONE)
        unit->to_write = index;
    else
        timing->packet[unit->newest].next = index;
    unit->newest = index;
    use_port(timing, to);
}

static void written(struct timing *timing, uint32_t transfer)
{
    struct course *course = &timing->course[transfer];
    uint32_t to = timing->transfer[transfer].to;
    course->written++;
    if (timing->granted < course->packets && course->written <= course->packets - timing->granted)
        signal_sender(timing, transfer, GRANTED);
    if (course->written < course->packets)
        return;
    timing->unit[to].open--;
    if (course->passed_on != NONE)
        add_event(timing, timing->now + timing->transfer[course->passed_on].delay, MADE, course->passed_on);
    complete(timing, to, course->received_at);
    post_receives(timing, to);
}

/* --- the network --- */

/* A link serves one packet after another, or, where one alone cannot fill it, several by turns; a sender
 * sends one after another. Returns when the head passes it. */
static uint64_t pass(struct timing *timing, uint32_t unit, unsigned link, uint32_t packet)
{
    uint64_t *free = &timing->unit[unit].link_free[link], begin = pim_larger(*free, timing->now);
    *free = begin + (link == INJECTION ? pim_estimate_worm : pim_estimate_link)(timing->hardware,
                                                                                timing->packet[packet].bytes);
    return begin;
}

/*
 * The tail leaves its sender when so much of the packet has passed the first link. What is in the routers
 * behind the head is at most a buffer each; while the head waits, the rest waits at the sender.
 */
static void follow(struct timing *timing, uint32_t index, uint64_t begin, bool last)
{
    struct packet *packet = &timing->packet[index];
    if (packet->gone)
        return;
    uint64_t cycles = pim_estimate_worm(timing->hardware, packet->bytes),
             buffered = pim_estimate_worm_flits(timing->hardware,
                                                (uint64_t)packet->links * timing->hardware->buffer_flits);
    if (cycles > buffered)
        packet->leaves = pim_larger(packet->leaves, begin + cycles - buffered);
    packet->links++;
    packet->gone = last || cycles <= buffered;
    if (packet->gone)
        add_event(timing, pim_larger(packet->leaves, timing->now), LEFT, index);
}

static void inject(struct timing *timing, uint32_t packet)
{
    uint32_t from = timing->transfer[timing->packet[packet].transfer].from;
    uint64_t begin = pass(timing, from, INJECTION, packet);
    timing->packet[packet].at = from;
    follow(timing, packet, begin, false);
    add_event(timing, begin + pim_estimate_zero_load(timing->hardware, 1), HOP, packet);
}

/* The head is in the router of a unit: along x first. */
static void hop(struct timing *timing, uint32_t index)
{
    struct packet *packet = &timing->packet[index];
    uint32_t width = timing->hardware->width, at = packet->at, to = timing->transfer[packet->transfer].to;
    if (at == to) {
        uint64_t begin = pass(timing, at, EJECTION, index);
        follow(timing, index, begin, true);
        add_event(timing, begin + pim_estimate_tail(timing->hardware, packet->bytes), ARRIVED, index);
        return;
    }
    unsigned link = at % width < to % width ? EAST : at % width > to % width ? WEST : at < to ? SOUTH : NORTH;
    uint64_t begin = pass(timing, at, link, index);
    follow(timing, index, begin, false);
    packet->at = link == EAST ? at + 1 : link == WEST ? at - 1 : link == SOUTH ? at + width : at - width;
    add_event(timing, begin + pim_estimate_hops(timing->hardware, 1), HOP, index);
}

/* --- the whole --- */

static void handle(struct timing *timing, const struct event *event)
{
    uint32_t subject = event->subject;
    bool of_packet = event->kind == READ || event->kind == LEFT || event->kind == WRITTEN;
    uint32_t transfer = of_packet ? timing->packet[subject].transfer : subject;
    switch (event->kind) {
    case BEGIN:
        timing->unit[subject].begun = true;
        post_receives(timing, subject);
        try_send(timing, subject);
        break;
    case ANNOUNCED:
        timing->course[transfer].granted = timing->granted;
        try_send(timing, timing->transfer[transfer].from);
        break;
    case MADE:
        timing->course[transfer].waits = false;
        timing->end[timing->transfer[transfer].from] =
            pim_larger(timing->end[timing->transfer[transfer].from], timing->now);
        try_send(timing, timing->transfer[transfer].from);
        break;
    case GRANTED:
        timing->course[transfer].granted++;
        try_send(timing, timing->transfer[transfer].from);
        break;
    case PORT_FREE:
        timing->unit[subject].busy = false;
        try_send(timing, subject);
        use_port(timing, subject);
        break;
    case READ:
        inject(timing, subject);
        break;
    case HOP:
        hop(timing, subject);
        break;
    case LEFT: {
        uint32_t from = timing->transfer[transfer].from;
        struct course *course = &timing->course[transfer];
        timing->unit[from].packets--;
        if (++course->left == course->packets)
            complete(timing, from, course->sent_at);
        try_send(timing, from);
        break;
    }
    case ARRIVED:
        receive(timing, subject);
        break;
    case WRITTEN:
        written(timing, transfer);
        break;
    }
}

/* A limit of 0 is none. */
static uint32_t no_limit(uint32_t limit)
{
    return limit > 0 ? limit : UINT32_MAX;
}

/* Lists of the units, and packets. */
static bool prepare(struct timing *timing, uint32_t count)
{
    uint64_t packet_bytes = no_limit(timing->hardware->packet_bytes), packets = 0;
    for (uint32_t i = 0; i < count; i++)
        packets += timing->transfer[i].bytes / packet_bytes + 1;
    timing->unit = calloc((size_t)timing->units + 1, sizeof *timing->unit);
    timing->of_unit = calloc(2 * (size_t)count + 1, sizeof *timing->of_unit);
    timing->complete = calloc(2 * (size_t)count + 1, sizeof *timing->complete);
    timing->course = calloc((size_t)count + 1, sizeof *timing->course);
    timing->packet = packets < NONE ? calloc((size_t)packets + 1, sizeof *timing->packet) : NULL;
    if (!timing->unit || !timing->of_unit || !timing->complete || !timing->course || !timing->packet)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        timing->unit[timing->transfer[i].from].last++;
        timing->unit[timing->transfer[i].to].last++;
    }
    for (uint32_t u = 0, place = 0; u < timing->units; u++) {
        struct unit *unit = &timing->unit[u];
        place += unit->last;
        unit->last = unit->send = unit->receive = unit->oldest = place - unit->last;
        unit->to_read = unit->to_write = unit->newest = unit->moved = NONE;
    }
    uint32_t packet = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct pim_estimate_message *transfer = &timing->transfer[i];
        if (transfer->from == transfer->to || transfer->bytes == 0)
            continue;
        const uint64_t after = transfer->after;
        if (after < count && timing->course[after].packets > 0) {
            timing->course[i].waits = true;
            timing->course[after].passed_on = i;
        }
        timing->course[i].passed_on = NONE;
        timing->course[i].first_packet = packet;
        timing->course[i].sent_at = timing->unit[transfer->from].last++;
        timing->course[i].received_at = timing->unit[transfer->to].last++;
        timing->of_unit[timing->course[i].sent_at] = timing->of_unit[timing->course[i].received_at] = i;
        for (uint64_t left = transfer->bytes; left > 0; timing->course[i].packets++) {
            uint32_t bytes = (uint32_t)(left < packet_bytes ? left : packet_bytes);
            timing->packet[packet++] = (struct packet){
                .transfer = i, .bytes = bytes, .offset = transfer->bytes - left, .next = NONE};
            left -= bytes;
        }
    }
    return true;
}

bool pim_estimate_messages(const struct pim_estimate_hardware *hardware,
                           const struct pim_estimate_message *messages, uint32_t count,
                           struct pim_pace *const *pace, const uint64_t *start, uint64_t *end)
{
    struct timing timing = {.hardware = hardware,
                            .transfer = messages,
                            .units = hardware->width * hardware->height,
                            .open = no_limit(hardware->posted_receives),
                            .granted = no_limit(hardware->receive_packets),
                            .held = no_limit(hardware->send_packets),
                            .window = no_limit(hardware->window),
                            .pace = pace,
                            .end = end};
    timing.failed = !prepare(&timing, count);
    for (uint32_t u = 0; u < timing.units && !timing.failed; u++) {
        end[u] = start[u];
        add_event(&timing, start[u], BEGIN, u);
    }
    while (timing.events > 0 && !timing.failed) {
        const struct event event = take_event(&timing);
        timing.now = event.time;
        handle(&timing, &event);
    }
    for (uint32_t u = 0; u < timing.units && !timing.failed; u++) /* in no list units wait in a circle */
        assert(timing.unit[u].oldest == timing.unit[u].last);
    free(timing.unit);
    free(timing.of_unit);
    free(timing.complete);
    free(timing.course);
    free(timing.packet);
    free(timing.heap);
    return !timing.failed;
}

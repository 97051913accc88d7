/* Links and worms: docs/models/estimate.md, "An exchange". */
#include "mappers/estimate/estimate.h"
#include "mappers/estimate/exchange/timing.h"
#include "sim/integer.h"

static uint32_t routers(const struct timing *timing, uint32_t from, uint32_t to)
{
    const uint32_t width = timing->hardware->width, x = from % width, y = from / width;
    return 1 + pim_difference(x, to % width) + pim_difference(y, to / width);
}

/* --- cycles of the network in ticks; of messages alone, rounded up to cycles of the logic --- */

static uint64_t ticks(const struct timing *timing, uint64_t cycles)
{
    return timing->programs ? cycles * timing->network : pim_estimate_network(timing->hardware, cycles);
}

static uint64_t flits_of(const struct timing *timing, uint64_t bytes)
{
    return pim_divide_up(bytes, timing->hardware->flit_bytes);
}

static uint64_t worm(const struct timing *timing, uint64_t flits)
{
    return ticks(timing, pim_machine_worm(&timing->hardware->network, flits));
}

/* One flit through so many routers. */
static uint64_t zero_load(const struct timing *timing, uint64_t count)
{
    const struct pim_machine_network *network = &timing->hardware->network;
    return ticks(timing, (uint64_t)(network->fixed + (int64_t)(count * network->per_router)));
}

/* From the first flit, which has come, to the last. Of messages alone a cycle more, in place of that in which
 * they are handed to the network. */
static uint64_t tail(const struct timing *timing, uint64_t bytes)
{
    const struct pim_machine_network *network = &timing->hardware->network;
    return ticks(timing, pim_machine_worm(network, flits_of(timing, bytes)) - pim_machine_worm(network, 1) +
                             !timing->programs);
}

/* --- links --- */

/* A link serves one packet after another, or, where one alone cannot fill it, several by turns; a sender
 * sends one after another. Returns when the head passes it. */
static uint64_t pass(struct timing *timing, uint32_t unit, unsigned link, uint64_t bytes, uint64_t from)
{
    uint64_t *free = &timing->unit[unit].link_free[link], begin = pim_larger(*free, from);
    const uint64_t flits = flits_of(timing, bytes);
    *free = begin + (link == LINK_INJECTION
                         ? worm(timing, flits)
                         : ticks(timing, pim_machine_passage(&timing->hardware->network, flits)));
    return begin;
}

/* What is handed to the network in one of its cycles leaves in the next one. */
static uint64_t enter(struct timing *timing, uint32_t unit, uint64_t bytes)
{
    const uint64_t cycle = timing->now / timing->network * timing->network;
    return pass(timing, unit, LINK_INJECTION, bytes, timing->programs ? cycle : timing->now);
}

static uint64_t handed(const struct timing *timing)
{
    return timing->programs ? timing->network : 0;
}

void timing_signal(struct timing *timing, uint32_t transfer, enum event_kind kind)
{
    const struct pim_estimate_message *way = &timing->transfer[transfer];
    const uint64_t leaves = timing->programs ? enter(timing, way->to, 1) + handed(timing) : timing->now;
    timing_at(timing, leaves + zero_load(timing, routers(timing, way->to, way->from)), kind, transfer);
}

/*
 * The tail leaves its sender when so much of the packet has passed the first link. What is in the routers
 * behind the head is at most a buffer each; while the head waits, the rest waits at the sender: until all of
 * it has room, which of messages alone is known a router later.
 */
static void follow(struct timing *timing, uint32_t index, uint64_t begin, bool last)
{
    struct packet *packet = &timing->packet[index];
    if (packet->gone)
        return;
    const uint64_t cycles = worm(timing, flits_of(timing, packet->bytes)),
                   buffer = timing->hardware->buffer_flits, behind = worm(timing, packet->links * buffer),
                   room = worm(timing, (packet->links + (uint64_t)timing->programs) * buffer);
    if (cycles > behind)
        packet->leaves = pim_larger(packet->leaves, begin + cycles - behind);
    packet->gone = last || cycles <= room;
    packet->links++;
    if (packet->gone)
        timing_at(timing, pim_larger(packet->leaves, timing->now), EVENT_LEFT, index);
}

void timing_inject(struct timing *timing, uint32_t packet)
{
    const uint32_t from = timing->transfer[timing->packet[packet].transfer].from;
    const uint64_t begin = enter(timing, from, timing->packet[packet].bytes);
    timing->packet[packet].at = from;
    follow(timing, packet, begin, false);
    timing_at(timing, begin + handed(timing) + zero_load(timing, 1), EVENT_HOP, packet);
}

/* The head is in the router of a unit: along x first. */
void timing_hop(struct timing *timing, uint32_t index)
{
    struct packet *packet = &timing->packet[index];
    const uint32_t width = timing->hardware->width, at = packet->at,
                   to = timing->transfer[packet->transfer].to;
    if (at == to) {
        const uint64_t begin = pass(timing, at, LINK_EJECTION, packet->bytes, timing->now);
        follow(timing, index, begin, true);
        timing_at(timing, begin + tail(timing, packet->bytes), EVENT_ARRIVED, index);
        return;
    }
    const unsigned link = at % width < to % width   ? LINK_EAST
                          : at % width > to % width ? LINK_WEST
                          : at < to                 ? LINK_SOUTH
                                                    : LINK_NORTH;
    const uint64_t begin = pass(timing, at, link, packet->bytes, timing->now);
    follow(timing, index, begin, false);
    packet->at = link == LINK_EAST    ? at + 1
                 : link == LINK_WEST  ? at - 1
                 : link == LINK_SOUTH ? at + width
                                      : at - width;
    timing_at(timing, begin + ticks(timing, timing->hardware->network.per_router), EVENT_HOP, index);
}

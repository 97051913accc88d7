/* Links and worms: docs/models/estimate.md, "An exchange". */
#include "mappers/estimate/estimate.h"
#include "mappers/estimate/exchange/timing.h"
#include "sim/integer.h"

static uint32_t router_of(const struct timing *timing, uint32_t unit)
{
    return pim_machine_router(&timing->grid, unit);
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

/* So many flits over a link of a unit's router: each kind as wide as it is; of messages alone as wide as the
 * narrowest. */
static uint64_t passage(const struct timing *timing, enum pim_machine_link link, uint64_t flits)
{
    const struct pim_machine_network *network = &timing->hardware->network;
    return ticks(timing, timing->programs ? pim_machine_hold(network, link == PIM_MACHINE_UNIT, flits)
                                          : pim_machine_passage(network, flits));
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

/* The next router that a packet makes for: that of its unit, or the one by which it goes. */
static struct leg leg_to(const struct timing *timing, uint32_t from, uint32_t to, uint64_t number)
{
    const uint32_t goal = router_of(timing, to);
    return (struct leg){.at = router_of(timing, from),
                        .via = timing->hardware->network.detours ? pim_machine_via(&timing->grid, number)
                                                                 : goal};
}

/* The next link of a way to a unit. */
static enum pim_machine_link next_link(const struct timing *timing, struct leg *leg, uint32_t to)
{
    if (leg->at == leg->via)
        leg->via = router_of(timing, to);
    return pim_machine_towards(&timing->grid, leg->at, leg->via);
}

/* When it is free. */
static uint64_t *link_free(struct timing *timing, const struct leg *leg, enum pim_machine_link link,
                           uint32_t to)
{
    return link == PIM_MACHINE_UNIT ? &timing->unit[to].arrival_free
                                    : &timing->link_free[(size_t)leg->at * PIM_MACHINE_UNIT + link];
}

/* A link serves one packet after another, or, where one alone cannot fill it, several by turns; a sender
 * sends one after another. Returns when the head passes it. */
static uint64_t pass(uint64_t *free, uint64_t cycles, uint64_t from)
{
    const uint64_t begin = pim_larger(*free, from);
    *free = begin + cycles;
    return begin;
}

/* What is handed to the network in one of its cycles leaves in the next one. */
static uint64_t enter(struct timing *timing, uint32_t unit, uint64_t bytes)
{
    const uint64_t cycle = timing->now / timing->network * timing->network;
    return pass(&timing->unit[unit].injection_free, worm(timing, flits_of(timing, bytes)),
                timing->programs ? cycle : timing->now);
}

static uint64_t handed(const struct timing *timing)
{
    return timing->programs ? timing->network : 0;
}

void timing_signal(struct timing *timing, uint32_t transfer, enum event_kind kind)
{
    const struct pim_estimate_message *way = &timing->transfer[transfer];
    if (!timing->programs) {
        const uint32_t routers =
            pim_machine_routers(&timing->hardware->network, &timing->grid, router_of(timing, way->to),
                                router_of(timing, way->from));
        timing_at(timing, timing->now + zero_load(timing, routers), kind, transfer);
        return;
    }
    timing->signal[timing->signals] =
        (struct signal){.transfer = transfer,
                        .leg = leg_to(timing, way->to, way->from, ~(uint64_t)timing->signals),
                        .kind = kind};
    timing_at(timing, enter(timing, way->to, 1) + handed(timing) + zero_load(timing, 1), EVENT_SIGNAL,
              timing->signals++);
}

/* A flit takes its turn among those of the packets that pass a link of that kind. Returns when it passes. */
static uint64_t take_turn(const struct timing *timing, enum pim_machine_link link, uint64_t *free)
{
    const uint64_t flit = passage(timing, link, 1), busy = pim_larger(*free, timing->now);
    if (timing->hardware->network.ideal)
        return timing->now;
    *free = busy + flit;
    return pim_smaller(busy, timing->now + flit);
}

void timing_signal_hop(struct timing *timing, uint32_t index)
{
    struct signal *signal = &timing->signal[index];
    const uint32_t to = timing->transfer[signal->transfer].from;
    const enum pim_machine_link link = next_link(timing, &signal->leg, to);
    const uint64_t begin = take_turn(timing, link, link_free(timing, &signal->leg, link, to));
    if (link == PIM_MACHINE_UNIT) {
        timing_at(timing, begin, signal->kind, signal->transfer);
        return;
    }
    signal->leg.at = pim_machine_behind(&timing->grid, signal->leg.at, link);
    timing_at(timing, begin + ticks(timing, timing->hardware->network.per_router), EVENT_SIGNAL, index);
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
                   buffer = timing->hardware->buffer_flits, stands = worm(timing, packet->links * buffer),
                   room = worm(timing, (packet->links + (uint64_t)timing->programs) * buffer);
    if (cycles > stands)
        packet->leaves = pim_larger(packet->leaves, begin + cycles - stands);
    packet->gone = last || cycles <= room;
    packet->links++;
    if (packet->gone)
        timing_at(timing, pim_larger(packet->leaves, timing->now), EVENT_LEFT, index);
}

void timing_inject(struct timing *timing, uint32_t packet)
{
    const struct pim_estimate_message *way = &timing->transfer[timing->packet[packet].transfer];
    const uint64_t begin = enter(timing, way->from, timing->packet[packet].bytes);
    timing->packet[packet].leg = leg_to(timing, way->from, way->to, packet);
    follow(timing, packet, begin, false);
    timing_at(timing, begin + handed(timing) + zero_load(timing, 1), EVENT_HOP, packet);
}

void timing_hop(struct timing *timing, uint32_t index)
{
    struct packet *packet = &timing->packet[index];
    const uint32_t to = timing->transfer[packet->transfer].to;
    const enum pim_machine_link link = next_link(timing, &packet->leg, to);
    const uint64_t cycles = passage(timing, link, flits_of(timing, packet->bytes));
    const uint64_t begin = timing->hardware->network.ideal
                               ? timing->now
                               : pass(link_free(timing, &packet->leg, link, to), cycles, timing->now);
    follow(timing, index, begin, link == PIM_MACHINE_UNIT);
    if (link == PIM_MACHINE_UNIT) {
        timing_at(timing, begin + tail(timing, packet->bytes), EVENT_ARRIVED, index);
        return;
    }
    packet->leg.at = pim_machine_behind(&timing->grid, packet->leg.at, link);
    timing_at(timing, begin + ticks(timing, timing->hardware->network.per_router), EVENT_HOP, index);
}

/*
 * The two cheaper fidelities: a packet is three events (its head leaves, its tail leaves, it arrives),
 * whatever its length.
 *
 * 1. A source sends one packet at a time, as fast as its link takes flits.
 * 2. IDEAL: a head spends the zero-load time on every hop.
 * 3. ANALYTIC: in the cycle in which a head leaves its source, every link of its path is reserved in turn:
 *    the head passes at the earliest when the link is free, and holds it for as many cycles as the packet's
 *    flits take. Reservations are made in the order of (cycle in which the head leaves, source).
 */
#include "models/noc/internal.h"

#include <assert.h>
#include <stdlib.h>

/* In the order in which they are handled inside a cycle. */
enum happening { HEAD_LEAVES, TAIL_LEAVES, TAIL_ARRIVES };

struct item {
    uint64_t time, sequence;
    enum happening what;
    uint32_t node, packet;
};

struct source {
    uint32_t queue_front, queue_back;
    uint64_t free; /* first cycle in which it can send another head */
};

enum { LINKS = PIM_NOC_INJECT + 1 };

struct noc_estimate {
    uint64_t origin, sequence;
    struct source *sources;
    uint64_t *link_free;  /* [node][direction]: first cycle in which the link can take a head */
    uint64_t *link_flits; /* [node][direction] */
    struct item *heap;
    size_t count, capacity;
};

static bool before(const struct item *a, const struct item *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    if (a->what != b->what)
        return a->what < b->what;
    return a->node != b->node ? a->node < b->node : a->sequence < b->sequence;
}

static void push(struct noc_estimate *estimate, uint64_t time, enum happening what, uint32_t node,
                 uint32_t packet)
{
    if (estimate->count == estimate->capacity)
        estimate->heap = pim_noc_grow(estimate->heap, &estimate->capacity, sizeof *estimate->heap);
    struct item item = {time, estimate->sequence++, what, node, packet};
    size_t i = estimate->count++;
    for (; i > 0 && before(&item, &estimate->heap[(i - 1) / 2]); i = (i - 1) / 2)
        estimate->heap[i] = estimate->heap[(i - 1) / 2];
    estimate->heap[i] = item;
}

static struct item pop(struct noc_estimate *estimate)
{
    struct item first = estimate->heap[0], item = estimate->heap[--estimate->count];
    size_t i = 0, child;
    while ((child = 2 * i + 1) < estimate->count) {
        if (child + 1 < estimate->count && before(&estimate->heap[child + 1], &estimate->heap[child]))
            child++;
        if (!before(&estimate->heap[child], &item))
            break;
        estimate->heap[i] = estimate->heap[child];
        i = child;
    }
    estimate->heap[i] = item;
    return first;
}

enum pim_status pim_noc_estimate_create(struct pim_noc *noc, struct pim_error *error)
{
    struct noc_estimate *estimate = noc->estimate = calloc(1, sizeof *estimate);
    size_t nodes = (size_t)noc->configuration.width * noc->configuration.height;
    if (!estimate)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for a network on chip");
    estimate->sources = calloc(nodes, sizeof *estimate->sources);
    estimate->link_free = calloc(nodes * LINKS, sizeof *estimate->link_free);
    estimate->link_flits = calloc(nodes * LINKS, sizeof *estimate->link_flits);
    if (!estimate->sources || !estimate->link_free || !estimate->link_flits)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for a network on chip of %u x %u nodes",
                        noc->configuration.width, noc->configuration.height);
    for (size_t i = 0; i < nodes; i++)
        estimate->sources[i].queue_front = NOC_NO_PACKET;
    return PIM_OK;
}

void pim_noc_estimate_destroy(struct noc_estimate *estimate)
{
    if (!estimate)
        return;
    free(estimate->sources);
    free(estimate->link_free);
    free(estimate->link_flits);
    free(estimate->heap);
    free(estimate);
}

void pim_noc_estimate_send(struct pim_noc *noc, uint64_t cycle, uint32_t index)
{
    struct noc_estimate *estimate = noc->estimate;
    struct pim_noc_packet *packet = &noc->packets[index];
    struct source *source = &estimate->sources[packet->source];
    assert(cycle >= estimate->origin);
    estimate->origin = cycle;
    packet->next = NOC_NO_PACKET;
    if (source->queue_front != NOC_NO_PACKET) {
        noc->packets[source->queue_back].next = index;
        source->queue_back = index;
        return;
    }
    source->queue_front = source->queue_back = index;
    push(estimate, cycle > source->free ? cycle : source->free, HEAD_LEAVES, packet->source, index);
}

uint64_t pim_noc_estimate_next(const struct noc_estimate *estimate)
{
    return estimate->count ? estimate->heap[0].time : UINT64_MAX;
}

uint64_t pim_noc_estimate_origin(const struct noc_estimate *estimate)
{
    return estimate->origin;
}

/* The first cycle at or after `time` in which the head can have passed the link, which is then taken for the
 * whole packet. */
static uint64_t pass(struct pim_noc *noc, uint32_t node, enum pim_noc_direction direction, uint64_t time,
                     uint64_t flits)
{
    const struct pim_noc_configuration *configuration = &noc->configuration;
    struct noc_estimate *estimate = noc->estimate;
    size_t link = (size_t)node * LINKS + direction;
    struct pim_noc_bits bits =
        direction < PIM_NOC_EJECT ? configuration->link_bits : configuration->terminal_bits;
    uint64_t head = pim_noc_passage(configuration, bits, 1);
    estimate->link_flits[link] += flits;
    if (configuration->fidelity == PIM_NOC_IDEAL)
        return time + head - 1;
    if (estimate->link_free[link] > time)
        time = estimate->link_free[link];
    estimate->link_free[link] = time + pim_noc_passage(configuration, bits, flits);
    return time + head - 1;
}

/* Cycle in which a head that leaves its source at `time` is consumed. */
static uint64_t travel(struct pim_noc *noc, const struct pim_noc_packet *packet, uint64_t time)
{
    const struct pim_noc_configuration *configuration = &noc->configuration;
    uint32_t node = packet->source, delay = pim_noc_router_delay(configuration);
    time = pass(noc, node, PIM_NOC_INJECT, time, packet->flits) + NOC_INJECTION;
    while (node != packet->destination) {
        uint32_t x = node % configuration->width, y = node / configuration->width;
        enum pim_noc_direction direction = packet->x > x   ? PIM_NOC_EAST
                                           : packet->x < x ? PIM_NOC_WEST
                                           : packet->y > y ? PIM_NOC_SOUTH
                                                           : PIM_NOC_NORTH;
        time = pass(noc, node, direction, time + delay, packet->flits) + configuration->link_latency;
        node = pim_noc_neighbour(configuration, node, direction);
    }
    return pass(noc, node, PIM_NOC_EJECT, time + delay, packet->flits) + 1;
}

static void head_leaves(struct pim_noc *noc, uint32_t node, uint64_t cycle)
{
    struct noc_estimate *estimate = noc->estimate;
    struct source *source = &estimate->sources[node];
    uint32_t index = source->queue_front;
    struct pim_noc_packet *packet = &noc->packets[index];
    source->queue_front = packet->next;
    uint64_t sending = pim_noc_passage(&noc->configuration, noc->configuration.terminal_bits, packet->flits);
    uint32_t hops = pim_noc_hops(&noc->configuration, packet->source, packet->destination);
    source->free = cycle + sending;
    if (source->queue_front != NOC_NO_PACKET)
        push(estimate, source->free, HEAD_LEAVES, node, source->queue_front);
    packet->head_injected = cycle;
    packet->tail_injected =
        cycle + sending - pim_noc_passage(&noc->configuration, noc->configuration.terminal_bits, 1);
    packet->head_arrived = travel(noc, packet, cycle);
    push(estimate, packet->tail_injected, TAIL_LEAVES, node, index);
    push(estimate, packet->head_arrived + pim_noc_tail_distance(&noc->configuration, hops, packet->flits),
         TAIL_ARRIVES, packet->destination, index);
}

void pim_noc_estimate_step(struct pim_noc *noc, uint64_t cycle)
{
    struct noc_estimate *estimate = noc->estimate;
    estimate->origin = cycle + 1;
    while (estimate->count && estimate->heap[0].time == cycle) {
        struct item item = pop(estimate);
        switch (item.what) {
        case HEAD_LEAVES:
            head_leaves(noc, item.node, cycle);
            break;
        case TAIL_LEAVES:
            pim_noc_note_injected(noc, item.packet);
            break;
        case TAIL_ARRIVES:
            pim_noc_note_arrived(noc, item.packet);
            break;
        }
    }
}

uint64_t pim_noc_estimate_link_flits(const struct noc_estimate *estimate, uint32_t node,
                                     enum pim_noc_direction direction)
{
    return estimate->link_flits[(size_t)node * LINKS + direction];
}

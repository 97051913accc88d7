/*
 * The injecting side of a terminal of the general network: for every class of traffic an unlimited queue of
 * packets and one packet under way; one flit a cycle, by the classes in turn (urgent classes: the first one
 * that can).
 *
 * 1. A packet takes the first virtual channel of its class after the one used last that is neither owned nor
 *    full; none: it tries again.
 * 2. Classes that are kinds of messages share the queue and the one used last.
 */
#include "models/noc/bits.h"
#include "models/noc/general/sets/sets.h"
#include "models/noc/general/site.h"

#include <assert.h>

static void take_credits(const struct pim_noc *noc, uint32_t node, uint64_t cycle)
{
    struct noc_general *general = noc->general;
    struct general_terminal *terminal = &general->terminals[node];
    uint16_t *credits = &general->terminal_credits[(size_t)node * general->vcs];
    struct general_queue *queue = &terminal->credits;
    while (queue->first != GENERAL_NONE && general->events[queue->first].time <= cycle) {
        for (uint32_t set = general->events[queue->first].value; set; set &= set - 1) {
            unsigned vc = pim_lowest_bit(set);
            uint32_t bit = UINT32_C(1) << vc;
            credits[vc]++;
            assert(credits[vc] <= general->buffer_flits);
            terminal->nonfull |= bit;
            if (terminal->tail_sent & bit && credits[vc] == general->buffer_flits) {
                terminal->tail_sent &= ~bit;
                terminal->owned &= ~bit;
            }
        }
        pim_noc_general_pop(general, queue);
    }
}

/* The virtual channels that the first packet of a queue may take; there is one. */
static uint32_t open_channels(const struct pim_noc *noc, const struct general_terminal *terminal,
                              const struct general_source *source)
{
    uint32_t allowed = noc->general->packets[source->queue_front].state.injection_vcs;
    return terminal->nonfull & ~terminal->owned &
           pim_noc_injectable(&noc->configuration, allowed, source->last_vc);
}

/* Takes the packet at the front of the queue when it finds a virtual channel. */
static void begin_packet(struct pim_noc *noc, struct general_terminal *terminal,
                         struct general_source *source, uint64_t cycle)
{
    uint32_t candidates = open_channels(noc, terminal, source);
    unsigned vc = pim_noc_first_from(candidates, source->last_vc + 1U);
    struct pim_noc_packet *packet = &noc->packets[source->queue_front];
    source->current = source->queue_front;
    source->queue_front = packet->next;
    source->left = packet->flits;
    source->heading = true;
    source->vc = source->last_vc = (uint8_t)vc;
    terminal->owned |= UINT32_C(1) << vc;
    packet->head_injected = cycle;
}

static void inject_flit(struct pim_noc *noc, uint32_t node, struct general_source *source, uint64_t cycle)
{
    struct noc_general *general = noc->general;
    struct general_terminal *terminal = &general->terminals[node];
    uint32_t bit = UINT32_C(1) << source->vc, index = source->current, input = terminal->input;
    bool tail = --source->left == 0;
    uint32_t value =
        (uint32_t)source->vc << 2 | (source->heading ? GENERAL_HEAD : 0U) | (tail ? GENERAL_TAIL : 0U);
    source->heading = false;
    terminal->flits++;
    if (pim_noc_general_watches(noc, index))
        pim_noc_general_tell(noc, PIM_NOC_INJECTED, cycle, node, 0, source->vc,
                             noc->packets[index].flits - source->left - 1);
    if (--general->terminal_credits[(size_t)node * general->vcs + source->vc] == 0)
        terminal->nonfull &= ~bit;
    uint64_t usable = pim_noc_general_hold(&general->terminal_rate, &terminal->busy, cycle) + NOC_INJECTION;
    if (general->sets) {
        pim_noc_sets_post(general, &general->sets->terminal[node], usable, index, value);
    } else {
        uint32_t router = general->router_of[input];
        pim_noc_general_push(general, &general->inputs[input].arriving, usable, index, value);
        if (general->stamped)
            general->event_stamps[general->inputs[input].arriving.last] = cycle;
        general->routers[router].arriving |= UINT64_C(1) << (input - general->routers[router].first);
        pim_noc_wake(&general->router_wheel, router, usable, cycle);
    }
    if (!tail)
        return;
    noc->packets[index].tail_injected = cycle;
    pim_noc_note_injected(noc, index);
    source->current = NOC_NO_PACKET;
    *(noc->configuration.wait_for_tail_credit ? &terminal->tail_sent : &terminal->owned) ^= bit;
}

/* Whether a flit of the class could be injected if the link were free. */
static bool can_inject(const struct pim_noc *noc, const struct general_terminal *terminal,
                       const struct general_source *source)
{
    if (source->current != NOC_NO_PACKET)
        return terminal->nonfull >> source->vc & 1;
    return source->queue_front != NOC_NO_PACKET && open_channels(noc, terminal, source);
}

bool pim_noc_general_inject(struct pim_noc *noc, uint32_t node, uint64_t cycle)
{
    struct noc_general *general = noc->general;
    struct general_terminal *terminal = &general->terminals[node];
    struct general_source *sources = &general->sources[(size_t)node * general->queues];
    take_credits(noc, node, cycle);
    unsigned class = noc->configuration.urgent_classes ? 0 : terminal->next_class;
    for (unsigned i = 0; i < general->queues && pim_noc_general_open(&terminal->busy, cycle); i++) {
        if (can_inject(noc, terminal, &sources[class])) {
            if (sources[class].current == NOC_NO_PACKET)
                begin_packet(noc, terminal, &sources[class], cycle);
            inject_flit(noc, node, &sources[class], cycle);
            terminal->next_class = (uint8_t)(class + 1 == general->queues ? 0 : class + 1);
            break;
        }
        class = class + 1 == general->queues ? 0 : class + 1;
    }
    bool ready = false, waiting = false;
    for (unsigned i = 0; i < general->queues && !ready; i++) {
        ready = can_inject(noc, terminal, &sources[class]);
        waiting |= sources[class].current != NOC_NO_PACKET || sources[class].queue_front != NOC_NO_PACKET;
        class = class + 1 == general->queues ? 0 : class + 1;
    }
    terminal->starving = waiting && !ready;
    if (ready && pim_noc_general_open(&terminal->busy, cycle + 1))
        return true;
    if (ready)
        pim_noc_wake(&general->terminal_wheel, node, terminal->busy.cycle, cycle);
    else if (waiting && terminal->credits.first != GENERAL_NONE)
        pim_noc_wake(&general->terminal_wheel, node, general->events[terminal->credits.first].time, cycle);
    return false;
}

/*
 * What is under way on the links of the general network, when they are free, and how long they were blocked.
 */
#ifndef PIMSIM_MODELS_NOC_GENERAL_LINKS_H
#define PIMSIM_MODELS_NOC_GENERAL_LINKS_H

#include "models/noc/general/state.h"

/* general.c */
/* The tail of a packet will be consumed by a node's terminal in cycle `due`; `now`: the present one. */
void pim_noc_general_deliver_at(struct pim_noc *noc, uint32_t node, uint32_t packet, uint64_t due,
                                uint64_t now);
void pim_noc_general_push(struct noc_general *general, struct general_queue *queue, uint64_t time,
                          uint32_t packet, uint32_t value);
static inline void pim_noc_general_pop(struct noc_general *general, struct general_queue *queue)
{
    uint32_t event = queue->first;
    queue->first = general->events[event].next;
    general->events[event].next = general->event_free;
    general->event_free = event;
}

/* Whether a flit can begin to use the link in `cycle`. */
static inline bool pim_noc_general_open(const struct general_clock *busy, uint64_t cycle)
{
    return busy->cycle <= cycle;
}

/* A flit that gets the link in `cycle` uses it as soon as it is free. Returns the cycle in which it has
 * passed wholly: `cycle` itself on a link of one flit per cycle that is free. */
static inline uint64_t pim_noc_general_hold(const struct general_rate *rate, struct general_clock *busy,
                                            uint64_t cycle)
{
    if (busy->cycle < cycle)
        *busy = (struct general_clock){cycle, 0};
    busy->cycle += rate->cycles;
    busy->numerator += rate->numerator;
    if (busy->numerator >= rate->denominator) {
        busy->numerator -= rate->denominator;
        busy->cycle++;
    }
    return busy->numerator ? busy->cycle : busy->cycle - 1;
}

/* Blocked cycles of an output that are not counted yet: those from `since` on, before `end`. */
static inline uint64_t pim_noc_general_blocked(const struct noc_general *general, uint32_t node,
                                               uint32_t port, uint64_t end)
{
    const struct general_router *router = &general->routers[node];
    const struct general_clock *busy = &general->outputs[router->first + port].busy;
    uint64_t since = router->since;
    uint64_t idle = busy->cycle + (busy->numerator != 0); /* first cycle in which it passes nothing */
    if (!(router->wanted >> port & 1))
        return 0;
    since = idle > since ? idle : since;
    return end > since ? end - since : 0;
}

/* Counts the cycles before `end` in which links were blocked; outputs that took a flit in the last of them
 * were not. */
static inline void pim_noc_general_count_blocked(struct noc_general *general, uint32_t node, uint64_t end)
{
    struct general_router *router = &general->routers[node];
    uint64_t ports = router->since < end ? router->wanted & ~router->sent : 0;
    for (; ports; ports &= ports - 1) {
        unsigned port = pim_lowest_bit(ports);
        general->outputs[router->first + port].blocked += pim_noc_general_blocked(general, node, port, end);
    }
    router->since = end;
}

#endif

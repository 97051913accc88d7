/*
 * The order of messages that do not depend on each other: list scheduling in rounds. In a round a core
 * sends one message and receives one (one of both when it issues in order); cores with the most messages
 * left choose first. So the cores with the most messages, which end last, do not wait for others.
 */
#include "mappers/pimcomp/latency/messages.h"
#include "mappers/pimcomp/latency/state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define NONE SIZE_MAX

struct pim_ll_order {
    /* of each core */
    size_t *first;      /* message that it has to send: chain through `next` */
    uint32_t *left;     /* messages to send and receive */
    uint32_t *sends;    /* round in which it sent last */
    uint32_t *receives; /* and received */
    uint32_t *source;   /* cores that have messages to send, `sources` of them */
    uint32_t sources;
    uint32_t round; /* never the same twice */
    size_t *next;   /* of each message */
    size_t next_room;
    struct pim_core_staged *ordered; /* two of each message */
    size_t ordered_room;
};

bool pim_ll_order_create(struct pim_ll *ll)
{
    struct pim_ll_order *order = PIM_ARENA_ARRAY(ll->arena, struct pim_ll_order, 1);
    if (!order)
        return false;
    order->first = PIM_ARENA_ARRAY(ll->arena, size_t, ll->cores);
    order->left = PIM_ARENA_ARRAY(ll->arena, uint32_t, ll->cores);
    order->sends = PIM_ARENA_ARRAY(ll->arena, uint32_t, ll->cores);
    order->receives = PIM_ARENA_ARRAY(ll->arena, uint32_t, ll->cores);
    order->source = PIM_ARENA_ARRAY(ll->arena, uint32_t, ll->cores);
    ll->order = order;
    if (!order->first || !order->left || !order->sends || !order->receives || !order->source)
        return false;
    for (uint32_t core = 0; core < ll->cores; core++)
        order->first[core] = NONE;
    return true;
}

void pim_ll_order_destroy(struct pim_ll_order *order)
{
    if (!order)
        return;
    free(order->next);
    free(order->ordered);
}

/* Chains the messages by source, each chain in the order of the messages. */
static void sort_by_source(struct pim_ll_order *order, const struct pim_core_stage *messages)
{
    order->sources = 0;
    for (size_t i = messages->count / 2; i-- > 0;) {
        uint32_t source = messages->staged[2 * i].core, receiver = messages->staged[2 * i + 1].core;
        if (order->first[source] == NONE)
            order->source[order->sources++] = source;
        order->next[i] = order->first[source];
        order->first[source] = i;
        order->left[source]++;
        order->left[receiver]++;
    }
}

static bool before(const struct pim_ll_order *order, uint32_t a, uint32_t b)
{
    return order->left[a] != order->left[b] ? order->left[a] > order->left[b] : a < b;
}

/* The sources with the most messages left first. Insertion: they are nearly sorted from the round before. */
static void sort_sources(struct pim_ll_order *order)
{
    uint32_t remaining = 0;
    for (uint32_t i = 0; i < order->sources; i++) {
        uint32_t source = order->source[i], place = remaining;
        if (order->first[source] == NONE)
            continue;
        for (; place > 0 && before(order, source, order->source[place - 1]); place--)
            order->source[place] = order->source[place - 1];
        order->source[place] = source;
        remaining++;
    }
    order->sources = remaining;
}

/* The core may take part in a message of this round. */
static bool is_free(const struct pim_ll *ll, const struct pim_ll_order *order, uint32_t core, bool sends)
{
    if (ll->in_order)
        return order->sends[core] != order->round && order->receives[core] != order->round;
    return (sends ? order->sends : order->receives)[core] != order->round;
}

/* One round: each source in turn sends its first message whose receiver is free. */
static size_t take_round(struct pim_ll *ll, struct pim_ll_order *order, const struct pim_core_stage *messages,
                         size_t count)
{
    for (uint32_t i = 0; i < order->sources; i++) {
        uint32_t source = order->source[i];
        if (!is_free(ll, order, source, true))
            continue;
        size_t *link = &order->first[source];
        while (*link != NONE && !is_free(ll, order, messages->staged[2 * *link + 1].core, false))
            link = &order->next[*link];
        if (*link == NONE)
            continue;
        const struct pim_core_staged *message = &messages->staged[2 * *link];
        uint32_t receiver = message[1].core;
        order->ordered[count++] = message[0];
        order->ordered[count++] = message[1];
        *link = order->next[*link];
        order->sends[source] = order->receives[receiver] = order->round;
        order->left[source]--;
        order->left[receiver]--;
    }
    return count;
}

void pim_ll_order_messages(struct pim_ll *ll, struct pim_core_stage *messages)
{
    struct pim_ll_order *order = ll->order;
    if (messages->count < 4 || !PIM_LL_GROW(ll, order->next, order->next_room, messages->count) ||
        !PIM_LL_GROW(ll, order->ordered, order->ordered_room, messages->count))
        return;
    sort_by_source(order, messages);
    for (size_t count = 0; count < messages->count;) {
        order->round++;
        sort_sources(order);
        size_t more = take_round(ll, order, messages, count);
        assert(more > count);
        count = more;
    }
    memcpy(messages->staged, order->ordered, messages->count * sizeof *messages->staged);
}

/* Who waits for whom in a network that is stuck. */
#include "models/noc/watchdog.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The part of the same packet upstream: it writes into this virtual channel. */
static int upstream(const struct pim_noc_waiting *items, size_t count, size_t index)
{
    const struct pim_noc_waiting *item = &items[index];
    for (size_t i = 0; i < count; i++)
        if (i != index && items[i].packet == item->packet && items[i].ahead == item->place &&
            items[i].ahead_channel == item->virtual_channel)
            return (int)i;
    return PIM_NOC_WAITS_FOR_NOBODY;
}

/* The packet at the front of the input behind the output, in `channel` or (UINT32_MAX) any. */
static int downstream(const struct pim_noc_waiting *items, size_t count, size_t index, uint32_t channel)
{
    const struct pim_noc_waiting *item = &items[index];
    if (item->ahead == UINT32_MAX)
        return PIM_NOC_WAITS_FOR_TERMINAL;
    for (size_t i = 0; i < count; i++)
        if (items[i].place == item->ahead && (channel == UINT32_MAX || items[i].virtual_channel == channel))
            return (int)i;
    return PIM_NOC_WAITS_FOR_NOBODY;
}

/* A packet of the same router that has a virtual channel of the same output. */
static int owner(const struct pim_noc_waiting *items, size_t count, size_t index)
{
    const struct pim_noc_waiting *item = &items[index];
    for (size_t i = 0; i < count; i++)
        if (i != index && items[i].node == item->node && items[i].ahead == item->ahead &&
            items[i].output == item->output && items[i].ahead_channel != UINT32_MAX)
            return (int)i;
    return downstream(items, count, index, UINT32_MAX);
}

int pim_noc_waits_for(const struct pim_noc_waiting *items, size_t count, size_t index)
{
    switch (items[index].lack) {
    case PIM_NOC_LACKS_FLIT:
        return upstream(items, count, index);
    case PIM_NOC_LACKS_CHANNEL:
        return owner(items, count, index);
    case PIM_NOC_LACKS_CREDIT:
        return downstream(items, count, index, items[index].ahead_channel);
    case PIM_NOC_LACKS_NOTHING:
        break;
    }
    return PIM_NOC_WAITS_FOR_NOBODY;
}

size_t pim_noc_find_circle(const struct pim_noc_waiting *items, size_t count, size_t *circle)
{
    size_t *walk = calloc(count + 1, sizeof *walk); /* the walk in which an item was met first; 0: none */
    size_t length = 0;
    for (size_t start = 0; walk && start < count && length == 0; start++) {
        int at = (int)start;
        while (at >= 0 && walk[at] == 0) {
            walk[at] = start + 1;
            at = pim_noc_waits_for(items, count, (size_t)at);
        }
        if (at < 0 || walk[at] != start + 1)
            continue;
        int first = at;
        do {
            circle[length++] = (size_t)at;
            at = pim_noc_waits_for(items, count, (size_t)at);
        } while (at != first);
    }
    free(walk);
    return length;
}

struct pim_noc_waiting_text pim_noc_describe_waiting(const struct pim_noc_waiting *item)
{
    static const char *const names[] = {"east", "west", "south", "north", "eject", "inject", "express"};
    struct pim_noc_waiting_text text;
    char channel[40] = "", ahead[40] = "";
    if (item->virtual_channel != UINT32_MAX)
        (void)snprintf(channel, sizeof channel, " virtual channel %" PRIu32, item->virtual_channel);
    if (item->ahead_channel != UINT32_MAX && item->ahead != UINT32_MAX)
        (void)snprintf(ahead, sizeof ahead, " virtual channel %" PRIu32, item->ahead_channel);
    (void)snprintf(text.text, sizeof text.text,
                   "router %" PRIu32 " input %s%s: packet %" PRIu64 " from %" PRIu32 " to %" PRIu32
                   " wants %s%s: %s",
                   item->node, names[item->input], channel, item->packet, item->source, item->destination,
                   names[item->output], ahead, item->reason);
    return text;
}

/* Appends a line while there is room. */
static void append(char *text, size_t size, const char *line)
{
    size_t used = strlen(text);
    (void)snprintf(text + used, size - used, "\n  %s", line);
}

enum pim_status pim_noc_report_stuck(const struct pim_noc *noc, struct pim_error *error)
{
    enum { MOST = 8 }; /* lines, so that what is behind them fits into the text of an error */
    struct pim_noc_statistics statistics;
    pim_noc_get_statistics(noc, &statistics);
    size_t count = pim_noc_get_waiting(noc, NULL, 0);
    struct pim_noc_waiting *items = calloc(count + 1, sizeof *items);
    size_t *circle = calloc(count + 1, sizeof *circle);
    char lines[(MOST + 1) * sizeof(struct pim_noc_waiting_text)] = "";
    size_t length = 0;
    if (items && circle) {
        (void)pim_noc_get_waiting(noc, items, count);
        length = pim_noc_find_circle(items, count, circle);
        const size_t waiting = length ? length : count;
        for (size_t i = 0; i < waiting && i < MOST; i++)
            append(lines, sizeof lines, pim_noc_describe_waiting(&items[length ? circle[i] : i]).text);
        char more[40];
        (void)snprintf(more, sizeof more, "and %zu more", waiting > MOST ? waiting - MOST : 0);
        if (waiting > MOST)
            append(lines, sizeof lines, more);
    }
    uint64_t left = statistics.packets_sent - statistics.packets_delivered;
    if (length)
        (void)pim_fail(error, PIM_DEADLOCK,
                       "%" PRIu64
                       " packets are left that nothing can move; a circle of %zu of them, each waiting for "
                       "the next:%s",
                       left, length, lines);
    else
        (void)pim_fail(error, PIM_DEADLOCK, "%" PRIu64 " packets are left that nothing can move:%s", left,
                       lines);
    free(items);
    free(circle);
    return PIM_DEADLOCK;
}

/* Flits that have been put on a link, over all links. */
static uint64_t moved(const struct pim_noc *noc)
{
    uint64_t flits = 0;
    uint32_t nodes = pim_noc_nodes(pim_noc_configuration(noc));
    for (uint32_t node = 0; node < nodes; node++)
        flits += pim_noc_link_flits(noc, node, PIM_NOC_INJECT) + pim_noc_link_flits(noc, node, PIM_NOC_EJECT);
    size_t links = pim_noc_link_count(noc);
    for (size_t i = 0; i < links; i++) {
        struct pim_noc_link_use link;
        pim_noc_get_link(noc, i, &link);
        flits += link.flits;
    }
    return flits;
}

enum pim_status pim_noc_watch(struct pim_noc_watchdog *watchdog, const struct pim_noc *noc, uint64_t cycle,
                              struct pim_error *error)
{
    if (pim_noc_next_cycle(noc) == UINT64_MAX && !pim_noc_idle(noc))
        return pim_noc_report_stuck(noc, error);
    if (!pim_noc_configuration(noc)->step_every_cycle || cycle - watchdog->checked < PIM_NOC_WATCHDOG_CYCLES)
        return PIM_OK;
    struct pim_noc_statistics statistics;
    pim_noc_get_statistics(noc, &statistics);
    struct pim_noc_watchdog now = {cycle, statistics.packets_delivered, moved(noc), !pim_noc_idle(noc)};
    bool stuck = watchdog->under_way && now.under_way && now.delivered == watchdog->delivered &&
                 now.flits == watchdog->flits;
    *watchdog = now;
    return stuck ? pim_noc_report_stuck(noc, error) : PIM_OK;
}

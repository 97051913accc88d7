/*
 * The order in which flits that win the same output in one cycle (output speedup) are queued behind the
 * crossbar: that of the lists in which the hardware keeps the rows that wait for a stage.
 *
 * In a cycle a row that has been looked at goes to the end of the list that it waits in next, in this order:
 * heads whose route is known; heads that asked for a virtual channel, or whose allocation ends; held
 * switches; rows that asked for the switch. Rows that a flit arrives in come behind all of them at the
 * beginning of the next cycle, by port.
 *
 * 1. Lists are kept only where their order has an influence (`ordered`).
 * 2. A router that is not evaluated changes none of its lists but by heads whose routing or allocation
 *    ends meanwhile.
 */
#include "models/noc/general/site.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static uint16_t *rows_of(const struct general_site *site, enum general_list list)
{
    size_t rows = (size_t)site->router->ports * site->general->vcs;
    return site->general->lists + (size_t)site->router->first * site->general->vcs * GENERAL_LISTS +
           (size_t)list * rows;
}

void pim_noc_general_list(const struct general_site *site, enum general_list list, unsigned row)
{
    assert(site->router->listed[list] < site->router->ports * site->general->vcs);
    rows_of(site, list)[site->router->listed[list]++] = (uint16_t)row;
}

void pim_noc_general_list_head(const struct general_site *site, unsigned row)
{
    const struct noc_general *general = site->general;
    if (site->inputs[general->port_of[row]].routing >> general->vc_of[row] & 1) {
        pim_noc_general_list(site, GENERAL_ROUTE, row);
        return;
    }
    if (site->noc->configuration.speculative)
        pim_noc_general_list(site, GENERAL_SWITCH, row);
    pim_noc_general_list(site, GENERAL_CHANNEL, row);
}

/* The lists of a router before a step, emptied in the router itself. */
struct old_lists {
    uint16_t rows[GENERAL_LISTS][GENERAL_ROW_LIMIT];
    unsigned count[GENERAL_LISTS];
};

static void take_lists(const struct general_site *site, struct old_lists *old)
{
    for (unsigned list = 0; list < GENERAL_LISTS; list++) {
        old->count[list] = site->router->listed[list];
        memcpy(old->rows[list], rows_of(site, (enum general_list)list),
               old->count[list] * sizeof *old->rows[list]);
        site->router->listed[list] = 0;
    }
}

/* Heads whose route is known in the cycle `next` go on to virtual-channel allocation. */
static void pass_routed(const struct general_site *site, const struct old_lists *old, uint64_t next)
{
    for (unsigned i = 0; i < old->count[GENERAL_ROUTE]; i++) {
        unsigned row = old->rows[GENERAL_ROUTE][i];
        if (site->rows[row].ready > next) {
            pim_noc_general_list(site, GENERAL_ROUTE, row);
            continue;
        }
        pim_noc_general_list(site, GENERAL_CHANNEL, row);
        if (site->noc->configuration.speculative)
            pim_noc_general_list(site, GENERAL_SWITCH, row);
    }
}

static bool in(uint32_t set, unsigned vc)
{
    return set >> vc & 1;
}

/* Whether a head has a virtual channel, but not yet in the cycle `next`. */
static bool in_allocation(const struct general_site *site, unsigned row, uint64_t next)
{
    const struct general_input *input = &site->inputs[site->general->port_of[row]];
    return in(input->allocated, site->general->vc_of[row]) && site->rows[row].ready > next;
}

/* Heads that have their virtual channel in the cycle `next` go on to the switch; one that speculates is there
 * already. */
static void pass_allocated(const struct general_site *site, const struct old_lists *old, uint64_t next)
{
    bool speculative = site->noc->configuration.speculative;
    for (unsigned i = 0; i < old->count[GENERAL_CHANNEL]; i++) {
        unsigned row = old->rows[GENERAL_CHANNEL][i], vc = site->general->vc_of[row];
        bool bids = in(site->inputs[site->general->port_of[row]].bidding, vc);
        if (bids || (!speculative && in_allocation(site, row, next)))
            pim_noc_general_list(site, GENERAL_CHANNEL, row);
        else if (!speculative)
            pim_noc_general_list(site, GENERAL_SWITCH, row);
    }
}

static void append(const struct general_site *site, const struct old_lists *old, enum general_list list)
{
    for (unsigned i = 0; i < old->count[list]; i++)
        pim_noc_general_list(site, list, old->rows[list][i]);
}

/* Whether a row of a list has been through its stage. */
static bool due(const struct general_site *site, enum general_list list)
{
    for (unsigned i = 0; i < site->router->listed[list]; i++) {
        unsigned row = rows_of(site, list)[i];
        uint32_t allocated = site->inputs[site->general->port_of[row]].allocated;
        bool staged = list == GENERAL_ROUTE || in(allocated, site->general->vc_of[row]);
        if (staged && site->rows[row].ready <= site->cycle)
            return true;
    }
    return false;
}

void pim_noc_general_advance(const struct general_site *site)
{
    if (!due(site, GENERAL_ROUTE) && !due(site, GENERAL_CHANNEL))
        return;
    struct old_lists old;
    take_lists(site, &old);
    pass_routed(site, &old, site->cycle);
    pass_allocated(site, &old, site->cycle);
    append(site, &old, GENERAL_SWITCH);
    append(site, &old, GENERAL_HELD);
}

void pim_noc_general_sort(const struct general_site *site)
{
    struct general_scratch *scratch = &site->general->scratch;
    uint16_t position[GENERAL_ROW_LIMIT];
    unsigned next = 0, granted = 0;
    for (unsigned i = 0; i < site->router->listed[GENERAL_HELD]; i++)
        position[rows_of(site, GENERAL_HELD)[i]] = (uint16_t)next++;
    for (unsigned i = 0; i < site->router->listed[GENERAL_SWITCH]; i++)
        position[rows_of(site, GENERAL_SWITCH)[i]] = (uint16_t)next++;
    for (unsigned i = 0; i < scratch->request_count; i++) {
        if (!scratch->requests[i].granted)
            continue;
        struct general_request request = scratch->requests[i];
        unsigned at = granted++;
        for (; at > 0 && position[scratch->requests[at - 1].row] > position[request.row]; at--)
            scratch->requests[at] = scratch->requests[at - 1];
        scratch->requests[at] = request;
    }
    scratch->request_count = granted;
}

/* A row that has been looked at for the switch, or held it. */
static void pass_switch(const struct general_site *site, unsigned row)
{
    const struct noc_general *general = site->general;
    const struct general_input *input = &site->inputs[general->port_of[row]];
    unsigned vc = general->vc_of[row];
    bool speculative = site->noc->configuration.speculative;
    if (site->crossbar[general->crossbar_of[row]].held_vc == vc) {
        pim_noc_general_list(site, GENERAL_HELD, row);
    } else if (in(input->routing, vc)) { /* the next packet's head */
        if (site->noc->configuration.routing_delay > 0) {
            pim_noc_general_list(site, GENERAL_ROUTE, row);
            return;
        }
        if (speculative)
            pim_noc_general_list(site, GENERAL_SWITCH, row);
        pim_noc_general_list(site, GENERAL_CHANNEL, row);
    } else if ((in(input->active, vc) && in(input->filled, vc)) ||
               (speculative && (in(input->bidding, vc) || in(input->allocated, vc)))) {
        pim_noc_general_list(site, GENERAL_SWITCH, row);
    }
}

void pim_noc_general_update(const struct general_site *site)
{
    struct old_lists old;
    take_lists(site, &old);
    pass_routed(site, &old, site->cycle + 1);
    pass_allocated(site, &old, site->cycle + 1);
    for (unsigned i = 0; i < old.count[GENERAL_HELD]; i++)
        pass_switch(site, old.rows[GENERAL_HELD][i]);
    for (unsigned i = 0; i < old.count[GENERAL_SWITCH]; i++)
        pass_switch(site, old.rows[GENERAL_SWITCH][i]);
}

/*
 * Priorities of flits, which go before the arbiters: what follows from the packet, from the buffer, or from a
 * stamp that a flit carries.
 *
 * 1. A row that has been granted nothing keeps its priority until a flit arrives in it or leaves it.
 */
#include "models/noc/general/site.h"

static uint64_t *stamps_of(const struct general_site *site, unsigned row)
{
    const struct noc_general *general = site->general;
    return general->flit_stamps + ((size_t)site->router->first * general->vcs + row) * general->buffer_flits;
}

void pim_noc_general_stamp(const struct general_site *site, unsigned row, const struct general_event *event)
{
    const struct noc_general *general = site->general;
    unsigned at = site->rows[row].first_stamp + site->rows[row].count;
    at = at >= general->buffer_flits ? at - general->buffer_flits : at;
    bool local = site->noc->configuration.priority == PIM_NOC_LOCAL_AGE;
    stamps_of(site, row)[at] = local ? site->cycle : general->event_stamps[event - general->events];
}

uint64_t pim_noc_general_first_stamp(const struct general_site *site, unsigned row)
{
    return stamps_of(site, row)[site->rows[row].first_stamp];
}

int64_t pim_noc_general_priority(const struct general_site *site, unsigned row)
{
    const struct general_row *state = &site->rows[row];
    switch (site->noc->configuration.priority) {
    case PIM_NOC_PACKET_AGE:
        return -(int64_t)site->noc->packets[state->front].created;
    case PIM_NOC_NETWORK_AGE:
    case PIM_NOC_LOCAL_AGE:
        return -(int64_t)pim_noc_general_first_stamp(site, row);
    case PIM_NOC_HOP_COUNT:
        return state->hops;
    case PIM_NOC_QUEUE_LENGTH:
        return state->count;
    case PIM_NOC_SEQUENCE:
        return -(int64_t)site->general->packets[state->front].of_source;
    case PIM_NOC_NO_PRIORITY:
    case PIM_NOC_PRIORITIES:
        break;
    }
    return 0;
}

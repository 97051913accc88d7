/*
 * Asks for the memory of routers that will be evaluated soon, in networks that are larger than the caches
 * that are near, as mesh/prefetch.h does for the fast mesh. No influence on any result.
 */
#ifndef PIMSIM_MODELS_NOC_GENERAL_SETS_PREFETCH_H
#define PIMSIM_MODELS_NOC_GENERAL_SETS_PREFETCH_H

#include "models/noc/general/sets/switch.h"

/* What every evaluation uses. */
static PIM_ALWAYS_INLINE void prefetch_router(const struct noc_general *general, uint32_t node,
                                              uint64_t cycle)
{
    struct sets_router *router = pim_noc_sets_router(general->sets, node);
    PIM_PREFETCH(pim_noc_sets_slot(general->sets, (char *)router + general->sets->slot_offset, cycle));
    PIM_PREFETCH(&general->routers[node]);
    PIM_PREFETCH(router);
    PIM_PREFETCH((const char *)router + PIM_LINE);
    PIM_PREFETCH(&router->word[0].tail_sent);
}

/* A row of an input, and what a flit of it uses of its port. */
static PIM_ALWAYS_INLINE void prefetch_row(const struct sets_site *site, unsigned row)
{
    PIM_PREFETCH(&inputs_of(site)[row]);
    PIM_PREFETCH(&site->port[row >> site->kind.shift].credits);
}

/* The rows of flits and credits that arrive (the first ones of their ports), and of up to two packets that
 * have a virtual channel; the ports. */
static PIM_ALWAYS_INLINE void prefetch_rows(const struct sets_site *site)
{
    struct sets_slot *slot = pim_noc_sets_slot(site->sets, site->router->slots, site->cycle);
    PIM_PREFETCH((char *)slot + PIM_LINE);
    for (uint64_t ports = slot->flits; ports; ports &= ports - 1)
        prefetch_row(site, pim_lowest_bit(ports) << site->kind.shift);
    for (uint64_t ports = slot->credits; ports; ports &= ports - 1)
        PIM_PREFETCH(&outputs_of(site)[pim_lowest_bit(ports) << site->kind.shift]);
    uint64_t rows = site->router->word[0].active;
    for (unsigned i = 0; rows && i < 2; i++, rows &= rows - 1)
        prefetch_row(site, pim_lowest_bit(rows));
    for (unsigned port = 0; port < site->router->ports; port++) {
        PIM_PREFETCH(&site->port[port]);
        PIM_PREFETCH(&site->out[port]);
    }
}

/* For the two routers that are evaluated next: what every evaluation uses for the second one, the rows for
 * the first one, whose state is near by then. */
static PIM_ALWAYS_INLINE void prefetch_next(struct pim_noc *noc, struct sets_kind kind,
                                            const struct pim_noc_visit *visit, uint64_t cycle)
{
    uint64_t later = visit->units & (visit->units - 1), last = later & (later - 1);
    if (later) {
        struct sets_site site = site_of(noc, kind, visit->word * 64 + pim_lowest_bit(later), cycle);
        prefetch_rows(&site);
    }
    if (last) {
        prefetch_router(noc->general, visit->word * 64 + pim_lowest_bit(last), cycle);
    } else if (visit->touched) { /* the first ones of the next word */
        uint32_t word = (visit->group - 1) * 64 + pim_lowest_bit(visit->touched);
        uint64_t units = visit->spoke.sets[word];
        units &= later ? UINT64_MAX : units - 1;
        if (units)
            prefetch_router(noc->general, word * 64 + pim_lowest_bit(units), cycle);
    }
}

#endif

/*
 * The heads of packets in a router: the time that their route takes, and VC
 * allocation.
 *
 * 1. Who gets a virtual channel in a cycle follows from the state at the end of
 * the cycle before: a head that arrives asks a cycle later, and when tails free
 * their virtual channels at once, no credit does. So the usual kinds
 * (in_advance()) allocate at the end of the cycle before, right when the heads
 * that have just arrived are written into their buffers. There `bidding` are
 * the heads that ask for a virtual channel of the next cycle, `routing` those
 * that will ask a cycle later, having come to the front behind a tail, and
 * `allocated` those that got one, which they have from the next cycle on.
 * Nobody can tell the difference. (With step_every_cycle the order is that of
 * the rules.)
 */
#ifndef PIMSIM_MODELS_NOC_MESH_HEADS_H
#define PIMSIM_MODELS_NOC_MESH_HEADS_H

#include "models/noc/mesh/allocators.h"
#include "models/noc/mesh/buffers.h"

/* Routing and VC allocation that have taken their time. */
static PIM_ALWAYS_INLINE void advance_stages(const struct noc_site *site, struct noc_outcome *outcome,
                                             struct noc_kind kind)
{
    for (unsigned word = 0; word < kind.words; word++) {
        struct noc_sets *sets = &site->router->sets[word];
        uint64_t under_way = sets->routing | sets->queued | sets->allocated;
        outcome->noisy |= under_way != 0;
        if (in_advance(kind)) { /* what came to the front in the last cycle asks at the end of this one */
            sets->bidding |= sets->routing;
            sets->routing = 0;
            continue;
        }
        if (kind.plain) { /* before the arrivals of this cycle: what was being
                         routed bids */
            sets->bidding |= sets->routing;
            sets->routing = sets->queued;
            sets->queued = 0;
            continue;
        }
        for (; under_way; under_way &= under_way - 1) {
            unsigned row = word * 64 + pim_lowest_bit(under_way);
            if (site->mesh->ready[ready_of(site, row)] > site->cycle)
                continue;
            *(sets->routing & bit_of(row) ? &sets->bidding : &sets->active) |= bit_of(row);
            sets->routing &= ~bit_of(row);
            sets->allocated &= ~bit_of(row);
        }
    }
}

/* A head gets a virtual channel downstream. */
static PIM_ALWAYS_INLINE void take_virtual_channel(const struct noc_site *site, struct noc_kind kind,
                                                   struct noc_match match)
{
    struct noc_sets *sets = sets_of(site, kind, match.row), *outputs = sets_of(site, kind, match.output);
    uint64_t bit = bit_of(match.row), output_bit = bit_of(match.output);
    input_of(site, kind, match.row)->output = match.output;
    site->router->outputs[match.output].owner = match.row;
    outputs->free &= ~output_bit;
    sets->bidding &= ~bit;
    sets->credited |= (outputs->nonfull >> match.output % 64 & 1) << match.row % 64;
    if (!in_advance(kind) && (kind.plain || site->noc->configuration.vc_allocation_delay == 1)) {
        sets->active |= bit;
        return;
    }
    sets->allocated |= bit;
    if (!in_advance(kind))
        site->mesh->ready[ready_of(site, match.row)] =
            site->cycle + site->noc->configuration.vc_allocation_delay;
}

/* Several heads ask for virtual channels of one output port. Returns whether one can have any. */
static PIM_NOINLINE bool match_heads(struct noc_site site, struct noc_kind kind, struct noc_heads heads,
                                     struct noc_rows rows)
{
    uint8_t asking[NOC_ROWS_LIMIT] = {0};
    unsigned count = 0;
    for (unsigned word = 0; word < kind.words; word++)
        for (uint64_t set = rows.words[word]; set; set &= set - 1) {
            unsigned row = word * 64 + pim_lowest_bit(set);
            asking[count] = (uint8_t)row;
            count += allowed_of(&site, kind, row, heads.free) != 0;
        }
    if (count == 0)
        return false;
    struct noc_match matches[PIM_NOC_VC_LIMIT];
    count = pim_noc_match_heads(&site.noc->configuration, heads, asking, count, matches);
    for (unsigned i = 0; i < count; i++)
        take_virtual_channel(&site, kind, matches[i]);
    return true;
}

static PIM_ALWAYS_INLINE bool only_one(struct noc_kind kind, const struct noc_rows *rows)
{
    uint64_t several = 0, any = 0;
    for (unsigned word = 0; word < kind.words; word++) {
        several |= (rows->words[word] & (rows->words[word] - 1)) | (rows->words[word] ? any : 0);
        any |= rows->words[word];
    }
    return several == 0;
}

/* VC allocation for `outputs`. Each output port is on its own, since a head asks for one port
 * only. */
static PIM_ALWAYS_INLINE void allocate_virtual_channels(const struct noc_site *site,
                                                        struct noc_outcome *outcome, struct noc_kind kind,
                                                        unsigned outputs)
{
    struct noc_rows bidding = bidding_rows(site, kind);
    for (; outputs; outputs &= outputs - 1) {
        struct noc_rows rows = {{0}};
        unsigned output = pim_lowest_bit(outputs), first = row_of(site, kind, output, 0);
        rows_to(site, kind, &bidding, output, &rows);
        uint32_t free = port_part(site, sets_of(site, kind, first)->free, first);
        if (PIM_UNLIKELY(!free || (kind.routed && !any_row(kind, &rows))))
            continue;
        struct noc_heads heads = {input_of(site, kind, 0),
                                  site->router->outputs,
                                  site->mesh->next_row,
                                  kind.routed ? &site->mesh->allowed[ready_of(site, 0)] : NULL,
                                  output,
                                  shift_of(site, kind),
                                  free};
        if (PIM_UNLIKELY(!only_one(kind, &rows))) {
            outcome->noisy |= match_heads(*site, kind, heads, rows);
            continue;
        }
        unsigned row = first_row_from(kind, &rows, 0);
        heads.free = allowed_of(site, kind, row, free);
        if (kind.routed && !heads.free)
            continue;
        outcome->noisy = true;
        take_virtual_channel(site, kind, pim_noc_match_head(&heads, row));
    }
}

/* VC allocation of this cycle. */
static PIM_ALWAYS_INLINE void serve_heads(const struct noc_site *site, struct noc_outcome *outcome,
                                          struct noc_kind kind)
{
    struct noc_rows bidding = bidding_rows(site, kind);
    if (any_row(kind, &bidding))
        allocate_virtual_channels(site, outcome, kind, outputs_of(site, kind, &bidding));
}

/* The heads that arrive in this cycle, and VC allocation of the next one. */
static PIM_ALWAYS_INLINE void serve_heads_in_advance(const struct noc_site *site, struct noc_outcome *outcome,
                                                     struct noc_kind kind)
{
    struct noc_rows bidding = bidding_rows(site, kind);
    if (any_row(kind, &bidding))
        outcome->asked |= outputs_of(site, kind, &bidding);
    for (unsigned heads = site->slot->head_ports; heads; heads &= heads - 1)
        write_change(site, outcome, kind, pim_lowest_bit(heads));
    allocate_virtual_channels(site, outcome, kind, outcome->asked);
}

#endif

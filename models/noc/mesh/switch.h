/*
 * Switch allocation of a router: what the crossbar inputs ask for, who wins,
 * and who keeps the switch (hold_switch_for_packet).
 */
#ifndef PIMSIM_MODELS_NOC_MESH_SWITCH_H
#define PIMSIM_MODELS_NOC_MESH_SWITCH_H

#include "models/noc/mesh/allocators.h"
#include "models/noc/mesh/evaluation.h"

#include <string.h>

static PIM_ALWAYS_INLINE unsigned crossbar_of(const struct noc_site *site, struct noc_kind kind, unsigned row)
{
    unsigned speedup = site->noc->configuration.input_speedup;
    return port_of(site, kind, row) * speedup + vc_of(site, kind, row) % speedup;
}

/* What wins the switch in a cycle, by output port. */
struct winners {
    unsigned outputs;
    uint8_t rows[NOC_PORTS]; /* the row of the inputs that sends; from
                              allocate_plain(): its port */
    struct noc_rows ready;   /* allocate_plain() */
};

/* Rows with a virtual channel downstream, a flit and a credit. */
static PIM_ALWAYS_INLINE void ready_rows(const struct noc_site *site, struct noc_kind kind,
                                         struct noc_rows *ready)
{
    for (unsigned word = 0; word < kind.words; word++) {
        const struct noc_sets *sets = &site->router->sets[word];
        ready->words[word] = sets->active & sets->filled & sets->credited;
    }
}

/* At most one row is ready: it wins its output. `ready`: the only word of the set. */
static PIM_ALWAYS_INLINE void allocate_single(const struct noc_site *site, struct noc_kind kind,
                                              uint64_t ready, struct winners *winners)
{
    winners->outputs = 0;
    if (ready == 0)
        return;
    unsigned row = pim_lowest_bit(ready);
    unsigned output = port_of(site, kind, input_of(site, kind, row)->output);
    winners->outputs = 1U << output;
    winners->rows[output] = (uint8_t)port_of(site, kind, row);
}

/*
 * Switch allocation when every port has one crossbar input and islip makes one
 * iteration: every output offers itself to the first input at or after its
 * pointer that wants it; every input accepts the first offer.
 */
static PIM_ALWAYS_INLINE void allocate_plain(const struct noc_site *site, struct noc_kind kind,
                                             struct winners *winners)
{
    const struct noc_switch *arbiter = &site->router->arbiter;
    unsigned offered = 0, several = 0; /* inputs */
    uint64_t ready = 0;
    ready_rows(site, kind, &winners->ready);
    for (unsigned word = 0; word < kind.words; word++)
        ready |= winners->ready.words[word];
    if (kind.words == 1 && (ready & (ready - 1)) == 0) {
        allocate_single(site, kind, ready, winners);
        return;
    }
    winners->outputs = outputs_of(site, kind, &winners->ready);
    for (unsigned outputs = winners->outputs; outputs; outputs &= outputs - 1) {
        unsigned output = pim_lowest_bit(outputs);
        struct noc_rows members;
        rows_to(site, kind, &winners->ready, output, &members);
        unsigned pointer = row_of(site, kind, arbiter->grant[output], 0);
        unsigned port = port_of(site, kind, first_row_from(kind, &members, pointer));
        winners->rows[output] = (uint8_t)port;
        several |= offered & 1U << port;
        offered |= 1U << port;
    }
    for (; PIM_UNLIKELY(several); several &= several - 1) {
        unsigned port = pim_lowest_bit(several), offers = 0;
        for (unsigned outputs = winners->outputs; outputs; outputs &= outputs - 1)
            offers |= (unsigned)(winners->rows[pim_lowest_bit(outputs)] == port) << pim_lowest_bit(outputs);
        winners->outputs &= ~offers | 1U << pim_noc_first_from(offers, arbiter->crossbar[port].accept);
    }
}

/* The row that wins `output`: of those of its input that want it, the first at
 * or after the input's pointer. Pointers move. (Rows of this input have not
 * changed in this cycle: it wins once.) */
static PIM_ALWAYS_INLINE unsigned plain_winner(const struct noc_site *site, struct noc_kind kind,
                                               const struct winners *winners, unsigned output)
{
    struct noc_switch *arbiter = &site->router->arbiter;
    unsigned port = winners->rows[output], first = row_of(site, kind, port, 0);
    uint64_t ready = winners->ready.words[kind.words == 1 ? 0 : first / 64];
    uint32_t vcs = port_part(site, ready & sets_of(site, kind, first)->to[output], first);
    unsigned row = first + pim_noc_first_from(vcs, arbiter->crossbar[port].vc);
    arbiter->crossbar[port].vc = (uint8_t)vc_of(site, kind, site->mesh->next_row[row]);
    pim_noc_point_switch(arbiter, NOC_PORTS, port, output);
    return row;
}

/*
 * The row asks for its output on behalf of its crossbar input, unless this one
 * or the output is held. Of several rows of one crossbar input that ask for the
 * same output the first at or after the input's pointer asks. `columns` are the
 * outputs that may be asked for, `asked` (by crossbar input) those that are.
 */
static inline void ask(const struct noc_site *site, struct noc_kind kind, unsigned row, unsigned columns,
                       uint8_t *asked, struct noc_requests *requests)
{
    unsigned column = port_of(site, kind, input_of(site, kind, row)->output), vc = vc_of(site, kind, row);
    unsigned crossbar = crossbar_of(site, kind, row);
    const struct noc_switch *arbiter = &site->router->arbiter;
    if (arbiter->held >> crossbar & 1 || !(columns >> column & 1))
        return;
    uint8_t *chosen = &requests->row[crossbar][column];
    if (asked[crossbar] >> column & 1) {
        unsigned pointer = arbiter->crossbar[crossbar].vc, behind = (vc - pointer) % PIM_NOC_VC_LIMIT;
        if ((vc_of(site, kind, *chosen) - pointer) % PIM_NOC_VC_LIMIT < behind)
            return;
    }
    *chosen = (uint8_t)row;
    asked[crossbar] |= (uint8_t)(1U << column);
    requests->wanting[column] |= UINT32_C(1) << crossbar;
    requests->asking |= UINT32_C(1) << crossbar;
}

/* Rows of `word` whose head may bid for the switch while it waits: some virtual
 * channel is free and has a credit. */
static inline uint64_t speculative_bids(const struct noc_site *site, struct noc_kind kind, unsigned word)
{
    uint64_t bids = 0;
    for (uint64_t set = site->router->sets[word].bidding; set; set &= set - 1) {
        unsigned row = word * 64 + pim_lowest_bit(set), first = input_of(site, kind, row)->output;
        const struct noc_sets *sets = sets_of(site, kind, first);
        if (allowed_of(site, kind, row, port_part(site, sets->free & sets->nonfull, first)))
            bids |= set & -set;
    }
    return bids;
}

/* What the crossbar inputs ask of `columns`, the outputs that are not held: on
 * behalf of rows that are ready, then of those that bid speculatively for what
 * their input does not ask for yet. */
static inline void collect_requests(const struct noc_site *site, struct noc_kind kind, unsigned columns,
                                    struct noc_requests *requests)
{
    struct noc_rows ready;
    ready_rows(site, kind, &ready);
    *requests = (struct noc_requests){0};
    for (unsigned word = 0; word < kind.words; word++)
        for (uint64_t set = ready.words[word]; set; set &= set - 1)
            ask(site, kind, word * 64 + pim_lowest_bit(set), columns, requests->normal, requests);
    for (unsigned word = 0; word < kind.words && site->noc->configuration.speculative; word++)
        for (uint64_t set = speculative_bids(site, kind, word); set; set &= set - 1) {
            unsigned row = word * 64 + pim_lowest_bit(set);
            unsigned others = columns & ~(unsigned)requests->normal[crossbar_of(site, kind, row)];
            ask(site, kind, row, others, requests->speculative, requests);
        }
}

/* Switch allocation in all configurations. `sending` are the outputs of those
 * that hold the switch and have a credit; the other ones that hold it lose it.
 * Returns the outputs that were won speculatively. */
static inline unsigned allocate_switch(const struct noc_site *site, struct noc_kind kind,
                                       struct winners *winners)
{
    struct noc_switch *arbiter = &site->router->arbiter;
    struct noc_requests requests;
    uint8_t column_of[NOC_CROSSBAR];
    unsigned columns = pim_noc_all(NOC_PORTS), speculative = 0;
    uint32_t broken = 0;
    winners->outputs = 0;
    for (uint32_t held = arbiter->held; held; held &= held - 1) {
        unsigned crossbar = pim_lowest_bit(held);
        unsigned row =
            row_of(site, kind, crossbar / site->noc->configuration.input_speedup, arbiter->held_vc[crossbar]);
        unsigned column = port_of(site, kind, input_of(site, kind, row)->output);
        columns &= ~(1U << column);
        if (sets_of(site, kind, row)->credited & bit_of(row)) {
            winners->outputs |= 1U << column;
            winners->rows[column] = (uint8_t)row;
        } else {
            broken |= UINT32_C(1) << crossbar;
        }
    }
    collect_requests(site, kind, columns, &requests);
    arbiter->held &= ~broken;
    uint32_t granted =
        requests.asking ? pim_noc_match_switch(&site->noc->configuration, arbiter, &requests, column_of) : 0;
    for (; granted; granted &= granted - 1) {
        unsigned crossbar = pim_lowest_bit(granted), column = column_of[crossbar];
        unsigned row = requests.row[crossbar][column];
        unsigned next = vc_of(site, kind, row) + site->noc->configuration.input_speedup;
        arbiter->crossbar[crossbar].vc = (uint8_t)(next >= site->mesh->vcs ? next - site->mesh->vcs : next);
        winners->outputs |= 1U << column;
        winners->rows[column] = (uint8_t)row;
        speculative |= (unsigned)!(requests.normal[crossbar] >> column & 1) << column;
    }
    return speculative;
}

/* The crossbar input keeps the switch while flits that are not the tail follow.
 */
static inline void hold_switch(const struct noc_site *site, struct noc_kind kind, unsigned row, bool tail)
{
    struct noc_switch *arbiter = &site->router->arbiter;
    unsigned crossbar = crossbar_of(site, kind, row);
    bool hold =
        site->noc->configuration.hold_switch_for_packet && !tail && input_of(site, kind, row)->count > 0;
    arbiter->held = (arbiter->held & ~(UINT32_C(1) << crossbar)) | (uint32_t)hold << crossbar;
    if (hold)
        arbiter->held_vc[crossbar] = (uint8_t)vc_of(site, kind, row);
}

#endif

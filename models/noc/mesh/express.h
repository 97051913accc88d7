/*
 * What a flit does in its three cycles in a router, done at once when nothing disturbs it: a packet of one
 * flit that passes, the head of a run (its routing, VC allocation and switch allocation), and the tail of one
 * (which leaves behind the two flits that are in the buffer).
 *
 * 1. No other flit arrives in the next two cycles: all that could are under way already and would be seen. So
 * the head gets what it asks for in each stage.
 * 2. The router may pass streams meanwhile, from other inputs to other outputs, none of which ends or runs
 * dry in these cycles. They are accounted for, so that the state is that after the three cycles (`since`).
 * 3. Of credits, those of the next cycle are known, and there must be no change. A change in the cycle after
 * that may still come, but no decision depends on it, since every stream has a credit in reserve: it is
 * corrected (router.c: correct_last()) when the router is evaluated in it.
 */
#ifndef PIMSIM_MODELS_NOC_MESH_EXPRESS_H
#define PIMSIM_MODELS_NOC_MESH_EXPRESS_H

#include "models/noc/mesh/allocators.h"
#include "models/noc/mesh/buffers.h"
#include "models/noc/mesh/channels.h"

enum {
    EXPRESS_ONLY = NOC_FLIT | NOC_HEAD | NOC_TAIL | NOC_SHORT,
    EXPRESS_FIRST = NOC_FLIT | NOC_HEAD,
    EXPRESS_LAST = NOC_FLIT | NOC_TAIL,
    EXPRESS_CYCLES = NOC_EXPRESS + 1 /* with the present one */
};

/* The flit and its way. */
struct passage {
    uint32_t packet;
    unsigned kind, port, row; /* EXPRESS_ONLY, ...; where it comes in */
    unsigned output, to;      /* where it leaves: port, row of the outputs */
    uint8_t x, y;             /* destination */
};

static PIM_ALWAYS_INLINE struct passage passage_of(const struct noc_site *site, struct noc_kind kind)
{
    unsigned port = pim_lowest_bit(site->slot->flit_ports), flit = site->slot->flits[port];
    return (struct passage){.packet = site->slot->packets[port],
                            .kind = flit & 0xFF,
                            .port = port,
                            .row = row_of(site, kind, port, flit >> 8),
                            .x = site->slot->x[port],
                            .y = site->slot->y[port]};
}

/* The way of a head. Returns whether it gets a virtual channel with a credit. */
static PIM_ALWAYS_INLINE bool find_way(const struct noc_site *site, struct noc_kind kind,
                                       struct passage *flit)
{
    struct noc_router *router = site->router;
    flit->output =
        kind.routed ? route_packet(site, flit->row, flit->packet) : route(router, flit->x, flit->y);
    unsigned first = row_of(site, kind, flit->output, 0);
    const struct noc_sets *outputs = sets_of(site, kind, first);
    uint32_t free = allowed_of(site, kind, flit->row, port_part(site, outputs->free, first));
    struct noc_heads heads = {input_of(site, kind, 0),
                              router->outputs,
                              site->mesh->next_row,
                              NULL,
                              flit->output,
                              shift_of(site, kind),
                              free};
    if (!free)
        return false;
    flit->to = pim_noc_choose(&heads, flit->row, free);
    return outputs->nonfull >> flit->to % 64 & 1;
}

/* The head wins what it asks for: pointers move, and it uses a credit. */
static PIM_ALWAYS_INLINE void win(const struct noc_site *site, struct noc_kind kind,
                                  const struct passage *flit)
{
    struct noc_router *router = site->router;
    input_of(site, kind, flit->row)->accept = site->mesh->next_row[flit->to];
    router->outputs[flit->to].grant = site->mesh->next_row[flit->row];
    pim_noc_point_switch(&router->arbiter, NOC_PORTS, flit->port, flit->output);
    router->arbiter.crossbar[flit->port].vc = (uint8_t)vc_of(site, kind, site->mesh->next_row[flit->row]);
    if (--router->outputs[flit->to].credits == 0)
        sets_of(site, kind, flit->to)->nonfull &= ~bit_of(flit->to);
    router->link_flits[flit->output]++;
    count_hop(site, kind, flit->packet, flit->output);
}

/* It gets on the channel for the cycle in which it will have won. */
static PIM_ALWAYS_INLINE void depart(const struct noc_site *site, struct noc_kind kind,
                                     const struct passage *flit)
{
    struct noc_mesh *mesh = site->mesh;
    if (flit->output == PIM_NOC_EJECT) {
        uint64_t consumed = site->cycle + NOC_EXPRESS + mesh->timing.ejection;
        if (flit->kind & NOC_HEAD)
            site->noc->packets[flit->packet].head_arrived = consumed;
        if (flit->kind & NOC_TAIL)
            pim_noc_mesh_deliver_at(site->noc, consumed, flit->packet);
        return;
    }
    unsigned port = flit->output ^ 1;
    uint32_t reader = site->router->neighbour[flit->output];
    struct noc_slot *slot = &mesh->express.slots[reader];
    slot->packets[port] = flit->packet;
    slot->x[port] = flit->x;
    slot->y[port] = flit->y;
    pim_noc_post_flit(&mesh->express, reader, port, vc_of(site, kind, flit->to) << 8 | flit->kind);
}

/* A change of the credits of a port that is written in two cycles. */
static PIM_ALWAYS_INLINE void post_express(const struct noc_site *site, unsigned port, unsigned vc, bool once)
{
    struct noc_mesh *mesh = site->mesh;
    uint64_t cycle = site->cycle + NOC_EXPRESS;
    uint32_t set = UINT32_C(1) << vc;
    site->router->credits_changed[port] = (uint32_t)cycle + 1;
    if (port == NOC_TERMINAL) {
        *pim_noc_terminal_slot(mesh, site->node, cycle + NOC_INJECTION_CREDIT) =
            (struct noc_terminal_slot){.credits = set, .changed = 1, .once = once};
        pim_noc_wake(&mesh->terminal_wheel, site->node, cycle + NOC_INJECTION_CREDIT, site->cycle);
        return;
    }
    bool own = port == NOC_EJECTED;
    unsigned output = own ? NOC_TERMINAL : port ^ 1;
    uint64_t time = cycle + mesh->timing.credit_latency[output];
    struct noc_outbox outbox = {pim_noc_slots(mesh, time), pim_noc_spoke_at(&mesh->router_wheel, time)};
    pim_noc_post_credits(&outbox, own ? site->node : site->router->neighbour[port], output, set, once);
}

/* The credit for the flit, which leaves in two cycles: for one, or at the beginning or end of a stream. */
static PIM_ALWAYS_INLINE void return_express(const struct noc_site *site, struct noc_kind kind,
                                             unsigned passed, unsigned port, unsigned vc)
{
    struct noc_activity *carries = &site->router->carries;
    unsigned bit = 1U << port;
    bool done;
    if (kind.brief || passed == EXPRESS_ONLY) {
        done = add_early(site, kind, port, vc, NOC_EXPRESS);
    } else if (passed == EXPRESS_FIRST) {
        done = pim_noc_start_early(site, port, vc, NOC_EXPRESS);
        carries->credit_out_streams |= (uint8_t)bit;
        site->router->credit_out[port] = UINT32_C(1) << vc;
    } else {
        done = pim_noc_stop_early(site, port, vc, NOC_EXPRESS);
        carries->credit_out_streams &= (uint8_t)~bit;
    }
    if (!done)
        post_express(site, port, vc, passed != EXPRESS_FIRST);
}

/* The credits for the flit at the input, and of the terminal that consumes it. */
static PIM_ALWAYS_INLINE void return_both(const struct noc_site *site, struct noc_kind kind,
                                          const struct passage *flit)
{
    return_express(site, kind, flit->kind, flit->port, vc_of(site, kind, flit->row));
    if (flit->output == PIM_NOC_EJECT)
        return_express(site, kind, flit->kind, NOC_EJECTED, vc_of(site, kind, flit->to));
}

/* --- beside streams --- */

/* The stream of a grant goes on in these cycles, without a change of any set: flits and credits are there. */
static inline bool goes_on(const struct noc_site *site, struct noc_kind kind, unsigned row)
{
    const struct noc_activity *carries = &site->router->carries;
    const struct noc_input *input = input_of(site, kind, row);
    unsigned port = port_of(site, kind, row), output = port_of(site, kind, input->output);
    bool fed = carries->flit_streams >> port & 1 && site->router->flit_vc[port] == vc_of(site, kind, row);
    bool credited = carries->credit_streams >> output & 1 &&
                    site->router->credit_in[output] >> vc_of(site, kind, input->output) & 1;
    return (fed || input->count > EXPRESS_CYCLES) &&
           site->router->outputs[input->output].credits >= (credited ? 1 : EXPRESS_CYCLES + 1) &&
           pim_noc_left(site->mesh, site->node, row, input) > EXPRESS_CYCLES;
}

/* The tail that arrives is the end of the stream in its row, and leaves behind the flits in the buffer. */
static inline bool stream_ends(const struct noc_site *site, struct noc_kind kind, struct passage *flit)
{
    const struct noc_router *router = site->router;
    const struct noc_activity *carries = &router->carries;
    const struct noc_input *input = input_of(site, kind, flit->row);
    flit->to = input->output;
    flit->output = port_of(site, kind, flit->to);
    flit->packet = input->front;
    unsigned vc = vc_of(site, kind, flit->to);
    unsigned returned = flit->output == PIM_NOC_EJECT ? NOC_EJECTED : flit->port;
    bool credited = carries->credit_streams >> flit->output & 1 && router->credit_in[flit->output] >> vc & 1;
    return input->count == NOC_EXPRESS && !input->more &&
           pim_noc_left(site->mesh, site->node, flit->row, input) == EXPRESS_CYCLES &&
           router->outputs[flit->to].credits >= (credited ? 1 : EXPRESS_CYCLES + 1) &&
           carries->credit_out_streams >> flit->port & 1 &&
           router->credit_out[flit->port] == UINT32_C(1) << vc_of(site, kind, flit->row) &&
           carries->credit_out_streams >> returned & 1 &&
           (returned == flit->port || router->credit_out[returned] == UINT32_C(1) << vc) &&
           (flit->output == PIM_NOC_EJECT ||
            (carries->flit_out_streams >> flit->output & 1 && router->flit_out_vc[flit->output] == vc));
}

/* The head meets nobody: neither its input nor its output is used, and nothing goes on its channels. */
static inline bool meets_nobody(const struct noc_site *site, struct noc_kind kind, struct passage *flit,
                                unsigned inputs, unsigned outputs)
{
    const struct noc_activity *carries = &site->router->carries;
    if (inputs >> flit->port & 1 || input_of(site, kind, flit->row)->front != NOC_NO_PACKET ||
        carries->credit_out_streams >> flit->port & 1 || !find_way(site, kind, flit))
        return false;
    bool ejected = flit->output == PIM_NOC_EJECT;
    return !(outputs >> flit->output & 1) &&
           !(ejected ? carries->credit_out_streams >> NOC_EJECTED & 1
                     : carries->flit_out_streams >> flit->output & 1) &&
           site->router->outputs[flit->to].credits > 1;
}

/* Whether the flit and the streams of the router do not disturb each other. */
static inline bool undisturbed(const struct noc_site *site, struct noc_kind kind, struct passage *flit)
{
    const struct noc_router *router = site->router;
    const struct noc_activity *carries = &router->carries;
    unsigned inputs = 0, outputs = 0;
    struct noc_rows waiting;
    if (router->period != 1 || router->blocked ||
        carries->flit_repeats | carries->credit_repeats | carries->flit_out_repeats |
            carries->credit_out_repeats)
        return false;
    for (unsigned word = 0; word < kind.words; word++) {
        const struct noc_sets *sets = &router->sets[word];
        waiting.words[word] = sets->filled | sets->bidding | sets->routing | sets->queued | sets->allocated;
    }
    bool ends = false;
    for (uint64_t grants = router->grants; grants; grants >>= 8) {
        unsigned row = (unsigned)(grants & 0xFF) - 1;
        waiting.words[kind.words == 1 ? 0 : row / 64] &= ~bit_of(row);
        inputs |= 1U << port_of(site, kind, row);
        outputs |= 1U << port_of(site, kind, input_of(site, kind, row)->output);
        ends |= row == flit->row;
        if (!(row == flit->row && flit->kind == EXPRESS_LAST) && !goes_on(site, kind, row))
            return false;
    }
    if (any_row(kind, &waiting))
        return false;
    return flit->kind == EXPRESS_LAST ? ends && stream_ends(site, kind, flit)
                                      : meets_nobody(site, kind, flit, inputs, outputs);
}

/* The grants without that of a row. */
static inline uint64_t without(uint64_t grants, unsigned row)
{
    uint64_t others = 0;
    for (unsigned shift = 0; grants; grants >>= 8)
        if ((grants & 0xFF) != row + 1) {
            others |= (grants & 0xFF) << shift;
            shift += 8;
        }
    return others;
}

/* The head of a run has left, the third flit has arrived. */
static inline void begin_stream(const struct noc_site *site, struct noc_kind kind, const struct passage *flit)
{
    struct noc_router *router = site->router;
    struct noc_activity *carries = &router->carries;
    struct noc_input *input = input_of(site, kind, flit->row);
    struct noc_sets *sets = sets_of(site, kind, flit->row);
    input->front = flit->packet;
    input->count = EXPRESS_CYCLES - 1;
    set_left(site, flit->row, input, site->noc->packets[flit->packet].flits - 1);
    input->next = NOC_FLIT;
    input->x = flit->x;
    input->y = flit->y;
    input->output = (uint8_t)flit->to;
    router->outputs[flit->to].owner = (uint8_t)flit->row;
    sets->filled |= bit_of(flit->row);
    sets->active |= bit_of(flit->row);
    sets->credited |= bit_of(flit->row);
    sets->to[flit->output] |= bit_of(flit->row);
    sets_of(site, kind, flit->to)->free &= ~bit_of(flit->to);
    router->grants = router->grants << 8 | (flit->row + 1);
    carries->flit_streams |= (uint8_t)(1U << flit->port);
    router->flit_vc[flit->port] = (uint8_t)vc_of(site, kind, flit->row);
    if (flit->output == PIM_NOC_EJECT)
        return;
    carries->flit_out_streams |= (uint8_t)(1U << flit->output);
    router->flit_out_vc[flit->output] = (uint8_t)vc_of(site, kind, flit->to);
}

/* The tail of a run has left, behind the two flits in front of it. */
static inline void end_stream(const struct noc_site *site, struct noc_kind kind, const struct passage *flit)
{
    struct noc_router *router = site->router;
    struct noc_activity *carries = &router->carries;
    struct noc_input *input = input_of(site, kind, flit->row);
    struct noc_sets *sets = sets_of(site, kind, flit->row);
    input->front = NOC_NO_PACKET;
    input->count = 0;
    input->left = 0;
    router->outputs[flit->to].credits -= (uint16_t)EXPRESS_CYCLES;
    router->link_flits[flit->output] += EXPRESS_CYCLES;
    sets->filled &= ~bit_of(flit->row);
    sets->active &= ~bit_of(flit->row);
    sets->credited &= ~bit_of(flit->row);
    sets->to[flit->output] &= ~bit_of(flit->row);
    sets_of(site, kind, flit->to)->free |= bit_of(flit->to);
    carries->flit_out_streams &= (uint8_t) ~(1U << flit->output);
}

/* A flit passes beside the streams of the router. Returns whether it did. */
static PIM_NOINLINE bool pass_beside(struct pim_noc *noc, uint32_t node, uint64_t cycle, struct noc_kind kind)
{
    struct noc_site site = site_of(noc, kind, node, cycle);
    struct noc_router *router = site.router;
    struct passage flit = passage_of(&site, kind);
    if (site.mesh->next[0][site.node].credit_ports)
        return false;
    if (router->since < cycle)
        pim_noc_router_settle(noc, node, cycle);
    if (!undisturbed(&site, kind, &flit))
        return false;
    unsigned always = 0;
    for (uint64_t grants = router->grants; grants; grants >>= 8)
        always |= 1U << port_of(&site, kind, input_of(&site, kind, (unsigned)(grants & 0xFF) - 1)->output);
    if (flit.kind == EXPRESS_LAST) {
        router->grants = without(router->grants, flit.row);
        router->carries.flit_streams &= (uint8_t) ~(1U << flit.port);
    }
    pim_noc_router_account(site.mesh, site.node, EXPRESS_CYCLES);
    if (flit.kind == EXPRESS_LAST)
        end_stream(&site, kind, &flit);
    else
        win(&site, kind, &flit);
    if (flit.kind == EXPRESS_FIRST)
        begin_stream(&site, kind, &flit);
    router->ahead_until = site.cycle + NOC_EXPRESS;
    router->ahead_always = (uint8_t)always;
    router->ahead_last = (uint8_t)(flit.kind == EXPRESS_LAST ? 0 : 1U << flit.output);
    router->since = site.cycle + EXPRESS_CYCLES;
    depart(&site, kind, &flit);
    return_both(&site, kind, &flit);
    router->calm_since = router->clean_since = router->since;
    if (router->grants == 0 && is_quiet(router, kind)) {
        router->planned = router->since = UINT64_MAX; /* nothing to account for */
        return true;
    }
    pim_noc_replan(site.mesh, site.node, site.cycle + NOC_EXPRESS);
    pim_noc_enter(site.mesh, site.node, site.cycle);
    return true;
}

/* --- any --- */

/* No flit is in the router, and it repeats nothing. */
static PIM_ALWAYS_INLINE bool is_empty(const struct noc_site *site, struct noc_kind kind)
{
    const struct noc_router *router = site->router;
    uint64_t busy = router->grants | !is_quiet(router, kind);
    for (unsigned word = 0; word < kind.words; word++)
        busy |= router->sets[word].filled | router->sets[word].active;
    return busy == 0;
}

/* Returns whether the flit that arrives, the only one, went through. */
static PIM_ALWAYS_INLINE bool express(const struct noc_site *site, struct noc_kind kind)
{
    struct noc_router *router = site->router;
    const struct noc_mesh *mesh = site->mesh;
    struct passage flit = passage_of(site, kind);
    if ((flit.kind != EXPRESS_ONLY &&
         (kind.brief || (flit.kind != EXPRESS_FIRST && flit.kind != EXPRESS_LAST))) ||
        (site->slot->credit_ports | mesh->next[0][site->node].flit_ports |
         mesh->next[1][site->node].flit_ports) != 0)
        return false;
    bool empty = is_empty(site, kind);
    if (!kind.brief && (flit.kind != EXPRESS_ONLY || !empty))
        return pass_beside(site->noc, site->node, site->cycle, kind);
    if (!empty || !find_way(site, kind, &flit))
        return false;
    win(site, kind, &flit);
    router->ahead_until = site->cycle + NOC_EXPRESS;
    router->ahead_last = (uint8_t)(1U << flit.output);
    router->ahead_always = 0;
    router->since = router->planned = UINT64_MAX;
    router->period = 1;
    depart(site, kind, &flit);
    return_both(site, kind, &flit);
    return true;
}

#endif

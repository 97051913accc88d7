/*
 * A packet of one flit that comes to an empty router: its three cycles there
 * (routing, VC allocation, switch allocation) done at once.
 *
 * Nothing else can happen in the router meanwhile: every flit that will arrive
 * in the next two cycles is under way already and would be seen, and credits
 * are counted without anybody to use them. So the head gets what it asks for in
 * each stage, and the router is empty again after them.
 */
#ifndef PIMSIM_MODELS_NOC_MESH_EXPRESS_H
#define PIMSIM_MODELS_NOC_MESH_EXPRESS_H

#include "models/noc/mesh/allocators.h"
#include "models/noc/mesh/buffers.h"
#include "models/noc/mesh/channels.h"

/* No flit is in the router, none will arrive in the next two cycles, and it
 * repeats nothing. */
static PIM_ALWAYS_INLINE bool empty_but_for(const struct noc_site *site, struct noc_kind kind)
{
    const struct noc_router *router = site->router;
    const struct noc_mesh *mesh = site->mesh;
    uint64_t busy = router->grants | !is_quiet(router, kind) | site->slot->credit_ports;
    for (unsigned word = 0; word < kind.words; word++)
        busy |= router->sets[word].filled | router->sets[word].active;
    return busy == 0 && (pim_noc_slots(mesh, site->cycle + 1)[site->node].flit_ports |
                         pim_noc_slots(mesh, site->cycle + 2)[site->node].flit_ports) == 0;
}

/* The credit for the flit, which leaves in two cycles. */
static PIM_ALWAYS_INLINE void return_express(const struct noc_site *site, struct noc_kind kind, unsigned port,
                                             unsigned vc)
{
    struct noc_mesh *mesh = site->mesh;
    if (add_early(site, kind, port, vc, NOC_EXPRESS))
        return;
    uint64_t cycle = site->cycle + NOC_EXPRESS;
    uint32_t set = UINT32_C(1) << vc;
    site->router->credits_changed[port] = (uint32_t)cycle + 1;
    if (port == NOC_TERMINAL) {
        *pim_noc_terminal_slot(mesh, site->node, cycle + NOC_INJECTION_CREDIT) =
            (struct noc_terminal_slot){.credits = set, .changed = 1, .once = 1};
        pim_noc_wake(&mesh->terminal_wheel, site->node, cycle + NOC_INJECTION_CREDIT, site->cycle);
        return;
    }
    uint64_t time = cycle + mesh->timing.credit_latency[port ^ 1];
    struct noc_outbox outbox = {pim_noc_slots(mesh, time), pim_noc_spoke_at(&mesh->router_wheel, time)};
    pim_noc_post_credits(&outbox, site->router->neighbour[port], port ^ 1, set, true);
}

/* Returns whether the flit that arrives, the only one, went through. Not for
 * the terminal: packets are delivered in the order in which they win the
 * switch. */
static PIM_ALWAYS_INLINE bool express(const struct noc_site *site, struct noc_kind kind)
{
    struct noc_router *router = site->router;
    struct noc_mesh *mesh = site->mesh;
    unsigned port = pim_lowest_bit(site->slot->flit_ports), flit = site->slot->flits[port];
    if ((flit & 0xFF) != (NOC_FLIT | NOC_HEAD | NOC_TAIL | NOC_SHORT) || !empty_but_for(site, kind))
        return false;
    unsigned x = site->slot->x[port], y = site->slot->y[port], row = row_of(site, kind, port, flit >> 8);
    unsigned output = kind.routed ? route_packet(site, row, site->slot->packets[port]) : route(router, x, y);
    unsigned first = row_of(site, kind, output, 0);
    struct noc_sets *outputs = sets_of(site, kind, first);
    uint32_t free = allowed_of(site, kind, row, port_part(site, outputs->free, first));
    struct noc_heads heads = {
        input_of(site, kind, 0), router->outputs, mesh->next_row, NULL, output, shift_of(site, kind), free};
    if (output == PIM_NOC_EJECT || !heads.free)
        return false;
    unsigned to = pim_noc_choose(&heads, row, heads.free);
    if (!(outputs->nonfull & bit_of(to)))
        return false;

    struct noc_match match = {(uint8_t)row, (uint8_t)to};
    pim_noc_point_behind(&heads, match);
    pim_noc_point_switch(&router->arbiter, NOC_PORTS, port, output);
    router->arbiter.crossbar[port].vc = (uint8_t)vc_of(site, kind, mesh->next_row[row]);
    if (--router->outputs[to].credits == 0)
        outputs->nonfull &= ~bit_of(to);
    router->link_flits[output]++;
    count_hop(site, kind, site->slot->packets[port], output);
    router->ahead_until = site->cycle + NOC_EXPRESS;
    router->ahead_output = (uint8_t)output;
    struct noc_slot *slot = &mesh->express.slots[router->neighbour[output]];
    slot->packets[output ^ 1] = site->slot->packets[port];
    slot->x[output ^ 1] = (uint8_t)x;
    slot->y[output ^ 1] = (uint8_t)y;
    pim_noc_post_flit(&mesh->express, router->neighbour[output], output ^ 1,
                      vc_of(site, kind, to) << 8 | NOC_FLIT | NOC_HEAD | NOC_TAIL | NOC_SHORT);
    return_express(site, kind, port, vc_of(site, kind, row));
    router->since = router->planned = UINT64_MAX;
    router->period = 1;
    return true;
}

#endif

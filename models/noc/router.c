/*
 * One cycle of an input-queued virtual-channel router, in the order in which the hardware applies the rules
 * of docs/models/noc.md.
 *
 * 1. All decisions of a cycle (VC allocation, held switches, switch allocation) use the state before any
 *    update of that cycle.
 */
#include "models/noc/allocators.h"
#include "models/noc/evaluation.h"

#include <assert.h>
#include <string.h>

/* The VC allocation of this cycle: decided first, taken over after the switch has been allocated. */
struct matching {
    unsigned count;
    struct noc_match matches[NOC_HEADS_LIMIT];
    uint8_t ports[NOC_HEADS_LIMIT];
};

static uint8_t route(const struct noc_router *router, const struct pim_noc_packet *packet)
{
    if (packet->x != router->x)
        return packet->x > router->x ? PIM_NOC_EAST : PIM_NOC_WEST;
    if (packet->y != router->y)
        return packet->y > router->y ? PIM_NOC_SOUTH : PIM_NOC_NORTH;
    return PIM_NOC_EJECT;
}

/* The packet has come to the front of its virtual channel; its route is computed from `cycle` on. */
static void begin_packet(struct evaluation *e, unsigned port, unsigned vc, uint32_t index, uint64_t cycle)
{
    const struct pim_noc_packet *packet = &e->noc->packets[index];
    struct noc_input *input = &e->inputs[port * e->vcs + vc];
    input->front = index;
    input->left = packet->flits;
    input->route = route(e->router, packet);
    input->ready = cycle + e->noc->configuration.routing_delay;
    e->router->routing[port] |= UINT32_C(1) << vc;
    e->router->heading[port] |= UINT32_C(1) << vc;
    e->router->waiting |= (uint8_t)(1U << port);
}

static void write_buffers(struct evaluation *e)
{
    struct noc_router *router = e->router;
    for (uint32_t ports = router->flit_in_ports; ports; ports &= ports - 1) {
        unsigned port = pim_lowest_bit(ports);
        uint64_t entry = router->flit_in[port];
        unsigned vc = pim_noc_entry_vc(entry);
        struct noc_input *input = &e->inputs[port * e->vcs + vc];
        input->count++;
        assert(input->count <= e->noc->configuration.buffer_flits);
        router->filled[port] |= UINT32_C(1) << vc;
        if (!(entry & (NOC_HEAD | NOC_TAIL)))
            continue;
        e->noisy = true;
        router->flit_in[port] = pim_noc_flit_successor(entry);
        if (entry & NOC_TAIL)
            router->flit_in_ports &= (uint8_t) ~(1U << port);
        if (!(entry & NOC_HEAD))
            continue;
        uint32_t packet = (uint32_t)(entry >> 16);
        if (input->front == NOC_NO_PACKET)
            begin_packet(e, port, vc, packet, e->cycle);
        else
            e->noc->packets[input->back].next = packet;
        input->back = packet;
    }
}

static void take_credits(struct evaluation *e)
{
    struct noc_router *router = e->router;
    for (uint32_t ports = router->credit_in_ports; ports; ports &= ports - 1) {
        unsigned port = pim_lowest_bit(ports);
        for (uint32_t set = (uint32_t)router->credit_in[port]; set; set &= set - 1) {
            unsigned vc = pim_lowest_bit(set);
            uint32_t bit = UINT32_C(1) << vc;
            struct noc_output *output = &e->outputs[port * e->vcs + vc];
            output->credits++;
            assert(output->credits <= e->noc->configuration.buffer_flits);
            if (!(router->nonfull[port] & bit)) {
                router->nonfull[port] |= bit;
                if (!((router->free[port] | router->tail_sent[port]) & bit))
                    router->credited[output->owner_port] |= UINT32_C(1) << output->owner_vc;
            }
            if (router->tail_sent[port] & bit) {
                e->noisy = true;
                if (output->credits == e->noc->configuration.buffer_flits) {
                    router->tail_sent[port] &= ~bit;
                    router->free[port] |= bit;
                }
            }
        }
        if (router->credit_in[port] & NOC_ONCE) {
            e->credit_once = true;
            router->credit_in[port] = 0;
            router->credit_in_ports &= (uint8_t) ~(1U << port);
        }
    }
}

/* Routing and VC allocation that have taken their time. */
static void advance_stages(struct evaluation *e)
{
    struct noc_router *router = e->router;
    for (uint32_t ports = router->waiting; ports; ports &= ports - 1) {
        unsigned port = pim_lowest_bit(ports);
        uint32_t under_way = router->routing[port] | router->allocated[port];
        if (under_way)
            e->noisy = true;
        for (; under_way; under_way &= under_way - 1) {
            unsigned vc = pim_lowest_bit(under_way);
            uint32_t bit = UINT32_C(1) << vc;
            if (e->inputs[port * e->vcs + vc].ready > e->cycle)
                continue;
            *(router->routing[port] & bit ? &router->bidding[port] : &router->active[port]) |= bit;
            router->routing[port] &= ~bit;
            router->allocated[port] &= ~bit;
        }
        if (!(router->routing[port] | router->bidding[port] | router->allocated[port]))
            router->waiting &= (uint8_t) ~(1U << port);
    }
}

/* VC allocation, decision. Each output port is on its own, since a head asks for one port only. */
static void decide_virtual_channels(struct evaluation *e, struct matching *matching)
{
    struct noc_router *router = e->router;
    uint32_t outputs = 0;
    uint8_t counts[NOC_PORTS], rows[NOC_PORTS][NOC_HEADS_LIMIT]; /* by output port, those in `outputs` */
    for (uint32_t ports = router->waiting; ports; ports &= ports - 1) {
        unsigned port = pim_lowest_bit(ports);
        for (uint32_t set = router->bidding[port]; set; set &= set - 1) {
            unsigned row = port * e->vcs + pim_lowest_bit(set);
            unsigned output = e->inputs[row].route;
            if (router->free[output] == 0)
                continue;
            if (!(outputs >> output & 1))
                counts[output] = 0;
            outputs |= 1U << output;
            rows[output][counts[output]++] = (uint8_t)row;
        }
    }
    for (; outputs; outputs &= outputs - 1) {
        unsigned port = pim_lowest_bit(outputs);
        unsigned matched = pim_noc_match_heads(&e->noc->configuration, e->inputs, &e->outputs[port * e->vcs],
                                               port, rows[port], counts[port], router->free[port],
                                               &matching->matches[matching->count]);
        for (unsigned i = 0; i < matched; i++)
            matching->ports[matching->count++] = (uint8_t)port;
        e->noisy = true;
    }
}

/* VC allocation, update. */
static void take_virtual_channels(struct evaluation *e, const struct matching *matching)
{
    struct noc_router *router = e->router;
    for (unsigned i = 0; i < matching->count; i++) {
        unsigned row = matching->matches[i].row, output = matching->ports[i],
                 output_vc = matching->matches[i].output_vc;
        unsigned port = row / e->vcs, vc = row % e->vcs;
        uint32_t bit = UINT32_C(1) << vc;
        struct noc_output *channel = &e->outputs[output * e->vcs + output_vc];
        e->inputs[row].output_vc = (uint8_t)output_vc;
        channel->owner_port = (uint8_t)port;
        channel->owner_vc = (uint8_t)vc;
        router->free[output] &= ~(UINT32_C(1) << output_vc);
        router->bidding[port] &= ~bit;
        if (router->nonfull[output] >> output_vc & 1)
            router->credited[port] |= bit;
        if (e->noc->configuration.vc_allocation_delay == 1) {
            router->active[port] |= bit;
        } else {
            router->allocated[port] |= bit;
            e->inputs[row].ready = e->cycle + e->noc->configuration.vc_allocation_delay;
        }
    }
}

/* Of the virtual channels in `set` of one crossbar input, the first at or after its pointer asks for each
 * column. */
static inline void ask(const struct evaluation *e, unsigned row, unsigned port, uint32_t set,
                       uint32_t columns, uint8_t *asked, uint8_t *vcs)
{
    uint32_t later = set & (UINT32_MAX << e->router->arbiter.vc[row]);
    set &= ~later;
    while (later | set) {
        uint32_t *part = later ? &later : &set;
        unsigned vc = pim_lowest_bit(*part);
        unsigned output = e->inputs[port * e->vcs + vc].route;
        *part &= *part - 1;
        if (!(columns >> output & 1) || *asked >> output & 1)
            continue;
        *asked |= (uint8_t)(1U << output);
        vcs[output] = (uint8_t)vc;
    }
}

/* Virtual channels of `port` whose head may bid for the switch while it waits: some virtual channel is free
 * and has a credit. */
static uint32_t speculative_bids(const struct evaluation *e, unsigned port)
{
    uint32_t bids = 0;
    for (uint32_t set = e->router->bidding[port]; set; set &= set - 1) {
        unsigned vc = pim_lowest_bit(set);
        unsigned output = e->inputs[port * e->vcs + vc].route;
        if (e->router->free[output] & e->router->nonfull[output])
            bids |= UINT32_C(1) << vc;
    }
    return bids;
}

/* The requests of one crossbar input, on behalf of its ready virtual channels and of those that bid
 * speculatively. */
static inline void collect_row(const struct evaluation *e, unsigned row, unsigned port, uint32_t ready,
                               uint32_t bids, uint32_t columns, struct noc_requests *requests)
{
    uint8_t normal = 0, any;
    ask(e, row, port, ready, columns, &normal, requests->vc[row]);
    any = normal;
    if (bids)
        ask(e, row, port, bids, columns, &any, requests->vc[row]);
    requests->normal[row] = normal;
    requests->speculative[row] = any & (uint8_t)~normal;
    if (any)
        requests->asking |= UINT32_C(1) << row;
}

/* Switch allocation, requests: what each crossbar input that is not held asks of each output that is not
 * held. */
static void collect_requests(const struct evaluation *e, uint32_t columns, struct noc_requests *requests)
{
    const struct noc_router *router = e->router;
    const struct pim_noc_configuration *configuration = &e->noc->configuration;
    unsigned speedup = configuration->input_speedup;
    requests->asking = 0;
    for (unsigned port = 0; port < NOC_PORTS; port++) {
        uint32_t ready = router->active[port] & router->filled[port] & router->credited[port];
        uint32_t bids = configuration->speculative ? speculative_bids(e, port) : 0;
        if (!(ready | bids))
            continue;
        for (unsigned part = 0; part < speedup; part++) {
            unsigned row = port * speedup + part;
            uint32_t members =
                pim_noc_every(speedup, part); /* row: input and virtual channel modulo speedup */
            if (!(router->held_rows >> row & 1) && (ready | bids) & members)
                collect_row(e, row, port, ready & members, bids & members, columns, requests);
        }
    }
}

/* The flit at the front of an active virtual channel leaves its buffer. */
static void send_flit(struct evaluation *e, unsigned row, unsigned port, unsigned vc)
{
    struct noc_router *router = e->router;
    struct noc_input *input = &e->inputs[port * e->vcs + vc];
    unsigned output = input->route, output_vc = input->output_vc;
    uint32_t bit = UINT32_C(1) << vc, output_bit = UINT32_C(1) << output_vc;
    unsigned kind =
        NOC_FLIT | (router->heading[port] & bit ? NOC_HEAD : 0U) | (input->left == 1 ? NOC_TAIL : 0U);
    router->grants[router->grant_count++] =
        (struct noc_grant){(uint8_t)port, (uint8_t)vc, (uint8_t)output, (uint8_t)output_vc};
    input->left--;
    if (--input->count == 0)
        router->filled[port] &= ~bit;
    if (--e->outputs[output * e->vcs + output_vc].credits == 0) {
        router->nonfull[output] &= ~output_bit;
        router->credited[port] &= ~bit;
    }
    router->link_flits[output]++;
    e->credit_out[port] |= bit;
    e->credit_out_ports |= (uint8_t)(1U << port);
    *(kind & NOC_TAIL ? &e->tail_ports : &e->body_ports) |= (uint8_t)(1U << port);
    e->flit_out_ports |= (uint8_t)(1U << output);
    if (output == PIM_NOC_EJECT) {
        e->flit_out[NOC_TERMINAL] = output_bit | (kind & NOC_TAIL ? NOC_ONCE : 0);
        if (kind & NOC_HEAD)
            e->noc->packets[input->front].head_arrived = e->cycle + e->mesh->timing.ejection;
        if (kind & NOC_TAIL)
            pim_noc_mesh_deliver_at(e->mesh, e->cycle + e->mesh->timing.ejection, input->front);
    } else {
        e->flit_out[output] = pim_noc_entry(kind == NOC_FLIT ? 0 : input->front, output_vc, kind);
    }
    bool hold = e->noc->configuration.hold_switch_for_packet && !(kind & NOC_TAIL) && input->count > 0;
    if (hold != (router->held_rows >> row & 1)) {
        e->moved = true;
        router->held_rows ^= UINT32_C(1) << row;
    }
    if (hold)
        router->held_vc[row] = (uint8_t)vc;
    if (kind == NOC_FLIT)
        return;
    e->noisy = true;
    router->heading[port] &= ~bit;
    if (!(kind & NOC_TAIL))
        return;
    router->active[port] &= ~bit;
    router->credited[port] &= ~bit;
    *(e->noc->configuration.wait_for_tail_credit ? &router->tail_sent[output] : &router->free[output]) |=
        output_bit;
    if (input->front == input->back)
        input->front = NOC_NO_PACKET;
    else
        begin_packet(e, port, vc, e->noc->packets[input->front].next, e->cycle + 1);
}

/* A head won the switch while it asked for a virtual channel: the win counts when it got one, with a credit,
 * in this cycle. */
static void send_speculative(struct evaluation *e, unsigned row, unsigned port, unsigned vc)
{
    struct noc_router *router = e->router;
    uint32_t bit = UINT32_C(1) << vc;
    e->noisy = true;
    if (router->bidding[port] & bit || !(router->credited[port] & bit))
        return;
    router->allocated[port] &= ~bit;
    router->active[port] |= bit;
    send_flit(e, row, port, vc);
}

static void allocate_switch(struct evaluation *e, const struct matching *matching)
{
    struct noc_router *router = e->router;
    unsigned speedup = e->noc->configuration.input_speedup;
    uint32_t held = router->held_rows, columns = pim_noc_all(NOC_PORTS), send_held = 0;
    for (uint32_t rows = held; rows; rows &= rows - 1) {
        unsigned row = pim_lowest_bit(rows), port = row / speedup, vc = router->held_vc[row];
        columns &= ~(UINT32_C(1) << e->inputs[port * e->vcs + vc].route);
        if (router->credited[port] >> vc & 1)
            send_held |= UINT32_C(1) << row;
    }
    struct noc_requests requests;
    collect_requests(e, columns, &requests);
    uint32_t granted = 0;
    uint8_t column_of[NOC_ROWS];
    if (requests.asking) {
        struct noc_switch before = router->arbiter;
        granted = pim_noc_match_switch(&e->noc->configuration, &router->arbiter, &requests, column_of);
        for (uint32_t rows = granted; rows; rows &= rows - 1) {
            unsigned row = pim_lowest_bit(rows), next = requests.vc[row][column_of[row]] + speedup;
            router->arbiter.vc[row] = (uint8_t)(next >= e->vcs ? next - e->vcs : next);
        }
        e->moved = memcmp(&before, &router->arbiter, sizeof before) != 0;
    }

    take_virtual_channels(e, matching);
    router->grant_count = 0;
    for (uint32_t rows = held; rows; rows &= rows - 1) {
        unsigned row = pim_lowest_bit(rows);
        if (send_held >> row & 1) {
            send_flit(e, row, row / speedup, router->held_vc[row]);
        } else {
            router->held_rows &= ~(UINT32_C(1) << row);
            e->moved = true;
        }
    }
    for (uint32_t rows = granted; rows; rows &= rows - 1) {
        unsigned row = pim_lowest_bit(rows), column = column_of[row];
        (requests.normal[row] >> column & 1 ? send_flit : send_speculative)(e, row, row / speedup,
                                                                            requests.vc[row][column]);
    }
}

/* All stages of one cycle. */
static void run_cycle(struct evaluation *e)
{
    struct matching matching;
    matching.count = 0;
    pim_noc_read_patterns(e);
    write_buffers(e);
    take_credits(e);
    if (e->router->waiting)
        advance_stages(e);
    if (e->router->waiting)
        decide_virtual_channels(e, &matching);
    allocate_switch(e, &matching);
    pim_noc_write_channels(e);
}

static struct evaluation begin_evaluation(struct pim_noc *noc, uint32_t node, uint64_t cycle)
{
    struct noc_mesh *mesh = noc->mesh;
    size_t base = (size_t)node * NOC_PORTS * mesh->vcs;
    return (struct evaluation){.noc = noc,
                               .mesh = mesh,
                               .router = &mesh->routers[node],
                               .inputs = &mesh->inputs[base],
                               .outputs = &mesh->outputs[base],
                               .cycle = cycle,
                               .node = node,
                               .vcs = mesh->vcs};
}

void pim_noc_router_repeat(struct pim_noc *noc, uint32_t node, uint64_t cycle)
{
    struct evaluation e = begin_evaluation(noc, node, cycle);
    run_cycle(&e);
    assert(!e.noisy && !e.wrote_change);
}

void pim_noc_router_evaluate(struct pim_noc *noc, uint32_t node, uint64_t cycle)
{
    if (pim_noc_router_sleeps_on(noc->mesh, node, cycle))
        return;
    noc->statistics.router_evaluations++;
    struct evaluation e = begin_evaluation(noc, node, cycle);
    pim_noc_router_settle(noc, node, cycle);
    e.router->since = cycle + 1;
    uint32_t filled[NOC_PORTS], nonfull[NOC_PORTS];
    memcpy(filled, e.router->filled, sizeof filled);
    memcpy(nonfull, e.router->nonfull, sizeof nonfull);
    pim_noc_read_changes(&e);
    run_cycle(&e);
    pim_noc_plan_router(&e, filled, nonfull);
}

/*
 * The first stages of a router: arriving flits are written into buffers, heads
 * are routed, and credits are taken.
 */
#ifndef PIMSIM_MODELS_NOC_MESH_BUFFERS_H
#define PIMSIM_MODELS_NOC_MESH_BUFFERS_H

#include "models/noc/mesh/evaluation.h"

#include <assert.h>

/* First along x, then along y, then to the terminal; without branches. */
static PIM_ALWAYS_INLINE unsigned route(const struct noc_router *router, unsigned x, unsigned y)
{
    unsigned here_x = router->x, here_y = router->y;
    unsigned along_x = PIM_NOC_EAST + (unsigned)(x < here_x),
             along_y = PIM_NOC_SOUTH + (unsigned)(y < here_y);
    unsigned home_x = 0U - (unsigned)(x == here_x), home_y = (unsigned)(y == here_y);
    along_y += home_y << 1; /* PIM_NOC_SOUTH becomes PIM_NOC_EJECT */
    return along_x + ((along_y - along_x) & home_x);
}
_Static_assert(PIM_NOC_WEST == PIM_NOC_EAST + 1 && PIM_NOC_NORTH == PIM_NOC_SOUTH + 1 &&
                   PIM_NOC_EJECT == PIM_NOC_SOUTH + 2,
               "the order that route() counts on");

/* Where the packet goes, and which virtual channels it may take there. */
static PIM_ALWAYS_INLINE unsigned route_packet(const struct noc_site *site, unsigned row, uint32_t packet)
{
    struct pim_noc_candidate candidates[PIM_NOC_CANDIDATE_LIMIT];
    (void)pim_noc_route(site->mesh->routing, &site->mesh->packets[packet].state, site->node, 0, candidates);
    site->mesh->allowed[ready_of(site, row)] = candidates[0].vcs;
    return candidates[0].port;
}

/* The packet in `input->front` has come to the front of its row; `behind` the
 * tail that leaves in this cycle its route is computed from the next one on. Returns its output. */
static PIM_ALWAYS_INLINE unsigned begin_packet(const struct noc_site *site, struct noc_kind kind,
                                               unsigned row, bool behind)
{
    struct noc_input *input = input_of(site, kind, row);
    struct noc_sets *sets = sets_of(site, kind, row);
    unsigned output =
        kind.routed ? route_packet(site, row, input->front) : route(site->router, input->x, input->y);
    input->output = (uint8_t)row_of(site, kind, output, 0);
    sets->to[output] |= bit_of(row);
    if (in_advance(kind))
        *(behind ? &sets->routing : &sets->bidding) |= bit_of(row);
    else
        *(kind.plain && behind ? &sets->queued : &sets->routing) |= bit_of(row);
    if (!kind.plain)
        site->mesh->ready[ready_of(site, row)] =
            site->cycle + behind + site->noc->configuration.routing_delay;
    return output;
}

static PIM_ALWAYS_INLINE void set_left(const struct noc_site *site, unsigned row, struct noc_input *input,
                                       uint64_t flits)
{
    input->left = (uint32_t)flits;
    if (PIM_UNLIKELY(flits > UINT32_MAX))
        pim_noc_set_left(site->mesh, site->node, row, input, flits);
}

/* The packet behind the tail that has left comes to the front; there is one. */
static inline void follow(const struct noc_site *site, unsigned row, struct noc_input *input)
{
    struct pim_noc_packet *packets = site->noc->packets;
    const struct pim_noc_packet *gone = &packets[input->front];
    struct pim_noc_packet *packet = &packets[gone->next];
    input->more = gone->next != gone->last;
    if (input->more) /* else its tail may be in the buffer upstream, with packets
                      behind it there */
        packet->last = gone->last;
    input->front = gone->next;
    set_left(site, row, input, packet->flits);
    input->next = NOC_FLIT | NOC_HEAD | (packet->by_flit ? NOC_SHORT : 0);
    input->x = packet->x;
    input->y = packet->y;
}

/* A head arrives while another packet is in the buffer. */
static inline void queue_head(struct pim_noc_packet *packets, struct noc_input *input, uint32_t index)
{
    struct pim_noc_packet *front = &packets[input->front];
    *(input->more ? &packets[front->last].next : &front->next) = index;
    front->last = index;
    input->more = 1;
}

static PIM_ALWAYS_INLINE void buffer_flit(const struct noc_site *site, struct noc_kind kind, unsigned row)
{
    struct noc_input *input = input_of(site, kind, row);
    input->count++;
    assert(input->count <= site->noc->configuration.buffer_flits);
    sets_of(site, kind, row)->filled |= bit_of(row);
}

/* Flits of the channels that repeat a pattern. */
static PIM_NOINLINE void write_patterns(struct pim_noc *noc, uint32_t node, uint64_t cycle,
                                        struct noc_kind kind, unsigned ports)
{
    struct noc_site site = site_of(noc, kind, node, cycle);
    for (; ports; ports &= ports - 1) {
        unsigned port = pim_lowest_bit(ports);
        uint32_t flit = pim_noc_pattern_entry(&site.mesh->flit_patterns[(size_t)site.node * NOC_PORTS + port],
                                              site.cycle - site.mesh->timing.flit_latency[port]);
        if (flit)
            buffer_flit(&site, kind, row_of(&site, kind, port, flit >> 8));
    }
}

static PIM_ALWAYS_INLINE void write_change(const struct noc_site *site, struct noc_outcome *outcome,
                                           struct noc_kind kind, unsigned port)
{
    struct noc_router *router = site->router;
    unsigned flit = site->slot->flits[port], row = row_of(site, kind, port, flit >> 8);
    if (!kind.brief && !(flit & NOC_FLIT)) {
        router->carries.flit_repeats |= (uint8_t)((unsigned)(flit == NOC_REPEATS) << port);
        return;
    }
    buffer_flit(site, kind, row);
    if (!kind.brief && !(flit & NOC_LONE)) {
        router->carries.flit_streams |= (uint8_t)(1U << port);
        router->flit_vc[port] = (uint8_t)(flit >> 8);
    }
    outcome->noisy |= kind.brief || (flit & (NOC_HEAD | NOC_LONE)) != 0;
    if (!(flit & NOC_HEAD))
        return;
    struct noc_input *input = input_of(site, kind, row);
    uint32_t index = site->slot->packets[port];
    if (input->front != NOC_NO_PACKET) {
        queue_head(site->noc->packets, input, index);
        return;
    }
    input->front = index;
    input->left = 1;
    if (!(flit & NOC_TAIL))
        set_left(site, row, input, site->noc->packets[index].flits);
    input->next = (uint8_t)(flit & (NOC_FLIT | NOC_HEAD | NOC_SHORT));
    input->x = site->slot->x[port];
    input->y = site->slot->y[port];
    bool behind = in_advance(kind) && outcome->ended.words[kind.words == 1 ? 0 : row / 64] & bit_of(row);
    outcome->asked |= (unsigned)!behind << begin_packet(site, kind, row, behind);
}

static PIM_ALWAYS_INLINE void write_buffers(const struct noc_site *site, struct noc_outcome *outcome,
                                            struct noc_kind kind, bool quiet)
{
    struct noc_activity *carries = &site->router->carries;
    unsigned changed = site->slot->flit_ports;
    if (!kind.brief && !quiet) {
        unsigned streams = carries->flit_streams & ~changed;
        carries->flit_streams = (uint8_t)streams;
        carries->flit_repeats &= (uint8_t)~changed;
        for (; streams; streams &= streams - 1) {
            unsigned port = pim_lowest_bit(streams);
            buffer_flit(site, kind, row_of(site, kind, port, site->router->flit_vc[port]));
        }
    }
    if (in_advance(kind))
        changed &= ~(unsigned)site->slot->head_ports;
    for (; changed; changed &= changed - 1)
        write_change(site, outcome, kind, pim_lowest_bit(changed));
    if (!kind.brief && PIM_UNLIKELY(carries->flit_repeats))
        write_patterns(site->noc, site->node, site->cycle, kind, carries->flit_repeats);
}

/* A credit for a row without credits, or whose tail has left. Returns whether
 * that is not calm. */
static PIM_NOINLINE bool restore(struct noc_site site, struct noc_kind kind, unsigned row)
{
    struct noc_sets *sets = sets_of(&site, kind, row);
    uint64_t bit = bit_of(row);
    if (!((sets->free | sets->tail_sent | sets->nonfull) & bit)) {
        unsigned owner = site.router->outputs[row].owner;
        sets_of(&site, kind, owner)->credited |= bit_of(owner);
    }
    sets->nonfull |= bit;
    if (!(sets->tail_sent & bit))
        return false;
    if (site.router->outputs[row].credits == site.noc->configuration.buffer_flits) {
        sets->tail_sent &= ~bit;
        sets->free |= bit;
    }
    return true;
}

static PIM_ALWAYS_INLINE void add_credits(const struct noc_site *site, struct noc_outcome *outcome,
                                          struct noc_kind kind, unsigned port, uint32_t set)
{
    for (; set; set = kind.plain ? 0 : set & (set - 1)) { /* several only with input speedup */
        unsigned row = row_of(site, kind, port, pim_lowest_bit(set));
        const struct noc_sets *sets = sets_of(site, kind, row);
        site->router->outputs[row].credits++;
        assert(site->router->outputs[row].credits <= site->noc->configuration.buffer_flits);
        if (PIM_UNLIKELY((~sets->nonfull | sets->tail_sent) & bit_of(row)))
            outcome->noisy |= restore(*site, kind, row);
    }
}

/* The channels that repeat a pattern. Returns whether that is not calm. */
static PIM_NOINLINE bool add_patterns(struct pim_noc *noc, uint32_t node, uint64_t cycle,
                                      struct noc_kind kind, unsigned ports)
{
    struct noc_site site = site_of(noc, kind, node, cycle);
    struct noc_outcome outcome = {0};
    for (; ports; ports &= ports - 1) {
        unsigned port = pim_lowest_bit(ports);
        add_credits(&site, &outcome, kind, port,
                    pim_noc_pattern_entry(&site.mesh->credit_patterns[(size_t)site.node * NOC_PORTS + port],
                                          site.cycle - site.mesh->timing.credit_latency[port]));
    }
    return outcome.noisy;
}

static PIM_ALWAYS_INLINE void take_credits(const struct noc_site *site, struct noc_outcome *outcome,
                                           struct noc_kind kind)
{
    struct noc_router *router = site->router;
    struct noc_activity *carries = &router->carries;
    unsigned changed = site->slot->credit_ports, once = site->slot->credit_once;
    unsigned streams = carries->credit_streams & ~changed, still = streams;
    for (; streams; streams &= streams - 1) {
        unsigned port = pim_lowest_bit(streams);
        add_credits(site, outcome, kind, port, router->credit_in[port]);
    }
    carries->credit_repeats &= (uint8_t)~changed;
    for (; changed; changed &= changed - 1) {
        unsigned port = pim_lowest_bit(changed);
        uint32_t set = site->slot->credits[port];
        add_credits(site, outcome, kind, port, set);
        carries->credit_repeats |= (uint8_t)(pim_noc_credit_repeats(site->slot, port) << port);
        if (!(once >> port & 1) && set) {
            router->credit_in[port] = set;
            still |= 1U << port;
        }
    }
    carries->credit_streams = (uint8_t)still;
    if (PIM_UNLIKELY(carries->credit_repeats))
        outcome->noisy |= add_patterns(site->noc, site->node, site->cycle, kind, carries->credit_repeats);
}

#endif

/*
 * Writing the channels of a router. Invariants 2 to 4 of mesh.h.
 */
#ifndef PIMSIM_MODELS_NOC_MESH_CHANNELS_H
#define PIMSIM_MODELS_NOC_MESH_CHANNELS_H

#include "models/noc/mesh/evaluation.h"

/* channels.c: the output follows a pattern. Returns whether `value` is what the
 * pattern has for this cycle; else the pattern ends. */
bool pim_noc_flit_follows(struct noc_mesh *mesh, uint32_t node, uint64_t cycle, unsigned output,
                          uint32_t value);
bool pim_noc_credits_follow(struct noc_mesh *mesh, uint32_t node, uint64_t cycle, unsigned port,
                            uint32_t set);

/* Records a change of a flit channel in the slot of its reader. */
static PIM_ALWAYS_INLINE void pim_noc_post_flit(const struct noc_outbox *outbox, uint32_t reader,
                                                unsigned port, uint32_t value)
{
    struct noc_slot *slot = &outbox->slots[reader];
    slot->flits[port] = (uint16_t)value;
    slot->flit_ports |= (uint8_t)(1U << port);
    slot->head_ports |= (uint8_t)((value & NOC_HEAD) / NOC_HEAD << port);
    pim_noc_wake_in(&outbox->spoke, reader);
}

static PIM_ALWAYS_INLINE void pim_noc_post_credits(const struct noc_outbox *outbox, uint32_t reader,
                                                   unsigned port, uint32_t set, bool once)
{
    struct noc_slot *slot = &outbox->slots[reader];
    slot->credits[port] = set;
    slot->credit_ports |= (uint8_t)(1U << port);
    slot->credit_once = (uint8_t)((slot->credit_once & ~(1U << port)) | (unsigned)once << port);
    pim_noc_wake_in(&outbox->spoke, reader);
}

static PIM_ALWAYS_INLINE void pim_noc_post_terminal(struct noc_mesh *mesh, uint32_t node, uint64_t cycle,
                                                    uint32_t set, bool once)
{
    *pim_noc_terminal_slot(mesh, node, cycle + NOC_INJECTION_CREDIT) =
        (struct noc_terminal_slot){.credits = set, .changed = 1, .once = once};
    pim_noc_wake_in(&mesh->terminal_credited, node);
}

/* A flit of the packet in `input` leaves by an output to a neighbour. It is no
 * change when it goes with the stream. */
static PIM_ALWAYS_INLINE void write_flit(const struct noc_site *site, struct noc_outcome *outcome,
                                         struct noc_kind kind, unsigned output, uint32_t flit,
                                         const struct noc_input *input)
{
    struct noc_router *router = site->router;
    unsigned bit = 1U << output;
    outcome->flit_ports |= bit;
    if (kind.brief || PIM_LIKELY(flit & NOC_LONE && !(router->carries.flit_out_repeats & bit))) {
        ;
    } else if (PIM_UNLIKELY(router->carries.flit_out_repeats & bit)) {
        if (pim_noc_flit_follows(site->mesh, site->node, site->cycle, output, flit))
            return;
    } else if (!(flit & (NOC_HEAD | NOC_LONE)) && router->carries.flit_out_streams & bit &&
               router->flit_out_vc[output] == flit >> 8) {
        outcome->flit_streams |= bit;
        return;
    }
    if (!kind.brief && !(flit & NOC_LONE)) {
        outcome->flit_streams |= bit;
        router->flit_out_vc[output] = (uint8_t)(flit >> 8);
    }
    outcome->wrote_change = true;
    struct noc_slot *slot = &site->mesh->flits.slots[router->neighbour[output]];
    slot->packets[output ^ 1] = input->front;
    slot->x[output ^ 1] = input->x;
    slot->y[output ^ 1] = input->y;
    pim_noc_post_flit(&site->mesh->flits, router->neighbour[output], output ^ 1, flit);
}

/* The reader of the credits of an input is a router or the terminal that
 * injects; that of NOC_EJECTED is this router itself. */
static PIM_ALWAYS_INLINE void change_credits(const struct noc_site *site, struct noc_outcome *outcome,
                                             unsigned port, uint32_t set, bool once)
{
    struct noc_mesh *mesh = site->mesh;
    outcome->wrote_change = true;
    site->router->credits_changed[port] = (uint32_t)site->cycle + 1;
    if (port < NOC_TERMINAL)
        pim_noc_post_credits(&mesh->credits, site->router->neighbour[port], port ^ 1, set, once);
    else if (port == NOC_TERMINAL)
        pim_noc_post_terminal(mesh, site->node, site->cycle, set, once);
    else
        pim_noc_post_credits(&mesh->ejected, site->node, NOC_TERMINAL, set, once);
}

/* `tails`: all of them are for tails, which are not followed by others in the
 * next cycle. */
static PIM_ALWAYS_INLINE void write_credits(const struct noc_site *site, struct noc_outcome *outcome,
                                            unsigned port, uint32_t set, bool tails)
{
    struct noc_router *router = site->router;
    unsigned bit = 1U << port;
    outcome->credit_ports |= bit;
    if (PIM_UNLIKELY(router->carries.credit_out_repeats & bit)) {
        if (pim_noc_credits_follow(site->mesh, site->node, site->cycle, port, set))
            return;
    } else if (!tails && router->carries.credit_out_streams & bit && router->credit_out[port] == set) {
        outcome->credit_streams |= bit;
        return;
    }
    if (!tails) {
        outcome->credit_streams |= bit;
        router->credit_out[port] = set;
    }
    change_credits(site, outcome, port, set, tails);
}

/*
 * A credit for a tail may be added at once to the counter of the unit that will
 * use it, if that has so many that it cannot run out of them before it would
 * have learned of this one: then none of its decisions can tell. Its counters
 * must be accounted for up to now. `ahead`: the flit leaves so many cycles from
 * now. Returns whether it was added.
 */
static PIM_ALWAYS_INLINE bool add_early(const struct noc_site *site, struct noc_kind kind, unsigned port,
                                        unsigned vc, unsigned ahead)
{
    struct noc_mesh *mesh = site->mesh;
    if (port == NOC_TERMINAL) {
        struct noc_terminal *terminal = &mesh->terminals[site->node];
        uint16_t *credits = &mesh->terminal_credits[(size_t)site->node * mesh->vcs + vc];
        if (terminal->since < site->cycle || *credits < NOC_INJECTION_CREDIT + ahead)
            return false;
        ++*credits;
        terminal->clean_since = site->cycle + 2;
        return true;
    }
    bool own = port == NOC_EJECTED;
    uint32_t node = own ? site->node : site->router->neighbour[port];
    unsigned output = own ? NOC_TERMINAL : port ^ 1;
    struct noc_router *reader = router_of(mesh, kind, node);
    uint16_t *credits = &reader->outputs[row_of(site, kind, output, vc)].credits;
    if (reader->since < site->cycle || *credits < mesh->timing.credit_latency[output] + ahead)
        return false;
    ++*credits;
    reader->clean_since = site->cycle + 2;
    return true;
}

/* early.c: the reader takes the beginning, or the end, of a stream of credits
 * at once, if it sleeps and cannot tell. `ahead` as above. Returns whether it did. */
bool pim_noc_start_early(const struct noc_site *site, unsigned port, unsigned vc, unsigned ahead);
bool pim_noc_stop_early(const struct noc_site *site, unsigned port, unsigned vc, unsigned ahead);

/* The credit for one flit that leaves the buffer of an input, or that the
 * terminal will consume. */
static PIM_ALWAYS_INLINE void return_credit(const struct noc_site *site, struct noc_outcome *outcome,
                                            struct noc_kind kind, unsigned port, unsigned vc, bool tail)
{
    struct noc_router *router = site->router;
    unsigned bit = 1U << port, repeats = router->carries.credit_out_repeats & bit;
    uint32_t set = UINT32_C(1) << vc;
    if (kind.early &&
        (kind.brief ||
         PIM_LIKELY(tail &&
                    !((router->carries.credit_out_repeats | router->carries.credit_out_streams) & bit)))) {
        if (PIM_UNLIKELY(!add_early(site, kind, port, vc, 0)))
            write_credits(site, outcome, port, set, tail);
        return;
    }
    if (!kind.early || repeats) {
        write_credits(site, outcome, port, set, tail);
    } else if (router->carries.credit_out_streams & bit) {
        if (tail && router->credit_out[port] == set) {
            struct noc_site copy = *site; /* so that the other one stays in registers */
            if (pim_noc_stop_early(&copy, port, vc, 0)) {
                outcome->credit_ports |= bit;
                outcome->wrote_change = true;
                return;
            }
        }
        write_credits(site, outcome, port, set, tail);
    } else if (tail) {
        if (!add_early(site, kind, port, vc, 0))
            write_credits(site, outcome, port, set, tail);
    } else {
        struct noc_site copy = *site;
        if (pim_noc_start_early(&copy, port, vc, 0)) {
            outcome->credit_ports |= bit;
            outcome->credit_streams |= bit;
            outcome->wrote_change = true;
            router->credit_out[port] = set;
            return;
        }
        write_credits(site, outcome, port, set, false);
    }
}

/* The channels that would carry something by themselves, and on which nothing
 * was sent in this cycle. */
static PIM_ALWAYS_INLINE void write_silence(const struct noc_site *site, struct noc_outcome *outcome)
{
    struct noc_activity *carries = &site->router->carries;
    unsigned flits = (unsigned)(carries->flit_out_streams | carries->flit_out_repeats) & ~outcome->flit_ports;
    unsigned credits =
        (unsigned)(carries->credit_out_streams | carries->credit_out_repeats) & ~outcome->credit_ports;
    carries->flit_out_streams = (uint8_t)outcome->flit_streams;
    carries->credit_out_streams = (uint8_t)outcome->credit_streams;
    for (; flits; flits &= flits - 1) {
        unsigned port = pim_lowest_bit(flits);
        if (carries->flit_out_repeats >> port & 1 &&
            pim_noc_flit_follows(site->mesh, site->node, site->cycle, port, 0))
            continue;
        outcome->wrote_change = true;
        pim_noc_post_flit(&site->mesh->flits, site->router->neighbour[port], port ^ 1, 0);
    }
    for (; credits; credits &= credits - 1) {
        unsigned port = pim_lowest_bit(credits);
        if (!(carries->credit_out_repeats >> port & 1) ||
            !pim_noc_credits_follow(site->mesh, site->node, site->cycle, port, 0))
            change_credits(site, outcome, port, 0, false);
    }
}

#endif

/* The invariants of the flit-level mesh, counted out between two cycles, and who waits for what. */
#include "models/noc/internal.h"

#include <inttypes.h>

/* What a channel carries in the cycles of its reader to come: the present value or pattern, then the changes
 * under way. */
struct view {
    uint64_t value;
    bool pattern, credits;
};

static uint64_t look(struct view *view, bool changes, uint64_t change, const struct noc_pattern *pattern,
                     uint64_t sent)
{
    if (changes)
        *view = (struct view){change, change & NOC_PATTERN, view->credits};
    uint64_t entry = view->pattern ? pim_noc_pattern_entry(pattern, sent) : view->value;
    view->value = view->credits ? pim_noc_credit_successor(entry) : pim_noc_flit_successor(entry);
    return entry;
}

/* Flits for virtual channel `vc` that are on the channel into input `port` of `node`. */
static uint64_t flits_under_way(const struct noc_mesh *mesh, uint32_t node, unsigned port, unsigned vc)
{
    const struct noc_router *router = &mesh->routers[node];
    struct view view = {router->flit_in[port], router->flit_in_patterns >> port & 1, false};
    uint64_t flits = 0;
    uint32_t latency = mesh->timing.flit_latency[port];
    for (uint64_t time = mesh->origin; time < mesh->origin + latency; time++) {
        size_t slot = (size_t)node * mesh->ring + (time & (mesh->ring - 1));
        uint64_t entry =
            look(&view, mesh->flit_ports[slot] >> port & 1, mesh->flit_changes[slot * NOC_PORTS + port],
                 &mesh->flit_patterns[(size_t)node * NOC_PORTS + port], time - latency);
        flits += entry != 0 && pim_noc_entry_vc(entry) == vc;
    }
    return flits;
}

/* Credits for virtual channel `vc` that are on their way to output `port` of `node`. */
static uint64_t credits_under_way(const struct noc_mesh *mesh, uint32_t node, unsigned port, unsigned vc)
{
    const struct noc_router *router = &mesh->routers[node];
    struct view view = {router->credit_in[port], router->credit_in_patterns >> port & 1, true};
    uint64_t credits = 0;
    uint32_t latency = mesh->timing.credit_latency[port];
    for (uint64_t time = mesh->origin; time < mesh->origin + latency; time++) {
        size_t slot = (size_t)node * mesh->ring + (time & (mesh->ring - 1));
        uint64_t set =
            look(&view, mesh->credit_ports[slot] >> port & 1, mesh->credit_changes[slot * NOC_PORTS + port],
                 &mesh->credit_patterns[(size_t)node * NOC_PORTS + port], time - latency);
        credits += set >> vc & 1;
    }
    return credits;
}

static uint64_t terminal_credits_under_way(const struct noc_mesh *mesh, uint32_t node, unsigned vc)
{
    struct view view = {mesh->terminals[node].credit_in, mesh->terminals[node].credit_in_pattern, true};
    uint64_t credits = 0;
    for (uint64_t time = mesh->origin; time < mesh->origin + NOC_INJECTION_CREDIT; time++) {
        uint64_t change = mesh->terminal_changes[(size_t)node * mesh->ring + (time & (mesh->ring - 1))];
        credits +=
            look(&view, change, change, &mesh->terminal_patterns[node], time - NOC_INJECTION_CREDIT) >> vc &
            1;
    }
    return credits;
}

static enum pim_status check_credits(const struct pim_noc *noc, uint32_t node, unsigned vc,
                                     struct pim_error *error)
{
    const struct noc_mesh *mesh = noc->mesh;
    uint32_t size = noc->configuration.buffer_flits;
    size_t base = (size_t)node * NOC_PORTS * mesh->vcs;
    for (unsigned port = 0; port <= NOC_PORTS; port++) {
        uint64_t sum;
        if (port < NOC_TERMINAL) {
            uint32_t other = mesh->routers[node].neighbour[port];
            if (other == UINT32_MAX)
                continue;
            size_t there = ((size_t)other * NOC_PORTS + (port ^ 1)) * mesh->vcs + vc;
            sum = mesh->outputs[base + port * mesh->vcs + vc].credits + mesh->inputs[there].count +
                  flits_under_way(mesh, other, port ^ 1, vc) + credits_under_way(mesh, node, port, vc);
        } else if (port == NOC_TERMINAL) {
            sum =
                mesh->outputs[base + port * mesh->vcs + vc].credits + credits_under_way(mesh, node, port, vc);
        } else {
            sum = mesh->terminal_credits[(size_t)node * mesh->vcs + vc] +
                  mesh->inputs[base + NOC_TERMINAL * mesh->vcs + vc].count +
                  flits_under_way(mesh, node, NOC_TERMINAL, vc) + terminal_credits_under_way(mesh, node, vc);
        }
        if (sum != size)
            return pim_fail(error, PIM_INTERNAL,
                            "network cycle %" PRIu64
                            ": router %u, link %u, virtual channel %u: credits and flits add up to %" PRIu64
                            " instead of %u",
                            mesh->origin, node, port, vc, sum, size);
    }
    return PIM_OK;
}

/* Every virtual channel that is not free has exactly one owner. */
static enum pim_status check_owners(const struct pim_noc *noc, uint32_t node, struct pim_error *error)
{
    const struct noc_mesh *mesh = noc->mesh;
    const struct noc_router *router = &mesh->routers[node];
    uint32_t owned[NOC_PORTS] = {0};
    for (unsigned row = 0; row < NOC_PORTS * mesh->vcs; row++) {
        const struct noc_input *input = &mesh->inputs[(size_t)node * NOC_PORTS * mesh->vcs + row];
        unsigned port = row / mesh->vcs, vc = row % mesh->vcs;
        if (!((router->active[port] | router->allocated[port]) >> vc & 1))
            continue;
        uint32_t bit = UINT32_C(1) << input->output_vc;
        if (owned[input->route] & bit)
            return pim_fail(error, PIM_INTERNAL,
                            "network cycle %" PRIu64
                            ": router %u, output %u: virtual channel %u has two owners",
                            mesh->origin, node, input->route, input->output_vc);
        owned[input->route] |= bit;
    }
    for (unsigned port = 0; port < NOC_PORTS; port++) {
        uint32_t taken = pim_noc_all(mesh->vcs) & ~router->free[port];
        if ((owned[port] | router->tail_sent[port]) != taken || (owned[port] & router->tail_sent[port]) != 0)
            return pim_fail(error, PIM_INTERNAL,
                            "network cycle %" PRIu64 ": router %u, output %u: owners %#x, after their tails "
                            "%#x, but taken are %#x",
                            mesh->origin, node, port, owned[port], router->tail_sent[port], taken);
    }
    return PIM_OK;
}

/* Flits that have left a source and not yet won the switch to their destination's terminal, by counters
 * alone. */
static enum pim_status check_flits(const struct pim_noc *noc, struct pim_error *error)
{
    const struct noc_mesh *mesh = noc->mesh;
    uint64_t injected = 0, ejected = 0, held = 0;
    for (uint32_t node = 0; node < mesh->nodes; node++) {
        injected += mesh->terminals[node].link_flits;
        ejected += mesh->routers[node].link_flits[PIM_NOC_EJECT];
        for (unsigned row = 0; row < NOC_PORTS * mesh->vcs; row++) {
            unsigned port = row / mesh->vcs;
            if (port < NOC_TERMINAL && mesh->routers[node].neighbour[port] == UINT32_MAX)
                continue;
            held += mesh->inputs[(size_t)node * NOC_PORTS * mesh->vcs + row].count +
                    flits_under_way(mesh, node, port, row % mesh->vcs);
        }
    }
    if (injected != ejected + held)
        return pim_fail(error, PIM_INTERNAL,
                        "network cycle %" PRIu64 ": %" PRIu64 " flits injected, but %" PRIu64
                        " ejected and %" PRIu64 " under way",
                        mesh->origin, injected, ejected, held);
    if (pim_noc_idle(noc) &&
        (held != 0 || injected != noc->statistics.flits_sent || ejected != noc->statistics.flits_delivered))
        return pim_fail(error, PIM_INTERNAL,
                        "network cycle %" PRIu64 ": all packets are delivered, but %" PRIu64
                        " flits sent, %" PRIu64 " injected, %" PRIu64 " ejected",
                        mesh->origin, noc->statistics.flits_sent, injected, ejected);
    return PIM_OK;
}

enum pim_status pim_noc_check(struct pim_noc *noc, struct pim_error *error)
{
    struct noc_mesh *mesh = noc->mesh;
    if (!mesh)
        return PIM_OK;
    for (uint32_t node = 0; node < mesh->nodes; node++) {
        /* Who is waked up in the middle of a period goes on awake: that changes nothing but the cost. */
        pim_noc_router_settle(noc, node, mesh->origin);
        pim_noc_terminal_settle(noc, node, mesh->origin);
        if (mesh->routers[node].planned == mesh->origin)
            pim_noc_wake(&mesh->router_wheel, node, mesh->origin, mesh->origin);
    }
    enum pim_status status = check_flits(noc, error);
    for (uint32_t node = 0; node < mesh->nodes && status == PIM_OK; node++) {
        status = check_owners(noc, node, error);
        for (unsigned vc = 0; vc < mesh->vcs && status == PIM_OK; vc++)
            status = check_credits(noc, node, vc, error);
    }
    return status;
}

static const char *waiting_reason(const struct noc_router *router, const struct noc_input *input,
                                  unsigned port, uint32_t bit)
{
    if (router->routing[port] & bit)
        return "its route is being computed";
    if (router->bidding[port] & bit)
        return router->free[input->route] ? "it lost virtual-channel allocation"
                                          : "no virtual channel is free";
    if (router->allocated[port] & bit)
        return "its virtual channel is being allocated";
    if (!(router->filled[port] & bit))
        return "its next flit has not arrived";
    return router->credited[port] & bit ? "it competes for the switch"
                                        : "no credit: the buffer downstream is full";
}

size_t pim_noc_get_waiting(const struct pim_noc *noc, struct pim_noc_waiting *items, size_t capacity)
{
    const struct noc_mesh *mesh = noc->mesh;
    size_t count = 0;
    for (uint32_t node = 0; mesh && node < mesh->nodes; node++) {
        const struct noc_router *router = &mesh->routers[node];
        const struct noc_terminal *terminal = &mesh->terminals[node];
        for (unsigned row = 0; row < NOC_PORTS * mesh->vcs; row++) {
            const struct noc_input *input = &mesh->inputs[(size_t)node * NOC_PORTS * mesh->vcs + row];
            if (input->front == NOC_NO_PACKET)
                continue;
            const struct pim_noc_packet *packet = &noc->packets[input->front];
            unsigned port = row / mesh->vcs, vc = row % mesh->vcs;
            if (count++ < capacity)
                items[count - 1] = (struct pim_noc_waiting){
                    node,
                    port == NOC_TERMINAL ? PIM_NOC_INJECT : (enum pim_noc_direction)port,
                    vc,
                    packet->user,
                    packet->source,
                    packet->destination,
                    (enum pim_noc_direction)input->route,
                    waiting_reason(router, input, port, UINT32_C(1) << vc)};
        }
        uint32_t index = terminal->current != NOC_NO_PACKET ? terminal->current : terminal->queue_front;
        if (index == NOC_NO_PACKET)
            continue;
        const struct pim_noc_packet *packet = &noc->packets[index];
        bool begun = terminal->current != NOC_NO_PACKET;
        if (count++ < capacity)
            items[count - 1] = (struct pim_noc_waiting){node,
                                                        PIM_NOC_INJECT,
                                                        begun ? terminal->vc : UINT32_MAX,
                                                        packet->user,
                                                        packet->source,
                                                        packet->destination,
                                                        PIM_NOC_INJECT,
                                                        begun ? "its terminal has flits left to inject"
                                                              : "no virtual channel is free at its terminal"};
    }
    return count;
}

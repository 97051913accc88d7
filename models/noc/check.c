/* The invariants of the flit-level mesh, counted out between two cycles, and
 * who waits for what. */
#include "models/noc/internal.h"
#include "models/noc/mesh/mesh.h"

#include <inttypes.h>

enum pim_status pim_noc_check_sums(const struct pim_noc *noc, uint64_t injected, uint64_t ejected,
                                   uint64_t held, struct pim_error *error)
{
    const struct pim_noc_statistics *statistics = &noc->statistics;
    if (injected != ejected + held)
        return pim_fail(error, PIM_INTERNAL,
                        "network cycle %" PRIu64 ": %" PRIu64 " flits injected, but %" PRIu64
                        " ejected and %" PRIu64 " under way",
                        pim_noc_origin(noc), injected, ejected, held);
    if (pim_noc_idle(noc) &&
        (held != 0 || injected != statistics->flits_sent || ejected != statistics->flits_delivered))
        return pim_fail(error, PIM_INTERNAL,
                        "network cycle %" PRIu64 ": all packets are delivered, but %" PRIu64
                        " flits sent, %" PRIu64 " injected, %" PRIu64 " ejected",
                        pim_noc_origin(noc), statistics->flits_sent, injected, ejected);
    return PIM_OK;
}

enum pim_status pim_noc_check_owned(const struct pim_noc *noc, uint32_t router, unsigned port,
                                    uint32_t owners, uint32_t after, uint32_t taken, struct pim_error *error)
{
    if ((owners | after) == taken && (owners & after) == 0)
        return PIM_OK;
    return pim_fail(error, PIM_INTERNAL,
                    "network cycle %" PRIu64 ": router %u, output %u: owners %#x, after their tails %#x, but "
                    "taken are %#x",
                    pim_noc_origin(noc), router, port, owners, after, taken);
}

/* What a channel carries in the cycles of its reader to come: what it carries
 * at present by itself or by its pattern, then the changes under way. */
struct view {
    uint32_t value;
    bool repeats;
};

/* What a router's channels bring by themselves in a cycle is in its counters already (express.h). */
static bool in_advance(const struct noc_router *router, uint64_t time)
{
    return time < router->since && router->since != UINT64_MAX;
}

/* The first cycle whose flits a router has not sent: the next one, or a later one (express.h). */
static uint64_t unsent(const struct noc_mesh *mesh, uint32_t node)
{
    uint64_t until = pim_noc_router(mesh, node)->ahead_until;
    return until > 0 && until >= mesh->origin ? until + 1 : mesh->origin;
}

/* Flits for virtual channel `vc` that are on the channel into input `port` of
 * `node`. */
static uint64_t flits_under_way(const struct noc_mesh *mesh, uint32_t node, unsigned port, unsigned vc)
{
    const struct noc_router *router = pim_noc_router(mesh, node);
    struct view view = {
        router->carries.flit_streams >> port & 1 ? (uint32_t)router->flit_vc[port] << 8 | NOC_FLIT : 0,
        router->carries.flit_repeats >> port & 1};
    uint64_t flits = 0;
    uint32_t latency = mesh->timing.flit_latency[port];
    uint64_t end = latency + (port < NOC_TERMINAL ? unsent(mesh, router->neighbour[port]) : mesh->origin);
    for (uint64_t time = mesh->origin; time < end; time++) {
        const struct noc_slot *slot = &pim_noc_slots(mesh, time)[node];
        if (slot->flit_ports >> port & 1)
            view = (struct view){slot->flits[port] & NOC_REPEATS ? 0 : slot->flits[port],
                                 slot->flits[port] & NOC_REPEATS};
        uint32_t flit = view.value;
        if (view.repeats)
            flit =
                pim_noc_pattern_entry(&mesh->flit_patterns[(size_t)node * NOC_PORTS + port], time - latency);
        flits += flit != 0 && flit >> 8 == vc && !in_advance(router, time);
        view.value = flit & NOC_LONE ? 0 : flit;
    }
    return flits;
}

/* Credits for virtual channel `vc` that are on their way to output `port` of
 * `node`. */
static uint64_t credits_under_way(const struct noc_mesh *mesh, uint32_t node, unsigned port, unsigned vc)
{
    const struct noc_router *router = pim_noc_router(mesh, node);
    struct view view = {router->carries.credit_streams >> port & 1 ? router->credit_in[port] : 0,
                        router->carries.credit_repeats >> port & 1};
    uint64_t credits = 0;
    uint32_t latency = mesh->timing.credit_latency[port];
    uint64_t end = latency + unsent(mesh, port < NOC_TERMINAL ? router->neighbour[port] : node);
    for (uint64_t time = mesh->origin; time < end; time++) {
        const struct noc_slot *slot = &pim_noc_slots(mesh, time)[node];
        bool changed = slot->credit_ports >> port & 1;
        if (in_advance(router, time))
            credits -= view.value >> vc & 1;
        if (changed)
            view = (struct view){slot->credits[port], pim_noc_credit_repeats(slot, port)};
        uint32_t set = view.value;
        if (view.repeats)
            set = pim_noc_pattern_entry(&mesh->credit_patterns[(size_t)node * NOC_PORTS + port],
                                        time - latency);
        credits += set >> vc & 1;
        if (changed && slot->credit_once >> port & 1)
            view.value = 0;
    }
    return credits;
}

static uint64_t terminal_credits_under_way(const struct noc_mesh *mesh, uint32_t node, unsigned vc)
{
    struct view view = {mesh->terminals[node].credit_in, mesh->terminals[node].credit_repeats};
    uint64_t credits = 0;
    for (uint64_t time = mesh->origin; time < unsent(mesh, node) + NOC_INJECTION_CREDIT; time++) {
        const struct noc_terminal_slot *slot = pim_noc_terminal_slot(mesh, node, time);
        if (slot->changed)
            view = (struct view){slot->credits, slot->repeats};
        uint32_t set = view.value;
        if (view.repeats)
            set = pim_noc_pattern_entry(&mesh->terminal_patterns[node], time - NOC_INJECTION_CREDIT);
        credits += set >> vc & 1;
        if (slot->changed && slot->once)
            view.value = 0;
    }
    return credits;
}

static enum pim_status check_credits(const struct pim_noc *noc, uint32_t node, unsigned vc,
                                     struct pim_error *error)
{
    const struct noc_mesh *mesh = noc->mesh;
    uint32_t size = noc->configuration.buffer_flits;
    const struct noc_output *outputs = pim_noc_router(mesh, node)->outputs;
    const struct noc_input *inputs = pim_noc_inputs(mesh, pim_noc_router(mesh, node));
    for (unsigned port = 0; port <= NOC_PORTS; port++) {
        uint64_t sum;
        if (port < NOC_TERMINAL) {
            uint32_t other = pim_noc_router(mesh, node)->neighbour[port];
            if (other == UINT32_MAX)
                continue;
            size_t there = ((port ^ 1U) << mesh->shift) + vc;
            sum = outputs[(port << mesh->shift) + vc].credits +
                  pim_noc_inputs(mesh, pim_noc_router(mesh, other))[there].count +
                  flits_under_way(mesh, other, port ^ 1, vc) + credits_under_way(mesh, node, port, vc);
        } else if (port == NOC_TERMINAL) {
            sum = outputs[(port << mesh->shift) + vc].credits + credits_under_way(mesh, node, port, vc);
        } else {
            sum = mesh->terminal_credits[(size_t)node * mesh->vcs + vc] +
                  inputs[((unsigned)NOC_TERMINAL << mesh->shift) + vc].count +
                  flits_under_way(mesh, node, NOC_TERMINAL, vc) + terminal_credits_under_way(mesh, node, vc);
        }
        if (sum != size)
            return pim_fail(error, PIM_INTERNAL,
                            "network cycle %" PRIu64 ": router %u, link %u, virtual channel %u: credits and "
                            "flits add up to %" PRIu64 " instead of %u",
                            mesh->origin, node, port, vc, sum, size);
    }
    return PIM_OK;
}

/* Every virtual channel that is not free has exactly one owner. */
static enum pim_status check_owners(const struct pim_noc *noc, uint32_t node, struct pim_error *error)
{
    const struct noc_mesh *mesh = noc->mesh;
    const struct noc_router *router = pim_noc_router(mesh, node);
    uint64_t owned[NOC_WORDS_LIMIT] = {0};
    size_t rows = pim_noc_rows(mesh);
    for (unsigned row = 0; row < rows; row++) {
        unsigned output = pim_noc_inputs(mesh, router)[row].output;
        const struct noc_sets *sets = &router->sets[row / 64];
        if (!((sets->active | sets->allocated) >> row % 64 & 1))
            continue;
        uint64_t bit = UINT64_C(1) << output % 64;
        if (owned[output / 64] & bit)
            return pim_fail(
                error, PIM_INTERNAL,
                "network cycle %" PRIu64 ": router %u, output %u: virtual channel %u has two owners",
                mesh->origin, node, output >> mesh->shift, output - (output >> mesh->shift << mesh->shift));
        owned[output / 64] |= bit;
    }
    for (unsigned port = 0; port < NOC_PORTS; port++) {
        unsigned first = port << mesh->shift;
        const struct noc_sets *sets = &router->sets[first / 64];
        uint32_t all = pim_noc_all(mesh->vcs), taken = all & (uint32_t) ~(sets->free >> first % 64);
        uint32_t owners = all & (uint32_t)(owned[first / 64] >> first % 64);
        uint32_t after = all & (uint32_t)(sets->tail_sent >> first % 64);
        if (pim_noc_check_owned(noc, node, port, owners, after, taken, error) != PIM_OK)
            return error->status;
    }
    return PIM_OK;
}

/* Flits that have left a source and not yet won the switch to their
 * destination's terminal, by counters alone. */
static enum pim_status check_flits(const struct pim_noc *noc, struct pim_error *error)
{
    const struct noc_mesh *mesh = noc->mesh;
    uint64_t injected = 0, ejected = 0, held = 0;
    for (uint32_t node = 0; node < mesh->nodes; node++) {
        injected += mesh->terminals[node].link_flits;
        ejected += pim_noc_router(mesh, node)->link_flits[PIM_NOC_EJECT];
        size_t rows = pim_noc_rows(mesh);
        for (unsigned row = 0; row < rows; row++) {
            unsigned port = row >> mesh->shift;
            if (port < NOC_TERMINAL && pim_noc_router(mesh, node)->neighbour[port] == UINT32_MAX)
                continue;
            held += pim_noc_inputs(mesh, pim_noc_router(mesh, node))[row].count +
                    flits_under_way(mesh, node, port, row - (port << mesh->shift));
        }
    }
    return pim_noc_check_sums(noc, injected, ejected, held, error);
}

enum pim_status pim_noc_mesh_check(struct pim_noc *noc, struct pim_error *error)
{
    struct noc_mesh *mesh = noc->mesh;
    for (uint32_t node = 0; node < mesh->nodes; node++) {
        /* Who is waked up in the middle of a period goes on awake: that changes
     * nothing but the cost. */
        pim_noc_router_settle(noc, node, mesh->origin);
        pim_noc_terminal_settle(noc, node, mesh->origin);
        if (pim_noc_router(mesh, node)->planned == mesh->origin)
            pim_noc_wake(&mesh->router_wheel, node, mesh->origin, mesh->origin);
    }
    enum pim_status status = check_flits(noc, error);
    for (uint32_t node = 0; node < mesh->nodes && status == PIM_OK && mesh->brief; node++)
        if (pim_noc_carried(&pim_noc_router(mesh, node)->carries) != 0)
            status = pim_fail(error, PIM_INTERNAL,
                              "network cycle %" PRIu64 ": router %u: a channel carries something by itself, "
                              "but no packet is a run",
                              mesh->origin, node);
    for (uint32_t node = 0; node < mesh->nodes && status == PIM_OK; node++) {
        status = check_owners(noc, node, error);
        for (unsigned vc = 0; vc < mesh->vcs && status == PIM_OK; vc++)
            status = check_credits(noc, node, vc, error);
    }
    return status;
}

/* Fills in why the packet at the front of a row waits. */
static void explain(const struct noc_mesh *mesh, const struct noc_router *router, unsigned row,
                    struct pim_noc_waiting *item)
{
    const struct noc_sets *sets = &router->sets[row / 64];
    unsigned output = pim_noc_inputs(mesh, router)[row].output, first = output >> mesh->shift << mesh->shift;
    uint64_t bit = UINT64_C(1) << row % 64;
    if ((sets->active | sets->allocated) & bit)
        item->ahead_channel = output - first;
    if ((sets->routing | sets->queued) & bit) {
        item->reason = "its route is being computed";
    } else if (sets->bidding & bit) {
        uint32_t vcs = mesh->routed ? mesh->allowed[item->node * pim_noc_rows(mesh) + row] : mesh->all;
        bool free = (router->sets[first / 64].free >> first % 64 & vcs) != 0;
        item->reason = free ? "it lost virtual-channel allocation" : "no virtual channel is free";
        item->lack = free ? PIM_NOC_LACKS_NOTHING : PIM_NOC_LACKS_CHANNEL;
    } else if (sets->allocated & bit) {
        item->reason = "its virtual channel is being allocated";
    } else if (!(sets->filled & bit)) {
        item->reason = "its next flit has not arrived";
        item->lack = PIM_NOC_LACKS_FLIT;
    } else if (sets->credited & bit) {
        item->reason = "it competes for the switch";
    } else {
        item->reason = "no credit: the buffer downstream is full";
        item->lack = PIM_NOC_LACKS_CREDIT;
    }
}

/* A packet that its terminal injects, or will. */
static struct pim_noc_waiting waiting_source(const struct pim_noc *noc, uint32_t node, uint32_t index)
{
    const struct noc_terminal *terminal = &noc->mesh->terminals[node];
    const struct pim_noc_packet *packet = &noc->packets[index];
    bool begun = terminal->current != NOC_NO_PACKET;
    return (struct pim_noc_waiting){
        .node = node,
        .input = PIM_NOC_INJECT,
        .virtual_channel = begun ? terminal->vc : UINT32_MAX,
        .packet = packet->user,
        .source = packet->source,
        .destination = packet->destination,
        .output = PIM_NOC_INJECT,
        .reason =
            begun ? "its terminal has flits left to inject" : "no virtual channel is free at its terminal",
        .lack = !begun                                  ? PIM_NOC_LACKS_CHANNEL
                : terminal->nonfull >> terminal->vc & 1 ? PIM_NOC_LACKS_NOTHING
                                                        : PIM_NOC_LACKS_CREDIT,
        .place = UINT32_MAX,
        .ahead = node * NOC_PORTS + NOC_TERMINAL,
        .ahead_channel = begun ? terminal->vc : UINT32_MAX,
    };
}

size_t pim_noc_mesh_waiting(const struct pim_noc *noc, struct pim_noc_waiting *items, size_t capacity)
{
    const struct noc_mesh *mesh = noc->mesh;
    size_t count = 0, rows = pim_noc_rows(mesh);
    for (uint32_t node = 0; node < mesh->nodes; node++) {
        const struct noc_router *router = pim_noc_router(mesh, node);
        const struct noc_terminal *terminal = &mesh->terminals[node];
        for (unsigned row = 0; row < rows; row++) {
            const struct noc_input *input = &pim_noc_inputs(mesh, router)[row];
            if (input->front == NOC_NO_PACKET)
                continue;
            if (count++ >= capacity)
                continue;
            const struct pim_noc_packet *packet = &noc->packets[input->front];
            unsigned port = row >> mesh->shift, output = input->output >> mesh->shift;
            items[count - 1] = (struct pim_noc_waiting){
                .node = node,
                .input = port == NOC_TERMINAL ? PIM_NOC_INJECT : (enum pim_noc_direction)port,
                .virtual_channel = row - (port << mesh->shift),
                .packet = packet->user,
                .source = packet->source,
                .destination = packet->destination,
                .output = (enum pim_noc_direction)output,
                .place = node * NOC_PORTS + port,
                .ahead = output == NOC_TERMINAL ? UINT32_MAX
                                                : router->neighbour[output] * NOC_PORTS + (output ^ 1),
                .ahead_channel = UINT32_MAX,
            };
            explain(mesh, router, row, &items[count - 1]);
        }
        uint32_t index = terminal->current != NOC_NO_PACKET ? terminal->current : terminal->queue_front;
        if (index != NOC_NO_PACKET && count++ < capacity)
            items[count - 1] = waiting_source(noc, node, index);
    }
    return count;
}

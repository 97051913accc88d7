/*
 * The flit-level mesh: storage, the agenda, and one network cycle.
 *
 * Routers and terminals see each other only through channels of at least two
 * cycles, so the order in which units are evaluated inside a cycle has no
 * influence; units are visited by ascending node.
 */
#include "models/noc/mesh/mesh.h"
#include "models/noc/general/setup.h"
#include "models/noc/internal.h"
#include "sim/arena.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static void set_timing(struct noc_mesh *mesh, const struct pim_noc_configuration *configuration)
{
    struct noc_timing *timing = &mesh->timing;
    uint32_t crossing = configuration->switch_allocation_delay + configuration->switch_traversal_delay;
    for (unsigned port = 0; port < NOC_TERMINAL; port++) {
        timing->flit_latency[port] = crossing + configuration->link_latency;
        timing->credit_latency[port] = configuration->link_latency + 1 + configuration->credit_delay;
    }
    timing->ejection = crossing + 1;
    timing->flit_latency[NOC_TERMINAL] = NOC_INJECTION;
    timing->credit_latency[NOC_TERMINAL] = timing->ejection + 2 + configuration->credit_delay;
    uint32_t longest = larger(timing->flit_latency[0],
                              larger(timing->credit_latency[0], timing->credit_latency[NOC_TERMINAL]));
    mesh->ring = 1;
    while (mesh->ring <= longest + NOC_EXPRESS) /* patterns are announced a cycle ahead, and express.h */
        mesh->ring *= 2;
    assert(mesh->ring < PIM_NOC_HORIZON);
}

/* The timing must have been set. */
static void set_shape(struct noc_mesh *mesh, const struct pim_noc_configuration *configuration)
{
    mesh->nodes = configuration->width * configuration->height;
    mesh->vcs = configuration->virtual_channels;
    mesh->shift = NOC_SINGLE_SHIFT;
    while (1U << mesh->shift < mesh->vcs)
        mesh->shift++;
    mesh->all = pim_noc_all(mesh->vcs);
    for (unsigned port = 0; port < NOC_PORTS; port++)
        for (unsigned vc = 0; vc < mesh->vcs; vc++) {
            unsigned next_port = port + 1 < NOC_PORTS ? (port + 1) << mesh->shift : 0;
            mesh->next_row[(port << mesh->shift) + vc] =
                (uint8_t)(vc + 1 < mesh->vcs ? (port << mesh->shift) + vc + 1 : next_port);
        }
    mesh->router_size = pim_noc_router_bytes(mesh->shift);
    mesh->words = (unsigned)(pim_noc_rows(mesh) + 63) / 64;
    mesh->plain = configuration->routing_delay == 1 && configuration->vc_allocation_delay == 1 &&
                  configuration->input_speedup == 1 && !configuration->speculative &&
                  !configuration->hold_switch_for_packet &&
                  configuration->switch_allocator == PIM_NOC_ISLIP && configuration->switch_iterations == 1 &&
                  configuration->vc_iterations == 1;
    mesh->brief = true;
    mesh->crowd =
        (struct noc_crowd){.window = (uint64_t)NOC_WINDOW * mesh->nodes, .patience = NOC_PATIENCE_LEAST};
    mesh->large = mesh->nodes * mesh->router_size > NOC_NEAR_BYTES;
    mesh->routed = pim_noc_configuration_is_routed(configuration);
    mesh->two_phases = configuration->routing == PIM_NOC_VALIANT || configuration->routing == PIM_NOC_ROMM;
    mesh->early_credits = !configuration->wait_for_tail_credit && !configuration->step_every_cycle;
    pim_noc_choose_run(mesh, pim_has_bit_manipulation() && !configuration->portable);
}

static void initialize_router(const struct pim_noc *noc, uint32_t node)
{
    struct noc_mesh *mesh = noc->mesh;
    const struct pim_noc_configuration *configuration = &noc->configuration;
    struct noc_router *router = pim_noc_router(mesh, node);
    router->period = 1;
    router->since = router->planned = UINT64_MAX; /* it sleeps until something comes */
    mesh->rhythms[node].snapshot_cycle = NOC_NO_SNAPSHOT;
    router->x = (uint8_t)(node % configuration->width);
    router->y = (uint8_t)(node / configuration->width);
    for (unsigned direction = 0; direction < 4; direction++)
        router->neighbour[direction] =
            pim_noc_neighbour(configuration, node, (enum pim_noc_direction)direction);
    for (unsigned port = 0; port < NOC_PORTS; port++) {
        unsigned first = port << mesh->shift;
        router->sets[first / 64].free |= (uint64_t)pim_noc_all(mesh->vcs) << first % 64;
    }
    for (unsigned word = 0; word < mesh->words; word++)
        router->sets[word].nonfull = router->sets[word].free;
    for (unsigned crossbar = 0; crossbar < NOC_PORTS * configuration->input_speedup; crossbar++)
        router->arbiter.crossbar[crossbar].vc = (uint8_t)(crossbar % configuration->input_speedup);
    for (size_t row = 0; row < pim_noc_rows(mesh); row++) {
        pim_noc_inputs(mesh, router)[row].front = NOC_NO_PACKET;
        router->outputs[row].credits = (uint16_t)configuration->buffer_flits;
    }
}

static void initialize_terminal(const struct pim_noc *noc, uint32_t node)
{
    struct noc_mesh *mesh = noc->mesh;
    struct noc_terminal *terminal = &mesh->terminals[node];
    terminal->queue_front = terminal->current = NOC_NO_PACKET;
    terminal->period = 1;
    terminal->snapshot_cycle = NOC_NO_SNAPSHOT;
    terminal->nonfull = pim_noc_all(mesh->vcs);
    terminal->last_vc = (uint8_t)(mesh->vcs - 1);
    for (unsigned vc = 0; vc < mesh->vcs; vc++)
        mesh->terminal_credits[(size_t)node * mesh->vcs + vc] = (uint16_t)noc->configuration.buffer_flits;
}

enum pim_status pim_noc_mesh_create(struct pim_noc *noc, struct pim_error *error)
{
    struct noc_mesh *mesh = noc->mesh = calloc(1, sizeof *mesh);
    if (!mesh)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for a network on chip");
    set_timing(mesh, &noc->configuration);
    set_shape(mesh, &noc->configuration);
    if (mesh->routed &&
        pim_noc_general_plan(&noc->configuration, &mesh->topology, &mesh->routing, error) != PIM_OK)
        return error->status;
    size_t nodes = mesh->nodes, ring = mesh->ring, rows = nodes * pim_noc_rows(mesh);
    bool failed = false;
    mesh->routers = pim_lines_allocate(nodes, mesh->router_size, &failed);
    mesh->terminals = pim_lines_allocate(nodes, sizeof *mesh->terminals, &failed);
    mesh->left_high = pim_lines_allocate(rows, sizeof *mesh->left_high, &failed);
    if (!mesh->plain)
        mesh->ready = pim_lines_allocate(rows, sizeof *mesh->ready, &failed);
    if (mesh->routed)
        mesh->allowed = pim_lines_allocate(rows, sizeof *mesh->allowed, &failed);
    mesh->terminal_credits = pim_lines_allocate(nodes * mesh->vcs, sizeof *mesh->terminal_credits, &failed);
    mesh->slots = pim_lines_allocate(nodes * ring, sizeof *mesh->slots, &failed);
    mesh->terminal_slots = pim_lines_allocate(nodes * ring, sizeof *mesh->terminal_slots, &failed);
    mesh->flit_patterns = pim_lines_allocate(nodes * NOC_PORTS, sizeof *mesh->flit_patterns, &failed);
    mesh->credit_patterns = pim_lines_allocate(nodes * NOC_PORTS, sizeof *mesh->credit_patterns, &failed);
    mesh->terminal_patterns = pim_lines_allocate(nodes, sizeof *mesh->terminal_patterns, &failed);
    mesh->rhythms = pim_lines_allocate(nodes, sizeof *mesh->rhythms, &failed);
    mesh->terminal_snapshots =
        pim_lines_allocate(nodes * mesh->vcs, sizeof *mesh->terminal_snapshots, &failed);
    pim_noc_wheel_create(&mesh->router_wheel, mesh->nodes, &failed);
    pim_noc_wheel_create(&mesh->terminal_wheel, mesh->nodes, &failed);
    if (failed)
        return pim_fail(error, PIM_NO_MEMORY,
                        "no memory for a network on chip of %u x %u routers with "
                        "%u virtual channels",
                        noc->configuration.width, noc->configuration.height, mesh->vcs);
    for (uint32_t node = 0; node < mesh->nodes; node++) {
        initialize_router(noc, node);
        initialize_terminal(noc, node);
    }
    return PIM_OK;
}

void pim_noc_mesh_destroy(struct noc_mesh *mesh)
{
    if (!mesh)
        return;
    free(mesh->routers);
    free(mesh->terminals);
    free(mesh->left_high);
    free(mesh->ready);
    free(mesh->terminal_credits);
    free(mesh->slots);
    free(mesh->terminal_slots);
    free(mesh->flit_patterns);
    free(mesh->credit_patterns);
    free(mesh->terminal_patterns);
    free(mesh->rhythms);
    free(mesh->terminal_snapshots);
    pim_noc_wheel_destroy(&mesh->router_wheel);
    pim_noc_wheel_destroy(&mesh->terminal_wheel);
    free(mesh->due);
    free(mesh->packets);
    free(mesh->allowed);
    pim_noc_routing_destroy(mesh->routing);
    pim_noc_topology_destroy(mesh->topology);
    free(mesh);
}

/* `index`: of the packet; the number of it among all that have been sent decides what it draws. */
static void start_packet(struct pim_noc *noc, uint32_t index, uint32_t class)
{
    struct noc_mesh *mesh = noc->mesh;
    const struct pim_noc_packet *packet = &noc->packets[index];
    while (index >= mesh->packet_capacity)
        mesh->packets = pim_noc_grow(mesh->packets, &mesh->packet_capacity, sizeof *mesh->packets);
    mesh->packets[index].hops = 0;
    pim_noc_packet_start(mesh->routing, noc->statistics.packets_sent - 1, packet->source, packet->destination,
                         class, &mesh->packets[index].state);
}

void pim_noc_mesh_send(struct pim_noc *noc, uint64_t cycle, uint32_t index, uint32_t class)
{
    struct noc_mesh *mesh = noc->mesh;
    struct pim_noc_packet *packet = &noc->packets[index];
    struct noc_terminal *terminal = &mesh->terminals[packet->source];
    assert(cycle >= mesh->origin);
    if (mesh->routed)
        start_packet(noc, index, class);
    packet->next = NOC_NO_PACKET;
    if (terminal->queue_front == NOC_NO_PACKET)
        terminal->queue_front = index;
    else
        noc->packets[terminal->queue_back].next = index;
    terminal->queue_back = index;
    if (mesh->origin < cycle) {
        assert(pim_noc_mesh_next(mesh) >= cycle);
        mesh->origin = cycle;
    }
    if (terminal->current == NOC_NO_PACKET) /* else it looks at its queue when the tail has left */
        pim_noc_wake(&mesh->terminal_wheel, packet->source, cycle, mesh->origin);
}

uint64_t pim_noc_mesh_next(const struct noc_mesh *mesh)
{
    const struct pim_noc_wheel *const wheels[] = {&mesh->router_wheel, &mesh->terminal_wheel};
    uint64_t next = pim_noc_wheels_next(wheels, 2, mesh->origin);
    uint64_t due = mesh->due_count ? mesh->due[mesh->due_first].time : UINT64_MAX;
    return due < next ? due : next;
}

/* The ring is in order of time, and of node within a cycle. (Tails reach their terminals after the same time,
 * so most come behind all others; express.h knows of some two cycles early.) */
void pim_noc_mesh_deliver_at(struct pim_noc *noc, uint64_t time, uint32_t packet)
{
    struct noc_mesh *mesh = noc->mesh;
    if (mesh->due_count == mesh->due_capacity) {
        size_t old = mesh->due_capacity;
        mesh->due = pim_noc_grow(mesh->due, &mesh->due_capacity, sizeof *mesh->due);
        for (size_t i = 0; i < mesh->due_first; i++) /* the part that had wrapped around */
            mesh->due[old + i] = mesh->due[i];
    }
    size_t mask = mesh->due_capacity - 1, place = mesh->due_first + mesh->due_count++;
    for (; place != mesh->due_first; place--) {
        struct noc_due before = mesh->due[(place - 1) & mask];
        if (before.time < time || (before.time == time && noc->packets[before.packet].destination <
                                                              noc->packets[packet].destination))
            break;
        mesh->due[place & mask] = before;
    }
    mesh->due[place & mask] = (struct noc_due){time, packet};
}

static struct noc_outbox outbox(struct noc_mesh *mesh, uint64_t time)
{
    return (struct noc_outbox){pim_noc_slots(mesh, time), pim_noc_spoke_at(&mesh->router_wheel, time)};
}

void pim_noc_mesh_step(struct pim_noc *noc, uint64_t cycle)
{
    struct noc_mesh *mesh = noc->mesh;
    mesh->origin = cycle + 1;
    mesh->now = pim_noc_slots(mesh, cycle);
    for (unsigned i = 0; i < NOC_EXPRESS; i++)
        mesh->next[i] = pim_noc_slots(mesh, cycle + 1 + i);
    mesh->injected = outbox(mesh, cycle + NOC_INJECTION);
    mesh->flits = outbox(mesh, cycle + mesh->timing.flit_latency[0]);
    mesh->express = outbox(mesh, cycle + NOC_EXPRESS + mesh->timing.flit_latency[0]);
    mesh->credits = outbox(mesh, cycle + mesh->timing.credit_latency[0]);
    mesh->ejected = outbox(mesh, cycle + mesh->timing.credit_latency[NOC_TERMINAL]);
    mesh->next_routers = pim_noc_spoke_at(&mesh->router_wheel, cycle + 1);
    mesh->next_terminals = pim_noc_spoke_at(&mesh->terminal_wheel, cycle + 1);
    mesh->terminal_credited = pim_noc_spoke_at(&mesh->terminal_wheel, cycle + NOC_INJECTION_CREDIT);
    struct pim_noc_visit visit = pim_noc_visit(&mesh->terminal_wheel, cycle);
    while (pim_noc_visit_word(&visit))
        for (; visit.units; visit.units &= visit.units - 1)
            pim_noc_terminal_evaluate(noc, visit.word * 64 + pim_lowest_bit(visit.units), cycle);
    pim_noc_run_routers(noc, cycle);
    while (mesh->due_count && mesh->due[mesh->due_first].time == cycle) {
        uint32_t packet = mesh->due[mesh->due_first].packet;
        pim_noc_note_arrived(noc, packet);
        if (!noc->packets[packet].by_flit && --mesh->runs == 0)
            mesh->quiet_from = cycle + mesh->ring; /* what has been written is read by then */
        mesh->due_first = (mesh->due_first + 1) & (mesh->due_capacity - 1);
        mesh->due_count--;
    }
}

/* Flits that are counted but leave in `end` or later (express.h). */
static uint64_t flits_ahead(const struct noc_router *router, unsigned output, uint64_t end)
{
    uint64_t until = router->ahead_until;
    if (until < end || until == 0) /* none is ahead in cycle 0 */
        return 0;
    uint64_t cycles = until - end < NOC_EXPRESS ? until - end + 1 : NOC_EXPRESS + 1;
    return (router->ahead_last >> output & 1) + (router->ahead_always >> output & 1 ? cycles : 0);
}

uint64_t pim_noc_mesh_link_flits(const struct pim_noc *noc, uint32_t node, enum pim_noc_direction direction,
                                 uint64_t end)
{
    const struct noc_mesh *mesh = noc->mesh;
    if (direction == PIM_NOC_INJECT)
        return mesh->terminals[node].link_flits + pim_noc_terminal_slept_flits(&mesh->terminals[node], end);
    const struct noc_router *router = pim_noc_router(mesh, node);
    return router->link_flits[direction] - flits_ahead(router, direction, end) +
           pim_noc_router_slept_flits(mesh, node, direction, end);
}

uint64_t pim_noc_mesh_link_blocked(const struct pim_noc *noc, uint32_t node, enum pim_noc_direction direction,
                                   uint64_t end)
{
    const struct noc_mesh *mesh = noc->mesh;
    if (direction == PIM_NOC_INJECT)
        return mesh->terminals[node].link_blocked +
               pim_noc_terminal_slept_blocked(&mesh->terminals[node], end);
    return pim_noc_router(mesh, node)->link_blocked[direction] +
           pim_noc_router_slept_blocked(mesh, node, direction, end);
}

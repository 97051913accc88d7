/*
 * The flit-level mesh: storage, the agenda, and one network cycle.
 *
 * Routers and terminals see each other only through channels of at least two cycles, so the order in which
 * units are evaluated inside a cycle has no influence; units are visited by ascending node.
 */
#include "models/noc/internal.h"

#include <assert.h>
#include <stdlib.h>

static bool wheel_create(struct pim_noc_wheel *wheel, uint32_t units)
{
    wheel->words = (units + 63) / 64;
    wheel->groups = (wheel->words + 63) / 64;
    wheel->sets = calloc((size_t)PIM_NOC_HORIZON * wheel->words, sizeof *wheel->sets);
    wheel->touched = calloc((size_t)PIM_NOC_HORIZON * wheel->groups, sizeof *wheel->touched);
    return wheel->sets && wheel->touched;
}

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
    while (mesh->ring <= longest + 1) /* a pattern is announced a cycle ahead */
        mesh->ring *= 2;
    assert(mesh->ring < PIM_NOC_HORIZON);
}

static void initialize_units(struct pim_noc *noc)
{
    struct noc_mesh *mesh = noc->mesh;
    const struct pim_noc_configuration *configuration = &noc->configuration;
    uint32_t all = pim_noc_all(mesh->vcs);
    for (uint32_t node = 0; node < mesh->nodes; node++) {
        struct noc_router *router = &mesh->routers[node];
        router->period = 1;
        mesh->rhythms[node].snapshot_cycle = NOC_NO_SNAPSHOT;
        router->x = (uint16_t)(node % configuration->width);
        router->y = (uint16_t)(node / configuration->width);
        for (unsigned direction = 0; direction < 4; direction++)
            router->neighbour[direction] =
                pim_noc_neighbour(configuration, node, (enum pim_noc_direction)direction);
        for (unsigned port = 0; port < NOC_PORTS; port++)
            router->free[port] = router->nonfull[port] = all;
        for (unsigned row = 0; row < NOC_PORTS * configuration->input_speedup; row++)
            router->arbiter.vc[row] = (uint8_t)(row % configuration->input_speedup);
        struct noc_terminal *terminal = &mesh->terminals[node];
        terminal->queue_front = terminal->current = NOC_NO_PACKET;
        terminal->period = 1;
        terminal->snapshot_cycle = NOC_NO_SNAPSHOT;
        terminal->nonfull = all;
        terminal->last_vc = (uint8_t)(mesh->vcs - 1);
    }
    size_t channels = (size_t)mesh->nodes * NOC_PORTS * mesh->vcs;
    for (size_t i = 0; i < channels; i++) {
        mesh->inputs[i].front = NOC_NO_PACKET;
        mesh->outputs[i].credits = configuration->buffer_flits;
    }
    for (size_t i = 0; i < (size_t)mesh->nodes * mesh->vcs; i++)
        mesh->terminal_credits[i] = configuration->buffer_flits;
}

enum pim_status pim_noc_mesh_create(struct pim_noc *noc, struct pim_error *error)
{
    struct noc_mesh *mesh = noc->mesh = calloc(1, sizeof *mesh);
    if (!mesh)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for a network on chip");
    mesh->nodes = noc->configuration.width * noc->configuration.height;
    mesh->vcs = noc->configuration.virtual_channels;
    set_timing(mesh, &noc->configuration);
    size_t nodes = mesh->nodes, ring = mesh->ring;
    mesh->routers = calloc(nodes, sizeof *mesh->routers);
    mesh->terminals = calloc(nodes, sizeof *mesh->terminals);
    mesh->inputs = calloc(nodes * NOC_PORTS * mesh->vcs, sizeof *mesh->inputs);
    mesh->outputs = calloc(nodes * NOC_PORTS * mesh->vcs, sizeof *mesh->outputs);
    mesh->terminal_credits = calloc(nodes * mesh->vcs, sizeof *mesh->terminal_credits);
    mesh->flit_changes = calloc(nodes * ring * NOC_PORTS, sizeof *mesh->flit_changes);
    mesh->credit_changes = calloc(nodes * ring * NOC_PORTS, sizeof *mesh->credit_changes);
    mesh->flit_ports = calloc(nodes * ring, sizeof *mesh->flit_ports);
    mesh->credit_ports = calloc(nodes * ring, sizeof *mesh->credit_ports);
    mesh->terminal_changes = calloc(nodes * ring, sizeof *mesh->terminal_changes);
    mesh->flit_patterns = calloc(nodes * NOC_PORTS, sizeof *mesh->flit_patterns);
    mesh->credit_patterns = calloc(nodes * NOC_PORTS, sizeof *mesh->credit_patterns);
    mesh->terminal_patterns = calloc(nodes, sizeof *mesh->terminal_patterns);
    mesh->rhythms = calloc(nodes, sizeof *mesh->rhythms);
    mesh->snapshots = calloc(nodes * NOC_PORTS * mesh->vcs * 2, sizeof *mesh->snapshots);
    mesh->terminal_snapshots = calloc(nodes * mesh->vcs, sizeof *mesh->terminal_snapshots);
    bool patterns = mesh->flit_patterns && mesh->credit_patterns && mesh->terminal_patterns &&
                    mesh->rhythms && mesh->snapshots && mesh->terminal_snapshots;
    bool agenda =
        wheel_create(&mesh->router_wheel, mesh->nodes) && wheel_create(&mesh->terminal_wheel, mesh->nodes);
    if (!agenda || !patterns || !mesh->routers || !mesh->terminals || !mesh->inputs || !mesh->outputs ||
        !mesh->terminal_credits || !mesh->flit_changes || !mesh->credit_changes || !mesh->flit_ports ||
        !mesh->credit_ports || !mesh->terminal_changes)
        return pim_fail(error, PIM_NO_MEMORY,
                        "no memory for a network on chip of %u x %u routers with %u virtual channels",
                        noc->configuration.width, noc->configuration.height, mesh->vcs);
    initialize_units(noc);
    return PIM_OK;
}

void pim_noc_mesh_destroy(struct noc_mesh *mesh)
{
    if (!mesh)
        return;
    free(mesh->routers);
    free(mesh->terminals);
    free(mesh->inputs);
    free(mesh->outputs);
    free(mesh->terminal_credits);
    free(mesh->flit_changes);
    free(mesh->credit_changes);
    free(mesh->flit_ports);
    free(mesh->credit_ports);
    free(mesh->terminal_changes);
    free(mesh->flit_patterns);
    free(mesh->credit_patterns);
    free(mesh->terminal_patterns);
    free(mesh->rhythms);
    free(mesh->snapshots);
    free(mesh->terminal_snapshots);
    free(mesh->router_wheel.sets);
    free(mesh->router_wheel.touched);
    free(mesh->terminal_wheel.sets);
    free(mesh->terminal_wheel.touched);
    free(mesh->due);
    free(mesh);
}

void pim_noc_mesh_send(struct pim_noc *noc, uint64_t cycle, uint32_t index)
{
    struct noc_mesh *mesh = noc->mesh;
    struct pim_noc_packet *packet = &noc->packets[index];
    struct noc_terminal *terminal = &mesh->terminals[packet->source];
    assert(cycle >= mesh->origin);
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
    uint64_t routers = pim_noc_wheel_next(&mesh->router_wheel, mesh->origin);
    uint64_t terminals = pim_noc_wheel_next(&mesh->terminal_wheel, mesh->origin);
    uint64_t due = mesh->due_count ? mesh->due[mesh->due_first].time : UINT64_MAX;
    uint64_t next = routers < terminals ? routers : terminals;
    return due < next ? due : next;
}

/* All tails reach their terminals after the same time, so the ring is in order of time, and of node within a
 * cycle. */
void pim_noc_mesh_deliver_at(struct noc_mesh *mesh, uint64_t time, uint32_t packet)
{
    if (mesh->due_count == mesh->due_capacity) {
        size_t old = mesh->due_capacity;
        mesh->due = pim_noc_grow(mesh->due, &mesh->due_capacity, sizeof *mesh->due);
        for (size_t i = 0; i < mesh->due_first; i++) /* the part that had wrapped around */
            mesh->due[old + i] = mesh->due[i];
    }
    size_t last = (mesh->due_first + mesh->due_count++) & (mesh->due_capacity - 1);
    mesh->due[last] = (struct noc_due){time, packet};
}

typedef void evaluator(struct pim_noc *noc, uint32_t node, uint64_t cycle);

/* Evaluates the units that are entered for `cycle`; they may enter units for later cycles meanwhile. */
static void run_agenda(struct pim_noc *noc, struct pim_noc_wheel *wheel, uint64_t cycle, evaluator *evaluate)
{
    size_t slot = cycle & (PIM_NOC_HORIZON - 1);
    for (uint32_t group = 0; group < wheel->groups; group++) {
        uint64_t touched = wheel->touched[slot * wheel->groups + group];
        wheel->touched[slot * wheel->groups + group] = 0;
        for (; touched; touched &= touched - 1) {
            uint32_t word = group * 64 + pim_lowest_bit(touched);
            uint64_t units = wheel->sets[slot * wheel->words + word];
            wheel->sets[slot * wheel->words + word] = 0;
            for (; units; units &= units - 1)
                evaluate(noc, word * 64 + pim_lowest_bit(units), cycle);
        }
    }
    wheel->busy[slot / 64] &= ~(UINT64_C(1) << slot % 64);
}

void pim_noc_mesh_step(struct pim_noc *noc, uint64_t cycle)
{
    struct noc_mesh *mesh = noc->mesh;
    mesh->origin = cycle + 1;
    run_agenda(noc, &mesh->terminal_wheel, cycle, pim_noc_terminal_evaluate);
    run_agenda(noc, &mesh->router_wheel, cycle, pim_noc_router_evaluate);
    while (mesh->due_count && mesh->due[mesh->due_first].time == cycle) {
        pim_noc_note_arrived(noc, mesh->due[mesh->due_first].packet);
        mesh->due_first = (mesh->due_first + 1) & (mesh->due_capacity - 1);
        mesh->due_count--;
    }
}

uint64_t pim_noc_mesh_link_flits(const struct pim_noc *noc, uint32_t node, enum pim_noc_direction direction,
                                 uint64_t end)
{
    const struct noc_mesh *mesh = noc->mesh;
    if (direction == PIM_NOC_INJECT)
        return mesh->terminals[node].link_flits + pim_noc_terminal_slept_flits(&mesh->terminals[node], end);
    return mesh->routers[node].link_flits[direction] + pim_noc_router_slept_flits(mesh, node, direction, end);
}

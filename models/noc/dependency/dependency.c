/*
 * Building the channel dependency graph of a routing, and the verdict.
 *
 * Without escape channels: for every destination, packets of every source are followed through every
 * candidate and every value that a random draw can have; a state is (link, what the rules look at), each is
 * visited once per destination. Every step from a link to a candidate adds dependencies from the virtual
 * channels the packet may hold there to those it may ask for. Routings of two phases are followed once to
 * every intermediate router and once from it; the last links of the one and the first links of the other meet
 * there.
 *
 * With escape channels the edges are not stored: an escape channel leads to places, places to places by
 * adaptive steps and to escape channels (noc_dependency_next). A path from escape channel to escape channel
 * is a direct or an indirect dependency in Duato's sense.
 */
#include "models/noc/dependency/internal.h"

#include "sim/bits.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 256 }; /* values of state_key */

static enum pim_status no_memory(struct pim_error *error)
{
    return pim_fail(error, PIM_NO_MEMORY, "out of memory for the channel dependency graph");
}

static bool two_phases(const struct pim_noc_routing *routing)
{
    return routing->kind == PIM_NOC_VALIANT || routing->kind == PIM_NOC_ROMM;
}

/* --- virtual channels in groups, values of the random draws --- */

static void make_groups(struct noc_dependencies *graph)
{
    const struct pim_noc_routing *routing = graph->routing;
    uint64_t rules[PIM_NOC_CLASS_LIMIT * (NOC_PHASES * (NOC_DATELINES + 1) + 2)];
    unsigned count = 0;
    for (uint32_t c = 0; c < routing->classes; c++) {
        rules[count++] = routing->all[c];
        rules[count++] = routing->adaptive[c];
        for (unsigned phase = 0; phase < NOC_PHASES; phase++)
            for (unsigned d = 0; d <= NOC_DATELINES; d++)
                rules[count++] = routing->part[c][phase][d];
    }
    uint64_t signature[32];
    for (uint32_t vc = 0; vc < routing->virtual_channels; vc++) {
        uint64_t of_vc = 0;
        for (unsigned i = 0; i < count; i++)
            of_vc |= (rules[i] >> vc & 1) << i;
        uint32_t g = 0;
        while (g < graph->groups && signature[g] != of_vc)
            g++;
        if (g == graph->groups) {
            graph->groups++;
            signature[g] = of_vc;
            graph->lowest[g] = (uint8_t)vc;
        }
        graph->group_vcs[g] |= 1U << vc;
    }
}

static void make_ties(struct noc_dependencies *graph)
{
    const struct pim_noc_routing *routing = graph->routing;
    uint32_t possible = 0; /* by dimension */
    for (unsigned d = 0; d < graph->topology->dimensions; d++)
        possible |= (uint32_t)(routing->wraps[d] && graph->topology->side[d] % 2 == 0) << d;
    for (uint32_t bits = 0; bits < 8; bits++)
        if ((bits & ~possible) == 0)
            graph->tie[graph->ties++] = (bits & 3) | (bits & 3) << 2 | (bits & 4) << 2;
}

/* --- following packets --- */

struct waiting_state {
    struct pim_noc_packet_state state;
    uint32_t link, groups; /* where its head is, and what it may hold there */
};

struct walk {
    struct noc_dependencies *graph;
    uint32_t target; /* router */
    uint32_t *stamp; /* by link * KEYS + key: number of the walk that was there last, from 1 */
    uint32_t number;
    struct waiting_state *stack;
    size_t depth;
    uint32_t *arriving; /* two phases, by link: groups held when the first one ends */
    uint32_t *leaving;  /* two phases, by first_port[router] + port: groups asked for first in the second */
};

/* What the rules look at beside router and destination. */
static uint32_t state_key(const struct pim_noc_packet_state *state)
{
    return (state->tie & 3U) | (uint32_t)state->y_first << 2 | (uint32_t)(state->moved & 1) << 3 |
           (uint32_t)state->partition << 4 | (uint32_t)(state->tie & 16U) << 3;
}

/* A packet in `router` that came by `link` (PIM_NOC_NONE: from its terminal) takes every candidate. */
static void spread(struct walk *walk, const struct pim_noc_packet_state *state, uint32_t router,
                   uint32_t link, uint32_t held)
{
    struct noc_dependencies *graph = walk->graph;
    const struct pim_noc_topology *topology = graph->topology;
    struct pim_noc_candidate candidates[PIM_NOC_CANDIDATE_LIMIT];
    unsigned count = pim_noc_route(graph->routing, state, router, PIM_NOC_GRID_PORTS, candidates);
    for (unsigned i = 0; i < count; i++) {
        uint32_t port = candidates[i].port, groups = noc_groups_of(graph, candidates[i].vcs);
        uint32_t next = pim_noc_output_link(topology, router, port);
        assert(next != PIM_NOC_NONE && "the walk ends at the target");
        for (uint32_t g = 0; link != PIM_NOC_NONE && g < graph->groups; g++)
            if (held >> g & 1)
                graph->edges[((size_t)link * graph->groups + g) * topology->most_ports + port] |= groups;
        if (link == PIM_NOC_NONE && walk->leaving && state->phase == 1)
            walk->leaving[topology->first_port[router] + port] |= groups;
        if (topology->link[next].to == walk->target) {
            if (walk->arriving && state->phase == 0)
                walk->arriving[next] |= groups;
            continue;
        }
        struct waiting_state on = {.state = *state, .link = next, .groups = groups};
        pim_noc_packet_advance(graph->routing, &on.state, router, port);
        uint32_t *stamp = &walk->stamp[(size_t)next * KEYS + state_key(&on.state)];
        if (*stamp != walk->number) {
            *stamp = walk->number;
            walk->stack[walk->depth++] = on;
        }
    }
}

/* Follows packets of all sources to one target in all their variants. */
static void walk_to(struct walk *walk, uint32_t target, unsigned phase)
{
    struct noc_dependencies *graph = walk->graph;
    const struct pim_noc_topology *topology = graph->topology;
    unsigned orders = graph->routing->kind == PIM_NOC_O1TURN          ? 2
                      : graph->routing->partition == PIM_NOC_BALANCED ? 8
                                                                      : 1;
    walk->target = target;
    walk->number++;
    for (uint32_t source = 0; source < topology->routers; source++) {
        for (unsigned variant = 0; source != target && variant < orders * graph->ties; variant++) {
            struct pim_noc_packet_state state = {.source = source * topology->concentration,
                                                 .destination = target * topology->concentration,
                                                 .intermediate = phase == 0 ? target : PIM_NOC_NONE,
                                                 .class = graph->class,
                                                 .phase = (uint8_t)phase,
                                                 .tie = (uint8_t)graph->tie[variant % graph->ties]};
            if (graph->routing->partition == PIM_NOC_DATELINE)
                state.y_first = (uint8_t)(variant / graph->ties);
            else
                state.partition =
                    noc_partition(graph->routing, &state, source, target, variant / graph->ties);
            spread(walk, &state, source, PIM_NOC_NONE, 0);
            while (walk->depth > 0) {
                struct waiting_state on = walk->stack[--walk->depth];
                spread(walk, &on.state, topology->link[on.link].to, on.link, on.groups);
            }
        }
    }
}

/* A packet at its intermediate router holds the last link of the first phase and asks for the first of the
 * second. A way of romm never turns back, because all of it is a shortest way. */
static void join_phases(const struct walk *walk)
{
    struct noc_dependencies *graph = walk->graph;
    const struct pim_noc_topology *topology = graph->topology;
    for (uint32_t l = 0; l < topology->links; l++) {
        const struct pim_noc_link *in = &topology->link[l];
        for (uint32_t port = 0; walk->arriving[l] && port < pim_noc_ports(topology, in->to); port++) {
            uint32_t groups = walk->leaving[topology->first_port[in->to] + port];
            if (!groups)
                continue;
            const struct pim_noc_link *out = &topology->link[pim_noc_output_link(topology, in->to, port)];
            if (graph->routing->kind == PIM_NOC_ROMM && in->dimension == out->dimension &&
                in->direction != out->direction)
                continue;
            for (uint32_t g = 0; g < graph->groups; g++)
                if (walk->arriving[l] >> g & 1)
                    graph->edges[((size_t)l * graph->groups + g) * topology->most_ports + port] |= groups;
        }
    }
}

static enum pim_status store_edges(struct noc_dependencies *graph, struct pim_error *error)
{
    const struct pim_noc_topology *topology = graph->topology;
    size_t states = (size_t)topology->links * KEYS + 1;
    struct walk walk = {.graph = graph,
                        .stamp = calloc(states, sizeof *walk.stamp),
                        .stack = malloc(states * sizeof *walk.stack),
                        .arriving = calloc((size_t)topology->links + 1, sizeof *walk.arriving),
                        .leaving = calloc(topology->first_port[topology->routers], sizeof *walk.leaving)};
    enum pim_status status =
        walk.stamp && walk.stack && walk.arriving && walk.leaving ? PIM_OK : no_memory(error);
    for (uint32_t t = 0; t < topology->routers && status == PIM_OK; t++) {
        walk_to(&walk, t, 0);
        if (two_phases(graph->routing))
            walk_to(&walk, t, 1);
    }
    if (status == PIM_OK && two_phases(graph->routing))
        join_phases(&walk);
    free(walk.stamp);
    free(walk.stack);
    free(walk.arriving);
    free(walk.leaving);
    return status;
}

/* --- edges --- */

static struct pim_noc_packet_state place_state(const struct noc_dependencies *graph, uint32_t target,
                                               uint32_t tie)
{
    return (struct pim_noc_packet_state){.destination = target * graph->topology->concentration,
                                         .intermediate = PIM_NOC_NONE,
                                         .class = graph->class,
                                         .tie = (uint8_t)graph->tie[tie]};
}

/* From an escape channel: to the places behind it, of every destination whose packets use it. */
static uint32_t next_of_escape(const struct noc_dependencies *graph, uint32_t channel, uint64_t *place)
{
    const struct pim_noc_topology *topology = graph->topology;
    const struct pim_noc_link *link = &topology->link[channel / graph->groups];
    uint32_t group = channel % graph->groups;
    for (; *place < (uint64_t)topology->routers * graph->ties; ++*place) {
        uint32_t target = (uint32_t)(*place / graph->ties), tie = (uint32_t)(*place % graph->ties);
        if (target == link->to || target == link->from)
            continue;
        struct pim_noc_packet_state state = place_state(graph, target, tie);
        struct pim_noc_candidate candidates[PIM_NOC_CANDIDATE_LIMIT];
        unsigned count = pim_noc_route(graph->routing, &state, link->from, PIM_NOC_GRID_PORTS, candidates);
        const struct pim_noc_candidate *escape = &candidates[count - 1];
        if (escape->port == link->from_port && (noc_groups_of(graph, escape->vcs) >> group & 1)) {
            ++*place;
            return graph->channels + (link->to * topology->routers + target) * graph->ties + tie;
        }
    }
    return PIM_NOC_NONE;
}

/* From a place: by every adaptive step to the next place, and to the escape channels it may ask for. *place
 * is 32 * candidate + group. */
static uint32_t next_of_place(const struct noc_dependencies *graph, uint32_t number, uint64_t *place)
{
    const struct pim_noc_topology *topology = graph->topology;
    uint32_t tie = number % graph->ties, pair = number / graph->ties;
    uint32_t router = pair / topology->routers, target = pair % topology->routers;
    struct pim_noc_packet_state state = place_state(graph, target, tie);
    struct pim_noc_candidate candidates[PIM_NOC_CANDIDATE_LIMIT];
    unsigned count = pim_noc_route(graph->routing, &state, router, PIM_NOC_GRID_PORTS, candidates);
    while (*place / 32 < count) {
        const struct pim_noc_candidate *candidate = &candidates[*place / 32];
        uint32_t link = pim_noc_output_link(topology, router, candidate->port), to = topology->link[link].to;
        if (!candidate->escape) {
            *place += 32;
            if (to != target)
                return graph->channels + (to * topology->routers + target) * graph->ties + tie;
            continue;
        }
        uint32_t left = noc_groups_of(graph, candidate->vcs) & ~UINT32_C(0) << *place % 32;
        if (left) {
            uint32_t group = pim_lowest_bit(left);
            *place = group == 31 ? *place / 32 * 32 + 32 : *place / 32 * 32 + group + 1;
            return link * graph->groups + group;
        }
        *place = *place / 32 * 32 + 32;
    }
    return PIM_NOC_NONE;
}

uint32_t noc_dependency_next(const struct noc_dependencies *graph, uint32_t node, uint64_t *place)
{
    if (graph->escape)
        return node < graph->channels ? next_of_escape(graph, node, place)
                                      : next_of_place(graph, node - graph->channels, place);
    const struct pim_noc_topology *topology = graph->topology;
    uint32_t router = topology->link[node / graph->groups].to, ports = pim_noc_ports(topology, router);
    const uint32_t *edges = &graph->edges[(size_t)node * topology->most_ports];
    for (; *place < UINT64_C(32) * ports; *place = *place / 32 * 32 + 32) {
        uint32_t port = (uint32_t)(*place / 32);
        uint32_t left = edges[port] & ~UINT32_C(0) << *place % 32;
        if (!left)
            continue;
        uint32_t group = pim_lowest_bit(left);
        *place += group + 1 - *place % 32; /* group 31: the next port */
        return pim_noc_output_link(topology, router, port) * graph->groups + group;
    }
    return PIM_NOC_NONE;
}

/* --- the verdict --- */

static bool same_as_before(const struct pim_noc_routing *routing, uint32_t class)
{
    for (uint32_t c = 0; c < class; c++)
        if (routing->class[c].first == routing->class[class].first &&
            routing->class[c].count == routing->class[class].count)
            return true;
    return false;
}

/* Fills the graph: with the edges of all classes, or, with escape channels, of one class. */
static enum pim_status search_stored(struct noc_dependencies *graph, uint32_t **cycle, uint32_t *count,
                                     struct pim_error *error)
{
    const struct pim_noc_topology *topology = graph->topology;
    bool stored = false;
    graph->edges = calloc((size_t)graph->channels * topology->most_ports + 1, sizeof *graph->edges);
    if (!graph->edges)
        return no_memory(error);
    for (uint32_t c = 0; c < graph->routing->classes; c++) {
        graph->class = (uint8_t)c;
        if (graph->routing->has_escape[c] || same_as_before(graph->routing, c))
            continue;
        stored = true;
        if ((topology->way ? noc_dependency_follow_table(graph, error) : store_edges(graph, error)) != PIM_OK)
            return error->status;
    }
    graph->nodes = graph->channels;
    return stored ? noc_dependency_search(graph, cycle, count, error) : PIM_OK;
}

static enum pim_status search_all(struct noc_dependencies *graph, uint32_t **cycle, uint32_t *count,
                                  struct pim_error *error)
{
    uint64_t places = (uint64_t)graph->topology->routers * graph->topology->routers * graph->ties;
    enum pim_status status = search_stored(graph, cycle, count, error);
    graph->escape = true;
    for (uint32_t c = 0; c < graph->routing->classes && status == PIM_OK && *count == 0; c++) {
        if (!graph->routing->has_escape[c] || same_as_before(graph->routing, c))
            continue;
        if (graph->channels + places >= UINT32_MAX)
            return pim_fail(error, PIM_BAD_INPUT,
                            "too many routers for the dependencies of minimal_adaptive");
        graph->class = (uint8_t)c;
        graph->nodes = graph->channels + (uint32_t)places;
        free(*cycle);
        status = noc_dependency_search(graph, cycle, count, error);
    }
    return status;
}

enum pim_status pim_noc_dependency_cycle(const struct pim_noc_routing *routing, struct pim_noc_channel *cycle,
                                         uint32_t capacity, uint32_t *count, struct pim_error *error)
{
    struct noc_dependencies graph = {.routing = routing, .topology = routing->topology};
    uint32_t *nodes = NULL, found = 0;
    *count = 0;
    make_groups(&graph);
    make_ties(&graph);
    graph.channels = routing->topology->links * graph.groups;
    enum pim_status status = search_all(&graph, &nodes, &found, error);
    for (uint32_t i = 0; i < found && status == PIM_OK; i++) {
        if (nodes[i] >= graph.channels) /* a place between two escape channels */
            continue;
        if (*count < capacity)
            cycle[*count] =
                (struct pim_noc_channel){nodes[i] / graph.groups, graph.lowest[nodes[i] % graph.groups]};
        ++*count;
    }
    free(nodes);
    free(graph.edges);
    return status;
}

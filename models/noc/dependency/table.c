/*
 * Dependencies of a topology with a table of ways: packets from every terminal's router to every node are
 * followed link by link, in a fat tree by all ways up. A packet that holds the same channels of the same link
 * on its way to the same node goes on alike, wherever it came from.
 */
#include "models/noc/dependency/internal.h"

#include <stdlib.h>

struct follower {
    struct noc_dependencies *graph;
    uint32_t *stamp; /* by channel: destination + 1 of the packet that was there last */
    struct held {
        uint32_t link, groups;
    } * stack;
    size_t depth;
};

/* A packet in `router`, holding `held` of `link` (PIM_NOC_NONE: nothing), asks for `port`. */
static void ask(struct follower *follower, const struct pim_noc_packet_state *state, uint32_t router,
                uint32_t link, uint32_t held, uint32_t port)
{
    struct noc_dependencies *graph = follower->graph;
    const struct pim_noc_topology *topology = graph->topology;
    uint32_t next = pim_noc_output_link(topology, router, port);
    if (next == PIM_NOC_NONE) /* a terminal */
        return;
    struct pim_noc_candidate candidates[PIM_NOC_CANDIDATE_LIMIT];
    (void)pim_noc_route(graph->routing, state, router, 0, candidates);
    uint32_t groups = noc_groups_of(graph, candidates[0].vcs);
    for (uint32_t g = 0; link != PIM_NOC_NONE && g < graph->groups; g++)
        if (held >> g & 1)
            graph->edges[((size_t)link * graph->groups + g) * topology->most_ports + port] |= groups;
    bool fresh = false;
    for (uint32_t g = 0; g < graph->groups; g++) {
        uint32_t *stamp = &follower->stamp[(size_t)next * graph->groups + g];
        if (!(groups >> g & 1) || *stamp == state->destination + 1)
            continue;
        *stamp = state->destination + 1;
        fresh = true;
    }
    if (fresh)
        follower->stack[follower->depth++] = (struct held){next, groups};
}

static void ask_all(struct follower *follower, const struct pim_noc_packet_state *state, uint32_t router,
                    uint32_t link, uint32_t held)
{
    const struct pim_noc_topology *topology = follower->graph->topology;
    struct pim_noc_candidate candidates[PIM_NOC_CANDIDATE_LIMIT];
    if (topology->way[(size_t)router * topology->nodes + state->destination] != PIM_NOC_ANY_UP) {
        (void)pim_noc_route(follower->graph->routing, state, router, 0, candidates);
        ask(follower, state, router, link, held, candidates[0].port);
        return;
    }
    for (uint32_t port = topology->radix; port < 2 * topology->radix; port++)
        ask(follower, state, router, link, held, port);
}

enum pim_status noc_dependency_follow_table(struct noc_dependencies *graph, struct pim_error *error)
{
    const struct pim_noc_topology *topology = graph->topology;
    struct follower follower = {.graph = graph,
                                .stamp = calloc((size_t)graph->channels + 1, sizeof *follower.stamp),
                                .stack = malloc(((size_t)graph->channels + 1) * sizeof *follower.stack)};
    bool room = follower.stamp && follower.stack;
    for (uint32_t node = 0; node < topology->nodes && room; node++)
        for (uint32_t source = 0; source < topology->nodes; source++) {
            uint32_t router = pim_noc_node_source(topology, source);
            if (source > 0 && router == pim_noc_node_source(topology, source - 1))
                continue; /* the same ways */
            struct pim_noc_packet_state state = {
                .source = source, .destination = node, .class = graph->class};
            ask_all(&follower, &state, router, PIM_NOC_NONE, 0);
            while (follower.depth > 0) {
                struct held held = follower.stack[--follower.depth];
                ask_all(&follower, &state, topology->link[held.link].to, held.link, held.groups);
            }
        }
    free(follower.stamp);
    free(follower.stack);
    return room ? PIM_OK : pim_fail(error, PIM_NO_MEMORY, "out of memory for the channel dependency graph");
}

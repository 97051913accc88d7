/* The network for nodes of others; see network.h. And packets that another network carries: they keep to the
 * buffers and the order of the arbiter here, and are on their way there. */
#include "models/conflict/network.h"

#include "models/conflict/internal.h"

#include <inttypes.h>
#include <stdlib.h>

struct pim_conflict_network {
    struct conflict_replay replay; /* first */
    struct pim_conflict_result result;
};

enum pim_status pim_conflict_network_create(const struct pim_task_graph *graph, const uint32_t *placement,
                                            const struct pim_conflict_options *options,
                                            const struct pim_conflict_nodes *nodes, struct pim_kernel *kernel,
                                            struct pim_conflict_network **network, struct pim_error *error)
{
    struct pim_conflict_network *made = calloc(1, sizeof *made);
    *network = NULL;
    if (!made)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the network");
    made->replay = (struct conflict_replay){.graph = graph,
                                            .options = options,
                                            .placement = placement,
                                            .result = &made->result,
                                            .kernel = kernel,
                                            .nodes = *nodes};
    if (conflict_replay_initialize(&made->replay, error) != PIM_OK) {
        pim_conflict_network_destroy(made);
        return error->status;
    }
    conflict_want_point(&made->replay);
    *network = made;
    return PIM_OK;
}

void pim_conflict_network_destroy(struct pim_conflict_network *network)
{
    if (!network)
        return;
    conflict_replay_terminate(&network->replay);
    pim_conflict_result_terminate(&network->result);
    free(network);
}

void pim_conflict_network_look(struct pim_conflict_network *network, uint32_t node)
{
    conflict_mark(&network->replay.marked, node);
    conflict_want_point(&network->replay);
}

bool pim_conflict_network_has_room(const struct pim_conflict_network *network, uint32_t e)
{
    const struct conflict_edge *edge = &network->replay.edge[e];
    return edge->produced - edge->sent < edge->capacity_out;
}

uint32_t pim_conflict_network_arrived(const struct pim_conflict_network *network, uint32_t e)
{
    return network->replay.edge[e].arrived;
}

void pim_conflict_network_make(struct pim_conflict_network *network, uint32_t e)
{
    network->replay.edge[e].produced++;
    conflict_mark(&network->replay.asking, e);
}

void pim_conflict_network_free(struct pim_conflict_network *network, uint32_t e, uint32_t packets)
{
    network->replay.edge[e].dropped += packets;
    conflict_mark(&network->replay.asking, e);
}

bool pim_conflict_network_explain(const struct pim_conflict_network *network, uint32_t edge, char *text,
                                  size_t size)
{
    return conflict_explain(&network->replay, edge, text, size);
}

void pim_conflict_network_over(struct pim_conflict_network *network)
{
    network->replay.over = pim_kernel_now(network->replay.kernel);
}

const struct pim_conflict_result *pim_conflict_network_result(const struct pim_conflict_network *network)
{
    return &network->result;
}

/* --- packets that another network carries --- */

/* One packet of an edge at a time goes in at its source. */
struct carried {
    bool *entering; /* by edge */
    uint32_t *hops; /* of the packets that have come, the same for all of an edge */
};

static enum pim_status create(struct conflict_replay *replay, struct pim_error *error)
{
    struct carried *state = replay->state = calloc(1, sizeof *state);
    size_t edges = replay->graph->edges;
    if (state) {
        state->entering = calloc(edges + 1, sizeof *state->entering);
        state->hops = calloc(edges + 1, sizeof *state->hops);
    }
    if (!state || !state->entering || !state->hops)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %zu edges", edges);
    return conflict_make_transfers(replay, replay->graph->edges, error);
}

static void destroy(struct conflict_replay *replay)
{
    struct carried *state = replay->state;
    if (!state)
        return;
    free(state->entering);
    free(state->hops);
    free(state);
    replay->state = NULL;
}

void pim_conflict_injected(struct conflict_replay *replay, uint32_t edge)
{
    struct carried *state = replay->state;
    state->entering[edge] = false;
    conflict_mark(&replay->asking, edge);
    conflict_want_point(replay);
}

void pim_conflict_delivered(struct conflict_replay *replay, uint32_t edge, uint32_t hops)
{
    struct carried *state = replay->state;
    state->hops[edge] = hops;
    conflict_mark(&replay->ended, edge);
    replay->landed[edge]++;
    conflict_want_point(replay);
}

void pim_conflict_network_injected(struct pim_conflict_network *network, uint32_t edge)
{
    pim_conflict_injected(&network->replay, edge);
}

void pim_conflict_network_delivered(struct pim_conflict_network *network, uint32_t edge, uint32_t hops)
{
    pim_conflict_delivered(&network->replay, edge, hops);
}

static void finish(struct conflict_replay *replay)
{
    const struct carried *state = replay->state;
    struct conflict_taking taking = {0};
    for (uint32_t e; conflict_take(&replay->ended, &taking, &e);)
        for (; replay->landed[e] > 0; replay->landed[e]--)
            conflict_arrive(replay, e, state->hops[e]);
}

static bool arbitrate(struct conflict_replay *replay)
{
    struct carried *state = replay->state;
    bool balance = replay->options->arbiter == PIM_CONFLICT_BALANCE;
    uint32_t count = conflict_take_asking(replay);
    conflict_sort_asked(replay, balance ? conflict_goes_first : NULL, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t e = replay->asked[i];
        if (state->entering[e] || !conflict_sendable(&replay->edge[e]))
            continue;
        state->entering[e] = true;
        conflict_leave(replay, e);
        replay->nodes.send(replay->nodes.context, e);
    }
    return false;
}

static void explain(const struct conflict_replay *replay, uint32_t edge, char *text, size_t size)
{
    (void)replay;
    (void)edge;
    (void)snprintf(text, size, "the packet before it has not left its source");
}

const struct conflict_network conflict_carried = {create, destroy, finish, arbitrate, explain};

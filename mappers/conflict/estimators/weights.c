/* What weights are of, and whether they fit; see weights.h. */
#include "mappers/conflict/estimators/weights.h"

#include "include/pimsim/pimsim.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void mix(uint64_t *state, uint64_t value)
{
    *state ^= value;
    *state = pim_splitmix64(state);
}

/* Everything of a graph that a latency hangs on: steps, times, packets, and what steps wait for, at the
 * first, the middle and the last step of every edge. */
static uint64_t digest(const struct pim_tile_graph *graph)
{
    uint64_t state = graph->nodes;
    mix(&state, graph->edges);
    for (uint32_t n = 0; n < graph->nodes; n++) {
        uint64_t bits;
        memcpy(&bits, &graph->node[n].latency_ns, sizeof bits);
        mix(&state, graph->node[n].steps);
        mix(&state, bits);
    }
    for (uint32_t e = 0; e < graph->edges; e++) {
        const struct pim_tile_edge *edge = &graph->edge[e];
        uint32_t steps = graph->node[edge->destination].steps, need, drop;
        mix(&state, (uint64_t)edge->source << 32 | edge->destination);
        mix(&state, edge->packets);
        mix(&state, edge->bits);
        for (unsigned i = 0; i < 3 && steps > 0; i++) {
            pim_tile_dependence(graph, e, i == 0 ? 0 : i == 1 ? steps / 2 : steps - 1, &need, &drop);
            mix(&state, (uint64_t)need << 32 | drop);
        }
    }
    return state;
}

enum pim_status pim_tile_weights_make(struct pim_tile_weights *weights,
                                      const struct pim_tile_identity *identity, struct pim_error *error)
{
    const struct pim_tile_graph *graph = identity->graph;
    *weights = (struct pim_tile_weights){.version = strdup(pimsim_version()),
                                         .network = strdup(graph->name),
                                         .configuration = strdup(identity->configuration),
                                         .nodes = graph->nodes,
                                         .edges = graph->edges,
                                         .images = identity->images};
    (void)snprintf(weights->graph, sizeof weights->graph, "%016" PRIx64, digest(graph));
    if (!weights->version || !weights->network || !weights->configuration)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for the weights of %s", graph->name);
    for (unsigned kind = 0; kind < PIM_TILE_ESTIMATORS; kind++)
        if (pim_tile_estimator_make(&weights->estimator[kind], (enum pim_tile_estimator_kind)kind,
                                    graph->edges, error) != PIM_OK)
            return error->status;
    return PIM_OK;
}

void pim_tile_weights_terminate(struct pim_tile_weights *weights)
{
    free(weights->version);
    free(weights->network);
    free(weights->configuration);
    free(weights->population);
    for (unsigned kind = 0; kind < PIM_TILE_ESTIMATORS; kind++)
        pim_tile_estimator_terminate(&weights->estimator[kind]);
    *weights = (struct pim_tile_weights){0};
}

/* The first line in which two texts differ, for a message. */
static void differing_line(const char *a, const char *b, char first[128], char second[128])
{
    size_t start = 0;
    for (size_t i = 0; a[i] == b[i] && a[i] != '\0'; i++)
        start = a[i] == '\n' ? i + 1 : start;
    (void)snprintf(first, 128, "%.*s", (int)strcspn(a + start, "\n"), a + start);
    (void)snprintf(second, 128, "%.*s", (int)strcspn(b + start, "\n"), b + start);
}

enum pim_status pim_tile_weights_fit(const struct pim_tile_weights *weights,
                                     const struct pim_tile_identity *identity, struct pim_error *error)
{
    const struct pim_tile_graph *graph = identity->graph;
    char digits[17], theirs[128], ours[128];
    (void)snprintf(digits, sizeof digits, "%016" PRIx64, digest(graph));
    if (strcmp(weights->graph, digits) != 0 || weights->nodes != graph->nodes ||
        weights->edges != graph->edges)
        return pim_fail(error, PIM_BAD_INPUT,
                        "the weights are of the graph %s of %s (%" PRIu32 " nodes, %" PRIu32
                        " edges), this is %s of %s (%" PRIu32 " nodes, %" PRIu32
                        " edges): train anew with --train",
                        weights->graph, weights->network, weights->nodes, weights->edges, digits, graph->name,
                        graph->nodes, graph->edges);
    if (weights->images != identity->images)
        return pim_fail(error, PIM_BAD_INPUT,
                        "the weights are of runs of %" PRIu32 " images, these are of %" PRIu32
                        ": train anew with --train",
                        weights->images, identity->images);
    if (strcmp(weights->configuration, identity->configuration) == 0)
        return PIM_OK;
    differing_line(weights->configuration, identity->configuration, theirs, ours);
    return pim_fail(error, PIM_BAD_INPUT,
                    "the weights are of other hardware (\"%s\", here \"%s\"): train anew with --train",
                    theirs, ours);
}

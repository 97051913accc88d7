/* Task graphs in memory: making, connecting, checking; see graph.h. */
#include "models/conflict/graph/graph.h"

#include "models/conflict/replay/instant.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void pim_task_graph_destroy(struct pim_task_graph *graph)
{
    if (!graph)
        return;
    free(graph->name);
    free(graph->node);
    free(graph->edge);
    free(graph->latency_ns);
    free(graph->need);
    free(graph->drop);
    free(graph->in);
    free(graph->out);
    free(graph);
}

struct pim_task_graph *pim_task_graph_create(const char *name, uint32_t nodes, uint32_t edges)
{
    assert(nodes <= PIM_TASK_NODES && edges <= PIM_TASK_EDGES);
    struct pim_task_graph *graph = calloc(1, sizeof *graph);
    if (!graph)
        return NULL;
    graph->nodes = nodes;
    graph->edges = edges;
    graph->name = strdup(name);
    graph->node = calloc((size_t)nodes + 1, sizeof *graph->node);
    graph->edge = calloc((size_t)edges + 1, sizeof *graph->edge);
    graph->in = calloc((size_t)edges + 1, sizeof *graph->in);
    graph->out = calloc((size_t)edges + 1, sizeof *graph->out);
    if (!graph->name || !graph->node || !graph->edge || !graph->in || !graph->out) {
        pim_task_graph_destroy(graph);
        return NULL;
    }
    return graph;
}

static enum pim_status check_edge(const struct pim_task_graph *graph, uint32_t index, struct pim_error *error)
{
    const struct pim_task_edge *edge = &graph->edge[index];
    if (edge->source >= graph->nodes || edge->destination >= graph->nodes ||
        edge->source == edge->destination)
        return pim_fail(error, PIM_BAD_INPUT,
                        "edge %" PRIu32 " from node %" PRIu32 " to node %" PRIu32
                        ": it must join two different ones of %" PRIu32 " nodes",
                        index, edge->source, edge->destination, graph->nodes);
    if (edge->packets != graph->node[edge->source].steps)
        return pim_fail(error, PIM_BAD_INPUT,
                        "edge %" PRIu32 " has %" PRIu32 " packets, but node %" PRIu32
                        " makes one in each of %" PRIu32 " steps",
                        index, edge->packets, edge->source, graph->node[edge->source].steps);
    if (edge->bits == 0 || edge->bits > PIM_TASK_BITS)
        return pim_fail(error, PIM_BAD_INPUT,
                        "edge %" PRIu32 " has packets of %" PRIu64 " bits: allowed are 1 to %" PRIu64, index,
                        edge->bits, PIM_TASK_BITS);
    return PIM_OK;
}

/* Lists of edges by node. Edges are visited in order, so each node's list ascends. */
static void make_lists(struct pim_task_graph *graph)
{
    for (uint32_t i = 0; i < graph->edges; i++) {
        graph->node[graph->edge[i].source].outs++;
        graph->node[graph->edge[i].destination].ins++;
    }
    uint32_t in = 0, out = 0;
    for (uint32_t n = 0; n < graph->nodes; n++) {
        struct pim_task_node *node = &graph->node[n];
        node->first_in = in;
        node->first_out = out;
        in += node->ins;
        out += node->outs;
        node->ins = node->outs = 0;
    }
    for (uint32_t i = 0; i < graph->edges; i++) {
        struct pim_task_node *source = &graph->node[graph->edge[i].source];
        struct pim_task_node *destination = &graph->node[graph->edge[i].destination];
        graph->out[source->first_out + source->outs++] = i;
        graph->in[destination->first_in + destination->ins++] = i;
    }
}

/* Two edges with the same ends stand in the same list of their source. `seen`: by destination, the source
 * that was last there. */
static enum pim_status refuse_doubles(const struct pim_task_graph *graph, struct pim_error *error)
{
    uint32_t *seen = calloc((size_t)graph->nodes + 1, sizeof *seen);
    if (!seen)
        return pim_fail(error, PIM_NO_MEMORY, "%s: out of memory for %" PRIu32 " nodes", graph->name,
                        graph->nodes);
    enum pim_status status = PIM_OK;
    for (uint32_t n = 0; n < graph->nodes && status == PIM_OK; n++) {
        for (uint32_t k = 0; k < graph->node[n].outs && status == PIM_OK; k++) {
            uint32_t destination = graph->edge[graph->out[graph->node[n].first_out + k]].destination;
            if (seen[destination] == n + 1)
                status = pim_fail(error, PIM_BAD_INPUT,
                                  "%s: there are two edges from node %" PRIu32 " to node %" PRIu32,
                                  graph->name, n, destination);
            seen[destination] = n + 1;
        }
    }
    free(seen);
    return status;
}

enum pim_status pim_task_graph_join(struct pim_task_graph *graph, struct pim_error *error)
{
    for (uint32_t i = 0; i < graph->edges; i++)
        if (check_edge(graph, i, error) != PIM_OK)
            return pim_fail_in(error, "%s", graph->name);
    make_lists(graph);
    return refuse_doubles(graph, error);
}

enum pim_status pim_task_graph_connect(struct pim_task_graph *graph, struct pim_error *error)
{
    size_t total = 0;
    if (pim_task_graph_join(graph, error) != PIM_OK)
        return error->status;
    for (uint32_t i = 0; i < graph->edges; i++) {
        graph->edge[i].first = total;
        total += graph->node[graph->edge[i].destination].steps;
        if (total > PIM_TASK_DEPENDENCES)
            return pim_fail(error, PIM_BAD_INPUT,
                            "%s: edges and their destinations' steps make more than %d dependences",
                            graph->name, PIM_TASK_DEPENDENCES);
    }
    graph->need = calloc(total + 1, sizeof *graph->need);
    graph->drop = calloc(total + 1, sizeof *graph->drop);
    if (!graph->need || !graph->drop)
        return pim_fail(error, PIM_NO_MEMORY, "%s: out of memory for %zu dependences", graph->name, total);
    return PIM_OK;
}

uint32_t pim_task_graph_edge(const struct pim_task_graph *graph, uint32_t source, uint32_t destination)
{
    const struct pim_task_node *from = &graph->node[source], *to = &graph->node[destination];
    bool short_out = from->outs <= to->ins; /* the shorter of the two lists that would hold it */
    uint32_t count = short_out ? from->outs : to->ins;
    const uint32_t *list = short_out ? &graph->out[from->first_out] : &graph->in[to->first_in];
    for (uint32_t k = 0; k < count; k++) {
        if (graph->edge[list[k]].source == source && graph->edge[list[k]].destination == destination)
            return list[k];
    }
    return UINT32_MAX;
}

/* --- checks --- */

static enum pim_status check_dependences(const struct pim_task_graph *graph, uint32_t index,
                                         struct pim_error *error)
{
    const struct pim_task_edge *edge = &graph->edge[index];
    uint64_t arrived = 0, freed = 0;
    for (uint32_t step = 0; step < graph->node[edge->destination].steps; step++) {
        uint32_t need = graph->need[edge->first + step];
        if (need > edge->packets)
            return pim_fail(error, PIM_BAD_INPUT,
                            "%s: node %" PRIu32 " step %" PRIu32 " needs %" PRIu32 " packets of node %" PRIu32
                            ", which sends %" PRIu32,
                            graph->name, edge->destination, step, need, edge->source, edge->packets);
        arrived = need > arrived ? need : arrived;
        freed += graph->drop[edge->first + step];
        if (freed > arrived)
            return pim_fail(error, PIM_BAD_INPUT,
                            "%s: node %" PRIu32 " has freed %" PRIu64 " packets of node %" PRIu32
                            " after step %" PRIu32 ", but its steps so far need %" PRIu64,
                            graph->name, edge->destination, freed, edge->source, step, arrived);
    }
    return PIM_OK;
}

/* Among nodes that all wait (waiting[] > 0), goes backwards along edges until a node comes again: that is a
 * cycle, told in the direction of the edges. */
static enum pim_status refuse_cycle(const struct pim_task_graph *graph, const uint32_t *waiting,
                                    uint32_t *visited, struct pim_error *error)
{
    uint32_t at = 0, round = 1;
    while (waiting[at] == 0)
        at++;
    memset(visited, 0, graph->nodes * sizeof *visited);
    while (!visited[at]) {
        visited[at] = round++;
        uint32_t k = 0;
        while (waiting[graph->edge[graph->in[graph->node[at].first_in + k]].source] == 0)
            k++;
        at = graph->edge[graph->in[graph->node[at].first_in + k]].source;
    }
    char text[512];
    uint32_t start = at;
    size_t length = (size_t)snprintf(text, sizeof text, "%" PRIu32, start);
    do {
        uint32_t next = start;
        for (uint32_t k = 0; k < graph->node[at].outs; k++) { /* the node visited just before `at` */
            uint32_t to = graph->edge[graph->out[graph->node[at].first_out + k]].destination;
            if ((at == start && visited[to] == round - 1) || (at != start && visited[to] + 1 == visited[at]))
                next = to;
        }
        at = next;
        if (length + 24 < sizeof text)
            length += (size_t)snprintf(text + length, sizeof text - length, " -> %" PRIu32, at);
    } while (at != start);
    return pim_fail(error, PIM_BAD_INPUT, "%s: nodes wait for each other in a cycle: %s", graph->name, text);
}

/* Removes nodes without unremoved sources until none is left. */
static enum pim_status check_cycles(const struct pim_task_graph *graph, struct pim_error *error)
{
    uint32_t *waiting = calloc((size_t)graph->nodes + 1, sizeof *waiting);
    uint32_t *queue = calloc((size_t)graph->nodes + 1, sizeof *queue);
    if (!waiting || !queue) {
        free(waiting);
        free(queue);
        return pim_fail(error, PIM_NO_MEMORY, "%s: out of memory for %" PRIu32 " nodes", graph->name,
                        graph->nodes);
    }
    uint32_t tail = 0;
    for (uint32_t n = 0; n < graph->nodes; n++) {
        waiting[n] = graph->node[n].ins;
        if (waiting[n] == 0)
            queue[tail++] = n;
    }
    for (uint32_t head = 0; head < tail; head++) {
        const struct pim_task_node *node = &graph->node[queue[head]];
        for (uint32_t k = 0; k < node->outs; k++) {
            uint32_t to = graph->edge[graph->out[node->first_out + k]].destination;
            if (--waiting[to] == 0)
                queue[tail++] = to;
        }
    }
    enum pim_status status = tail == graph->nodes ? PIM_OK : refuse_cycle(graph, waiting, queue, error);
    free(waiting);
    free(queue);
    return status;
}

enum pim_status pim_task_graph_finish(const struct pim_task_graph *graph, struct pim_error *error)
{
    for (uint32_t n = 0; n < graph->nodes; n++) {
        const struct pim_task_node *node = &graph->node[n];
        if (node->steps == 0 || node->steps > PIM_TASK_STEPS ||
            (node->latencies != 1 && node->latencies != node->steps))
            return pim_fail(error, PIM_BAD_INPUT,
                            "%s: node %" PRIu32 " has %" PRIu32 " steps: allowed are 1 to %d", graph->name, n,
                            node->steps, PIM_TASK_STEPS);
        for (uint32_t k = 0; k < node->latencies; k++) {
            double ns = graph->latency_ns[node->first_latency + k];
            if (!(ns > 0 && ns <= PIM_CONFLICT_NS_MAXIMUM))
                return pim_fail(error, PIM_BAD_INPUT,
                                "%s: node %" PRIu32 " step %" PRIu32
                                " takes %g ns: allowed is above 0 up to %g",
                                graph->name, n, k, ns, PIM_CONFLICT_NS_MAXIMUM);
        }
    }
    if (check_cycles(graph, error) != PIM_OK)
        return error->status;
    for (uint32_t i = 0; i < graph->edges; i++) {
        if (check_dependences(graph, i, error) != PIM_OK)
            return error->status;
    }
    return PIM_OK;
}

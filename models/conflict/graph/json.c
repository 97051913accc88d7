/*
 * The authors' task list (MNSIM_NoC, examples): an array of tiles in the order of their ids. Each has
 * tile_id, source_tile_id and target_tile_id (arrays of ids; -1 is the image or the result), and dependence,
 * an array of steps with
 *
 *     latency   nanoseconds
 *     wait      packets the step needs, as arrays of ten: [row, column, first channel, end channel, bits of a
 *               channel, _, _, _, _, tile]; tile null is the image, which is always there
 *     output    the packet it makes (one; of all steps of a tile with the same number of bits)
 *     drop      packets freed when it ends
 *
 * As an edge delivers in order, "these packets" means "as many as the latest of them": that is what the graph
 * keeps.
 */
#include "models/conflict/graph/internal.h"

#include "models/conflict/replay/instant.h"
#include "sim/output/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PACKET_FIELDS = 10, KEYS = 4 };

/* A packet by what names it, and its place in the order of its tile. */
struct packet {
    int64_t key[KEYS]; /* row, column, first and end channel */
    uint32_t index;
};

struct tile {
    const json_t *steps;
    const json_t *targets;
    struct packet *packet; /* sorted by key; `steps` of them */
    uint64_t bits;
};

struct parsing {
    const char *name;
    struct tile *tile;
    uint32_t tiles;
    struct pim_task_graph *graph;
};

static int compare_packets(const void *a, const void *b)
{
    const struct packet *first = a, *second = b;
    for (size_t i = 0; i < KEYS; i++) {
        if (first->key[i] != second->key[i])
            return first->key[i] < second->key[i] ? -1 : 1;
    }
    return 0;
}

static enum pim_status refuse(const struct parsing *parsing, uint32_t tile, int64_t step, const char *what,
                              struct pim_error *error)
{
    if (step < 0)
        return pim_fail(error, PIM_BAD_INPUT, "%s: tile %" PRIu32 ": %s", parsing->name, tile, what);
    return pim_fail(error, PIM_BAD_INPUT, "%s: tile %" PRIu32 " step %" PRId64 ": %s", parsing->name, tile,
                    step, what);
}

/* Reads an array of ten: its key, the bits of the packet, its tile (-1: the image). */
static bool take_packet(const json_t *value, struct packet *packet, uint64_t *bits, int64_t *tile)
{
    if (!json_is_array(value) || json_array_size(value) != PACKET_FIELDS)
        return false;
    for (size_t i = 0; i < KEYS + 1; i++) {
        if (!json_is_integer(json_array_get(value, i)))
            return false;
    }
    for (size_t i = 0; i < KEYS; i++)
        packet->key[i] = json_integer_value(json_array_get(value, i));
    int64_t first = packet->key[2], end = packet->key[3],
            channel_bits = json_integer_value(json_array_get(value, KEYS));
    const json_t *from = json_array_get(value, PACKET_FIELDS - 1);
    if (!json_is_null(from) && !json_is_integer(from))
        return false;
    *tile = json_is_null(from) ? -1 : json_integer_value(from);
    if (first < 0 || end <= first || end > 1 << 20 || channel_bits < 1 || channel_bits > 1 << 20 ||
        *tile < -1)
        return false;
    *bits = (uint64_t)(end - first) * (uint64_t)channel_bits;
    return true;
}

static enum pim_status take_outputs(struct parsing *parsing, uint32_t index, struct pim_error *error)
{
    struct tile *tile = &parsing->tile[index];
    size_t steps = json_array_size(tile->steps);
    tile->packet = calloc(steps, sizeof *tile->packet);
    if (!tile->packet)
        return pim_fail(error, PIM_NO_MEMORY, "%s: out of memory for %zu packets", parsing->name, steps);
    for (size_t s = 0; s < steps; s++) {
        const json_t *output = json_object_get(json_array_get(tile->steps, s), "output");
        uint64_t bits;
        int64_t from;
        if (!json_is_array(output) || json_array_size(output) != 1 ||
            !take_packet(json_array_get(output, 0), &tile->packet[s], &bits, &from) || from != (int64_t)index)
            return refuse(parsing, index, (int64_t)s,
                          "output must be one packet of this tile, an array of ten", error);
        if (s > 0 && bits != tile->bits)
            return refuse(parsing, index, (int64_t)s, "all packets of a tile must have the same bits", error);
        tile->bits = bits;
        tile->packet[s].index = (uint32_t)s;
    }
    qsort(tile->packet, steps, sizeof *tile->packet, compare_packets);
    for (size_t s = 1; s < steps; s++) {
        if (compare_packets(&tile->packet[s - 1], &tile->packet[s]) == 0)
            return refuse(parsing, index, tile->packet[s].index, "its output is also that of another step",
                          error);
    }
    return PIM_OK;
}

static enum pim_status take_tile(struct parsing *parsing, uint32_t index, const json_t *value,
                                 struct pim_error *error)
{
    struct tile *tile = &parsing->tile[index];
    const json_t *id = json_object_get(value, "tile_id");
    tile->steps = json_object_get(value, "dependence");
    tile->targets = json_object_get(value, "target_tile_id");
    if (!json_is_integer(id) || json_integer_value(id) != (json_int_t)index)
        return refuse(parsing, index, -1, "tile_id must be its place in the array", error);
    if (!json_is_array(tile->steps) || json_array_size(tile->steps) == 0 ||
        json_array_size(tile->steps) > PIM_TASK_STEPS)
        return refuse(parsing, index, -1, "dependence must be an array of 1 to 16777216 steps", error);
    if (!json_is_array(tile->targets) || !json_is_array(json_object_get(value, "source_tile_id")))
        return refuse(parsing, index, -1, "target_tile_id and source_tile_id must be arrays", error);
    return take_outputs(parsing, index, error);
}

static int compare_targets(const void *a, const void *b)
{
    const struct pim_task_edge *first = a, *second = b;
    return first->destination < second->destination ? -1 : first->destination > second->destination;
}

/* Edges in the order of source, then destination. */
static enum pim_status take_edges(struct parsing *parsing, struct pim_error *error)
{
    struct pim_task_graph *graph = parsing->graph;
    graph->edges = 0;
    for (uint32_t t = 0; t < parsing->tiles; t++) {
        uint32_t first = graph->edges;
        for (size_t k = 0; k < json_array_size(parsing->tile[t].targets); k++) {
            const json_t *target = json_array_get(parsing->tile[t].targets, k);
            json_int_t to = json_is_integer(target) ? json_integer_value(target) : -2;
            if (to < -1 || to >= (json_int_t)parsing->tiles)
                return refuse(parsing, t, -1, "target_tile_id names a tile that is not there", error);
            if (to >= 0)
                graph->edge[graph->edges++] = (struct pim_task_edge){.source = t,
                                                                     .destination = (uint32_t)to,
                                                                     .packets = graph->node[t].steps,
                                                                     .bits = parsing->tile[t].bits};
        }
        if (graph->edges > first)
            qsort(&graph->edge[first], graph->edges - first, sizeof *graph->edge, compare_targets);
    }
    return pim_task_graph_connect(graph, error);
}

/* The packets of a wait or drop list: `drop` counts them, otherwise need is the latest of each edge. */
static enum pim_status take_list(struct parsing *parsing, uint32_t node, uint32_t step, const json_t *list,
                                 bool drop, struct pim_error *error)
{
    struct pim_task_graph *graph = parsing->graph;
    if (!json_is_array(list))
        return refuse(parsing, node, step, "wait and drop must be arrays", error);
    for (size_t k = 0; k < json_array_size(list); k++) {
        struct packet packet;
        uint64_t bits;
        int64_t from;
        if (!take_packet(json_array_get(list, k), &packet, &bits, &from))
            return refuse(
                parsing, node, step,
                "a packet must be an array of ten: row, column, first and end channel, bits, ..., tile",
                error);
        if (from < 0)
            continue;
        uint32_t edge =
            from >= (int64_t)parsing->tiles ? UINT32_MAX : pim_task_graph_edge(graph, (uint32_t)from, node);
        if (edge == UINT32_MAX)
            return refuse(parsing, node, step,
                          "it waits for or drops a packet of a tile that does not send to it", error);
        const struct packet *found = bsearch(&packet, parsing->tile[from].packet, graph->edge[edge].packets,
                                             sizeof packet, compare_packets);
        if (!found)
            return refuse(parsing, node, step, "it waits for or drops a packet that its tile does not make",
                          error);
        size_t place = graph->edge[edge].first + step;
        if (drop)
            graph->drop[place]++;
        else if (found->index + 1 > graph->need[place])
            graph->need[place] = found->index + 1;
    }
    return PIM_OK;
}

static enum pim_status take_steps(struct parsing *parsing, uint32_t node, struct pim_error *error)
{
    struct pim_task_graph *graph = parsing->graph;
    for (uint32_t s = 0; s < graph->node[node].steps; s++) {
        const json_t *step = json_array_get(parsing->tile[node].steps, s);
        const json_t *latency = json_object_get(step, "latency");
        if (!json_is_number(latency))
            return refuse(parsing, node, s, "latency must be a number of nanoseconds", error);
        graph->latency_ns[graph->node[node].first_latency + s] = json_number_value(latency);
        if (take_list(parsing, node, s, json_object_get(step, "wait"), false, error) != PIM_OK ||
            take_list(parsing, node, s, json_object_get(step, "drop"), true, error) != PIM_OK)
            return error->status;
    }
    return PIM_OK;
}

/* source_tile_id must say what the targets of the others say, each tile once, in any order. `mark`: by tile;
 * node + 1 for sources that the list has yet to name. */
static enum pim_status check_sources(const struct parsing *parsing, uint32_t node, const json_t *sources,
                                     uint32_t *mark, struct pim_error *error)
{
    const struct pim_task_graph *graph = parsing->graph;
    const struct pim_task_node *tile = &graph->node[node];
    uint32_t named = 0;
    for (uint32_t k = 0; k < tile->ins; k++)
        mark[graph->edge[graph->in[tile->first_in + k]].source] = node + 1;
    for (size_t k = 0; k < json_array_size(sources); k++) {
        const json_t *source = json_array_get(sources, k);
        json_int_t from = json_is_integer(source) ? json_integer_value(source) : -2;
        if (from == -1)
            continue;
        if (from < 0 || from >= (json_int_t)parsing->tiles || mark[from] != node + 1)
            return refuse(parsing, node, -1,
                          "source_tile_id names a tile that does not send to it, or one twice", error);
        mark[from] = 0;
        named++;
    }
    return named == tile->ins
               ? PIM_OK
               : refuse(parsing, node, -1, "source_tile_id lacks a tile that sends to it", error);
}

static enum pim_status build(struct parsing *parsing, const json_t *root, struct pim_error *error)
{
    size_t edges = 0, steps = 0;
    for (uint32_t t = 0; t < parsing->tiles; t++) {
        if (take_tile(parsing, t, json_array_get(root, t), error) != PIM_OK)
            return error->status;
        edges += json_array_size(parsing->tile[t].targets);
        steps += json_array_size(parsing->tile[t].steps);
    }
    if (edges > PIM_TASK_EDGES)
        return pim_fail(error, PIM_BAD_INPUT, "%s: more than %d edges", parsing->name, PIM_TASK_EDGES);
    struct pim_task_graph *graph = parsing->graph =
        pim_task_graph_create(parsing->name, parsing->tiles, (uint32_t)edges);
    if (graph)
        graph->latency_ns = calloc(steps + 1, sizeof *graph->latency_ns);
    if (!graph || !graph->latency_ns)
        return pim_fail(error, PIM_NO_MEMORY, "%s: out of memory for the graph", parsing->name);
    for (uint32_t t = 0; t < parsing->tiles; t++) {
        uint32_t count = (uint32_t)json_array_size(parsing->tile[t].steps);
        graph->node[t] =
            (struct pim_task_node){.steps = count, .latencies = count, .first_latency = graph->latencies};
        graph->latencies += count;
    }
    uint32_t *mark = calloc((size_t)parsing->tiles + 1, sizeof *mark); /* never of size 0 */
    if (!mark)
        return pim_fail(error, PIM_NO_MEMORY, "%s: out of memory for the tiles", parsing->name);
    enum pim_status status = take_edges(parsing, error);
    for (uint32_t t = 0; t < parsing->tiles && status == PIM_OK; t++) {
        const json_t *sources = json_object_get(json_array_get(root, t), "source_tile_id");
        status = check_sources(parsing, t, sources, mark, error);
        if (status == PIM_OK)
            status = take_steps(parsing, t, error);
    }
    free(mark);
    return status == PIM_OK ? pim_task_graph_finish(graph, error) : status;
}

enum pim_status pim_task_graph_parse_json(const char *name, const char *text, size_t length,
                                          struct pim_task_graph **graph, struct pim_error *error)
{
    json_t *root = NULL;
    *graph = NULL;
    if (pim_json_parse(name, text, length, &root, error) != PIM_OK)
        return error->status;
    struct parsing parsing = {.name = name};
    enum pim_status status = PIM_OK;
    if (!json_is_array(root) || json_array_size(root) == 0 || json_array_size(root) > PIM_TASK_NODES)
        status =
            pim_fail(error, PIM_BAD_INPUT, "%s: must be an array of 1 to %d tiles", name, PIM_TASK_NODES);
    if (status == PIM_OK) {
        parsing.tiles = (uint32_t)json_array_size(root);
        parsing.tile = calloc(parsing.tiles, sizeof *parsing.tile);
        status = parsing.tile ? build(&parsing, root, error)
                              : pim_fail(error, PIM_NO_MEMORY, "%s: out of memory", name);
    }
    for (uint32_t t = 0; parsing.tile && t < parsing.tiles; t++)
        free(parsing.tile[t].packet);
    free(parsing.tile);
    json_decref(root);
    if (status == PIM_OK)
        *graph = parsing.graph;
    else
        pim_task_graph_destroy(parsing.graph);
    return status;
}

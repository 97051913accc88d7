/*
 * Task graphs as CSV files: P.nodes.csv, P.edges.csv and P.deps.csv or P.layers.csv; docs/models/conflict.md
 * has the columns.
 *
 * The order of reading is nodes, edges, then the lists of sources and targets of the nodes a second time
 * (they must say what the edges say), then dependences.
 */
#include "models/conflict/graph/internal.h"

#include "models/conflict/replay/instant.h"
#include "sim/arena.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODE, LAYER, KIND, STEPS, LATENCY, OUTPUT_BITS, SOURCES, TARGETS, NODE_COLUMNS };
static const char *const node_header[NODE_COLUMNS] = {
    "node", "layer", "kind", "steps", "latency_ns_per_step", "bits_per_output_packet", "sources", "targets"};

enum { EDGE, FROM, TO, PACKETS, BITS, TOTAL_BITS, EDGE_COLUMNS };
static const char *const edge_header[EDGE_COLUMNS] = {"edge",      "src", "dst", "packets", "bits_per_packet",
                                                      "total_bits"};

/* All rows, before their number is known. */
struct rows {
    struct pim_task_node *node;
    double *latency_ns;
    uint64_t *output_bits;
    uint32_t *layer;
    bool *merge;
    uint32_t nodes;
    size_t node_room, latency_room, bits_room, layer_room, merge_room;
    struct pim_task_edge *edge;
    uint32_t edges;
    size_t edge_room;
};

static void free_rows(struct rows *rows)
{
    free(rows->node);
    free(rows->latency_ns);
    free(rows->output_bits);
    free(rows->layer);
    free(rows->merge);
    free(rows->edge);
}

/* A decimal number, as strtod reads it, without blanks, hexadecimal digits, infinities. */
static enum pim_status take_latency(const struct pim_csv_reader *reader, double *value,
                                    struct pim_error *error)
{
    const char *text = pim_csv_text(reader, LATENCY);
    char *end = NULL;
    bool plain = text[0] >= '0' && text[0] <= '9' && text[strspn(text, "0123456789.eE+-")] == '\0';
    errno = 0;
    *value = plain ? strtod(text, &end) : 0.0;
    if (plain && end && *end == '\0' && *value > 0 && *value <= PIM_CONFLICT_NS_MAXIMUM)
        return PIM_OK;
    return pim_csv_refuse(reader, LATENCY, "allowed are decimal nanoseconds above 0 up to 1e12", error);
}

/* Room for one more row in one of the arrays. */
#define GROW(array, room, count)                                                                             \
    do {                                                                                                     \
        void *grown = pim_array_grow((array), &(room), (size_t)(count) + 1, sizeof *(array));                \
        if (!grown)                                                                                          \
            return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu32 " rows", (count));            \
        (array) = grown;                                                                                     \
    } while (0)

enum pim_status conflict_graph_row(const struct pim_csv_reader *reader, size_t column, uint64_t next,
                                   struct pim_error *error)
{
    uint64_t value;
    char rule[96];
    if (pim_csv_count(reader, column, 0, UINT32_MAX, &value, error) != PIM_OK)
        return error->status;
    if (value == next)
        return PIM_OK;
    (void)snprintf(rule, sizeof rule, "rows stand in the order of their numbers: %" PRIu64 " is next", next);
    return pim_csv_refuse(reader, column, rule, error);
}

static enum pim_status take_node(struct rows *rows, const struct pim_csv_reader *reader,
                                 struct pim_error *error)
{
    uint64_t layer, steps, bits;
    if (rows->nodes == PIM_TASK_NODES)
        return pim_csv_refuse(reader, NODE, "a graph has at most 65536 nodes", error);
    if (conflict_graph_row(reader, NODE, rows->nodes, error) != PIM_OK ||
        pim_csv_count(reader, LAYER, 0, UINT32_MAX, &layer, error) != PIM_OK ||
        pim_csv_count(reader, STEPS, 1, PIM_TASK_STEPS, &steps, error) != PIM_OK ||
        pim_csv_count(reader, OUTPUT_BITS, 1, PIM_TASK_BITS, &bits, error) != PIM_OK)
        return error->status;
    const char *kind = pim_csv_text(reader, KIND);
    if (strcmp(kind, "pe") != 0 && strcmp(kind, "merge") != 0)
        return pim_csv_refuse(reader, KIND, "allowed are pe and merge", error);
    double latency;
    if (take_latency(reader, &latency, error) != PIM_OK)
        return error->status;
    GROW(rows->node, rows->node_room, rows->nodes);
    GROW(rows->latency_ns, rows->latency_room, rows->nodes);
    GROW(rows->output_bits, rows->bits_room, rows->nodes);
    GROW(rows->layer, rows->layer_room, rows->nodes);
    GROW(rows->merge, rows->merge_room, rows->nodes);
    rows->node[rows->nodes] =
        (struct pim_task_node){.steps = (uint32_t)steps, .latencies = 1, .first_latency = rows->nodes};
    rows->latency_ns[rows->nodes] = latency;
    rows->output_bits[rows->nodes] = bits;
    rows->layer[rows->nodes] = (uint32_t)layer;
    rows->merge[rows->nodes] = kind[0] == 'm';
    rows->nodes++;
    return PIM_OK;
}

static enum pim_status take_edge(struct rows *rows, const struct pim_csv_reader *reader,
                                 struct pim_error *error)
{
    uint64_t from, to, packets, bits, total;
    assert(rows->nodes > 0 && rows->node && rows->output_bits); /* nodes are read before edges */
    if (rows->edges == PIM_TASK_EDGES)
        return pim_csv_refuse(reader, EDGE, "a graph has at most 1048576 edges", error);
    if (conflict_graph_row(reader, EDGE, rows->edges, error) != PIM_OK ||
        pim_csv_count(reader, FROM, 0, rows->nodes - 1, &from, error) != PIM_OK ||
        pim_csv_count(reader, TO, 0, rows->nodes - 1, &to, error) != PIM_OK ||
        pim_csv_count(reader, PACKETS, rows->node[from].steps, rows->node[from].steps, &packets, error) !=
            PIM_OK ||
        pim_csv_count(reader, BITS, rows->output_bits[from], rows->output_bits[from], &bits, error) !=
            PIM_OK ||
        pim_csv_count(reader, TOTAL_BITS, packets * bits, packets * bits, &total, error) != PIM_OK)
        return error->status;
    if (from == to)
        return pim_csv_refuse(reader, TO, "a node does not send to itself", error);
    GROW(rows->edge, rows->edge_room, rows->edges);
    rows->edge[rows->edges++] = (struct pim_task_edge){
        .source = (uint32_t)from, .destination = (uint32_t)to, .packets = (uint32_t)packets, .bits = bits};
    return PIM_OK;
}

static enum pim_status read_rows(struct rows *rows, FILE *stream, const char *name, bool edges,
                                 struct pim_error *error)
{
    struct pim_csv_reader *reader;
    if (pim_csv_open_stream(&reader, stream, name, edges ? edge_header : node_header,
                            edges ? (size_t)EDGE_COLUMNS : (size_t)NODE_COLUMNS, error) != PIM_OK)
        return error->status;
    bool more = true;
    enum pim_status status = PIM_OK;
    while (status == PIM_OK) {
        status = pim_csv_next(reader, &more, error);
        if (status != PIM_OK || !more)
            break;
        status = edges ? take_edge(rows, reader, error) : take_node(rows, reader, error);
    }
    pim_csv_close(reader);
    if (status == PIM_OK && !edges && rows->nodes == 0)
        status = pim_fail(error, PIM_BAD_INPUT, "%s: has no row: a graph needs a node", name);
    return status;
}

/* A list "2;3;4", or "-1" for none, must name exactly the other ends of `edges`, each once, in any order.
 * `mark`: by node; holds the other ends, as `stamp`, that the list has yet to name. */
static enum pim_status check_list(const struct pim_task_graph *graph, const struct pim_csv_reader *reader,
                                  size_t column, const uint32_t *edges, uint32_t count, uint32_t *mark,
                                  uint32_t stamp, struct pim_error *error)
{
    const char *text = pim_csv_text(reader, column);
    if (count == 0)
        return strcmp(text, "-1") == 0 ? PIM_OK
                                       : pim_csv_refuse(reader, column, "the edges say -1, none", error);
    for (uint32_t k = 0; k < count; k++) {
        const struct pim_task_edge *edge = &graph->edge[edges[k]];
        mark[column == TARGETS ? edge->destination : edge->source] = stamp;
    }
    char allowed[96];
    uint32_t named = 0;
    for (bool more = true; more; named++) {
        uint64_t node = 0;
        size_t digits = strspn(text, "0123456789");
        for (size_t i = 0; i < digits && node < graph->nodes; i++)
            node = node * 10 + (uint64_t)(text[i] - '0');
        more = text[digits] == ';';
        if (digits == 0 || (!more && text[digits] != '\0'))
            return pim_csv_refuse(reader, column, "allowed are node numbers with ; between them, or -1",
                                  error);
        if (node >= graph->nodes || mark[node] != stamp) {
            (void)snprintf(allowed, sizeof allowed,
                           "place %" PRIu32 " names a node without such an edge, or one named before",
                           named + 1);
            return pim_csv_refuse(reader, column, allowed, error);
        }
        mark[node] = 0;
        text += digits + 1;
    }
    if (named == count)
        return PIM_OK;
    (void)snprintf(allowed, sizeof allowed, "the edges name %" PRIu32 " nodes, the list %" PRIu32, count,
                   named);
    return pim_csv_refuse(reader, column, allowed, error);
}

static enum pim_status check_lists(const struct pim_task_graph *graph, FILE *stream, const char *name,
                                   struct pim_error *error)
{
    rewind(stream);
    struct pim_csv_reader *reader;
    uint32_t *mark = calloc((size_t)graph->nodes + 1, sizeof *mark);
    if (!mark)
        return pim_fail(error, PIM_NO_MEMORY, "%s: out of memory for %" PRIu32 " nodes", name, graph->nodes);
    enum pim_status status = pim_csv_open_stream(&reader, stream, name, node_header, NODE_COLUMNS, error);
    for (uint32_t n = 0; n < graph->nodes && status == PIM_OK; n++) {
        bool more = true;
        const struct pim_task_node *node = &graph->node[n];
        status = pim_csv_next(reader, &more, error);
        if (status == PIM_OK && !more)
            status = pim_fail(error, PIM_IO, "%s: has become shorter while it was read", name);
        if (status == PIM_OK)
            status = check_list(graph, reader, SOURCES, graph->in + node->first_in, node->ins, mark,
                                2 * n + 1, error);
        if (status == PIM_OK)
            status = check_list(graph, reader, TARGETS, graph->out + node->first_out, node->outs, mark,
                                2 * n + 2, error);
    }
    pim_csv_close(reader);
    free(mark);
    return status;
}

/* Moves the rows into a graph. */
static enum pim_status make_graph(const char *name, struct rows *rows, struct pim_task_graph **graph,
                                  struct pim_error *error)
{
    struct pim_task_graph *made = pim_task_graph_create(name, rows->nodes, rows->edges);
    if (!made)
        return pim_fail(error, PIM_NO_MEMORY, "%s: out of memory for the graph", name);
    assert(rows->nodes > 0 && rows->node);
    memcpy(made->node, rows->node, rows->nodes * sizeof *made->node);
    if (rows->edges > 0)
        memcpy(made->edge, rows->edge, rows->edges * sizeof *made->edge);
    made->latency_ns = rows->latency_ns;
    made->latencies = rows->nodes;
    rows->latency_ns = NULL;
    *graph = made;
    return pim_task_graph_connect(made, error);
}

enum pim_status pim_task_graph_read_csv(const char *name, FILE *nodes, FILE *edges, FILE *deps, FILE *layers,
                                        struct pim_task_graph **graph, struct pim_error *error)
{
    struct rows rows = {0};
    char title[512];
    *graph = NULL;
    (void)snprintf(title, sizeof title, "%s.nodes.csv", name);
    enum pim_status status = read_rows(&rows, nodes, title, false, error);
    if (status == PIM_OK) {
        (void)snprintf(title, sizeof title, "%s.edges.csv", name);
        status = read_rows(&rows, edges, title, true, error);
    }
    if (status == PIM_OK)
        status = make_graph(name, &rows, graph, error);
    if (status == PIM_OK) {
        (void)snprintf(title, sizeof title, "%s.nodes.csv", name);
        status = check_lists(*graph, nodes, title, error);
    }
    if (status == PIM_OK)
        status = deps ? conflict_graph_read_deps(*graph, deps, error)
                      : conflict_graph_read_layers(*graph, layers, rows.layer, rows.merge, error);
    if (status == PIM_OK)
        status = pim_task_graph_finish(*graph, error);
    free_rows(&rows);
    if (status != PIM_OK) {
        pim_task_graph_destroy(*graph);
        *graph = NULL;
    }
    return status;
}

/* --- dependences --- */

enum { DEP_NODE, DEP_STEP, DEP_SOURCE, DEP_NEED, DEP_DROP, DEP_COLUMNS };
static const char *const dep_header[DEP_COLUMNS] = {"node", "step", "source_node", "need_packets",
                                                    "drop_packets"};

static enum pim_status take_dependence(struct pim_task_graph *graph, bool *given,
                                       const struct pim_csv_reader *reader, struct pim_error *error)
{
    uint64_t node, step, source, need, drop;
    if (pim_csv_count(reader, DEP_NODE, 0, graph->nodes - 1, &node, error) != PIM_OK ||
        pim_csv_count(reader, DEP_STEP, 0, graph->node[node].steps - 1, &step, error) != PIM_OK ||
        pim_csv_count(reader, DEP_SOURCE, 0, graph->nodes - 1, &source, error) != PIM_OK)
        return error->status;
    uint32_t edge = pim_task_graph_edge(graph, (uint32_t)source, (uint32_t)node);
    if (edge == UINT32_MAX)
        return pim_csv_refuse(reader, DEP_SOURCE, "no edge leads from there to the node of this row", error);
    uint32_t packets = graph->edge[edge].packets;
    if (pim_csv_count(reader, DEP_NEED, 0, packets, &need, error) != PIM_OK ||
        pim_csv_count(reader, DEP_DROP, 0, packets, &drop, error) != PIM_OK)
        return error->status;
    size_t place = graph->edge[edge].first + (size_t)step;
    if (given[place])
        return pim_csv_refuse(reader, DEP_STEP,
                              "node, step and source of this row have stood in a row before", error);
    given[place] = true;
    graph->need[place] = (uint32_t)need;
    graph->drop[place] = (uint32_t)drop;
    return PIM_OK;
}

static enum pim_status refuse_missing(const struct pim_task_graph *graph, const bool *given, const char *name,
                                      struct pim_error *error)
{
    for (uint32_t e = 0; e < graph->edges; e++) {
        for (uint32_t step = 0; step < graph->node[graph->edge[e].destination].steps; step++) {
            if (!given[graph->edge[e].first + step])
                return pim_fail(error, PIM_BAD_INPUT,
                                "%s: has no row for node %" PRIu32 ", step %" PRIu32 ", source %" PRIu32,
                                name, graph->edge[e].destination, step, graph->edge[e].source);
        }
    }
    return PIM_OK;
}

enum pim_status conflict_graph_read_deps(struct pim_task_graph *graph, FILE *deps, struct pim_error *error)
{
    char title[512];
    (void)snprintf(title, sizeof title, "%s.deps.csv", graph->name);
    size_t total = graph->edges == 0 ? 0
                                     : graph->edge[graph->edges - 1].first +
                                           graph->node[graph->edge[graph->edges - 1].destination].steps;
    bool *given = calloc(total + 1, sizeof *given);
    if (!given)
        return pim_fail(error, PIM_NO_MEMORY, "%s: out of memory for %zu dependences", title, total);
    struct pim_csv_reader *reader = NULL;
    enum pim_status status = pim_csv_open_stream(&reader, deps, title, dep_header, DEP_COLUMNS, error);
    bool more = true;
    while (status == PIM_OK) {
        status = pim_csv_next(reader, &more, error);
        if (status != PIM_OK || !more)
            break;
        status = take_dependence(graph, given, reader, error);
    }
    pim_csv_close(reader);
    if (status == PIM_OK)
        status = refuse_missing(graph, given, title, error);
    free(given);
    return status;
}

/* --- files --- */

/* Opens prefix + suffix; a missing file is an error only when it is needed. */
static enum pim_status open_part(const char *prefix, const char *suffix, bool needed, FILE **file,
                                 struct pim_error *error)
{
    char path[4096];
    int length = snprintf(path, sizeof path, "%s%s", prefix, suffix);
    if (length < 0 || (size_t)length >= sizeof path)
        return pim_fail(error, PIM_BAD_INPUT, "%.60s...: the path is too long", prefix);
    errno = 0;
    *file = fopen(path, "rb");
    if (*file || (!needed && errno == ENOENT))
        return PIM_OK;
    return pim_fail(error, PIM_IO, "%s: cannot be opened: %s", path, strerror(errno));
}

/* The part of a path in front of ".nodes.csv" and the like. */
static void make_prefix(char *prefix, size_t size, const char *path)
{
    static const char *const suffixes[] = {".nodes.csv", ".edges.csv", ".deps.csv", ".layers.csv"};
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        size_t tail = strlen(suffixes[i]);
        if (length > tail && strcmp(path + length - tail, suffixes[i]) == 0) {
            length -= tail;
            break;
        }
    }
    (void)snprintf(prefix, size, "%.*s", (int)(length < size ? length : size - 1), path);
}

static enum pim_status read_json_file(const char *path, struct pim_task_graph **graph,
                                      struct pim_error *error)
{
    FILE *file = NULL;
    enum pim_status status = open_part(path, "", true, &file, error);
    if (status != PIM_OK)
        return status;
    enum { LARGEST = 1 << 28 };
    char *text = NULL;
    size_t room = 0, length = 0, got = 1;
    while (status == PIM_OK && got > 0) {
        char *grown = length >= LARGEST ? NULL : pim_array_grow(text, &room, length + 65536, 1);
        if (!grown) {
            status = pim_fail(error, PIM_BAD_INPUT, "%s: is larger than %d bytes, or memory is out", path,
                              LARGEST);
            break;
        }
        text = grown;
        got = fread(text + length, 1, 65536, file);
        length += got;
    }
    if (status == PIM_OK && ferror(file))
        status = pim_fail(error, PIM_IO, "%s: cannot be read: %s", path, strerror(errno));
    if (status == PIM_OK)
        status = pim_task_graph_parse_json(path, text, length, graph, error);
    free(text);
    (void)fclose(file);
    return status;
}

enum pim_status pim_task_graph_read(const char *path, struct pim_task_graph **graph, struct pim_error *error)
{
    *graph = NULL;
    size_t length = strlen(path);
    if (length > 5 && strcmp(path + length - 5, ".json") == 0)
        return read_json_file(path, graph, error);
    char prefix[4096];
    make_prefix(prefix, sizeof prefix, path);
    FILE *file[4] = {NULL};
    enum pim_status status = open_part(prefix, ".nodes.csv", true, &file[0], error);
    if (status == PIM_OK)
        status = open_part(prefix, ".edges.csv", true, &file[1], error);
    if (status == PIM_OK)
        status = open_part(prefix, ".deps.csv", false, &file[2], error);
    if (status == PIM_OK && !file[2] && open_part(prefix, ".layers.csv", true, &file[3], error) != PIM_OK)
        status = pim_fail_in(error, "there is no %s.deps.csv, and", prefix);
    if (status == PIM_OK)
        status = pim_task_graph_read_csv(prefix, file[0], file[1], file[2], file[3], graph, error);
    for (size_t i = 0; i < 4; i++) {
        if (file[i])
            (void)fclose(file[i]);
    }
    return status;
}

#include "mappers/nicepim/space/segments.h"

#include <stdlib.h>
#include <string.h>

enum { WORD_BITS = 64 };

/* Part of the graph under work: its nodes, ascending, and the edges between them. Owned by one call of
 * split. */
struct piece {
    uint32_t count;
    uint32_t *node;
    size_t edge_count;
    uint32_t (*edge)[2]; /* places in `node` */
};

struct splitter {
    const struct pim_flow_graph *graph;
    struct pim_segments *segments;
    uint32_t *place; /* of a node of the graph in the piece, while one is built */
    uint32_t layer_count;
};

static enum pim_status no_memory(const struct splitter *splitter, struct pim_error *error)
{
    return pim_fail(error, PIM_NO_MEMORY, "out of memory for the segments of a network of %u layers",
                    (unsigned)splitter->graph->nodes);
}

static void release(struct piece *piece)
{
    free(piece->node);
    free(piece->edge);
}

/* The piece of the `count` nodes that are marked with `mark` in `component`. */
static bool make_piece(const struct splitter *splitter, const struct piece *of, const uint32_t *component,
                       uint32_t mark, struct piece *piece)
{
    *piece = (struct piece){.node = calloc(of->count + 1, sizeof *piece->node),
                            .edge = calloc(of->edge_count + 1, sizeof *piece->edge)};
    if (!piece->node || !piece->edge)
        return false;
    for (uint32_t i = 0; i < of->count; i++) {
        if (component[i] == mark) {
            splitter->place[i] = piece->count;
            piece->node[piece->count++] = of->node[i];
        }
    }
    for (size_t e = 0; e < of->edge_count; e++) {
        uint32_t from = of->edge[e][0], to = of->edge[e][1];
        if (component[from] != mark || component[to] != mark)
            continue;
        piece->edge[piece->edge_count][0] = splitter->place[from];
        piece->edge[piece->edge_count++][1] = splitter->place[to];
    }
    return true;
}

/* --- transitive edges --- */

static bool has_bit(const uint64_t *bits, uint32_t i)
{
    return bits[i / WORD_BITS] >> (i % WORD_BITS) & 1;
}

/* Leaves out edges u -> v with another path from u to v. */
static bool reduce(struct piece *piece)
{
    size_t words = piece->count / WORD_BITS + 1, kept = 0;
    uint64_t *reach = calloc(piece->count * words + 1, sizeof *reach);
    if (!reach)
        return false;
    for (uint32_t u = piece->count; u-- > 0;) {
        for (size_t e = 0; e < piece->edge_count; e++) {
            if (piece->edge[e][0] != u)
                continue;
            uint32_t v = piece->edge[e][1];
            for (size_t w = 0; w < words; w++)
                reach[u * words + w] |= reach[v * words + w];
            reach[u * words + v / WORD_BITS] |= (uint64_t)1 << (v % WORD_BITS);
        }
    }
    for (size_t e = 0; e < piece->edge_count; e++) {
        uint32_t u = piece->edge[e][0], v = piece->edge[e][1];
        bool covered = false;
        for (size_t f = 0; f < piece->edge_count && !covered; f++)
            covered = piece->edge[f][0] == u && piece->edge[f][1] != v &&
                      has_bit(reach + piece->edge[f][1] * words, v);
        /* Of edges that stand twice the first stays. */
        for (size_t f = 0; f < kept && !covered; f++)
            covered = piece->edge[f][0] == u && piece->edge[f][1] == v;
        if (covered)
            continue;
        piece->edge[kept][0] = u;
        piece->edge[kept++][1] = v;
    }
    piece->edge_count = kept;
    free(reach);
    return true;
}

/* --- cuts and components --- */

/* over[i]: how many edges jump over node i, those from the source and to the sink among them. */
static void count_over(const struct piece *piece, int64_t *over)
{
    uint32_t n = piece->count;
    bool entry, leaves;
    memset(over, 0, ((size_t)n + 2) * sizeof *over);
    for (uint32_t i = 0; i < n; i++) {
        entry = leaves = true;
        for (size_t e = 0; e < piece->edge_count; e++) {
            entry = entry && piece->edge[e][1] != i;
            leaves = leaves && piece->edge[e][0] != i;
        }
        if (entry) { /* over the nodes before it */
            over[0]++;
            over[i]--;
        }
        if (leaves) { /* over the nodes behind it */
            over[i + 1]++;
            over[n]--;
        }
    }
    for (size_t e = 0; e < piece->edge_count; e++) {
        over[piece->edge[e][0] + 1]++;
        over[piece->edge[e][1]]--;
    }
    for (uint32_t i = 1; i < n; i++)
        over[i] += over[i - 1];
}

/* Marks the nodes from..to - 1 with the smallest node of their weak component. */
static void find_components(const struct piece *piece, uint32_t from, uint32_t to, uint32_t *component)
{
    for (uint32_t i = from; i < to; i++)
        component[i] = i;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t e = 0; e < piece->edge_count; e++) {
            uint32_t a = piece->edge[e][0], b = piece->edge[e][1];
            if (a < from || b >= to || component[a] == component[b])
                continue;
            uint32_t least = component[a] < component[b] ? component[a] : component[b];
            component[a] = component[b] = least;
            changed = true;
        }
    }
}

static bool has_layer(const struct splitter *splitter, const struct piece *piece, const uint32_t *component,
                      uint32_t from, uint32_t to, uint32_t mark)
{
    for (uint32_t i = from; i < to; i++) {
        if (component[i] == mark && splitter->graph->layer[piece->node[i]])
            return true;
    }
    return false;
}

static void begin_segment(struct splitter *splitter)
{
    splitter->segments->segment_count++;
}

/* A branch of the segment that was begun last: the layers of [from, to) with the mark. */
static void add_branch(struct splitter *splitter, const struct piece *piece, const uint32_t *component,
                       uint32_t from, uint32_t to, uint32_t mark)
{
    struct pim_segments *segments = splitter->segments;
    for (uint32_t i = from; i < to; i++) {
        if (component[i] == mark && splitter->graph->layer[piece->node[i]])
            segments->layers[splitter->layer_count++] = piece->node[i];
    }
    segments->first[++segments->branch_count] = splitter->layer_count;
    segments->branch[segments->segment_count] = segments->branch_count;
}

static enum pim_status split(struct splitter *splitter, struct piece *piece, struct pim_error *error);

/* What lies between two cuts. */
static enum pim_status split_between(struct splitter *splitter, struct piece *piece, uint32_t *component,
                                     uint32_t from, uint32_t to, struct pim_error *error)
{
    uint32_t branches = 0, last = 0;
    find_components(piece, from, to, component);
    for (uint32_t i = from; i < to; i++) {
        if (component[i] == i && has_layer(splitter, piece, component, from, to, i)) {
            branches++;
            last = i;
        }
    }
    if (branches == 0)
        return PIM_OK;
    if (branches == 1) {
        struct piece part;
        uint32_t members = 0;
        for (uint32_t i = from; i < to; i++)
            members += component[i] == last;
        if (members < piece->count) {
            bool made = make_piece(splitter, piece, component, last, &part);
            enum pim_status status = made ? split(splitter, &part, error) : no_memory(splitter, error);
            release(&part);
            return status;
        }
    }
    begin_segment(splitter);
    for (uint32_t i = from; i < to; i++) {
        if (component[i] == i && has_layer(splitter, piece, component, from, to, i))
            add_branch(splitter, piece, component, from, to, i);
    }
    return PIM_OK;
}

/* Pieces get smaller with every level, and only what cannot be cut further on one level goes to the next. */
static enum pim_status split(struct splitter *splitter, struct piece *piece, struct pim_error *error)
{
    int64_t *over = calloc((size_t)piece->count + 2, sizeof *over);
    uint32_t *component = malloc(((size_t)piece->count + 1) * sizeof *component);
    enum pim_status status = PIM_OK;
    if (!over || !component || !reduce(piece))
        status = no_memory(splitter, error);
    if (status == PIM_OK)
        count_over(piece, over);
    for (uint32_t i = 0; status == PIM_OK && i < piece->count; i++)
        component[i] = UINT32_MAX;
    uint32_t from = 0;
    for (uint32_t i = 0; status == PIM_OK && i <= piece->count; i++) {
        if (i < piece->count && over[i] > 0)
            continue;
        status = split_between(splitter, piece, component, from, i, error);
        for (uint32_t k = from; k < i; k++)
            component[k] = UINT32_MAX;
        if (status == PIM_OK && i < piece->count && splitter->graph->layer[piece->node[i]]) {
            component[i] = i;
            begin_segment(splitter);
            add_branch(splitter, piece, component, i, i + 1, i);
            component[i] = UINT32_MAX;
        }
        from = i + 1;
    }
    free(over);
    free(component);
    return status;
}

enum pim_status pim_segments_of(const struct pim_flow_graph *graph, struct pim_segments *segments,
                                struct pim_error *error)
{
    size_t nodes = graph->nodes;
    *segments = (struct pim_segments){0};
    for (size_t e = 0; e < graph->edge_count; e++) {
        if (graph->edge[e][0] >= graph->edge[e][1] || graph->edge[e][1] >= nodes)
            return pim_fail(error, PIM_BAD_INPUT,
                            "edge %zu leads from node %u to %u: not forward within %zu nodes", e,
                            (unsigned)graph->edge[e][0], (unsigned)graph->edge[e][1], nodes);
    }
    struct splitter splitter = {.graph = graph, .segments = segments};
    struct piece whole = {.count = graph->nodes,
                          .node = calloc(nodes + 1, sizeof *whole.node),
                          .edge_count = graph->edge_count,
                          .edge = calloc(graph->edge_count + 1, sizeof *whole.edge)};
    splitter.place = calloc(nodes + 1, sizeof *splitter.place);
    segments->branch = calloc(nodes + 2, sizeof *segments->branch);
    segments->first = calloc(nodes + 2, sizeof *segments->first);
    segments->layers = calloc(nodes + 1, sizeof *segments->layers);
    enum pim_status status = PIM_OK;
    if (!whole.node || !whole.edge || !splitter.place || !segments->branch || !segments->first ||
        !segments->layers)
        status = no_memory(&splitter, error);
    for (uint32_t i = 0; status == PIM_OK && i < graph->nodes; i++)
        whole.node[i] = i;
    if (status == PIM_OK && graph->edge_count > 0)
        memcpy(whole.edge, graph->edge, graph->edge_count * sizeof *whole.edge);
    if (status == PIM_OK)
        status = split(&splitter, &whole, error);
    release(&whole);
    free(splitter.place);
    if (status != PIM_OK)
        pim_segments_terminate(segments);
    return status;
}

void pim_segments_terminate(struct pim_segments *segments)
{
    free(segments->branch);
    free(segments->first);
    free(segments->layers);
    *segments = (struct pim_segments){0};
}

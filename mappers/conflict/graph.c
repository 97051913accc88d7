/* Tiles, merge nodes, edges and times of a step; see graph.h. */
#include "mappers/conflict/graph.h"

#include <inttypes.h>

enum { BUFFER_BITS = 64, BUFFER_NS = 8, LINE_BITS = 20 };

/* Five slices of two bits of a nine-bit input: crossbar, DAC and ADC one after the other; then the digital
   part of a processing element. Figures of the authors' configuration, ns. */
static const double slices = 5, crossbar_ns = 3.16, converter_ns = 4, adc_ns = 100.0 / 11.0,
                    digital_ns = 33.1208042;

const char *pim_tile_layer_kind_name(unsigned kind)
{
    static const char *const names[] = {
#define X(name, text) text,
        PIM_TILE_LAYER_MAP(X)
#undef X
    };
    return kind < PIM_TILE_LAYER_KINDS ? names[kind] : NULL;
}

static bool has_weights(const struct pim_tile_layer *layer)
{
    return layer->kind == PIM_TILE_CONVOLUTION || layer->kind == PIM_TILE_LINEAR;
}

static uint64_t parts(uint64_t count, uint64_t of)
{
    return (count + of - 1) / of;
}

/* --- times --- */

/* A buffer that moves 64 bits in 8 ns. */
static double buffer_ns(uint64_t bits)
{
    return (double)(BUFFER_NS * parts(bits, BUFFER_BITS));
}

/* A crossbar with `channels` input channels of `rows` rows each. */
static double crossbar_step_ns(const struct pim_tile_hardware *hardware, uint64_t channels, uint64_t rows)
{
    return buffer_ns(hardware->bits * channels) + buffer_ns(hardware->bits * channels * rows) +
           slices * (crossbar_ns + converter_ns + adc_ns) + digital_ns;
}

/* Input channels of crossbar row `block` of a layer. */
static uint32_t channels_of_block(const struct pim_tile_layer *layer, uint32_t per_block, uint32_t block)
{
    uint32_t before = block * per_block;
    return layer->in_channels - before < per_block ? layer->in_channels - before : per_block;
}

static uint32_t channels_per_block(const struct pim_tile_hardware *hardware,
                                   const struct pim_tile_layer *layer)
{
    return hardware->crossbar_rows / layer->rows;
}

/* The blocks of a tile are added up in a tree of `height` levels, `columns` wide. */
static double tile_step_ns(const struct pim_tile_hardware *hardware, const struct pim_tile_layer *layer,
                           uint32_t first_block, uint32_t blocks, uint32_t columns)
{
    uint32_t per_block = channels_per_block(hardware, layer), height = 0;
    double slowest = 0;
    for (uint32_t b = first_block; b < first_block + blocks; b++) {
        double ns = crossbar_step_ns(hardware, channels_of_block(layer, per_block, b), layer->rows);
        slowest = ns > slowest ? ns : slowest;
    }
    while (1U << height < blocks)
        height++;
    uint32_t adders = (1U << height) - 1;
    double moved = (double)((uint64_t)(adders * 8 + (1U << height) - height - 1) * columns) / LINE_BITS;
    return slowest + (double)(adders * 2) + moved + buffer_ns((uint64_t)(8 + height) * columns);
}

/* Of a layer without weights. `stale` is the number of channels that the code preset counts for a pooling. */
static double plain_step_ns(const struct pim_tile_hardware *hardware, const struct pim_tile_layer *layer,
                            uint32_t stale)
{
    uint64_t out = (uint64_t)hardware->bits * layer->out_channels;
    uint32_t channels = hardware->preset == PIM_TILE_CODE && stale > 0 ? stale : layer->out_channels;
    switch ((int)layer->kind) {
    case PIM_TILE_POOLING:
        return 2 * buffer_ns((uint64_t)hardware->bits * channels) + 100 + 72 + buffer_ns(out);
    case PIM_TILE_SUM:
        return buffer_ns(layer->inputs * out) + buffer_ns(out);
    default: /* a concatenation is moved in and out */
        return buffer_ns(out) + buffer_ns(out);
    }
}

/* --- tiles --- */

static enum pim_status lay_out(struct pim_tile_graph *graph, uint32_t l, struct pim_error *error)
{
    const struct pim_tile_hardware *hardware = &graph->hardware;
    struct pim_tile_layer *layer = &graph->layer[l];
    uint64_t steps = (uint64_t)layer->window.out_size[0] * layer->window.out_size[1];
    layer->first_node = graph->nodes;
    layer->tiles = 1;
    if (steps == 0 || steps > PIM_TILE_STEPS)
        return pim_fail(error, PIM_BAD_INPUT, "layer %s: %" PRIu64 " pixels: allowed are 1 to %d",
                        layer->name, steps, PIM_TILE_STEPS);
    if (has_weights(layer)) {
        if (layer->rows == 0 || layer->rows > hardware->crossbar_rows)
            return pim_fail(error, PIM_BAD_INPUT,
                            "layer %s: an input channel takes %" PRIu32 " rows of a crossbar of %" PRIu32,
                            layer->name, layer->rows, hardware->crossbar_rows);
        layer->row_blocks = (uint32_t)parts(layer->in_channels, channels_per_block(hardware, layer));
        layer->column_blocks = (uint32_t)parts(layer->out_channels, hardware->crossbar_columns);
        uint64_t tiles = parts(layer->row_blocks, hardware->rows_of_crossbars) *
                         parts(layer->column_blocks, hardware->columns_of_crossbars);
        layer->tiles = tiles > PIM_TILE_NODES ? PIM_TILE_NODES : (uint32_t)tiles;
    }
    graph->nodes += layer->tiles + has_weights(layer);
    if (graph->nodes > PIM_TILE_NODES)
        return pim_fail(error, PIM_BAD_INPUT, "layer %s: the network needs more than %d tiles", layer->name,
                        PIM_TILE_NODES);
    return PIM_OK;
}

/* The tiles of a layer with weights, row blocks outermost, then its merge node. */
static void make_tiles(struct pim_tile_graph *graph, uint32_t l, double pooling_ns)
{
    const struct pim_tile_hardware *hardware = &graph->hardware;
    const struct pim_tile_layer *layer = &graph->layer[l];
    uint32_t steps = layer->window.out_size[0] * layer->window.out_size[1], n = layer->first_node;
    uint32_t width = hardware->columns_of_crossbars * hardware->crossbar_columns;
    for (uint32_t row = 0; row < layer->row_blocks; row += hardware->rows_of_crossbars)
        for (uint32_t from = 0; from < layer->out_channels; from += width) {
            uint32_t blocks = layer->row_blocks - row, columns = layer->out_channels - from;
            blocks = blocks < hardware->rows_of_crossbars ? blocks : hardware->rows_of_crossbars;
            columns = columns < width ? columns : width;
            double ns = tile_step_ns(hardware, layer, row, blocks, columns);
            if (hardware->preset == PIM_TILE_CODE && layer->kind == PIM_TILE_LINEAR && pooling_ns > 0)
                ns = pooling_ns;
            graph->node[n++] =
                (struct pim_tile_node){l, false, steps, ns, (uint64_t)hardware->bits * columns};
        }
    graph->node[n] =
        (struct pim_tile_node){l, true, steps, 1, (uint64_t)hardware->bits * layer->out_channels};
}

static void make_nodes(struct pim_tile_graph *graph)
{
    double pooling_ns = 0;
    uint32_t stale = 0;
    for (uint32_t l = 0; l < graph->layers; l++) {
        const struct pim_tile_layer *layer = &graph->layer[l];
        if (has_weights(layer)) {
            make_tiles(graph, l, pooling_ns);
            if (layer->kind == PIM_TILE_CONVOLUTION)
                stale = channels_of_block(layer, channels_per_block(&graph->hardware, layer),
                                          layer->row_blocks - 1);
            continue;
        }
        double ns = plain_step_ns(&graph->hardware, layer, stale);
        if (layer->kind == PIM_TILE_POOLING)
            pooling_ns = ns;
        graph->node[layer->first_node] =
            (struct pim_tile_node){l, true, layer->window.out_size[0] * layer->window.out_size[1], ns,
                                   (uint64_t)graph->hardware.bits * layer->out_channels};
    }
}

/* --- edges --- */

static uint32_t last_node(const struct pim_tile_layer *layer)
{
    return layer->first_node + layer->tiles - !has_weights(layer);
}

static void add_edge(struct pim_tile_graph *graph, uint32_t source, uint32_t destination)
{
    graph->edge[graph->edges++] =
        (struct pim_tile_edge){source, destination, graph->node[source].steps, graph->node[source].bits};
}

/* By source and destination: consumers of a layer stand behind it in ascending order. */
static void make_edges(struct pim_tile_graph *graph)
{
    for (uint32_t l = 0; l < graph->layers; l++) {
        const struct pim_tile_layer *layer = &graph->layer[l];
        for (uint32_t n = layer->first_node; n < last_node(layer); n++)
            add_edge(graph, n, last_node(layer));
        for (uint32_t to = l + 1; to < graph->layers; to++)
            for (uint32_t i = 0; i < graph->layer[to].inputs; i++)
                for (uint32_t t = 0; graph->layer[to].input[i] == l && t < graph->layer[to].tiles; t++)
                    add_edge(graph, last_node(layer), graph->layer[to].first_node + t);
    }
}

static uint64_t count_edges(const struct pim_tile_graph *graph)
{
    uint64_t edges = 0;
    for (uint32_t l = 0; l < graph->layers; l++) {
        const struct pim_tile_layer *layer = &graph->layer[l];
        edges += has_weights(layer) ? layer->tiles : 0;
        for (uint32_t i = 0; i < layer->inputs; i++)
            edges += layer->input[i] == PIM_TILE_IMAGE ? 0 : layer->tiles;
    }
    return edges;
}

/* Layers that are joined pixel by pixel have the same pixels. */
static enum pim_status check_maps(const struct pim_tile_graph *graph, uint32_t l, struct pim_error *error)
{
    const struct pim_tile_layer *layer = &graph->layer[l];
    for (uint32_t i = 0; i < layer->inputs && layer->kind != PIM_TILE_LINEAR; i++) {
        uint32_t from = layer->input[i];
        if (from == PIM_TILE_IMAGE)
            continue;
        const struct pim_tile_layer *source = from < l ? &graph->layer[from] : NULL;
        if (!source || source->window.out_size[0] != layer->window.in_size[0] ||
            source->window.out_size[1] != layer->window.in_size[1])
            return pim_fail(error, PIM_BAD_INPUT,
                            "layer %s: its input does not have the %" PRIu32 " x %" PRIu32
                            " pixels that it reads",
                            layer->name, layer->window.in_size[0], layer->window.in_size[1]);
    }
    return PIM_OK;
}

enum pim_status pim_tile_graph_make(struct pim_tile_graph *graph, const char *name,
                                    struct pim_tile_layer *layers, uint32_t count,
                                    const struct pim_tile_hardware *hardware, struct pim_arena *arena,
                                    struct pim_error *error)
{
    *graph = (struct pim_tile_graph){
        .arena = arena, .name = name, .hardware = *hardware, .layers = count, .layer = layers};
    if (hardware->crossbar_rows == 0 || hardware->crossbar_columns == 0 || hardware->rows_of_crossbars == 0 ||
        hardware->columns_of_crossbars == 0 || hardware->bits == 0 || hardware->bits > 64 ||
        hardware->rows_of_crossbars > 64 || hardware->columns_of_crossbars > 64 ||
        hardware->crossbar_rows > 65536 || hardware->crossbar_columns > 65536)
        return pim_fail(error, PIM_BAD_INPUT,
                        "crossbars have 1 to 65536 rows and columns, tiles 1 to 64 of them in a row or "
                        "column, activations 1 to 64 bits");
    for (uint32_t l = 0; l < count; l++)
        if (lay_out(graph, l, error) != PIM_OK || check_maps(graph, l, error) != PIM_OK)
            return error->status;
    uint64_t edges = count_edges(graph);
    graph->node = PIM_ARENA_ARRAY(arena, struct pim_tile_node, (size_t)graph->nodes + 1);
    graph->edge = PIM_ARENA_ARRAY(arena, struct pim_tile_edge, (size_t)edges + 1);
    if (!graph->node || !graph->edge)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for a graph of %" PRIu32 " nodes", graph->nodes);
    make_nodes(graph);
    make_edges(graph);
    return PIM_OK;
}

/* --- dependences --- */

void pim_tile_dependence(const struct pim_tile_graph *graph, uint32_t edge, uint32_t step, uint32_t *need,
                         uint32_t *drop)
{
    const struct pim_tile_edge *e = &graph->edge[edge];
    const struct pim_tile_node *node = &graph->node[e->destination];
    const struct pim_tile_layer *layer = &graph->layer[node->layer];
    bool collects = has_weights(layer) ? node->merge : layer->kind != PIM_TILE_POOLING;
    if (collects) {
        *need = step + 1;
        *drop = 1;
    } else if (layer->kind == PIM_TILE_LINEAR) {
        *need = e->packets;
        *drop = step + 1 == node->steps ? e->packets : 0;
    } else {
        pim_window_dependence(&layer->window, step, need, drop);
    }
}

/* Tiles, merge nodes, edges and times of a step; see graph.h. */
#include "mappers/conflict/graph.h"

#include "mappers/machine/tiles.h"
#include "sim/names.h"

#include <inttypes.h>

enum { BUFFER_BITS = 64, BUFFER_NS = 8, LINE_BITS = 20 };

/* Five slices of two bits of a nine-bit input: crossbar, DAC and ADC one after the other; then the digital
   part of a processing element. Figures of the authors' configuration, ns. */
static const double slices = 5, crossbar_ns = 3.16, converter_ns = 4, adc_ns = 100.0 / 11.0,
                    digital_ns = 33.1208042;

PIM_NAMES(pim_tile_layer_kind_name, PIM_TILE_LAYER_MAP)

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

static uint32_t groups_of(const struct pim_tile_layer *layer)
{
    return layer->groups > 1 ? layer->groups : 1;
}

/* Input and output channels of a group; of all where there is one. */
static uint32_t inputs_of_group(const struct pim_tile_layer *layer)
{
    return layer->in_channels / groups_of(layer);
}

static uint32_t outputs_of_group(const struct pim_tile_layer *layer)
{
    return layer->out_channels / groups_of(layer);
}

/* Input channels of crossbar row `block` of a layer, or of one of its groups. */
static uint32_t channels_of_block(const struct pim_tile_layer *layer, uint32_t per_block, uint32_t block)
{
    uint32_t before = block * per_block, all = inputs_of_group(layer);
    return all - before < per_block ? all - before : per_block;
}

static uint32_t channels_per_block(const struct pim_tile_hardware *hardware,
                                   const struct pim_tile_layer *layer)
{
    return hardware->crossbar_rows / layer->rows;
}

/* Groups that one crossbar holds, each with rows and columns of its own; 0: not even one. */
static uint32_t groups_in_crossbar(const struct pim_tile_hardware *hardware,
                                   const struct pim_tile_layer *layer)
{
    uint32_t by_rows = channels_per_block(hardware, layer) / inputs_of_group(layer),
             by_columns = hardware->crossbar_columns / outputs_of_group(layer);
    return by_rows < by_columns ? by_rows : by_columns;
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

struct pim_tile_hardware pim_tile_hardware_of(const struct pim_machine_tiles *machine,
                                              enum pim_tile_preset preset)
{
    return (struct pim_tile_hardware){.crossbar_rows = machine->crossbar_rows,
                                      .crossbar_columns = machine->crossbar_columns,
                                      .rows_of_crossbars = machine->rows_of_crossbars,
                                      .columns_of_crossbars = machine->columns_of_crossbars,
                                      .bits = machine->bits,
                                      .preset = preset};
}

double pim_tile_full_step_ns(const struct pim_tile_hardware *hardware)
{
    const struct pim_tile_layer layer = {
        .rows = 1, .in_channels = hardware->rows_of_crossbars * hardware->crossbar_rows};
    return tile_step_ns(hardware, &layer, 0, hardware->rows_of_crossbars,
                        hardware->columns_of_crossbars * hardware->crossbar_columns);
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
    case PIM_TILE_PRODUCT: /* both operands are read; the multiplication itself costs as little as a sum's */
        return buffer_ns(hardware->bits * (layer->in_channels + layer->products)) + buffer_ns(out);
    default: /* a concatenation is moved in and out */
        return buffer_ns(out) + buffer_ns(out);
    }
}

/* --- tiles --- */

/* Several groups share a crossbar, or a group has crossbars of its own, as a layer has. */
static uint64_t lay_out_crossbars(const struct pim_tile_hardware *hardware, struct pim_tile_layer *layer)
{
    uint32_t groups = groups_of(layer), together = groups_in_crossbar(hardware, layer);
    if (groups > 1 && together > 0) {
        layer->row_blocks = (uint32_t)parts(groups, together);
        layer->column_blocks = 1;
        return parts(layer->row_blocks,
                     (uint64_t)hardware->rows_of_crossbars * hardware->columns_of_crossbars);
    }
    layer->row_blocks = (uint32_t)parts(inputs_of_group(layer), channels_per_block(hardware, layer));
    layer->column_blocks = (uint32_t)parts(outputs_of_group(layer), hardware->crossbar_columns);
    return groups * parts(layer->row_blocks, hardware->rows_of_crossbars) *
           parts(layer->column_blocks, hardware->columns_of_crossbars);
}

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
        if (layer->in_channels % groups_of(layer) != 0 || layer->out_channels % groups_of(layer) != 0)
            return pim_fail(error, PIM_BAD_INPUT, "layer %s: channels do not divide into its groups",
                            layer->name);
        uint64_t tiles = lay_out_crossbars(hardware, layer);
        layer->tiles = tiles > PIM_TILE_NODES ? PIM_TILE_NODES : (uint32_t)tiles;
    }
    graph->nodes += layer->tiles + has_weights(layer);
    if (graph->nodes > PIM_TILE_NODES)
        return pim_fail(error, PIM_BAD_INPUT, "layer %s: the network needs more than %d tiles", layer->name,
                        PIM_TILE_NODES);
    return PIM_OK;
}

/* The tiles of a layer or of one of its groups, row blocks outermost. */
static uint32_t make_blocks(struct pim_tile_graph *graph, uint32_t l, double pooling_ns, uint32_t n)
{
    const struct pim_tile_hardware *hardware = &graph->hardware;
    const struct pim_tile_layer *layer = &graph->layer[l];
    uint32_t steps = layer->window.out_size[0] * layer->window.out_size[1];
    uint32_t width = hardware->columns_of_crossbars * hardware->crossbar_columns;
    for (uint32_t row = 0; row < layer->row_blocks; row += hardware->rows_of_crossbars)
        for (uint32_t from = 0; from < outputs_of_group(layer); from += width) {
            uint32_t blocks = layer->row_blocks - row, columns = outputs_of_group(layer) - from;
            blocks = blocks < hardware->rows_of_crossbars ? blocks : hardware->rows_of_crossbars;
            columns = columns < width ? columns : width;
            double ns = tile_step_ns(hardware, layer, row, blocks, columns);
            if (hardware->preset == PIM_TILE_CODE && layer->kind == PIM_TILE_LINEAR && pooling_ns > 0)
                ns = pooling_ns;
            uint64_t macs = 0;
            for (uint32_t b = row; b < row + blocks; b++)
                macs += (uint64_t)channels_of_block(layer, channels_per_block(hardware, layer), b) *
                        layer->rows * columns;
            graph->node[n++] = (struct pim_tile_node){
                .layer = l,
                .steps = steps,
                .latency_ns = ns,
                .bits = (uint64_t)hardware->bits * columns,
                .macs = macs,
                .arrays = blocks * (uint32_t)parts(columns, hardware->crossbar_columns)};
        }
    return n;
}

/* Tiles whose crossbars hold several groups each: no sums, every crossbar has outputs of its own. */
static uint32_t make_grouped(struct pim_tile_graph *graph, uint32_t l, uint32_t n)
{
    const struct pim_tile_hardware *hardware = &graph->hardware;
    const struct pim_tile_layer *layer = &graph->layer[l];
    uint32_t together = groups_in_crossbar(hardware, layer), groups = groups_of(layer);
    uint32_t most = hardware->rows_of_crossbars * hardware->columns_of_crossbars * together;
    for (uint32_t from = 0; from < groups; from += most) {
        uint32_t here = groups - from < most ? groups - from : most,
                 fullest = here < together ? here : together;
        uint32_t columns = here * outputs_of_group(layer);
        graph->node[n++] = (struct pim_tile_node){
            .layer = l,
            .steps = layer->window.out_size[0] * layer->window.out_size[1],
            .latency_ns = crossbar_step_ns(hardware, fullest * inputs_of_group(layer), layer->rows) +
                          buffer_ns(8 * (uint64_t)columns),
            .bits = (uint64_t)hardware->bits * columns,
            .macs = (uint64_t)columns * inputs_of_group(layer) * layer->rows,
            .arrays = (uint32_t)parts(here, together)};
    }
    return n;
}

/* The tiles of a layer with weights, then its merge node. */
static void make_tiles(struct pim_tile_graph *graph, uint32_t l, double pooling_ns)
{
    const struct pim_tile_hardware *hardware = &graph->hardware;
    const struct pim_tile_layer *layer = &graph->layer[l];
    uint32_t n = layer->first_node, groups = groups_of(layer);
    if (groups > 1 && groups_in_crossbar(hardware, layer) > 0)
        n = make_grouped(graph, l, n);
    else
        for (uint32_t g = 0; g < groups; g++)
            n = make_blocks(graph, l, pooling_ns, n);
    graph->node[n] = (struct pim_tile_node){.layer = l,
                                            .merge = true,
                                            .steps = layer->window.out_size[0] * layer->window.out_size[1],
                                            .latency_ns = 1,
                                            .bits = (uint64_t)hardware->bits * layer->out_channels};
}

static void make_nodes(struct pim_tile_graph *graph)
{
    double pooling_ns = 0;
    uint32_t stale = 0;
    for (uint32_t l = 0; l < graph->layers; l++) {
        const struct pim_tile_layer *layer = &graph->layer[l];
        if (has_weights(layer)) {
            make_tiles(graph, l, pooling_ns);
            if (layer->kind == PIM_TILE_CONVOLUTION && groups_of(layer) == 1)
                stale = channels_of_block(layer, channels_per_block(&graph->hardware, layer),
                                          layer->row_blocks - 1);
            continue;
        }
        double ns = plain_step_ns(&graph->hardware, layer, stale);
        if (layer->kind == PIM_TILE_POOLING)
            pooling_ns = ns;
        graph->node[layer->first_node] =
            (struct pim_tile_node){.layer = l,
                                   .merge = true,
                                   .steps = layer->window.out_size[0] * layer->window.out_size[1],
                                   .latency_ns = ns,
                                   .bits = (uint64_t)graph->hardware.bits * layer->out_channels,
                                   .macs = layer->products};
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

/* Windows lie over the map that they read, whose rows may come as tokens one behind the other; layers
 * that work pixel by pixel have as many pixels as it. */
static bool fits(const struct pim_tile_layer *source, const struct pim_tile_layer *layer)
{
    const struct pim_window *from = &source->window, *to = &layer->window;
    bool single = to->kernel[0] == 1 && to->kernel[1] == 1 && to->stride[0] == 1 && to->stride[1] == 1;
    if (single || from->out_size[0] == 1)
        return (uint64_t)from->out_size[0] * from->out_size[1] == (uint64_t)to->in_size[0] * to->in_size[1];
    return from->out_size[0] == to->in_size[0] && from->out_size[1] == to->in_size[1];
}

static enum pim_status check_maps(const struct pim_tile_graph *graph, uint32_t l, struct pim_error *error)
{
    const struct pim_tile_layer *layer = &graph->layer[l];
    for (uint32_t i = 0; i < layer->inputs && layer->kind != PIM_TILE_LINEAR; i++) {
        uint32_t from = layer->input[i];
        if (from == PIM_TILE_IMAGE || (from < l && layer->round[i] > 0))
            continue;
        if (from >= l || !fits(&graph->layer[from], layer))
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

/* Pixels that a step waits for together; 0: the one of its number, or its window. */
static uint32_t round_of(const struct pim_tile_graph *graph, const struct pim_tile_edge *edge)
{
    const struct pim_tile_node *source = &graph->node[edge->source];
    const struct pim_tile_layer *layer = &graph->layer[graph->node[edge->destination].layer];
    for (uint32_t i = 0; i < layer->inputs; i++)
        if (layer->input[i] == source->layer)
            return layer->round[i];
    return 0; /* of the tiles of the layer itself */
}

/* In rounds; all of them in one, where the steps do not divide. */
static void depend_on_round(const struct pim_tile_edge *edge, uint32_t steps, uint32_t round, uint32_t step,
                            uint32_t *need, uint32_t *drop)
{
    uint32_t rounds = edge->packets / round;
    if (rounds == 0 || rounds * round != edge->packets || steps % rounds != 0) {
        round = edge->packets;
        rounds = 1;
    }
    uint32_t each = steps / rounds;
    *need = (step / each + 1) * round;
    *drop = (step + 1) % each == 0 ? round : 0;
}

void pim_tile_dependence(const struct pim_tile_graph *graph, uint32_t edge, uint32_t step, uint32_t *need,
                         uint32_t *drop)
{
    const struct pim_tile_edge *e = &graph->edge[edge];
    const struct pim_tile_node *node = &graph->node[e->destination];
    const struct pim_tile_layer *layer = &graph->layer[node->layer];
    bool collects = has_weights(layer) ? node->merge : layer->kind != PIM_TILE_POOLING;
    uint32_t round = layer->kind == PIM_TILE_LINEAR ? 0 : round_of(graph, e);
    if (round > 0) {
        depend_on_round(e, node->steps, round, step, need, drop);
    } else if (collects) {
        *need = step + 1;
        *drop = 1;
    } else if (layer->kind == PIM_TILE_LINEAR) {
        *need = e->packets;
        *drop = step + 1 == node->steps ? e->packets : 0;
    } else {
        pim_window_dependence(&layer->window, step, need, drop);
    }
}

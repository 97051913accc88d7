/* The array of tiles: life cycle, its network, and what tiles wait for. */
#include "models/tile/tile_internal.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* --- the network --- */

static void send_packet(void *context, uint32_t e)
{
    struct pim_tiles *tiles = context;
    const struct pim_task_edge *edge = &tiles->graph->edge[e];
    pim_noc_send(tiles->units.noc, edge->source, edge->destination,
                 pim_task_flits(edge, tiles->configuration.zero_load.flit_bits), e);
}

static void injected(void *context, uint64_t packet, uint32_t source)
{
    const struct pim_tiles *tiles = context;
    (void)source;
    pim_conflict_network_injected(tiles->network, (uint32_t)packet);
}

static void delivered(void *context, const struct pim_noc_delivery *delivery)
{
    struct pim_tiles *tiles = context;
    uint32_t e = (uint32_t)delivery->packet;
    struct pim_tile *source = pim_tile_at(tiles, tiles->edge[e].source);
    pim_unit_attribute_packet(&source->unit, pim_tile_phase_of(source, &tiles->edge[e]),
                              &tiles->configuration.zero_load, delivery);
    pim_conflict_network_delivered(tiles->network, e, delivery->hops - 1);
}

static void failed(void *context, enum pim_status status, const char *text)
{
    struct pim_tiles *tiles = context;
    if (tiles->units.error->status == PIM_OK)
        (void)pim_fail(tiles->units.error, status, "%s", text ? text : "the network has failed");
}

static enum pim_status make_network(struct pim_tiles *tiles, struct pim_kernel *kernel,
                                    struct pim_error *error)
{
    const struct pim_conflict_nodes nodes = {.noun = "tile",
                                             .context = tiles,
                                             .look = pim_tile_look,
                                             .left = pim_tile_left,
                                             .arrived = pim_tile_arrived,
                                             .send = send_packet,
                                             .failed = failed};
    struct pim_conflict_options *options = &tiles->configuration.options;
    if (options->routing == PIM_CONFLICT_TABLE) {
        if (pim_behaviour_take(&tiles->table, tiles->units.trace, error) != PIM_OK)
            return error->status;
        options->table = &tiles->table;
    }
    tiles->placement = calloc((size_t)tiles->units.count + 1, sizeof *tiles->placement);
    if (!tiles->placement)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu32 " tiles", tiles->units.count);
    for (uint32_t id = 0; id < tiles->units.count; id++)
        tiles->placement[id] = id;
    return pim_conflict_network_create(tiles->graph, tiles->placement, options, &nodes, kernel,
                                       &tiles->network, error);
}

/* --- life cycle --- */

enum pim_status pim_tile_array_initialize(struct pim_tiles *tiles, struct pim_kernel *kernel,
                                          const struct pim_tiles_configuration *configuration,
                                          const struct pim_trace *trace, struct pim_error *error)
{
    *tiles = (struct pim_tiles){.configuration = *configuration};
    if (pim_units_initialize(&tiles->units, &pim_tile_family, kernel, trace, sizeof(struct pim_tile),
                             error) != PIM_OK)
        return error->status;
    tiles->units.window = configuration->window;
    for (uint32_t id = 0; id < tiles->units.count; id++) {
        pim_tile_at(tiles, id)->tiles = tiles;
        if (pim_unit_initialize(&tiles->units, id, 1, error) != PIM_OK)
            return error->status;
    }
    if (pim_tiles_read_edges(tiles, error) != PIM_OK)
        return error->status;
    return make_network(tiles, kernel, error);
}

static void terminate(struct pim_units *units)
{
    struct pim_tiles *tiles = (struct pim_tiles *)units;
    for (uint32_t id = 0; units->first && id < units->count; id++) {
        struct pim_tile *tile = pim_tile_at(tiles, id);
        free(tile->input);
        free(tile->output);
        free(tile->span);
    }
    for (uint32_t e = 0; tiles->graph && tiles->edge && e < tiles->graph->edges; e++)
        free(tiles->edge[e].left);
    pim_conflict_network_destroy(tiles->network);
    pim_behaviour_terminate(&tiles->table);
    free(tiles->placement);
    free(tiles->edge);
    pim_task_graph_destroy(tiles->graph);
    pim_units_terminate(units);
}

/* Packets of the steps so far belong to the phase that ends. */
static void leave_phase(struct pim_unit *unit)
{
    struct pim_tile *tile = (struct pim_tile *)unit;
    if (tile->spans == tile->span_room) {
        uint32_t room = tile->span_room ? 2 * tile->span_room : 4;
        struct pim_tile_span *span = realloc(tile->span, room * sizeof *span);
        if (!span) {
            pim_units_exhausted(unit->units, "phases");
            return;
        }
        tile->span = span;
        tile->span_room = room;
    }
    tile->span[tile->spans++] = (struct pim_tile_span){tile->steps, unit->sums};
    unit->sums = &unit->units->outside;
}

/* --- deadlock report --- */

static void describe_input(const struct pim_tile *tile, const struct pim_tile_input *input,
                           struct pim_idle_report *report)
{
    char text[160];
    uint32_t arrived = pim_conflict_network_arrived(tile->tiles->network, input->edge);
    uint32_t source = tile->tiles->graph->edge[input->edge].source;
    if (arrived >= input->needed)
        return;
    pim_idle_report_line(report,
                         "tile %" PRIu32 ", step %" PRIu64 ": waits for %" PRIu64 " packets of tile %" PRIu32
                         ", %" PRIu32 " have come, %" PRIu64 " of them are freed",
                         tile->unit.id, tile->steps, input->needed, source, arrived, input->dropped);
    if (pim_conflict_network_explain(tile->tiles->network, input->edge, text, sizeof text))
        pim_idle_report_line(report, "tile %" PRIu32 ": packets for tile %" PRIu32 " wait to be sent: %s",
                             source, tile->unit.id, text);
}

static void describe(struct pim_unit *unit, struct pim_idle_report *report)
{
    const struct pim_tile *tile = (const struct pim_tile *)unit;
    const struct pim_conflict_network *network = tile->tiles->network;
    if (!tile->armed || tile->running)
        return;
    for (uint32_t i = 0; i < tile->inputs; i++)
        describe_input(tile, &tile->input[i], report);
    for (uint32_t i = 0; i < tile->outputs; i++)
        if (!pim_conflict_network_has_room(network, tile->output[i]))
            pim_idle_report_line(
                report, "tile %" PRIu32 ", step %" PRIu64 ": its output buffer for tile %" PRIu32 " is full",
                unit->id, tile->steps, tile->tiles->graph->edge[tile->output[i]].destination);
}

static uint64_t packets_under_way(const struct pim_unit *unit, unsigned detail)
{
    (void)detail;
    return ((const struct pim_tile *)unit)->under_way;
}

static const struct pim_gauge gauges[] = {
    {"packets sent and not there yet", "packets", packets_under_way, NULL, 0}, {NULL, NULL, NULL, NULL, 0}};

const struct pim_unit_family pim_tile_family = {
    .noun = "tile",
    .names_phase = true,
    .noc = {.injected = injected, .delivered = delivered},
    .leave_phase = leave_phase,
    .describe = describe,
    .terminate = terminate,
    .gauges = gauges,
};

/* Tiles of crossbars on a network whose transfers conflict, which stands in place of models/noc. */
#include "models/system/families/tiles.h"

#include "models/system/family.h"
#include "models/system/hardware/tile_hardware.h"
#include "models/system/report/json_rows.h"
#include "models/system/report/results.h"

#include <inttypes.h>
#include <stdlib.h>

static const struct pim_energy_row shown[] = {{"pe", "crossbars", offsetof(struct pim_energy, pe)},
                                              {"noc", "NoC", offsetof(struct pim_energy, noc)},
                                              {NULL, NULL, 0}};
static const struct pim_energy_row beyond[] = {{NULL, NULL, 0}};

const struct pim_tiles *pim_system_tiles(const struct pim_system *system)
{
    return system->units->family == &pim_tile_family ? (const struct pim_tiles *)system->units : NULL;
}

struct pim_conflict_summary pim_tiles_summary(const struct pim_tiles *tiles, pim_time end)
{
    struct pim_conflict_result result = *pim_conflict_network_result(tiles->network);
    result.images = 0; /* phases tell of them */
    result.end = end;
    result.end_ns = pim_conflict_ns(PIM_CONFLICT_EXACT, end);
    return pim_conflict_summarize(&result, &tiles->configuration.options);
}

bool pim_tiles_know_waiting(const struct pim_tiles *tiles)
{
    const struct pim_conflict_options *options = &tiles->configuration.options;
    if (options->switching == PIM_SWITCHING_SAF)
        return options->routing != PIM_CONFLICT_TABLE &&
               pim_conflict_network_result(tiles->network)->asking == 0;
    return options->switching != PIM_SWITCHING_WORMHOLE;
}

double pim_tiles_waited_ns(const struct pim_tiles *tiles)
{
    const struct pim_conflict_result *result = pim_conflict_network_result(tiles->network);
    uint64_t waited = 0;
    for (uint32_t e = 0; e < result->tasks; e++)
        waited += result->task[e].wait_fixed;
    return (double)waited * 0x1p-20;
}

/* A packet is one flit. Cycles are rounded down. */
static void fill_link(const struct pim_system *system, const struct pim_conflict_link *from, pim_time end,
                      struct pim_noc_link_use *to)
{
    const struct pim_tiles *tiles = pim_system_tiles(system);
    double period_ns = (double)system->hardware.node.network_period / (double)PIM_CONFLICT_FS;
    double held = pim_conflict_held_ns(from, &tiles->configuration.options, end);
    *to = (struct pim_noc_link_use){.from = from->from,
                                    .to = from->to,
                                    .flits = from->transfers,
                                    .busy_cycles = (uint64_t)(held / period_ns),
                                    .blocked_cycles =
                                        pim_tiles_know_waiting(tiles)
                                            ? (uint64_t)((double)from->wait_fixed * 0x1p-20 / period_ns)
                                            : UINT64_MAX};
}

static enum pim_status collect(struct pim_system *system, struct pim_run_result *result,
                               struct pim_error *error)
{
    const struct pim_tiles *tiles = pim_system_tiles(system);
    if (tiles->configuration.options.switching == PIM_SWITCHING_WORMHOLE)
        return pim_noc_collect_links(system->noc, &result->links, &result->link_count, error);
    const struct pim_conflict_result *network = pim_conflict_network_result(tiles->network);
    result->links = calloc((size_t)network->links + 1, sizeof *result->links);
    if (!result->links)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu32 " links", network->links);
    result->link_count = network->links;
    for (uint32_t i = 0; i < network->links; i++)
        fill_link(system, &network->link[i], result->end, &result->links[i]);
    uint64_t hops = 0;
    for (uint32_t e = 0; e < network->tasks; e++)
        hops += network->task[e].hops;
    system->packets = network->packets;
    system->hops = hops + network->packets; /* routers */
    result->noc = (struct pim_noc_statistics){.packets_sent = network->packets,
                                              .packets_injected = network->packets,
                                              .packets_delivered = network->packets,
                                              .flits_sent = network->packets,
                                              .flits_delivered = network->packets,
                                              .hops = system->hops,
                                              .flit_hops = system->hops};
    return PIM_OK;
}

static enum pim_status initialize(struct pim_units *units, struct pim_kernel *kernel,
                                  const struct pim_hardware *hardware, const struct pim_trace *trace,
                                  struct pim_error *error)
{
    return pim_tile_array_initialize((struct pim_tiles *)units, kernel, &hardware->tiles, trace, error);
}

static const char *interconnect(const struct pim_hardware *hardware)
{
    static const char *const kinds[] = {[PIM_SWITCHING_PATH_HOLD] = "paths that are held whole",
                                        [PIM_SWITCHING_SAF] = "store and forward",
                                        [PIM_SWITCHING_WORMHOLE] = NULL};
    return kinds[hardware->tiles.options.switching];
}

static void print(const struct pim_system *system, const struct pim_run_result *result, FILE *file)
{
    const struct pim_tiles *tiles = pim_system_tiles(system);
    fprintf(file, "\nedges: %" PRIu32 ", %" PRIu64 " bytes of packets\n", tiles->graph->edges,
            result->bytes_sent);
    if (tiles->configuration.options.switching == PIM_SWITCHING_WORMHOLE)
        return;
    const struct pim_conflict_summary summary = pim_tiles_summary(tiles, result->end);
    fprintf(file, "links: %" PRIu32 " used", summary.links_used);
    if (summary.links_used > 0)
        fprintf(file,
                ", %" PRIu32
                " of them less than a tenth of the time, on average %.1f %%, the busiest %.1f %%",
                summary.links_below_tenth, 100 * summary.utilization_used, 100 * summary.utilization_maximum);
    if (pim_tiles_know_waiting(tiles))
        fprintf(file, "; packets waited %.3f us for them, added up", pim_tiles_waited_ns(tiles) / 1000);
    fputc('\n', file);
}

static void put(struct pim_json *json, const struct pim_system *system, const struct pim_run_result *result)
{
    const struct pim_tiles *tiles = pim_system_tiles(system);
#include "models/system/families/tiles.def"
}

const struct pim_hardware_family pim_hardware_tiles = {
    .plural = "tiles",
    .units = &pim_tile_family,
    .size = sizeof(struct pim_tiles),
    .initialize = initialize,
    .read = pim_tile_hardware_read,
    .slice_cycles = 65536,
    .engines = {"crossbars", "vector", "memory", "packets"},
    .shown = shown,
    .beyond = beyond,
    .interconnect = interconnect,
    .collect = collect,
    .print = print,
    .put = put};

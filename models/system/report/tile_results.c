/* What the network of tiles has done, in place of models/noc. */
#include "models/system/report/tile_results.h"

#include "models/system/system.h"

#include <inttypes.h>
#include <stdlib.h>

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

enum pim_status pim_tiles_collect(struct pim_system *system, struct pim_run_result *result,
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

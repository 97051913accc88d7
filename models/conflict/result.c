/* What a run leaves behind. */
#include "models/conflict/internal.h"
#include "sim/names.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The links of the mesh in the order of their numbers: undirected ones when both directions exclude each
 * other. */
static uint32_t number_links(struct conflict_replay *replay, struct pim_conflict_link *links)
{
    const struct pim_conflict_mesh *mesh = &replay->options->mesh;
    uint32_t count = 0;
    for (uint32_t link = 0; link < pim_conflict_routers(mesh) * PIM_DIRECTIONS; link++) {
        uint32_t router = link / PIM_DIRECTIONS, direction = link % PIM_DIRECTIONS;
        if (!pim_conflict_has_neighbour(mesh, router, direction) || conflict_resource(replay, link) != link)
            continue;
        replay->link_index[link] = count;
        if (links)
            links[count] = (struct pim_conflict_link){.from = router,
                                                      .to = pim_conflict_neighbour(mesh, router, direction)};
        count++;
    }
    return count;
}

enum pim_status conflict_result_initialize(struct conflict_replay *replay, struct pim_error *error)
{
    struct pim_conflict_result *result = replay->result;
    const struct pim_task_graph *graph = replay->graph;
    result->tasks = graph->edges;
    result->nodes = graph->nodes;
    result->images = replay->options->images;
    replay->link_index = calloc((size_t)pim_conflict_routers(&replay->options->mesh) * PIM_DIRECTIONS,
                                sizeof *replay->link_index);
    if (replay->link_index)
        result->links = number_links(replay, NULL);
    result->link = calloc((size_t)result->links + 1, sizeof *result->link);
    result->task = calloc((size_t)result->tasks + 1, sizeof *result->task);
    result->node = calloc((size_t)result->nodes + 1, sizeof *result->node);
    result->image_start_ns = calloc(result->images, sizeof *result->image_start_ns);
    result->image_end_ns = calloc(result->images, sizeof *result->image_end_ns);
    if (!replay->link_index || !result->link || !result->task || !result->node || !result->image_start_ns ||
        !result->image_end_ns)
        return pim_fail(error, PIM_NO_MEMORY,
                        "out of memory for the statistics of %" PRIu32 " links and %" PRIu32 " edges",
                        result->links, result->tasks);
    (void)number_links(replay, result->link);
    for (uint32_t e = 0; e < graph->edges; e++) {
        const struct pim_task_edge *edge = &graph->edge[e];
        uint64_t hops = pim_conflict_distance(&replay->options->mesh, replay->placement[edge->source],
                                              replay->placement[edge->destination]);
        if (hops * edge->packets > (UINT64_MAX - result->distance_bit_hops) / edge->bits)
            return pim_fail(error, PIM_BAD_INPUT,
                            "edge %" PRIu32 ": bits x links of all packets together exceed 2^64", e);
        result->distance_bit_hops += hops * edge->packets * edge->bits;
    }
    return PIM_OK;
}

void pim_conflict_result_terminate(struct pim_conflict_result *result)
{
    free(result->image_start_ns);
    free(result->image_end_ns);
    free(result->link);
    free(result->task);
    free(result->node);
    *result = (struct pim_conflict_result){0};
}

/* --- derived figures --- */

double pim_conflict_held_ns(const struct pim_conflict_link *link, const struct pim_conflict_options *options,
                            pim_time end)
{
    double held = (double)link->held_bits / options->bandwidth_gbps;
    if (options->switching == PIM_SWITCHING_SAF)
        held += (double)link->transfers * options->router_delay_ns;
    if (!options->ideal && link->held_until > end)
        held -= pim_conflict_ns(options->arithmetic, link->held_until) -
                pim_conflict_ns(options->arithmetic, end);
    return held;
}

struct pim_conflict_summary pim_conflict_summarize(const struct pim_conflict_result *result,
                                                   const struct pim_conflict_options *options)
{
    struct pim_conflict_summary summary = {0};
    for (uint32_t m = 0; m < result->images; m++) {
        double latency = result->image_end_ns[m] - result->image_start_ns[m];
        summary.first_latency_ns = m == 0 ? latency : summary.first_latency_ns;
        summary.average_latency_ns += latency / result->images;
    }
    if (result->images > 1)
        summary.interval_ns =
            (result->image_end_ns[result->images - 1] - result->image_end_ns[0]) / (result->images - 1);
    summary.end_over_images_ns = result->images ? result->end_ns / result->images : 0;
    double total = 0;
    for (uint32_t i = 0; i < result->links && result->end_ns > 0; i++) {
        double share = pim_conflict_held_ns(&result->link[i], options, result->end) / result->end_ns;
        if (result->link[i].transfers == 0)
            continue;
        total += share;
        summary.links_used++;
        summary.links_below_tenth += share < 0.1;
        summary.utilization_maximum =
            share > summary.utilization_maximum ? share : summary.utilization_maximum;
    }
    summary.utilization_all = result->links && result->end_ns > 0 ? total / result->links : (double)NAN;
    summary.utilization_used = summary.links_used ? total / summary.links_used : (double)NAN;
    if (summary.links_used == 0)
        summary.utilization_maximum = (double)NAN;
    return summary;
}

PIM_NAMES(pim_switching_name, PIM_SWITCHING_MAP)
PIM_NAMES(pim_conflict_routing_name, PIM_CONFLICT_ROUTING_MAP)
PIM_NAMES(pim_conflict_arbiter_name, PIM_CONFLICT_ARBITER_MAP)
PIM_NAMES(pim_tie_break_name, PIM_TIE_BREAK_MAP)

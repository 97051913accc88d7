/*
 * What is checked before a replay: options, placement, and that every step can get at once what it needs;
 * and on request while it runs: the invariants of the edges.
 */
#include "models/conflict/internal.h"

#include <inttypes.h>
#include <stdlib.h>

enum pim_status conflict_check_options(const struct pim_task_graph *graph,
                                       const struct pim_conflict_options *options, struct pim_error *error)
{
    uint64_t routers = (uint64_t)options->mesh.width * options->mesh.height;
    if (options->mesh.width == 0 || options->mesh.height == 0 || routers > 1 << 20)
        return pim_fail(error, PIM_BAD_INPUT,
                        "the mesh is %" PRIu32 " rows x %" PRIu32
                        " columns: allowed are 1 to 1048576 routers",
                        options->mesh.height, options->mesh.width);
    if (options->images == 0 || options->images > 65535)
        return pim_fail(error, PIM_BAD_INPUT, "images is %" PRIu32 ": allowed are 1 to 65535",
                        options->images);
    if (!(options->bandwidth_gbps >= 1e-6 && options->bandwidth_gbps <= 1e6))
        return pim_fail(error, PIM_BAD_INPUT, "the bandwidth is %g Gb/s: allowed are 1e-6 to 1e6",
                        options->bandwidth_gbps);
    if (!(options->router_delay_ns >= 0 && options->router_delay_ns <= 1e6))
        return pim_fail(error, PIM_BAD_INPUT, "the router delay is %g ns: allowed are 0 to 1e6",
                        options->router_delay_ns);
    if (options->perturb_milli > 999)
        return pim_fail(error, PIM_BAD_INPUT, "step times can vary by less than their own, not by %g %%",
                        options->perturb_milli / 10.0);
    if (options->detour.detour_milli < 1000 || options->detour.detour_milli > 1000000)
        return pim_fail(error, PIM_BAD_INPUT, "the detour is %g: allowed are 1 to 1000",
                        options->detour.detour_milli / 1000.0);
    if (options->switching == PIM_SWITCHING_SAF && options->routing == PIM_CONFLICT_ADAPTIVE)
        return pim_fail(
            error, PIM_BAD_INPUT,
            "adaptive routing plans whole paths over idle links, which saf does not hold: make behaviour "
            "tables with path_hold and execute them (routing table)");
    if ((options->routing == PIM_CONFLICT_TABLE) != (options->table != NULL))
        return pim_fail(error, PIM_BAD_INPUT, "routing table and behaviour tables need each other");
    if (options->make_table && options->switching != PIM_SWITCHING_PATH_HOLD)
        return pim_fail(error, PIM_BAD_INPUT, "behaviour tables are made by path_hold");
    if (options->ideal && (options->routing == PIM_CONFLICT_TABLE || options->make_table))
        return pim_fail(error, PIM_BAD_INPUT,
                        "behaviour tables say who holds links when: they have no ideal run");
    for (uint32_t n = 0; n < graph->nodes; n++) {
        if ((uint64_t)graph->node[n].steps * options->images > UINT32_MAX)
            return pim_fail(error, PIM_BAD_INPUT,
                            "node %" PRIu32 " has %" PRIu32 " steps in each of %" PRIu32
                            " images: together they must be below 2^32",
                            n, graph->node[n].steps, options->images);
    }
    return PIM_OK;
}

enum pim_status conflict_check_placement(const struct pim_task_graph *graph, const uint32_t *placement,
                                         const struct pim_conflict_mesh *mesh, struct pim_error *error)
{
    uint32_t routers = pim_conflict_routers(mesh);
    uint32_t *taken = calloc(routers, sizeof *taken);
    if (!taken)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu32 " routers", routers);
    enum pim_status status = PIM_OK;
    for (uint32_t n = 0; n < graph->nodes && status == PIM_OK; n++) {
        if (placement[n] >= routers)
            status = pim_fail(error, PIM_BAD_INPUT,
                              "node %" PRIu32 " is placed at router %" PRIu32 ": the mesh has %" PRIu32, n,
                              placement[n], routers);
        else if (taken[placement[n]])
            status = pim_fail(
                error, PIM_BAD_INPUT,
                "nodes %" PRIu32 " and %" PRIu32 " are both placed at row %" PRIu32 ", column %" PRIu32,
                taken[placement[n]] - 1, n, placement[n] / mesh->width, placement[n] % mesh->width);
        else
            taken[placement[n]] = n + 1;
    }
    free(taken);
    return status;
}

/* What a step needs of an edge at once must fit its part of the buffer: otherwise that step never starts. */
enum pim_status conflict_check_buffers(const struct conflict_replay *replay, uint32_t e,
                                       struct pim_error *error)
{
    const struct pim_task_edge *edge = &replay->graph->edge[e];
    const struct conflict_edge *state = &replay->edge[e];
    uint32_t steps = replay->graph->node[edge->destination].steps;
    const char *noun = replay->nodes.noun;
    uint64_t freed = 0, dropped = 0;
    if (state->capacity_out == 0)
        return pim_fail(error, PIM_DEADLOCK,
                        "%s %" PRIu32 ": a packet of %" PRIu64 " bits for %s %" PRIu32
                        " does not fit its output buffer of %" PRIu64 " bits",
                        noun, edge->source, edge->bits, noun, edge->destination,
                        replay->options->output_bits);
    if (!replay->graph->need) { /* nodes are not the graph's */
        if (state->capacity_in > 0)
            return PIM_OK;
        return pim_fail(error, PIM_DEADLOCK,
                        "%s %" PRIu32 ": a packet of %" PRIu64 " bits of %s %" PRIu32
                        " does not fit its part of the input buffer (%" PRIu64 " bits split among %" PRIu32
                        " sources)",
                        noun, edge->destination, edge->bits, noun, edge->source, replay->options->input_bits,
                        replay->graph->node[edge->destination].ins);
    }
    for (uint32_t s = 0; s < steps; s++)
        dropped += replay->graph->drop[edge->first + s];
    uint64_t kept = (edge->packets - dropped) *
                    (replay->options->images - 1); /* never freed in the images before the last */
    for (uint32_t s = 0; s < steps; s++) {
        uint64_t need = replay->graph->need[edge->first + s];
        if (need > freed && need - freed + kept > state->capacity_in)
            return pim_fail(
                error, PIM_DEADLOCK,
                "node %" PRIu32 " step %" PRIu32 " needs %" PRIu64 " packets of node %" PRIu32
                " at once, %" PRIu64 " bits, but that edge's part of the input buffer holds %" PRIu64
                " bits (%" PRIu64 " split among %" PRIu32 " sources): it starves",
                edge->destination, s, need - freed + kept, edge->source, (need - freed + kept) * edge->bits,
                replay->options->input_bits / replay->graph->node[edge->destination].ins,
                replay->options->input_bits, replay->graph->node[edge->destination].ins);
        freed += replay->graph->drop[edge->first + s];
    }
    return PIM_OK;
}

enum pim_status conflict_check_edges(const struct conflict_replay *replay, struct pim_error *error)
{
    for (uint32_t e = 0; e < replay->graph->edges; e++) {
        const struct conflict_edge *edge = &replay->edge[e];
        bool counted = edge->dropped <= edge->arrived && edge->arrived <= edge->sent &&
                       edge->sent <= edge->produced && edge->produced <= edge->total;
        if (!counted || edge->sent - edge->dropped > edge->capacity_in ||
            edge->produced - edge->sent > edge->capacity_out)
            return pim_fail(error, PIM_INTERNAL,
                            "edge %" PRIu32 ": of %" PRIu32 " packets %" PRIu32 " were made, %" PRIu32
                            " sent, %" PRIu32 " have arrived and %" PRIu32
                            " were freed, with room for %" PRIu32 " at the source and %" PRIu32
                            " at the destination",
                            e, edge->total, edge->produced, edge->sent, edge->arrived, edge->dropped,
                            edge->capacity_out, edge->capacity_in);
    }
    return PIM_OK;
}

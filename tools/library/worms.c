#include "tools/library/worms.h"

#include <stdlib.h>

struct pim_worms {
    const struct pim_task_graph *graph;
    const uint32_t *place;
    struct pim_noc *noc;
    pim_time period;
    uint64_t flit_bits;
    struct conflict_replay *told; /* while the network does a cycle */
    struct pim_conflict_carrier carrier;
};

/* A packet that leaves in a time point comes behind the network's phase of that tick: it is in the next
 * cycle. */
static void send_packet(void *context, pim_time now, uint32_t e)
{
    const struct pim_worms *worms = context;
    const struct pim_task_edge *edge = &worms->graph->edge[e];
    pim_noc_send_at(worms->noc, now / worms->period + 1, worms->place[edge->source],
                    worms->place[edge->destination], pim_task_flits(edge, worms->flit_bits), e);
}

static pim_time next(void *context)
{
    const struct pim_worms *worms = context;
    uint64_t cycle = pim_noc_next_cycle(worms->noc);
    return cycle > PIM_TIME_LAST / worms->period ? PIM_TIME_NEVER : cycle * worms->period;
}

static void step(void *context, pim_time now, struct conflict_replay *replay)
{
    struct pim_worms *worms = context;
    worms->told = replay;
    pim_noc_step(worms->noc, now / worms->period);
}

static void injected(void *context, uint64_t packet, uint32_t source)
{
    const struct pim_worms *worms = context;
    (void)source;
    pim_conflict_injected(worms->told, (uint32_t)packet);
}

static void delivered(void *context, const struct pim_noc_delivery *delivery)
{
    const struct pim_worms *worms = context;
    pim_conflict_delivered(worms->told, (uint32_t)delivery->packet, delivery->hops - 1);
}

enum pim_status pim_worms_create(const struct pim_hardware *hardware, enum pim_noc_fidelity fidelity,
                                 const struct pim_task_graph *graph, const uint32_t *place,
                                 struct pim_worms **out, struct pim_error *error)
{
    struct pim_noc_configuration configuration = hardware->noc;
    struct pim_worms *worms = *out = calloc(1, sizeof *worms);
    if (!worms)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for a network on chip");
    *worms = (struct pim_worms){.graph = graph,
                                .place = place,
                                .period = hardware->node.network_period,
                                .flit_bits = hardware->noc.flit_bits,
                                .carrier = {worms, send_packet, next, step}};
    const struct pim_noc_callbacks callbacks = {
        .context = worms, .injected = injected, .delivered = delivered};
    configuration.fidelity = fidelity;
    return pim_noc_create(&configuration, NULL, worms->period, &callbacks, &worms->noc, error);
}

void pim_worms_destroy(struct pim_worms *worms)
{
    if (!worms)
        return;
    pim_noc_destroy(worms->noc);
    free(worms);
}

const struct pim_conflict_carrier *pim_worms_carrier(const struct pim_worms *worms)
{
    return &worms->carrier;
}

uint64_t pim_worms_flits(const struct pim_hardware *hardware, const struct pim_task_graph *graph)
{
    uint64_t flits = 0;
    for (uint32_t e = 0; e < graph->edges; e++) {
        const uint64_t each = pim_task_flits(&graph->edge[e], hardware->noc.flit_bits);
        if (each > 0 && graph->edge[e].packets > (UINT64_MAX - flits) / each)
            return UINT64_MAX;
        flits += graph->edge[e].packets * each;
    }
    return flits;
}

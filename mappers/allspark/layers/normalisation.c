/*
 * Layer normalisation on a node: of all channels of a token the node has those of its column, so that mean
 * and variance are exchanged within the row (section V-B).
 */
#include "mappers/allspark/layers/layers.h"
#include "mappers/allspark/memory.h"
#include "mappers/allspark/redistribution/circulation.h"
#include "mappers/allspark/shapes.h"

void pim_emit_normalisation(struct pim_emitter *emitter, struct pim_normalisation norm, uint32_t tag)
{
    const struct pim_allspark_partition *part = emitter->part;
    const struct pim_workspace *space = &emitter->workspace;
    uint64_t p = norm.rows, q = pim_stage_channels(part, emitter->place.column);
    struct pim_row_pieces statistics = {.base = space->statistics, .rows = p, .total = 0};
    if (p == 0)
        return; /* fewer keys than rows */
    uint64_t loaded =
        pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_NONE, norm.source, p * q, 0, 1, PIM_NOTHING);
    uint64_t statistics_loaded = PIM_NOTHING;
    if (part->v > 1) { /* mean and variance of a part of the channels, exchanged within the row */
        uint64_t mean = pim_emit_vector(emitter, PIM_VECTOR_AVERAGE, p, q, 0, loaded, PIM_NOTHING);
        (void)pim_emit_memory(emitter, PIM_OP_STORE, PIM_BUFFER_NONE,
                              pim_row_address(emitter, &statistics, emitter->place.column),
                              pim_row_bytes(emitter, &statistics, emitter->place.column), 0, 1, mean);
        pim_emit_join(emitter);
        pim_gather_row(emitter, &statistics, tag);
        statistics_loaded = pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_NONE, space->statistics,
                                            p * PIM_STATISTICS_BYTES * part->v, 0, 1, PIM_NOTHING);
        /* The ACU has no room for the features while the statistics go round: they come again. */
        loaded =
            pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_NONE, norm.source, p * q, 0, 1, PIM_NOTHING);
    }
    uint64_t normal = pim_emit_vector(emitter, PIM_VECTOR_LAYERNORM, p, q, 0, loaded, statistics_loaded);
    (void)pim_emit_memory(emitter, PIM_OP_STORE, PIM_BUFFER_NONE, norm.output, p * q, 0, 1, normal);
}

void pim_estimate_normalisation(const struct pim_emitter *emitter, uint64_t p, struct pim_trace_phase *phase)
{
    const struct pim_allspark_partition *part = emitter->part;
    const struct pim_estimate_hardware *hardware = &emitter->plan->hardware;
    uint64_t q = pim_stage_channels(part, 0);
    uint64_t vector = pim_estimate_vector(hardware, p, q, 2);
    /* Features, statistics and the gathered features lie one behind another. */
    const uint64_t statistics = p * PIM_STATISTICS_BYTES * part->v,
                   among = p * (q + part->channels) + statistics;
    uint64_t memory = pim_estimate_copy(hardware, p * q, among);
    if (part->v > 1) {
        vector += pim_estimate_vector(hardware, p, q, 1);
        memory += 2 * pim_estimate_latency(hardware) + pim_estimate_run(hardware, p * q, among, false) +
                  pim_estimate_run(hardware, statistics / part->v, among, true) +
                  pim_estimate_run(hardware, statistics, among, false);
        phase->estimate_parts[PIM_ESTIMATE_TRANSFER] +=
            pim_estimate_ring(hardware, p * PIM_STATISTICS_BYTES, part->v);
    }
    phase->estimate_parts[PIM_ESTIMATE_VECTOR] += vector;
    phase->estimate_parts[PIM_ESTIMATE_MEMORY] += memory;
}

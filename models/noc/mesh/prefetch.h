/*
 * Asks for the memory of routers that will be evaluated soon, in meshes that are larger than the caches that
 * are near (in small ones it would cost two per cent). No influence on any result.
 */
#ifndef PIMSIM_MODELS_NOC_MESH_PREFETCH_H
#define PIMSIM_MODELS_NOC_MESH_PREFETCH_H

#include "models/noc/mesh/evaluation.h"

/* What every evaluation uses. */
static PIM_ALWAYS_INLINE void prefetch_router(const struct noc_mesh *mesh, struct noc_kind kind,
                                              uint32_t node)
{
    const struct noc_router *router = router_of(mesh, kind, node);
    PIM_PREFETCH(&mesh->now[node]);
    PIM_PREFETCH(router);
    PIM_PREFETCH(&router->link_flits);
    PIM_PREFETCH(&router->sets);
    PIM_PREFETCH((const char *)&router->sets + PIM_LINE);
    PIM_PREFETCH(router->outputs);
    PIM_PREFETCH((const char *)router->outputs + PIM_LINE);
}

/* The rows of up to two heads that arrive, and of up to two packets that have a virtual channel; what
 * express.h looks at; and what a flit or a credit for the neighbour in the south, the only one whose memory
 * was not used lately, changes. */
static PIM_ALWAYS_INLINE void prefetch_rows(const struct noc_mesh *mesh, struct noc_kind kind, uint32_t node)
{
    const struct noc_router *router = router_of(mesh, kind, node);
    unsigned shift = kind.words == 1 ? NOC_SINGLE_SHIFT : mesh->shift, last = NOC_TERMINAL;
    const struct noc_input *inputs = (const void *)((const char *)router + pim_noc_inputs_offset(shift));
    const struct noc_slot *slot = &mesh->now[node];
    unsigned heads = slot->head_ports;
    if ((slot->flit_ports & (slot->flit_ports - 1)) == 0) {
        PIM_PREFETCH(&mesh->next[0][node]);
        PIM_PREFETCH(&mesh->next[1][node]);
    }
    uint64_t rows = router->sets[0].active | router->sets[0].allocated;
    for (unsigned i = 0; i < 2; i++, heads &= heads - 1, rows &= rows - 1) {
        unsigned port = pim_lowest_bit(heads | 1U << last);
        PIM_PREFETCH(&inputs[(port << shift) + (slot->flits[port] >> 8 & ((1U << shift) - 1))]);
        PIM_PREFETCH(&inputs[pim_lowest_bit(rows | UINT64_C(1) << (last << NOC_SINGLE_SHIFT))]);
    }
    uint32_t south = router->neighbour[PIM_NOC_SOUTH];
    if (south == UINT32_MAX)
        return;
    PIM_PREFETCH(&mesh->flits.slots[south]);
    router = router_of(mesh, kind, south);
    PIM_PREFETCH(router);
    PIM_PREFETCH(&router->outputs[PIM_NOC_NORTH << shift]);
}

/* For the two routers that are evaluated next: what every evaluation uses for the second one, the rows for
 * the first one, whose state is near by then. */
static PIM_ALWAYS_INLINE void prefetch_next(const struct noc_mesh *mesh, struct noc_kind kind,
                                            const struct pim_noc_visit *visit)
{
    uint64_t later = visit->units & (visit->units - 1), last = later & (later - 1);
    if (later)
        prefetch_rows(mesh, kind, visit->word * 64 + pim_lowest_bit(later));
    if (last) {
        prefetch_router(mesh, kind, visit->word * 64 + pim_lowest_bit(last));
    } else if (visit->touched) { /* the first ones of the next word */
        uint32_t word = (visit->group - 1) * 64 + pim_lowest_bit(visit->touched);
        uint64_t units = visit->spoke.sets[word];
        units &= later ? UINT64_MAX : units - 1;
        if (units)
            prefetch_router(mesh, kind, word * 64 + pim_lowest_bit(units));
    }
}

#endif

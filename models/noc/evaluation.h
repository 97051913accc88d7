/*
 * One evaluation of a router: what router.c (the stages), channels.c and sleep.c hand to each other.
 */
#ifndef PIMSIM_MODELS_NOC_EVALUATION_H
#define PIMSIM_MODELS_NOC_EVALUATION_H

#include "models/noc/internal.h"

struct evaluation {
    struct pim_noc *noc;
    struct noc_mesh *mesh;
    struct noc_router *router;
    struct noc_input *inputs;   /* [port][vc] */
    struct noc_output *outputs; /* [port][vc] */
    uint64_t cycle;
    uint32_t node, vcs;
    uint64_t flit_out[NOC_PORTS], credit_out[NOC_PORTS]; /* as in struct noc_router */
    uint8_t flit_out_ports, credit_out_ports;
    uint8_t tail_ports, body_ports; /* inputs that sent a tail, and another flit */
    bool noisy; /* a packet began or ended somewhere, or got a virtual channel: not calm */
    bool moved; /* an arbiter's pointer or a held switch differs from before */
    bool read_change, wrote_change;
    bool credit_once; /* a credit came in for this cycle only */
};

/* channels.c: changes of what arrives that become visible; what patterns bring in this cycle; what is sent in
 * it. */
void pim_noc_read_changes(struct evaluation *e);
void pim_noc_read_patterns(struct evaluation *e);
void pim_noc_write_channels(struct evaluation *e);

/* channels.c: declares that all output channels repeat what they carried in the last `period` cycles (in
 * `rhythm`). */
void pim_noc_declare_patterns(struct evaluation *e, const struct noc_rhythm *rhythm, unsigned period);

/* sleep.c: plans the next evaluation. `filled` and `nonfull` are the router's sets before this one. */
void pim_noc_plan_router(struct evaluation *e, const uint32_t *filled, const uint32_t *nonfull);

#endif

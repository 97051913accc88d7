/*
 * The evaluation of a router or of a terminal of the general network in a cycle, and its parts by file.
 */
#ifndef PIMSIM_MODELS_NOC_GENERAL_SITE_H
#define PIMSIM_MODELS_NOC_GENERAL_SITE_H

#include "models/noc/general/state.h"

/* A router in a cycle, and its parts of the arrays. */
struct general_site {
    struct pim_noc *noc;
    struct noc_general *general;
    struct general_router *router;
    struct general_input *inputs;      /* by port */
    struct general_output *outputs;    /* by port */
    struct general_row *rows;          /* by row */
    struct general_column *columns;    /* by column */
    struct general_crossbar *crossbar; /* by crossbar input */
    uint64_t cycle;
    uint32_t node; /* the router */
};

/* watch.c: of the packet that is watched. */
void pim_noc_general_tell(struct pim_noc *noc, enum pim_noc_stage_kind kind, uint64_t cycle, uint32_t place,
                          uint32_t port, uint32_t vc, uint64_t flit);
/* What the row's front does. */
void pim_noc_general_tell_row(const struct general_site *site, unsigned row_index,
                              enum pim_noc_stage_kind kind);
/* At the end of an evaluation: what waits. */
void pim_noc_general_tell_waits(const struct general_site *site);
static inline bool pim_noc_general_watches(const struct pim_noc *noc, uint32_t packet)
{
    return PIM_UNLIKELY(noc->callbacks.stage != NULL) && noc->packets[packet].user == noc->callbacks.watched;
}

/* The crossbar output that a row uses of an output port. */
static inline unsigned pim_noc_general_exit(const struct noc_general *general, unsigned row, unsigned output)
{
    return output * general->out_speed + general->exit_of[row];
}

/* The virtual channels of a set that a head may take at an output port; `empty`: with all their credits. */
static inline uint32_t pim_noc_general_available(const struct general_site *site, unsigned port, uint32_t vcs,
                                                 bool empty)
{
    uint32_t available = vcs & site->outputs[port].free;
    if (!empty)
        return available;
    const struct general_column *columns = &site->columns[port * site->general->vcs];
    for (uint32_t set = available; set; set &= set - 1)
        if (columns[pim_lowest_bit(set)].credits != site->general->buffer_flits)
            available &= ~(set & -set);
    return available;
}

/* order.c: the lists of a router. `list` puts a row at the end of one, `list_head` where a head that
 * arrives belongs; `advance`, at the start of an evaluation, follows what happened while the router was not
 * evaluated; `sort` brings the requests of the scratch that are granted into the order of the lists, and
 * `update` follows all that has happened in this cycle. */
void pim_noc_general_list(const struct general_site *site, enum general_list list, unsigned row);
void pim_noc_general_list_head(const struct general_site *site, unsigned row);
void pim_noc_general_advance(const struct general_site *site);
void pim_noc_general_sort(const struct general_site *site);
void pim_noc_general_update(const struct general_site *site);

/* priority.c: of the flit at the front of a row; and the stamps of flits, where priorities need them:
 * of one that comes into a buffer, and of the first one there. */
int64_t pim_noc_general_priority(const struct general_site *site, unsigned row);
void pim_noc_general_stamp(const struct general_site *site, unsigned row, const struct general_event *event);
uint64_t pim_noc_general_first_stamp(const struct general_site *site, unsigned row);

/* switch.c: what the rows that are ready ask of the switch, and who gets it: `requests` of the
 * scratch with `granted`; flits of held switches are granted without a request. */
void pim_noc_general_ask(const struct general_site *site);
void pim_noc_general_switch(const struct general_site *site);

/* channels.c: VC allocation of the heads in the scratch. */
void pim_noc_general_channels(const struct general_site *site);

/* router.c: one cycle of a router; returns whether it has to be evaluated in the next one. */
bool pim_noc_general_evaluate(struct pim_noc *noc, uint32_t router, uint64_t cycle);

/* terminal.c: one cycle of a terminal's injecting side; returns whether it has to be evaluated in the next
 * one. */
bool pim_noc_general_inject(struct pim_noc *noc, uint32_t node, uint64_t cycle);

#endif

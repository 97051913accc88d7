/* What the packet that is watched does, stage by stage. */
#include "models/noc/general/site.h"

void pim_noc_general_tell(struct pim_noc *noc, enum pim_noc_stage_kind kind, uint64_t cycle, uint32_t place,
                          uint32_t port, uint32_t vc, uint64_t flit)
{
    const struct pim_noc_stage stage = {
        .cycle = cycle, .kind = kind, .place = place, .port = port, .vc = vc, .flit = flit};
    noc->callbacks.stage(noc->callbacks.context, &stage);
}

void pim_noc_general_tell_row(const struct general_site *site, unsigned row_index,
                              enum pim_noc_stage_kind kind)
{
    const struct general_row *row = &site->rows[row_index];
    if (kind == PIM_NOC_CHANNEL_TAKEN || kind == PIM_NOC_SWITCH_WON)
        site->general->told[site->router->first + site->general->port_of[row_index]].since = site->cycle + 1;
    bool without = kind == PIM_NOC_ROUTED || kind == PIM_NOC_CHANNEL_WAITED; /* has none yet: the input's */
    uint32_t vc = without ? site->general->vc_of[row_index] : row->vc;
    pim_noc_general_tell(site->noc, kind, site->cycle, site->node, row->output, vc,
                         site->noc->packets[row->front].flits - row->left);
}

/* Why the front of a row, which did not go on in this cycle, did not. PIM_NOC_STAGE_KINDS: a stage takes its
 * time, or nothing is there. */
static enum pim_noc_stage_kind wait_of(const struct general_input *input, uint32_t bit)
{
    if (input->bidding & bit)
        return PIM_NOC_CHANNEL_WAITED;
    if (!(input->active & input->filled & bit))
        return PIM_NOC_STAGE_KINDS;
    return input->credited & bit ? PIM_NOC_SWITCH_WAITED : PIM_NOC_CREDIT_WAITED;
}

void pim_noc_general_tell_waits(const struct general_site *site)
{
    struct noc_general *general = site->general;
    for (unsigned row = 0; row < site->router->ports * general->vcs; row++) {
        uint32_t front = site->rows[row].front;
        if (front == NOC_NO_PACKET || !pim_noc_general_watches(site->noc, front))
            continue;
        bool went_on = general->told[site->router->first + general->port_of[row]].since == site->cycle + 1;
        enum pim_noc_stage_kind kind =
            wait_of(&site->inputs[general->port_of[row]], UINT32_C(1) << general->vc_of[row]);
        if (!went_on && kind != PIM_NOC_STAGE_KINDS)
            pim_noc_general_tell_row(site, row, kind);
    }
}

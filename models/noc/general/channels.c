/*
 * VC allocation of the general network: heads and the free virtual channels of the output they bid for.
 *
 * 1. A head bids at one output port in a cycle, so output ports do not influence each other: a head that is
 *    alone at its port is served without a matching.
 */
#include "models/noc/bits.h"
#include "models/noc/general/match.h"
#include "models/noc/general/site.h"

static void take(const struct general_site *site, unsigned row_index, unsigned vc)
{
    struct general_row *row = &site->rows[row_index];
    struct general_input *input = &site->inputs[site->general->port_of[row_index]];
    struct general_output *output = &site->outputs[row->output];
    uint32_t bit = UINT32_C(1) << site->general->vc_of[row_index], delay;
    row->vc = (uint8_t)vc;
    site->columns[row->output * site->general->vcs + vc].owner = (uint16_t)row_index;
    output->free &= ~(UINT32_C(1) << vc);
    input->bidding &= ~bit;
    if (output->nonfull >> vc & 1)
        input->credited |= bit;
    if (pim_noc_general_watches(site->noc, row->front))
        pim_noc_general_tell_row(site, row_index, PIM_NOC_CHANNEL_TAKEN);
    delay = site->noc->configuration.vc_allocation_delay;
    if (delay == 1) {
        input->active |= bit;
        return;
    }
    input->allocated |= bit;
    row->ready = site->cycle + delay;
    site->router->staged |= UINT64_C(1) << site->general->port_of[row_index];
}

/* The whole matrix of a router's rows and columns. */
static struct general_matching matching_of(const struct general_site *site)
{
    struct noc_general *general = site->general;
    unsigned rows = site->router->ports * general->vcs;
    struct general_matching matching = {
        .noc = site->noc,
        .requests = general->scratch.channels,
        .allocator = site->noc->configuration.vc_allocator,
        .arbiter = general->vc_arbiter,
        .iterations = site->noc->configuration.vc_iterations,
        .inputs = rows,
        .outputs = rows,
        .diagonal = &site->router->vc_diagonal,
        .accept = &site->rows[0].accept,
        .accept_stride = sizeof *site->rows / sizeof(uint16_t),
        .grant = &site->columns[0].grant,
        .grant_stride = sizeof *site->columns / sizeof(uint16_t),
        .now = site->cycle + 1,
    };
    if (general->vc_stamps.inputs) {
        size_t most = (size_t)general->topology->most_ports * general->vcs;
        size_t first = (size_t)site->router->first * general->vcs;
        matching.input_stamps = general->vc_stamps.inputs + first * most;
        matching.output_stamps = general->vc_stamps.outputs + first * most;
    }
    return matching;
}

/* A head alone at its output port gets the first free virtual channel at or after its pointer; both pointers
 * move. For round-robin arbiters, and allocators that begin with these. */
static void serve_alone(const struct general_site *site, const struct general_head *head)
{
    unsigned vcs = site->general->vcs, first = head->output * vcs, rows = site->router->ports * vcs;
    struct general_row *row = &site->rows[head->row];
    unsigned pointer = row->accept >= first && row->accept < first + vcs ? row->accept - first : 0;
    unsigned vc = pim_noc_first_from(head->vcs, pointer), column = first + vc;
    row->accept = (uint16_t)(column + 1 == rows ? 0 : column + 1);
    site->columns[column].grant = (uint16_t)(head->row + 1U == rows ? 0 : head->row + 1U);
    take(site, head->row, vc);
}

static unsigned add_requests(const struct general_site *site, const struct general_head *head, unsigned count)
{
    for (uint32_t set = head->vcs; set; set &= set - 1)
        site->general->scratch.channels[count++] = (struct general_request){
            .input = head->row,
            .output = (uint16_t)(head->output * site->general->vcs + pim_lowest_bit(set)),
            .row = head->row,
            .packet = site->rows[head->row].front,
            .priority = pim_noc_general_priority(site, head->row)};
    return count;
}

static void match(const struct general_site *site, unsigned count)
{
    struct general_scratch *scratch = &site->general->scratch;
    struct general_matching matching = matching_of(site);
    matching.count = count;
    pim_noc_general_match(&matching);
    for (unsigned i = 0; i < count; i++)
        if (scratch->channels[i].granted)
            take(site, scratch->channels[i].row, site->general->vc_of[scratch->channels[i].output]);
    for (unsigned i = 0; i < scratch->head_count; i++) {
        unsigned row = scratch->heads[i].row; /* who got none waits for its output */
        if (site->inputs[site->general->port_of[row]].bidding >> site->general->vc_of[row] & 1)
            site->router->wanted |= UINT64_C(1) << scratch->heads[i].output;
    }
}

void pim_noc_general_channels(const struct general_site *site)
{
    struct general_scratch *scratch = &site->general->scratch;
    uint64_t seen = 0, several = 0;
    for (unsigned i = 0; i < scratch->head_count; i++) {
        uint64_t bit = UINT64_C(1) << scratch->heads[i].output;
        several |= seen & bit;
        seen |= bit;
    }
    if (pim_noc_general_is_wavefront(site->noc->configuration.vc_allocator) ||
        site->general->vc_stamps.inputs || site->general->vc_arbiter.kind == PIM_NOC_FIXED_PRIORITY)
        several = seen;
    unsigned count = 0;
    for (unsigned i = 0; i < scratch->head_count; i++) {
        const struct general_head *head = &scratch->heads[i];
        if (several >> head->output & 1)
            count = add_requests(site, head, count);
        else
            serve_alone(site, head);
    }
    if (count > 0)
        match(site, count);
}

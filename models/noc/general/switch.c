/*
 * Switch allocation of the general network: what the crossbar inputs ask for, and who keeps the switch
 * (hold_switch_for_packet).
 *
 * 1. A crossbar input asks for a crossbar output on behalf of one row.
 * 2. Without output speedup nothing is asked of an output whose link still passes a flit: flits wait in the
 *    input buffers. With output speedup they wait behind the crossbar, up to output_buffer_flits.
 */
#include "models/noc/general/links.h"
#include "models/noc/general/match.h"
#include "models/noc/general/site.h"

#include <assert.h>

/* Twice the urgency of the packet's class; with urgent classes the first one is the most urgent. */
static unsigned class_urgency(const struct general_site *site, uint32_t packet)
{
    if (!site->noc->configuration.urgent_classes)
        return 0;
    return 2 * (PIM_NOC_CLASS_LIMIT - 1U - site->general->packets[packet].state.class);
}

/* Of two rows of a crossbar input that ask for the same output: the more urgent one, then what the arbiter
 * says. */
static bool better_row(const struct general_site *site, const struct general_request *a,
                       const struct general_request *b)
{
    if (a->urgency != b->urgency)
        return a->urgency > b->urgency;
    if (a->priority != b->priority)
        return a->priority > b->priority;
    const struct noc_general *general = site->general;
    return pim_noc_general_prefers(site->noc, general->row_arbiter, a, general->vc_of[a->row], b,
                                   general->vc_of[b->row], site->crossbar[a->input].vc, general->vcs, NULL);
}

/* A row asks for its output; requests of the same port begin at `first`. */
static void ask(const struct general_site *site, unsigned row, unsigned output, bool speculative,
                unsigned first)
{
    struct general_scratch *scratch = &site->general->scratch;
    struct general_request request = {
        .input = (uint16_t)site->general->crossbar_of[row],
        .output = (uint16_t)pim_noc_general_exit(site->general, row, output),
        .row = (uint16_t)row,
        .packet = site->rows[row].front,
        .priority = pim_noc_general_priority(site, row),
    };
    request.urgency = (uint8_t)(class_urgency(site, request.packet) + !speculative);
    for (unsigned i = first; i < scratch->request_count; i++) {
        struct general_request *other = &scratch->requests[i];
        if (other->input != request.input || other->output != request.output)
            continue;
        if (better_row(site, &request, other))
            *other = request;
        return;
    }
    scratch->requests[scratch->request_count++] = request;
}

/* Whether the buffer behind the crossbar is full: flits that have crossed (they won before the last cycle)
 * and not left. The link has passed or will pass one a cycle up to `busy`. */
static bool buffer_full(const struct general_site *site, unsigned output)
{
    uint32_t limit = site->noc->configuration.output_buffer_flits;
    const struct general_output *port = &site->outputs[output];
    if (limit == 0 || site->cycle == 0 || port->busy.cycle < site->cycle)
        return false;
    uint64_t waiting = port->busy.cycle - (site->cycle - 1);
    uint64_t crossing = port->last_win + 1 == site->cycle ? port->last_wins : 0;
    return waiting >= crossing + limit;
}

static bool open_output(const struct general_site *site, unsigned output)
{
    if (site->general->out_speed > 1)
        return !buffer_full(site, output);
    return pim_noc_general_open(&site->outputs[output].busy, site->cycle);
}

/* Chooses where a head with a choice bids in this cycle: of the candidates with a free virtual channel the
 * one with the most credits, the earlier one of equals; the escape channel when no other is to be had. */
static void choose_candidate(const struct general_site *site, unsigned row_index)
{
    const struct noc_general *general = site->general;
    struct general_row *row = &site->rows[row_index];
    size_t at = (size_t)site->router->first * general->vcs + row_index;
    const struct pim_noc_candidate *candidates = general->candidates + at * PIM_NOC_CANDIDATE_LIMIT;
    uint32_t best_credits = 0;
    bool found = false;
    for (unsigned i = 0; i < row->choices; i++) {
        const struct pim_noc_candidate *candidate = &candidates[i];
        if ((candidate->escape && found) ||
            !pim_noc_general_available(site, candidate->port, candidate->vcs, candidate->empty))
            continue;
        uint32_t credits = 0;
        for (uint32_t set = candidate->vcs; set; set &= set - 1)
            credits += site->columns[candidate->port * general->vcs + pim_lowest_bit(set)].credits;
        if (found && credits <= best_credits)
            continue;
        found = true;
        best_credits = credits;
        row->output = (uint8_t)candidate->port;
        row->vcs = candidate->vcs;
        row->empty = candidate->empty;
    }
}

static void add_head(const struct general_site *site, unsigned row_index, unsigned first)
{
    struct general_row *row = &site->rows[row_index];
    if (row->choices > 1)
        choose_candidate(site, row_index);
    const struct general_output *output = &site->outputs[row->output];
    uint32_t free = pim_noc_general_available(site, row->output, row->vcs, row->empty);
    if (!free) {
        site->router->wanted |= UINT64_C(1) << row->output;
        return;
    }
    struct general_scratch *scratch = &site->general->scratch;
    scratch->heads[scratch->head_count++] = (struct general_head){(uint16_t)row_index, row->output, free};
    unsigned crossbar = site->general->crossbar_of[row_index];
    if (site->noc->configuration.speculative && free & output->nonfull &&
        site->crossbar[crossbar].held_vc == GENERAL_NOT_HELD && open_output(site, row->output))
        ask(site, row_index, row->output, true, first);
}

/* Crossbar outputs of held switches accept no request. */
static void drop_requests_for_held(const struct general_site *site, const uint64_t *held)
{
    struct general_scratch *scratch = &site->general->scratch;
    unsigned kept = 0;
    for (unsigned i = 0; i < scratch->request_count; i++) {
        unsigned output = scratch->requests[i].output;
        if (!(held[output / 64] >> output % 64 & 1))
            scratch->requests[kept++] = scratch->requests[i];
    }
    scratch->request_count = kept;
}

/* Held switches: granted while there is a credit, else given up. Both ends take no part in allocation in this
 * cycle. */
static void use_held(const struct general_site *site)
{
    struct general_scratch *scratch = &site->general->scratch;
    uint64_t held[(GENERAL_CROSSBAR_LIMIT + 63) / 64] = {0};
    unsigned inputs = site->router->ports * site->general->in_speed, granted = 0;
    struct general_request grants[GENERAL_CROSSBAR_LIMIT];
    for (unsigned i = 0; i < inputs; i++) {
        struct general_crossbar *crossbar = &site->crossbar[i];
        if (crossbar->held_vc == GENERAL_NOT_HELD)
            continue;
        unsigned port = i / site->general->in_speed, vc = crossbar->held_vc;
        unsigned row = port * site->general->vcs + vc, output = site->rows[row].output;
        unsigned exit = pim_noc_general_exit(site->general, row, output);
        held[exit / 64] |= UINT64_C(1) << exit % 64;
        bool stopped = site->general->out_speed > 1 && buffer_full(site, output);
        if (stopped || !(site->inputs[port].credited >> vc & 1)) {
            crossbar->held_vc = GENERAL_NOT_HELD;
            site->router->held--;
        } else if (open_output(site, output)) {
            grants[granted++] = (struct general_request){.input = (uint16_t)i,
                                                         .output = (uint16_t)exit,
                                                         .row = (uint16_t)row,
                                                         .urgency = 1,
                                                         .granted = true,
                                                         .packet = site->rows[row].front};
        }
    }
    drop_requests_for_held(site, held);
    assert(granted + scratch->request_count <= GENERAL_ROW_LIMIT + GENERAL_CROSSBAR_LIMIT);
    for (unsigned i = 0; i < granted; i++)
        scratch->requests[scratch->request_count++] = grants[i];
}

void pim_noc_general_ask(const struct general_site *site)
{
    struct general_scratch *scratch = &site->general->scratch;
    scratch->request_count = scratch->head_count = 0;
    site->router->wanted = 0;
    for (uint64_t ports = site->router->full; ports; ports &= ports - 1) {
        unsigned port = pim_lowest_bit(ports), first = scratch->request_count;
        const struct general_input *input = &site->inputs[port];
        for (uint32_t set = input->active & input->filled; set; set &= set - 1) {
            unsigned vc = pim_lowest_bit(set), row = port * site->general->vcs + vc;
            unsigned output = site->rows[row].output;
            site->router->wanted |= UINT64_C(1) << output;
            if (input->credited >> vc & 1 && open_output(site, output) &&
                site->crossbar[site->general->crossbar_of[row]].held_vc == GENERAL_NOT_HELD)
                ask(site, row, output, false, first);
        }
        for (uint32_t set = input->bidding; set; set &= set - 1)
            add_head(site, port * site->general->vcs + pim_lowest_bit(set), first);
    }
}

/* Moves the pointer of the choice among virtual channels behind the one granted. */
static void serve_row(const struct general_site *site, const struct general_request *request)
{
    const struct noc_general *general = site->general;
    unsigned vc = general->vc_of[request->row];
    unsigned next = vc + general->in_speed;
    site->crossbar[request->input].vc = (uint8_t)(next >= general->vcs ? next - general->vcs : next);
}

/* Grants all of `count` requests when they meet nowhere: what islip and the separable allocators do then.
 * Returns whether that was so. */
static bool grant_all(const struct general_site *site, unsigned count)
{
    struct noc_general *general = site->general;
    unsigned inputs = site->router->ports * general->in_speed,
             outputs = site->router->ports * general->out_speed;
    struct general_request *requests = general->scratch.requests;
    uint64_t input_seen = 0, output_seen = 0, twice = 0;
    if (inputs > 64 || outputs > 64)
        return false;
    for (unsigned i = 0; i < count; i++) {
        uint64_t input = UINT64_C(1) << requests[i].input, output = UINT64_C(1) << requests[i].output;
        twice |= (input_seen & input) | (output_seen & output);
        input_seen |= input;
        output_seen |= output;
    }
    if (twice)
        return false;
    uint16_t *grant = general->crossbar_grant + (size_t)site->router->first * general->out_speed;
    for (unsigned i = 0; i < count; i++) {
        unsigned input = requests[i].input, output = requests[i].output;
        requests[i].granted = true;
        site->crossbar[input].accept = (uint16_t)(output + 1 == outputs ? 0 : output + 1);
        grant[output] = (uint16_t)(input + 1 == inputs ? 0 : input + 1);
    }
    return true;
}

static void match(const struct general_site *site, unsigned count)
{
    struct noc_general *general = site->general;
    unsigned inputs = site->router->ports * general->in_speed,
             outputs = site->router->ports * general->out_speed;
    size_t first_input = (size_t)site->router->first * general->in_speed;
    size_t first_output = (size_t)site->router->first * general->out_speed;
    struct general_matching matching = {
        .noc = site->noc,
        .requests = general->scratch.requests,
        .count = count,
        .allocator = site->noc->configuration.switch_allocator,
        .arbiter = general->switch_arbiter,
        .iterations = site->noc->configuration.switch_iterations,
        .inputs = inputs,
        .outputs = outputs,
        .diagonal = &site->router->switch_diagonal,
        .accept = &site->crossbar[0].accept,
        .accept_stride = sizeof *site->crossbar / sizeof(uint16_t),
        .grant = general->crossbar_grant + first_output,
        .grant_stride = 1,
        .now = site->cycle + 1,
    };
    if (general->switch_stamps.inputs) {
        size_t most = general->topology->most_ports;
        matching.input_stamps = general->switch_stamps.inputs + first_input * most * general->out_speed;
        matching.output_stamps = general->switch_stamps.outputs + first_output * most * general->in_speed;
    }
    pim_noc_general_match(&matching);
}

void pim_noc_general_switch(const struct general_site *site)
{
    struct noc_general *general = site->general;
    struct general_scratch *scratch = &general->scratch;
    const struct general_router *router = site->router;
    unsigned held = 0;
    if (router->held) {
        use_held(site);
        while (held < scratch->request_count && scratch->requests[scratch->request_count - 1 - held].granted)
            held++;
    }
    unsigned count = scratch->request_count - held;
    if (count == 0)
        return;
    bool plain = !pim_noc_general_is_wavefront(site->noc->configuration.switch_allocator) &&
                 !general->switch_stamps.inputs;
    if (!plain || !grant_all(site, count))
        match(site, count);
    for (unsigned i = 0; i < count; i++)
        if (scratch->requests[i].granted)
            serve_row(site, &scratch->requests[i]);
}

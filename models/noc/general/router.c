/*
 * One cycle of a router of the general network, in the order in which the hardware applies the rules of
 * docs/models/noc.md and docs/models/noc-general.md.
 *
 * 1. All decisions of a cycle use the state before any update of that cycle: the switch is decided before a
 *    head takes a virtual channel, and flits leave after both.
 * 2. A credit is taken when the router is evaluated for the first time after it can be used. Nobody can tell:
 *    a router that waits for one is evaluated in the cycle in which it comes (`starving`).
 */
#include "models/noc/general/links.h"
#include "models/noc/general/site.h"

#include <assert.h>

static struct general_site site_of(struct pim_noc *noc, uint32_t node, uint64_t cycle)
{
    struct noc_general *general = noc->general;
    struct general_router *router = &general->routers[node];
    size_t first_row = (size_t)router->first * general->vcs;
    return (struct general_site){
        .noc = noc,
        .general = general,
        .router = router,
        .inputs = general->inputs + router->first,
        .outputs = general->outputs + router->first,
        .rows = general->rows + first_row,
        .columns = general->columns + first_row,
        .crossbar = general->crossbar + (size_t)router->first * general->in_speed,
        .cycle = cycle,
        .node = node,
    };
}

/* --- the front of a virtual channel --- */

/* The packet in `front` has come to the front of its row; its route is computed from cycle `from` on. */
static void begin_packet(const struct general_site *site, unsigned row_index, uint64_t from)
{
    struct noc_general *general = site->general;
    struct general_row *row = &site->rows[row_index];
    unsigned port = general->port_of[row_index];
    uint32_t bit = UINT32_C(1) << general->vc_of[row_index];
    struct pim_noc_candidate local[PIM_NOC_CANDIDATE_LIMIT], *candidates = local;
    if (general->adaptive)
        candidates = general->candidates +
                     ((size_t)site->router->first * general->vcs + row_index) * PIM_NOC_CANDIDATE_LIMIT;
    row->choices = (uint8_t)pim_noc_route(general->routing, &general->packets[row->front].state, site->node,
                                          port, candidates);
    row->output = (uint8_t)candidates[0].port;
    row->vcs = candidates[0].vcs;
    row->empty = candidates[0].empty;
    row->ready = from + site->noc->configuration.routing_delay;
    site->inputs[port].heading |= bit;
    row->hops = (uint16_t)general->packets[row->front].hops;
    if (row->ready <= site->cycle) {
        site->inputs[port].bidding |= bit;
        if (pim_noc_general_watches(site->noc, row->front))
            pim_noc_general_tell_row(site, row_index, PIM_NOC_ROUTED);
        return;
    }
    site->inputs[port].routing |= bit;
    site->router->staged |= UINT64_C(1) << port;
}

/* The packet behind the tail that has left comes to the front; there is one. */
static void follow(struct pim_noc_packet *packets, struct general_row *row)
{
    const struct pim_noc_packet *gone = &packets[row->front];
    struct pim_noc_packet *packet = &packets[gone->next];
    row->more = gone->next != gone->last;
    if (row->more) /* else its tail may be in the buffer upstream, with packets behind it there */
        packet->last = gone->last;
    row->front = gone->next;
    row->left = packet->flits;
}

/* A head arrives while another packet is in the buffer. */
static void queue_head(struct pim_noc_packet *packets, struct general_row *row, uint32_t index)
{
    struct pim_noc_packet *front = &packets[row->front];
    *(row->more ? &packets[front->last].next : &front->next) = index;
    front->last = index;
    row->more = true;
}

/* --- what arrives --- */

static void buffer_flit(const struct general_site *site, unsigned port, const struct general_event *event)
{
    unsigned vc = event->value >> 2, row_index = port * site->general->vcs + vc;
    struct general_row *row = &site->rows[row_index];
    struct noc_general *general = site->general;
    bool first = row->count == 0;
    if (general->stamped)
        pim_noc_general_stamp(site, row_index, event);
    if (pim_noc_general_watches(site->noc, event->packet))
        pim_noc_general_tell(site->noc, PIM_NOC_BUFFERED, site->cycle, site->node, port, vc,
                             general->told[site->router->first + port].flits++);
    row->count++;
    assert(row->count <= general->buffer_flits);
    site->inputs[port].filled |= UINT32_C(1) << vc;
    if (!(event->value & GENERAL_HEAD)) {
        if (general->ordered && first)
            pim_noc_general_list(site, GENERAL_SWITCH, row_index);
        return;
    }
    if (row->front != NOC_NO_PACKET) {
        queue_head(site->noc->packets, row, event->packet);
        return;
    }
    row->front = event->packet;
    row->left = site->noc->packets[event->packet].flits;
    begin_packet(site, row_index, site->cycle);
    if (general->ordered)
        pim_noc_general_list_head(site, row_index);
}

static void take_flits(const struct general_site *site)
{
    struct noc_general *general = site->general;
    for (uint64_t ports = site->router->arriving; ports; ports &= ports - 1) {
        unsigned port = pim_lowest_bit(ports);
        struct general_queue *queue = &site->inputs[port].arriving;
        if (general->events[queue->first].time <= site->cycle) {
            assert(general->events[queue->first].time == site->cycle);
            buffer_flit(site, port, &general->events[queue->first]);
            pim_noc_general_pop(general, queue);
            site->router->full |= UINT64_C(1) << port;
        }
        if (queue->first == GENERAL_NONE)
            site->router->arriving &= ~(UINT64_C(1) << port);
        else /* perhaps it was beyond the horizon of the agenda when it was sent */
            pim_noc_wake(&general->router_wheel, site->node, general->events[queue->first].time, site->cycle);
    }
}

static void take_credit(const struct general_site *site, unsigned port, unsigned vc)
{
    struct general_output *output = &site->outputs[port];
    struct general_column *column = &site->columns[port * site->general->vcs + vc];
    uint32_t bit = UINT32_C(1) << vc;
    column->credits++;
    assert(column->credits <= site->general->buffer_flits);
    if (!((output->free | output->tail_sent | output->nonfull) & bit)) {
        unsigned owner = column->owner;
        site->inputs[site->general->port_of[owner]].credited |= UINT32_C(1) << site->general->vc_of[owner];
    }
    output->nonfull |= bit;
    if (output->tail_sent & bit && column->credits == site->general->buffer_flits) {
        output->tail_sent &= ~bit;
        output->free |= bit;
    }
}

static void take_credits(const struct general_site *site)
{
    struct noc_general *general = site->general;
    for (uint64_t ports = site->router->returning; ports; ports &= ports - 1) {
        unsigned port = pim_lowest_bit(ports);
        struct general_queue *queue = &site->outputs[port].credits;
        while (queue->first != GENERAL_NONE && general->events[queue->first].time <= site->cycle) {
            for (uint32_t set = general->events[queue->first].value; set; set &= set - 1)
                take_credit(site, port, pim_lowest_bit(set));
            pim_noc_general_pop(general, queue);
        }
        if (queue->first == GENERAL_NONE)
            site->router->returning &= ~(UINT64_C(1) << port);
    }
}

/* Routing and VC allocation that have taken their time. */
static void advance_stages(const struct general_site *site)
{
    for (uint64_t ports = site->router->staged; ports; ports &= ports - 1) {
        unsigned port = pim_lowest_bit(ports);
        struct general_input *input = &site->inputs[port];
        for (uint32_t set = input->routing | input->allocated; set; set &= set - 1) {
            unsigned vc = pim_lowest_bit(set);
            uint32_t bit = UINT32_C(1) << vc;
            if (site->rows[port * site->general->vcs + vc].ready > site->cycle)
                continue;
            bool routed = input->routing & bit;
            if (routed &&
                pim_noc_general_watches(site->noc, site->rows[port * site->general->vcs + vc].front))
                pim_noc_general_tell_row(site, port * site->general->vcs + vc, PIM_NOC_ROUTED);
            *(routed ? &input->bidding : &input->active) |= bit;
            input->routing &= ~bit;
            input->allocated &= ~bit;
        }
        if (!(input->routing | input->allocated))
            site->router->staged &= ~(UINT64_C(1) << port);
    }
}

/* --- what leaves --- */

static void return_credit(const struct general_site *site, unsigned row_index)
{
    struct noc_general *general = site->general;
    const struct general_input *input = &site->inputs[general->port_of[row_index]];
    uint32_t bit = UINT32_C(1) << general->vc_of[row_index];
    uint64_t time = site->cycle + input->credit_latency;
    struct general_queue *queue = &general->outputs[input->feeder].credits;
    if (input->from_terminal)
        queue = &general->terminals[input->feeder].credits;
    if (queue->first != GENERAL_NONE && general->events[queue->last].time == time)
        general->events[queue->last].value |= bit; /* another virtual channel of this port */
    else
        pim_noc_general_push(general, queue, time, 0, bit);
    if (input->from_terminal) {
        if (general->terminals[input->feeder].starving)
            pim_noc_wake(&general->terminal_wheel, input->feeder, time, site->cycle);
        return;
    }
    uint32_t upstream = general->router_of[input->feeder];
    struct general_router *router = &general->routers[upstream];
    router->returning |= UINT64_C(1) << (input->feeder - router->first);
    if (router->starving)
        pim_noc_wake(&general->router_wheel, upstream, time, site->cycle);
}

/* The flit has got through to the terminal: it is consumed, and its credit comes back. */
static void eject(const struct general_site *site, const struct general_row *row, uint64_t consumed,
                  bool head, bool tail)
{
    struct noc_general *general = site->general;
    struct general_output *output = &site->outputs[row->output];
    pim_noc_general_push(general, &output->credits, consumed + 2 + site->noc->configuration.credit_delay, 0,
                         UINT32_C(1) << row->vc);
    site->router->returning |= UINT64_C(1) << row->output;
    uint32_t node = pim_noc_port_node(general->topology, site->node, row->output), index = row->front;
    if (head)
        site->noc->packets[index].head_arrived = consumed;
    if (pim_noc_general_watches(site->noc, index))
        pim_noc_general_tell(site->noc, PIM_NOC_CONSUMED, consumed, node, 0, row->vc,
                             site->noc->packets[index].flits - row->left - 1);
    if (tail) /* see end_packet(): its successor has been read */
        pim_noc_general_deliver_at(site->noc, node, index, consumed, site->cycle);
}

/* The tail has left its row: the virtual channel downstream may be free, and the next packet begins. */
static void end_packet(const struct general_site *site, unsigned row_index)
{
    struct general_row *row = &site->rows[row_index];
    struct general_input *input = &site->inputs[site->general->port_of[row_index]];
    struct general_output *output = &site->outputs[row->output];
    uint32_t bit = UINT32_C(1) << site->general->vc_of[row_index];
    input->active &= ~bit;
    input->credited &= ~bit;
    *(site->noc->configuration.wait_for_tail_credit ? &output->tail_sent : &output->free) |= UINT32_C(1)
                                                                                             << row->vc;
    if (!row->more) {
        row->front = NOC_NO_PACKET;
        return;
    }
    follow(site->noc->packets, row);
    begin_packet(site, row_index, site->cycle + 1);
}

static void hold_switch(const struct general_site *site, unsigned crossbar, unsigned row_index, bool tail)
{
    bool hold = site->noc->configuration.hold_switch_for_packet && !tail && site->rows[row_index].count > 0;
    struct general_crossbar *input = &site->crossbar[crossbar];
    site->router->held += (unsigned)hold - (input->held_vc != GENERAL_NOT_HELD);
    input->held_vc = hold ? (uint8_t)(site->general->vc_of[row_index]) : GENERAL_NOT_HELD;
}

/* The flit at the front of an active row leaves its buffer. */
static void send_flit(const struct general_site *site, const struct general_request *request)
{
    struct noc_general *general = site->general;
    unsigned row_index = request->row, port = general->port_of[row_index];
    struct general_row *row = &site->rows[row_index];
    struct general_input *input = &site->inputs[port];
    struct general_output *output = &site->outputs[row->output];
    struct general_column *column = &site->columns[row->output * general->vcs + row->vc];
    uint32_t bit = UINT32_C(1) << general->vc_of[row_index], index = row->front;
    if (pim_noc_general_watches(site->noc, index))
        pim_noc_general_tell_row(site, row_index, PIM_NOC_SWITCH_WON);
    bool head = input->heading & bit, tail = --row->left == 0;
    uint64_t stamp = general->stamped ? pim_noc_general_first_stamp(site, row_index) : 0;
    input->heading &= ~bit;
    output->flits++;
    output->last_wins = output->last_win == site->cycle ? output->last_wins + 1 : 1;
    output->last_win = site->cycle;
    site->router->sent |= UINT64_C(1) << row->output;
    if (general->stamped)
        row->first_stamp =
            (uint16_t)(row->first_stamp + 1U == general->buffer_flits ? 0 : row->first_stamp + 1);
    if (--row->count == 0) {
        input->filled &= ~bit;
        if (!input->filled)
            site->router->full &= ~(UINT64_C(1) << port);
    }
    if (--column->credits == 0) {
        output->nonfull &= ~(UINT32_C(1) << row->vc);
        input->credited &= ~bit;
    }
    return_credit(site, row_index);
    uint64_t passed = pim_noc_general_hold(&output->rate, &output->busy, site->cycle);
    uint64_t usable = passed + output->latency;
    if (head)
        general->packets[index].hops++;
    hold_switch(site, request->input, row_index, tail);
    struct general_row leaving = *row;
    if (tail)
        end_packet(site, row_index);
    if (output->reader == GENERAL_NONE) {
        eject(site, &leaving, usable, head, tail);
        return;
    }
    if (head)
        pim_noc_packet_advance(general->routing, &general->packets[index].state, site->node, leaving.output);
    uint32_t value = (uint32_t)leaving.vc << 2 | (head ? GENERAL_HEAD : 0U) | (tail ? GENERAL_TAIL : 0U);
    pim_noc_general_push(general, &general->inputs[output->reader].arriving, usable, index, value);
    if (general->stamped)
        general->event_stamps[general->inputs[output->reader].arriving.last] = stamp;
    struct general_router *reader = &general->routers[output->router];
    reader->arriving |= UINT64_C(1) << (output->reader - reader->first);
    pim_noc_wake(&general->router_wheel, output->router, usable, site->cycle);
}

/* A head won the switch while it asked for a virtual channel: the win counts when it got one, with a credit,
 * in this cycle. */
static bool speculation_succeeds(const struct general_site *site, unsigned row_index)
{
    struct general_input *input = &site->inputs[site->general->port_of[row_index]];
    uint32_t bit = UINT32_C(1) << site->general->vc_of[row_index];
    if (input->bidding & bit || !(input->credited & bit))
        return false;
    input->allocated &= ~bit;
    input->active |= bit;
    return true;
}

static void send_winners(const struct general_site *site)
{
    const struct general_scratch *scratch = &site->general->scratch;
    if (site->general->ordered)
        pim_noc_general_sort(site);
    for (unsigned i = 0; i < scratch->request_count; i++) {
        const struct general_request *request = &scratch->requests[i];
        if (request->granted && (request->urgency & 1 || speculation_succeeds(site, request->row)))
            send_flit(site, request);
    }
}

/* --- when something can happen next --- */

/* Whether a head can get a virtual channel; `credit`: whether a credit may help it to one. */
static bool can_bid(const struct general_site *site, unsigned index, bool *credit)
{
    const struct noc_general *general = site->general;
    const struct general_row *row = &site->rows[index];
    *credit |= site->noc->configuration.wait_for_tail_credit || row->empty;
    if (pim_noc_general_available(site, row->output, row->vcs, row->empty))
        return true;
    size_t at = (size_t)site->router->first * general->vcs + index;
    for (unsigned i = 0; row->choices > 1 && i < row->choices; i++) {
        const struct pim_noc_candidate *candidate = &general->candidates[at * PIM_NOC_CANDIDATE_LIMIT + i];
        *credit |= candidate->empty;
        if (pim_noc_general_available(site, candidate->port, candidate->vcs, candidate->empty))
            return true;
    }
    return false;
}

/* Whether the rows of a port can do something in the next cycle; `wake` becomes the first cycle in which a
 * link that one waits for is free. */
static bool port_can_act(const struct general_site *site, unsigned port, uint64_t *wake)
{
    const struct noc_general *general = site->general;
    const struct general_input *input = &site->inputs[port];
    uint32_t sending = input->active & input->filled;
    for (uint32_t set = sending & input->credited; set; set &= set - 1) {
        unsigned row = port * general->vcs + pim_lowest_bit(set);
        const struct general_output *output = &site->outputs[site->rows[row].output];
        if (general->out_speed > 1 || pim_noc_general_open(&output->busy, site->cycle + 1))
            return true;
        *wake = output->busy.cycle < *wake ? output->busy.cycle : *wake;
    }
    if (sending & ~input->credited)
        site->router->starving = true;
    for (uint32_t set = input->bidding; set; set &= set - 1)
        if (can_bid(site, port * general->vcs + pim_lowest_bit(set), &site->router->starving))
            return true;
    return false;
}

/* First cycle in which a stage of the port is over. */
static uint64_t stage_end(const struct general_site *site, unsigned port)
{
    uint64_t end = UINT64_MAX;
    for (uint32_t set = site->inputs[port].routing | site->inputs[port].allocated; set; set &= set - 1) {
        uint64_t ready = site->rows[port * site->general->vcs + pim_lowest_bit(set)].ready;
        end = ready < end ? ready : end;
    }
    return end;
}

/* The outputs that flits wait for, after the updates of this cycle. */
static uint64_t wanted_outputs(const struct general_site *site)
{
    uint64_t wanted = 0;
    for (uint64_t ports = site->router->full; ports; ports &= ports - 1) {
        unsigned port = pim_lowest_bit(ports);
        const struct general_input *input = &site->inputs[port];
        for (uint32_t set = (input->active | input->bidding) & input->filled; set; set &= set - 1)
            wanted |= UINT64_C(1) << site->rows[port * site->general->vcs + pim_lowest_bit(set)].output;
    }
    return wanted;
}

/* Returns whether it has to be evaluated in the next cycle; else plans the next evaluation. */
static bool plan(const struct general_site *site)
{
    struct general_router *router = site->router;
    struct noc_general *general = site->general;
    uint64_t wake = UINT64_MAX;
    router->starving = false;
    if (router->full == 0) {
        router->wanted = router->sent = 0;
        return false;
    }
    bool again = site->noc->configuration.step_every_cycle;
    for (uint64_t ports = router->staged; ports && !again; ports &= ports - 1) {
        uint64_t end = stage_end(site, pim_lowest_bit(ports));
        wake = end < wake ? end : wake;
    }
    again |= wake <= site->cycle + 1;
    for (uint64_t ports = router->full; ports && !again; ports &= ports - 1)
        again = port_can_act(site, pim_lowest_bit(ports), &wake);
    if (again || (router->held && router->starving)) { /* a held switch without credit is given up */
        router->starving = false;
        return true;
    }
    router->wanted = wanted_outputs(site);
    router->sent = 0;
    for (uint64_t ports = router->starving ? router->returning : 0; ports; ports &= ports - 1) {
        uint64_t time = general->events[site->outputs[pim_lowest_bit(ports)].credits.first].time;
        wake = time < wake ? time : wake;
    }
    if (wake != UINT64_MAX)
        pim_noc_wake(&general->router_wheel, site->node, wake, site->cycle);
    return wake == site->cycle + 1;
}

bool pim_noc_general_evaluate(struct pim_noc *noc, uint32_t node, uint64_t cycle)
{
    struct general_site site = site_of(noc, node, cycle);
    noc->statistics.router_evaluations++;
    pim_noc_general_count_blocked(noc->general, node, cycle);
    site.router->sent = 0;
    if (site.general->ordered)
        pim_noc_general_advance(&site);
    take_flits(&site);
    take_credits(&site);
    advance_stages(&site);
    pim_noc_general_ask(&site);
    pim_noc_general_switch(&site);
    if (noc->general->scratch.head_count)
        pim_noc_general_channels(&site);
    send_winners(&site);
    if (site.general->ordered)
        pim_noc_general_update(&site);
    if (PIM_UNLIKELY(noc->callbacks.stage != NULL))
        pim_noc_general_tell_waits(&site);
    pim_noc_general_count_blocked(noc->general, node, cycle + 1);
    return plan(&site);
}

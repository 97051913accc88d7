/* One cycle of a router by sets of rows: the stages of router.c, in the same order. */
#include "models/noc/general/sets_switch.h"

#include <assert.h>

static PIM_ALWAYS_INLINE struct sets_site site_of(struct pim_noc *noc, uint32_t node, uint64_t cycle,
                                                  unsigned words)
{
    struct noc_general *general = noc->general;
    const struct general_sets *sets = general->sets;
    struct general_router *router = &general->routers[node];
    size_t first = router->first, row = first << sets->shift;
    return (struct sets_site){
        .noc = noc,
        .general = general,
        .sets = sets,
        .router = router,
        .out = general->outputs + first,
        .word = sets->word + (size_t)node * words,
        .closed = sets->closed + node,
        .to = sets->to + first * words,
        .inputs = sets->inputs + row,
        .outputs = sets->outputs + row,
        .allowed = sets->allowed + row,
        .port = sets->port + first,
        .cycle = cycle,
        .node = node,
        .words = words,
        .shift = sets->shift,
        .ports = router->ports,
    };
}

/* --- what arrives --- */

static PIM_ALWAYS_INLINE uint32_t *left_high(const struct sets_site *site, unsigned row)
{
    return &site->sets->left_high[((size_t)site->router->first << site->shift) + row];
}

/* A packet has come to the front of its row; `behind` the tail that leaves in this cycle its route is
 * computed from the next one on. */
static PIM_ALWAYS_INLINE void begin_packet(const struct sets_site *site, unsigned row, uint32_t packet,
                                           bool behind)
{
    struct pim_noc_candidate candidates[PIM_NOC_CANDIDATE_LIMIT];
    struct noc_input *input = &site->inputs[row];
    struct sets_word *word = word_of(site, row);
    (void)pim_noc_route(site->general->routing, &site->general->packets[packet].state, site->node,
                        row >> site->shift, candidates);
    uint64_t flits = site->noc->packets[packet].flits;
    input->front = packet;
    input->next = GENERAL_HEAD;
    input->x = (uint8_t)site->general->packets[packet].state.class;
    input->left = (uint32_t)flits;
    if (PIM_UNLIKELY(flits > UINT32_MAX))
        *left_high(site, row) = (uint32_t)((flits - 1) >> 32);
    input->output = (uint8_t)(candidates[0].port << site->shift);
    site->allowed[row] = candidates[0].vcs;
    *to_of(site, candidates[0].port, row) |= bit_of(row);
    *(behind ? &word->queued : &word->routing) |= bit_of(row);
}

static PIM_ALWAYS_INLINE void take_flit(const struct sets_site *site, unsigned port,
                                        const struct sets_event *event)
{
    unsigned row = (port << site->shift) + (event->flit >> 2);
    struct noc_input *input = &site->inputs[row];
    input->count++;
    assert(input->count <= site->general->buffer_flits);
    word_of(site, row)->filled |= bit_of(row);
    if (!(event->flit & GENERAL_HEAD))
        return;
    if (input->front == NOC_NO_PACKET) {
        begin_packet(site, row, event->packet, false);
        return;
    }
    struct pim_noc_packet *packets = site->noc->packets, *front = &packets[input->front];
    *(input->more ? &packets[front->last].next : &front->next) = event->packet;
    front->last = event->packet;
    input->more = 1;
}

/* A credit for a row without credits, or whose tail has left. */
static PIM_NOINLINE void restore(const struct sets_site *site, unsigned row)
{
    struct sets_word *word = word_of(site, row);
    uint64_t bit = bit_of(row);
    if (!((word->free | word->tail_sent | word->nonfull) & bit)) {
        unsigned owner = site->outputs[row].owner;
        word_of(site, owner)->credited |= bit_of(owner);
    }
    word->nonfull |= bit;
    if (word->tail_sent & bit && site->outputs[row].credits == site->general->buffer_flits) {
        word->tail_sent &= ~bit;
        word->free |= bit;
    }
}

static PIM_ALWAYS_INLINE void take_events(const struct sets_site *site)
{
    struct sets_slot *slot = pim_noc_sets_slot(site->sets, site->cycle, site->node);
    struct sets_event *events = pim_noc_sets_event(site->sets, site->cycle, site->router->first);
    for (uint64_t ports = slot->flits; ports; ports &= ports - 1)
        take_flit(site, pim_lowest_bit(ports), &events[pim_lowest_bit(ports)]);
    for (uint64_t ports = slot->credits; ports; ports &= ports - 1) {
        unsigned port = pim_lowest_bit(ports);
        for (uint32_t set = events[port].credits; set; set &= set - 1) {
            unsigned row = (port << site->shift) + pim_lowest_bit(set);
            const struct sets_word *word = word_of(site, row);
            site->outputs[row].credits++;
            assert(site->outputs[row].credits <= site->general->buffer_flits);
            if (PIM_UNLIKELY((~word->nonfull | word->tail_sent) & bit_of(row)))
                restore(site, row);
        }
        events[port].credits = 0;
    }
    *slot = (struct sets_slot){0, 0};
}

/* --- what leaves --- */

/* A credit for an output of the network (its router is `node`), usable in cycle `time`. */
static PIM_ALWAYS_INLINE void post_credit(const struct sets_site *site, uint32_t node, uint32_t output,
                                          unsigned vc, uint64_t time)
{
    const struct general_sets *sets = site->sets;
    uint16_t *credits = &sets->outputs[((size_t)output << site->shift) + vc].credits;
    if (PIM_LIKELY(sets->early_credits && *credits >= time - site->cycle)) {
        ++*credits;
        return;
    }
    pim_noc_sets_event(sets, time, output)->credits |= UINT32_C(1) << vc;
    pim_noc_sets_slot(sets, time, node)->credits |= UINT64_C(1)
                                                    << (output - site->general->routers[node].first);
    pim_noc_sets_wake(site->general, node, time);
}

static PIM_ALWAYS_INLINE void return_credit(const struct sets_site *site, unsigned row)
{
    struct noc_general *general = site->general;
    const struct sets_port *input = &site->port[row >> site->shift];
    unsigned vc = row & ((1U << site->shift) - 1);
    uint64_t time = site->cycle + input->credit_latency;
    if (input->router != GENERAL_NONE) {
        post_credit(site, input->router, input->feeder, vc, time);
        return;
    }
    struct general_terminal *terminal = &general->terminals[input->feeder];
    uint16_t *credits = &general->terminal_credits[(size_t)input->feeder * general->vcs + vc];
    if (site->sets->early_credits && *credits >= input->credit_latency) {
        ++*credits;
        return;
    }
    pim_noc_general_push(general, &terminal->credits, time, 0, UINT32_C(1) << vc);
    if (terminal->starving)
        pim_noc_wake(&general->terminal_wheel, input->feeder, time, site->cycle);
}

/* The tail has left its row: the virtual channel downstream may be free, and the next packet begins. */
static PIM_ALWAYS_INLINE void end_packet(const struct sets_site *site, unsigned row)
{
    struct noc_input *input = &site->inputs[row];
    struct sets_word *word = word_of(site, row), *outputs = word_of(site, input->output);
    struct pim_noc_packet *packets = site->noc->packets;
    word->active &= ~bit_of(row);
    word->credited &= ~bit_of(row);
    *to_of(site, (unsigned)input->output >> site->shift, row) &= ~bit_of(row);
    *(site->noc->configuration.wait_for_tail_credit ? &outputs->tail_sent : &outputs->free) |=
        bit_of(input->output);
    if (!input->more) {
        input->front = NOC_NO_PACKET;
        return;
    }
    const struct pim_noc_packet *gone = &packets[input->front];
    input->more = gone->next != gone->last;
    if (input->more) /* else its tail may be in the buffer upstream, with packets behind it there */
        packets[gone->next].last = gone->last;
    begin_packet(site, row, gone->next, true);
}

/* The low half of a long packet's flits has reached 0. */
static PIM_ALWAYS_INLINE bool is_last(const struct sets_site *site, unsigned row)
{
    uint32_t *high = left_high(site, row);
    if (*high == 0)
        return true;
    --*high;
    return false;
}

/* The flit at the front of an active row leaves its buffer. */
static PIM_ALWAYS_INLINE void send_flit(const struct sets_site *site, unsigned row, unsigned port)
{
    struct noc_general *general = site->general;
    struct noc_input *input = &site->inputs[row];
    struct general_output *output = &site->out[port];
    struct sets_word *word = word_of(site, row);
    unsigned to = input->output, vc = to - (port << site->shift), head = input->next;
    uint32_t index = input->front;
    bool tail = --input->left == 0 && is_last(site, row);
    input->next = 0;
    output->flits++;
    word->filled &= ~((uint64_t)(--input->count == 0) << row % 64);
    if (--site->outputs[to].credits == 0) {
        word_of(site, to)->nonfull &= ~bit_of(to);
        word->credited &= ~bit_of(row);
    }
    return_credit(site, row);
    uint64_t usable = site->cycle + output->latency;
    if (site->sets->narrow) {
        usable = pim_noc_general_hold(&output->rate, &output->busy, site->cycle) + output->latency;
        *site->closed |= UINT64_C(1) << port;
    }
    if (head)
        general->packets[index].hops++;
    if (tail)
        end_packet(site, row);
    if (output->reader == GENERAL_NONE) {
        post_credit(site, site->node, site->router->first + port, vc,
                    usable + 2 + site->noc->configuration.credit_delay);
        if (head)
            site->noc->packets[index].head_arrived = usable;
        if (tail)
            pim_noc_general_deliver_at(site->noc, pim_noc_port_node(general->topology, site->node, port),
                                       index, usable, site->cycle);
        return;
    }
    if (head)
        pim_noc_packet_advance(general->routing, &general->packets[index].state, site->node, port);
    pim_noc_sets_post(general, output->router, output->reader, usable, index,
                      vc << 2 | head | (tail ? GENERAL_TAIL : 0U));
}

/* --- links that are blocked, and the next cycle --- */

/* Whether a head can get a virtual channel in the next cycle. */
static PIM_ALWAYS_INLINE bool can_bid(const struct sets_site *site)
{
    for (unsigned word = 0; word < site->words; word++)
        for (uint64_t set = site->word[word].bidding; set; set &= set - 1) {
            unsigned row = word * 64 + pim_lowest_bit(set), first = site->inputs[row].output;
            if (vcs_of(site, word_of(site, first)->free, first) & site->allowed[row])
                return true;
        }
    return false;
}

/* Whether a flit can ask for the switch in the next cycle; `wake` becomes the first cycle in which a link
 * that one waits for is free. */
static PIM_ALWAYS_INLINE bool can_send(const struct sets_site *site, uint64_t *wake)
{
    struct sets_rows ready = ready_rows(site), members;
    for (uint64_t closed = *site->closed; closed; closed &= closed - 1) {
        unsigned output = pim_lowest_bit(closed);
        if (!rows_to(site, &ready, output, &members))
            continue;
        uint64_t free = site->out[output].busy.cycle;
        *wake = free < *wake ? free : *wake;
        for (unsigned word = 0; word < site->words; word++)
            ready.words[word] &= ~members.words[word];
    }
    return any_row(site, &ready);
}

/* Returns whether it has to be evaluated in the next cycle, as far as is known now. */
static PIM_ALWAYS_INLINE bool plan(const struct sets_site *site)
{
    uint64_t filled = 0, under_way = 0, wake = UINT64_MAX;
    site->router->wanted = site->router->sent = 0;
    for (unsigned word = 0; word < site->words; word++) {
        filled |= site->word[word].filled;
        under_way |= site->word[word].routing | site->word[word].queued;
    }
    if (filled == 0)
        return false;
    if (under_way || site->noc->configuration.step_every_cycle || can_send(site, &wake) || can_bid(site))
        return true;
    struct sets_rows asking;
    for (unsigned word = 0; word < site->words; word++)
        asking.words[word] = (site->word[word].active | site->word[word].bidding) & site->word[word].filled;
    for (unsigned output; next_output(site, &asking, &output, NULL);)
        site->router->wanted |= UINT64_C(1) << output;
    if (wake != UINT64_MAX)
        pim_noc_wake(&site->general->router_wheel, site->node, wake, site->cycle);
    return false;
}

/* Counts the links that are blocked in this cycle: nothing is sent or passes, and `rows` asked for them in
 * vain. */
static PIM_ALWAYS_INLINE void count_blocked(const struct sets_site *site, struct sets_rows rows)
{
    for (unsigned output; next_output(site, &rows, &output, NULL);) {
        const struct general_clock *busy = &site->out[output].busy;
        site->out[output].blocked +=
            !site->sets->narrow || busy->cycle + (busy->numerator != 0) <= site->cycle;
    }
}

static PIM_ALWAYS_INLINE bool evaluate(struct pim_noc *noc, uint32_t node, uint64_t cycle, unsigned words)
{
    struct sets_site site = site_of(noc, node, cycle, words);
    noc->statistics.router_evaluations++;
    if (site.router->since < cycle) { /* it was not evaluated in the last cycle */
        pim_noc_general_count_blocked(noc->general, node, cycle);
        *site.closed = closed_in(&site, cycle);
    }
    for (unsigned word = 0; word < words; word++) {
        struct sets_word *sets = &site.word[word];
        sets->bidding |= sets->routing;
        sets->routing = sets->queued;
        sets->queued = 0;
    }
    take_events(&site);
    struct sets_winners winners;
    struct sets_rows asking;
    for (unsigned word = 0; word < words; word++)
        asking.words[word] = site.word[word].active & site.word[word].filled;
    allocate_switch(&site, &winners);
    allocate_channels(&site);
    for (unsigned word = 0; word < words; word++)
        asking.words[word] |= site.word[word].bidding;
    for (uint64_t outputs = winners.outputs; outputs; outputs &= outputs - 1) {
        unsigned output = pim_lowest_bit(outputs), row = winner(&site, &winners, output);
        for (unsigned word = 0; word < words; word++)
            asking.words[word] &= ~site.to[output * words + word];
        send_flit(&site, row, output);
    }
    count_blocked(&site, asking);
    site.router->since = cycle + 1;
    *site.closed = closed_in(&site, cycle + 1);
    return plan(&site);
}

/* Evaluates the routers in the agenda for `cycle`. */
static PIM_ALWAYS_INLINE void run_routers(struct pim_noc *noc, uint64_t cycle, unsigned words)
{
    struct noc_general *general = noc->general;
    struct pim_noc_spoke next = pim_noc_spoke_at(&general->router_wheel, cycle + 1);
    struct pim_noc_visit visit = pim_noc_visit(&general->router_wheel, cycle);
    while (pim_noc_visit_word(&visit)) {
        uint64_t again = 0;
        for (; visit.units; visit.units &= visit.units - 1) {
            unsigned unit = pim_lowest_bit(visit.units);
            again |= (uint64_t)evaluate(noc, visit.word * 64 + unit, cycle, words) << unit;
        }
        if (again)
            pim_noc_wake_word(&next, visit.word, again);
    }
}

static void run_single(struct pim_noc *noc, uint64_t cycle)
{
    run_routers(noc, cycle, 1);
}

static PIM_BIT_MANIPULATION void run_single_by_bits(struct pim_noc *noc, uint64_t cycle)
{
    run_routers(noc, cycle, 1);
}

static void run_several(struct pim_noc *noc, uint64_t cycle)
{
    run_routers(noc, cycle, noc->general->sets->words);
}

void pim_noc_sets_choose_run(struct noc_general *general, bool bit_manipulation)
{
    general->run = general->sets->words > 1 ? run_several
                   : bit_manipulation       ? run_single_by_bits
                                            : run_single;
}

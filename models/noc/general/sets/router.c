/* One cycle of a router by sets of rows: the stages of general/router.c, in the same order. */
#include "models/noc/general/sets/channels.h"
#include "models/noc/general/sets/prefetch.h"

#include <assert.h>

/* --- what arrives --- */

/* A packet has come to the front of its row; `behind` the tail that leaves in this cycle its route is
 * computed from the next one on. */
static PIM_ALWAYS_INLINE void begin_packet(const struct sets_site *site, unsigned row, uint32_t packet,
                                           bool behind)
{
    struct pim_noc_candidate candidates[PIM_NOC_CANDIDATE_LIMIT];
    struct noc_input *input = &inputs_of(site)[row];
    struct sets_word *word = word_of(site, row);
    (void)pim_noc_route(site->general->routing, &site->general->packets[packet].state, site->node,
                        row >> site->kind.shift, candidates);
    uint64_t flits = site->noc->packets[packet].flits;
    input->front = packet;
    input->next = GENERAL_HEAD;
    input->x = (uint8_t)site->general->packets[packet].state.class;
    input->left = (uint32_t)flits;
    if (PIM_UNLIKELY(flits > UINT32_MAX))
        left_high_of(site)[row] = (uint32_t)((flits - 1) >> 32);
    input->output = (uint8_t)(candidates[0].port << site->kind.shift);
    allowed_of(site)[row] = candidates[0].vcs;
    *to_of(site, candidates[0].port, row) |= bit_of(row);
    *(behind ? &word->queued : &word->routing) |= bit_of(row);
}

static PIM_ALWAYS_INLINE void take_flit(const struct sets_site *site, const struct sets_event *event)
{
    unsigned row = event->flit >> 2;
    struct noc_input *input = &inputs_of(site)[row];
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
static PIM_NOINLINE void restore(struct sets_site site, unsigned row)
{
    struct sets_word *word = word_of(&site, row);
    uint64_t bit = bit_of(row);
    if (!((word->free | word->tail_sent | word->nonfull) & bit)) {
        unsigned owner = outputs_of(&site)[row].owner;
        word_of(&site, owner)->credited |= bit_of(owner);
    }
    word->nonfull |= bit;
    if (word->tail_sent & bit && outputs_of(&site)[row].credits == site.general->buffer_flits) {
        word->tail_sent &= ~bit;
        word->free |= bit;
    }
}

static PIM_ALWAYS_INLINE void take_events(const struct sets_site *site)
{
    struct sets_slot *slot = pim_noc_sets_slot(site->sets, site->router->slots, site->cycle);
    struct sets_event *events = pim_noc_sets_events(slot);
    for (uint64_t ports = slot->flits; ports; ports &= ports - 1)
        take_flit(site, &events[pim_lowest_bit(ports)]);
    for (uint64_t ports = slot->credits; ports; ports &= ports - 1) {
        unsigned port = pim_lowest_bit(ports);
        for (uint32_t set = events[port].credits; set; set &= set - 1) {
            unsigned row = (port << site->kind.shift) + pim_lowest_bit(set);
            const struct sets_word *word = word_of(site, row);
            outputs_of(site)[row].credits++;
            assert(outputs_of(site)[row].credits <= site->general->buffer_flits);
            if (PIM_UNLIKELY((~word->nonfull | word->tail_sent) & bit_of(row)))
                restore(*site, row);
        }
        events[port].credits = 0;
    }
    *slot = (struct sets_slot){0, 0};
}

/* --- what leaves --- */

/* A credit for an output of the network (its router is `node`), usable in cycle `time`. */
static PIM_NOINLINE void post_credit(struct noc_general *general, uint32_t node, uint32_t output, unsigned vc,
                                     uint64_t time)
{
    const struct general_sets *sets = general->sets;
    struct sets_slot *slot = pim_noc_sets_slot(sets, pim_noc_sets_router(sets, node)->slots, time);
    uint32_t port = output - general->routers[node].first;
    pim_noc_sets_events(slot)[port].credits |= UINT32_C(1) << vc;
    slot->credits |= UINT64_C(1) << port;
    pim_noc_sets_wake(general, node, time);
}

/* The credit of the flit that leaves virtual channel `vc` of an input, when it cannot be added at once. */
static PIM_NOINLINE void post_upstream(struct noc_general *general, const struct sets_port *input,
                                       unsigned vc, uint64_t cycle)
{
    uint64_t time = cycle + input->credit_latency;
    if (input->router != GENERAL_NONE) {
        post_credit(general, input->router, input->feeder, vc, time);
        return;
    }
    struct general_terminal *terminal = &general->terminals[input->feeder];
    pim_noc_general_push(general, &terminal->credits, time, 0, UINT32_C(1) << vc);
    if (terminal->starving)
        pim_noc_wake(&general->terminal_wheel, input->feeder, time, cycle);
}

static PIM_ALWAYS_INLINE void return_credit(const struct sets_site *site, unsigned row)
{
    const struct sets_port *input = &site->port[row >> site->kind.shift];
    unsigned vc = row & ((1U << site->kind.shift) - 1);
    uint16_t *credits = &input->credits[vc << input->spread];
    if (PIM_LIKELY(site->kind.early && *credits >= input->credit_latency))
        ++*credits;
    else
        post_upstream(site->general, input, vc, site->cycle);
}

/* The tail has left its row: the virtual channel downstream may be free, and the next packet begins. */
static PIM_ALWAYS_INLINE void end_packet(const struct sets_site *site, unsigned row)
{
    struct noc_input *input = &inputs_of(site)[row];
    struct sets_word *word = word_of(site, row), *outputs = word_of(site, input->output);
    struct pim_noc_packet *packets = site->noc->packets;
    word->active &= ~bit_of(row);
    word->credited &= ~bit_of(row);
    *to_of(site, (unsigned)input->output >> site->kind.shift, row) &= ~bit_of(row);
    *(!site->kind.early && site->noc->configuration.wait_for_tail_credit ? &outputs->tail_sent
                                                                         : &outputs->free) |=
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
    uint32_t *high = &left_high_of(site)[row];
    if (*high == 0)
        return true;
    --*high;
    return false;
}

/* The links that flits take in a cycle: those that are closed in the next one; and in the one after it. */
struct sets_links {
    uint64_t closed, longer;
};

/* The flit at the front of an active row leaves its buffer. */
static PIM_ALWAYS_INLINE void send_flit(const struct sets_site *site, unsigned row, unsigned port,
                                        struct sets_links *links)
{
    struct noc_general *general = site->general;
    struct noc_input *input = &inputs_of(site)[row];
    struct general_output *output = &site->out[port];
    const struct sets_port *joined = &site->port[port];
    struct sets_word *word = word_of(site, row);
    unsigned to = input->output, vc = to - (port << site->kind.shift), flit = input->next;
    uint32_t index = input->front;
    uint64_t usable = site->cycle + output->latency;
    input->next = 0;
    output->flits++;
    word->filled &= ~((uint64_t)(--input->count == 0) << row % 64);
    uint16_t *credits = &outputs_of(site)[to].credits;
    if (PIM_UNLIKELY(--*credits == 0)) {
        word_of(site, to)->nonfull &= ~bit_of(to);
        word->credited &= ~bit_of(row);
    }
    return_credit(site, row);
    if (site->kind.narrow) {
        usable = pim_noc_general_hold(&output->rate, &output->busy, site->cycle) + output->latency;
        links->closed |= (uint64_t)(output->busy.cycle > site->cycle + 1) << port;
        links->longer |= (uint64_t)(output->busy.cycle > site->cycle + 2) << port;
    }
    if (flit) {
        general->packets[index].hops++;
        if (site->kind.advances && joined->slots)
            pim_noc_packet_advance(general->routing, &general->packets[index].state, site->node, port);
    }
    if (--input->left == 0 && is_last(site, row)) {
        flit |= GENERAL_TAIL;
        end_packet(site, row);
    }
    if (joined->slots) {
        pim_noc_sets_post(general, joined, usable, index, vc << 2 | flit);
        return;
    }
    uint64_t returned = usable + 2 + site->noc->configuration.credit_delay;
    if (PIM_LIKELY(site->kind.early && *credits >= returned - site->cycle))
        ++*credits;
    else
        post_credit(general, site->node, site->router->known->first + port, vc, returned);
    if (flit & GENERAL_HEAD)
        site->noc->packets[index].head_arrived = usable;
    if (flit & GENERAL_TAIL)
        pim_noc_general_deliver_at(site->noc, pim_noc_port_node(general->topology, site->node, port), index,
                                   usable, site->cycle);
}

/* --- links that are blocked, and the next cycle --- */

/* Whether a head can get a virtual channel in the next cycle. */
static PIM_ALWAYS_INLINE bool can_bid(const struct sets_site *site)
{
    for (unsigned word = 0; word < site->kind.words; word++)
        for (uint64_t set = site->router->word[word].bidding; set; set &= set - 1) {
            unsigned row = word * 64 + pim_lowest_bit(set), first = inputs_of(site)[row].output;
            if (site->kind.adaptive
                    ? can_get_channel(*site, row)
                    : (vcs_of(site, word_of(site, first)->free, first) & allowed_of(site)[row]) != 0)
                return true;
        }
    return false;
}

/* Narrow links: closes those of `outputs`, in the next cycle. */
static PIM_ALWAYS_INLINE void close_links(const struct sets_site *site, uint64_t outputs)
{
    struct sets_router *router = site->router;
    router->closed = outputs;
    for (unsigned word = 0; word < site->kind.words; word++)
        router->shut[word] = 0;
    for (; outputs; outputs &= outputs - 1)
        for (unsigned word = 0; word < site->kind.words; word++)
            router->shut[word] |= site->port[pim_lowest_bit(outputs)].to[word];
}

/* Whether a flit can ask for the switch in the next cycle; if not, the router is evaluated in the first one
 * in which a link that one waits for is free. */
static PIM_ALWAYS_INLINE bool can_send(const struct sets_site *site)
{
    struct sets_rows ready = ready_rows(site);
    if (any_row(site, &ready) || !site->kind.narrow)
        return any_row(site, &ready);
    uint64_t wake = UINT64_MAX;
    for (uint64_t outputs = site->router->closed; outputs; outputs &= outputs - 1) {
        uint64_t free = site->out[pim_lowest_bit(outputs)].busy.cycle, waiting = 0;
        for (unsigned word = 0; word < site->kind.words; word++) {
            const struct sets_word *sets = &site->router->word[word];
            waiting |=
                sets->active & sets->filled & sets->credited & site->port[pim_lowest_bit(outputs)].to[word];
        }
        wake = waiting && free < wake ? free : wake;
    }
    if (wake != UINT64_MAX)
        pim_noc_wake(&site->general->router_wheel, site->node, wake, site->cycle);
    return false;
}

/* Returns whether it has to be evaluated in the next cycle, as far as is known now. */
static PIM_ALWAYS_INLINE bool plan(const struct sets_site *site)
{
    uint64_t filled = 0, under_way = 0;
    site->router->known->wanted = 0;
    for (unsigned word = 0; word < site->kind.words; word++) {
        const struct sets_word *sets = &site->router->word[word];
        filled |= sets->filled;
        under_way |= sets->routing | sets->queued;
    }
    if (filled == 0)
        return false;
    if (under_way || (!site->kind.early && site->noc->configuration.step_every_cycle) || can_bid(site) ||
        can_send(site))
        return true;
    struct sets_rows asking;
    for (unsigned word = 0; word < site->kind.words; word++) {
        const struct sets_word *sets = &site->router->word[word];
        asking.words[word] = (sets->active | sets->bidding) & sets->filled;
    }
    site->router->known->wanted = wanted_by(site, &asking);
    return false;
}

/* Counts the links that are blocked in this cycle: nothing is sent or passes, and `rows` asked for them in
 * vain. */
static PIM_NOINLINE void count_blocked(struct sets_site site, struct sets_rows rows)
{
    for (uint64_t outputs = wanted_by(&site, &rows); outputs; outputs &= outputs - 1) {
        struct general_output *output = &site.out[pim_lowest_bit(outputs)];
        output->blocked +=
            !site.kind.narrow || output->busy.cycle + (output->busy.numerator != 0) <= site.cycle;
    }
}

/* It was not evaluated in the last cycle. */
static PIM_NOINLINE void wake_up(struct sets_site site)
{
    pim_noc_general_count_blocked(site.general, site.node, site.cycle);
    if (site.kind.narrow)
        close_links(&site, closed_in(&site, site.router->closed, site.cycle));
}

/* Rows that ask for something: the switch or, after the allocation of virtual channels, one of these. A link
 * that passes something still is not blocked. */
static PIM_ALWAYS_INLINE void add_asking(const struct sets_site *site, bool channels,
                                         struct sets_rows *asking)
{
    for (unsigned word = 0; word < site->kind.words; word++) {
        const struct sets_word *sets = &site->router->word[word];
        uint64_t rows = channels ? sets->bidding : sets->active & sets->filled;
        asking->words[word] |= site->kind.narrow ? rows & ~site->router->shut[word] : rows;
    }
}

static PIM_ALWAYS_INLINE bool evaluate(const struct sets_site *site)
{
    site->noc->statistics.router_evaluations++;
    if (PIM_UNLIKELY(site->router->known->since < site->cycle))
        wake_up(*site);
    site->router->known->since = site->cycle + 1;
    for (unsigned word = 0; word < site->kind.words; word++) {
        struct sets_word *sets = &site->router->word[word];
        sets->bidding |= sets->routing;
        sets->routing = sets->queued;
        sets->queued = 0;
    }
    take_events(site);
    struct sets_winners winners;
    struct sets_rows asking = {{0}};
    struct sets_links links = {0, 0};
    add_asking(site, false, &asking);
    allocate_switch(site, &winners);
    allocate_channels(site);
    add_asking(site, true, &asking);
    for (uint64_t outputs = winners.outputs; outputs; outputs &= outputs - 1) {
        unsigned output = pim_lowest_bit(outputs), row = winner(site, &winners, output);
        for (unsigned word = 0; word < site->kind.words; word++)
            asking.words[word] &= ~site->port[output].to[word];
        send_flit(site, row, output, &links);
    }
    if (PIM_UNLIKELY(any_row(site, &asking)))
        count_blocked(*site, asking);
    if (site->kind.narrow) {
        if (PIM_UNLIKELY(site->router->longer))
            links.longer |= closed_in(site, site->router->longer, site->cycle + 1);
        site->router->longer = links.longer;
        close_links(site, links.closed | links.longer);
    }
    return plan(site);
}

/* Evaluates the routers in the agenda for `cycle`. */
static PIM_ALWAYS_INLINE void run_routers(struct pim_noc *noc, uint64_t cycle, struct sets_kind kind)
{
    struct noc_general *general = noc->general;
    struct pim_noc_spoke next = pim_noc_spoke_at(&general->router_wheel, cycle + 1);
    struct pim_noc_visit visit = pim_noc_visit(&general->router_wheel, cycle);
    while (pim_noc_visit_word(&visit)) {
        uint64_t again = 0;
        for (; visit.units; visit.units &= visit.units - 1) {
            unsigned unit = pim_lowest_bit(visit.units);
            if (PIM_UNLIKELY(general->sets->large))
                prefetch_next(noc, kind, &visit, cycle);
            struct sets_site site = site_of(noc, kind, visit.word * 64 + unit, cycle);
            again |= (uint64_t)evaluate(&site) << unit;
        }
        if (again)
            pim_noc_wake_word(&next, visit.word, again);
    }
}

/* The kinds. The usual ones are there twice: the second time for processors with instructions for sets of
 * bits. */
static const struct sets_kind usual = {.words = 1, .shift = SETS_SHIFT, .early = true};
static const struct sets_kind narrow = {.words = 1, .shift = SETS_SHIFT, .early = true, .narrow = true};
static const struct sets_kind wavefront = {.words = 1,
                                           .shift = SETS_SHIFT,
                                           .early = true,
                                           .wavefront_vcs = true,
                                           .switch_allocator = PIM_NOC_WAVEFRONT};

static const struct sets_kind adaptive = {
    .words = 1, .shift = SETS_SHIFT, .adaptive = true, .advances = true};

static void run_usual(struct pim_noc *noc, uint64_t cycle)
{
    run_routers(noc, cycle, usual);
}

static PIM_BIT_MANIPULATION void run_usual_by_bits(struct pim_noc *noc, uint64_t cycle)
{
    run_routers(noc, cycle, usual);
}

static PIM_BIT_MANIPULATION void run_narrow_by_bits(struct pim_noc *noc, uint64_t cycle)
{
    run_routers(noc, cycle, narrow);
}

static PIM_BIT_MANIPULATION void run_wavefront_by_bits(struct pim_noc *noc, uint64_t cycle)
{
    run_routers(noc, cycle, wavefront);
}

static PIM_BIT_MANIPULATION void run_adaptive_by_bits(struct pim_noc *noc, uint64_t cycle)
{
    run_routers(noc, cycle, adaptive);
}

static struct sets_kind kind_of(const struct general_sets *sets)
{
    return (struct sets_kind){
        .words = sets->words,
        .shift = sets->shift,
        .early = sets->early_credits,
        .narrow = sets->narrow,
        .urgent = sets->urgent,
        .wavefront_vcs = sets->wavefront_vcs,
        .adaptive = sets->adaptive,
        .advances = sets->advances,
        .switch_allocator = sets->switch_allocator,
    };
}

static void run_any(struct pim_noc *noc, uint64_t cycle)
{
    run_routers(noc, cycle, kind_of(noc->general->sets));
}

/* Allocators of the same results have one place in `kind`. */
static bool is_kind(const struct general_sets *sets, struct sets_kind kind)
{
    struct sets_kind needed = kind_of(sets);
    bool wave = pim_noc_general_is_wavefront(needed.switch_allocator);
    return needed.words == kind.words && needed.shift == kind.shift && needed.early == kind.early &&
           needed.narrow == kind.narrow && needed.urgent == kind.urgent &&
           needed.wavefront_vcs == kind.wavefront_vcs && needed.adaptive == kind.adaptive &&
           needed.advances == kind.advances && needed.switch_allocator != PIM_NOC_SEPARABLE_INPUT_FIRST &&
           wave == pim_noc_general_is_wavefront(kind.switch_allocator);
}

void pim_noc_sets_choose_run(struct noc_general *general, bool bit_manipulation)
{
    const struct general_sets *sets = general->sets;
    general->run = run_any;
    if (is_kind(sets, usual))
        general->run = bit_manipulation ? run_usual_by_bits : run_usual;
    else if (is_kind(sets, narrow) && bit_manipulation)
        general->run = run_narrow_by_bits;
    else if (is_kind(sets, wavefront) && bit_manipulation)
        general->run = run_wavefront_by_bits;
    else if (is_kind(sets, adaptive) && bit_manipulation)
        general->run = run_adaptive_by_bits;
}

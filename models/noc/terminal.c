/*
 * The injecting side of a terminal: an unlimited queue of packets, one flit a cycle, a virtual channel for
 * each packet. (The consuming side has no state: what is sent to it is consumed when it arrives, see router.c
 * and mesh.c.)
 *
 * 1. A packet takes the first virtual channel after the one used last that is neither owned nor full; none:
 *    it tries again.
 * 2. A terminal sleeps by the same rules as a router (sleep.c): it is woken for the tail, when its credits
 *    run out, when the credits that come back each cycle change, and for a new packet.
 */
#include "models/noc/internal.h"

#include <assert.h>
#include <string.h>

static uint64_t credits_at(const struct noc_mesh *mesh, uint32_t node, uint64_t cycle)
{
    const struct noc_terminal *terminal = &mesh->terminals[node];
    return terminal->credit_in_pattern
               ? pim_noc_pattern_entry(&mesh->terminal_patterns[node], cycle - NOC_INJECTION_CREDIT)
               : terminal->credit_in;
}

uint64_t pim_noc_terminal_slept_flits(const struct noc_terminal *terminal, uint64_t end)
{
    if (terminal->since >= end)
        return 0;
    uint64_t flits = 0, cycles = end - terminal->since;
    if (terminal->period == 1)
        return terminal->sending ? cycles : 0;
    for (unsigned i = 0; i < terminal->period && i < cycles; i++)
        if (terminal->sent >> (terminal->period - 1 - i) & 1)
            flits += (cycles - i + terminal->period - 1) / terminal->period;
    return flits;
}

/* Returns whether a decision of a later cycle may have changed. */
static bool take_credits(const struct pim_noc *noc, struct noc_terminal *terminal, uint64_t arrived,
                         uint32_t *credits)
{
    bool changed = false;
    for (uint32_t set = (uint32_t)arrived; set; set &= set - 1) {
        unsigned vc = pim_lowest_bit(set);
        uint32_t bit = UINT32_C(1) << vc;
        credits[vc]++;
        assert(credits[vc] <= noc->configuration.buffer_flits);
        terminal->nonfull |= bit;
        if (!(terminal->tail_sent & bit))
            continue;
        changed = true;
        if (credits[vc] == noc->configuration.buffer_flits) {
            terminal->tail_sent &= ~bit;
            terminal->owned &= ~bit;
        }
    }
    return changed;
}

/* Takes the packet at the front of the queue when it finds a virtual channel. */
static void begin_packet(struct pim_noc *noc, struct noc_terminal *terminal, uint64_t cycle)
{
    uint32_t candidates = terminal->nonfull & ~terminal->owned;
    if (terminal->queue_front == NOC_NO_PACKET || !candidates)
        return;
    unsigned vc = pim_noc_first_from(candidates, terminal->last_vc + 1U);
    struct pim_noc_packet *packet = &noc->packets[terminal->queue_front];
    terminal->current = terminal->queue_front;
    terminal->queue_front = packet->next;
    terminal->left = packet->flits;
    terminal->vc = terminal->last_vc = (uint8_t)vc;
    terminal->owned |= UINT32_C(1) << vc;
    packet->head_injected = cycle;
}

static void inject(struct pim_noc *noc, struct noc_terminal *terminal, uint32_t *credits, uint64_t cycle,
                   uint64_t *entry)
{
    uint32_t index = terminal->current, bit = UINT32_C(1) << terminal->vc;
    struct pim_noc_packet *packet = &noc->packets[index];
    unsigned kind =
        NOC_FLIT | (terminal->left == packet->flits ? NOC_HEAD : 0U) | (terminal->left == 1 ? NOC_TAIL : 0U);
    *entry = pim_noc_entry(kind == NOC_FLIT ? 0 : index, terminal->vc, kind);
    terminal->left--;
    terminal->link_flits++;
    if (--credits[terminal->vc] == 0)
        terminal->nonfull &= ~bit;
    if (!(kind & NOC_TAIL))
        return;
    packet->tail_injected = cycle;
    pim_noc_note_injected(noc, index);
    terminal->current = NOC_NO_PACKET;
    if (noc->configuration.wait_for_tail_credit)
        terminal->tail_sent |= bit;
    else
        terminal->owned &= ~bit;
}

/* Credits and injection of one cycle. Returns whether it was calm. */
static bool run_cycle(struct pim_noc *noc, uint32_t node, uint64_t cycle, uint64_t *entry)
{
    struct noc_terminal *terminal = &noc->mesh->terminals[node];
    uint32_t *credits = &noc->mesh->terminal_credits[(size_t)node * noc->mesh->vcs];
    bool noisy = take_credits(noc, terminal, credits_at(noc->mesh, node, cycle), credits);
    if (terminal->current == NOC_NO_PACKET)
        begin_packet(noc, terminal, cycle);
    *entry = 0;
    if (terminal->current != NOC_NO_PACKET && terminal->nonfull >> terminal->vc & 1)
        inject(noc, terminal, credits, cycle, entry);
    terminal->sending = *entry != 0;
    return !noisy && !(*entry & (NOC_HEAD | NOC_TAIL));
}

void pim_noc_terminal_settle(struct pim_noc *noc, uint32_t node, uint64_t cycle)
{
    struct noc_mesh *mesh = noc->mesh;
    struct noc_terminal *terminal = &mesh->terminals[node];
    if (terminal->since >= cycle)
        return;
    uint32_t *credits = &mesh->terminal_credits[(size_t)node * mesh->vcs];
    uint64_t cycles = cycle - terminal->since, rest = cycles % terminal->period;
    uint64_t flits = pim_noc_terminal_slept_flits(terminal, cycle - rest);
    terminal->left -= flits;
    terminal->link_flits += flits;
    if (terminal->period == 1) {
        credits[terminal->vc] -= (uint32_t)flits; /* modulo 2^32: what came back and what was used cancel */
        for (uint64_t set = terminal->credit_in; set; set &= set - 1)
            credits[pim_lowest_bit(set)] += (uint32_t)cycles;
    } else {
        for (uint64_t time = cycle - rest, entry; time < cycle; time++) {
            bool calm = run_cycle(noc, node, time, &entry);
            assert(calm);
            (void)calm;
        }
        terminal->calm_since = terminal->clean_since = cycle; /* the history has a gap */
        terminal->period = 1;
        if (cycle == mesh->origin)
            pim_noc_wake(&mesh->terminal_wheel, node, cycle, cycle);
    }
    terminal->since = cycle;
}

/* Records a change of what is sent from cycle `sent` on. */
static void post(struct noc_mesh *mesh, uint32_t node, uint64_t sent, uint64_t value, uint64_t now)
{
    uint64_t time = sent + NOC_INJECTION;
    size_t slot = (size_t)node * mesh->ring + (time & (mesh->ring - 1));
    mesh->flit_changes[slot * NOC_PORTS + NOC_TERMINAL] = value;
    mesh->flit_ports[slot] |= (uint8_t)(1U << NOC_TERMINAL);
    pim_noc_wake(&mesh->router_wheel, node, time, now);
}

/* Returns whether the entry is a change. */
static bool write_channel(struct noc_mesh *mesh, uint32_t node, uint64_t cycle, uint64_t entry)
{
    struct noc_terminal *terminal = &mesh->terminals[node];
    if (terminal->flit_out_pattern) {
        struct noc_pattern *pattern = &mesh->flit_patterns[(size_t)node * NOC_PORTS + NOC_TERMINAL];
        if (entry == pim_noc_pattern_entry(pattern, cycle))
            return false;
        terminal->flit_out_pattern = false;
        pattern->writable = cycle + NOC_INJECTION + 1;
    } else if (entry == terminal->flit_out) {
        return false;
    }
    terminal->flit_out = pim_noc_flit_successor(entry);
    post(mesh, node, cycle, entry, cycle);
    return true;
}

/* Appends a calm step to the history; the steps since the last one, if any, repeated it. */
static void record(struct noc_terminal *terminal, uint64_t cycle)
{
    uint64_t gap = cycle - terminal->last - 1;
    if (terminal->calm_since > terminal->last || gap >= NOC_PERIOD_LIMIT)
        terminal->calm_since = cycle;
    else
        terminal->sent = terminal->sent << gap | (terminal->sent & 1 ? pim_noc_all((unsigned)gap) : 0);
    terminal->sent = terminal->sent << 1 | (terminal->sending ? 1 : 0);
    terminal->last = cycle;
}

/* Declares the shortest period of the flits sent that the history shows twice. */
static void declare_pattern(struct noc_mesh *mesh, uint32_t node, uint64_t cycle)
{
    struct noc_terminal *terminal = &mesh->terminals[node];
    struct noc_pattern *pattern = &mesh->flit_patterns[(size_t)node * NOC_PORTS + NOC_TERMINAL];
    uint64_t steps = cycle - terminal->calm_since + 1, body = pim_noc_entry(0, terminal->vc, NOC_FLIT);
    for (unsigned period = 2; period <= NOC_PERIOD_LIMIT && 2 * period <= steps; period++) {
        if ((terminal->sent ^ terminal->sent >> period) & pim_noc_all(period))
            continue;
        if (terminal->flit_out_pattern || cycle < pattern->writable)
            return;
        terminal->flit_out_pattern = true;
        pattern->period = period;
        for (unsigned i = 0; i < period; i++)
            pattern->entries[(cycle + 1 + i) % period] = terminal->sent >> (period - 1 - i) & 1 ? body : 0;
        post(mesh, node, cycle + 1, NOC_PATTERN | period, cycle);
        return;
    }
}

/* After a calm step that is not like the one before: looks for a longer period. Returns the next cycle to be
 * evaluated. */
static uint64_t plan_period(struct noc_mesh *mesh, uint32_t node, uint64_t cycle, bool wrote_change)
{
    struct noc_terminal *terminal = &mesh->terminals[node];
    const uint32_t *credits = &mesh->terminal_credits[(size_t)node * mesh->vcs];
    uint32_t *snapshot = &mesh->terminal_snapshots[(size_t)node * mesh->vcs];
    bool patterns = terminal->credit_in_pattern || terminal->flit_out_pattern;
    if (wrote_change)
        declare_pattern(mesh, node, cycle);
    if (!patterns)
        return cycle + 1;
    uint64_t steps = cycle - terminal->snapshot_cycle;
    bool valid = terminal->snapshot_cycle + 1 >= terminal->clean_since && steps <= NOC_PERIOD_LIMIT;
    if (valid && (!terminal->credit_in_pattern || steps % mesh->terminal_patterns[node].period == 0) &&
        (!terminal->flit_out_pattern ||
         steps % mesh->flit_patterns[(size_t)node * NOC_PORTS + NOC_TERMINAL].period == 0) &&
        terminal->snapshot_nonfull == terminal->nonfull &&
        memcmp(snapshot, credits, mesh->vcs * sizeof *credits) == 0) {
        uint64_t flits = 0;
        for (uint64_t sent = terminal->sent & pim_noc_all((unsigned)steps); sent; sent &= sent - 1)
            flits++;
        terminal->period = (uint8_t)steps;
        return flits ? cycle + 1 + (terminal->left - 1) / flits * steps : UINT64_MAX;
    }
    if (!valid || steps == NOC_PERIOD_LIMIT) {
        terminal->snapshot_cycle = cycle;
        terminal->snapshot_nonfull = terminal->nonfull;
        memcpy(snapshot, credits, mesh->vcs * sizeof *credits);
    }
    return cycle + 1;
}

/* After a calm step that left everything as it was: the first one that differs although no channel changes.
 */
static uint64_t first_difference(const struct noc_terminal *terminal, const uint32_t *credits, uint64_t cycle)
{
    if (!terminal->sending)
        return UINT64_MAX;
    uint64_t cycles = terminal->left;
    if (!(terminal->credit_in >> terminal->vc & 1) && credits[terminal->vc] < cycles)
        cycles = credits[terminal->vc];
    return cycle + cycles;
}

static bool busy(const struct noc_terminal *terminal)
{
    return terminal->sending || terminal->credit_in != 0 || terminal->current != NOC_NO_PACKET ||
           terminal->queue_front != NOC_NO_PACKET;
}

void pim_noc_terminal_evaluate(struct pim_noc *noc, uint32_t node, uint64_t cycle)
{
    struct noc_mesh *mesh = noc->mesh;
    struct noc_terminal *terminal = &mesh->terminals[node];
    uint32_t *credits = &mesh->terminal_credits[(size_t)node * mesh->vcs];
    pim_noc_terminal_settle(noc, node, cycle);
    terminal->since = cycle + 1;

    uint32_t nonfull = terminal->nonfull;
    uint64_t *change = &mesh->terminal_changes[(size_t)node * mesh->ring + (cycle & (mesh->ring - 1))];
    bool changes = *change != 0;
    if (changes) {
        terminal->credit_in_pattern = *change & NOC_PATTERN;
        terminal->credit_in = *change & (NOC_ONCE | UINT32_MAX);
        *change = 0;
    }
    uint64_t entry;
    bool calm = run_cycle(noc, node, cycle, &entry), once = terminal->credit_in & NOC_ONCE;
    terminal->credit_in = pim_noc_credit_successor(terminal->credit_in);
    bool wrote_change = write_channel(mesh, node, cycle, entry);

    uint64_t next = cycle + 1;
    bool stepped = noc->configuration.step_every_cycle;
    terminal->period = 1;
    if (!calm || (stepped && busy(terminal))) {
        terminal->calm_since = terminal->clean_since = cycle + 1;
    } else {
        if (changes || wrote_change)
            terminal->clean_since = cycle + 1;
        record(terminal, cycle);
        if (nonfull == terminal->nonfull && !(once && terminal->sending) && !terminal->credit_in_pattern &&
            !terminal->flit_out_pattern)
            next = first_difference(terminal, credits, cycle);
        else if (!stepped)
            next = plan_period(mesh, node, cycle, wrote_change);
    }
    if (next != UINT64_MAX)
        pim_noc_wake(&mesh->terminal_wheel, node, next, cycle);
}

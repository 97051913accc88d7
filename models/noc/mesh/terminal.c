/*
 * The injecting side of a terminal: an unlimited queue of packets, one flit a
 * cycle, a virtual channel for each packet. (The consuming side has no state:
 * what is sent to it is consumed when it arrives, see router.c and mesh.c.)
 *
 * 1. A packet takes the first virtual channel of its kind of messages after the one used last that is
 * neither owned nor full; none: it tries again.
 * 2. A terminal sleeps by the same rules as a router (sleep.c): it is woken for
 * the tail, when its credits run out, when the credits that come back each
 * cycle change, and for a new packet.
 */
#include "models/noc/internal.h"
#include "models/noc/mesh/mesh.h"

#include <assert.h>
#include <string.h>

static uint32_t credits_at(const struct noc_mesh *mesh, uint32_t node, uint64_t cycle)
{
    const struct noc_terminal *terminal = &mesh->terminals[node];
    return terminal->credit_repeats
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

uint64_t pim_noc_terminal_slept_blocked(const struct noc_terminal *terminal, uint64_t end)
{
    if (terminal->since >= end)
        return 0;
    uint64_t cycles = end - terminal->since;
    if (terminal->period > 1 && terminal->current != NOC_NO_PACKET)
        return cycles - pim_noc_terminal_slept_flits(terminal, end);
    return terminal->waiting ? cycles : 0;
}

/* Returns whether a decision of a later cycle may have changed. */
static bool take_credits(const struct pim_noc *noc, struct noc_terminal *terminal, uint32_t arrived,
                         uint16_t *credits)
{
    bool changed = false;
    for (uint32_t set = arrived; set; set &= set - 1) {
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

/* At the end of a window: whether runs pay, or are tried again. */
static void end_window(struct noc_crowd *crowd, uint64_t evaluations)
{
    bool pays = (evaluations - crowd->evaluations) * NOC_RUN_GAIN <= crowd->flit_hops;
    if (crowd->left > 0) {
        crowd->left--;
    } else if (pays) {
        crowd->patience = NOC_PATIENCE_LEAST;
        crowd->losses = 0;
    } else if (++crowd->losses >= NOC_LOSSES) {
        crowd->left = crowd->patience;
        crowd->patience = crowd->patience < NOC_PATIENCE_MOST ? 2 * crowd->patience : NOC_PATIENCE_MOST;
    }
    crowd->evaluations = evaluations;
    crowd->flit_hops = 0;
}

/* Routers on the packet's way; where it is not a shortest one, at least. */
static uint64_t hops_of(const struct pim_noc *noc, const struct pim_noc_packet *packet)
{
    if (noc->mesh->routed)
        return 1 + (uint64_t)pim_noc_distance(noc->mesh->topology, packet->source, packet->destination);
    const struct noc_router *router = pim_noc_router(noc->mesh, packet->source);
    unsigned x = packet->x > router->x ? packet->x - router->x : router->x - packet->x;
    unsigned y = packet->y > router->y ? packet->y - router->y : router->y - packet->y;
    return 1 + x + y;
}

/* How a packet that begins is sent. The cycles do not depend on it. */
static bool sent_by_flit(struct pim_noc *noc, const struct pim_noc_packet *packet)
{
    struct noc_crowd *crowd = &noc->mesh->crowd;
    crowd->flit_hops += packet->flits * hops_of(noc, packet);
    if (packet->flits <= NOC_SHORT_FLITS)
        return true;
    if (noc->statistics.router_evaluations - crowd->evaluations >= crowd->window)
        end_window(crowd, noc->statistics.router_evaluations);
    return crowd->left > 0 && packet->flits <= NOC_BY_FLIT_MOST;
}

/* No channel carries anything by itself. */
static bool is_quiet(const struct noc_mesh *mesh)
{
    uint64_t carried = 0;
    for (uint32_t node = 0; node < mesh->nodes && !carried; node++)
        carried = pim_noc_carried(&pim_noc_router(mesh, node)->carries);
    return carried == 0;
}

/* A packet begins: whether the evaluation for packets sent by flit will do. */
static void note_kind(struct noc_mesh *mesh, bool by_flit, uint64_t cycle)
{
    enum { PATIENCE = 64 }; /* cycles between two looks at all routers */
    if (!by_flit) {
        mesh->runs++;
        mesh->brief = false;
    } else if (!mesh->brief && mesh->runs == 0 && cycle >= mesh->quiet_from) {
        mesh->brief = is_quiet(mesh);
        mesh->quiet_from = cycle + PATIENCE;
    }
}

/* The virtual channels that the packet at the front of the queue may take; there is one. */
static uint32_t open_channels(const struct pim_noc *noc, const struct noc_terminal *terminal)
{
    uint32_t open = terminal->nonfull & ~terminal->owned;
    if (!noc->mesh->routed)
        return open;
    uint32_t allowed = noc->mesh->packets[terminal->queue_front].state.injection_vcs;
    return open & pim_noc_injectable(&noc->configuration, allowed, terminal->last_vc);
}

/* Takes the packet at the front of the queue when it finds a virtual channel.
 */
static void begin_packet(struct pim_noc *noc, struct noc_terminal *terminal, uint64_t cycle)
{
    if (terminal->queue_front == NOC_NO_PACKET)
        return;
    uint32_t candidates = open_channels(noc, terminal);
    if (!candidates)
        return;
    unsigned vc = pim_noc_first_from(candidates, terminal->last_vc + 1U);
    struct pim_noc_packet *packet = &noc->packets[terminal->queue_front];
    terminal->current = terminal->queue_front;
    terminal->queue_front = packet->next;
    terminal->left = packet->flits;
    terminal->heading = 1;
    packet->by_flit = sent_by_flit(noc, packet);
    note_kind(noc->mesh, packet->by_flit, cycle);
    terminal->brief = packet->by_flit ? NOC_SHORT : 0;
    terminal->vc = terminal->last_vc = (uint8_t)vc;
    terminal->owned |= UINT32_C(1) << vc;
    packet->head_injected = cycle;
}

/* Returns the flit. */
static uint32_t inject(struct pim_noc *noc, struct noc_terminal *terminal, uint16_t *credits, uint64_t cycle)
{
    uint32_t bit = UINT32_C(1) << terminal->vc, index = terminal->current;
    uint32_t flit = (uint32_t)terminal->vc << 8 | NOC_FLIT | (terminal->heading ? NOC_HEAD : 0U) |
                    (terminal->left == 1 ? NOC_TAIL : 0U) | terminal->brief;
    terminal->heading = 0;
    terminal->left--;
    terminal->link_flits++;
    if (--credits[terminal->vc] == 0)
        terminal->nonfull &= ~bit;
    if (!(flit & NOC_TAIL))
        return flit;
    noc->packets[index].tail_injected = cycle;
    pim_noc_note_injected(noc, index);
    terminal->current = NOC_NO_PACKET;
    if (noc->configuration.wait_for_tail_credit)
        terminal->tail_sent |= bit;
    else
        terminal->owned &= ~bit;
    return flit;
}

/* Credits and injection of one cycle. Returns whether it was calm; `packet` is
 * the one that `flit` is part of. */
static bool run_cycle(struct pim_noc *noc, uint32_t node, uint64_t cycle, uint32_t *flit, uint32_t *packet)
{
    struct noc_terminal *terminal = &noc->mesh->terminals[node];
    uint16_t *credits = &noc->mesh->terminal_credits[(size_t)node * noc->mesh->vcs];
    bool noisy = take_credits(noc, terminal, credits_at(noc->mesh, node, cycle), credits);
    if (terminal->current == NOC_NO_PACKET)
        begin_packet(noc, terminal, cycle);
    *flit = 0;
    *packet = terminal->current;
    if (terminal->current != NOC_NO_PACKET && terminal->nonfull >> terminal->vc & 1)
        *flit = inject(noc, terminal, credits, cycle);
    terminal->sending = *flit != 0;
    terminal->waiting =
        *flit == 0 && (terminal->current != NOC_NO_PACKET || terminal->queue_front != NOC_NO_PACKET);
    terminal->link_blocked += terminal->waiting;
    return !noisy && !(*flit & (NOC_HEAD | NOC_LONE));
}

void pim_noc_terminal_settle(struct pim_noc *noc, uint32_t node, uint64_t cycle)
{
    struct noc_mesh *mesh = noc->mesh;
    struct noc_terminal *terminal = &mesh->terminals[node];
    if (terminal->since >= cycle)
        return;
    uint16_t *credits = &mesh->terminal_credits[(size_t)node * mesh->vcs];
    uint64_t cycles = cycle - terminal->since, rest = cycles % terminal->period;
    uint64_t flits = pim_noc_terminal_slept_flits(terminal, cycle - rest);
    terminal->link_blocked += pim_noc_terminal_slept_blocked(terminal, cycle - rest);
    terminal->left -= flits;
    terminal->link_flits += flits;
    if (terminal->period == 1) {
        credits[terminal->vc] -= (uint16_t)flits; /* modulo 2^16: what came back and what was used cancel */
        for (uint32_t set = terminal->credit_in; set; set &= set - 1)
            credits[pim_lowest_bit(set)] += (uint16_t)cycles;
    } else {
        for (uint64_t time = cycle - rest; time < cycle; time++) {
            uint32_t flit, packet;
            bool calm = run_cycle(noc, node, time, &flit, &packet);
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

/* Records a change of what is sent from now on. */
static void post(const struct noc_outbox *outbox, uint32_t node, uint32_t flit)
{
    struct noc_slot *slot = &outbox->slots[node];
    slot->flits[NOC_TERMINAL] = (uint16_t)flit;
    slot->flit_ports |= 1U << NOC_TERMINAL;
    slot->head_ports |= (uint8_t)((flit & NOC_HEAD) / NOC_HEAD << NOC_TERMINAL);
    pim_noc_wake_in(&outbox->spoke, node);
}

/* Returns whether the flit (or 0, none) is a change. */
static bool write_channel(struct pim_noc *noc, uint32_t node, uint64_t cycle, uint32_t flit, uint32_t packet)
{
    struct noc_mesh *mesh = noc->mesh;
    struct noc_terminal *terminal = &mesh->terminals[node];
    if (terminal->flit_out_repeats) {
        struct noc_pattern *pattern = &mesh->flit_patterns[(size_t)node * NOC_PORTS + NOC_TERMINAL];
        if (flit == pim_noc_pattern_entry(pattern, cycle))
            return false;
        terminal->flit_out_repeats = 0;
        pattern->writable = cycle + NOC_INJECTION + 1;
    } else if (flit == (terminal->flit_out_stream ? (uint32_t)terminal->vc << 8 | NOC_FLIT : 0)) {
        return false;
    }
    terminal->flit_out_stream = flit != 0 && !(flit & NOC_LONE);
    if (flit & NOC_HEAD) {
        struct noc_slot *slot = &mesh->injected.slots[node];
        slot->packets[NOC_TERMINAL] = packet;
        slot->x[NOC_TERMINAL] = noc->packets[packet].x;
        slot->y[NOC_TERMINAL] = noc->packets[packet].y;
    }
    post(&mesh->injected, node, flit);
    return true;
}

/* Appends a calm step to the history; the steps since the last one, if any,
 * repeated it. */
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

/* Declares the shortest period of the flits sent that the history shows twice.
 */
static void declare_pattern(struct noc_mesh *mesh, uint32_t node, uint64_t cycle)
{
    struct noc_terminal *terminal = &mesh->terminals[node];
    struct noc_pattern *pattern = &mesh->flit_patterns[(size_t)node * NOC_PORTS + NOC_TERMINAL];
    uint64_t steps = cycle - terminal->calm_since + 1;
    for (unsigned period = 2; period <= NOC_PERIOD_LIMIT && 2 * period <= steps; period++) {
        if ((terminal->sent ^ terminal->sent >> period) & pim_noc_all(period))
            continue;
        if (terminal->flit_out_repeats || cycle < pattern->writable)
            return;
        terminal->flit_out_repeats = 1;
        terminal->flit_out_stream = 0;
        pattern->period = period;
        for (unsigned i = 0; i < period; i++)
            pattern->entries[(cycle + 1 + i) % period] =
                terminal->sent >> (period - 1 - i) & 1 ? (uint32_t)terminal->vc << 8 | NOC_FLIT : 0;
        uint64_t time = cycle + 1 + NOC_INJECTION;
        struct noc_outbox outbox = {pim_noc_slots(mesh, time), pim_noc_spoke_at(&mesh->router_wheel, time)};
        post(&outbox, node, NOC_REPEATS);
        return;
    }
}

/* After a calm step that is not like the one before: looks for a longer period.
 * Returns the next cycle to be evaluated. */
static uint64_t plan_period(struct noc_mesh *mesh, uint32_t node, uint64_t cycle, bool wrote_change)
{
    struct noc_terminal *terminal = &mesh->terminals[node];
    const uint16_t *credits = &mesh->terminal_credits[(size_t)node * mesh->vcs];
    uint16_t *snapshot = &mesh->terminal_snapshots[(size_t)node * mesh->vcs];
    bool patterns = terminal->credit_repeats || terminal->flit_out_repeats;
    if (wrote_change)
        declare_pattern(mesh, node, cycle);
    if (!patterns)
        return cycle + 1;
    uint64_t steps = cycle - terminal->snapshot_cycle;
    bool valid = terminal->snapshot_cycle + 1 >= terminal->clean_since && steps <= NOC_PERIOD_LIMIT;
    if (valid && (!terminal->credit_repeats || steps % mesh->terminal_patterns[node].period == 0) &&
        (!terminal->flit_out_repeats ||
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

/* After a calm step that left everything as it was: the first one that differs
 * although no channel changes.
 */
static uint64_t first_difference(const struct noc_terminal *terminal, const uint16_t *credits, uint64_t cycle)
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

/* Takes a change of the credits that come in. Returns whether there was one,
 * for this cycle only. */
static bool read_change(struct noc_terminal *terminal, struct noc_terminal_slot *slot)
{
    bool once = slot->once;
    terminal->credit_repeats = slot->repeats;
    terminal->credit_in = slot->credits;
    *slot = (struct noc_terminal_slot){0};
    return once;
}

/* Plans the next evaluation after a calm step; `same`: it left the credits as
 * they were. */
static uint64_t plan(struct noc_mesh *mesh, uint32_t node, uint64_t cycle, bool same, bool wrote_change,
                     bool stepped)
{
    struct noc_terminal *terminal = &mesh->terminals[node];
    record(terminal, cycle);
    if (same && !terminal->credit_repeats && !terminal->flit_out_repeats) {
        uint64_t next = first_difference(terminal, &mesh->terminal_credits[(size_t)node * mesh->vcs], cycle);
        return next > cycle ? next : cycle + 1;
    }
    return stepped ? cycle + 1 : plan_period(mesh, node, cycle, wrote_change);
}

void pim_noc_terminal_evaluate(struct pim_noc *noc, uint32_t node, uint64_t cycle)
{
    struct noc_mesh *mesh = noc->mesh;
    struct noc_terminal *terminal = &mesh->terminals[node];
    if (terminal->since < cycle)
        pim_noc_terminal_settle(noc, node, cycle);
    terminal->since = cycle + 1;

    uint32_t nonfull = terminal->nonfull, flit, packet;
    struct noc_terminal_slot *slot = pim_noc_terminal_slot(mesh, node, cycle);
    bool changed = slot->changed, once = changed && read_change(terminal, slot);
    bool calm = run_cycle(noc, node, cycle, &flit, &packet);
    if (once)
        terminal->credit_in = 0;
    bool wrote_change = write_channel(noc, node, cycle, flit, packet),
         stepped = noc->configuration.step_every_cycle;

    terminal->period = 1;
    if (!calm || (stepped && busy(terminal))) {
        terminal->calm_since = terminal->clean_since = cycle + 1;
        if (terminal->current != NOC_NO_PACKET || terminal->queue_front != NOC_NO_PACKET ||
            terminal->credit_in || terminal->credit_repeats || terminal->flit_out_repeats)
            pim_noc_wake_in(&mesh->next_terminals, node);
        else
            terminal->since = UINT64_MAX; /* nothing will happen, nor is to be
                                       accounted for, until something comes */
        return;
    }
    if (changed || wrote_change)
        terminal->clean_since = cycle + 1;
    bool same = nonfull == terminal->nonfull;
    uint64_t next = plan(mesh, node, cycle, same, wrote_change, stepped);
    if (next != UINT64_MAX)
        pim_noc_wake(&mesh->terminal_wheel, node, next, cycle);
}

/*
 * How long the cycles of a router stay the same, and what it did in the cycles it slept through.
 *
 * A step is calm when no head and no tail moved and no packet got a virtual channel. After a calm step the
 * router's next steps follow from its state and its channels alone, by the same rules as the last ones. So:
 *
 * 1. A router may sleep with period 1 after a calm step that left every set and pointer as it was, when all
 *    its channels are constant: each following step is the same. Counters that drift are followed up to the
 *    cycle in which one reaches zero.
 * 2. It may sleep with period P after P calm steps in which no channel changed, when its sets and pointers
 *    are what they were P steps ago and the period of every pattern on its channels divides P: for as many
 *    periods as no counter that drifts from period to period can meet zero in.
 * 3. In both cases it is woken when a channel changes, and no later than the cycle in which a tail leaves.
 * 4. Waking early, or never sleeping, changes nothing but the cost.
 */
#include "models/noc/evaluation.h"

#include <assert.h>
#include <string.h>

/* Enters the router in the agenda for the cycle it planned. */
static void enter(struct noc_mesh *mesh, uint32_t node, uint64_t cycle)
{
    struct noc_router *router = &mesh->routers[node];
    if (router->planned == UINT64_MAX)
        return;
    uint64_t horizon = cycle + PIM_NOC_HORIZON - 1;
    router->entered = router->planned < horizon ? router->planned : horizon;
    pim_noc_wake(&mesh->router_wheel, node, router->entered, cycle);
}

bool pim_noc_router_sleeps_on(struct noc_mesh *mesh, uint32_t node, uint64_t cycle)
{
    struct noc_router *router = &mesh->routers[node];
    size_t slot = (size_t)node * mesh->ring + (cycle & (mesh->ring - 1));
    if (cycle >= router->planned || mesh->flit_ports[slot] | mesh->credit_ports[slot])
        return false;
    if (cycle ==
        router->entered) /* it had planned beyond the horizon; else this is a plan that was given up */
        enter(mesh, node, cycle);
    return true;
}

/* `cycles` cycles like the last one. Counters are modulo 2^32: what came in and what went out cancel. */
static void account(struct noc_mesh *mesh, uint32_t node, uint64_t cycles)
{
    struct noc_router *router = &mesh->routers[node];
    size_t base = (size_t)node * NOC_PORTS * mesh->vcs;
    for (uint32_t ports = router->flit_in_ports; ports; ports &= ports - 1) {
        unsigned port = pim_lowest_bit(ports);
        mesh->inputs[base + port * mesh->vcs + pim_noc_entry_vc(router->flit_in[port])].count +=
            (uint32_t)cycles;
    }
    for (uint32_t ports = router->credit_in_ports; ports; ports &= ports - 1) {
        unsigned port = pim_lowest_bit(ports);
        for (uint64_t set = router->credit_in[port]; set; set &= set - 1)
            mesh->outputs[base + port * mesh->vcs + pim_lowest_bit(set)].credits += (uint32_t)cycles;
    }
    for (unsigned i = 0; i < router->grant_count; i++) {
        struct noc_grant grant = router->grants[i];
        struct noc_input *input = &mesh->inputs[base + grant.port * mesh->vcs + grant.vc];
        input->count -= (uint32_t)cycles;
        input->left -= cycles;
        mesh->outputs[base + grant.output * mesh->vcs + grant.output_vc].credits -= (uint32_t)cycles;
        router->link_flits[grant.output] += cycles;
    }
}

/* `periods` times the last `period` cycles: counters go on as they did in it. */
static void account_periods(struct noc_mesh *mesh, uint32_t node, uint64_t periods)
{
    struct noc_router *router = &mesh->routers[node];
    const struct noc_rhythm *rhythm = &mesh->rhythms[node];
    size_t base = (size_t)node * NOC_PORTS * mesh->vcs;
    struct noc_input *inputs = &mesh->inputs[base];
    const uint32_t *gains = &mesh->snapshots[base * 2];
    for (unsigned row = 0; row < NOC_PORTS * mesh->vcs; row++) {
        inputs[row].count += gains[2 * row] * (uint32_t)periods;
        mesh->outputs[base + row].credits += gains[2 * row + 1] * (uint32_t)periods;
    }
    for (unsigned i = 0; i < router->period; i++) {
        uint64_t slot = (rhythm->last - i) % NOC_PERIOD_LIMIT;
        for (unsigned j = 0; j < rhythm->grant_counts[slot]; j++) {
            struct noc_grant grant = rhythm->grants[slot][j];
            inputs[grant.port * mesh->vcs + grant.vc].left -= periods;
            router->link_flits[grant.output] += periods;
        }
    }
}

void pim_noc_router_settle(struct pim_noc *noc, uint32_t node, uint64_t cycle)
{
    struct noc_mesh *mesh = noc->mesh;
    struct noc_router *router = &mesh->routers[node];
    if (router->since >= cycle)
        return;
    uint64_t cycles = cycle - router->since;
    if (router->period == 1) {
        account(mesh, node, cycles);
    } else {
        account_periods(mesh, node, cycles / router->period);
        for (uint64_t time = cycle - cycles % router->period; time < cycle; time++)
            pim_noc_router_repeat(noc, node, time);
        router->calm_since = router->clean_since = cycle; /* the history has a gap */
        router->planned = cycle;
        router->period = 1;
    }
    router->since = cycle;
}

uint64_t pim_noc_router_slept_flits(const struct noc_mesh *mesh, uint32_t node, unsigned output, uint64_t end)
{
    const struct noc_router *router = &mesh->routers[node];
    const struct noc_rhythm *rhythm = &mesh->rhythms[node];
    uint64_t flits = 0;
    for (unsigned i = 0; i < router->period && router->since + i < end; i++) {
        uint64_t times = (end - router->since - i + router->period - 1) / router->period;
        uint64_t slot =
            (router->since + i - router->period) % NOC_PERIOD_LIMIT; /* the cycle that is repeated */
        const struct noc_grant *grants = router->period == 1 ? router->grants : rhythm->grants[slot];
        unsigned count = router->period == 1 ? router->grant_count : rhythm->grant_counts[slot];
        for (unsigned j = 0; j < count; j++)
            flits += grants[j].output == output ? times : 0;
    }
    return flits;
}

/* Period 1: first cycle that differs from this one although no channel changes; UINT64_MAX when there is
 * none. */
static uint64_t first_difference(const struct evaluation *e)
{
    const struct noc_router *router = e->router;
    uint64_t cycles = UINT64_MAX;
    for (uint32_t i = 0; i < router->grant_count; i++) {
        struct noc_grant grant = router->grants[i];
        const struct noc_input *input = &e->inputs[grant.port * e->vcs + grant.vc];
        uint64_t entry = router->flit_in[grant.port];
        cycles = input->left < cycles ? input->left : cycles; /* the tail leaves */
        if (!(entry && pim_noc_entry_vc(entry) == grant.vc) && input->count < cycles)
            cycles = input->count; /* the buffer runs empty */
        uint32_t credits = e->outputs[grant.output * e->vcs + grant.output_vc].credits;
        if (!(router->credit_in[grant.output] >> grant.output_vc & 1) && credits < cycles)
            cycles = credits; /* the credits run out */
    }
    return cycles == UINT64_MAX ? cycles : e->cycle + cycles;
}

/* Appends the grants of a calm step to the history. The steps since the last one, if any, repeated it: the
 * router slept. */
static void record(const struct evaluation *e, struct noc_rhythm *rhythm)
{
    static const uint64_t weights[NOC_PORTS] = {1, UINT64_C(5121), UINT64_C(26224641), UINT64_C(134296386561),
                                                UINT64_C(687731795578881)}; /* powers of 5 * 32 * 32 + 1 */
    struct noc_router *router = e->router;
    if (router->calm_since > rhythm->last || e->cycle - rhythm->last > NOC_PERIOD_LIMIT) {
        router->calm_since = e->cycle;
    } else {
        uint64_t from = rhythm->last % NOC_PERIOD_LIMIT;
        for (uint64_t time = rhythm->last + 1; time < e->cycle; time++) {
            uint64_t to = time % NOC_PERIOD_LIMIT;
            memcpy(rhythm->grants[to], rhythm->grants[from], sizeof rhythm->grants[to]);
            rhythm->grant_counts[to] = rhythm->grant_counts[from];
            rhythm->signatures[time % NOC_HISTORY] = rhythm->signatures[rhythm->last % NOC_HISTORY];
        }
    }
    uint64_t slot = e->cycle % NOC_PERIOD_LIMIT, signature = 0;
    memcpy(rhythm->grants[slot], router->grants, sizeof router->grants);
    rhythm->grant_counts[slot] = (uint8_t)router->grant_count;
    for (uint32_t i = 0; i < router->grant_count; i++) {
        struct noc_grant grant = router->grants[i];
        signature +=
            weights[grant.output] *
            (1U + ((unsigned)grant.port * PIM_NOC_VC_LIMIT + grant.vc) * PIM_NOC_VC_LIMIT + grant.output_vc);
    }
    rhythm->signatures[e->cycle % NOC_HISTORY] = signature;
    rhythm->last = e->cycle;
}

/* The period of the grants, seen twice in the history; 0 when there is none. */
static unsigned find_period(const struct evaluation *e, const struct noc_rhythm *rhythm)
{
    uint64_t steps = e->cycle - e->router->calm_since + 1;
    for (unsigned period = 2; period <= NOC_PERIOD_LIMIT && 2 * period <= steps; period++) {
        unsigned same = 0;
        while (same < period && rhythm->signatures[(e->cycle - same) % NOC_HISTORY] ==
                                    rhythm->signatures[(e->cycle - same - period) % NOC_HISTORY])
            same++;
        if (same == period)
            return period;
    }
    return 0;
}

static void take_snapshot(const struct evaluation *e, struct noc_rhythm *rhythm, uint32_t *counters)
{
    const struct noc_router *router = e->router;
    rhythm->snapshot_cycle = e->cycle;
    memcpy(rhythm->filled, router->filled, sizeof rhythm->filled);
    memcpy(rhythm->nonfull, router->nonfull, sizeof rhythm->nonfull);
    memcpy(rhythm->held_vc, router->held_vc, sizeof rhythm->held_vc);
    rhythm->held_rows = router->held_rows;
    rhythm->arbiter = router->arbiter;
    for (unsigned row = 0; row < NOC_PORTS * e->vcs; row++) {
        counters[2 * row] = e->inputs[row].count;
        counters[2 * row + 1] = e->outputs[row].credits;
    }
}

static bool same_sets(const struct noc_router *router, const struct noc_rhythm *rhythm)
{
    return memcmp(&rhythm->arbiter, &router->arbiter, sizeof rhythm->arbiter) == 0 &&
           rhythm->held_rows == router->held_rows &&
           memcmp(rhythm->filled, router->filled, sizeof rhythm->filled) == 0 &&
           memcmp(rhythm->nonfull, router->nonfull, sizeof rhythm->nonfull) == 0 &&
           memcmp(rhythm->held_vc, router->held_vc, sizeof rhythm->held_vc) == 0;
}

/*
 * How many further periods a counter that went from `then` to `now` in the last one is never 0, as it never
 * was in that one; without limit when it did not drift. It moves by at most one a cycle, so between values
 * a and b at the ends of a period it is at least (a + b - period) / 2.
 */
static uint64_t drift_limit(uint64_t then, uint64_t now, unsigned period)
{
    if (then == now)
        return UINT64_MAX;
    if (then < now)
        return then + now > period ? UINT64_MAX : 0;
    return 2 * now > period ? ((2 * now - period - 1) / (then - now) + 1) / 2 : 0;
}

static uint64_t counters_limit(const struct evaluation *e, const uint32_t *counters, unsigned period)
{
    uint64_t periods = UINT64_MAX;
    for (unsigned row = 0; row < NOC_PORTS * e->vcs && periods > 0; row++) {
        uint64_t flits = drift_limit(counters[2 * row], e->inputs[row].count, period);
        uint64_t credits = drift_limit(counters[2 * row + 1], e->outputs[row].credits, period);
        periods = flits < periods ? flits : periods;
        periods = credits < periods ? credits : periods;
    }
    return periods;
}

/* Turns the snapshot into what each counter gains in a period (modulo 2^32). */
static void keep_gains(const struct evaluation *e, struct noc_rhythm *rhythm, uint32_t *counters)
{
    rhythm->snapshot_cycle = NOC_NO_SNAPSHOT;
    for (unsigned row = 0; row < NOC_PORTS * e->vcs; row++) {
        counters[2 * row] = e->inputs[row].count - counters[2 * row];
        counters[2 * row + 1] = e->outputs[row].credits - counters[2 * row + 1];
    }
}

/* Whether the period of every pattern on the router's channels divides `period`. */
static bool patterns_divide(const struct evaluation *e, unsigned period)
{
    const struct noc_router *router = e->router;
    const struct noc_mesh *mesh = e->mesh;
    size_t own = (size_t)e->node * NOC_PORTS;
    bool divide = true;
    for (unsigned port = 0; port < NOC_PORTS; port++) {
        size_t there = port < NOC_TERMINAL ? (size_t)router->neighbour[port] * NOC_PORTS + (port ^ 1) : 0;
        if (router->flit_in_patterns >> port & 1)
            divide = divide && period % mesh->flit_patterns[own + port].period == 0;
        if (router->credit_in_patterns >> port & 1)
            divide = divide && period % mesh->credit_patterns[own + port].period == 0;
        if (router->flit_out_patterns >> port & 1) {
            const struct noc_pattern *pattern =
                port < NOC_TERMINAL ? &mesh->flit_patterns[there] : &mesh->credit_patterns[own + port];
            divide = divide && period % pattern->period == 0;
        }
        if (router->credit_out_patterns >> port & 1) {
            const struct noc_pattern *pattern =
                port < NOC_TERMINAL ? &mesh->credit_patterns[there] : &mesh->terminal_patterns[e->node];
            divide = divide && period % pattern->period == 0;
        }
    }
    return divide;
}

/* How many further periods no tail leaves. */
static uint64_t tails_limit(const struct evaluation *e, const struct noc_rhythm *rhythm, unsigned period)
{
    uint8_t sent[NOC_PORTS * PIM_NOC_VC_LIMIT];
    memset(sent, 0, sizeof sent);
    for (unsigned i = 0; i < period; i++) {
        uint64_t slot = (e->cycle - i) % NOC_PERIOD_LIMIT;
        for (unsigned j = 0; j < rhythm->grant_counts[slot]; j++)
            sent[rhythm->grants[slot][j].port * e->vcs + rhythm->grants[slot][j].vc]++;
    }
    uint64_t periods = UINT64_MAX;
    for (unsigned row = 0; row < NOC_PORTS * e->vcs; row++)
        if (sent[row] && (e->inputs[row].left - 1) / sent[row] < periods)
            periods = (e->inputs[row].left - 1) / sent[row];
    return periods;
}

/* After a calm step that is not like the one before: looks for a longer period. */
static void plan_period(struct evaluation *e, struct noc_rhythm *rhythm)
{
    struct noc_router *router = e->router;
    unsigned patterns = router->flit_in_patterns | router->flit_out_patterns | router->credit_in_patterns |
                        router->credit_out_patterns;
    if (e->wrote_change) {
        unsigned found = find_period(e, rhythm);
        if (found)
            pim_noc_declare_patterns(e, rhythm, found);
    }
    if (!patterns)
        return;
    uint32_t *counters = &e->mesh->snapshots[(size_t)e->node * NOC_PORTS * e->vcs * 2];
    uint64_t steps = e->cycle - rhythm->snapshot_cycle;
    if (steps > NOC_PERIOD_LIMIT || rhythm->snapshot_cycle + 1 < router->clean_since) {
        take_snapshot(e, rhythm, counters);
        return;
    }
    assert(router->calm_since <= rhythm->snapshot_cycle + 1);
    unsigned period = (unsigned)steps;
    if (patterns_divide(e, period) && same_sets(router, rhythm)) {
        uint64_t tails = tails_limit(e, rhythm, period), drift = counters_limit(e, counters, period);
        uint64_t periods = tails < drift ? tails : drift;
        if (periods > 0) {
            keep_gains(e, rhythm, counters);
            router->planned = periods == UINT64_MAX ? periods : e->cycle + 1 + periods * period;
            router->period = (uint8_t)period;
            return;
        }
    }
    if (period == NOC_PERIOD_LIMIT)
        take_snapshot(e, rhythm, counters);
}

static bool busy(const struct noc_router *router)
{
    uint32_t filled = router->grant_count | router->flit_in_ports | router->credit_in_ports;
    for (unsigned port = 0; port < NOC_PORTS; port++)
        filled |= router->filled[port];
    return filled != 0;
}

void pim_noc_plan_router(struct evaluation *e, const uint32_t *filled, const uint32_t *nonfull)
{
    struct noc_router *router = e->router;
    router->planned = e->cycle + 1;
    router->period = 1;
    bool stepped = e->noc->configuration.step_every_cycle;
    if (e->noisy || (stepped && busy(router))) {
        router->calm_since = router->clean_since = e->cycle + 1;
        enter(e->mesh, e->node, e->cycle);
        return;
    }
    if (e->read_change | e->wrote_change)
        router->clean_since = e->cycle + 1;
    struct noc_rhythm *rhythm = &e->mesh->rhythms[e->node];
    record(e, rhythm);
    unsigned patterns = router->flit_in_patterns | router->flit_out_patterns | router->credit_in_patterns |
                        router->credit_out_patterns;
    uint32_t differences = 0;
    for (unsigned port = 0; port < NOC_PORTS; port++)
        differences |= (filled[port] ^ router->filled[port]) | (nonfull[port] ^ router->nonfull[port]);
    if (!e->moved && !patterns && !differences && !(e->credit_once && router->grant_count))
        router->planned = first_difference(e);
    else if (!stepped)
        plan_period(e, rhythm);
    enter(e->mesh, e->node, e->cycle);
}

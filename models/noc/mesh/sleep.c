/*
 * How long the cycles of a router stay the same, and what it did in the cycles
 * it slept through.
 *
 * A step is calm when no head and no tail moved and no packet got a virtual
 * channel. After a calm step the router's next steps follow from its state and
 * its channels alone, by the same rules as the last ones. So:
 *
 * 1. A router may sleep with period 1 after a calm step that left every set and
 * pointer as it was, when all its channels are constant: each following step is
 * the same. Counters that drift are followed up to the cycle in which one
 * reaches zero.
 * 2. It may sleep with period P after P calm steps in which no channel changed,
 * when its sets and pointers are what they were P steps ago and the period of
 * every pattern on its channels divides P: for as many periods as no counter
 * that drifts from period to period can meet zero in.
 * 3. In both cases it is woken when a channel changes, and no later than the
 * cycle in which a tail leaves.
 * 4. Waking early, or never sleeping, changes nothing but the cost.
 */
#include "models/noc/mesh/evaluation.h"

#include <assert.h>
#include <string.h>

void pim_noc_enter(struct noc_mesh *mesh, uint32_t node, uint64_t cycle)
{
    struct noc_router *router = pim_noc_router(mesh, node);
    if (router->planned == UINT64_MAX)
        return;
    uint64_t horizon = cycle + PIM_NOC_HORIZON - 1;
    router->entered = router->planned < horizon ? router->planned : horizon;
    pim_noc_wake(&mesh->router_wheel, node, router->entered, cycle);
}

/* It had planned beyond the horizon, or this is a plan that was given up. */
void pim_noc_sleep_on(struct noc_mesh *mesh, uint32_t node, uint64_t cycle)
{
    if (cycle == pim_noc_router(mesh, node)->entered)
        pim_noc_enter(mesh, node, cycle);
}

/* Row of the inputs of the first of `grants`; there is one. */
static unsigned grant_row(uint64_t grants)
{
    return (unsigned)(grants & 0xFF) - 1;
}

/* `flits` of the packet at the front of a row have been sent. */
static void send_on(struct noc_mesh *mesh, uint32_t node, unsigned row, uint64_t flits)
{
    struct noc_input *input = &pim_noc_inputs(mesh, pim_noc_router(mesh, node))[row];
    pim_noc_set_left(mesh, node, row, input, pim_noc_left(mesh, node, row, input) - flits);
}

/* The links in `ports` were blocked in `cycles` cycles. */
static void add_blocked(struct noc_router *router, unsigned ports, uint64_t cycles)
{
    for (; ports; ports &= ports - 1)
        router->link_blocked[pim_lowest_bit(ports)] += cycles;
}

/* `cycles` cycles like the last one. Counters are modulo 2^16: what came in and
 * what went out cancel. */
void pim_noc_router_account(struct noc_mesh *mesh, uint32_t node, uint64_t cycles)
{
    struct noc_router *router = pim_noc_router(mesh, node);
    struct noc_input *inputs = pim_noc_inputs(mesh, router);
    uint16_t change = (uint16_t)cycles;
    add_blocked(router, router->blocked, cycles);
    for (uint32_t ports = router->carries.flit_streams; ports; ports &= ports - 1) {
        unsigned port = pim_lowest_bit(ports);
        inputs[(port << mesh->shift) + router->flit_vc[port]].count += change;
    }
    for (uint32_t ports = router->carries.credit_streams; ports; ports &= ports - 1) {
        unsigned port = pim_lowest_bit(ports);
        for (uint32_t set = router->credit_in[port]; set; set &= set - 1)
            router->outputs[(port << mesh->shift) + pim_lowest_bit(set)].credits += change;
    }
    for (uint64_t grants = router->grants; grants; grants >>= 8) {
        struct noc_input *row = &inputs[grant_row(grants)];
        row->count -= change;
        send_on(mesh, node, grant_row(grants), cycles);
        router->outputs[row->output].credits -= change;
        router->link_flits[row->output >> mesh->shift] += cycles;
    }
}

/* What each row gains in a period, modulo 2^16: flits in its buffer, credits of the output. */
struct gains {
    uint16_t flits[NOC_ROWS_LIMIT], credits[NOC_ROWS_LIMIT];
};

/* What a pattern brings to the rows of its port in a period of the router. Its entries are flits (`flits`),
 * or sets of virtual channels. */
static void gain_pattern(const struct noc_pattern *pattern, unsigned period, bool flits, uint16_t *port)
{
    for (unsigned i = 0; i < pattern->period; i++) {
        uint32_t entry = pattern->entries[i];
        uint32_t set = flits ? (uint32_t)(entry != 0) << (entry >> 8) : entry;
        for (; set; set &= set - 1)
            port[pim_lowest_bit(set)] += (uint16_t)(period / pattern->period);
    }
}

/* Whether rows from this one on, as many as a word has room for, gain anything. (Few do.) */
enum { ROWS_OF_WORD = sizeof(uint64_t) / sizeof(uint16_t) };
_Static_assert((NOC_PORTS << NOC_SINGLE_SHIFT) % ROWS_OF_WORD == 0, "rows are whole words");
static bool gain_any(const struct gains *gains, size_t row)
{
    uint64_t flits, credits;
    memcpy(&flits, &gains->flits[row], sizeof flits);
    memcpy(&credits, &gains->credits[row], sizeof credits);
    return (flits | credits) != 0;
}

/* What the channels bring and what the grants of the last `period` cycles take. */
static void gains_of(const struct noc_mesh *mesh, uint32_t node, unsigned period, struct gains *gains)
{
    const struct noc_router *router = pim_noc_router(mesh, node);
    const struct noc_rhythm *rhythm = &mesh->rhythms[node];
    const struct noc_input *inputs = pim_noc_inputs(mesh, router);
    const struct noc_activity *carries = &router->carries;
    memset(gains->flits, 0, pim_noc_rows(mesh) * sizeof *gains->flits);
    memset(gains->credits, 0, pim_noc_rows(mesh) * sizeof *gains->credits);
    for (unsigned port = 0; port < NOC_PORTS; port++) {
        unsigned first = port << mesh->shift;
        size_t channel = (size_t)node * NOC_PORTS + port;
        if (carries->flit_streams >> port & 1)
            gains->flits[first + router->flit_vc[port]] += (uint16_t)period;
        if (carries->flit_repeats >> port & 1)
            gain_pattern(&mesh->flit_patterns[channel], period, true, &gains->flits[first]);
        uint32_t set = carries->credit_streams >> port & 1 ? router->credit_in[port] : 0;
        for (; set; set &= set - 1)
            gains->credits[first + pim_lowest_bit(set)] += (uint16_t)period;
        if (carries->credit_repeats >> port & 1)
            gain_pattern(&mesh->credit_patterns[channel], period, false, &gains->credits[first]);
    }
    for (unsigned i = 0; i < period; i++)
        for (uint64_t grants = rhythm->grants[(rhythm->last - i) % NOC_HISTORY]; grants; grants >>= 8) {
            unsigned row = grant_row(grants);
            gains->flits[row]--;
            gains->credits[inputs[row].output]--;
        }
}

/* `periods` times the last `period` cycles: counters go on as they did in it.
 */
static void account_periods(struct noc_mesh *mesh, uint32_t node, uint64_t periods)
{
    if (periods == 0)
        return;
    struct noc_router *router = pim_noc_router(mesh, node);
    const struct noc_rhythm *rhythm = &mesh->rhythms[node];
    struct noc_input *inputs = pim_noc_inputs(mesh, router);
    struct gains gains;
    gains_of(mesh, node, router->period, &gains);
    for (size_t word = 0; word < pim_noc_rows(mesh); word += ROWS_OF_WORD)
        for (size_t row = word; gain_any(&gains, word) && row < word + ROWS_OF_WORD; row++) {
            inputs[row].count = (uint16_t)(inputs[row].count + gains.flits[row] * (uint32_t)periods);
            uint16_t *credits = &router->outputs[row].credits;
            *credits = (uint16_t)(*credits + gains.credits[row] * (uint32_t)periods);
        }
    for (unsigned i = 0; i < router->period; i++) {
        uint64_t slot = (rhythm->last - i) % NOC_HISTORY;
        add_blocked(router, rhythm->blocked[slot], periods);
        for (uint64_t grants = rhythm->grants[slot]; grants; grants >>= 8) {
            send_on(mesh, node, grant_row(grants), periods);
            router->link_flits[inputs[grant_row(grants)].output >> mesh->shift] += periods;
        }
    }
}

void pim_noc_router_settle(struct pim_noc *noc, uint32_t node, uint64_t cycle)
{
    struct noc_mesh *mesh = noc->mesh;
    struct noc_router *router = pim_noc_router(mesh, node);
    if (router->since >= cycle)
        return;
    uint64_t cycles = cycle - router->since;
    if (router->period == 1) {
        pim_noc_router_account(mesh, node, cycles);
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
    const struct noc_router *router = pim_noc_router(mesh, node);
    const struct noc_rhythm *rhythm = &mesh->rhythms[node];
    uint64_t flits = 0;
    for (unsigned i = 0; i < router->period && router->since + i < end; i++) {
        uint64_t times = (end - router->since - i + router->period - 1) / router->period;
        uint64_t slot = (router->since + i - router->period) % NOC_HISTORY; /* the cycle that is repeated */
        uint64_t grants = router->period == 1 ? router->grants : rhythm->grants[slot];
        for (; grants; grants >>= 8)
            flits += (unsigned)pim_noc_inputs(mesh, router)[grant_row(grants)].output >> mesh->shift == output
                         ? times
                         : 0;
    }
    return flits;
}

uint64_t pim_noc_router_slept_blocked(const struct noc_mesh *mesh, uint32_t node, unsigned output,
                                      uint64_t end)
{
    const struct noc_router *router = pim_noc_router(mesh, node);
    const struct noc_rhythm *rhythm = &mesh->rhythms[node];
    uint64_t cycles = 0;
    for (unsigned i = 0; i < router->period && router->since + i < end; i++) {
        uint64_t times = (end - router->since - i + router->period - 1) / router->period;
        uint64_t slot = (router->since + i - router->period) % NOC_HISTORY; /* the cycle that is repeated */
        unsigned blocked = router->period == 1 ? router->blocked : rhythm->blocked[slot];
        cycles += blocked >> output & 1 ? times : 0;
    }
    return cycles;
}

/* Period 1: first cycle that differs from this one although no channel changes;
 * UINT64_MAX when there is none. This one itself when a flit went by a credit
 * that came for this cycle only. */
static uint64_t first_difference(const struct noc_mesh *mesh, uint32_t node, uint64_t cycle)
{
    const struct noc_router *router = pim_noc_router(mesh, node);
    uint64_t cycles = UINT64_MAX;
    for (uint64_t grants = router->grants; grants; grants >>= 8) {
        unsigned number = grant_row(grants), port = number >> mesh->shift,
                 vc = number - (port << mesh->shift);
        const struct noc_input *row = &pim_noc_inputs(mesh, router)[number];
        unsigned output = (unsigned)row->output >> mesh->shift,
                 output_vc = row->output - (output << mesh->shift);
        uint64_t left = pim_noc_left(mesh, node, number, row);
        cycles = left < cycles ? left : cycles; /* the tail leaves */
        if (!(router->carries.flit_streams >> port & 1 && router->flit_vc[port] == vc) && row->count < cycles)
            cycles = row->count; /* the buffer runs empty */
        bool credited =
            router->carries.credit_streams >> output & 1 && router->credit_in[output] >> output_vc & 1;
        if (!credited && router->outputs[row->output].credits < cycles)
            cycles = router->outputs[row->output].credits; /* the credits run out */
    }
    return cycles == UINT64_MAX ? cycles : cycle + cycles;
}

void pim_noc_replan(const struct noc_mesh *mesh, uint32_t node, uint64_t cycle)
{
    struct noc_router *router = pim_noc_router(mesh, node);
    uint64_t difference = first_difference(mesh, node, router->since - 1);
    router->planned = difference > cycle ? difference : cycle + 1;
}

/* Appends the grants of a calm step to the history. The steps since the last
 * one, if any, repeated it: the router slept. */
static void record(const struct noc_site *site, struct noc_rhythm *rhythm)
{
    struct noc_router *router = site->router;
    if (router->calm_since > rhythm->last || site->cycle - rhythm->last > NOC_PERIOD_LIMIT)
        router->calm_since = site->cycle;
    else
        for (uint64_t time = rhythm->last + 1; time < site->cycle; time++) {
            rhythm->grants[time % NOC_HISTORY] = rhythm->grants[rhythm->last % NOC_HISTORY];
            rhythm->blocked[time % NOC_HISTORY] = rhythm->blocked[rhythm->last % NOC_HISTORY];
        }
    rhythm->grants[site->cycle % NOC_HISTORY] = router->grants;
    rhythm->blocked[site->cycle % NOC_HISTORY] = router->blocked;
    rhythm->last = site->cycle;
}

/* The period of the grants, seen twice in the history; 0 when there is none. */
static unsigned find_period(const struct noc_site *site, const struct noc_rhythm *rhythm)
{
    uint64_t steps = site->cycle - site->router->calm_since + 1;
    for (unsigned period = 2; period <= NOC_PERIOD_LIMIT && 2 * period <= steps; period++) {
        unsigned same = 0;
        while (same < period && rhythm->grants[(site->cycle - same) % NOC_HISTORY] ==
                                    rhythm->grants[(site->cycle - same - period) % NOC_HISTORY])
            same++;
        if (same == period)
            return period;
    }
    return 0;
}

static void take_snapshot(const struct noc_site *site, struct noc_rhythm *rhythm)
{
    const struct noc_router *router = site->router;
    rhythm->snapshot_cycle = site->cycle;
    for (unsigned word = 0; word < site->mesh->words; word++) {
        rhythm->filled[word] = router->sets[word].filled;
        rhythm->nonfull[word] = router->sets[word].nonfull;
    }
    if (site->mesh->plain)
        memcpy(&rhythm->arbiter, &router->arbiter, NOC_PLAIN_SWITCH);
    else
        memcpy(&rhythm->arbiter, &router->arbiter, sizeof rhythm->arbiter);
}

static bool same_sets(const struct noc_site *site, const struct noc_rhythm *rhythm)
{
    const struct noc_router *router = site->router;
    uint64_t differences = 0;
    for (unsigned word = 0; word < site->mesh->words; word++)
        differences |= (rhythm->filled[word] ^ router->sets[word].filled) |
                       (rhythm->nonfull[word] ^ router->sets[word].nonfull);
    if (differences != 0)
        return false;
    return site->mesh->plain ? memcmp(&rhythm->arbiter, &router->arbiter, NOC_PLAIN_SWITCH) == 0
                             : memcmp(&rhythm->arbiter, &router->arbiter, sizeof rhythm->arbiter) == 0;
}

/*
 * How many further periods a counter that gained `gain` (modulo 2^16) and so came to `now` in the last
 * one is never 0, as it never was in that one; without limit when it did not
 * drift. It moves by at most one a cycle, so between values a and b at the ends
 * of a period it is at least (a + b - period) / 2.
 */
static uint64_t drift_limit(uint16_t gain, uint64_t now, unsigned period)
{
    if (gain == 0)
        return UINT64_MAX;
    uint64_t then = (uint16_t)(now - gain);
    if (then < now)
        return then + now > period ? UINT64_MAX : 0;
    return 2 * now > period ? ((2 * now - period - 1) / (then - now) + 1) / 2 : 0;
}

static uint64_t counters_limit(const struct noc_mesh *mesh, uint32_t node, unsigned period)
{
    const struct noc_router *router = pim_noc_router(mesh, node);
    const struct noc_input *inputs = pim_noc_inputs(mesh, router);
    struct gains gains;
    gains_of(mesh, node, period, &gains);
    uint64_t periods = UINT64_MAX;
    for (size_t word = 0; word < pim_noc_rows(mesh); word += ROWS_OF_WORD)
        for (size_t row = word; gain_any(&gains, word) && row < word + ROWS_OF_WORD; row++) {
            uint64_t flits = drift_limit(gains.flits[row], inputs[row].count, period);
            uint64_t credits = drift_limit(gains.credits[row], router->outputs[row].credits, period);
            periods = flits < periods ? flits : periods;
            periods = credits < periods ? credits : periods;
        }
    return periods;
}

/* Whether the period of every pattern on the router's channels divides
 * `period`. */
static bool patterns_divide(const struct noc_site *site, unsigned period)
{
    const struct noc_router *router = site->router;
    const struct noc_mesh *mesh = site->mesh;
    size_t own = (size_t)site->node * NOC_PORTS;
    bool divide = true;
    unsigned ports = router->carries.flit_repeats | router->carries.credit_repeats |
                     router->carries.flit_out_repeats | (unsigned)router->carries.credit_out_repeats;
    for (; ports && divide; ports &= ports - 1) {
        unsigned port = pim_lowest_bit(ports);
        size_t there = port < NOC_TERMINAL ? (size_t)router->neighbour[port] * NOC_PORTS + (port ^ 1)
                                           : own + NOC_TERMINAL;
        if (router->carries.flit_repeats >> port & 1)
            divide = divide && period % mesh->flit_patterns[own + port].period == 0;
        if (router->carries.credit_repeats >> port & 1)
            divide = divide && period % mesh->credit_patterns[own + port].period == 0;
        if (router->carries.flit_out_repeats >> port & 1)
            divide = divide && period % mesh->flit_patterns[there].period == 0;
        if (router->carries.credit_out_repeats >> port & 1)
            divide = divide && period % (port == NOC_TERMINAL ? mesh->terminal_patterns[site->node]
                                                              : mesh->credit_patterns[there])
                                            .period ==
                                   0;
    }
    return divide;
}

/* How many further periods no tail leaves. */
static uint64_t tails_limit(const struct noc_site *site, const struct noc_rhythm *rhythm, unsigned period)
{
    uint8_t sent[NOC_ROWS_LIMIT];
    memset(sent, 0, pim_noc_rows(site->mesh));
    for (unsigned i = 0; i < period; i++)
        for (uint64_t grants = rhythm->grants[(site->cycle - i) % NOC_HISTORY]; grants; grants >>= 8)
            sent[grant_row(grants)]++;
    uint64_t periods = UINT64_MAX;
    for (unsigned i = 0; i < period; i++)
        for (uint64_t grants = rhythm->grants[(site->cycle - i) % NOC_HISTORY]; grants; grants >>= 8) {
            unsigned row = grant_row(grants);
            const struct noc_input *input = &pim_noc_inputs(site->mesh, site->router)[row];
            uint64_t limit = (pim_noc_left(site->mesh, site->node, row, input) - 1) / sent[row];
            periods = limit < periods ? limit : periods;
        }
    return periods;
}

/* After a calm step that is not like the one before: looks for a longer period.
 */
static void plan_period(const struct noc_site *site, struct noc_rhythm *rhythm, bool patterns,
                        bool wrote_change)
{
    struct noc_router *router = site->router;
    if (wrote_change) {
        unsigned found = find_period(site, rhythm);
        if (found)
            pim_noc_declare_patterns(site->mesh, site->node, site->cycle, found);
    }
    if (!patterns)
        return;
    uint64_t steps = site->cycle - rhythm->snapshot_cycle;
    if (steps > NOC_PERIOD_LIMIT || rhythm->snapshot_cycle + 1 < router->clean_since) {
        take_snapshot(site, rhythm);
        return;
    }
    assert(router->calm_since <= rhythm->snapshot_cycle + 1);
    unsigned period = (unsigned)steps;
    if (same_sets(site, rhythm) && patterns_divide(site, period)) {
        uint64_t tails = tails_limit(site, rhythm, period),
                 drift = counters_limit(site->mesh, site->node, period);
        uint64_t periods = tails < drift ? tails : drift;
        if (periods > 0) {
            rhythm->snapshot_cycle = NOC_NO_SNAPSHOT;
            router->planned = periods == UINT64_MAX ? periods : site->cycle + 1 + periods * period;
            router->period = (uint8_t)period;
            return;
        }
    }
    if (period == NOC_PERIOD_LIMIT)
        take_snapshot(site, rhythm);
}

static bool busy(const struct noc_site *site)
{
    const struct noc_router *router = site->router;
    uint64_t busy = router->grants | router->carries.flit_streams | router->carries.credit_streams;
    for (unsigned word = 0; word < site->mesh->words; word++)
        busy |= router->sets[word].filled;
    return busy != 0;
}

bool pim_noc_plan_calm(struct pim_noc *noc, uint32_t node, uint64_t cycle, struct noc_calm step)
{
    struct noc_mesh *mesh = noc->mesh;
    struct noc_router *router = pim_noc_router(mesh, node);
    struct noc_site site = {.noc = noc, .mesh = mesh, .router = router, .cycle = cycle, .node = node};
    bool stepped = noc->configuration.step_every_cycle;
    if (stepped && busy(&site)) {
        router->calm_since = router->clean_since = cycle + 1;
        return true;
    }
    if (step.read_change | step.wrote_change)
        router->clean_since = cycle + 1;
    struct noc_rhythm *rhythm = &mesh->rhythms[node];
    record(&site, rhythm);
    const struct noc_activity *carries = &router->carries;
    bool patterns = carries->flit_repeats | carries->flit_out_repeats | carries->credit_repeats |
                    carries->credit_out_repeats;
    if (step.same && !patterns) {
        uint64_t difference = first_difference(mesh, node, cycle);
        router->planned = difference > cycle ? difference : cycle + 1;
    } else if (!stepped) {
        plan_period(&site, rhythm, patterns, step.wrote_change);
    }
    if (router->planned == cycle + 1)
        return true;
    pim_noc_enter(mesh, node, cycle);
    return false;
}

/*
 * A saturated round, pass by pass: round_cost.h.
 *
 * Every core has a clock: when the last MVM of its next pass starts. A pass moves it on: MVMs, sums in the
 * core, messages in their order, bias and activations behind them. Passes between two marks, the begins and
 * ends of layers, are alike: two of them are gone through, the rest takes as long as the second. A layer that
 * waits for others of its group begins with a barrier over the cores of both.
 */
#include "mappers/pimcomp/cost/round_cost.h"

#include "mappers/machine/core_times.h"
#include "sim/integer.h"

#include <assert.h>
#include <string.h>

/* TRIALS: passes that are gone through after a change before one stands for the rest */
enum { WHOLE = 1024, STRETCHES = 32, TRIALS = 2 };

enum pim_status pim_round_cost_make(const struct pim_core_costs *costs, struct pim_arena *arena,
                                    struct pim_round_cost **result, struct pim_error *error)
{
    size_t layers = costs->network->count, cores = costs->architecture->cores;
    struct pim_round_cost *r = *result = PIM_ARENA_NEW(arena, struct pim_round_cost);
    uint32_t words = (uint32_t)(cores + 63) / 64;
    *r = (struct pim_round_cost){
        .layer = PIM_ARENA_ARRAY(arena, struct pim_round_cost_layer, layers),
        .chain = PIM_ARENA_ARRAY(arena, struct pim_chain_layer, layers),
        .portion = PIM_ARENA_ARRAY(arena, struct pim_round_cost_portion, cores * costs->room),
        .chunks = PIM_ARENA_ARRAY(arena, uint64_t, cores),
        .own = PIM_ARENA_ARRAY(arena, uint32_t, cores * costs->room),
        .message = PIM_ARENA_ARRAY(arena, struct pim_round_cost_message, cores * costs->room),
        .core = PIM_ARENA_ARRAY(arena, struct pim_round_cost_core, cores),
        .member = PIM_ARENA_ARRAY(arena, uint64_t, layers * words),
        .marked = PIM_ARENA_ARRAY(arena, uint64_t, words),
        .words = words,
        .list = PIM_ARENA_ARRAY(arena, uint32_t, cores),
        .mark = PIM_ARENA_ARRAY(arena, uint64_t, 2 * layers + 2),
        .memory = PIM_ARENA_ARRAY(arena, uint64_t, costs->chips),
        .bytes = PIM_ARENA_ARRAY(arena, uint64_t, costs->chips),
        .loads = PIM_ARENA_ARRAY(arena, uint64_t, costs->chips),
        .starts = PIM_ARENA_ARRAY(arena, uint64_t, costs->chips),
    };
    if (r->layer && r->chain && r->portion && r->own && r->chunks && r->message && r->core && r->member &&
        r->marked && r->list && r->mark && r->memory && r->bytes && r->loads && r->starts)
        return PIM_OK;
    return pim_fail(error, PIM_NO_MEMORY, "no memory to estimate layouts of %zu layers", layers);
}

/* --- layers begin and end --- */

/* A core begins or ends work. */
static void change(struct pim_round_cost_core *core, const struct pim_round_cost_work *by, bool begins)
{
    core->changed = true;
    pim_core_add_counts(&core->now, by, sizeof *by, begins ? 1 : UINT64_MAX); /* -1 */
}

static bool has_passes(const struct pim_core_costs *costs, const struct pim_round_cost *r, uint32_t i)
{
    return r->chain[i].scheduled && (costs->layer[i].matrix || r->chain[i].chained);
}

/* Cores of a vector layer: what one does in a pass. */
static struct pim_round_cost_work vector_work(const struct pim_core_costs *costs,
                                              const struct pim_round_cost *r, uint32_t index)
{
    const struct pim_round_cost_layer *layer = &r->layer[index];
    const struct pim_core_cost *cost = &costs->layer[index];
    uint64_t parts = layer->portions * r->chain[index].passes;
    uint64_t port = pim_divide_up(cost->windows * (cost->finish_beats + cost->load_beats), parts);
    uint64_t vector = pim_divide_up(cost->windows * cost->finish_cycles, parts);
    return (struct pim_round_cost_work){
        .others = 4 * PIM_PART,
        .port = port,
        .ends = pim_larger(vector, port),
        .bytes = pim_divide_up(cost->windows * (cost->new_bytes + cost->pixel_bytes), parts)};
}

static void change_vector(const struct pim_core_costs *costs, struct pim_round_cost *r, uint32_t index,
                          bool begins)
{
    const uint64_t *bits = r->member + (size_t)index * r->words;
    const struct pim_core_architecture *a = costs->architecture;
    struct pim_round_cost_work work = vector_work(costs, r, index);
    uint64_t wait = a->global_read_cycles + pim_divide_up(work.bytes, a->global_bytes_per_cycle);
    for (uint32_t core = 0; core < a->cores; core++) {
        if (!(bits[core / 64] >> core % 64 & 1))
            continue;
        change(&r->core[core], &work, begins);
        r->core[core].wait += begins ? wait : -wait;
    }
}

static void change_layer(const struct pim_core_costs *costs, struct pim_round_cost *r, uint32_t index,
                         bool begins)
{
    const struct pim_round_cost_layer *layer = &r->layer[index];
    if (!costs->layer[index].matrix) {
        change_vector(costs, r, index, begins);
        return;
    }
    for (uint32_t s = layer->first; s < layer->next; s++) {
        struct pim_round_cost_portion *portion = &r->portion[s];
        struct pim_round_cost_core *core = &r->core[portion->core];
        portion->works = begins;
        change(core, &portion->work, begins);
        core->trip = begins ? pim_larger(core->trip, portion->trip) : 0;
        for (uint32_t i = core->first; i < core->next && !begins; i++)
            if (r->portion[r->own[i]].works)
                core->trip = pim_larger(core->trip, r->portion[r->own[i]].trip);
    }
}

/* The first windows of the layers that begin with pass `pass`: all of their cores ask at the same time. */
static void load_first(const struct pim_core_costs *costs, struct pim_round_cost *r, uint64_t pass)
{
    const struct pim_core_architecture *a = costs->architecture;
    memset(r->bytes, 0, costs->chips * sizeof *r->bytes);
    memset(r->loads, 0, costs->chips * sizeof *r->loads);
    memset(r->starts, 0, costs->chips * sizeof *r->starts);
    for (uint32_t core = 0; core < a->cores; core++)
        r->core[core].sums = 0; /* bytes, here */
    for (uint32_t i = 0; i < costs->network->count; i++) {
        const struct pim_round_cost_layer *layer = &r->layer[i];
        if (!has_passes(costs, r, i) || layer->begin != pass || !costs->layer[i].matrix)
            continue;
        for (uint32_t s = layer->first; s < layer->next; s++)
            r->core[r->portion[s].core].sums += r->portion[s].first_bytes;
    }
    for (uint32_t core = 0; core < a->cores; core++) {
        uint32_t chip = costs->chip[core];
        const struct pim_round_cost_core *c = &r->core[core];
        if (!c->sums)
            continue;
        r->bytes[chip] += c->sums;
        r->starts[chip] = r->loads[chip]++ ? pim_smaller(r->starts[chip], c->start) : c->start;
    }
    for (uint32_t core = 0; core < a->cores; core++) {
        uint32_t chip = costs->chip[core];
        struct pim_round_cost_core *c = &r->core[core];
        if (!c->sums)
            continue;
        uint64_t all = pim_divide_up(r->bytes[chip] * costs->memory_cycles, a->global_bytes_per_cycle);
        uint64_t part = all; /* of the server: with as many bytes as the others it is done with them */
        if (c->sums * r->loads[chip] < r->bytes[chip])
            part = all * (c->sums * r->loads[chip]) / r->bytes[chip];
        uint64_t from = pim_larger(r->memory[chip], r->starts[chip]);
        c->start = pim_larger(c->start, from + part) + a->global_read_cycles + c->now.inputs;
    }
    for (uint32_t chip = 0; chip < costs->chips; chip++)
        if (r->loads[chip])
            r->memory[chip] = pim_larger(r->memory[chip], r->starts[chip]) +
                              pim_divide_up(r->bytes[chip] * costs->memory_cycles, a->global_bytes_per_cycle);
}

/* --- barriers --- */

/* A tree of messages over the marked cores, up and down, once all of them have completed what they did. */
static void barrier(const struct pim_core_costs *costs, struct pim_round_cost *r)
{
    const struct pim_core_architecture *a = costs->architecture;
    uint64_t word = pim_time_reads(a, 1) + pim_time_read_latency(a) + pim_time_writes(a, 1) +
                    pim_time_write_latency(a) + 2;
    uint32_t count = 0;
    for (uint32_t core = 0; core < a->cores; core++)
        if (r->marked[core / 64] >> core % 64 & 1) {
            r->core[core].start = pim_larger(r->core[core].start, r->core[core].end);
            r->list[count++] = core;
        }
    for (uint32_t i = count; i-- > 1;) {
        uint32_t child = r->list[i], parent = r->list[(i - 1) / 2];
        uint64_t way = pim_round_cost_path(costs, child, parent) + word;
        r->core[parent].start = pim_larger(r->core[parent].start, r->core[child].start) + way;
    }
    for (uint32_t i = 1; i < count; i++) {
        uint32_t child = r->list[i], parent = r->list[(i - 1) / 2];
        uint64_t way = pim_round_cost_path(costs, parent, child) + word;
        r->core[child].start = r->core[parent].start + (i % 2 ? way : 2 * way);
    }
    for (uint32_t i = 0; i < count; i++) {
        struct pim_round_cost_core *core = &r->core[r->list[i]];
        core->send = core->receive = core->vector = core->end = core->start;
    }
}

/* Marks at all begins and at the end of the round, and at other ends, unless a mark follows closely: then the
 * layer counts up to that one. */
static void set_marks(const struct pim_core_costs *costs, struct pim_round_cost *r)
{
    uint64_t apart = r->passes / STRETCHES;
    r->marks = 0;
    pim_round_cost_mark(r->mark, &r->marks, 0);
    pim_round_cost_mark(r->mark, &r->marks, r->passes);
    for (uint32_t i = 0; i < costs->network->count; i++)
        if (has_passes(costs, r, i))
            pim_round_cost_mark(r->mark, &r->marks, r->layer[i].begin);
    for (uint32_t i = 0; i < costs->network->count; i++) {
        struct pim_round_cost_layer *layer = &r->layer[i];
        if (!has_passes(costs, r, i))
            continue;
        uint32_t at = 0;
        while (at + 1 < r->marks && r->mark[at] < layer->end)
            at++;
        if (r->mark[at] >= layer->end && r->mark[at] - layer->end < apart)
            layer->end = r->mark[at];
        else
            pim_round_cost_mark(r->mark, &r->marks, layer->end);
    }
}

/* Layers that begin or end with pass `pass`. */
static void turn(const struct pim_core_costs *costs, struct pim_round_cost *r, uint64_t pass)
{
    bool starts = false;
    memset(r->marked, 0, r->words * sizeof *r->marked);
    for (uint32_t i = 0; i < costs->network->count; i++) {
        const struct pim_round_cost_layer *layer = &r->layer[i];
        if (!has_passes(costs, r, i))
            continue;
        if (layer->end == pass)
            change_layer(costs, r, i, false);
        if (layer->begin != pass)
            continue;
        change_layer(costs, r, i, true);
        if (!layer->before)
            continue;
        starts = true;
        for (uint32_t k = 0; k < r->words; k++)
            r->marked[k] |= r->member[(size_t)i * r->words + k];
        for (uint32_t s = 0; s < costs->layer[i].sources; s++) {
            uint32_t from = costs->layer[i].source[s].layer;
            for (uint32_t k = 0; k < r->words && r->chain[from].group == r->chain[i].group; k++)
                r->marked[k] |= r->chain[from].scheduled ? r->member[(size_t)from * r->words + k] : 0;
        }
    }
    if (starts)
        barrier(costs, r);
    load_first(costs, r, pass);
}

/* --- a pass --- */

/*
 * How long what follows the MVMs of a pass keeps the next ones back. No more than `window` instructions are
 * in flight, from the oldest that is not complete on, so the last MVM of the j-th pass behind a batch starts
 * when so few of the instructions that end the batch are left that they, j - 1 whole passes and its own MVMs
 * fit. Of all j the first counts, or the last for which that matters.
 */
static void find_stall(const struct pim_core_architecture *a, struct pim_round_cost_core *c)
{
    const struct pim_round_cost_work *now = &c->now;
    uint64_t window = (uint64_t)a->window * PIM_PART;
    c->changed = false;
    c->matrix = 0;
    c->early_part = c->late_part = c->hidden = 0;
    c->batch = now->weight ? (now->batched + now->weight / 2) / now->weight : 1;
    uint64_t count = now->sums + (now->others - now->ahead - now->sums) * c->batch;
    if (now->mvms == 0)
        return;
    c->matrix = c->trip + (now->mvms <= window ? a->mvm_cycles : now->mvms * a->mvm_cycles / window);
    uint64_t room = window > now->mvms ? window - now->mvms : 0; /* beside the MVMs */
    if (count == 0)
        return;
    if (room < count)
        c->early_part = (count - room) * WHOLE / count;
    uint64_t pass = now->mvms + now->ahead + now->sums, last = 2 + room / pass;
    last = last < c->batch ? last : c->batch;
    uint64_t left = (last - 1) * pass < room ? room - (last - 1) * pass : 0;
    c->hidden = (last - 1) * a->mvm_cycles;
    if (left < count)
        c->late_part = (count - left) * WHOLE / count;
}

static void multiply(const struct pim_core_costs *costs, struct pim_round_cost *r)
{
    const struct pim_core_architecture *a = costs->architecture;
    for (uint32_t core = 0; core < a->cores; core++) {
        struct pim_round_cost_core *c = &r->core[core];
        if (c->now.others + c->now.mvms == 0)
            continue;
        if (c->changed)
            find_stall(a, c);
        c->done = c->start + c->matrix;
        c->sums = pim_larger(c->done, c->vector) + c->now.adds;
        if (!c->now.mvms)
            c->sums = pim_larger(c->sums, c->start + c->wait);
    }
}

/* Sums go to their homes, in the order of layers: a message takes both ends. */
static void pass_messages(const struct pim_core_costs *costs, struct pim_round_cost *r, uint64_t pass)
{
    const struct pim_core_architecture *a = costs->architecture;
    for (uint32_t i = 0; i < costs->network->count; i++) {
        const struct pim_round_cost_layer *layer = &r->layer[i];
        if (layer->begin > pass || layer->end <= pass || !costs->layer[i].matrix || !r->chain[i].scheduled)
            continue;
        for (uint32_t l = layer->first_link; l < layer->next_link; l++) {
            const struct pim_round_cost_message *m = &r->message[l];
            struct pim_round_cost_core *contributor = &r->core[m->contributor], *home = &r->core[m->home];
            uint64_t from = pim_larger(contributor->send, contributor->sums);
            if (a->synchronous) { /* a receive opens when the one before has met its send */
                from = pim_larger(from, home->receive + m->notice);
                home->receive = from;
            }
            contributor->send = from + m->bytes;
            home->sums = pim_larger(home->sums, from + m->bytes + m->way) + m->add;
        }
    }
}

static uint64_t stall(const struct pim_round_cost_core *c)
{
    if (c->early_part == 0 && c->late_part == 0)
        return 0;
    uint64_t tail = c->end - c->done, adds = c->now.adds;
    tail = adds + (tail > adds ? tail - adds : 0) * c->batch;
    uint64_t late = tail * c->late_part / WHOLE;
    late = late > c->hidden ? late - c->hidden : 0;
    uint64_t longest = pim_larger(tail * c->early_part / WHOLE, late);
    return longest == 0 || c->batch == 1 ? longest : longest / c->batch;
}

/* When the next pass of a core can start. */
static uint64_t next_start(const struct pim_core_costs *costs, const struct pim_round_cost *r,
                           struct pim_round_cost_core *c, uint64_t before)
{
    const struct pim_core_architecture *a = costs->architecture;
    if (a->in_order)
        return c->end + c->now.port;
    uint64_t held = stall(c), next = c->done + held + (held ? c->now.inputs : 0);
    uint64_t vector = c->now.adds + c->now.ends + r->side_vector, port = c->now.port + r->side_port;
    next = pim_larger(next, c->start + pim_larger(vector, port));
    return pim_larger(next, before);
}

static void move_on(const struct pim_core_costs *costs, struct pim_round_cost *r)
{
    const struct pim_core_architecture *a = costs->architecture;
    for (uint32_t chip = 0; chip < costs->chips; chip++)
        r->bytes[chip] = r->side_bytes;
    memset(r->loads, 0, costs->chips * sizeof *r->loads);
    memset(r->starts, 0, costs->chips * sizeof *r->starts);
    for (uint32_t core = 0; core < a->cores; core++) {
        const struct pim_round_cost_core *c = &r->core[core];
        if (!c->now.bytes)
            continue;
        r->bytes[costs->chip[core]] += c->now.bytes;
        r->starts[costs->chip[core]] += c->start;
        r->loads[costs->chip[core]]++;
    }
    for (uint32_t chip = 0; chip < costs->chips; chip++)
        if (r->loads[chip])
            r->memory[chip] = pim_larger(r->memory[chip], r->starts[chip] / r->loads[chip]) +
                              pim_divide_up(r->bytes[chip] * costs->memory_cycles, a->global_bytes_per_cycle);
    for (uint32_t core = 0; core < a->cores; core++) {
        struct pim_round_cost_core *c = &r->core[core];
        if (c->now.others + c->now.mvms == 0)
            continue;
        uint64_t before = c->end;
        c->vector = c->sums + c->now.ends;
        c->end = pim_larger(c->vector, c->send);
        uint64_t next = next_start(costs, r, c, before);
        c->alone = next - c->start;
        c->work += c->alone;
        if (c->now.bytes)
            next = pim_larger(next, r->memory[costs->chip[core]]);
        c->rate = next - c->start;
        c->start = next;
    }
}

/* `passes` more like the last one. Cores that exchange sums go at the speed of the slower. */
static void repeat(const struct pim_core_costs *costs, struct pim_round_cost *r, uint64_t passes,
                   uint64_t pass)
{
    uint32_t layers = costs->network->count;
    for (unsigned way = 0; way < 2; way++)
        for (uint32_t k = 0; k < layers; k++) {
            const struct pim_round_cost_layer *layer = &r->layer[way ? layers - 1 - k : k];
            if (layer->begin > pass || layer->end <= pass)
                continue;
            for (uint32_t l = layer->first_link; l < layer->next_link; l++) {
                struct pim_round_cost_core *contributor = &r->core[r->message[l].contributor],
                                           *home = &r->core[r->message[l].home];
                contributor->rate = home->rate = pim_larger(contributor->rate, home->rate);
            }
        }
    uint64_t slowest = 0;
    for (uint32_t core = 0; core < costs->architecture->cores; core++) {
        struct pim_round_cost_core *c = &r->core[core];
        if (c->now.others + c->now.mvms == 0)
            continue;
        uint64_t cycles = passes * c->rate;
        c->work += passes * c->alone;
        if (c->now.bytes) /* who asks nothing of the memory does not hold it up */
            slowest = pim_larger(slowest, cycles);
        c->start += cycles;
        c->end += cycles;
        c->send += cycles;
        c->receive += cycles;
        c->vector += cycles;
    }
    for (uint32_t chip = 0; chip < costs->chips; chip++)
        r->memory[chip] += slowest;
}

static void run_passes(const struct pim_core_costs *costs, struct pim_core_evaluation *w, uint64_t pass,
                       uint64_t passes)
{
    struct pim_round_cost *r = w->round;
    for (uint64_t i = 0; i < passes && i < TRIALS; i++) {
        multiply(costs, r);
        pass_messages(costs, r, pass);
        move_on(costs, r);
    }
    if (passes > TRIALS)
        repeat(costs, r, passes - TRIALS, pass);
}

static void finish(const struct pim_core_costs *costs, struct pim_core_evaluation *w)
{
    const struct pim_core_architecture *a = costs->architecture;
    struct pim_round_cost *r = w->round;
    memset(r->marked, 0xff, r->words * sizeof *r->marked);
    for (uint32_t core = 0; core < a->cores; core++) {
        const struct pim_round_cost_core *c = &r->core[core];
        r->memory[costs->chip[core]] +=
            c->late * r->late_bytes * costs->memory_cycles / a->global_bytes_per_cycle;
    }
    for (uint32_t core = 0; core < a->cores; core++) {
        struct pim_round_cost_core *c = &r->core[core];
        if (c->late)
            c->end = pim_larger(c->end + c->late * r->late_cycles, r->memory[costs->chip[core]]);
        w->result.spread += c->work / 1024 * (c->work / 1024);
        c->start = c->end + a->global_write_cycles;
    }
    barrier(costs, r);
    for (uint32_t core = 0; core < a->cores; core++)
        w->result.cycles = pim_larger(w->result.cycles, r->core[core].start);
}

void pim_round_cost(const struct pim_core_costs *costs, struct pim_core_evaluation *w,
                    const struct pim_core_portions *portions)
{
    struct pim_round_cost *r = w->round;
    pim_round_cost_prepare(costs, w, portions);
    set_marks(costs, r);
    memset(r->memory, 0, costs->chips * sizeof *r->memory);
    for (uint32_t m = 0; m + 1 < r->marks; m++) {
        turn(costs, r, r->mark[m]);
        run_passes(costs, w, r->mark[m], r->mark[m + 1] - r->mark[m]);
    }
    finish(costs, w);
    for (uint32_t i = 0; i < costs->network->count; i++) {
        uint64_t cycles = r->layer[i].steps * costs->architecture->mvm_cycles;
        w->result.spread += cycles / 1024 * (cycles / 1024);
    }
}

/*
 * One evaluation of a layout: estimate.h.
 *
 * High throughput: round_cost.h.
 *
 * Low latency. A layer starts when its producers have made what its first window reads, and runs a window in
 * each replica in every round. Rounds of all cores go in step, by the pixels that they exchange. A round
 * takes as long as that of the core with the most work in layers that run at that time.
 */
#include "mappers/pimcomp/cost/round_cost.h"
#include "sim/integer.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum pim_status pim_core_evaluation_make(const struct pim_core_costs *costs, struct pim_arena *arena,
                                         struct pim_core_evaluation *w, struct pim_error *error)
{
    size_t layers = costs->network->count;
    *w = (struct pim_core_evaluation){
        .mark = PIM_ARENA_ARRAY(arena, uint64_t, 2 * layers + 2),
        .slowest = PIM_ARENA_ARRAY(arena, uint64_t, 2 * layers + 2),
        .change = PIM_ARENA_ARRAY(arena, int64_t, 2 * layers + 2),
        .behind = PIM_ARENA_ARRAY(arena, int64_t, 2 * layers + 2),
        .place = PIM_ARENA_ARRAY(arena, uint32_t, 2 * layers),
        .work = PIM_ARENA_ARRAY(arena, uint64_t, layers),
        .replicas = PIM_ARENA_ARRAY(arena, uint32_t, layers),
        .homes = PIM_ARENA_ARRAY(arena, uint32_t, layers),
        .members = PIM_ARENA_ARRAY(arena, uint32_t, layers),
        .parts = PIM_ARENA_ARRAY(arena, uint32_t, layers),
        .first = PIM_ARENA_ARRAY(arena, uint64_t, layers),
        .last = PIM_ARENA_ARRAY(arena, uint64_t, layers),
        .away = PIM_ARENA_ARRAY(arena, uint64_t, layers),
    };
    if (w->mark && w->slowest && w->change && w->behind && w->place && w->work && w->replicas && w->homes &&
        w->members && w->parts && w->first && w->last && w->away)
        return costs->mode == PIM_CORE_HIGH_THROUGHPUT ? pim_round_cost_make(costs, arena, &w->round, error)
                                                       : PIM_OK;
    return pim_fail(error, PIM_NO_MEMORY, "no memory to estimate layouts of %zu layers", layers);
}

/* --- low latency --- */

/* What a core does in a round: MVMs, and cycles of its other engines. */
struct engines {
    uint64_t mvms, vector, send, receive;
};

/* Cores that a pixel goes to for a reader, whose windows replicas take in turn. */
static uint64_t destinations(const struct pim_core_evaluation *w, const struct pim_core_cost *reader,
                             uint32_t index, const struct pim_core_reach *reach)
{
    if (!reach->sent)
        return 0;
    if (!reader->matrix)
        return 1;
    if (w->replicas[index] == 0)
        return 0;
    /* Neighbouring windows of a row lie in neighbouring replicas: those of one core need it once. */
    uint64_t replicas = w->replicas[index], homes = pim_larger(w->homes[index], 1);
    uint64_t cores = reach->rows * (1 + pim_divide_up((reach->columns - 1) * homes, replicas));
    /* A replica on several cores: each needs the pixels at the kernel positions of its groups. */
    uint64_t apart = pim_divide_up(w->parts[index], replicas);
    cores *= apart < reader->position_groups ? apart : reader->position_groups;
    return cores < w->members[index] ? cores : w->members[index];
}

static void count_places(const struct pim_core_costs *costs, struct pim_core_evaluation *w,
                         const struct pim_core_portion *portion, uint32_t portions)
{
    size_t layers = costs->network->count;
    memset(w->homes, 0, layers * sizeof *w->homes);
    memset(w->members, 0, layers * sizeof *w->members);
    memset(w->parts, 0, layers * sizeof *w->parts);
    memset(w->away, 0, layers * sizeof *w->away);
    for (uint32_t i = 0; i < portions; i++) {
        w->homes[portion[i].layer] += portion[i].homes != 0;
        w->members[portion[i].layer]++;
        w->parts[portion[i].layer] += portion[i].replicas;
    }
    for (uint32_t i = 0; i < layers; i++) {
        const struct pim_core_cost *cost = &costs->layer[i];
        for (uint32_t s = 0; s < cost->sources; s++) {
            uint32_t from = cost->source[s].layer;
            if (!cost->matrix) /* it works on the cores of its producers */
                w->homes[i] = w->homes[from] > w->homes[i] ? w->homes[from] : w->homes[i];
            if (costs->layer[from].sources != 0)
                w->away[from] += destinations(w, cost, i, &cost->source[s]);
        }
    }
}

/* Rounds in which each layer makes its first and its last pixel. */
static void run_pipeline(const struct pim_core_costs *costs, struct pim_core_evaluation *w)
{
    for (uint32_t i = 0; i < costs->network->count; i++) {
        const struct pim_core_cost *cost = &costs->layer[i];
        uint64_t first = 0, last = 0;
        w->work[i] = 0;
        w->first[i] = w->last[i] = 0;
        if (cost->sources == 0)
            continue; /* an input: its pixels are there */
        for (uint32_t s = 0; s < cost->sources; s++) {
            const struct pim_core_reach *reach = &cost->source[s];
            uint64_t span = w->last[reach->layer] - w->first[reach->layer];
            uint64_t way = reach->sent && costs->layer[reach->layer].sources != 0;
            first =
                pim_larger(first, w->first[reach->layer] + span * (reach->first - 1) / reach->total + way);
            last = pim_larger(last, w->last[reach->layer] + way);
        }
        if (cost->matrix && w->replicas[i])
            w->work[i] = pim_divide_up(cost->windows, w->replicas[i]);
        w->first[i] = first;
        w->last[i] = pim_larger(last, first + (w->work[i] ? w->work[i] - 1 : 0));
        w->result.spread += w->last[i] * w->last[i];
    }
}

/* The first and last rounds of all matrix layers in order: mark[0] < mark[1] < ..; returns how many. place[2
 * i] and place[2 i + 1] are those of layer i: it runs from mark[place[2 i]] to mark[place[2 i + 1]]. */
static uint32_t mark_rounds(const struct pim_core_costs *costs, struct pim_core_evaluation *w)
{
    uint32_t marks = 0;
    for (uint32_t i = 0; i < costs->network->count; i++)
        for (unsigned end = 0; end < 2 && costs->layer[i].matrix; end++)
            pim_round_cost_mark(w->mark, &marks, end ? w->last[i] + 1 : w->first[i]);
    for (uint32_t i = 0; i < costs->network->count; i++)
        for (unsigned end = 0; end < 2 && costs->layer[i].matrix; end++) {
            uint64_t round = end ? w->last[i] + 1 : w->first[i];
            uint32_t low = 0, high = marks;
            while (high - low > 1) {
                uint32_t middle = (low + high) / 2;
                if (w->mark[middle] <= round)
                    low = middle;
                else
                    high = middle;
            }
            w->place[2 * i + end] = low;
        }
    return marks;
}

/* What a portion does in a round in which each of its replicas works a window, loads aside. */
static struct engines round_of(const struct pim_core_costs *costs, const struct pim_core_evaluation *w,
                               const struct pim_core_portion *portion)
{
    const struct pim_core_cost *cost = &costs->layer[portion->layer];
    uint64_t adds = portion->groups - portion->replicas + portion->sums_in;
    struct engines window = {.mvms = portion->groups,
                             .vector = adds * cost->add_cycles + portion->homes * cost->finish_cycles,
                             .send = portion->sums_out * cost->sum_cycles,
                             .receive = portion->sums_in * cost->sum_cycles};
    for (uint32_t s = 0; s < cost->sources; s++) {
        const struct pim_core_cost *from = &costs->layer[cost->source[s].layer];
        uint64_t pixels = from->windows * destinations(w, cost, portion->layer, &cost->source[s]);
        pixels = pim_divide_up(pixels, w->work[portion->layer] * pim_larger(w->members[portion->layer], 1));
        window.receive += pixels * from->pixel_cycles;
    }
    window.send += portion->homes * w->away[portion->layer] * cost->pixel_cycles;
    return window;
}

enum { FRACTION = 256 }; /* of an MVM */

/* Enters the portions of a core where they begin and end: in w->change MVMs, in w->behind cycles behind them.
 * */
static void enter_rounds(const struct pim_core_costs *costs, struct pim_core_evaluation *w, uint32_t marks,
                         const struct pim_core_portion *portion, uint32_t portions)
{
    struct engines total = {0};
    memset(w->change, 0, marks * sizeof *w->change);
    memset(w->behind, 0, marks * sizeof *w->behind);
    for (uint32_t i = 0; i < portions; i++) {
        uint32_t layer = portion[i].layer, begin = w->place[2 * layer], end = w->place[2 * layer + 1];
        struct engines window = round_of(costs, w, &portion[i]);
        /* A layer that waits for its inputs now and then has less to do in a round. */
        uint64_t rounds = w->last[layer] + 1 - w->first[layer], work = w->work[layer];
        int64_t mvms = (int64_t)pim_divide_up(window.mvms * FRACTION * work, rounds);
        int64_t behind =
            (int64_t)pim_divide_up((window.vector + pim_larger(window.send, window.receive)) * work, rounds);
        w->change[begin] += mvms;
        w->change[end] -= mvms;
        w->behind[begin] += behind;
        w->behind[end] -= behind;
        total.mvms += window.mvms * work;
        total.vector += window.vector * work;
        total.send += window.send * work;
        total.receive += window.receive * work;
    }
    uint64_t matrix =
        pim_divide_up(total.mvms * costs->architecture->mvm_cycles, costs->architecture->window);
    uint64_t sum = matrix + total.vector + pim_larger(total.send, total.receive);
    w->result.spread += sum / 1024 * (sum / 1024);
}

static void evaluate_pipeline(const struct pim_core_costs *costs, struct pim_core_evaluation *w,
                              const struct pim_core_portion *portion, const uint32_t *first)
{
    const struct pim_core_architecture *a = costs->architecture;
    uint64_t abreast = (uint64_t)a->window * FRACTION;
    count_places(costs, w, portion, first[a->cores]);
    run_pipeline(costs, w);
    uint32_t marks = mark_rounds(costs, w);
    memset(w->slowest, 0, marks * sizeof *w->slowest);
    for (uint32_t core = 0; core < a->cores; core++) {
        int64_t mvms = 0, behind = 0;
        if (first[core] == first[core + 1])
            continue;
        enter_rounds(costs, w, marks, portion + first[core], first[core + 1] - first[core]);
        for (uint32_t m = 0; m + 1 < marks; m++) {
            mvms += w->change[m];
            behind += w->behind[m];
            uint64_t together = a->in_order ? abreast : pim_larger((uint64_t)mvms, abreast);
            uint64_t parts =
                together * a->mvm_cycles + (uint64_t)behind * abreast; /* of a cycle: 1 / abreast */
            if (mvms > 0 && parts > w->slowest[m])
                w->slowest[m] = parts;
        }
    }
    for (uint32_t m = 0; m + 1 < marks; m++)
        w->result.cycles += (w->mark[m + 1] - w->mark[m]) *
                            pim_larger(costs->round_cycles, pim_divide_up(w->slowest[m], abreast));
}

void pim_core_evaluate(const struct pim_core_costs *costs, struct pim_core_evaluation *w,
                       const struct pim_core_portions *portions)
{
    w->result = (struct pim_core_estimate){0};
    if (costs->mode == PIM_CORE_HIGH_THROUGHPUT)
        pim_round_cost(costs, w, portions);
    else
        evaluate_pipeline(costs, w, portions->portion, portions->first);
}

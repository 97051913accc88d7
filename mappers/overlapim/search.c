#include "mappers/overlapim/search.h"

#include "mappers/nest/near.h"
#include "mappers/overlapim/ahead.h"
#include "mappers/overlapim/chain/chain.h"
#include "sim/integer.h"
#include "sim/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Candidates of a piece of work; draws until one fits; pieces between two looks whether to stop. */
enum { PIECE = 4, TRIES = 32, ROUND = 64 };

/* A local search: the part of the candidates (one of so many) that is drawn from the whole space, rounds of
 * the others, pieces of such a round at least, and the best so far near which they are. */
enum { WHOLE = 5, ROUNDS = 24, LEAST = 8, BEST = 12 };

PIM_NAMES(pim_objective_name, PIM_OBJECTIVE_MAP)

/* A neighbour with a fixed mapping; layer PIM_NONE: none. */
struct neighbour {
    uint32_t layer;
    bool consumer; /* the neighbour reads the layer */
    const struct pim_layer_mapping *mapping;
};

/* What a piece of work has found. */
struct piece {
    struct pim_layer_mapping best; /* valid 0: nothing fitted */
    uint64_t rows;                 /* the fewest that a refused candidate needed */
    struct pim_error error;
};

struct task {
    const struct pim_search_inputs *inputs;
    uint32_t layer;
    enum pim_objective objective;
    struct neighbour neighbour;
    struct pim_ahead *ahead;                  /* of that objective; else NULL */
    const struct pim_layer_mapping *mappings; /* of the layers before */
    struct piece *pieces;                     /* of a round */
    uint64_t first;                           /* the number of the first of them */
    struct pim_layer_mapping *best;           /* so far, the best first */
    unsigned found;                           /* of them, BEST at most */
    bool near;                                /* candidates are near these */
    bool stopped;
};

/* The end of the consumer, ready times by comparison; *left comparisons may still be made. */
static enum pim_status score_by_comparison(const struct pim_overlap_layer layers[2],
                                           const struct pim_schedule schedules[2],
                                           struct pim_overlap *overlap, enum pim_objective objective,
                                           uint64_t *left, uint64_t *score, struct pim_error *error)
{
    struct pim_ready *list = NULL;
    uint64_t count = overlap->data_spaces, now = 0;
    uint64_t pairs = count * layers[0].strides.steps * layers[0].strides.banks;
    *left -= pairs < *left ? pairs : *left;
    enum pim_status status = pim_overlap_list(overlap, &list, error);
    if (status == PIM_OK)
        status = pim_overlap_exhaustive(layers, 1, schedules, list, count, error);
    if (status == PIM_OK && objective == PIM_OBJECTIVE_TRANSFORM) {
        pim_overlap_sort(list, count);
        now = pim_overlap_rows_end(overlap, list);
    } else if (status == PIM_OK) {
        for (uint64_t i = 0; i < count;) {
            uint64_t step = list[i].step, ready = 0;
            for (; i < count && list[i].step == step; i++)
                ready = list[i].ready > ready ? list[i].ready : ready;
            now = (ready > now ? ready : now) + layers[1].latency;
        }
    }
    *score = now;
    free(list);
    return status;
}

/* The latency of a pair whose producer runs in lock step from 0. */
static enum pim_status score_pair(const struct pim_search_inputs *inputs, uint32_t producer,
                                  const struct pim_layer_mapping *first, uint32_t consumer,
                                  const struct pim_layer_mapping *second, enum pim_objective objective,
                                  uint64_t *left, uint64_t *score, struct pim_error *error)
{
    const struct pim_mapped_layer *to = &inputs->layers->layer[consumer];
    struct pim_overlap_layer layers[2];
    struct pim_overlap overlap;
    struct pim_link link = to->link[to->main];
    pim_chain_alone(&inputs->layers->layer[producer], first, &layers[0]);
    pim_chain_alone(to, second, &layers[1]);
    link.producer = 0;
    const struct pim_handover handover =
        pim_hand_over(inputs->machine, &first->cost, &second->cost, second->strides.steps,
                      (struct pim_way){pim_chain_unit(inputs, producer), pim_chain_unit(inputs, consumer)});
    link.transfer = handover.ready;
    link.head = pim_intake_head(inputs, consumer, &second->cost, to->main);
    layers[1].latency += handover.writing;
    layers[1].latency =
        pim_larger(layers[1].latency, pim_divide_up(handover.all_bus - handover.bus, second->strides.steps));
    layers[1].links = 1;
    layers[1].link = &link;
    const struct pim_schedule schedules[2] = {
        {.latency = layers[0].latency, .end = pim_overlap_sequential(&layers[0])}};
    enum pim_status status = pim_overlap_initialize(&overlap, layers, 1, schedules, error);
    if (status == PIM_OK && inputs->comparisons > 0)
        status = score_by_comparison(layers, schedules, &overlap, objective, left, score, error);
    else if (status == PIM_OK)
        status = objective == PIM_OBJECTIVE_TRANSFORM ? pim_overlap_transformed(&overlap, score, error)
                                                      : pim_overlap_lockstep(&overlap, score, error);
    if (status == PIM_OK && overlap.inputs_end > *score)
        *score = overlap.inputs_end;
    pim_overlap_terminate(&overlap);
    return status;
}

static enum pim_status score(const struct task *task, struct pim_layer_mapping *candidate, uint64_t *left,
                             struct pim_error *error)
{
    const struct neighbour *neighbour = &task->neighbour;
    if (task->ahead)
        return pim_ahead_score(task->ahead, task->mappings, task->layer, candidate, &candidate->score, error);
    if (task->objective == PIM_OBJECTIVE_ORIGINAL || neighbour->layer == PIM_NONE) {
        candidate->score = candidate->strides.steps * candidate->cost.total +
                           pim_chain_message(task->inputs, task->layer, &candidate->cost);
        return PIM_OK;
    }
    if (neighbour->consumer)
        return score_pair(task->inputs, task->layer, candidate, neighbour->layer, neighbour->mapping,
                          task->objective, left, &candidate->score, error);
    return score_pair(task->inputs, neighbour->layer, neighbour->mapping, task->layer, candidate,
                      task->objective, left, &candidate->score, error);
}

static uint64_t alone(const struct pim_layer_mapping *mapping)
{
    return mapping->strides.steps * mapping->cost.total;
}

static bool better(const struct pim_layer_mapping *one, const struct pim_layer_mapping *other)
{
    return one->score < other->score || (one->score == other->score && alone(one) < alone(other));
}

/* The whole space, or the one near some of the best so far. */
static void space_of_draw(const struct task *task, uint64_t number, struct pim_random *random,
                          struct pim_mapping_space *space)
{
    struct pim_mapping_space whole = task->inputs->spaces[task->layer];
    if (task->ahead && number % 2 == 1)
        pim_mapping_space_by_rows(&whole);
    if (task->near) { /* the better, the more often */
        const uint64_t among = pim_random_below(random, task->found) + 1;
        pim_mapping_space_near(&whole, &task->best[pim_random_below(random, among)].nest, random, space);
    } else {
        *space = whole;
    }
}

static bool is_known(const struct task *task, const struct pim_nest *nest)
{
    for (unsigned i = 0; task->near && i < task->found; i++) {
        if (pim_nest_like(nest, &task->best[i].nest))
            return true;
    }
    return false;
}

/* The numbers of a candidate: seeds near each other have no candidates in common. */
static void begin_candidate(const struct task *task, uint64_t number, struct pim_random *random)
{
    uint64_t state = (task->inputs->seed - 1) * UINT64_C(0x9e3779b97f4a7c15) + 1;
    state ^= ((uint64_t)task->layer << 40) ^ number;
    pim_random_initialize(random, pim_splitmix64(&state));
}

/* Candidate `number`; false when none of its draws fits. */
static bool draw(const struct task *task, uint64_t number, struct pim_layer_mapping *candidate,
                 uint64_t *rows)
{
    const struct pim_search_inputs *inputs = task->inputs;
    struct pim_random random;
    struct pim_mapping_space space;
    struct pim_error ignored = {PIM_OK, ""};
    begin_candidate(task, number, &random);
    for (unsigned try = 0; try < TRIES; try++) {
        if (try == 0 || task->near)
            space_of_draw(task, number, &random, &space);
        if (!pim_mapping_space_sample(&space, &random, &candidate->nest) ||
            is_known(task, &candidate->nest) ||
            pim_nest_derive(&inputs->layers->layer[task->layer].workload, &candidate->nest,
                            &candidate->strides, &ignored) != PIM_OK)
            continue;
        bool fits = pim_step_cost(inputs->machine, &inputs->layers->layer[task->layer], &space,
                                  &candidate->nest, &candidate->strides, &candidate->cost);
        if (fits && candidate->cost.total <= (PIM_OVERLAP_TIME >> 10) / candidate->strides.steps)
            return true;
        *rows = candidate->cost.rows < *rows ? candidate->cost.rows : *rows;
    }
    return false;
}

/* Candidates of a piece; all of them where what is left of the comparisons hangs on those before. */
static uint64_t piece_of(const struct pim_search_inputs *inputs)
{
    return inputs->comparisons > 0 ? inputs->budget : PIECE;
}

static void work(void *context, unsigned worker, uint64_t number_of_piece)
{
    struct task *task = context;
    struct piece *piece = &task->pieces[number_of_piece - task->first];
    struct pim_layer_mapping *best = &piece->best, candidate = {.valid = 0};
    uint64_t size = piece_of(task->inputs), last = (number_of_piece + 1) * size;
    uint64_t left = task->inputs->comparisons * task->inputs->budget;
    (void)worker;
    best->valid = 0;
    piece->rows = UINT64_MAX;
    piece->error.status = PIM_OK;
    for (uint64_t number = last - size; number < last && number < task->inputs->budget; number++) {
        if (best->valid > 0 && task->inputs->comparisons > 0 && left == 0)
            return;
        if (!draw(task, number, &candidate, &piece->rows))
            continue;
        if (score(task, &candidate, &left, &piece->error) != PIM_OK)
            return;
        uint64_t valid = best->valid + 1;
        if (best->valid == 0 || better(&candidate, best))
            *best = candidate;
        best->valid = valid;
    }
}

static enum pim_status nothing_fits(const struct task *task, uint64_t rows, struct pim_error *error)
{
    const struct pim_machine *machine = task->inputs->machine;
    const char *name = task->inputs->layers->layer[task->layer].name;
    if (rows == UINT64_MAX)
        return pim_fail(error, PIM_BAD_INPUT,
                        "layer %s: none of %" PRIu64 " candidates fits its constraints and %" PRIu64
                        " data spaces",
                        name, task->inputs->budget, task->inputs->spaces[task->layer].data_spaces);
    uint64_t channels = (rows + machine->rows - 1) / machine->rows * task->inputs->channels;
    const bool keeps_weights =
        task->inputs->layers->layer[task->layer].product && !task->inputs->spaces[task->layer].drop_weights;
    return pim_fail(
        error, PIM_BAD_INPUT,
        "layer %s needs %" PRIu64 " rows of a bank in the best of %" PRIu64 " candidates, there are %" PRIu32
        ": about %" PRIu64 " channels a layer would do (--channels-per-layer takes 1, 2 and 4)%s",
        name, rows, task->inputs->budget, machine->rows, channels,
        keeps_weights ? ", or weights that are not kept (drop weights, in a file of --constraints)" : "");
}

/* Takes a mapping among the best so far; of equal ones, those that came first. */
static void admit(struct task *task, const struct pim_layer_mapping *mapping)
{
    unsigned place = task->found;
    for (unsigned i = 0; i < task->found; i++) {
        if (task->best[i].score == mapping->score && alone(&task->best[i]) == alone(mapping))
            return;
    }
    while (place > 0 && better(mapping, &task->best[place - 1]))
        place--;
    if (place == BEST)
        return;
    task->found += task->found < BEST;
    memmove(&task->best[place + 1], &task->best[place], (task->found - 1 - place) * sizeof *task->best);
    task->best[place] = *mapping;
}

/* Pieces of the next round of `pieces`, of which `done` are done; whether they are near the best so far. */
static uint64_t round_of(struct task *task, uint64_t pieces, uint64_t done)
{
    const uint64_t whole = task->inputs->random ? pieces : pim_divide_up(pieces, WHOLE);
    task->near = done >= whole && task->found > 0;
    if (task->near)
        return pim_smaller(pim_smaller(pim_larger(pieces / ROUNDS, LEAST), ROUND), pieces - done);
    return pim_smaller(ROUND, (done < whole ? whole : pieces) - done);
}

/* Looks at all candidates, or, when the search is stopped, at some, but until one fits. */
static enum pim_status look(struct task *task, struct pim_layer_mapping *chosen, uint64_t *rows,
                            struct pim_error *error)
{
    const struct pim_search_inputs *inputs = task->inputs;
    const uint64_t pieces = pim_divide_up(inputs->budget, piece_of(inputs));
    uint64_t valid = 0, done = 0;
    *rows = UINT64_MAX;
    task->found = 0;
    while (done < pieces && !(task->stopped && task->found > 0)) {
        const uint64_t next = done + round_of(task, pieces, done);
        task->first = done;
        pim_workers_run(inputs->workers, work, task, done, next);
        task->stopped = task->stopped || (next < pieces && inputs->stop && inputs->stop(inputs->context));
        for (const struct piece *piece = task->pieces; done < next; piece++, done++) {
            if (piece->error.status != PIM_OK) {
                *error = piece->error;
                return pim_fail_in(error, "layer %s", inputs->layers->layer[task->layer].name);
            }
            *rows = pim_smaller(*rows, piece->rows);
            valid += piece->best.valid;
            if (piece->best.valid > 0)
                admit(task, &piece->best);
        }
    }
    if (task->found > 0)
        *chosen = task->best[0];
    chosen->valid = valid;
    chosen->drawn = pim_smaller(done * piece_of(inputs), inputs->budget);
    return PIM_OK;
}

/* What the neighbour takes at least, in lock step or transformed: rows for the data spaces that exist, which
 * are fewer than its steps where factors do not divide. */
static enum pim_status least_of_neighbour(const struct task *task, uint64_t *ticks, struct pim_error *error)
{
    const struct pim_layer_mapping *mapping = task->neighbour.mapping;
    uint64_t rows;
    enum pim_status status = pim_chain_rows(task->inputs, task->neighbour.layer, mapping, true, &rows, error);
    *ticks = rows * mapping->cost.total;
    return status;
}

static enum pim_status choose(struct task *task, struct pim_layer_mapping *chosen, struct pim_error *error)
{
    uint64_t rows;
    if (look(task, chosen, &rows, error) != PIM_OK)
        return error->status;
    if (chosen->valid == 0)
        return nothing_fits(task, rows, error);
    chosen->bound = pim_layer_bound(task->inputs->machine, &task->inputs->layers->layer[task->layer],
                                    task->inputs->channels);
    if (task->ahead || task->objective == PIM_OBJECTIVE_ORIGINAL || task->neighbour.layer == PIM_NONE)
        return PIM_OK;
    uint64_t least; /* the pair is never faster than the neighbour */
    if (least_of_neighbour(task, &least, error) != PIM_OK)
        return error->status;
    chosen->bound = least > chosen->bound ? least : chosen->bound;
    return PIM_OK;
}

uint32_t pim_search_first(const struct pim_mapped_layers *layers, enum pim_search_order order)
{
    uint64_t most = 0;
    uint32_t first = 0;
    if (order == PIM_ORDER_FORWARD)
        return 0;
    if (order == PIM_ORDER_BACKWARD)
        return layers->count - 1;
    for (uint32_t i = 0; i < layers->count; i++) {
        const uint32_t *size = layers->layer[i].workload.size;
        uint64_t value = (uint64_t)size[PIM_N] * size[PIM_P] * size[PIM_Q] * size[PIM_K];
        if (order == PIM_ORDER_MIDDLE_TOTAL)
            value *= size[PIM_C];
        if (layers->layer[i].product && value > most) {
            most = value;
            first = i;
        }
    }
    return first;
}

/* The first layer behind that reads this one as its main producer and has a mapping. */
static struct neighbour consumer_of(const struct pim_search_inputs *inputs, uint32_t layer,
                                    const struct pim_layer_mapping *mappings, const bool *fixed)
{
    for (uint32_t i = layer + 1; i < inputs->layers->count; i++) {
        const struct pim_mapped_layer *other = &inputs->layers->layer[i];
        if (fixed[i] && other->links > 0 && other->link[other->main].producer == layer)
            return (struct neighbour){i, true, &mappings[i]};
    }
    return (struct neighbour){PIM_NONE, false, NULL};
}

static struct neighbour producer_of(const struct pim_search_inputs *inputs, uint32_t layer,
                                    const struct pim_layer_mapping *mappings, const bool *fixed)
{
    const struct pim_mapped_layer *mapped = &inputs->layers->layer[layer];
    if (mapped->links == 0 || !fixed[mapped->link[mapped->main].producer])
        return (struct neighbour){PIM_NONE, false, NULL};
    uint32_t producer = mapped->link[mapped->main].producer;
    return (struct neighbour){producer, false, &mappings[producer]};
}

static enum pim_status run(struct task *task, struct pim_layer_mapping *mappings, bool *fixed,
                           struct pim_error *error)
{
    const struct pim_search_inputs *inputs = task->inputs;
    enum pim_search_order order = task->ahead ? PIM_ORDER_FORWARD : inputs->order;
    uint32_t count = inputs->layers->count, first = pim_search_first(inputs->layers, order);
    task->mappings = mappings;
    for (uint32_t i = 0; i < count; i++) {
        /* from the first one to the end, then from before it to the start */
        uint32_t layer = i < count - first ? first + i : count - 1 - i;
        bool forward = layer >= first;
        task->layer = layer;
        if (task->ahead)
            pim_ahead_begin(task->ahead, layer);
        task->neighbour = forward ? producer_of(inputs, layer, mappings, fixed)
                                  : consumer_of(inputs, layer, mappings, fixed);
        if (choose(task, &mappings[layer], error) != PIM_OK)
            return error->status;
        fixed[layer] = true;
        if (task->ahead && pim_ahead_fix(task->ahead, mappings, layer, error) != PIM_OK)
            return error->status;
        if (inputs->progress)
            inputs->progress(inputs->context, i + 1, count);
    }
    return PIM_OK;
}

enum pim_status pim_search_network(const struct pim_search_inputs *inputs, enum pim_objective objective,
                                   struct pim_layer_mapping *mappings, struct pim_error *error)
{
    struct task task = {.inputs = inputs,
                        .objective = objective,
                        .pieces = calloc(ROUND, sizeof *task.pieces),
                        .best = calloc(BEST, sizeof *task.best)};
    bool *fixed = calloc(inputs->layers->count, sizeof *fixed);
    struct pim_ahead ahead = {0};
    enum pim_status status =
        task.pieces && task.best && fixed
            ? PIM_OK
            : pim_fail(error, PIM_NO_MEMORY, "out of memory for the candidates of a layer");
    if (status == PIM_OK && objective == PIM_OBJECTIVE_AHEAD) {
        task.ahead = &ahead;
        status = pim_ahead_initialize(&ahead, inputs, error);
    }
    if (status == PIM_OK)
        status = run(&task, mappings, fixed, error);
    pim_ahead_terminate(&ahead);
    free(task.pieces);
    free(task.best);
    free(fixed);
    return status;
}

#include "mappers/overlapim/search.h"

#include "mappers/overlapim/ahead.h"
#include "mappers/overlapim/chain/chain.h"
#include "sim/integer.h"
#include "sim/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Candidates of a piece of work; draws until one fits; pieces between two looks at whether to stop. */
enum { PIECE = 16, TRIES = 32, ROUND = 16 };

PIM_NAMES(pim_objective_name, PIM_OBJECTIVE_MAP)

/* A neighbour with a fixed mapping; layer PIM_NONE: none. */
struct neighbour {
    uint32_t layer;
    bool consumer; /* the neighbour reads the layer */
    const struct pim_layer_mapping *mapping;
};

struct task {
    const struct pim_search_inputs *inputs;
    uint32_t layer;
    enum pim_objective objective;
    struct neighbour neighbour;
    struct pim_ahead *ahead;                  /* of that objective; else NULL */
    const struct pim_layer_mapping *mappings; /* of the layers before */
    struct pim_layer_mapping *best;           /* by piece; valid 0: nothing fitted */
    uint64_t *rows;                           /* by piece: the fewest rows that a refused candidate needed */
    struct pim_error *errors;                 /* by piece */
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

/* Candidate `number`; false when none of its draws fits. */
static bool draw(const struct task *task, uint64_t number, struct pim_layer_mapping *candidate,
                 uint64_t *rows)
{
    const struct pim_search_inputs *inputs = task->inputs;
    struct pim_random random;
    struct pim_mapping_space space = inputs->spaces[task->layer];
    struct pim_error ignored = {PIM_OK, ""};
    uint64_t state = inputs->seed ^ ((uint64_t)task->layer << 40) ^ number;
    pim_random_initialize(&random, pim_splitmix64(&state));
    if (task->ahead && number % 2 == 1)
        pim_mapping_space_by_rows(&space);
    for (unsigned try = 0; try < TRIES; try++) {
        if (!pim_mapping_space_sample(&space, &random, &candidate->nest) ||
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

static void work(void *context, unsigned worker, uint64_t piece)
{
    struct task *task = context;
    struct pim_layer_mapping *best = &task->best[piece], candidate = {.valid = 0};
    uint64_t size = piece_of(task->inputs), last = (piece + 1) * size;
    uint64_t left = task->inputs->comparisons * task->inputs->budget;
    (void)worker;
    best->valid = 0;
    task->rows[piece] = UINT64_MAX;
    task->errors[piece].status = PIM_OK;
    for (uint64_t number = piece * size; number < last && number < task->inputs->budget; number++) {
        if (best->valid > 0 && task->inputs->comparisons > 0 && left == 0)
            return;
        if (!draw(task, number, &candidate, &task->rows[piece]))
            continue;
        if (score(task, &candidate, &left, &task->errors[piece]) != PIM_OK)
            return;
        uint64_t valid = best->valid + 1;
        if (best->valid == 0 || candidate.score < best->score ||
            (candidate.score == best->score && alone(&candidate) < alone(best)))
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

/* Looks at all candidates, or, when the search is stopped, at some, but until one fits. */
static enum pim_status look(struct task *task, struct pim_layer_mapping *chosen, uint64_t *rows,
                            struct pim_error *error)
{
    const struct pim_search_inputs *inputs = task->inputs;
    uint64_t pieces = (inputs->budget + piece_of(inputs) - 1) / piece_of(inputs), next = 0, piece = 0;
    const struct pim_layer_mapping *best = NULL;
    uint64_t valid = 0;
    *rows = UINT64_MAX;
    for (; piece < pieces && !(task->stopped && best && piece == next); piece++) {
        if (piece == next) {
            next = piece + ROUND < pieces ? piece + ROUND : pieces;
            pim_workers_run(inputs->workers, work, task, piece, next);
            task->stopped = task->stopped || (next < pieces && inputs->stop && inputs->stop(inputs->context));
        }
        const struct pim_layer_mapping *mapping = &task->best[piece];
        if (task->errors[piece].status != PIM_OK) {
            *error = task->errors[piece];
            return pim_fail_in(error, "layer %s", inputs->layers->layer[task->layer].name);
        }
        *rows = task->rows[piece] < *rows ? task->rows[piece] : *rows;
        valid += mapping->valid;
        if (mapping->valid > 0 && (!best || mapping->score < best->score ||
                                   (mapping->score == best->score && alone(mapping) < alone(best))))
            best = mapping;
    }
    if (best)
        *chosen = *best;
    chosen->valid = valid;
    chosen->drawn = piece * piece_of(inputs) < inputs->budget ? piece * piece_of(inputs) : inputs->budget;
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
    uint64_t pieces = (inputs->budget + piece_of(inputs) - 1) / piece_of(inputs);
    struct task task = {.inputs = inputs,
                        .objective = objective,
                        .best = calloc(pieces, sizeof *task.best),
                        .rows = calloc(pieces, sizeof *task.rows),
                        .errors = calloc(pieces, sizeof *task.errors)};
    bool *fixed = calloc(inputs->layers->count, sizeof *fixed);
    struct pim_ahead ahead = {0};
    enum pim_status status =
        task.best && task.rows && task.errors && fixed
            ? PIM_OK
            : pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu64 " candidates", inputs->budget);
    if (status == PIM_OK && objective == PIM_OBJECTIVE_AHEAD) {
        task.ahead = &ahead;
        status = pim_ahead_initialize(&ahead, inputs, error);
    }
    if (status == PIM_OK)
        status = run(&task, mappings, fixed, error);
    pim_ahead_terminate(&ahead);
    free(task.best);
    free(task.rows);
    free(task.errors);
    free(fixed);
    return status;
}

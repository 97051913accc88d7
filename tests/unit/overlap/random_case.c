#include "tests/unit/overlap/random_case.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static uint32_t between(struct pim_random *random, uint32_t first, uint32_t last)
{
    return (uint32_t)pim_random_between(random, first, last);
}

static void add_loops(struct pim_random *random, unsigned dimension, uint32_t size, bool imperfect,
                      struct pim_nest *nest)
{
    uint32_t covered = 1;
    while (covered < size) {
        uint32_t rest = (size + covered - 1) / covered, count = between(random, 2, rest < 2 ? 2 : rest);
        if (!imperfect) {
            while (rest % count != 0 || size % (covered * count) != 0)
                count = count < rest ? count + 1 : 2;
        }
        if ((count - 1) * covered >= size)
            count = (size + covered - 1) / covered;
        nest->loop[nest->loops++] = (struct pim_nest_loop){
            .dimension = (uint8_t)dimension, .spatial = pim_random_below(random, 3) == 0, .count = count};
        covered *= count;
    }
}

/* Every dimension from the inside out; then loops of different dimensions are mixed, those of one keep their
 * order. */
void random_nest(struct pim_random *random, const struct pim_workload *workload, bool imperfect,
                 struct pim_nest *nest)
{
    struct pim_nest by_dimension[PIM_DIMENSIONS] = {0};
    uint32_t left = 0;
    memset(nest, 0, sizeof *nest);
    for (unsigned d = 0; d < PIM_DIMENSIONS; d++) {
        add_loops(random, d, workload->size[d], imperfect, &by_dimension[d]);
        left += by_dimension[d].loops;
    }
    while (left > 0) { /* outermost first: the last loop made of a dimension */
        unsigned d = between(random, 0, PIM_DIMENSIONS - 1);
        if (by_dimension[d].loops == 0)
            continue;
        nest->loop[nest->loops++] = by_dimension[d].loop[--by_dimension[d].loops];
        left--;
    }
    nest->cut = between(random, 0, nest->loops);
}

static void random_windows(struct pim_random *random, struct pim_workload *workload)
{
    for (unsigned axis = 0; axis < 2; axis++) {
        workload->size[PIM_R + axis] = between(random, 1, 3);
        workload->stride[axis] = between(random, 1, 2);
        workload->padding[axis] = between(random, 0, 2);
        workload->dilation[axis] = between(random, 1, 2);
    }
}

static void random_consumer(struct pim_random *random, const struct pim_workload *from, struct pim_link *link,
                            struct pim_workload *to)
{
    unsigned kind = (unsigned)pim_random_below(random, 8);
    to->size[PIM_N] = from->size[PIM_N];
    to->size[PIM_K] = between(random, 1, 4);
    to->size[PIM_P] = between(random, 1, 6);
    to->size[PIM_Q] = between(random, 1, 4);
    random_windows(random, to);
    if (kind < 2 && from->size[PIM_P] > 1 && from->size[PIM_Q] > 1) {
        link->pool_kernel = between(random, 1, 2);
        link->pool_stride = between(random, 1, 2);
        link->pool_padding = link->pool_kernel > 1 ? between(random, 0, 1) : 0;
    }
    if (kind == 2 || (kind == 0 && pim_random_below(random, 2) == 0)) {
        uint32_t ones[] = {PIM_P, PIM_Q, PIM_R, PIM_S};
        for (unsigned i = 0; i < 4; i++)
            to->size[ones[i]] = 1;
        link->flatten = true;
        if (link->pool_stride > link->pool_kernel) /* hulls of gaps differ from row to row */
            link->pool_stride = link->pool_kernel;
        to->size[PIM_C] = from->size[PIM_K] * pim_link_pooled(link, from, 0) * pim_link_pooled(link, from, 1);
    } else if (kind == 3) { /* depthwise, or groups of one input channel */
        to->groups = from->size[PIM_K];
        to->size[PIM_C] = 1;
        to->size[PIM_K] = to->groups * between(random, 1, 2);
    } else
        to->size[PIM_C] = from->size[PIM_K];
}

void random_pair(struct pim_random *random, struct pim_case *kase)
{
    memset(kase, 0, sizeof *kase);
    kase->layers = 2;
    kase->layer = calloc(2, sizeof *kase->layer);
    ck_assert_ptr_nonnull(kase->layer);
    for (unsigned i = 0; i < 2; i++) {
        pim_overlap_layer_initialize(&kase->layer[i]);
        (void)snprintf(kase->layer[i].name, PIM_NEST_NAME, "layer%u", i);
        kase->layer[i].latency = between(random, 1, 9);
    }
    struct pim_workload *from = &kase->layer[0].workload, *to = &kase->layer[1].workload;
    static const uint32_t most[PIM_DIMENSIONS] = {3, 4, 4, 8, 4, 2, 2};
    for (unsigned d = 0; d < PIM_DIMENSIONS; d++)
        from->size[d] = between(random, 1, most[d]);
    from->size[PIM_N] = pim_random_below(random, 3) == 0 ? from->size[PIM_N] : 1;
    kase->layer[1].links = 1;
    kase->layer[1].link = calloc(1, sizeof *kase->layer[1].link);
    ck_assert_ptr_nonnull(kase->layer[1].link);
    kase->layer[1].link->transfer = between(random, 0, 5);
    kase->layer[1].link->head = between(random, 0, 2) == 0 ? between(random, 0, 12) : 0;
    random_consumer(random, from, kase->layer[1].link, to);
    bool imperfect = pim_random_below(random, 3) == 0;
    for (uint32_t i = 0; i < 2; i++) {
        struct pim_error error = {PIM_OK, ""};
        random_nest(random, &kase->layer[i].workload, imperfect, &kase->layer[i].nest);
        ck_assert_msg(pim_overlap_layer_derive(kase->layer, i, &error) == PIM_OK, "%s", error.text);
    }
}

/* --- the oracle --- */

/* Loops of one kind as an odometer over a nest's index vector. */
enum part { STEP, BANK, INSIDE };

static bool in_part(const struct pim_nest *nest, uint32_t loop, enum part part)
{
    if (loop >= nest->cut)
        return part == INSIDE;
    return part == (nest->loop[loop].spatial ? BANK : STEP);
}

static bool advance(const struct pim_nest *nest, enum part part, uint32_t index[PIM_NEST_LOOPS])
{
    for (uint32_t i = nest->loops; i-- > 0;) {
        if (!in_part(nest, i, part))
            continue;
        if (++index[i] < nest->loop[i].count)
            return true;
        index[i] = 0;
    }
    return false;
}

/* The element of an index vector; false behind the end of a dimension. */
static bool element(const struct pim_overlap_layer *layer, const uint32_t index[PIM_NEST_LOOPS],
                    int64_t at[PIM_DIMENSIONS])
{
    memset(at, 0, PIM_DIMENSIONS * sizeof *at);
    for (uint32_t i = 0; i < layer->nest.loops; i++) {
        unsigned d = layer->nest.loop[i].dimension;
        at[d] = at[d] * layer->nest.loop[i].count + index[i];
    }
    for (unsigned d = 0; d < PIM_DIMENSIONS; d++) {
        if (at[d] >= layer->workload.size[d])
            return false;
    }
    return true;
}

struct finals {
    uint32_t size[4];
    int64_t *step;      /* of an element [N][K][P][Q] */
    uint64_t *step_end; /* by step */
    uint64_t end;
};

static size_t place(const struct finals *finals, int64_t n, int64_t k, int64_t p, int64_t q)
{
    return (size_t)(((n * finals->size[1] + k) * finals->size[2] + p) * finals->size[3] + q);
}

static void run_producer(const struct pim_overlap_layer *layer, struct finals *finals)
{
    const uint32_t *size = layer->workload.size;
    const uint32_t shape[4] = {size[PIM_N], size[PIM_K], size[PIM_P], size[PIM_Q]};
    memcpy(finals->size, shape, sizeof shape);
    finals->step = calloc((size_t)shape[0] * shape[1] * shape[2] * shape[3], sizeof *finals->step);
    finals->step_end = calloc(layer->strides.steps, sizeof *finals->step_end);
    ck_assert(finals->step && finals->step_end);
    uint32_t index[PIM_NEST_LOOPS] = {0};
    int64_t at[PIM_DIMENSIONS], step = 0;
    do {
        bool any = false;
        do {
            do {
                if (!element(layer, index, at))
                    continue;
                any = true;
                finals->step[place(finals, at[PIM_N], at[PIM_K], at[PIM_P], at[PIM_Q])] = step;
            } while (advance(&layer->nest, INSIDE, index));
        } while (advance(&layer->nest, BANK, index));
        finals->end += any ? layer->latency : 0;
        finals->step_end[step++] = finals->end;
    } while (advance(&layer->nest, STEP, index));
}

/* The hull that a data space reads along rows or columns, of the producer's output; empty: padding. */
static struct pim_interval hull(const struct pim_case *kase, unsigned axis, int64_t first, int64_t last)
{
    const struct pim_link *link = &kase->layer[1].link[0];
    int64_t size = kase->layer[0].workload.size[PIM_P + axis], kernel = link->pool_kernel;
    int64_t stride = link->pool_stride, padding = link->pool_padding;
    int64_t pooled = kernel ? (size + 2 * padding - kernel) / stride + 1 : size;
    first = first < 0 ? 0 : first;
    last = last >= pooled ? pooled - 1 : last;
    if (last < first || kernel == 0)
        return (struct pim_interval){first, last};
    first = first * stride - padding;
    last = last * stride - padding + kernel - 1;
    return (struct pim_interval){first < 0 ? 0 : first, last >= size ? size - 1 : last};
}

struct reach {
    struct pim_interval batch, channel, row, column; /* before clipping rows and columns */
};

static void widen(struct pim_interval *range, int64_t value)
{
    range->first = value < range->first ? value : range->first;
    range->last = value > range->last ? value : range->last;
}

static void visit(const struct pim_overlap_layer *layer, const int64_t at[PIM_DIMENSIONS],
                  struct reach *reach)
{
    const struct pim_workload *w = &layer->workload;
    int64_t group = at[PIM_K] / (w->size[PIM_K] / w->groups);
    widen(&reach->batch, at[PIM_N]);
    widen(&reach->channel, group * w->size[PIM_C] + at[PIM_C]);
    widen(&reach->row, at[PIM_P] * w->stride[0] + at[PIM_R] * w->dilation[0] - w->padding[0]);
    widen(&reach->column, at[PIM_Q] * w->stride[1] + at[PIM_S] * w->dilation[1] - w->padding[1]);
}

static int64_t last_of(const struct finals *finals, int64_t n, struct pim_interval k, struct pim_interval p,
                       struct pim_interval q)
{
    int64_t last = -1;
    for (int64_t i = k.first; i <= k.last; i++) {
        for (int64_t j = p.first; j <= p.last; j++) {
            for (int64_t l = q.first; l <= q.last; l++) {
                int64_t step = finals->step[place(finals, n, i, j, l)];
                last = step > last ? step : last;
            }
        }
    }
    return last;
}

static int64_t needed(const struct pim_case *kase, const struct finals *finals, const struct reach *reach)
{
    const struct pim_link *link = &kase->layer[1].link[0];
    int64_t last = -1;
    for (int64_t n = reach->batch.first; n <= reach->batch.last; n++) {
        if (!link->flatten) {
            int64_t step =
                last_of(finals, n, reach->channel, hull(kase, 0, reach->row.first, reach->row.last),
                        hull(kase, 1, reach->column.first, reach->column.last));
            last = step > last ? step : last;
            continue;
        }
        int64_t rows = pim_link_pooled(link, &kase->layer[0].workload, 0);
        int64_t columns = pim_link_pooled(link, &kase->layer[0].workload, 1);
        for (int64_t c = reach->channel.first; c <= reach->channel.last; c++) {
            struct pim_interval k = {c / (rows * columns), c / (rows * columns)};
            int64_t row = c / columns % rows, column = c % columns;
            int64_t step = last_of(finals, n, k, hull(kase, 0, row, row), hull(kase, 1, column, column));
            last = step > last ? step : last;
        }
    }
    return last;
}

static void run_consumer(const struct pim_case *kase, const struct finals *finals, struct oracle *oracle)
{
    const struct pim_overlap_layer *layer = &kase->layer[1];
    uint32_t index[PIM_NEST_LOOPS] = {0};
    uint64_t step = 0;
    do {
        uint64_t bank = 0;
        do {
            struct pim_interval none = {INT64_MAX, INT64_MIN};
            struct reach reach = {none, none, none, none};
            int64_t at[PIM_DIMENSIONS];
            bool any = false;
            do {
                if (!element(layer, index, at))
                    continue;
                any = true;
                visit(layer, at, &reach);
            } while (advance(&layer->nest, INSIDE, index));
            if (any) {
                int64_t last = needed(kase, finals, &reach);
                uint64_t ready = last < 0 ? 0 : finals->step_end[last] + layer->link[0].transfer;
                ready -= ready < layer->link[0].head ? ready : layer->link[0].head;
                oracle->space[oracle->count++] = (struct oracle_space){step, bank, ready, last};
            }
            bank++;
        } while (advance(&layer->nest, BANK, index));
        step++;
    } while (advance(&layer->nest, STEP, index));
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static int by_ready(const void *a, const void *b)
{
    const struct oracle_space *first = a, *second = b;
    return first->ready < second->ready ? -1 : first->ready > second->ready;
}

static void run_schedules(const struct pim_overlap_layer *layer, struct oracle *oracle)
{
    uint64_t banks = layer->strides.banks, latency = layer->latency, now = 0;
    uint64_t *bank_end = calloc(banks, sizeof *bank_end);
    ck_assert_ptr_nonnull(bank_end);
    for (uint64_t i = 0; i < oracle->count;) {
        uint64_t ready = 0, first = i;
        for (; i < oracle->count && oracle->space[i].step == oracle->space[first].step; i++)
            ready = later(ready, oracle->space[i].ready);
        now = later(now, ready) + latency;
    }
    oracle->lockstep = later(now, oracle->producer_end);
    for (uint64_t i = 0; i < oracle->count; i++) {
        uint64_t *end = &bank_end[oracle->space[i].bank];
        *end = later(*end, oracle->space[i].ready) + latency;
        oracle->per_bank = later(oracle->per_bank, *end);
    }
    oracle->per_bank = later(oracle->per_bank, oracle->producer_end);
    struct oracle_space *sorted = malloc((oracle->count + 1) * sizeof *sorted);
    ck_assert_ptr_nonnull(sorted);
    memcpy(sorted, oracle->space, oracle->count * sizeof *sorted);
    qsort(sorted, oracle->count, sizeof *sorted, by_ready);
    now = 0;
    for (uint64_t j = 0; j < oracle->count; j++) { /* a row begins with its latest input: the last of it */
        if (j % banks == banks - 1 || j + 1 == oracle->count)
            now = later(now, sorted[j].ready) + latency;
    }
    oracle->transformed = now;
    oracle->transformed = later(oracle->transformed, oracle->producer_end);
    free(sorted);
    free(bank_end);
}

void oracle_run(const struct pim_case *kase, struct oracle *oracle)
{
    const struct pim_overlap_layer *layer = &kase->layer[1];
    struct finals finals = {0};
    memset(oracle, 0, sizeof *oracle);
    oracle->space = calloc(layer->strides.steps * layer->strides.banks, sizeof *oracle->space);
    ck_assert_ptr_nonnull(oracle->space);
    run_producer(&kase->layer[0], &finals);
    oracle->producer_end = finals.end;
    run_consumer(kase, &finals, oracle);
    run_schedules(layer, oracle);
    free(finals.step);
    free(finals.step_end);
}

void oracle_terminate(struct oracle *oracle)
{
    free(oracle->space);
}

/* --- the comparison --- */

static void check_schedules(struct pim_overlap *overlap, const struct oracle *oracle,
                            const struct pim_ready *list, uint64_t number)
{
    struct pim_error error = {PIM_OK, ""};
    uint64_t lockstep = 0, per_bank = 0, transformed = 0, end = overlap->inputs_end;
    ck_assert_msg(pim_overlap_lockstep(overlap, &lockstep, &error) == PIM_OK, "%s", error.text);
    ck_assert(pim_overlap_per_bank(overlap, list, &per_bank, &error) == PIM_OK);
    ck_assert(pim_overlap_transformed(overlap, &transformed, &error) == PIM_OK);
    ck_assert_msg(end == oracle->producer_end, "pair %" PRIu64 ": producer ends at %" PRIu64 ", not %" PRIu64,
                  number, end, oracle->producer_end);
    ck_assert_msg(later(lockstep, end) == oracle->lockstep, "pair %" PRIu64 ": lock step", number);
    ck_assert_msg(later(per_bank, end) == oracle->per_bank, "pair %" PRIu64 ": per bank", number);
    ck_assert_msg(later(transformed, end) == oracle->transformed, "pair %" PRIu64 ": transformed", number);
    struct pim_ready *sorted = malloc(overlap->data_spaces * sizeof *sorted);
    ck_assert_ptr_nonnull(sorted);
    memcpy(sorted, list, overlap->data_spaces * sizeof *sorted);
    pim_overlap_sort(sorted, overlap->data_spaces);
    ck_assert_msg(pim_overlap_rows_end(overlap, sorted) == transformed, "pair %" PRIu64 ": rows", number);
    free(sorted);
}

void check_pair(const struct pim_case *kase, uint64_t number)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_schedule schedules[2] = {0};
    struct pim_overlap first, overlap;
    struct pim_ready *list = NULL;
    struct oracle oracle;
    oracle_run(kase, &oracle);
    ck_assert(pim_overlap_initialize(&first, kase->layer, 0, schedules, &error) == PIM_OK);
    ck_assert_msg(pim_overlap_schedule(&first, false, &schedules[0], &error) == PIM_OK, "%s", error.text);
    ck_assert_msg(pim_overlap_initialize(&overlap, kase->layer, 1, schedules, &error) == PIM_OK, "%s",
                  error.text);
    ck_assert_msg(pim_overlap_list(&overlap, &list, &error) == PIM_OK, "%s", error.text);
    ck_assert_msg(overlap.data_spaces == oracle.count,
                  "pair %" PRIu64 ": %" PRIu64 " data spaces, the oracle has %" PRIu64, number,
                  overlap.data_spaces, oracle.count);
    for (uint64_t i = 0; i < oracle.count; i++) {
        const struct oracle_space *space = &oracle.space[i];
        ck_assert_msg(
            list[i].step == space->step && list[i].bank == space->bank && list[i].ready == space->ready,
            "pair %" PRIu64 ": step %" PRIu64 " bank %" PRIu64 " is ready at %" PRIu64
            ", the oracle says step %" PRIu64 " bank %" PRIu64 " at %" PRIu64,
            number, list[i].step, list[i].bank, list[i].ready, space->step, space->bank, space->ready);
    }
    check_schedules(&overlap, &oracle, list, number);
    free(list);
    pim_overlap_terminate(&overlap);
    pim_overlap_terminate(&first);
    pim_schedule_terminate(&schedules[0]);
    oracle_terminate(&oracle);
}

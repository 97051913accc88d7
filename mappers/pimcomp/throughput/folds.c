/*
 * Layers whose array groups have folds (unfoldings i_okk_1 and ik_ok_1 of Table IV): an input vector is
 * loaded and multiplied once, and its outputs are sums of several output pixels, one for each fold.
 *
 * A job is a range of rows of the input. Every row of the output belongs to the job in whose range the middle
 * of its kernel lies; the home of that job sums it up. A replica's sums of one vector stay together
 * ([column part][fold][column]); they go to the homes of the rows that they belong to, which add them fold by
 * fold. A row starts as the bias, or as zeros. Rows that only the job itself contributes to lie in a ring and
 * are stored when the vectors have passed their kernel; rows near the border between jobs have a place of
 * their own until the whole layer is complete.
 *
 * Invariant: a vector that serves no window is not multiplied (pim_round_is_busy).
 */
#include "mappers/pimcomp/throughput/maps.h"
#include "mappers/pimcomp/throughput/state.h"
#include "mappers/pimcomp/throughput/workers.h"
#include "sim/integer.h"
#include "sim/try.h"

#include <inttypes.h>

void pim_round_find_folds(struct pim_round_layer *layer)
{
    struct pim_round_window *w = &layer->window;
    layer->folds = pim_core_folds_of(layer->of, layer->part);
    if (layer->folds.count == 1)
        return;
    w->kernel[0] = w->stride[0] = w->dilation[0] = 1;
    w->pad[0] = 0;
    if (layer->folds.pixels) {
        w->kernel[1] = w->stride[1] = w->dilation[1] = 1;
        w->pad[1] = 0;
    }
    w->flat = w->kernel[1] == 1 && w->stride[1] == 1 && !w->pad[1];
    if (w->flat)
        w->output_width = w->width *= w->height;
    w->height = w->flat ? 1 : w->height;
}

/* --- geometry --- */

/* The row of the input that is nearest to one which may lie beyond it. */
static uint32_t nearest_row(const struct pim_core_layer *layer, int64_t row)
{
    if (row < 0)
        return 0;
    return row < layer->source[0].height ? (uint32_t)row : layer->source[0].height - 1;
}

/* The input row in the middle of the kernel of an output row. */
static uint32_t middle_of(const struct pim_core_layer *layer, uint32_t row)
{
    const struct pim_sliding *s = &layer->sliding;
    return nearest_row(layer,
                       pim_sliding_input(s, 0, row, 0) + (int64_t)(s->kernel[0] - 1) * s->dilation[0] / 2);
}

/* The last input row that an output row needs. */
static uint32_t last_input(const struct pim_core_layer *layer, uint32_t row)
{
    return nearest_row(layer, pim_sliding_last(&layer->sliding, 0, row));
}

/* --- jobs --- */

/* Gives the rows that other jobs contribute to a place, and counts how many others are under way at a time.
 * */
static enum pim_status find_borders(struct pim_round_job *job, uint32_t begin, uint32_t end)
{
    const struct pim_core_layer *layer = job->layer->of;
    const struct pim_sliding *s = &layer->sliding;
    job->border =
        PIM_ARENA_ARRAY(job->layer->schedule->arena, uint32_t, (size_t)(job->row_end - job->row_begin) + 1);
    PIM_NEED_MEMORY(job->border, job->layer->schedule->error, "no memory for the rows of %s", layer->name);
    uint32_t inside = 0;
    for (uint32_t row = job->row_begin; row < job->row_end; row++) {
        bool other = false;
        for (uint32_t tap = 0; tap < s->kernel[0]; tap++) {
            int64_t y = pim_sliding_input(s, 0, row, tap);
            other = other || (y >= 0 && y < layer->source[0].height && (y < begin || y >= end));
        }
        job->border[row - job->row_begin] = other ? job->borders++ : UINT32_MAX;
        inside += !other;
    }
    uint32_t across = job->layer->folds.across;
    uint32_t step_rows = (job->replicas + across - 2) / across + 1; /* that one step reaches into */
    uint64_t under_way = ((uint64_t)(s->kernel[0] - 1) * s->dilation[0] + step_rows) / s->stride[0] + 2;
    uint32_t owned = job->row_end - job->row_begin; /* with dilation border rows may lie between others */
    job->rows = !inside ? 0 : under_way < owned ? (uint32_t)under_way : owned;
    return PIM_OK;
}

enum pim_status pim_round_fold_job(struct pim_round_job *job, uint32_t before, uint32_t total)
{
    const struct pim_core_layer *layer = job->layer->of;
    uint64_t height = layer->source[0].height, across = job->layer->folds.across;
    uint32_t begin = (uint32_t)(height * before / total);
    uint32_t end = (uint32_t)(height * (before + job->replicas) / total);
    job->begin = (uint32_t)(begin * across);
    job->end = (uint32_t)(end * across);
    if (begin == end) {
        job->replicas = 0;
        return PIM_OK;
    }
    job->replicas = pim_smaller32(job->replicas, job->end - job->begin);
    job->row_begin = job->row_end = 0;
    while (job->row_begin < layer->height && middle_of(layer, job->row_begin) < begin)
        job->row_begin++;
    for (job->row_end = job->row_begin; job->row_end < layer->height && middle_of(layer, job->row_end) < end;)
        job->row_end++;
    return find_borders(job, begin, end);
}

static struct pim_round_job *owner_of(struct pim_round_layer *layer, uint32_t row)
{
    struct pim_round_job *job = layer->job;
    while (row < job->row_begin || row >= job->row_end)
        job++;
    return job;
}

/* --- rows of the output --- */

static uint64_t row_bytes(const struct pim_round_job *job)
{
    const struct pim_core_layer *layer = job->layer->of;
    return (uint64_t)layer->width * layer->channels * PIM_CORE_ELEMENT_BYTES;
}

uint64_t pim_round_fold_bytes(const struct pim_round_job *job)
{
    return ((uint64_t)job->rows + job->borders) * row_bytes(job);
}

static bool is_border(const struct pim_round_job *job, uint32_t row)
{
    return job->border[row - job->row_begin] != UINT32_MAX;
}

static uint64_t row_address(const struct pim_round_job *job, uint32_t row)
{
    uint64_t place = is_border(job, row) ? job->rows + job->border[row - job->row_begin] : row % job->rows;
    return job->worker->sum_rows + place * row_bytes(job);
}

static void open_row(const struct pim_round_job *job, uint32_t row)
{
    const struct pim_core_layer *layer = job->layer->of;
    uint64_t pixel = (uint64_t)layer->channels * PIM_CORE_ELEMENT_BYTES;
    uint64_t address = row_address(job, row);
    if (layer->bias)
        pim_core_emit_copy(job->emitter, job->home, address, job->worker->bias, pixel, layer->width, pixel,
                           0);
    else
        pim_core_emit_zeros(job->emitter, job->home, address, layer->width * pixel, 1, 0);
}

static void close_row(const struct pim_round_job *job, uint32_t row, uint32_t sample)
{
    const struct pim_core_layer *layer = job->layer->of;
    uint64_t address = row_address(job, row);
    pim_core_emit_afters(job->emitter, job->home, layer, address, layer->channels, layer->width);
    pim_round_put(job->layer, job->home, address, sample, (uint64_t)row * layer->width, 0,
                  (uint64_t)layer->channels * PIM_CORE_ELEMENT_BYTES, layer->width);
}

void pim_round_fold_begin(struct pim_round_job *job)
{
    if (job->step)
        return;
    job->next_open = job->next_close = job->row_begin;
    for (uint32_t row = job->row_begin; row < job->row_end; row++) {
        if (is_border(job, row))
            open_row(job, row);
    }
}

/* --- sums --- */

/* Sums of kernel rows [first, last] of one group that are at `address` in the home of `job`. */
struct arrived {
    struct pim_round_job *job;
    const struct pim_trace_array_group *group;
    uint32_t input;
    uint32_t first, last;
    uint64_t address;
};

static void add_tap(const struct arrived *a, uint32_t row, uint32_t column, uint64_t source)
{
    const struct pim_core_layer *layer = a->job->layer->of;
    uint64_t sum = row_address(a->job, row) +
                   ((uint64_t)column * layer->channels + a->group->column) * PIM_CORE_ELEMENT_BYTES;
    pim_core_emit_addition(a->job->emitter, a->job->home, sum, source, a->group->columns);
}

static void add_arrived(const struct arrived *a)
{
    const struct pim_core_layer *layer = a->job->layer->of;
    const struct pim_core_folds *folds = &a->job->layer->folds;
    uint32_t row, column;
    for (uint32_t i = a->first; i <= a->last; i++) {
        if (!pim_core_fold_row(layer, folds, a->input, i, &row))
            continue;
        for (uint32_t j = 0; j < folds->taps; j++) {
            uint64_t fold = (uint64_t)(i - a->first) * folds->taps + j;
            if (pim_core_fold_column(layer, folds, a->input, j, &column))
                add_tap(a, row, column, a->address + fold * a->group->columns * PIM_CORE_ELEMENT_BYTES);
        }
    }
}

/* Brings the sums of a group to the homes of their rows: neighbouring kernel rows of one home in one
 * message. */
static void deliver(const struct pim_round_worker *worker, const struct pim_trace_array_group *group,
                    uint32_t input, uint64_t sums)
{
    const struct pim_core_layer *layer = worker->layer->of;
    const struct pim_core_folds *folds = &worker->layer->folds;
    uint64_t tap_bytes = (uint64_t)folds->taps * group->columns * PIM_CORE_ELEMENT_BYTES;
    uint32_t taps = layer->sliding.kernel[0], row;
    for (uint32_t tap = 0; tap < taps;) {
        if (!pim_core_fold_row(layer, folds, input, tap, &row)) {
            tap++;
            continue;
        }
        struct arrived a = {.job = owner_of(worker->layer, row),
                            .group = group,
                            .input = input,
                            .first = tap,
                            .last = tap,
                            .address = sums + tap * tap_bytes};
        for (tap++; tap < taps; tap++) {
            if (!pim_core_fold_row(layer, folds, input, tap, &row))
                continue;
            if (owner_of(worker->layer, row) != a.job)
                break;
            a.last = tap;
        }
        struct pim_round_worker *home = a.job->worker;
        if (home->core != worker->core) {
            uint64_t to = home->receive + home->received++ % home->buffers.receives * home->receive_bytes;
            pim_core_emit_message(worker->emitter, worker->core, a.address, home->core, to,
                                  (a.last - a.first + 1) * tap_bytes);
            a.address = to;
        }
        add_arrived(&a);
    }
}

/* Begins the rows of the ring that inputs up to row `y` contribute to. */
static void open_rows(struct pim_round_job *job, uint32_t y)
{
    const struct pim_core_layer *layer = job->layer->of;
    for (; job->next_open < job->row_end; job->next_open++) {
        if (pim_sliding_input(&layer->sliding, 0, job->next_open, 0) > y)
            break;
        if (!is_border(job, job->next_open))
            open_row(job, job->next_open);
    }
}

void pim_round_fold_collect(struct pim_round_job *job)
{
    const struct pim_core_folds *folds = &job->layer->folds;
    uint32_t first = job->begin + job->step * job->replicas;
    uint32_t last = pim_smaller32(first + job->replicas, job->end) - 1;
    open_rows(job, last / folds->across);
    for (uint32_t i = 0; i < job->workers; i++) {
        const struct pim_round_worker *worker = &job->worker[i];
        for (uint32_t j = 0; j < worker->replicas; j++) {
            const struct pim_round_replica *replica = &worker->replica[j];
            uint64_t sums = worker->sum +
                            ((uint64_t)pim_round_turn(worker) * worker->replicas + j) * worker->replica_bytes;
            for (uint32_t k = 0; k < replica->groups && pim_round_is_busy(job, replica); k++) {
                if (replica->partial[k] == UINT32_MAX)
                    deliver(worker, &job->layer->part->group[replica->group[k]], first + replica->position,
                            sums + replica->sum[k]);
            }
        }
    }
}

void pim_round_fold_finish(struct pim_round_job *job, uint32_t sample)
{
    const struct pim_core_layer *layer = job->layer->of;
    uint32_t across = job->layer->folds.across;
    uint32_t next = job->begin + (job->step + 1) * job->replicas; /* the first input that is not done */
    bool ended = next >= job->end;
    if (ended)
        open_rows(job, UINT32_MAX);
    for (; job->next_close < job->next_open; job->next_close++) {
        if (!ended && last_input(layer, job->next_close) >= next / across)
            break;
        if (!is_border(job, job->next_close))
            close_row(job, job->next_close, sample);
    }
}

void pim_round_fold_close(struct pim_round_layer *layer, uint32_t sample)
{
    for (uint32_t i = 0; i < layer->jobs; i++) {
        const struct pim_round_job *job = &layer->job[i];
        for (uint32_t row = job->row_begin; row < job->row_end && layer->folds.count > 1; row++) {
            if (is_border(job, row))
                close_row(job, row, sample);
        }
    }
}

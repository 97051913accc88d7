/*
 * The local memory of every core: each worker starts with generous buffers; while they do not fit together,
 * one worker after another takes the next smaller choice (pim_round_shrink), the one that gave least so far
 * first, among those the one with the most bytes. Order of what is given up, cheapest first:
 *
 *  1. long store runs, a second store run;
 *  2. tiles loaded ahead;
 *  3. places for a second step's windows and partial sums, for several received sums, copies of the bias,
 *     messages that carry several replicas;
 *  4. whole rows: tiles of fewer and fewer windows, which load overlapping input again, and at last single
 *     windows.
 *
 * What is left is the area that pooling and element layers share.
 */
#include "mappers/pimcomp/throughput/elements.h"
#include "mappers/pimcomp/throughput/maps.h"
#include "mappers/pimcomp/throughput/state.h"
#include "mappers/pimcomp/throughput/workers.h"
#include "sim/integer.h"
#include "sim/try.h"

#include <inttypes.h>

enum { FLAT_BYTES = 4096, RECEIVES = 4, AREA_WANTED = 16384 };

static bool is_home(const struct pim_round_worker *worker)
{
    return worker == worker->job->worker;
}

/* Rows of a ring for the windows that a step has under way: of one window when they are gathered. */
static uint32_t ring_rows(const struct pim_round_window *w, const struct pim_round_worker *worker,
                          bool direct)
{
    uint32_t rows = pim_round_span(w, 0, worker->kernel_rows);
    uint32_t others = worker->job->replicas - 1;
    if (direct && others)
        rows += ((others - 1) / w->output_width + 1) * pim_round_step(w, 0);
    return rows;
}

/* Pixels that a ring, or tiles of whole rows, load for all windows of the job. */
static uint64_t ring_pixels(const struct pim_round_window *w, const struct pim_round_worker *worker)
{
    const struct pim_round_job *job = worker->job;
    uint64_t from = job->begin / w->output_width, to = (job->end - 1) / w->output_width;
    uint64_t columns = w->output_width, step = pim_round_step(w, 0);
    if (from == to)
        columns = job->end - job->begin;
    columns = (columns - 1) * pim_round_step(w, 1) + pim_round_span(w, 1, w->kernel[1]);
    uint64_t span = pim_round_span(w, 0, worker->kernel_rows), fresh = pim_smaller(step, span), unused = 0;
    if (from < to) /* columns of the first and the last rows */
        unused = job->begin % w->output_width + w->output_width - 1 - (job->end - 1) % w->output_width;
    return ((to - from) * fresh + span) * columns - fresh * unused * pim_round_step(w, 1);
}

static uint64_t tile_pixels(const struct pim_round_window *w, const struct pim_round_worker *worker)
{
    const struct pim_round_job *job = worker->job;
    uint64_t rows = (job->end - 1) / w->output_width - job->begin / w->output_width + 1;
    uint64_t overlap = (uint64_t)pim_round_span(w, 1, w->kernel[1]) - 1;
    return worker->kernel_rows * ((uint64_t)(job->end - job->begin) * pim_round_step(w, 1) + rows * overlap);
}

static void choose_input(struct pim_round_worker *worker)
{
    const struct pim_round_window *w = &worker->layer->window;
    const struct pim_round_job *job = worker->job;
    struct pim_round_buffers *buffers = &worker->buffers;
    uint32_t replicas = job->replicas, windows = job->end - job->begin;
    uint32_t row = windows < w->output_width ? windows : w->output_width;
    const struct pim_round_schedule *schedule = worker->layer->schedule;
    enum pim_core_reuse reuse = schedule->options->reuse;
    const struct pim_core_partition_layer *part = job->layer->part;
    bool windows_alone = part->unfolding == PIM_UNFOLDING_IKK_O_1 || part->unfolding == PIM_UNFOLDING_BLOCKS;
    bool ahead = !schedule->architecture->in_order;
    buffers->tiles = ahead ? 2 : 1;
    if (w->flat) {
        buffers->mode = PIM_ROUND_TILES_OF_WINDOWS;
        buffers->direct = true;
        uint64_t pixels = FLAT_BYTES / ((uint64_t)worker->channels * PIM_CORE_ELEMENT_BYTES);
        uint32_t steps = (uint32_t)pim_smaller((pixels + replicas - 1) / replicas, job->steps);
        buffers->segment = (steps ? steps : 1) * replicas;
        return;
    }
    buffers->segment = row;
    buffers->rows = ring_rows(w, worker, worker->contiguous);
    if (reuse == PIM_CORE_REUSE_NONE || (reuse == PIM_CORE_REUSE_UNFOLDING && windows_alone)) {
        buffers->segment = 1;
        buffers->tiles = 1;
        buffers->mode = pim_round_loads_windows(worker) ? PIM_ROUND_WINDOW : PIM_ROUND_TILES_OF_WINDOWS;
    } else if (reuse == PIM_CORE_REUSE_UNFOLDING || tile_pixels(w, worker) < ring_pixels(w, worker)) {
        buffers->mode = PIM_ROUND_TILES_OF_WINDOWS;
    } else {
        buffers->mode = PIM_ROUND_RING;
        buffers->direct = worker->contiguous;
    }
}

/* May the replicas of a worker that is not the home send their sums as one? They lie back to back; sums that
 * the home has nothing for yet go straight to their places there, which must lie back to back too. */
static bool is_uniform(const struct pim_round_worker *worker)
{
    const struct pim_round_piece *piece = worker->replica[0].piece;
    bool whole = piece->columns == worker->layer->of->channels;
    for (uint32_t i = 0; i < worker->replicas; i++) {
        const struct pim_round_replica *replica = &worker->replica[i];
        if (replica->pieces != 1 || replica->piece->column != piece->column ||
            replica->piece->columns != piece->columns || replica->piece->first != piece->first ||
            (piece->first && (!whole || worker->replicas != worker->job->replicas)))
            return false;
    }
    return true;
}

static void choose_batch(struct pim_round_job *job)
{
    uint64_t pixel = (uint64_t)job->layer->of->channels * PIM_CORE_ELEMENT_BYTES;
    job->batch = job->layer->folds.count > 1 ? 1 : pim_round_batch(pixel, job->replicas, job->steps);
}

static void choose(struct pim_round_worker *worker)
{
    const struct pim_round_job *job = worker->job;
    struct pim_round_buffers *buffers = &worker->buffers;
    bool ahead = !worker->layer->schedule->architecture->in_order;
    *buffers = (struct pim_round_buffers){.depth = ahead && job->steps > 1 ? 2 : 1};
    choose_input(worker);
    worker->uniform = is_uniform(worker);
    if (!is_home(worker))
        return;
    uint32_t batch = job->batch * job->replicas;
    uint32_t batches = (PIM_ROUND_STORE_PIXELS + batch - 1) / batch,
             all = (job->steps + job->batch - 1) / job->batch;
    buffers->run = (batches < all ? batches : all) * batch;
    buffers->runs = ahead && buffers->run < job->end - job->begin ? 2 : 1;
    if (job->layer->folds.count > 1) {
        buffers->runs = 1;
        buffers->run = job->replicas;
        buffers->receives = RECEIVES;
        buffers->biases = job->layer->of->bias;
        return;
    }
    buffers->merged = job->replicas > 1;
    buffers->receives = job->workers > 1 ? RECEIVES : 0;
    buffers->biases = job->layer->of->bias ? pim_smaller32(batch, PIM_ROUND_BIASES) : 0;
}

/* --- sizes --- */

/* Bytes of one received partial sum: the largest that comes. */
static uint64_t receive_bytes(const struct pim_round_job *job)
{
    uint64_t most = 0;
    for (uint32_t i = 1; i < job->workers; i++) {
        const struct pim_round_worker *worker = &job->worker[i];
        uint64_t replicas =
            job->worker->buffers.merged && worker->uniform ? (uint64_t)worker->replicas * job->batch : 1;
        uint64_t bytes = replicas * worker->sum_columns * PIM_CORE_ELEMENT_BYTES;
        most = bytes > most ? bytes : most;
    }
    return pim_round_words(most);
}

/* With folds: the largest sums of a group. */
static uint64_t fold_bytes(const struct pim_round_job *job)
{
    const struct pim_core_partition_layer *part = job->layer->part;
    uint64_t most = 0;
    for (uint32_t i = 0; i < part->groups; i++) {
        uint64_t bytes = (uint64_t)part->group[i].folds * part->group[i].columns * PIM_CORE_ELEMENT_BYTES;
        most = bytes > most ? bytes : most;
    }
    return pim_round_words(most);
}

/* Gives the worker's buffers addresses from `base` on; returns the end and sets worker->bytes. */
static uint64_t place_worker(struct pim_round_worker *worker, uint64_t base)
{
    const struct pim_round_buffers *buffers = &worker->buffers;
    const struct pim_round_job *job = worker->job;
    uint64_t pixel = (uint64_t)job->layer->of->channels * PIM_CORE_ELEMENT_BYTES;
    uint64_t end = pim_round_input_place(worker, base);
    worker->partial = pim_round_take(&end, (uint64_t)buffers->depth * worker->partials);
    if (job->layer->folds.count > 1) {
        worker->sum =
            pim_round_take(&end, (uint64_t)buffers->depth * worker->replicas * worker->replica_bytes);
        if (is_home(worker)) {
            worker->sum_rows = pim_round_take(&end, pim_round_fold_bytes(job));
            worker->bias = pim_round_take(&end, buffers->biases * pixel);
            worker->receive_bytes = fold_bytes(job);
            worker->receive = pim_round_take(&end, buffers->receives * worker->receive_bytes);
        }
    } else if (is_home(worker)) {
        worker->sum = pim_round_take(&end, (uint64_t)buffers->runs * buffers->run * pixel);
        worker->bias = pim_round_take(&end, buffers->biases * pixel);
        worker->receive_bytes = receive_bytes(job);
        worker->receive = pim_round_take(&end, buffers->receives * worker->receive_bytes);
    } else {
        worker->sum = pim_round_take(&end, (uint64_t)buffers->depth * job->batch * worker->replicas *
                                               worker->sum_columns * PIM_CORE_ELEMENT_BYTES);
    }
    worker->bytes = end - base;
    return end;
}

/* --- shrinking --- */

/* Lowers a count; false: it is as low already. */
static bool lower(uint32_t *count, uint32_t to)
{
    bool lowers = *count > to;
    *count = lowers ? to : *count;
    return lowers;
}

static bool shrink_home(struct pim_round_worker *worker)
{
    struct pim_round_buffers *buffers = &worker->buffers;
    uint32_t batch = worker->job->batch * worker->job->replicas;
    if (buffers->run <= batch)
        return lower(&buffers->runs, 1);
    buffers->run = (buffers->run / batch + 1) / 2 * batch;
    return true;
}

static bool shrink_steps(struct pim_round_worker *worker)
{
    struct pim_round_buffers *buffers = &worker->buffers;
    if (worker->job->batch > 1) { /* for all workers; those that are placed keep a little too much */
        struct pim_round_buffers *home = &worker->job->worker->buffers;
        worker->job->batch /= 2;
        home->run = is_home(worker) ? home->run / 2 : home->run;
        return true;
    }
    if (lower(&buffers->depth, 1) || lower(&buffers->receives, (buffers->receives + 1) / 2))
        return true;
    if (!buffers->merged)
        return lower(&buffers->biases, 1);
    buffers->merged = false;
    return true;
}

static bool shrink_input(struct pim_round_worker *worker)
{
    const struct pim_round_window *w = &worker->layer->window;
    struct pim_round_buffers *buffers = &worker->buffers;
    uint32_t least = w->flat ? worker->job->replicas : 1;
    if (buffers->mode == PIM_ROUND_RING) {
        if (buffers->direct) { /* rows of one window and a gathered one may take less */
            buffers->direct = false;
            buffers->rows = ring_rows(w, worker, false);
            return true;
        }
        buffers->mode = PIM_ROUND_TILES_OF_WINDOWS;
        buffers->tiles = 1;
    }
    if (buffers->mode == PIM_ROUND_WINDOW)
        return false;
    if (buffers->segment > least) {
        buffers->segment = (buffers->segment / least + 1) / 2 * least;
        return true;
    }
    if (w->flat || !pim_round_loads_windows(worker))
        return false;
    buffers->mode = PIM_ROUND_WINDOW;
    return true;
}

/* The next smaller choice; false: there is none. */
static bool shrink(struct pim_round_worker *worker)
{
    struct pim_round_buffers *buffers = &worker->buffers;
    worker->given++;
    if (is_home(worker) && shrink_home(worker))
        return true;
    if (buffers->mode == PIM_ROUND_TILES_OF_WINDOWS && lower(&buffers->tiles, 1))
        return true;
    return shrink_steps(worker) || shrink_input(worker);
}

/* --- cores --- */

static enum pim_status too_small(const struct pim_round_schedule *schedule, uint32_t core, uint64_t needed)
{
    const struct pim_round_worker *largest = NULL;
    for (uint32_t i = schedule->first[core]; i < schedule->first[core + 1]; i++) {
        if (!largest || schedule->worker[i]->bytes > largest->bytes)
            largest = schedule->worker[i];
    }
    return pim_fail(schedule->error, PIM_BAD_INPUT,
                    "core %" PRIu32 ": %s needs at least %" PRIu64 " bytes of local memory, all %" PRIu32
                    " layers' parts there %" PRIu64 ": core.local_memory_bytes is %" PRIu64,
                    core, largest ? largest->layer->of->name : "the barrier", largest ? largest->bytes : 0,
                    schedule->first[core + 1] - schedule->first[core], needed,
                    schedule->architecture->local_memory_bytes);
}

/* Makes the workers of a core fit `capacity` bytes; false when they cannot. *needed: what they take. */
static bool fit_core(const struct pim_round_schedule *schedule, uint32_t core, uint64_t capacity,
                     uint64_t *needed)
{
    uint32_t begin = schedule->first[core], end = schedule->first[core + 1];
    uint64_t total = PIM_ROUND_RESERVED;
    for (uint32_t i = begin; i < end; i++) {
        place_worker(schedule->worker[i], 0);
        total += schedule->worker[i]->bytes;
    }
    while (total > capacity) {
        struct pim_round_worker *next = NULL;
        for (uint32_t i = begin; i < end; i++) {
            struct pim_round_worker *worker = schedule->worker[i];
            if (!worker->smallest && (!next || worker->given < next->given ||
                                      (worker->given == next->given && worker->bytes > next->bytes)))
                next = worker;
        }
        if (!next)
            break;
        next->smallest = !shrink(next);
        total -= next->bytes;
        place_worker(next, 0);
        total += next->bytes;
    }
    *needed = total;
    return total <= capacity;
}

/* `wanted`: bytes for the shared area. */
static enum pim_status plan_core(struct pim_round_schedule *schedule, uint32_t index, uint64_t wanted)
{
    struct pim_round_core *core = &schedule->core[index];
    uint64_t capacity = pim_smaller(schedule->architecture->local_memory_bytes, UINT32_MAX - 8), needed;
    uint64_t resident = core->resident_bytes + 2 * core->gather_bytes;
    capacity -= pim_smaller(resident, capacity);
    bool fits = wanted < capacity && fit_core(schedule, index, capacity - wanted, &needed);
    if (!fits && !fit_core(schedule, index, capacity, &needed)) /* then it is not free for other layers */
        return too_small(schedule, index, needed);
    uint64_t end = PIM_ROUND_RESERVED;
    for (uint32_t i = schedule->first[index]; i < schedule->first[index + 1]; i++)
        end = place_worker(schedule->worker[i], end);
    pim_round_place_residents(schedule, index, end);
    core->area = end + resident;
    core->area_bytes = capacity > end ? capacity - end : 0;
    return PIM_OK;
}

uint64_t pim_round_area_wanted(const struct pim_round_schedule *schedule)
{
    uint64_t capacity = pim_smaller(schedule->architecture->local_memory_bytes, UINT32_MAX - 8);
    uint64_t wanted = pim_smaller(AREA_WANTED, capacity / 8);
    for (uint32_t i = 0; i < schedule->network->count; i++) {
        if (!schedule->chain[i].scheduled || schedule->network->layer[i].kind == PIM_CORE_MATRIX)
            continue;
        uint64_t least =
            pim_round_vector_least(&schedule->layer[i]); /* lets a core take part in every layer */
        wanted = least > wanted ? least : wanted;
    }
    return wanted;
}

enum pim_status pim_round_plan_memory(struct pim_round_schedule *schedule)
{
    const uint64_t wanted = pim_round_area_wanted(schedule);
    /* a home looks at the others of its job: all choose before any memory is placed */
    for (uint32_t i = 0; i < schedule->workers; i++) {
        if (is_home(schedule->worker[i]))
            choose_batch(schedule->worker[i]->job);
    }
    for (uint32_t i = 0; i < schedule->workers; i++) {
        schedule->worker[i]->given = 0;
        schedule->worker[i]->smallest = false;
        choose(schedule->worker[i]);
    }
    for (uint32_t core = 0; core < schedule->architecture->cores; core++)
        PIM_TRY(plan_core(schedule, core, wanted));
    return PIM_OK;
}

/*
 * One step of a job, in five stages (paper, sections III-C, VI-B and VII-A): windows to local memory, MVMs of
 * all array groups, sums within each core, sums from the other cores to the home, and there bias, activation
 * and the store of a run of pixels once it is complete.
 */
#include "mappers/pimcomp/throughput/maps.h"
#include "mappers/pimcomp/throughput/state.h"
#include "mappers/pimcomp/throughput/workers.h"

/* Additions that lie back to back on both sides, as one. */
struct fused {
    struct pim_core_emitter *emitter;
    uint32_t core;
    uint64_t to, from, elements;
};

static void fuse_flush(struct fused *fused)
{
    pim_core_emit_addition(fused->emitter, fused->core, fused->to, fused->from, fused->elements);
    fused->elements = 0;
}

static void fuse(struct fused *fused, uint64_t to, uint64_t from, uint64_t elements)
{
    uint64_t bytes = fused->elements * PIM_CORE_ELEMENT_BYTES;
    if (fused->elements && fused->to + bytes == to && fused->from + bytes == from) {
        fused->elements += elements;
        return;
    }
    fuse_flush(fused);
    fused->to = to;
    fused->from = from;
    fused->elements = elements;
}

/* --- a step --- */

static uint32_t oldest_window(const struct pim_round_job *job)
{
    return job->begin + job->step * job->replicas;
}

/* Replicas of the job that have a window in this step. */
static uint32_t busy_replicas(const struct pim_round_job *job)
{
    uint32_t left = job->end - oldest_window(job);
    return left < job->replicas ? left : job->replicas;
}

bool pim_round_is_busy(const struct pim_round_job *job, const struct pim_round_replica *replica)
{
    if (replica->position >= busy_replicas(job))
        return false;
    const struct pim_core_layer *layer = job->layer->of;
    const struct pim_core_folds *folds = &job->layer->folds;
    return folds->count == 1 ||
           pim_core_vector_serves(layer, folds, oldest_window(job) + replica->position, 0, layer->width);
}

static uint64_t pixel_bytes(const struct pim_round_job *job)
{
    return (uint64_t)job->layer->of->channels * PIM_CORE_ELEMENT_BYTES;
}

/* Where the home keeps the output pixel of the job's window number `pixel`. */
static uint64_t output_address(const struct pim_round_job *job, uint32_t pixel)
{
    const struct pim_round_worker *home = job->worker;
    uint32_t place =
        pixel / home->buffers.run % home->buffers.runs * home->buffers.run + pixel % home->buffers.run;
    return home->sum + place * pixel_bytes(job);
}

uint32_t pim_round_turn(const struct pim_round_worker *worker)
{
    return worker->buffers.depth > 1 ? worker->job->step % worker->buffers.depth : 0;
}

static uint32_t batch_begin(const struct pim_round_job *job)
{
    return job->step / job->batch * job->batch;
}

bool pim_round_batch_ends(const struct pim_round_job *job)
{
    return (job->step + 1) % job->batch == 0 || job->step + 1 == job->steps;
}

/* Where a replica's worker sums up column `column` in step `step`. Sums of the home are its output pixels;
 * the others keep those of a batch back to back. */
static uint64_t sum_address(const struct pim_round_worker *worker, const struct pim_round_replica *replica,
                            uint32_t step, uint32_t column)
{
    const struct pim_round_job *job = worker->job;
    if (worker == job->worker)
        return output_address(job, step * job->replicas + replica->position) +
               (uint64_t)column * PIM_CORE_ELEMENT_BYTES;
    uint64_t turn = worker->buffers.depth > 1 ? step / job->batch % worker->buffers.depth : 0;
    uint64_t index =
        (turn * job->batch + step % job->batch) * worker->replicas + (uint64_t)(replica - worker->replica);
    return worker->sum + (index * worker->sum_columns + column - worker->sum_column) * PIM_CORE_ELEMENT_BYTES;
}

static const struct pim_trace_array_group *group_of(const struct pim_round_job *job,
                                                    const struct pim_round_replica *replica, uint32_t group)
{
    return &job->layer->part->group[replica->group[group]];
}

/* Where a replica's worker sums up what a group makes. */
static uint64_t group_sum(const struct pim_round_worker *worker, const struct pim_round_replica *replica,
                          uint32_t group)
{
    const struct pim_round_job *job = worker->job;
    if (job->layer->folds.count == 1)
        return sum_address(worker, replica, job->step, group_of(job, replica, group)->column);
    uint64_t index =
        (uint64_t)pim_round_turn(worker) * worker->replicas + (uint64_t)(replica - worker->replica);
    return worker->sum + index * worker->replica_bytes + replica->sum[group];
}

static uint64_t partial_address(const struct pim_round_worker *worker,
                                const struct pim_round_replica *replica, uint32_t group)
{
    return worker->partial + (uint64_t)pim_round_turn(worker) * worker->partials + replica->partial[group];
}

/* --- stages --- */

void pim_round_worker_load(struct pim_round_worker *worker, uint32_t sample)
{
    const struct pim_round_job *job = worker->job;
    uint32_t oldest = oldest_window(job);
    for (uint32_t i = 0; i < worker->replicas; i++) {
        struct pim_round_replica *replica = &worker->replica[i];
        if (pim_round_is_busy(job, replica))
            pim_round_input_load(worker, replica, oldest + replica->position, sample);
    }
}

void pim_round_worker_mvm(struct pim_round_worker *worker)
{
    const struct pim_round_job *job = worker->job;
    for (uint32_t i = 0; i < worker->replicas; i++) {
        const struct pim_round_replica *replica = &worker->replica[i];
        if (!pim_round_is_busy(job, replica))
            continue;
        for (uint32_t j = 0; j < replica->groups; j++) {
            const struct pim_trace_array_group *group = group_of(job, replica, j);
            uint64_t output = replica->partial[j] == UINT32_MAX ? group_sum(worker, replica, j)
                                                                : partial_address(worker, replica, j);
            pim_core_emit_mvm(job->emitter, job->layer->index, replica->number, replica->group[j],
                              pim_round_input_address(worker, replica, group->row), output);
        }
    }
}

void pim_round_worker_add(struct pim_round_worker *worker)
{
    const struct pim_round_job *job = worker->job;
    struct fused fused = {.emitter = job->emitter, .core = worker->core};
    for (uint32_t i = 0; i < worker->others; i++) {
        const uint32_t number = worker->other[i].group;
        const struct pim_round_replica *replica = &worker->replica[worker->other[i].replica];
        const struct pim_trace_array_group *group = group_of(job, replica, number);
        if (pim_round_is_busy(job, replica))
            fuse(&fused, group_sum(worker, replica, number), partial_address(worker, replica, number),
                 (uint64_t)group->folds * group->columns);
    }
    fuse_flush(&fused);
}

/* Sums on the way to the home: a piece of replicas replica[0], .. replica[replicas - 1] of the worker in
 * step `step` and, when they are all of its replicas, of the steps after it; `sums` in all. */
struct travel {
    const struct pim_round_worker *worker;
    const struct pim_round_replica *replica;
    const struct pim_round_piece *piece;
    uint32_t replicas, sums, step;
    uint64_t address; /* at the home */
};

enum { WAITING = 8 };

static uint64_t home_address(const struct travel *travel, uint32_t sum)
{
    const struct pim_round_job *job = travel->worker->job;
    uint32_t step = travel->step + sum / travel->replicas;
    uint32_t pixel = step * job->replicas + travel->replica[sum % travel->replicas].position;
    return output_address(job, pixel) + (uint64_t)travel->piece->column * PIM_CORE_ELEMENT_BYTES;
}

static void add_received(const struct pim_round_job *job, const struct travel *travel, uint32_t count)
{
    struct fused fused = {.emitter = job->emitter, .core = job->home};
    for (uint32_t i = 0; i < count; i++) {
        uint64_t columns = travel[i].piece->columns;
        for (uint32_t j = 0; j < travel[i].sums; j++) {
            uint64_t sum = home_address(&travel[i], j);
            fuse(&fused, sum, travel[i].address + j * columns * PIM_CORE_ELEMENT_BYTES, columns);
        }
    }
    fuse_flush(&fused);
}

/* What waits at the home to be added. */
struct waiting {
    struct travel travel[WAITING];
    uint32_t count, most;
};

/* Sends sums to the home: what nothing is there for yet to its place, the rest to where it waits. */
static void send(struct travel *travel, struct waiting *waiting)
{
    struct pim_round_job *job = travel->worker->job;
    struct pim_round_worker *home = job->worker;
    bool first = travel->piece->first;
    travel->address = first ? home_address(travel, 0)
                            : home->receive + home->received++ % home->buffers.receives * home->receive_bytes;
    pim_core_emit_message(job->emitter, travel->worker->core,
                          sum_address(travel->worker, travel->replica, travel->step, travel->piece->column),
                          job->home, travel->address,
                          (uint64_t)travel->sums * travel->piece->columns * PIM_CORE_ELEMENT_BYTES);
    if (first)
        return;
    waiting->travel[waiting->count++] = *travel;
    if (waiting->count == waiting->most) {
        add_received(job, waiting->travel, waiting->count);
        waiting->count = 0;
    }
}

/* The sums of a worker from step `step` of the batch alone, replica by replica and piece by piece. */
static void send_step(const struct pim_round_worker *worker, uint32_t step, struct waiting *waiting)
{
    const struct pim_round_job *job = worker->job;
    for (uint32_t i = 0; i < worker->replicas; i++) {
        const struct pim_round_replica *replica = &worker->replica[i];
        if (job->begin + step * job->replicas + replica->position >= job->end)
            continue;
        for (uint32_t j = 0; j < replica->pieces; j++) {
            struct travel travel = {.worker = worker,
                                    .replica = replica,
                                    .piece = &replica->piece[j],
                                    .replicas = 1,
                                    .sums = 1,
                                    .step = step};
            send(&travel, waiting);
        }
    }
}

void pim_round_job_collect(struct pim_round_job *job)
{
    uint32_t places = job->worker->buffers.receives;
    struct waiting waiting = {
        .most = job->layer->schedule->architecture->in_order && places <= WAITING ? places : 1};
    uint32_t begin = batch_begin(job);
    for (uint32_t i = 1; i < job->workers; i++) {
        const struct pim_round_worker *worker = &job->worker[i];
        uint32_t busy = 0;
        while (busy < worker->replicas && pim_round_is_busy(job, &worker->replica[busy]))
            busy++;
        if (job->worker->buffers.merged && worker->uniform) {
            struct travel travel = {.worker = worker,
                                    .replica = worker->replica,
                                    .piece = worker->replica->piece,
                                    .replicas = worker->replicas,
                                    .sums = (job->step - begin) * worker->replicas + busy,
                                    .step = begin};
            if (travel.sums)
                send(&travel, &waiting);
            continue;
        }
        for (uint32_t step = begin; step <= job->step; step++)
            send_step(worker, step, &waiting);
    }
    add_received(job, waiting.travel, waiting.count);
}

/* Brings the bias to the home, as many copies as there are places. */
static void load_bias(struct pim_round_worker *home)
{
    uint64_t pixel = pixel_bytes(home->job);
    home->biased = true;
    pim_core_emit_transfer(home->emitter, PIM_OP_LOCAL_LOAD, home->core, home->bias,
                           home->layer->schedule->map->bias[home->layer->index], pixel, 1, 0);
    if (home->buffers.biases > 1)
        pim_core_emit_copy(home->emitter, home->core, home->bias + pixel, home->bias, pixel,
                           home->buffers.biases - 1, pixel, 0);
}

void pim_round_job_bias(struct pim_round_job *job)
{
    if (job->layer->of->bias && !job->worker->biased)
        load_bias(job->worker);
}

/* Bias and activations of the pixels of the batch. */
static void finish_pixels(struct pim_round_job *job)
{
    const struct pim_core_layer *layer = job->layer->of;
    const struct pim_round_worker *home = job->worker;
    uint32_t begin = batch_begin(job) * job->replicas;
    uint32_t pixels = job->step * job->replicas + busy_replicas(job) - begin;
    uint64_t pixel = pixel_bytes(job);
    uint64_t sums = output_address(job, begin);
    if (layer->bias) {
        struct fused fused = {.emitter = job->emitter, .core = job->home};
        for (uint32_t i = 0; i < pixels; i++)
            fuse(&fused, sums + i * pixel, home->bias + i % home->buffers.biases * pixel, layer->channels);
        fuse_flush(&fused);
    }
    pim_core_emit_afters(job->emitter, job->home, layer, sums, layer->channels, pixels);
}

void pim_round_job_finish(struct pim_round_job *job, uint32_t sample)
{
    finish_pixels(job);
    uint32_t run = job->worker->buffers.run, first = job->step * job->replicas;
    uint32_t end = first + busy_replicas(job), begin = first / run * run;
    if (end % run && job->begin + end < job->end)
        return;
    pim_round_put(job->layer, job->home, output_address(job, begin), sample, (uint64_t)job->begin + begin, 0,
                  pixel_bytes(job), end - begin);
}

/*
 * Jobs, workers and replicas (paper, section VI-B and Fig. 8c): windows go to the cores in proportion to the
 * replicas whose first array group they hold, and the replicas of a core take turns over adjacent windows.
 */
#include "mappers/pimcomp/throughput/state.h"
#include "mappers/pimcomp/throughput/workers.h"
#include "sim/try.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* What is known while the jobs of one layer are made. */
struct making {
    struct pim_round_schedule *schedule;
    struct pim_round_layer *round;
    const struct pim_core_layer *layer;
    const struct pim_core_partition_layer *part;
    const struct pim_core_layout_layer *layout;
    bool *have; /* [replica of the job][channel]: a sum reaches the home */
};

static enum pim_status out_of_memory(const struct making *making)
{
    return pim_fail(making->schedule->error, PIM_NO_MEMORY, "no memory for the jobs of %s",
                    making->layer->name);
}

static uint32_t core_of(const struct making *making, uint32_t replica, uint32_t group)
{
    return making->layout->core[(size_t)replica * making->part->groups + group];
}

/* --- geometry --- */

static void find_window(struct pim_round_layer *round)
{
    const struct pim_core_layer *layer = round->of;
    const struct pim_core_source *source = &layer->source[0];
    struct pim_round_window *w = &round->window;
    *w = (struct pim_round_window){.height = source->height,
                                   .width = source->width,
                                   .channels = source->channels,
                                   .output_width = layer->width};
    memcpy(w->kernel, layer->sliding.kernel, sizeof w->kernel);
    memcpy(w->stride, layer->sliding.stride, sizeof w->stride);
    memcpy(w->dilation, layer->sliding.dilation, sizeof w->dilation);
    memcpy(w->pad, layer->sliding.pad_before, sizeof w->pad);
    w->flat = w->kernel[0] == 1 && w->kernel[1] == 1 && w->stride[0] == 1 && w->stride[1] == 1 &&
              !w->pad[0] && !w->pad[1] && layer->height == source->height && layer->width == source->width;
    if (w->flat) {
        w->width *= w->height;
        w->height = 1;
        w->output_width = w->width;
    }
    pim_round_find_folds(round);
}

/* What the groups of a worker read of a window. */
static void find_reach(const struct making *making, struct pim_round_worker *worker)
{
    const struct pim_round_window *w = &making->round->window;
    uint32_t pixel = w->channels, row = w->kernel[1] * pixel;
    uint32_t low = UINT32_MAX, high = 0;
    worker->contiguous = true;
    for (uint32_t i = 0; i < worker->replicas; i++) {
        for (uint32_t j = 0; j < worker->replica[i].groups; j++) {
            const struct pim_trace_array_group *group = &making->part->group[worker->replica[i].group[j]];
            uint32_t last = group->row + group->rows - 1;
            uint32_t stretch = w->dilation[1] == 1 ? row : pixel;
            low = group->row < low ? group->row : low;
            high = last > high ? last : high;
            worker->contiguous = worker->contiguous && group->row / stretch == last / stretch;
        }
    }
    if (making->part->bundle) {
        const struct pim_core_stretch first =
            pim_core_stretch_at(making->layer, making->part, low, making->layer->rows);
        uint32_t positions = w->kernel[0] * w->kernel[1], bundle = making->part->bundle;
        uint32_t end = (high / (positions * bundle) + 1) * bundle;
        worker->contiguous = false;
        worker->kernel_row = 0;
        worker->kernel_rows = w->kernel[0];
        worker->channel = first.channel / bundle * bundle;
        worker->channels = (end < pixel ? end : pixel) - worker->channel;
        worker->canonical = worker->channel * positions;
        return;
    }
    worker->kernel_row = low / row;
    worker->kernel_rows = high / row - worker->kernel_row + 1;
    worker->channel = 0;
    worker->channels = pixel;
    worker->canonical = worker->kernel_row * row;
    if (w->kernel[0] == 1 && w->kernel[1] == 1) {
        worker->channel = worker->canonical = low;
        worker->channels = high - low + 1;
    }
}

/* --- sums --- */

/* Decides which groups of a replica write the sum of their columns themselves: the first ones. The others
 * have partial[] = their number among the others. */
static enum pim_status find_first_groups(const struct making *making, struct pim_round_replica *replica)
{
    uint32_t others = 0;
    for (uint32_t i = 0; i < replica->groups; i++) {
        const struct pim_trace_array_group *group = &making->part->group[replica->group[i]];
        replica->partial[i] = UINT32_MAX;
        for (uint32_t j = 0; j < i && replica->partial[i] == UINT32_MAX; j++) {
            const struct pim_trace_array_group *earlier = &making->part->group[replica->group[j]];
            if (group->column >= earlier->column + earlier->columns ||
                earlier->column >= group->column + group->columns)
                continue;
            if (group->column != earlier->column || group->columns != earlier->columns)
                return pim_fail(making->schedule->error, PIM_BAD_INPUT,
                                "%s: array groups %" PRIu32 " and %" PRIu32
                                " share some of their columns: they must share all or none",
                                making->layer->name, replica->group[j], replica->group[i]);
            replica->partial[i] = others++;
        }
    }
    return PIM_OK;
}

/* Are the sums of all groups of a worker within the addresses of a local memory, whatever its size? */
static bool sums_fit(const struct making *making, const struct pim_round_worker *worker)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < worker->replicas; i++) {
        for (uint32_t j = 0; j < worker->replica[i].groups; j++) {
            const struct pim_trace_array_group *group = &making->part->group[worker->replica[i].group[j]];
            bytes += (uint64_t)group->folds * group->columns * PIM_CORE_ELEMENT_BYTES;
        }
    }
    return bytes < UINT32_MAX;
}

/* Lists the groups that are not the first of their columns, and gives them places from the start of the
 * worker's partial sums on: the n-th ones of all replicas stand side by side, so that one addition can take
 * them together. */
static enum pim_status place_partials(const struct making *making, struct pim_round_worker *worker)
{
    uint32_t others = 0;
    for (uint32_t i = 0; i < worker->replicas; i++)
        for (uint32_t j = 0; j < worker->replica[i].groups; j++)
            others += worker->replica[i].partial[j] != UINT32_MAX;
    worker->other = PIM_ARENA_ARRAY(making->schedule->arena, struct pim_round_other, others);
    if (!worker->other)
        return out_of_memory(making);
    for (uint32_t number = 0; worker->others < others; number++)
        for (uint32_t i = 0; i < worker->replicas; i++)
            for (uint32_t j = 0; j < worker->replica[i].groups; j++)
                if (worker->replica[i].partial[j] == number)
                    worker->other[worker->others++] = (struct pim_round_other){i, j};
    for (uint32_t i = 0; i < others; i++) {
        struct pim_round_replica *replica = &worker->replica[worker->other[i].replica];
        const struct pim_trace_array_group *group =
            &making->part->group[replica->group[worker->other[i].group]];
        replica->partial[worker->other[i].group] = worker->partials;
        worker->partials += group->folds * group->columns * PIM_CORE_ELEMENT_BYTES;
    }
    return PIM_OK;
}

/* With folds: where a replica sums up the outputs of its groups; those of the same columns in one place. */
static void place_sums(const struct making *making, struct pim_round_worker *worker)
{
    for (uint32_t i = 0; i < worker->replicas; i++) {
        const struct pim_round_replica *replica = &worker->replica[i];
        uint32_t bytes = 0;
        for (uint32_t j = 0; j < replica->groups; j++) {
            const struct pim_trace_array_group *group = &making->part->group[replica->group[j]];
            for (uint32_t k = 0; k < j && replica->partial[j] != UINT32_MAX; k++) {
                if (making->part->group[replica->group[k]].column == group->column) {
                    replica->sum[j] = replica->sum[k];
                    break;
                }
            }
            if (replica->partial[j] == UINT32_MAX) {
                replica->sum[j] = bytes;
                bytes += group->folds * group->columns * PIM_CORE_ELEMENT_BYTES;
            }
        }
        worker->replica_bytes = bytes > worker->replica_bytes ? bytes : worker->replica_bytes;
    }
}

/* The pieces of a replica's sums, cut where the home has a sum already or not; marks them as had. */
static enum pim_status find_pieces(const struct making *making, struct pim_round_replica *replica)
{
    uint32_t channels = making->layer->channels;
    bool *have = &making->have[(size_t)replica->position * channels];
    replica->piece =
        PIM_ARENA_ARRAY(making->schedule->arena, struct pim_round_piece, 2 * (size_t)replica->groups + 2);
    bool *own = PIM_ARENA_ARRAY(making->schedule->arena, bool, channels);
    if (!replica->piece || !own)
        return out_of_memory(making);
    for (uint32_t i = 0; i < replica->groups; i++) {
        const struct pim_trace_array_group *group = &making->part->group[replica->group[i]];
        memset(&own[group->column], 1, group->columns);
    }
    size_t room = 2 * (size_t)replica->groups + 2;
    for (uint32_t column = 0; column < channels;) {
        uint32_t end = column + 1;
        while (end < channels && own[end] == own[column] && have[end] == have[column])
            end++;
        if (own[column]) {
            if (replica->pieces == room) /* others cut it finer than its own groups do */
                return pim_fail(making->schedule->error, PIM_BAD_INPUT,
                                "%s: the columns of its array groups are cut in too many ways",
                                making->layer->name);
            replica->piece[replica->pieces++] =
                (struct pim_round_piece){.column = column, .columns = end - column, .first = !have[column]};
            memset(&have[column], 1, end - column);
        }
        column = end;
    }
    return PIM_OK;
}

/* --- workers --- */

static enum pim_status make_replica(const struct making *making, struct pim_round_worker *worker,
                                    struct pim_round_replica *replica, uint32_t position)
{
    struct pim_arena *arena = making->schedule->arena;
    replica->number = worker->job->replica[position];
    replica->position = position;
    for (uint32_t i = 0; i < making->part->groups; i++)
        replica->groups += core_of(making, replica->number, i) == worker->core;
    replica->group = PIM_ARENA_ARRAY(arena, uint32_t, replica->groups);
    replica->partial = PIM_ARENA_ARRAY(arena, uint32_t, replica->groups);
    replica->sum = PIM_ARENA_ARRAY(arena, uint32_t, replica->groups);
    if (!replica->group || !replica->partial || !replica->sum)
        return out_of_memory(making);
    uint32_t groups = 0;
    for (uint32_t i = 0; i < making->part->groups; i++) {
        if (core_of(making, replica->number, i) == worker->core)
            replica->group[groups++] = i;
    }
    PIM_TRY(find_first_groups(making, replica));
    return find_pieces(making, replica);
}

static bool holds(const struct making *making, uint32_t replica, uint32_t core)
{
    for (uint32_t i = 0; i < making->part->groups; i++) {
        if (core_of(making, replica, i) == core)
            return true;
    }
    return false;
}

static enum pim_status make_worker(const struct making *making, struct pim_round_job *job,
                                   struct pim_round_worker *worker, uint32_t core)
{
    *worker =
        (struct pim_round_worker){.job = job, .layer = making->round, .emitter = job->emitter, .core = core};
    for (uint32_t i = 0; i < job->replicas; i++)
        worker->replicas += holds(making, job->replica[i], core);
    worker->replica = PIM_ARENA_ARRAY(making->schedule->arena, struct pim_round_replica, worker->replicas);
    if (!worker->replica)
        return out_of_memory(making);
    uint32_t replicas = 0;
    for (uint32_t i = 0; i < job->replicas; i++) {
        if (holds(making, job->replica[i], core))
            PIM_TRY(make_replica(making, worker, &worker->replica[replicas++], i));
    }
    if (!sums_fit(making, worker))
        return pim_fail(making->schedule->error, PIM_BAD_INPUT,
                        "core %" PRIu32
                        ": the sums of the array groups of %s take more than the 2^32 bytes that a "
                        "local memory can have",
                        core, making->layer->name);
    PIM_TRY(place_partials(making, worker));
    place_sums(making, worker);
    find_reach(making, worker);
    uint32_t low = UINT32_MAX, high = 0;
    for (uint32_t i = 0; i < replicas; i++) {
        const struct pim_round_replica *replica = &worker->replica[i];
        const struct pim_round_piece *last = &replica->piece[replica->pieces - 1];
        low = replica->piece[0].column < low ? replica->piece[0].column : low;
        high = last->column + last->columns > high ? last->column + last->columns : high;
    }
    worker->sum_column = low;
    worker->sum_columns = high - low;
    making->schedule->workers++;
    return PIM_OK;
}

/* The workers of a job: the home, then the other cores that hold groups of its replicas. */
static enum pim_status make_workers(struct making *making, struct pim_round_job *job)
{
    struct pim_round_schedule *schedule = making->schedule;
    uint32_t cores = schedule->architecture->cores;
    memset(schedule->marked, 0, cores * sizeof *schedule->marked);
    uint32_t count = 0;
    for (uint32_t i = 0; i < job->replicas; i++) {
        for (uint32_t j = 0; j < making->part->groups; j++) {
            uint32_t core = core_of(making, job->replica[i], j);
            count += !schedule->marked[core];
            schedule->marked[core] = true;
        }
    }
    size_t sums = (size_t)job->replicas * making->layer->channels;
    making->have = PIM_ARENA_ARRAY(schedule->arena, bool, sums);
    job->worker = PIM_ARENA_ARRAY(schedule->arena, struct pim_round_worker, count);
    if (!making->have || !job->worker)
        return out_of_memory(making);
    PIM_TRY(make_worker(making, job, &job->worker[job->workers++], job->home));
    schedule->marked[job->home] = false;
    for (uint32_t core = 0; core < cores; core++) {
        if (schedule->marked[core])
            PIM_TRY(make_worker(making, job, &job->worker[job->workers++], core));
    }
    if (memchr(making->have, 0, sums * sizeof *making->have))
        return pim_fail(schedule->error, PIM_BAD_INPUT,
                        "%s: its array groups do not cover all output channels", making->layer->name);
    return PIM_OK;
}

/* --- jobs --- */

/* Windows [begin, end) for the replicas of one home, `before` of all replicas being before them. */
static enum pim_status make_job(struct making *making, struct pim_round_job *job, uint32_t home,
                                uint32_t before)
{
    uint32_t total = making->layout->replicas;
    assert(total);
    *job =
        (struct pim_round_job){.layer = making->round, .emitter = &making->schedule->emitter, .home = home};
    for (uint32_t i = 0; i < total; i++)
        job->replicas += core_of(making, i, 0) == home;
    job->begin = (uint32_t)((uint64_t)making->layer->windows * before / total);
    job->end = (uint32_t)((uint64_t)making->layer->windows * (before + job->replicas) / total);
    job->replica = PIM_ARENA_ARRAY(making->schedule->arena, uint32_t, job->replicas);
    if (!job->replica)
        return out_of_memory(making);
    uint32_t replicas = 0;
    for (uint32_t i = 0; i < total; i++) {
        if (core_of(making, i, 0) == home)
            job->replica[replicas++] = i;
    }
    if (making->round->folds.count > 1)
        PIM_TRY(pim_round_fold_job(job, before, total));
    if (job->replicas > job->end - job->begin)
        job->replicas = job->end - job->begin;
    if (job->replicas == 0)
        return PIM_OK;
    job->steps = (job->end - job->begin + job->replicas - 1) / job->replicas;
    return make_workers(making, job);
}

static enum pim_status make_layer(struct pim_round_layer *round)
{
    struct pim_round_schedule *schedule = round->schedule;
    struct making making = {.schedule = schedule,
                            .round = round,
                            .layer = round->of,
                            .part = round->part,
                            .layout = &schedule->mapping->layout->layer[round->index]};
    assert(making.part->groups && making.layout->replicas);
    find_window(round);
    uint32_t cores = schedule->architecture->cores, homes = 0;
    uint32_t *count = PIM_ARENA_ARRAY(schedule->arena, uint32_t, cores);
    if (!count)
        return out_of_memory(&making);
    for (uint32_t i = 0; i < making.layout->replicas; i++)
        homes += !count[core_of(&making, i, 0)]++;
    round->job = PIM_ARENA_ARRAY(schedule->arena, struct pim_round_job, homes);
    if (!round->job)
        return out_of_memory(&making);
    uint32_t before = 0;
    for (uint32_t core = 0; core < cores; core++) {
        if (!count[core])
            continue;
        struct pim_round_job *job = &round->job[round->jobs];
        PIM_TRY(make_job(&making, job, core, before));
        before += count[core];
        round->jobs += job->replicas != 0;
    }
    return PIM_OK;
}

/* The workers of all jobs by core. */
static enum pim_status sort_workers(struct pim_round_schedule *schedule)
{
    uint32_t cores = schedule->architecture->cores;
    schedule->worker = PIM_ARENA_ARRAY(schedule->arena, struct pim_round_worker *, schedule->workers);
    schedule->first = PIM_ARENA_ARRAY(schedule->arena, uint32_t, (size_t)cores + 2);
    schedule->windows = PIM_ARENA_ARRAY(schedule->arena, uint64_t, cores);
    PIM_NEED_MEMORY(schedule->worker && schedule->first && schedule->windows, schedule->error,
                    "no memory for %" PRIu32 " workers", schedule->workers);
    uint32_t *next = schedule->first + 1; /* counts, then starts, and in the end first[c + 1] */
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < schedule->network->count; i++) {
            for (uint32_t j = 0; j < schedule->layer[i].jobs; j++) {
                struct pim_round_job *job = &schedule->layer[i].job[j];
                for (uint32_t k = 0; k < job->workers; k++) {
                    if (pass)
                        schedule->worker[next[job->worker[k].core]++] = &job->worker[k];
                    else
                        next[job->worker[k].core + 1]++;
                }
            }
        }
        for (uint32_t core = 0; core < cores && !pass; core++)
            next[core + 1] += next[core];
    }
    for (uint32_t i = 0; i < schedule->workers; i++)
        schedule->windows[schedule->worker[i]->core] +=
            (uint64_t)schedule->worker[i]->replicas * schedule->worker[i]->job->steps;
    return PIM_OK;
}

enum pim_status pim_round_make_jobs(struct pim_round_schedule *schedule)
{
    for (uint32_t i = 0; i < schedule->network->count; i++) {
        if (schedule->network->layer[i].kind == PIM_CORE_MATRIX)
            PIM_TRY(make_layer(&schedule->layer[i]));
    }
    return sort_workers(schedule);
}

/* See closed_loop.h. */
#include "mappers/pimcomp/closed_loop.h"

#include "mappers/learn/correlation.h"
#include "mappers/pimcomp/cost/timing.h"
#include "mappers/pimcomp/layout/layout.h"
#include "mappers/search/workers.h"
#include "sim/integer.h"
#include "sim/try.h"
#include "traces/file/writer.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef enum pim_status candidate_work(const struct pim_core_profile_options *options, uint64_t limit,
                                       struct pim_core_candidate *candidate, struct pim_error *error);

struct profiling {
    const struct pim_core_profile_options *options;
    const char *what;
    candidate_work *work;
    uint64_t limit;    /* of cycles */
    bool until_served; /* goes on behind the end until a candidate is not refused */
    struct pim_core_candidate *candidate[PIM_CORE_CANDIDATES_MOST];
    uint32_t count;
    pthread_mutex_t mutex;
    /* guarded by the mutex */
    uint32_t done, left_out;
    bool served;
    struct pim_error error; /* the first one that ends everything */
};

/* Schedules a candidate, into a trace or not, observed or not. */
static enum pim_status schedule(const struct pim_core_profile_options *options,
                                const struct pim_core_candidate *candidate, struct pim_trace_writer *writer,
                                struct pim_core_timing *observer, struct pim_error *error)
{
    struct pim_core_mapping mapping = *options->mapping;
    struct pim_core_schedule_options used = options->schedule;
    struct pim_core_memory_map map;
    struct pim_arena arena;
    mapping.layout = &candidate->layout;
    used.batch = 0;
    used.report = NULL;
    used.no_keeping = candidate->no_keeping;
    used.observe = observer ? pim_core_timing_observe : NULL;
    used.observer = observer;
    pim_arena_initialize(&arena, 1 << 20);
    enum pim_status status = pim_core_schedule(&mapping, writer, &used, &arena, &map, error);
    pim_arena_terminate(&arena);
    return status;
}

static enum pim_status time_one(const struct pim_core_profile_options *options, uint64_t limit,
                                struct pim_core_candidate *candidate, struct pim_error *error)
{
    struct pim_core_mapping mapping = *options->mapping;
    uint64_t parts[PIM_ESTIMATE_PARTS];
    (void)limit;
    mapping.layout = &candidate->layout;
    struct pim_core_timing *timing = pim_core_timing_create(&mapping);
    PIM_NEED_MEMORY(timing, error, "no memory to estimate a layout");
    enum pim_status status = schedule(options, candidate, NULL, timing, error);
    candidate->refused = status == PIM_BAD_INPUT;
    if (status == PIM_OK)
        status = pim_core_timing_report(timing, NULL, &candidate->estimate, parts, error);
    candidate->instructions = pim_core_timing_instructions(timing);
    pim_core_timing_destroy(timing);
    return status;
}

/* The program of a candidate, into the file `path`. */
static enum pim_status write_program(const struct pim_core_profile_options *options,
                                     const struct pim_core_candidate *candidate, const char *path,
                                     struct pim_error *error)
{
    const struct pim_core_mapping *mapping = options->mapping;
    struct pim_trace_writer *writer;
    const struct pim_trace_description description = {.family = "pimcomp",
                                                      .network = mapping->network->name,
                                                      .width = mapping->architecture->width,
                                                      .height = mapping->architecture->height,
                                                      .units = mapping->architecture->cores};
    PIM_TRY(pim_trace_writer_create(path, &description, &writer, error));
    enum pim_status status = schedule(options, candidate, writer, NULL, error);
    if (status == PIM_OK)
        return pim_trace_writer_finish(writer, error);
    pim_trace_writer_abandon(writer);
    return status;
}

static enum pim_status simulate_one(const struct pim_core_profile_options *options, uint64_t limit,
                                    struct pim_core_candidate *candidate, struct pim_error *error)
{
    char path[4096];
    const char *folder = getenv("TMPDIR");
    int length = snprintf(path, sizeof path, "%s/pimsim-XXXXXX", folder && *folder ? folder : "/tmp");
    int file = length > 0 && (size_t)length < sizeof path ? mkstemp(path) : -1;
    if (file < 0)
        return pim_fail(error, PIM_IO, "%s: no file can be made there, and simulated layouts need one", path);
    (void)close(file);
    enum pim_status status = write_program(options, candidate, path, error);
    candidate->simulated = true;
    if (status == PIM_OK)
        status = options->simulate(options->simulator, path, limit, &candidate->cycles, &candidate->complete,
                                   error);
    (void)unlink(path);
    return status;
}

static void tell(const struct profiling *p, uint32_t done)
{
    if (p->options->progress)
        p->options->progress(p->options->context, p->what, done, p->count);
}

/* One candidate. A refusal is marked; all other errors end everything. */
static void work(void *context, unsigned worker, uint64_t index)
{
    struct profiling *p = context;
    struct pim_core_candidate *candidate = p->candidate[index];
    struct pim_error error = {0};
    (void)worker;
    (void)pthread_mutex_lock(&p->mutex);
    const bool failed = p->error.status != PIM_OK;
    const bool left_out = !failed && (p->served || !p->until_served) && pim_core_profile_ends(p->options);
    (void)pthread_mutex_unlock(&p->mutex);
    const bool works = !failed && !left_out;
    enum pim_status status = works ? p->work(p->options, p->limit, candidate, &error) : PIM_OK;
    (void)pthread_mutex_lock(&p->mutex);
    if (status != PIM_OK && !candidate->refused && p->error.status == PIM_OK)
        p->error = error;
    p->served = p->served || (works && !candidate->refused);
    if (left_out) {
        candidate->left_out = p->until_served;
        p->left_out++;
    }
    tell(p, ++p->done);
    (void)pthread_mutex_unlock(&p->mutex);
}

/* Does its work on all candidates that are listed. */
static enum pim_status run(struct profiling *p, struct pim_error *error)
{
    if (pthread_mutex_init(&p->mutex, NULL) != 0)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for the candidates of a mapping");
    tell(p, 0);
    pim_workers_run(p->options->workers, work, p, 0, p->count);
    (void)pthread_mutex_destroy(&p->mutex);
    if (p->error.status != PIM_OK)
        *error = p->error;
    return p->error.status;
}

static void append(struct pim_core_profile *profile, struct pim_core_candidate candidate)
{
    assert(profile->count < PIM_CORE_CANDIDATES_MOST);
    candidate.number = 1;
    for (uint32_t i = 0; i < profile->count; i++)
        candidate.number += strcmp(profile->candidate[i].name, candidate.name) == 0 &&
                            profile->candidate[i].no_keeping == candidate.no_keeping;
    profile->candidate[profile->count++] = candidate;
}

void pim_core_profile_add(const struct pim_core_profile_options *options, struct pim_core_profile *profile,
                          const char *name, bool searched, const struct pim_core_layout *layout)
{
    bool keeps = options->mapping->mode == PIM_CORE_HIGH_THROUGHPUT && !options->schedule.no_keeping;
    struct pim_core_candidate candidate = {
        .name = name, .searched = searched, .no_keeping = !keeps, .layout = *layout};
    append(profile, candidate);
    candidate.no_keeping = true;
    if (keeps)
        append(profile, candidate);
}

enum pim_status pim_core_profile_time(const struct pim_core_profile_options *options,
                                      struct pim_core_profile *profile, uint32_t first, uint32_t preferred,
                                      struct pim_error *error)
{
    struct profiling p = {.options = options,
                          .what = "timed layouts",
                          .work = time_one,
                          .until_served = true,
                          .served = profile->served};
    const bool ended = pim_core_profile_ends(options);
    if (ended && preferred < profile->count)
        p.candidate[p.count++] = &profile->candidate[preferred];
    for (uint32_t i = first; i < profile->count; i++)
        if (!ended || i != preferred)
            p.candidate[p.count++] = &profile->candidate[i];
    enum pim_status status = run(&p, error);
    profile->timed += p.count - p.left_out;
    profile->served = p.served;
    profile->cut_short = profile->cut_short || p.left_out > 0;
    for (uint32_t i = 0; i < p.count && status == PIM_OK && options->timed; i++)
        if (!p.candidate[i]->left_out)
            status = options->timed(options->observer, options->mapping, p.candidate[i], error);
    if (status != PIM_OK || p.served || p.count == 0)
        return status;
    return time_one(options, UINT64_MAX, p.candidate[0], error); /* says why */
}

uint32_t pim_core_profile_best(const struct pim_core_profile *profile, uint32_t first, uint32_t end)
{
    uint32_t best = first;
    for (uint32_t i = first + 1; i < end; i++)
        if (pim_core_candidate_is_timed(&profile->candidate[i]) &&
            (!pim_core_candidate_is_timed(&profile->candidate[best]) ||
             profile->candidate[i].estimate < profile->candidate[best].estimate))
            best = i;
    return best;
}

/* The longest estimate that is within PIM_CORE_MARGIN of the best. */
static uint64_t near(const struct pim_core_profile *profile)
{
    uint64_t best = profile->candidate[pim_core_profile_best(profile, 0, profile->count)].estimate;
    return best + best / 100 * PIM_CORE_MARGIN;
}

/* The candidates whose estimates are near that of the best: all rules of thumb, and so many others. */
static void list_finalists(struct pim_core_profile *profile, uint32_t best, uint32_t most,
                           struct profiling *p)
{
    uint64_t limit = near(profile);
    for (uint32_t i = 0; i < profile->count; i++) {
        struct pim_core_candidate *candidate = &profile->candidate[i];
        uint32_t before = 0;
        for (uint32_t j = 0; j < profile->count && candidate->searched; j++) {
            const struct pim_core_candidate *other = &profile->candidate[j];
            before +=
                other->searched && pim_core_candidate_is_timed(other) &&
                (other->estimate < candidate->estimate || (other->estimate == candidate->estimate && j < i));
        }
        if (i != best && pim_core_candidate_is_timed(candidate) && candidate->estimate <= limit &&
            before < most)
            p->candidate[p->count++] = candidate;
    }
}

/* Simulates candidates to their end, on all threads, without a limit. */
static enum pim_status simulate_all(const struct pim_core_profile_options *options,
                                    struct pim_core_candidate *candidate, uint32_t count,
                                    struct pim_error *error)
{
    struct pim_core_profile_options endless = *options;
    endless.limit = NULL;
    struct profiling p = {
        .options = &endless, .what = "simulated layouts", .work = simulate_one, .limit = UINT64_MAX};
    assert(options->simulate && count <= PIM_CORE_CANDIDATES_MOST);
    for (uint32_t i = 0; i < count; i++)
        p.candidate[p.count++] = &candidate[i];
    return count > 0 ? run(&p, error) : PIM_OK;
}

enum pim_status pim_core_profile_run(const struct pim_core_profile_options *options, uint32_t most,
                                     struct pim_core_profile *profile, struct pim_error *error)
{
    struct profiling p = {
        .options = options, .what = "simulated layouts", .work = simulate_one, .limit = UINT64_MAX};
    uint32_t best = profile->taken = pim_core_profile_best(profile, 0, profile->count);
    if (!options->simulate)
        return PIM_OK;
    if (pim_core_profile_ends(options)) {
        profile->cut_short = true;
        return PIM_OK;
    }
    PIM_TRY(simulate_one(options, UINT64_MAX, &profile->candidate[best], error));
    p.limit = profile->candidate[best].cycles;
    list_finalists(profile, best, most, &p);
    if (p.count > 0 && run(&p, error) != PIM_OK)
        return error->status;
    profile->cut_short = profile->cut_short || p.left_out > 0;
    for (uint32_t i = 0; i < p.count; i++)
        if (p.candidate[i]->complete && p.candidate[i]->cycles < profile->candidate[profile->taken].cycles)
            profile->taken = (uint32_t)(p.candidate[i] - profile->candidate);
    return PIM_OK;
}

/* --- ranking --- */

static bool same_program(const struct pim_core_mapping *mapping, const struct pim_core_candidate *one,
                         const struct pim_core_candidate *two)
{
    return one->estimate == two->estimate && one->no_keeping == two->no_keeping &&
           pim_core_layouts_equal(mapping, &one->layout, &two->layout);
}

enum pim_status pim_core_ranking_see(void *context, const struct pim_core_mapping *mapping,
                                     const struct pim_core_candidate *candidate, struct pim_error *error)
{
    struct pim_core_ranking *ranking = context;
    uint32_t at = ranking->count;
    if (candidate->refused)
        return PIM_OK;
    ranking->seen++;
    while (at > 0 && ranking->best[at - 1].estimate > candidate->estimate)
        at--;
    if (at == ranking->most)
        return PIM_OK;
    for (uint32_t i = at; i > 0 && ranking->best[i - 1].estimate == candidate->estimate; i--)
        if (same_program(mapping, &ranking->best[i - 1], candidate))
            return PIM_OK;
    struct pim_core_candidate kept = *candidate;
    PIM_TRY(pim_core_layout_copy(mapping, &candidate->layout, ranking->arena, &kept.layout, error));
    ranking->count -= ranking->count == ranking->most;
    memmove(&ranking->best[at + 1], &ranking->best[at], (ranking->count - at) * sizeof *ranking->best);
    ranking->best[at] = kept;
    ranking->count++;
    return PIM_OK;
}

enum pim_status pim_core_ranking_make(struct pim_core_ranking *ranking,
                                      const struct pim_core_profile_options *options, struct pim_error *error)
{
    double estimates[PIM_CORE_RANKED_MOST], cycles[PIM_CORE_RANKED_MOST];
    PIM_TRY(simulate_all(options, ranking->best, ranking->count, error));
    for (uint32_t i = 0; i < ranking->count; i++) {
        const struct pim_core_candidate *candidate = &ranking->best[i];
        estimates[i] = (double)candidate->estimate;
        cycles[i] = (double)candidate->cycles;
        const double off = 100 * (estimates[i] - cycles[i]) / cycles[i];
        ranking->error_least = i == 0 || off < ranking->error_least ? off : ranking->error_least;
        ranking->error_most = i == 0 || off > ranking->error_most ? off : ranking->error_most;
        ranking->slowest = i == 0 ? candidate->cycles : pim_larger(candidate->cycles, ranking->slowest);
        ranking->fastest = i == 0 ? candidate->cycles : pim_smaller(candidate->cycles, ranking->fastest);
    }
    ranking->first = ranking->count > 0 ? ranking->best[0].cycles : 0;
    return pim_rank_correlation(ranking->count, estimates, cycles, &ranking->correlation, error);
}

/* Candidates of a mapping, simulated: pim_core_loop.h. */
#include "mappers/pimcomp/closed_loop.h"

#include "traces/writer.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS_MOST = 16 };

struct profiling {
    const struct pim_core_profile_options *options;
    struct pim_core_profile *profile;
    uint64_t limit; /* of cycles */
    pthread_mutex_t mutex;
    /* guarded by the mutex */
    uint32_t next;
    struct pim_error error; /* the first one that ends everything */
    uint32_t done;
};

/* The program of a candidate, into the file `path`. */
static enum pim_status write_program(const struct pim_core_profile_options *options,
                                     const struct pim_core_candidate *candidate, const char *path,
                                     struct pim_error *error)
{
    struct pim_core_mapping mapping = *options->mapping;
    struct pim_core_schedule_options schedule = options->schedule;
    struct pim_core_memory_map map;
    struct pim_trace_writer *writer;
    struct pim_arena arena;
    const struct pim_trace_description description = {.family = "pimcomp",
                                                      .network = mapping.network->name,
                                                      .width = mapping.architecture->width,
                                                      .height = mapping.architecture->height,
                                                      .units = mapping.architecture->cores};
    mapping.layout = &candidate->layout;
    schedule.batch = 0;
    schedule.report = NULL;
    if (pim_trace_writer_create(path, &description, &writer, error) != PIM_OK)
        return error->status;
    pim_arena_initialize(&arena, 1 << 20);
    enum pim_status status = pim_core_schedule(&mapping, writer, &schedule, &arena, &map, error);
    pim_arena_terminate(&arena);
    if (status == PIM_OK)
        return pim_trace_writer_finish(writer, error);
    pim_trace_writer_abandon(writer);
    return status;
}

/* Refusals of a layout are marked; all other errors are returned. */
static enum pim_status profile_one(const struct pim_core_profile_options *options, uint64_t limit,
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
    if (status == PIM_BAD_INPUT)
        candidate->refused = true;
    else if (status == PIM_OK)
        status = options->simulate(options->simulator, path, limit, &candidate->cycles, &candidate->complete,
                                   error);
    (void)unlink(path);
    return status;
}

static void tell(const struct profiling *p, uint32_t done)
{
    if (p->options->progress)
        p->options->progress(p->options->context, "simulated layouts", done, p->profile->count);
}

/* Candidates as long as there are any. */
static void *work(void *context)
{
    struct profiling *p = context;
    (void)pthread_mutex_lock(&p->mutex);
    while (p->next < p->profile->count && p->error.status == PIM_OK) {
        struct pim_core_candidate *candidate = &p->profile->candidate[p->next++];
        struct pim_error error = {0};
        (void)pthread_mutex_unlock(&p->mutex);
        enum pim_status status = profile_one(p->options, p->limit, candidate, &error);
        (void)pthread_mutex_lock(&p->mutex);
        if (status != PIM_OK && !candidate->refused && p->error.status == PIM_OK)
            p->error = error;
        tell(p, ++p->done);
    }
    (void)pthread_mutex_unlock(&p->mutex);
    return NULL;
}

static void profile_rest(struct profiling *p)
{
    pthread_t thread[THREADS_MOST];
    unsigned helpers = 0;
    while (helpers < THREADS_MOST && helpers + 1 < p->options->threads &&
           p->next + helpers + 1 < p->profile->count && pthread_create(&thread[helpers], NULL, work, p) == 0)
        helpers++; /* fewer are as good */
    (void)work(p);
    for (unsigned i = 0; i < helpers; i++)
        (void)pthread_join(thread[i], NULL);
}

static void choose(struct pim_core_profile *profile, uint32_t first)
{
    profile->taken = first;
    for (uint32_t i = first + 1; i < profile->count; i++) {
        const struct pim_core_candidate *candidate = &profile->candidate[i];
        if (!candidate->refused && candidate->complete &&
            candidate->cycles < profile->candidate[profile->taken].cycles)
            profile->taken = i;
    }
}

enum pim_status pim_core_profile_run(const struct pim_core_profile_options *options,
                                     struct pim_core_profile *profile, struct pim_error *error)
{
    struct profiling p = {.options = options, .profile = profile, .limit = UINT64_MAX};
    uint32_t first = 0;
    assert(profile->count > 0 && profile->count <= PIM_CORE_CANDIDATES_MOST);
    if (pthread_mutex_init(&p.mutex, NULL) != 0)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for the simulation of layouts");
    tell(&p, 0);
    for (;; first++) { /* the first one that can be scheduled sets the limit */
        struct pim_error refusal = {0};
        enum pim_status status =
            profile_one(options, UINT64_MAX, &profile->candidate[first], first ? &refusal : error);
        if (status == PIM_OK)
            break;
        if (!profile->candidate[first].refused && first > 0)
            *error = refusal;
        if (!profile->candidate[first].refused || first + 1 == profile->count) {
            (void)pthread_mutex_destroy(&p.mutex);
            return error->status;
        }
    }
    *error = (struct pim_error){0};
    p.limit = profile->candidate[first].cycles;
    p.next = p.done = first + 1;
    profile_rest(&p);
    (void)pthread_mutex_destroy(&p.mutex);
    choose(profile, first);
    if (p.error.status != PIM_OK)
        *error = p.error;
    return p.error.status;
}

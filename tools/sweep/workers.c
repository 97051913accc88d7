#include "tools/sweep/workers.h"

#include "sim/heap.h"
#include "sim/output/progress.h"
#include "tools/sweep/run.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LOOK_NANOSECONDS = 200000000 };

struct crew {
    const struct pim_sweep *sweep;
    struct pim_trace_pool *pool;
    const struct pim_sweep_sink *sink;
    pthread_mutex_t mutex; /* guards all below, and the calls of the sink */
    pthread_cond_t changed;
    uint64_t next, last;
    uint64_t done, failed, beaten;
    unsigned working;
    bool stopped;           /* by Ctrl-C or by the sink: no further point begins */
    bool interrupted;       /* by Ctrl-C, and by nothing before it */
    bool released;          /* SIGINT has its usual effect again */
    struct pim_error error; /* the first; ends the sweep */
};

/* The next point that is admitted and wanted; false when there is none. The mutex is held. */
static bool take_point(struct crew *crew, struct pim_sweep_point *point)
{
    while (crew->error.status == PIM_OK && !crew->stopped && crew->next < crew->last) {
        bool admitted = false, wanted = false;
        pim_sweep_locate(crew->sweep, crew->next++, point);
        if (pim_sweep_admits(crew->sweep, point, &admitted, &crew->error) != PIM_OK || !admitted)
            continue;
        if (crew->sink->wanted(crew->sink->context, point->number, &wanted, &crew->error) != PIM_OK ||
            !wanted)
            continue;
        /* Asked where something is left to do: else nothing ended early. */
        crew->stopped = crew->sink->stop && crew->sink->stop(crew->sink->context);
        return !crew->stopped;
    }
    return false;
}

static void *work(void *argument)
{
    struct crew *crew = argument;
    struct pim_sweep_point point;
    (void)pthread_mutex_lock(&crew->mutex);
    while (take_point(crew, &point)) {
        struct pim_sweep_result result;
        (void)pthread_mutex_unlock(&crew->mutex);
        if (crew->sink->run)
            crew->sink->run(crew->sink->context, &point, &result);
        else
            pim_sweep_run(crew->sweep, crew->pool, &point, &result);
        (void)pthread_mutex_lock(&crew->mutex);
        if (crew->error.status == PIM_OK &&
            crew->sink->add(crew->sink->context, &result, &crew->error) == PIM_OK) {
            crew->done += result.status == PIM_OK;
            crew->failed += result.status != PIM_OK;
            crew->beaten += result.beaten;
        }
        pim_sweep_result_terminate(&result);
        (void)pthread_cond_signal(&crew->changed);
    }
    crew->working--;
    (void)pthread_cond_signal(&crew->changed);
    (void)pthread_mutex_unlock(&crew->mutex);
    return NULL;
}

/* Whether Ctrl-C was pressed: SIGINT is blocked while the threads work, and asked for here. Once taken, the
 * next one has its usual effect. The mutex is held. */
static void look_for_stop(struct crew *crew, const sigset_t *interrupt)
{
    const struct timespec now = {0, 0};
    if (crew->released || crew->sink->leave_signals || sigtimedwait(interrupt, NULL, &now) != SIGINT)
        return;
    crew->interrupted = !crew->stopped; /* the first cause is told */
    crew->stopped = crew->released = true;
    (void)fprintf(stderr, "\nstopping: %u point%s still run%s to the end; Ctrl-C again leaves %s\n",
                  crew->working, crew->working == 1 ? "" : "s", crew->working == 1 ? "s" : "",
                  crew->working == 1 ? "it" : "them");
    (void)pthread_sigmask(SIG_UNBLOCK, interrupt, NULL);
}

/* Shows the progress until nobody works any more. */
static void watch(struct crew *crew, const sigset_t *interrupt, uint64_t expected, bool quiet)
{
    struct pim_progress progress;
    pim_progress_start(&progress, "sweep", expected, quiet);
    bool shown = progress.next != UINT64_MAX;
    (void)pthread_mutex_lock(&crew->mutex);
    while (crew->working > 0) {
        struct timespec until;
        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += LOOK_NANOSECONDS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        (void)pthread_cond_timedwait(&crew->changed, &crew->mutex, &until);
        look_for_stop(crew, interrupt);
        uint64_t done = crew->done + crew->failed;
        (void)pthread_mutex_unlock(&crew->mutex);
        if (shown)
            pim_progress_look(&progress, done); /* also when nothing got done: the time goes on */
        (void)pthread_mutex_lock(&crew->mutex);
    }
    (void)pthread_mutex_unlock(&crew->mutex);
    pim_progress_finish(&progress);
}

/* Starts as many threads as the system gives; one is enough to go on. */
static unsigned start(struct crew *crew, pthread_t *threads, unsigned count)
{
    unsigned started = 0;
    (void)pthread_mutex_lock(&crew->mutex);
    for (; started < count; started++) {
        if (!pim_heap_reserve(started + 1) || pthread_create(&threads[started], NULL, work, crew) != 0)
            break;
        crew->working++;
    }
    (void)pthread_mutex_unlock(&crew->mutex);
    return started;
}

enum pim_status pim_sweep_work(const struct pim_sweep *sweep, struct pim_trace_pool *pool,
                               const struct pim_sweep_sink *sink, uint64_t first, uint64_t last,
                               unsigned threads, uint64_t expected, bool quiet,
                               struct pim_sweep_outcome *outcome, struct pim_error *error)
{
    struct crew crew = {.sweep = sweep, .pool = pool, .sink = sink, .next = first, .last = last};
    pthread_t *ids = calloc(threads, sizeof *ids);
    *outcome = (struct pim_sweep_outcome){.done = 0};
    if (!ids || pthread_mutex_init(&crew.mutex, NULL) != 0) {
        free(ids);
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %u threads", threads);
    }
    if (pthread_cond_init(&crew.changed, NULL) != 0) {
        (void)pthread_mutex_destroy(&crew.mutex);
        free(ids);
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %u threads", threads);
    }
    sigset_t interrupt, before;
    (void)sigemptyset(&interrupt);
    (void)sigaddset(&interrupt, SIGINT);
    /* the threads inherit it: those of a library do not take the caller's signals */
    (void)pthread_sigmask(SIG_BLOCK, &interrupt, &before);
    unsigned started = start(&crew, ids, threads);
    if (sink->leave_signals)
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started == 0)
        (void)pim_fail(&crew.error, PIM_NO_MEMORY, "no thread could be started");
    else
        watch(&crew, &interrupt, expected, quiet);
    for (unsigned i = 0; i < started; i++)
        (void)pthread_join(ids[i], NULL);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_cond_destroy(&crew.changed);
    (void)pthread_mutex_destroy(&crew.mutex);
    free(ids);
    *outcome = (struct pim_sweep_outcome){.done = crew.done,
                                          .failed = crew.failed,
                                          .beaten = crew.beaten,
                                          .stopped = crew.stopped,
                                          .interrupted = crew.interrupted};
    if (crew.error.status != PIM_OK)
        *error = crew.error;
    return crew.error.status;
}

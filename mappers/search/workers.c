/* Threads that share the pieces of a task; see workers.h. */
#include "mappers/search/workers.h"

#include "mappers/search/problem.h"
#include "sim/heap.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct pim_workers {
    pthread_t thread[PIM_SEARCH_THREADS];
    unsigned threads; /* that help beside the caller */
    pthread_mutex_t mutex;
    pthread_cond_t work, done;
    /* guarded by the mutex */
    pim_worker_task *task;
    void *context;
    uint64_t next, last; /* pieces to be worked */
    uint64_t busy;       /* pieces in work */
    unsigned started;    /* threads so far: their numbers */
    bool over;
};

/* Works pieces as long as there are any; the mutex is held at the beginning and at the end. */
static void work(struct pim_workers *workers, unsigned worker)
{
    while (workers->next < workers->last) {
        uint64_t index = workers->next++;
        workers->busy++;
        (void)pthread_mutex_unlock(&workers->mutex);
        workers->task(workers->context, worker, index);
        (void)pthread_mutex_lock(&workers->mutex);
        workers->busy--;
    }
    if (workers->busy == 0)
        (void)pthread_cond_broadcast(&workers->done);
}

static void *help(void *context)
{
    struct pim_workers *workers = context;
    (void)pthread_mutex_lock(&workers->mutex);
    unsigned worker = ++workers->started;
    while (!workers->over) {
        work(workers, worker);
        if (!workers->over)
            (void)pthread_cond_wait(&workers->work, &workers->mutex);
    }
    (void)pthread_mutex_unlock(&workers->mutex);
    return NULL;
}

unsigned pim_workers_wanted(uint64_t option)
{
    long online = option > 0 ? 0 : sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t threads = online > 0 ? (uint64_t)online : option > 0 ? option : 1;
    return threads > PIM_SEARCH_THREADS ? PIM_SEARCH_THREADS : (unsigned)threads;
}

enum pim_status pim_workers_create(struct pim_workers **workers, unsigned threads, struct pim_error *error)
{
    struct pim_workers *made = *workers = calloc(1, sizeof *made);
    if (!made)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for the threads of the search");
    if (pthread_mutex_init(&made->mutex, NULL) != 0 || pthread_cond_init(&made->work, NULL) != 0 ||
        pthread_cond_init(&made->done, NULL) != 0) {
        free(made);
        *workers = NULL;
        return pim_fail(error, PIM_NO_MEMORY, "no memory for the threads of the search");
    }
    threads = threads > PIM_SEARCH_THREADS ? PIM_SEARCH_THREADS : threads;
    while (made->threads + 1 < threads && pim_heap_reserve(made->threads + 1) &&
           pthread_create(&made->thread[made->threads], NULL, help, made) == 0)
        made->threads++;
    return PIM_OK;
}

unsigned pim_workers_count(const struct pim_workers *workers)
{
    return workers->threads + 1;
}

void pim_workers_run(struct pim_workers *workers, pim_worker_task *task, void *context, uint64_t first,
                     uint64_t last)
{
    (void)pthread_mutex_lock(&workers->mutex);
    workers->task = task;
    workers->context = context;
    workers->next = first;
    workers->last = last;
    if (workers->threads > 0)
        (void)pthread_cond_broadcast(&workers->work);
    work(workers, 0);
    while (workers->busy)
        (void)pthread_cond_wait(&workers->done, &workers->mutex);
    (void)pthread_mutex_unlock(&workers->mutex);
}

void pim_workers_destroy(struct pim_workers *workers)
{
    if (!workers)
        return;
    (void)pthread_mutex_lock(&workers->mutex);
    workers->over = true;
    (void)pthread_cond_broadcast(&workers->work);
    (void)pthread_mutex_unlock(&workers->mutex);
    for (unsigned i = 0; i < workers->threads; i++)
        (void)pthread_join(workers->thread[i], NULL);
    (void)pthread_cond_destroy(&workers->work);
    (void)pthread_cond_destroy(&workers->done);
    (void)pthread_mutex_destroy(&workers->mutex);
    free(workers);
}

#include "tools/sweep/specification/fill.h"

#include "mappers/search/problem.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, PROCESSORS_MOST = 4096 };

struct filling {
    const struct pim_sweep_fill *how;
    struct pim_store *store;
    const char *host;
    uint64_t done, total;
    struct pim_search_limit limit;
};

static enum pim_status wanted(void *context, uint64_t point, bool *wanted, struct pim_error *error)
{
    const struct filling *filling = context;
    bool there = false;
    if (pim_store_has(filling->store, point, !filling->how->retry, &there, error) != PIM_OK)
        return error->status;
    *wanted = !there;
    return PIM_OK;
}

static enum pim_status add(void *context, const struct pim_sweep_result *result, struct pim_error *error)
{
    struct filling *filling = context;
    const struct pim_store_host host = {filling->host, (int64_t)time(NULL)};
    if (pim_store_add(filling->store, result, &host, error) != PIM_OK)
        return error->status;
    filling->done++;
    if (filling->how->progress)
        filling->how->progress(filling->how->context, filling->done, filling->total);
    return PIM_OK;
}

static bool stop(void *context)
{
    struct filling *filling = context;
    return pim_search_limit_over(&filling->limit);
}

unsigned pim_sweep_processors(void)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 && online <= PROCESSORS_MOST ? (unsigned)online : 1;
}

enum pim_status pim_sweep_open_pool(const struct pim_sweep *sweep, const char *results, const char *cache,
                                    struct pim_trace_pool **pool, struct pim_error *error)
{
    char folder[PATH_BYTES];
    int length = snprintf(folder, sizeof folder, "%s%s", cache ? cache : results, cache ? "" : ".traces");
    if (length < 0 || (size_t)length >= sizeof folder)
        return pim_fail(error, PIM_BAD_INPUT, "%.200s...: the path is too long", folder);
    return pim_trace_pool_create(sweep, folder, pool, error);
}

enum pim_status pim_sweep_fill(const struct pim_sweep *sweep, struct pim_trace_pool *pool,
                               struct pim_store *store, uint64_t points, const struct pim_sweep_fill *how,
                               struct pim_sweep_outcome *outcome, struct pim_error *error)
{
    char host[256] = "";
    struct pim_store_progress before = {.points = 0};
    unsigned threads = how->threads > 0 ? how->threads : pim_sweep_processors();
    (void)gethostname(host, sizeof host - 1);
    if (pim_store_progress(store, &before, error) != PIM_OK ||
        pim_store_start_session(store, threads, error) != PIM_OK)
        return error->status;
    uint64_t there = before.done + (how->retry ? 0 : before.failed);
    struct filling filling = {
        .how = how, .store = store, .host = host, .total = points > there ? points - there : 0};
    pim_search_limit_begin(&filling.limit, (double)how->seconds, how->stop, how->context);
    if (threads > filling.total)
        threads = filling.total > 0 ? (unsigned)filling.total : 1;
    const struct pim_sweep_sink sink = {.context = &filling,
                                        .wanted = wanted,
                                        .add = add,
                                        .stop = stop,
                                        .leave_signals = how->stop || how->progress};
    return pim_sweep_work(sweep, pool, &sink, 0, sweep->numbers, threads, filling.total, how->quiet, outcome,
                          error);
}

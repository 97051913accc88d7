/* The part of the public interface (include/pimsim/pimsim.h) that sweeps. */
#include "include/pimsim/pimsim.h"

#include "models/system/message.h"
#include "tools/sweep/prepare.h"
#include "tools/sweep/specification/fill.h"
#include "tools/sweep/specification/specification.h"

#include <stdlib.h>

struct pimsim_sweep_results {
    uint64_t points, done, failed;
    char *json;
};

struct call {
    const struct pimsim_sweep_options *options;
};

static void tell(void *context, uint64_t done, uint64_t total)
{
    const struct call *call = context;
    call->options->progress(call->options->context, "points", done, total);
}

static bool stops(void *context)
{
    const struct call *call = context;
    return call->options->stop && call->options->stop(call->options->context) != 0;
}

static enum pim_status check(const struct pimsim_sweep_options *options, struct pim_error *error)
{
    if (options->size != sizeof *options)
        return pim_fail(error, PIM_USAGE, "options.size is %zu, this library knows %zu: set it to sizeof",
                        options->size, sizeof *options);
    if (!options->results_path)
        return pim_fail(error, PIM_USAGE, "options.results_path is NULL");
    if (options->override_count > 0 && !options->overrides)
        return pim_fail(error, PIM_USAGE, "options.overrides is NULL, its count is %zu",
                        options->override_count);
    for (size_t i = 0; i < options->override_count; i++)
        if (!options->overrides[i])
            return pim_fail(error, PIM_USAGE, "options.overrides[%zu] is NULL", i);
    if ((unsigned)options->mode > PIMSIM_SWEEP_FORCE)
        return pim_fail(error, PIM_USAGE, "options.mode is %u", (unsigned)options->mode);
    return PIM_OK;
}

/* Runs what is missing. */
static enum pim_status run(struct call *call, struct pim_sweep *sweep, struct pim_error *error)
{
    static const enum pim_store_mode modes[] = {[PIMSIM_SWEEP_NEW] = PIM_STORE_NEW,
                                                [PIMSIM_SWEEP_RESUME] = PIM_STORE_RESUME,
                                                [PIMSIM_SWEEP_FORCE] = PIM_STORE_FORCE};
    const struct pimsim_sweep_options *options = call->options;
    struct pim_sweep_outcome outcome = {.done = 0};
    struct pim_trace_pool *pool = NULL;
    struct pim_store *store = NULL;
    uint64_t points = 0;
    enum pim_status status = pim_sweep_read(sweep, options->specification_path, error);
    for (size_t i = 0; status == PIM_OK && i < options->override_count; i++)
        status = pim_sweep_add_set(sweep, options->overrides[i], error);
    if (status == PIM_OK)
        status = pim_sweep_prepare(sweep, error);
    if (status == PIM_OK)
        status = pim_sweep_count(sweep, &points, error);
    if (status == PIM_OK && points == 0)
        status = pim_fail(error, PIM_BAD_INPUT, "the constraints leave no point");
    if (status == PIM_OK)
        status = pim_store_create(options->results_path, modes[options->mode], sweep, points, &store, error);
    if (status == PIM_OK)
        status = pim_sweep_open_pool(sweep, options->results_path, options->cache_path, &pool, error);
    const struct pim_sweep_fill how = {.threads = options->threads,
                                       .quiet = true,
                                       .progress = options->progress ? tell : NULL,
                                       .stop = stops,
                                       .context = call};
    if (status == PIM_OK)
        status = pim_sweep_fill(sweep, pool, store, points, &how, &outcome, error);
    pim_trace_pool_destroy(pool);
    pim_store_close(store);
    return status;
}

static enum pim_status export_results(const char *path, struct pimsim_sweep_results *results,
                                      struct pim_error *error)
{
    struct pim_store *store = NULL;
    struct pim_store_progress progress = {.points = 0};
    size_t size = 0;
    if (pim_store_open(path, &store, error) != PIM_OK)
        return error->status;
    enum pim_status status = pim_store_progress(store, &progress, error);
    FILE *file = open_memstream(&results->json, &size);
    if (status == PIM_OK && file)
        status = pim_store_export(store, PIM_STORE_JSON, false, file, error);
    if (status == PIM_OK && (!file || ferror(file)))
        status = pim_fail(error, PIM_NO_MEMORY, "out of memory for the results of a sweep");
    if (file && fclose(file) != 0 && status == PIM_OK)
        status = pim_fail(error, PIM_NO_MEMORY, "out of memory for the results of a sweep");
    pim_store_close(store);
    results->points = progress.points;
    results->done = progress.done;
    results->failed = progress.failed;
    return status;
}

int pimsim_sweep(struct pimsim_sweep_results **results, const struct pimsim_sweep_options *options,
                 char *message, size_t message_size)
{
    struct pim_error error = {.status = PIM_OK};
    if (results)
        *results = NULL;
    if (!results || !options || (!message && message_size > 0)) {
        (void)pim_fail(&error, PIM_USAGE, "pimsim_sweep: %s is NULL",
                       !results   ? "results"
                       : !options ? "options"
                                  : "message");
        return pim_hand_out(&error, message, message_size);
    }
    struct pimsim_sweep_results *made = calloc(1, sizeof *made);
    struct call call = {.options = options};
    enum pim_status status =
        made ? check(options, &error) : pim_fail(&error, PIM_NO_MEMORY, "out of memory for a sweep");
    if (status == PIM_OK && options->specification_path) {
        struct pim_sweep sweep;
        pim_sweep_initialize(&sweep);
        status = run(&call, &sweep, &error);
        pim_sweep_terminate(&sweep);
    }
    if (status == PIM_OK)
        status = export_results(options->results_path, made, &error);
    if (status == PIM_OK)
        *results = made;
    else
        pimsim_sweep_destroy(made);
    return pim_hand_out(&error, message, message_size);
}

const char *pimsim_sweep_json(const struct pimsim_sweep_results *results)
{
    return results ? results->json : NULL;
}

uint64_t pimsim_sweep_points(const struct pimsim_sweep_results *results, uint64_t *done, uint64_t *failed)
{
    if (done)
        *done = results ? results->done : 0;
    if (failed)
        *failed = results ? results->failed : 0;
    return results ? results->points : 0;
}

void pimsim_sweep_destroy(struct pimsim_sweep_results *results)
{
    if (!results)
        return;
    free(results->json);
    free(results);
}

#include "tools/tune/tune.h"

#include "mappers/search/workers.h"
#include "tools/sweep/workers.h"
#include "tools/tune/tuning.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double seconds(clockid_t clock)
{
    struct timespec time = {0};
    (void)clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* --- evaluating --- */

static enum pim_status text_of(const struct pim_tuning *tuning,
                               const struct pim_tune_architecture *architecture, char **text,
                               struct pim_error *error)
{
    struct pim_configuration *configuration;
    *text = NULL;
    if (pim_tune_configure(&tuning->space, architecture, &configuration, error) != PIM_OK)
        return error->status;
    *text = pim_configuration_write(configuration, false);
    pim_configuration_destroy(configuration);
    return *text ? PIM_OK : pim_tuning_no_memory(error);
}

struct job {
    struct pim_tuning *tuning;
    uint64_t iteration;
    struct pim_tune_outcome *outcome;
    const char *configuration;
    struct pim_error *errors;
    double *seconds;
};

static void evaluate_network(void *context, unsigned worker, uint64_t index)
{
    const struct job *job = context;
    const struct pim_tuning *tuning = job->tuning;
    char trace[PIM_TUNE_FOLDER_BYTES + 64];
    (void)worker;
    double begin = seconds(CLOCK_THREAD_CPUTIME_ID);
    (void)snprintf(trace, sizeof trace, "%s/%" PRIu64 "-%" PRIu64 ".trace", tuning->folder.path,
                   job->iteration, index);
    job->errors[index].status = pim_tune_evaluate(tuning->request->networks[index], tuning->request->mapper,
                                                  job->configuration, trace, tuning->subject.fidelities,
                                                  &job->outcome->network[index], &job->errors[index]);
    job->seconds[index] = seconds(CLOCK_THREAD_CPUTIME_ID) - begin;
}

static enum pim_status evaluate_all(struct job *job, struct pim_error *error)
{
    const struct pim_tuning *tuning = job->tuning;
    struct pim_workers *workers;
    unsigned threads =
        tuning->inner < tuning->subject.networks ? tuning->inner : (unsigned)tuning->subject.networks;
    if (pim_workers_create(&workers, threads, error) != PIM_OK)
        return error->status;
    pim_workers_run(workers, evaluate_network, job, 0, tuning->subject.networks);
    pim_workers_destroy(workers);
    for (size_t n = 0; n < tuning->subject.networks; n++) {
        job->outcome->cpu_seconds += job->seconds[n];
        if (job->errors[n].status != PIM_OK && error->status == PIM_OK)
            *error = job->errors[n];
    }
    return error->status;
}

/* A point, in any thread: nothing but the outcome of its iteration is written. */
static void run_point(void *context, const struct pim_sweep_point *point, struct pim_sweep_result *result)
{
    struct pim_tuning *tuning = context;
    struct pim_tune_outcome *outcome = &tuning->outcomes[point->number];
    struct pim_error error = {.status = PIM_OK};
    char *text = NULL;
    double begin = seconds(CLOCK_MONOTONIC);
    struct job job = {.tuning = tuning, .iteration = point->number, .outcome = outcome};
    job.errors = calloc(tuning->subject.networks, sizeof *job.errors);
    job.seconds = calloc(tuning->subject.networks, sizeof *job.seconds);
    if (!job.errors || !job.seconds)
        (void)pim_tuning_no_memory(&error);
    else if (text_of(tuning, &outcome->proposal.architecture, &text, &error) == PIM_OK) {
        job.configuration = text;
        (void)evaluate_all(&job, &error);
    }
    free(job.errors);
    free(job.seconds);
    free(text);
    outcome->status = error.status;
    (void)snprintf(outcome->error, sizeof outcome->error, "%.500s", error.text);
    outcome->wall_seconds = seconds(CLOCK_MONOTONIC) - begin;
    pim_tune_sum_up(&tuning->subject, outcome);
    pim_sweep_result_initialize(result, point->number);
    result->status = outcome->status;
}

/* Writes the iterations that are known, as far as none is missing. */
static enum pim_status write_known(struct pim_tuning *tuning, struct pim_error *error)
{
    const struct pim_store_host host = {tuning->host, (int64_t)time(NULL)};
    for (; tuning->written < tuning->request->iterations && tuning->outcomes[tuning->written].known;
         tuning->written++) {
        const struct pim_tune_outcome *outcome = &tuning->outcomes[tuning->written];
        struct pim_sweep_result result;
        bool there = false;
        pim_tune_best_count(&tuning->best, &outcome->proposal.architecture, tuning->written,
                            outcome->cost[tuning->subject.fidelity]);
        if (pim_store_has(tuning->store, tuning->written, true, &there, error) != PIM_OK)
            return error->status;
        if (there)
            continue;
        enum pim_status status =
            pim_tune_write_outcome(&tuning->subject, tuning->written, outcome, &tuning->best, &result, error);
        if (status == PIM_OK)
            status = pim_store_add(tuning->store, &result, &host, error);
        pim_sweep_result_terminate(&result);
        if (status != PIM_OK)
            return status;
        tuning->now++;
    }
    return PIM_OK;
}

static enum pim_status add(void *context, const struct pim_sweep_result *result, struct pim_error *error)
{
    struct pim_tuning *tuning = context;
    const struct pim_tune_outcome *outcome = &tuning->outcomes[result->point];
    if (outcome->status == PIM_IO ||
        outcome->status == PIM_NO_MEMORY) /* of this machine, not of the architecture */
        return pim_fail(error, outcome->status, "%s", outcome->error);
    tuning->outcomes[result->point].known = true;
    enum pim_status status = write_known(tuning, error);
    pim_progress_update(&tuning->progress, tuning->written);
    return status;
}

static enum pim_status wanted(void *context, uint64_t point, bool *wanted, struct pim_error *error)
{
    const struct pim_tuning *tuning = context;
    (void)error;
    *wanted = !tuning->outcomes[point].known;
    return PIM_OK;
}

static bool out_of_time(void *context)
{
    const struct pim_tuning *tuning = context;
    return tuning->request->seconds > 0 &&
           seconds(CLOCK_MONOTONIC) - tuning->started >= (double)tuning->request->seconds;
}

/* --- the loop --- */

/* Takes what the store holds of an iteration. */
static enum pim_status recall(struct pim_tuning *tuning, uint64_t iteration, struct pim_error *error)
{
    struct pim_sweep_result result;
    bool there = false;
    if (pim_store_has(tuning->store, iteration, true, &there, error) != PIM_OK)
        return error->status;
    if (!there)
        return PIM_OK;
    enum pim_status status = pim_store_read(tuning->store, iteration, &result, error);
    if (status == PIM_OK)
        status = pim_tune_read_outcome(&tuning->subject, &result, &tuning->outcomes[iteration], error);
    pim_sweep_result_terminate(&result);
    return status == PIM_OK ? PIM_OK : pim_fail_in(error, "%s", tuning->request->output);
}

/* Proposes, evaluates and observes the iterations of [first, last). */
static enum pim_status work(struct pim_tuning *tuning, uint64_t first, uint64_t last,
                            struct pim_tune_result *result, struct pim_error *error)
{
    const struct pim_tune_request *request = tuning->request;
    const struct pim_sweep_sink sink = {
        .context = tuning, .wanted = wanted, .add = add, .run = run_point, .stop = out_of_time};
    struct pim_sweep_outcome outcome = {.done = 0};
    for (uint64_t i = first; i < last; i++) {
        struct pim_tune_outcome *one = &tuning->outcomes[i];
        if (pim_tune_propose(tuning->strategy, i, &one->proposal, error) != PIM_OK ||
            recall(tuning, i, error) != PIM_OK)
            return error->status;
    }
    tuning->inner = last - first == 1 ? request->threads : 1;
    if (write_known(tuning, error) != PIM_OK)
        return error->status;
    if (tuning->written < last) {
        uint64_t threads = last - first < request->threads ? last - first : request->threads;
        if (pim_sweep_work(&tuning->sweep, NULL, &sink, first, last, (unsigned)threads, last - first, true,
                           &outcome, error) != PIM_OK)
            return error->status;
        result->stopped = outcome.stopped;
        result->interrupted = outcome.interrupted;
    }
    for (uint64_t i = first; i < last && i < tuning->written; i++)
        if (pim_tune_observe(tuning->strategy, &tuning->outcomes[i].proposal.architecture,
                             tuning->outcomes[i].cost[tuning->subject.fidelity], error) != PIM_OK)
            return error->status;
    return PIM_OK;
}

/* Every network must be mappable where nodes have most memory, before the search begins. */
static enum pim_status try_networks(const struct pim_tuning *tuning, struct pim_error *error)
{
    struct pim_tune_architecture roomy;
    struct pim_tune_evaluation ignored;
    char *text, trace[PIM_TUNE_FOLDER_BYTES + 16];
    pim_tune_smallest(&tuning->space, &roomy);
    for (int d = PIM_TUNE_ROWS; d < PIM_TUNE_DIMENSIONS; d++)
        roomy.at[d] = tuning->space.count[d] / 2;
    (void)snprintf(trace, sizeof trace, "%s/trial.trace", tuning->folder.path);
    enum pim_status status = text_of(tuning, &roomy, &text, error);
    for (size_t n = 0; n < tuning->subject.networks && status == PIM_OK; n++)
        status = pim_tune_evaluate(tuning->request->networks[n], tuning->request->mapper, text, trace, 0,
                                   &ignored, error);
    free(text);
    return status == PIM_OK ? PIM_OK
                            : pim_fail_in(error, "cannot be mapped even where a node has most memory");
}

/* When none of the first ones works, the message is of one whose nodes have most memory: what it lacks is
 * what has to be found. */
static enum pim_status check_first(const struct pim_tuning *tuning, uint64_t last, struct pim_error *error)
{
    uint64_t roomiest = 0;
    char text[128];
    for (uint64_t i = 0; i < last; i++) {
        const struct pim_tune_outcome *one = &tuning->outcomes[i];
        if (one->status == PIM_OK)
            return PIM_OK;
        if (pim_tune_banks(&tuning->space, &one->proposal.architecture) >
            pim_tune_banks(&tuning->space, &tuning->outcomes[roomiest].proposal.architecture))
            roomiest = i;
    }
    const struct pim_tune_outcome *one = &tuning->outcomes[roomiest];
    pim_tune_describe(&tuning->space, &one->proposal.architecture, text, sizeof text);
    return pim_fail(error, PIM_BAD_INPUT,
                    "none of the first %" PRIu64
                    " architectures works; the one with most memory in a node, %s: %s",
                    last, text, one->error);
}

static enum pim_status search(struct pim_tuning *tuning, struct pim_tune_result *result,
                              struct pim_error *error)
{
    const struct pim_tune_request *request = tuning->request;
    if (pim_store_start_session(tuning->store, request->threads, error) != PIM_OK)
        return error->status;
    pim_progress_start(&tuning->progress, "tune", request->iterations, request->quiet);
    for (uint64_t i = 0; i < request->iterations && !result->stopped && error->status == PIM_OK;) {
        uint64_t count = pim_tune_independent(tuning->strategy, i, request->iterations - i);
        result->interrupted = request->asked && request->asked(request->asked_context);
        result->stopped = result->interrupted || out_of_time(tuning);
        if (!result->stopped && work(tuning, i, i + count, result, error) == PIM_OK && i == 0 &&
            !result->stopped)
            (void)check_first(tuning, count, error);
        i += count;
    }
    pim_progress_finish(&tuning->progress);
    return error->status;
}

/* --- the result --- */

static void describe_best(const struct pim_tuning *tuning, struct pim_tune_result *result)
{
    for (; result->best_count < tuning->best.count; result->best_count++) {
        const struct pim_tune_ranked *one = &tuning->best.rank[result->best_count];
        struct pim_area area;
        pim_tune_area(&tuning->space, &one->architecture, &area);
        result->best[result->best_count].iteration = one->iteration;
        result->best[result->best_count].cost = one->cost;
        result->best[result->best_count].area = area.engines;
        pim_tune_describe(&tuning->space, &one->architecture, result->best[result->best_count].text,
                          sizeof result->best[0].text);
    }
}

static enum pim_status gather(const struct pim_tuning *tuning, struct pim_tune_result *result,
                              struct pim_error *error)
{
    result->done = tuning->written;
    result->now = tuning->now;
    result->wall_seconds = seconds(CLOCK_MONOTONIC) - tuning->started;
    describe_best(tuning, result);
    for (int f = 0; f < PIM_TUNE_FIDELITIES; f++) {
        result->cost[f] = calloc(tuning->written + 1, sizeof *result->cost[f]);
        if (!result->cost[f])
            return pim_tuning_no_memory(error);
    }
    for (uint64_t i = 0; i < tuning->written; i++) {
        const struct pim_tune_outcome *outcome = &tuning->outcomes[i];
        for (int f = 0; f < PIM_TUNE_FIDELITIES && outcome->status == PIM_OK; f++)
            result->cost[f][result->cost_count] = outcome->cost[f];
        result->cost_count += outcome->status == PIM_OK;
        result->failed += outcome->status != PIM_OK;
        for (size_t n = 0; n < tuning->subject.networks; n++) {
            result->map_seconds += outcome->network[n].map_seconds / (double)(tuning->now ? tuning->now : 1);
            for (int f = 0; f < PIM_TUNE_FIDELITIES; f++)
                result->seconds[f] +=
                    outcome->network[n].of[f].cpu_seconds / (double)(tuning->now ? tuning->now : 1);
        }
    }
    return PIM_OK;
}

void pim_tune_result_terminate(struct pim_tune_result *result)
{
    for (int f = 0; f < PIM_TUNE_FIDELITIES; f++)
        free(result->cost[f]);
}

static void terminate(struct pim_tuning *tuning)
{
    pim_store_close(tuning->store);
    pim_tune_folder_terminate(&tuning->folder);
    pim_tune_strategy_destroy(tuning->strategy);
    pim_sweep_terminate(&tuning->sweep);
    pim_tune_space_terminate(&tuning->space);
    pim_tune_constraints_terminate(&tuning->constraints);
    for (size_t i = 0; i < tuning->subject.networks; i++)
        free(tuning->subject.labels[i]);
    free(tuning->subject.labels);
    free(tuning->outcomes);
    free(tuning->evaluations);
    free(tuning);
}

enum pim_status pim_tune_run(const struct pim_tune_request *request, struct pim_tune_result *result,
                             struct pim_error *error)
{
    struct pim_tuning *tuning = calloc(1, sizeof *tuning);
    *result = (struct pim_tune_result){.done = 0};
    if (!tuning)
        return pim_tuning_no_memory(error);
    tuning->request = request;
    tuning->started = seconds(CLOCK_MONOTONIC);
    (void)gethostname(tuning->host, sizeof tuning->host - 1);
    pim_sweep_initialize(&tuning->sweep);
    enum pim_status status = pim_tuning_define(tuning, error);
    if (status == PIM_OK)
        status = pim_tune_folder_initialize(&tuning->folder, error);
    if (status == PIM_OK)
        status = try_networks(tuning, error);
    if (status == PIM_OK)
        status = pim_store_create(request->output, request->mode, &tuning->sweep, request->iterations,
                                  &tuning->store, error);
    if (status == PIM_OK)
        status = search(tuning, result, error);
    if (status == PIM_OK)
        status = gather(tuning, result, error);
    terminate(tuning);
    return status;
}

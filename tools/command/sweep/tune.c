/*
 * pimsim tune: lets NicePIM's tuner, or one of its rivals, choose the hardware. The search is tools/tune;
 * here are the options and what is said at the end. The results are a sweep database: `pimsim sweep --status`
 * and `--export` look at them, `pimsim report` draws them.
 */
#include "tools/tune/tune.h"
#include "mappers/learn/correlation.h"
#include "mappers/search/problem.h"
#include "tools/command/command.h"
#include "tools/command/interrupt.h"
#include "tools/command/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS_MOST = 256 };

static const double FAITHFUL = 0.95; /* rank correlation at which a fidelity stands for flits */

#define METHODS_CHOICE "nicepim|random|annealing|gaussian|trees"
#define FIDELITIES_CHOICE "estimate|ideal|flit"

/* Options of a search; the last is of methods that learn. */
enum { SEARCHES = 4 };
static const char *const searching[SEARCHES] = {"iterations", "method", "fidelity", "candidates"};

struct request {
    struct text_list networks; /* as given: each may be several, with commas between */
    const char *constraints, *goal, *mapper, *output;
    unsigned method, fidelity;
    uint64_t iterations, ladder, seed, candidates, threads, seconds;
    bool resume, force, quiet;
    const char *searches[SEARCHES]; /* which of `searching` were given */
};

/* --- the end --- */

static void print_best(const struct request *request, const struct pim_tune_result *result)
{
    printf("%s: %" PRIu64 " iterations, %" PRIu64 " of them now", request->output, result->done, result->now);
    if (result->failed > 0)
        printf(", %" PRIu64 " failed", result->failed);
    printf("\n");
    for (unsigned i = 0; i < result->best_count; i++)
        printf("%-10s cost %.6g, area %.4g mm2: %s (iteration %" PRIu64 ")\n",
               i == 0   ? "best"
               : i == 1 ? "second"
                        : "third",
               result->best[i].cost, result->best[i].area, result->best[i].text, result->best[i].iteration);
}

static int ascending(const void *a, const void *b)
{
    double one = *(const double *)a, two = *(const double *)b;
    return one < two ? -1 : one > two;
}

/* Spearman's correlation of a fidelity's costs with those of flits, over the `count` architectures that are
 * best by flits. */
static enum pim_status correlate(const struct pim_tune_result *result, int fidelity, size_t count,
                                 double *correlation, struct pim_error *error)
{
    const double *flit = result->cost[PIM_TUNE_FLIT];
    double *sorted = calloc(result->cost_count, sizeof *sorted), *x = calloc(count + 1, sizeof *x),
           *y = calloc(count + 1, sizeof *y);
    enum pim_status status =
        sorted && x && y ? PIM_OK : pim_fail(error, PIM_NO_MEMORY, "out of memory for the ladder");
    size_t taken = 0;
    if (sorted && x && y) {
        memcpy(sorted, flit, result->cost_count * sizeof *sorted);
        qsort(sorted, result->cost_count, sizeof *sorted, ascending);
        for (size_t i = 0; i < result->cost_count && count > 0; i++)
            if (flit[i] <= sorted[count - 1] && taken < count) {
                x[taken] = result->cost[fidelity][i];
                y[taken++] = flit[i];
            }
        status = pim_rank_correlation(taken, x, y, correlation, error);
    }
    free(sorted);
    free(x);
    free(y);
    return status;
}

static enum pim_status print_ladder(const struct pim_tune_result *result, struct pim_error *error)
{
    enum { LEAST = 4 }; /* of which half can be ranked */
    const uint64_t work = result->cost_count;
    if (work < LEAST) {
        printf("%" PRIu64 " of %" PRIu64 " architectures %s, and ranks need %d: go on with --resume --ladder "
               "%" PRIu64 "%s\n",
               work, result->done, work == 1 ? "works" : "work", LEAST, result->done + LEAST - work,
               work == result->done ? "" : " or more");
        return PIM_OK;
    }
    int cheapest = -1; /* fidelities ascend in what they cost */
    printf("\n%-10s %18s %18s %16s\n", "fidelity", "rank correlation", "of the better half", "CPU time");
    for (int f = 0; f < PIM_TUNE_FIDELITIES; f++) {
        double all = 0, better = 0;
        if (correlate(result, f, result->cost_count, &all, error) != PIM_OK ||
            correlate(result, f, result->cost_count / 2, &better, error) != PIM_OK)
            return error->status;
        printf("%-10s %18.4f %18.4f", pim_tune_fidelity_name((enum pim_tune_fidelity)f), all, better);
        cheapest = cheapest < 0 && all >= FAITHFUL ? f : cheapest;
        if (result->now > 0)
            printf(" %14.3f s\n", result->map_seconds + result->seconds[f]);
        else
            printf(" %16s\n", "-");
    }
    printf("the cheapest with a correlation of %.2f and more: %s", FAITHFUL,
           pim_tune_fidelity_name((enum pim_tune_fidelity)cheapest)); /* flits rank as themselves */
    if (result->now > 0)
        printf(", %.0f an hour of a core", 3600 / (result->map_seconds + result->seconds[cheapest]));
    printf("\n");
    if (result->now > 0)
        printf("each with %.3f s of mapping, means of %" PRIu64 " architectures\n", result->map_seconds,
               result->now);
    return PIM_OK;
}

static enum pim_status conclude(const struct request *request, const struct pim_tune_result *result,
                                struct pim_error *error)
{
    if (!request->quiet) {
        print_best(request, result);
        if (request->ladder > 0 && print_ladder(result, error) != PIM_OK)
            return error->status;
    }
    if (!result->stopped)
        return PIM_OK;
    return pim_fail(
        error, PIM_IO,
        "ended early (%s) with %" PRIu64 " of %" PRIu64
        " iterations done: the same command with --resume goes on, pimsim sweep --status %s looks",
        pim_search_end_cause(result->interrupted ? PIM_SEARCH_STOPPED : PIM_SEARCH_TIME), result->done,
        request->ladder ? request->ladder : request->iterations, request->output);
}

/* --- the beginning --- */

/* Cuts the lists at their commas; *text holds the names. */
static enum pim_status split(const struct text_list *lists, char **text, const char ***names, size_t *count,
                             struct pim_error *error)
{
    size_t bytes = 1, most = 1;
    for (size_t i = 0; i < lists->count; i++)
        for (const char *at = lists->items[i]; *at || bytes == 1; at++) {
            most += *at == ',';
            if (!*at)
                break;
        }
    for (size_t i = 0; i < lists->count; i++)
        bytes += strlen(lists->items[i]) + 1;
    *text = malloc(bytes);
    *names = calloc(most + lists->count, sizeof **names);
    *count = 0;
    if (!*text || !*names)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the networks");
    char *at = *text;
    for (size_t i = 0; i < lists->count; i++) {
        (*names)[(*count)++] = at;
        for (const char *from = lists->items[i]; *from; from++) {
            *at++ = *from == ',' ? '\0' : *from;
            if (*from == ',')
                (*names)[(*count)++] = at;
        }
        *at++ = '\0';
    }
    for (size_t i = 0; i < *count; i++)
        if ((*names)[i][0] == '\0')
            return pim_fail(error, PIM_USAGE, "--networks: a name between two commas is empty");
    return PIM_OK;
}

static enum pim_status check(const struct request *request, struct pim_error *error)
{
    if (request->networks.count == 0)
        return pim_fail(error, PIM_USAGE, "--networks FILE,FILE is needed");
    if (!request->constraints)
        return pim_fail(error, PIM_USAGE, "--constraints FILE is needed");
    if (!request->output)
        return pim_fail(error, PIM_USAGE, "--output FILE is needed");
    if (request->resume && request->force)
        return pim_fail(error, PIM_USAGE,
                        "--resume keeps results, --force throws them away: only one of them is possible");
    for (size_t i = 0; i < SEARCHES; i++)
        if (request->ladder > 0 && request->searches[i])
            return pim_fail(error, PIM_USAGE,
                            "--%s is for a search: --ladder tries random architectures at all fidelities",
                            searching[i]);
    if (request->searches[SEARCHES - 1] &&
        (request->method == PIM_TUNE_RANDOM || request->method == PIM_TUNE_ANNEALING))
        return pim_fail(error, PIM_USAGE,
                        "--candidates is for methods that learn: nicepim, gaussian and trees");
    return PIM_OK;
}

static enum pim_status run(const struct request *request, struct pim_error *error)
{
    struct interrupt interrupt;
    struct pim_tune_request tune = {.constraints = request->constraints,
                                    .goal = request->goal,
                                    .mapper = request->mapper,
                                    .method = request->ladder ? PIM_TUNE_RANDOM
                                                              : (enum pim_tune_method)request->method,
                                    .fidelity = (enum pim_tune_fidelity)request->fidelity,
                                    .ladder = request->ladder > 0,
                                    .iterations = request->ladder ? request->ladder : request->iterations,
                                    .seed = request->seed,
                                    .candidates = request->candidates,
                                    .seconds = request->seconds,
                                    .output = request->output,
                                    .mode = request->force    ? PIM_STORE_FORCE
                                            : request->resume ? PIM_STORE_RESUME
                                                              : PIM_STORE_NEW,
                                    .quiet = request->quiet,
                                    .asked = interrupt_asked,
                                    .asked_context = &interrupt};
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    struct pim_tune_result result = {.done = 0};
    char *text = NULL;
    const char **names = NULL;
    long threads = request->threads ? (long)request->threads : online;
    tune.threads = threads < 1 ? 1 : threads < (long)THREADS_MOST ? (unsigned)threads : THREADS_MOST;
    if (tune.ladder)
        tune.fidelity = PIM_TUNE_FLIT;
    enum pim_status status = check(request, error);
    if (status == PIM_OK)
        status = split(&request->networks, &text, &names, &tune.network_count, error);
    tune.networks = names;
    if (status == PIM_OK) {
        interrupt_begin(&interrupt);
        status = pim_tune_run(&tune, &result, error);
        interrupt_end();
    }
    if (status == PIM_OK)
        status = conclude(request, &result, error);
    pim_tune_result_terminate(&result);
    free(names);
    free(text);
    return status;
}

int command_tune(int argument_count, char **arguments)
{
    struct request request = {.goal = "energy*latency",
                              .mapper = "nicepim",
                              .iterations = 100,
                              .fidelity = 2,
                              .candidates = PIM_TUNE_CANDIDATES};
    struct option_rule rules[] = {
        {.name = "networks",
         .kind = OPTION_LIST,
         .target = &request.networks,
         .argument = "FILE,FILE",
         .help = "Networks that the hardware is for"},
        RULE_TEXT("constraints", request.constraints, "FILE", "Base hardware, area and bounds"),
        RULE_TEXT("goal", request.goal, "GOAL",
                  "What is minimised, summed over networks: energy^A*latency^B"),
        RULE_CHOICE("method", request.method, "METHOD", METHODS_CHOICE,
                    "How the next architecture is chosen"),
        RULE_CHOICE("fidelity", request.fidelity, "FIDELITY", FIDELITIES_CHOICE,
                    "How networks are timed: the mapper's estimate, simulated with an ideal network, "
                    "simulated flit by flit"),
        RULE_UNSIGNED("iterations", request.iterations, "N", 1, PIM_TUNE_ITERATIONS_MOST,
                      "Architectures that are tried"),
        RULE_UNSIGNED("ladder", request.ladder, "N", 2, PIM_TUNE_ITERATIONS_MOST,
                      "Instead: N random architectures at all fidelities, and how each ranks them"),
        RULE_UNSIGNED("candidates", request.candidates, "N", 16, 1 << 20,
                      "Candidates of an iteration, of methods that learn"),
        RULE_UNSIGNED("seed", request.seed, "SEED", 0, INT64_MAX, "Seed of the search"),
        RULE_TEXT("mapper", request.mapper, "WORDS", "The mapper with its options, as behind `pimsim map`"),
        OPTION_JOBS(request.threads, THREADS_MOST, "Networks or architectures"),
        OPTION_OUTPUT(request.output, WRITES_RESULTS, "The results (SQLite), as of `pimsim sweep`"),
        RULE_FLAG("resume", request.resume, "Goes on with the results in FILE"),
        RULE_FLAG("force", request.force, "Throws the results in FILE away, if there are any"),
        RULE_UNSIGNED("time-limit", request.seconds, "SECONDS", 1, 10000000,
                      "Begins no further iteration after this time", .standard = "no limit"),
        {.name = "quiet",
         .letter = 'q',
         .kind = OPTION_FLAG,
         .target = &request.quiet,
         .help = "No progress bar, no summary"},
    };
    const struct option_usage usage =
        OPTION_USAGE("",
                     "Chooses the hardware for networks: node array, PE array and buffers of "
                     "a DRAM-PIM system within an area.",
                     rules, 0, 0);
    for (size_t i = 0; i < SEARCHES; i++)
        options_watch(rules, sizeof rules / sizeof rules[0], searching[i], &request.searches[i]);
    options_parse(&usage, argument_count, arguments, NULL);
    struct pim_error error = {0};
    enum pim_status status = run(&request, &error);
    text_list_terminate(&request.networks);
    return command_end(arguments[0], status, &error);
}

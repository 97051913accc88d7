#include "mappers/mappers.h"

#include "mappers/overlapim/choice.h"
#include "mappers/overlapim/emit/emit.h"
#include "mappers/overlapim/emit/real_check.h"
#include "mappers/overlapim/plan.h"
#include "traces/check/check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct pim_option rows[] = {
    PIM_CHOICE_ROW("objective", struct pim_overlapim_options, objective, "NAME",
                   "original|overlap|transform|ahead|best",
                   "Which mappings are estimated and written: those with the best sequential latency, the "
                   "best overlapped one, or the best transformed one, of pairs; those found behind all "
                   "layers before; or the fastest of all that were found"),
    PIM_CHOICE_ROW("order", struct pim_overlapim_options, order, "NAME",
                   "forward|backward|middle-output|middle-total",
                   "Where the search begins: at the first layer, the last, the one with the largest output, "
                   "or the one with the largest P x Q x C x K"),
    PIM_CHOICE_ROW(
        "search", struct pim_overlapim_options, random, "NAME", "local|random",
        "Where candidates come from; local: a fifth of them is drawn from the whole mapping space, "
        "the others near the best so far; random: all are drawn from the whole space"),
    PIM_CHOICE_ROW("channels-per-layer", struct pim_overlapim_options, channels, "NUMBER", "1|2|4",
                   "Channels that each layer has; 2 is the paper's setting"),
    PIM_COUNT_ROW("data-spaces", struct pim_overlapim_options, data_spaces, "NUMBER", 1, 1 << 22,
                  "Data spaces (steps x banks) of a layer, at most"),
    PIM_TEXT_ROW("constraints", struct pim_overlapim_options, constraints, "FILE",
                 "Factors, orders and weights that are not kept, for all layers or single ones"),
    PIM_CHOICE_ROW("analysis", struct pim_overlapim_options, analysis, "NAME", "exact|exhaustive",
                   "How ready times are found; exhaustive: by comparison of all data spaces, as in "
                   "OverlaPIM, with as many random candidates as take the run time of exact"),
    PIM_CHOICE_ROW("rows", struct pim_overlapim_options, rows, "KIND", "counted|real",
                   "What instructions name; counted: operations on rows that stand for others; real: those "
                   "of small products the rows of their own words"),
    PIM_FLAG_ROW("check-values", struct pim_overlapim_options, check,
                 "Executes the trace, with real rows, on real bits, and compares every output of every "
                 "product with a direct evaluation"),
    PIM_PRINT_ROW("nests", struct pim_overlapim_options, nests,
                  "Prints the loop nests as well, as pimsim overlap reads them"),
    PIM_STEPS_ROW("Candidates of each layer and objective", .standard = "1000"),
    PIM_SEED_ROW("Seed of the candidates"),
    PIM_SECONDS_ROW("Of the searches, which then take the best so far and, for layers that had no turn, the "
                    "first candidates that fit; results depend on it",
                    .standard = "no limit"),
    PIM_THREADS_ROW(
        "Threads of the search; 0: one for each processor. The result is the same with any number"),
};

static const struct pim_overlapim_options defaults = {
    .search = {.seed = 1}, .objective = PIM_OBJECTIVE_BEST, .channels = 1, .data_spaces = 16384};

/* A plan with the texts that its traces carry. */
struct made {
    struct pim_overlapim_plan plan;
    const struct pim_mapper_inputs *inputs;
    const struct pim_mapper_search *search; /* while it is made */
    bool check;
    char mapping[256];
};

static enum pim_status accept(const void *given, bool writes, struct pim_error *error)
{
    const struct pim_overlapim_options *options = given;
    const struct pim_option_refusal refusals[] = {{options->check && options->rows == 0, "rows",
                                                   "counted has no bits that --check-values could compare"}};
    (void)writes;
    if ((options->rows == 1 || options->check) && options->objective == PIM_OBJECTIVE_TRANSFORM)
        return pim_fail(
            error, PIM_USAGE,
            "--rows real and --check-values are for --objective original, overlap, ahead or best: "
            "a transformation puts sums into other banks than the nest says");
    return pim_option_refuse(&pim_overlapim_mapper.options, given, refusals,
                             sizeof refusals / sizeof refusals[0], error);
}

static void terminate(void *plan)
{
    struct made *made = plan;
    pim_overlapim_plan_terminate(&made->plan);
}

/* The trace of the plan as it is, simulated in a folder of its own. */
static enum pim_status simulate(void *context, uint64_t *cycles, struct pim_error *error)
{
    struct made *made = context;
    const struct pim_mapper_inputs *inputs = made->inputs;
    struct pim_mapping mapping = {.mapper = &pim_overlapim_mapper, .plan = made};
    char folder[4000], path[4096];
    bool complete = false;
    if (made->search->stop && made->search->stop(made->search->context)) {
        if (!made->plan.ended_early)
            made->plan.ended_early = pim_search_end_cause(PIM_SEARCH_STOPPED);
        return pim_fail(error, PIM_IO, "stopped");
    }
    const char *given = getenv("TMPDIR");
    int length = snprintf(folder, sizeof folder, "%s/pimsim-XXXXXX", given && *given ? given : "/tmp");
    if (length < 0 || (size_t)length >= sizeof folder || !mkdtemp(folder))
        return pim_fail(error, PIM_IO,
                        "%s: no folder can be made there, and mappings that are simulated need one", folder);
    (void)snprintf(path, sizeof path, "%s/trace", folder);
    enum pim_status status = pim_mapping_write(&mapping, path, error);
    if (status == PIM_OK)
        status = inputs->simulate(inputs->simulator, path, UINT64_MAX, cycles, &complete, error);
    (void)unlink(path);
    (void)rmdir(folder);
    return status;
}

/* What is written is the fastest that was found: of all series, where none was asked for; of `ahead` and of
 * the sequential latencies of single layers, the simplest there is, where `ahead` was. Nothing is simulated
 * where nobody does, where time is limited, and behind a stop: one that is under way goes on to its end. */
static enum pim_status choose(struct made *made, struct pim_error *error)
{
    static const enum pim_series in_lock_step[] = {PIM_SERIES_ORIGINAL_OVERLAP, PIM_SERIES_OVERLAP,
                                                   PIM_SERIES_AHEAD, PIM_SERIES_WIDE, PIM_SERIES_MIXED},
                                 all[] = {PIM_SERIES_ORIGINAL_OVERLAP,
                                          PIM_SERIES_ORIGINAL_TRANSFORM,
                                          PIM_SERIES_OVERLAP,
                                          PIM_SERIES_OVERLAP_TRANSFORM,
                                          PIM_SERIES_TRANSFORM,
                                          PIM_SERIES_AHEAD,
                                          PIM_SERIES_WIDE,
                                          PIM_SERIES_MIXED},
                                 ahead[] = {PIM_SERIES_AHEAD, PIM_SERIES_ORIGINAL_OVERLAP};
    struct pim_overlapim_plan *plan = &made->plan;
    pim_series_simulate *by = made->inputs->simulate && made->search->seconds == 0 ? simulate : NULL;
    if (plan->best && !plan->real)
        return pim_series_choose(plan, all, sizeof all / sizeof all[0], by, made, error);
    if (plan->best) /* a transformation puts sums into other banks than the nest says */
        return pim_series_choose(plan, in_lock_step, sizeof in_lock_step / sizeof in_lock_step[0], by, made,
                                 error);
    if (pim_series_choose(plan, ahead, sizeof ahead / sizeof ahead[0], by, made, error) != PIM_OK)
        return error->status;
    plan->ruled = plan->series == PIM_SERIES_ORIGINAL_OVERLAP;
    plan->series = PIM_SERIES_AHEAD;
    return plan->ruled ? pim_overlapim_take_rule(plan, error) : PIM_OK;
}

static enum pim_status make(const struct pim_mapper_inputs *inputs, const void *options, void *plan,
                            struct pim_error *error)
{
    const struct pim_overlapim_options *given = options;
    struct made *made = plan;
    made->inputs = inputs;
    made->search = &given->search;
    enum pim_status status = pim_overlapim_plan_make(inputs, options, &made->plan, error);
    if (status == PIM_OK &&
        (given->objective == PIM_OBJECTIVE_AHEAD || given->objective == PIM_OBJECTIVE_BEST))
        status = choose(made, error);
    made->check = given->check;
    return status;
}

static enum pim_status estimate(void *plan, struct pim_mapper_estimate *estimate, struct pim_error *error)
{
    const struct made *made = plan;
    (void)error;
    memset(estimate, 0, sizeof *estimate);
    estimate->cycles = pim_overlapim_cycles(&made->plan, made->plan.series);
    return PIM_OK;
}

static void foresee(const struct pim_mapper_inputs *inputs, const void *options, struct pim_mapper_job *job)
{
    (void)options;
    (void)snprintf(job->network, sizeof job->network, "%s", inputs->network->name);
}

static enum pim_status describe(void *plan, struct pim_trace_description *description,
                                struct pim_error *error)
{
    struct made *made = plan;
    const struct pim_machine *machine = &made->plan.machine;
    uint64_t macs = 0;
    (void)error;
    for (uint32_t i = 0; i < made->plan.layers.count; i++) {
        if (made->plan.layers.layer[i].product)
            macs += pim_workload_products(&made->plan.layers.layer[i].workload);
    }
    (void)snprintf(made->mapping, sizeof made->mapping,
                   "%s, %" PRIu32 " channels a layer, %" PRIu64 " %scandidates",
                   pim_series_name(made->plan.series), made->plan.search.channels, made->plan.search.budget,
                   made->plan.search.random ? "random " : "");
    *description = (struct pim_trace_description){.family = "overlapim",
                                                  .network = made->plan.network,
                                                  .mapping = made->mapping,
                                                  .configuration = made->plan.configuration,
                                                  .width = machine->channels,
                                                  .height = machine->stacks,
                                                  .units = machine->channels * machine->stacks,
                                                  .macs = macs};
    return PIM_OK;
}

static enum pim_status emit(void *plan, struct pim_trace_writer *writer, struct pim_error *error)
{
    const struct made *made = plan;
    return pim_overlapim_emit(&made->plan, writer, error);
}

static enum pim_status prove(void *plan, const char *path, bool *again, struct pim_error *error)
{
    struct made *made = plan;
    const struct pim_check_limits limits = pim_check_limits_of_channels(made->plan.machine.window);
    struct pim_check_result result;
    struct pim_trace *trace;
    if (pim_trace_open(path, &trace, error) != PIM_OK)
        return error->status;
    enum pim_status status = pim_trace_check(trace, &limits, &result, error);
    pim_trace_close(trace);
    if (status == PIM_DEADLOCK && !made->plan.ends[made->plan.series]) {
        *error = (struct pim_error){.status = PIM_OK};
        *again = true;
        return pim_overlapim_take_ends(&made->plan, error);
    }
    return status == PIM_OK ? PIM_OK : pim_fail_in(error, "the program is wrong");
}

static bool checks(const void *plan)
{
    const struct made *made = plan;
    return made->check;
}

static enum pim_status check(void *plan, const char *path, struct pim_error *error)
{
    struct made *made = plan;
    if (!made->inputs->execute)
        return pim_fail(error, PIM_USAGE, "--check-values: there is no simulator here that has bits");
    if (pim_real_check(&made->plan, made->inputs, path, &made->plan.checked, error) == PIM_OK)
        return PIM_OK;
    return error->status == PIM_INTERNAL ? pim_fail_in(error, "the program is wrong") : error->status;
}

static enum pim_status print(void *plan, FILE *file, struct pim_error *error)
{
    const struct made *made = plan;
    return pim_overlapim_print(&made->plan, file, error);
}

static enum pim_status write_json(void *plan, FILE *file, struct pim_error *error)
{
    const struct made *made = plan;
    return pim_overlapim_write_json(&made->plan, file, error);
}

const struct pim_mapper pim_overlapim_mapper = {
    .name = "overlapim",
    .summary = "Networks on memories that compute, layers overlapped",
    .description =
        "Maps a network onto the channels of a memory whose banks compute bit by bit, and overlaps "
        "its layers, as Fast-OverlaPIM does.",
    .transformers = PIM_TRANSFORMERS_RECOGNISED,
    .stops = true,
    .options = {rows, sizeof rows / sizeof rows[0], sizeof(struct pim_overlapim_options), &defaults},
    .accept = accept,
    .plan_size = sizeof(struct made),
    .plan = make,
    .terminate = terminate,
    .estimate = estimate,
    .foresee = foresee,
    .describe = describe,
    .emit = emit,
    .prove = prove,
    .checks = checks,
    .check = check,
    .print = print,
    .write_json = write_json,
};

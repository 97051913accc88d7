/*
 * pimsim sweep: many replays, each on other hardware or of another network, and a table of their results.
 *
 * The points and how they run are tools/sweep; here are the options and what they mean together:
 *
 *     pimsim sweep SPECIFICATION|TRACE -o RESULTS [--vary ...]     runs
 *     pimsim sweep --status RESULTS, --export FORMAT RESULTS       look at results
 *
 * Several machines are in sweep_slurm.c.
 */
#include "tools/command/sweep/sweep.h"
#include "mappers/search/problem.h"
#include "sim/output/file.h"
#include "sim/output/output.h"
#include "tools/command/command.h"
#include "tools/sweep/best.h"
#include "tools/sweep/prepare.h"
#include "tools/sweep/slurm.h"
#include "tools/sweep/specification/fill.h"
#include "tools/sweep/specification/grow.h"
#include "tools/sweep/specification/specification.h"
#include "tools/sweep/specification/task.h"
#include "traces/file/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MANY_POINTS = 100000, NO_EXPORT = 2 };

/* --- looking at results --- */

/* What Slurm says of the job arrays that were handed in and are not over. */
static enum pim_status show_jobs(const char *path, struct pim_error *error)
{
    struct pim_slurm_state state;
    if (pim_slurm_look(path, &state, error) != PIM_OK)
        return error->status;
    if (state.running + state.waiting > 0)
        printf("slurm      %" PRIu64 " task%s running, %" PRIu64
               " waiting: --merge adds what they have done, at any time\n",
               state.running, state.running == 1 ? "" : "s", state.waiting);
    else if (state.unknown > 0)
        printf("slurm      %" PRIu64 " job%s handed in; squeue does not answer here\n", state.unknown,
               state.unknown == 1 ? "" : "s");
    return PIM_OK;
}

static enum pim_status show_status(const char *path, struct pim_error *error)
{
    struct pim_store *store;
    if (pim_store_open(path, &store, error) != PIM_OK)
        return error->status;
    struct pim_task_progress tasks = {.points = 0};
    enum pim_status status = pim_task_look(path, store, &tasks, error);
    if (status == PIM_OK)
        status = pim_store_print_status(store, stdout, error);
    if (status == PIM_OK)
        status = show_jobs(path, error);
    if (status == PIM_OK && tasks.points > 0)
        printf("of tasks   %" PRIu64 " of the missing points are done, %" PRIu64
               " of them failed: --merge adds them\n",
               tasks.points, tasks.failed);
    pim_store_close(store);
    return status;
}

static enum pim_status export_results(const struct sweep_request *request, const char *path,
                                      struct pim_error *error)
{
    struct pim_store *store;
    struct pim_output *output;
    if (pim_store_open(path, &store, error) != PIM_OK)
        return error->status;
    enum pim_status status = pim_output_open(&output, request->output ? request->output : "-", error);
    if (status == PIM_OK) {
        status = pim_store_export(store, request->export == 0 ? PIM_STORE_CSV : PIM_STORE_JSON,
                                  request->costs, pim_output_file(output), error);
        if (status == PIM_OK)
            status = pim_output_commit(output, error);
        else
            pim_output_abandon(output);
    }
    pim_store_close(store);
    return status;
}

/* --- the sweep that the arguments describe --- */

static enum pim_status is_trace(const char *path, bool *trace, struct pim_error *error)
{
    char head[PIM_FORMAT_MAGIC_BYTES];
    size_t size;
    enum pim_status status = pim_file_head(path, sizeof head, head, &size, error);
    *trace = pim_format_begins(head, size);
    return status;
}

/* "noc.flit_bits=16,32,64" */
static enum pim_status add_vary(struct pim_sweep *sweep, const char *text, struct pim_error *error)
{
    const char *equals = strchr(text, '=');
    char name[256];
    if (!equals || equals == text || (size_t)(equals - text) >= sizeof name)
        return pim_fail(error, PIM_USAGE, "--vary %.100s: KEY=VALUES is expected, as noc.flit_bits=16,32,64",
                        text);
    memcpy(name, text, (size_t)(equals - text));
    name[equals - text] = '\0';
    struct pim_sweep_axis axis = {.keys = calloc(1, sizeof *axis.keys), .key_count = 1};
    if (!axis.keys)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for an axis");
    if (pim_sweep_key_begin(&axis.keys[0], name, error) != PIM_OK ||
        pim_sweep_key_add_list(&axis.keys[0], equals + 1, error) != PIM_OK ||
        pim_sweep_key_end(&axis.keys[0], error) != PIM_OK) {
        pim_sweep_axis_terminate(&axis);
        return pim_fail_in(error, "--vary");
    }
    axis.count = axis.keys[0].count;
    return pim_sweep_add_axis(sweep, &axis, error);
}

static enum pim_status add_options(const struct sweep_request *request, struct pim_sweep *sweep,
                                   struct pim_error *error)
{
    static const char *const fidelities[] = {NULL, "ideal", "analytic", "flit"};
    enum pim_status status = PIM_OK;
    for (size_t i = 0; i < request->common.hardware.count && status == PIM_OK; i++)
        status = pim_texts_add(&sweep->hardware, request->common.hardware.items[i], error);
    for (size_t i = 0; i < request->common.sets.count && status == PIM_OK; i++)
        status = pim_sweep_add_set(sweep, request->common.sets.items[i], error);
    for (size_t i = 0; i < request->vary.count && status == PIM_OK; i++)
        status = add_vary(sweep, request->vary.items[i], error);
    for (size_t i = 0; i < request->constraints.count && status == PIM_OK; i++)
        status = pim_texts_add(&sweep->conditions, request->constraints.items[i], error);
    if (request->fidelity > 0)
        sweep->fidelity = fidelities[request->fidelity];
    if (request->repeats > 0)
        sweep->repeats = request->repeats;
    if (request->seed_given)
        sweep->seed = request->seed;
    if (request->until > 0)
        sweep->until_cycle = request->until;
    return status;
}

static enum pim_status define_sweep(const struct sweep_request *request, const char *path,
                                    struct pim_sweep *sweep, struct pim_error *error)
{
    bool trace = false;
    if (is_trace(path, &trace, error) != PIM_OK)
        return error->status;
    if ((trace ? pim_sweep_add_trace(sweep, path, error) : pim_sweep_read(sweep, path, error)) != PIM_OK)
        return error->status;
    if (add_options(request, sweep, error) != PIM_OK)
        return error->status;
    if (sweep->axis_count == 0 && sweep->repeats == 1 && sweep->source_count == 1)
        return pim_fail(error, PIM_USAGE,
                        "nothing varies: --vary KEY=VALUES says what; `pimsim run` replays once");
    return pim_sweep_prepare(sweep, error);
}

/* --- running --- */

const char *sweep_program(char path[SWEEP_PATH_BYTES])
{
    ssize_t length = readlink("/proc/self/exe", path, SWEEP_PATH_BYTES - 1);
    path[length > 0 ? length : 0] = '\0';
    return path;
}

enum pim_status sweep_pool(const struct sweep_request *request, const struct pim_sweep *sweep,
                           struct pim_trace_pool **pool, struct pim_error *error)
{
    return pim_sweep_open_pool(sweep, request->output, request->cache, pool, error);
}

static enum pim_status work(const struct sweep_request *request, const struct pim_sweep *sweep,
                            struct pim_store *store, uint64_t points, struct pim_sweep_outcome *outcome,
                            struct pim_error *error)
{
    struct pim_trace_pool *pool = NULL;
    const struct pim_sweep_fill how = {.threads = (unsigned)request->threads,
                                       .retry = request->retry,
                                       .quiet = request->common.quiet,
                                       .seconds = request->seconds};
    if (sweep_pool(request, sweep, &pool, error) != PIM_OK)
        return error->status;
    enum pim_status status = pim_sweep_fill(sweep, pool, store, points, &how, outcome, error);
    pim_trace_pool_destroy(pool);
    return status;
}

/* Says what came out; points that failed make the whole fail. */
static enum pim_status conclude(const struct sweep_request *request, struct pim_store *store,
                                const struct pim_sweep_outcome *outcome, struct pim_error *error)
{
    struct pim_store_progress progress = {.points = 0};
    if (pim_store_progress(store, &progress, error) != PIM_OK)
        return error->status;
    if (!request->common.quiet)
        printf("%s: %" PRIu64 " of %" PRIu64 " points, %" PRIu64 " of them now\n", request->output,
               progress.done + progress.failed, progress.points, outcome->done + outcome->failed);
    if (!request->common.quiet && progress.stopped > 0)
        printf("%" PRIu64 " of the points were stopped before their end (--until)\n", progress.stopped);
    if (!request->common.quiet && outcome->beaten > 0)
        printf("search beaten at %" PRIu64 " of these: another program is faster there\n", outcome->beaten);
    if (outcome->stopped)
        return pim_fail(
            error, PIM_IO,
            "ended early (%s) with %" PRIu64 " of %" PRIu64
            " points done: the same command with --resume goes on, pimsim sweep --status %s looks",
            pim_search_end_cause(outcome->interrupted ? PIM_SEARCH_STOPPED : PIM_SEARCH_TIME),
            progress.done + progress.failed, progress.points, request->output);
    if (progress.failed > 0 && !request->refusals)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%" PRIu64 " of %" PRIu64 " points failed: pimsim sweep --status %s lists them",
                        progress.failed, progress.points, request->output);
    return PIM_OK;
}

/* How many points that are there run again, since the sweep that grows gives them other neighbours. */
static enum pim_status count_again(struct pim_store *store, const struct pim_sweep *sweep, uint64_t *again,
                                   struct pim_error *error)
{
    struct pim_growth *growth = NULL;
    struct pim_store_progress progress = {.points = 0};
    char why[192];
    if (pim_growth_create(pim_store_identity(store), sweep, &growth, why, sizeof why, error) != PIM_OK)
        return error->status;
    enum pim_status status = growth ? pim_store_progress(store, &progress, error) : PIM_OK;
    if (status == PIM_OK && growth && !pim_growth_keeps(growth))
        *again = progress.done + progress.failed;
    pim_growth_destroy(growth);
    return status;
}

/* Points of a sweep that grows get other numbers: what tasks have done under the old ones is merged
 * before. */
static enum pim_status check_merged(const struct sweep_request *request, const struct pim_sweep *sweep,
                                    uint64_t *again, struct pim_error *error)
{
    struct pim_store *store;
    struct pim_task_progress tasks = {.points = 0};
    struct pim_error none = {.status = PIM_OK};
    if (pim_store_open(request->output, &store, &none) != PIM_OK)
        return PIM_OK; /* none yet, killed while it was made, or no results: pim_store_create() knows which */
    enum pim_status status = PIM_OK;
    const char *identity = pim_store_identity(store);
    if (identity && strcmp(identity, sweep->identity) != 0)
        status = pim_task_look(request->output, store, &tasks, error);
    if (status == PIM_OK && tasks.points == 0 && identity && strcmp(identity, sweep->identity) != 0)
        status = count_again(store, sweep, again, error);
    pim_store_close(store);
    if (status == PIM_OK && tasks.points > 0)
        status =
            pim_fail(error, PIM_BAD_INPUT,
                     "%s: tasks have done %" PRIu64
                     " points that are not in the results yet: pimsim sweep --merge %s, then grow the sweep",
                     request->output, tasks.points, request->output);
    return status;
}

enum pim_status sweep_run(const struct sweep_request *request, const struct pim_sweep *sweep,
                          struct pim_error *error)
{
    uint64_t points = 0, again = 0;
    struct pim_store *store;
    struct pim_sweep_outcome outcome = {.done = 0};
    const uint64_t runs = pim_sweep_runs_most(sweep, sweep->numbers);
    if (runs > MANY_POINTS && !request->yes && runs == sweep->numbers)
        return pim_fail(error, PIM_USAGE, "%" PRIu64 " points%s: --yes begins so large a sweep",
                        sweep->numbers, sweep->conditions.count ? " before constraints" : "");
    if (runs > MANY_POINTS && !request->yes)
        return pim_fail(error, PIM_USAGE,
                        "%" PRIu64 " points%s, up to %" PRIu64 " runs with those that compare programs of "
                        "neighbours: --yes begins so large a sweep, mapping = \"own\" compares none",
                        sweep->numbers, sweep->conditions.count ? " before constraints" : "", runs);
    if (!request->output)
        return pim_fail(error, PIM_USAGE, "--output FILE is needed");
    if (request->resume && request->force)
        return pim_fail(error, PIM_USAGE,
                        "--resume keeps results, --force throws them away: only one of them is possible");
    if (pim_sweep_count(sweep, &points, error) != PIM_OK)
        return error->status;
    if (points == 0)
        return pim_fail(error, PIM_BAD_INPUT, "the constraints leave none of %" PRIu64 " points",
                        sweep->numbers);
    enum pim_store_mode mode = request->force                      ? PIM_STORE_FORCE
                               : request->resume || request->retry ? PIM_STORE_RESUME
                                                                   : PIM_STORE_NEW;
    if (mode == PIM_STORE_RESUME && check_merged(request, sweep, &again, error) != PIM_OK)
        return error->status;
    if (pim_store_create(request->output, mode, sweep, points, &store, error) != PIM_OK)
        return error->status;
    if (again > 0 && !request->common.quiet)
        printf("%" PRIu64 " points that are there run again: programs of other points may be faster now\n",
               again);
    enum pim_status status;
    if (request->slurm || request->slurm_script) {
        status = sweep_submit(request, sweep, store, error);
    } else {
        status = work(request, sweep, store, points, &outcome, error);
        if (status == PIM_OK)
            status = conclude(request, store, &outcome, error);
    }
    pim_store_close(store);
    return status;
}

/* --list: the points that would run, as CSV without results. */
static enum pim_status list_points(const struct pim_sweep *sweep, struct pim_error *error)
{
    printf("point,source,repeat");
    for (size_t a = 0; a < sweep->axis_count; a++)
        for (size_t i = 0; i < sweep->axes[a].key_count; i++)
            printf(",%s", sweep->axes[a].keys[i].name);
    printf("\n");
    for (uint64_t number = 0; number < sweep->numbers && !ferror(stdout); number++) {
        struct pim_sweep_point point;
        bool admitted = false;
        pim_sweep_locate(sweep, number, &point);
        if (pim_sweep_admits(sweep, &point, &admitted, error) != PIM_OK)
            return error->status;
        if (!admitted)
            continue;
        printf("%" PRIu64 ",%" PRIu64 ",%" PRIu64, number, point.source, point.repeat);
        for (size_t a = 0; a < sweep->axis_count; a++)
            for (size_t i = 0; i < sweep->axes[a].key_count; i++)
                printf(",%s", sweep->axes[a].keys[i].values[point.value[a]].text);
        printf("\n");
    }
    return PIM_OK;
}

/* What the command does, which an option says; without one it runs the sweep. */
enum { STATUS = 1, EXPORT = 2, MERGE = 4, LIST = 8, TASK = 16, SLURM = 32, RUN = 64 };
#define SWEEPS (LIST | TASK | SLURM | RUN)

/* Where an option counts; --quiet does so everywhere. --list shows what the rest of the command would run. */
static const struct {
    const char *name;
    unsigned modes;
} of_modes[] = {
    {"status", STATUS},
    {"export", EXPORT},
    {"merge", MERGE},
    {"list", LIST},
    {"task", TASK},
    {"slurm", SLURM | LIST},
    {"slurm-script", SLURM | LIST},
    {"costs", EXPORT},
    {"output", EXPORT | SWEEPS},
    {"force", EXPORT | LIST | SLURM | RUN},
    {"resume", LIST | SLURM | RUN},
    {"retry", LIST | SLURM | RUN},
    {"time-limit", LIST | RUN},
    {"yes", LIST | TASK | SLURM | RUN},
    {"tasks", LIST | TASK | SLURM},
    {"partition", LIST | SLURM},
    {"slurm-option", LIST | SLURM},
    {"submission", TASK},
    {"quiet", STATUS | EXPORT | MERGE | SWEEPS},
};

/* The mode's option, and its bit. */
static const char *mode_of(const struct sweep_request *request, unsigned *mode)
{
    const struct {
        bool on;
        unsigned mode;
        const char *name;
    } modes[] = {{request->status, STATUS, "--status"},
                 {request->export != NO_EXPORT, EXPORT, "--export"},
                 {request->merge, MERGE, "--merge"},
                 {request->list, LIST, "--list"},
                 {request->task != SWEEP_NO_TASK, TASK, "--task"},
                 {request->slurm, SLURM, "--slurm"},
                 {request->slurm_script, SLURM, "--slurm-script"},
                 {true, RUN, "a sweep that runs here"}};
    size_t i = 0;
    while (!modes[i].on)
        i++;
    *mode = modes[i].mode;
    return modes[i].name;
}

/* An option that does nothing in this mode. */
static enum pim_status check_mode(const struct sweep_request *request, const char *const *given, size_t count,
                                  struct pim_error *error)
{
    unsigned mode;
    const char *name = mode_of(request, &mode);
    for (size_t i = 0; i < count; i++) {
        unsigned modes = SWEEPS;
        for (size_t j = 0; given[i] && j < sizeof of_modes / sizeof of_modes[0]; j++)
            modes = strcmp(given[i], of_modes[j].name) == 0 ? of_modes[j].modes : modes;
        if (given[i] && (modes & mode) == 0 && strcmp(given[i], "costs") == 0)
            return pim_fail(error, PIM_USAGE, "--%s goes with --export, not with %s", given[i], name);
        if (given[i] && (modes & mode) == 0 && (modes & RUN) == 0)
            return pim_fail(error, PIM_USAGE, "--%s does nothing with %s", given[i], name);
        if (given[i] && (modes & mode) == 0)
            return pim_fail(error, PIM_USAGE, "--%s is for a sweep that runs, not for %s", given[i], name);
    }
    return PIM_OK;
}

static enum pim_status dispatch(const struct sweep_request *request, struct pim_error *error)
{
    struct pim_sweep sweep;
    if (request->status)
        return show_status(request->path, error);
    if (request->export != NO_EXPORT)
        return export_results(request, request->path, error);
    if (request->merge)
        return sweep_merge(request, error);
    pim_sweep_initialize(&sweep);
    enum pim_status status = define_sweep(request, request->path, &sweep, error);
    if (status == PIM_OK)
        status = request->list                    ? list_points(&sweep, error)
                 : request->task != SWEEP_NO_TASK ? sweep_task(request, &sweep, error)
                                                  : sweep_run(request, &sweep, error);
    pim_sweep_terminate(&sweep);
    return status;
}

/* --- options --- */

#define LIST(name_, target_, argument_, help_)                                                               \
    {                                                                                                        \
        .name = name_, .kind = OPTION_LIST, .target = &(target_), .argument = argument_, .help = help_       \
    }

#define OPTIONS_POINTS(request)                                                                              \
    LIST("vary", (request).vary, "KEY=VALUES",                                                               \
         "An axis: a,b,c or FROM:TO:STEP or FROM:TO:logCOUNT; repeated, all combinations run"),              \
        LIST("constraint", (request).constraints, "CONDITION",                                               \
             "Only points for which it holds run, as \"pe.rows * pe.columns <= 256\""),                      \
        RULE_UNSIGNED("repeats", (request).repeats, "TIMES", 1, PIM_SWEEP_REPEATS_MOST,                      \
                      "Runs of each point, each with a seed of its own",                                     \
                      .standard = "as the specification says, else 1"),                                      \
        RULE_UNSIGNED("seed", (request).seed, "SEED", 0, INT64_MAX, "Seed of the first repeat",              \
                      .standard = "as the specification says, else 0"),                                      \
        RULE_UNSIGNED("until", (request).until, "CYCLE", 1, UINT64_MAX,                                      \
                      "Stops each run at the start of this cycle of the logic clock"),                       \
        {.name = "noc",                                                                                      \
         .kind = OPTION_CHOICE,                                                                              \
         .target = &(request).fidelity,                                                                      \
         .argument = "FIDELITY",                                                                             \
         .choices = SWEEP_FIDELITIES,                                                                        \
         .help = "How exactly the network is simulated; configured: as noc.fidelity says"},                  \
        RULE_FLAG("list", (request).list, "Prints the points and runs none")

#define OPTIONS_RUNNING(request)                                                                             \
    {.name = "output",                                                                                       \
     .letter = 'o',                                                                                          \
     .kind = OPTION_TEXT,                                                                                    \
     .target = &(request).output,                                                                            \
     .argument = "FILE",                                                                                     \
     .writes = WRITES_RESULTS,                                                                               \
     .help = "The results (SQLite); with --export the text, which else goes to standard output"},            \
        {.name = "jobs",                                                                                     \
         .letter = 'j',                                                                                      \
         .kind = OPTION_UNSIGNED,                                                                            \
         .target = &(request).threads,                                                                       \
         .argument = "THREADS",                                                                              \
         .minimum = 1,                                                                                       \
         .maximum = SWEEP_THREADS_MOST,                                                                      \
         .help = "Points that run at a time",                                                                \
         .standard = "the number of processors"},                                                            \
        RULE_FLAG("resume", (request).resume, "Runs what is missing in FILE"),                               \
        RULE_FLAG("retry", (request).retry, "The same, and points that failed are run again"),               \
        RULE_FLAG("force", (request).force, "Throws the results in FILE away, if there are any"),            \
        RULE_UNSIGNED("time-limit", (request).seconds, "SECONDS", 1, 10000000,                               \
                      "Begins no further point after this time", .standard = "no limit"),                    \
        RULE_FLAG("yes", (request).yes, "Begins sweeps of more than 100000 runs"),                           \
        RULE_TEXT("cache", (request).cache, "FOLDER", "Where traces that mappers make are kept",             \
                  .standard = "FILE.traces")

#define OPTIONS_RESULTS(request)                                                                             \
    RULE_FLAG("status", (request).status,                                                                    \
              "Shows the progress of the results in the file, also while a sweep runs"),                     \
        {.name = "export",                                                                                   \
         .kind = OPTION_CHOICE,                                                                              \
         .target = &(request).export,                                                                        \
         .argument = "FORMAT",                                                                               \
         .choices = "csv|json",                                                                              \
         .help = "Writes the results in the file as text"},                                                  \
        RULE_FLAG("costs", (request).costs,                                                                  \
                  "With --export: also what differs from run to run, times and hosts")

#define OPTIONS_SLURM(request)                                                                               \
    RULE_FLAG("slurm", (request).slurm,                                                                      \
              "Submits what is missing in FILE as a job array of Slurm instead of running it here"),         \
        RULE_FLAG("slurm-script", (request).slurm_script,                                                    \
                  "The same, but prints the script of the job array instead of submitting it"),              \
        RULE_UNSIGNED("tasks", (request).tasks, "TASKS", 1, PIM_TASKS_MOST, "Tasks of the job array"),       \
        RULE_TEXT("partition", (request).partition, "NAME", "Partition of Slurm to use"),                    \
        LIST("slurm-option", (request).slurm_options, "OPTION",                                              \
             "One more option of sbatch, as --slurm-option=--time=1:00:00"),                                 \
        RULE_FLAG("merge", (request).merge,                                                                  \
                  "Adds what the tasks have done so far to the results in the file"),                        \
        RULE_TEXT("submission", (request).submission, "FOLDER",                                              \
                  "With --task: the folder that --slurm made; the script of the job array says it"),         \
        RULE_UNSIGNED("task", (request).task, "NUMBER", 0, PIM_TASKS_MOST - 1,                               \
                      "Works as this task on a submission; the script of the job array says it")

int command_sweep(int argument_count, char **arguments)
{
    struct sweep_request request = {.export = NO_EXPORT, .tasks = 8, .task = SWEEP_NO_TASK};
    struct option_rule rules[] = {OPTIONS_POINTS(request), OPTIONS_RUNNING(request), OPTIONS_RESULTS(request),
                                  OPTIONS_SLURM(request), OPTIONS_COMMON(request.common)};
    const char *given[sizeof rules / sizeof rules[0]] = {NULL};
    options_watch_all(rules, sizeof rules / sizeof rules[0], given);
    const struct option_usage usage = {"SPECIFICATION|TRACE|RESULTS",
                                       "Runs a trace or mapped networks on many hardwares, and keeps the "
                                       "results in a table.",
                                       rules,
                                       sizeof rules / sizeof rules[0],
                                       1,
                                       1};
    struct text_list files = {0};
    options_parse(&usage, argument_count, arguments, &files);
    struct pim_error error = {0};
    request.path = files.items[0];
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        request.seed_given = request.seed_given || (given[i] && strcmp(given[i], "seed") == 0);
    enum pim_status status = check_mode(&request, given, sizeof rules / sizeof rules[0], &error);
    if (status == PIM_OK)
        status = dispatch(&request, &error);
    text_list_terminate(&files);
    text_list_terminate(&request.vary);
    text_list_terminate(&request.constraints);
    text_list_terminate(&request.slurm_options);
    common_terminate(&request.common);
    return command_end(arguments[0], status, &error);
}

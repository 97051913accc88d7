/* pimsim sweep on several machines: submitting, working as a task, merging. */
#include "sim/arena.h"
#include "sim/output/output.h"
#include "tools/command/sweep/sweep.h"
#include "tools/sweep/slurm.h"
#include "tools/sweep/specification/task.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The words of the command that a task runs, in memory of `arena`. */
struct words {
    struct pim_arena arena;
    const char **items;
    size_t count, capacity;
};

static void add_word(struct words *words, const char *text)
{
    words->items = pim_array_require(words->items, &words->capacity, words->count + 1, sizeof *words->items);
    words->items[words->count++] = pim_arena_copy_text(&words->arena, text);
}

/* "--name=value" as one word, so that a value may begin with a hyphen. */
static void add_option(struct words *words, const char *name, const char *value)
{
    size_t size = strlen(name) + strlen(value) + 4;
    char *text = pim_arena_require(&words->arena, size, 1);
    (void)snprintf(text, size, "--%s=%s", name, value);
    add_word(words, text);
}

static void add_list(struct words *words, const char *name, const struct text_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        add_option(words, name, list->items[i]);
}

/* A number that was given; 0 stands for "not given". */
static void add_number(struct words *words, const char *name, uint64_t number)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRIu64, number);
    if (number > 0)
        add_option(words, name, text);
}

/* What makes the same sweep again on another machine. */
static void collect_words(const struct sweep_request *request, const char *folder, struct words *words)
{
    static const char *const fidelities[] = {NULL, "ideal", "analytic", "flit"}; /* as SWEEP_FIDELITIES */
    char program[SWEEP_PATH_BYTES];
    add_word(words, sweep_program(program));
    add_word(words, "sweep");
    add_list(words, "hardware", &request->common.hardware);
    add_list(words, "set", &request->common.sets);
    add_list(words, "vary", &request->vary);
    add_list(words, "constraint", &request->constraints);
    if (request->fidelity > 0)
        add_option(words, "noc", fidelities[request->fidelity]);
    add_number(words, "until", request->until);
    add_number(words, "repeats", request->repeats);
    if (request->seed_given) {
        char seed[24];
        (void)snprintf(seed, sizeof seed, "%" PRIu64, request->seed);
        add_option(words, "seed", seed);
    }
    add_number(words, "jobs", request->threads ? request->threads : 1);
    add_number(words, "tasks", request->tasks);
    add_option(words, "output", request->output);
    if (request->cache)
        add_option(words, "cache", request->cache);
    add_option(words, "submission", folder);
    add_word(words, "--quiet");
    add_word(words, "--yes");
    add_word(words, "--");
    add_word(words, request->path);
}

static enum pim_status hand_in(const struct sweep_request *request, const struct pim_slurm_job *job,
                               uint64_t units, struct pim_error *error)
{
    char script[SWEEP_PATH_BYTES];
    struct pim_output *output;
    char *answer = NULL;
    int length = snprintf(script, sizeof script, "%s/job.sh", job->folder);
    if (length < 0 || (size_t)length >= sizeof script)
        return pim_fail(error, PIM_BAD_INPUT, "%.200s...: the path is too long", job->folder);
    if (pim_output_open(&output, script, error) != PIM_OK)
        return error->status;
    pim_slurm_write(job, pim_output_file(output));
    if (pim_output_commit(output, error) != PIM_OK)
        return error->status;
    if (request->slurm_script) {
        pim_slurm_write(job, stdout);
        return PIM_OK;
    }
    if (pim_slurm_submit(script, &answer, error) != PIM_OK)
        return error->status;
    if (pim_slurm_note(job->folder, answer, error) != PIM_OK) {
        free(answer);
        return error->status;
    }
    printf("job %s: %" PRIu64 " tasks, %" PRIu64 " units of work in %s\n"
           "pimsim sweep --merge %s adds what is done to the results, at any time\n",
           answer, job->tasks, units, job->folder, request->output);
    free(answer);
    return PIM_OK;
}

enum pim_status sweep_submit(const struct sweep_request *request, const struct pim_sweep *sweep,
                             struct pim_store *store, struct pim_error *error)
{
    char working[SWEEP_PATH_BYTES], absolute[2 * SWEEP_PATH_BYTES];
    char *folder = NULL;
    uint64_t merged = 0, units = 0;
    struct words words = {.items = NULL};
    if (!getcwd(working, sizeof working))
        return pim_fail(error, PIM_IO, "the working folder has no path");
    if (pim_task_merge(request->output, store, &merged, error) != PIM_OK ||
        pim_task_submit(request->output, sweep, store, request->retry, request->tasks, &folder, &units,
                        error) != PIM_OK) {
        free(folder);
        return error->status;
    }
    if (units == 0) {
        printf("%s: nothing is missing\n", request->output);
        return PIM_OK;
    }
    (void)snprintf(absolute, sizeof absolute, "%s%s%s", folder[0] == '/' ? "" : working,
                   folder[0] == '/' ? "" : "/", folder);
    free(folder);
    pim_arena_initialize(&words.arena, 0);
    collect_words(request, absolute, &words);
    const struct pim_slurm_job job = {.folder = absolute,
                                      .working_folder = working,
                                      .words = words.items,
                                      .word_count = words.count,
                                      .tasks = request->tasks,
                                      .threads = request->threads ? (unsigned)request->threads : 1,
                                      .partition = request->partition,
                                      .options = request->slurm_options.items,
                                      .option_count = request->slurm_options.count};
    enum pim_status status = hand_in(request, &job, units, error);
    free(words.items);
    pim_arena_terminate(&words.arena);
    return status;
}

enum pim_status sweep_task(const struct sweep_request *request, const struct pim_sweep *sweep,
                           struct pim_error *error)
{
    struct pim_trace_pool *pool;
    uint64_t points = 0;
    if (!request->submission || !request->output)
        return pim_fail(error, PIM_USAGE, "--task needs --submission and --output");
    if (sweep_pool(request, sweep, &pool, error) != PIM_OK)
        return error->status;
    enum pim_status status = pim_task_run(request->submission, sweep, pool, request->task, request->tasks,
                                          request->threads ? (unsigned)request->threads : 1, &points, error);
    pim_trace_pool_destroy(pool);
    if (status == PIM_OK)
        printf("task %" PRIu64 ": %" PRIu64 " points\n", request->task, points);
    return status;
}

enum pim_status sweep_merge(const struct sweep_request *request, struct pim_error *error)
{
    struct pim_store *store;
    struct pim_store_progress before, after;
    uint64_t lines = 0;
    if (pim_store_open_to_add(request->path, &store, error) != PIM_OK)
        return error->status;
    enum pim_status status = pim_store_progress(store, &before, error);
    if (status == PIM_OK)
        status = pim_task_merge(request->path, store, &lines, error);
    if (status == PIM_OK)
        status = pim_store_progress(store, &after, error);
    if (status == PIM_OK && !request->common.quiet)
        printf("%s: %" PRIu64 " of %" PRIu64 " points, %" PRIu64 " of them new\n", request->path,
               after.done + after.failed, after.points,
               after.done + after.failed - before.done - before.failed);
    pim_store_close(store);
    return status;
}

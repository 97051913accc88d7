/*
 * Which partitions each stage gets, and for how many temporal layers: section VI of the paper. The candidates
 * (candidates/) make a scheduling problem, which is solved exactly or by an integer programme (schedule/),
 * and the solution becomes the partitions of the plan.
 */
#include "mappers/allspark/candidates/candidates.h"
#include "mappers/allspark/memory.h"
#include "mappers/allspark/planning.h"
#include "mappers/allspark/shapes.h"
#include "sim/try.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SOLVER_SECONDS = 600 };

struct choice {
    struct pim_allspark_plan *plan;
    const struct pim_allspark_options *options;
    struct pim_schedule_problem problem;
    struct pim_candidates candidates[PIM_STAGES];
};

/* --- from a solution to partitions --- */

/* A partition of the solution, and what decides its place: the one with the classifier first, then those with
   most branches to a layer (constraint 4). */
struct entry {
    struct pim_allspark_partition part;
    bool head;
    uint32_t order;
};

static int compare(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    uint32_t capacity_a = pim_layer_capacity(&a->part), capacity_b = pim_layer_capacity(&b->part);
    if (a->head != b->head)
        return a->head ? -1 : 1;
    if (capacity_a != capacity_b)
        return capacity_a > capacity_b ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

static enum pim_status take_stage(struct choice *choice, uint32_t index, const uint32_t *layers,
                                  struct pim_error *error)
{
    const struct pim_candidates *candidates = &choice->candidates[index];
    struct pim_allspark_stage *stage = &choice->plan->stage[index];
    struct entry entries[PIM_PARTITIONS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < candidates->count; i++) {
        const struct pim_candidate *candidate = &candidates->items[i];
        bool head = (choice->problem.stage[index].candidates[i].provides & PIM_SCHEDULE_HEAD) != 0;
        for (uint32_t j = 0; layers[i] > 0 && j < candidate->count; j++) {
            if (count == PIM_PARTITIONS)
                return pim_fail(error, PIM_BAD_INPUT,
                                "stage %" PRIu32 ": the plan has more than %d partitions", index + 1,
                                PIM_PARTITIONS);
            struct pim_allspark_partition part = candidates->partition[candidate->first + j];
            /* The order of an explicit plan is the user's. */
            bool given = part.layers > 0;
            if (!given)
                part.layers = layers[i];
            entries[count] = (struct entry){.part = part, .head = head && !given, .order = count};
            if (given)
                entries[count].part.layout.tiles = NULL;
            count++;
        }
    }
    if (choice->options->scheme == PIM_ALLSPARK_AUTOMATIC)
        qsort(entries, count, sizeof *entries, compare);
    struct pim_allspark_partition *partition = calloc((size_t)count + 1, sizeof *partition);
    PIM_NEED_MEMORY(partition, error, "out of memory for the plan");
    for (uint32_t i = 0; i < count; i++)
        partition[i] = entries[i].part;
    free(stage->partition);
    stage->partition = partition;
    stage->partitions = count;
    pim_stage_number(stage);
    return PIM_OK;
}

static enum pim_status take(struct choice *choice, const struct pim_schedule_solution *solution,
                            struct pim_error *error)
{
    struct pim_allspark_plan *plan = choice->plan;
    for (uint32_t i = 0; i < plan->stages; i++)
        PIM_TRY(take_stage(choice, i, solution->layers[i], error));
    pim_plan_memory(plan);
    return PIM_OK;
}

/* --- nothing fits --- */

static void describe(const struct pim_allspark_plan *plan, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < plan->stages; i++) {
        const struct pim_allspark_stage *stage = &plan->stage[i];
        int length = snprintf(text + used, size - used,
                              "%sstage %" PRIu32 " (%" PRIu32 "x%" PRIu32 ", ring %" PRIu32 ") %" PRIu64,
                              i ? " + " : "", i + 1, stage->partition[0].u, stage->partition[0].v,
                              stage->partition[0].ring, stage->weight_bytes);
        used += length > 0 && (size_t)length < size - used ? (size_t)length : 0;
    }
}

static enum pim_status too_large(struct choice *choice, struct pim_error *error)
{
    struct pim_allspark_plan *plan = choice->plan;
    struct pim_schedule_solution least;
    uint64_t bytes;
    enum pim_status status = pim_schedule_least_memory(&choice->problem, &bytes, &least, error);
    if (status == PIM_OK)
        status = take(choice, &least, error);
    pim_schedule_solution_terminate(&least);
    if (status != PIM_OK)
        return status;
    char stages[512];
    describe(plan, stages, sizeof stages);
    return pim_fail(error, PIM_BAD_INPUT,
                    "%s does not fit: a node needs at least %" PRIu64
                    " bytes (weights: %s + classifier %" PRIu64 "; workspace %" PRIu64 ") and has %" PRIu64
                    ": use more nodes for a branch%s, or more memory (dram.rows, dram.banks)",
                    plan->network->name, plan->weight_bytes + plan->workspace_bytes, stages, plan->head_bytes,
                    plan->workspace_bytes, plan->hardware.memory_bytes,
                    choice->options->ring ? ", another weight ring" : "");
}

/* --- the whole --- */

static enum pim_status schedule(struct choice *choice, struct pim_schedule_solution *solution,
                                struct pim_error *error)
{
    const struct pim_allspark_options *options = choice->options;
    *solution = (struct pim_schedule_solution){0};
    return options->ilp ? pim_schedule_ilp(&choice->problem, options->solver,
                                           options->solver_seconds ? options->solver_seconds : SOLVER_SECONDS,
                                           &options->watch, solution, error)
                        : pim_schedule_exact(&choice->problem, &options->watch, solution, error);
}

/* Bytes that the plan needs and a node does not have. */
static uint64_t missing_bytes(const struct pim_allspark_plan *plan)
{
    uint64_t needed = plan->weight_bytes + plan->workspace_bytes, there = plan->hardware.memory_bytes;
    return needed > there ? needed - there : 0;
}

/*
 * What features take on their way from one kind of blocks to the other (Twins) is no constraint of the
 * problem. A plan for which it is too much is made again with so much less memory; the first bound remains
 * true. Where nothing fits then, the plan stays as it was, and its maker says so.
 */
static enum pim_status solve_again(struct choice *choice, struct pim_error *error)
{
    enum { ATTEMPTS = 16 };
    struct pim_allspark_plan *plan = choice->plan;
    for (int attempt = 0; attempt < ATTEMPTS && missing_bytes(plan) > 0; attempt++) {
        struct pim_schedule_solution solution;
        if (missing_bytes(plan) >= choice->problem.memory)
            return PIM_OK;
        choice->problem.memory -= missing_bytes(plan);
        enum pim_status status = schedule(choice, &solution, error);
        bool found = status == PIM_OK && solution.found;
        if (found) {
            status = take(choice, &solution, error);
            plan->cycles = solution.cycles;
            plan->stopped = plan->stopped || solution.stopped;
        }
        pim_schedule_solution_terminate(&solution);
        if (!found || status != PIM_OK)
            return status;
    }
    return PIM_OK;
}

static enum pim_status solve(struct choice *choice, struct pim_error *error)
{
    struct pim_schedule_solution solution;
    enum pim_status status = schedule(choice, &solution, error);
    if (status == PIM_OK)
        status = solution.found ? take(choice, &solution, error) : too_large(choice, error);
    if (status == PIM_OK) {
        choice->plan->cycles = solution.cycles;
        choice->plan->bound = solution.bound;
        choice->plan->stopped = solution.stopped;
    }
    pim_schedule_solution_terminate(&solution);
    return status == PIM_OK ? solve_again(choice, error) : status;
}

enum pim_status pim_plan_choose(struct pim_allspark_plan *plan, const struct pim_allspark_options *options,
                                struct pim_error *error)
{
    struct choice choice = {.plan = plan, .options = options};
    enum pim_status status = PIM_OK;
    choice.problem.stages = plan->stages;
    choice.problem.memory = plan->hardware.memory_bytes;
    for (uint32_t i = 0; i < plan->stages && status == PIM_OK; i++) {
        if (options->watch.progress)
            options->watch.progress(options->watch.context, "candidates", i, plan->stages);
        status =
            pim_candidates_collect(plan, options, i, &choice.candidates[i], &choice.problem.stage[i], error);
        plan->candidates += choice.problem.stage[i].count;
    }
    if (status == PIM_OK)
        status = solve(&choice, error);
    for (uint32_t i = 0; i < PIM_STAGES; i++)
        pim_candidates_terminate(&choice.candidates[i]);
    pim_schedule_problem_terminate(&choice.problem);
    return status;
}

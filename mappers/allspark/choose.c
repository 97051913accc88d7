/*
 * Which u x v and which weight ring each stage gets: the least sum of estimates that the memory of a node
 * allows.
 *
 * A choice of a stage has three costs: cycles, bytes of weights, and bytes of workspace. Weights of all
 * stages add up, the workspace is one for all: sum(weights) + max(workspace) <= memory. Choices that are
 * nowhere better than another one are dropped; among the rest a depth-first search with bounds takes the
 * quickest first, so it is exact unless it meets SEARCH_STEPS (then it keeps the best found). One scheme
 * serves all temporal layers of a stage: mixing schemes is section VI of the paper and not done here.
 */
#include "mappers/allspark/emitter.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEARCH_STEPS = 4000000 };

struct choice {
    struct pim_allspark_partition part;
    uint64_t cycles, weights, workspace; /* weights: the classifier's too in the last stage */
    uint32_t order;                      /* decides between equals */
};

struct choices {
    struct choice *items;
    uint32_t count, capacity;
};

struct search {
    struct pim_allspark_plan *plan;
    const struct pim_allspark_options *options;
    struct choices of[PIM_STAGES];
    uint64_t least_cycles[PIM_STAGES + 1], least_weights[PIM_STAGES + 1]; /* of the stages from there on */
    uint32_t taken[PIM_STAGES], best[PIM_STAGES];
    uint64_t best_cycles;
    uint64_t steps;
};

static uint32_t ceil_divide(uint32_t a, uint32_t b)
{
    return a / b + (a % b != 0);
}

/* Longest side of a sub-array: the longer side of the array, since sub-arrays may be turned. */
static uint32_t longest(const struct pim_allspark_plan *plan)
{
    return plan->hardware.width > plan->hardware.height ? plan->hardware.width : plan->hardware.height;
}

/* --- the choices of one stage --- */

static bool append(struct choices *choices, const struct choice *choice)
{
    if (choices->count == choices->capacity) {
        uint32_t capacity = choices->capacity ? 2 * choices->capacity : 64;
        struct choice *items = realloc(choices->items, capacity * sizeof *items);
        if (!items)
            return false;
        choices->items = items;
        choices->capacity = capacity;
    }
    choices->items[choices->count] = *choice;
    choices->items[choices->count].order = choices->count;
    choices->count++;
    return true;
}

/* Ring and what follows from it; false when a group of ring x v does not fit the array. */
static bool set_ring(const struct pim_estimate_hardware *hardware, struct pim_allspark_partition *stage,
                     uint32_t ring)
{
    uint32_t groups = pim_allspark_layout_count(hardware->height, hardware->width, ring, stage->v);
    stage->ring = ring;
    stage->slots = ring / stage->u;
    stage->layout.count = groups;
    stage->layers = groups ? ceil_divide(stage->branches, groups * stage->slots) : 0;
    return groups != 0;
}

/* Adds the choice of a scheme with one ring, unless it does not fit the array or the buffers; *error says
   why. */
static enum pim_status add_ring(struct search *search, struct pim_emitter *emitter, uint32_t index,
                                uint32_t ring, struct pim_error *error)
{
    struct pim_allspark_plan *plan = search->plan;
    struct pim_allspark_stage *whole = &plan->stage[index];
    struct pim_allspark_partition *stage = &whole->partition[0];
    if (!set_ring(&plan->hardware, stage, ring))
        return PIM_BAD_INPUT;
    pim_stage_number(whole);
    pim_stage_memory(whole);
    emitter->status = PIM_OK;
    emitter->estimate_cycles = 0;
    pim_emit_stage(emitter, index);
    if (emitter->status == PIM_OK && index + 1 == plan->stages)
        pim_emit_head(emitter);
    if (emitter->status != PIM_OK)
        return emitter->status;
    struct choice choice = {.part = *stage,
                            .cycles = emitter->estimate_cycles,
                            .weights = stage->weight_bytes + pim_head_bytes(stage),
                            .workspace = whole->workspace_bytes};
    return append(&search->of[index], &choice) ? PIM_OK
                                               : pim_fail(error, PIM_NO_MEMORY, "out of memory for the plan");
}

/* All rings of the scheme u x v that the stage has. */
static enum pim_status add_scheme(struct search *search, struct pim_emitter *emitter, uint32_t index,
                                  uint32_t u, uint32_t v, struct pim_error *error)
{
    struct pim_allspark_partition *stage = &search->plan->stage[index].partition[0];
    uint32_t given = search->options->ring, most = longest(search->plan) / u;
    stage->u = u;
    stage->v = v;
    if (given)
        return add_ring(search, emitter, index, given < u ? u : given - given % u, error);
    /* A ring of one branch must do; longer ones are tried as far as they fit, not every one of the very
       long. */
    enum pim_status status = add_ring(search, emitter, index, u, error);
    for (uint32_t slots = 2; status == PIM_OK && slots <= most; slots += 1 + slots / 16)
        if (add_ring(search, emitter, index, slots * u, error) == PIM_NO_MEMORY)
            return PIM_NO_MEMORY;
    return status;
}

/* Whether `parts` nodes are of use for `work` pieces: with fewer nodes the largest share would be larger. */
static bool useful(uint32_t work, uint32_t parts)
{
    return ceil_divide(work, ceil_divide(work, parts)) == parts;
}

/* As many nodes as the work has parts and a line of the array has nodes, of which each makes the largest
   share smaller. */
static uint32_t line(const struct pim_allspark_plan *plan, uint32_t work)
{
    uint32_t nodes = work < longest(plan) ? work : longest(plan);
    return ceil_divide(work, ceil_divide(work, nodes));
}

static enum pim_status add_fixed(struct search *search, struct pim_emitter *emitter, uint32_t index,
                                 struct pim_error *error)
{
    const struct pim_allspark_options *options = search->options;
    const struct pim_allspark_plan *plan = search->plan;
    const struct pim_allspark_partition *stage = &plan->stage[index].partition[0];
    uint32_t u = 1, v = 1;
    if (options->scheme == PIM_ALLSPARK_PATCH)
        u = line(plan, stage->tokens);
    if (options->scheme == PIM_ALLSPARK_HEAD)
        v = line(plan, stage->heads);
    if (options->scheme == PIM_ALLSPARK_EXPLICIT) {
        uint32_t given = options->explicit_count == 1 ? 0 : index;
        u = options->u[given];
        v = options->v[given];
    }
    if (u == 0 || u > stage->tokens || v == 0 || v > stage->heads)
        return pim_fail(error, PIM_BAD_INPUT,
                        "stage %" PRIu32 ": partition %" PRIu32 ",%" PRIu32
                        " does not fit a branch of %" PRIu32 " tokens and %" PRIu32
                        " heads: u from 1 to %" PRIu32 " and v from 1 to %" PRIu32 " are possible",
                        index + 1, u, v, stage->tokens, stage->heads, stage->tokens, stage->heads);
    if (pim_allspark_layout_count(plan->hardware.height, plan->hardware.width, u, v) == 0)
        return pim_fail(error, PIM_BAD_INPUT,
                        "stage %" PRIu32 ": a sub-array of %" PRIu32 " x %" PRIu32
                        " nodes does not fit the array of %" PRIu32 " x %" PRIu32,
                        index + 1, u, v, plan->hardware.height, plan->hardware.width);
    return add_scheme(search, emitter, index, u, v, error);
}

static enum pim_status add_all(struct search *search, struct pim_emitter *emitter, uint32_t index,
                               struct pim_error *error)
{
    const struct pim_allspark_plan *plan = search->plan;
    const struct pim_allspark_partition *stage = &plan->stage[index].partition[0];
    for (uint32_t u = 1; u <= stage->tokens && u <= longest(plan); u++)
        for (uint32_t v = 1; useful(stage->tokens, u) && v <= stage->heads && v <= longest(plan); v++)
            if (useful(stage->heads, v) && add_scheme(search, emitter, index, u, v, error) == PIM_NO_MEMORY)
                return PIM_NO_MEMORY;
    return PIM_OK;
}

/* --- the choices worth having --- */

static int compare(const void *left, const void *right)
{
    const struct choice *a = left, *b = right;
    const uint64_t keys[][2] = {
        {a->cycles, b->cycles}, {a->weights, b->weights}, {a->workspace, b->workspace}, {a->order, b->order}};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

/* Sorts by cycles and drops what another choice equals or beats in all three costs. */
static void prune(struct choices *choices)
{
    uint32_t kept = 0;
    qsort(choices->items, choices->count, sizeof *choices->items, compare);
    for (uint32_t i = 0; i < choices->count; i++) {
        const struct choice *choice = &choices->items[i];
        bool dominated = false;
        for (uint32_t j = 0; j < kept && !dominated; j++)
            dominated = choices->items[j].weights <= choice->weights &&
                        choices->items[j].workspace <= choice->workspace;
        if (!dominated)
            choices->items[kept++] = *choice;
    }
    choices->count = kept;
}

static enum pim_status collect(struct search *search, uint32_t index, struct pim_error *error)
{
    struct pim_emitter emitter = {.plan = search->plan, .error = error};
    struct choices *choices = &search->of[index];
    *error = (struct pim_error){0};
    enum pim_status status = search->options->scheme == PIM_ALLSPARK_AUTOMATIC
                                 ? add_all(search, &emitter, index, error)
                                 : add_fixed(search, &emitter, index, error);
    if (status == PIM_NO_MEMORY || (choices->count == 0 && error->status != PIM_OK))
        return error->status;
    if (choices->count == 0)
        return pim_fail(error, PIM_BAD_INPUT,
                        "stage %" PRIu32 ": a weight ring of %" PRIu32
                        " nodes does not fit the array of %" PRIu32 " x %" PRIu32,
                        index + 1, search->options->ring, search->plan->hardware.height,
                        search->plan->hardware.width);
    *error = (struct pim_error){0};
    prune(choices);
    return PIM_OK;
}

/* --- one choice for each stage --- */

static void take(struct pim_allspark_stage *stage, const struct choice *choice)
{
    stage->partition[0] = choice->part;
    pim_stage_number(stage);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void descend(struct search *search, uint32_t index, uint64_t cycles, uint64_t weights,
                    uint64_t workspace)
{
    const struct choices *choices = &search->of[index];
    if (index == search->plan->stages) {
        search->best_cycles = cycles;
        memcpy(search->best, search->taken, sizeof search->best);
        return;
    }
    for (uint32_t i = 0; i < choices->count && search->steps < SEARCH_STEPS; i++) {
        const struct choice *choice = &choices->items[i];
        search->steps++;
        if (cycles + choice->cycles + search->least_cycles[index + 1] >= search->best_cycles)
            return; /* those that follow are slower */
        uint64_t space = larger(workspace, choice->workspace);
        if (weights + choice->weights + search->least_weights[index + 1] + space >
            search->plan->hardware.memory_bytes)
            continue;
        search->taken[index] = i;
        descend(search, index + 1, cycles + choice->cycles, weights + choice->weights, space);
    }
}

/* The choice with the fewest weights among those whose workspace is at most `limit`; NULL when there is
   none. */
static const struct choice *lightest(const struct choices *choices, uint64_t limit)
{
    const struct choice *found = NULL;
    for (uint32_t i = 0; i < choices->count; i++)
        if (choices->items[i].workspace <= limit && (!found || choices->items[i].weights < found->weights))
            found = &choices->items[i];
    return found;
}

/* Takes the choices that need the least memory of all, workspaces up to `limit`; false when they are not
   below *least. */
static bool take_lightest(struct search *search, uint64_t limit, uint64_t *least)
{
    uint64_t weights = 0, workspace = 0;
    const struct choice *taken[PIM_STAGES];
    for (uint32_t i = 0; i < search->plan->stages; i++) {
        taken[i] = lightest(&search->of[i], limit);
        if (!taken[i])
            return false;
        weights += taken[i]->weights;
        workspace = larger(workspace, taken[i]->workspace);
    }
    if (weights + workspace >= *least)
        return false;
    *least = weights + workspace;
    for (uint32_t i = 0; i < search->plan->stages; i++)
        take(&search->plan->stage[i], taken[i]);
    return true;
}

static enum pim_status too_large(struct search *search, struct pim_error *error)
{
    struct pim_allspark_plan *plan = search->plan;
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < plan->stages; i++)
        for (uint32_t j = 0; j < search->of[i].count; j++)
            (void)take_lightest(search, search->of[i].items[j].workspace, &least);
    pim_plan_memory(plan);
    char stages[512] = "";
    for (uint32_t i = 0; i < plan->stages; i++) {
        size_t used = strlen(stages);
        (void)snprintf(stages + used, sizeof stages - used,
                       "%sstage %" PRIu32 " (%" PRIu32 "x%" PRIu32 ", ring %" PRIu32 ") %" PRIu64,
                       i ? " + " : "", i + 1, plan->stage[i].partition[0].u, plan->stage[i].partition[0].v,
                       plan->stage[i].partition[0].ring, plan->stage[i].weight_bytes);
    }
    return pim_fail(error, PIM_BAD_INPUT,
                    "%s does not fit: a node needs at least %" PRIu64
                    " bytes (weights: %s + classifier %" PRIu64 "; workspace %" PRIu64 ") and has %" PRIu64
                    ": use more nodes for a branch%s, or more memory (dram.rows, dram.banks)",
                    plan->network->name, plan->weight_bytes + plan->workspace_bytes, stages, plan->head_bytes,
                    plan->workspace_bytes, plan->hardware.memory_bytes,
                    search->options->ring ? ", another weight ring" : "");
}

/* That of the first: they are sorted. */
static uint64_t least_cycles(const struct choices *choices)
{
    return choices->count ? choices->items[0].cycles : 0;
}

static uint64_t least_weights(const struct choices *choices)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < choices->count; i++)
        if (choices->items[i].weights < least)
            least = choices->items[i].weights;
    return least;
}

static enum pim_status choose(struct search *search, struct pim_error *error)
{
    struct pim_allspark_plan *plan = search->plan;
    const uint32_t stages = plan->stages;
    for (uint32_t i = 0; i < stages; i++)
        if (collect(search, i, error) != PIM_OK)
            return error->status;
    for (uint32_t i = stages; i > 0; i--) {
        search->least_cycles[i - 1] = search->least_cycles[i] + least_cycles(&search->of[i - 1]);
        search->least_weights[i - 1] = search->least_weights[i] + least_weights(&search->of[i - 1]);
    }
    search->best_cycles = UINT64_MAX;
    descend(search, 0, 0, 0, 0);
    if (search->best_cycles == UINT64_MAX)
        return too_large(search, error);
    for (uint32_t i = 0; i < stages; i++)
        take(&plan->stage[i], &search->of[i].items[search->best[i]]);
    pim_plan_memory(plan);
    return PIM_OK;
}

enum pim_status pim_plan_choose(struct pim_allspark_plan *plan, const struct pim_allspark_options *options,
                                struct pim_error *error)
{
    struct search search = {.plan = plan, .options = options};
    enum pim_status status = choose(&search, error);
    for (uint32_t i = 0; i < PIM_STAGES; i++)
        free(search.of[i].items);
    return status;
}

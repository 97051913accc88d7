/*
 * The exact method: stage by stage, the one with most cycles first. The plans of a stage that can be part of
 * a solution below a limit are found as labels (labels.c); each of them leaves a smaller problem to the
 * stages behind, whose Lagrangian bound, with a price of its own for what is left of the memory, says whether
 * it is worth a look. A first search with few labels finds a good solution; the second one looks at
 * everything below it, and leaves out only what a bound or a dominance excludes: what it ends with is the
 * optimum. Once something is found the second search may be stopped; the first one takes milliseconds.
 */
#include "mappers/allspark/schedule/exact.h"
#include "sim/integer.h"

#include <stdlib.h>
#include <string.h>

enum {
    PRICES = 72, /* that bounds are known for */
    MOST_NODES = 1 << 20
};

struct exact {
    const struct pim_schedule_problem *problem;
    struct pim_view view[PIM_SCHEDULE_STAGES];
    int64_t price[PRICES];
    int64_t least[PIM_SCHEDULE_STAGES][PRICES]; /* priced, of each stage */
    uint32_t order[PIM_SCHEDULE_STAGES];        /* stages, that with most cycles first */
    bool out_of_memory, cut;
    /* plans found so far for the stages in the order, and the best for all */
    uint32_t *taken[PIM_SCHEDULE_STAGES];
    struct pim_schedule_solution *solution;
    uint64_t limit; /* cycles of a solution that is wanted, at most */
    uint32_t beam;  /* labels of a stage; 0: all */
    uint32_t nodes; /* that may be visited yet */
    struct pim_stop stop;
};

/* What the stages before have left. */
struct node {
    uint32_t depth; /* stages that are planned */
    uint64_t cycles, memory, workspace;
    uint32_t planned;                                                    /* a bit for each stage */
    uint64_t lasting[PIM_SCHEDULE_STAGES], scratch[PIM_SCHEDULE_STAGES]; /* of those that are */
};

/* --- bounds --- */

static bool prepare(struct exact *exact)
{
    const struct pim_schedule_problem *problem = exact->problem;
    for (uint32_t i = 1; i < PRICES; i++)
        exact->price[i] = i < 4 ? i : (int64_t)(4 + i % 4) << (i / 4 - 1);
    for (uint32_t s = 0; s < problem->stages; s++) {
        if (!pim_view_make(&exact->view[s], &problem->stage[s]))
            return false;
        exact->order[s] = s;
        for (uint32_t i = 0; i < PRICES; i++) {
            exact->least[s][i] = pim_bounds_least(&exact->view[s], exact->price[i]);
            if (exact->least[s][i] == INT64_MIN)
                return false;
        }
    }
    for (uint32_t a = 0; a < problem->stages; a++)
        for (uint32_t b = a + 1; b < problem->stages; b++)
            if (exact->least[exact->order[b]][0] > exact->least[exact->order[a]][0]) {
                uint32_t other = exact->order[a];
                exact->order[a] = exact->order[b];
                exact->order[b] = other;
            }
    return true;
}

/* The workspace that the stages from `depth` on need at least. */
static uint64_t floor_of(const struct exact *exact, const struct node *node)
{
    uint64_t workspace = node->workspace;
    for (uint32_t d = node->depth; d < exact->problem->stages; d++)
        workspace = pim_larger(workspace, exact->view[exact->order[d]].least_workspace);
    return workspace;
}

/* The largest bound over all prices, in 1/256 cycles, and its price. */
static int64_t bound_of(const struct exact *exact, const struct node *node, uint32_t *price)
{
    int64_t best = INT64_MIN;
    int64_t short_of = (int64_t)floor_of(exact, node) - (int64_t)node->memory;
    for (uint32_t i = 0; i < PRICES; i++) {
        int64_t bound = PIM_PRICE_SCALE * (int64_t)node->cycles + exact->price[i] * short_of;
        for (uint32_t d = node->depth; d < exact->problem->stages; d++) {
            int64_t least = exact->least[exact->order[d]][i];
            if (least >= PIM_PRICE_INFINITE) {
                *price = i;
                return PIM_PRICE_INFINITE;
            }
            bound += least;
        }
        if (bound > best) {
            best = bound;
            *price = i;
        }
    }
    return best;
}

/* --- search --- */

static void descend(struct exact *exact, const struct node *node);

struct child {
    int64_t bound;
    uint32_t label;
};

static int compare(const void *left, const void *right)
{
    const struct child *a = left, *b = right;
    if (a->bound != b->bound)
        return a->bound < b->bound ? -1 : 1;
    return a->label < b->label ? -1 : a->label > b->label;
}

static struct node child_of(const struct exact *exact, const struct node *node, const struct pim_label *label)
{
    const struct pim_schedule_stage *stages = exact->problem->stage;
    uint32_t stage = exact->order[node->depth];
    struct node child = *node;
    child.depth++;
    child.cycles += label->cycles;
    child.memory -= label->weights;
    child.workspace = pim_larger(node->workspace, pim_label_workspace(label));
    child.planned |= UINT32_C(1) << stage;
    child.lasting[stage] = label->lasting;
    child.scratch[stage] = label->scratch;
    for (uint32_t s = 0; s + 1 < exact->problem->stages; s++)
        if (stages[s].staged > 0 && (child.planned >> s & 3) == 3)
            child.workspace = pim_larger(child.workspace,
                                         pim_schedule_together(stages[s].staged, child.lasting[s],
                                                               child.lasting[s + 1], child.scratch[s + 1]));
    return child;
}

static void take(struct exact *exact, const struct node *node)
{
    const struct pim_schedule_problem *problem = exact->problem;
    exact->solution->found = true;
    exact->solution->cycles = node->cycles;
    exact->limit = node->cycles - 1;
    for (uint32_t s = 0; s < problem->stages; s++)
        memcpy(exact->solution->layers[s], exact->taken[s],
               problem->stage[s].count * sizeof *exact->taken[s]);
}

/* All plans of a stage, best bound first. */
static void visit(struct exact *exact, const struct node *node, const struct pim_labels *labels)
{
    uint32_t stage = exact->order[node->depth], count = labels->complete_count;
    struct child *children = malloc(((size_t)count + 1) * sizeof *children);
    if (!children) {
        exact->out_of_memory = true;
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct node child = child_of(exact, node, &labels->items[labels->complete[i]]);
        uint32_t price;
        children[i] = (struct child){bound_of(exact, &child, &price), labels->complete[i]};
    }
    qsort(children, count, sizeof *children, compare);
    for (uint32_t i = 0; i < count && !exact->out_of_memory; i++) {
        if (children[i].bound > PIM_PRICE_SCALE * (int64_t)exact->limit)
            break;
        struct node child = child_of(exact, node, &labels->items[children[i].label]);
        memset(exact->taken[stage], 0, exact->problem->stage[stage].count * sizeof *exact->taken[stage]);
        pim_labels_layers(labels, &exact->view[stage], children[i].label, exact->taken[stage]);
        descend(exact, &child);
    }
    free(children);
}

static void descend(struct exact *exact, const struct node *node)
{
    bool stopped = exact->beam == 0 && exact->solution->found && pim_stop_asked(&exact->stop);
    exact->cut = exact->cut || stopped;
    if (stopped || floor_of(exact, node) > node->memory || exact->nodes == 0)
        return;
    exact->nodes--;
    if (node->depth == exact->problem->stages) {
        if (node->cycles <= exact->limit)
            take(exact, node);
        return;
    }
    uint32_t price = 0, stage = exact->order[node->depth];
    int64_t bound = bound_of(exact, node, &price), limit = PIM_PRICE_SCALE * (int64_t)exact->limit;
    if (bound > limit)
        return;
    uint64_t others = 0;
    for (uint32_t d = node->depth + 1; d < exact->problem->stages; d++) {
        others += exact->view[exact->order[d]].least_weights;
        limit -= exact->least[exact->order[d]][price];
    }
    if (others > node->memory)
        return;
    const struct pim_label_limit limits = {.priced = limit - PIM_PRICE_SCALE * (int64_t)node->cycles +
                                                     exact->price[price] * (int64_t)node->memory,
                                           .memory = node->memory - others,
                                           .workspace = floor_of(exact, node),
                                           .turns = pim_schedule_takes_turns(exact->problem, stage),
                                           .beam = exact->beam,
                                           .stop = exact->beam == 0 && exact->solution->found ? &exact->stop
                                                                                              : NULL};
    struct pim_bounds bounds = {0};
    struct pim_labels labels = {0};
    if (!pim_bounds_make(&bounds, &exact->view[stage], exact->price[price]) ||
        !pim_labels_make(&labels, &exact->view[stage], &bounds, &limits))
        exact->out_of_memory = true;
    exact->cut = exact->cut || labels.cut;
    if (!exact->out_of_memory)
        visit(exact, node, &labels);
    pim_labels_terminate(&labels);
    pim_bounds_terminate(&bounds);
}

/* Whether even the plan that needs the least memory is too large. */
static bool too_large(struct exact *exact)
{
    struct pim_schedule_solution solution;
    struct pim_error error = {0};
    uint64_t bytes = 0;
    bool fits;
    if (!pim_least_memory_fits(exact->problem, &fits)) {
        exact->out_of_memory = true;
        return true;
    }
    if (fits)
        return false;
    if (pim_schedule_least_memory(exact->problem, &bytes, &solution, &error) != PIM_OK)
        exact->out_of_memory = true;
    pim_schedule_solution_terminate(&solution);
    return bytes > exact->problem->memory;
}

/* A good solution: few labels, few nodes, within limits that grow. */
static void search_beam(struct exact *exact, uint64_t lowest)
{
    const struct node root = {.memory = exact->problem->memory};
    uint64_t margin = lowest / 64 + 1;
    enum { ROUNDS = 16, BEAM = 64, NODES = 64 };
    for (unsigned round = 0; round < ROUNDS && !exact->solution->found && !exact->out_of_memory; round++) {
        exact->beam = BEAM;
        exact->nodes = NODES;
        exact->limit = lowest + margin;
        margin *= 2;
        descend(exact, &root);
    }
}

static void tell(const struct exact *exact, const char *what, uint64_t done)
{
    const struct pim_schedule_watch *watch = exact->stop.watch;
    if (watch && watch->progress)
        watch->progress(watch->context, what, done, 2);
}

static void search(struct exact *exact)
{
    const struct node root = {.memory = exact->problem->memory};
    uint32_t price;
    int64_t bound = bound_of(exact, &root, &price);
    uint64_t lowest = bound > 0 ? ((uint64_t)bound + PIM_PRICE_SCALE - 1) / PIM_PRICE_SCALE : 0;
    exact->solution->bound = lowest;
    if (bound >= PIM_PRICE_INFINITE || too_large(exact))
        return;
    tell(exact, "a good schedule", 0);
    search_beam(exact, lowest);
    tell(exact, "the best schedule", 1);
    /* Everything below what was found; or everything, when nothing was. */
    if (!exact->solution->found)
        exact->limit = PIM_PRICE_INFINITE / PIM_PRICE_SCALE / 2;
    exact->beam = 0;
    exact->nodes = MOST_NODES;
    exact->cut = false;
    descend(exact, &root);
    exact->solution->stopped = exact->stop.stopped;
    if (exact->solution->found && !exact->cut && exact->nodes > 0)
        exact->solution->bound = exact->solution->cycles;
}

static void terminate(struct exact *exact)
{
    for (uint32_t s = 0; s < exact->problem->stages; s++) {
        pim_view_terminate(&exact->view[s]);
        free(exact->taken[s]);
    }
}

uint64_t pim_schedule_bound(const struct pim_schedule_problem *problem)
{
    struct exact exact = {.problem = problem};
    const struct node root = {.memory = problem->memory};
    uint32_t price;
    int64_t bound = prepare(&exact) ? bound_of(&exact, &root, &price) : 0;
    terminate(&exact);
    return bound <= 0 ? 0 : ((uint64_t)bound + PIM_PRICE_SCALE - 1) / PIM_PRICE_SCALE;
}

enum pim_status pim_schedule_exact(const struct pim_schedule_problem *problem,
                                   const struct pim_schedule_watch *watch,
                                   struct pim_schedule_solution *solution, struct pim_error *error)
{
    struct exact exact = {.problem = problem, .solution = solution, .stop.watch = watch};
    bool done = pim_schedule_solution_initialize(solution, problem) && prepare(&exact);
    for (uint32_t s = 0; s < problem->stages; s++) {
        exact.taken[s] = calloc((size_t)problem->stage[s].count + 1, sizeof *exact.taken[s]);
        done = done && exact.taken[s];
    }
    if (done)
        search(&exact);
    done = done && !exact.out_of_memory;
    terminate(&exact);
    return done ? PIM_OK : pim_fail(error, PIM_NO_MEMORY, "out of memory for the schedule");
}

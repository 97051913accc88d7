/*
 * The schedule of a whole model: how many temporal layers with which partition each stage gets. Section VI of
 * M. Ge et al., "Allspark: Workload Orchestration for Visual Transformers on Processing In-Memory Systems",
 * in the form that counts layers. docs/mappers/allspark.md proves that both forms have the same optimum.
 *
 * A stage has `branches` equal branches. A candidate is a way to work some of them at once: a temporal layer
 * of it takes up to `capacity` branches (constraint 1) and costs layer_cycles, whether it is full or not. Let
 * n be the layers of a candidate, and let it be used when n > 0. Then
 *
 *   cycles    = sum over the used ones of once_cycles + n * layer_cycles       least         (12-15)
 *   weights   = sum over the used ones of `weights`                                           (10, 11)
 *   workspace = sum over the used ones of once_bytes + n * layer_bytes, + the largest scratch_bytes
 *   sum over n * capacity >= branches >= sum over n: every layer has a branch                 (2, 3)
 *   sum of weights over the stages + largest workspace of a stage <= memory                   (5)
 *
 * Reuse of weights within a partition (Term 2) is in the weights being counted once. For the copy of all
 * weights (Term 1) a candidate `provides` PIM_SCHEDULE_WHOLE, and the candidates that take their weights from
 * it `need` it: one that provides must be used where one that needs is. The stage with the classifier needs
 * PIM_SCHEDULE_HEAD, which exactly one of its used candidates provides.
 *
 * Two stages that follow each other (none is in two such pairs) may be parts of the same blocks, which take
 * turns: while the second is worked, what lasts of the first stays, and between them `staged` times what
 * lasts of the first leaves and what lasts of the second arrives. With L and L' what lasts, S' the scratch of
 * the second:
 *   workspace of both >= L + L' + max(S', staged * L + L')
 *
 * All costs are exact integers: the optimum is one, whatever the method.
 */
#ifndef PIMSIM_MAPPERS_ALLSPARK_SCHEDULE_SCHEDULE_H
#define PIMSIM_MAPPERS_ALLSPARK_SCHEDULE_SCHEDULE_H

#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PIM_SCHEDULE_STAGES = 8,
    PIM_SCHEDULE_WHOLE = 1, /* bits of `provides` and `needs` */
    PIM_SCHEDULE_HEAD = 2,
    PIM_SCHEDULE_FLAGS = 4
};

struct pim_schedule_candidate {
    uint64_t layer_cycles, once_cycles;
    uint64_t weights;
    uint64_t layer_bytes, once_bytes, scratch_bytes;
    uint32_t capacity; /* at least 1 */
    uint32_t provides, needs;
};

struct pim_schedule_stage {
    uint32_t branches; /* at least 1 */
    uint32_t count;
    struct pim_schedule_candidate *candidates;
    size_t capacity; /* of the list, as pim_schedule_append() keeps it */
    uint32_t needs;
    uint32_t staged; /* not 0: the next stage takes turns with it */
};

struct pim_schedule_problem {
    uint32_t stages;
    struct pim_schedule_stage stage[PIM_SCHEDULE_STAGES];
    uint64_t memory; /* of a node, in bytes */
};

/* The layers of each candidate, in the order of the problem. */
struct pim_schedule_solution {
    bool found; /* false: nothing fits the memory */
    uint64_t cycles;
    uint64_t bound; /* no solution has fewer cycles; equal to `cycles`: it is optimal */
    bool stopped;   /* the search was asked to end: the best so far */
    uint32_t *layers[PIM_SCHEDULE_STAGES];
};

/* --- problems (problem.c) --- */

/* Appends a candidate; false when memory is out. */
bool pim_schedule_append(struct pim_schedule_stage *stage, const struct pim_schedule_candidate *candidate);
/* Frees the candidates of all stages. */
void pim_schedule_problem_terminate(struct pim_schedule_problem *problem);
/* All layers 0; false when memory is out. */
bool pim_schedule_solution_initialize(struct pim_schedule_solution *solution,
                                      const struct pim_schedule_problem *problem);
void pim_schedule_solution_terminate(struct pim_schedule_solution *solution);

/* What a choice of layers costs. */
struct pim_schedule_cost {
    uint64_t cycles, weights, workspace; /* of a stage; of all: the sums, and the largest workspace */
    uint64_t lasting;                    /* of the workspace of a stage, without scratch; of all: 0 */
};

/* The workspace of two stages that take turns. */
static inline uint64_t pim_schedule_together(uint32_t staged, uint64_t lasting, uint64_t other_lasting,
                                             uint64_t other_scratch)
{
    uint64_t moved = staged * lasting + other_lasting;
    return lasting + other_lasting + (other_scratch > moved ? other_scratch : moved);
}

/* Whether stage `s` takes turns with the one behind it or before it. */
static inline bool pim_schedule_takes_turns(const struct pim_schedule_problem *problem, uint32_t s)
{
    return problem->stage[s].staged > 0 || (s > 0 && problem->stage[s - 1].staged > 0);
}

/* False when the layers of a stage break a constraint (branches, needs). */
bool pim_schedule_cost_of_stage(const struct pim_schedule_stage *stage, const uint32_t *layers,
                                struct pim_schedule_cost *cost);
/* The same for all stages; the memory is not looked at. */
bool pim_schedule_cost(const struct pim_schedule_problem *problem, uint32_t *const layers[],
                       struct pim_schedule_cost *cost);

/* --- methods --- */

/* Who looks after a long search; members may be NULL. */
struct pim_schedule_watch {
    /* `done` of `total` parts of it */
    void (*progress)(void *context, const char *what, uint64_t done, uint64_t total);
    bool (*stop)(void *context); /* asked often; true: the best so far is taken, and it is not asked again */
    void *context;               /* of both */
};

/*
 * The optimum (exact.c): labels with Lagrangian bounds; or, when `watch` (NULL: nobody) stops it, the best so
 * far: a solution is found even then wherever there is one. PIM_NO_MEMORY is the only error. The solution
 * belongs to the caller, who terminates it, found or not.
 */
enum pim_status pim_schedule_exact(const struct pim_schedule_problem *problem,
                                   const struct pim_schedule_watch *watch,
                                   struct pim_schedule_solution *solution, struct pim_error *error);

/* A lower bound of the cycles of any solution: the largest of the Lagrangian ones; 0 when memory is out. */
uint64_t pim_schedule_bound(const struct pim_schedule_problem *problem);

/* The layers that need the least memory of a node, and how much: with so many bytes `exact` finds a solution,
   with one less it does not. */
enum pim_status pim_schedule_least_memory(const struct pim_schedule_problem *problem, uint64_t *bytes,
                                          struct pim_schedule_solution *solution, struct pim_error *error);

/*
 * The optimum by an integer programme that an installed solver is run on (ilp.c). `name` is that of a
 * solver ("cbc", "glpsol", "highs", "gurobi_cl"); NULL: the first of them that is installed. PIM_BAD_INPUT:
 * none is installed (the message says what to install), or the solver fails. When `seconds` are over, or
 * `watch` (NULL: nobody) stops it, the solver gives its best solution, and the bound is
 * pim_schedule_bound(); PIM_BAD_INPUT when it has none.
 */
enum pim_status pim_schedule_ilp(const struct pim_schedule_problem *problem, const char *name,
                                 uint32_t seconds, const struct pim_schedule_watch *watch,
                                 struct pim_schedule_solution *solution, struct pim_error *error);

#endif

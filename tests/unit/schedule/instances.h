/* Random scheduling problems, and their optimum by trying everything. */
#ifndef PIMSIM_TESTS_UNIT_SCHEDULE_INSTANCES_H
#define PIMSIM_TESTS_UNIT_SCHEDULE_INSTANCES_H

#include "mappers/allspark/schedule/schedule.h"
#include "sim/random.h"
#include "tests/unit/test_main.h"

enum { MOST_CANDIDATES = 16 };

/*
 * One to three stages. `literal` gets what the paper's form can say: no costs that come once, and no
 * classifier; `counts` is the same problem with a reusing candidate beside each that a whole copy could
 * serve, and, unless `plain`, costs that come once, reuse that changes the cycles, and a classifier in the
 * last stage.
 */
void random_problem(struct pim_random *random, bool plain, struct pim_schedule_problem *literal,
                    struct pim_schedule_problem *counts);

/* The least cycles of all choices of layers; UINT64_MAX: nothing fits. */
uint64_t brute_force(const struct pim_schedule_problem *problem);
/* The least memory with which something fits. */
uint64_t brute_force_memory(const struct pim_schedule_problem *problem);

/* The least cycles by the paper's own integer programme, which an installed solver works; UINT64_MAX: nothing
   fits. */
uint64_t literal_optimum(const struct pim_schedule_problem *problem, const char *solver, uint32_t seconds);

/* That a solution is one, and costs what it says. */
void check_solution(const struct pim_schedule_problem *problem, const struct pim_schedule_solution *solution);

Suite *exact_suite(void);
Suite *ilp_suite(void);

#endif

/*
 * Integer programmes worked by an installed solver, run as a child process; and what solvers write, read from
 * files that may hold anything.
 */
#ifndef PIMSIM_MAPPERS_SEARCH_INTEGER_SOLVER_H
#define PIMSIM_MAPPERS_SEARCH_INTEGER_SOLVER_H

#include "mappers/search/integer/child.h"
#include "mappers/search/integer/mps.h"
#include "sim/status.h"

/* What a solver says of a problem: the values are an optimum, some solution, none; or it is not clear. */
enum pim_solver_outcome {
    PIM_SOLVER_OPTIMAL,
    PIM_SOLVER_FEASIBLE,
    PIM_SOLVER_INFEASIBLE,
    PIM_SOLVER_UNKNOWN
};

/* Claims: the caller holds them against the problem. */
struct pim_solver_answer {
    enum pim_solver_outcome outcome;
    const char *solver; /* its name; static */
    int64_t *values;    /* by column */
    bool stopped;       /* it was asked to end before its time was over */
};

/*
 * Runs solver `name` ("cbc", "highs", "gurobi_cl", "glpsol"; NULL: the first of them that is installed) for
 * within a limit. PIM_BAD_INPUT: it is not known or not installed (the message says what to install, and
 * names `instead`, an option that needs no solver, unless that is NULL), it fails, or its files cannot be
 * written; PIM_NO_MEMORY. The answer needs pim_solver_answer_terminate() in every case.
 */
enum pim_status pim_solver_run(const char *name, struct pim_mps *mps, const struct pim_solver_limit *limit,
                               const char *instead, struct pim_solver_answer *answer,
                               struct pim_error *error);
void pim_solver_answer_terminate(struct pim_solver_answer *answer);

/* Whether such a solver is in the PATH; NULL: any of them. */
bool pim_solver_installed(const char *name);

/*
 * Reads the solution and the log of solver `name`; NULL: there is no such file. values[count] are 0 before;
 * those of columns in the file are set, within +-9e15.
 */
enum pim_solver_outcome pim_solver_read(const char *name, FILE *solution, FILE *log, int64_t *values,
                                        uint32_t count);

#endif

/* What integer programming solvers write: read from files that may hold anything. */
#ifndef PIMSIM_MAPPERS_ALLSPARK_SCHEDULE_SOLVER_H
#define PIMSIM_MAPPERS_ALLSPARK_SCHEDULE_SOLVER_H

#include <stdint.h>
#include <stdio.h>

/* What a solver says of a problem: the values are an optimum, some solution, none; or it is not clear. */
enum pim_solver_outcome {
    PIM_SOLVER_OPTIMAL,
    PIM_SOLVER_FEASIBLE,
    PIM_SOLVER_INFEASIBLE,
    PIM_SOLVER_UNKNOWN
};

/*
 * Reads the solution and the log of solver `name` ("cbc", "highs", "gurobi_cl", "glpsol"); NULL: there is no
 * such file. values[count] are 0 before; those of columns in the file are set, within +-9e15. They are
 * claims: the caller holds them against the problem.
 */
enum pim_solver_outcome pim_solver_read(const char *name, FILE *solution, FILE *log, int64_t *values,
                                        uint32_t count);

#endif

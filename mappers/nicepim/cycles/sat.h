/* Propositional formulas in conjunctive form, and installed solvers that are asked about them. */
#ifndef PIMSIM_MAPPERS_NICEPIM_CYCLES_SAT_H
#define PIMSIM_MAPPERS_NICEPIM_CYCLES_SAT_H

#include "mappers/nicepim/cycles/internal.h"

/* Clauses one after the other, each ended by 0. Variables count from 1; a negative literal is a negation. */
struct formula {
    int32_t *literal;
    size_t count, capacity, clauses;
    int32_t variables;
    bool failed; /* out of memory, or larger than FORMULA_LITERALS */
};
enum { FORMULA_LITERALS = 1 << 26 };

int32_t formula_variable(struct formula *formula);
/* Adds the clause of `count` literals. */
void formula_add(struct formula *formula, const int32_t *literals, size_t count);
void formula_terminate(struct formula *formula);

/* Weighted sums: an element adds its weight where its literal is true. */
struct element {
    int32_t literal;
    uint32_t weight;
};
/* The sum of `count` elements is at most `limit`. */
void formula_at_most(struct formula *formula, const struct element *elements, size_t count, uint32_t limit);

/* Asks the solver: SAT_FOUND fills value[1 .. variables]. PIM_IO when the solver could not be run. */
enum pim_status sat_ask(const struct sat_solver *solver, const struct formula *formula,
                        const struct pim_cycles_options *asked, enum sat_answer *answer, bool *value,
                        struct pim_error *error);

#endif

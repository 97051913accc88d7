#include "mappers/nicepim/cycles/sat.h"

#include <stdlib.h>
#include <string.h>

int32_t formula_variable(struct formula *formula)
{
    return ++formula->variables;
}

void formula_add(struct formula *formula, const int32_t *literals, size_t count)
{
    if (formula->failed)
        return;
    if (formula->count + count + 1 > formula->capacity) {
        size_t capacity = formula->capacity ? 2 * formula->capacity : 4096;
        while (capacity < formula->count + count + 1)
            capacity *= 2;
        int32_t *grown =
            capacity > FORMULA_LITERALS ? NULL : realloc(formula->literal, capacity * sizeof *grown);
        if (!grown) {
            formula->failed = true;
            return;
        }
        formula->literal = grown;
        formula->capacity = capacity;
    }
    if (count > 0)
        memcpy(formula->literal + formula->count, literals, count * sizeof *literals);
    formula->count += count;
    formula->literal[formula->count++] = 0;
    formula->clauses++;
}

void formula_terminate(struct formula *formula)
{
    free(formula->literal);
    *formula = (struct formula){0};
}

/*
 * A sequential counter (C. Sinz, "Towards an Optimal CNF Encoding of Boolean Cardinality Constraints", CP
 * 2005, with weights): register j of element t is true when the elements up to t sum to j or more.
 */
void formula_at_most(struct formula *formula, const struct element *elements, size_t count, uint32_t limit)
{
    uint64_t sum = 0;
    for (size_t t = 0; t < count; t++)
        sum += elements[t].weight;
    if (sum <= limit)
        return;
    int32_t previous = 0; /* register 1 of the element before, less 1; 0: none */
    bool first = true;
    for (size_t t = 0; t < count && !formula->failed; t++) {
        int32_t literal = -elements[t].literal;
        uint32_t weight = elements[t].weight;
        if (weight > limit) {
            formula_add(formula, &literal, 1);
            continue;
        }
        int32_t registers = formula->variables;
        formula->variables += (int32_t)limit;
        for (uint32_t j = 1; j <= limit; j++) {
            int32_t at = registers + (int32_t)j;
            if (!first)
                formula_add(formula, (int32_t[]){-(previous + (int32_t)j), at}, 2);
            if (j <= weight)
                formula_add(formula, (int32_t[]){literal, at}, 2);
            else if (!first)
                formula_add(formula, (int32_t[]){literal, -(previous + (int32_t)(j - weight)), at}, 3);
        }
        if (!first && weight > 0)
            formula_add(formula, (int32_t[]){literal, -(previous + (int32_t)(limit + 1 - weight))}, 2);
        previous = registers;
        first = false;
    }
}

#include "traces/trace.h"

#include "traces/counts.h"

#include <stddef.h>

const char *pim_estimate_part_name(unsigned part)
{
    static const char *const names[] = {
#define X(name, text) text,
        PIM_ESTIMATE_MAP(X)
#undef X
    };
    return part < PIM_ESTIMATE_PARTS ? names[part] : NULL;
}

const char *pim_equation_term_name(unsigned term)
{
    static const char *const names[] = {
#define X(name, text) text,
        PIM_EQUATION_MAP(X)
#undef X
    };
    return term < PIM_EQUATION_TERMS ? names[term] : NULL;
}

uint64_t pim_trace_phase_equations(const struct pim_trace_phase *phase)
{
    uint64_t sum = 0;
    for (unsigned term = 0; term < PIM_EQUATION_TERMS; term++)
        sum = pim_add_saturating(sum, phase->equation_terms[term]);
    return sum;
}

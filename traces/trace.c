#include "traces/trace.h"

#include "sim/names.h"
#include "traces/counts.h"

#include <stddef.h>

PIM_NAMES(pim_estimate_part_name, PIM_ESTIMATE_MAP)

PIM_NAMES(pim_equation_term_name, PIM_EQUATION_MAP)

uint64_t pim_trace_phase_equations(const struct pim_trace_phase *phase)
{
    uint64_t sum = 0;
    for (unsigned term = 0; term < PIM_EQUATION_TERMS; term++)
        sum = pim_add_saturating(sum, phase->equation_terms[term]);
    return sum;
}

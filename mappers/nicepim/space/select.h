/*
 * Which mapping of every segment and which candidate of every layer (NicePIM, Algorithm 2): the least latency
 * under a capacity of the nodes, exactly.
 *
 *     minimise    sum over segments of max over regions of sum over layers of latency
 *     (or, of what adds up over regions as energy does, sum over regions of sum over layers)
 *     subject to  sum over segments of max over regions of sum over layers of size <= capacity
 *
 * The optimum is over the candidates that are given. Instead of the paper's table over all capacities (whose
 * pseudo-code does not run as printed) fronts of size and latency are joined, which is exact to the unit.
 */
#ifndef PIMSIM_MAPPERS_NICEPIM_SPACE_SELECT_H
#define PIMSIM_MAPPERS_NICEPIM_SPACE_SELECT_H

#include "sim/status.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Nested lists: segment s has the mappings mapping[s] .. mapping[s + 1] - 1, each mapping m the regions
 * region[m] .., each region r the layers layer[r] .., each layer l the candidates candidate[l] .. of the
 * last two lists. Every list but that of layers has an entry at least.
 */
struct pim_selection {
    uint32_t segments;
    const uint32_t *mapping, *region, *layer, *candidate;
    const uint64_t *latency, *size;
    bool regions_add; /* what is minimised adds up over regions, as energy does; else the slowest counts */
};

struct pim_choice {
    bool feasible;
    uint64_t latency, size;
    uint64_t least_capacity; /* below it nothing fits */
    uint64_t bound; /* no choice has less latency: by Lagrange, given where fronts get too large as well */
    uint32_t front_points; /* of the whole network */
    uint32_t *mapping;     /* of each segment, from 0 */
    uint32_t *candidate;   /* of each layer in the lists, from 0; of mappings that were not chosen: 0 */
};

/* PIM_NO_MEMORY, or PIM_BAD_INPUT when fronts get too large to join. */
enum pim_status pim_select(const struct pim_selection *selection, uint64_t capacity,
                           struct pim_choice *choice, struct pim_error *error);
void pim_choice_terminate(struct pim_choice *choice);

#endif

/* Energy of programs, from the actions of their instructions (mappers/estimate/actions.h). */
#ifndef PIMSIM_MAPPERS_NICEPIM_MAP_ENERGY_H
#define PIMSIM_MAPPERS_NICEPIM_MAP_ENERGY_H

#include "mappers/estimate/actions.h"

/* pJ by component, and their sum; 0: not modelled. */
struct nice_energy {
    double pe, acu, sram, dram, noc, standing, total;
};

/* What is minimised, and by how much: cycles x cycles + energy x pJ. The fastest mapping: {1, 0}. */
struct nice_weights {
    uint64_t cycles, energy;
};

/* Of actions and of all nodes standing for `cycles` of the logic clock. */
void nice_energy_of(const struct pim_estimate_hardware *hardware, const struct pim_estimate_actions *actions,
                    uint64_t cycles, struct nice_energy *energy);

/* pJ of actions, without what stands. */
double nice_actions_pj(const struct pim_estimate_hardware *hardware,
                       const struct pim_estimate_actions *actions);

/* pJ of all nodes standing for a cycle of the logic clock. */
double nice_standing_pj(const struct pim_estimate_hardware *hardware);

static inline uint64_t nice_cost(const struct nice_weights *weights, uint64_t cycles, double pj)
{
    return weights->cycles * cycles + (weights->energy > 0 ? (uint64_t)(pj * (double)weights->energy) : 0);
}

#endif

/*
 * Energy of programs: the actions that the simulator charges (models/energy), counted from instructions. All
 * but rows opened, which depend on what else the port serves, are counted as the simulator does.
 */
#ifndef PIMSIM_MAPPERS_NICEPIM_MAP_ENERGY_H
#define PIMSIM_MAPPERS_NICEPIM_MAP_ENERGY_H

#include "mappers/estimate/estimate.h"
#include "traces/instruction.h"

struct nice_actions {
    uint64_t macs, sram_bits, acu_operations, dram_bits, dram_activates, noc_bit_hops;
};

/* pJ by component, and their sum; 0: not modelled. */
struct nice_energy {
    double pe, acu, sram, dram, noc, standing, total;
};

/* What is minimised, and by how much: cycles x cycles + energy x pJ. The fastest mapping: {1, 0}. */
struct nice_weights {
    uint64_t cycles, energy;
};

/* Adds what an instruction of a node does. */
void nice_count_actions(const struct pim_estimate_hardware *hardware, uint32_t node,
                        const struct pim_instruction *instruction, struct nice_actions *actions);

/* Of actions and of all nodes standing for `cycles` of the logic clock. */
void nice_energy_of(const struct pim_estimate_hardware *hardware, const struct nice_actions *actions,
                    uint64_t cycles, struct nice_energy *energy);

/* pJ of actions, without what stands. */
double nice_actions_pj(const struct pim_estimate_hardware *hardware, const struct nice_actions *actions);

/* pJ of all nodes standing for a cycle of the logic clock. */
double nice_standing_pj(const struct pim_estimate_hardware *hardware);

/* Columns that a burst passes through the port. */
uint64_t nice_burst_columns(uint32_t port_bytes, uint64_t address, uint64_t bytes, uint64_t stride,
                            uint64_t count);

static inline uint64_t nice_cost(const struct nice_weights *weights, uint64_t cycles, double pj)
{
    return weights->cycles * cycles + (weights->energy > 0 ? (uint64_t)(pj * (double)weights->energy) : 0);
}

#endif

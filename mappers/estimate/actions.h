/*
 * The actions of instructions of nodes that the simulator charges energy for (models/energy), in closed form.
 * They are counted as the simulator does, but for what the turns of others at the port of a memory change:
 * each burst opens its rows for itself, and reads a column once.
 */
#ifndef PIMSIM_MAPPERS_ESTIMATE_ACTIONS_H
#define PIMSIM_MAPPERS_ESTIMATE_ACTIONS_H

#include "mappers/machine/nodes.h"
#include "traces/instruction.h"

struct pim_estimate_actions {
    uint64_t macs, sram_bits, acu_operations, dram_bits, dram_activates, noc_bit_hops;
};

/* Adds what an instruction of a node does. */
void pim_estimate_count_actions(const struct pim_estimate_hardware *hardware, uint32_t node,
                                const struct pim_instruction *instruction,
                                struct pim_estimate_actions *actions);

/* Columns that a burst passes through the port. */
uint64_t pim_estimate_burst_columns(uint32_t port_bytes, uint64_t address, uint64_t bytes, uint64_t stride,
                                    uint64_t count);

#endif

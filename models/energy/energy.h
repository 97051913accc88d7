/*
 * Energy: actions times energy per action, plus static power times time.
 *
 * A component whose energy per action is 0 in the configuration is "not modelled", not free: it is NaN here,
 * null in JSON, an empty field in CSV and n/a in text. The total is of what is modelled; NaN if nothing is.
 * Source of the values: the hardware configuration (configs/hardware/), each with its own.
 */
#ifndef PIMSIM_MODELS_ENERGY_ENERGY_H
#define PIMSIM_MODELS_ENERGY_ENERGY_H

#include "models/cost/energy.h"
#include "models/unit/result.h"

/* X(member, text): of nodes, and of cores (which have the network on chip too) */
#define PIM_ENERGY_MAP(X)                                                                                    \
    X(pe, "PE array")                                                                                        \
    X(acu, "ACU")                                                                                            \
    X(sram, "SRAM buffers")                                                                                  \
    X(dram, "DRAM")                                                                                          \
    X(noc, "NoC")

#define PIM_CORE_ENERGY_MAP(X)                                                                               \
    X(crossbar, "crossbars")                                                                                 \
    X(vector, "vector units")                                                                                \
    X(local, "local memory")                                                                                 \
    X(global, "global memory")                                                                               \
    X(interconnect, "interconnect") /* bus or shared memory */                                               \
    X(chip_link, "chip links")                                                                               \
    X(clocked, "clocked power")

struct pim_energy {
#define X(member, text) double member;
    PIM_ENERGY_MAP(X)
    PIM_CORE_ENERGY_MAP(X)
#undef X
    double standing; /* static power x time; "static" is a keyword */
    double total;
};

/* Energy in pJ of `actions`, and of `nodes` nodes that stand for `nanoseconds`; NaN: not modelled. */
void pim_energy_of(const struct pim_energy_configuration *configuration, const struct pim_actions *actions,
                   uint32_t nodes, double nanoseconds, struct pim_energy *energy);

#endif

/*
 * Energy of a DRAM from command counts and from how long rows were open: a pure function of counters, so that
 * it can be recomputed from a command log (command_check.h) without simulating again.
 *
 * Two models. `per_bit`: so many pJ for a bit read or written, for an ACT (with its PRE), for a REF, and mW
 * of background for each rank. `currents`: the formulas of DRAMPower 6.2 for one voltage, with its defaults
 * (I_beta = IDD0, rho = 1):
 *
 *     ACT   VDD (IDD0 - IDD3N) tRAS        RD, WR   VDD (IDD4R - IDD3N) B tCK, VDD (IDD4W - IDD3N) B tCK
 *     PRE   VDD (IDD0 - IDD2N) tRP         REF      VDD (IDD5B - IDD3N) tRFC
 *     background   VDD IDD3N x time with an open row or a refresh + VDD IDD2N x the rest
 *
 * for each of the devices that form a rank. The voltage in V, currents in mA, time in ns give pJ. Energy of
 * the interface (I/O) is per bit in both models.
 */
#ifndef PIMSIM_MODELS_DRAM_ENERGY_H
#define PIMSIM_MODELS_DRAM_ENERGY_H

#include "models/dram/channel/channel.h"
#include "models/dram/standard/specification.h"

enum pim_dram_energy_model { PIM_DRAM_ENERGY_NONE, PIM_DRAM_ENERGY_PER_BIT, PIM_DRAM_ENERGY_CURRENTS };

struct pim_dram_energy_parameters {
    enum pim_dram_energy_model model;
    double io_pj_per_bit;
    /* per_bit */
    double read_pj_per_bit, write_pj_per_bit, activate_pj, refresh_pj, background_mw;
    /* currents */
    double vdd, idd0, idd2n, idd3n, idd4r, idd4w, idd5b; /* V, mA */
    double idd5pb;                                       /* during REFpb */
    uint32_t devices;                                    /* of a rank (of a pseudo-channel) */
};

/* pJ. NaN: not modelled, because the parameters do not say what it costs (or no model is chosen at all). */
struct pim_dram_energy {
    double activate;  /* per_bit: with its PRE, */
    double precharge; /* which is NaN then */
    double read, write, refresh, io;
    double background_active, background_precharged; /* by state: of `currents` only */
    double background;
    double total; /* of what is modelled */
};

/* Energy for `cycles` of all channels. */
void pim_dram_energy_compute(const struct pim_dram_specification *specification,
                             const struct pim_dram_energy_parameters *parameters,
                             const struct pim_dram_counters *counters, uint64_t cycles,
                             struct pim_dram_energy *energy);

#endif

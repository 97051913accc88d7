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
 *
 * A parameter of 0 is not given. A part that one of its parameters is missing for is NaN, and so is the total
 * then: what totals say is comparable between memories. Each NaN has its reason.
 */
#ifndef PIMSIM_MODELS_DRAM_ENERGY_H
#define PIMSIM_MODELS_DRAM_ENERGY_H

#include "models/dram/channel/channel.h"
#include "models/dram/standard/specification.h"
#include "sim/output/json.h"

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

/* X(part, in the words of the text, what a reason calls it) */
#define PIM_DRAM_ENERGY_PARTS(X)                                                                             \
    X(activate, "activate", "activation energy")  /* per_bit: with its PRE, */                               \
    X(precharge, "precharge", "precharge energy") /* which is NaN then */                                    \
    X(read, "read", "read energy")                                                                           \
    X(write, "write", "write energy")                                                                        \
    X(refresh, "refresh", "refresh energy")                                                                  \
    X(io, "i/o", "I/O energy")                                                                               \
    X(background, "background", "background energy")                                                         \
    X(background_active, "background_active", "background energy by state") /* of `currents` only */         \
    X(background_precharged, "background_precharged", "background energy by state")                          \
    X(total, "total", "the total")

enum pim_dram_energy_part {
#define X(part, text, what) PIM_DRAM_ENERGY_##part,
    PIM_DRAM_ENERGY_PARTS(X)
#undef X
        PIM_DRAM_ENERGY_PART_COUNT
};

/* pJ. NaN: not modelled, because parameters are missing. */
struct pim_dram_energy {
#define X(part, text, what) double part;
    PIM_DRAM_ENERGY_PARTS(X)
#undef X
    double modelled;                              /* the sum of the parts that are there; NaN: none is */
    uint32_t missing[PIM_DRAM_ENERGY_PART_COUNT]; /* a set of what each part lacks */
};

/* Energy for `cycles` of all channels. */
void pim_dram_energy_compute(const struct pim_dram_specification *specification,
                             const struct pim_dram_energy_parameters *parameters,
                             const struct pim_dram_counters *counters, uint64_t cycles,
                             struct pim_dram_energy *energy);

/* Without a model, as for parameters of `currents`, which say nothing of banks that compute. */
void pim_dram_energy_of_no_currents(struct pim_dram_energy *energy);

double pim_dram_energy_of_part(const struct pim_dram_energy *energy, unsigned part);
const char *pim_dram_energy_part_text(unsigned part); /* as in text */

enum { PIM_DRAM_ENERGY_REASON = 320 }; /* bytes that hold the longest reason */

/* Why the part is NaN: which keys to give. Empty when it is there. */
void pim_dram_energy_reason(const struct pim_dram_energy *energy, unsigned part,
                            char reason[PIM_DRAM_ENERGY_REASON]);

/* All parts, and `modelled`; a member with its reason for each part that is null. They are put into the
 * object that is open. */
void pim_dram_energy_put(struct pim_json *json, const struct pim_dram_energy *energy);
void pim_dram_energy_put_reasons(struct pim_json *json, const struct pim_dram_energy *energy);

#endif

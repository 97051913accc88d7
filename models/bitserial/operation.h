/*
 * What an operation costs on the banks of a memory: compiled, sequenced and counted.
 *
 * All banks of all channels that take part run the same program on rows of their own. Channels have nothing
 * in common, so one of them is sequenced and the counts are multiplied.
 */
#ifndef PIMSIM_MODELS_BITSERIAL_OPERATION_H
#define PIMSIM_MODELS_BITSERIAL_OPERATION_H

#include "models/bitserial/sequencer.h"
#include "models/dram/energy.h"

struct pim_bitserial_request {
    struct pim_bitserial_operation operation;
    uint32_t banks;    /* of each channel, taken in turn (pim_bitserial_bank_in_turn) */
    uint32_t channels; /* that do this */
    uint64_t repeat;   /* times, one after another, on the same rows */
    bool refresh;
    bool stepped;                                                     /* the slow path */
    void (*log)(void *context, const struct pim_dram_record *record); /* commands of channel 0; NULL: none */
    void *context;
};

struct pim_bitserial_cost {
    struct pim_bitserial_timing timing;   /* of one channel */
    uint64_t commands[PIM_DRAM_COMMANDS]; /* of all channels */
    uint64_t aaps;                        /* of one bank, all repetitions */
    uint64_t columns;                     /* numbers that are computed at once in all banks and channels */
    uint64_t closed_form_aaps;            /* pim_bitserial_aaps, all repetitions */
    uint64_t closed_form_cycles; /* closed_form_aaps x pim_dram_aap_cycles; 0 when the operation moves data */
    uint64_t paper_aaps, paper_cycles; /* pim_bitserial_paper_aaps, the same way; 0: the paper has no form */
    /* pJ of all channels. NaN: not modelled (refresh and background without figures in the configuration,
     * everything without an energy model per bit), and the total then. modelled: of what is there. */
    struct pim_dram_energy energy;
};

/* The shape of a bank of this memory. */
struct pim_bitserial_bank_shape pim_bitserial_shape(const struct pim_dram_specification *specification);

/* Takes tRRD and tFAW out: activations are limited by nothing but their own bank and the command bus. */
void pim_bitserial_ignore_activation_limits(struct pim_dram_specification *specification);

/* Refuses memories that cannot compute (dram.taa = 0), banks and channels that are not there, sizes whose
 * counts would not fit. `energy` may have the model NONE. */
enum pim_status pim_bitserial_run(const struct pim_dram_specification *specification,
                                  const struct pim_dram_energy_parameters *energy,
                                  const struct pim_bitserial_request *request,
                                  struct pim_bitserial_cost *cost, struct pim_error *error);

/* Refuses memories in which one step does not fit between two refreshes. */
enum pim_status pim_bitserial_check_refresh(const struct pim_dram_specification *specification,
                                            struct pim_error *error);

/* Energy of commands as above; for operations and transfers. */
void pim_bitserial_energy(const struct pim_dram_specification *specification,
                          const struct pim_dram_energy_parameters *parameters,
                          const uint64_t commands[PIM_DRAM_COMMANDS], uint64_t cycles,
                          struct pim_dram_energy *energy);

/* Banks that compute have one stack identifier. Also asked of a memory that was refused while it was read: an
 * order of addresses without identifiers is not what is wrong with it. */
enum pim_status pim_bitserial_check_stacks(const struct pim_dram_specification *specification,
                                           struct pim_error *error);

/* Is this a memory whose banks compute, with `banks` banks of `channels` channels? */
enum pim_status pim_bitserial_check_memory(const struct pim_dram_specification *specification, uint32_t banks,
                                           uint32_t channels, struct pim_error *error);

#endif

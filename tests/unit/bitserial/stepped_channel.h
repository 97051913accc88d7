/*
 * A channel stepped cycle by cycle, written from the rules of models/bitserial/sequencer.h and from the table
 * of constraints alone: the oracle of the sequencer. It keeps every command that it issued, and looks all of
 * them through for each decision.
 */
#ifndef PIMSIM_TESTS_UNIT_BITSERIAL_STEPPED_CHANNEL_H
#define PIMSIM_TESTS_UNIT_BITSERIAL_STEPPED_CHANNEL_H

#include "models/bitserial/sequencer.h"

struct stepped_bank {
    uint32_t bank;
    const struct pim_bitserial_program *program;
};

/* Runs each bank's program once, from cycle 0. Returns how many commands were issued, at most `room`. */
size_t stepped_channel_run(const struct pim_dram_specification *specification, bool refresh,
                           const struct stepped_bank *banks, uint32_t bank_count,
                           struct pim_dram_record *records, size_t room);

#endif

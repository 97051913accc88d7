/*
 * The rules of models/channel/channel.h once more, as plainly as possible: every cycle everything is looked
 * at, work is counted down, and servers serve a cycle of the first who asked. Only what an instruction
 * costs alone comes from the model (models/channel/costs.h, which has tests of its own).
 */
#ifndef PIMSIM_TESTS_UNIT_CHANNEL_REFERENCE_H
#define PIMSIM_TESTS_UNIT_CHANNEL_REFERENCE_H

#include "models/channel/channel.h"

enum { REFERENCE_CHANNELS = 4, REFERENCE_INSTRUCTIONS = 48, REFERENCE_BANKS = 8 };

struct reference_instruction {
    struct pim_instruction instruction;
    uint64_t start, end; /* cycles */
    /* the state */
    bool started, done, banks_taken;
    struct pim_channel_cost cost;
    uint64_t began;                    /* cycle in which its work began */
    uint64_t work;                     /* cycles left of it */
    uint64_t rows, data, out, in, bus; /* left at servers; `out` to `bus`: of its message */
    uint64_t first;                    /* cycle of the first row at the receiver */
    uint64_t tail;                     /* cycles left of writing the last row, once it is there */
    int meets;                         /* the other end, in its channel; -1: none */
};

struct reference_channel {
    struct reference_instruction list[REFERENCE_INSTRUCTIONS];
    int count;
    int holder[REFERENCE_BANKS]; /* instruction, or -1 */
};

struct reference {
    struct pim_channels_configuration configuration;
    struct reference_channel channel[REFERENCE_CHANNELS];
    int channels;
};

/* Runs the programs to their ends; false when they do not come to one. */
bool reference_run(struct reference *reference);

#endif

/*
 * Programs replayed on a few channels: configs/hardware/fast-overlapim-hbm2.cfg, or -reram.cfg, with the
 * array and the settings of the test. A tick is a cycle of every clock.
 */
#ifndef PIMSIM_TESTS_UNIT_CHANNEL_SUPPORT_H
#define PIMSIM_TESTS_UNIT_CHANNEL_SUPPORT_H

#include "models/system/system.h"

#include <check.h>
#include <string.h>

enum { RUN_CHANNELS = 8, RUN_INSTRUCTIONS = 256, RUN_SETTINGS = 8 };

struct run {
    const char *settings[RUN_SETTINGS]; /* "levels.costs=commands", up to the first NULL */
    uint32_t width, height;             /* channels of a stack, stacks */
    bool reram;
    uint64_t until;       /* 0: to the end */
    uint32_t values_rows; /* of banks with real bits; 0: none */
    /* set by the functions below */
    struct pim_trace *trace;
    struct pim_system *system;
    struct pim_run_result result;
    struct pim_error error;
    enum pim_status status;
    bool wrapped;
    struct pim_channel_values *values;
    struct {
        uint64_t start, end;
    } seen[RUN_CHANNELS][RUN_INSTRUCTIONS]; /* cycles of each instruction, by its number in executed order */
};

/* Replays a program in assembler text, whatever the status. One without a .phase gets a phase around what
 * each unit does, which `seen` does not count (messages do: the first instruction is number 1 then). */
void replay(struct run *run, const char *program);

/* The same in two steps: between them values may be put into banks. */
void begin(struct run *run, const char *program);
void finish(struct run *run);

/* The same with programs as instructions. */
struct program {
    const struct pim_instruction *instruction;
    uint32_t count;
};
void replay_programs(struct run *run, const struct program *programs);

/* The status must be PIM_OK, and everything that holds for every run is checked. */
void replay_well(struct run *run, const char *program);
void check_invariants(const struct run *run);

/* Must fail with this status and a message that has this part in it. Cleans up. */
void replay_badly(struct run *run, const char *program, enum pim_status status, const char *part);

void clean(struct run *run);

#define STARTS(run, channel, number, cycle) ck_assert_uint_eq((run)->seen[channel][number].start, cycle)
#define ENDS(run, channel, number, cycle) ck_assert_uint_eq((run)->seen[channel][number].end, cycle)

#endif

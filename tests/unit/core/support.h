/*
 * Programs replayed on a few cores. The hardware is that of the schema's defaults with the settings of `base`
 * (support.c) and of the test; a tick is a cycle of every clock. With `base`:
 *
 *   local memory   16 bytes a beat, not pipelined, 2 cycles to read and 3 to write a beat
 *   crossbars      F = 4, B = 3, T = 2, not pipelined: an MVM takes 14 cycles; 8 arrays of 4 x 4 weights
 *   vector units   8 elements a cycle, latency 4, pipelined
 *   global memory  16 bytes a beat, pipelined, 10 cycles to read and 5 to write
 */
#ifndef PIMSIM_TESTS_UNIT_CORE_SUPPORT_H
#define PIMSIM_TESTS_UNIT_CORE_SUPPORT_H

#include "models/system/system.h"

#include <check.h>

enum { RUN_CORES = 8, RUN_INSTRUCTIONS = 256, RUN_SETTINGS = 24 };

struct run {
    const char *settings[RUN_SETTINGS]; /* "core.window=4", up to the first NULL */
    const char *file;                   /* hardware below the source folder instead of `base`, or NULL */
    uint32_t width, height;
    uint64_t until; /* 0: to the end */
    /* set by the functions below */
    struct pim_trace *trace;
    struct pim_system *system;
    struct pim_run_result result;
    struct pim_error error;
    enum pim_status status;
    bool wrapped;
    struct {
        uint64_t start, end;
    } seen[RUN_CORES][RUN_INSTRUCTIONS]; /* cycles of each instruction, by its number in executed order */
};

/* Replays a program in assembler text, whatever the status. One without a .phase gets a phase around what
 * each unit does, which `seen` does not count (messages do: the first instruction is number 1 then). */
void replay(struct run *run, const char *program);

/* The same with programs as instructions; each core has `groups` array groups of one array. */
struct program {
    const struct pim_instruction *instruction;
    uint32_t count;
};
void replay_programs(struct run *run, const struct program *programs, uint32_t groups);

/* The status must be PIM_OK, and everything that holds for every run is checked. */
void replay_well(struct run *run, const char *program);
void check_invariants(const struct run *run);

/* Must fail with this status and a message that has this part in it. Cleans up. */
void replay_badly(struct run *run, const char *program, enum pim_status status, const char *part);

void clean(struct run *run);

#define STARTS(run, core, number, cycle) ck_assert_uint_eq((run)->seen[core][number].start, cycle)
#define ENDS(run, core, number, cycle) ck_assert_uint_eq((run)->seen[core][number].end, cycle)

#endif

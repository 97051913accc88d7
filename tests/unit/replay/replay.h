/*
 * Programs replayed on a few units of a family, for the tests of cores and of channels: with the hardware of
 * the family, or a file's, and the settings of the test.
 */
#ifndef PIMSIM_TESTS_UNIT_REPLAY_REPLAY_H
#define PIMSIM_TESTS_UNIT_REPLAY_REPLAY_H

#include "models/system/system.h"

#include <check.h>

enum { RUN_UNITS = 8, RUN_INSTRUCTIONS = 256, RUN_SETTINGS = 24 };

/* What a family's support.c says. */
extern const struct run_family {
    const char *const *base; /* settings of the hardware, up to the first NULL, where there is no file */
    const char *file;        /* hardware below the source folder; NULL: the schema's defaults */
    uint64_t (*sequence)(const struct pim_instruction *instruction); /* of the slot that it lies in */
} run_family;

struct run {
    const char *settings[RUN_SETTINGS]; /* "core.window=4", up to the first NULL */
    const char *file;                   /* hardware below the source folder instead of the family's */
    uint32_t width, height;
    uint64_t until;       /* 0: to the end */
    uint32_t values_rows; /* channels: of banks with real bits; 0: none */
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
    } seen[RUN_UNITS][RUN_INSTRUCTIONS]; /* cycles of each instruction, by its number in executed order */
};

/* Replays a program in assembler text, whatever the status. One without a .phase gets a phase around what
 * each unit does, which `seen` does not count (messages do: the first instruction is number 1 then). */
void replay(struct run *run, const char *program);

/* The same in two steps: between them values may be put into banks. */
void begin(struct run *run, const char *program);
void finish(struct run *run);

/* The same with programs as instructions; each unit has `groups` array groups of one array. */
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

#define STARTS(run, unit, number, cycle) ck_assert_uint_eq((run)->seen[unit][number].start, cycle)
#define ENDS(run, unit, number, cycle) ck_assert_uint_eq((run)->seen[unit][number].end, cycle)

#endif

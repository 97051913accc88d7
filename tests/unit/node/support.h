/*
 * Small programs in assembler text, replayed on a small array.
 *
 * The hardware is that of the schema's defaults with the settings of `base` and of the test: one tick is 2.5
 * ns, a cycle of every clock, unless a test sets a clock. Names of quantities that the tests of this folder
 * derive by hand from the rules in models/:
 *
 *   bank
 *     ACT -> RD, WR 8; PRE -> ACT 8; ACT -> PRE 16; ACT -> ACT 24; RD -> data 9; WR -> data 5; RD -> PRE 3;
 *     WR -> PRE 11; RD -> WR 7; WR -> RD 8; 16 bytes a column, 64 columns a row, no refresh. The first
 *     command of a burst comes a cycle after the burst reaches the port.
 *   array
 *     8 x 8 vector-MAC; m 16, n 8, k 8 lasts 16 + 8 cycles
 *   ACU
 *     8 elements a cycle; copy of e elements lasts ceil(e / 8) + 16 cycles
 *   mesh
 *     64-bit flits; 4 cycles a router, 1 a link, 2 into the first router, 1 out of the last: f flits to a
 *     neighbour last 12 + f - 1 cycles. What is handed over in cycle c outside of the network leaves its
 *     terminal in cycle c + 1.
 */
#ifndef PIMSIM_TESTS_UNIT_NODE_SUPPORT_H
#define PIMSIM_TESTS_UNIT_NODE_SUPPORT_H

#include "models/node/node_internal.h"
#include "models/system/system.h"

#include <check.h>

enum { RUN_UNITS = 16, RUN_INSTRUCTIONS = 64 };

struct run {
    const char *settings[10]; /* "noc.fidelity=ideal", up to the first NULL */
    uint32_t width, height;
    uint64_t until; /* 0: to the end */
    /* set by the functions below */
    struct pim_trace *trace;
    struct pim_system *system;
    struct pim_run_result result;
    struct pim_error error;
    enum pim_status status;
    struct {
        pim_time start, end;
    } seen[RUN_UNITS][RUN_INSTRUCTIONS]; /* of each instruction, by its number in executed order */
};

/* Assembles the program ("phase_begin" and so on, from the first .phase), makes the system; does not run it.
 * */
void make(struct run *run, const char *program);

/* The same for a trace that is there already (and stays the caller's). */
void make_from(struct run *run, struct pim_trace *trace);

/* Makes, runs and collects, whatever the status. */
void replay(struct run *run, const char *program);

/* The same; the status must be PIM_OK. */
void replay_well(struct run *run, const char *program);

/* Must fail with this status and a message that has this part in it. Cleans up. */
void replay_badly(struct run *run, const char *program, enum pim_status status, const char *part);

/* Runs and collects a system that make() made. */
void finish_run(struct run *run);

void clean(struct run *run);

/* Opens a trace written by `write` to the path it is given. */
struct pim_trace *trace_from(enum pim_status (*write)(const char *path, const void *context,
                                                      struct pim_error *error),
                             const void *context);

/* The report as JSON without what may differ between two runs that do the same; the caller frees it. */
char *json_of(struct run *run);

/* Everything that holds for every run: accounts, phases, conservation. */
void check_invariants(const struct run *run);

#define ENDS(run, unit, number, tick) ck_assert_uint_eq((run)->seen[unit][number].end, tick)
#define STARTS(run, unit, number, tick) ck_assert_uint_eq((run)->seen[unit][number].start, tick)

#endif

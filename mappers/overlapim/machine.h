/*
 * The memory as this mapper sees it: channels of banks that compute in all columns of a row at once, the ways
 * between them, and what an operation costs. Read from a hardware configuration (levels.*, array.*).
 *
 * Three cost tables. "figure": the latencies of the paper's Fig. 6 (or 7) for a word, as its framework uses
 * them. "commands": activate-activate-precharge sequences as the banks are driven, by the closed forms of
 * docs/models/bitserial.md, with all banks of a channel at work. "steps": the NORs of crossbars (ReRAM), in
 * all banks at once; rows move as in the figure.
 */
#ifndef PIMSIM_MAPPERS_OVERLAPIM_MACHINE_H
#define PIMSIM_MAPPERS_OVERLAPIM_MACHINE_H

#include "sim/configuration/configuration.h"
#include "sim/status.h"

#include <stdint.h>

enum pim_machine_costs { PIM_MACHINE_FIGURE, PIM_MACHINE_COMMANDS, PIM_MACHINE_STEPS };
enum { PIM_MACHINE_BUSY = 256 }; /* banks of a channel, at most */

/* Where things lie in a bank, in words from the first row that is not named otherwise (emit/real.h):
 * operands, product, scratch rows and sums, and what comes from others. */
enum {
    PIM_MACHINE_FIRST = 0,
    PIM_MACHINE_SECOND = 1,
    PIM_MACHINE_PRODUCT = 2,
    PIM_MACHINE_SCRATCH = 4,
    PIM_MACHINE_SUM = 8,
    PIM_MACHINE_LANDING = 12
};

struct pim_machine {
    uint32_t stacks, channels; /* channels of a stack */
    uint32_t banks;            /* of a channel */
    uint32_t columns, rows;    /* of a bank; rows that hold data */
    uint32_t word_bits;        /* of inputs and weights; sums have twice as many */
    uint32_t channel_bytes;    /* a cycle, in and out of a channel */
    uint32_t bus_bytes;        /* a cycle, between stacks, shared by all */
    enum pim_machine_costs costs;
    uint32_t add_cycles, multiply_cycles; /* figure: of a word */
    uint32_t step_ps, logic_khz;          /* steps: of a NOR of crossbars; the clock that counts */
    uint32_t aap_busy[PIM_MACHINE_BUSY];  /* commands: of a step, while 1, 2, ... banks of a channel work */
    uint32_t aap_busy_count;              /* of them that are given */
    uint32_t row_overhead_cycles;         /* commands: of opening and closing a row */
    uint32_t refresh_cycles, refresh_interval_cycles;
    uint32_t window; /* instructions of a channel under way */
};

/* PIM_BAD_INPUT names a key whose value does not fit the others. */
enum pim_status pim_machine_read(const struct pim_configuration *configuration, struct pim_machine *machine,
                                 struct pim_error *error);

/* Cycles of all columns of `banks` banks of a channel; a refresh that falls due is not in them. */
uint64_t pim_machine_multiply(const struct pim_machine *machine, uint64_t banks); /* to a double word */
uint64_t pim_machine_add(const struct pim_machine *machine, uint64_t banks);      /* double words */

/* Sums over groups of `width` columns (a power of two), double words: moves and additions, level by level. */
struct pim_reduction_cycles {
    uint64_t move, add;
};
struct pim_reduction_cycles pim_machine_reduce(const struct pim_machine *machine, uint64_t width,
                                               uint64_t banks);

/*
 * Reads, or writes, `rows` rows of each of `banks` banks of a channel. Figure: one bank after another.
 * Commands: two banks are a bank group, which alone has half the rate of the channel (tCCD_L is twice
 * tCCD_S); in a bank alone opening and closing a row is not hidden behind another's.
 */
uint64_t pim_machine_rows(const struct pim_machine *machine, uint64_t rows, uint64_t banks);

/* So many rows, of all banks, over the link out of a channel, or into it. */
uint64_t pim_machine_link(const struct pim_machine *machine, uint64_t rows);

/* Moves `rows` rows of each of `banks` banks within it. Commands: read and write take turns, so that a bank
 * whose bank group has no other at work takes the time of two. */
uint64_t pim_machine_move(const struct pim_machine *machine, uint64_t rows, uint64_t banks);

/* What refreshes add to so many cycles of work; 0 in the table of the figure. */
uint64_t pim_machine_refresh(const struct pim_machine *machine, uint64_t cycles);

#endif

/*
 * The memory as this mapper sees it: channels of banks that compute in all columns of a row at once, the ways
 * between them, and what an operation costs. Read from a hardware configuration (levels.*, array.*).
 *
 * Two cost tables. "figure": the latencies of the paper's Fig. 6 (or 7) for a word, as its framework uses
 * them. "commands": activate-activate-precharge sequences as the banks are driven, by the closed forms of
 * docs/models/bitserial.md, with all banks of a channel at work.
 */
#ifndef PIMSIM_MAPPERS_OVERLAPIM_MACHINE_H
#define PIMSIM_MAPPERS_OVERLAPIM_MACHINE_H

#include "sim/configuration.h"
#include "sim/status.h"

#include <stdint.h>

enum pim_machine_costs { PIM_MACHINE_FIGURE, PIM_MACHINE_COMMANDS };

struct pim_machine {
    uint32_t stacks, channels; /* channels of a stack */
    uint32_t banks;            /* of a channel */
    uint32_t columns, rows;    /* of a bank; rows that hold data */
    uint32_t word_bits;        /* of inputs and weights; sums have twice as many */
    uint32_t channel_bytes;    /* a cycle, in and out of a channel */
    uint32_t bus_bytes;        /* a cycle, between stacks, shared by all */
    enum pim_machine_costs costs;
    uint32_t add_cycles, multiply_cycles; /* figure: of a word */
    uint32_t aap_cycles;                  /* commands: of one step of all banks of a channel */
    uint32_t aap_bank_cycles;             /* commands: of a bank alone */
    uint32_t row_overhead_cycles;         /* commands: of a row of a bank alone, beside its bytes */
    uint32_t refresh_cycles, refresh_interval_cycles;
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
 * Moves `rows` rows into, or out of, each of `banks` banks of a channel, one after another. Commands: two
 * banks are a bank group, which alone has half the rate (tCCD_L is twice tCCD_S); in a bank alone opening and
 * closing a row is not hidden behind others.
 */
uint64_t pim_machine_rows(const struct pim_machine *machine, uint64_t rows, uint64_t banks);

/* What refreshes add to so many cycles of work; 0 in the table of the figure. */
uint64_t pim_machine_refresh(const struct pim_machine *machine, uint64_t cycles);

#endif

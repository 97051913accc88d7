/*
 * What instructions of a channel cost when nothing else goes on in it. Three tables, by name (levels.costs):
 *
 *  figure    the constants of Fast-OverlaPIM's Fig. 6 and 7, each for a number of any width: an addition or
 *            subtraction takes add_cycles, a multiplication multiply_cycles, whatever the number of banks. A
 *            level of a reduction is an addition, and a move of its rows out and back. A copied row takes
 *            aap_cycles (no figure is given for it). Rows move with `link_bytes` a cycle, in all banks of a
 *            channel one after another. Cycles of the logic clock.
 *  commands  the microprograms of models/bitserial, sequenced on the banks that the instruction names under
 *            all constraints of the channel. Cycles of the memory clock. A refresh that becomes due while an
 *            instruction works costs it `refresh_cycles`.
 *
 *  steps     of crossbars that compute with NORs (ReRAM): the programs of models/bitserial/reram.h, a step
 *            after the other in `step_ps`; rows move as in the figure. A level of a reduction is an addition
 *            with one bit more. A product takes the steps of all its 2 x bits. Cycles of the logic clock.
 *
 * All count the same work, commands of DRAM or steps of crossbars: the energy is that of the work, not of its
 * time.
 */
#ifndef PIMSIM_MODELS_CHANNEL_COSTS_H
#define PIMSIM_MODELS_CHANNEL_COSTS_H

#include "models/bitserial/operation.h"
#include "models/dram/standard/specification.h"
#include "sim/status.h"
#include "traces/instruction.h"

struct pim_channel_memory {
    uint32_t banks, columns; /* of a channel; of a bank, a multiple of 8 */
    uint32_t rows;           /* of a bank, that hold data */
    uint32_t link_bytes;     /* a cycle, in and out of a channel */
    uint32_t bus_bytes;      /* a cycle, between stacks */
    bool commands;           /* the table */
    uint32_t add_cycles, multiply_cycles, aap_cycles;
    bool steps;       /* the third table */
    uint32_t step_ps; /* of a NOR, SET or RESET in all columns */
    uint32_t logic_khz;
    bool has_banks; /* `specification` holds; always with `commands` */
    bool refresh;
    struct pim_dram_specification specification;
};

struct pim_channel_cost {
    uint64_t cycles; /* from the first command until every bank could be activated again */
    uint64_t
        row_cycles; /* of them, at least, on what all banks share: activations (tFAW, tRRD) and row bus */
    uint64_t data_cycles;     /* ... and the data bus of the channel */
    uint64_t first;           /* reads: until the first row is there; writes: of the last row */
    uint64_t activates, bits; /* rows opened, bits read and written: energy */
    uint64_t steps;           /* without DRAM: of crossbars, of all banks */
    uint64_t products;        /* of numbers */
};

/* Reading and writing rows for messages, beside the opcodes. */
enum { PIM_CHANNEL_READ = PIM_OPCODES, PIM_CHANNEL_WRITE };

struct pim_channel_costs;

enum pim_status pim_channel_costs_create(const struct pim_channel_memory *memory,
                                         struct pim_channel_costs **costs, struct pim_error *error);
void pim_channel_costs_destroy(struct pim_channel_costs *costs);

/* Rows, banks and sizes that the memory does not have: the message says how many there are. */
enum pim_status pim_channel_check(const struct pim_channel_memory *memory,
                                  const struct pim_instruction *instruction, struct pim_error *error);

/* What a row_compute (its `detail`, `bits` and `size`) or row_transpose is to the banks; rows are not set. */
struct pim_bitserial_operation pim_channel_operation(unsigned opcode, unsigned detail, uint32_t bits,
                                                     uint32_t size);

/* The cost of an instruction that passed pim_channel_check(); `kind` is its opcode, or READ or WRITE for the
 * rows of a message. The same question is answered from memory. */
enum pim_status pim_channel_cost_of(struct pim_channel_costs *costs, unsigned kind,
                                    const struct pim_instruction *instruction, struct pim_channel_cost *cost,
                                    struct pim_error *error);

/* The cycle in which `work` cycles that begin at `start` or later end; refreshes are due every tREFI. */
uint64_t pim_channel_refreshed(const struct pim_channel_memory *memory, uint64_t start, uint64_t work);

/* ceil(value / divisor) */
static inline uint64_t pim_channel_ceiling(uint64_t value, uint64_t divisor)
{
    return value / divisor + (value % divisor != 0);
}

#endif

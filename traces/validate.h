/*
 * The checks that writer, reader and assembler share: one instruction by itself, and one unit's program as it
 * goes by.
 *
 * Together they hold invariants 1 to 4 of traces/instruction.h. Invariant 5 (messages match) and whether the
 * program can complete are the business of traces/check/check.h, which needs all programs.
 */
#ifndef PIMSIM_TRACES_VALIDATE_H
#define PIMSIM_TRACES_VALIDATE_H

#include "sim/status.h"
#include "traces/instruction.h"

#include <stdint.h>

#define PIM_NO_PHASE UINT32_MAX

/* No program executes more instructions than this, and no address or size in memory lies beyond it. */
#define PIM_PROGRAM_FETCHES ((uint64_t)1 << 62)
#define PIM_MEMORY_END ((uint64_t)1 << 62)
#define PIM_TILE_TIME_MOST ((uint64_t)1 << 60)
#define PIM_TILE_BITS_MOST ((uint64_t)1 << 40)
#define PIM_MATRIX_WORK                                                                                      \
    ((uint64_t)1 << 48) /* m * n * k of one instruction, rows * elements of a vector one */

/* Of an element; of one of bit_serial; of a number in rows. Log2 of the columns that a reduction adds up. */
enum { PIM_BITS_MOST = 64, PIM_SERIAL_BITS_MOST = 1024, PIM_ROW_BITS_MOST = 32, PIM_REDUCTION_MOST = 24 };

/* A repeat block that is open. */
struct pim_repeat_state {
    uint64_t first_fetch; /* fetches before it */
    uint32_t count;       /* iterations */
    uint32_t remaining;   /* instructions of its body still to come, those of inner blocks taken off when they
                             open */
};

/* A program as far as it has gone by. Starts as pim_program_start says. */
struct pim_program_state {
    uint32_t unit;    /* whose program it is */
    uint32_t units;   /* of the trace */
    uint32_t phases;  /* of the trace; a writer raises it as phases are added */
    uint32_t phase;   /* that is open, or PIM_NO_PHASE */
    uint32_t depth;   /* open repeat blocks */
    uint64_t stored;  /* instructions so far */
    uint64_t fetches; /* executed so far: finished blocks count with all iterations, open ones with one */
    struct pim_repeat_state repeat[PIM_REPEAT_DEPTH];
};

/* A program of no instructions. */
struct pim_program_state pim_program_start(uint32_t unit, uint32_t units, uint32_t phases);

/* Takes the next instruction of the program in stored order. PIM_BAD_INPUT says what is wrong with it,
 * without the place: the caller knows it (state->stored before the call is its index). The state is good for
 * nothing then. */
enum pim_status pim_program_add(struct pim_program_state *state, const struct pim_instruction *instruction,
                                struct pim_error *error);

/* Takes the next `count` instructions, one after the other. PIM_BAD_INPUT says which one is wrong, too. */
enum pim_status pim_program_add_several(struct pim_program_state *state,
                                        const struct pim_instruction *instructions, uint32_t count,
                                        struct pim_error *error);

/* The program ends here: PIM_BAD_INPUT when a repeat block or a phase is open. */
enum pim_status pim_program_end(const struct pim_program_state *state, struct pim_error *error);

/* One instruction by itself: opcode, detail, unused fields, ranges. `unit` and `units` bound the peer of a
 * message. */
enum pim_status pim_instruction_check(const struct pim_instruction *instruction, uint32_t unit,
                                      uint32_t units, struct pim_error *error);

#endif

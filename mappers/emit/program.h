/*
 * Programs of units, as mappers write them: instructions with what they wait for, phases with their marks,
 * messages with tags, joins and barriers.
 *
 * Invariants:
 *  1. After the first failure nothing more is appended; its message stays in `error`, its status in `status`.
 *  2. No number is cut: one that does not fit the operand it is for is a failure (PIM_BAD_INPUT) that names
 *     unit and operand.
 *  3. Instructions of a unit lie between the marks of one phase: the one the unit has entered, or the one
 *     that is open for all, whose marks are set at the first instruction of a unit and when the phase ends.
 *  4. Without a writer everything is checked and counted alike, and nothing is written.
 *
 * Instructions of a unit are numbered in the order in which it fetches them (from 0, marks included); a
 * number is what later instructions wait for. What lies further back than PIM_DEPENDENCY_REACH, and so
 * beyond any window of instructions in flight, is complete and not waited for.
 */
#ifndef PIMSIM_MAPPERS_EMIT_PROGRAM_H
#define PIMSIM_MAPPERS_EMIT_PROGRAM_H

#include "sim/arena.h"
#include "sim/status.h"
#include "traces/file/writer.h"

#include <stdbool.h>
#include <stdint.h>

#define PIM_NOTHING UINT64_MAX /* waits for nothing */

/* Told of every instruction of a unit, marks included, once it is appended. */
typedef void pim_program_observer(void *context, uint32_t unit, const struct pim_instruction *instruction);

struct pim_program {
    struct pim_trace_writer *writer; /* NULL: nothing is written */
    struct pim_error *error;
    enum pim_status status;
    uint32_t units;
    uint32_t element_bits;  /* of vectors and elements that are not said otherwise */
    uint64_t *instructions; /* of each unit, marks included */
    uint64_t all_instructions;
    uint32_t *entered;             /* of each unit: its phase, or PIM_NO_PHASE */
    uint32_t open;                 /* phase for all, or PIM_NO_PHASE */
    uint32_t phases;               /* begun, without a writer */
    uint32_t next_tag;             /* first that no message has */
    pim_program_observer *observe; /* NULL: nobody is told */
    void *observer;
};

#define PIM_NO_PHASE UINT32_MAX

/* `writer` and `error` are kept; what the program needs lives in `arena`. element_bits is 1 to 64.
 * PIM_NO_MEMORY. */
enum pim_status pim_program_initialize(struct pim_program *program, struct pim_trace_writer *writer,
                                       uint32_t units, uint32_t element_bits, struct pim_arena *arena,
                                       struct pim_error *error);

/* Bytes of an element. */
uint32_t pim_program_element_bytes(const struct pim_program *program);

/* Keeps the first failure: PIM_BAD_INPUT, with the unit before the message. */
void pim_program_fail(struct pim_program *program, uint32_t unit, const char *format, ...) PIM_PRINTF(3, 4);

/* `value` as an operand of 32 bits; 0 after a failure. `what` names it in the message. */
uint32_t pim_program_narrow(struct pim_program *program, uint32_t unit, uint64_t value, const char *what);

/* --- phases --- */

/* Adds a phase to the trace and opens it for all units: its marks are set at a unit's first instruction. No
 * phase is open. Returns its number (0, 1, ... without a writer). */
uint32_t pim_program_phase_begin(struct pim_program *program, const char *name);
/* Ends it in all units that have instructions in it. */
void pim_program_phase_end(struct pim_program *program);

/* The marks of a phase of the trace in one unit alone. */
void pim_program_enter(struct pim_program *program, uint32_t unit, uint32_t phase);
void pim_program_leave(struct pim_program *program, uint32_t unit);

/* --- instructions --- */

/* The number of the next instruction of a unit. */
uint64_t pim_program_next(const struct pim_program *program, uint32_t unit);

/* Appends an instruction that waits for three others (PIM_NOTHING: for none); its dependencies are filled in.
 * Returns its number. */
uint64_t pim_program_append(struct pim_program *program, uint32_t unit, struct pim_instruction instruction,
                            uint64_t after, uint64_t after2, uint64_t after3);

/* Everything before it is complete before anything behind it starts. */
uint64_t pim_program_join(struct pim_program *program, uint32_t unit);

/* Pieces of a memory; those that lie back to back become one. `stride` is ignored for one piece. */
struct pim_program_pieces {
    uint64_t address, bytes, stride, count;
};

/* Memory of the unit to a buffer (PIM_OP_LOAD) or the other way (PIM_OP_STORE). */
uint64_t pim_program_memory(struct pim_program *program, uint32_t unit, enum pim_opcode opcode,
                            enum pim_buffer buffer, const struct pim_program_pieces *pieces, uint64_t after);

/* A vector operation on `rows` vectors of `elements`; gives `release` bytes of the output buffer back. */
uint64_t pim_program_vector(struct pim_program *program, uint32_t unit, enum pim_vector operation,
                            uint64_t rows, uint64_t elements, uint64_t release, uint64_t after,
                            uint64_t after2);

/* One end of a message. */
struct pim_program_message {
    uint32_t peer, tag;
    enum pim_message kind;
    uint64_t address, bytes;
};

/* PIM_OP_SEND or PIM_OP_RECEIVE. */
uint64_t pim_program_message(struct pim_program *program, uint32_t unit, enum pim_opcode opcode,
                             const struct pim_program_message *message, uint64_t after);

/* `count` tags that no message has yet; the first of them. */
uint32_t pim_program_tags(struct pim_program *program, uint64_t count);

/*
 * Everything that all of `count` different units appended before is complete before any of them goes on. A
 * binary tree of messages, up to unit[0] and down again: `tell` appends both ends of one of them. Joins stand
 * before each message up and after each one down.
 */
void pim_program_barrier(struct pim_program *program, const uint32_t *unit, uint32_t count,
                         void (*prepare)(void *context, uint32_t unit),
                         void (*tell)(void *context, uint32_t from, uint32_t to), void *context);

#endif

/*
 * Executes a trace of cores with real numbers and without time: does the program compute what it should?
 *
 * Elements are 16-bit two's complement, little endian, and every result is cut to 16 bits (mappers/verify/
 * value.h), so a right program gives the very number of the direct evaluation (mappers/verify/evaluate.h).
 * The semantics are those of traces/instruction.h, under as little order as hardware promises:
 *
 *  1. A core has up to `window` instructions under way. One may execute when nothing earlier of the core that
 *     is not complete touches its bytes of the local memory (read after write, write after read, write after
 *     write; a list of pieces counts as the range around it), when its dependencies are complete, and, for a
 *     message, when it is the oldest of its engine; the weights of an array group are written and used in
 *     program order. Which of those that may execute does so is drawn at random, over all cores.
 *  2. With a window of 1 a core executes strictly in its program's order: what issue in order amounts to.
 *  3. The global memory is not watched. A store has read its bytes when it executes, but whether they are in
 *     the global memory at once or only when the core's next join completes is drawn at random. So a program
 *     that lacks a join or a message between a store and the load that needs it reads an old number, or none.
 *  4. The i-th send of a (source, destination, tag) meets the i-th receive. Synchronous: both complete
 *     together, when both may execute. Asynchronous: the send completes at once, however many bytes wait.
 *  5. Bytes of a memory that nothing has written must not be read.
 *
 * Errors name unit and instruction (its index in the executed order): PIM_BAD_INPUT for bytes that were never
 * written, for addresses beyond a memory, for an instruction that does not fit its array group, or that is
 * not one of cores; PIM_DEADLOCK when nothing can execute and a program has not ended.
 */
#ifndef PIMSIM_MAPPERS_VERIFY_EXECUTE_H
#define PIMSIM_MAPPERS_VERIFY_EXECUTE_H

#include "sim/status.h"
#include "traces/file/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PIM_CORE_EXECUTION_WINDOW = 64 };

struct pim_core_execution_options {
    uint64_t seed;               /* of the order in which cores and instructions take turns */
    uint32_t window;             /* 1 to PIM_CORE_EXECUTION_WINDOW; 0: 12 */
    bool asynchronous;           /* core.communication */
    uint64_t local_memory_bytes; /* of a core; 0: 2^32 - 1 */
    uint64_t global_bytes;       /* of the global memory; 0: 2^40 */
    /* The number in a canonical row and column of a layer's weight matrix; layers are those of the array
     * groups. Is asked once for each place. NULL when the trace has no `mvm`. */
    int32_t (*weight)(const void *context, uint32_t layer, uint32_t row, uint32_t column);
    const void *context;
};

struct pim_core_execution_counts {
    uint64_t instructions, mvms, messages;
    uint64_t local_bytes; /* the highest end of a local memory that was used */
};

struct pim_core_execution;

/* Prepares the execution of `trace`, which must outlive it. On failure *execution is NULL. */
enum pim_status pim_core_execution_create(const struct pim_trace *trace,
                                          const struct pim_core_execution_options *options,
                                          struct pim_core_execution **execution, struct pim_error *error);
void pim_core_execution_destroy(struct pim_core_execution *execution);

/* Writes and reads `count` elements of the global memory, from byte `address` on. Reading what nothing has
 * written is PIM_BAD_INPUT. */
enum pim_status pim_core_execution_write(struct pim_core_execution *execution, uint64_t address,
                                         const int16_t *values, size_t count, struct pim_error *error);
enum pim_status pim_core_execution_read(struct pim_core_execution *execution, uint64_t address,
                                        int16_t *values, size_t count, struct pim_error *error);

/* Executes all programs to their ends. Once only. */
enum pim_status pim_core_execution_run(struct pim_core_execution *execution, struct pim_error *error);

const struct pim_core_execution_counts *pim_core_execution_counts(const struct pim_core_execution *execution);

#endif

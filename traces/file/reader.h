/*
 * Reads a trace file: a shared, read-only trace and one streaming cursor per unit.
 *
 * Invariants:
 *  1. A file that is damaged, truncated, newer or hostile is refused with the place: by open for everything
 *     but the programs, by the cursor, chunk by chunk, for the programs. Nothing that failed a checksum is
 *     decompressed.
 *  2. No allocation is larger than the size of the file or the fixed bounds of traces/trace.h justify.
 *  3. A cursor holds one decompressed chunk (at most 32 KiB), whatever the length of its program: a repeat
 *     block never crosses a chunk.
 *  4. An instruction handed out by a cursor has passed every check of traces/validate.h.
 *
 * A trace may be used by several threads at once, a cursor by one at a time. Cursors are destroyed before
 * their trace.
 */
#ifndef PIMSIM_TRACES_FILE_READER_H
#define PIMSIM_TRACES_FILE_READER_H

#include "sim/status.h"
#include "traces/instruction.h"
#include "traces/trace.h"

#include <stddef.h>
#include <stdint.h>

struct pim_trace;

/* Opens the trace file at `path`. On failure *trace is NULL: PIM_IO when it cannot be read, PIM_BAD_INPUT
 * when it is refused. */
enum pim_status pim_trace_open(const char *path, struct pim_trace **trace, struct pim_error *error);

/* The same for a trace in memory, which is not copied and must outlive the trace. */
enum pim_status pim_trace_open_memory(const void *bytes, size_t size, struct pim_trace **trace,
                                      struct pim_error *error);

/* Closes a trace; NULL is allowed. */
void pim_trace_close(struct pim_trace *trace);

/* The description and the phases: owned by the trace. `phase` must be below pim_trace_phases. */
const struct pim_trace_description *pim_trace_description(const struct pim_trace *trace);
uint32_t pim_trace_phases(const struct pim_trace *trace);
const struct pim_trace_phase *pim_trace_phase(const struct pim_trace *trace, uint32_t phase);

/* Whether any phase has an estimate: a mapper that was stopped has none to give, nor who writes by hand. */
bool pim_trace_is_estimated(const struct pim_trace *trace);

/* Instructions in the program of `unit` as stored, before repeats are expanded. */
uint64_t pim_trace_instructions(const struct pim_trace *trace, uint32_t unit);

/* Compressed bytes and chunks of the program of `unit`, and bytes of the whole file. */
uint64_t pim_trace_stored_bytes(const struct pim_trace *trace, uint32_t unit);
uint32_t pim_trace_chunks(const struct pim_trace *trace, uint32_t unit);
uint64_t pim_trace_file_bytes(const struct pim_trace *trace);

/* XXH64 over the content (description, phases, behaviour tables, instructions, array groups): the same for
 * the same content, however compressed. */
uint64_t pim_trace_hash(const struct pim_trace *trace);

/* XXH64 over what units execute alone: instructions, behaviour tables, array groups. Equal for traces that
 * differ in names, in the configuration that they carry, or in estimates. */
uint64_t pim_trace_program_hash(const struct pim_trace *trace);

/* Behaviour tables, sorted by router: how many routers have one; the i-th with its router and number of
 * entries. */
uint32_t pim_trace_behaviour_routers(const struct pim_trace *trace);
const struct pim_trace_behaviour *pim_trace_behaviour(const struct pim_trace *trace, uint32_t i,
                                                      uint32_t *router, uint32_t *count);

/* The array groups of `unit` and how many there are; NULL and 0 when it has none. Owned by the trace. */
const struct pim_trace_array_group *pim_trace_array_groups(const struct pim_trace *trace, uint32_t unit,
                                                           uint32_t *count);

/* Streams the program of one unit. Its fields serve the inline function below only. */
struct pim_trace_cursor {
    const struct pim_instruction *next; /* a run of instructions that are handed out as they are */
    const struct pim_instruction *stop;
};

/* A cursor at the start of the program of `unit`, in executed order: repeat blocks are expanded (REPEAT
 * itself is not handed out and does not count as a fetch), addresses of memory instructions are advanced by
 * their `step`. */
enum pim_status pim_trace_cursor_create(const struct pim_trace *trace, uint32_t unit,
                                        struct pim_trace_cursor **cursor, struct pim_error *error);

/* The same in stored order: REPEAT is handed out, nothing is expanded. */
enum pim_status pim_trace_cursor_create_stored(const struct pim_trace *trace, uint32_t unit,
                                               struct pim_trace_cursor **cursor, struct pim_error *error);

/* Destroys a cursor; NULL is allowed. */
void pim_trace_cursor_destroy(struct pim_trace_cursor *cursor);

/* Instructions handed out so far, and the stored index of the one handed out last (0 before the first). */
uint64_t pim_trace_cursor_executed(const struct pim_trace_cursor *cursor);
uint64_t pim_trace_cursor_stored(const struct pim_trace_cursor *cursor);

/* The slow side of pim_trace_cursor_next. */
enum pim_status pim_trace_cursor_advance(struct pim_trace_cursor *cursor,
                                         const struct pim_instruction **instruction, struct pim_error *error);

/* The next instruction, or NULL at the end. The pointer is valid until the next call on this cursor. After an
 * error the cursor stays at its place and reports an error again. */
static inline enum pim_status pim_trace_cursor_next(struct pim_trace_cursor *cursor,
                                                    const struct pim_instruction **instruction,
                                                    struct pim_error *error)
{
    if (PIM_LIKELY(cursor->next != cursor->stop)) {
        *instruction = cursor->next++;
        PIM_PREFETCH(cursor->next);
        return PIM_OK;
    }
    return pim_trace_cursor_advance(cursor, instruction, error);
}

#endif

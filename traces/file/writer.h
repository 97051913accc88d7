/*
 * Writes a trace file.
 *
 *     struct pim_trace_writer *writer;
 *     pim_trace_writer_create("trace.bin", &description, &writer, error);
 *     uint32_t phase = pim_trace_writer_phase(writer, &(struct pim_trace_phase){.name = "block0/query"});
 *     pim_trace_writer_append(writer, unit, &instruction, error);  ...
 *     pim_trace_writer_finish(writer, error);
 *
 * Invariants:
 *  1. Nothing stands at `path` before `finish` has succeeded; then the whole file does (temporary name,
 *     fsync, rename).
 *  2. The bytes of the file depend on the description, the phases, the behaviour tables and each unit's
 *     sequences of instructions and of array groups alone: not on how appends to different units were
 *     interleaved. (They also depend on the release of zstd; the hash does not.)
 *  3. What the writer accepts the reader accepts: every instruction is checked when it is appended.
 *
 * Memory: one chunk of instructions (32 KiB) for each unit that has any; compressed chunks wait in an unnamed
 * file beside `path`. A writer belongs to one thread at a time.
 */
#ifndef PIMSIM_TRACES_FILE_WRITER_H
#define PIMSIM_TRACES_FILE_WRITER_H

#include "sim/status.h"
#include "traces/instruction.h"
#include "traces/trace.h"

struct pim_trace_writer;

/* Starts a trace for `description`, whose texts are copied. PIM_BAD_INPUT when it is not within the bounds of
 * traces/trace.h, PIM_IO when the folder of `path` cannot be written. On failure *writer is NULL. */
enum pim_status pim_trace_writer_create(const char *path, const struct pim_trace_description *description,
                                        struct pim_trace_writer **writer, struct pim_error *error);

/* Adds a phase (name, estimate and equations are copied) and returns its number: 0, 1, … in the order of the
 * calls. May be called at any time before finish. A bad name, too many phases and lack of memory are
 * remembered and reported by the next append or by finish; the number is UINT32_MAX then. */
uint32_t pim_trace_writer_phase(struct pim_trace_writer *writer, const struct pim_trace_phase *phase);

/* Replaces the estimate of a phase; its name stays, phase->name is not looked at. `id` must be from
 * pim_trace_writer_phase. */
void pim_trace_writer_set_estimate(struct pim_trace_writer *writer, uint32_t id,
                                   const struct pim_trace_phase *phase);

/* Says what the published equations have for a phase: phase->equation_terms. */
void pim_trace_writer_set_equations(struct pim_trace_writer *writer, uint32_t id,
                                    const struct pim_trace_phase *phase);

/* Replaces the counts macs, padding_macs and weight_bytes of the description, which a mapper may know only at
 * the end. */
void pim_trace_writer_set_counts(struct pim_trace_writer *writer, uint64_t macs, uint64_t padding_macs,
                                 uint64_t weight_bytes);

/* Appends an instruction to the program of `unit`. PIM_BAD_INPUT, naming unit and instruction, when it breaks
 * an invariant of traces/instruction.h (matching of messages excepted: see traces/check/check.h). After a
 * failure only abandon is allowed. */
enum pim_status pim_trace_writer_append(struct pim_trace_writer *writer, uint32_t unit,
                                        const struct pim_instruction *instruction, struct pim_error *error);

/* Instructions that `unit` holds so far as stored; and fetches they make when they are executed, repeats
 * expanded (the block that is being written counts once), which is what dependencies count. */
uint64_t pim_trace_writer_instructions(const struct pim_trace_writer *writer, uint32_t unit);
uint64_t pim_trace_writer_fetches(const struct pim_trace_writer *writer, uint32_t unit);

/* Sets the behaviour table of a router; `entries` is copied. At most once for each router. */
enum pim_status pim_trace_writer_behaviour(struct pim_trace_writer *writer, uint32_t router,
                                           const struct pim_trace_behaviour *entries, uint32_t count,
                                           struct pim_error *error);

/* Adds an array group to `unit`; the groups of a unit are numbered from 0 in the order of the calls. May be
 * called at any time before finish. PIM_BAD_INPUT when it is not within the bounds of traces/trace.h. */
enum pim_status pim_trace_writer_array_group(struct pim_trace_writer *writer, uint32_t unit,
                                             const struct pim_trace_array_group *group,
                                             struct pim_error *error);

/* Writes the file under its name and destroys the writer, also on failure, which leaves nothing behind. */
enum pim_status pim_trace_writer_finish(struct pim_trace_writer *writer, struct pim_error *error);

/* Destroys the writer and leaves nothing behind. NULL is allowed. */
void pim_trace_writer_abandon(struct pim_trace_writer *writer);

#endif

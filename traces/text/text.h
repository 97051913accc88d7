/*
 * The text form of a trace: for reading, for tests, and for generators in other languages.
 * docs/trace-format.md has the grammar.
 *
 * Invariant: assembling what the disassembler wrote for a whole trace gives the same content hash, and the
 * very same file when the trace came from traces/file/writer.h of the same build.
 */
#ifndef PIMSIM_TRACES_TEXT_TEXT_H
#define PIMSIM_TRACES_TEXT_TEXT_H

#include "sim/status.h"
#include "traces/file/reader.h"

#include <stdint.h>
#include <stdio.h>

/* Every unit, for pim_trace_disassemble. */
#define PIM_ALL_UNITS UINT32_MAX

/* Writes the text of a trace: description, phases, behaviour tables, and the programs of all units or of
 * `unit` alone. PIM_BAD_INPUT when a program is damaged (what came before it has been written), PIM_IO when
 * `file` has failed. */
enum pim_status pim_trace_disassemble(const struct pim_trace *trace, uint32_t unit, FILE *file,
                                      struct pim_error *error);

/* Writes one instruction, without line end, as it stands in a program; REPEAT shows the opening brace. */
void pim_instruction_print(const struct pim_instruction *instruction, FILE *file);

/* Assembles the text in `file`, which errors call `name`, to the trace file `path`. PIM_BAD_INPUT gives
 * "name:line:column: message"; nothing stands at `path` then that was not there before. */
enum pim_status pim_trace_assemble(const char *name, FILE *file, const char *path, struct pim_error *error);

#endif

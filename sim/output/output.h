/*
 * A result file that appears whole or not at all.
 *
 * The text goes to a file without a name in the folder of the final one; commit writes it through to the
 * device and puts it in the place of the final one, by a temporary name; abandon drops it. A file that was
 * there before is untouched until the rename. Writers that run at the same time do not disturb one another:
 * each has a temporary name of its own, and the last to commit wins.
 *
 * A process that is killed while it writes leaves nothing. Where the system has no files without a name (they
 * need Linux, /proc and a file system that has them) the file has its temporary name from the start: then a
 * killed process leaves it, and the next one that writes into the folder removes it.
 *
 * "-" is standard output, and what exists and is no regular file (a pipe, a terminal, /dev/null) is written
 * directly: there the promise shrinks to an error at commit when a write failed.
 */
#ifndef PIMSIM_SIM_OUTPUT_OUTPUT_H
#define PIMSIM_SIM_OUTPUT_OUTPUT_H

#include "sim/status.h"

#include <stdio.h>

struct pim_output;

/*
 * Opens the temporary file. PIM_IO, with path and the system's reason, when the path is a folder, its folder
 * does not exist or is not writable, or a file there is not writable. Symbolic links are followed: the file
 * they lead to is the one replaced.
 * `*output` is NULL after a failure.
 */
enum pim_status pim_output_open(struct pim_output **output, const char *path, struct pim_error *error);

/* Where to write; owned by the output. Writers need not check each call: commit does. */
FILE *pim_output_file(const struct pim_output *output);

/* The name for messages: the path as given, or "standard output". */
const char *pim_output_name(const struct pim_output *output);

/* Flushes and checks every write since the open; nothing can be written any more. The file is not in its
 * place yet: of several that belong together all are finished before the first is committed. Abandon what
 * failed. */
enum pim_status pim_output_finish(struct pim_output *output, struct pim_error *error);

/* Finishes the output if that was not done, puts the file in its place. Frees `output` in every case; after
 * a failure the temporary file is gone and the old file, if any, is still there. */
enum pim_status pim_output_commit(struct pim_output *output, struct pim_error *error);

/* Behind a writer that failed: where a write did, its message names the output. */
void pim_output_blame(const struct pim_output *output, struct pim_error *error);

/* Removes the temporary file and frees `output`, which may be NULL. */
void pim_output_abandon(struct pim_output *output);

enum { PIM_REAL_CHARACTERS = 64 };

/* A real as text with `digits` significant digits (1 to 17; 17 read back to the same bits), with a point in
 * every locale. */
void pim_format_real(char buffer[PIM_REAL_CHARACTERS], double value, int digits);

/* An energy as people read it: four significant digits and the unit from pJ to J in which it is at least 1
 * ("3.934 mJ", "43.30 uJ"; below 1 pJ in pJ), so that what is small beside another does not look like 0. */
void pim_format_energy(char buffer[PIM_REAL_CHARACTERS], double picojoules);

/* A share as people read it: "12.5 %"; of nothing "-", for 0 / 0 is no share. */
const char *pim_format_share(char buffer[PIM_REAL_CHARACTERS], double part, double whole);

/* What a run took of the processor: "0.27 CPU s"; what rounds to nothing is "less than 0.01 CPU s". */
void pim_format_cpu_seconds(char buffer[PIM_REAL_CHARACTERS], double seconds);

#endif

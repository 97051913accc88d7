/*
 * The commands of a standard as text. A text is rows between semicolons (in a file between ends of lines,
 * with comments from # on):
 *
 *     name: effect scope, ..., cycles N, either_edge      WRA: writes bank, closes bank, cycles column_cycles
 *
 * What a command does to what says which kind (PIM_DRAM_COMMAND_MAP) it is: the controller issues one of each
 * kind. The word `jedec` in place of a row stands for all rows of configs/dram/commands/jedec.commands; a row
 * behind it takes the place of the one of its kind, and `without NAME` takes one out.
 */
#ifndef PIMSIM_MODELS_DRAM_STANDARD_COMMANDS_H
#define PIMSIM_MODELS_DRAM_STANDARD_COMMANDS_H

#include "models/dram/standard/specification.h"

/* configs/dram/commands/jedec.commands */
extern const char pim_dram_jedec_commands[];

/* Reads the commands into the specification, whose timings (rows.h) have been read. PIM_BAD_INPUT says which
 * row, which word, and what would be right. */
enum pim_status pim_dram_commands_parse(struct pim_dram_specification *specification, const char *text,
                                        struct pim_error *error);

/* Refuses commands that the controller could not keep apart, and times that no bus has. */
enum pim_status pim_dram_commands_check(const struct pim_dram_specification *specification,
                                        struct pim_error *error);

/* Refuses a standard without a command that its settings need: refreshes, pages that close by themselves. */
enum pim_status pim_dram_commands_needed(const struct pim_dram_specification *specification,
                                         enum pim_dram_refreshing refreshing, bool closing,
                                         struct pim_error *error);

/* The command of that name; PIM_DRAM_COMMANDS when there is none. */
enum pim_dram_command pim_dram_command_named(const struct pim_dram_specification *specification,
                                             const char *name);

/* Names of the commands of a set, as "ACT, PRE and RD", without those that the standard does not have. */
enum { PIM_DRAM_NAMES_MOST = PIM_DRAM_COMMANDS * (PIM_DRAM_NAME_MOST + 6) };
void pim_dram_command_names(const struct pim_dram_specification *specification, uint32_t set,
                            char text[PIM_DRAM_NAMES_MOST]);

/* The time that the word names, a key of dram.* or one of dram.timings, into the term; false: none, and the
 * term is as it was. */
bool pim_dram_time_named(const struct pim_dram_specification *specification, const char *word,
                         struct pim_dram_term *term);

#endif

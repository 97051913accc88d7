/*
 * Constraint rows of a standard as text. A text is rows between semicolons (in a file between ends of lines,
 * with comments from # on):
 *
 *     scope: commands -> commands >= distance        rank: WR WRA -> RD RDA >= tcwl + burst_cycles + twtr_s
 *
 * Scopes are bank, group, stack, other_stack, rank, other_rank, pseudo and channel; `4 ACT` counts from the
 * fourth last. A distance is a sum of timings and numbers. The word `jedec` in place of a row stands for all
 * rows of configs/dram/constraints/jedec.rows, which the built-in standards have. Behind it
 *
 *     without scope: commands -> commands            without rank: PRE -> REF
 *
 * takes one of them out: the one of this scope and of these commands, as far as the standard has them.
 *
 * Refused is what the controller would not honour: CAS and ACT-2, whose times are its own; RD without RDA (WR
 * without WRA) as the later command; PREA and REF, which are of a rank, in a narrower scope; REFsb, which is
 * of all stack identifiers of a rank, in the scope of one.
 */
#ifndef PIMSIM_MODELS_DRAM_STANDARD_ROWS_H
#define PIMSIM_MODELS_DRAM_STANDARD_ROWS_H

#include "models/dram/standard/specification.h"

/* configs/dram/constraints/jedec.rows */
extern const char pim_dram_jedec_rows[];

/* Reads `timings` ("trfm = 280 ns; tmine = 12": names for distances, in cycles, or in ns rounded up) and
 * `rows` into the specification, whose clock must be set, for rows its commands (commands.h), too.
 * PIM_BAD_INPUT says which row or timing, which word, and what would be right. */
enum pim_status pim_dram_timings_parse(struct pim_dram_specification *specification, const char *timings,
                                       struct pim_error *error);
enum pim_status pim_dram_rows_parse(struct pim_dram_specification *specification, const char *rows,
                                    struct pim_error *error);

#endif

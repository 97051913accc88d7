/*
 * Races over the global memory of cores, for traces/check/check.c: accesses to the same bytes that nothing
 * orders.
 *
 * What orders two accesses (docs/trace-format.md, "Global memory"): a join or phase mark of the core of the
 * first one behind it, then messages, each behind one of its sender, and a join or phase mark of the core of
 * the second one before it. That relation does not depend on timing, since the i-th send of a triple meets
 * the i-th receive; so the one execution of traces/check/check.c shows it, by a vector clock for each unit:
 * entry v is how many joins of unit v are known to be behind. An access between joins e and e + 1 of its
 * unit is complete for whoever knows e + 1 of them.
 *
 * Refused are, without order: a load and a store of different cores, two stores of different cores, and a
 * load behind a store of the same core. (Stores of a core behind its own accesses are served in order.)
 */
#ifndef PIMSIM_TRACES_CHECK_RACE_H
#define PIMSIM_TRACES_CHECK_RACE_H

#include "sim/status.h"
#include "traces/file/reader.h"

#include <stdbool.h>
#include <stdint.h>

struct pim_check_race;

/* Looks at all loads and stores of the trace once, to cut the global memory where pieces begin and end. *race
 * stays NULL when no core stores to global memory, or there are more than 2^24 such cuts or 4096 units: then
 * nothing is checked. Memory: some 40 bytes for each cut, 8 for each pair of units. */
enum pim_status pim_check_race_create(const struct pim_trace *trace, struct pim_check_race **race,
                                      struct pim_error *error);
void pim_check_race_destroy(struct pim_check_race *race); /* NULL too */

/* In executed order of each unit: a join or phase mark; a load or store, whose index in the program is
 * `stored` (PIM_BAD_INPUT: it races, and with which). And a message, when it meets its receive. */
void pim_check_race_join(struct pim_check_race *race, uint32_t unit);
enum pim_status pim_check_race_access(struct pim_check_race *race, uint32_t unit,
                                      const struct pim_instruction *instruction, uint64_t stored,
                                      struct pim_error *error);
void pim_check_race_message(struct pim_check_race *race, uint32_t source, uint32_t destination);

#endif

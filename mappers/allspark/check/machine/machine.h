/*
 * Executes a trace on numbers: a second, independent reading of what the instructions mean.
 *
 * Every byte of a node's memory holds one number (check/numbers.h), or nothing. Weights lie in front, where
 * nothing is ever written; behind them the workspace. Instructions are executed unit by unit in program
 * order; a unit waits where it needs a message that has not come. What holds, or the trace is refused
 * (PIM_BAD_INPUT, with unit, instruction and phase):
 *
 *  1. A LOAD or SEND reads only bytes that were placed or written before, and nothing lies beyond the memory
 *     that the plan counts.
 *  2. The operands of a VECTOR or STORE are the results of the instructions it depends on, and there are as
 *     many as it says.
 *  3. A MATRIX reads the input tile and the weights that were loaded in that order, and waits for these
 *     loads. The accumulators of a tile are complete when they are read, and are read once.
 *  4. Two accesses of a node to the same bytes by different engines, one of them a write, are ordered by a
 *     join, by dependencies, or by the order of an engine: no timing can exchange them. So one order of
 *     execution stands for all.
 *  5. A RECEIVE meets a SEND of the same size.
 *  6. Buffers are empty at the end of a phase.
 */
#ifndef PIMSIM_MAPPERS_ALLSPARK_CHECK_MACHINE_MACHINE_H
#define PIMSIM_MAPPERS_ALLSPARK_CHECK_MACHINE_MACHINE_H

#include "mappers/allspark/allspark.h"
#include "traces/file/reader.h"

struct machine;

/* Plan and trace are borrowed; *machine is NULL on failure. */
enum pim_status machine_create(const struct pim_allspark_plan *plan, const struct pim_trace *trace,
                               struct machine **machine, struct pim_error *error);
void machine_destroy(struct machine *machine); /* NULL too */

/* Weights of a unit: `values` are borrowed until machine_forget(). */
enum pim_status machine_place_weights(struct machine *machine, uint32_t unit, uint64_t address,
                                      const uint16_t *values, uint64_t count, struct pim_error *error);
/* Writes numbers to bytes of the workspace that hold none. */
enum pim_status machine_place(struct machine *machine, uint32_t unit, uint64_t address,
                              const uint16_t *values, uint64_t count, struct pim_error *error);
/* Bytes that hold something: NULL where they do not. */
const uint16_t *machine_read(const struct machine *machine, uint32_t unit, uint64_t address, uint64_t count);
/* Empties all memories. */
void machine_forget(struct machine *machine);

/* Runs until every unit is at its end or before a phase of a later stage of the network. UINT32_MAX: to the
 * end. PIM_DEADLOCK: a unit never goes on. */
enum pim_status machine_run(struct machine *machine, uint32_t stage, struct pim_error *error);

#endif

/*
 * Executes a trace on numbers: a second, independent reading of what the instructions mean.
 *
 * Every byte of a node's memory holds one number of algebra.h, or nothing. Instructions are executed unit by
 * unit in program order; a unit waits where it needs a message that has not come. What holds, or the test
 * fails:
 *
 *  1. A LOAD or SEND reads only bytes that were placed or written before, and nothing lies beyond the memory
 *     that the plan counts.
 *  2. The operands of a VECTOR or STORE are the results of the instructions it depends on, and there are as
 *     many as it says.
 *  3. A MATRIX reads the input tile and the weights that were loaded in that order; where it names loads they
 *     are these very ones. The accumulators of a tile are complete when they are read.
 *  4. Two accesses of a node to the same bytes by different engines, one of them a write, are ordered by a
 *     join, by dependencies, or by the order of an engine: no timing can exchange them.
 *  5. A RECEIVE meets a SEND of the same size.
 */
#ifndef PIMSIM_TESTS_UNIT_ALLSPARK_MACHINE_MACHINE_H
#define PIMSIM_TESTS_UNIT_ALLSPARK_MACHINE_MACHINE_H

#include "tests/unit/allspark/scenario.h"

struct machine;

struct machine *machine_create(const struct scenario *scenario);
void machine_destroy(struct machine *machine);

/* Writes a number to a byte that holds none. */
void machine_place(struct machine *machine, uint32_t unit, uint64_t address, uint64_t value);
/* Reads a byte that holds one. */
uint64_t machine_read(const struct machine *machine, uint32_t unit, uint64_t address);
/* Empties the bytes from `address` to the end of the memory of all units. */
void machine_forget(struct machine *machine, uint64_t address);

/* Runs until every unit is at its end or before a phase of a later stage. UINT32_MAX: to the end. */
void machine_run(struct machine *machine, uint32_t stage);

/*
 * In which order the phase `name` of a unit takes the elements of its k x n weights, of which `width` columns
 * come at a time and are multiplied with `rows` rows in all: order[i] = (row << 32) + column of the i-th
 * byte, read off the shapes of its MATRIX instructions. False when the unit multiplies nothing in that phase.
 */
struct weight_order {
    const char *name;
    uint32_t k, n, width;
    uint64_t rows;
};

bool machine_weight_order(const struct machine *machine, uint32_t unit, const struct weight_order *wanted,
                          uint64_t *order);

#endif

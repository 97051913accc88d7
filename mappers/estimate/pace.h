/*
 * When the instructions of one node end, whose engines and memory nobody else uses: loads, stores, matrix and
 * vector instructions as a program has them, with their addresses. The rules of docs/models/node.md are
 * applied to one instruction after another in the order of the program, each at the time at which its
 * dependencies, its engine, its buffer and its place in the window are there: no events, no other client of
 * the port, no network. The port is that of models/cost/bank.h.
 */
#ifndef PIMSIM_MAPPERS_ESTIMATE_PACE_H
#define PIMSIM_MAPPERS_ESTIMATE_PACE_H

#include "mappers/machine/nodes.h"
#include "models/cost/burst.h"
#include "traces/instruction.h"

struct pim_pace;

/* NULL when memory is out. `hardware` is borrowed. */
struct pim_pace *pim_pace_create(const struct pim_estimate_hardware *hardware);
void pim_pace_destroy(struct pim_pace *pace); /* NULL is allowed */

/* As if nothing had come yet. */
void pim_pace_restart(struct pim_pace *pace);

/* What comes now begins in this cycle of the logic clock, or at the end of what came before where that is
 * later: with all engines idle, empty buffers, and the rows open that were left open. Refreshes go on
 * meanwhile. */
void pim_pace_begin(struct pim_pace *pace, uint64_t cycle);

/* The next instruction of its program. A phase mark is one too; SEND and RECEIVE end at once. */
void pim_pace_put(struct pim_pace *pace, const struct pim_instruction *instruction);

/* The burst of a load or store, as the port gets it; false: nothing is moved. */
bool pim_pace_burst(const struct pim_pace *pace, const struct pim_instruction *instruction,
                    struct pim_burst *burst);

/* The next part of a burst, taken at the port in a memory cycle from 0 on; true: it was the last. `next`:
 * when the port takes another one; `done`: when the data of this one are there. */
bool pim_pace_part(struct pim_pace *pace, const struct pim_burst *burst, struct pim_part_cursor *cursor,
                   uint64_t cycle, uint64_t *next, uint64_t *done);

/* Cycles of the logic clock from the beginning to the end of all, rounded up. */
uint64_t pim_pace_cycles(const struct pim_pace *pace);

#endif

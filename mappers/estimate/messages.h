/*
 * Timing of messages between units, in the order in which their programs issue them; alone, or with what else
 * the programs do.
 * docs/models/estimate.md ("An exchange") gives the rules.
 */
#ifndef PIMSIM_MAPPERS_ESTIMATE_MESSAGES_H
#define PIMSIM_MAPPERS_ESTIMATE_MESSAGES_H

#include "mappers/estimate/pace.h"

struct pim_estimate_message {
    uint32_t from, to;
    uint64_t bytes;
};

/*
 * Sets end[unit], in logic cycles, for the width x height units of the hardware: when all that the unit sends
 * has left and all that it gets is written, if it begins at start[unit]; start[unit] for a unit with nothing
 * to do. Of a unit, sends start in the order of the messages, and so do receives. A message from a unit to
 * itself takes no time. `start` and `end` may be the same. False when memory is out.
 */
bool pim_estimate_messages(const struct pim_estimate_hardware *hardware,
                           const struct pim_estimate_message *messages, uint32_t count, const uint64_t *start,
                           uint64_t *end);

/* What a unit does between two phase marks: loads, stores, vector operations, sends, receives and joins. */
struct pim_estimate_program {
    const struct pim_instruction *instructions;
    uint32_t count;
    uint64_t *end; /* NULL, or set for each instruction: when it is complete */
};

/*
 * The same of programs, one of each unit (peers are units here): with what each instruction waits for, the
 * window, issue in order, and loads, stores and packets by turns at the port of the unit's memory, which is
 * used as it is (`pace`, of each unit). The i-th
 * send of a (source, destination, tag) meets the i-th receive; each meets one.
 */
bool pim_estimate_programs(const struct pim_estimate_hardware *hardware,
                           const struct pim_estimate_program *programs, struct pim_pace *const *pace,
                           const uint64_t *start, uint64_t *end);

#endif

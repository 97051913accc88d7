/*
 * Timing of messages between units, in the order in which their programs issue them; alone, or with what else
 * the programs do.
 * docs/models/estimate.md ("An exchange") gives the rules.
 */
#ifndef PIMSIM_MAPPERS_ESTIMATE_MESSAGES_H
#define PIMSIM_MAPPERS_ESTIMATE_MESSAGES_H

#include "mappers/estimate/pace.h"

#define PIM_ESTIMATE_AT_ONCE UINT32_MAX

struct pim_estimate_message {
    uint32_t from, to;
    uint64_t bytes, source, target; /* source, target: addresses; read only with the memories of the units */
    /* Before it in the list: it is sent when that one has come to its sender, and `delay` cycles later.
     * PIM_ESTIMATE_AT_ONCE: it waits for none. At most one waits for each. */
    uint32_t after;
    uint64_t delay;
};

/*
 * Sets end[unit], in logic cycles, for the width x height units of the hardware: when all that the unit sends
 * has left and all that it gets is written, if it begins at start[unit]; start[unit] for a unit with nothing
 * to do. Of a unit, sends start in the order of the messages, and so do receives. A message from a unit to
 * itself takes no time. `pace`, not NULL: of each unit, whose memory is used as it is. `start` and `end` may
 * be the same. False when memory is out.
 */
bool pim_estimate_messages(const struct pim_estimate_hardware *hardware,
                           const struct pim_estimate_message *messages, uint32_t count,
                           struct pim_pace *const *pace, const uint64_t *start, uint64_t *end);

/* What a unit does between two phase marks: loads, stores, vector operations, sends, receives and joins. */
struct pim_estimate_program {
    const struct pim_instruction *instructions;
    uint32_t count;
    uint64_t *end; /* NULL, or set for each instruction: when it is complete */
};

/*
 * The same of programs, one of each unit (peers are units here): with what each instruction waits for, the
 * window, issue in order, and loads, stores and packets by turns at the port of the unit's memory. The i-th
 * send of a (source, destination, tag) meets the i-th receive; each meets one.
 */
bool pim_estimate_programs(const struct pim_estimate_hardware *hardware,
                           const struct pim_estimate_program *programs, struct pim_pace *const *pace,
                           const uint64_t *start, uint64_t *end);

#endif

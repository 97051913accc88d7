/*
 * List timing of the messages of a step: between units, in the order in which their programs
 * issue them. docs/models/estimate.md ("An exchange") gives the rules.
 */
#ifndef PIMSIM_MAPPERS_ALLSPARK_REDISTRIBUTION_TIMING_H
#define PIMSIM_MAPPERS_ALLSPARK_REDISTRIBUTION_TIMING_H

#include "mappers/allspark/redistribution/transport.h"

/*
 * Sets end[unit], in logic cycles, for the width x height units of the hardware: when all that the unit sends
 * has left and all that it gets is written, if it begins at start[unit]; start[unit] for a unit with nothing
 * to do. Of a unit, sends start in the order of the messages, and so do receives. A message from a unit to
 * itself takes no time. `start` and `end` may be the same. False when memory is out.
 */
bool pim_transport_time_messages(const struct pim_estimate_hardware *hardware,
                                 const struct pim_transport_message *messages, uint32_t count,
                                 const uint64_t *start, uint64_t *end);

#endif

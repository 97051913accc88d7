/*
 * List timing of the transfers of an exchange: messages between units, in the order in which their programs
 * issue them. docs/models/estimate.md ("An exchange") gives the rules.
 */
#ifndef PIMSIM_MAPPERS_ALLSPARK_REDISTRIBUTION_TIMING_H
#define PIMSIM_MAPPERS_ALLSPARK_REDISTRIBUTION_TIMING_H

#include "mappers/estimate/estimate.h"

/* From a unit to another; of a unit, sends start in this order, and so do receives. A message from a unit to
   itself takes no time. */
struct pim_transfer {
    uint32_t from, to;
    uint64_t bytes;
};

/*
 * Sets end[unit], in logic cycles, for the width x height units of the hardware: when all that the unit sends
 * has left and all that it gets is written, if it begins at start[unit]; start[unit] for a unit with nothing
 * to do. False when memory is out.
 */
bool pim_exchange_time(const struct pim_estimate_hardware *hardware, const struct pim_transfer *transfers,
                       uint32_t count, const uint64_t *start, uint64_t *end);

#endif

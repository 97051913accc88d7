/*
 * The slow path: a controller that looks at every request in every cycle and looks every distance up in the
 * table of constraints. It shares no code with the channel; the test holds the two against each other.
 */
#ifndef PIMSIM_TESTS_UNIT_DRAM_CHANNEL_STEPPED_CONTROLLER_H
#define PIMSIM_TESTS_UNIT_DRAM_CHANNEL_STEPPED_CONTROLLER_H

#include "tests/unit/dram_channel/support.h"

/* Serves a list on one channel; fills arrived, completed, first_command, records and cycles of `outcome`. */
void stepped_serve(struct outcome *outcome, const struct pim_dram_configuration *configuration,
                   const struct access *list, size_t count);

#endif

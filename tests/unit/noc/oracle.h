/*
 * The plain router, as an oracle: the timing rules of docs/models/noc.md taken literally, every router and
 * every virtual channel in every cycle, dense request matrices, flits as objects. It shares nothing with
 * models/noc but the configuration, and is slow.
 *
 * For a mesh with xy routing, islip and separable_input_first; any delays, channels, buffers, speculation,
 * held switches, tail credits, iterations and input speedup.
 */
#ifndef PIMSIM_TESTS_UNIT_NOC_ORACLE_H
#define PIMSIM_TESTS_UNIT_NOC_ORACLE_H

#include "tests/unit/noc/lists.h"

/* Runs the stimulus until everything has arrived and fills in the answers. `links` as for list_run().
 * Fails the test when `cycles` go by before that. */
void oracle_run(const struct pim_noc_configuration *configuration, struct list *list, uint64_t cycles,
                uint64_t **links);

#endif

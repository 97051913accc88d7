/*
 * A mapped network from its start to its end. Schedules with messages in the mean decide how each layer takes
 * from its producers and, transformed, the order of its data spaces; from these follow the messages that its
 * program sends (messages.h), and with those the times of all rows (times.h).
 */
#ifndef PIMSIM_MAPPERS_OVERLAPIM_CHAIN_RUN_H
#define PIMSIM_MAPPERS_OVERLAPIM_CHAIN_RUN_H

#include "mappers/overlapim/chain/chain.h"

/* `ends`: layers hand over at their ends where programs would wait for each other (emit/ends.h). */
enum pim_status pim_chain_run(const struct pim_search_inputs *inputs,
                              const struct pim_layer_mapping *mappings, bool transformed, bool ends,
                              struct pim_chain *chain, struct pim_error *error);

/* Whether the network ends before `limit`: then `chain` is its chain, without what layers have `moved`, else
 * it ends with the layer that ends at `limit` or later. */
enum pim_status pim_chain_run_before(const struct pim_search_inputs *inputs,
                                     const struct pim_layer_mapping *mappings, bool transformed,
                                     uint64_t limit, bool *before, struct pim_chain *chain,
                                     struct pim_error *error);

#endif

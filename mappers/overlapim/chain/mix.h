/*
 * The mappings of several searches, mixed. A search looks at a layer and its neighbours; which of the
 * mappings that were found serve the whole network is told by its end alone.
 */
#ifndef PIMSIM_MAPPERS_OVERLAPIM_CHAIN_MIX_H
#define PIMSIM_MAPPERS_OVERLAPIM_CHAIN_MIX_H

#include "mappers/overlapim/chain/run.h"

/* Layer by layer, first those that add most to the end, takes the one of the `count` mappings found[j][layer]
 * with which the network ends earliest, if that is before the end with mappings[layer]. `chain` is that of
 * `mappings`, before and after. The network is run `*runs` times at most, which are counted down. */
enum pim_status pim_chain_mix(const struct pim_search_inputs *inputs,
                              const struct pim_layer_mapping *const *found, unsigned count, bool transformed,
                              uint32_t *runs, struct pim_layer_mapping *mappings, struct pim_chain *chain,
                              struct pim_error *error);

#endif

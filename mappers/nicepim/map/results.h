/* Where the results of a layer lie, by where its inputs do or by the decision for it. */
#ifndef PIMSIM_MAPPERS_NICEPIM_MAP_RESULTS_H
#define PIMSIM_MAPPERS_NICEPIM_MAP_RESULTS_H

#include "mappers/nicepim/map/program/homes.h"

/* Of an operation that is no product; true: it works on a vector unit, false: nothing is done for it. */
bool results_follow(struct emitter *emitter, uint32_t layer);

/* Of a product. Pieces of partial sums lie by the order of their nodes in the region. */
void results_of_product(struct emitter *emitter, uint32_t layer);

#endif

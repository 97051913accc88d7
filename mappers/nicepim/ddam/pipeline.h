/* Programs of a pipeline: every part of a network works on its own region, on one image after another. */
#ifndef PIMSIM_MAPPERS_NICEPIM_DDAM_PIPELINE_H
#define PIMSIM_MAPPERS_NICEPIM_DDAM_PIPELINE_H

#include "mappers/nicepim/map/program/homes.h"

/*
 * All images of a plan with parts. In step s part p works on image s - p. A step begins with what comes from
 * other parts, the last part first, so that no part waits for a later one in the middle of its work: a map
 * that is read only by the product which a part begins with goes to where that needs it, any other is spread
 * over the region. Weights lie where the first image put them.
 */
void ddam_emit(struct emitter *emitter);

#endif

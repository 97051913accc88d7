/*
 * Numbers of the functions that lowering leaves to the vector units: the `immediate` of PIM_LOCAL_FUNCTION,
 * PIM_LOCAL_BINARY and PIM_LOCAL_NORMALIZE in a lowered layer, for whoever gives them a meaning.
 */
#ifndef PIMSIM_MAPPERS_PIMCOMP_LOWERING_LOWER_H
#define PIMSIM_MAPPERS_PIMCOMP_LOWERING_LOWER_H

#include "mappers/pimcomp/representation/pimcomp.h"

enum {
    /* FUNCTION: an activation is numbered by enum pim_activation itself. */
    PIM_CORE_FUNCTION_ELEMENTWISE = 64, /* + enum pim_elementwise: with a learned or constant operand */
    PIM_CORE_FUNCTION_AFFINE = 128,     /* scale and shift per channel: a batch normalisation on its own */
    /* BINARY: enum pim_elementwise itself. */
    /* NORMALIZE: enum pim_normalization itself, or */
    PIM_CORE_NORMALIZE_SOFTMAX = 64,
    PIM_CORE_CLIP_LIMIT = 6 /* of PIM_LOCAL_CLIP: the graph keeps no limits of a clip; that of ReLU6 */
};

/* "matrix", ..; NULL outside. */
const char *pim_core_layer_kind_name(unsigned kind);

#endif

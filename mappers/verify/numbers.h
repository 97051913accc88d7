/* Learned numbers of the direct evaluation (evaluate.h). */
#ifndef PIMSIM_MAPPERS_VERIFY_NUMBERS_H
#define PIMSIM_MAPPERS_VERIFY_NUMBERS_H

#include <stdint.h>

/* Weight and bias: small numbers that depend on their place alone. `row` is
 * canonical. Grouped convolutions: 0 where the input channel is not of the output's group. */
int32_t pim_verify_weight(uint32_t matrix_layer, uint32_t row, uint32_t column);
int32_t pim_verify_bias(uint32_t matrix_layer, uint32_t column);
/* Element `element` of the scale of layer `layer`: -2, -1, 1 or 2. */
int32_t pim_verify_scale(uint32_t layer, uint32_t element);

#endif

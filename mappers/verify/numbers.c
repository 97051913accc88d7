/*
 * Weights and biases of the functional check.
 *
 * A number depends on its place alone: on the layer, row and column, not on replica, unfolding or array. So
 * an array group that holds the wrong block of a matrix, or is fed the wrong elements, gives a wrong sum.
 * Weights are small, so that sums of a few thousand products seldom wrap and a maximum is not a matter of
 * chance.
 */
#include "mappers/verify/numbers.h"

enum { WEIGHT_SIDE = 3, BIAS_SIDE = 15 };

/* The finalizer of splitmix64 over the three numbers of a place. */
static uint64_t hash(uint32_t layer, uint32_t row, uint32_t column)
{
    uint64_t value = ((uint64_t)row << 32 | column) + ((uint64_t)layer + 1) * UINT64_C(0x9E3779B97F4A7C15);
    value = (value ^ value >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    value = (value ^ value >> 27) * UINT64_C(0x94D049BB133111EB);
    return value ^ value >> 31;
}

/* A uniform number in [-side, side]. */
static int32_t small(uint64_t bits, int32_t side)
{
    return (int32_t)((bits >> 32) * (uint64_t)(2 * side + 1) >> 32) - side;
}

int32_t pim_verify_weight(uint32_t matrix_layer, uint32_t row, uint32_t column)
{
    return small(hash(matrix_layer, row, column), WEIGHT_SIDE);
}

int32_t pim_verify_bias(uint32_t matrix_layer, uint32_t column)
{
    return small(hash(matrix_layer, UINT32_MAX, column), BIAS_SIDE);
}

int32_t pim_verify_scale(uint32_t layer, uint32_t element)
{
    int32_t value = small(hash(layer, UINT32_MAX - 1, element), 2);
    return value == 0 ? 1 : value;
}

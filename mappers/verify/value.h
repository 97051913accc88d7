/*
 * Arithmetic of 16-bit elements, shared by the executor of traces and the direct evaluation of graphs: what
 * LOCAL_VECTOR (traces/instruction.h) makes of one element, or of two.
 *
 * Results are cut to 16 bits, so everything is exact modulo 2^16, in any order of summation.
 *
 * FUNCTION, BINARY and NORMALIZE stand for functions that real hardware computes in tables or in several
 * passes (sigmoid, power, softmax, ...). Here they are fixed integer functions of the immediate and the
 * elements: they have nothing in common with the functions they stand for but that another element, or
 * another function, gives another number. NORMALIZE works element by element, too. So the check proves that
 * the right elements reach them, not that hardware can compute them.
 */
#ifndef PIMSIM_MAPPERS_VERIFY_VALUE_H
#define PIMSIM_MAPPERS_VERIFY_VALUE_H

#include "traces/instruction.h"

/* Numbers of the functions that networks ask of vector units: the `immediate` of PIM_LOCAL_FUNCTION,
 * PIM_LOCAL_BINARY and PIM_LOCAL_NORMALIZE. */
enum {
    /* FUNCTION: an activation is numbered by enum pim_activation itself. */
    PIM_VALUE_FUNCTION_ELEMENTWISE = 64, /* + enum pim_elementwise: with a learned or constant operand */
    PIM_VALUE_FUNCTION_AFFINE = 128,     /* scale and shift per channel: a batch normalisation on its own */
    /* BINARY: enum pim_elementwise itself. */
    /* NORMALIZE: enum pim_normalization itself, or */
    PIM_VALUE_NORMALIZE_SOFTMAX = 64,
    PIM_VALUE_CLIP_LIMIT = 6 /* of PIM_LOCAL_CLIP: the graph keeps no limits of a clip; that of ReLU6 */
};

/* The low 16 bits as two's complement. */
static inline int16_t pim_value_cut(int64_t value)
{
    int32_t low = (int32_t)((uint64_t)value & UINT16_MAX);
    return (int16_t)(low - (low & (INT16_MAX + 1)) * 2);
}

/* The stand-in for function number `immediate` of one element, or of two. */
static inline int16_t pim_value_function(int32_t immediate, int16_t a)
{
    return pim_value_cut(((int64_t)a * 5 + a / 8) + (int64_t)immediate * 37 + 11);
}

static inline int16_t pim_value_binary(int32_t immediate, int16_t a, int16_t b)
{
    return pim_value_cut((int64_t)a * 3 + (int64_t)b * 7 + (int64_t)immediate * 41 + 5);
}

static inline int16_t pim_value_normalize(int32_t immediate, int16_t a)
{
    return pim_value_cut((int64_t)a * 9 + (int64_t)immediate * 43 + 17);
}

/* `operation` is an enum pim_local; `b` is not looked at by operations of one vector. */
static inline int16_t pim_value_local(unsigned operation, int32_t immediate, int16_t a, int16_t b)
{
    switch ((enum pim_local)operation) {
    case PIM_LOCAL_ADD:
        return pim_value_cut((int64_t)a + b);
    case PIM_LOCAL_SUBTRACT:
        return pim_value_cut((int64_t)a - b);
    case PIM_LOCAL_MULTIPLY:
        return pim_value_cut((int64_t)a * b);
    case PIM_LOCAL_MAXIMUM:
        return a > b ? a : b;
    case PIM_LOCAL_MINIMUM:
        return a < b ? a : b;
    case PIM_LOCAL_RELU:
        return a > 0 ? a : 0;
    case PIM_LOCAL_CLIP:
        return a < 0 ? 0 : (int64_t)a > immediate ? pim_value_cut(immediate) : a;
    case PIM_LOCAL_DIVIDE:
        return pim_value_cut(immediate == 0 ? 0 : (int64_t)a / immediate);
    case PIM_LOCAL_FUNCTION:
        return pim_value_function(immediate, a);
    case PIM_LOCAL_BINARY:
        return pim_value_binary(immediate, a, b);
    case PIM_LOCAL_NORMALIZE:
        return pim_value_normalize(immediate, a);
    case PIM_LOCALS:
        break;
    }
    return a;
}

#endif

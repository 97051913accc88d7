/*
 * Which inputs a sliding window needs and frees, along one axis, when inputs arrive and outputs are made in
 * order. Pure arithmetic.
 */
#ifndef PIMSIM_MODELS_COST_WINDOW_H
#define PIMSIM_MODELS_COST_WINDOW_H

#include <stdint.h>

/* The last input that output `o` reads, clamped to the map of `size`. `kernel` includes dilation. */
static inline uint32_t pim_window_last(uint32_t o, uint32_t kernel, uint32_t stride, uint32_t pad,
                                       uint32_t size)
{
    int64_t last = (int64_t)o * stride + kernel - 1 - pad;
    return last < 0 ? 0 : last >= (int64_t)size ? size - 1 : (uint32_t)last;
}

/* How many inputs y have min(floor((y + pad) / stride), outputs - 1) = o: those that output `o` is the last
 * to hold, by the rule of the communication-conflict paper's code. */
static inline uint32_t pim_window_freed(uint32_t o, uint32_t outputs, uint32_t stride, uint32_t pad,
                                        uint32_t size)
{
    int64_t from = (int64_t)o * stride - pad;
    int64_t to = o == outputs - 1 ? (int64_t)size : from + stride;
    from = from < 0 ? 0 : from;
    to = to > (int64_t)size ? (int64_t)size : to;
    return to > from ? (uint32_t)(to - from) : 0;
}

#endif

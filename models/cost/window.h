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

/* A window over a map; index 0 is vertical, 1 horizontal. */
struct pim_window {
    uint32_t in_size[2], out_size[2];
    uint32_t kernel[2], stride[2], pad[2];
};

/*
 * Packets, one for a pixel and row by row, that must have arrived before output pixel `step` is made, and how
 * many are freed behind it. Where windows leave pixels out (a kernel below its stride, rows behind the last
 * window) more would be freed than has arrived by the authors' rule: then the step waits for as many.
 */
static inline void pim_window_dependence(const struct pim_window *window, uint32_t step, uint32_t *need,
                                         uint32_t *drop)
{
    uint32_t at[2] = {step / window->out_size[1], step % window->out_size[1]}, last[2], freed[2], before[2];
    for (unsigned axis = 0; axis < 2; axis++) {
        uint32_t size = window->in_size[axis];
        int64_t from = (int64_t)at[axis] * window->stride[axis] - window->pad[axis];
        last[axis] =
            pim_window_last(at[axis], window->kernel[axis], window->stride[axis], window->pad[axis], size);
        freed[axis] =
            pim_window_freed(at[axis], window->out_size[axis], window->stride[axis], window->pad[axis], size);
        before[axis] = from < 0 ? 0 : from > (int64_t)size ? size : (uint32_t)from;
    }
    uint32_t behind = before[0] * window->in_size[1] + freed[0] * (before[1] + freed[1]);
    *need = last[0] * window->in_size[1] + last[1] + 1;
    *need = *need > behind ? *need : behind;
    *drop = freed[0] * freed[1];
}

#endif

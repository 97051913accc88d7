/* Where sliding windows lie on a map, along an axis: 0 of rows, 1 of columns. */
#ifndef PIMSIM_MAPPERS_PIMCOMP_KERNELS_SLIDING_H
#define PIMSIM_MAPPERS_PIMCOMP_KERNELS_SLIDING_H

#include "mappers/network/graph.h"

/* The position that window `window` reads at position `tap` of its kernel; it may lie beyond the map. */
static inline int64_t pim_sliding_input(const struct pim_sliding *sliding, int axis, int64_t window,
                                        int64_t tap)
{
    return window * sliding->stride[axis] - sliding->pad_before[axis] + tap * sliding->dilation[axis];
}

/* The last one that it reads. */
static inline int64_t pim_sliding_last(const struct pim_sliding *sliding, int axis, int64_t window)
{
    return pim_sliding_input(sliding, axis, window, (int64_t)sliding->kernel[axis] - 1);
}

/* The reverse: the window, of `windows`, that reads an input position there; false: none does. */
static inline bool pim_sliding_window(const struct pim_sliding *sliding, int axis, uint32_t input,
                                      uint32_t tap, uint32_t windows, uint32_t *window)
{
    int64_t at = (int64_t)input + sliding->pad_before[axis] - (int64_t)tap * sliding->dilation[axis];
    if (at < 0 || at % sliding->stride[axis] != 0 || at / sliding->stride[axis] >= windows)
        return false;
    *window = (uint32_t)(at / sliding->stride[axis]);
    return true;
}

#endif

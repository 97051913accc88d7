/* Where sliding windows lie on a map, and what of them groups with folds work on. */
#ifndef PIMSIM_MAPPERS_PIMCOMP_KERNELS_FOLDS_H
#define PIMSIM_MAPPERS_PIMCOMP_KERNELS_FOLDS_H

#include "mappers/pimcomp/representation/pimcomp.h"

#include <assert.h>

/* --- sliding windows, along an axis: 0 of rows, 1 of columns --- */

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

/*
 * Layers whose array groups have folds (struct pim_trace_array_group): unfoldings (I, O K^2, 1) and
 * (I K, O K, 1) of Table IV. What an MVM reads is no window then but an input vector: a pixel, or the stretch
 * of an input row that windows at one column of the output read. Each fold of its outputs belongs to another
 * window: a row of the kernel, and where vectors are pixels a column of it, says to which.
 */

struct pim_core_folds {
    uint32_t count;  /* 1: an MVM reads a window; the rest says nothing */
    bool pixels;     /* vectors are pixels */
    uint32_t across; /* vectors of an input row */
    uint32_t taps;   /* folds of a kernel row */
};

static inline struct pim_core_folds pim_core_folds_of(const struct pim_core_layer *layer,
                                                      const struct pim_core_partition_layer *part)
{
    struct pim_core_folds folds = {.count = part->groups ? part->group[0].folds : 1,
                                   .pixels = part->unfolding == PIM_UNFOLDING_I_OKK_1};
    folds.across = folds.pixels ? layer->source[0].width : layer->width;
    folds.taps = folds.pixels ? layer->sliding.kernel[1] : 1;
    return folds;
}

/* The output row that a vector serves by kernel row `tap`, and the output column by kernel column `tap` (0
 * where vectors are no pixels); false: there is none. */
static inline bool pim_core_fold_row(const struct pim_core_layer *layer, const struct pim_core_folds *folds,
                                     uint32_t vector, uint32_t tap, uint32_t *row)
{
    assert(folds->across > 0);
    return pim_sliding_window(&layer->sliding, 0, vector / folds->across, tap, layer->height, row);
}

static inline bool pim_core_fold_column(const struct pim_core_layer *layer,
                                        const struct pim_core_folds *folds, uint32_t vector, uint32_t tap,
                                        uint32_t *column)
{
    *column = vector % folds->across;
    return !folds->pixels || pim_sliding_window(&layer->sliding, 1, *column, tap, layer->width, column);
}

/* A vector serves a window at a column of the output in [begin, end). */
static inline bool pim_core_vector_serves(const struct pim_core_layer *layer,
                                          const struct pim_core_folds *folds, uint32_t vector, uint32_t begin,
                                          uint32_t end)
{
    uint32_t at, row = 0, column = 0;
    while (row < layer->sliding.kernel[0] && !pim_core_fold_row(layer, folds, vector, row, &at))
        row++;
    while (column < folds->taps &&
           !(pim_core_fold_column(layer, folds, vector, column, &at) && at >= begin && at < end))
        column++;
    return row < layer->sliding.kernel[0] && column < folds->taps;
}

#endif

/*
 * Where a tensor lies in memory, and a window of it as bursts: the data layouts of NicePIM (section III-E).
 *
 *     BCHW      batch, channel, row, column: from the slowest to the fastest
 *     BHWC      batch, row, column, channel
 *     BCHW[Cg]  g channels form a group that is stored together for each pixel: batch, group, row, column,
 *               channel in the group. BCHW is g = 1.
 *
 * The channels of the last group that the tensor does not have are stored too, as padding (in BHWC with a
 * group as well: each pixel holds a multiple of g channels).
 *
 * A window is a box of batches, channels, rows and columns. Its bursts are equal contiguous pieces at equal
 * distances, as memory instructions and models/dram have them. Mappers and models both use this file.
 *
 * Invariants:
 *  1. The bursts of a window hold the bytes of each of its elements exactly once, and nothing else (of the
 *     padding neither).
 *  2. Their bytes come in rising order of addresses, within a burst and from burst to burst. Therefore the
 *     column accesses of a window are those of its bursts, one for each piece of column touched, where a
 *     column in which one piece ends and the next begins is touched once.
 *  3. Neighbouring bursts are merged: a window that is contiguous is one burst of one piece.
 */
#ifndef PIMSIM_TRACES_LAYOUT_H
#define PIMSIM_TRACES_LAYOUT_H

#include "sim/status.h"

#include <stdbool.h>
#include <stdint.h>

enum pim_layout_order { PIM_LAYOUT_BCHW, PIM_LAYOUT_BHWC };

enum { PIM_LAYOUT_EXTENT_MAX = 1 << 24, PIM_LAYOUT_ELEMENT_MAX = 64 };

struct pim_layout {
    enum pim_layout_order order;
    uint32_t batches, channels, rows, columns; /* 1 to PIM_LAYOUT_EXTENT_MAX */
    uint32_t group;                            /* channels stored together; 1 to PIM_LAYOUT_EXTENT_MAX */
    uint32_t element_bytes;                    /* 1 to PIM_LAYOUT_ELEMENT_MAX */
    uint64_t address;                          /* of the first element */
};

struct pim_layout_range {
    uint32_t first, count;
};

struct pim_layout_window {
    struct pim_layout_range batches, channels, rows, columns;
};

/* `count` pieces of `bytes`, `stride` apart (0 for a single piece). */
struct pim_layout_burst {
    uint64_t address, bytes, stride, count;
};

/* Refuses extents of 0, sizes beyond the bounds, and a tensor that ends above 2^60. */
enum pim_status pim_layout_check(const struct pim_layout *layout, struct pim_error *error);

/* Refuses a window that is empty or not inside the (checked) layout's tensor. */
enum pim_status pim_layout_check_window(const struct pim_layout *layout,
                                        const struct pim_layout_window *window, struct pim_error *error);

/* Bytes of the tensor with its padding. */
uint64_t pim_layout_bytes(const struct pim_layout *layout);

/* Address of an element inside the tensor. */
uint64_t pim_layout_locate(const struct pim_layout *layout, uint32_t batch, uint32_t channel, uint32_t row,
                           uint32_t column);

enum { PIM_LAYOUT_DIMENSIONS = 5 };

/* The bursts still to come of a window. Private to layout.c. */
struct pim_layout_cursor {
    uint64_t address, bytes; /* of the first piece of the box of channels that comes next */
    unsigned dimensions;
    struct {
        uint64_t stride;
        uint64_t count, done;
    } dimension[PIM_LAYOUT_DIMENSIONS]; /* rising strides; the first is within a burst */
    const struct pim_layout *layout;
    struct pim_layout_window window;
    uint32_t batch, batch_end;     /* each batch has its boxes, */
    uint32_t channel, channel_end; /* of whole groups, or of a part of one */
};

/* Layout and window must have passed the checks; the layout is borrowed, the window copied. */
void pim_layout_first(struct pim_layout_cursor *cursor, const struct pim_layout *layout,
                      const struct pim_layout_window *window);

/* Gives the next burst; false at the end. Nothing is allocated; O(1). */
bool pim_layout_next(struct pim_layout_cursor *cursor, struct pim_layout_burst *burst);

/* Column accesses of `access_bytes` (a power of two) and rows of `row_bytes` (a multiple of it) that a window
 * touches in one memory with consecutive addresses. O(pieces). */
struct pim_layout_cost {
    uint64_t bytes;    /* of the window itself */
    uint64_t bursts;   /* memory instructions */
    uint64_t pieces;   /* contiguous pieces */
    uint64_t accesses; /* column accesses, each column once */
    uint64_t rows;     /* rows, each once: so many accesses are no row hits in an open-page memory */
};
void pim_layout_count(const struct pim_layout *layout, const struct pim_layout_window *window,
                      uint32_t access_bytes, uint32_t row_bytes, struct pim_layout_cost *cost);

#endif

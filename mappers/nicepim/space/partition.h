/*
 * Layers cut over a rectangle of nodes (NicePIM, section III-C).
 *
 * A layer is the loops B (batch), P, Q (output rows and columns), K (output channels), C (input channels)
 * around a kernel; a matrix product has P = Q = 1. Loop X is cut into high[X] * wide[X] parts, high along
 * the rows of the region and wide along its columns; the products of all high and of all wide are the
 * region's height and width. The first loop of `order` is the coarsest: the region falls into high x wide
 * blocks for it, each block again for the next. Part i of n of a length L: the first L mod n parts are one
 * longer.
 */
#ifndef PIMSIM_MAPPERS_NICEPIM_SPACE_PARTITION_H
#define PIMSIM_MAPPERS_NICEPIM_SPACE_PARTITION_H

#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pim_loop { PIM_LOOP_B, PIM_LOOP_P, PIM_LOOP_Q, PIM_LOOP_K, PIM_LOOP_C, PIM_LOOPS };

struct pim_conv {
    uint32_t length[PIM_LOOPS]; /* of each loop, 1 at least */
    uint32_t kernel_height, kernel_width, stride_height, stride_width, pad_top, pad_left;
    uint32_t height, width; /* of the input */
};

struct pim_cut {
    uint32_t high[PIM_LOOPS], wide[PIM_LOOPS];
    uint8_t order[PIM_LOOPS]; /* enum pim_loop, each once, coarsest first */
};

/* [from, to) */
struct pim_span {
    uint32_t from, to;
};

/* Part `index` of `parts` of a length. */
struct pim_span pim_span_of(uint32_t length, uint32_t parts, uint32_t index);

/* The part of each loop that the node at (row, column) of the region has. */
void pim_cut_place(const struct pim_cut *cut, uint32_t row, uint32_t column, uint32_t part[PIM_LOOPS]);

/* What a node computes, and the box of the input that it reads for it: batches, channels, rows, columns,
 * clipped to the input. Empty spans where there are more parts than the loop is long. */
struct pim_part {
    uint32_t index[PIM_LOOPS];
    struct pim_span loop[PIM_LOOPS];
    struct pim_span box[4];
};
void pim_cut_part(const struct pim_conv *layer, const struct pim_cut *cut, uint32_t row, uint32_t column,
                  struct pim_part *part);

/* Numbers of parts among all of a cut, the same in any order of its loops: that of the node at (row, column)
 * is row[row] + column[column]. Regions have at most PIM_CUT_SIDE rows and columns. */
enum { PIM_CUT_SIDE = 32 };
struct pim_cut_numbers {
    uint32_t row[PIM_CUT_SIDE], column[PIM_CUT_SIDE];
};
void pim_cut_number(const struct pim_cut *cut, struct pim_cut_numbers *numbers);

/* Elements that a node needs and makes, and its multiply-accumulates. */
uint64_t pim_part_inputs(const struct pim_part *part);
uint64_t pim_part_weights(const struct pim_conv *layer, const struct pim_part *part);
uint64_t pim_part_outputs(const struct pim_part *part);
uint64_t pim_part_macs(const struct pim_conv *layer, const struct pim_part *part);

/* --- sharing --- */

enum pim_shared { PIM_SHARED_INPUTS, PIM_SHARED_WEIGHTS, PIM_SHARED_SUMS };

/*
 * Groups of nodes that need (of sums: make) the same elements: set[row * width + column] is the number of the
 * group, from 0 in the order of their first nodes, or UINT32_MAX for a node that needs nothing. `parts` has
 * height * width entries. Gives the number of groups, those of one node among them.
 */
uint32_t pim_cut_groups(const struct pim_part *parts, uint32_t nodes, enum pim_shared shared, uint32_t *set);

/* Elements in both of two boxes. */
static inline uint64_t pim_box_overlap(const struct pim_span a[4], const struct pim_span b[4])
{
    uint64_t elements = 1;
    for (size_t i = 0; i < 4; i++) {
        uint32_t from = a[i].from > b[i].from ? a[i].from : b[i].from;
        uint32_t to = a[i].to < b[i].to ? a[i].to : b[i].to;
        elements *= to > from ? to - from : 0;
    }
    return elements;
}

/* --- all cuts --- */

/* Called for every cut; false ends the walk. */
typedef bool pim_cut_visit(void *context, const struct pim_cut *cut);

/*
 * Walks over all different cuts for a region: those that give the same parts to the same nodes appear once,
 * with the first order that gives them. Loops are cut into at most limit[X] parts. The order of the walk is
 * fixed.
 */
void pim_cuts_walk(uint32_t height, uint32_t width, const uint32_t limit[PIM_LOOPS], pim_cut_visit *visit,
                   void *context);

#endif

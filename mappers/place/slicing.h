/*
 * A grid cut into rectangles for parts that work side by side, by slicing trees: a rectangle is a region, or
 * cut from edge to edge into two that are sliced in turn.
 */
#ifndef PIMSIM_MAPPERS_PLACE_SLICING_H
#define PIMSIM_MAPPERS_PLACE_SLICING_H

#include "mappers/place/place.h"

enum { PIM_SLICING_PARTS = 8, PIM_SLICING_SIDE = 64 };

struct pim_slicing_region {
    uint32_t x, y, width, height;
    uint32_t parts; /* bit i: part i works here */
};

struct pim_slicing {
    uint64_t work, cells; /* the region with most work for its cells: work / cells is the least possible */
    uint32_t regions;
    struct pim_slicing_region region[PIM_SLICING_PARTS];
};

/*
 * The slicing into `regions` regions, each with one part at least, whose largest work / cells is least, over
 * all assignments of the parts and all slicing trees: exact, by dynamic programming over (height, width, set
 * of parts, regions). Of equal ones the first found: fewer rows or columns for the first rectangle first.
 * PIM_BAD_INPUT for 0 or more than PIM_SLICING_PARTS parts, more regions than parts or cells, a side beyond
 * PIM_SLICING_SIDE, works that add up beyond 2^40; PIM_NO_MEMORY.
 */
enum pim_status pim_slice(const struct pim_grid *grid, const uint64_t *works, uint32_t parts,
                          uint32_t regions, struct pim_slicing *slicing, struct pim_error *error);

#endif

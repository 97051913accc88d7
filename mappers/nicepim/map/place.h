/*
 * Boxes of tensors in the memory of a node: where each element lies, the bursts that move a part of a box,
 * and what they cost. A box lies by itself in the layout of its tensor: the places of its elements count
 * from its own corner.
 */
#ifndef PIMSIM_MAPPERS_NICEPIM_MAP_PLACE_H
#define PIMSIM_MAPPERS_NICEPIM_MAP_PLACE_H

#include "mappers/estimate/estimate.h"
#include "mappers/nicepim/space/layout.h"

/* Dimensions are batches, channels, rows, columns. */
enum { PLACE_DIMENSIONS = 4 };

struct place {
    struct pim_span box[PLACE_DIMENSIONS];
    struct pim_map_layout layout;
    uint32_t width; /* bytes of an element */
    uint64_t address;
};

/* `count` positions from `from` on, `step` apart. */
struct grid {
    uint32_t from, count, step;
};

/* `count` pieces of `bytes`, `stride` apart. */
struct place_burst {
    uint64_t address, bytes, stride, count;
};
typedef void place_visit(void *context, const struct place_burst *burst);

/* With the padding of channels that their groups need. */
uint64_t place_bytes(const struct place *place);

/* The part of a grid that lies in the place; false: none. */
bool place_meets(const struct place *place, const struct grid part[PLACE_DIMENSIONS],
                 struct grid met[PLACE_DIMENSIONS]);
/* The bursts that read or write a part, which lies in the place. */
void place_visit_bursts(const struct place *place, const struct grid part[PLACE_DIMENSIONS],
                        place_visit *visit, void *context);
/* True when the part is one run, from *address on. */
bool place_is_run(const struct place *place, const struct grid part[PLACE_DIMENSIONS], uint64_t *address,
                  uint64_t *bytes);

void grid_of_box(const struct pim_span box[PLACE_DIMENSIONS], struct grid part[PLACE_DIMENSIONS]);

/*
 * `among`, of all that follows: bytes that the port goes to by turns (pim_estimate_near).
 *
 * Cycles of the memory port for a part of `extent` positions, `step` apart, of a map that falls into boxes
 * of `size`, and the columns that pass it. A layout of group 0 is not known: volumes alone count.
 */
struct spread {
    struct pim_map_layout layout;
    uint32_t size[PLACE_DIMENSIONS];
};
uint64_t spread_cycles(const struct pim_estimate_hardware *hardware, const struct spread *spread,
                       const uint32_t extent[PLACE_DIMENSIONS], const uint32_t step[PLACE_DIMENSIONS],
                       uint32_t width, uint64_t among, bool write, uint64_t *columns);
/* Of a part of a place. */
uint64_t place_cycles(const struct pim_estimate_hardware *hardware, const struct place *place,
                      const struct grid part[PLACE_DIMENSIONS], uint64_t among, bool write);
/* Of bytes in one run. */
uint64_t place_run_cycles(const struct pim_estimate_hardware *hardware, uint64_t bytes, uint64_t among,
                          bool write);

/*
 * Part `index` of `parts` of a box, along the outermost dimension of its layout that is long enough, or the
 * longest. *runs: the parts of the box follow each other in its memory.
 */
void split_box(const struct pim_span box[PLACE_DIMENSIONS], struct pim_map_layout layout, uint32_t parts,
               uint32_t index, struct pim_span part[PLACE_DIMENSIONS], bool *runs);

#endif

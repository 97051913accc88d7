/* Where tensors lie, and moving boxes of them between nodes. */
#ifndef PIMSIM_MAPPERS_NICEPIM_MAP_HOMES_H
#define PIMSIM_MAPPERS_NICEPIM_MAP_HOMES_H

#include "mappers/nicepim/map/program.h"

/* A box of a tensor on the node that made it. */
struct piece {
    uint32_t node;
    struct pim_span box[4];
    uint64_t address;
};

/* Where a tensor lies: boxes that do not overlap and cover it. `everywhere`: the input of the network. */
struct home {
    bool everywhere;
    uint32_t count;
    struct piece *pieces;
};

struct emitter {
    struct program program;
    const struct nice_plan *plan;
    struct home *home; /* of each layer */
    uint64_t *between; /* bytes from node to node, of one exchange */
    struct program_message *messages;
};

/* Room for `count` pieces; false when memory is out, which is noted in the program's status. */
bool home_reserve(struct emitter *emitter, struct home *home, size_t count);
/* Adds a piece with memory of its own, unless it is empty. */
void home_add(struct emitter *emitter, struct home *home, uint32_t node, const struct pim_span box[4]);
/* Part `index` of `parts` of a box, along its first dimension of channels, rows, batches, columns that is
 * long enough, or the longest. */
void split_box(const struct pim_span box[4], uint32_t parts, uint32_t index, struct pim_span part[4]);

/* An exchange: forget what was noted, note what a node needs of a box that it does not have, send it all.
 * What comes in lies in memory until the next layer. Gives an estimate. */
void clear_moves(struct emitter *emitter);
void need_box(struct emitter *emitter, const struct home *home, uint32_t node, const struct pim_span box[4]);
uint64_t move_boxes(struct emitter *emitter);

#endif

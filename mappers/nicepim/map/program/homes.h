/* Where tensors lie, and moving boxes of them between nodes. */
#ifndef PIMSIM_MAPPERS_NICEPIM_MAP_PROGRAM_HOMES_H
#define PIMSIM_MAPPERS_NICEPIM_MAP_PROGRAM_HOMES_H

#include "mappers/nicepim/map/program/program.h"

/* A box of a tensor on the node that made it. */
struct piece {
    uint32_t node;
    struct place place;
};

/* Where a tensor lies: boxes that do not overlap and cover it. `everywhere`: the input of the network. */
struct home {
    bool everywhere;
    uint32_t count;
    struct piece *pieces;
};

/* A box as a node reads it: places that do not overlap and cover it. */
struct operand {
    uint32_t count;
    struct place *places; /* from malloc */
};

/* A part that goes from a place on a node to one on another, or on the same. */
struct move {
    uint32_t from, to, layer; /* layer: whose tensor */
    struct place source, target;
    struct grid part[PLACE_DIMENSIONS];
    uint64_t packed, received; /* where it lies in one run on its way; PROGRAM_NOTHING: it does so anyway */
};

struct product;

struct emitter {
    struct program program;
    const struct nice_plan *plan;
    struct home *home; /* of each layer */
    struct move *moves;
    size_t move_count, move_capacity;
    /* of each layer */
    bool *done;
    struct product **started; /* whose inputs are there */
    /* Of several images: where the weights of each layer lie on the nodes of its region; NULL: of one. */
    uint64_t **kept_weights;
};

/* Room for `count` pieces; false when memory is out, which is noted in the program's status. */
bool home_reserve(struct emitter *emitter, struct home *home, size_t count);
/* Adds a piece with memory of its own, in the layout of tensor `layer`, unless it is empty. */
void home_add(struct emitter *emitter, uint32_t layer, uint32_t node, const struct pim_span box[4]);

/* Memory of a node for a box until the next layer. */
struct place place_borrow(struct emitter *emitter, uint32_t node, const struct pim_span box[4],
                          struct pim_map_layout layout, uint32_t width);
/* One place as an operand; gives its bytes. */
void operand_of_place(struct emitter *emitter, const struct place *place, struct operand *operand);
void operand_terminate(struct operand *operand);

/*
 * A box of tensor `layer` for a node: what the node has is read where it lies, what others have is moved and
 * read where it arrives. Where that would be more than OPERAND_PLACES places all of it is brought together
 * in one.
 */
enum { OPERAND_PLACES = 8 };
void operand_bring(struct emitter *emitter, uint32_t layer, uint32_t node, const struct pim_span box[4],
                   struct operand *operand);
/* Moves a box of tensor `layer` into a place that it lies in. */
void move_box(struct emitter *emitter, uint32_t layer, uint32_t node, const struct pim_span box[4],
              const struct place *target);

/* Loads or stores a part of an operand, of tensor `layer`; gives the last instruction and adds to *elements
 * what was moved. */
uint64_t operand_part(struct emitter *emitter, uint32_t node, enum pim_opcode opcode, enum pim_buffer buffer,
                      uint32_t layer, const struct operand *operand, const struct grid part[PLACE_DIMENSIONS],
                      uint64_t after, uint64_t *elements);

/* All moves that were noted, in one exchange: packed, sent and unpacked where they are not one run. Forgets
 * them and gives an estimate. */
uint64_t move_all(struct emitter *emitter);

#endif

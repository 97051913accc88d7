/*
 * What the emitter hands over with its instructions, for who executes programs with numbers: a trace says
 * which bytes move, not which elements of which tensors they are. A note says that of one instruction, or of
 * memory that is filled from outside; nothing in it says where data come from: that is in the trace alone.
 */
#ifndef PIMSIM_MAPPERS_NICEPIM_MAP_PROGRAM_NOTES_H
#define PIMSIM_MAPPERS_NICEPIM_MAP_PROGRAM_NOTES_H

#include "mappers/nicepim/map/place.h"

enum nice_note_kind {
    NICE_NOTE_PLACED,  /* from outside, before the next instruction: a box of an input of the network */
    NICE_NOTE_WEIGHTS, /* from outside: a part of a copy of weights */
    NICE_NOTE_RESULT,  /* at the end: where a tensor lies */
    NICE_NOTE_STORE,   /* STORE: elements of a tensor to their places; without a note: what came, in order */
    NICE_NOTE_PACK,    /* STORE: a part of a place (`tile.output`), in its order, as one run elsewhere */
    NICE_NOTE_MATRIX,  /* MATRIX: a tile */
    NICE_NOTE_TILE,    /* VECTOR: what the accumulators hold, as results or (32 bits) as partial sums */
    NICE_NOTE_ADD,     /* VECTOR: two runs of partial sums */
    NICE_NOTE_FINISH,  /* VECTOR: partial sums become results */
    NICE_NOTE_VECTOR   /* VECTOR: the operation of a layer, for the box of `place` */
};

/* A tile of a product. Its weights lie in a copy group by group, in each so many output channels (`order[0]`)
 * after another, of these so many input channels (`order[1]`). */
struct nice_tile_note {
    struct grid output[PLACE_DIMENSIONS];
    struct pim_span k, c;     /* loops of the node: output channels, and input channels of a group */
    uint32_t group, first[2]; /* of the groups of the node; output and input channel of the group */
    uint32_t channels;        /* input channels of the tile */
    uint32_t order[2];
};

struct nice_note {
    enum nice_note_kind kind;
    uint32_t layer, image;
    uint64_t after;     /* the last instruction that it waits for; UINT64_MAX: as the one before */
    struct place place; /* PLACED, RESULT, STORE, PACK, VECTOR */
    struct nice_tile_note tile;
    /* WEIGHTS: `bytes` bytes of copy `copy` of the layer, from byte `from` of it on, lie at `address`. */
    uint32_t copy;
    uint64_t address, from, bytes;
};

/* `sequence`: the number of the instruction in the program of the node, of others the number of the next. */
struct nice_observer {
    void (*see)(void *context, uint32_t node, uint64_t sequence, const struct nice_note *note);
    void *context;
};

#endif

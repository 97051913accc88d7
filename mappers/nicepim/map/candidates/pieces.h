/*
 * What each node begins with of an input, before its sharing set passes the pieces round. It depends on the
 * part of the cut that the node has; the order of the loops only says which node that is. So a piece is made
 * once, when it is first asked for, for all orders that are looked at one after another.
 */
#ifndef PIMSIM_MAPPERS_NICEPIM_MAP_CANDIDATES_PIECES_H
#define PIMSIM_MAPPERS_NICEPIM_MAP_CANDIDATES_PIECES_H

#include "mappers/nicepim/map/flow.h"
#include "mappers/nicepim/map/place.h"

struct cut_piece {
    struct pim_span box[4];
    uint64_t elements;
    uint32_t made; /* pieces.made when it was made: another cut since then makes it anew */
    bool works;    /* its part makes something */
};

struct pieces {
    const struct flow_operation *operation;
    struct pim_map_layout layout; /* of the input */
    uint32_t side;                /* 0: the first input, 1: the second */
    struct pim_cut cut;           /* the present one */
    uint32_t sharing;             /* parts that have one box together */
    bool idle;                    /* some parts make nothing */
    uint32_t made;
    struct pim_cut_numbers numbers;
    struct cut_piece piece[PIM_CUT_SIDE * PIM_CUT_SIDE];
};

/* For an operation, an input and its layout; released with free(). NULL: no memory. */
struct pieces *pieces_create(const struct flow_operation *operation, uint32_t side,
                             struct pim_map_layout layout);
/* The cut that is looked at from now on. */
void pieces_begin(struct pieces *pieces, const struct pim_cut *cut);
/* The piece of the node at (row, column) of the region. */
const struct cut_piece *pieces_of(struct pieces *pieces, uint32_t row, uint32_t column);

#endif

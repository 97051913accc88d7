/*
 * What goes between the nodes of an exchange, in pieces: bytes of one region with the same consumers each. A
 * relay takes each of them once to wherever it goes (redistribute.h).
 */
#ifndef PIMSIM_MAPPERS_ALLSPARK_REDISTRIBUTION_PIECES_H
#define PIMSIM_MAPPERS_ALLSPARK_REDISTRIBUTION_PIECES_H

#include "mappers/allspark/redistribution/exchange.h"

/* Where a piece is needed. */
struct pim_need {
    uint32_t piece, to_region;
    uint64_t to;
};

struct pim_piece {
    uint32_t from_region, root; /* regions: of the node that has it, and of the top-left node of its branch */
    uint32_t bytes;
    uint64_t from;
    struct pim_need *need; /* by branches, then by nodes */
    uint32_t needs;        /* 0: a gap between moves */
    /* of the relay: its round; where it is packed and gathered; and, while a branch that gets it is worked,
       at the top-left node of that */
    uint32_t round;
    uint64_t staged, collected, arrived;
};

struct pim_pieces {
    uint32_t count, needs;
    struct pim_piece *piece; /* by regions, then by addresses */
    struct pim_need *need;
};

/* Cuts the moves of an exchange between different units, into pieces of `most` bytes at most. False when
   memory is out. To be freed in any case. */
bool pim_pieces_cut(const struct pim_exchange *exchange, uint64_t most, struct pim_pieces *pieces);
void pim_pieces_terminate(struct pim_pieces *pieces);

#endif

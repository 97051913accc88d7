/*
 * Redistribution: who has which tokens and channels, and who needs which (section VII-B).
 *
 * The nodes of a branch have regions of a map, tokens x channels each: producer regions have what is given,
 * consumer regions get it. What a region needs of another is a *move*. Moves become a program (transport.h):
 * from node to node, or over the top-left nodes of the branches (redistribute.h). So go features between two
 * groupings into branches (shifted windows, hand-overs; interaction.c), keys and values (neighbours.c), what
 * stripes need (stripes.c) and borders (border.c).
 *
 * Invariants:
 *  1. A branch in another image of a batch has regions of its own: what all images exchange goes at once.
 *  2. Features are overwritten only after all that leaves a node is packed. Within a stage, what leaves and
 *     what arrives is staged where the inputs of the merging were, which are dead by then; from one kind of
 *     blocks to the other, behind what both need later.
 */
#ifndef PIMSIM_MAPPERS_ALLSPARK_REDISTRIBUTION_EXCHANGE_H
#define PIMSIM_MAPPERS_ALLSPARK_REDISTRIBUTION_EXCHANGE_H

#include "mappers/allspark/redistribution/transport.h"

/* What a node of a branch has, and where. */
struct pim_region {
    uint32_t unit;
    uint32_t root; /* the region of the top-left node of the branch */
    uint32_t first_token, tokens, first_channel, channels;
    uint64_t address;                  /* tokens x channels */
    uint64_t offset;                   /* bytes of all features of the stage before these */
    uint64_t leaving, arriving;        /* staging of as many bytes each */
    uint64_t resident, resident_bytes; /* as in the workspace, of the layer */
};

/* Bytes that lie in one piece on both sides. */
struct pim_move {
    uint32_t from_region, to_region;
    uint64_t from, to;
    uint32_t bytes;
};

struct pim_exchange {
    uint32_t units;
    /* what arrives does not lie where anything leaves: what a unit has for itself is copied once */
    bool apart;
    /* regions first_producer[b] to first_producer[b + 1] - 1 are those of branch b, numbered image by image;
       consumers are behind the producers, or the same */
    uint32_t producers, regions;
    struct pim_region *region;
    uint32_t *first_producer, *first_consumer;
    uint32_t move_count;
    size_t move_capacity;
    struct pim_move *moves; /* in their order once there is a program */
    struct pim_transport transport;
    uint64_t end; /* first address behind the staging of the top-left nodes, on any node; 0: none have any */
    uint64_t estimate[PIM_ESTIMATE_PARTS];
};

/*
 * An exchange without moves: regions of all branches of `source` in all images with the features of the
 * stage, and of all branches of `to` behind them; where that is NULL the producers are the consumers.
 * PIM_NO_MEMORY. Free with pim_exchange_terminate, in any case.
 */
enum pim_status pim_exchange_begin(const struct pim_allspark_plan *plan,
                                   const struct pim_allspark_stage *source,
                                   const struct pim_allspark_stage *to, struct pim_exchange *exchange,
                                   struct pim_error *error);
void pim_exchange_terminate(struct pim_exchange *exchange);

/* PIM_NO_MEMORY, said of an exchange. */
enum pim_status pim_exchange_no_memory(struct pim_error *error);

/* The list of the first region of each branch, if `first` is that of the first branch; its last entry is the
   number behind all of them. To be freed; NULL when memory is out. */
uint32_t *pim_exchange_first_regions(const struct pim_allspark_plan *plan,
                                     const struct pim_allspark_stage *stage, uint32_t first);

/*
 * Moves, in the order in which neighbours may join; false when memory is out. The channels that two regions
 * have in common, of a token at two addresses: those of its first channel in each. And what region `to` gets
 * in its token `token`, from token `source` of branch `branch`.
 */
bool pim_exchange_add_channels(struct pim_exchange *exchange, uint32_t from, uint32_t to,
                               uint64_t from_address, uint64_t to_address);
bool pim_exchange_add_token(struct pim_exchange *exchange, uint32_t to, uint32_t token, uint32_t branch,
                            uint32_t source);

/*
 * The exchange that gives token t of branch b of `to` what was in token from[b * N + t] % M of branch
 * from[b * N + t] / M of `source`, in each image of the batch, where branches have N and M tokens; the two
 * stages are kinds of blocks of the same stage of the network, or the same. `from` takes every token at most
 * once, or PIM_PADDED_COPIES times between two kinds that differ in tokens. PIM_NO_MEMORY. As above.
 */
enum pim_status pim_exchange_make(const struct pim_allspark_plan *plan,
                                  const struct pim_allspark_stage *source,
                                  const struct pim_allspark_stage *to, const uint32_t *from,
                                  struct pim_exchange *exchange, struct pim_error *error);

/* --- where tokens come from (origins.c) --- */

/*
 * Windows of rows x columns branches of window x window tokens, shifted by `shift` tokens down and right,
 * cyclically, as a permutation for pim_exchange_make. Tokens of a window that stay in it keep their place;
 * those that come take the places of those that leave, both in the order of rows. `back` undoes it. *from is
 * to be freed; NULL when memory is out.
 */
uint32_t *pim_shifted_windows(uint32_t rows, uint32_t columns, uint32_t window, uint32_t shift, bool back);

/*
 * A map of height x width tokens, from windows (branches of window x window tokens) to the order
 * of global attention whose keys are made of reduction x reduction tokens: these patches one after another,
 * then the tokens beyond them. `back`: the other way; what windows have beyond the map comes from its other
 * end. As above.
 */
uint32_t *pim_windows_to_map(uint32_t height, uint32_t width, uint32_t window, uint32_t reduction, bool back);

#endif

/* The parts of the reference: memory, blocks, and the families that differ. */
#ifndef PIMSIM_MAPPERS_ALLSPARK_CHECK_NETWORK_PARTS_H
#define PIMSIM_MAPPERS_ALLSPARK_CHECK_NETWORK_PARTS_H

#include "mappers/allspark/allspark.h"
#include "sim/arena.h"

/* Matrices that live as long as the reference; once memory is out, all are NULL. */
struct space {
    struct pim_arena arena;
    bool failed;
};

uint16_t *space_matrix(struct space *space, uint64_t rows, uint64_t columns); /* zeros */
uint16_t **space_matrices(struct space *space, uint32_t count, uint64_t rows, uint64_t columns);

/* The windows of a stage: rows x columns of window x window tokens; window 0: there are none. The map they
   cover, and the side of what a key is made of. Focal: how far a region goes beyond the window. */
struct reference_map {
    uint32_t rows, columns, window;
    uint32_t height, width, side, expand;
};

/* Blocks of one kind: their shape, the weights of the block at hand, and what a branch needs. */
struct kind {
    const struct pim_allspark_partition *shape;
    uint32_t index; /* of the stage of the plan */
    uint32_t block;
    uint16_t *weights[PIM_ALLSPARK_WEIGHTS]; /* k x n */
    uint16_t *inputs, *y, *q, *k, *v, *z, *reduced, *hidden, *row;
};

/* `shape` must outlive the kind. False: memory is out. */
bool kind_initialize(struct kind *kind, struct space *space, const struct pim_allspark_partition *shape,
                     uint32_t index);
/* Goes to a block: its weights. */
void kind_enter(struct kind *kind, uint32_t block);

/* output[m][n] += input[m][k] * W[k][n] */
void kind_multiply(const struct kind *kind, enum pim_allspark_weight weight, const uint16_t *input,
                   uint16_t *output, uint32_t m);
/* x = the inputs of a branch, merged; block 0. */
void kind_embed(const struct kind *kind, uint32_t image, uint32_t branch, uint16_t *x);
/* One head: q is N x channels, k and v are M x channels; its channels from `first` on. z += context. */
void kind_attend(const struct kind *kind, const uint16_t *q, const uint16_t *k, const uint16_t *v,
                 uint16_t *z, uint32_t first);
void kind_attention(const struct kind *kind, uint16_t *x);
void kind_feed_forward(const struct kind *kind, uint16_t *x);
/* Behind the first block: x += convolution of x, where windows are on the map. False: memory is out. */
bool kind_encode_position(const struct kind *kind, struct space *space, const struct reference_map *map,
                          uint16_t **x);

/* The residual streams of all branches; NULL: memory is out. */
uint16_t **reference_plain(struct space *space, const struct pim_allspark_partition *shape, uint32_t index,
                           const struct reference_map *map, uint32_t image);
uint16_t **reference_focal(struct space *space, const struct pim_allspark_partition *shape, uint32_t index,
                           const struct reference_map *map, uint32_t image);

/* The blocks of one kind in a stage of Twins; `index` is their stage of the plan. */
struct reference_kind {
    const struct pim_allspark_partition *part;
    uint32_t index;
};

/* A stage whose blocks attend in windows and globally in turn: the branches of the last block. */
uint16_t **reference_twins(struct space *space, const struct reference_kind *windows,
                           const struct reference_kind *global, const struct reference_map *map,
                           uint32_t image);

/* A stage of CSWin whose blocks attend in stripes: `index` is the stage of the plan with the projections,
   whose branches are the rows of the map; of these. */
uint16_t **reference_cswin(struct space *space, const struct pim_allspark_partition *rows, uint32_t index,
                           uint32_t stripe, uint32_t image);

#endif

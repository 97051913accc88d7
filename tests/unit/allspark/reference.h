/* The network as its equations say, on the numbers of algebra.h. Knows nothing of
   nodes. */
#ifndef PIMSIM_TESTS_UNIT_ALLSPARK_REFERENCE_H
#define PIMSIM_TESTS_UNIT_ALLSPARK_REFERENCE_H

#include "mappers/allspark/allspark.h"

/* The number of the classifier's weights in weight_value(). */
enum { WEIGHT_HEAD = PIM_ALLSPARK_WEIGHTS };

/* The windows of a stage: rows x columns of window x window tokens; window 0: there are none. The map they
   cover, and the side of what a key is made of. */
struct reference_map {
    uint32_t rows, columns, window;
    uint32_t height, width, side;
};

/* The number of the weights of a position encoding's convolution in weight_value(): tap, channel. Those of
   CSWin are numbered with the stage of the plan whose index is given, also for stripes. */
enum { WEIGHT_POSITION = PIM_ALLSPARK_POSITION };

/* The residual streams of all branches of an image after all blocks of a stage: tokens x channels; all of
   them, and the list, to be freed. */
uint64_t **reference_stage(const struct pim_allspark_partition *stage, uint32_t index,
                           const struct reference_map *map, uint32_t image);

/*
 * The same for Focal: windows of the map attend to the tokens up to `expand` around them, cyclically, and to
 * side x side pooled windows, zeros beyond the border.
 */
uint64_t **reference_focal(const struct pim_allspark_partition *stage, uint32_t index,
                           const struct reference_map *map, uint32_t expand, uint32_t image);

/* The blocks of one kind in a stage of Twins; `index` is their stage of the plan. */
struct reference_kind {
    const struct pim_allspark_partition *part;
    uint32_t index;
};

/* The same for a stage whose blocks attend in windows and globally in turn: the branches of the last
   block. */
uint64_t **reference_twins(const struct reference_kind *windows, const struct reference_kind *global,
                           const struct reference_map *map, uint32_t image);

/* The same for a stage of CSWin whose blocks attend in stripes: `index` is the stage of the plan with the
   projections, whose branches are the rows of the map; of these. */
uint64_t **reference_cswin(const struct pim_allspark_partition *rows, uint32_t index, uint32_t stripe,
                           uint32_t image);

/* The classes from the one token that is classified. */
void reference_head(const struct pim_allspark_partition *stage, uint32_t index, const uint64_t *token,
                    uint32_t classes, uint64_t *logits);

#endif

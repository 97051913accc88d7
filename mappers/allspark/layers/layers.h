/* Layers of a block beside its products: normalisation, pooled tokens of Focal, depthwise convolutions. */
#ifndef PIMSIM_MAPPERS_ALLSPARK_LAYERS_LAYERS_H
#define PIMSIM_MAPPERS_ALLSPARK_LAYERS_LAYERS_H

#include "mappers/allspark/emitter.h"
#include "sim/integer.h"

/* --- layer normalisation (normalisation.c) --- */

/* What a layer normalisation reads and writes on a node: rows x q, and its own piece of a gathered input. */
struct pim_normalisation {
    uint64_t rows, source, output;
};

/* Its instructions; tag: that of the first round of the statistics. */
void pim_emit_normalisation(struct pim_emitter *emitter, struct pim_normalisation norm, uint32_t tag);
/* What that of `p` rows takes, added to the parts of the phase. */
void pim_estimate_normalisation(const struct pim_emitter *emitter, uint64_t p, struct pim_trace_phase *phase);

/* --- Focal: the pooled token of a window, and which keys of other windows it needs (focal.c) --- */

/*
 * The product of the pooling on a node, a 1 x p row of weights times its normalised tokens; then the last row
 * of the sub-array adds up what the rows have, and puts it behind its own tokens. The message of row r has
 * tag `tag` + r.
 */
void pim_emit_pool(struct pim_emitter *emitter, uint32_t block, uint32_t tag);
void pim_estimate_pool(struct pim_emitter *emitter, uint32_t block, struct pim_trace_phase *phase);

/* One beyond the border. */
#define PIM_ZERO_KEY UINT32_MAX

/* The keys of branch b that are not its own tokens, key_tokens - tokens of them. Tokens of a branch are
   numbered branch * (N + 1) + token, the pooled one has token N; branches go on from image to image. */
void pim_focal_others(const struct pim_allspark_partition *part, uint32_t b, uint32_t *others);

/* --- the depthwise 3 x 3 convolutions of position encodings: Twins over the features, CSWin over the values
 * (position.c) --- */

enum { PIM_POSITION_SIDE = 3, PIM_POSITION_TAPS = PIM_POSITION_SIDE * PIM_POSITION_SIDE };

/* Windows in a row of the map. */
static inline uint32_t pim_position_windows(const struct pim_allspark_partition *part)
{
    return pim_divide_up32(part->position.width, part->position.window);
}

/* Weights of a channel of a partition on a node: those of both directions where stripes have their own. */
static inline uint64_t pim_position_weights(const struct pim_allspark_partition *part)
{
    return part->work == PIM_ALLSPARK_STRIPES ? 2 * PIM_POSITION_TAPS : PIM_POSITION_TAPS;
}

/* Bytes of zeros, the neighbours beyond the border: as many as one load takes at most. */
uint64_t pim_position_zeros(const struct pim_allspark_partition *part);

/* The convolution of the tokens of a node, in the layer that is worked; the residual is added. */
void pim_emit_position(struct pim_emitter *emitter, uint32_t block);
void pim_estimate_position(struct pim_emitter *emitter, struct pim_trace_phase *phase);

/*
 * The features that a node of row `row` convolves, with their neighbours, in the order of the map: `lines`
 * lines of `columns` tokens. The first one is one line above and one column left of the node's first line of
 * its window.
 */
struct pim_position_field {
    uint32_t first_line, lines, columns;
};

struct pim_position_field pim_position_field(const struct pim_allspark_partition *part, uint32_t row);

/* Whether token (y, x) of window `branch` is on the map. */
bool pim_position_on_map(const struct pim_allspark_partition *part, uint32_t branch, uint32_t y, uint32_t x);

#endif

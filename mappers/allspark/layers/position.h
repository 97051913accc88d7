/* The depthwise 3 x 3 convolutions of position encodings: Twins over the features, CSWin over the values. */
#ifndef PIMSIM_MAPPERS_ALLSPARK_LAYERS_POSITION_H
#define PIMSIM_MAPPERS_ALLSPARK_LAYERS_POSITION_H

#include "mappers/allspark/emitter.h"
#include "sim/integer.h"

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

/* Elements of tensors for the check: which element of which layer's output a position is, and its value. */
#ifndef PIMSIM_MAPPERS_NICEPIM_CHECK_TENSORS_H
#define PIMSIM_MAPPERS_NICEPIM_CHECK_TENSORS_H

#include "mappers/nicepim/map/flow.h"
#include "mappers/nicepim/map/place.h"
#include "sim/arena.h"

/* What an element is: the layer that made it, not one that only names it anew. */
struct identity {
    uint32_t layer, sample;
    uint32_t element; /* of the layer's tensor in the graph, of the sample */
};

struct tensors {
    const struct flow *flow;
    uint32_t samples;
    struct pim_arena arena;
    const int16_t *const **value; /* of each sample: values of all layers, by direct evaluation */
    uint32_t *last;               /* of each product: the layer whose values it writes, with what is fused */
};

/* PIM_BAD_INPUT: an operator that cannot be evaluated. */
enum pim_status tensors_initialize(struct tensors *tensors, const struct flow *flow, uint32_t samples,
                                   struct pim_error *error);
void tensors_terminate(struct tensors *tensors);

/* Of batches, channels, rows, columns of the output of a layer, of an image of a pipeline. */
struct identity tensors_identify(const struct tensors *tensors, uint32_t layer, uint32_t image,
                                 const uint32_t at[4]);
/* The element of the layer's own tensor, be it a view or not; batches beyond the first sample begin anew. */
uint32_t tensors_element(const struct tensors *tensors, uint32_t layer, const uint32_t at[4]);
/* Elements of a layer's tensor in the graph, of a sample. */
uint64_t tensors_size(const struct tensors *tensors, uint32_t layer);
/* By direct evaluation. */
int16_t tensors_expected(const struct tensors *tensors, const struct identity *identity);
bool tensors_is_input(const struct tensors *tensors, uint32_t layer);

/* What is at an address of a place: false for padding of channels. *high: the upper half of a sum. */
bool tensors_position(const struct place *place, uint64_t address, uint32_t at[4], bool *high);

/* Sums and activations behind a product. */
int16_t tensors_finish(const struct tensors *tensors, uint32_t layer, uint32_t channel, int16_t sum);
/* The weight of an output channel for an input channel of its group, at a place of the kernel. */
int16_t tensors_weight(const struct tensors *tensors, uint32_t layer, uint32_t output, uint32_t input,
                       uint32_t position);

#endif

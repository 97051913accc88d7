/* What the files of the direct evaluation share. */
#ifndef PIMSIM_MAPPERS_VERIFY_EVALUATE_INTERNAL_H
#define PIMSIM_MAPPERS_VERIFY_EVALUATE_INTERNAL_H

#include "mappers/network/graph.h"

/* An evaluation, at the layer at work. */
struct pim_evaluation {
    const struct pim_graph *graph;
    const bool *folded; /* of each layer: it went into weights and bias of a matrix */
    uint32_t sample;
    const int16_t **value; /* of each layer, as far as the evaluation has come */
    uint32_t index;
    const struct pim_layer *layer;
    uint64_t elements; /* of the output */
    int16_t *output;   /* zero at first */
    struct pim_arena *scratch;
    struct pim_error *error;
};

static inline const int16_t *pim_evaluation_input(const struct pim_evaluation *e, uint32_t input)
{
    return e->value[e->layer->input[input]];
}

static inline const struct pim_shape *pim_evaluation_shape(const struct pim_evaluation *e, uint32_t input)
{
    return &e->graph->layers[e->layer->input[input]].output;
}

/* Products of two activations. */
void pim_evaluate_product(struct pim_evaluation *e);

/* The element of input `input` that meets element `element` of the output, by NumPy's rule. */
uint64_t pim_evaluation_broadcast(const struct pim_evaluation *e, uint32_t input, uint64_t element);

/* Operators that move elements, and reductions: *moved tells whether the layer at work is one.
 * PIM_BAD_INPUT for a form that is not evaluated; the message is the caller's. */
enum pim_status pim_evaluate_movement(struct pim_evaluation *e, bool *moved);

#endif

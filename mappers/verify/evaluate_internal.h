/*
 * What the files of the direct evaluation share: how the tensors of a graph come about, whatever the numbers
 * in them are. What is done to numbers is a table of functions, of which there are two: integers of 16 bits
 * (words.c) and real numbers (reals.c).
 */
#ifndef PIMSIM_MAPPERS_VERIFY_EVALUATE_INTERNAL_H
#define PIMSIM_MAPPERS_VERIFY_EVALUATE_INTERNAL_H

#include "mappers/network/graph.h"

struct pim_evaluation;

/* Numbers, and what is done to them. */
struct pim_arithmetic {
    size_t bytes; /* of a number */

    /* Adds `count` products to *sum: a[0] b[0], a[step_a] b[step_b], ... */
    void (*add_products)(void *sum, const void *a, uint64_t step_a, const void *b, uint64_t step_b,
                         uint64_t count);

    /* What a convolution or a linear layer multiplies with for output channel `column`: the weights in the
     * order (depth, row and column of the kernel, channel of the group), or of the rows, and its bias, 0
     * where the layer has none. */
    enum pim_status (*column)(struct pim_evaluation *e, uint32_t column, void *weights, void *bias);

    /* The mean, the sum or the extremum of `count` numbers, at least one. */
    enum pim_status (*combine)(struct pim_evaluation *e, enum pim_reduction kind, const void *numbers,
                               uint64_t count, void *result);

    /* *numbers of a layer that nothing computes (learned tensors, constants): NULL where the evaluation has
     * none, and goes on without. */
    enum pim_status (*learned)(struct pim_evaluation *e, uint32_t layer, const void **numbers);

    /* An element of such a layer without numbers that is joined to others. */
    void (*joined)(const struct pim_evaluation *e, uint32_t layer, uint64_t element, void *number);

    /* What becomes of attention scores: `channels` of a head. */
    enum pim_status (*finish_scores)(struct pim_evaluation *e, uint32_t channels);

    /* Inputs, activations, elementwise work, normalisations, softmax: *done tells whether the layer at work
     * is one of them. */
    enum pim_status (*other)(struct pim_evaluation *e, bool *done);
};

/* An evaluation, at the layer at work. */
struct pim_evaluation {
    const struct pim_graph *graph;
    const struct pim_arithmetic *arithmetic;
    const void *context; /* of the arithmetic */
    uint32_t sample;
    uint32_t index;
    const struct pim_layer *layer;
    const void **input; /* of the layer, NULL for one that is learned and has no numbers */
    uint64_t elements;  /* of the output */
    void *output;       /* zero at first */
    struct pim_arena *scratch;
    struct pim_error *error;
};

static inline const struct pim_shape *pim_evaluation_shape(const struct pim_evaluation *e, uint32_t input)
{
    return &e->graph->layers[e->layer->input[input]].output;
}

/* Number `index` of a list of them. */
static inline const void *pim_evaluation_at(const struct pim_evaluation *e, const void *numbers,
                                            uint64_t index)
{
    return (const char *)numbers + index * e->arithmetic->bytes;
}

static inline void *pim_evaluation_to(const struct pim_evaluation *e, void *numbers, uint64_t index)
{
    return (char *)numbers + index * e->arithmetic->bytes;
}

/* `count` numbers that are 0, of the scratch memory; NULL without memory. */
void *pim_evaluation_numbers(struct pim_evaluation *e, uint64_t count);

/* PIM_BAD_INPUT: the layer at work, and what is not evaluated. */
enum pim_status pim_evaluation_refuse(const struct pim_evaluation *e, const char *what);

/* The layer at work, whose inputs are set. */
enum pim_status pim_evaluation_layer(struct pim_evaluation *e);

/* All layers; (*values)[i] are the numbers of layer i, NULL for what is made of learned tensors without
 * numbers alone. */
enum pim_status pim_evaluation_all(struct pim_evaluation *e, struct pim_arena *arena, const void ***values);

/* Products of two activations. */
enum pim_status pim_evaluate_product(struct pim_evaluation *e);

/* The element of input `input` that meets element `element` of the output, by NumPy's rule. */
uint64_t pim_evaluation_broadcast(const struct pim_evaluation *e, uint32_t input, uint64_t element);

/* Operators that move elements, and reductions: *moved tells whether the layer at work is one. PIM_BAD_INPUT
 * for a form that is not evaluated. */
enum pim_status pim_evaluate_movement(struct pim_evaluation *e, bool *moved);

#endif

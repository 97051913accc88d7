/*
 * The direct evaluation of a network graph in real numbers: what the network computes, with the functions
 * that frameworks have. The tensors come about as in evaluate.h, by the same code; here a softmax is one.
 *
 * A graph has no numbers. Its inputs and all that is learned come from the caller, in the order of ONNX. Of
 * functions with numbers of their own the graph keeps none: those of the format where nothing is said are
 * taken (a clip is that of 0 and 6, a normalisation adds 1e-5 to its variance).
 */
#ifndef PIMSIM_MAPPERS_VERIFY_REALS_H
#define PIMSIM_MAPPERS_VERIFY_REALS_H

#include "mappers/network/graph.h"

enum pim_learned {
    PIM_LEARNED_TENSOR,  /* of an input, a learned tensor, a constant: row by row */
    PIM_LEARNED_WEIGHTS, /* convolution [outputs, channels of a group, kernel], transposed [channels, outputs
                            of a group, kernel]; linear [rows, outputs] */
    PIM_LEARNED_BIAS,    /* [outputs] */
    PIM_LEARNED_SCALE,   /* of a normalisation, [channels] */
    PIM_LEARNED_SHIFT,
    PIM_LEARNED_MEAN, /* of a batch normalisation */
    PIM_LEARNED_VARIANCE,
    PIM_LEARNED_NUMBER,  /* the second operand of elementwise work on one input: one number */
    PIM_LEARNED_INDICES, /* of a gather of one input */
    PIM_LEARNED_KINDS
};

struct pim_real_numbers {
    void *context;
    /* NULL where there are none: the evaluation is then refused. */
    const double *(*numbers)(void *context, uint32_t layer, enum pim_learned what);
};

/*
 * (*values)[i] are the elements of the output of layer i, row by row, in `arena`. PIM_BAD_INPUT names a layer
 * that is not evaluated, since the graph does not keep what it computes, or since a number is missing.
 */
enum pim_status pim_verify_evaluate_reals(const struct pim_graph *graph,
                                          const struct pim_real_numbers *numbers, struct pim_arena *arena,
                                          const double *const **values, struct pim_error *error);

#endif

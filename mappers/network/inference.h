/*
 * What the files of the shape inference share: an operator at work, and the checks of invariant 3 (graph.h).
 */
#ifndef PIMSIM_MAPPERS_NETWORK_INFERENCE_H
#define PIMSIM_MAPPERS_NETWORK_INFERENCE_H

#include "mappers/network/graph.h"

/* What an inference function works on. */
struct pim_inference_context {
    const union pim_attributes *attributes;
    const struct pim_shape *const *inputs;
    uint32_t count;
    struct pim_inference *result;
    struct pim_error *error;
};

/* Takes `shape` over as the output after checking the limits of invariant 3. */
enum pim_status pim_infer_take_output(const struct pim_inference_context *c, const struct pim_shape *shape);

/* MACs and parameters are a * b * d; fail above PIM_COUNT_LIMIT. */
enum pim_status pim_infer_set_macs(const struct pim_inference_context *c, uint64_t a, uint64_t b, uint64_t d);
enum pim_status pim_infer_set_parameters(const struct pim_inference_context *c, uint64_t a, uint64_t b,
                                         uint64_t d);

/* Fails unless input `input` has `rank` dimensions; `layout` says which they are. */
enum pim_status pim_infer_expect_rank(const struct pim_inference_context *c, uint32_t input, uint32_t rank,
                                      const char *layout);

/* Operators of sliding windows and recurrent layers (shape_sliding.c). */
enum pim_status pim_infer_convolution(const struct pim_inference_context *c);
enum pim_status pim_infer_transposed_convolution(const struct pim_inference_context *c);
enum pim_status pim_infer_pooling(const struct pim_inference_context *c);
enum pim_status pim_infer_recurrent(const struct pim_inference_context *c);

#endif

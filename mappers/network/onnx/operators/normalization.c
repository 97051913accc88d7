/* Softmax and normalisations. */
#include "mappers/network/onnx/operators/operators.h"
#include "onnx.pb-c.h"

#include <string.h>

/* An operator on the last dimension, along `axis`: transposed there and back. */
static uint32_t work_along(struct pim_onnx_importer *i, enum pim_operator operation, const char *suffix,
                           const union pim_attributes *a, uint32_t layer, uint32_t axis)
{
    uint32_t order[PIM_SHAPE_RANK], rank = pim_onnx_shape_of(i, layer).rank;
    for (uint32_t d = 0; d < rank; d++)
        order[d] = d;
    if (rank == 0)
        return layer;
    order[axis] = rank - 1;
    order[rank - 1] = axis;
    layer = pim_onnx_transpose(i, "last", layer, order);
    layer = pim_onnx_add(i, operation, suffix, a, 1, &layer);
    return pim_onnx_transpose(i, "back", layer, order);
}

/* Softmax works the last dimension: before version 13 all from `axis` on together, afterwards that axis
 * alone. */
void pim_onnx_convert_softmax(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    struct pim_onnx_value *input = pim_onnx_input(i, 0);
    const struct pim_shape shape = input->shape;
    uint32_t rank = shape.rank, layer = pim_onnx_layer_of(i, input);
    uint32_t axis = pim_onnx_axis(i, pim_onnx_integer(i, "axis", i->opset >= 13 ? -1 : 1), rank);
    if (i->status != PIM_OK)
        return;
    if (i->opset >= 13) {
        pim_onnx_bind_layer(i, 0, work_along(i, PIM_OPERATOR_SOFTMAX, "", NULL, layer, axis));
        return;
    }
    struct pim_shape flat = {.rank = 2, .dimension = {1, 1}};
    uint64_t size[2] = {1, 1};
    for (uint32_t d = 0; d < rank; d++)
        size[d < axis ? 0 : 1] *= shape.dimension[d];
    flat.dimension[0] = pim_onnx_size(i, "a dimension", (int64_t)size[0], 1);
    flat.dimension[1] = pim_onnx_size(i, "a dimension", (int64_t)size[1], 1);
    if (axis + 1 != rank)
        layer = pim_onnx_reshape(i, "flat", layer, &flat);
    layer = pim_onnx_add(i, PIM_OPERATOR_SOFTMAX, "", NULL, 1, &layer);
    pim_onnx_bind_layer(i, 0, pim_onnx_reshape(i, "shape", layer, &shape));
}

/* Divided by its norm along one axis. */
void pim_onnx_convert_norm_division(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    struct pim_onnx_value *input = pim_onnx_input(i, 0);
    const union pim_attributes a = {
        .normalization = {.kind = PIM_NORMALIZATION_LAYER, .root_mean_square = true}};
    uint32_t layer = pim_onnx_layer_of(i, input),
             axis = pim_onnx_axis(i, pim_onnx_integer(i, "axis", -1), input->shape.rank);
    pim_onnx_bind_layer(i, 0, work_along(i, PIM_OPERATOR_NORMALIZATION, "", &a, layer, axis));
}

/*
 * Cross entropy and the likelihood of classes: [batch, classes, ..] and the right class of each place. What
 * is left is a number for each place, or one for all.
 */
void pim_onnx_convert_loss(struct pim_onnx_importer *i, unsigned with_softmax)
{
    struct pim_onnx_value *places = pim_onnx_input(i, 1), *weights = pim_onnx_optional_input(i, 2);
    uint32_t inputs[3] = {pim_onnx_layer_of(i, pim_onnx_input(i, 0)), 0, 0};
    if (pim_onnx_is_read(i, 0))
        inputs[1] = pim_onnx_layer_of(i, places);
    if (i->status == PIM_OK && pim_onnx_shape_of(i, inputs[0]).rank < 2)
        pim_onnx_fail(i, "its input needs a batch and classes");
    if (weights && pim_onnx_is_read(i, 0))
        inputs[2] = pim_onnx_layer_of(i, weights);
    if (with_softmax && i->status == PIM_OK) {
        inputs[0] = work_along(i, PIM_OPERATOR_SOFTMAX, "softmax", NULL, inputs[0], 1);
        pim_onnx_bind_layer(i, 1, inputs[0]);
    }
    if (!pim_onnx_is_read(i, 0))
        return;
    const union pim_attributes picked = {.shape = places->shape};
    uint32_t layer = pim_onnx_add(i, PIM_OPERATOR_SAMPLE, "", &picked, weights ? 3 : 2, inputs);
    const union pim_attributes all = {
        .reduction = {.axes = (1u << places->shape.rank) - 1, .kind = PIM_REDUCTION_MEAN}};
    if (!pim_onnx_text_is(i, "reduction", "none"))
        layer = pim_onnx_add(i, PIM_OPERATOR_REDUCTION, "reduced", &all, 1, &layer);
    pim_onnx_bind_layer(i, 0, layer);
}

/* Further outputs from `first` on: mean, and the reciprocal of the deviation. */
static void bind_statistics(struct pim_onnx_importer *i, uint32_t layer, uint32_t axes, bool keep,
                            size_t first)
{
    const union pim_attributes a = {.reduction = {.axes = axes, .keep = keep, .kind = PIM_REDUCTION_MEAN}};
    for (size_t o = first; o < first + 2; o++)
        if (pim_onnx_is_read(i, o))
            pim_onnx_bind_layer(
                i, o,
                pim_onnx_add(i, PIM_OPERATOR_REDUCTION, o == first ? "mean" : "deviation", &a, 1, &layer));
}

/* All dimensions from `axis` on together. */
static uint32_t normalize_from(struct pim_onnx_importer *i, uint32_t layer, uint32_t axis,
                               const union pim_attributes *a)
{
    const struct pim_shape shape = pim_onnx_shape_of(i, layer);
    struct pim_shape flat = {.rank = axis + 1};
    uint64_t channels = 1;
    for (uint32_t d = 0; d < shape.rank; d++) {
        if (d < axis)
            flat.dimension[d] = shape.dimension[d];
        else
            channels *= shape.dimension[d];
    }
    flat.dimension[axis] = pim_onnx_size(i, "the normalised part", (int64_t)channels, 1);
    layer = pim_onnx_reshape(i, "flat", layer, &flat);
    layer = pim_onnx_add(i, PIM_OPERATOR_NORMALIZATION, "", a, 1, &layer);
    return pim_onnx_reshape(i, "shape", layer, &shape);
}

/* `scale_only`: root-mean-square normalisation, which has no shift. */
void pim_onnx_convert_layer_normalization(struct pim_onnx_importer *i, unsigned scale_only)
{
    struct pim_onnx_value *input = pim_onnx_input(i, 0);
    bool scale = pim_onnx_optional_input(i, 1) != NULL,
         shift = !scale_only && pim_onnx_optional_input(i, 2) != NULL;
    uint32_t layer = pim_onnx_layer_of(i, input), rank = input->shape.rank, axes = 0,
             axis = pim_onnx_axis(i, pim_onnx_integer(i, "axis", -1), rank);
    const union pim_attributes a = {.normalization = {.kind = PIM_NORMALIZATION_LAYER,
                                                      .affine = scale,
                                                      .unshifted = !shift,
                                                      .root_mean_square = scale_only != 0}};
    if (i->status != PIM_OK)
        return;
    for (uint32_t d = axis; d < rank; d++)
        axes |= 1u << d;
    if (pim_onnx_is_read(i, 0))
        pim_onnx_bind_layer(i, 0, normalize_from(i, layer, axis, &a));
    bind_statistics(i, layer, axes, true, 1);
}

/* com.microsoft: the sum of two tensors (and a bias), normalised; the sum itself is output 3. */
void pim_onnx_convert_skip_normalization(struct pim_onnx_importer *i, unsigned scale_only)
{
    const union pim_attributes add = {.elementwise = PIM_ELEMENTWISE_ADD};
    struct pim_onnx_value *bias = pim_onnx_optional_input(i, scale_only ? 3 : 4);
    bool shift = !scale_only && pim_onnx_optional_input(i, 3) != NULL;
    uint32_t pair[2] = {pim_onnx_layer_of(i, pim_onnx_input(i, 0)),
                        pim_onnx_layer_of(i, pim_onnx_input(i, 1))};
    pair[0] = pim_onnx_add(i, PIM_OPERATOR_ELEMENTWISE, "sum", &add, 2, pair);
    if (bias) {
        pair[1] = pim_onnx_layer_of(i, bias);
        pair[0] = pim_onnx_add(i, PIM_OPERATOR_ELEMENTWISE, "bias", &add, 2, pair);
    }
    const union pim_attributes a = {.normalization = {.kind = PIM_NORMALIZATION_LAYER,
                                                      .affine = true,
                                                      .unshifted = !shift,
                                                      .root_mean_square = scale_only != 0}};
    pim_onnx_bind_layer(i, 0, pim_onnx_add(i, PIM_OPERATOR_NORMALIZATION, "", &a, 1, &pair[0]));
    if (pim_onnx_is_read(i, 3))
        pim_onnx_bind_layer(i, 3, pair[0]);
}

/* To a mean of 0 and a variance of 1 over the batch and the map: no learned numbers. */
void pim_onnx_convert_standardization(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    const union pim_attributes a = {.normalization = {.kind = PIM_NORMALIZATION_BATCH}};
    uint32_t layer = pim_onnx_layer_of(i, pim_onnx_input(i, 0));
    pim_onnx_bind_layer(i, 0, pim_onnx_add(i, PIM_OPERATOR_NORMALIZATION, "", &a, 1, &layer));
}

/* Per channel of [batch, channels, ...]: batch, instance and group normalisation; `kind` as in the graph. */
void pim_onnx_convert_channel_normalization(struct pim_onnx_importer *i, unsigned kind)
{
    const union pim_attributes a = {
        .normalization = {.kind = (enum pim_normalization)kind, .affine = kind == PIM_NORMALIZATION_BATCH}};
    uint32_t layer = pim_onnx_layer_of(i, pim_onnx_input(i, 0)), value;
    struct pim_shape shape = pim_onnx_shape_of(i, layer);
    bool ignored = false;
    if (i->status != PIM_OK)
        return;
    if (shape.rank < 2) {
        pim_onnx_fail(i, "its input has %u dimensions: at least 2 are needed", shape.rank);
        return;
    }
    for (size_t o = 1; o < 5; o += 2) /* training: what the batch adds to mean and variance */
        if (pim_onnx_is_read(i, o) || pim_onnx_is_read(i, o + 1))
            bind_statistics(i, layer, ((1u << shape.rank) - 1) & ~2u, false, o);
    if (!pim_onnx_is_read(i, 0))
        return;
    value = kind == PIM_NORMALIZATION_BATCH ? pim_onnx_absorb_affine(i, &shape, 1, &ignored)
                                            : pim_onnx_names_find(&i->value_names, i->node->output[0]);
    pim_onnx_bind_value(i, value, pim_onnx_add(i, PIM_OPERATOR_NORMALIZATION, "", &a, 1, &layer));
}

/* Resize and Upsample: a size for every dimension, from scales or sizes. What is interpolated is open. */
#include "mappers/network/onnx/operators/operators.h"
#include "onnx.pb-c.h"

#include <math.h>
#include <string.h>

/* What the node says, put in order: for each dimension a size, or a scale (0: neither). */
struct resizing {
    double scale[PIM_SHAPE_RANK];
    int64_t size[PIM_SHAPE_RANK];
    bool sized;
};

static void read_lists(struct pim_onnx_importer *i, const struct pim_shape *shape, struct resizing *r)
{
    bool late = strcmp(i->node->op_type, "Resize") == 0 && i->opset >= 11, given;
    double scales[PIM_SHAPE_RANK];
    int64_t sizes[PIM_SHAPE_RANK], axes[PIM_SHAPE_RANK];
    uint32_t named = pim_onnx_list(i, "axes", SIZE_MAX, axes, PIM_SHAPE_RANK, &given);
    uint32_t size_count = pim_onnx_list(i, NULL, late ? 3 : SIZE_MAX, sizes, PIM_SHAPE_RANK, NULL);
    uint32_t scale_count =
        size_count ? 0 : pim_onnx_reals(i, late ? NULL : "scales", late ? 2 : 1, scales, PIM_SHAPE_RANK);
    uint32_t count = size_count ? size_count : scale_count, wanted = given ? named : shape->rank;
    r->sized = size_count > 0;
    if (count == 0 && pim_onnx_has(i, "height_scale") && shape->rank == 4) { /* Upsample of version 1 */
        r->scale[2] = pim_onnx_real(i, "height_scale", 1);
        r->scale[3] = pim_onnx_real(i, "width_scale", 1);
        return;
    }
    if (i->status == PIM_OK && count != wanted)
        pim_onnx_fail(i, "its sizes or its scales must be a constant of one number for each of %u dimensions",
                      wanted);
    for (uint32_t n = 0; n < count && i->status == PIM_OK; n++) {
        uint32_t d = given ? pim_onnx_axis(i, axes[n], shape->rank) : n;
        if (r->sized)
            r->size[d] = sizes[n];
        else
            r->scale[d] = scales[n];
    }
}

/* One scale for all dimensions that have a size, so that the result fits into the sizes or covers them. */
static void keep_ratio(struct pim_onnx_importer *i, const struct pim_shape *shape, struct resizing *r)
{
    bool inside = pim_onnx_text_is(i, "keep_aspect_ratio_policy", "not_larger"),
         outside = pim_onnx_text_is(i, "keep_aspect_ratio_policy", "not_smaller");
    double common = 0;
    if (!r->sized || (!inside && !outside))
        return;
    for (uint32_t d = 0; d < shape->rank; d++) {
        double scale = (double)r->size[d] / shape->dimension[d];
        if (r->size[d] > 0 && (common <= 0 || (inside ? scale < common : scale > common)))
            common = scale;
    }
    for (uint32_t d = 0; d < shape->rank; d++)
        if (r->size[d] > 0 && common * shape->dimension[d] < (double)PIM_DIMENSION_LIMIT)
            r->size[d] = (int64_t)floor(common * shape->dimension[d] + 0.5);
}

/* With tf_crop_and_resize the scales count from a part of the map, [begins, ends] from 0 to 1. */
static void cut_regions(struct pim_onnx_importer *i, const struct pim_shape *shape, struct resizing *r)
{
    double region[2 * PIM_SHAPE_RANK];
    if (r->sized || !pim_onnx_text_is(i, "coordinate_transformation_mode", "tf_crop_and_resize"))
        return;
    uint32_t count = pim_onnx_reals(i, NULL, 1, region, 2 * PIM_SHAPE_RANK), at = 0;
    bool some = pim_onnx_has(i, "axes");
    for (uint32_t d = 0; d < shape->rank && 2 * at + 1 < count; d++)
        if (!some || r->scale[d] > 0) {
            r->scale[d] *= region[count / 2 + at] - region[at];
            at++;
        }
}

void pim_onnx_convert_resize(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    struct pim_onnx_value *input = pim_onnx_input(i, 0);
    struct pim_shape shape = input->shape;
    struct resizing r = {.sized = false};
    read_lists(i, &shape, &r);
    keep_ratio(i, &shape, &r);
    cut_regions(i, &shape, &r);
    for (uint32_t d = 0; d < shape.rank && i->status == PIM_OK; d++) {
        double wanted = r.scale[d] * shape.dimension[d] + 1e-6; /* scales are floats */
        bool sane = wanted >= 1 && wanted <= (double)PIM_DIMENSION_LIMIT;
        bool kept = r.sized ? r.size[d] == 0 : !(r.scale[d] < 0 || r.scale[d] > 0);
        int64_t size = kept ? shape.dimension[d] : r.sized ? r.size[d] : sane ? (int64_t)wanted : 0;
        shape.dimension[d] = pim_onnx_size(i, "a dimension of the result", size, 1);
    }
    uint32_t layer = pim_onnx_layer_of(i, input);
    const union pim_attributes a = {.shape = shape};
    if (!pim_shape_equal(&shape, &input->shape))
        layer = pim_onnx_add(i, PIM_OPERATOR_EXPAND, "", &a, 1, &layer);
    pim_onnx_bind_layer(i, 0, layer);
}

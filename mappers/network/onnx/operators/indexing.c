/*
 * Elements at computed places: picked or interpolated (SAMPLE), written (SCATTER), or brought into an order
 * (SORT). Which ones is left open; what counts is how many there are. Where the data decides that, --dim
 * must say it.
 */
#include "mappers/network/onnx/operators/operators.h"
#include "onnx.pb-c.h"

#include <string.h>

/* Binds output `index` to a layer of `shape` that reads the first `count` inputs of the node. */
static void bind_given(struct pim_onnx_importer *i, size_t index, enum pim_operator operation,
                       const char *suffix, const struct pim_shape *shape, size_t count)
{
    const union pim_attributes a = {.shape = *shape};
    uint32_t layers[PIM_LAYER_INPUTS], used = 0;
    for (size_t n = 0; n < count && i->status == PIM_OK; n++) {
        struct pim_onnx_value *value = pim_onnx_optional_input(i, n);
        if (value)
            layers[used++] = pim_onnx_layer_of(i, value);
    }
    if (i->status == PIM_OK && used == 0)
        pim_onnx_fail(i, "input 0 is missing");
    pim_onnx_bind_layer(i, index, pim_onnx_add(i, operation, suffix, &a, used, layers));
}

/* A result of the shape of input `like`, from the first `count` inputs. */
static void bind_like(struct pim_onnx_importer *i, enum pim_operator operation, unsigned like, size_t count)
{
    const struct pim_shape shape = pim_onnx_input(i, like)->shape;
    bind_given(i, 0, operation, "", &shape, count);
}

void pim_onnx_convert_gather_elements(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    bind_like(i, PIM_OPERATOR_SAMPLE, 1, 2);
}

void pim_onnx_convert_reverse_sequence(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    bind_like(i, PIM_OPERATOR_SAMPLE, 0, 2);
}

void pim_onnx_convert_scatter(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    bind_like(i, PIM_OPERATOR_SCATTER, 0, 3);
}

/* The last dimension of the indices names places in that many dimensions of the data. */
void pim_onnx_convert_gather_nd(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    const struct pim_shape data = pim_onnx_input(i, 0)->shape, indices = pim_onnx_input(i, 1)->shape;
    int64_t batch = pim_onnx_integer(i, "batch_dims", 0);
    uint32_t last = indices.rank ? indices.dimension[indices.rank - 1] : 0;
    if (i->status == PIM_OK && (indices.rank == 0 || batch < 0 || batch >= (int64_t)indices.rank ||
                                (uint64_t)batch + last > data.rank))
        pim_onnx_fail(i, "its indices name places in %u dimensions behind %lld: the data has %u", last,
                      (long long)batch, data.rank);
    if (i->status != PIM_OK)
        return;
    struct pim_shape shape = {.rank = 0};
    for (uint32_t d = 0; d + 1 < indices.rank; d++)
        shape.dimension[shape.rank++] = indices.dimension[d];
    for (uint32_t d = (uint32_t)batch + last; d < data.rank; d++) {
        if (shape.rank == PIM_SHAPE_RANK) {
            pim_onnx_fail(i, "the result has more than %d dimensions", PIM_SHAPE_RANK);
            return;
        }
        shape.dimension[shape.rank++] = data.dimension[d];
    }
    bind_given(i, 0, PIM_OPERATOR_SAMPLE, "", &shape, 2);
}

/* The k largest along an axis, and their places. */
void pim_onnx_convert_top(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    struct pim_shape shape = pim_onnx_input(i, 0)->shape;
    int64_t k[1] = {pim_onnx_integer(i, "k", 0)};
    uint32_t axis = pim_onnx_axis(i, pim_onnx_integer(i, "axis", -1), shape.rank);
    if (!pim_onnx_has(i, "k") && pim_onnx_list(i, NULL, 1, k, 1, NULL) != 1)
        pim_onnx_fail(i, "how many it takes must be a constant");
    if (i->status == PIM_OK && k[0] > (int64_t)shape.dimension[axis])
        pim_onnx_fail(i, "it takes %lld of %u", (long long)k[0], shape.dimension[axis]);
    if (i->status != PIM_OK)
        return;
    shape.dimension[axis] = pim_onnx_size(i, "how many it takes", k[0], 1);
    if (pim_onnx_is_read(i, 0))
        bind_given(i, 0, PIM_OPERATOR_SORT, "", &shape, 1);
    if (pim_onnx_is_read(i, 1))
        bind_given(i, 1, PIM_OPERATOR_SORT, "places", &shape, 1);
}

/* A one among `depth` zeros for every index. */
void pim_onnx_convert_one_hot(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    const struct pim_shape indices = pim_onnx_input(i, 0)->shape;
    struct pim_shape shape = {.rank = indices.rank + 1};
    double depth = 0;
    if (i->status == PIM_OK && shape.rank > PIM_SHAPE_RANK)
        pim_onnx_fail(i, "the result has more than %d dimensions", PIM_SHAPE_RANK);
    if (i->status == PIM_OK && !pim_onnx_scalar(pim_onnx_input(i, 1), &depth))
        pim_onnx_fail(i, "its depth must be a constant");
    uint32_t axis = pim_onnx_axis(i, pim_onnx_integer(i, "axis", -1), shape.rank);
    if (i->status != PIM_OK)
        return;
    for (uint32_t d = 0; d < shape.rank; d++)
        shape.dimension[d] = indices.dimension[d < axis ? d : d ? d - 1 : 0];
    bool sane = depth >= 1 && depth <= (double)PIM_DIMENSION_LIMIT;
    shape.dimension[axis] = pim_onnx_size(i, "the depth", sane ? (int64_t)depth : 0, 1);
    bind_given(i, 0, PIM_OPERATOR_SCATTER, "", &shape, 1);
}

/* [batch, channels, map] at the places [batch, new map, coordinates]. */
void pim_onnx_convert_grid_sample(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    const struct pim_shape map = pim_onnx_input(i, 0)->shape, grid = pim_onnx_input(i, 1)->shape;
    if (i->status == PIM_OK && (map.rank < 3 || grid.rank != map.rank))
        pim_onnx_fail(i, "a map of %u dimensions and a grid of %u: equally many, at least 3, are needed",
                      map.rank, grid.rank);
    if (i->status != PIM_OK)
        return;
    struct pim_shape shape = {.rank = map.rank, .dimension = {map.dimension[0], map.dimension[1]}};
    for (uint32_t d = 2; d < map.rank; d++)
        shape.dimension[d] = grid.dimension[d - 1];
    bind_given(i, 0, PIM_OPERATOR_SAMPLE, "", &shape, 2);
}

/* A small map out of every region of a map: [regions, channels, height, width]. */
void pim_onnx_convert_regions(struct pim_onnx_importer *i, unsigned aligned)
{
    const struct pim_shape map = pim_onnx_input(i, 0)->shape, regions = pim_onnx_input(i, 1)->shape;
    int64_t pooled[2] = {pim_onnx_integer(i, "output_height", 1), pim_onnx_integer(i, "output_width", 1)};
    if (!aligned && pim_onnx_list(i, "pooled_shape", SIZE_MAX, pooled, 2, NULL) != 2)
        pim_onnx_fail(i, "pooled_shape needs a height and a width");
    if (i->status == PIM_OK && (map.rank != 4 || regions.rank != 2))
        pim_onnx_fail(i, "a map of %u dimensions and regions of %u: 4 and 2 are needed", map.rank,
                      regions.rank);
    if (i->status != PIM_OK)
        return;
    const struct pim_shape shape = {.rank = 4,
                                    .dimension = {regions.dimension[0], map.dimension[1],
                                                  pim_onnx_size(i, "the height", pooled[0], 1),
                                                  pim_onnx_size(i, "the width", pooled[1], 1)}};
    bind_given(i, 0, PIM_OPERATOR_SAMPLE, "", &shape, aligned ? 3 : 2);
}

void pim_onnx_convert_box_selection(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    const struct pim_shape shape = {.rank = 2, .dimension = {pim_onnx_data_size(i, 0, "boxes"), 3}};
    bind_given(i, 0, PIM_OPERATOR_SORT, "", &shape, 2);
}

void pim_onnx_convert_non_zero(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    uint32_t rank = pim_onnx_input(i, 0)->shape.rank;
    const struct pim_shape shape = {.rank = 2,
                                    .dimension = {rank ? rank : 1, pim_onnx_data_size(i, 0, "places")}};
    bind_given(i, 0, PIM_OPERATOR_SORT, "", &shape, 1);
}

void pim_onnx_convert_compress(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    struct pim_shape shape = pim_onnx_input(i, 0)->shape;
    uint32_t axis = pim_onnx_axis(i, pim_onnx_integer(i, "axis", 0), shape.rank);
    uint32_t count = pim_onnx_data_size(i, 0, "entries");
    if (pim_onnx_has(i, "axis"))
        shape.dimension[axis] = count;
    else
        shape = (struct pim_shape){.rank = 1, .dimension = {count}};
    bind_given(i, 0, PIM_OPERATOR_SAMPLE, "", &shape, 2);
}

/* The different ones, their first places, which of them each is, and how often each is there. */
void pim_onnx_convert_unique(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    struct pim_shape shape = pim_onnx_input(i, 0)->shape;
    uint32_t axis = pim_onnx_axis(i, pim_onnx_integer(i, "axis", 0), shape.rank),
             count = pim_onnx_data_size(i, 0, "entries");
    if (i->status != PIM_OK)
        return;
    bool along = pim_onnx_has(i, "axis");
    uint64_t all = along ? shape.dimension[axis] : pim_onnx_elements(&shape);
    const struct pim_shape list = {.rank = 1, .dimension = {count}},
                           each = {.rank = 1,
                                   .dimension = {pim_onnx_size(i, "its entries", (int64_t)all, 1)}};
    shape.dimension[axis] = count;
    if (pim_onnx_is_read(i, 0))
        bind_given(i, 0, PIM_OPERATOR_SORT, "", along ? &shape : &list, 1);
    for (size_t o = 1; o < 4; o++)
        if (pim_onnx_is_read(i, o))
            bind_given(i, o, PIM_OPERATOR_SORT, "places", o == 2 ? &each : &list, 1);
}

/* Columns added up into an image: [batch, channels * block, columns] -> [batch, channels, image]. */
void pim_onnx_convert_columns(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    const struct pim_shape from = pim_onnx_input(i, 0)->shape;
    int64_t image[PIM_SHAPE_RANK - 2], block[PIM_SHAPE_RANK - 2], elements = 1;
    uint32_t rank = pim_onnx_list(i, NULL, 1, image, PIM_SHAPE_RANK - 2, NULL);
    uint32_t count = pim_onnx_list(i, NULL, 2, block, PIM_SHAPE_RANK - 2, NULL);
    struct pim_shape shape = {.rank = 2 + rank, .dimension = {from.dimension[0]}};
    for (uint32_t d = 0; d < rank && d < count; d++) {
        shape.dimension[2 + d] = pim_onnx_size(i, "image_shape", image[d], 1);
        elements *= pim_onnx_size(i, "block_shape", block[d], 1);
        if (elements > (int64_t)PIM_DIMENSION_LIMIT)
            pim_onnx_fail(i, "its block has more than %u elements", PIM_DIMENSION_LIMIT);
    }
    if (i->status == PIM_OK &&
        (count != rank || rank == 0 || from.rank != 3 || from.dimension[1] % (uint32_t)elements != 0))
        pim_onnx_fail(i, "an input [batch, channels * block, columns] for the block is needed");
    if (i->status != PIM_OK)
        return;
    shape.dimension[1] = from.dimension[1] / (uint32_t)elements;
    bind_given(i, 0, PIM_OPERATOR_SCATTER, "", &shape, 1);
}

/* Cut or padded about the centre to given sizes. */
void pim_onnx_convert_center(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    struct pim_shape shape = pim_onnx_input(i, 0)->shape;
    int64_t sizes[PIM_SHAPE_RANK], axes[PIM_SHAPE_RANK];
    bool some;
    uint32_t count = pim_onnx_list(i, NULL, 1, sizes, PIM_SHAPE_RANK, NULL),
             named = pim_onnx_list(i, "axes", SIZE_MAX, axes, PIM_SHAPE_RANK, &some);
    if (i->status == PIM_OK && count != (some ? named : shape.rank))
        pim_onnx_fail(i, "it has %u sizes: %u are needed", count, some ? named : shape.rank);
    for (uint32_t n = 0; n < count && i->status == PIM_OK; n++) {
        uint32_t d = pim_onnx_axis(i, some ? axes[n] : (int64_t)n, shape.rank);
        shape.dimension[d] = pim_onnx_size(i, "a size", sizes[n], 1);
    }
    if (i->status == PIM_OK)
        bind_given(i, 0, PIM_OPERATOR_SAMPLE, "", &shape, 1);
}

/* Places of a grid under matrices [batch, 2, 3] (or [batch, 3, 4]): products with the plain grid's places. */
void pim_onnx_convert_affine_grid(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    static const union pim_attributes transposed = {.matrix = {.transpose_second = true}};
    const struct pim_shape theta = pim_onnx_input(i, 0)->shape;
    int64_t size[5];
    uint32_t count = pim_onnx_list(i, NULL, 1, size, 5, NULL), map = count > 2 ? count - 2 : 0;
    uint64_t places = 1;
    struct pim_shape shape = {.rank = count, .dimension = {theta.dimension[0]}};
    if (i->status == PIM_OK &&
        (map < 2 || theta.rank != 3 || theta.dimension[1] != map || theta.dimension[2] != map + 1))
        pim_onnx_fail(i, "matrices [batch, 2, 3] and a size of 4, or [batch, 3, 4] and one of 5, are needed");
    for (uint32_t d = 0; d < map && i->status == PIM_OK; d++) {
        shape.dimension[1 + d] = pim_onnx_size(i, "the size", size[2 + d], 1);
        places *= shape.dimension[1 + d];
        places = places > PIM_ELEMENT_LIMIT ? PIM_ELEMENT_LIMIT : places;
    }
    if (i->status != PIM_OK)
        return;
    shape.dimension[count - 1] = map;
    const union pim_attributes grid = {
        .shape = {.rank = 2, .dimension = {pim_onnx_size(i, "its places", (int64_t)places, 1), map + 1}}};
    const uint32_t inputs[2] = {pim_onnx_add(i, PIM_OPERATOR_CONSTANT, "grid", &grid, 0, NULL),
                                pim_onnx_layer_of(i, pim_onnx_input(i, 0))};
    uint32_t layer = pim_onnx_add(i, PIM_OPERATOR_MATRIX_MULTIPLICATION, "", &transposed, 2, inputs);
    pim_onnx_bind_layer(i, 0, pim_onnx_reshape(i, "map", layer, &shape));
}

/* Noise comes from outside: an input of the network. `like`: of the shape of a tensor. */
void pim_onnx_convert_noise(struct pim_onnx_importer *i, unsigned like)
{
    int64_t list[PIM_SHAPE_RANK];
    union pim_attributes a = {.shape = {.rank = 0}};
    if (like) {
        a.shape = pim_onnx_input(i, 0)->shape;
    } else {
        a.shape.rank = pim_onnx_list(i, "shape", SIZE_MAX, list, PIM_SHAPE_RANK, NULL);
        for (uint32_t d = 0; d < a.shape.rank; d++)
            a.shape.dimension[d] = pim_onnx_size(i, "a dimension", list[d], 1);
    }
    pim_onnx_bind_layer(i, 0, pim_onnx_add(i, PIM_OPERATOR_INPUT, "", &a, 0, NULL));
}

void pim_onnx_convert_draw(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    struct pim_shape shape = pim_onnx_input(i, 0)->shape;
    if (i->status == PIM_OK && shape.rank != 2)
        pim_onnx_fail(i, "its input has %u dimensions: [batch, classes] is needed", shape.rank);
    shape.dimension[1] = pim_onnx_size(i, "sample_size", pim_onnx_integer(i, "sample_size", 1), 1);
    bind_given(i, 0, PIM_OPERATOR_SAMPLE, "", &shape, 1);
}

/* The determinant of every matrix. */
void pim_onnx_convert_determinant(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    uint32_t layer = pim_onnx_layer_of(i, pim_onnx_input(i, 0)), rank = pim_onnx_shape_of(i, layer).rank;
    if (i->status == PIM_OK && rank < 2)
        pim_onnx_fail(i, "its input is no matrix");
    if (i->status != PIM_OK)
        return;
    const union pim_attributes a = {.reduction = {.axes = 3u << (rank - 2), .kind = PIM_REDUCTION_OTHER}};
    pim_onnx_bind_layer(i, 0, pim_onnx_add(i, PIM_OPERATOR_REDUCTION, "", &a, 1, &layer));
}

/*
 * Single layers of the transformer families, with names and padding.
 */
#include "mappers/network/builder.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

uint32_t pim_build(struct pim_builder *b, enum pim_operator operation, enum pim_role role, const char *name,
                   const union pim_attributes *attributes, uint64_t padding_macs, uint32_t inputs,
                   const uint32_t *input)
{
    static const union pim_attributes none;
    char full[96];
    if (b->status != PIM_OK)
        return 0;
    if (b->block != PIM_NONE) {
        uint32_t first = b->transformer->stage[b->stage].first_block;
        (void)snprintf(full, sizeof full, "stage%" PRIu32 ".block%" PRIu32 ".%s", b->stage + 1,
                       b->block - first + 1, name);
    } else if (b->stage != PIM_NONE) {
        (void)snprintf(full, sizeof full, "stage%" PRIu32 ".%s", b->stage + 1, name);
    } else {
        (void)snprintf(full, sizeof full, "%s", name);
    }
    struct pim_layer_description description = {
        .name = full,
        .operation = operation,
        .role = role,
        .stage = b->stage,
        .block = b->block,
        .inputs = inputs,
        .input = input,
        .attributes = attributes ? *attributes : none,
        .padding_macs = padding_macs,
    };
    uint32_t index = 0;
    b->status = pim_graph_add(b->graph, &description, &index, b->error);
    return index;
}

struct pim_shape pim_build_shape(const struct pim_builder *b, uint32_t layer)
{
    return b->status == PIM_OK ? b->graph->layers[layer].output : (struct pim_shape){0};
}

static uint32_t channels_of(const struct pim_builder *b, uint32_t layer)
{
    struct pim_shape shape = pim_build_shape(b, layer);
    return shape.rank ? shape.dimension[shape.rank - 1] : 0;
}

uint32_t pim_build_linear(struct pim_builder *b, enum pim_role role, const char *name, uint32_t input,
                          uint32_t outputs, bool bias, uint64_t padding_rows)
{
    const union pim_attributes attributes = {.linear = {.outputs = outputs, .bias = bias}};
    return pim_build(b, PIM_OPERATOR_LINEAR, role, name, &attributes,
                     padding_rows * channels_of(b, input) * outputs, 1, &input);
}

uint32_t pim_build_linear_shared(struct pim_builder *b, enum pim_role role, const char *name, uint32_t input,
                                 uint32_t outputs, uint32_t weights_of)
{
    const union pim_attributes attributes = {
        .linear = {.outputs = outputs, .bias = true, .shared = true, .weights_of = weights_of}};
    return pim_build(b, PIM_OPERATOR_LINEAR, role, name, &attributes, 0, 1, &input);
}

uint32_t pim_build_norm(struct pim_builder *b, enum pim_role role, const char *name, uint32_t input)
{
    const union pim_attributes attributes = {
        .normalization = {.kind = PIM_NORMALIZATION_LAYER, .affine = true}};
    return pim_build(b, PIM_OPERATOR_NORMALIZATION, role, name, &attributes, 0, 1, &input);
}

uint32_t pim_build_add(struct pim_builder *b, enum pim_role role, const char *name, uint32_t first,
                       uint32_t second)
{
    const union pim_attributes attributes = {.elementwise = PIM_ELEMENTWISE_ADD};
    const uint32_t input[2] = {first, second};
    return pim_build(b, PIM_OPERATOR_ELEMENTWISE, role, name, &attributes, 0, 2, input);
}

uint32_t pim_build_concat(struct pim_builder *b, enum pim_role role, const char *name, uint32_t axis,
                          uint32_t first, uint32_t second)
{
    const union pim_attributes attributes = {.concat = {.axis = axis}};
    const uint32_t input[2] = {first, second};
    return pim_build(b, PIM_OPERATOR_CONCAT, role, name, &attributes, 0, 2, input);
}

uint32_t pim_build_slice(struct pim_builder *b, enum pim_role role, const char *name, uint32_t input,
                         uint32_t axis, uint32_t begin, uint32_t count)
{
    const union pim_attributes attributes = {.slice = {.axis = axis, .begin = begin, .count = count}};
    return pim_build(b, PIM_OPERATOR_SLICE, role, name, &attributes, 0, 1, &input);
}

uint32_t pim_build_reshape(struct pim_builder *b, enum pim_role role, const char *name, uint32_t input,
                           const struct pim_shape *shape)
{
    const union pim_attributes attributes = {.shape = *shape};
    return pim_build(b, PIM_OPERATOR_RESHAPE, role, name, &attributes, 0, 1, &input);
}

uint32_t pim_build_transpose(struct pim_builder *b, enum pim_role role, const char *name, uint32_t input,
                             uint32_t rank, const uint32_t *order)
{
    union pim_attributes attributes = {.transpose = {.order = {0}}};
    memcpy(attributes.transpose.order, order, rank * sizeof *order);
    return pim_build(b, PIM_OPERATOR_TRANSPOSE, role, name, &attributes, 0, 1, &input);
}

uint32_t pim_build_parameter(struct pim_builder *b, enum pim_role role, const char *name, uint32_t tokens,
                             uint32_t channels)
{
    const union pim_attributes attributes = {.shape = {.rank = 3, .dimension = {1, tokens, channels}}};
    return pim_build(b, PIM_OPERATOR_PARAMETER, role, name, &attributes, 0, 0, NULL);
}

uint32_t pim_build_convolution(struct pim_builder *b, enum pim_role role, const char *name, uint32_t input,
                               uint32_t outputs, uint32_t groups, uint32_t kernel, uint32_t stride,
                               uint32_t pad, uint64_t padding_macs)
{
    const union pim_attributes attributes = {.convolution = {.sliding = {.kernel = {kernel, kernel},
                                                                         .stride = {stride, stride},
                                                                         .dilation = {1, 1},
                                                                         .pad_before = {pad, pad},
                                                                         .pad_after = {pad, pad}},
                                                             .outputs = outputs,
                                                             .groups = groups,
                                                             .bias = true}};
    return pim_build(b, PIM_OPERATOR_CONVOLUTION, role, name, &attributes, padding_macs, 1, &input);
}

uint32_t pim_build_to_tokens(struct pim_builder *b, enum pim_role role, const char *name, uint32_t input)
{
    static const uint32_t order[4] = {0, 2, 3, 1};
    return pim_build_transpose(b, role, name, input, 4, order);
}

uint32_t pim_build_to_map(struct pim_builder *b, enum pim_role role, const char *name, uint32_t input)
{
    static const uint32_t order[4] = {0, 3, 1, 2};
    return pim_build_transpose(b, role, name, input, 4, order);
}

uint32_t pim_build_flatten(struct pim_builder *b, enum pim_role role, const char *name, uint32_t input)
{
    struct pim_shape map = pim_build_shape(b, input);
    uint64_t tokens = (uint64_t)map.dimension[1] * map.dimension[2];
    struct pim_shape flat = {.rank = 3, .dimension = {1, 0, map.dimension[3]}};
    flat.dimension[1] = tokens > PIM_DIMENSION_LIMIT ? UINT32_MAX : (uint32_t)tokens;
    return pim_build_reshape(b, role, name, input, &flat);
}

struct pim_windows pim_windows_make(uint32_t map_height, uint32_t map_width, uint32_t height, uint32_t width,
                                    uint32_t shift, bool centred)
{
    struct pim_windows w = {.map = {map_height, map_width}, .window = {height, width}, .shift = shift};
    for (int axis = 0; axis < 2; axis++) {
        if (w.window[axis] == 0) /* after an error: the builder does nothing any more */
            w.window[axis] = 1;
        w.padded[axis] = (w.map[axis] + w.window[axis] - 1) / w.window[axis] * w.window[axis];
        w.pad_before[axis] = centred ? (w.padded[axis] - w.map[axis]) / 2 : 0;
    }
    return w;
}

uint64_t pim_windows_padding(const struct pim_windows *w)
{
    return (uint64_t)w->padded[0] * w->padded[1] - (uint64_t)w->map[0] * w->map[1];
}

/* Along one axis: sum over the windows of (real positions) * (real positions of the region widened by
 * `expand`). */
static uint64_t real_pairs_along(const struct pim_windows *w, int axis, uint32_t expand)
{
    uint64_t sum = 0, padded = w->padded[axis];
    for (uint64_t start = 0; start < padded; start += w->window[axis]) {
        uint64_t queries = 0, keys = 0;
        for (uint64_t i = 0; i < (uint64_t)w->window[axis] + 2 * expand; i++) {
            /* Position in the padded map before the roll; one `padded` more keeps the sum above zero. */
            uint64_t position = (start + i + padded - expand % padded + w->shift) % padded;
            if (position < w->pad_before[axis] || position >= (uint64_t)w->pad_before[axis] + w->map[axis])
                continue;
            keys++;
            if (i >= expand && i < (uint64_t)expand + w->window[axis])
                queries++;
        }
        sum += queries * keys;
    }
    return sum;
}

uint64_t pim_windows_real_pairs(const struct pim_windows *w, uint32_t expand)
{
    return real_pairs_along(w, 0, expand) * real_pairs_along(w, 1, expand);
}

uint32_t pim_build_pad(struct pim_builder *b, const struct pim_windows *w, const char *name, uint32_t input)
{
    if (pim_windows_padding(w) == 0)
        return input;
    union pim_attributes attributes = {.pad = {.before = {0, w->pad_before[0], w->pad_before[1], 0}}};
    for (uint32_t axis = 0; axis < 2; axis++)
        attributes.pad.after[axis + 1] = w->padded[axis] - w->map[axis] - w->pad_before[axis];
    return pim_build(b, PIM_OPERATOR_PAD, PIM_ROLE_WINDOW, name, &attributes, 0, 1, &input);
}

uint32_t pim_build_split(struct pim_builder *b, const struct pim_windows *w, const char *name, uint32_t input)
{
    const union pim_attributes attributes = {.window = {.height = w->window[0],
                                                        .width = w->window[1],
                                                        .map_height = w->padded[0],
                                                        .map_width = w->padded[1]}};
    return pim_build(b, PIM_OPERATOR_WINDOW_PARTITION, PIM_ROLE_WINDOW, name, &attributes, 0, 1, &input);
}

/* Rolls a token map by `shift` rows and columns. */
static uint32_t build_shift(struct pim_builder *b, const char *name, uint32_t input, int32_t shift)
{
    const union pim_attributes attributes = {.shift = {.rows = shift, .columns = shift}};
    return pim_build(b, PIM_OPERATOR_SHIFT, PIM_ROLE_WINDOW, name, &attributes, 0, 1, &input);
}

uint32_t pim_build_partition(struct pim_builder *b, const struct pim_windows *w, const char *name,
                             uint32_t input)
{
    char text[48];
    (void)snprintf(text, sizeof text, "%s.pad", name);
    uint32_t map = pim_build_pad(b, w, text, input);
    (void)snprintf(text, sizeof text, "%s.shift", name);
    if (w->shift)
        map = build_shift(b, text, map, -(int32_t)w->shift);
    (void)snprintf(text, sizeof text, "%s.partition", name);
    return pim_build_split(b, w, text, map);
}

uint32_t pim_build_reverse(struct pim_builder *b, const struct pim_windows *w, const char *name,
                           uint32_t input)
{
    const union pim_attributes attributes = {.window = {.height = w->window[0],
                                                        .width = w->window[1],
                                                        .map_height = w->padded[0],
                                                        .map_width = w->padded[1]}};
    static const char *const crops[2] = {"crop_height", "crop_width"};
    char text[48];
    (void)snprintf(text, sizeof text, "%s.reverse", name);
    uint32_t map =
        pim_build(b, PIM_OPERATOR_WINDOW_REVERSE, PIM_ROLE_WINDOW, text, &attributes, 0, 1, &input);
    (void)snprintf(text, sizeof text, "%s.unshift", name);
    if (w->shift)
        map = build_shift(b, text, map, (int32_t)w->shift);
    for (uint32_t axis = 0; axis < 2; axis++) {
        (void)snprintf(text, sizeof text, "%s.%s", name, crops[axis]);
        if (w->padded[axis] != w->map[axis])
            map = pim_build_slice(b, PIM_ROLE_WINDOW, text, map, axis + 1, w->pad_before[axis], w->map[axis]);
    }
    return map;
}

/* Networks of depthwise and grouped convolutions: MobileNetV2, EfficientNet-B0, ShuffleNet v1. */
#include "mappers/network/descriptor/convolutional.h"
#include "mappers/network/descriptor/convolutional_parts.h"

#include <inttypes.h>
#include <stdio.h>

/* A stage of blocks that expand the channels of a map, filter each channel, and project them again. */
struct stage {
    uint32_t expansion, channels, blocks, stride, kernel;
};

struct form {
    enum pim_activation activation;
    bool squeezed; /* channels are weighed by a small network of their means (squeeze and excitation) */
};

static uint32_t channels_of(const struct pim_builder *b, uint32_t layer)
{
    return pim_build_shape(b, layer).dimension[1];
}

static uint32_t convolve(struct pim_builder *b, const char *name, const char *part, uint32_t input,
                         uint32_t outputs, uint32_t groups, uint32_t kernel, uint32_t stride)
{
    char text[PIM_NETWORK_NAME + 16];
    (void)snprintf(text, sizeof text, "%s.%s", name, part);
    return pim_build_convolution(b, PIM_ROLE_OTHER, text, input, outputs, groups, kernel, stride, kernel / 2,
                                 0);
}

static uint32_t activate(struct pim_builder *b, const char *name, const char *part, enum pim_activation kind,
                         uint32_t input)
{
    char text[PIM_NETWORK_NAME + 16];
    (void)snprintf(text, sizeof text, "%s.%s", name, part);
    return pim_network_activate(b, text, kind, input);
}

/* Hu et al., 2018: the mean of each channel, two small layers, their result as a factor of the channel. */
static uint32_t squeeze(struct pim_builder *b, const char *name, uint32_t input, uint32_t narrow)
{
    char text[PIM_NETWORK_NAME + 16];
    (void)snprintf(text, sizeof text, "%s.mean", name);
    uint32_t x = pim_network_average_all(b, text, input);
    x = activate(b, name, "squeeze", PIM_ACTIVATION_SILU, convolve(b, name, "squeeze", x, narrow, 1, 1, 1));
    x = convolve(b, name, "excite", x, channels_of(b, input), 1, 1, 1);
    x = activate(b, name, "excite", PIM_ACTIVATION_SIGMOID, x);
    (void)snprintf(text, sizeof text, "%s.weigh", name);
    const union pim_attributes attributes = {.elementwise = PIM_ELEMENTWISE_MULTIPLY};
    const uint32_t both[2] = {input, x};
    return pim_build(b, PIM_OPERATOR_ELEMENTWISE, PIM_ROLE_OTHER, text, &attributes, 0, 2, both);
}

static uint32_t inverted(struct pim_builder *b, const char *name, uint32_t input, const struct stage *s,
                         uint32_t stride, const struct form *form)
{
    char text[PIM_NETWORK_NAME + 16];
    uint32_t x = input, channels = channels_of(b, input), wide = channels * s->expansion;
    if (s->expansion > 1)
        x = activate(b, name, "expand", form->activation, convolve(b, name, "expand", x, wide, 1, 1, 1));
    x = convolve(b, name, "depthwise", x, wide, wide, s->kernel, stride);
    x = activate(b, name, "depthwise", form->activation, x);
    if (form->squeezed)
        x = squeeze(b, name, x, channels / 4 > 0 ? channels / 4 : 1);
    x = convolve(b, name, "project", x, s->channels, 1, 1, 1);
    if (stride != 1 || channels != s->channels)
        return x;
    (void)snprintf(text, sizeof text, "%s.add", name);
    return pim_build_add(b, PIM_ROLE_OTHER, text, x, input);
}

static void build_inverted(struct pim_builder *b, const struct pim_convolutional_specification *s,
                           const struct stage *stage, uint32_t stages, const struct form *form)
{
    char name[PIM_NETWORK_NAME];
    uint32_t x = pim_network_image(b, s);
    x = pim_build_convolution(b, PIM_ROLE_OTHER, "conv1", x, 32, 1, 3, 2, 1, 0);
    x = pim_network_activate(b, "conv1", form->activation, x);
    for (uint32_t i = 0; i < stages; i++)
        for (uint32_t n = 0; n < stage[i].blocks; n++) {
            (void)snprintf(name, sizeof name, "stage%" PRIu32 ".block%" PRIu32, i + 1, n + 1);
            x = inverted(b, name, x, &stage[i], n == 0 ? stage[i].stride : 1, form);
        }
    x = pim_build_convolution(b, PIM_ROLE_OTHER, "head", x, 1280, 1, 1, 1, 0, 0);
    x = pim_network_activate(b, "head", form->activation, x);
    pim_network_classify(b, s, pim_network_average_all(b, "pool", x));
}

/* Sandler et al., 2018, Table 2. */
void pim_build_mobilenet(struct pim_builder *b, const struct pim_convolutional_specification *s)
{
    static const struct stage stages[] = {{1, 16, 1, 1, 3}, {6, 24, 2, 2, 3}, {6, 32, 3, 2, 3},
                                          {6, 64, 4, 2, 3}, {6, 96, 3, 1, 3}, {6, 160, 3, 2, 3},
                                          {6, 320, 1, 1, 3}};
    static const struct form form = {PIM_ACTIVATION_CLIP, false};
    build_inverted(b, s, stages, sizeof stages / sizeof *stages, &form);
}

/* Tan and Le, 2019, Table 1. */
void pim_build_efficientnet(struct pim_builder *b, const struct pim_convolutional_specification *s)
{
    static const struct stage stages[] = {{1, 16, 1, 1, 3}, {6, 24, 2, 2, 3},  {6, 40, 2, 2, 5},
                                          {6, 80, 3, 2, 3}, {6, 112, 3, 1, 5}, {6, 192, 4, 2, 5},
                                          {6, 320, 1, 1, 3}};
    static const struct form form = {PIM_ACTIVATION_SILU, true};
    build_inverted(b, s, stages, sizeof stages / sizeof *stages, &form);
}

/* Channel c of group g becomes channel g of group c. */
static uint32_t shuffle(struct pim_builder *b, const char *name, uint32_t input, uint32_t groups)
{
    static const uint32_t order[] = {0, 2, 1, 3, 4};
    char text[PIM_NETWORK_NAME + 16];
    const struct pim_shape map = pim_build_shape(b, input);
    const uint32_t *d = map.dimension;
    const struct pim_shape cut = {.rank = 5, .dimension = {1, groups, d[1] / groups, d[2], d[3]}};
    (void)snprintf(text, sizeof text, "%s.cut", name);
    uint32_t x = pim_build_reshape(b, PIM_ROLE_OTHER, text, input, &cut);
    (void)snprintf(text, sizeof text, "%s.shuffle", name);
    x = pim_build_transpose(b, PIM_ROLE_OTHER, text, x, 5, order);
    (void)snprintf(text, sizeof text, "%s.join", name);
    return pim_build_reshape(b, PIM_ROLE_OTHER, text, x, &map);
}

/* `outputs` channels; with stride 2 those of the input, averaged, are the first of them. */
static uint32_t shuffled(struct pim_builder *b, const char *name, uint32_t input, uint32_t outputs,
                         uint32_t stride, uint32_t first_groups, uint32_t groups)
{
    char text[PIM_NETWORK_NAME + 16];
    uint32_t narrow = outputs / 4, made = stride == 2 ? outputs - channels_of(b, input) : outputs;
    uint32_t x = convolve(b, name, "reduce", input, narrow, first_groups, 1, 1);
    x = activate(b, name, "reduce", PIM_ACTIVATION_RELU, x);
    x = shuffle(b, name, x, groups);
    x = convolve(b, name, "depthwise", x, narrow, narrow, 3, stride);
    x = convolve(b, name, "expand", x, made, groups, 1, 1);
    (void)snprintf(text, sizeof text, "%s.%s", name, stride == 2 ? "concat" : "add");
    if (stride == 2) {
        char pool[PIM_NETWORK_NAME + 16];
        (void)snprintf(pool, sizeof pool, "%s.pool", name);
        const struct pim_sliding sliding = {.kernel = {3, 3},
                                            .stride = {2, 2},
                                            .dilation = {1, 1},
                                            .pad_before = {1, 1},
                                            .pad_after = {1, 1}};
        uint32_t shortcut = pim_network_pool(b, pool, PIM_POOLING_AVERAGE, input, sliding);
        x = pim_build_concat(b, PIM_ROLE_OTHER, text, 1, shortcut, x);
    } else {
        x = pim_build_add(b, PIM_ROLE_OTHER, text, x, input);
    }
    return pim_network_activate(b, name, PIM_ACTIVATION_RELU, x);
}

/* Zhang et al., 2018, Table 1 with 3 groups; the first layer of the first block has one group. */
void pim_build_shufflenet(struct pim_builder *b, const struct pim_convolutional_specification *s)
{
    enum { GROUPS = 3 };
    static const uint32_t channels[] = {240, 480, 960}, blocks[] = {4, 8, 4};
    char name[PIM_NETWORK_NAME];
    const struct pim_sliding halve = {
        .kernel = {3, 3}, .stride = {2, 2}, .dilation = {1, 1}, .pad_before = {1, 1}, .pad_after = {1, 1}};
    uint32_t x = pim_network_image(b, s);
    x = pim_build_convolution(b, PIM_ROLE_OTHER, "conv1", x, 24, 1, 3, 2, 1, 0);
    x = pim_network_activate(b, "conv1", PIM_ACTIVATION_RELU, x);
    x = pim_network_pool(b, "pool1", PIM_POOLING_MAXIMUM, x, halve);
    for (uint32_t i = 0; i < sizeof channels / sizeof *channels; i++)
        for (uint32_t n = 0; n < blocks[i]; n++) {
            (void)snprintf(name, sizeof name, "stage%" PRIu32 ".block%" PRIu32, i + 2, n + 1);
            x = shuffled(b, name, x, channels[i], n == 0 ? 2 : 1, i == 0 && n == 0 ? 1 : GROUPS, GROUPS);
        }
    pim_network_classify(b, s, pim_network_average_all(b, "pool", x));
}

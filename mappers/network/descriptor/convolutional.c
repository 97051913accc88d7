/* The families of convolutional networks, each as the list of its layers. */
#include "mappers/network/descriptor/convolutional_parts.h"
#include "sim/names.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum { NAME = 64 };

/* A sliding window of `kernel` squared. */
static struct pim_sliding window(uint32_t kernel, uint32_t stride, uint32_t pad, bool ceil_mode)
{
    return (struct pim_sliding){.kernel = {kernel, kernel},
                                .stride = {stride, stride},
                                .dilation = {1, 1},
                                .pad_before = {pad, pad},
                                .pad_after = {pad, pad},
                                .ceil_mode = ceil_mode};
}

uint32_t pim_network_activate(struct pim_builder *b, const char *name, enum pim_activation kind,
                              uint32_t input)
{
    char text[NAME + 48];
    const union pim_attributes a = {.activation = kind};
    (void)snprintf(text, sizeof text, "%s.%s", name, pim_activation_name(kind));
    return pim_build(b, PIM_OPERATOR_ACTIVATION, PIM_ROLE_OTHER, text, &a, 0, 1, &input);
}

static uint32_t convolve(struct pim_builder *b, const char *name, uint32_t input, uint32_t outputs,
                         uint32_t kernel, uint32_t stride, uint32_t pad)
{
    return pim_build_convolution(b, PIM_ROLE_OTHER, name, input, outputs, 1, kernel, stride, pad, 0);
}

/* A convolution and its activation. */
static uint32_t convolve_relu(struct pim_builder *b, const char *name, uint32_t input, uint32_t outputs,
                              uint32_t kernel, uint32_t stride, uint32_t pad)
{
    return pim_network_activate(b, name, PIM_ACTIVATION_RELU,
                                convolve(b, name, input, outputs, kernel, stride, pad));
}

uint32_t pim_network_pool(struct pim_builder *b, const char *name, enum pim_pooling kind, uint32_t input,
                          struct pim_sliding sliding)
{
    const union pim_attributes a = {.pooling = {.sliding = sliding, .kind = kind}};
    return pim_build(b, PIM_OPERATOR_POOLING, PIM_ROLE_OTHER, name, &a, 0, 1, &input);
}

uint32_t pim_network_average_all(struct pim_builder *b, const char *name, uint32_t input)
{
    const union pim_attributes a = {.pooling = {.kind = PIM_POOLING_AVERAGE, .global = true}};
    return pim_build(b, PIM_OPERATOR_POOLING, PIM_ROLE_OTHER, name, &a, 0, 1, &input);
}

static uint32_t normalize_locally(struct pim_builder *b, const char *name, uint32_t input)
{
    const union pim_attributes a = {.normalization = {.kind = PIM_NORMALIZATION_LOCAL_RESPONSE}};
    return pim_build(b, PIM_OPERATOR_NORMALIZATION, PIM_ROLE_OTHER, name, &a, 0, 1, &input);
}

/* [1, C, H, W] -> [1, C H W] */
static uint32_t flatten(struct pim_builder *b, uint32_t input)
{
    struct pim_shape map = pim_build_shape(b, input);
    uint64_t elements = b->status == PIM_OK ? pim_shape_elements(&map) : 1;
    const struct pim_shape flat = {
        .rank = 2, .dimension = {1, elements > PIM_DIMENSION_LIMIT ? UINT32_MAX : (uint32_t)elements}};
    return pim_build_reshape(b, PIM_ROLE_OTHER, "flatten", input, &flat);
}

void pim_network_classify(struct pim_builder *b, const struct pim_convolutional_specification *s,
                          uint32_t input)
{
    char name[NAME];
    uint32_t x = flatten(b, input), n;
    for (n = 0; n < s->hidden_layers; n++) {
        (void)snprintf(name, sizeof name, "fc%" PRIu32, n + 1);
        x = pim_network_activate(b, name, PIM_ACTIVATION_RELU,
                                 pim_build_linear(b, PIM_ROLE_OTHER, name, x, s->hidden[n], true, 0));
    }
    (void)snprintf(name, sizeof name, "fc%" PRIu32, n + 1);
    if (s->classes)
        (void)pim_build_linear(b, PIM_ROLE_HEAD, name, x, s->classes, true, 0);
}

uint32_t pim_network_image(struct pim_builder *b, const struct pim_convolutional_specification *s)
{
    const union pim_attributes a = {
        .shape = {.rank = 4, .dimension = {1, s->input_channels, s->image, s->image}}};
    return pim_build(b, PIM_OPERATOR_INPUT, PIM_ROLE_OTHER, "image", &a, 0, 0, NULL);
}

/* Simonyan and Zisserman, 2014: 3x3 convolutions, each stage halved by a maximum. */
static void build_vgg(struct pim_builder *b, const struct pim_convolutional_specification *s)
{
    char name[NAME];
    uint32_t x = pim_network_image(b, s);
    for (uint32_t stage = 0; stage < s->stages; stage++) {
        for (uint32_t n = 0; n < s->blocks[stage]; n++) {
            (void)snprintf(name, sizeof name, "conv%" PRIu32 "_%" PRIu32, stage + 1, n + 1);
            x = convolve_relu(b, name, x, s->channels[stage], 3, 1, 1);
        }
        (void)snprintf(name, sizeof name, "pool%" PRIu32, stage + 1);
        x = pim_network_pool(b, name, PIM_POOLING_MAXIMUM, x, window(2, 2, 0, false));
    }
    pim_network_classify(b, s, x);
}

/* One residual block; its name is `name`, and its first convolution of 3x3 has the stride. */
static uint32_t residual(struct pim_builder *b, const char *name, uint32_t input, uint32_t channels,
                         uint32_t stride, bool bottleneck)
{
    char part[NAME + 24];
    uint32_t outputs = bottleneck ? 4 * channels : channels, x = input, shortcut = input;
#define PART(suffix) ((void)snprintf(part, sizeof part, "%s.%s", name, suffix), part)
    if (bottleneck)
        x = convolve_relu(b, PART("reduce"), x, channels, 1, 1, 0);
    x = convolve_relu(b, PART("conv"), x, channels, 3, stride, 1);
    if (bottleneck)
        x = convolve(b, PART("expand"), x, outputs, 1, 1, 0);
    else
        x = convolve(b, PART("conv2"), x, outputs, 3, 1, 1);
    if (stride != 1 || pim_build_shape(b, input).dimension[1] != outputs)
        shortcut = convolve(b, PART("shortcut"), input, outputs, 1, stride, 0);
    x = pim_build_add(b, PIM_ROLE_OTHER, PART("add"), x, shortcut);
#undef PART
    return pim_network_activate(b, name, PIM_ACTIVATION_RELU, x);
}

/* He et al., 2015; the stride of a bottleneck is in its 3x3 convolution, as in all later implementations. */
static void build_resnet(struct pim_builder *b, const struct pim_convolutional_specification *s)
{
    char name[NAME];
    uint32_t x = convolve_relu(b, "conv1", pim_network_image(b, s), 64, 7, 2, 3);
    x = pim_network_pool(b, "pool1", PIM_POOLING_MAXIMUM, x, window(3, 2, 1, false));
    for (uint32_t stage = 0; stage < s->stages; stage++) {
        for (uint32_t n = 0; n < s->blocks[stage]; n++) {
            (void)snprintf(name, sizeof name, "stage%" PRIu32 ".block%" PRIu32, stage + 1, n + 1);
            x = residual(b, name, x, s->channels[stage], n == 0 && stage > 0 ? 2 : 1, s->bottleneck);
        }
    }
    pim_network_classify(b, s, pim_network_average_all(b, "pool", x));
}

/* Redmon and Farhadi, 2018: every stage begins with a 3x3 convolution of stride 2; blocks of 1x1 and 3x3. */
static void build_darknet(struct pim_builder *b, const struct pim_convolutional_specification *s)
{
    char name[NAME];
    uint32_t x = pim_network_activate(b, "conv1", PIM_ACTIVATION_LEAKY_RELU,
                                      convolve(b, "conv1", pim_network_image(b, s), 32, 3, 1, 1));
    for (uint32_t stage = 0; stage < s->stages; stage++) {
        uint32_t channels = s->channels[stage];
        (void)snprintf(name, sizeof name, "stage%" PRIu32 ".down", stage + 1);
        x = pim_network_activate(b, name, PIM_ACTIVATION_LEAKY_RELU, convolve(b, name, x, channels, 3, 2, 1));
        for (uint32_t n = 0; n < s->blocks[stage]; n++) {
            (void)snprintf(name, sizeof name, "stage%" PRIu32 ".block%" PRIu32 ".reduce", stage + 1, n + 1);
            uint32_t y = convolve(b, name, x, channels > 1 ? channels / 2 : 1, 1, 1, 0);
            y = pim_network_activate(b, name, PIM_ACTIVATION_LEAKY_RELU, y);
            (void)snprintf(name, sizeof name, "stage%" PRIu32 ".block%" PRIu32 ".conv", stage + 1, n + 1);
            y = pim_network_activate(b, name, PIM_ACTIVATION_LEAKY_RELU,
                                     convolve(b, name, y, channels, 3, 1, 1));
            (void)snprintf(name, sizeof name, "stage%" PRIu32 ".block%" PRIu32 ".add", stage + 1, n + 1);
            x = pim_build_add(b, PIM_ROLE_OTHER, name, x, y);
        }
    }
    pim_network_classify(b, s, pim_network_average_all(b, "pool", x));
}

/* A convolution of a chain, and what follows it: NULL for nothing. */
struct link {
    const char *name, *pool, *norm;
    uint32_t outputs, kernel, stride, pad;
    bool grouped, pooled_first; /* before it is normalized; then with the last, broken window */
};

/* Five convolutions in a chain, then the classifier. */
static void build_chain(struct pim_builder *b, const struct pim_convolutional_specification *s,
                        const struct link *layers)
{
    uint32_t x = pim_network_image(b, s);
    for (size_t n = 0; n < 5; n++) {
        const struct link *l = &layers[n];
        x = pim_build_convolution(b, PIM_ROLE_OTHER, l->name, x, l->outputs, l->grouped ? s->groups : 1,
                                  l->kernel, l->stride, l->pad, 0);
        x = pim_network_activate(b, l->name, PIM_ACTIVATION_RELU, x);
        if (l->norm && !l->pooled_first)
            x = normalize_locally(b, l->norm, x);
        if (l->pool)
            x = pim_network_pool(b, l->pool, PIM_POOLING_MAXIMUM, x, window(3, 2, 0, l->pooled_first));
        if (l->norm && l->pooled_first)
            x = normalize_locally(b, l->norm, x);
    }
    pim_network_classify(b, s, x);
}

/* Krizhevsky et al., 2012; `groups` is 2 in the paper, whose network spans two graphics cards. */
static void build_alexnet(struct pim_builder *b, const struct pim_convolutional_specification *s)
{
    static const struct link layers[5] = {
        {"conv1", "pool1", "norm1", 96, 11, 4, 2, false, false},
        {"conv2", "pool2", "norm2", 256, 5, 1, 2, true, false},
        {"conv3", NULL, NULL, 384, 3, 1, 1, false, false},
        {"conv4", NULL, NULL, 384, 3, 1, 1, true, false},
        {"conv5", "pool5", NULL, 256, 3, 1, 1, true, false},
    };
    build_chain(b, s, layers);
}

/* Zeiler and Fergus, 2014: Fig. 3, with the 512, 1024 and 512 maps that Table 3 gives layers 3 to 5. */
static void build_zfnet(struct pim_builder *b, const struct pim_convolutional_specification *s)
{
    static const struct link layers[5] = {
        {"conv1", "pool1", "norm1", 96, 7, 2, 1, false, true},
        {"conv2", "pool2", "norm2", 256, 5, 2, 0, false, true},
        {"conv3", NULL, NULL, 512, 3, 1, 1, false, true},
        {"conv4", NULL, NULL, 1024, 3, 1, 1, false, true},
        {"conv5", "pool5", NULL, 512, 3, 1, 1, false, true},
    };
    build_chain(b, s, layers);
}

/* Four ways from one map, joined along the channels. */
static uint32_t inception(struct pim_builder *b, const char *name, uint32_t input, const uint32_t *channels)
{
    char part[NAME + 24];
    uint32_t ways[4], x;
#define PART(suffix) ((void)snprintf(part, sizeof part, "%s.%s", name, suffix), part)
    ways[0] = convolve_relu(b, PART("1x1"), input, channels[0], 1, 1, 0);
    x = convolve_relu(b, PART("3x3_reduce"), input, channels[1], 1, 1, 0);
    ways[1] = convolve_relu(b, PART("3x3"), x, channels[2], 3, 1, 1);
    x = convolve_relu(b, PART("5x5_reduce"), input, channels[3], 1, 1, 0);
    ways[2] = convolve_relu(b, PART("5x5"), x, channels[4], 5, 1, 2);
    x = pim_network_pool(b, PART("pool"), PIM_POOLING_MAXIMUM, input, window(3, 1, 1, false));
    ways[3] = convolve_relu(b, PART("pool_projection"), x, channels[5], 1, 1, 0);
    const union pim_attributes a = {.concat = {.axis = 1}};
    return pim_build(b, PIM_OPERATOR_CONCAT, PIM_ROLE_OTHER, PART("concat"), &a, 0, 4, ways);
#undef PART
}

/* Szegedy et al., 2014, without the classifiers that only training uses. */
static void build_googlenet(struct pim_builder *b, const struct pim_convolutional_specification *s)
{
    static const struct {
        const char *name;
        uint32_t channels[6];
        bool pool; /* behind it */
    } modules[] = {
        {"3a", {64, 96, 128, 16, 32, 32}, false},     {"3b", {128, 128, 192, 32, 96, 64}, true},
        {"4a", {192, 96, 208, 16, 48, 64}, false},    {"4b", {160, 112, 224, 24, 64, 64}, false},
        {"4c", {128, 128, 256, 24, 64, 64}, false},   {"4d", {112, 144, 288, 32, 64, 64}, false},
        {"4e", {256, 160, 320, 32, 128, 128}, true},  {"5a", {256, 160, 320, 32, 128, 128}, false},
        {"5b", {384, 192, 384, 48, 128, 128}, false},
    };
    char name[NAME];
    uint32_t x = convolve_relu(b, "conv1", pim_network_image(b, s), 64, 7, 2, 3);
    x = pim_network_pool(b, "pool1", PIM_POOLING_MAXIMUM, x, window(3, 2, 0, true));
    x = normalize_locally(b, "norm1", x);
    x = convolve_relu(b, "conv2_reduce", x, 64, 1, 1, 0);
    x = convolve_relu(b, "conv2", x, 192, 3, 1, 1);
    x = normalize_locally(b, "norm2", x);
    x = pim_network_pool(b, "pool2", PIM_POOLING_MAXIMUM, x, window(3, 2, 0, true));
    for (size_t n = 0; n < sizeof modules / sizeof *modules; n++) {
        (void)snprintf(name, sizeof name, "inception_%s", modules[n].name);
        x = inception(b, name, x, modules[n].channels);
        (void)snprintf(name, sizeof name, "pool_%s", modules[n].name);
        if (modules[n].pool)
            x = pim_network_pool(b, name, PIM_POOLING_MAXIMUM, x, window(3, 2, 0, true));
    }
    pim_network_classify(b, s, pim_network_average_all(b, "pool", x));
}

/* Iandola et al., 2016, version 1.1 of the authors' repository: 2.4 times fewer MACs than 1.0, the same
 * accuracy. */
static void build_squeezenet(struct pim_builder *b, const struct pim_convolutional_specification *s)
{
    static const uint32_t squeeze[] = {16, 16, 32, 32, 48, 48, 64, 64};
    char name[NAME];
    uint32_t x = convolve_relu(b, "conv1", pim_network_image(b, s), 64, 3, 2, 0);
    x = pim_network_pool(b, "pool1", PIM_POOLING_MAXIMUM, x, window(3, 2, 0, true));
    for (uint32_t n = 0; n < sizeof squeeze / sizeof *squeeze; n++) {
        const union pim_attributes join = {.concat = {.axis = 1}};
        uint32_t ways[2];
        (void)snprintf(name, sizeof name, "fire%" PRIu32 ".squeeze", n + 2);
        x = convolve_relu(b, name, x, squeeze[n], 1, 1, 0);
        (void)snprintf(name, sizeof name, "fire%" PRIu32 ".expand1x1", n + 2);
        ways[0] = convolve_relu(b, name, x, 4 * squeeze[n], 1, 1, 0);
        (void)snprintf(name, sizeof name, "fire%" PRIu32 ".expand3x3", n + 2);
        ways[1] = convolve_relu(b, name, x, 4 * squeeze[n], 3, 1, 1);
        (void)snprintf(name, sizeof name, "fire%" PRIu32 ".concat", n + 2);
        x = pim_build(b, PIM_OPERATOR_CONCAT, PIM_ROLE_OTHER, name, &join, 0, 2, ways);
        (void)snprintf(name, sizeof name, "pool%" PRIu32, n + 2);
        if (n == 1 || n == 3)
            x = pim_network_pool(b, name, PIM_POOLING_MAXIMUM, x, window(3, 2, 0, true));
    }
    if (s->classes)
        x = convolve_relu(b, "conv10", x, s->classes, 1, 1, 0);
    (void)flatten(b, pim_network_average_all(b, "pool", x));
}

void pim_build_convolutional(struct pim_builder *b, const struct pim_convolutional_specification *s)
{
    static void (*const families[PIM_CONVOLUTIONALS])(struct pim_builder *,
                                                      const struct pim_convolutional_specification *) = {
        [PIM_CONVOLUTIONAL_VGG] = build_vgg,
        [PIM_CONVOLUTIONAL_RESNET] = build_resnet,
        [PIM_CONVOLUTIONAL_DARKNET] = build_darknet,
        [PIM_CONVOLUTIONAL_ALEXNET] = build_alexnet,
        [PIM_CONVOLUTIONAL_ZFNET] = build_zfnet,
        [PIM_CONVOLUTIONAL_GOOGLENET] = build_googlenet,
        [PIM_CONVOLUTIONAL_SQUEEZENET] = build_squeezenet,
        [PIM_CONVOLUTIONAL_BERT] = pim_build_bert,
        [PIM_CONVOLUTIONAL_MOBILENET] = pim_build_mobilenet,
        [PIM_CONVOLUTIONAL_EFFICIENTNET] = pim_build_efficientnet,
        [PIM_CONVOLUTIONAL_SHUFFLENET] = pim_build_shufflenet,
    };
    families[s->family](b, s);
}

PIM_NAMES(pim_convolutional_name, PIM_CONVOLUTIONAL_MAP)

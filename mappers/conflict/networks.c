/* The authors' networks, which are variants of their own with 3 x 3 convolutions only. */
#include "mappers/conflict/graph.h"

#include <string.h>

enum { LAYERS_MOST = 48 };

struct builder {
    struct pim_tile_layer *layers;
    uint32_t count, last, channels, size;
};

static struct pim_tile_layer *append(struct builder *b, enum pim_tile_layer_kind kind, const char *name,
                                     uint32_t outputs)
{
    struct pim_tile_layer *layer = &b->layers[b->count];
    *layer = (struct pim_tile_layer){
        .name = name,
        .kind = kind,
        .inputs = 1,
        .input = {b->last},
        .in_channels = b->channels,
        .out_channels = outputs,
        .window = {.in_size = {b->size, b->size}, .kernel = {1, 1}, .stride = {1, 1}}};
    b->channels = outputs;
    b->last = b->count++;
    return layer;
}

static void set_size(struct builder *b, struct pim_tile_layer *layer, uint32_t size)
{
    layer->window.out_size[0] = layer->window.out_size[1] = size;
    b->size = size;
}

static void convolution(struct builder *b, uint32_t outputs, uint32_t stride, uint32_t pad)
{
    struct pim_tile_layer *layer = append(b, PIM_TILE_CONVOLUTION, "conv", outputs);
    layer->window.kernel[0] = layer->window.kernel[1] = 3;
    layer->window.stride[0] = layer->window.stride[1] = stride;
    layer->window.pad[0] = layer->window.pad[1] = pad;
    layer->rows = 9;
    set_size(b, layer, (b->size + 2 * pad - 3) / stride + 1);
}

static void pooling(struct builder *b, uint32_t kernel)
{
    struct pim_tile_layer *layer = append(b, PIM_TILE_POOLING, "pooling", b->channels);
    layer->window.kernel[0] = layer->window.kernel[1] = layer->window.stride[0] = layer->window.stride[1] =
        kernel;
    set_size(b, layer, b->size / kernel);
}

static void linear(struct builder *b, uint32_t inputs, uint32_t outputs)
{
    struct pim_tile_layer *layer = append(b, PIM_TILE_LINEAR, "fc", outputs);
    layer->in_channels = inputs;
    layer->window.in_size[0] = layer->window.in_size[1] = 1;
    layer->rows = 1;
    set_size(b, layer, 1);
}

/* Two convolutions beside a path that is direct, or a convolution where the size changes. */
static void residual(struct builder *b, uint32_t outputs, uint32_t stride)
{
    uint32_t from = b->last, channels = b->channels, size = b->size, beside = from;
    convolution(b, outputs, stride, 1);
    convolution(b, outputs, 1, 1);
    uint32_t through = b->last;
    if (stride != 1 || channels != outputs) {
        b->last = from;
        b->channels = channels;
        b->size = size;
        convolution(b, outputs, stride, 1);
        beside = b->last;
    }
    struct pim_tile_layer *sum = append(b, PIM_TILE_SUM, "element_sum", outputs);
    sum->inputs = 2;
    sum->input[0] = through;
    sum->input[1] = beside;
    set_size(b, sum, b->size);
}

static void alexnet(struct builder *b, bool imagenet, uint32_t classes)
{
    convolution(b, 64, 2, 1);
    pooling(b, 2);
    convolution(b, 192, 1, 1);
    pooling(b, 2);
    convolution(b, 384, 1, 1);
    convolution(b, 256, 1, 1);
    convolution(b, 512, 1, 1);
    pooling(b, imagenet ? 14 : 2);
    linear(b, 1024, 512); /* it receives 2048 */
    linear(b, 512, classes);
}

static void vgg(struct builder *b, uint32_t convolutions, bool imagenet, uint32_t classes)
{
    for (uint32_t channels = 128; channels <= 512; channels *= 2) {
        for (uint32_t i = 0; i < convolutions; i++)
            convolution(b, channels, 1, 1);
        pooling(b, 2);
    }
    if (convolutions == 3)
        convolution(b, 512, 1, 1);
    convolution(b, 1024, 1, 0);
    pooling(b, imagenet ? 26 : 2);
    linear(b, 1024, classes);
}

static void resnet18(struct builder *b, bool imagenet, uint32_t classes)
{
    convolution(b, 64, 1, 1);
    pooling(b, 2);
    for (uint32_t channels = 64; channels <= 512; channels *= 2) {
        residual(b, channels, channels == 64 ? 1 : 2);
        residual(b, channels, 1);
    }
    pooling(b, imagenet ? 7 : 1);
    linear(b, 2048, 512);
    linear(b, 512, classes);
}

bool pim_tile_layers_named(const char *name, struct pim_arena *arena, struct pim_tile_layer **layers,
                           uint32_t *count)
{
    bool imagenet = strncmp(name, "imagenet-", 9) == 0;
    if (!imagenet && strncmp(name, "cifar-", 6) != 0)
        return false;
    const char *network = name + (imagenet ? 9 : 6);
    uint32_t classes = imagenet ? 1000 : 10;
    struct builder b = {.layers = PIM_ARENA_ARRAY(arena, struct pim_tile_layer, LAYERS_MOST),
                        .last = PIM_TILE_IMAGE,
                        .channels = 3,
                        .size = imagenet ? 224 : 32};
    if (!b.layers)
        return false;
    if (strcmp(network, "alexnet") == 0)
        alexnet(&b, imagenet, classes);
    else if (strcmp(network, "vgg8") == 0)
        vgg(&b, 2, imagenet, classes);
    else if (strcmp(network, "vgg16") == 0)
        vgg(&b, 3, imagenet, classes);
    else if (strcmp(network, "resnet18") == 0)
        resnet18(&b, imagenet, classes);
    else
        return false;
    *layers = b.layers;
    *count = b.count;
    return true;
}

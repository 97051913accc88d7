/*
 * The schema of network descriptors, the checks across keys, and the reading of a descriptor into a network.
 */
#include "mappers/network/descriptor/descriptor.h"

#include "mappers/network/builder.h"
#include "mappers/network/descriptor/descriptor_parts.h"
#include "mappers/network/families.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { IMAGE_LIMIT = 16384, BLOCK_LIMIT = 256 };

/* In the order of enum pim_family, then of enum pim_convolutional. */
#define TRANSFORMER(name, text) text "|"
#define FAMILIES                                                                                             \
    PIM_FAMILY_MAP(TRANSFORMER)                                                                              \
    "vgg|resnet|darknet|alexnet|googlenet|squeezenet|bert|mobilenet|efficientnet|shufflenet|zfnet"

#define INTEGER PIM_KEY_OF_INTEGER
#define LIST PIM_KEY_OF_LIST

static const struct pim_key keys[] = {
    {"network.family", PIM_KEY_CHOICE, NULL, 0, 0, FAMILIES, "",
     "Family of transformers, or of convolutional networks, that the network belongs to."},
    {"network.name", PIM_KEY_TEXT, "unnamed", 0, 0, NULL, "", "Name of the network, for people."},
    INTEGER("network.image", "224", 1, IMAGE_LIMIT, "pixels", "Side of the square input image."),
    INTEGER("network.patch", "4", 1, 1024, "pixels", "Side of a patch, and stride of the patch embedding."),
    INTEGER("network.input_channels", "3", 1, 1024, "channels", "Channels of the input image."),
    INTEGER("network.classes", "1000", 0, 1000000, "classes", "Outputs of the classifier; 0 leaves it out."),
    LIST("network.blocks", "[]", 1, BLOCK_LIMIT, "blocks",
         "Blocks of each stage (vgg: convolutions; bert: encoders); its length is the number of stages. All "
         "but alexnet, zfnet, googlenet, squeezenet, mobilenet, efficientnet and shufflenet need it."),
    LIST("network.channels", "[]", 1, 65536, "channels",
         "Channels of each stage; where blocks is needed, this is."),
    LIST("network.heads", "[]", 1, 65536, "heads",
         "Attention heads of each stage; all transformers need it."),
    LIST("network.mlp_ratio", "[4]", 1, 64, "",
         "Hidden channels of the feed-forward network over channels; one value, or one for each stage."),
    INTEGER("network.window", "7", 1, 1024, "tokens", "Side of an attention window (swin, twins, focal)."),
    LIST("network.stripe", "[]", 1, 1024, "tokens",
         "Width of the stripes of each stage (cswin); the last stage attends globally."),
    LIST("network.reduction", "[]", 1, 1024, "",
         "Spatial reduction of keys and values per side, for each stage (pvt, twins)."),
    LIST("network.focal_window", "[]", 1, 1023, "windows",
         "Side of the region of pooled windows that a window sees, for each stage; odd (focal)."),
    INTEGER("network.expand", "3", 0, 1024, "tokens",
            "Tokens around a window that it sees at fine granularity (focal)."),
    {"network.class_token", PIM_KEY_BOOLEAN, "true", 0, 0, NULL, "",
     "A class token in front of the sequence (vit)."},
    LIST("network.hidden", "[]", 1, 1048576, "outputs",
         "Outputs of the fully connected layers before the last (vgg, alexnet, zfnet), at most 4."),
    INTEGER("network.groups", "1", 1, 2, "groups",
            "Groups of the second, fourth and fifth convolution (alexnet; 2 in its paper)."),
    INTEGER("network.tokens", "128", 1, 65536, "tokens", "Length of the sequence (bert)."),
    {"network.bottleneck", PIM_KEY_BOOLEAN, "false", 0, 0, NULL, "",
     "Blocks of 1x1, 3x3 and 1x1 convolutions, the last four times as wide (resnet)."},
};

const struct pim_schema pim_network_schema = {
    .name = "network",
    .text = "A network descriptor names a family of networks and its sizes. The layers follow from them; "
            "docs/networks.md gives the rules of each family.",
    .keys = keys,
    .count = sizeof keys / sizeof keys[0],
};

/* Bits of `families`: all transformers, then those of convolutional networks. */
#define TRANSFORMERS ((1u << PIM_FAMILIES) - 1)
#define CONVOLUTIONAL(name) (1u << (PIM_FAMILIES + PIM_CONVOLUTIONAL_##name))
#define STAGED (CONVOLUTIONAL(VGG) | CONVOLUTIONAL(RESNET) | CONVOLUTIONAL(DARKNET) | CONVOLUTIONAL(BERT))

/* Keys that only some families read; all others refuse them. */
static const struct {
    const char *path;
    unsigned families; /* bit f: family f reads it */
    unsigned key;      /* so do transformers that have it in their row */
    bool list;         /* which then is required, with one value for each stage */
} special_keys[] = {
    {"network.blocks", TRANSFORMERS | STAGED, 0, true},
    {"network.channels", TRANSFORMERS | STAGED, 0, true},
    {"network.heads", TRANSFORMERS | CONVOLUTIONAL(BERT), 0, true},
    {"network.tokens", CONVOLUTIONAL(BERT), 0, false},
    {"network.patch", TRANSFORMERS, 0, false},
    {"network.mlp_ratio", TRANSFORMERS, 0, false},
    {"network.hidden", CONVOLUTIONAL(VGG) | CONVOLUTIONAL(ALEXNET) | CONVOLUTIONAL(ZFNET), 0, false},
    {"network.groups", CONVOLUTIONAL(ALEXNET), 0, false},
    {"network.bottleneck", CONVOLUTIONAL(RESNET), 0, false},
    {"network.window", 0, PIM_READS_WINDOW, false},
    {"network.stripe", 0, PIM_READS_STRIPE, true},
    {"network.reduction", 0, PIM_READS_REDUCTION, true},
    {"network.focal_window", 0, PIM_READS_FOCAL, true},
    {"network.expand", 0, PIM_READS_FOCAL, false},
    {"network.class_token", 0, PIM_READS_CLASS_TOKEN, false},
};

static bool reads(enum pim_family family, unsigned key)
{
    return (pim_families[family].keys & key) != 0;
}

/* Reads a list that must have one value for each stage, or one for all where `one` allows it. */
enum pim_status pim_network_read_list(const struct pim_configuration *configuration, const char *path,
                                      uint32_t stages, bool one, uint32_t *target, struct pim_error *error)
{
    const int64_t *values;
    size_t count = pim_configuration_list(configuration, path, &values);
    if (count != stages && !(one && count == 1))
        return pim_configuration_fail(configuration, error, path,
                                      "has %zu values, but network.blocks has %" PRIu32
                                      ": one value for each of the %" PRIu32 " stages is needed%s",
                                      count, stages, stages, one ? ", or one for all" : "");
    for (uint32_t i = 0; i < stages; i++)
        target[i] = (uint32_t)values[count == 1 ? 0 : i];
    return PIM_OK;
}

const char *pim_network_family_name(unsigned family)
{
    return family < PIM_FAMILIES ? pim_family_name(family) : pim_convolutional_name(family - PIM_FAMILIES);
}

enum pim_status pim_network_check_keys(const struct pim_configuration *configuration, unsigned family,
                                       struct pim_error *error)
{
    for (size_t i = 0; i < sizeof special_keys / sizeof special_keys[0]; i++) {
        const char *path = special_keys[i].path;
        bool used = (special_keys[i].families >> family & 1) != 0 ||
                    (family < PIM_FAMILIES && reads(family, special_keys[i].key));
        bool given = pim_configuration_given(configuration, path);
        if (given && !used)
            return pim_configuration_fail(configuration, error, path,
                                          "family %s does not use this key: leave it out",
                                          pim_network_family_name(family));
        if (!given && used && special_keys[i].list)
            return pim_configuration_fail(configuration, error, path,
                                          "family %s needs this key: a list with one value for each stage",
                                          pim_network_family_name(family));
    }
    return PIM_OK;
}

static enum pim_status read_lists(const struct pim_configuration *configuration,
                                  struct pim_transformer_specification *s, struct pim_error *error)
{
    const struct {
        const char *path;
        bool read, one;
        uint32_t *target;
    } lists[] = {
        {"network.blocks", true, false, s->blocks},
        {"network.channels", true, false, s->channels},
        {"network.heads", true, false, s->heads},
        {"network.mlp_ratio", true, true, s->mlp_ratio},
        {"network.stripe", reads(s->family, PIM_READS_STRIPE), false, s->stripe},
        {"network.reduction", reads(s->family, PIM_READS_REDUCTION), false, s->reduction},
        {"network.focal_window", reads(s->family, PIM_READS_FOCAL), false, s->focal_window},
    };
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        enum pim_status status = PIM_OK;
        if (lists[i].read)
            status = pim_network_read_list(configuration, lists[i].path, s->stages, lists[i].one,
                                           lists[i].target, error);
        if (status != PIM_OK)
            return status;
    }
    return PIM_OK;
}

static enum pim_status read_specification(const struct pim_configuration *configuration,
                                          struct pim_transformer_specification *s, struct pim_error *error)
{
    const int64_t *blocks;
    size_t stages = pim_configuration_list(configuration, "network.blocks", &blocks);
    *s = (struct pim_transformer_specification){
        .family = (enum pim_family)pim_configuration_choice(configuration, "network.family"),
        .image = pim_configuration_count(configuration, "network.image"),
        .patch = pim_configuration_count(configuration, "network.patch"),
        .input_channels = pim_configuration_count(configuration, "network.input_channels"),
        .classes = pim_configuration_count(configuration, "network.classes"),
        .window = pim_configuration_count(configuration, "network.window"),
        .expand = pim_configuration_count(configuration, "network.expand"),
        .class_token = pim_configuration_boolean(configuration, "network.class_token"),
    };
    size_t most = pim_families[s->family].single_stage ? 1 : PIM_STAGES;
    if (pim_configuration_given(configuration, "network.blocks") && (stages < 1 || stages > most))
        return pim_configuration_fail(configuration, error, "network.blocks",
                                      "has %zu values, one for each stage: family %s has 1 to %zu stages",
                                      stages, pim_family_name(s->family), most);
    s->stages = (uint32_t)stages;
    enum pim_status status = pim_network_check_keys(configuration, s->family, error);
    return status == PIM_OK ? read_lists(configuration, s, error) : status;
}

static enum pim_status check_heads(const struct pim_configuration *configuration,
                                   const struct pim_transformer_specification *s, struct pim_error *error)
{
    for (uint32_t i = 0; i < s->stages; i++) {
        if (s->channels[i] % s->heads[i] != 0)
            return pim_configuration_fail(configuration, error, "network.heads",
                                          "the %" PRIu32 " heads of stage %" PRIu32
                                          " do not divide its %" PRIu32
                                          " channels: allowed are divisors of %" PRIu32,
                                          s->heads[i], i + 1, s->channels[i], s->channels[i]);
        if (reads(s->family, PIM_READS_STRIPE) && i + 1 < s->stages && s->heads[i] % 2 != 0)
            return pim_configuration_fail(
                configuration, error, "network.heads",
                "the %" PRIu32 " heads of stage %" PRIu32
                " cannot be halved between vertical and horizontal stripes: an even number is needed",
                s->heads[i], i + 1);
    }
    return PIM_OK;
}

/* The side of the token map of a stage, from the one before. */
static uint32_t merged_side(enum pim_family family, uint32_t side)
{
    return pim_families[family].pads_odd_maps ? (side + 1) / 2 : side / 2;
}

/* What a stage demands of its map of side x side tokens. */
static enum pim_status check_map(const struct pim_configuration *configuration,
                                 const struct pim_transformer_specification *s, uint32_t stage, uint32_t side,
                                 struct pim_error *error)
{
    if (side == 0)
        return pim_configuration_fail(configuration, error, "network.image",
                                      "%" PRIu32 " pixels leave no tokens for stage %" PRIu32
                                      ": at least %" PRIu32 " are needed",
                                      s->image, stage + 1, s->patch << (s->stages - 1));
    if (reads(s->family, PIM_READS_WINDOW) && s->window > side)
        return pim_configuration_fail(
            configuration, error, "network.window",
            "windows of %" PRIu32 "x%" PRIu32 " tokens are larger than the map of stage %" PRIu32 ", %" PRIu32
            "x%" PRIu32 " for network.image %" PRIu32 ": allowed are windows up to %" PRIu32,
            s->window, s->window, stage + 1, side, side, s->image, side);
    if (reads(s->family, PIM_READS_STRIPE) && stage + 1 < s->stages && s->stripe[stage] > side)
        return pim_configuration_fail(configuration, error, "network.stripe",
                                      "stripes of %" PRIu32 " tokens are wider than the map of stage %" PRIu32
                                      ", %" PRIu32 "x%" PRIu32 " for network.image %" PRIu32
                                      ": allowed are stripes up to %" PRIu32,
                                      s->stripe[stage], stage + 1, side, side, s->image, side);
    if (reads(s->family, PIM_READS_REDUCTION) && s->reduction[stage] > side)
        return pim_configuration_fail(configuration, error, "network.reduction",
                                      "a reduction by %" PRIu32 " leaves no keys of the map of stage %" PRIu32
                                      ", %" PRIu32 "x%" PRIu32 " for network.image %" PRIu32
                                      ": allowed are reductions up to %" PRIu32,
                                      s->reduction[stage], stage + 1, side, side, s->image, side);
    return PIM_OK;
}

static enum pim_status check_family(const struct pim_configuration *configuration,
                                    const struct pim_transformer_specification *s, struct pim_error *error)
{
    if (pim_families[s->family].ends_with_class && s->reduction[s->stages - 1] != 1)
        return pim_configuration_fail(
            configuration, error, "network.reduction",
            "is %" PRIu32 " in the last stage, whose class token is no part of a map: it must be 1 there",
            s->reduction[s->stages - 1]);
    if (!reads(s->family, PIM_READS_FOCAL))
        return PIM_OK;
    if (s->expand > s->window)
        return pim_configuration_fail(
            configuration, error, "network.expand",
            "%" PRIu32 " tokens reach over more than the neighbouring windows: allowed are 0 to "
            "network.window, %" PRIu32,
            s->expand, s->window);
    for (uint32_t i = 0; i < s->stages; i++) {
        if (s->focal_window[i] % 2 == 0)
            return pim_configuration_fail(configuration, error, "network.focal_window",
                                          "is %" PRIu32 " in stage %" PRIu32
                                          ": the region around a window has an odd side, e.g. %" PRIu32,
                                          s->focal_window[i], i + 1, s->focal_window[i] + 1);
    }
    return PIM_OK;
}

static enum pim_status check_specification(const struct pim_configuration *configuration,
                                           const struct pim_transformer_specification *s,
                                           struct pim_error *error)
{
    if (s->image % s->patch != 0) {
        uint32_t below = s->image / s->patch * s->patch;
        return pim_configuration_fail(configuration, error, "network.image",
                                      "%" PRIu32 " pixels are not a multiple of network.patch, %" PRIu32
                                      ": the nearest are %" PRIu32 " and %" PRIu32,
                                      s->image, s->patch, below ? below : s->patch, below + s->patch);
    }
    enum pim_status status = check_heads(configuration, s, error);
    uint32_t side = s->image / s->patch;
    for (uint32_t i = 0; i < s->stages && status == PIM_OK; i++) {
        side = i == 0 ? side : merged_side(s->family, side);
        status = check_map(configuration, s, i, side, error);
    }
    return status == PIM_OK ? check_family(configuration, s, error) : status;
}

static enum pim_status no_memory(struct pim_error *error)
{
    return pim_fail(error, PIM_NO_MEMORY, "out of memory while building a network");
}

static enum pim_status build(const struct pim_transformer_specification *s, struct pim_network *network,
                             struct pim_error *error)
{
    struct pim_transformer *transformer = PIM_ARENA_ARRAY(&network->arena, struct pim_transformer, 1);
    if (!transformer)
        return no_memory(error);
    *transformer = (struct pim_transformer){
        .family = s->family,
        .image = s->image,
        .patch = s->patch,
        .input_channels = s->input_channels,
        .classes = s->classes,
        .stages = s->stages,
        .head_layer = PIM_NONE,
    };
    for (uint32_t i = 0; i < s->stages; i++)
        transformer->blocks += s->blocks[i];
    transformer->block = PIM_ARENA_ARRAY(&network->arena, struct pim_transformer_block, transformer->blocks);
    if (!transformer->block)
        return no_memory(error);
    struct pim_builder builder = {
        .specification = s,
        .graph = &network->graph,
        .transformer = transformer,
        .error = error,
        .status = PIM_OK,
        .stage = PIM_NONE,
        .block = PIM_NONE,
    };
    pim_families[s->family].build(&builder);
    network->transformer = transformer;
    return builder.status;
}

/* An empty network of the name that the descriptor gives; NULL when memory is out. */
static struct pim_network *create(const struct pim_configuration *configuration)
{
    struct pim_network *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    pim_arena_initialize(&made->arena, 0);
    pim_graph_initialize(&made->graph, &made->arena);
    const char *name = pim_configuration_text(configuration, "network.name");
    char *copy = PIM_ARENA_ARRAY(&made->arena, char, strlen(name) + 1);
    if (!copy) {
        pim_network_destroy(made);
        return NULL;
    }
    made->name = memcpy(copy, name, strlen(name) + 1);
    return made;
}

static enum pim_status build_convolutional(const struct pim_convolutional_specification *s,
                                           struct pim_network *network, struct pim_error *error)
{
    struct pim_builder builder = {
        .graph = &network->graph, .error = error, .status = PIM_OK, .stage = PIM_NONE, .block = PIM_NONE};
    pim_build_convolutional(&builder, s);
    return builder.status;
}

enum pim_status pim_network_build(const struct pim_configuration *configuration, struct pim_network **network,
                                  struct pim_error *error)
{
    struct pim_transformer_specification transformer;
    struct pim_convolutional_specification convolutional;
    bool transforms = pim_configuration_choice(configuration, "network.family") < PIM_FAMILIES;
    *network = NULL;
    enum pim_status status = transforms
                                 ? read_specification(configuration, &transformer, error)
                                 : pim_network_read_convolutional(configuration, &convolutional, error);
    if (status == PIM_OK && transforms)
        status = check_specification(configuration, &transformer, error);
    if (status != PIM_OK)
        return status;

    struct pim_network *made = create(configuration);
    if (!made)
        return no_memory(error);
    status = transforms ? build(&transformer, made, error) : build_convolutional(&convolutional, made, error);
    if (status == PIM_BAD_INPUT) { /* every size is legal alone: together they do not fit */
        char reason[sizeof error->text];
        memcpy(reason, error->text, sizeof reason);
        status = pim_configuration_fail(configuration, error, "network.image",
                                        transforms ? "the network is too large: %s; take a smaller image"
                                                   : "the network cannot be built for this size: %s",
                                        reason);
    }
    if (status != PIM_OK) {
        pim_network_destroy(made);
        return status;
    }
    *network = made;
    return PIM_OK;
}

enum pim_status pim_network_read(const char *path, const char *const *overrides, size_t count,
                                 struct pim_network **network, struct pim_error *error)
{
    struct pim_configuration *configuration;
    *network = NULL;
    enum pim_status status = pim_configuration_create(&pim_network_schema, &configuration, error);
    if (status != PIM_OK)
        return status;
    status = pim_configuration_read_file(configuration, path, error);
    for (size_t i = 0; i < count && status == PIM_OK; i++)
        status = pim_configuration_set(configuration, overrides[i], error);
    if (status == PIM_OK)
        status = pim_configuration_complete(configuration, error);
    if (status == PIM_OK)
        status = pim_network_build(configuration, network, error);
    pim_configuration_destroy(configuration);
    return status;
}

void pim_network_destroy(struct pim_network *network)
{
    if (!network)
        return;
    pim_arena_terminate(&network->arena);
    free(network);
}

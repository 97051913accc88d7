/* The keys of a convolutional network. */
#include "mappers/network/descriptor/descriptor_parts.h"

#include "mappers/network/transformer.h"

#include <inttypes.h>

static enum pim_status read_stages(const struct pim_configuration *configuration,
                                   struct pim_convolutional_specification *s, struct pim_error *error)
{
    const int64_t *blocks;
    size_t stages = pim_configuration_list(configuration, "network.blocks", &blocks);
    bool staged = s->family == PIM_CONVOLUTIONAL_VGG || s->family == PIM_CONVOLUTIONAL_RESNET ||
                  s->family == PIM_CONVOLUTIONAL_DARKNET || s->family == PIM_CONVOLUTIONAL_BERT;
    size_t most = s->family == PIM_CONVOLUTIONAL_BERT ? 1 : PIM_STAGES;
    if (!staged)
        return PIM_OK;
    if (stages < 1 || stages > most)
        return pim_configuration_fail(configuration, error, "network.blocks",
                                      "has %zu values, one for each stage: 1 to %zu stages are possible",
                                      stages, most);
    s->stages = (uint32_t)stages;
    enum pim_status status =
        pim_network_read_list(configuration, "network.blocks", s->stages, false, s->blocks, error);
    if (status == PIM_OK)
        status =
            pim_network_read_list(configuration, "network.channels", s->stages, false, s->channels, error);
    return status;
}

static enum pim_status read_heads(const struct pim_configuration *configuration,
                                  struct pim_convolutional_specification *s, struct pim_error *error)
{
    s->tokens = pim_configuration_count(configuration, "network.tokens");
    if (pim_network_read_list(configuration, "network.heads", s->stages, false, &s->heads, error) != PIM_OK)
        return error->status;
    if (s->channels[0] % s->heads == 0)
        return PIM_OK;
    return pim_configuration_fail(configuration, error, "network.heads",
                                  "%" PRIu32 " heads do not divide %" PRIu32 " channels", s->heads,
                                  s->channels[0]);
}

/* A map that is halved once a stage must not vanish; the other sizes are checked where layers are made. */
static enum pim_status check_image(const struct pim_configuration *configuration,
                                   const struct pim_convolutional_specification *s, struct pim_error *error)
{
    if (s->family == PIM_CONVOLUTIONAL_VGG && s->image >> s->stages == 0)
        return pim_configuration_fail(configuration, error, "network.image",
                                      "%" PRIu32 " pixels cannot be halved %" PRIu32
                                      " times: at least %" PRIu32 " are needed",
                                      s->image, s->stages, UINT32_C(1) << s->stages);
    return PIM_OK;
}

enum pim_status pim_network_read_convolutional(const struct pim_configuration *configuration,
                                               struct pim_convolutional_specification *s,
                                               struct pim_error *error)
{
    const int64_t *hidden;
    unsigned family = pim_configuration_choice(configuration, "network.family");
    *s = (struct pim_convolutional_specification){
        .family = (enum pim_convolutional)(family - PIM_FAMILIES),
        .image = pim_configuration_count(configuration, "network.image"),
        .input_channels = pim_configuration_count(configuration, "network.input_channels"),
        .classes = pim_configuration_count(configuration, "network.classes"),
        .groups = pim_configuration_count(configuration, "network.groups"),
        .bottleneck = pim_configuration_boolean(configuration, "network.bottleneck"),
    };
    enum pim_status status = pim_network_check_keys(configuration, family, error);
    if (status == PIM_OK)
        status = read_stages(configuration, s, error);
    if (status == PIM_OK && s->family == PIM_CONVOLUTIONAL_BERT)
        status = read_heads(configuration, s, error);
    if (status != PIM_OK)
        return status;
    size_t layers = pim_configuration_list(configuration, "network.hidden", &hidden);
    if (layers > PIM_HIDDEN_LAYERS)
        return pim_configuration_fail(configuration, error, "network.hidden",
                                      "has %zu values: at most %d are possible", layers, PIM_HIDDEN_LAYERS);
    for (size_t n = 0; n < layers; n++)
        s->hidden[n] = (uint32_t)hidden[n];
    s->hidden_layers = (uint32_t)layers;
    return check_image(configuration, s, error);
}

/*
 * BERT (Devlin et al., NAACL 2019): the encoders, without the look-up of embeddings and the heads of tasks.
 *
 *  1. Input: [1, tokens, channels], the sum of the embeddings.
 *  2. Encoder: query, key, value with bias; attention of every token to every token; projection; residual,
 *     then its norm; feed-forward with GELU; residual, then its norm.
 */
#include "mappers/network/descriptor/convolutional.h"

#include <inttypes.h>
#include <stdio.h>

enum { NAME = 64 };

struct encoder {
    struct pim_builder *builder;
    uint32_t number, channels;
};

static const char *name_of(const struct encoder *encoder, const char *part, char text[NAME])
{
    (void)snprintf(text, NAME, "encoder%" PRIu32 ".%s", encoder->number, part);
    return text;
}

static uint32_t linear(const struct encoder *encoder, enum pim_role role, const char *part, uint32_t input,
                       uint32_t outputs)
{
    char text[NAME];
    return pim_build_linear(encoder->builder, role, name_of(encoder, part, text), input, outputs, true, 0);
}

/* x + y, normalised. */
static uint32_t join(const struct encoder *encoder, enum pim_role role, enum pim_role norm, const char *add,
                     const char *part, uint32_t x, uint32_t y)
{
    char text[NAME];
    uint32_t sum = pim_build_add(encoder->builder, role, name_of(encoder, add, text), x, y);
    return pim_build_norm(encoder->builder, norm, name_of(encoder, part, text), sum);
}

static uint32_t attend(const struct encoder *encoder, uint32_t heads, uint32_t x)
{
    struct pim_builder *b = encoder->builder;
    const union pim_attributes attributes = {.attention = {.heads = heads}};
    char text[NAME];
    uint32_t query = linear(encoder, PIM_ROLE_QUERY, "query", x, encoder->channels);
    uint32_t key = linear(encoder, PIM_ROLE_KEY, "key", x, encoder->channels);
    uint32_t value = linear(encoder, PIM_ROLE_VALUE, "value", x, encoder->channels);
    uint32_t scores =
        pim_build(b, PIM_OPERATOR_ATTENTION_SCORES, PIM_ROLE_SCORES, name_of(encoder, "scores", text),
                  &attributes, 0, 2, (const uint32_t[]){query, key});
    uint32_t softmax = pim_build(b, PIM_OPERATOR_SOFTMAX, PIM_ROLE_SOFTMAX, name_of(encoder, "softmax", text),
                                 NULL, 0, 1, &scores);
    return pim_build(b, PIM_OPERATOR_ATTENTION_CONTEXT, PIM_ROLE_CONTEXT, name_of(encoder, "context", text),
                     &attributes, 0, 2, (const uint32_t[]){softmax, value});
}

void pim_build_bert(struct pim_builder *b, const struct pim_convolutional_specification *s)
{
    static const union pim_attributes gelu = {.activation = PIM_ACTIVATION_GELU};
    const union pim_attributes tokens = {.shape = {.rank = 3, .dimension = {1, s->tokens, s->channels[0]}}};
    char text[NAME];
    uint32_t x = pim_build(b, PIM_OPERATOR_INPUT, PIM_ROLE_OTHER, "embeddings", &tokens, 0, 0, NULL);
    for (uint32_t i = 0; i < s->blocks[0]; i++) {
        const struct encoder encoder = {.builder = b, .number = i + 1, .channels = s->channels[0]};
        uint32_t y = linear(&encoder, PIM_ROLE_PROJECTION, "projection", attend(&encoder, s->heads, x),
                            encoder.channels);
        x = join(&encoder, PIM_ROLE_RESIDUAL1, PIM_ROLE_NORM1, "residual1", "norm1", x, y);
        y = linear(&encoder, PIM_ROLE_FFN_EXPAND, "ffn_expand", x, 4 * encoder.channels);
        y = pim_build(b, PIM_OPERATOR_ACTIVATION, PIM_ROLE_GELU, name_of(&encoder, "gelu", text), &gelu, 0, 1,
                      &y);
        y = linear(&encoder, PIM_ROLE_FFN_CONTRACT, "ffn_contract", y, encoder.channels);
        x = join(&encoder, PIM_ROLE_RESIDUAL2, PIM_ROLE_NORM2, "residual2", "norm2", x, y);
    }
}

/*
 * What the builders of the transformer families share. Internal to this folder.
 *
 * A builder function takes layer indices and returns the index of the layer it added. The first error is kept
 * and everything after it does nothing (and returns layer 0), so that a family reads as the list of its
 * layers; the caller looks at `status` at the end.
 */
#ifndef PIMSIM_MAPPERS_NETWORK_BUILDER_H
#define PIMSIM_MAPPERS_NETWORK_BUILDER_H

#include "mappers/network/graph.h"
#include "mappers/network/transformer.h"

/* What a descriptor says, checked: lists have one value for each stage, heads divide channels. */
struct pim_transformer_specification {
    enum pim_family family;
    uint32_t image, patch, input_channels, classes;
    uint32_t stages;
    uint32_t blocks[PIM_STAGES];
    uint32_t channels[PIM_STAGES];
    uint32_t heads[PIM_STAGES];
    uint32_t mlp_ratio[PIM_STAGES];
    uint32_t window;                   /* Swin, Twins, Focal */
    uint32_t stripe[PIM_STAGES];       /* CSWin */
    uint32_t reduction[PIM_STAGES];    /* PVT, Twins */
    uint32_t focal_window[PIM_STAGES]; /* Focal */
    uint32_t expand;                   /* Focal */
    bool class_token;                  /* ViT */
};

struct pim_builder {
    const struct pim_transformer_specification *specification;
    struct pim_graph *graph;
    struct pim_transformer *transformer;
    struct pim_error *error;
    enum pim_status status;
    uint32_t stage, block; /* of the layers that are added; PIM_NONE outside */
};

/* A token map cut into windows: padded, cyclically shifted, partitioned. Index 0 is vertical, 1 horizontal.
 */
struct pim_windows {
    uint32_t map[2];        /* real extent */
    uint32_t window[2];     /* extent of a window */
    uint32_t pad_before[2]; /* padding in front; the rest of it is behind */
    uint32_t padded[2];     /* multiple of the window */
    uint32_t shift;         /* Swin: the padded map is rolled by -shift in both directions */
};

/* Windows of height x width on a map; with `centred`, half of the padding is in front (CSWin). */
struct pim_windows pim_windows_make(uint32_t map_height, uint32_t map_width, uint32_t height, uint32_t width,
                                    uint32_t shift, bool centred);

/* Padded positions that are no real tokens. */
uint64_t pim_windows_padding(const struct pim_windows *windows);

/* Pairs (query, key) of real tokens, summed over all windows, where the keys of a window are those of its
 * region widened by `expand` tokens on every side (cyclically). */
uint64_t pim_windows_real_pairs(const struct pim_windows *windows, uint32_t expand);

/* Adds one layer; its name is that of the block or stage, a point and `name`. */
uint32_t pim_build(struct pim_builder *b, enum pim_operator operation, enum pim_role role, const char *name,
                   const union pim_attributes *attributes, uint64_t padding_macs, uint32_t inputs,
                   const uint32_t *input);

/* The shape of a layer that was added; all zero after an error. */
struct pim_shape pim_build_shape(const struct pim_builder *b, uint32_t layer);

/* `padding_rows` of the rows of the input are padding. */
uint32_t pim_build_linear(struct pim_builder *b, enum pim_role role, const char *name, uint32_t input,
                          uint32_t outputs, bool bias, uint64_t padding_rows);
/* A linear layer with the weights of another one. */
uint32_t pim_build_linear_shared(struct pim_builder *b, enum pim_role role, const char *name, uint32_t input,
                                 uint32_t outputs, uint32_t weights_of);
uint32_t pim_build_norm(struct pim_builder *b, enum pim_role role, const char *name, uint32_t input);
uint32_t pim_build_add(struct pim_builder *b, enum pim_role role, const char *name, uint32_t first,
                       uint32_t second);
uint32_t pim_build_concat(struct pim_builder *b, enum pim_role role, const char *name, uint32_t axis,
                          uint32_t first, uint32_t second);
uint32_t pim_build_slice(struct pim_builder *b, enum pim_role role, const char *name, uint32_t input,
                         uint32_t axis, uint32_t begin, uint32_t count);
uint32_t pim_build_reshape(struct pim_builder *b, enum pim_role role, const char *name, uint32_t input,
                           const struct pim_shape *shape);
uint32_t pim_build_transpose(struct pim_builder *b, enum pim_role role, const char *name, uint32_t input,
                             uint32_t rank, const uint32_t *order);
uint32_t pim_build_parameter(struct pim_builder *b, enum pim_role role, const char *name, uint32_t tokens,
                             uint32_t channels);
/* A square convolution with bias on [1, channels, height, width]. */
uint32_t pim_build_convolution(struct pim_builder *b, enum pim_role role, const char *name, uint32_t input,
                               uint32_t outputs, uint32_t groups, uint32_t kernel, uint32_t stride,
                               uint32_t pad, uint64_t padding_macs);
/* [1, C, H, W] -> [1, H, W, C] and back. */
uint32_t pim_build_to_tokens(struct pim_builder *b, enum pim_role role, const char *name, uint32_t input);
uint32_t pim_build_to_map(struct pim_builder *b, enum pim_role role, const char *name, uint32_t input);
/* [1, H, W, C] -> [1, H*W, C] */
uint32_t pim_build_flatten(struct pim_builder *b, enum pim_role role, const char *name, uint32_t input);

/* Scores, softmax and context of one attention; the layer of the scores goes to attention->scores_layer.
 * `real_pairs` are pairs of real tokens over all branches. `suffix` is appended to the names. */
uint32_t pim_build_attention(struct pim_builder *b, struct pim_attention *attention, const char *suffix,
                             uint32_t query, uint32_t key, uint32_t value, uint64_t bias_parameters,
                             uint64_t real_pairs);

/* [1, H, W, C] -> [windows, tokens, C] with padding and shift as needed, and back. */
uint32_t pim_build_partition(struct pim_builder *b, const struct pim_windows *windows, const char *name,
                             uint32_t input);
uint32_t pim_build_pad(struct pim_builder *b, const struct pim_windows *windows, const char *name,
                       uint32_t input);
uint32_t pim_build_split(struct pim_builder *b, const struct pim_windows *windows, const char *name,
                         uint32_t input);
uint32_t pim_build_reverse(struct pim_builder *b, const struct pim_windows *windows, const char *name,
                           uint32_t input);

/* norm2, expand, gelu, contract, residual2 */
uint32_t pim_build_feed_forward(struct pim_builder *b, uint32_t input);

/* The image: [1, input channels, side, side]. */
uint32_t pim_build_image(struct pim_builder *b);

/* The embedding of its patches, or the merging in front of a later stage, as a square convolution, with layer
 * norm if `norm`: [1, C, H, W] -> [1, H', W', channels]. */
uint32_t pim_build_embedding(struct pim_builder *b, uint32_t map, uint32_t kernel, uint32_t stride,
                             uint32_t pad, bool norm);

/* Opens stage number `stage`, whose token map is [1, height, width, channels]: fills its view. */
void pim_build_begin_stage(struct pim_builder *b, uint32_t stage);
struct pim_transformer_stage *pim_build_stage(struct pim_builder *b);
void pim_build_set_map(struct pim_builder *b, uint32_t map);

/* Opens block number `index` of the open stage and gives its view; `attentions` of it are still to be filled.
 */
struct pim_transformer_block *pim_build_begin_block(struct pim_builder *b, uint32_t index);
void pim_build_end_block(struct pim_builder *b, struct pim_transformer_block *block);

/* View of an attention whose branches are the windows, or of one global branch. */
void pim_attention_windows(struct pim_attention *attention, uint32_t heads, uint32_t channels,
                           const struct pim_windows *windows);
void pim_attention_global(struct pim_attention *attention, uint32_t heads, uint32_t channels, uint32_t height,
                          uint32_t width, uint32_t query_tokens, uint32_t key_tokens);

/* Global attention over [1, H, W, C] with spatial reduction of keys and values (PVT, Twins): norm1 to
 * residual1. */
uint32_t pim_build_reduced_attention(struct pim_builder *b, struct pim_transformer_block *block,
                                     uint32_t input);

/* Final norm, mean over all tokens, classifier. */
void pim_build_mean_head(struct pim_builder *b, uint32_t input);
/* Final norm, class token, classifier. */
void pim_build_class_head(struct pim_builder *b, uint32_t input);
void pim_build_classifier(struct pim_builder *b, uint32_t input);

/* The families. */
void pim_build_vit(struct pim_builder *b);
void pim_build_swin(struct pim_builder *b);
void pim_build_pvt(struct pim_builder *b);
void pim_build_twins(struct pim_builder *b);
void pim_build_focal(struct pim_builder *b);
void pim_build_cswin(struct pim_builder *b);

#endif

/*
 * The structured view of a vision transformer: what a mapper of transformers needs to know beside the layers.
 *
 * The builders that make the graph fill this view at the same time, so that both always agree. The unit of
 * parallelism is the branch: an independent attention computation on one local region (a window, a stripe, or
 * the whole map for global attention).
 *
 * Padding. Windows that do not divide the map are padded, as the reference implementations do: branches_x =
 * ceil(width / window). `query_tokens` and `key_tokens` are those of a whole, padded branch; `tokens` of a
 * block are the real ones.
 *
 * Invariants (checked by tests for every family and size):
 *  1. branches = branches_x * branches_y; branches * query_tokens >= tokens, equal where windows divide the
 *     map.
 *  2. The heads of all attentions of a block times their head_channels add up to `channels`.
 *  3. Layers first_layer..last_layer of the graph have stage and block of the block, and no other layer has
 *     this block.
 *  4. Blocks of a stage are first_block..first_block + blocks - 1 and follow each other in the graph.
 */
#ifndef PIMSIM_MAPPERS_NETWORK_TRANSFORMER_H
#define PIMSIM_MAPPERS_NETWORK_TRANSFORMER_H

#include <stdbool.h>
#include <stdint.h>

/* X(name, text) */
#define PIM_FAMILY_MAP(X)                                                                                    \
    X(PIM_FAMILY_VIT, "vit")                                                                                 \
    X(PIM_FAMILY_SWIN, "swin")                                                                               \
    X(PIM_FAMILY_PVT, "pvt")                                                                                 \
    X(PIM_FAMILY_TWINS, "twins")                                                                             \
    X(PIM_FAMILY_FOCAL, "focal")                                                                             \
    X(PIM_FAMILY_CSWIN, "cswin")

enum pim_family {
#define X(name, text) name,
    PIM_FAMILY_MAP(X)
#undef X
        PIM_FAMILIES
};

enum { PIM_STAGES = 8, PIM_GRANULARITIES = 4, PIM_ATTENTIONS = 2 };

/* One attention computation inside a block. A block has one; CSWin has two, each with half of the heads. */
struct pim_attention {
    uint32_t heads;
    uint32_t head_channels;
    uint32_t branches; /* independent local regions */
    uint32_t branches_x, branches_y;
    uint32_t region_width, region_height; /* of a branch, in tokens of the padded map; query_tokens = their
                                             product (plus the class token, where the attention is global and
                                             there is one) */
    uint32_t query_tokens, key_tokens;    /* per branch, padding included; keys and values are equally many */
    uint32_t granularities;               /* Focal: key_tokens is the sum over these; 1 elsewhere */
    uint32_t granularity_keys[PIM_GRANULARITIES]; /* keys from the finest (the branch and what surrounds it)
                                                     to the coarsest */
    bool global;                                  /* one branch that sees the whole map */
    uint32_t scores_layer;                        /* in the graph */
};

struct pim_transformer_block {
    uint32_t stage, index; /* index in its stage */
    uint32_t channels, hidden_channels;
    uint32_t attentions;
    struct pim_attention attention[PIM_ATTENTIONS];
    uint64_t tokens;     /* real tokens of the feature map, class token included */
    uint64_t key_inputs; /* tokens from which keys and values are projected: tokens, or fewer behind a spatial
                            reduction; padding included */
    bool shifted;        /* Swin: windows are shifted by half a window */
    uint32_t shift;      /* tokens of that shift, 0 if not shifted */
    uint32_t reduction;  /* spatial reduction of keys and values per side (PVT, Twins global), 1 none */
    uint32_t first_layer, last_layer; /* in the graph */
    uint64_t macs, padding_macs, parameters;
};

struct pim_transformer_stage {
    uint32_t height, width; /* feature map, in tokens, without padding */
    uint32_t class_tokens;  /* 1 where a class token goes through the blocks of this stage */
    uint32_t channels, heads;
    uint32_t blocks, first_block;
    uint32_t merge_inputs; /* the patch embedding or merging in front of the stage as a matrix product:
                               height * width rows of merge_inputs, times merge_inputs x merge_outputs */
    uint32_t merge_outputs;
    uint32_t merge_layer; /* its convolution or linear layer in the graph */
    uint32_t mlp_ratio;
    uint32_t window;    /* side of a window; stripe width in CSWin; 0 where attention is global */
    uint32_t reduction; /* spatial reduction of the global attention of this stage, 1 none */
};

struct pim_transformer {
    enum pim_family family;
    uint32_t image; /* side in pixels */
    uint32_t patch;
    uint32_t input_channels;
    uint32_t classes;
    uint32_t stages;
    struct pim_transformer_stage stage[PIM_STAGES];
    uint32_t blocks; /* of all stages */
    struct pim_transformer_block *block;
    uint32_t head_layer; /* classifier in the graph; PIM_NONE when classes is 0 */
};

/* "swin" ...; NULL outside the table. */
const char *pim_family_name(unsigned family);

#endif

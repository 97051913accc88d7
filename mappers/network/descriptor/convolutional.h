/*
 * Families of convolutional networks, as a descriptor names them beside the vision transformers; and BERT,
 * which like them is a graph without the view of vision transformers.
 *
 * All but BERT work on maps [1, channels, height, width]. Batch normalisation is part of the convolution
 * before it (its bias), as every accelerator runs it; activations, poolings and sums are layers of their own.
 * docs/networks.md has the rules.
 */
#ifndef PIMSIM_MAPPERS_NETWORK_DESCRIPTOR_CONVOLUTIONAL_H
#define PIMSIM_MAPPERS_NETWORK_DESCRIPTOR_CONVOLUTIONAL_H

#include "mappers/network/builder.h"

/* X(name, text); in a descriptor they follow the families of transformers */
#define PIM_CONVOLUTIONAL_MAP(X)                                                                             \
    X(PIM_CONVOLUTIONAL_VGG, "vgg")                                                                          \
    X(PIM_CONVOLUTIONAL_RESNET, "resnet")                                                                    \
    X(PIM_CONVOLUTIONAL_DARKNET, "darknet")                                                                  \
    X(PIM_CONVOLUTIONAL_ALEXNET, "alexnet")                                                                  \
    X(PIM_CONVOLUTIONAL_GOOGLENET, "googlenet")                                                              \
    X(PIM_CONVOLUTIONAL_SQUEEZENET, "squeezenet")                                                            \
    X(PIM_CONVOLUTIONAL_BERT, "bert")                                                                        \
    X(PIM_CONVOLUTIONAL_MOBILENET, "mobilenet")                                                              \
    X(PIM_CONVOLUTIONAL_EFFICIENTNET, "efficientnet")                                                        \
    X(PIM_CONVOLUTIONAL_SHUFFLENET, "shufflenet")                                                            \
    X(PIM_CONVOLUTIONAL_ZFNET, "zfnet")

enum pim_convolutional {
#define X(name, text) name,
    PIM_CONVOLUTIONAL_MAP(X)
#undef X
        PIM_CONVOLUTIONALS
};

enum { PIM_HIDDEN_LAYERS = 4 };

/* What a descriptor says, checked: lists have one value for each stage. */
struct pim_convolutional_specification {
    enum pim_convolutional family;
    uint32_t image, input_channels, classes;
    uint32_t stages;
    uint32_t blocks[PIM_STAGES];   /* vgg: convolutions; resnet, darknet: residual blocks; bert: encoders */
    uint32_t channels[PIM_STAGES]; /* of a stage's convolutions; resnet: of the narrow ones */
    uint32_t hidden
        [PIM_HIDDEN_LAYERS]; /* vgg, alexnet, zfnet: outputs of the fully connected layers before the last */
    uint32_t hidden_layers;
    uint32_t groups;        /* alexnet: of its second, fourth and fifth convolution */
    uint32_t tokens, heads; /* bert */
    bool bottleneck;        /* resnet: blocks of 1x1, 3x3 and 1x1, the last four times as wide */
};

/* Appends the whole network; b->status tells. `b->transformer` and `b->specification` are not looked at. */
void pim_build_convolutional(struct pim_builder *b, const struct pim_convolutional_specification *s);

/* The encoders of BERT. */
void pim_build_bert(struct pim_builder *b, const struct pim_convolutional_specification *s);

/* NULL outside. */
const char *pim_convolutional_name(unsigned family);

#endif

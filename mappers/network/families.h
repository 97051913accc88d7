/*
 * What the families of vision transformers are beside their sizes: a row each. Descriptors, recognition and
 * mappers ask the row, never the family; a builder makes the layers.
 */
#ifndef PIMSIM_MAPPERS_NETWORK_FAMILIES_H
#define PIMSIM_MAPPERS_NETWORK_FAMILIES_H

#include "mappers/network/transformer.h"

struct pim_builder;

/* Keys of a descriptor that not all families read. */
enum pim_family_key {
    PIM_READS_WINDOW = 1u << 0, /* a window is not larger than the map of its stage */
    PIM_READS_STRIPE = 1u << 1, /* heads are halved between two directions, but in the last stage */
    PIM_READS_REDUCTION = 1u << 2,
    PIM_READS_FOCAL = 1u << 3, /* the windows around, and the tokens */
    PIM_READS_CLASS_TOKEN = 1u << 4
};

/* What the branches of a stage need of each other. */
enum pim_family_dependence {
    PIM_BRANCHES_ALONE,   /* nothing: there is one */
    PIM_BRANCHES_SHIFT,   /* features, for windows that are shifted in every second block */
    PIM_BRANCHES_AROUND,  /* keys and values of what lies around them, and of pooled windows */
    PIM_BRANCHES_MEET_ALL /* keys and values of all others */
};

/*
 * The depthwise 3 x 3 convolution of a position encoding: over the features of the whole map, once, behind
 * the first block of a stage, or over the values of each branch, in every block.
 */
enum pim_family_convolution { PIM_NO_CONVOLUTION, PIM_CONVOLUTION_OVER_MAP, PIM_CONVOLUTION_OVER_VALUES };

struct pim_family_row {
    void (*build)(struct pim_builder *b);
    unsigned keys;        /* of enum pim_family_key */
    bool single_stage;    /* one stage, whatever its sizes */
    bool pads_odd_maps;   /* merging pads a map of odd side; else its last row and column are lost */
    bool ends_with_class; /* the last stage has a class token, and so no reduction */
    bool alternates;      /* blocks in windows and global ones by turns */
    enum pim_family_dependence dependence;
    enum pim_family_convolution convolution;
};

extern const struct pim_family_row pim_families[PIM_FAMILIES];

#endif

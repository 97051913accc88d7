/*
 * The layers of a network as nests have them: products (convolutions, matrix products) with their real shape,
 * and vector layers (additions, poolings, normalisations, softmax), which are scheduled like any other.
 *
 * An activation, or a batch normalisation, that alone reads a layer is worked on the layer's outputs where
 * they are: it is counted there (`post`). Arrangements (reshape, transpose, concat, slices) are no layers:
 * who reads them reads what is behind them, by windows and channels where that is what the arrangement
 * means, and as a whole where the analysis does not follow it.
 */
#ifndef PIMSIM_MAPPERS_OVERLAPIM_LAYERS_H
#define PIMSIM_MAPPERS_OVERLAPIM_LAYERS_H

#include "mappers/network/descriptor/descriptor.h"
#include "mappers/overlapim/analysis/overlap.h"

/* Operations in the columns of a bank, on one number each. */
struct pim_column_operations {
    uint32_t additions, multiplications;
};

struct pim_mapped_layer {
    const char *name; /* of the graph */
    uint32_t graph_layer;
    bool product;   /* its products are C x R x S an output; otherwise `each` is all there is */
    uint32_t depth; /* layers on the longest way from the input to it */
    uint32_t main;  /* index of the link that a search looks at: the deepest producer; without links: 0 */
    struct pim_column_operations each; /* vector layers: for an output */
    struct pim_column_operations post; /* after the last contribution to an output */
    struct pim_workload workload;
    uint32_t links;
    struct pim_link *link; /* owned; producers are indices of mapped layers */
    uint32_t *part;        /* owned; by link: what comes from it, of PIM_OPERAND for each operand */
    uint32_t operands;     /* tensors that it reads and that layers make; a concatenation is one */
};

enum { PIM_OPERAND = 1 << 20 };

struct pim_mapped_layers {
    uint32_t count, products;
    struct pim_mapped_layer *layer;
    uint32_t whole_links; /* needs that are not followed */
};

/* PIM_BAD_INPUT names a layer whose operator is not supported, and why. */
enum pim_status pim_mapped_layers_make(const struct pim_network *network, struct pim_mapped_layers *layers,
                                       struct pim_error *error);
void pim_mapped_layers_terminate(struct pim_mapped_layers *layers);

#endif

/*
 * What a network graph computes, apart from how a file writes it: its items, in an order that does not
 * depend on names, on the order of nodes, or on how data is moved in between. Internal to this folder.
 *
 * Rules.
 *  1. Items are the layers that compute with what comes from the network's input: products with weights,
 *     convolutions, products of two activations, normalisations, softmax, activations, poolings and
 *     reductions, elementwise work on two tensors that both come from the input, and whatever has no name
 *     here. Views and movement (reshapes, transpositions, slices, concatenations, padding), and elementwise
 *     work with numbers and learned tensors (scales, biases, position embeddings, masks) are none.
 *  2. Products with weights that read the same tensor are one item with all of their outputs: query, key and
 *     value may be one layer or three.
 *  3. The depth of an item is the longest way from the input to it, counted in items; elementwise work has
 *     the depth of its nearer operand, too: what a residual connection begins at.
 *  4. A product of two activations carries a digest of where its operands come from: each row of the first
 *     and each column of the second one (of the context: each row of the second one) is followed back to the
 *     token that it was computed from; a row of probabilities to the token of its query. The digest does not
 *     depend on the order of branches, nor on that of tokens inside a branch, but on which tokens are in a
 *     branch together.
 *  5. Items are sorted by depth, then by what they are.
 */
#ifndef PIMSIM_MAPPERS_NETWORK_RECOGNITION_SIGNATURE_H
#define PIMSIM_MAPPERS_NETWORK_RECOGNITION_SIGNATURE_H

#include "mappers/network/graph.h"
#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(name, text, words for the sizes) */
#define PIM_ITEM_MAP(X)                                                                                      \
    X(PIM_ITEM_LINEAR, "a product with weights", "rows, inputs, outputs")                                    \
    X(PIM_ITEM_CONVOLUTION, "a convolution",                                                                 \
      "positions, inputs of a group, outputs, kernel rows, columns, stride rows, columns, dilation rows, "   \
      "columns")                                                                                             \
    X(PIM_ITEM_PRODUCT, "a product of two activations", "products, rows, inner, columns")                    \
    X(PIM_ITEM_NORMALIZATION, "a normalisation", "kind, rows, columns")                                      \
    X(PIM_ITEM_SOFTMAX, "a softmax", "rows, columns")                                                        \
    X(PIM_ITEM_ACTIVATION, "an activation", "function, elements")                                            \
    X(PIM_ITEM_ELEMENTWISE, "elementwise work on two activations",                                           \
      "function, elements, depth of the nearer")                                                             \
    X(PIM_ITEM_POOLING, "a pooling", "kind, elements read, elements")                                        \
    X(PIM_ITEM_OTHER, "another operation", "operation, elements")

enum pim_item_kind {
#define X(name, text, sizes) name,
    PIM_ITEM_MAP(X)
#undef X
        PIM_ITEM_KINDS
};

enum { PIM_ITEM_SIZES = 9 };

struct pim_item {
    uint32_t depth;
    enum pim_item_kind kind;
    uint64_t size[PIM_ITEM_SIZES]; /* in the order of the table; unused ones are 0 */
    uint64_t tokens;               /* PRODUCT: rule 4 */
    uint32_t layer;                /* in the graph; no part of comparisons */
};

struct pim_signature {
    struct pim_item *item;
    size_t count;
};

/* PIM_BAD_INPUT for a graph whose attention is too large to follow; PIM_NO_MEMORY. */
enum pim_status pim_signature_make(const struct pim_graph *graph, struct pim_signature *signature,
                                   struct pim_error *error);
void pim_signature_terminate(struct pim_signature *signature);

/* Below 0, 0 or above 0: by depth, kind, sizes, tokens. */
int pim_item_compare(const struct pim_item *a, const struct pim_item *b);

/* Items at the beginning that are the same in both. */
size_t pim_signature_common(const struct pim_signature *a, const struct pim_signature *b);

/* "a softmax (rows, columns: 9408, 49)". Writes at most `size` bytes with the final 0 and returns `text`. */
const char *pim_item_text(const struct pim_item *item, char *text, size_t size);

/* Whether the layer adds two tensors that both come from the input, `computed` being one flag a layer. */
bool pim_layer_adds(const struct pim_graph *graph, uint32_t layer, const bool *computed);

/*
 * One flag a layer: whether it comes from the network's input (and not from parameters and constants alone).
 * The caller frees it; NULL: no memory.
 */
bool *pim_graph_computed(const struct pim_graph *graph);

/*
 * The product of two activations whose result, with numbers, masks and biases, a softmax is taken of;
 * PIM_NONE: none.
 */
uint32_t pim_softmax_scores(const struct pim_graph *graph, uint32_t softmax, const bool *computed);

/* Products, rows, inner, columns of a MATRIX_MULTIPLICATION. */
void pim_product_sizes(const struct pim_graph *graph, uint32_t layer, uint64_t size[PIM_ITEM_SIZES]);

#endif

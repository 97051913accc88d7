/*
 * From a network to the application node graph of H. Sun et al., "Minimizing Communication Conflicts in
 * Network-On-Chip Based Processing-In-Memory Architecture", ASP-DAC 2023, as its authors' generator makes it:
 * layers in tiles of four crossbars, a merge node for the partial sums of each, packets of one output pixel.
 *
 * A step of a node makes one output pixel, row by row, and sends it as one packet on every outgoing edge. The
 * edges are copies: a layer with several tiles receives every packet once for each of them.
 *
 * Transformers: a pixel is a token, a matrix product of tokens a 1 x 1 convolution over them; products of
 * activations are layers of one node. What puts tokens in another order (windows, shifts, slices) is no
 * layer: who reads behind it waits for all of them.
 *
 * Rules and their sources: docs/mappers/conflict.md.
 */
#ifndef PIMSIM_MAPPERS_CONFLICT_GRAPH_H
#define PIMSIM_MAPPERS_CONFLICT_GRAPH_H

#include "mappers/network/graph.h"
#include "models/cost/window.h"
#include "sim/status.h"

/* X(name, text) */
#define PIM_TILE_LAYER_MAP(X)                                                                                \
    X(PIM_TILE_CONVOLUTION, "conv")                                                                          \
    X(PIM_TILE_POOLING, "pooling")                                                                           \
    X(PIM_TILE_LINEAR, "fc")                                                                                 \
    X(PIM_TILE_SUM, "element_sum")                                                                           \
    X(PIM_TILE_CONCAT, "concat")                                                                             \
    X(PIM_TILE_PRODUCT, "product") /* of two activations: scores or context of attention */

enum pim_tile_layer_kind {
#define X(name, text) name,
    PIM_TILE_LAYER_MAP(X)
#undef X
        PIM_TILE_LAYER_KINDS
};

#define PIM_TILE_PRODUCTS (UINT64_C(1) << 32) /* elements of an operand that a step of a product reads */
#define PIM_TILE_IMAGE UINT32_MAX             /* as an input: the image, which costs nothing */

enum { PIM_TILE_INPUTS = 16, PIM_TILE_NODES = 1 << 16, PIM_TILE_STEPS = 1 << 24 };

/* A layer that occupies tiles. Index 0 is vertical, 1 horizontal. */
struct pim_tile_layer {
    const char *name;
    enum pim_tile_layer_kind kind;
    uint32_t inputs, input[PIM_TILE_INPUTS]; /* earlier layers, or PIM_TILE_IMAGE; none twice */
    /* Of each input, what a step waits for: 0 the pixel of its own number or its window, else a round of so
       many pixels, which is a head's keys or values, or the whole map in another order. */
    uint32_t round[PIM_TILE_INPUTS];
    uint32_t in_channels, out_channels; /* features of a fully connected layer */
    uint32_t groups;                    /* of a convolution; 0 stands for 1 */
    uint64_t products;                  /* multiply-accumulates of a step of a product of activations */
    struct pim_window window;           /* 1 x 1 of a fully connected layer; the kernel has its dilation */
    uint32_t rows;                      /* of a crossbar that an input channel takes: the weights */
    /* made by pim_tile_graph_make: */
    uint32_t row_blocks, column_blocks; /* of crossbars; 0 without weights */
    uint32_t tiles;                     /* with weights, then one merge node; else 1 and no merge node */
    uint32_t first_node;
};

/* Which of the authors' rules hold. */
enum pim_tile_preset {
    PIM_TILE_CODE, /* as their code: a fully connected tile takes the time of the last pooling, and a pooling
                      counts the channels of the last crossbar of the convolution before it */
    PIM_TILE_FIXED /* both mended */
};

/* The hardware of a tile. */
struct pim_tile_hardware {
    uint32_t crossbar_rows, crossbar_columns;         /* 256, 256 */
    uint32_t rows_of_crossbars, columns_of_crossbars; /* of a tile: 2 and 2 */
    uint32_t bits;                                    /* of an activation: 9 */
    enum pim_tile_preset preset;
};

#define PIM_TILE_DEFAULTS                                                                                    \
    {                                                                                                        \
        .crossbar_rows = 256, .crossbar_columns = 256, .rows_of_crossbars = 2, .columns_of_crossbars = 2,    \
        .bits = 9, .preset = PIM_TILE_CODE                                                                   \
    }

/* As a configuration has it; and the time of a step in which all crossbars of a tile are full. */
struct pim_machine_tiles;
struct pim_tile_hardware pim_tile_hardware_of(const struct pim_machine_tiles *machine,
                                              enum pim_tile_preset preset);
double pim_tile_full_step_ns(const struct pim_tile_hardware *hardware);

struct pim_tile_node {
    uint32_t layer;
    bool merge;        /* or a layer of one node: pooling, sum, concatenation */
    uint32_t steps;    /* for an image */
    double latency_ns; /* of a step */
    uint64_t bits;     /* of an output packet */
    uint64_t macs;     /* of a step; 0 without weights */
    uint32_t arrays;   /* crossbars with weights, each with all its bit slices */
};

/* Edges by source, then destination. */
struct pim_tile_edge {
    uint32_t source, destination;
    uint32_t packets; /* for an image: the steps of the source */
    uint64_t bits;
};

struct pim_tile_graph {
    struct pim_arena *arena; /* not owned */
    const char *name;
    struct pim_tile_hardware hardware;
    uint32_t layers, nodes, edges;
    struct pim_tile_layer *layer;
    struct pim_tile_node *node;
    struct pim_tile_edge *edge;
};

/*
 * The layers of a network, in its order. Activations, normalisations, reshapes and what puts tokens in
 * another order vanish. PIM_BAD_INPUT names a layer that has no place in this system: transposed
 * convolutions, volumes, recurrent layers, sorting. The arena keeps them; names stay the network's.
 */
enum pim_status pim_tile_layers_of(const struct pim_graph *graph, struct pim_arena *arena,
                                   struct pim_tile_layer **layers, uint32_t *count, struct pim_error *error);

/*
 * The layers of one of the authors' networks: "cifar-" and "imagenet-" with "alexnet", "vgg8", "resnet18" and
 * "vgg16"; false: there is no such name. Their AlexNet declares 1024 inputs for its first fully connected
 * layer, which receives 2048: kept.
 */
bool pim_tile_layers_named(const char *name, struct pim_arena *arena, struct pim_tile_layer **layers,
                           uint32_t *count);

/* The graph of layers, which it refers to. PIM_BAD_INPUT for sizes out of range; PIM_NO_MEMORY. */
enum pim_status pim_tile_graph_make(struct pim_tile_graph *graph, const char *name,
                                    struct pim_tile_layer *layers, uint32_t count,
                                    const struct pim_tile_hardware *hardware, struct pim_arena *arena,
                                    struct pim_error *error);

/* Packets of an edge that step `step` of its destination needs, and frees when it ends. */
void pim_tile_dependence(const struct pim_tile_graph *graph, uint32_t edge, uint32_t step, uint32_t *need,
                         uint32_t *drop);

const char *pim_tile_layer_kind_name(unsigned kind);

#endif

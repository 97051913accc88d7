/*
 * The PIMCOMP front-end: a network onto cores with crossbar arrays, for high throughput or low latency
 * (docs/mappers/pimcomp.md; paper: PIMCOMP, sections III to VII).
 *
 *     graph --lower--> layers --partition--> array groups --layout--> replicas --schedule--> programs
 *
 * Each stage takes plain data from the one before and adds its own; all of it lives in one arena.
 *
 * Units and shapes. An element (activation, weight, partial sum) has `element_bytes` bytes. A tensor is a map
 * of height x width pixels; a pixel holds all channels, back to back. Window w of a layer is the one that
 * makes output pixel w = y * width + x. The elements of a window are in the canonical order (row of the
 * kernel, column of the kernel, channel): the rows of the weight matrix.
 *
 * Invariants:
 *  1. Inputs of layer i are layers below i.
 *  2. The array groups of a layer cover each (canonical row, column) of its weight matrix exactly once.
 *  3. A layout gives every group of every replica a core, and no core more arrays than it has.
 *  4. Every layer with a matrix has at least one replica.
 */
#ifndef PIMSIM_MAPPERS_PIMCOMP_REPRESENTATION_PIMCOMP_H
#define PIMSIM_MAPPERS_PIMCOMP_REPRESENTATION_PIMCOMP_H

#include "mappers/machine/cores.h"
#include "mappers/network/graph.h"
#include "sim/arena.h"
#include "sim/configuration/configuration.h"
#include "sim/status.h"
#include "traces/trace.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Adds `counts`, `times` times, to a sum of the same type: `bytes` of nothing but 64-bit counts. */
static inline void pim_core_add_counts(void *sum, const void *counts, size_t bytes, uint64_t times)
{
    for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
        uint64_t one, other;
        memcpy(&one, (char *)sum + at, sizeof one);
        memcpy(&other, (const char *)counts + at, sizeof other);
        one += times * other;
        memcpy((char *)sum + at, &one, sizeof one);
    }
}

/* --- layers --- */

/* X(name, text) */
#define PIM_CORE_LAYER_MAP(X)                                                                                \
    X(PIM_CORE_INPUT, "input")                                                                               \
    X(PIM_CORE_MATRIX, "matrix")   /* convolution or linear: windows through array groups */                 \
    X(PIM_CORE_POOLING, "pooling") /* VFU */                                                                 \
    X(PIM_CORE_ELEMENT, "element") /* VFU: pixel by pixel, one or two inputs of the same map */              \
    X(PIM_CORE_PRODUCT, "product") /* VFU: of two activations */                                             \
    X(PIM_CORE_MOVE, "move")       /* memory: elements to other places, or to none */

enum pim_core_layer_kind {
#define X(name, text) name,
    PIM_CORE_LAYER_MAP(X)
#undef X
        PIM_CORE_LAYERS
};

/* "matrix", ..; NULL outside. */
const char *pim_core_layer_kind_name(unsigned kind);

/* Channels [channel, channel + channels) of every pixel of a layer. */
struct pim_core_part {
    uint32_t layer, channel, channels;
};

/* An input: the channels of its pixels are those of the parts, one after the other (concatenation, slices and
 * changes of shape are resolved into parts; a concatenation is no layer of its own). All parts have the same
 * height and width. */
struct pim_core_source {
    uint32_t parts;
    const struct pim_core_part *part;
    uint32_t channels, height, width;
};

enum { PIM_CORE_SOURCES = 2 };

/* A scale or shift for each channel that went into weights and bias of the matrix before: layer `graph_layer`
 * of the graph. Channel c is element c * stride of its output. */
enum { PIM_CORE_AFFINES = 4 };
struct pim_core_affine {
    uint32_t graph_layer;
    uint64_t stride;
};

/* One step of the VFU on a vector, as in a LOCAL_VECTOR (traces/instruction.h). */
struct pim_core_vector {
    uint8_t operation; /* enum pim_local */
    int32_t immediate;
};

/*
 * Elements that a MOVE layer copies. For each tuple of loop indices i: position `from` + sum of i * loop.from
 * of the source goes to position `to` + sum of i * loop.to of the output; positions are (channel, row,
 * column). All positions lie in their maps, and no two tuples of a layer have the same output position.
 */
enum { PIM_CORE_LOOPS = 12 };
struct pim_core_loop {
    uint32_t extent;
    int32_t from[3], to[3];
};
struct pim_core_move {
    uint32_t source;
    int32_t from[3], to[3];
    uint32_t loops; /* outermost first */
    struct pim_core_loop loop[PIM_CORE_LOOPS];
};

/*
 * A PRODUCT layer: for each of `branches` ranges of pixels and each of `batches` blocks of channels, output
 * pixel m, channel n = sum over k of source[0] pixel m, channel k times source[1] pixel k, channel n;
 * `transposed`: times source[1] pixel n, channel k.
 */
struct pim_core_product {
    uint32_t branches, batches, inner, columns; /* inner: k, columns: n */
    bool transposed;
};

struct pim_core_layer {
    const char *name;
    uint32_t graph_layer;  /* the layer of the graph that makes this output: the last one that was fused */
    uint32_t matrix_layer; /* MATRIX: the convolution or linear layer of the graph */
    enum pim_core_layer_kind kind;
    uint32_t sources;
    struct pim_core_source source[PIM_CORE_SOURCES];
    uint32_t channels, height, width; /* of the output; windows = height * width */
    uint32_t windows;
    struct pim_sliding sliding; /* MATRIX, POOLING; a linear layer on a map is a kernel as large as the map */
    uint32_t rows;    /* MATRIX: of the weight matrix = kernel[0] * kernel[1] * channels of the source */
    uint32_t blocks;  /* MATRIX: groups of the convolution, 1 when every output sees every input channel */
    uint32_t affines; /* MATRIX, in order */
    struct pim_core_affine affine[PIM_CORE_AFFINES];
    uint32_t first_channel; /* MATRIX: of the tensor and the weight matrix, where a layer is a part of one */
    bool bias;              /* MATRIX: a vector of `channels` is added */
    bool average;           /* POOLING: mean of the positions inside the map, else maximum */
    bool total;             /* POOLING with `average`: the sum itself */
    bool broadcast;         /* ELEMENT: source[1] has one pixel, which meets every pixel of source[0] */
    struct pim_core_vector element; /* ELEMENT: with two sources, of both; with one, of the source */
    uint32_t afters;                /* fused activations, in order, on the output */
    struct pim_core_vector after[2];
    uint32_t moves; /* MOVE: output elements that none of them names are 0 */
    const struct pim_core_move *move;
    struct pim_core_product product;
    uint32_t block; /* ELEMENT: channels that are normalised together; 0: all */
    /* blocks of so many channels lie tensor_block_stride apart in the tensor; 0: channels are one block */
    uint32_t tensor_block;
    uint64_t tensor_block_stride;
    uint64_t tensor_stride[3]; /* element of the tensor of graph_layer: sum of these times (channel, row,
                                  column) */
    bool flat; /* MATRIX of a linear layer: rows are elements of a tensor (or of its last dimension) */
    uint64_t flat_stride[3]; /* flat: as tensor_stride, of a position of the kernel */
    uint32_t consumers;      /* layers that have a part of this one */
    const uint32_t *consumer;
    bool output; /* of the network: must be stored in global memory */
};

struct pim_core_network {
    struct pim_arena *arena;
    const char *name;
    uint32_t count;
    struct pim_core_layer *layer;
};

/*
 * Lowers a graph: fuses activations into the layer before, turns linear layers into windows, resolves
 * concatenation, slices of channels, reshape, flatten and dropout.
 * PIM_BAD_INPUT names the layer that cores cannot execute and
 * why (a product of two activations has no weight to store, ...).
 */
enum pim_status pim_core_network_lower(const struct pim_graph *graph, const char *name,
                                       struct pim_arena *arena, struct pim_core_network *network,
                                       struct pim_error *error);

/* Lists who reads what; the layers are complete otherwise. */
enum pim_status pim_core_network_connect(struct pim_core_network *network, struct pim_error *error);

/* --- array groups (section V) --- */

/* The five unfoldings of Table IV as (H, W, P), and blocks on the diagonal; X(name, text) */
#define PIM_UNFOLDING_MAP(X)                                                                                 \
    X(PIM_UNFOLDING_I_O_KK, "i_o_kk") /* (I, O, K^2) */                                                      \
    X(PIM_UNFOLDING_I_OKK_1, "i_okk_1")                                                                      \
    X(PIM_UNFOLDING_IK_O_K, "ik_o_k")                                                                        \
    X(PIM_UNFOLDING_IK_OK_1, "ik_ok_1")                                                                      \
    X(PIM_UNFOLDING_IKK_O_1, "ikk_o_1") /* (I K^2, O, 1): the usual one */                                   \
    X(PIM_UNFOLDING_BLOCKS, "blocks")   /* convolutions of G groups: (I K^2 / G, O / G, G) */

enum pim_unfolding {
#define X(name, text) name,
    PIM_UNFOLDING_MAP(X)
#undef X
        PIM_UNFOLDINGS
};

/* What one layer needs for one replica. `group[].layer` is the index in the core network. */
struct pim_core_partition_layer {
    enum pim_unfolding unfolding;
    uint32_t groups;
    const struct pim_trace_array_group *group;
    uint32_t arrays; /* of all groups together */
    uint32_t bundle; /* not 0: canonical rows are in the order (bundle of so many channels of the source, row
                        of the kernel, column of the kernel, channel of the bundle) */
};

/* Canonical rows that are neighbouring channels of one position of the kernel. */
struct pim_core_stretch {
    uint32_t position; /* row of the kernel * columns + column */
    uint32_t channel, channels;
};

/* The stretch that begins with canonical row `row` and ends before `end`, which is no more than the layer's
 * rows. */
struct pim_core_stretch pim_core_stretch_at(const struct pim_core_layer *layer,
                                            const struct pim_core_partition_layer *part, uint32_t row,
                                            uint32_t end);

struct pim_core_partition {
    struct pim_core_partition_layer *layer; /* one for each layer of the network; groups 0 where no matrix */
    uint64_t arrays;                        /* for one replica of every layer */
    uint64_t macs, weights; /* of the matrices as they are stored: with the zeros of grouped convolutions
                               that are not in blocks */
    bool larger; /* PIM_BAD_INPUT for lack of arrays or for too many array groups: a part of it may fit */
};

/* --- layout (section VI) --- */

struct pim_core_layout_layer {
    uint32_t replicas;
    uint32_t *core; /* [replica * groups + group] */
};

struct pim_core_layout {
    struct pim_core_layout_layer *layer;
};

/* --- everything together, for the schedulers --- */

enum pim_core_mode { PIM_CORE_HIGH_THROUGHPUT, PIM_CORE_LOW_LATENCY };

struct pim_core_mapping {
    const struct pim_core_architecture *architecture;
    const struct pim_core_network *network;
    const struct pim_core_partition *partition;
    const struct pim_core_layout *layout;
    enum pim_core_mode mode;
    /* Of a segment (segments/segments.h): what the groups of the trace are called. */
    const uint32_t *first_group; /* of each core: number of its first; NULL: 0 */
    const uint32_t *origin;      /* of each layer: its number in the trace; NULL: its own */
    uint32_t set;                /* of all groups */
};

/*
 * Where a schedule put things in global memory, for whoever feeds it and reads the outputs (the functional
 * check). Maps are stored pixel by pixel. PIM_CORE_NOWHERE: not in global memory.
 */
#define PIM_CORE_NOWHERE UINT64_MAX
struct pim_core_place {
    uint64_t address; /* of sample 0 */
    uint64_t pixel_stride;
    uint64_t sample_stride; /* of sample s modulo `slots`: address + (s mod slots) * sample_stride */
    uint32_t slots;
};
struct pim_core_memory_map {
    struct pim_core_place *map; /* of each layer's output; inputs are read from here */
    uint64_t *bias;             /* of each layer with a bias: channels elements */
    uint64_t *weights; /* of each layer: its groups, one behind the other, as `array_write` wants them; NULL:
                          no weights are there */
    uint64_t bytes;    /* used in all */
};

#endif

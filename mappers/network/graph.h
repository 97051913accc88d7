/*
 * The network graph that all mappers share: layers in topological order, each with one output tensor.
 *
 * A layer names its operator, its inputs (indices of earlier layers), its attributes and, after it was added,
 * the shape of its output, its multiply-accumulate operations (MACs) and its parameters. An operation with
 * several outputs (a split) is written as several layers that each read a slice. A learned tensor that is not
 * the weight of an operator (class token, position embedding) is a layer of its own, PIM_OPERATOR_PARAMETER.
 *
 * Layouts. Feature maps of convolutions and poolings are [batch, channels, height, width], volumes of three
 * dimensions [batch, channels, depth, height, width]; token maps are
 * [batch, height, width, channels]; token sequences are [batch or branches, tokens, channels]. Operators on
 * tokens work on the last dimension. PIM_OPERATOR_TRANSPOSE changes between layouts and costs no MACs.
 *
 * What is counted.
 *   MACs: multiplications of matrix products and convolutions, attention scores and context included;
 * additions of biases, normalisation, softmax, activation, pooling and elementwise work are not MACs (mappers
 * price them by their elements). Padded positions that an operator computes are counted as the reference
 * implementations of the networks do, and the part of them that is padding is known: `padding_macs`.
 *   Parameters: weights, biases, scales and shifts of normalisations, position embeddings, relative position
 * bias tables.
 *
 * Invariants (pim_graph_check):
 *  1. Every input index of layer i is below i: the order is topological and there is no cycle.
 *  2. Shape, MACs and parameters of a layer are those that pim_operator_infer() derives from its inputs and
 *     attributes.
 *  3. No dimension is 0 or above PIM_DIMENSION_LIMIT, no tensor has more than PIM_ELEMENT_LIMIT elements.
 *  4. padding_macs <= macs.
 *  5. A layer that nothing reads is an output of the network; an input or a parameter is none.
 *  6. A linear layer that shares weights names an earlier linear layer with weights of its own, whose matrix
 *     has its inputs and outputs, swapped where it is transposed, and whose bias (or none) it has; weights of
 *     one's own are not transposed.
 */
#ifndef PIMSIM_MAPPERS_NETWORK_GRAPH_H
#define PIMSIM_MAPPERS_NETWORK_GRAPH_H

#include "sim/arena.h"
#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PIM_SHAPE_RANK = 8, PIM_LAYER_INPUTS = 256 };
#define PIM_DIMENSION_LIMIT UINT32_C(2147483647)
#define PIM_ELEMENT_LIMIT (UINT64_C(1) << 53)
#define PIM_COUNT_LIMIT (UINT64_MAX / 2) /* of the MACs and of the parameters of a network */
#define PIM_NONE UINT32_MAX              /* no layer, no stage, no block */

/* X(name, text) */
#define PIM_OPERATOR_MAP(X)                                                                                  \
    X(PIM_OPERATOR_INPUT, "input")             /* the image or feature map that enters the network */        \
    X(PIM_OPERATOR_PARAMETER, "parameter")     /* a learned tensor that other layers read */                 \
    X(PIM_OPERATOR_CONSTANT, "constant")       /* one that is not learned: masks, tables of places */        \
    X(PIM_OPERATOR_CONVOLUTION, "convolution") /* of a map or a volume; grouped and depthwise included */    \
    X(PIM_OPERATOR_TRANSPOSED_CONVOLUTION, "transposed_convolution") /* spreads each position */             \
    X(PIM_OPERATOR_LINEAR, "linear") /* matrix product of the last dimension with a weight */                \
    X(PIM_OPERATOR_MATRIX_MULTIPLICATION, "matrix_multiplication") /* of two activations */                  \
    X(PIM_OPERATOR_ATTENTION_SCORES, "attention_scores")           /* per head: query * key^T (+ bias) */    \
    X(PIM_OPERATOR_ATTENTION_CONTEXT, "attention_context")         /* per head: probabilities * value */     \
    X(PIM_OPERATOR_RECURRENT, "recurrent") /* all steps of a recurrent layer, one direction or both */       \
    X(PIM_OPERATOR_NORMALIZATION, "normalization")                                                           \
    X(PIM_OPERATOR_ACTIVATION, "activation")                                                                 \
    X(PIM_OPERATOR_SOFTMAX, "softmax") /* over the last dimension */                                         \
    X(PIM_OPERATOR_POOLING, "pooling")                                                                       \
    X(PIM_OPERATOR_REDUCTION, "reduction") /* over some dimensions */                                        \
    X(PIM_OPERATOR_ELEMENTWISE, "elementwise")                                                               \
    X(PIM_OPERATOR_CONCAT, "concat")                                                                         \
    X(PIM_OPERATOR_SLICE, "slice")                                                                           \
    X(PIM_OPERATOR_GATHER, "gather") /* positions of one dimension, in the order of an index tensor */       \
    X(PIM_OPERATOR_EXPAND, "expand") /* copies along dimensions: broadcasting, tiling, resizing */           \
    X(PIM_OPERATOR_PAD, "pad")                                                                               \
    X(PIM_OPERATOR_SAMPLE, "sample")   /* elements picked or interpolated at computed places */              \
    X(PIM_OPERATOR_SCATTER, "scatter") /* elements written to computed places */                             \
    X(PIM_OPERATOR_SORT, "sort")       /* order or the largest of a dimension, and their places */           \
    X(PIM_OPERATOR_RESHAPE, "reshape")                                                                       \
    X(PIM_OPERATOR_TRANSPOSE, "transpose")                                                                   \
    X(PIM_OPERATOR_SHIFT, "shift")                       /* cyclic roll of a token map */                    \
    X(PIM_OPERATOR_WINDOW_PARTITION, "window_partition") /* token map -> [branches, tokens, channels] */     \
    X(PIM_OPERATOR_WINDOW_REVERSE, "window_reverse")     /* and back */                                      \
    X(PIM_OPERATOR_WINDOW_GATHER, "window_gather")       /* overlapping regions around windows (Focal) */    \
    X(PIM_OPERATOR_PATCH_MERGING, "patch_merging")       /* space to depth of a token map */

enum pim_operator {
#define X(name, text) name,
    PIM_OPERATOR_MAP(X)
#undef X
        PIM_OPERATORS
};

/* What a layer is for in a transformer; PIM_ROLE_OTHER in any other place. X(name, text) */
#define PIM_ROLE_MAP(X)                                                                                      \
    X(PIM_ROLE_OTHER, "other")                                                                               \
    X(PIM_ROLE_PATCH_EMBEDDING, "patch_embedding")                                                           \
    X(PIM_ROLE_POSITION, "position") /* position embedding or convolutional position encoding */             \
    X(PIM_ROLE_PATCH_MERGING, "patch_merging")                                                               \
    X(PIM_ROLE_NORM1, "norm1")                                                                               \
    X(PIM_ROLE_REDUCTION, "reduction") /* spatial reduction of keys and values, pooling to coarse tokens */  \
    X(PIM_ROLE_WINDOW, "window")       /* shift, padding, partition, reverse: data movement of branches */   \
    X(PIM_ROLE_QUERY, "query")                                                                               \
    X(PIM_ROLE_KEY, "key")                                                                                   \
    X(PIM_ROLE_VALUE, "value")                                                                               \
    X(PIM_ROLE_SCORES, "scores")                                                                             \
    X(PIM_ROLE_SOFTMAX, "softmax")                                                                           \
    X(PIM_ROLE_CONTEXT, "context")                                                                           \
    X(PIM_ROLE_LOCAL_POSITION, "local_position") /* locally enhanced position encoding (CSWin) */            \
    X(PIM_ROLE_PROJECTION, "projection")                                                                     \
    X(PIM_ROLE_RESIDUAL1, "residual1")                                                                       \
    X(PIM_ROLE_NORM2, "norm2")                                                                               \
    X(PIM_ROLE_FFN_EXPAND, "ffn_expand")                                                                     \
    X(PIM_ROLE_GELU, "gelu")                                                                                 \
    X(PIM_ROLE_FFN_CONTRACT, "ffn_contract")                                                                 \
    X(PIM_ROLE_RESIDUAL2, "residual2")                                                                       \
    X(PIM_ROLE_FINAL_NORM, "final_norm")                                                                     \
    X(PIM_ROLE_HEAD, "head")

enum pim_role {
#define X(name, text) name,
    PIM_ROLE_MAP(X)
#undef X
        PIM_ROLES
};

/* X(name, text) */
#define PIM_ACTIVATION_MAP(X)                                                                                \
    X(PIM_ACTIVATION_GELU, "gelu")                                                                           \
    X(PIM_ACTIVATION_RELU, "relu")                                                                           \
    X(PIM_ACTIVATION_SIGMOID, "sigmoid")                                                                     \
    X(PIM_ACTIVATION_TANH, "tanh")                                                                           \
    X(PIM_ACTIVATION_CLIP, "clip")                                                                           \
    X(PIM_ACTIVATION_SILU, "silu")                                                                           \
    X(PIM_ACTIVATION_LEAKY_RELU, "leaky_relu")                                                               \
    X(PIM_ACTIVATION_HARD_SIGMOID, "hard_sigmoid")                                                           \
    X(PIM_ACTIVATION_HARD_SWISH, "hard_swish")                                                               \
    X(PIM_ACTIVATION_ELU, "elu")                                                                             \
    X(PIM_ACTIVATION_SOFTPLUS, "softplus")                                                                   \
    X(PIM_ACTIVATION_MISH, "mish")                                                                           \
    X(PIM_ACTIVATION_ERROR_FUNCTION, "error_function")                                                       \
    X(PIM_ACTIVATION_EXPONENTIAL, "exponential")                                                             \
    X(PIM_ACTIVATION_LOGARITHM, "logarithm")                                                                 \
    X(PIM_ACTIVATION_SQUARE_ROOT, "square_root")                                                             \
    X(PIM_ACTIVATION_RECIPROCAL, "reciprocal")                                                               \
    X(PIM_ACTIVATION_OTHER, "other") /* another function of one element: rounding, absolute value, sine */

enum pim_activation {
#define X(name, text) name,
    PIM_ACTIVATION_MAP(X)
#undef X
        PIM_ACTIVATIONS
};

/* X(name, text) */
#define PIM_ELEMENTWISE_MAP(X)                                                                               \
    X(PIM_ELEMENTWISE_ADD, "add")                                                                            \
    X(PIM_ELEMENTWISE_SUBTRACT, "subtract")                                                                  \
    X(PIM_ELEMENTWISE_MULTIPLY, "multiply")                                                                  \
    X(PIM_ELEMENTWISE_DIVIDE, "divide")                                                                      \
    X(PIM_ELEMENTWISE_MAXIMUM, "maximum")                                                                    \
    X(PIM_ELEMENTWISE_MINIMUM, "minimum")                                                                    \
    X(PIM_ELEMENTWISE_POWER, "power")                                                                        \
    X(PIM_ELEMENTWISE_SELECT, "select") /* masks and comparisons */                                          \
    X(PIM_ELEMENTWISE_OTHER, "other")   /* unknown to us, but keeps the shape */

enum pim_elementwise {
#define X(name, text) name,
    PIM_ELEMENTWISE_MAP(X)
#undef X
        PIM_ELEMENTWISES
};

enum pim_normalization {
    PIM_NORMALIZATION_LAYER,          /* over the last dimension */
    PIM_NORMALIZATION_BATCH,          /* per channel of [batch, channels, ...] */
    PIM_NORMALIZATION_LOCAL_RESPONSE, /* over neighbouring channels of [batch, channels, ...]; never affine */
    PIM_NORMALIZATIONS
};

enum pim_reduction { PIM_REDUCTION_MEAN, PIM_REDUCTION_SUM, PIM_REDUCTION_EXTREMUM, PIM_REDUCTION_OTHER };
enum pim_pooling { PIM_POOLING_MAXIMUM, PIM_POOLING_AVERAGE, PIM_POOLING_NORM, PIM_POOLINGS };

/* Recurrent layers; each has that many gates of hidden x (inputs + hidden) products a step (RECURRENT). */
enum pim_recurrent { PIM_RECURRENT_PLAIN, PIM_RECURRENT_GRU, PIM_RECURRENT_LSTM, PIM_RECURRENTS };

/* A dense tensor's dimensions, outermost first. rank 0 is a scalar of one element. */
struct pim_shape {
    uint32_t rank;
    uint32_t dimension[PIM_SHAPE_RANK];
};

/* Sliding window of convolution and pooling: index 0 is vertical, 1 horizontal, and 2 along the depth of a
 * volume (for a map all its entries are 0). A stride or dilation of 1 is none. */
struct pim_sliding {
    uint32_t kernel[3], stride[3], dilation[3];
    uint32_t pad_before[3], pad_after[3];
    bool ceil_mode; /* the last, partial position counts (pooling) */
};

/* Attributes of a layer; which member is valid follows from the operator. */
union pim_attributes {
    struct pim_shape
        shape; /* INPUT, PARAMETER, CONSTANT, RESHAPE, EXPAND, SAMPLE, SCATTER, SORT: the output's */
    struct {   /* CONVOLUTION, TRANSPOSED_CONVOLUTION */
        struct pim_sliding sliding;
        uint32_t outputs; /* output channels */
        uint32_t groups;
        bool bias;
        uint32_t output_padding[3]; /* TRANSPOSED_CONVOLUTION: further positions behind the map */
    } convolution;
    struct { /* RECURRENT: [steps, batch, inputs] -> [steps, directions, batch, hidden] */
        enum pim_recurrent kind;
        uint32_t hidden, directions;
        bool bias;      /* two for each gate and unit, as the format and the frameworks have them */
        bool peepholes; /* LSTM: three further weights for each unit */
    } recurrent;
    struct { /* LINEAR */
        uint32_t outputs;
        bool bias;
        bool shared;         /* the weights are those of layer `weights_of`: no parameters of its own */
        uint32_t weights_of; /* valid when shared */
        bool transposed;     /* of shared weights: the matrix is the other's, transposed */
    } linear;
    struct { /* MATRIX_MULTIPLICATION: [.., m, k] * [.., k, n], or * [.., n, k]^T; leading dimensions
                broadcast */
        bool transpose_second;
    } matrix;
    struct { /* ATTENTION_SCORES, ATTENTION_CONTEXT */
        uint32_t heads;
        uint64_t bias_parameters; /* SCORES: entries of the relative position bias tables, all heads */
    } attention;
    struct { /* NORMALIZATION */
        enum pim_normalization kind;
        bool affine;           /* scale and shift per channel are parameters */
        bool unshifted;        /* of them only the scale */
        bool root_mean_square; /* LAYER: the mean is not taken off */
    } normalization;
    enum pim_activation activation; /* ACTIVATION */
    struct {                        /* POOLING */
        struct pim_sliding sliding;
        enum pim_pooling kind;
        bool global; /* one position over the whole map; `sliding` is ignored */
    } pooling;
    struct { /* REDUCTION: bit i of `axes` is dimension i */
        uint32_t axes;
        bool keep; /* reduced dimensions stay, with size 1 */
        enum pim_reduction kind;
    } reduction;
    enum pim_elementwise elementwise; /* ELEMENTWISE: one or two inputs, broadcast as in NumPy */
    struct {                          /* CONCAT */
        uint32_t axis;
    } concat;
    struct { /* SLICE: `count` positions of dimension `axis` from `begin` on, `step` apart; step 0 is 1 */
        uint32_t axis, begin, count, step;
        bool reversed; /* last position first */
    } slice;
    struct { /* GATHER: dimension `axis` is replaced by the dimensions of `indices`; a second input, if there
                is one, has that shape and holds the indices, otherwise they are constants */
        uint32_t axis;
        struct pim_shape indices;
    } gather_along;
    struct { /* PAD */
        uint32_t before[PIM_SHAPE_RANK], after[PIM_SHAPE_RANK];
    } pad;
    struct { /* TRANSPOSE: output dimension i is input dimension order[i] */
        uint32_t order[PIM_SHAPE_RANK];
    } transpose;
    struct { /* SHIFT: rows and columns of a token map [batch, height, width, channels] */
        int32_t rows, columns;
    } shift;
    struct { /* WINDOW_PARTITION, WINDOW_REVERSE: size of a window; REVERSE: size of the whole map */
        uint32_t height, width;
        uint32_t map_height, map_width;
    } window;
    struct { /* WINDOW_GATHER: for every stride x stride window of the map, the side x side region around it;
                cyclic: beyond the border the map begins anew, otherwise zeros are there */
        uint32_t stride, side;
        bool cyclic;
    } gather;
    struct { /* PATCH_MERGING: factor x factor neighbours into the channels; sizes that do not divide are
                padded */
        uint32_t factor;
    } merging;
};

/* A layer as its builder describes it. */
struct pim_layer_description {
    const char *name; /* unique in the graph; copied */
    enum pim_operator operation;
    enum pim_role role;
    uint32_t stage, block; /* from 0; block counts through the network. PIM_NONE outside */
    uint32_t inputs;
    const uint32_t *input; /* layer indices; copied */
    union pim_attributes attributes;
    uint64_t padding_macs; /* MACs of this layer that work on padding alone */
};

struct pim_layer {
    const char *name;
    enum pim_operator operation;
    enum pim_role role;
    uint32_t stage, block;
    uint32_t inputs;
    const uint32_t *input;
    union pim_attributes attributes;
    struct pim_shape output;
    uint64_t macs, padding_macs;
    uint64_t parameters;
};

struct pim_graph {
    struct pim_arena *arena; /* not owned; everything the graph refers to lives there */
    uint32_t count, capacity;
    struct pim_layer *layers;                /* adding a layer may move them: keep indices, not pointers */
    uint64_t macs, padding_macs, parameters; /* sums over all layers */
};

/* An empty graph that keeps its layers in `arena`, which must outlive it. */
void pim_graph_initialize(struct pim_graph *graph, struct pim_arena *arena);

/*
 * Appends a layer: checks its inputs, derives shape, MACs and parameters, and writes its index to *index (may
 * be NULL). PIM_BAD_INPUT names the layer and what does not fit (dangling input, shape, attribute, limit);
 * PIM_NO_MEMORY. After an error the graph is as before.
 */
enum pim_status pim_graph_add(struct pim_graph *graph, const struct pim_layer_description *description,
                              uint32_t *index, struct pim_error *error);

/* Takes the last layer, which nothing reads, out again: for fusions that only later layers make possible. */
void pim_graph_drop_last(struct pim_graph *graph);

/*
 * Keeps only the layers whose entry of `keep` (one for each layer) is not 0, with their order; what a kept
 * layer reads, or whose weights it shares, must be kept. PIM_NO_MEMORY leaves the graph as it was.
 */
enum pim_status pim_graph_keep(struct pim_graph *graph, const uint8_t *keep, struct pim_error *error);

/*
 * Brings layers that were described in any order into topological order and appends them to the empty
 * `graph`. `input` refers to positions in `descriptions`. Among layers that are ready the one described first
 * comes first. *position (count entries, may be NULL) receives the index of each description. PIM_BAD_INPUT
 * names a dangling edge, or the layers of a cycle.
 */
enum pim_status pim_graph_build(struct pim_graph *graph, const struct pim_layer_description *descriptions,
                                uint32_t count, uint32_t *position, struct pim_error *error);

/* Verifies invariants 1 to 6, that names are unique and that the sums are right; for graphs that came from
 * outside, and for tests. */
enum pim_status pim_graph_check(const struct pim_graph *graph, struct pim_error *error);

/* Index of the layer of that name, PIM_NONE if there is none. Linear in the number of layers. */
uint32_t pim_graph_find(const struct pim_graph *graph, const char *name);

/* Images that the network works at once: the first dimension of its inputs, where all of them agree and have
 * others behind it, and an output has it, too; else 1. */
uint64_t pim_graph_images(const struct pim_graph *graph);

/* What pim_operator_infer() derives. */
struct pim_inference {
    struct pim_shape output;
    uint64_t macs, parameters;
};

/*
 * Shape, MACs and parameters of an operator applied to `inputs` tensors (the one shape-inference function of
 * each operator is in shape_inference.c). PIM_BAD_INPUT says what does not fit. Does not know the layer's
 * name: callers add it.
 */
enum pim_status pim_operator_infer(enum pim_operator operation, const union pim_attributes *attributes,
                                   const struct pim_shape *const *inputs, uint32_t count,
                                   struct pim_inference *result, struct pim_error *error);

/* Elements of a tensor whose shape passed pim_operator_infer (invariant 3). */
uint64_t pim_shape_elements(const struct pim_shape *shape);
bool pim_shape_equal(const struct pim_shape *a, const struct pim_shape *b);

/* "1x56x56x96", or "scalar". Writes at most `size` bytes with the final 0 and returns `text`. */
const char *pim_shape_text(const struct pim_shape *shape, char *text, size_t size);

/* Names as in the tables above; NULL outside. */
const char *pim_operator_name(unsigned operation);
const char *pim_role_name(unsigned role);
const char *pim_activation_name(unsigned activation);
const char *pim_elementwise_name(unsigned elementwise);

#endif

/*
 * What the files of the ONNX import share: the state of one import, the table of values, and access to a
 * node's inputs and attributes.
 *
 * Every tensor name of the model is a value. A value is ABSENT until the node that makes it was converted;
 * then it is a CONSTANT (shape, and contents where they are known and few), an ACTIVATION (a layer of the
 * graph) or a SEQUENCE of these.
 *
 * Functions that can fail set importer->status and importer->error once, with the message of the first
 * failure; from then on all of them do nothing and return zeros. Conversions therefore read as straight
 * lines.
 */
#ifndef PIMSIM_MAPPERS_NETWORK_ONNX_IMPORTER_H
#define PIMSIM_MAPPERS_NETWORK_ONNX_IMPORTER_H

#include "mappers/network/onnx/names.h"
#include "mappers/network/onnx/onnx.h"
#include "sim/arena.h"

struct Onnx__ModelProto;
struct Onnx__ModelProto;
struct Onnx__GraphProto;
struct Onnx__NodeProto;
struct Onnx__AttributeProto;
struct Onnx__TensorProto;
struct Onnx__ValueInfoProto;
struct Onnx__TensorShapeProto__Dimension;

enum { PIM_ONNX_CONTENTS = 65536 }; /* elements up to which the contents of a constant are kept */

enum pim_onnx_kind { PIM_ONNX_ABSENT, PIM_ONNX_CONSTANT, PIM_ONNX_ACTIVATION, PIM_ONNX_SEQUENCE };

struct pim_onnx_value {
    const char *name;
    enum pim_onnx_kind kind;
    struct pim_shape shape;  /* dimensions of 0 occur in constants only */
    const int64_t *integers; /* contents of a constant of whole numbers, NULL when not known */
    const double *reals;     /* contents of any other constant, NULL when not known */
    bool fixed;              /* a constant that is not learned: numbers, masks, places */
    uint32_t layer;        /* of an activation; of a constant the PARAMETER layer made for it, or PIM_NONE */
    uint32_t linear;       /* of a constant: the LINEAR layer whose weight it is, or PIM_NONE */
    uint32_t linear_shift; /* and the value that is its bias, or PIM_NONE */
    uint32_t linear_scale; /* and the value that scales its columns, or PIM_NONE */
    bool linear_turned;    /* and whether it multiplies by the transposed matrix */
    uint32_t origin;       /* the constant whose copy this one is, or PIM_NONE */
    bool turned;           /* the copy is transposed */
    uint32_t maker;        /* node that makes it, PIM_NONE for inputs and initialisers */
    uint32_t readers;      /* inputs of nodes that name it, and outputs of the network */
    uint32_t reader;       /* the last node that names it */
    bool output;           /* of the network */
    const struct pim_onnx_value *part; /* of a sequence: `parts` tensors */
    uint32_t parts;
    const struct Onnx__ValueInfoProto *info; /* what the file declares about it, NULL for nothing */
};

struct pim_onnx_choice;

struct pim_onnx_importer {
    const char *path;
    const struct pim_onnx_options *options;
    const struct Onnx__ModelProto *file;
    struct Onnx__GraphProto *model;
    int64_t opset;
    struct pim_network *network; /* under construction */
    struct pim_arena scratch;
    struct pim_onnx_names value_names, layer_names;
    struct pim_onnx_value *value; /* `values` of them */
    uint32_t values, value_capacity;
    uint32_t *order; /* nodes in topological order, `ordered` of them: only those that an output needs */
    uint32_t ordered;
    uint32_t shift;    /* the value that pim_onnx_absorb_affine() took as bias last, or PIM_NONE */
    uint32_t shifts;   /* and how many it took */
    uint32_t scale;    /* the value that it took as a scale for each channel last, or PIM_NONE */
    uint32_t scales;   /* and how many it took */
    uint8_t *absorbed; /* for each node: its outputs were bound by a fusion */
    bool folding;      /* the layers under construction go again: only their shapes are wanted */
    uint32_t *touched; /* values that got a layer while folding, `touches` of them */
    size_t touches, touch_capacity;
    struct pim_onnx_choice **choice; /* the If nodes with their branches (branches.c) */
    size_t choices, choice_capacity, next_choice;
    struct Onnx__GraphProto **subgraph; /* decoded; freed in the end */
    size_t subgraphs, subgraph_capacity;
    uint64_t parts;                     /* tensors in sequences so far */
    const struct Onnx__NodeProto *node; /* at work */
    enum pim_status status;
    struct pim_error *error;
};

/* Fails with "path: node NAME (OPERATOR): message"; keeps the first failure. */
void pim_onnx_fail(struct pim_onnx_importer *i, const char *format, ...) PIM_PRINTF(2, 3);

/* The value of that name; made where it is not there yet, which may move all values: only while nodes are
 * ordered. */
uint32_t pim_onnx_value_named(struct pim_onnx_importer *i, const char *name);

/* --- the node at work (attributes.c) --- */

/* Input `index` of the node, NULL where it is left out. */
struct pim_onnx_value *pim_onnx_optional_input(struct pim_onnx_importer *i, size_t index);

/* The same; fails where it is left out, and returns a constant scalar of unknown contents. */
struct pim_onnx_value *pim_onnx_input(struct pim_onnx_importer *i, size_t index);

/* Attributes of the node by name; the default where they are left out. */
int64_t pim_onnx_integer(const struct pim_onnx_importer *i, const char *name, int64_t otherwise);
double pim_onnx_real(const struct pim_onnx_importer *i, const char *name, double otherwise);
bool pim_onnx_text_is(const struct pim_onnx_importer *i, const char *name, const char *text);
bool pim_onnx_text(const struct pim_onnx_importer *i, const char *name, char *text, size_t size);
bool pim_onnx_has(const struct pim_onnx_importer *i, const char *name);
const struct Onnx__TensorProto *pim_onnx_tensor(const struct pim_onnx_importer *i, const char *name);

/* The value is made by a Pad node, and what it adds are zeros (not a reflection). */
bool pim_onnx_pads_zeros(struct pim_onnx_importer *i, const struct pim_onnx_value *padded);

/* A list of whole numbers: attribute `name`, or, where that is not there, constant input `input` (SIZE_MAX:
 * none). Returns how many (at most `capacity`; more fail); `*given` (may be NULL) tells an empty list from
 * none. */
uint32_t pim_onnx_list(struct pim_onnx_importer *i, const char *name, size_t input, int64_t *list,
                       uint32_t capacity, bool *given);

/* A list of numbers: attribute `name`, or, where that is not there, constant input `input`. Returns how many;
 * 0 where there is none, it is not known, or it has more than `capacity`. */
uint32_t pim_onnx_reals(struct pim_onnx_importer *i, const char *name, size_t input, double *list,
                        uint32_t capacity);

/* `axis` counted from the end when negative; fails outside of 0 .. rank - 1. */
uint32_t pim_onnx_axis(struct pim_onnx_importer *i, int64_t axis, uint32_t rank);

/* A dimension from outside; fails below `least` or above PIM_DIMENSION_LIMIT. */
uint32_t pim_onnx_size(struct pim_onnx_importer *i, const char *what, int64_t value, int64_t least);

/* --- results (values.c) --- */

/* The layer that holds a value: of a constant a PARAMETER or CONSTANT layer, made at the first call. */
uint32_t pim_onnx_layer_of(struct pim_onnx_importer *i, struct pim_onnx_value *value);

/* Adds a layer named after the node and `suffix` (may be ""). */
uint32_t pim_onnx_add(struct pim_onnx_importer *i, enum pim_operator operation, const char *suffix,
                      const union pim_attributes *attributes, uint32_t inputs, const uint32_t *input);
struct pim_shape pim_onnx_shape_of(const struct pim_onnx_importer *i, uint32_t layer);

/* Reshapes a layer, or returns it where it has that shape already. */
uint32_t pim_onnx_reshape(struct pim_onnx_importer *i, const char *suffix, uint32_t layer,
                          const struct pim_shape *shape);
uint32_t pim_onnx_transpose(struct pim_onnx_importer *i, const char *suffix, uint32_t layer,
                            const uint32_t *order);

/* Output `index` of the node is that layer, that constant, or the same as that value. Outputs that the node
 * does not have are passed over. */
void pim_onnx_bind_layer(struct pim_onnx_importer *i, size_t index, uint32_t layer);
void pim_onnx_bind_constant(struct pim_onnx_importer *i, size_t index, const struct pim_shape *shape,
                            const int64_t *integers, const double *reals);
void pim_onnx_bind_same(struct pim_onnx_importer *i, size_t index, const struct pim_onnx_value *value);

/* Output 0 is the list of these. */
void pim_onnx_bind_list(struct pim_onnx_importer *i, const struct pim_onnx_value *part, uint32_t parts);

/* Output 0, a constant, holds what input 0 does, or (`turned`) is the transposed matrix: products with either
 * share their weights. */
void pim_onnx_note_copy(struct pim_onnx_importer *i, bool turned);

/* The constant whose copy a value is; the value itself where it is none. */
struct pim_onnx_value *pim_onnx_origin(struct pim_onnx_importer *i, struct pim_onnx_value *value);

/* Output `index`, a constant, is not learned. */
void pim_onnx_set_fixed(struct pim_onnx_importer *i, size_t index);

/* The node has output `index`, and something reads it. */
bool pim_onnx_is_read(struct pim_onnx_importer *i, size_t index);

/* The activation that attribute "activation" of a fused node names, behind a layer; the layer itself where
 * there is none. */
uint32_t pim_onnx_fused_activation(struct pim_onnx_importer *i, uint32_t layer);

/* Layers made from here on are for their shapes alone; those since then go again, and what they made becomes
 * constants of their shapes. */
void pim_onnx_begin_fold(struct pim_onnx_importer *i);
void pim_onnx_end_fold(struct pim_onnx_importer *i, uint32_t layers);

/* Binds any value, for fusions that take over later nodes. */
void pim_onnx_bind_value(struct pim_onnx_importer *i, uint32_t value, uint32_t layer);

/* Shape (and contents, where known and few) of a tensor of the model. */
void pim_onnx_read_tensor(struct pim_onnx_importer *i, const struct Onnx__TensorProto *tensor,
                          struct pim_onnx_value *value);

/* Elements of a shape that may have dimensions of 0. */
uint64_t pim_onnx_elements(const struct pim_shape *shape);

/* The one number in a constant of one element; false where it is not known. */
bool pim_onnx_scalar(const struct pim_onnx_value *value, double *number);

/* --- sizes from outside (dimensions.c) --- */

/* The text behind "NAME=" of the last --dim that names it, NULL where none does. */
const char *pim_onnx_dimension_text(const struct pim_onnx_importer *i, const char *name);

/* The size that --dim gives to `name`; -1 where none does. */
int64_t pim_onnx_dimension_option(struct pim_onnx_importer *i, const char *name);

/* A size of a declared shape; -1 where the file leaves it open. */
int64_t pim_onnx_declared_size(struct pim_onnx_importer *i,
                               const struct Onnx__TensorShapeProto__Dimension *dimension);

/* Every --dim must have named something, lest a misspelt one does nothing. */
void pim_onnx_check_dimensions(struct pim_onnx_importer *i);

/* Takes the contents of an input of whole numbers from --dim NAME=N,N,..; false where there is none. */
bool pim_onnx_input_contents(struct pim_onnx_importer *i, struct pim_onnx_value *value);

/* How many entries output `index` of the node has, which the data decides: --dim OUTPUT=SIZE must say. */
uint32_t pim_onnx_data_size(struct pim_onnx_importer *i, size_t index, const char *what);

/* Where the shape of the node's result depends on data, and the file declares it: binds layers of the
 * declared shapes. False: the node must be converted as any other. */
bool pim_onnx_bind_declared(struct pim_onnx_importer *i);

/* --- stages --- */

/* Puts the bodies of the model's functions in place of the nodes that call them (expand.c). */
void pim_onnx_expand_functions(struct pim_onnx_importer *i);

/* Decodes the branches of If nodes; what they read becomes inputs of the node (branches.c). */
void pim_onnx_read_branches(struct pim_onnx_importer *i);
void pim_onnx_free_branches(struct pim_onnx_importer *i);

/* Folds the node at work, or turns it into layers. */
void pim_onnx_convert_node(struct pim_onnx_importer *i);

/* Which nodes are needed, and in which order (order.c). */
void pim_onnx_order(struct pim_onnx_importer *i);

/* Tries to fold the node at work, all of whose inputs are constants (fold.c). False: it must become layers.
 */
bool pim_onnx_fold(struct pim_onnx_importer *i);

/* All inputs of the node at work are constants. */
bool pim_onnx_all_constant(const struct pim_onnx_importer *i);

/* The node at work is of the format's own operator set. */
bool pim_onnx_is_standard(const struct pim_onnx_importer *i);

/* Turns the node at work into layers (operators/table.c). */
void pim_onnx_convert(struct pim_onnx_importer *i);

/* Recognises an expanded GELU, SiLU or layer normalisation that begins at the node at work; true: its last
 * output is bound and its nodes are absorbed (fuse.c). */
bool pim_onnx_fuse(struct pim_onnx_importer *i);

/* Behind a layer that makes output 0 of the node at work and works channels along `axis`: absorbs the batch
 * normalisation, scale and shift that follow. Says whether one did (the layer then has a bias), and which
 * value its result is. */
uint32_t pim_onnx_absorb_affine(struct pim_onnx_importer *i, const struct pim_shape *shape, uint32_t axis,
                                bool *bias);

/* What a Slice node takes of each dimension: positions begin, begin + step, ..; step may be negative. */
struct pim_onnx_slices {
    int64_t begin[PIM_SHAPE_RANK], step[PIM_SHAPE_RANK];
    uint32_t count[PIM_SHAPE_RANK];
};
void pim_onnx_read_slices(struct pim_onnx_importer *i, const struct pim_shape *shape,
                          struct pim_onnx_slices *slices);

/* The output shape of a Reshape, Flatten, Squeeze or Unsqueeze node for an input of shape `from`. */
struct pim_shape pim_onnx_new_shape(struct pim_onnx_importer *i, const struct pim_shape *from);

#endif

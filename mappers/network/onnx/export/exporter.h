/*
 * What the files of the ONNX export share: the messages under construction, all in one arena. A failure is
 * kept in `status` and `error`; later calls do nothing.
 */
#ifndef PIMSIM_MAPPERS_NETWORK_ONNX_EXPORT_EXPORTER_H
#define PIMSIM_MAPPERS_NETWORK_ONNX_EXPORT_EXPORTER_H

#include "mappers/network/graph.h"
#include "sim/arena.h"

struct Onnx__NodeProto;
struct Onnx__TensorProto;
struct Onnx__AttributeProto;

struct pim_onnx_exporter {
    const struct pim_graph *graph;
    const struct pim_layer *layer; /* at work */
    struct pim_arena arena;
    struct Onnx__NodeProto **node;
    size_t nodes, node_capacity;
    struct Onnx__TensorProto **initializer;
    size_t initializers, initializer_capacity;
    uint32_t steps; /* names of tensors inside the layer at work are numbered */
    enum pim_status status;
    struct pim_error *error;
};

/* A node `operation` of `count` inputs; its output is named "LAYER/step" or, with `last`, as the layer.
 * Returns that name. Attributes are added to the node made last. */
const char *pim_onnx_put(struct pim_onnx_exporter *e, const char *operation, bool last, uint32_t count,
                         const char *const *inputs);
void pim_onnx_put_integer(struct pim_onnx_exporter *e, const char *name, int64_t value);
void pim_onnx_put_integers(struct pim_onnx_exporter *e, const char *name, const int64_t *values,
                           size_t count);

/* A learned tensor of that shape, as a ConstantOfShape node; `name` must be unique. Returns the tensor's
 * name. */
const char *pim_onnx_put_weights(struct pim_onnx_exporter *e, const char *name,
                                 const struct pim_shape *shape);

/* A constant list of whole numbers (or a tensor of them, with `shape`), and a constant number. */
const char *pim_onnx_put_list(struct pim_onnx_exporter *e, const int64_t *values, size_t count,
                              const struct pim_shape *shape);
const char *pim_onnx_put_number(struct pim_onnx_exporter *e, double value);

/* "LAYER/suffix", in the arena. */
const char *pim_onnx_inner_name(struct pim_onnx_exporter *e, const struct pim_layer *layer,
                                const char *suffix);

void pim_onnx_put_text(struct pim_onnx_exporter *e, const char *name, const char *value);

/* Fails: ONNX has no operator for `what`. */
void pim_onnx_refuse_layer(struct pim_onnx_exporter *e, const char *what);

/* Windows that slide, and recurrent layers (export_sliding.c). */
void pim_onnx_put_convolution(struct pim_onnx_exporter *e);
void pim_onnx_put_transposed_convolution(struct pim_onnx_exporter *e);
void pim_onnx_put_pooling(struct pim_onnx_exporter *e);
void pim_onnx_put_recurrent(struct pim_onnx_exporter *e);

/* Writes the nodes of the layer at work (export_operators.c). */
void pim_onnx_put_layer(struct pim_onnx_exporter *e);

#endif

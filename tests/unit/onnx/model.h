/*
 * ONNX models for tests, written by hand as protocol-buffer bytes: an encoder of its own, so that the tests
 * do not share the decoder's idea of the format.
 *
 *     struct model m = {.opset = 13};
 *     model_input(&m, "x", (int64_t[]){1, 3, 8, 8}, 4);
 *     model_weights(&m, "w", (int64_t[]){4, 3, 3, 3}, 4);
 *     model_node(&m, "Conv", "conv", "x w", "y");
 *     model_integers(&m, "pads", (int64_t[]){1, 1, 1, 1}, 4);   an attribute of the node made last
 *     model_output(&m, "y");
 *     struct pim_network *network = model_read(&m);
 */
#ifndef PIMSIM_TESTS_UNIT_ONNX_MODEL_H
#define PIMSIM_TESTS_UNIT_ONNX_MODEL_H

#include "mappers/network/onnx/onnx.h"
#include "tests/unit/test_main.h"

#include <stdint.h>

struct bytes {
    uint8_t data[16384];
    size_t size;
};

struct model {
    int64_t opset;
    struct bytes graph; /* everything but the node at work */
    struct bytes node;
    struct bytes functions, body; /* of the model; the one at work */
    const char *dimensions[4];    /* --dim */
    size_t dimension_count;
    bool allow_unknown;
};

/* A dimension below 0 is symbolic: -1 is called "N", -2 "M". Contents of -3 in model_input: no shape at all.
 */
void model_input(struct model *m, const char *name, const int64_t *dimensions, size_t rank);
void model_output(struct model *m, const char *name);

/* An initialiser of floats without data, and a list (or tensor) of whole numbers with data. */
void model_weights(struct model *m, const char *name, const int64_t *dimensions, size_t rank);
void model_list(struct model *m, const char *name, const int64_t *values, size_t count);
void model_scalar(struct model *m, const char *name, int64_t value);
void model_number(struct model *m, const char *name, float value);
void model_numbers(struct model *m, const char *name, const float *values, size_t count);

/* An initialiser of truth values without data; what the file declares about a tensor inside. */
void model_mask(struct model *m, const char *name, const int64_t *dimensions, size_t rank);
void model_declare(struct model *m, const char *name, const int64_t *dimensions, size_t rank);

/* `inputs` and `outputs`: names with blanks between; "-" is an input that is left out. */
void model_node(struct model *m, const char *operation, const char *name, const char *inputs,
                const char *outputs);
void model_integer(struct model *m, const char *name, int64_t value);
void model_integers(struct model *m, const char *name, const int64_t *values, size_t count);
void model_floats(struct model *m, const char *name, const float *values, size_t count);
void model_text(struct model *m, const char *name, const char *value);

/* A graph as attribute of the node made last: the nodes, initialisers and outputs of another model. */
void model_branch(struct model *m, const char *name, struct model *branch);

/* A function of the domain "local": nodes made until the end are its body. An attribute may name one of the
 * call. */
void model_function(struct model *m, const char *name, const char *inputs, const char *outputs);
void model_end_function(struct model *m);
void model_reference(struct model *m, const char *name, const char *outer);

/* Attribute "value": a tensor of one whole number. */
void model_value(struct model *m, int64_t value);

/* The domain of the node made last. */
void model_domain(struct model *m, const char *domain);

/* The finished file. */
void model_bytes(struct model *m, struct bytes *file);

/* Reads it; the first fails the test when it is refused, the second when it is not, or without `part` in the
 * message. */
struct pim_network *model_read(struct model *m);
void model_refused(struct model *m, const char *part);

/* The layer of that name; fails the test where there is none. */
const struct pim_layer *layer_named(const struct pim_network *network, const char *name);
void check_shape(const struct pim_layer *layer, const char *text);

#endif

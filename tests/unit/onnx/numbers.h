/*
 * ONNX files with numbers: a file is imported, and the graph that came of it evaluated in real numbers
 * (mappers/verify/reals.h) with the weights of the file and inputs of the caller. Where weights of a layer
 * lie is found in the file itself, not asked of the import: nodes get names, and layers are named after them.
 */
#ifndef PIMSIM_TESTS_UNIT_ONNX_NUMBERS_H
#define PIMSIM_TESTS_UNIT_ONNX_NUMBERS_H

#include "mappers/network/onnx/onnx.h"
#include "mappers/verify/reals.h"
#include "sim/arena.h"

struct Onnx__ModelProto; /* of the format, generated */
struct Onnx__TensorProto;

struct tensor {
    const char *name;
    struct pim_shape shape;
    uint64_t count;
    double *value;
};

struct last_numbers {
    uint32_t layer;
    const double *value;
};

struct numbers {
    struct Onnx__ModelProto *file;
    struct pim_arena arena;
    struct tensor *input; /* given: `inputs` of them */
    size_t inputs;
    struct pim_network *network;
    uint8_t *bytes; /* of the file whose nodes have names */
    size_t size;
    const double *const *value;                  /* of each layer, once evaluated */
    struct last_numbers last[PIM_LEARNED_KINDS]; /* asked for last, of each kind */
};

/* Bytes of a file, in `arena`; NULL where there is none. */
uint8_t *numbers_load(struct pim_arena *arena, const char *path, size_t *size);

/* The file, not imported yet; false where it is none. */
bool numbers_open(struct numbers *n, const uint8_t *bytes, size_t size);

/* A tensor of the format as real numbers; false for types that are none. */
bool numbers_of_tensor(struct numbers *n, const struct Onnx__TensorProto *proto, struct tensor *tensor);

/* The input of that name has these numbers. */
void numbers_give(struct numbers *n, const char *name, const struct tensor *tensor);

/* Names the nodes and imports the file; then evaluates. */
enum pim_status numbers_import(struct numbers *n, struct pim_error *error);
enum pim_status numbers_evaluate(struct numbers *n, struct pim_error *error);

void numbers_close(struct numbers *n);

#endif

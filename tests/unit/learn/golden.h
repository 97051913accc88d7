/* Golden JSON of tests/data/learn: tensors, and how far a result is from them. */
#ifndef PIMSIM_TESTS_UNIT_LEARN_GOLDEN_H
#define PIMSIM_TESTS_UNIT_LEARN_GOLDEN_H

#include "mappers/learn/layers.h"
#include "sim/output/json.h"

#include <stdint.h>

/* tests/data/learn/<name>; the caller releases it with json_decref. */
json_t *golden_read(const char *name);

/* A number, which may be "inf", "-inf" or "nan". */
double golden_number(const json_t *value);
/* A tensor or a plain array; the caller frees it. `count` may be NULL. */
double *golden_tensor(const json_t *value, size_t *count);

/* max |got - wanted| <= tolerance * max |wanted|, or `scale` in place of the maximum where it is larger. */
void golden_close(const char *what, size_t count, const double *got, const double *wanted, double scale,
                  double tolerance);
/* The same for a tensor or array of the file. */
void golden_check(const char *what, const json_t *wanted, size_t count, const double *got, double tolerance);
/* Sums relative to the sum of absolute values, elements to the largest. */
void golden_check_sketch(const char *what, const json_t *wanted, size_t count, const double *got,
                         double tolerance);

/* Parameters in the order of pim_layers_parameters from the lists W and b. */
void golden_pack(const json_t *weights, const json_t *biases, double *parameters);
/* Holds parameters or gradients against such lists, of tensors or of sketches. */
void golden_check_layers(const char *what, const json_t *weights, const json_t *biases,
                         const struct pim_neural_layer *layers, const double *got, double tolerance);

/* Dense layers of the sizes; ReLU on all but the last, and on the last if `relu_last`. Gives their number. */
size_t golden_layers(const json_t *sizes, bool relu_last, struct pim_neural_layer layers[8]);

/* Parameters and data of a case that gives a seed. */
struct golden_generated {
    double *parameters, *x, *y, *x_test;
};
struct golden_generated golden_generate(const json_t *test, const struct pim_neural_layer *layers,
                                        size_t count);
void golden_generated_terminate(struct golden_generated *generated);

#endif

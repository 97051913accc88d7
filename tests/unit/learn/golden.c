#include "tests/unit/learn/golden.h"

#include "tests/unit/test_main.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

json_t *golden_read(const char *name)
{
    char relative[256], path[1024];
    (void)snprintf(relative, sizeof relative, "tests/data/learn/%s", name);
    json_error_t error;
    json_t *root = json_load_file(pimsim_source_path(path, sizeof path, relative), 0, &error);
    ck_assert_msg(root != NULL, "%s: %s", path, error.text);
    return root;
}

double golden_number(const json_t *value)
{
    const char *text = json_string_value(value);
    ck_assert(text || json_is_number(value));
    return text ? strtod(text, NULL) : json_number_value(value);
}

double *golden_tensor(const json_t *value, size_t *count)
{
    const json_t *data = json_is_object(value) ? json_object_get(value, "data") : value;
    ck_assert(json_is_array(data));
    size_t size = json_array_size(data);
    double *tensor = calloc(size + 1, sizeof *tensor);
    ck_assert_ptr_nonnull(tensor);
    for (size_t i = 0; i < size; i++)
        tensor[i] = golden_number(json_array_get(data, i));
    if (count)
        *count = size;
    return tensor;
}

void golden_close(const char *what, size_t count, const double *got, const double *wanted, double scale,
                  double tolerance)
{
    double largest = scale, worst = 0;
    size_t place = 0;
    for (size_t i = 0; i < count; i++) {
        largest = fabs(wanted[i]) > largest ? fabs(wanted[i]) : largest;
        double difference = fabs(got[i] - wanted[i]);
        if (!(difference <= worst)) {
            worst = difference;
            place = i;
        }
    }
    ck_assert_msg(worst <= tolerance * largest,
                  "%s: element %zu is %.17g, not %.17g: off by %.2g of the largest, allowed is %.2g", what,
                  place, got[place], wanted[place], worst / largest, tolerance);
}

void golden_check(const char *what, const json_t *wanted, size_t count, const double *got, double tolerance)
{
    size_t size;
    double *tensor = golden_tensor(wanted, &size);
    ck_assert_uint_eq(size, count);
    golden_close(what, count, got, tensor, 0, tolerance);
    free(tensor);
}

void golden_check_sketch(const char *what, const json_t *wanted, size_t count, const double *got,
                         double tolerance)
{
    double sum = 0, sum_abs = 0, sum_squares = 0, largest = 0;
    for (size_t i = 0; i < count; i++) {
        sum += got[i];
        sum_abs += fabs(got[i]);
        sum_squares += got[i] * got[i];
        largest = fabs(got[i]) > largest ? fabs(got[i]) : largest;
    }
    double scale = golden_number(json_object_get(wanted, "sum_abs"));
    double got_sums[] = {sum, sum_abs};
    double sums[] = {golden_number(json_object_get(wanted, "sum")), scale};
    golden_close(what, 2, got_sums, sums, scale, tolerance);
    double squares = golden_number(json_object_get(wanted, "sum_sq"));
    golden_close(what, 1, &sum_squares, &squares, 0, 10 * tolerance);
    const json_t *index = json_object_get(wanted, "flat_index"), *value = json_object_get(wanted, "value");
    ck_assert_uint_gt(json_array_size(index), 0);
    for (size_t i = 0; i < json_array_size(index); i++) {
        size_t place = (size_t)json_integer_value(json_array_get(index, i));
        ck_assert_uint_lt(place, count);
        double element = golden_number(json_array_get(value, i));
        golden_close(what, 1, &got[place], &element, largest, tolerance);
    }
}

void golden_pack(const json_t *weights, const json_t *biases, double *parameters)
{
    for (size_t l = 0; l < json_array_size(weights); l++) {
        const json_t *lists[] = {json_array_get(weights, l), json_array_get(biases, l)};
        for (size_t i = 0; i < 2; i++) {
            size_t count;
            double *tensor = golden_tensor(lists[i], &count);
            memcpy(parameters, tensor, count * sizeof *tensor);
            parameters += count;
            free(tensor);
        }
    }
}

void golden_check_layers(const char *what, const json_t *weights, const json_t *biases,
                         const struct pim_neural_layer *layers, const double *got, double tolerance)
{
    ck_assert_uint_gt(json_array_size(weights), 0);
    for (size_t l = 0; l < json_array_size(weights); l++) {
        const json_t *lists[] = {json_array_get(weights, l), json_array_get(biases, l)};
        size_t counts[] = {layers[l].inputs * layers[l].outputs, layers[l].outputs};
        for (size_t i = 0; i < 2; i++) {
            if (json_object_get(lists[i], "sum_abs"))
                golden_check_sketch(what, lists[i], counts[i], got, tolerance);
            else
                golden_check(what, lists[i], counts[i], got, tolerance);
            got += counts[i];
        }
    }
}

size_t golden_layers(const json_t *sizes, bool relu_last, struct pim_neural_layer layers[8])
{
    size_t count = json_array_size(sizes) - 1;
    ck_assert_uint_le(count, 8);
    for (size_t l = 0; l < count; l++)
        layers[l] =
            (struct pim_neural_layer){.inputs = (size_t)json_integer_value(json_array_get(sizes, l)),
                                      .outputs = (size_t)json_integer_value(json_array_get(sizes, l + 1)),
                                      .relu = l + 1 < count || relu_last};
    return count;
}

static double *draw(uint64_t *state, size_t count, double bound)
{
    double *values = calloc(count + 1, sizeof *values);
    ck_assert_ptr_nonnull(values);
    for (size_t i = 0; i < count; i++)
        values[i] = bound * (2 * ((double)(pim_splitmix64(state) >> 11) * 0x1p-53) - 1);
    return values;
}

static void append(double *target, double *values, size_t count)
{
    memcpy(target, values, count * sizeof *values);
    free(values);
}

struct golden_generated golden_generate(const json_t *test, const struct pim_neural_layer *layers,
                                        size_t count)
{
    uint64_t state = (uint64_t)json_integer_value(json_object_get(test, "splitmix_seed"));
    const json_t *bounds = json_object_get(test, "weight_bounds");
    double bias_bound = golden_number(json_object_get(test, "bias_bound"));
    size_t rows = (size_t)json_integer_value(json_object_get(test, "N"));
    size_t test_rows = (size_t)json_integer_value(json_object_get(test, "N_test"));
    struct golden_generated made = {.parameters =
                                        calloc(pim_layers_parameters(layers, count), sizeof(double))};
    ck_assert_ptr_nonnull(made.parameters);
    double *target = made.parameters;
    for (size_t l = 0; l < count; l++) {
        size_t weights = layers[l].inputs * layers[l].outputs;
        append(target, draw(&state, weights, golden_number(json_array_get(bounds, l))), weights);
        target += weights;
        append(target, draw(&state, layers[l].outputs, bias_bound), layers[l].outputs);
        target += layers[l].outputs;
    }
    made.x = draw(&state, rows * layers[0].inputs, 1);
    made.y = draw(&state, rows, 1);
    made.x_test = draw(&state, test_rows * layers[0].inputs, 1);
    golden_check_layers("generated", json_object_get(test, "check_W"), json_object_get(test, "check_b"),
                        layers, made.parameters, 1e-14);
    golden_check_sketch("generated X", json_object_get(test, "check_X"), rows * layers[0].inputs, made.x,
                        1e-14);
    return made;
}

void golden_generated_terminate(struct golden_generated *generated)
{
    free(generated->parameters);
    free(generated->x);
    free(generated->y);
    free(generated->x_test);
}

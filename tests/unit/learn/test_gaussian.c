/* Gaussian processes and deep kernels against golden likelihoods, gradients and predictions. */
#include "mappers/learn/deep_kernel.h"
#include "tests/unit/learn/golden.h"
#include "tests/unit/learn/suites.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct process {
    size_t points, inputs, tests;
    double *x, *y, *x_test, *parameters, *gradient, *x_gradient, *mean, *variance;
    struct pim_gaussian gaussian;
};

static void read_process(const json_t *test, struct process *process)
{
    const json_t *lengths = json_object_get(test, "log_lengthscales");
    size_t inputs = json_array_size(lengths), size;
    *process = (struct process){.inputs = inputs};
    process->x = golden_tensor(json_object_get(test, "X"), NULL);
    process->y = golden_tensor(json_object_get(test, "y"), &process->points);
    process->x_test = golden_tensor(json_object_get(test, "X_test"), &size);
    process->tests = size / inputs;
    process->parameters = calloc(inputs + 3, sizeof(double));
    process->gradient = calloc(inputs + 3, sizeof(double));
    process->x_gradient = calloc(process->points * inputs, sizeof(double));
    process->mean = calloc(process->tests, sizeof(double));
    process->variance = calloc(process->tests, sizeof(double));
    for (size_t d = 0; d < inputs; d++)
        process->parameters[d] = golden_number(json_array_get(lengths, d));
    process->parameters[inputs] = golden_number(json_object_get(test, "log_signal_variance"));
    process->parameters[inputs + 1] = golden_number(json_object_get(test, "log_noise_variance"));
    process->parameters[inputs + 2] = golden_number(json_object_get(test, "mean"));
    ck_assert(pim_gaussian_initialize(&process->gaussian, process->points, inputs));
}

static void terminate_process(struct process *process)
{
    pim_gaussian_terminate(&process->gaussian);
    free(process->x);
    free(process->y);
    free(process->x_test);
    free(process->parameters);
    free(process->gradient);
    free(process->x_gradient);
    free(process->mean);
    free(process->variance);
}

static void fit(struct process *process, double jitter)
{
    struct pim_error error = {0};
    ck_assert_int_eq(pim_gaussian_fit(&process->gaussian, process->points, process->x, process->y,
                                      process->parameters, jitter, &error),
                     PIM_OK);
}

/* The gradient with respect to the points by central differences. */
static void check_point_gradient(struct process *process)
{
    double largest = 1;
    for (size_t i = 0; i < process->points * process->inputs; i++)
        largest = fabs(process->x_gradient[i]) > largest ? fabs(process->x_gradient[i]) : largest;
    for (size_t i = 0; i < process->points * process->inputs; i++) {
        double old = process->x[i], side[2];
        for (int s = 0; s < 2; s++) {
            process->x[i] = old + (s ? 1e-5 : -1e-5);
            fit(process, 0);
            side[s] = process->gaussian.nll;
        }
        process->x[i] = old;
        ck_assert_double_le(fabs((side[1] - side[0]) / 2e-5 - process->x_gradient[i]), 1e-5 * largest);
    }
}

static void run_process(const json_t *test)
{
    struct process process;
    read_process(test, &process);
    double jitter = golden_number(json_object_get(test, "jitter"));
    double condition = golden_number(json_object_get(test, "condition_number"));
    double tolerance = fmax(1e-12, 2e-15 * (double)process.points * condition);
    struct pim_gaussian *gaussian = &process.gaussian;
    fit(&process, jitter);
    ck_assert_double_eq(gaussian->jitter, jitter);
    double scale = fmax(1, fmax(fabs(golden_number(json_object_get(test, "half_quadratic"))),
                                fabs(golden_number(json_object_get(test, "half_logdet")))));
    double nll = golden_number(json_object_get(test, "nll"));
    golden_close("nll", 1, &gaussian->nll, &nll, scale, tolerance);
    golden_check("alpha", json_object_get(test, "alpha"), process.points, gaussian->weight, tolerance);
    pim_gaussian_predict(gaussian, process.tests, process.x_test, process.mean, process.variance);
    golden_check("mean", json_object_get(test, "test_mean"), process.tests, process.mean, tolerance);
    double *variance = golden_tensor(json_object_get(test, "test_variance_latent"), NULL);
    golden_close("variance", process.tests, process.variance, variance,
                 exp(process.parameters[process.inputs]), tolerance);
    free(variance);
    pim_gaussian_gradient(gaussian, process.gradient, process.x_gradient);
    double *lengths = golden_tensor(json_object_get(test, "grad_log_lengthscales"), NULL);
    golden_close("length gradients", process.inputs, process.gradient, lengths, scale, tolerance);
    free(lengths);
    static const char *const names[] = {"grad_log_signal_variance", "grad_log_noise_variance", "grad_mean"};
    for (size_t i = 0; i < 3; i++) {
        double wanted = golden_number(json_object_get(test, names[i]));
        golden_close(names[i], 1, &process.gradient[process.inputs + i], &wanted, scale, tolerance);
    }
    if (condition < 1e4)
        check_point_gradient(&process);
    terminate_process(&process);
}

START_TEST(processes_are_golden)
{
    json_t *root = golden_read("gp.json");
    const json_t *cases = json_object_get(root, "cases"), *singular = json_object_get(root, "singular");
    ck_assert_uint_eq(json_array_size(cases), 8);
    for (size_t i = 0; i < json_array_size(cases); i++)
        run_process(json_array_get(cases, i));
    ck_assert_uint_eq(json_array_size(singular), 2);
    for (size_t i = 0; i < 2; i++) {
        const json_t *levels = json_object_get(json_array_get(singular, i), "levels");
        ck_assert_uint_ge(json_array_size(levels), 3);
        for (size_t j = 0; j < json_array_size(levels); j++)
            run_process(json_array_get(levels, j));
    }
    run_process(json_object_get(json_array_get(singular, 0), "contradicting_targets"));
    json_decref(root);
}
END_TEST

START_TEST(a_singular_covariance_gets_a_jitter)
{
    json_t *root = golden_read("gp.json");
    const json_t *singular = json_array_get(json_object_get(root, "singular"), 0);
    struct process process;
    read_process(json_array_get(json_object_get(singular, "levels"), 0), &process);
    fit(&process, 0);
    ck_assert_double_eq(process.gaussian.jitter, golden_number(json_object_get(singular, "expected_jitter")));
    process.x[0] = (double)NAN;
    struct pim_error error = {0};
    ck_assert_int_eq(pim_gaussian_fit(&process.gaussian, process.points, process.x, process.y,
                                      process.parameters, 0, &error),
                     PIM_BAD_INPUT);
    terminate_process(&process);
    json_decref(root);
}
END_TEST

/* --- deep kernels --- */

struct deep {
    const json_t *test;
    struct pim_neural_layer layers[8];
    size_t layer_count, parameter_count, points, tests;
    double *x, *y, *x_test, *parameters, *gradient;
    bool generated;
    double tolerance, gradient_tolerance, adam_tolerance;
    struct pim_deep_kernel kernel;
};

static void read_tail(const json_t *from, size_t features, double *tail)
{
    for (size_t d = 0; d < features; d++)
        tail[d] = golden_number(json_array_get(json_object_get(from, "log_lengthscales"), d));
    tail[features] = golden_number(json_object_get(from, "log_signal_variance"));
    tail[features + 1] = golden_number(json_object_get(from, "log_noise_variance"));
    tail[features + 2] = golden_number(json_object_get(from, "mean"));
}

static void read_deep(struct deep *deep)
{
    const json_t *test = deep->test;
    deep->layer_count =
        golden_layers(json_object_get(test, "sizes"),
                      json_is_true(json_object_get(test, "relu_after_last_layer")), deep->layers);
    size_t features = deep->layers[deep->layer_count - 1].outputs, size;
    size_t layered = pim_layers_parameters(deep->layers, deep->layer_count);
    deep->parameter_count = layered + features + 3;
    deep->parameters = calloc(deep->parameter_count, sizeof(double));
    deep->gradient = calloc(deep->parameter_count, sizeof(double));
    if (deep->generated) {
        struct golden_generated made = golden_generate(test, deep->layers, deep->layer_count);
        memcpy(deep->parameters, made.parameters, layered * sizeof(double));
        deep->x = made.x;
        deep->y = made.y;
        deep->x_test = made.x_test;
        free(made.parameters);
        deep->points = (size_t)json_integer_value(json_object_get(test, "N"));
        deep->tests = (size_t)json_integer_value(json_object_get(test, "N_test"));
        read_tail(test, features, deep->parameters + layered);
    } else {
        const json_t *parameters = json_object_get(test, "parameters");
        golden_pack(json_object_get(parameters, "W"), json_object_get(parameters, "b"), deep->parameters);
        read_tail(parameters, features, deep->parameters + layered);
        deep->x = golden_tensor(json_object_get(test, "X"), NULL);
        deep->y = golden_tensor(json_object_get(test, "y"), &deep->points);
        deep->x_test = golden_tensor(json_object_get(test, "X_test"), &size);
        deep->tests = size / deep->layers[0].inputs;
    }
    ck_assert(pim_deep_kernel_initialize(&deep->kernel, deep->layers, deep->layer_count, deep->points));
    ck_assert_uint_eq(pim_deep_kernel_parameters(&deep->kernel), deep->parameter_count);
}

/* Parameters or gradients against the lists of the file. The gradient of the bias of a linear last layer is 0
 * in exact arithmetic, so that it is compared absolutely. */
static void check_values(struct deep *deep, const char *what, const json_t *values, const double *got,
                         double tolerance, double bias_bound)
{
    const json_t *weights = json_object_get(values, "W"), *biases = json_object_get(values, "b");
    size_t last = deep->layer_count - 1, at = pim_layers_parameters(deep->layers, last);
    bool linear = !deep->layers[last].relu;
    for (size_t l = 0; l <= last; l++) {
        json_t *one = json_array(), *two = json_array();
        json_array_append(one, json_array_get(weights, l));
        json_array_append(two, json_array_get(biases, l));
        const double *from = got + pim_layers_parameters(deep->layers, l);
        if (l < last || !linear)
            golden_check_layers(what, one, two, &deep->layers[l], from, tolerance);
        json_decref(one);
        json_decref(two);
    }
    size_t count = deep->layers[last].inputs * deep->layers[last].outputs,
           features = deep->layers[last].outputs;
    if (linear) {
        const json_t *weight = json_array_get(weights, last), *bias = json_array_get(biases, last);
        if (deep->generated)
            golden_check_sketch(what, weight, count, got + at, tolerance);
        else
            golden_check(what, weight, count, got + at, tolerance);
        const json_t *exact = json_object_get(bias, "data");
        for (size_t i = 0; exact && i < features; i++)
            ck_assert_double_le(fabs(got[at + count + i] - golden_number(json_array_get(exact, i))),
                                bias_bound);
    }
    double *tail = calloc(features + 3, sizeof *tail);
    read_tail(values, features, tail);
    golden_close(what, features + 3, got + at + count + features, tail, 0, tolerance);
    free(tail);
}

static void check_prediction(struct deep *deep, const json_t *from, const char *mean_name,
                             const char *variance_name, double tolerance)
{
    double *mean = calloc(deep->tests, sizeof *mean), *variance = calloc(deep->tests, sizeof *variance);
    pim_deep_kernel_predict(&deep->kernel, deep->parameters, deep->tests, deep->x_test, mean, variance);
    golden_check(mean_name, json_object_get(from, mean_name), deep->tests, mean, tolerance);
    golden_check(variance_name, json_object_get(from, variance_name), deep->tests, variance, 100 * tolerance);
    free(mean);
    free(variance);
}

static double fit_deep(struct deep *deep)
{
    struct pim_error error = {0};
    double nll;
    ck_assert_int_eq(
        pim_deep_kernel_fit(&deep->kernel, deep->points, deep->x, deep->y, deep->parameters, &nll, &error),
        PIM_OK);
    return nll;
}

static void check_deep_differences(struct deep *deep)
{
    double largest = 0;
    for (size_t i = 0; i < deep->parameter_count; i++)
        largest = fmax(largest, fabs(deep->gradient[i]));
    size_t step = deep->parameter_count > 200 ? deep->parameter_count / 37 : 1;
    for (size_t i = 0; i < deep->parameter_count; i += step) {
        double old = deep->parameters[i], side[2];
        for (int s = 0; s < 2; s++) {
            deep->parameters[i] = old + (s ? 1e-6 : -1e-6);
            side[s] = fit_deep(deep);
        }
        deep->parameters[i] = old;
        ck_assert_double_le(fabs((side[1] - side[0]) / 2e-6 - deep->gradient[i]), 1e-5 * largest);
    }
    (void)fit_deep(deep);
}

static void train_deep(struct deep *deep)
{
    const json_t *adam = json_object_get(deep->test, "adam"), *after = json_object_get(adam, "after");
    const json_t *losses = json_object_get(adam, "nll_before_step");
    struct pim_adam optimiser;
    struct pim_adam_options options = golden_adam(adam);
    ck_assert(pim_adam_initialize(&optimiser, &options, deep->parameter_count));
    for (size_t step = 0; step <= 10; step++) {
        double nll = fit_deep(deep), wanted = golden_number(json_array_get(losses, step));
        golden_close("nll before step", 1, &nll, &wanted, 1, deep->adam_tolerance);
        char key[8];
        (void)snprintf(key, sizeof key, "%zu", step);
        const json_t *values = json_object_get(after, key);
        if (values)
            check_values(deep, "parameters", values, deep->parameters, deep->adam_tolerance, 1e-6);
        if (step == 10)
            break;
        pim_deep_kernel_gradient(&deep->kernel, deep->parameters, deep->gradient);
        pim_adam_step(&optimiser, deep->gradient, deep->parameters);
    }
    check_prediction(deep, adam, "test_mean_after_10", "test_variance_latent_after_10", deep->adam_tolerance);
    pim_adam_terminate(&optimiser);
}

static void run_deep(const json_t *test, bool generated)
{
    struct deep deep = {.test = test,
                        .generated = generated,
                        .tolerance = 1e-12,
                        .gradient_tolerance = generated ? 1e-9 : 1e-11,
                        .adam_tolerance = generated ? 1e-7 : 1e-10};
    read_deep(&deep);
    double nll = fit_deep(&deep), wanted = golden_number(json_object_get(test, "nll"));
    golden_close("nll", 1, &nll, &wanted, 0, deep.tolerance);
    check_prediction(&deep, test, "test_mean", "test_variance_latent", deep.tolerance * 10);
    pim_deep_kernel_gradient(&deep.kernel, deep.parameters, deep.gradient);
    check_values(&deep, "gradients", json_object_get(test, "gradients"), deep.gradient,
                 deep.gradient_tolerance, 1e-10);
    check_deep_differences(&deep);
    train_deep(&deep);
    pim_deep_kernel_terminate(&deep.kernel);
    free(deep.x);
    free(deep.y);
    free(deep.x_test);
    free(deep.parameters);
    free(deep.gradient);
}

START_TEST(deep_kernels_are_golden)
{
    json_t *root = golden_read("dkl.json");
    const json_t *cases = json_object_get(root, "cases"),
                 *generated = json_object_get(root, "generated_weight_cases");
    ck_assert_uint_eq(json_array_size(cases), 3);
    ck_assert_uint_eq(json_array_size(generated), 2);
    for (size_t i = 0; i < 3; i++)
        run_deep(json_array_get(cases, i), false);
    for (size_t i = 0; i < 2; i++)
        run_deep(json_array_get(generated, i), true);
    json_decref(root);
}
END_TEST

Suite *learn_gaussian_suite(void)
{
    Suite *suite = suite_create("gaussian");
    TCase *tests = tcase_create("gaussian");
    tcase_add_test(tests, processes_are_golden);
    tcase_add_test(tests, a_singular_covariance_gets_a_jitter);
    tcase_add_test(tests, deep_kernels_are_golden);
    suite_add_tcase(suite, tests);
    return suite;
}

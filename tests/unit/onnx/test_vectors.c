/*
 * The ONNX project's own vectors: each model of its tests is imported, evaluated in real numbers with the
 * inputs that come with it, and the result held against the output that comes with it. What the import makes
 * of a node is so held against someone else. Models that the graph has no numbers for (data-dependent places,
 * functions that it does not tell apart) are not evaluated; those whose numbers must differ are in a table
 * below, with the reason.
 *
 * The data are Debian's libonnx-testdata; without them the suite says so and passes.
 */
#include "tests/unit/onnx/model.h"
#include "tests/unit/onnx/numbers.h"

#include "onnx.pb-c.h"
#include "tests/unit/test_main.h"

#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEAST_COMPARED = 360, MOST_REFUSED = 26 };

static const char *folder(void)
{
    const char *given = getenv("PIMSIM_ONNX_TESTDATA");
    return given ? given : "/usr/share/libonnx-testdata/data";
}

enum outcome {
    COMPARED,
    OTHER_INPUTS,
    REFUSED,
    NOT_EVALUATED,
    SEVERAL_OUTPUTS,
    DIFFERENT,
    OTHER_SHAPE,
    OUTCOMES
};

static bool read_tensor(struct numbers *n, const char *model, const char *kind, size_t index,
                        struct tensor *t)
{
    char path[1100];
    size_t size;
    (void)snprintf(path, sizeof path, "%s/test_data_set_0/%s_%zu.pb", model, kind, index);
    uint8_t *bytes = numbers_load(&n->arena, path, &size);
    Onnx__TensorProto *proto = bytes ? onnx__tensor_proto__unpack(NULL, size, bytes) : NULL;
    bool read = proto && numbers_of_tensor(n, proto, t);
    t->name = NULL;
    if (proto)
        onnx__tensor_proto__free_unpacked(proto, NULL);
    return read;
}

static bool near(double found, double right)
{
    return (isnan(found) && isnan(right)) || found == right ||
           fabs(found - right) <= 1e-4 * (1 + fabs(right));
}

/* `error` says what differs, or is refused. */
static enum outcome compare(struct numbers *n, const char *model, struct pim_error *error)
{
    struct tensor t;
    const Onnx__GraphProto *g = n->file->graph;
    for (size_t i = 0, k = 0; i < g->n_input; i++) {
        bool initialized = false;
        for (size_t j = 0; j < g->n_initializer; j++)
            initialized |= strcmp(g->initializer[j]->name, g->input[i]->name) == 0;
        if (initialized)
            continue;
        if (!read_tensor(n, model, "input", k++, &t))
            return OTHER_INPUTS;
        numbers_give(n, g->input[i]->name, &t);
    }
    if (!read_tensor(n, model, "output", 0, &t))
        return OTHER_INPUTS;
    if (g->n_output != 1)
        return SEVERAL_OUTPUTS;
    if (numbers_import(n, error) != PIM_OK || numbers_evaluate(n, error) != PIM_OK)
        return n->network ? NOT_EVALUATED : REFUSED;
    const struct pim_graph *graph = &n->network->graph;
    const struct pim_layer *last = &graph->layers[graph->count - 1];
    const double *found = n->value[graph->count - 1];
    if (!pim_shape_equal(&last->output, &t.shape)) {
        (void)pim_fail(error, PIM_BAD_INPUT, "another shape");
        return OTHER_SHAPE;
    }
    for (uint64_t i = 0; i < t.count; i++)
        if (!near(found[i], t.value[i])) {
            (void)pim_fail(error, PIM_BAD_INPUT, "element %" PRIu64 " is %g, the ONNX project has %g", i,
                           found[i], t.value[i]);
            return DIFFERENT;
        }
    return COMPARED;
}

/* Parts of names of models whose result differs, since the graph does not keep what the node says. Every one
 * of them must be of use. */
static const struct {
    const char *part, *reason;
} lossy[] = {
    {"argmax", "places and values of an extremum are one reduction"},
    {"argmin", "places and values of an extremum are one reduction"},
    {"reduce_min", "minima and maxima are one reduction"},
    {"clip", "the limits of a clip"},
    {"test_elu", "numbers of an activation"},
    {"test_ELU", "numbers of an activation"},
    {"selu", "numbers of an activation"},
    {"SELU", "numbers of an activation"},
    {"hardsigmoid", "numbers of an activation"},
    {"hardswish_expanded", "numbers of an activation"},
    {"leakyrelu", "numbers of an activation"},
    {"LeakyReLU_with_negval", "numbers of an activation"},
    {"prelu", "learned slopes"},
    {"PReLU", "learned slopes"},
    {"thresholdedrelu", "numbers of an activation"},
    {"logsoftmax", "the logarithm behind a softmax"},
    {"log_softmax", "the logarithm behind a softmax"},
    {"LogSoftmax", "the logarithm behind a softmax"},
    {"gemm_alpha", "factors of a product of two activations"},
    {"gemm_beta", "factors of a product of two activations"},
    {"gemm_all_attributes", "factors of a product of two activations"},
    {"batchnorm_epsilon", "the number that is added to a variance"},
    {"momentum_eval", "the number that is added to a variance"},
    {"count_include_pad", "an average over padding"},
    {"test_mean_", "a mean of tensors is their sum"},
    {"test_mod_", "a remainder is a division"},
    {"bitshift", "a shift is a product"},
    {"div_uint8", "the type: a division of whole numbers"},
    {"BFLOAT16", "the type: numbers are cut to fewer bits"},
    {"convinteger", "zero points"},
    {"matmulinteger", "zero points"},
    {"qlinear", "scales and zero points"},
    {"quantizelinear", "scales and zero points"},
    {"training_dropout", "what a training drops"},
    {"constant_pad", "what is not 0 around a map"},
    {"edge_pad", "what is not 0 around a map"},
    {"reflect_pad", "what is not 0 around a map"},
    {"operator_pad", "what is not 0 around a map"},
    {"ConstantPad", "what is not 0 around a map"},
    {"ReflectionPad", "what is not 0 around a map"},
    {"ReplicationPad", "what is not 0 around a map"},
    {"tile", "whether a tensor or each of its elements is repeated"},
    {"operator_repeat", "whether a tensor or each of its elements is repeated"},
    {"resize_upsample_sizes_nearest_", "how a resize rounds"},
    {"sequence_model3", "its result is an input"},
};
enum { LOSSY = sizeof lossy / sizeof lossy[0] };

static size_t lossy_part(const char *name)
{
    size_t part = 0;
    while (part < LOSSY && !strstr(name, lossy[part].part))
        part++;
    return part;
}

struct tally {
    unsigned outcome[OUTCOMES], lossy[LOSSY];
};

/* What comes of the model in a folder; false where there is none. */
static bool try_folder(const char *model, enum outcome *outcome, struct pim_error *error)
{
    char path[1100];
    struct pim_arena arena;
    struct numbers n;
    size_t size;
    (void)snprintf(path, sizeof path, "%s/model.onnx", model);
    pim_arena_initialize(&arena, 0);
    const uint8_t *bytes = numbers_load(&arena, path, &size);
    if (bytes) {
        *outcome = numbers_open(&n, bytes, size) ? compare(&n, model, error) : REFUSED;
        numbers_close(&n);
    }
    pim_arena_terminate(&arena);
    return bytes != NULL;
}

static void try_model(const char *set, const char *name, struct tally *tally)
{
    char model[1024];
    struct pim_error error = {0};
    enum outcome outcome;
    (void)snprintf(model, sizeof model, "%s/%s/%s", folder(), set, name);
    if (!try_folder(model, &outcome, &error))
        return;
    size_t part = lossy_part(name);
    if (outcome == OTHER_SHAPE || (outcome == DIFFERENT && part == LOSSY))
        ck_abort_msg("%s: %s", name, error.text);
    if (outcome == DIFFERENT)
        tally->lossy[part]++;
    tally->outcome[outcome]++;
}

/* None of the project's models has windows with another padding before than behind: this one is
 * onnxruntime's (tests/onnxruntime/compare.mjs). */
START_TEST(windows_with_other_paddings_behind_compute_the_outputs_of_onnxruntime)
{
    char path[1024];
    struct pim_error error = {0};
    enum outcome outcome;
    ck_assert(try_folder(pimsim_source_path(path, sizeof path, "tests/data/onnx/windows"), &outcome, &error));
    ck_assert_msg(outcome == COMPARED, "%s", error.text);
}
END_TEST

START_TEST(imported_models_compute_the_outputs_of_the_onnx_project)
{
    static const char *const sets[] = {"node", "pytorch-converted", "pytorch-operator", "simple"};
    struct tally tally = {{0}, {0}};
    for (size_t s = 0; s < sizeof sets / sizeof sets[0]; s++) {
        char path[512];
        (void)snprintf(path, sizeof path, "%s/%s", folder(), sets[s]);
        DIR *models = opendir(path);
        if (!models) {
            ck_assert_msg(!getenv("PIMSIM_ONNX_TESTDATA"), "PIMSIM_ONNX_TESTDATA: there is no %s", path);
            printf("skipped: there is no %s: install Debian's libonnx-testdata\n", path);
            return;
        }
        for (const struct dirent *entry; (entry = readdir(models));)
            if (strncmp(entry->d_name, "test_", 5) == 0)
                try_model(sets[s], entry->d_name, &tally);
        (void)closedir(models);
    }
    printf(
        "%u models compared, %u whose numbers the graph does not keep, %u not evaluated, %u not imported\n",
        tally.outcome[COMPARED], tally.outcome[DIFFERENT],
        tally.outcome[NOT_EVALUATED] + tally.outcome[OTHER_INPUTS] + tally.outcome[SEVERAL_OUTPUTS],
        tally.outcome[REFUSED]);
    ck_assert_uint_ge(tally.outcome[COMPARED], LEAST_COMPARED);
    ck_assert_uint_le(tally.outcome[REFUSED], MOST_REFUSED);
    for (size_t part = 0; part < LOSSY; part++)
        ck_assert_msg(tally.lossy[part] > 0, "no model with %s in its name differs", lossy[part].part);
}
END_TEST

/* What a node makes of x, and a constant of 3; false where it is not evaluated. */
static bool evaluate_node(const char *operation, const char *operands, double x, double *result)
{
    double value[1] = {x};
    const struct tensor given = {.shape = {.rank = 1, .dimension = {1}}, .count = 1, .value = value};
    struct model *m = calloc(1, sizeof *m);
    struct bytes *file = calloc(1, sizeof *file);
    struct pim_error error = {0};
    struct numbers n;
    ck_assert(m && file);
    m->opset = 13;
    model_input(m, "x", (int64_t[]){1}, 1);
    model_number(m, "c", 3);
    model_node(m, operation, "node", operands, "y");
    model_output(m, "y");
    model_bytes(m, file);
    ck_assert(numbers_open(&n, file->data, file->size));
    numbers_give(&n, "x", &given);
    ck_assert_msg(numbers_import(&n, &error) == PIM_OK, "%s %s: %s", operation, operands, error.text);
    bool evaluated = numbers_evaluate(&n, &error) == PIM_OK;
    if (evaluated)
        *result = n.value[n.network->graph.count - 1][0];
    numbers_close(&n);
    free(file);
    free(m);
    return evaluated;
}

/* A layer does not keep on which side its number stands. */
START_TEST(a_number_that_stands_first_is_taken_where_the_order_does_not_matter)
{
    static const struct {
        const char *operation;
        double right;
        bool ordered;
    } nodes[] = {
        {"Add", 5, false}, {"Mul", 6, false}, {"Sub", -1, true}, {"Div", 2.0 / 3, true}, {"Pow", 8, true}};
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
        double result = 0;
        ck_assert(evaluate_node(nodes[i].operation, "x c", 2, &result));
        ck_assert_double_eq_tol(result, nodes[i].right, 1e-12);
        ck_assert_int_eq(evaluate_node(nodes[i].operation, "c x", 2, &result), !nodes[i].ordered);
        if (!nodes[i].ordered)
            ck_assert_double_eq_tol(result, nodes[i].right, 1e-12);
    }
}
END_TEST

START_TEST(a_softplus_of_a_large_number_is_that_number)
{
    double result = 0;
    ck_assert(evaluate_node("Softplus", "x", 1000, &result));
    ck_assert_double_eq(result, 1000);
    ck_assert(evaluate_node("Softplus", "x", -1000, &result));
    ck_assert_double_eq(result, 0);
    ck_assert(evaluate_node("Softplus", "x", 0, &result));
    ck_assert_double_eq_tol(result, log(2), 1e-15);
}
END_TEST

/* The scale may stand alone, and of one number nothing is left. Without the mean it is another thing. */
START_TEST(a_layer_normalisation_without_a_shift_is_evaluated)
{
    double result = 1;
    ck_assert(evaluate_node("LayerNormalization", "x c", 2, &result));
    ck_assert_double_eq(result, 0);
    ck_assert(!evaluate_node("RMSNormalization", "x c", 2, &result));
}
END_TEST

static Suite *vectors(void)
{
    Suite *suite = suite_create("vectors");
    TCase *tests = tcase_create("vectors");
    tcase_add_test(tests, imported_models_compute_the_outputs_of_the_onnx_project);
    tcase_add_test(tests, a_number_that_stands_first_is_taken_where_the_order_does_not_matter);
    tcase_add_test(tests, a_softplus_of_a_large_number_is_that_number);
    tcase_add_test(tests, a_layer_normalisation_without_a_shift_is_evaluated);
    tcase_add_test(tests, windows_with_other_paddings_behind_compute_the_outputs_of_onnxruntime);
    suite_add_tcase(suite, tests);
    return suite;
}

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, vectors());
}

/* Boosted trees against golden ones, node by node. */
#include "mappers/learn/trees.h"
#include "tests/unit/learn/golden.h"
#include "tests/unit/learn/suites.h"

#include <math.h>
#include <stdlib.h>

static size_t integer(const json_t *from, const char *name)
{
    const json_t *value = json_object_get(from, name);
    ck_assert(json_is_integer(value));
    return (size_t)json_integer_value(value);
}

static void check_node(const struct pim_tree_node *node, const json_t *wanted, size_t root)
{
    const json_t *leaf = json_object_get(wanted, "leaf");
    ck_assert_uint_eq(node->samples, integer(wanted, "n"));
    ck_assert_int_eq(node->leaf, leaf != NULL);
    if (leaf) {
        double value = golden_number(leaf);
        golden_close("leaf", 1, &node->value, &value, 1, 1e-12);
        return;
    }
    ck_assert_uint_eq(node->feature, integer(wanted, "feature"));
    ck_assert_double_eq(node->threshold, golden_number(json_object_get(wanted, "threshold")));
    double gain = golden_number(json_object_get(wanted, "gain"));
    golden_close("gain", 1, &node->gain, &gain, 1, 1e-12);
    ck_assert_uint_eq(node->left - root, integer(wanted, "left"));
    ck_assert_uint_eq(node->right - root, integer(wanted, "right"));
}

static void run_trees(const json_t *test)
{
    size_t features =
        (size_t)json_integer_value(json_array_get(json_object_get(json_object_get(test, "X"), "shape"), 1));
    struct pim_tree_options options = {.rounds = integer(test, "rounds"),
                                       .maximal_depth = integer(test, "max_depth"),
                                       .least_leaf = integer(test, "min_samples_leaf"),
                                       .least_split = integer(test, "min_samples_split"),
                                       .rate = golden_number(json_object_get(test, "learning_rate")),
                                       .lambda = golden_number(json_object_get(test, "lambda")),
                                       .gamma = golden_number(json_object_get(test, "gamma")),
                                       .initial = golden_number(json_object_get(test, "initial"))};
    size_t samples, held;
    double *x = golden_tensor(json_object_get(test, "X"), NULL);
    double *y = golden_tensor(json_object_get(test, "y"), &samples);
    double *x_test = golden_tensor(json_object_get(test, "X_test"), &held);
    held /= features;
    struct pim_trees trees;
    struct pim_error error = {0};
    ck_assert_int_eq(pim_trees_fit(&trees, &options, samples, features, x, y, &error), PIM_OK);
    const json_t *wanted = json_object_get(test, "trees");
    ck_assert_uint_eq(json_array_size(wanted), options.rounds);
    for (size_t round = 0; round < options.rounds; round++) {
        const json_t *nodes = json_array_get(wanted, round);
        size_t end = round + 1 < options.rounds ? trees.root[round + 1] : trees.node_count;
        ck_assert_uint_eq(end - trees.root[round], json_array_size(nodes));
        for (size_t i = 0; i < json_array_size(nodes); i++)
            check_node(&trees.node[trees.root[round] + i], json_array_get(nodes, i), trees.root[round]);
        double *predicted = calloc(samples, sizeof *predicted);
        for (size_t i = 0; i < samples; i++)
            predicted[i] = pim_trees_predict(&trees, round + 1, x + i * features);
        golden_check("predictions", json_array_get(json_object_get(test, "prediction_after_round"), round),
                     samples, predicted, 1e-12);
        free(predicted);
    }
    double *predicted = calloc(held, sizeof *predicted);
    for (size_t i = 0; i < held; i++)
        predicted[i] = pim_trees_predict(&trees, options.rounds, x_test + i * features);
    golden_check("test predictions", json_object_get(test, "test_prediction"), held, predicted, 1e-12);
    free(predicted);
    pim_trees_terminate(&trees);
    free(x);
    free(y);
    free(x_test);
}

START_TEST(trees_are_golden)
{
    json_t *root = golden_read("gbt.json");
    const json_t *cases = json_object_get(root, "cases"), *ties = json_object_get(root, "tie_cases");
    ck_assert_uint_eq(json_array_size(cases), 9);
    ck_assert_uint_eq(json_array_size(ties), 2);
    for (size_t i = 0; i < 9; i++)
        run_trees(json_array_get(cases, i));
    for (size_t i = 0; i < 2; i++)
        run_trees(json_array_get(ties, i));
    json_decref(root);
}
END_TEST

START_TEST(equal_targets_make_one_leaf)
{
    static const double x[] = {1, 2, 3, 4}, y[] = {0.1, 0.1, 0.1, 0.1};
    const struct pim_tree_options options = {
        .rounds = 2, .maximal_depth = 3, .least_leaf = 1, .least_split = 2, .rate = 1, .initial = 0};
    struct pim_trees trees;
    struct pim_error error = {0};
    ck_assert_int_eq(pim_trees_fit(&trees, &options, 4, 1, x, y, &error), PIM_OK);
    ck_assert_uint_eq(trees.node_count, 2);
    ck_assert_double_le(fabs(pim_trees_predict(&trees, 2, x) - 0.1), 1e-15);
    ck_assert_double_eq(pim_trees_predict(&trees, 0, x), 0);
    pim_trees_terminate(&trees);
}
END_TEST

Suite *learn_trees_suite(void)
{
    Suite *suite = suite_create("trees");
    TCase *tests = tcase_create("trees");
    tcase_add_test(tests, trees_are_golden);
    tcase_add_test(tests, equal_targets_make_one_leaf);
    suite_add_tcase(suite, tests);
    return suite;
}

/* The direct evaluation of graphs: each operator against numbers that were worked out by hand. */
#include "mappers/pimcomp/check/check_values.h"
#include "mappers/verify/evaluate.h"
#include "mappers/verify/numbers.h"
#include "mappers/verify/value.h"
#include "tests/unit/pimcomp/values/functional.h"
#include "tests/unit/pimcomp/values/nets.h"

#include <check.h>

static const int16_t *const *evaluate(struct net *net)
{
    const int16_t *const *values;
    struct pim_error error;
    ck_assert_msg(pim_verify_evaluate(&net->graph, NULL, 0, &net->arena, &values, &error) == PIM_OK, "%s",
                  error.text);
    return values;
}

/* Weights of layer 1 as the hash gives them: everybody's numbers change when these do. */
START_TEST(weights_stay)
{
    static const int32_t column0[] = {0, -2, -3, -3}, column1[] = {2, -2, 2, -3};
    for (uint32_t row = 0; row < 4; row++) {
        ck_assert_int_eq(pim_verify_weight(1, row, 0), column0[row]);
        ck_assert_int_eq(pim_verify_weight(1, row, 1), column1[row]);
    }
    ck_assert_int_eq(pim_verify_bias(1, 0), -6);
    ck_assert_int_eq(pim_verify_bias(1, 1), -13);
    int64_t sum = 0;
    for (uint32_t row = 0; row < 10000; row++) {
        int32_t weight = pim_verify_weight(7, row, 3), bias = pim_verify_bias(7, row);
        ck_assert(weight >= -3 && weight <= 3 && bias >= -15 && bias <= 15);
        sum += weight;
    }
    ck_assert(sum > -1000 && sum < 1000);
}
END_TEST

/* 2x2 kernel, stride 1, padding 1 in front, on a 2x3 map: weights from weights_stay. */
START_TEST(convolution_by_hand)
{
    struct net net;
    net_initialize(&net);
    uint32_t input = net_input(&net, 1, 2, 3);
    const struct pim_sliding sliding = {
        .kernel = {2, 2}, .stride = {1, 1}, .dilation = {1, 1}, .pad_before = {1, 1}};
    (void)net_sliding_convolution(&net, input, 2, &sliding, 1, true);
    const int16_t *const *values = evaluate(&net);
    const int16_t *in = values[0];
    const int32_t right[] = {
        -6 - 3 * in[0],             /* corner: the last weight alone */
        -6 - 3 * in[0] - 3 * in[1], /* upper edge */
        -6 - 3 * in[1] - 3 * in[2],
        -6 - 2 * in[0] - 3 * in[3], /* left edge */
        -6 + 0 * in[0] - 2 * in[1] - 3 * in[3] - 3 * in[4],
        -6 + 0 * in[1] - 2 * in[2] - 3 * in[4] - 3 * in[5],
    };
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(values[1][i], right[i]);
    ck_assert_int_eq(values[1][6 + 4], -13 + 2 * in[0] - 2 * in[1] + 2 * in[3] - 3 * in[4]);
    net_terminate(&net);
}
END_TEST

/* Two groups of one channel each: every output sees its own channel; rows count all channels. */
START_TEST(groups_by_hand)
{
    struct net net;
    net_initialize(&net);
    uint32_t input = net_input(&net, 2, 1, 2);
    (void)net_convolution(&net, input, 2, 1, 1, 0, 2, false);
    const int16_t *const *values = evaluate(&net);
    ck_assert_int_eq(values[1][0], 0 * values[0][0]);
    ck_assert_int_eq(values[1][2], -2 * values[0][2]);
    ck_assert_int_eq(values[1][3], -2 * values[0][3]);
    net_terminate(&net);
}
END_TEST

/* 3x3 windows of stride 2 with padding 1 on a 3x3 map: the corners hold four positions each. */
START_TEST(pooling_by_hand)
{
    struct net net;
    net_initialize(&net);
    uint32_t input = net_input(&net, 1, 3, 3);
    (void)net_pooling(&net, input, PIM_POOLING_MAXIMUM, 3, 2, 1, false);
    (void)net_pooling(&net, input, PIM_POOLING_AVERAGE, 3, 2, 1, false);
    (void)net_global_average(&net, input);
    (void)net_pooling(&net, input, PIM_POOLING_AVERAGE, 2, 2, 0, true);
    const int16_t *const *values = evaluate(&net);
    const int16_t *in = values[0];
    static const int corner[4][4] = {{0, 1, 3, 4}, {1, 2, 4, 5}, {3, 4, 6, 7}, {4, 5, 7, 8}};
    for (int i = 0; i < 4; i++) {
        int largest = INT16_MIN, sum = 0;
        for (int n = 0; n < 4; n++) {
            int value = in[corner[i][n]];
            largest = value > largest ? value : largest;
            sum += value;
        }
        ck_assert_int_eq(values[1][i], largest);
        ck_assert_int_eq(values[2][i], sum / 4); /* C rounds towards 0 */
    }
    int all = 0;
    for (int i = 0; i < 9; i++)
        all += in[i];
    ck_assert_int_eq(values[3][0], all / 9);
    ck_assert_int_eq(values[4][1], (in[2] + in[5]) / 2); /* the partial window at the right */
    ck_assert_int_eq(values[4][3], in[8]);
    net_terminate(&net);
}
END_TEST

START_TEST(elements_by_hand)
{
    struct net net;
    net_initialize(&net);
    uint32_t input = net_input(&net, 2, 1, 2);
    uint32_t relu = net_activation(&net, input, PIM_ACTIVATION_RELU);
    uint32_t add = net_elementwise(&net, input, relu, PIM_ELEMENTWISE_ADD);
    uint32_t product = net_elementwise(&net, add, input, PIM_ELEMENTWISE_MULTIPLY);
    const uint32_t parts[] = {net_slice(&net, product, 1, 1), input};
    uint32_t concat = net_concat(&net, parts, 2);
    uint32_t clip = net_activation(&net, concat, PIM_ACTIVATION_CLIP);
    const int16_t *const *values = evaluate(&net);
    for (int i = 0; i < 4; i++) {
        int a = values[input][i], sum = a + (a > 0 ? a : 0);
        ck_assert_int_eq(values[add][i], sum);
        ck_assert_int_eq(values[product][i], sum * a);
        ck_assert_int_eq(values[concat][2 + i], a);
        ck_assert_int_eq(values[clip][2 + i], a < 0 ? 0 : a > 6 ? 6 : a);
    }
    ck_assert_int_eq(values[concat][0], values[product][2]);
    net_terminate(&net);
}
END_TEST

/* A linear layer behind a flatten: row i is element i, and lowered (pixels first) it is the same number. */
START_TEST(linear_by_hand)
{
    struct net net;
    net_initialize(&net);
    uint32_t flat = net_flatten(&net, net_input(&net, 2, 1, 3));
    uint32_t linear = net_linear(&net, flat, 2, true);
    const int16_t *const *values = evaluate(&net);
    for (uint32_t o = 0; o < 2; o++) {
        int32_t sum = pim_verify_bias(linear, o);
        for (uint32_t i = 0; i < 6; i++)
            sum += pim_verify_weight(linear, i, o) * values[flat][i];
        ck_assert_int_eq(values[linear][o], sum);
    }
    const struct pim_core_layer lowered = {.matrix_layer = linear,
                                           .graph_layer = linear,
                                           .source = {{.channels = 2, .height = 1, .width = 3}},
                                           .sliding = {.kernel = {1, 3}},
                                           .flat = true,
                                           .flat_stride = {3, 3, 1},
                                           .channels = 2,
                                           .rows = 6};
    /* canonical row 3 is pixel 1, channel 1: element 1 * 3 + 1 */
    ck_assert_int_eq(pim_core_weight_of(&net.graph, &lowered, 3, 1), pim_verify_weight(linear, 4, 1));
    net_terminate(&net);
}
END_TEST

/* A decoder with the matrix of its encoder, transposed, in the direct evaluation and in the arrays. */
START_TEST(transposed_weights_by_hand)
{
    struct net net;
    net_initialize(&net);
    uint32_t flat = net_flatten(&net, net_input(&net, 2, 1, 3)), encoder = net_linear(&net, flat, 2, false);
    const union pim_attributes shared = {
        .linear = {.outputs = 6, .shared = true, .weights_of = encoder, .transposed = true}};
    uint32_t decoder = net_add(&net, PIM_OPERATOR_LINEAR, &encoder, 1, &shared);
    const int16_t *const *values = evaluate(&net);
    for (uint32_t o = 0; o < 6; o++)
        ck_assert_int_eq(values[decoder][o], pim_verify_weight(encoder, o, 0) * values[encoder][0] +
                                                 pim_verify_weight(encoder, o, 1) * values[encoder][1]);
    const struct pim_core_layer lowered = {.matrix_layer = decoder,
                                           .graph_layer = decoder,
                                           .source = {{.channels = 2, .height = 1, .width = 1}},
                                           .sliding = {.kernel = {1, 1}},
                                           .flat = true,
                                           .flat_stride = {1, 1, 1},
                                           .channels = 6,
                                           .rows = 2};
    ck_assert_int_ne(pim_verify_weight(encoder, 5, 1), pim_verify_weight(encoder, 1, 5));
    ck_assert_int_eq(pim_core_weight_of(&net.graph, &lowered, 1, 5), pim_verify_weight(encoder, 5, 1));
    net_terminate(&net);
}
END_TEST

START_TEST(arithmetic_wraps)
{
    ck_assert_int_eq(pim_value_cut(32768), -32768);
    ck_assert_int_eq(pim_value_cut(-32769), 32767);
    ck_assert_int_eq(pim_value_cut(65536 * 3 + 5), 5);
    ck_assert_int_eq(pim_value_local(PIM_LOCAL_DIVIDE, 2, -7, 0), -3);
    ck_assert_int_eq(pim_value_local(PIM_LOCAL_DIVIDE, -1, -32768, 0), -32768);
    ck_assert_int_eq(pim_value_local(PIM_LOCAL_MULTIPLY, 0, 300, 300), 90000 - 65536);
    ck_assert_int_eq(pim_value_local(PIM_LOCAL_MINIMUM, 0, -3, 2), -3);
    ck_assert_int_ne(pim_value_function(1, 100), pim_value_function(2, 100));
    ck_assert_int_ne(pim_value_binary(1, 3, 4), pim_value_binary(1, 4, 3));
}
END_TEST

Suite *evaluate_suite(void)
{
    Suite *suite = suite_create("evaluate");
    TCase *tests = tcase_create("evaluate");
    tcase_add_test(tests, weights_stay);
    tcase_add_test(tests, convolution_by_hand);
    tcase_add_test(tests, groups_by_hand);
    tcase_add_test(tests, pooling_by_hand);
    tcase_add_test(tests, elements_by_hand);
    tcase_add_test(tests, linear_by_hand);
    tcase_add_test(tests, transposed_weights_by_hand);
    tcase_add_test(tests, arithmetic_wraps);
    suite_add_tcase(suite, tests);
    return suite;
}

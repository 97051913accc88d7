/* Transposed convolutions, windows over volumes, recurrent layers: worked out by hand. */
#include "tests/unit/network/networks.h"

#define MAP(...)                                                                                             \
    {                                                                                                        \
        .rank = 4, .dimension = { __VA_ARGS__ }                                                              \
    }
#define VOLUME(...)                                                                                          \
    {                                                                                                        \
        .rank = 5, .dimension = { __VA_ARGS__ }                                                              \
    }

static const struct example transposed_examples[] = {
    /* a step up of U-Net: 28 x 28 pixels, each spread over 2 x 2 */
    {.operation = PIM_OPERATOR_TRANSPOSED_CONVOLUTION,
     .attributes = {.convolution = {.sliding = {.kernel = {2, 2}, .stride = {2, 2}, .dilation = {1, 1}},
                                    .outputs = 64,
                                    .groups = 1,
                                    .bias = true}},
     .count = 1,
     .input = {MAP(1, 128, 28, 28)},
     .output = MAP(1, 64, 56, 56),
     .macs = 25690112,
     .parameters = 32768 + 64},
    /* the generator of DCGAN: kernel 4, stride 2, padding 1 */
    {.operation = PIM_OPERATOR_TRANSPOSED_CONVOLUTION,
     .attributes = {.convolution = {.sliding = {.kernel = {4, 4},
                                                .stride = {2, 2},
                                                .dilation = {1, 1},
                                                .pad_before = {1, 1},
                                                .pad_after = {1, 1}},
                                    .outputs = 256,
                                    .groups = 1}},
     .count = 1,
     .input = {MAP(1, 512, 4, 4)},
     .output = MAP(1, 256, 8, 8),
     .macs = 33554432,
     .parameters = 2097152},
    /* groups, dilation across, one more row below: 2 * 4 + 3 - 2 + 1 = 10, 2 * 4 + 5 - 2 = 11 */
    {.operation = PIM_OPERATOR_TRANSPOSED_CONVOLUTION,
     .attributes = {.convolution = {.sliding = {.kernel = {3, 3},
                                                .stride = {2, 2},
                                                .dilation = {1, 2},
                                                .pad_before = {1, 1},
                                                .pad_after = {1, 1}},
                                    .outputs = 6,
                                    .groups = 2,
                                    .output_padding = {1, 0, 0}}},
     .count = 1,
     .input = {MAP(2, 4, 5, 5)},
     .output = MAP(2, 6, 10, 11),
     .macs = 2 * 25 * 108,
     .parameters = 108},
    {.operation = PIM_OPERATOR_TRANSPOSED_CONVOLUTION,
     .attributes = {.convolution = {.sliding = {.kernel = {1, 1},
                                                .stride = {1, 1},
                                                .dilation = {1, 1},
                                                .pad_before = {2, 0},
                                                .pad_after = {2, 0}},
                                    .outputs = 4,
                                    .groups = 1}},
     .count = 1,
     .input = {MAP(1, 4, 3, 3)},
     .message = "nothing is left: 3 positions are made and 4 cut away"},
    {.operation = PIM_OPERATOR_TRANSPOSED_CONVOLUTION,
     .attributes = {.convolution = {.sliding = {.kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}},
                                    .outputs = 4,
                                    .groups = 3}},
     .count = 1,
     .input = {MAP(1, 4, 3, 3)},
     .message = "3 groups do not divide"},
    {.operation = PIM_OPERATOR_TRANSPOSED_CONVOLUTION,
     .attributes =
         {.convolution = {.sliding = {.kernel = {2, 2}, .stride = {UINT32_MAX, 1}, .dilation = {1, 1}},
                          .outputs = 1,
                          .groups = 1}},
     .count = 1,
     .input = {MAP(1, 1, 3, 3)},
     .message = "allowed are at most"},
};

START_TEST(transposed_convolutions)
{
    check_examples(transposed_examples, sizeof transposed_examples / sizeof transposed_examples[0]);
}
END_TEST

static const struct example volume_examples[] = {
    /* the first layer of C3D: 16 frames of 112 x 112 */
    {.operation = PIM_OPERATOR_CONVOLUTION,
     .attributes = {.convolution = {.sliding = {.kernel = {3, 3, 3},
                                                .stride = {1, 1, 1},
                                                .dilation = {1, 1, 1},
                                                .pad_before = {1, 1, 1},
                                                .pad_after = {1, 1, 1}},
                                    .outputs = 64,
                                    .groups = 1,
                                    .bias = true}},
     .count = 1,
     .input = {VOLUME(1, 3, 16, 112, 112)},
     .output = VOLUME(1, 64, 16, 112, 112),
     .macs = 1040449536,
     .parameters = 5248},
    /* along the frames alone: entry 2 is the depth, which is dimension 2 of the volume */
    {.operation = PIM_OPERATOR_CONVOLUTION,
     .attributes = {.convolution = {.sliding = {.kernel = {1, 1, 3},
                                                .stride = {1, 1, 2},
                                                .dilation = {1, 1, 1},
                                                .pad_before = {0, 0, 1},
                                                .pad_after = {0, 0, 1}},
                                    .outputs = 8,
                                    .groups = 1}},
     .count = 1,
     .input = {VOLUME(1, 8, 9, 4, 6)},
     .output = VOLUME(1, 8, 5, 4, 6),
     .macs = 5 * 24 * 192,
     .parameters = 192},
    {.operation = PIM_OPERATOR_TRANSPOSED_CONVOLUTION,
     .attributes =
         {.convolution = {.sliding = {.kernel = {1, 2, 3}, .stride = {1, 2, 3}, .dilation = {1, 1, 1}},
                          .outputs = 4,
                          .groups = 1}},
     .count = 1,
     .input = {VOLUME(1, 2, 3, 4, 5)},
     .output = VOLUME(1, 4, 9, 4, 10),
     .macs = 60 * 48,
     .parameters = 48},
    {.operation = PIM_OPERATOR_POOLING,
     .attributes =
         {.pooling = {.sliding = {.kernel = {2, 2, 1}, .stride = {2, 2, 1}, .dilation = {1, 1, 1}}}},
     .count = 1,
     .input = {VOLUME(1, 64, 16, 112, 110)},
     .output = VOLUME(1, 64, 16, 56, 55)},
    {.operation = PIM_OPERATOR_POOLING,
     .attributes = {.pooling = {.global = true}},
     .count = 1,
     .input = {VOLUME(2, 8, 3, 4, 5)},
     .output = VOLUME(2, 8, 1, 1, 1)},
    /* attributes of a map on a volume */
    {.operation = PIM_OPERATOR_POOLING,
     .attributes = {.pooling = {.sliding = {.kernel = {2, 2}, .stride = {2, 2}, .dilation = {1, 1}}}},
     .count = 1,
     .input = {VOLUME(1, 64, 16, 112, 112)},
     .message = "must be at least 1"},
};

START_TEST(volumes)
{
    check_examples(volume_examples, sizeof volume_examples / sizeof volume_examples[0]);
}
END_TEST

static const struct example recurrent_examples[] = {
    /* 4 gates, both directions: 2 * 4 * 64 * (32 + 64) weights, 2 * 2 * 4 * 64 biases */
    {.operation = PIM_OPERATOR_RECURRENT,
     .attributes = {.recurrent = {.kind = PIM_RECURRENT_LSTM, .hidden = 64, .directions = 2, .bias = true}},
     .count = 1,
     .input = {{.rank = 3, .dimension = {10, 2, 32}}},
     .output = MAP(10, 2, 2, 64),
     .macs = 20 * 49152,
     .parameters = 49152 + 1024},
    {.operation = PIM_OPERATOR_RECURRENT,
     .attributes =
         {.recurrent = {.kind = PIM_RECURRENT_GRU, .hidden = 5, .directions = 1, .peepholes = false}},
     .count = 1,
     .input = {{.rank = 3, .dimension = {7, 1, 3}}},
     .output = MAP(7, 1, 1, 5),
     .macs = 7 * 3 * 5 * 8,
     .parameters = 3 * 5 * 8},
    {.operation = PIM_OPERATOR_RECURRENT,
     .attributes = {.recurrent = {.kind = PIM_RECURRENT_PLAIN, .hidden = 5, .directions = 3}},
     .count = 1,
     .input = {{.rank = 3, .dimension = {7, 1, 3}}},
     .message = "5 hidden units in 3 directions"},
    {.operation = PIM_OPERATOR_RECURRENT,
     .attributes = {.recurrent = {.kind = PIM_RECURRENT_PLAIN, .hidden = 5, .directions = 1}},
     .count = 1,
     .input = {MAP(7, 1, 3, 1)},
     .message = "[steps, batch, inputs]"},
};

START_TEST(recurrent_layers)
{
    check_examples(recurrent_examples, sizeof recurrent_examples / sizeof recurrent_examples[0]);
}
END_TEST

Suite *sliding_suite(void)
{
    Suite *suite = suite_create("sliding");
    TCase *tests = tcase_create("sliding");
    tcase_add_test(tests, transposed_convolutions);
    tcase_add_test(tests, volumes);
    tcase_add_test(tests, recurrent_layers);
    suite_add_tcase(suite, tests);
    return suite;
}

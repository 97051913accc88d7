/*
 * The ONNX project's own vectors: models of its tests are imported, their inputs run through windows as the
 * imported layer describes them, and the results held against the outputs that come with the models. What
 * the import makes of kernels, strides, dilations, groups and padding is so held against someone else.
 *
 * The data are Debian's libonnx-testdata; without them the suite says so and passes.
 */
#include "mappers/network/onnx/onnx.h"
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VALUES = 1 << 16, FILE_BYTES = 1 << 19 };

struct tensor {
    uint64_t size[8];
    unsigned rank;
    uint64_t type;
    float values[VALUES];
    size_t count;
};

static const char *folder(void)
{
    const char *given = getenv("PIMSIM_ONNX_TESTDATA");
    return given ? given : "/usr/share/libonnx-testdata/data/node";
}

static uint64_t varint(const uint8_t *bytes, size_t *at)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        value |= (uint64_t)(bytes[*at] & 127) << shift;
        if (!(bytes[(*at)++] & 128))
            return value;
    }
}

/* A TensorProto of floats: dims 1, data_type 2, float_data 4, raw_data 9. */
static void read_tensor(const char *path, struct tensor *t)
{
    static uint8_t bytes[FILE_BYTES];
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s", path);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    (void)fclose(file);
    ck_assert_uint_lt(size, sizeof bytes);
    t->rank = 0;
    t->count = 0;
    for (size_t at = 0; at < size;) {
        uint64_t key = varint(bytes, &at), field = key >> 3;
        uint64_t value = varint(bytes, &at); /* or the length of what follows */
        if (key == (1 << 3))
            t->size[t->rank++] = value;
        else if (key == (2 << 3))
            t->type = value;
        else if (key % 8 == 2) {
            if (field == 9 || field == 4) {
                ck_assert_uint_le(value / sizeof(float), VALUES);
                memcpy(t->values, bytes + at, value);
                t->count = value / sizeof(float);
            }
            for (size_t packed = at; field == 1 && packed < at + value;)
                t->size[t->rank++] = varint(bytes, &packed);
            at += value;
        }
    }
    ck_assert_uint_eq(t->type, 1);
    ck_assert_uint_eq(t->rank, 4);
}

static const char *const cases[] = {
    "test_conv_with_strides_padding",
    "test_conv_with_strides_no_padding",
    "test_conv_with_strides_and_asymmetric_padding",
    "test_conv_with_autopad_same",
    "test_basic_conv_with_padding",
    "test_basic_conv_without_padding",
    "test_maxpool_2d_default",
    "test_maxpool_2d_pads",
    "test_maxpool_2d_strides",
    "test_maxpool_2d_dilations",
    "test_maxpool_2d_ceil",
    "test_maxpool_2d_same_lower",
    "test_maxpool_2d_same_upper",
    "test_maxpool_2d_precomputed_pads",
    "test_maxpool_2d_precomputed_strides",
    "test_maxpool_2d_precomputed_same_upper",
    "test_averagepool_2d_default",
    "test_averagepool_2d_pads",
    "test_averagepool_2d_pads_count_include_pad",
    "test_averagepool_2d_strides",
    "test_averagepool_2d_ceil",
    "test_averagepool_2d_same_lower",
    "test_averagepool_2d_same_upper",
    "test_averagepool_2d_precomputed_pads",
    "test_averagepool_2d_precomputed_pads_count_include_pad",
    "test_averagepool_2d_precomputed_strides",
    "test_averagepool_2d_precomputed_same_upper",
};
enum { CASES = sizeof cases / sizeof cases[0] };

/* One output of a window, `weights` NULL for pooling. */
struct window {
    const struct pim_sliding *sliding;
    const struct tensor *input, *weights;
    bool maximum, count_padding;
};

static double window_value(const struct window *w, uint64_t image, uint64_t channel, uint64_t y, uint64_t x)
{
    const struct pim_sliding *s = w->sliding;
    const uint64_t *size = w->input->size;
    uint64_t channels = w->weights ? w->weights->size[1] : 1, inside = 0;
    uint64_t first = w->weights ? channel / (w->weights->size[0] / (size[1] / channels)) * channels : channel;
    double value = w->maximum ? (double)-INFINITY : 0;
    for (uint64_t c = 0; c < channels; c++)
        for (uint32_t ky = 0; ky < s->kernel[0]; ky++)
            for (uint32_t kx = 0; kx < s->kernel[1]; kx++) {
                int64_t iy = (int64_t)(y * s->stride[0] + (uint64_t)ky * s->dilation[0]) - s->pad_before[0];
                int64_t ix = (int64_t)(x * s->stride[1] + (uint64_t)kx * s->dilation[1]) - s->pad_before[1];
                if (iy < 0 || ix < 0 || iy >= (int64_t)size[2] || ix >= (int64_t)size[3])
                    continue;
                double in =
                    (double)
                        w->input->values[((image * size[1] + first + c) * size[2] + (uint64_t)iy) * size[3] +
                                         (uint64_t)ix];
                inside++;
                if (w->weights)
                    value +=
                        in * (double)w->weights
                                 ->values[((channel * channels + c) * s->kernel[0] + ky) * s->kernel[1] + kx];
                else if (w->maximum)
                    value = in > value ? in : value;
                else
                    value += in;
            }
    if (w->weights || w->maximum)
        return value;
    return value / (double)(w->count_padding ? (uint64_t)s->kernel[0] * s->kernel[1] : inside);
}

START_TEST(imported_windows_compute_the_outputs_of_the_onnx_project)
{
    static struct tensor input, weights, output;
    char path[512];
    struct pim_network *network;
    struct pim_error error = {0};
    const struct pim_onnx_options options = {0};
    (void)snprintf(path, sizeof path, "%s/%s/model.onnx", folder(), cases[_i]);
    if (access(path, R_OK) != 0) {
        printf("skipped: there is no %s: install Debian's libonnx-testdata\n", path);
        return;
    }
    ck_assert_msg(pim_onnx_read(path, &options, &network, &error) == PIM_OK, "%s", error.text);
    bool convolution = strstr(cases[_i], "conv") != NULL;
    const struct pim_layer *layer = NULL;
    for (uint32_t i = 0; i < network->graph.count; i++)
        if (network->graph.layers[i].operation ==
            (convolution ? PIM_OPERATOR_CONVOLUTION : PIM_OPERATOR_POOLING))
            layer = &network->graph.layers[i];
    ck_assert_ptr_nonnull(layer);
    (void)snprintf(path, sizeof path, "%s/%s/test_data_set_0/input_0.pb", folder(), cases[_i]);
    read_tensor(path, &input);
    (void)snprintf(path, sizeof path, "%s/%s/test_data_set_0/output_0.pb", folder(), cases[_i]);
    read_tensor(path, &output);
    if (convolution) {
        (void)snprintf(path, sizeof path, "%s/%s/test_data_set_0/input_1.pb", folder(), cases[_i]);
        read_tensor(path, &weights);
    }
    const struct window window = {.sliding = convolution ? &layer->attributes.convolution.sliding
                                                         : &layer->attributes.pooling.sliding,
                                  .input = &input,
                                  .weights = convolution ? &weights : NULL,
                                  .maximum = strstr(cases[_i], "maxpool") != NULL,
                                  .count_padding = strstr(cases[_i], "count_include_pad") != NULL};
    size_t at = 0;
    for (uint64_t n = 0; n < output.size[0]; n++)
        for (uint64_t c = 0; c < output.size[1]; c++)
            for (uint64_t y = 0; y < output.size[2]; y++)
                for (uint64_t x = 0; x < output.size[3]; x++, at++) {
                    double found = window_value(&window, n, c, y, x), right = (double)output.values[at];
                    if (fabs(found - right) > 1e-4 * (1 + fabs(right)))
                        ck_abort_msg("%s: output %zu is %g, the ONNX project has %g", cases[_i], at, found,
                                     right);
                }
    ck_assert_uint_eq(at, output.count);
    uint64_t elements = 1;
    for (uint32_t d = 0; d < layer->output.rank; d++)
        elements *= layer->output.dimension[d];
    ck_assert_uint_eq(elements, at);
    pim_network_destroy(network);
}
END_TEST

static Suite *vectors(void)
{
    Suite *suite = suite_create("vectors");
    TCase *tests = tcase_create("vectors");
    tcase_add_loop_test(tests, imported_windows_compute_the_outputs_of_the_onnx_project, 0, CASES);
    suite_add_tcase(suite, tests);
    return suite;
}

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, vectors());
}

/* Every descriptor, written as ONNX and read again, is the same work: equal MACs, parameters and last shape.
 */
#include "tests/unit/onnx/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *round_trip_suite(void);

static const char *const names[] = {
    "vit-t",     "vit-s",       "vit-b",       "vit-l",        "vit-h",           "swin-t",
    "swin-s",    "swin-b",      "swin-l",      "pvt-tiny",     "pvt-small",       "pvt-medium",
    "pvt-large", "twins-svt-s", "twins-svt-b", "twins-svt-l",  "focal-t",         "focal-s",
    "focal-b",   "cswin-t",     "cswin-s",     "cswin-b",      "cswin-l",         "vgg8",
    "vgg16",     "alexnet",     "googlenet",   "squeezenet",   "darknet53",       "resnet18",
    "resnet34",  "resnet50",    "resnet152",   "mobilenet-v2", "efficientnet-b0", "shufflenet",
};

static uint8_t *write(const struct pim_network *network, size_t *size)
{
    char *bytes = NULL;
    struct pim_error error = {PIM_OK, ""};
    FILE *file = open_memstream(&bytes, size);
    ck_assert_ptr_nonnull(file);
    enum pim_status status = pim_onnx_write(network, file, &error);
    ck_assert_msg(status == PIM_OK, "%s", error.text);
    ck_assert_int_eq(fclose(file), 0);
    return (uint8_t *)bytes;
}

START_TEST(same_work)
{
    char relative[128], path[1024];
    const char *image =
        "network.image=336"; /* windows of 7 do not divide its maps: padding is written, too */
    struct pim_error error = {PIM_OK, ""};
    struct pim_network *first = NULL, *second = NULL;
    const struct pim_onnx_options options = {NULL, 0, false};
    (void)snprintf(relative, sizeof relative, "configs/networks/%s.cfg", names[_i / 2]);
    enum pim_status status = pim_network_read(pimsim_source_path(path, sizeof path, relative), &image,
                                              (size_t)_i % 2, &first, &error);
    ck_assert_msg(status == PIM_OK, "%s", error.text);
    size_t size, again;
    uint8_t *bytes = write(first, &size);
    status = pim_onnx_parse("written", bytes, size, &options, &second, &error);
    ck_assert_msg(status == PIM_OK, "%s", error.text);
    ck_assert_uint_eq(second->graph.macs, first->graph.macs);
    ck_assert_uint_eq(second->graph.parameters, first->graph.parameters);
    ck_assert(pim_shape_equal(&first->graph.layers[first->graph.count - 1].output,
                              &second->graph.layers[second->graph.count - 1].output));
    ck_assert_str_eq(second->name, first->name);
    /* What was read can be written once more. */
    uint8_t *twice = write(second, &again);
    free(bytes);
    free(twice);
    pim_network_destroy(first);
    pim_network_destroy(second);
}
END_TEST

/* The same for what no descriptor has: files of the fuzz corpus. */
START_TEST(other_operators)
{
    static const char *const files[] = {"sliding", "einsum", "indexing", "attention"};
    char relative[128], path[1024];
    struct pim_error error = {PIM_OK, ""};
    struct pim_network *first = NULL, *second = NULL;
    const struct pim_onnx_options options = {NULL, 0, false};
    (void)snprintf(relative, sizeof relative, "tests/fuzz/corpus/onnx/%s", files[_i]);
    enum pim_status status =
        pim_onnx_read(pimsim_source_path(path, sizeof path, relative), &options, &first, &error);
    ck_assert_msg(status == PIM_OK, "%s", error.text);
    size_t size;
    uint8_t *bytes = write(first, &size);
    status = pim_onnx_parse("written", bytes, size, &options, &second, &error);
    ck_assert_msg(status == PIM_OK, "%s", error.text);
    ck_assert_uint_eq(second->graph.macs, first->graph.macs);
    ck_assert_uint_eq(second->graph.parameters, first->graph.parameters);
    /* Layers of the new kinds are the same, in the same order. */
    uint32_t at = 0, compared = 0;
    for (uint32_t l = 0; l < first->graph.count; l++) {
        const struct pim_layer *layer = &first->graph.layers[l];
        if (layer->operation != PIM_OPERATOR_CONVOLUTION &&
            layer->operation != PIM_OPERATOR_TRANSPOSED_CONVOLUTION &&
            layer->operation != PIM_OPERATOR_RECURRENT && layer->operation != PIM_OPERATOR_POOLING &&
            layer->operation != PIM_OPERATOR_MATRIX_MULTIPLICATION)
            continue;
        while (at < second->graph.count && second->graph.layers[at].operation != layer->operation)
            at++;
        ck_assert_uint_lt(at, second->graph.count);
        ck_assert(pim_shape_equal(&layer->output, &second->graph.layers[at].output));
        ck_assert_uint_eq(layer->macs, second->graph.layers[at++].macs);
        compared++;
    }
    ck_assert(compared > 0 || _i == 2);
    free(bytes);
    pim_network_destroy(first);
    pim_network_destroy(second);
}
END_TEST

/* A decoder that has the matrix of its encoder, transposed. */
START_TEST(a_matrix_that_is_shared_transposed)
{
    struct model m = {.opset = 13};
    struct pim_error error = {PIM_OK, ""};
    struct pim_network *second = NULL;
    const struct pim_onnx_options options = {NULL, 0, false};
    model_input(&m, "x", (int64_t[]){1, 64}, 2);
    model_weights(&m, "w", (int64_t[]){64, 32}, 2);
    model_node(&m, "MatMul", "encoder", "x w", "h");
    model_node(&m, "Relu", "relu", "h", "r");
    model_node(&m, "Gemm", "decoder", "r w", "y");
    model_integer(&m, "transB", 1);
    model_output(&m, "y");
    struct pim_network *first = model_read(&m);
    size_t size;
    uint8_t *bytes = write(first, &size);
    enum pim_status status = pim_onnx_parse("written", bytes, size, &options, &second, &error);
    ck_assert_msg(status == PIM_OK, "%s", error.text);
    ck_assert_uint_eq(first->graph.parameters, 64 * 32);
    ck_assert_uint_eq(second->graph.parameters, 64 * 32);
    ck_assert_uint_eq(second->graph.macs, 2 * 64 * 32);
    free(bytes);
    pim_network_destroy(first);
    pim_network_destroy(second);
}
END_TEST

/* Version 17 has no operator for it: written out, and not as a layer normalisation, which takes the mean
 * off. */
START_TEST(a_root_mean_square_is_written_out)
{
    struct model m = {.opset = 23};
    struct pim_error error = {PIM_OK, ""};
    struct pim_network *second = NULL;
    const struct pim_onnx_options options = {NULL, 0, false};
    model_input(&m, "x", (int64_t[]){1, 4, 8}, 3);
    model_weights(&m, "s", (int64_t[]){8}, 1);
    model_node(&m, "RMSNormalization", "norm", "x s", "y");
    model_output(&m, "y");
    struct pim_network *first = model_read(&m);
    ck_assert(layer_named(first, "norm")->attributes.normalization.root_mean_square);
    ck_assert_uint_eq(first->graph.parameters, 8);
    size_t size;
    uint8_t *bytes = write(first, &size);
    enum pim_status status = pim_onnx_parse("written", bytes, size, &options, &second, &error);
    ck_assert_msg(status == PIM_OK, "%s", error.text);
    ck_assert_uint_eq(second->graph.parameters, 8);
    check_shape(&second->graph.layers[second->graph.count - 1], "1x4x8");
    for (uint32_t l = 0; l < second->graph.count; l++)
        ck_assert_int_ne(second->graph.layers[l].operation, PIM_OPERATOR_NORMALIZATION);
    free(bytes);
    pim_network_destroy(first);
    pim_network_destroy(second);
}
END_TEST

Suite *round_trip_suite(void)
{
    Suite *suite = suite_create("round_trip");
    TCase *tests = tcase_create("round_trip");
    tcase_add_loop_test(tests, same_work, 0, (int)(2 * sizeof names / sizeof *names));
    tcase_add_loop_test(tests, other_operators, 0, 4);
    tcase_add_test(tests, a_matrix_that_is_shared_transposed);
    tcase_add_test(tests, a_root_mean_square_is_written_out);
    suite_add_tcase(suite, tests);
    return suite;
}

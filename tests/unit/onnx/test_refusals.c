/* Files that are damaged, contradict themselves, or ask for what cannot be. */
#include "tests/unit/onnx/model.h"

#include <string.h>

#define INTS(...) (int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)

Suite *refusals_suite(void);

static struct model begin(void)
{
    struct model m = {.opset = 13};
    model_input(&m, "x", INTS(1, 4, 8, 8));
    model_weights(&m, "w", INTS(4, 4, 3, 3));
    return m;
}

START_TEST(graphs)
{
    struct model m = begin();
    model_node(&m, "Add", "p", "x b", "a");
    model_node(&m, "Relu", "q", "a", "b");
    model_output(&m, "b");
    model_refused(&m, "form a cycle");

    m = begin();
    model_node(&m, "Relu", "p", "nowhere", "y");
    model_output(&m, "y");
    model_refused(&m, "\"nowhere\", is made by no node");

    m = begin();
    model_node(&m, "Relu", "p", "x", "y");
    model_node(&m, "Tanh", "q", "x", "y");
    model_output(&m, "y");
    model_refused(&m, "made a second time");

    m = begin();
    model_output(&m, "y");
    model_refused(&m, "output \"y\" of the network is made by no node");

    m = begin();
    model_node(&m, "Relu", "p", "x", "y second");
    model_output(&m, "y");
    model_output(&m, "second");
    model_refused(&m, "output \"second\" of the network is a second output");

    m = begin();
    m.opset = 0;
    model_node(&m, "Relu", "p", "x", "y");
    model_output(&m, "y");
    model_refused(&m, "version 0");
}
END_TEST

START_TEST(shapes)
{
    struct model m = {.opset = 13};
    model_input(&m, "x", INTS(1, -7, 8));
    model_node(&m, "Relu", "p", "x", "y");
    model_output(&m, "y");
    model_refused(&m, "dimension 1 is -7");

    m = (struct model){.opset = 13};
    model_input(&m, "x", NULL, 0);
    model_node(&m, "Relu", "p", "x", "y");
    model_output(&m, "y");
    model_refused(&m, "has no shape");

    m = begin();
    model_weights(&m, "bad", INTS(4, 5, 3, 3));
    model_node(&m, "Conv", "p", "x bad", "y");
    model_output(&m, "y");
    model_refused(&m, "5 input channels");

    m = begin();
    model_weights(&m, "bad", INTS(4, -4));
    model_node(&m, "Conv", "p", "x bad", "y");
    model_output(&m, "y");
    model_refused(&m, "dimension 1 is -4");

    m = begin();
    model_weights(&m, "huge", INTS(2147483647, 2147483647, 2147483647));
    model_node(&m, "Add", "p", "x huge", "y");
    model_output(&m, "y");
    model_refused(&m, "elements in all");

    m = begin();
    model_list(&m, "shape", INTS(7, -1));
    model_node(&m, "Reshape", "p", "x shape", "y");
    model_output(&m, "y");
    model_refused(&m, "does not fit");

    m = begin();
    model_node(&m, "Transpose", "p", "x", "y");
    model_integers(&m, "perm", INTS(0, 1, 1, 2));
    model_output(&m, "y");
    model_refused(&m, "each of 4 dimensions once");

    m = begin();
    model_node(&m, "Softmax", "p", "x", "y");
    model_integer(&m, "axis", 4);
    model_output(&m, "y");
    model_refused(&m, "axis 4 does not exist");

    m = begin();
    model_node(&m, "Reshape", "p", "x x", "y"); /* a shape that depends on the data */
    model_output(&m, "y");
    model_refused(&m, "constant list of whole numbers");
}
END_TEST

START_TEST(attributes)
{
    struct model m = begin();
    model_node(&m, "Conv", "p", "x w", "y");
    model_integers(&m, "strides", INTS(0, 1));
    model_output(&m, "y");
    model_refused(&m, "strides is 0");

    m = begin();
    model_node(&m, "Conv", "p", "x w", "y");
    model_integers(&m, "pads", INTS(1, 1, 1));
    model_output(&m, "y");
    model_refused(&m, "pads has 3 entries");

    m = begin();
    model_node(&m, "Conv", "p", "x", "y");
    model_output(&m, "y");
    model_refused(&m, "input 1 is missing");

    m = begin();
    model_node(&m, "MaxPool", "p", "x", "y");
    model_output(&m, "y");
    model_refused(&m, "kernel_shape is missing");

    m = begin();
    model_node(&m, "Conv", "p", "x w", "y");
    model_integer(&m, "group", 3);
    model_output(&m, "y");
    model_refused(&m, "12 input channels in 3 groups");

    m = begin();
    model_list(&m, "zero", INTS(0));
    model_list(&m, "end", INTS(4));
    model_node(&m, "Slice", "p", "x zero end zero zero", "y");
    model_output(&m, "y");
    model_refused(&m, "step of dimension 0 is 0");
}
END_TEST

/* Every beginning of a file, and every file with one byte changed: refused with a message, or read. */
START_TEST(damaged_files)
{
    struct model m = begin();
    struct bytes file;
    const struct pim_onnx_options options = {NULL, 0, false};
    model_list(&m, "shape", INTS(1, -1));
    model_node(&m, "Conv", "p", "x w", "a");
    model_integers(&m, "pads", INTS(1, 1, 1, 1));
    model_node(&m, "Relu", "q", "a", "b");
    model_node(&m, "Reshape", "r", "b shape", "y");
    model_output(&m, "y");
    model_bytes(&m, &file);
    uint32_t refused = 0, read = 0;
    for (size_t n = 0; n < 2 * file.size; n++) {
        struct bytes damaged = file;
        if (n < file.size)
            damaged.size = n;
        else
            damaged.data[n - file.size] ^= (uint8_t)(1u << n % 8);
        struct pim_network *network = NULL;
        struct pim_error error = {PIM_OK, ""};
        enum pim_status status =
            pim_onnx_parse("damaged.onnx", damaged.data, damaged.size, &options, &network, &error);
        ck_assert((status == PIM_OK) == (network != NULL));
        ck_assert(status == PIM_OK || error.text[0] != '\0');
        refused += status != PIM_OK;
        read += status == PIM_OK;
        pim_network_destroy(network);
    }
    ck_assert_uint_gt(refused, (uint32_t)file.size);
    ck_assert_uint_gt(read, 0); /* names that changed alike do no harm */
}
END_TEST

START_TEST(no_file)
{
    const struct pim_onnx_options options = {NULL, 0, false};
    struct pim_network *network = NULL;
    struct pim_error error = {PIM_OK, ""};
    ck_assert_int_eq(pim_onnx_read("no/such/file.onnx", &options, &network, &error), PIM_IO);
    ck_assert_ptr_nonnull(strstr(error.text, "no/such/file.onnx"));
}
END_TEST

Suite *refusals_suite(void)
{
    Suite *suite = suite_create("refusals");
    TCase *tests = tcase_create("refusals");
    tcase_add_test(tests, graphs);
    tcase_add_test(tests, shapes);
    tcase_add_test(tests, attributes);
    tcase_add_test(tests, damaged_files);
    tcase_add_test(tests, no_file);
    suite_add_tcase(suite, tests);
    return suite;
}

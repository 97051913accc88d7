/* Convolutional families against published figures, and what their descriptors refuse. */
#include "tests/unit/network/networks.h"
#include "tests/unit/test_main.h"

#include <string.h>

/*
 * MACs and parameters as published (parameters of batch normalisations fold into biases, hence 1 %).
 * `operations` are the matrix-vector products on crossbars of 128 rows that the released PIMCOMP compiler
 * (commit 2ed10c8) counts; 0 where its network is another: its AlexNet has no padding in the first layer and
 * its ResNet-50 the stride in the first 1x1.
 */
static const struct {
    const char *name;
    double macs, parameters;
    uint64_t operations;
} published[] = {
    {"vgg8", 616e6, 12.97e6, 0},
    {"vgg16", 15.47e9, 138.36e6, 709780},
    {"alexnet", 1.135e9, 62.38e6, 0},
    {"zfnet512", 2.477e9, 107.63e6, 0}, /* the sum of its table of layers */
    {"googlenet", 1.582e9, 6.99e6, 113639},
    {"squeezenet", 0.349e9, 1.235e6, 50962},
    {"darknet53", 9.29e9, 41.61e6, 0},
    {"resnet18", 1.814e9, 11.69e6, 132500},
    {"resnet34", 3.664e9, 21.80e6, 223836},
    {"resnet50", 4.089e9, 25.56e6, 0},
    {"resnet152", 11.51e9, 60.19e6, 0},
    {"mobilenet-v2", 300.8e6, 3.504e6, 0},
    {"efficientnet-b0", 385.9e6, 5.289e6, 0},
    {"shufflenet", 137e6, 1.866e6, 0},
    {"bert-base-encoder", 931.1e6, 7.088e6, 0}, /* 128 tokens; without embeddings */
};
enum { PUBLISHED = sizeof published / sizeof *published };

static uint64_t crossbar_operations(const struct pim_network *network, uint64_t rows)
{
    uint64_t sum = 0;
    for (uint32_t l = 0; l < network->graph.count; l++) {
        const struct pim_layer *layer = &network->graph.layers[l];
        const struct pim_shape *out = &layer->output;
        uint64_t windows = 1;
        if (layer->operation == PIM_OPERATOR_CONVOLUTION)
            windows = (uint64_t)out->dimension[2] * out->dimension[3];
        else if (layer->operation != PIM_OPERATOR_LINEAR)
            continue;
        uint64_t inputs = layer->macs / pim_shape_elements(out);
        sum += windows * ((inputs + rows - 1) / rows);
    }
    return sum;
}

START_TEST(published_figures)
{
    struct pim_network *network = read_network(published[_i].name, NULL);
    struct pim_error error = {PIM_OK, ""};
    ck_assert_msg(pim_graph_check(&network->graph, &error) == PIM_OK, "%s", error.text);
    ck_assert_str_eq(network->name, published[_i].name);
    ck_assert_ptr_null(network->transformer);
    ck_assert_double_eq_tol((double)network->graph.macs, published[_i].macs, 0.01 * published[_i].macs);
    ck_assert_double_eq_tol((double)network->graph.parameters, published[_i].parameters,
                            0.01 * published[_i].parameters);
    if (published[_i].operations)
        ck_assert_uint_eq(crossbar_operations(network, 128), published[_i].operations);
    pim_network_destroy(network);
}
END_TEST

START_TEST(groups_halve_alexnet)
{
    struct pim_network *network = read_network("alexnet", "network.groups=2");
    ck_assert_double_eq_tol((double)network->graph.parameters, 60.97e6, 0.01e6);
    pim_network_destroy(network);
}
END_TEST

START_TEST(refused)
{
    static const struct {
        const char *text, *message;
    } examples[] = {
        {"network = { family = \"resnet\"; };", "network.blocks"},
        {"network = { family = \"resnet\"; blocks = [2]; };", "network.channels"},
        {"network = { family = \"resnet\"; blocks = [2]; channels = [8, 8]; };", "has 2 values"},
        {"network = { family = \"resnet\"; blocks = [2]; channels = [8]; heads = [1]; };",
         "family resnet does not use this key"},
        {"network = { family = \"resnet\"; blocks = [2]; channels = [8]; hidden = [8]; };",
         "family resnet does not use this key"},
        {"network = { family = \"googlenet\"; blocks = [2]; };", "family googlenet does not use this key"},
        {"network = { family = \"vgg\"; image = 7; blocks = [1, 1, 1]; channels = [8, 8, 8]; };",
         "cannot be halved 3 times"},
        {"network = { family = \"vgg\"; blocks = [1]; channels = [8]; hidden = [1, 1, 1, 1, 1]; };",
         "at most 4"},
        {"network = { family = \"alexnet\"; image = 20; };", "cannot be built for this size"},
        {"network = { family = \"alexnet\"; groups = 3; };", "network.groups"},
        {"network = { family = \"vit\"; blocks = [1]; channels = [8]; heads = [1]; bottleneck = true; };",
         "family vit does not use this key"},
    };
    struct pim_error error = {PIM_OK, ""};
    struct pim_network *network = read_text(examples[_i].text, &error);
    ck_assert_ptr_null(network);
    ck_assert_msg(strstr(error.text, examples[_i].message) != NULL, "%s", error.text);
}
END_TEST

Suite *convolutional_suite(void)
{
    Suite *suite = suite_create("convolutional");
    TCase *tests = tcase_create("convolutional");
    tcase_add_loop_test(tests, published_figures, 0, PUBLISHED);
    tcase_add_test(tests, groups_halve_alexnet);
    tcase_add_loop_test(tests, refused, 0, 11);
    suite_add_tcase(suite, tests);
    return suite;
}

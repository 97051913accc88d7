/* Dense networks and graph convolutions against golden outputs, gradients and steps of Adam. */
#include "mappers/learn/adam.h"
#include "tests/unit/learn/golden.h"
#include "tests/unit/learn/suites.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- what dense and graph cases share --- */

struct graph {
    size_t vertices;
    struct pim_sparse propagation;
    double *x, *y, *output, *slope;
    unsigned char *mask;
    struct pim_pass *pass;
};

struct net {
    const json_t *test;
    struct pim_neural_layer layers[8];
    size_t layer_count, parameter_count, graph_count;
    double *parameters, *gradient;
    struct graph graphs[8];
    enum { SQUARED, LOGISTIC, NODES, GRAPHS } loss;
    enum pim_readout readout;
    double *readout_weights;
};

/* The loss of the present parameters; adds its gradient to net->gradient. */
static double evaluate(struct net *net)
{
    size_t outputs = net->layers[net->layer_count - 1].outputs;
    double loss = 0, count = (double)net->graph_count;
    for (size_t g = 0; g < net->graph_count; g++) {
        struct graph *graph = &net->graphs[g];
        const unsigned char *masks[8] = {NULL};
        for (size_t l = 0; l < net->layer_count; l++)
            masks[l] = net->layers[l].dropout > 0 ? graph->mask : NULL;
        const double *output =
            pim_forward(graph->pass, net->parameters, graph->vertices, graph->x,
                        graph->propagation.rows ? &graph->propagation : NULL, graph->mask ? masks : NULL);
        size_t size = graph->vertices * outputs;
        memcpy(graph->output, output, size * sizeof *output);
        double *slope = graph->slope;
        if (net->loss == LOGISTIC) {
            loss += pim_loss_logistic(size, output, graph->y, slope);
        } else if (net->loss == GRAPHS) {
            double value = pim_read_out(net->readout, graph->vertices, outputs, net->readout_weights, output);
            loss += (value - graph->y[0]) * (value - graph->y[0]) / count;
            pim_read_out_gradient(net->readout, graph->vertices, outputs, net->readout_weights, output,
                                  2 * (value - graph->y[0]) / count, slope);
        } else {
            loss += pim_loss_squared(size, output, graph->y, slope);
        }
        pim_backward(graph->pass, net->parameters, slope, net->gradient, NULL);
    }
    return loss;
}

static void prepare(struct net *net)
{
    net->parameter_count = pim_layers_parameters(net->layers, net->layer_count);
    net->gradient = calloc(net->parameter_count, sizeof(double));
    if (!net->parameters) {
        net->parameters = calloc(net->parameter_count, sizeof(double));
        golden_pack(json_object_get(net->test, "W"), json_object_get(net->test, "b"), net->parameters);
    }
    for (size_t g = 0; g < net->graph_count; g++) {
        struct graph *graph = &net->graphs[g];
        graph->pass = pim_pass_create(net->layers, net->layer_count, graph->vertices);
        size_t size = graph->vertices * net->layers[net->layer_count - 1].outputs + 1;
        graph->output = calloc(size, sizeof(double));
        graph->slope = calloc(size, sizeof(double));
        ck_assert(graph->pass && graph->output && graph->slope);
    }
}

static void terminate(struct net *net)
{
    for (size_t g = 0; g < net->graph_count; g++) {
        struct graph *graph = &net->graphs[g];
        pim_sparse_terminate(&graph->propagation);
        pim_pass_destroy(graph->pass);
        free(graph->x);
        free(graph->y);
        free(graph->output);
        free(graph->slope);
        free(graph->mask);
    }
    free(net->parameters);
    free(net->gradient);
    free(net->readout_weights);
}

struct pim_adam_options golden_adam(const json_t *adam)
{
    return (struct pim_adam_options){.rate = golden_number(json_object_get(adam, "lr")),
                                     .first = golden_number(json_object_get(adam, "beta1")),
                                     .second = golden_number(json_object_get(adam, "beta2")),
                                     .epsilon = golden_number(json_object_get(adam, "eps"))};
}

/* Gradients by central differences: a second opinion that shares no code with the backward pass. */
static void check_differences(struct net *net)
{
    double *gradient = calloc(net->parameter_count, sizeof *gradient), largest = 0;
    ck_assert_ptr_nonnull(gradient);
    memset(net->gradient, 0, net->parameter_count * sizeof *gradient);
    (void)evaluate(net);
    memcpy(gradient, net->gradient, net->parameter_count * sizeof *gradient);
    for (size_t i = 0; i < net->parameter_count; i++)
        largest = fabs(gradient[i]) > largest ? fabs(gradient[i]) : largest;
    size_t step = net->parameter_count > 200 ? net->parameter_count / 50 : 1;
    for (size_t i = 0; i < net->parameter_count; i += step) {
        double old = net->parameters[i], losses[2];
        for (int side = 0; side < 2; side++) {
            net->parameters[i] = old + (side ? 1e-6 : -1e-6);
            losses[side] = evaluate(net);
        }
        net->parameters[i] = old;
        double slope = (losses[1] - losses[0]) / 2e-6;
        ck_assert_double_le(fabs(slope - gradient[i]), 1e-5 * (largest > 1e-3 ? largest : 1e-3));
    }
    free(gradient);
}

static void check_training(struct net *net, double tolerance)
{
    const json_t *adam = json_object_get(net->test, "adam"), *losses, *after;
    if (!adam)
        return;
    losses = json_object_get(adam, "loss_before_step");
    after = json_object_get(adam, "after");
    struct pim_adam optimiser;
    struct pim_adam_options options = golden_adam(adam);
    ck_assert(pim_adam_initialize(&optimiser, &options, net->parameter_count));
    size_t steps = json_array_size(losses) - 1, held = 0;
    ck_assert_uint_eq(steps, 10);
    for (size_t step = 0; step <= steps; step++) {
        memset(net->gradient, 0, net->parameter_count * sizeof(double));
        double loss = evaluate(net), wanted = golden_number(json_array_get(losses, step));
        golden_close("loss before step", 1, &loss, &wanted, 0, tolerance);
        char key[8];
        (void)snprintf(key, sizeof key, "%zu", step);
        const json_t *values = json_object_get(after, key);
        if (values) {
            golden_check_layers("parameters", json_object_get(values, "W"), json_object_get(values, "b"),
                                net->layers, net->parameters, tolerance);
            held++;
        }
        pim_adam_step(&optimiser, net->gradient, net->parameters);
    }
    ck_assert_uint_eq(held, 3);
    pim_adam_terminate(&optimiser);
}

static void check_net(struct net *net, double tolerance, double adam_tolerance)
{
    double loss = evaluate(net), wanted = golden_number(json_object_get(net->test, "loss_value"));
    golden_close("loss", 1, &loss, &wanted, 0, tolerance);
    golden_check_layers("gradients", json_object_get(net->test, "grad_W"),
                        json_object_get(net->test, "grad_b"), net->layers, net->gradient, 10 * tolerance);
    if (!json_object_get(net->test, "exact_zero_preactivations"))
        check_differences(net);
    check_training(net, adam_tolerance);
}

/* --- dense --- */

static void run_dense(const json_t *test, bool generated)
{
    struct net net = {.test = test, .graph_count = 1};
    struct graph *graph = &net.graphs[0];
    net.layer_count = golden_layers(json_object_get(test, "sizes"), false, net.layers);
    net.loss = strcmp(json_string_value(json_object_get(test, "loss")), "bce") == 0 ? LOGISTIC : SQUARED;
    size_t inputs;
    if (generated) {
        struct golden_generated made = golden_generate(test, net.layers, net.layer_count);
        net.parameters = made.parameters;
        graph->x = made.x;
        graph->y = made.y;
        free(made.x_test);
        graph->vertices = (size_t)json_integer_value(json_object_get(test, "N"));
        for (size_t i = 0; net.loss == LOGISTIC && i < graph->vertices; i++)
            graph->y[i] = graph->y[i] >= 0;
    } else {
        graph->x = golden_tensor(json_object_get(test, "X"), &inputs);
        graph->y = golden_tensor(json_object_get(test, "y"), NULL);
        graph->vertices = inputs / net.layers[0].inputs;
    }
    prepare(&net);
    check_net(&net, generated ? 1e-12 : 1e-13, generated ? 1e-9 : 1e-12);
    /* The output before training: the parameters of the file again. */
    if (!generated) {
        golden_pack(json_object_get(test, "W"), json_object_get(test, "b"), net.parameters);
        (void)evaluate(&net);
        golden_check("output", json_object_get(test, "output"),
                     graph->vertices * net.layers[net.layer_count - 1].outputs, graph->output, 1e-13);
    }
    terminate(&net);
}

START_TEST(dense_networks_are_golden)
{
    json_t *root = golden_read("mlp.json");
    const json_t *cases = json_object_get(root, "cases"),
                 *generated = json_object_get(root, "generated_weight_cases");
    ck_assert_uint_eq(json_array_size(cases), 7);
    ck_assert_uint_eq(json_array_size(generated), 2);
    for (size_t i = 0; i < json_array_size(cases); i++)
        run_dense(json_array_get(cases, i), false);
    for (size_t i = 0; i < json_array_size(generated); i++)
        run_dense(json_array_get(generated, i), true);
    json_decref(root);
}
END_TEST

/* --- graphs --- */

static void read_propagation(const json_t *graph, struct pim_sparse *propagation)
{
    const json_t *edges = json_object_get(graph, "edges");
    size_t count = json_array_size(edges), *list = calloc(2 * count + 1, sizeof *list);
    ck_assert_ptr_nonnull(list);
    for (size_t i = 0; i < 2 * count; i++)
        list[i] = (size_t)json_integer_value(json_array_get(json_array_get(edges, i / 2), i % 2));
    struct pim_error error = {0};
    size_t vertices = (size_t)json_integer_value(json_object_get(graph, "n"));
    ck_assert_int_eq(pim_sparse_propagation(propagation, vertices, list, count, &error), PIM_OK);
    free(list);
    const json_t *wanted = json_object_get(graph, "normalised_adjacency");
    if (!wanted)
        return;
    double *dense = calloc(vertices * vertices, sizeof *dense);
    ck_assert_ptr_nonnull(dense);
    for (size_t i = 0; i < vertices; i++) {
        for (size_t k = propagation->start[i]; k < propagation->start[i + 1]; k++)
            dense[i * vertices + propagation->column[k]] = propagation->value[k];
    }
    golden_check("propagation", wanted, vertices * vertices, dense, 1e-15);
    free(dense);
}

static void read_graph(const json_t *json, struct graph *graph)
{
    read_propagation(json, &graph->propagation);
    graph->vertices = graph->propagation.rows;
    graph->x = golden_tensor(json_object_get(json, "X"), NULL);
    const json_t *y = json_object_get(json, "y"), *mask = json_object_get(json, "dropout_mask");
    if (y) {
        graph->y = calloc(1, sizeof *graph->y);
        ck_assert_ptr_nonnull(graph->y);
        graph->y[0] = golden_number(y);
    } else {
        graph->y = golden_tensor(json_object_get(json, "Y"), NULL);
    }
    if (mask) {
        size_t count;
        double *values = golden_tensor(mask, &count);
        graph->mask = calloc(count, 1);
        ck_assert_ptr_nonnull(graph->mask);
        for (size_t i = 0; i < count; i++)
            graph->mask[i] = values[i] != 0;
        free(values);
    }
}

static void run_graphs(const json_t *test)
{
    struct net net = {.test = test};
    const json_t *layers = json_object_get(test, "layers"), *graphs = json_object_get(test, "graphs");
    net.layer_count = json_array_size(layers);
    for (size_t l = 0; l < net.layer_count; l++) {
        const json_t *layer = json_array_get(layers, l);
        const json_t *shape = json_object_get(json_array_get(json_object_get(test, "W"), l), "shape");
        net.layers[l] = (struct pim_neural_layer){
            .inputs = (size_t)json_integer_value(json_array_get(shape, 1)),
            .outputs = (size_t)json_integer_value(json_array_get(shape, 0)),
            .convolve = strcmp(json_string_value(json_object_get(layer, "kind")), "gcn") == 0,
            .relu = json_is_true(json_object_get(layer, "relu")),
            .dropout = json_number_value(json_object_get(layer, "dropout"))};
    }
    const json_t *weights = json_object_get(test, "readout_weights");
    net.loss = strcmp(json_string_value(json_object_get(test, "loss")), "node_mse") == 0 ? NODES : GRAPHS;
    if (net.loss == GRAPHS) {
        net.readout_weights = golden_tensor(weights, NULL);
        net.readout = strcmp(json_string_value(json_object_get(test, "readout")), "max") == 0
                          ? PIM_READOUT_MAXIMUM
                          : PIM_READOUT_MEAN;
    }
    net.graph_count = json_array_size(graphs);
    ck_assert(net.graph_count > 0 && net.graph_count <= 8);
    for (size_t g = 0; g < net.graph_count; g++)
        read_graph(json_array_get(graphs, g), &net.graphs[g]);
    prepare(&net);
    (void)evaluate(&net);
    memset(net.gradient, 0, net.parameter_count * sizeof(double));
    for (size_t g = 0; g < net.graph_count; g++)
        golden_check("output", json_object_get(json_array_get(graphs, g), "output"),
                     net.graphs[g].vertices * net.layers[net.layer_count - 1].outputs, net.graphs[g].output,
                     1e-12);
    check_net(&net, 1e-12, 1e-11);
    terminate(&net);
}

START_TEST(graph_convolutions_are_golden)
{
    json_t *root = golden_read("gcn.json");
    const json_t *cases = json_object_get(root, "cases");
    size_t networks = 0;
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *test = json_array_get(cases, i);
        if (json_object_get(test, "layers")) {
            run_graphs(test);
            networks++;
            continue;
        }
        struct pim_sparse propagation;
        read_propagation(test, &propagation);
        pim_sparse_terminate(&propagation);
    }
    ck_assert_uint_eq(networks, 5);
    json_decref(root);
}
END_TEST

START_TEST(bad_graphs_are_refused)
{
    struct pim_sparse matrix;
    struct pim_error error = {0};
    const size_t loop[] = {1, 1}, outside[] = {0, 3}, twice[] = {0, 1, 1, 0};
    ck_assert_int_eq(pim_sparse_propagation(&matrix, 3, loop, 1, &error), PIM_BAD_INPUT);
    ck_assert_int_eq(pim_sparse_propagation(&matrix, 3, outside, 1, &error), PIM_BAD_INPUT);
    ck_assert_int_eq(pim_sparse_propagation(&matrix, 3, twice, 2, &error), PIM_BAD_INPUT);
    ck_assert_int_eq(pim_sparse_propagation(&matrix, 3, NULL, 0, &error), PIM_OK);
    for (size_t i = 0; i < 3; i++)
        ck_assert_double_eq(matrix.value[i], 1);
    pim_sparse_terminate(&matrix);
}
END_TEST

/* --- Adam --- */

START_TEST(adam_steps_are_golden)
{
    json_t *root = golden_read("adam.json");
    const json_t *cases = json_object_get(root, "cases");
    ck_assert_uint_eq(json_array_size(cases), 10);
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *test = json_array_get(cases, i);
        struct pim_adam_options options = golden_adam(test);
        options.decay = golden_number(json_object_get(test, "weight_decay"));
        options.decoupled = strcmp(json_string_value(json_object_get(test, "variant")), "adamw") == 0;
        size_t count, total;
        double *parameters = golden_tensor(json_object_get(test, "p0"), &count);
        double *gradients = golden_tensor(json_object_get(test, "gradients"), &total);
        double *wanted = golden_tensor(json_object_get(test, "p_after_each_step"), NULL);
        struct pim_adam adam;
        ck_assert(pim_adam_initialize(&adam, &options, count));
        for (size_t step = 0; step < total / count; step++) {
            pim_adam_step(&adam, gradients + step * count, parameters);
            golden_close("parameters", count, parameters, wanted + step * count, 0, 1e-13);
        }
        pim_adam_terminate(&adam);
        free(parameters);
        free(gradients);
        free(wanted);
    }
    json_decref(root);
}
END_TEST

Suite *learn_layers_suite(void)
{
    Suite *suite = suite_create("layers");
    TCase *tests = tcase_create("layers");
    tcase_add_test(tests, dense_networks_are_golden);
    tcase_add_test(tests, graph_convolutions_are_golden);
    tcase_add_test(tests, bad_graphs_are_refused);
    tcase_add_test(tests, adam_steps_are_golden);
    suite_add_tcase(suite, tests);
    return suite;
}

#include "tools/tune/strategy/models.h"

#include "mappers/learn/adam.h"
#include "mappers/learn/correlation.h"
#include "mappers/learn/deep_kernel.h"
#include "mappers/learn/elementary.h"
#include "mappers/learn/trees.h"
#include "sim/arena.h"
#include "tools/tune/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KERNEL_LAYERS = 3, FILTER_LATEST = 256, INPUTS = PIM_TUNE_DIMENSIONS };

static const struct pim_neural_layer filter_layers[PIM_TUNE_FILTER_LAYERS] = {{INPUTS, 256, false, true, 0},
                                                                              {256, 64, false, true, 0},
                                                                              {64, 16, false, true, 0},
                                                                              {16, 1, false, false, 0}};
static const struct pim_neural_layer kernel_layers[KERNEL_LAYERS] = {
    {INPUTS, 256, false, true, 0}, {256, 64, false, true, 0}, {64, 16, false, true, 0}};

/* Rates: the customary one for networks, ten times that for the few numbers of a process. */
static const struct pim_adam_options network_adam = {0.001, 0.9, 0.999, 1e-8, 0, false};
static const struct pim_adam_options process_adam = {0.01, 0.9, 0.999, 1e-8, 0, false};

static const struct pim_tree_options tree_options = {
    .rounds = 200, .maximal_depth = 6, .least_leaf = 1, .least_split = 2, .rate = 0.1, .lambda = 1};

static enum pim_status no_memory(struct pim_error *error)
{
    return pim_fail(error, PIM_NO_MEMORY, "out of memory for the tuner's models");
}

/* --- the filter --- */

struct pim_tune_filter {
    double *parameters, *gradient;
    struct pim_adam adam;
    struct pim_pass *pass;
    double *features, *targets;
    size_t count, feature_capacity, target_capacity;
};

enum pim_status pim_tune_filter_create(uint64_t seed, struct pim_tune_filter **filter,
                                       struct pim_error *error)
{
    size_t parameters = pim_layers_parameters(filter_layers, PIM_TUNE_FILTER_LAYERS);
    struct pim_tune_filter *made = calloc(1, sizeof *made);
    struct pim_random random;
    *filter = made;
    if (!made)
        return no_memory(error);
    made->parameters = calloc(parameters, sizeof(double));
    made->gradient = calloc(parameters, sizeof(double));
    made->pass = pim_pass_create(filter_layers, PIM_TUNE_FILTER_LAYERS, FILTER_LATEST);
    if (!pim_adam_initialize(&made->adam, &network_adam, parameters) || !made->parameters ||
        !made->gradient || !made->pass) {
        pim_tune_filter_destroy(made);
        *filter = NULL;
        return no_memory(error);
    }
    pim_random_initialize(&random, seed);
    pim_layers_initialize(filter_layers, PIM_TUNE_FILTER_LAYERS, &random, made->parameters);
    return PIM_OK;
}

void pim_tune_filter_destroy(struct pim_tune_filter *filter)
{
    if (!filter)
        return;
    pim_adam_terminate(&filter->adam);
    pim_pass_destroy(filter->pass);
    free(filter->parameters);
    free(filter->gradient);
    free(filter->features);
    free(filter->targets);
    free(filter);
}

enum pim_status pim_tune_filter_add(struct pim_tune_filter *filter, const double *features, double target,
                                    struct pim_error *error)
{
    if (filter->count == 2 * FILTER_LATEST) { /* older ones are not trained on */
        memcpy(filter->features, filter->features + FILTER_LATEST * INPUTS,
               FILTER_LATEST * INPUTS * sizeof *filter->features);
        memcpy(filter->targets, filter->targets + FILTER_LATEST, FILTER_LATEST * sizeof *filter->targets);
        filter->count = FILTER_LATEST;
    }
    double *grown = pim_array_grow(filter->features, &filter->feature_capacity, (filter->count + 1) * INPUTS,
                                   sizeof *grown);
    if (!grown)
        return no_memory(error);
    filter->features = grown;
    memcpy(grown + filter->count * INPUTS, features, INPUTS * sizeof *features);
    grown = pim_array_grow(filter->targets, &filter->target_capacity, filter->count + 1, sizeof *grown);
    if (!grown)
        return no_memory(error);
    filter->targets = grown;
    grown[filter->count++] = target;
    return PIM_OK;
}

enum pim_status pim_tune_filter_train(struct pim_tune_filter *filter, uint64_t epochs,
                                      struct pim_error *error)
{
    size_t first = filter->count > FILTER_LATEST ? filter->count - FILTER_LATEST : 0,
           rows = filter->count - first, parameters = filter->adam.count;
    double *slope = calloc(rows + 1, sizeof *slope);
    if (!slope)
        return no_memory(error);
    for (uint64_t epoch = 0; epoch < epochs && rows > 0; epoch++) {
        const double *output = pim_forward(filter->pass, filter->parameters, rows,
                                           filter->features + first * INPUTS, NULL, NULL);
        (void)pim_loss_squared(rows, output, filter->targets + first, slope);
        memset(filter->gradient, 0, parameters * sizeof *filter->gradient);
        pim_backward(filter->pass, filter->parameters, slope, filter->gradient, NULL);
        pim_adam_step(&filter->adam, filter->gradient, filter->parameters);
    }
    free(slope);
    return PIM_OK;
}

struct pim_pass *pim_tune_filter_pass(const struct pim_tune_filter *filter, size_t rows)
{
    (void)filter;
    return pim_pass_create(filter_layers, PIM_TUNE_FILTER_LAYERS, rows);
}

const double *pim_tune_filter_predict(const struct pim_tune_filter *filter, struct pim_pass *pass,
                                      size_t rows, const double *features)
{
    return pim_forward(pass, filter->parameters, rows, features, NULL, NULL);
}

/* --- the suggestion --- */

struct pim_tune_suggestion {
    enum pim_tune_suggestion_kind kind;
    uint64_t seed;
    size_t capacity; /* points that there is space for */
    struct pim_deep_kernel kernel;
    struct pim_gaussian gaussian;
    struct pim_trees trees;
    struct pim_adam adam, process; /* of the layers and of the process */
    double *parameters, *gradient;
    size_t layer_parameters, process_inputs;
    double *x, *y;
};

enum pim_status pim_tune_suggestion_create(enum pim_tune_suggestion_kind kind, uint64_t seed,
                                           struct pim_tune_suggestion **suggestion, struct pim_error *error)
{
    struct pim_tune_suggestion *made = calloc(1, sizeof *made);
    *suggestion = made;
    if (!made)
        return no_memory(error);
    made->kind = kind;
    made->seed = seed;
    made->layer_parameters =
        kind == PIM_TUNE_DEEP_KERNEL ? pim_layers_parameters(kernel_layers, KERNEL_LAYERS) : 0;
    made->process_inputs = kind == PIM_TUNE_DEEP_KERNEL ? kernel_layers[KERNEL_LAYERS - 1].outputs : INPUTS;
    size_t parameters = made->layer_parameters + made->process_inputs + 3;
    made->parameters = calloc(parameters, sizeof(double));
    made->gradient = calloc(parameters, sizeof(double));
    if (!made->parameters || !made->gradient) {
        pim_tune_suggestion_destroy(made);
        *suggestion = NULL;
        return no_memory(error);
    }
    return PIM_OK;
}

static void drop_space(struct pim_tune_suggestion *suggestion)
{
    if (suggestion->capacity == 0)
        return;
    if (suggestion->kind == PIM_TUNE_DEEP_KERNEL)
        pim_deep_kernel_terminate(&suggestion->kernel);
    if (suggestion->kind == PIM_TUNE_GAUSSIAN)
        pim_gaussian_terminate(&suggestion->gaussian);
    suggestion->capacity = 0;
}

void pim_tune_suggestion_destroy(struct pim_tune_suggestion *suggestion)
{
    if (!suggestion)
        return;
    drop_space(suggestion);
    pim_trees_terminate(&suggestion->trees);
    pim_adam_terminate(&suggestion->adam);
    pim_adam_terminate(&suggestion->process);
    free(suggestion->parameters);
    free(suggestion->gradient);
    free(suggestion->x);
    free(suggestion->y);
    free(suggestion);
}

/* Space for `count` points, with room to grow. */
static bool make_space(struct pim_tune_suggestion *suggestion, size_t count)
{
    size_t capacity = 2 * count + 16;
    if (count <= suggestion->capacity)
        return true;
    drop_space(suggestion);
    double *x = realloc(suggestion->x, capacity * INPUTS * sizeof *x);
    suggestion->x = x ? x : suggestion->x;
    double *y = realloc(suggestion->y, capacity * sizeof *y);
    suggestion->y = y ? y : suggestion->y;
    bool good = x && y;
    if (good && suggestion->kind == PIM_TUNE_DEEP_KERNEL)
        good = pim_deep_kernel_initialize(&suggestion->kernel, kernel_layers, KERNEL_LAYERS, capacity);
    if (good && suggestion->kind == PIM_TUNE_GAUSSIAN)
        good = pim_gaussian_initialize(&suggestion->gaussian, capacity, INPUTS);
    suggestion->capacity = good ? capacity : 0;
    return good;
}

/* Random weights; a process with lengths, signal and noise for standardised targets, and no moments yet. */
static bool begin(struct pim_tune_suggestion *suggestion, bool scratch)
{
    struct pim_random random;
    size_t process = suggestion->process_inputs + 3;
    double *numbers = suggestion->parameters + suggestion->layer_parameters;
    if (!scratch && suggestion->process.count > 0)
        return true;
    pim_adam_terminate(&suggestion->adam);
    pim_adam_terminate(&suggestion->process);
    pim_random_initialize(&random, suggestion->seed);
    if (suggestion->kind == PIM_TUNE_DEEP_KERNEL)
        pim_layers_initialize(kernel_layers, KERNEL_LAYERS, &random, suggestion->parameters);
    for (size_t d = 0; d < suggestion->process_inputs; d++)
        numbers[d] = 0;
    numbers[suggestion->process_inputs] = 0;
    numbers[suggestion->process_inputs + 1] = pim_logarithm(0.01);
    numbers[suggestion->process_inputs + 2] = 0;
    return (suggestion->layer_parameters == 0 ||
            pim_adam_initialize(&suggestion->adam, &network_adam, suggestion->layer_parameters)) &&
           pim_adam_initialize(&suggestion->process, &process_adam, process);
}

/* One length for all inputs: they begin equal, and all get the sum of their gradients. */
static void tie_lengths(const struct pim_tune_suggestion *suggestion, double *gradient)
{
    double sum = 0;
    for (size_t d = 0; d < suggestion->process_inputs; d++)
        sum += gradient[d];
    for (size_t d = 0; d < suggestion->process_inputs; d++)
        gradient[d] = sum;
}

static enum pim_status fit(struct pim_tune_suggestion *suggestion, size_t count, struct pim_error *error)
{
    double likelihood;
    return suggestion->kind == PIM_TUNE_DEEP_KERNEL
               ? pim_deep_kernel_fit(&suggestion->kernel, count, suggestion->x, suggestion->y,
                                     suggestion->parameters, &likelihood, error)
               : pim_gaussian_fit(&suggestion->gaussian, count, suggestion->x, suggestion->y,
                                  suggestion->parameters, 0, error);
}

static enum pim_status train_process(struct pim_tune_suggestion *suggestion, size_t count, uint64_t epochs,
                                     struct pim_error *error)
{
    double *process = suggestion->gradient + suggestion->layer_parameters;
    for (uint64_t epoch = 0; epoch < epochs; epoch++) {
        if (fit(suggestion, count, error) != PIM_OK)
            return error->status;
        if (suggestion->kind == PIM_TUNE_DEEP_KERNEL)
            pim_deep_kernel_gradient(&suggestion->kernel, suggestion->parameters, suggestion->gradient);
        else
            pim_gaussian_gradient(&suggestion->gaussian, suggestion->gradient, NULL);
        tie_lengths(suggestion, process);
        if (suggestion->kind == PIM_TUNE_DEEP_KERNEL)
            pim_adam_step(&suggestion->adam, suggestion->gradient, suggestion->parameters);
        pim_adam_step(&suggestion->process, process, suggestion->parameters + suggestion->layer_parameters);
    }
    return fit(suggestion, count, error);
}

/* Standardised logarithms of the costs. */
static void make_targets(struct pim_tune_suggestion *suggestion, size_t count, const double *cost)
{
    double worst = 0, mean, deviation;
    bool any = false;
    for (size_t i = 0; i < count; i++)
        if (isfinite(cost[i])) {
            suggestion->y[i] = pim_logarithm(cost[i]);
            worst = !any || suggestion->y[i] > worst ? suggestion->y[i] : worst;
            any = true;
        }
    for (size_t i = 0; i < count; i++)
        if (!isfinite(cost[i]))
            suggestion->y[i] = worst + 1;
    pim_standardise(count, suggestion->y, &mean, &deviation, suggestion->y);
}

enum pim_status pim_tune_suggestion_train(struct pim_tune_suggestion *suggestion, size_t count,
                                          const double *features, const double *cost, uint64_t epochs,
                                          bool scratch, struct pim_error *error)
{
    if (!make_space(suggestion, count))
        return no_memory(error);
    memcpy(suggestion->x, features, count * INPUTS * sizeof *features);
    make_targets(suggestion, count, cost);
    if (suggestion->kind == PIM_TUNE_TREES) {
        pim_trees_terminate(&suggestion->trees);
        suggestion->trees = (struct pim_trees){.node = NULL};
        return pim_trees_fit(&suggestion->trees, &tree_options, count, INPUTS, suggestion->x, suggestion->y,
                             error);
    }
    return begin(suggestion, scratch) ? train_process(suggestion, count, epochs, error) : no_memory(error);
}

void pim_tune_suggestion_predict(struct pim_tune_suggestion *suggestion, size_t rows, const double *features,
                                 double *mean)
{
    if (suggestion->kind == PIM_TUNE_DEEP_KERNEL)
        pim_deep_kernel_predict(&suggestion->kernel, suggestion->parameters, rows, features, mean, NULL);
    if (suggestion->kind == PIM_TUNE_GAUSSIAN)
        pim_gaussian_predict(&suggestion->gaussian, rows, features, mean, NULL);
    for (size_t i = 0; i < rows && suggestion->kind == PIM_TUNE_TREES; i++)
        mean[i] = pim_trees_predict(&suggestion->trees, tree_options.rounds, features + i * INPUTS);
}

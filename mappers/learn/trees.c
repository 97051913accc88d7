#include "mappers/learn/trees.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* One value of a feature with the sample it belongs to. */
struct entry {
    double value;
    size_t sample;
};

struct growth {
    struct pim_trees *trees;
    const double *x;
    double *residual;
    size_t *order; /* samples, those of a node next to each other */
    struct entry *entries;
    size_t *moved;
};

struct split {
    size_t feature;
    double threshold, gain;
};

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return (x->sample > y->sample) - (x->sample < y->sample);
}

static double worth(double sum, size_t count, double lambda)
{
    return sum * sum / ((double)count + lambda);
}

/* The best split of one feature, if it is better than `best` by more than `margin`. */
static void try_feature(const struct growth *growth, const size_t *samples, size_t count, size_t feature,
                        double sum, double margin, struct split *best)
{
    const struct pim_tree_options *options = &growth->trees->options;
    struct entry *entries = growth->entries;
    for (size_t i = 0; i < count; i++)
        entries[i] = (struct entry){growth->x[samples[i] * growth->trees->features + feature], samples[i]};
    qsort(entries, count, sizeof *entries, compare_entries);
    double left = 0;
    for (size_t i = 1; i < count; i++) {
        left += growth->residual[entries[i - 1].sample];
        if (entries[i].value == entries[i - 1].value || i < options->least_leaf ||
            count - i < options->least_leaf)
            continue;
        double gain = worth(left, i, options->lambda) + worth(sum - left, count - i, options->lambda) -
                      worth(sum, count, options->lambda);
        if (gain > best->gain + margin)
            *best = (struct split){feature, (entries[i - 1].value + entries[i].value) / 2, gain};
    }
}

/* False when no split is allowed or none gains anything. */
static bool find_split(const struct growth *growth, const size_t *samples, size_t count, size_t depth,
                       double sum, struct split *best)
{
    const struct pim_tree_options *options = &growth->trees->options;
    if (depth >= options->maximal_depth || count < options->least_split)
        return false;
    double squares = 0, deviation = 0, largest = 0, mean = sum / (double)count;
    for (size_t i = 0; i < count; i++) {
        double residual = growth->residual[samples[i]];
        squares += residual * residual;
        deviation += (residual - mean) * (residual - mean);
        largest = residual * residual > largest ? residual * residual : largest;
    }
    if (deviation <= 1e-12 * (double)count * largest)
        return false;
    *best = (struct split){0};
    for (size_t feature = 0; feature < growth->trees->features; feature++)
        try_feature(growth, samples, count, feature, sum, 1e-9 * squares, best);
    return best->gain > 0;
}

/* Puts the samples that go left first, each side in its order; gives their number. */
static size_t divide(struct growth *growth, size_t *samples, size_t count, const struct split *split)
{
    size_t left = 0, right = 0;
    for (size_t i = 0; i < count; i++) {
        if (growth->x[samples[i] * growth->trees->features + split->feature] <= split->threshold)
            samples[left++] = samples[i];
        else
            growth->moved[right++] = samples[i];
    }
    memcpy(samples + left, growth->moved, right * sizeof *samples);
    return left;
}

static struct pim_tree_node *add_node(struct pim_trees *trees)
{
    if (trees->node_count == trees->node_capacity) {
        size_t capacity = trees->node_capacity ? 2 * trees->node_capacity : 64;
        struct pim_tree_node *grown = realloc(trees->node, capacity * sizeof *grown);
        if (!grown)
            return NULL;
        trees->node = grown;
        trees->node_capacity = capacity;
    }
    return &trees->node[trees->node_count++];
}

/* Grows the tree of the samples order[first .. first + count) and gives its root, or SIZE_MAX without memory.
 * The depth of the recursion is at most that of the tree. */
static size_t grow(struct growth *growth, size_t first, size_t count, size_t depth)
{
    struct pim_trees *trees = growth->trees;
    const struct pim_tree_options *options = &trees->options;
    size_t *samples = growth->order + first, place = trees->node_count;
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += growth->residual[samples[i]];
    struct pim_tree_node *node = add_node(trees);
    if (!node)
        return SIZE_MAX;
    *node = (struct pim_tree_node){
        .leaf = true, .samples = count, .value = sum / ((double)count + options->lambda)};
    struct split split;
    if (!find_split(growth, samples, count, depth, sum, &split))
        return place;
    size_t before = divide(growth, samples, count, &split);
    size_t left = grow(growth, first, before, depth + 1);
    size_t right = left == SIZE_MAX ? left : grow(growth, first + before, count - before, depth + 1);
    if (right == SIZE_MAX)
        return right;
    node = &trees->node[place]; /* the array may have moved */
    if (options->gamma > 0 && split.gain < options->gamma && trees->node[left].leaf &&
        trees->node[right].leaf) {
        trees->node_count = place + 1;
        return place;
    }
    node->leaf = false;
    node->feature = split.feature;
    node->threshold = split.threshold;
    node->gain = split.gain;
    node->left = left;
    node->right = right;
    return place;
}

static double tree_value(const struct pim_trees *trees, size_t place, const double *x)
{
    while (!trees->node[place].leaf)
        place = x[trees->node[place].feature] <= trees->node[place].threshold ? trees->node[place].left
                                                                              : trees->node[place].right;
    return trees->node[place].value;
}

static bool fit(struct growth *growth, size_t samples, const double *y, double *prediction)
{
    struct pim_trees *trees = growth->trees;
    for (size_t i = 0; i < samples; i++)
        prediction[i] = trees->options.initial;
    for (size_t round = 0; round < trees->options.rounds; round++) {
        for (size_t i = 0; i < samples; i++) {
            growth->order[i] = i;
            growth->residual[i] = y[i] - prediction[i];
        }
        trees->root[round] = grow(growth, 0, samples, 0);
        if (trees->root[round] == SIZE_MAX)
            return false;
        for (size_t i = 0; i < samples; i++)
            prediction[i] +=
                trees->options.rate * tree_value(trees, trees->root[round], growth->x + i * trees->features);
    }
    return true;
}

enum pim_status pim_trees_fit(struct pim_trees *trees, const struct pim_tree_options *options, size_t samples,
                              size_t features, const double *x, const double *y, struct pim_error *error)
{
    assert(samples > 0 && options->least_leaf >= 1 && options->least_split >= 2);
    *trees = (struct pim_trees){.options = *options, .features = features};
    struct growth growth = {.trees = trees, .x = x};
    double *prediction = calloc(samples, sizeof *prediction);
    trees->root = calloc(options->rounds + 1, sizeof *trees->root);
    growth.residual = calloc(samples, sizeof *growth.residual);
    growth.order = calloc(samples, sizeof *growth.order);
    growth.entries = calloc(samples, sizeof *growth.entries);
    growth.moved = calloc(samples, sizeof *growth.moved);
    bool done = prediction && trees->root && growth.residual && growth.order && growth.entries &&
                growth.moved && fit(&growth, samples, y, prediction);
    free(prediction);
    free(growth.residual);
    free(growth.order);
    free(growth.entries);
    free(growth.moved);
    if (done)
        return PIM_OK;
    pim_trees_terminate(trees);
    return pim_fail(error, PIM_NO_MEMORY, "out of memory for %zu trees on %zu samples", options->rounds,
                    samples);
}

void pim_trees_terminate(struct pim_trees *trees)
{
    free(trees->node);
    free(trees->root);
    *trees = (struct pim_trees){0};
}

double pim_trees_predict(const struct pim_trees *trees, size_t rounds, const double *x)
{
    assert(rounds <= trees->options.rounds);
    double sum = trees->options.initial;
    for (size_t round = 0; round < rounds; round++)
        sum += trees->options.rate * tree_value(trees, trees->root[round], x);
    return sum;
}

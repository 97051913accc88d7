/*
 * Gradient-boosted regression trees for the squared loss (J. Friedman, "Greedy Function Approximation: A
 * Gradient Boosting Machine", Annals of Statistics 29(5), 2001; gain and pruning as T. Chen, C. Guestrin,
 * "XGBoost", KDD 2016, without their factor 1/2).
 *
 * Each round grows a tree on the residuals r: a leaf is worth sum r / (n + lambda), a split gains
 * GL^2 / (nL + lambda) + GR^2 / (nR + lambda) - G^2 / (n + lambda). Thresholds are midpoints of neighbouring
 * values, x <= threshold goes left. Of splits that gain the same (to 1e-9 of the squared residuals) the
 * one with the lowest feature, then the lowest threshold, is taken.
 */
#ifndef PIMSIM_MAPPERS_LEARN_TREES_H
#define PIMSIM_MAPPERS_LEARN_TREES_H

#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>

struct pim_tree_options {
    size_t rounds, maximal_depth;
    size_t least_leaf, least_split; /* samples of a leaf, and of a node that is split; at least 1 and 2 */
    double rate, lambda, gamma;     /* a split of two leaves that gains less than gamma > 0 is undone */
    double initial;                 /* the prediction of no tree */
};

struct pim_tree_node {
    bool leaf;
    size_t feature, left, right; /* left, right: indices into the nodes of all trees */
    double threshold, gain;
    double value; /* of a leaf */
    size_t samples;
};

/* Trees one after the other, each in preorder. */
struct pim_trees {
    struct pim_tree_options options;
    size_t features;
    struct pim_tree_node *node;
    size_t node_count, node_capacity;
    size_t *root; /* of each round */
};

/* Grows the trees on `samples` points x (samples x features) with the targets y. */
enum pim_status pim_trees_fit(struct pim_trees *trees, const struct pim_tree_options *options, size_t samples,
                              size_t features, const double *x, const double *y, struct pim_error *error);
void pim_trees_terminate(struct pim_trees *trees);

/* The prediction of the first `rounds` trees (all of them at options.rounds) at x (features). */
double pim_trees_predict(const struct pim_trees *trees, size_t rounds, const double *x);

#endif

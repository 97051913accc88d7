/*
 * What the tuner learns (arXiv 2305.19041, section V): a filter that predicts the area of an architecture,
 * and a model that predicts its cost, NicePIM's or a rival's. Inputs are PIM_TUNE_DIMENSIONS features from 0
 * to 1.
 *
 * The paper leaves targets, rates and epochs open; ours: the filter learns the logarithm of the area relative
 * to the budget, the others the logarithm of the cost, standardised.
 */
#ifndef PIMSIM_TOOLS_TUNE_STRATEGY_MODELS_H
#define PIMSIM_TOOLS_TUNE_STRATEGY_MODELS_H

#include "mappers/learn/layers.h"
#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PIM_TUNE_FILTER_LAYERS = 4 };

/* --- the filter: dense 256, 64, 16, 1 with ReLU, Adam on the mean squared error --- */

/* One for all threads: its parameters; each thread predicts through a pass of its own. */
struct pim_tune_filter;

/* PIM_NO_MEMORY. Weights begin with random numbers of `seed`. */
enum pim_status pim_tune_filter_create(uint64_t seed, struct pim_tune_filter **filter,
                                       struct pim_error *error);
void pim_tune_filter_destroy(struct pim_tune_filter *filter); /* NULL is allowed */

/* An architecture and ln(area / budget). */
enum pim_status pim_tune_filter_add(struct pim_tune_filter *filter, const double *features, double target,
                                    struct pim_error *error);

/* `epochs` steps of Adam on the latest 256 data, from the weights there are. */
enum pim_status pim_tune_filter_train(struct pim_tune_filter *filter, uint64_t epochs,
                                      struct pim_error *error);

/* A pass for up to `rows` rows; NULL when memory is out. */
struct pim_pass *pim_tune_filter_pass(const struct pim_tune_filter *filter, size_t rows);
/* Predictions of `rows` targets, owned by the pass. */
const double *pim_tune_filter_predict(const struct pim_tune_filter *filter, struct pim_pass *pass,
                                      size_t rows, const double *features);

/* --- the suggestion --- */

/* X(name): a deep kernel (dense 256, 64, 16 with ReLU, and a Gaussian process on the 16 features, trained
 * together on the exact marginal likelihood); a Gaussian process on the inputs; boosted trees. */
enum pim_tune_suggestion_kind { PIM_TUNE_DEEP_KERNEL, PIM_TUNE_GAUSSIAN, PIM_TUNE_TREES };

struct pim_tune_suggestion;

enum pim_status pim_tune_suggestion_create(enum pim_tune_suggestion_kind kind, uint64_t seed,
                                           struct pim_tune_suggestion **suggestion, struct pim_error *error);
void pim_tune_suggestion_destroy(struct pim_tune_suggestion *suggestion); /* NULL is allowed */

/* Trains on `count` architectures (count x PIM_TUNE_DIMENSIONS) and their costs, infinite where one failed:
 * it then counts as e times the worst. `scratch`: from new weights, else from those of the last call. */
enum pim_status pim_tune_suggestion_train(struct pim_tune_suggestion *suggestion, size_t count,
                                          const double *features, const double *cost, uint64_t epochs,
                                          bool scratch, struct pim_error *error);

/* The mean of the predicted targets: the smaller, the better. */
void pim_tune_suggestion_predict(struct pim_tune_suggestion *suggestion, size_t rows, const double *features,
                                 double *mean);

#endif

/*
 * Learned estimators of the latency of a mapping (Sun et al., section III-B and Table I): networks over what
 * view.h shows of a mapping. The output of a network is the natural logarithm of the latency in ns, less the
 * mean of the training mappings, over their deviation.
 *
 *   mlp            dense, edges x 6 numbers -> 32 -> 16 -> 1
 *   mlp-conflicts  dense, edges x 8 numbers -> 32 -> 16 -> 1
 *   gcn            graph convolutions 6 -> 16 -> 16 -> 16 over the conflict graph, half of the outputs of the
 *                  second dropped in training, then dense 16 -> 2; the largest 2 o[0] + o[1] of a vertex: the
 *                  authors' network
 *
 * All have ReLU but in the last layer. The paper says nothing of its dense networks; sizes are ours.
 */
#ifndef PIMSIM_MAPPERS_CONFLICT_ESTIMATORS_ESTIMATOR_H
#define PIMSIM_MAPPERS_CONFLICT_ESTIMATORS_ESTIMATOR_H

#include "mappers/conflict/estimators/view.h"
#include "mappers/learn/layers.h"

/* X(name, text, what it is) */
#define PIM_TILE_ESTIMATOR_MAP(X)                                                                            \
    X(PIM_TILE_MLP, "mlp", "dense network over the edges")                                                   \
    X(PIM_TILE_MLP_CONFLICTS, "mlp-conflicts", "dense network over the edges and their conflicts")           \
    X(PIM_TILE_GCN, "gcn", "graph convolutions over the conflict graph")

enum pim_tile_estimator_kind {
#define X(name, text, what) name,
    PIM_TILE_ESTIMATOR_MAP(X)
#undef X
        PIM_TILE_ESTIMATORS
};

const char *pim_tile_estimator_name(unsigned kind);

enum { PIM_TILE_ESTIMATOR_LAYERS = 4 };

struct pim_tile_estimator {
    enum pim_tile_estimator_kind kind;
    size_t layers;
    struct pim_neural_layer layer[PIM_TILE_ESTIMATOR_LAYERS];
    size_t parameters;
    double *parameter;
    double mean, deviation; /* of the logarithm of the latency */
};

/* The network for graphs of `edges` edges; parameters are 0. PIM_NO_MEMORY. */
enum pim_status pim_tile_estimator_make(struct pim_tile_estimator *estimator,
                                        enum pim_tile_estimator_kind kind, uint32_t edges,
                                        struct pim_error *error);
void pim_tile_estimator_terminate(struct pim_tile_estimator *estimator);

/* Room of one thread for estimates of one mapping after the other. */
struct pim_tile_estimation;
struct pim_tile_estimation *pim_tile_estimation_create(const struct pim_tile_setting *setting,
                                                       const struct pim_tile_estimator *estimator);
void pim_tile_estimation_destroy(struct pim_tile_estimation *estimation); /* NULL is allowed */

/* The estimated latency in ns. */
double pim_tile_estimation_latency(struct pim_tile_estimation *estimation, const uint32_t *place);

/* The output of the network; `mask` of each layer as in mappers/learn/layers.h, or NULL. */
double pim_tile_estimation_output(struct pim_tile_estimation *estimation, const uint32_t *place,
                                  const unsigned char *const *mask);

/* Adds `slope` times the gradient of the last output to `gradient`. */
void pim_tile_estimation_gradient(struct pim_tile_estimation *estimation, double slope, double *gradient);

#endif

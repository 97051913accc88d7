/*
 * Trained estimators as a file (JSON) with what they are of: network, graph, hardware, seed, populations,
 * version. Weights are good for the graph and the hardware that they were trained on, and refused for others.
 */
#ifndef PIMSIM_MAPPERS_CONFLICT_ESTIMATORS_WEIGHTS_H
#define PIMSIM_MAPPERS_CONFLICT_ESTIMATORS_WEIGHTS_H

#include "mappers/conflict/estimators/estimator.h"
#include "mappers/conflict/estimators/samples.h"
#include "sim/output/json.h"

struct pim_tile_weights {
    char *version, *network, *configuration; /* of pimsim; of the hardware, canonical */
    char graph[17];                          /* digest, 16 hexadecimal digits */
    uint32_t nodes, edges, images;
    uint64_t seed;
    uint32_t size, epochs, batch; /* mappings of a population */
    /* Trained on those that are not held out. Without first: places are not in the file. */
    uint32_t populations;
    struct pim_tile_population *population;
    uint32_t held_out; /* the last populations of the list */
    struct pim_tile_estimator estimator[PIM_TILE_ESTIMATORS];
};

/* What weights must be of. */
struct pim_tile_identity {
    const struct pim_tile_graph *graph;
    const char *configuration;
    uint32_t images;
};

/* Weights, all zero, of what is to be learnt. pim_tile_weights_terminate() in every case. */
enum pim_status pim_tile_weights_make(struct pim_tile_weights *weights,
                                      const struct pim_tile_identity *identity, struct pim_error *error);
void pim_tile_weights_terminate(struct pim_tile_weights *weights);

/* The document; whole, or not at all. */
enum pim_status pim_tile_weights_print(const struct pim_tile_weights *weights, FILE *file,
                                       struct pim_error *error);
enum pim_status pim_tile_weights_write(const struct pim_tile_weights *weights, const char *path,
                                       struct pim_error *error);

/* PIM_BAD_INPUT says what is wrong and where. pim_tile_weights_terminate() in every case. */
enum pim_status pim_tile_weights_take(struct pim_tile_weights *weights, const json_t *root,
                                      struct pim_error *error);
enum pim_status pim_tile_weights_read(struct pim_tile_weights *weights, const char *path,
                                      struct pim_error *error);

/* PIM_BAD_INPUT when the weights are of another graph or other hardware: says what differs. */
enum pim_status pim_tile_weights_fit(const struct pim_tile_weights *weights,
                                     const struct pim_tile_identity *identity, struct pim_error *error);

#endif

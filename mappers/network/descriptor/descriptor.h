/*
 * Network descriptors: parametric libconfig files that name a family and its sizes, and the networks built
 * from them.
 *
 *     network = { family = "swin"; name = "swin-t"; image = 224; patch = 4; blocks = [2, 2, 6, 2]; ... };
 *
 * pim_network_schema is the one table of their keys. Every family reads the keys it has; a key that its
 * family does not use is refused, so that a value never does nothing.
 */
#ifndef PIMSIM_MAPPERS_NETWORK_DESCRIPTOR_DESCRIPTOR_H
#define PIMSIM_MAPPERS_NETWORK_DESCRIPTOR_DESCRIPTOR_H

#include "mappers/network/graph.h"
#include "mappers/network/transformer.h"
#include "sim/configuration/configuration.h"
#include "sim/status.h"

#include <stddef.h>

/* A network: graph and, for transformers, the structured view. Everything lives in `arena`. */
struct pim_network {
    const char *name;
    struct pim_graph graph;
    struct pim_transformer *transformer; /* NULL for a network that is not one of the families */
    struct pim_arena arena;
};

extern const struct pim_schema pim_network_schema;

/*
 * Builds the network that a complete configuration of pim_network_schema describes. PIM_BAD_INPUT names the
 * origin of the value (file and line, or command line), the key, the value and what would be right;
 * PIM_NO_MEMORY. On failure *network is NULL.
 */
enum pim_status pim_network_build(const struct pim_configuration *configuration, struct pim_network **network,
                                  struct pim_error *error);

/*
 * Reads a descriptor file, applies `overrides` ("network.image=640", in order), and builds the network. On
 * success *network belongs to the caller (pim_network_destroy). PIM_BAD_INPUT names file, line, key, value
 * found and what would be right; PIM_IO, PIM_NO_MEMORY. On failure *network is NULL.
 */
enum pim_status pim_network_read(const char *path, const char *const *overrides, size_t count,
                                 struct pim_network **network, struct pim_error *error);

/* Frees the network; NULL is allowed. */
void pim_network_destroy(struct pim_network *network);

#endif

/*
 * The Allspark mapping front-end: a vision transformer onto an array of DRAM-PIM nodes.
 *
 * Source: M. Ge et al., "Allspark: Workload Orchestration for Visual Transformers on Processing In-Memory
 * Systems", sections V (partition and dataflow), VI-C (weight sharing), VII-B1 (structured layout).
 * docs/mappers/allspark.md explains the mapping and what of the paper it leaves out.
 *
 * A computational branch (a window of N tokens with h heads) runs on a sub-array of u x v nodes: node (r, c)
 * holds the p(r) tokens of row r and the b(c) heads, that is q(c) = b(c) * d channels, of column c. Rows and
 * columns share the remainder evenly, so nothing is padded. Within a row the features circulate (v - 1
 * rounds), within a column keys, values and weights (u - 1 rounds).
 *
 * Weight ring. The weights of a column are spread over a ring of `ring` nodes, a multiple of u: ring / u
 * branches stacked on each other share one copy. ring = u is the paper's weight sharing; a longer ring lets
 * schemes with small u (branch-level: u = v = 1) fit the memory of the nodes at the price of more rounds.
 */
#ifndef PIMSIM_MAPPERS_ALLSPARK_ALLSPARK_H
#define PIMSIM_MAPPERS_ALLSPARK_ALLSPARK_H

#include "mappers/estimate/estimate.h"
#include "mappers/network/descriptor.h"
#include "sim/status.h"
#include "traces/writer.h"

enum pim_allspark_scheme {
    /* for each stage a u x v, so that the sum of the estimates is least and all fits the memory */
    PIM_ALLSPARK_AUTOMATIC,
    PIM_ALLSPARK_BRANCH, /* B: a branch on one node */
    PIM_ALLSPARK_PATCH,  /* P: tokens over as many nodes as a column has, v = 1 */
    PIM_ALLSPARK_HEAD,   /* AH: heads over as many nodes as a row has, u = 1 */
    PIM_ALLSPARK_EXPLICIT
};

struct pim_allspark_options {
    enum pim_allspark_scheme scheme;
    uint32_t explicit_count; /* EXPLICIT: 1 (for all stages) or one for each stage */
    uint32_t u[PIM_STAGES], v[PIM_STAGES];
    /* Nodes of a weight ring, of which each stage takes the multiple of its u below it, at least u; 0: for
       each stage the ring with which the sum of the estimates is least and all fits the memory. */
    uint32_t ring;
};

/* Where the sub-arrays of a stage lie: Algorithm 1 of the paper. */
struct pim_allspark_tile {
    uint32_t x, y; /* of its first node */
    bool turned;   /* rows run along x */
};

struct pim_allspark_layout {
    uint32_t count;
    struct pim_allspark_tile *tiles;
};

/* The products with weights, in the order of the nine phases of section V-C. */
enum pim_allspark_weight {
    PIM_ALLSPARK_MERGE, /* patch embedding or merging, in the first block of a stage */
    PIM_ALLSPARK_QUERY,
    PIM_ALLSPARK_KEY,
    PIM_ALLSPARK_VALUE,
    PIM_ALLSPARK_PROJECTION,
    PIM_ALLSPARK_EXPAND,
    PIM_ALLSPARK_CONTRACT,
    PIM_ALLSPARK_WEIGHTS
};

/* One stage under one scheme. */
struct pim_allspark_stage {
    uint32_t u, v, ring;
    uint32_t branches, tokens, heads, head_channels, channels, hidden, merge_inputs, blocks;
    uint32_t class_tokens;
    /* the first stage: its merging makes tokens of patches of the image, which every column has whole */
    bool embeds;
    uint32_t classes;                  /* of the classifier behind the last stage; 0 in the other stages */
    struct pim_allspark_layout layout; /* of groups of ring x v nodes */
    uint32_t slots;                    /* branches of a group: ring / u */
    uint32_t layers;                   /* temporal layers */
    uint64_t weight_bytes;             /* of a node, all blocks */
    uint64_t workspace_bytes;          /* of a node */
    uint64_t weight_base;              /* address of the stage's weights on each node */
};

struct pim_allspark_plan {
    struct pim_estimate_hardware hardware;
    const struct pim_network *network;
    uint32_t stages;
    struct pim_allspark_stage stage[PIM_STAGES];
    uint64_t head_base, head_bytes; /* classifier weights on the nodes that hold them */
    uint64_t weight_bytes;          /* of a node, all stages and the classifier */
    uint64_t workspace_base, workspace_bytes;
};

/*
 * Chooses schemes, rings, layouts and temporal layers, and checks the capacity of the nodes. PIM_BAD_INPUT
 * when the network is not one this front-end maps, when a scheme does not fit the network or the array, or
 * when the memory of a node is too small (the message has the bytes needed and available, by stage). Free
 * with pim_allspark_plan_terminate.
 */
enum pim_status pim_allspark_plan(const struct pim_network *network,
                                  const struct pim_estimate_hardware *hardware,
                                  const struct pim_allspark_options *options, struct pim_allspark_plan *plan,
                                  struct pim_error *error);
void pim_allspark_plan_terminate(struct pim_allspark_plan *plan);

/* Writes the programs of all units and the phases with their estimates. The writer's description must have
   width x height units. */
enum pim_status pim_allspark_emit(const struct pim_allspark_plan *plan, struct pim_trace_writer *writer,
                                  struct pim_error *error);

/* Sum of the estimates of all phases, in cycles; without writing anything. */
enum pim_status pim_allspark_estimate(const struct pim_allspark_plan *plan, uint64_t *cycles,
                                      struct pim_error *error);

/* Multiply-accumulates that the programs execute, padding of windows included; and bytes of one copy of
   all weights. */
uint64_t pim_allspark_macs(const struct pim_allspark_plan *plan);
uint64_t pim_allspark_weight_bytes(const struct pim_allspark_plan *plan);

/* Algorithm 1: as many height x width sub-arrays as it finds on the array. False when memory is out. */
bool pim_allspark_layout(uint32_t array_height, uint32_t array_width, uint32_t height, uint32_t width,
                         struct pim_allspark_layout *layout);
/* The number alone. */
uint32_t pim_allspark_layout_count(uint32_t array_height, uint32_t array_width, uint32_t height,
                                   uint32_t width);

#endif

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
 * Weight ring. The weights of a column are spread over a ring of `ring` nodes. A multiple of u: ring / u
 * branches stacked on each other share one copy. ring = u is the paper's weight sharing; a longer ring lets
 * schemes with small u (branch-level: u = v = 1) fit the memory of the nodes at the price of more rounds. A
 * divisor of u: the branch has u / ring copies, each spread over `ring` rows that follow each other, for
 * fewer rounds, or none, at the price of memory.
 */
#ifndef PIMSIM_MAPPERS_ALLSPARK_ALLSPARK_H
#define PIMSIM_MAPPERS_ALLSPARK_ALLSPARK_H

#include "mappers/allspark/schedule/schedule.h"
#include "mappers/estimate/estimate.h"
#include "mappers/network/descriptor/descriptor.h"
#include "mappers/network/families.h"
#include "sim/status.h"
#include "traces/file/writer.h"

enum pim_allspark_scheme {
    /* for each stage some u x v, each for some temporal layers, so that the sum of the estimates is least and
       all fits the memory */
    PIM_ALLSPARK_AUTOMATIC,
    PIM_ALLSPARK_BRANCH, /* B: a branch on one node */
    PIM_ALLSPARK_PATCH,  /* P: tokens over as many nodes as a column has, at least pe_rows on each, v = 1 */
    PIM_ALLSPARK_HEAD,   /* AH: heads over as many nodes as a row has, u = 1 */
    PIM_ALLSPARK_EXPLICIT
};

/* Whether a partition takes its weights from a whole copy in the stage. */
enum pim_allspark_reuse { PIM_REUSE_WHERE_POSSIBLE, PIM_REUSE_NOTHING, PIM_REUSE_WHOLE };

/* How branches give features, keys and values to each other: from node to node, or as section VII-B2 has it,
   over the top-left nodes of their sub-arrays (redistribute.h). A plan is one of the last two. */
enum pim_allspark_exchange { PIM_ALLSPARK_NOT_STATED, PIM_ALLSPARK_DIRECT, PIM_ALLSPARK_GATHER };

/* Some temporal layers of a stage with one partition, as the user gives them. */
struct pim_allspark_layers {
    uint32_t u, v;
    uint32_t ring;       /* 0: that of the options */
    uint32_t chunks;     /* 0: those of the options */
    uint32_t row_blocks; /* 0: 1 */
    uint32_t layers;     /* 0: as many as are needed for the branches that are left */
    enum pim_allspark_reuse reuse;
    bool whole; /* 1 x 1 with a ring of 1: tiles are those of a copy that others reuse, even if none does */
};

enum {
    PIM_PARTITIONS = 16, /* in a stage, at most */
    PIM_CHUNKS = 64,     /* of a phase's weights, at most */
    PIM_ROW_BLOCKS = 64, /* of the scores, at most */
    PIM_BATCH = 256      /* images, at most */
};

/* Whether the next piece of weights goes round while one is multiplied: beyond the paper. A plan is one of
   the last two. */
enum pim_allspark_prefetch { PIM_PREFETCH_NOT_STATED, PIM_PREFETCH_OFF, PIM_PREFETCH_ON };

struct pim_allspark_options {
    enum pim_allspark_scheme scheme;
    uint32_t explicit_count; /* EXPLICIT: 1 (for all stages) or one list for each stage */
    uint32_t lists[PIM_STAGES];
    struct pim_allspark_layers list[PIM_STAGES][PIM_PARTITIONS];
    /* Nodes of a weight ring, of which each partition takes the multiple of its u below it, at least u (1 is
       the paper's weight sharing); 0: the rings with which the sum of the estimates is least and all fits the
       memory. */
    uint32_t ring;
    /* Rings that divide u are candidates as well: a branch has several copies of its weights. Not with
       `ring`. */
    bool copies;
    /* Pieces in which the weights of a phase go round; 0: like the ring. */
    uint32_t chunks;
    uint32_t batch;                      /* images that are worked together, N^bt; 0: 1 */
    enum pim_allspark_exchange exchange; /* not stated: direct */
    enum pim_allspark_prefetch prefetch; /* not stated: off */
    /* Twins: branches of the global attention of a stage of the plan; 0: the best with AUTOMATIC, else one.
       Other stages have those of the network. */
    uint32_t branches[PIM_STAGES];
    /* How the best plan is found: the exact method, or an integer programme that an installed solver works
       (schedule/schedule.h); NULL: the first solver that is there. */
    bool ilp;
    const char *solver;
    uint32_t solver_seconds; /* 0: 600 */
    struct pim_schedule_watch watch;
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
    PIM_ALLSPARK_REDUCTION, /* keys and values from fewer tokens: PVT */
    PIM_ALLSPARK_POOL,      /* a window to one token: Focal; 1 x tokens, not shared */
    PIM_ALLSPARK_KEY,
    PIM_ALLSPARK_VALUE,
    PIM_ALLSPARK_PROJECTION,
    PIM_ALLSPARK_EXPAND,
    PIM_ALLSPARK_CONTRACT,
    PIM_ALLSPARK_POSITION, /* depthwise convolution, Twins and CSWin: 9 for each channel, not shared */
    PIM_ALLSPARK_WEIGHTS
};

/* What of a block a stage of the plan works: the blocks of CSWin are two stages (stripes.c). */
enum pim_allspark_work {
    PIM_ALLSPARK_BLOCK,       /* all of it */
    PIM_ALLSPARK_PROJECTIONS, /* all but scores and context */
    PIM_ALLSPARK_STRIPES      /* scores and context */
};

/*
 * Focal: the branches of a stage are rows x columns windows of window x window tokens. A window sees the
 * tokens up to `expand` around it, cyclically, and the pooled tokens of side x side windows around it, zeros
 * beyond the border. side 0: another family.
 */
struct pim_allspark_focal {
    uint32_t rows, columns, window, expand, side;
};

struct pim_allspark_position {
    enum pim_family_convolution convolution;
    uint32_t height, width; /* of the map */
    uint32_t window;        /* side of the windows of Twins; width of a stripe of CSWin, 0: the whole map */
};

/*
 * One stage under one partition u x v: what its temporal layers with this partition have in common. Layers of
 * one partition follow each other.
 */
struct pim_allspark_partition {
    uint32_t u, v, ring;
    /* the shape of the stage: the same in all of its partitions */
    uint32_t branches, tokens, heads, head_channels, channels, hidden, merge_inputs, blocks;
    uint32_t class_tokens;
    enum pim_allspark_work work;
    /* Keys and values of a branch: as many as tokens, or one for each `reduction` tokens (r x r) that the
       convolution of PVT makes one; 1: none. Tokens are in the order of these patches then, and what the map
       has beyond them comes last. */
    uint32_t key_tokens, reduction;
    /* Keys that a branch makes of its own tokens: key_tokens, but where the global attention of Twins is cut
       into branches, whose keys and values all of them need (global.c). Not of Focal. */
    uint32_t made_keys;
    /* Swin: windows of odd blocks are shifted by so many tokens, and features go between branches before and
       after these blocks; 0: they do not */
    uint32_t shift;
    struct pim_allspark_focal focal;
    struct pim_allspark_position position;
    /* the first stage: its merging makes tokens of patches of the image, which every column has whole */
    bool embeds;
    uint32_t classes;                  /* of the classifier behind the last stage; 0 in the other stages */
    struct pim_allspark_layout layout; /* of groups of slots u x v nodes */
    uint32_t slots;                    /* branches of a group: ring / u, at least 1 */
    uint32_t first_layer, layers;      /* the temporal layers of the stage that have it */
    uint32_t first_branch;             /* of the branches of the stage, which the layers take in order */
    uint32_t layer_branches;           /* of all of these layers together */
    /* Term 1 of the paper's weight reuse: takes its weights from the copy of the stage's partition 1 x 1 */
    bool reuses;
    bool reused;           /* is that copy for another partition */
    uint32_t chunks;       /* pieces in which the weights of a phase go round */
    uint32_t row_blocks;   /* scores, softmax and context of so many blocks of rows one after another; 0: 1 */
    uint32_t batch;        /* images that are worked together */
    bool prefetch;         /* the next piece of weights goes round while one is multiplied */
    uint64_t weight_bytes; /* of a node, all blocks; 0 when it reuses */
    uint64_t weight_base;  /* their address on each node; when it reuses, that of the copy */
    uint64_t layer_bytes;  /* of the workspace, for each of its layers, as long as the stage lasts */
    uint64_t sum_bytes;    /* of the workspace, once: sums over the tokens before the classifier */
    uint64_t activity_bytes; /* of the workspace, for an image, while one of its layers is worked */
    uint64_t scratch_bytes;  /* of the workspace while one of its layers is worked: all images and weights */
};

/*
 * The temporal layers of a stage: a list of partitions, each for some layers. The two kinds of blocks of a
 * Twins stage, in windows and global, differ in their branches: each kind is a stage of the plan of its
 * own, the kind of the last block after the other. So do the two parts of the blocks of a CSWin stage: the
 * stripes after the projections.
 */
struct pim_allspark_stage {
    uint32_t of; /* stage of the network */
    uint32_t first_block,
        block_step;   /* block j of this stage is block first_block + j * block_step of that */
    uint32_t partner; /* the stage of the plan with the other blocks; its own index: none */
    uint32_t partitions, layers;
    struct pim_allspark_partition *partition;
    uint64_t weight_bytes, workspace_bytes; /* of a node */
    /* what lies before the workspace of this stage: what lasts of its partner while it works (stripes.c) */
    uint64_t workspace_offset;
    /* Binding (placement/binding.c): the place of each branch among those of the layers, which are numbered
       layer by layer in the order of the layout; NULL while it is not known: place b for branch b. */
    uint32_t *slot_of;
};

struct pim_allspark_plan {
    struct pim_estimate_hardware hardware;
    const struct pim_network *network;
    uint32_t stages;
    struct pim_allspark_stage stage[PIM_STAGES];
    uint32_t batch; /* images that are worked together */
    bool prefetch;
    enum pim_allspark_exchange exchange;
    uint64_t head_base, head_bytes; /* classifier weights on the nodes that hold them */
    uint64_t weight_bytes;          /* of a node, all stages and the classifier */
    uint64_t workspace_base, workspace_bytes;
    uint64_t cycles;     /* sum of the estimates of all phases */
    uint64_t bound;      /* no plan of the space has fewer; equal to `cycles`: the plan is optimal */
    uint32_t candidates; /* of all stages: the space */
    bool stopped;        /* the search was asked to end: the best so far */
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

/* Sum of the estimates of all phases, in cycles, and its parts (NULL: they are not wanted); without writing
   anything. */
enum pim_status pim_allspark_estimate(const struct pim_allspark_plan *plan, uint64_t *cycles,
                                      uint64_t parts[PIM_ESTIMATE_PARTS], struct pim_error *error);

/* What of it are the phases between branches (shifted windows). The choice of partitions does not count them:
   the placement comes after it. */
enum pim_status pim_allspark_estimate_interaction(const struct pim_allspark_plan *plan, uint64_t *cycles,
                                                  struct pim_error *error);

/* Multiply-accumulates that the programs execute for all images of the batch, padding of windows included;
   and bytes of one copy of all weights. */
uint64_t pim_allspark_macs(const struct pim_allspark_plan *plan);
uint64_t pim_allspark_weight_bytes(const struct pim_allspark_plan *plan);

/* Bytes of the weights of all blocks on a node for a partition with weights of its own, without those
   of the merging. */
uint64_t pim_allspark_block_bytes(const struct pim_allspark_partition *part);

/* Algorithm 1: as many height x width sub-arrays as it finds on the array. False when memory is out. */
bool pim_allspark_layout(uint32_t array_height, uint32_t array_width, uint32_t height, uint32_t width,
                         struct pim_allspark_layout *layout);
/* The number alone. */
uint32_t pim_allspark_layout_count(uint32_t array_height, uint32_t array_width, uint32_t height,
                                   uint32_t width);

#endif

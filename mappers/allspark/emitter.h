/* The emitter: instructions of one unit and one phase at a time. */
#ifndef PIMSIM_MAPPERS_ALLSPARK_EMITTER_H
#define PIMSIM_MAPPERS_ALLSPARK_EMITTER_H

#include "mappers/allspark/memory.h"
#include "mappers/emit/program.h"

/* One node while its program for a phase is written. */
struct pim_place {
    uint32_t unit;
    uint32_t group; /* of the layout */
    uint32_t ring;  /* position in the weight ring */
    uint32_t row;   /* in the sub-array of its branch: ring % u */
    uint32_t column;
    /* of the temporal layer, from 0; not less than the layer's number of branches when the node only passes
       weights on */
    uint32_t branch;
    bool active; /* has a branch */
};

/* Tilings that were searched for: each shape has one place, which the last one with it has. All-zero is
   empty. */
enum { PIM_TILINGS = 1024 };
struct pim_tilings {
    struct {
        struct pim_matrix_shape shape;
        struct pim_tiling tiling;
        struct pim_matrix_estimate estimate;
    } known[PIM_TILINGS];
};

/* An output tile whose store has not been written yet; rows 0: none. */
struct pim_pending_store {
    uint64_t address, bytes, stride, rows, after;
};

/* The steps of a block before its attention and after it stand apart where attention has a stage of its
   own. */
enum pim_emit_part { PIM_EMIT_ALL, PIM_EMIT_BEFORE, PIM_EMIT_AFTER };

struct pim_emitter;

/* What circulates: piece k of `pieces`, its address on this node and its bytes. */
struct pim_ring {
    uint32_t nodes;          /* also the number of pieces */
    uint32_t index;          /* of this node */
    uint32_t next, previous; /* units */
    uint32_t tag;            /* of round 0; round t has tag + t */
    uint64_t (*address)(const struct pim_emitter *emitter, const void *context, uint32_t piece);
    uint64_t (*bytes)(const struct pim_emitter *emitter, const void *context, uint32_t piece);
    const void *context;
};

/* How far a ring has been written: rounds, and the receive of the last of them. */
struct pim_rounds {
    uint32_t done;
    uint64_t received;
};

/* Weights on a ring: piece i is the part of ring position i. This node's own lies where it was placed; the
   others lie from `base` on, one after another, without a gap for it. */
struct pim_weight_pieces {
    uint64_t total, home, base;
};

/* Weights that go round behind products: their rounds are written among the products' tiles (sharing.c). */
struct pim_prefetch {
    bool under_way;
    struct pim_weight_pieces pieces;
    struct pim_ring ring;
    struct pim_rounds rounds;
    uint64_t tiles, written; /* of the products */
};

struct pim_emitter {
    const struct pim_allspark_plan *plan;
    struct pim_trace_writer *writer; /* NULL: estimate only */
    struct pim_program *program;     /* with a writer */
    struct pim_error *error;
    enum pim_status status;   /* of the first failure; everything after it is skipped */
    uint64_t estimate_cycles; /* sum over phases */
    uint64_t estimate_parts[PIM_ESTIMATE_PARTS];
    /* the stage and its index, the partition, and the unit whose program is being written */
    const struct pim_allspark_stage *stage;
    uint32_t index;
    const struct pim_allspark_partition *part;
    /* the partition of the stage whose copy of the weights others reuse; NULL: none */
    const struct pim_allspark_partition *whole;
    uint32_t partition; /* index of `part` */
    struct pim_workspace workspace;
    uint32_t image;     /* of the batch, whose workspace it is */
    uint32_t row_block; /* whose scores or context it is */
    uint32_t layer;     /* temporal layer, counted from the partition's first */
    struct pim_place place;
    struct pim_tilings *tilings;
    struct pim_pending_store store;
    unsigned weights; /* place of the weights that are multiplied: of workspace.weights */
    struct pim_prefetch prefetch;
};

/* mappers/emit/program.h, for the unit at hand. Appends an instruction that waits for the instructions with
   numbers `after` (PIM_NOTHING: none); returns its own. */
uint64_t pim_emit(struct pim_emitter *emitter, struct pim_instruction instruction, uint64_t after,
                  uint64_t after2, uint64_t after3);
void pim_emit_join(struct pim_emitter *emitter);
/* Loads or stores count pieces; neighbours that touch become one piece. Returns the number. */
uint64_t pim_emit_memory(struct pim_emitter *emitter, enum pim_opcode opcode, enum pim_buffer buffer,
                         uint64_t address, uint64_t bytes, uint64_t stride, uint64_t count, uint64_t after);
/* One piece, from one place to another; the number of the store. */
uint64_t pim_emit_copy(struct pim_emitter *emitter, uint64_t from, uint64_t to, uint64_t bytes);
/* What that takes, where both places are among `among` bytes that are in use by turns. */
static inline uint64_t pim_estimate_copy(const struct pim_estimate_hardware *hardware, uint64_t bytes,
                                         uint64_t among)
{
    return 2 * pim_estimate_latency(hardware) + pim_estimate_run(hardware, bytes, among, false) +
           pim_estimate_run(hardware, bytes, among, true);
}
uint64_t pim_emit_vector(struct pim_emitter *emitter, enum pim_vector operation, uint64_t rows,
                         uint64_t elements, uint64_t release, uint64_t after, uint64_t after2);

/* A product of m x k and k x n elements of 8 bits on the PE array; `flags`: enum pim_matrix_flags. */
uint64_t pim_emit_matrix(struct pim_emitter *emitter, uint32_t m, uint32_t n, uint32_t k, unsigned flags,
                         uint64_t input, uint64_t weight);

/* What the unit at hand has of a message: sends it, or receives it. */
struct pim_message_end {
    bool sends;
    enum pim_message kind;
    uint32_t peer, tag;
    uint64_t address, bytes;
};

uint64_t pim_emit_message(struct pim_emitter *emitter, struct pim_message_end end, uint64_t after);

/* --- cyclic dataflows (rings.c) --- */

/* A ring of this node's row of the group, or of `nodes` nodes of its column: without pieces yet. */
struct pim_ring pim_ring_of_row(const struct pim_emitter *emitter, uint32_t tag);
struct pim_ring pim_ring_of_column(const struct pim_emitter *emitter, uint32_t nodes, uint32_t tag);

/* All rounds; or those before `until` that have not been written yet. */
void pim_emit_ring(struct pim_emitter *emitter, const struct pim_ring *ring);
void pim_emit_rounds(struct pim_emitter *emitter, const struct pim_ring *ring, uint32_t until,
                     struct pim_rounds *rounds);

/* Unit of another node of the same group. */
uint32_t pim_place_unit(const struct pim_emitter *emitter, uint32_t ring, uint32_t column);

/* --- products (product.c) --- */

/* Where weights or the right-hand operand of a product come from. */
enum pim_operand {
    /* tiles one after another: the part of this node from `right` on, the others in the workspace */
    PIM_OPERAND_WEIGHTS,
    /* columns [right_first, right_first + n) of a matrix of right_total columns that lies in blocks of
       right_block columns, each k rows: a copy of all weights, in the order of its own tiles */
    PIM_OPERAND_BLOCKS,
    PIM_OPERAND_PLACED, /* tiles one after another from `right` on */
    PIM_OPERAND_ROWS,   /* k rows of n bytes, `stride` apart */
    PIM_OPERAND_COLUMNS /* transposed: n rows of k bytes, `stride` apart */
};

/* output[m][n] = f(input[m][k] * right[k][n]) */
struct pim_product {
    uint32_t m, n, k;
    uint32_t count; /* such products follow each other: heads; for the estimate */
    /* The tiling is chosen for so many rows; 0: m. All nodes of a ring need the same one, whatever tokens
       they have: weights lie in the order of the tiles. */
    uint32_t tile_rows;
    /* input: one segment for each column of `segments` (pieces of m rows), or a matrix of stride
       input_stride */
    uint64_t input;
    uint32_t segments; /* 1, or v */
    /* this segment lies at `own` instead of in its place; `segments`: none does */
    uint32_t own_segment;
    uint64_t own;
    uint32_t (*segment_width)(const struct pim_allspark_partition *part, uint64_t total, uint32_t column);
    uint64_t segment_total;
    uint64_t input_stride; /* of the single segment */
    uint32_t piece_rows;   /* of a segment, where it has more than m; 0: m */
    enum pim_operand operand;
    uint64_t right, right_stride;                   /* the stride: ROWS, COLUMNS */
    uint32_t right_first, right_total, right_block; /* BLOCKS */
    uint32_t grain; /* of n: whole tiles are a multiple of it, or divide it; 0: none */
    uint64_t output, output_stride;
    enum pim_vector operation; /* on each output tile: COPY requantises */
    uint64_t residual;         /* added where nonzero_residual, stride as output */
    bool add_residual;
};

/* A product in the tiles that pim_product_tiling gives; nothing for an empty one. The store of the last tile
   is left pending, so that the next product's loads can go before it: flush at the end of a phase. */
void pim_emit_flush(struct pim_emitter *emitter);
void pim_emit_tiled(struct pim_emitter *emitter, const struct pim_product *product);

/* The tiling of a product and the estimate of all `count`, remembered from the last time the shape came
   up. PIM_BAD_INPUT: nothing fits. */
enum pim_status pim_product_tiling(struct pim_emitter *emitter, const struct pim_product *product,
                                   struct pim_tiling *tiling, struct pim_matrix_estimate *estimate);

/* Adds an estimate to the parts of a phase: what is not computed is of the memory or the ACU, whichever takes
   longer. */
static inline void pim_add_estimate(struct pim_trace_phase *phase, const struct pim_matrix_estimate *estimate)
{
    phase->estimate_parts[PIM_ESTIMATE_COMPUTE] += estimate->compute;
    phase->estimate_parts[estimate->memory >= estimate->vector ? PIM_ESTIMATE_MEMORY : PIM_ESTIMATE_VECTOR] +=
        estimate->total - estimate->compute;
}

/* The estimate alone; all 0 for an empty product, and after a failure. */
struct pim_matrix_estimate pim_product_estimate(struct pim_emitter *emitter,
                                                const struct pim_product *product);

/* --- weights that go round behind products (sharing.c) --- */

/* So many tiles follow; the next of them does. Nothing where no weights are under way. */
void pim_prefetch_products(struct pim_emitter *emitter, uint64_t tiles);
void pim_prefetch_go_on(struct pim_emitter *emitter);

/* --- phases (phases.c, head.c) --- */

/* Calls `body` between the marks of phase `id` for every node that takes part in a layer. */
typedef void pim_emit_function(struct pim_emitter *emitter, const void *context, uint32_t tag);
void pim_for_each_node(struct pim_emitter *emitter, uint32_t layer, uint32_t id, pim_emit_function *body,
                       const void *context, uint32_t tag);

/* The same for one node. */
void pim_emit_node(struct pim_emitter *emitter, struct pim_place place, uint32_t id, pim_emit_function *body,
                   const void *context, uint32_t tag);
/* Whether a unit takes part in a layer of emitter->part. */
bool pim_layer_has_unit(const struct pim_emitter *emitter, uint32_t layer, uint32_t unit);

/* Sets a phase's estimate to the sum of its parts, and adds it to the total. */
void pim_add_up(struct pim_emitter *emitter, struct pim_trace_phase *phase);

/* Begins to work partition `index` of emitter->stage, for the first image. */
void pim_emit_begin_partition(struct pim_emitter *emitter, uint32_t index);
/* Goes on to the workspace of an image. */
void pim_emit_image(struct pim_emitter *emitter, uint32_t image);

/* Some steps of a block of the network's stage, in all layers of emitter->stage. */
void pim_emit_partitions(struct pim_emitter *emitter, uint32_t block, enum pim_emit_part only);
/* All phases of one stage. */
void pim_emit_stage(struct pim_emitter *emitter, uint32_t index);
/* The estimate of one layer of emitter->part over all blocks, in cycles; writes nothing. */
uint64_t pim_estimate_layer(struct pim_emitter *emitter);
/* Pooling and classifier, after the last stage. */
void pim_emit_head(struct pim_emitter *emitter);
/* The estimate of what emitter->part adds to them, in cycles: for each of its layers, and once; `first`: it
   is the partition that has the classifier. Writes nothing; a failure is in emitter->status. */
void pim_estimate_head(struct pim_emitter *emitter, bool first, uint64_t *layer, uint64_t *once);

#endif

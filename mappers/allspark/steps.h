/* The steps of a block, and the products of each on a node. */
#ifndef PIMSIM_MAPPERS_ALLSPARK_STEPS_H
#define PIMSIM_MAPPERS_ALLSPARK_STEPS_H

#include "mappers/allspark/emitter.h"
#include "mappers/allspark/shapes.h"

/* X(name, text, weight of the phase or PIM_ALLSPARK_WEIGHTS) */
#define STEP_MAP(X)                                                                                          \
    X(STEP_MERGE, "merge", PIM_ALLSPARK_MERGE)                                                               \
    X(STEP_NORM1, "norm1", PIM_ALLSPARK_WEIGHTS)                                                             \
    X(STEP_POOL, "window_pool", PIM_ALLSPARK_WEIGHTS)                                                        \
    X(STEP_QUERY, "query", PIM_ALLSPARK_QUERY)                                                               \
    X(STEP_REDUCTION, "reduction", PIM_ALLSPARK_REDUCTION)                                                   \
    X(STEP_REDUCTION_NORM, "reduction_norm", PIM_ALLSPARK_WEIGHTS)                                           \
    X(STEP_KEY, "key", PIM_ALLSPARK_KEY)                                                                     \
    X(STEP_VALUE, "value", PIM_ALLSPARK_VALUE)                                                               \
    X(STEP_SCORES, "scores", PIM_ALLSPARK_WEIGHTS)                                                           \
    X(STEP_CONTEXT, "context", PIM_ALLSPARK_WEIGHTS)                                                         \
    X(STEP_LOCAL_POSITION, "local_position", PIM_ALLSPARK_WEIGHTS)                                           \
    X(STEP_PROJECTION, "projection", PIM_ALLSPARK_PROJECTION)                                                \
    X(STEP_NORM2, "norm2", PIM_ALLSPARK_WEIGHTS)                                                             \
    X(STEP_EXPAND, "ffn_expand", PIM_ALLSPARK_EXPAND)                                                        \
    X(STEP_CONTRACT, "ffn_contract", PIM_ALLSPARK_CONTRACT)                                                  \
    X(STEP_POSITION, "position", PIM_ALLSPARK_WEIGHTS)

enum pim_step {
#define X(name, text, weight) name,
    STEP_MAP(X)
#undef X
        STEPS
};

/* The weights of a step that go round the ring; PIM_ALLSPARK_WEIGHTS: none do. */
enum pim_allspark_weight pim_step_weight(enum pim_step step);

/* The product of a step with weights: that of chunk `index` of them. */
struct pim_product pim_step_product(const struct pim_emitter *emitter, enum pim_step step, uint32_t block,
                                    uint32_t index);
/* Scores or context of head `head` of this node, for the block of rows at hand: products of two
 * activations. */
struct pim_product pim_step_attention(const struct pim_emitter *emitter, enum pim_step step, uint32_t head);

/* The busiest node of a branch: row 0, column 0; another row with a class token to embed, or a pooled one. */
struct pim_place pim_busiest_place(const struct pim_allspark_partition *part, enum pim_step step);

/* What this node has of the layer that is worked, and of all others. */
static inline uint64_t pim_layer_features(const struct pim_emitter *emitter)
{
    return emitter->workspace.features + emitter->layer * emitter->workspace.features_stride;
}

static inline uint64_t pim_layer_inputs(const struct pim_emitter *emitter)
{
    return emitter->workspace.inputs + emitter->layer * emitter->workspace.inputs_stride;
}

/* Rows that the patch embedding makes: the class token has no patch; it is the first token of the first
   row. */
static inline uint32_t pim_embedded_rows(const struct pim_emitter *emitter)
{
    return pim_stage_tokens(emitter->part, emitter->place.row) -
           (emitter->place.row == 0 ? emitter->part->class_tokens : 0);
}

/*
 * Equations (12) to (15) of the paper, beside our own estimate (equations.c): sets those of a step's phase,
 * where the paper has a term for it: docs/mappers/allspark-equations.md says which. emitter->place is the
 * node that our estimate is of.
 */
void pim_equations_of_step(struct pim_emitter *emitter, enum pim_step step, uint32_t block,
                           struct pim_trace_phase *phase);

#endif

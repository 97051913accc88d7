/*
 * Where the branches of a stage stand on the array: section VII of M. Ge et al., "Allspark: Workload
 * Orchestration for Visual Transformers on Processing In-Memory Systems".
 *
 * Between blocks, or inside of them, branches exchange features or keys and values: windows that are shifted
 * against each other, pooled windows, stripes that cross. Which branch exchanges with which is a graph, G_dp.
 * Sub-arrays are laid out by Algorithm 1 (layout.c); which branch stands on which of them, and in which
 * temporal layer, is chosen greedily so that branches that exchange stand near each other.
 *
 * The distance between two branches is the Manhattan distance between the first (top-left) nodes of their
 * sub-arrays, in hops: what is exchanged is gathered there, transferred, and scattered. Branches of different
 * temporal layers may stand on the same nodes: distance 0.
 *
 * Functions here work on plain structures and know nothing of plans and traces. docs/mappers/
 * allspark-placement.md explains them.
 */
#ifndef PIMSIM_MAPPERS_ALLSPARK_PLACEMENT_PLACEMENT_H
#define PIMSIM_MAPPERS_ALLSPARK_PLACEMENT_PLACEMENT_H

#include "mappers/network/transformer.h"
#include "sim/status.h"

/* --- dependencies (dependencies.c) --- */

/* How far a window of Focal sees: `expand` tokens around it, and side x side pooled windows. */
struct pim_focal_reach {
    uint32_t expand, side;
};

struct pim_focal_reach pim_focal_reach(const struct pim_attention *attention, uint32_t window);

struct pim_dependency {
    uint32_t branch; /* the other one */
    uint32_t tokens; /* that go each way in one interaction; in a cycle: those of one round */
};

/*
 * G_dp of a stage. The neighbours of branch b are neighbours[first[b]] to neighbours[first[b + 1] - 1].
 *
 * Invariants:
 *  1. Symmetric: if a has neighbour b, b has neighbour a with as many tokens. No branch is its own neighbour,
 *     none is listed twice.
 *  2. Branches of a grid are numbered row by row; CSWin: vertical stripes first, then horizontal ones.
 *  3. Where every branch needs something of all others (`all`: Twins, CSWin), the neighbours are those of a
 *     cycle in the order of the numbers: data go round it (branches - 1 rounds), as in the paper.
 */
struct pim_dependency_graph {
    uint32_t branches;
    bool all;
    uint32_t values; /* what goes for each token: 1 its features, 2 its key and its value */
    uint32_t *first; /* branches + 1 */
    struct pim_dependency *neighbours;
};

/*
 * The graph of stage `stage` of a transformer (an index below transformer->stages). ViT and PVT, and every
 * stage with a single branch, have no edges. The reach of Focal's windows is read from the view: `expand`
 * from the fine keys of a branch, the side of the pooled region from the coarse ones. PIM_NO_MEMORY is the
 * only error. Free with pim_dependency_graph_terminate.
 */
enum pim_status pim_dependency_graph_make(const struct pim_transformer *transformer, uint32_t stage,
                                          struct pim_dependency_graph *graph, struct pim_error *error);
void pim_dependency_graph_terminate(struct pim_dependency_graph *graph);

/* --- sub-arrays (slots.c) --- */

/* A temporal layer: `branches` sub-arrays of u x v nodes, `stacked` of them upon each other in each group of
   (stacked * u) x v nodes that Algorithm 1 lays out. 1 is the layout of the paper. */
struct pim_placement_layer {
    uint32_t u, v, stacked, branches;
};

/* A place for one branch. */
struct pim_placement_slot {
    uint32_t layer;
    uint32_t x, y; /* of the first node of the sub-array */
};

/*
 * N_alpha_beta: how many u x v sub-arrays Algorithm 1 lays on an array of height x width nodes, `stacked` to
 * a group.
 */
uint64_t pim_placement_capacity(uint32_t height, uint32_t width, const struct pim_placement_layer *layer);

/*
 * The slots that the branches of `count` layers occupy, layer by layer: in each the first `branches` of the
 * layout. *slots has as many elements as all layers have branches and is to be freed. PIM_BAD_INPUT: a layer
 * has more branches than its layout has sub-arrays (the message names the layer); PIM_NO_MEMORY.
 */
enum pim_status pim_placement_slots(uint32_t height, uint32_t width, const struct pim_placement_layer *layers,
                                    uint32_t count, struct pim_placement_slot **slots, uint32_t *total,
                                    struct pim_error *error);

/* --- binding (binding.c) --- */

/*
 * Greedy binding (section VII-B2). The first branch goes to the first slot; then, again and again, the branch
 * with most neighbours that are placed (the lowest number among equals) goes to the free slot whose distances
 * to them add up to least (the first among equals), over all temporal layers. slot_of[b] is the slot of
 * branch b. `slots` must be at least as many as graph->branches; x < width, y < height.
 *
 * O(n^2 + n (width + height) + edges) for n slots: the sum of distances from a place (x, y) is a sum over
 * columns plus a sum over rows, each tabulated once for the branch, so that a slot costs one addition
 * whatever the number of neighbours.
 */
enum pim_status pim_placement_bind(const struct pim_dependency_graph *graph,
                                   const struct pim_placement_slot *slots, uint32_t count, uint32_t width,
                                   uint32_t height, uint32_t *slot_of, struct pim_error *error);

/* Hops of a binding. */
struct pim_placement_hops {
    double average;  /* over the edges of the graph; 0 without edges */
    double weighted; /* by the tokens that pass an edge */
    uint32_t most;   /* of an edge */
    uint64_t edges;
};

struct pim_placement_hops pim_placement_hops(const struct pim_dependency_graph *graph,
                                             const struct pim_placement_slot *slots, const uint32_t *slot_of);

/* The expected average of a binding that is drawn at random: the mean distance of two slots. 0 with fewer
   than two. */
double pim_placement_random_hops(const struct pim_placement_slot *slots, uint32_t count, uint32_t width,
                                 uint32_t height);

/* --- a whole stage (stage.c, plan.c) --- */

/* What a placement is worth. */
struct pim_placement_report {
    uint32_t branches;
    struct pim_placement_hops greedy, ordered; /* ordered: branches in the order of the slots */
    double random;
};

/*
 * Lays out, binds and measures stage `stage` of a transformer in the given temporal layers, whose branches
 * must add up to those of the stage (PIM_BAD_INPUT says both numbers). slot_of, with a place for each branch,
 * may be NULL. PIM_BAD_INPUT and PIM_NO_MEMORY as above.
 */
enum pim_status pim_placement_of_stage(const struct pim_transformer *transformer, uint32_t stage,
                                       uint32_t height, uint32_t width,
                                       const struct pim_placement_layer *layers, uint32_t count,
                                       uint32_t *slot_of, struct pim_placement_report *report,
                                       struct pim_error *error);

struct pim_allspark_plan;

/* The same for a stage of a plan, whose layouts are made: `pim_plan_place` has put slot_of there already. */
enum pim_status pim_allspark_placement(const struct pim_allspark_plan *plan, uint32_t stage,
                                       uint32_t *slot_of, struct pim_placement_report *report,
                                       struct pim_error *error);

#endif

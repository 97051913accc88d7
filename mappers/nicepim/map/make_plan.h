/* A plan from a network: decisions and layouts in turns, until nothing changes or some rounds are over. */
#ifndef PIMSIM_MAPPERS_NICEPIM_MAP_MAKE_PLAN_H
#define PIMSIM_MAPPERS_NICEPIM_MAP_MAKE_PLAN_H

#include "mappers/nicepim/map/plan.h"

/* X(name, text): who decides. */
#define NICE_METHOD_MAP(X)                                                                                   \
    X(NICE_PARALLEL, "branches side by side where that is chosen")                                           \
    X(NICE_SERIAL, "branches one after another")                                                             \
    X(NICE_SEQUENTIAL, "the paper's baseline")                                                               \
    X(NICE_PIPELINE, "a pipeline of parts, as DDAM's")

enum nice_method {
#define X(name, text) name,
    NICE_METHOD_MAP(X)
#undef X
        NICE_METHODS
};

/* Rules of thumb: every layer on all nodes that work, each with a part of the rows or of the output channels,
 * where there are several. */
enum nice_rule { NICE_NO_RULE, NICE_BY_ROWS, NICE_BY_CHANNELS, NICE_RULES };

/* What a plan is made of; network and hardware are borrowed. */
struct nice_request {
    const struct pim_network *network;
    const struct pim_estimate_hardware *hardware;
    uint32_t batch;
    uint64_t capacity, copy_limit;
    enum nice_method method;
    struct nice_weights weights;
    enum nice_rule rule;  /* of branches one after another: cuts are by it, and weights are not shared */
    bool layouts;         /* of a rule: they are chosen; else all maps are BHWC */
    uint64_t most_cycles; /* of the plan, as there */
    /* Nodes that work, from node 0 on: the corner of the array; 0, 0: all of them. A pipeline takes all. */
    uint32_t width, height;
    struct tile_memory *tiles;        /* of this thread, as long as the plan is; NULL: the plan has its own */
    struct pim_cycles_memory *cycles; /* the same; NULL: each cycle is found anew */
    struct nice_stop stop;            /* asked before each round of decisions and layouts but the first */
};

/*
 * PIM_BAD_INPUT when the weights do not fit, and by how much. `NICE_SEQUENTIAL`:
 * the baseline of section VIII-D instead. Every layer on the whole array, with the cut of least tile
 * cycles, blind to messages and layouts; every node its own copy of weights, and where they do not fit the
 * layer with most of them is shared by more nodes, again and again; one layout for all maps, the best of
 * BCHW, BHWC and BCHW[8]. `NICE_PIPELINE`: DDAM's (mappers/nicepim/ddam), whose flow is of one image and
 * whose batch is the number of images; one layout as well.
 */
enum pim_status nice_plan_make(const struct nice_request *request, struct nice_plan *plan,
                               struct pim_error *error);

#endif

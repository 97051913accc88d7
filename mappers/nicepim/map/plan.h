/*
 * The decisions of NicePIM's PIM-Mapper (Algorithm 1): regions of branches, the cut of every product, how
 * many nodes share a copy of its weights, and layouts.
 */
#ifndef PIMSIM_MAPPERS_NICEPIM_MAP_PLAN_H
#define PIMSIM_MAPPERS_NICEPIM_MAP_PLAN_H

#include "mappers/nicepim/map/flow.h"
#include "mappers/nicepim/map/tiles/tile_memory.h"

struct nice_region {
    uint32_t x, y, width, height;
};

/* Of a product. */
struct nice_decision {
    struct nice_region region;
    struct pim_cut cut;
    uint32_t sharing; /* nodes that hold a copy of the weights together: g */
    uint64_t cycles;  /* as the choice saw it */
    uint64_t stored;  /* bytes of weights on a node */
};

struct nice_plan {
    const struct pim_estimate_hardware *hardware;
    struct nice_weights weights; /* what is minimised */
    struct flow flow;
    struct tile_memory *tiles;
    struct nice_decision *decision; /* of each layer of the graph; of products alone */
    struct pim_map_layout *layout;  /* of the output of each layer */
    uint64_t capacity;              /* for weights on a node */
    uint64_t copy_limit;            /* bytes of a copy that a node brings together from others, at most */
    uint64_t cost, stored;          /* of the choice; cost: by the weights, cycles where they are {1, 0} */
    uint64_t bound;                 /* no choice among the candidates costs less */
    bool rounded;                   /* the choice counted sizes in 4096ths of the capacity */
    bool unjoinable;                /* the exact choice had fronts that were too large */
    bool serial;                    /* branches one after another */
    bool sequential;                /* the paper's baseline instead */
    uint32_t parallel_segments;     /* whose branches work side by side */
    uint32_t images, parts;         /* of a pipeline; no parts: there is none */
    uint32_t *part;                 /* of each layer of a pipeline */
    uint32_t front_points, rounds;  /* of the choice; alternations until nothing changed */
};

enum { NICE_ROUNDS = 3 };

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

/* What a plan is made of; network and hardware are borrowed. */
struct nice_request {
    const struct pim_network *network;
    const struct pim_estimate_hardware *hardware;
    uint32_t batch;
    uint64_t capacity, copy_limit;
    enum nice_method method;
    struct nice_weights weights;
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
void nice_plan_terminate(struct nice_plan *plan);

/* The product of one group on a node with this part of a cut, whose maps lie as the plan has it; false: it
 * has nothing to do. */
bool nice_tile_product(const struct nice_plan *plan, uint32_t layer, const struct pim_cut *cut,
                       const struct pim_part *part, struct tile_product *product);

/* The tiling of least cost for this plan; false when not even the smallest fits. */
bool nice_tiling(const struct nice_plan *plan, const struct tile_product *product, struct tiling *tiling);

#endif

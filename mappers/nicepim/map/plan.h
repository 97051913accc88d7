/*
 * The decisions of NicePIM's PIM-Mapper (Algorithm 1): regions of branches, the cut of every product, how
 * many nodes share a copy of its weights, and layouts.
 */
#ifndef PIMSIM_MAPPERS_NICEPIM_MAP_PLAN_H
#define PIMSIM_MAPPERS_NICEPIM_MAP_PLAN_H

#include "mappers/nicepim/cycles/cycles_memory.h"
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

/* Whether a search shall end with what it has; asked now and then, by several threads. NULL: never. */
struct nice_stop {
    bool (*asked)(void *context);
    void *context;
};

static inline bool nice_stop_asked(const struct nice_stop *stop)
{
    return stop->asked && stop->asked(stop->context);
}

struct nice_plan {
    const struct pim_estimate_hardware
        *hardware; /* of the nodes that work: the corner of the array, or all of it */
    const struct pim_estimate_hardware *array; /* of all nodes */
    struct pim_estimate_hardware *corner;      /* owned; NULL: all nodes work */
    struct nice_weights weights;               /* what is minimised */
    struct flow flow;
    struct tile_memory *tiles, *own_tiles; /* own: NULL where they are borrowed */
    struct pim_cycles_memory *cycles;      /* borrowed; NULL: each is found anew */
    struct nice_decision *decision;        /* of each layer of the graph; of products alone */
    struct pim_map_layout *layout;         /* of the output of each layer */
    uint64_t capacity;                     /* for weights on a node */
    uint64_t copy_limit;           /* bytes of a copy that a node brings together from others, at most */
    uint64_t cost, stored;         /* of the choice; cost: by the weights, cycles where they are {1, 0} */
    uint64_t bound;                /* no choice among the candidates costs less */
    bool rounded;                  /* the choice counted sizes in 4096ths of the capacity */
    bool unjoinable;               /* the exact choice had fronts that were too large */
    bool serial;                   /* branches one after another */
    bool sequential;               /* the paper's baseline instead */
    bool by_rule;                  /* decisions are by a rule of thumb: there was no choice */
    uint32_t parallel_segments;    /* whose branches work side by side */
    uint32_t images, parts;        /* of a pipeline; no parts: there is none */
    uint32_t *part;                /* of each layer of a pipeline */
    uint32_t front_points, rounds; /* of the choice; alternations until nothing changed */
    uint64_t most_cycles; /* where it takes longer, its estimate ends; 0: it is made whatever it takes */
    struct nice_stop stop;
    bool cut_short; /* it was stopped before these, or the refinement, were over */
};

void nice_plan_terminate(struct nice_plan *plan);

/* Bytes of weights on a node by the decisions that there are: of each segment those of its fullest region. */
uint64_t nice_plan_stored(const struct nice_plan *plan);

/* The product of one group on a node with this part of a cut, whose maps lie as the plan has it; false: it
 * has nothing to do. */
bool nice_tile_product(const struct nice_plan *plan, uint32_t layer, const struct pim_cut *cut,
                       const struct pim_part *part, struct tile_product *product);

/* The same for maps that lie in these layouts; those that the plan has: of input, output and second input. */
bool nice_tile_product_in(const struct nice_plan *plan, uint32_t layer, const struct pim_cut *cut,
                          const struct pim_part *part, const struct pim_map_layout layouts[3],
                          struct tile_product *product);
void nice_layouts_of(const struct nice_plan *plan, uint32_t layer, struct pim_map_layout layouts[3]);

/* The tiling of least cost for this plan; false when not even the smallest fits. */
bool nice_tiling(const struct nice_plan *plan, const struct tile_product *product, struct tiling *tiling);

#endif

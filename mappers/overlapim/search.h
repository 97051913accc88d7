/*
 * The search for mappings of a whole network.
 *
 * One layer after the other, `budget` candidates each: nests drawn from the layer's mapping space. A
 * candidate is scored by its own sequential latency (original), or, together with the mapping of its
 * neighbour that is already fixed, by the latency of the pair in lock step (overlap) or transformed.
 * Forward, the neighbour is the producer; backward, the consumer; middle orders begin at the layer with
 * the most outputs, or the most products of P, Q, C and K, and go both ways from there.
 *
 * Beyond the paper: "ahead" scores a candidate behind the schedules of all layers before it, with a look at
 * what comes behind (ahead.h), always forward. Every second of its candidates goes through its outputs row by
 * row: what a pipeline of layers is made of, and what a draw of all orders seldom is.
 *
 * A candidate's random numbers come from seed, layer and number alone, and of equal scores the lower number
 * stands: the result is the same for any number of threads.
 */
#ifndef PIMSIM_MAPPERS_OVERLAPIM_SEARCH_H
#define PIMSIM_MAPPERS_OVERLAPIM_SEARCH_H

#include "mappers/nest/space.h"
#include "mappers/overlapim/model.h"
#include "mappers/search/workers.h"

/* X(name, text) */
#define PIM_OBJECTIVE_MAP(X)                                                                                 \
    X(PIM_OBJECTIVE_ORIGINAL, "original")                                                                    \
    X(PIM_OBJECTIVE_OVERLAP, "overlap")                                                                      \
    X(PIM_OBJECTIVE_TRANSFORM, "transform")                                                                  \
    X(PIM_OBJECTIVE_AHEAD, "ahead")

enum pim_objective {
#define X(name, text) name,
    PIM_OBJECTIVE_MAP(X)
#undef X
        PIM_OBJECTIVES
};

enum pim_search_order {
    PIM_ORDER_FORWARD,
    PIM_ORDER_BACKWARD,
    PIM_ORDER_MIDDLE_OUTPUT,
    PIM_ORDER_MIDDLE_TOTAL
};

const char *pim_objective_name(unsigned objective);

/* A mapping of a layer. */
struct pim_layer_mapping {
    struct pim_nest nest;
    struct pim_strides strides;
    struct pim_step_cost cost;
    uint64_t score; /* of its search */
    uint64_t bound; /* no mapping of the layer has a lower score next to the same neighbour */
    uint64_t valid; /* candidates that fitted */
    uint64_t drawn; /* candidates that were looked at */
};

struct pim_search_inputs {
    const struct pim_mapped_layers *layers;
    const struct pim_machine *machine;
    const struct pim_mapping_space *spaces; /* by layer */
    uint32_t channels;                      /* of every layer */
    uint64_t budget, seed;
    enum pim_search_order order;
    struct pim_workers *workers;
    /* Ready times by comparison of all data spaces, as OverlaPIM finds them: then this many comparisons for
     * each candidate of the budget, and the search of a layer ends when they are used up. 0: by analysis. */
    uint64_t comparisons;
    void (*progress)(void *context, uint64_t done, uint64_t total);
    bool (*stop)(void *context); /* asked between some hundred candidates of a layer; true: what is found is
                                    taken, and the layers to come get the first candidates that fit */
    void *context;
};

/* Finds a mapping for every layer. PIM_BAD_INPUT names a layer that no candidate fits, and what it lacks. */
enum pim_status pim_search_network(const struct pim_search_inputs *inputs, enum pim_objective objective,
                                   struct pim_layer_mapping *mappings, struct pim_error *error);

/* The layer where a search in this order begins. */
uint32_t pim_search_first(const struct pim_mapped_layers *layers, enum pim_search_order order);

#endif

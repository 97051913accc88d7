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
 * A fifth of the candidates is drawn from the whole space. The others come in rounds, each near one of the
 * best mappings before its round (mappers/nest/near.h), never the same as these. `random`: all are drawn
 * from the whole space. (The paper says of its search that it ends after a fixed number of valid mappings.)
 *
 * A candidate's random numbers come from seed, layer and number alone, and of equal scores the lower number
 * stands: the result is the same for any number of threads.
 */
#ifndef PIMSIM_MAPPERS_OVERLAPIM_SEARCH_H
#define PIMSIM_MAPPERS_OVERLAPIM_SEARCH_H

#include "mappers/overlapim/search_inputs.h"

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
        PIM_OBJECTIVES,
    PIM_OBJECTIVE_BEST = PIM_OBJECTIVES /* of a plan: what is fastest of all that was found (choice.h) */
};

const char *pim_objective_name(unsigned objective);

/* Finds a mapping for every layer. PIM_BAD_INPUT names a layer that no candidate fits, and what it lacks. */
enum pim_status pim_search_network(const struct pim_search_inputs *inputs, enum pim_objective objective,
                                   struct pim_layer_mapping *mappings, struct pim_error *error);

/* The layer where a search in this order begins. */
uint32_t pim_search_first(const struct pim_mapped_layers *layers, enum pim_search_order order);

#endif

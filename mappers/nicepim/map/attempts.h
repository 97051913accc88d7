/*
 * Plans made in several ways, of which the best is kept: by all methods that are asked for, and with several
 * weights of cycles against energy.
 */
#ifndef PIMSIM_MAPPERS_NICEPIM_MAP_ATTEMPTS_H
#define PIMSIM_MAPPERS_NICEPIM_MAP_ATTEMPTS_H

#include "mappers/nicepim/map/make_plan.h"
#include "mappers/nicepim/map/program/emit.h"

/* X(name, text): what plans are compared by. */
#define NICE_OBJECTIVE_MAP(X)                                                                                \
    X(NICE_LATENCY, "latency")                                                                               \
    X(NICE_ENERGY, "energy")                                                                                 \
    X(NICE_EDP, "edp")

enum nice_objective {
#define X(name, text) name,
    NICE_OBJECTIVE_MAP(X)
#undef X
        NICE_OBJECTIVES
};

extern const char *const nice_objectives[NICE_OBJECTIVES], *const nice_methods[NICE_METHODS];

/* Network and hardware are borrowed. */
struct nice_search {
    const struct pim_network *network;
    const struct pim_estimate_hardware *hardware;
    uint32_t batch;
    bool asked[NICE_METHODS]; /* which plans are made */
    enum nice_objective objective;
    unsigned threads; /* 0: one for each processor */
    /* What has not been begun by then is left out, but for one plan that fits; the others are cut short. */
    struct nice_stop stop;
};

/* Estimates of a plan; 0 cycles: not tried, or it did not fit. */
struct nice_tried {
    uint64_t cycles;
    double pj;
};

/* How a plan was made. */
struct nice_way {
    enum nice_method method;
    struct nice_weights weights;
    uint32_t width, height; /* of the nodes that work; 0, 0: all */
    enum nice_rule rule;    /* that decides instead of the method; its layouts are chosen, or all BHWC */
    bool layouts;
};

struct nice_best {
    bool branches; /* of the network may work side by side; else plans of both kinds are one */
    bool found;
    bool cut_short;          /* it was stopped before everything was tried */
    enum nice_method method; /* that won */
    struct nice_way fastest; /* the plan of least cycles, whatever is asked for */
    struct nice_way chosen;  /* of those by no rule */
    uint64_t chosen_cycles;  /* of these the least, refined or not */
    struct nice_plan plan;
    struct nice_result result;
    struct nice_tried tried[NICE_METHODS];    /* the best of each */
    struct nice_tried least[NICE_OBJECTIVES]; /* by each objective, whichever is asked for */
    char left_out[NICE_METHODS][256];         /* why; "": tried or not asked for */
    struct tile_memory *tiles[NICE_METHODS];  /* of each thread that makes plans */
    struct pim_cycles_memory *cycles[NICE_METHODS];
};

/* The same best plan with any number of threads. PIM_BAD_INPUT: nothing fits, by how much; or the hardware
 * has no energies to minimise. Needs nice_best_terminate() in every case; *best is 0 before. */
enum pim_status nice_search(const struct nice_search *search, struct nice_best *best,
                            struct pim_error *error);
void nice_best_terminate(struct nice_best *best);

#endif

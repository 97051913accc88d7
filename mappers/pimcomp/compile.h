/* The first stages of the front-end: a network is cut into array groups, which get places on the chip. */
#ifndef PIMSIM_MAPPERS_PIMCOMP_COMPILE_H
#define PIMSIM_MAPPERS_PIMCOMP_COMPILE_H

#include "mappers/mapper.h"
#include "mappers/pimcomp/layout/layout.h"
#include "mappers/pimcomp/plan.h"
#include "mappers/pimcomp/searches.h"
#include "mappers/search/problem.h"
#include "sim/arena.h"

/* What choices.layout stands for; the rule is NULL where layouts are searched. */
struct pim_core_layout_method {
    const char *name;
    pim_core_layout_rule *rule;
};
extern const struct pim_core_layout_method pim_core_layout_methods[];

/* The options, as a user gives them. */
struct pim_core_choices {
    struct pim_mapper_search search;
    unsigned mode, preset, layout, unfolding, baseline, reuse, cut;
    uint64_t batch, threshold, profile, rank;
    bool no_grouping, no_keeping, keep_pixels, check;
    const char *plan, *starts; /* files; NULL: none */
};

/* A plan, what it was made of, and what its traces carry. */
struct pim_core_compilation {
    struct pim_core_choices choices;
    const struct pim_mapper_inputs *inputs;
    struct pim_arena arena;
    struct pim_core_plan plan;
    struct pim_core_schedule_options schedule; /* of the trace and of the layouts that are simulated */
    struct pim_core_network lowered;           /* where plan->network has wide layers in parts */
    struct pim_core_segment_problem problem;   /* of a plan with segments */
    struct pim_search_limit limit;             /* of the searches and the timing */
    struct pim_core_searches searches;
    bool scheduled;
    char mapping[128];
};

/* Seconds since *begin, which is now then. */
double pim_core_seconds_since(double *begin);

/* Partition and layout of the network of `made->plan`, whose options are settled: in one piece or, where it
 * is larger than the chip, in segments whose weights are written one after the other. PIM_BAD_INPUT: it does
 * not fit, with the reasons; PIM_NO_MEMORY; what files and simulations fail with. */
enum pim_status pim_core_compile(struct pim_core_compilation *made, struct pim_error *error);

#endif

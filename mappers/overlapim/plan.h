/*
 * A plan of Fast-OverlaPIM: the three searches of the paper on one network, and its six series; and one
 * search beyond it.
 *
 *     Best Original            searched by sequential latency, one layer after the other
 *     Best Original Overlap    the same mappings, overlapped in lock step
 *     Original Transform       the same mappings, transformed
 *     Best Overlap             searched by the overlapped latency of pairs, in lock step
 *     Overlap Transform        the same mappings, transformed
 *     Best Transform           searched by the transformed latency of pairs
 *     Best Ahead               searched behind the schedules of all layers before, in lock step
 *
 * and, where the fastest of all is asked for,
 *
 *     Best Wide                the fastest of all these with candidates of the whole space alone (the others
 *                              have most of theirs near the best so far)
 *     Best Mixed               of the fastest of these, layers with the mappings of others (chain/mix.h)
 *
 * One of the series is estimated and written: that of the objective that was asked for, or the fastest.
 */
#ifndef PIMSIM_MAPPERS_OVERLAPIM_PLAN_H
#define PIMSIM_MAPPERS_OVERLAPIM_PLAN_H

#include "mappers/mapper.h"
#include "mappers/overlapim/chain/chain.h"
#include "mappers/overlapim/search.h"

/* Mappings of a plan: by objective, and */
enum { PIM_FOUND_WIDE = PIM_OBJECTIVES, PIM_FOUND_MIXED, PIM_FOUND };

/* X(enumerator, text, mappings, transformed, overlapped) */
#define PIM_SERIES_MAP(X)                                                                                    \
    X(PIM_SERIES_ORIGINAL, "best_original", PIM_OBJECTIVE_ORIGINAL, false, false)                            \
    X(PIM_SERIES_ORIGINAL_OVERLAP, "best_original_overlap", PIM_OBJECTIVE_ORIGINAL, false, true)             \
    X(PIM_SERIES_ORIGINAL_TRANSFORM, "original_transform", PIM_OBJECTIVE_ORIGINAL, true, true)               \
    X(PIM_SERIES_OVERLAP, "best_overlap", PIM_OBJECTIVE_OVERLAP, false, true)                                \
    X(PIM_SERIES_OVERLAP_TRANSFORM, "overlap_transform", PIM_OBJECTIVE_OVERLAP, true, true)                  \
    X(PIM_SERIES_TRANSFORM, "best_transform", PIM_OBJECTIVE_TRANSFORM, true, true)                           \
    X(PIM_SERIES_AHEAD, "best_ahead", PIM_OBJECTIVE_AHEAD, false, true)                                      \
    X(PIM_SERIES_WIDE, "best_wide", PIM_FOUND_WIDE, false, true)                                             \
    X(PIM_SERIES_MIXED, "best_mixed", PIM_FOUND_MIXED, false, true)

enum pim_series {
#define X(name, text, objective, transformed, overlapped) name,
    PIM_SERIES_MAP(X)
#undef X
        PIM_SERIES
};

const char *pim_series_name(unsigned series);

struct pim_overlapim_options {
    struct pim_mapper_search search; /* steps: candidates a layer */
    unsigned objective;              /* enum pim_objective; which series is estimated and written */
    unsigned order;                  /* enum pim_search_order */
    unsigned random;                 /* 1: all candidates are drawn from the whole space */
    unsigned channels;               /* index of 1, 2, 4 */
    uint64_t data_spaces;            /* of a layer, at most */
    const char *constraints;         /* file; NULL: none */
    unsigned analysis;               /* 1: by comparison of all data spaces */
    bool nests;                      /* the plan is printed with its nests */
    unsigned rows;                   /* 1: instructions of products name real rows (emit/real.h) */
    bool check;                      /* --check-values, which wants real rows too */
};

struct pim_real_report {
    uint32_t layers;
    uint64_t outputs; /* held, all equal */
};

struct pim_overlapim_plan {
    const char *network, *configuration;
    struct pim_machine machine;
    struct pim_mapped_layers layers;
    struct pim_mapping_space *spaces;
    struct pim_search_inputs search; /* its workers are gone */
    struct pim_layer_mapping *mappings[PIM_FOUND];
    struct pim_chain chains[PIM_SERIES];
    enum pim_series series;         /* that is estimated and written */
    bool wide_transformed;          /* best_wide is */
    bool mixed_transformed;         /* those that were mixed are */
    bool best;                      /* it is the fastest of all, not one that was asked for */
    uint64_t simulated[PIM_SERIES]; /* cycles; 0: this one was not simulated to choose among them */
    bool nests, real;
    const char *ended_early;        /* pim_search_end_cause(); NULL: it did not */
    bool ruled;                     /* `ahead` has the mappings of `original`: what was found is slower */
    bool ends[PIM_SERIES];          /* layers hand over at their ends, as programs would wait (emit/ends.h) */
    struct pim_real_report checked; /* layers and outputs held by --check-values; 0: not asked for */
};

enum pim_status pim_overlapim_plan_make(const struct pim_mapper_inputs *inputs,
                                        const struct pim_overlapim_options *options,
                                        struct pim_overlapim_plan *plan, struct pim_error *error);
void pim_overlapim_plan_terminate(struct pim_overlapim_plan *plan);

/* From now on layers of the series that is written hand over at their ends, in its estimate and its trace. */
enum pim_status pim_overlapim_take_ends(struct pim_overlapim_plan *plan, struct pim_error *error);

/* Gives `ahead` the mappings of `original`, overlapped in lock step as its own are. */
enum pim_status pim_overlapim_take_rule(struct pim_overlapim_plan *plan, struct pim_error *error);

/* Whether there is such a series; it has its layers transformed; its mappings; its cycles as estimated. */
bool pim_overlapim_has(const struct pim_overlapim_plan *plan, enum pim_series series);
bool pim_overlapim_transformed(const struct pim_overlapim_plan *plan, enum pim_series series);
const struct pim_layer_mapping *pim_overlapim_mappings(const struct pim_overlapim_plan *plan,
                                                       enum pim_series series);
uint64_t pim_overlapim_cycles(const struct pim_overlapim_plan *plan, enum pim_series series);

/* The unit that is channel `channel` of a layer. */
uint32_t pim_overlapim_unit(const struct pim_overlapim_plan *plan, uint32_t layer, uint32_t channel);

enum pim_status pim_overlapim_print(const struct pim_overlapim_plan *plan, FILE *file,
                                    struct pim_error *error);
enum pim_status pim_overlapim_write_json(const struct pim_overlapim_plan *plan, FILE *file,
                                         struct pim_error *error);

#endif

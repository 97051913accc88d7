/* The parts of the exact method: candidates in order, Lagrangian bounds, and the labels of a stage. */
#ifndef PIMSIM_MAPPERS_ALLSPARK_SCHEDULE_EXACT_H
#define PIMSIM_MAPPERS_ALLSPARK_SCHEDULE_EXACT_H

#include "mappers/allspark/schedule/schedule.h"

#include <assert.h>
#include <stddef.h>

enum { PIM_PRICE_SCALE = 256 }; /* priced costs are in 1/256 cycles */

/* Nothing costs more; sums of a few do not overflow. */
#define PIM_PRICE_INFINITE (INT64_MAX / 16)

/*
 * A stage as the search sees it: the candidates that are worth having (no other one is at least as good in
 * everything), in an order in which those that provide something stand before those that need it.
 */
struct pim_view {
    const struct pim_schedule_stage *stage;
    uint32_t count;
    uint32_t *order;                         /* indices of candidates */
    uint64_t least_weights, least_workspace; /* of any plan of the stage */
};

bool pim_view_make(struct pim_view *view, const struct pim_schedule_stage *stage);
void pim_view_terminate(struct pim_view *view);

/* Whether layers of the candidate at `position` may be added when `flags` are provided already: what it needs
   is there, there is one candidate with the classifier, and in a stage with one it comes before all but whole
   copies. */
bool pim_view_permits(const struct pim_view *view, uint32_t position, uint32_t flags);

static inline const struct pim_schedule_candidate *pim_view_candidate(const struct pim_view *view,
                                                                      uint32_t position)
{
    return &view->stage->candidates[view->order[position]];
}

/* --- bounds (bounds.c) --- */

/*
 * Priced costs: 256 * cycles + price * bytes of weights. table[(position * FLAGS + flags) * (branches + 1) +
 * r] is the least priced cost of covering r branches with candidates from `position` on, when `flags` are
 * provided; the workspace is not looked at.
 */
struct pim_bounds {
    int64_t price;
    uint32_t branches;
    int64_t *table;
};

/* The least priced cost of the whole stage: the table's entry (0, 0, branches). INT64_MIN: out of memory. */
int64_t pim_bounds_least(const struct pim_view *view, int64_t price);
/* The whole table. */
bool pim_bounds_make(struct pim_bounds *bounds, const struct pim_view *view, int64_t price);
void pim_bounds_terminate(struct pim_bounds *bounds);

static inline int64_t pim_bounds_rest(const struct pim_bounds *bounds, uint32_t position, uint32_t flags,
                                      uint32_t branches)
{
    assert(bounds->table);
    return bounds
        ->table[((uint64_t)position * PIM_SCHEDULE_FLAGS + flags) * (bounds->branches + 1) + branches];
}

/* --- labels (labels.c) --- */

#define PIM_LABEL_NONE UINT32_MAX

/* A choice of layers for some branches of a stage; `parent` is the choice before `layers` layers of the
   candidate at `position` were added. */
struct pim_label {
    uint64_t cycles, weights, lasting, scratch;
    uint32_t covered, flags, total; /* total: layers of all candidates */
    uint32_t parent, position, layers;
};

struct pim_labels {
    struct pim_label *items;
    uint32_t count;
    /* the complete ones of which none is beaten by another in cycles, weights and workspace; by cycles */
    uint32_t *complete, complete_count;
    size_t capacity, complete_capacity; /* of both lists */
    bool cut; /* some were dropped, too many or too late: what is found need not be the optimum */
};

/* Whether a search is to end: once asked for, it stays so. */
struct pim_stop {
    const struct pim_schedule_watch *watch; /* NULL: never */
    bool stopped;
};

static inline bool pim_stop_asked(struct pim_stop *stop)
{
    if (stop && !stop->stopped && stop->watch && stop->watch->stop)
        stop->stopped = stop->watch->stop(stop->watch->context);
    return stop && stop->stopped;
}

/* What a label may cost: everything that cannot become a solution below it is dropped. */
struct pim_label_limit {
    int64_t priced;        /* 256 * cycles + price * (weights + workspace), at most */
    uint64_t memory;       /* weights + workspace, at most */
    uint64_t workspace;    /* that other stages need anyway */
    bool turns;            /* the stage takes turns with another: what lasts counts by itself */
    uint32_t beam;         /* labels that are carried on, at most; 0: as many as can be managed */
    struct pim_stop *stop; /* NULL: to the end */
};

/* All labels of a stage within a limit; those found so far when the search is to end. False when memory is
   out. */
bool pim_labels_make(struct pim_labels *labels, const struct pim_view *view, const struct pim_bounds *bounds,
                     const struct pim_label_limit *limit);
void pim_labels_terminate(struct pim_labels *labels);

static inline uint64_t pim_label_workspace(const struct pim_label *label)
{
    return label->lasting + label->scratch;
}

/* Adds the layers of a label to layers[] of the stage's candidates. */
void pim_labels_layers(const struct pim_labels *labels, const struct pim_view *view, uint32_t index,
                       uint32_t *layers);

/* --- memory (memory.c) --- */

/* Whether a plan with one candidate for each stage fits the memory: a quick way to know that some plan does.
   False when memory is out. */
bool pim_least_memory_fits(const struct pim_schedule_problem *problem, bool *fits);

#endif

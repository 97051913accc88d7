/* A plan of the conflict mapper: the graph, where its nodes stand, and what that is worth. */
#ifndef PIMSIM_MAPPERS_CONFLICT_PLAN_H
#define PIMSIM_MAPPERS_CONFLICT_PLAN_H

#include "mappers/conflict/estimate.h"
#include "mappers/conflict/estimators/study.h"
#include "mappers/conflict/mapping.h"
#include "mappers/mapper.h"
#include "sim/arena.h"

/* Finalists, refinement and searches that were not asked for follow from how long a simulation takes. */
#define PIM_CONFLICT_BY_SIZE UINT64_MAX

struct pim_conflict_choices {
    struct pim_mapper_search search; /* steps: generations */
    unsigned mapping, fitness, preset;
    uint64_t population, finalists, refinement, searches, group, images;
    const char *log, *graph;
    const char *train, *weights; /* of estimators */
    bool judge;
    uint64_t populations, epochs; /* to train on and to judge by */
};

struct pim_conflict_plan {
    const struct pim_mapper_inputs *inputs;
    const struct pim_conflict_choices *choices;
    struct pim_arena arena;
    struct pim_machine_tiles machine;
    struct pim_tile_graph tiles;
    struct pim_tile_estimate estimate;
    uint32_t *place;
    struct pim_tile_mapping_result result;
    struct pim_tile_study study;
    bool studied; /* there are estimators */
    void *replay; /* of inputs->tiles; NULL: there is none */
    char mapping[256];
};

/* The words of a trace on its mapping; a pattern is not searched. */
void pim_conflict_name_mapping(const struct pim_conflict_choices *choices, char *text, size_t size);

/* pim_conflict_plan_terminate() in every case. */
enum pim_status pim_conflict_plan_make(const struct pim_mapper_inputs *inputs,
                                       const struct pim_conflict_choices *choices,
                                       struct pim_conflict_plan *plan, struct pim_error *error);
void pim_conflict_plan_terminate(struct pim_conflict_plan *plan);

enum pim_status pim_conflict_print(const struct pim_conflict_plan *plan, FILE *file, struct pim_error *error);
enum pim_status pim_conflict_write_json(const struct pim_conflict_plan *plan, FILE *file,
                                        struct pim_error *error);

#endif

/*
 * Estimators of a plan: trained on populations that are drawn for it, or read from a file, and judged on
 * populations that they have not seen. Populations, and never single mappings, are held out: the mappings of
 * a population descend from one another.
 */
#ifndef PIMSIM_MAPPERS_CONFLICT_ESTIMATORS_STUDY_H
#define PIMSIM_MAPPERS_CONFLICT_ESTIMATORS_STUDY_H

#include "mappers/conflict/estimators/judge.h"
#include "mappers/conflict/estimators/weights.h"

struct pim_tile_study {
    struct pim_tile_setting setting;
    struct pim_tile_weights weights;
    struct pim_tile_samples samples; /* that verdicts refer to */
    struct pim_tile_verdict *verdict;
    uint32_t verdicts; /* 0: none was asked for */
    uint32_t seen;     /* the first ones, of populations that the estimators were trained on */
};

struct pim_tile_study_options {
    struct pim_tile_identity identity;
    bool directed;               /* links are: as in view.h */
    const char *train, *weights; /* a file to write or one to read: one of them */
    bool judge;                  /* weights that were read; trained ones are always judged */
    uint32_t populations;        /* of a sort; a fifth of them, one at least, is held out of a training */
    uint32_t epochs;
};

/* `mapping`: as of pim_tile_samples_draw(). A training that fails writes nothing. PIM_USAGE when the
 * populations to judge by would be those of the training. pim_tile_study_terminate() in every case. */
enum pim_status pim_tile_study_make(struct pim_tile_study *study,
                                    const struct pim_tile_study_options *options,
                                    const struct pim_tile_mapping_options *mapping, struct pim_error *error);
void pim_tile_study_terminate(struct pim_tile_study *study);

/* For people: tables of means over the populations of a sort. And into an open object. */
void pim_tile_study_print(const struct pim_tile_study *study, FILE *file);
void pim_tile_study_put(const struct pim_tile_study *study, struct pim_json *json);

#endif

/* Plans of the Allspark mapping as files, tables and JSON. */
#ifndef PIMSIM_MAPPERS_ALLSPARK_PLAN_FILE_H
#define PIMSIM_MAPPERS_ALLSPARK_PLAN_FILE_H

#include "mappers/allspark/allspark.h"
#include "sim/output/json.h"

#include <stdio.h>

/*
 * "u,v" for all stages, or lists of the stages with ':' between them. A list is one or more of u,v and
 * u,v*layers with '+' between them: the temporal layers of the stage; the last one may leave its number out.
 * PIM_USAGE.
 */
enum pim_status pim_plan_parse(const char *text, struct pim_allspark_options *options,
                               struct pim_error *error);

/* A plan in a file. */
struct pim_plan_file {
    const char *path, *network;
    json_t *root;
};

/*
 * Reads a plan as `map allspark --format json` writes it; u and v of each temporal layer are enough, keys
 * that it does not write are refused. Its batch, prefetch and exchange are taken where the options state
 * none. PIM_BAD_INPUT, PIM_IO. To be closed in any case.
 */
enum pim_status pim_plan_read(struct pim_plan_file *file, const char *path,
                              struct pim_allspark_options *options, struct pim_error *error);
enum pim_status pim_plan_read_text(struct pim_plan_file *file, const char *name, const char *text,
                                   size_t length, struct pim_allspark_options *options,
                                   struct pim_error *error);
void pim_plan_close(struct pim_plan_file *file);

/* How the plan of a file was asked for ("partition"); the trace carries it. */
const char *pim_plan_label(const struct pim_plan_file *file);

/* Holds what the file says of network, stages, branches and reuse against the plan. PIM_BAD_INPUT. */
enum pim_status pim_plan_check(struct pim_plan_file *file, const struct pim_allspark_plan *plan,
                               struct pim_error *error);

/* "direct" or "gather": the plan's "exchange". */
const char *pim_plan_exchange_name(enum pim_allspark_exchange exchange);

/* A temporal layer of a stage, from 0. */
struct pim_plan_layer {
    const struct pim_allspark_partition *part;
    uint32_t branches;
    bool reuses; /* weights of a layer before, or of a whole copy */
};

struct pim_plan_layer pim_plan_layer(const struct pim_allspark_stage *stage, uint32_t layer);

/* The plan, its estimate in cycles and how long it took to find it. */
struct pim_plan_result {
    const struct pim_allspark_plan *plan;
    uint64_t cycles;
    uint64_t parts[PIM_ESTIMATE_PARTS]; /* of the cycles */
    double solve_seconds;
    const char *scheduler, *partition; /* the method; the partition that was asked for */
    const char *ended_early;           /* pim_search_end_cause(); NULL: it did not */
    char optimal_of[320];              /* what the plan was chosen from */
    uint64_t checked_elements;         /* by the check of values; 0: not asked for */
};

/* Fills what a plan that these options ask for is chosen from: the space in which "optimal" holds. */
void pim_plan_space(const struct pim_allspark_options *options, struct pim_plan_result *result);

void pim_plan_print(const struct pim_plan_result *result, FILE *file);
enum pim_status pim_plan_write_json(const struct pim_plan_result *result, FILE *file,
                                    struct pim_error *error);

#endif

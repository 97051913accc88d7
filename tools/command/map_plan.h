/* Plans of the Allspark mapping as files, tables and JSON. */
#ifndef PIMSIM_TOOLS_COMMAND_MAP_PLAN_H
#define PIMSIM_TOOLS_COMMAND_MAP_PLAN_H

#include "mappers/allspark/allspark.h"

#include <stdio.h>

/*
 * "u,v" for all stages, or lists of the stages with ':' between them. A list is one or more of u,v and
 * u,v*layers with '+' between them: the temporal layers of the stage; the last one may leave its number out.
 * PIM_USAGE.
 */
enum pim_status map_plan_parse(const char *text, struct pim_allspark_options *options,
                               struct pim_error *error);

/* A plan as `map allspark --format json` writes it; u, v of each temporal layer are enough. PIM_BAD_INPUT. */
enum pim_status map_plan_read(const char *path, struct pim_allspark_options *options,
                              struct pim_error *error);

/* The plan, its estimate in cycles and how long it took to find it. */
struct map_result {
    const struct pim_allspark_plan *plan;
    uint64_t cycles;
    uint64_t parts[PIM_ESTIMATE_PARTS]; /* of the cycles */
    double solve_seconds;
    const char *scheduler;
};

void map_plan_print(const struct map_result *result, FILE *file);
enum pim_status map_plan_write_json(const struct map_result *result, FILE *file, struct pim_error *error);

#endif

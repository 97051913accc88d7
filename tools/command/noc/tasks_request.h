/* What `pimsim tasks` is asked for, and that none of it goes without effect. */
#ifndef PIMSIM_TOOLS_COMMAND_NOC_TASKS_REQUEST_H
#define PIMSIM_TOOLS_COMMAND_NOC_TASKS_REQUEST_H

#include "models/conflict/conflict.h"

/* Not given, so that an option that would do nothing is noticed; of reals NaN. */
#define TASKS_NOT_GIVEN UINT32_MAX
#define TASKS_NO_NUMBER UINT64_MAX

struct request {
    struct pim_conflict_options options;
    const char *tasks, *mapping, *mappings, *mesh, *table, *make_table, *log, *stats;
    unsigned switching, routing, arbiter, tie_break, count, arithmetic, format;
    uint64_t images, input_bits, output_bits, router_packets, slack, seed;
    double detour, perturb_percent;
    bool reproducible, quiet;
};

/* PIM_USAGE names an option that has no effect beside the others. */
enum pim_status tasks_check_effects(const struct request *request, struct pim_error *error);
/* In place of what is not given. */
void tasks_set_defaults(struct request *request);

#endif

/* What the files of `pimsim systems` share. */
#ifndef PIMSIM_TOOLS_COMMAND_SWEEP_SYSTEMS_H
#define PIMSIM_TOOLS_COMMAND_SWEEP_SYSTEMS_H

#include "sim/status.h"
#include "tools/systems/list.h"

#include <stdio.h>

/* The systems of a list, for people. */
void systems_print_list(const struct pim_systems *systems, FILE *file);

/* Results in a file, for people: a table, who refuses and why, the rule of the terms. */
enum pim_status systems_print_results(const char *path, FILE *file, struct pim_error *error);

#endif

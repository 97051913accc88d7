/* pimsim tasks, and pimsim noc --tasks, its older form: the replay of a task graph on the network of the
 * communication-conflict paper. */
#ifndef PIMSIM_TOOLS_COMMAND_NOC_TASKS_H
#define PIMSIM_TOOLS_COMMAND_NOC_TASKS_H

#include "models/conflict/mesh.h"
#include "sim/status.h"

/* Whether --tasks is among the arguments, so that noc_tasks() is the one to call. */
bool noc_tasks_wanted(int argument_count, char **arguments);

/* As a command's function: see command.h. */
int noc_tasks(int argument_count, char **arguments);

/* "16x16", rows and columns of 1 to 1024; PIM_USAGE names --mesh. */
enum pim_status tasks_parse_mesh(const char *text, struct pim_conflict_mesh *mesh, struct pim_error *error);

#endif

/* pimsim noc --tasks: the replay of a task graph on the network of the communication-conflict paper. */
#ifndef PIMSIM_TOOLS_COMMAND_NOC_TASKS_H
#define PIMSIM_TOOLS_COMMAND_NOC_TASKS_H

#include <stdbool.h>

/* Whether --tasks is among the arguments, so that noc_tasks() is the one to call. */
bool noc_tasks_wanted(int argument_count, char **arguments);

/* As a command's function: see command.h. */
int noc_tasks(int argument_count, char **arguments);

#endif

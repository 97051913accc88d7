/* pimsim noc: the network alone. Task graphs have a model and a file of their own. */
#include "tools/command/command.h"
#include "tools/command/noc_traffic.h"
#include "tools/command/tasks.h"

int command_noc(int argument_count, char **arguments)
{
    if (noc_tasks_wanted(argument_count, arguments))
        return noc_tasks(argument_count, arguments);
    return noc_traffic(argument_count, arguments);
}

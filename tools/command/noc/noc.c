/* pimsim noc: the network alone. Task graphs have a model and a file of their own. */
#include "tools/command/command.h"
#include "tools/command/noc/tasks.h"
#include "tools/command/noc/traffic.h"

int command_noc(int argument_count, char **arguments)
{
    if (noc_tasks_wanted(argument_count, arguments))
        return noc_tasks(argument_count, arguments);
    return noc_traffic(argument_count, arguments);
}

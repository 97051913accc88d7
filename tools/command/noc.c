/* pimsim noc: the network alone. Task graphs have a model and a file of their own. */
#include "tools/command/command.h"
#include "tools/command/noc_traffic.h"

int command_noc(int argument_count, char **arguments)
{
    return noc_traffic(argument_count, arguments);
}

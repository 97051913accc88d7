/* pimsim noc on packet lists and synthetic traffic. */
#ifndef PIMSIM_TOOLS_COMMAND_NOC_TRAFFIC_H
#define PIMSIM_TOOLS_COMMAND_NOC_TRAFFIC_H

/* As a command's function: see command.h. */
int noc_traffic(int argument_count, char **arguments);

#endif

/* pimsim map conflict. */
#ifndef PIMSIM_TOOLS_COMMAND_MAP_CONFLICT_H
#define PIMSIM_TOOLS_COMMAND_MAP_CONFLICT_H

int command_map_conflict(int argument_count, char **arguments);

#endif

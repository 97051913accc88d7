/* `pimsim noc --watch`: a packet of a list, stage by stage. */
#ifndef PIMSIM_TOOLS_COMMAND_NOC_WATCH_H
#define PIMSIM_TOOLS_COMMAND_NOC_WATCH_H

#include "models/traffic/traffic.h"

struct noc_watch {
    struct pim_traffic_watch watch;
    struct pim_noc_stage *stages;
    size_t count, capacity;
    bool no_memory;
};

/* `watch` stays where it is until the replay is over; terminated by noc_watch_write(). */
void noc_watch_start(struct noc_watch *watch, uint64_t packet);

/* Writes the stages by cycle as CSV. `stuck`: the run ended in a deadlock, waits without an end are told
 * once. PIM_NO_MEMORY: some were lost. */
enum pim_status noc_watch_write(struct noc_watch *watch, const char *path, bool stuck,
                                struct pim_error *error);
void noc_watch_terminate(struct noc_watch *watch);

#endif

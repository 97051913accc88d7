/*
 * What is to end in a replay of a whole graph: instants with whom they are for. Such a replay has nothing
 * else that happens, and within an instant the order of ends leaves no trace, so that a heap of a few dozen
 * entries does for it what the kernel would do (models/tile runs the same network by the kernel).
 */
#ifndef PIMSIM_MODELS_CONFLICT_REPLAY_AGENDA_H
#define PIMSIM_MODELS_CONFLICT_REPLAY_AGENDA_H

#include "sim/kernel/kernel.h"

struct conflict_entry {
    pim_time at;
    uint32_t who;
};

struct conflict_agenda {
    struct conflict_entry *entry; /* each at least as early as entries 4 i + 1 to 4 i + 4 */
    uint32_t count, room;
};

/* False when memory is out. */
bool conflict_agenda_add(struct conflict_agenda *agenda, pim_time at, uint32_t who);

/* The earliest instant, PIM_TIME_NEVER when there is none. */
static inline pim_time conflict_agenda_next(const struct conflict_agenda *agenda)
{
    return agenda->count ? agenda->entry[0].at : PIM_TIME_NEVER;
}

/* Takes an entry of the earliest instant; there is one. */
uint32_t conflict_agenda_take(struct conflict_agenda *agenda);

void conflict_agenda_terminate(struct conflict_agenda *agenda);

#endif

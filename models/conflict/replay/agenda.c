/* A heap of four branches; see agenda.h. */
#include "models/conflict/replay/agenda.h"

#include <assert.h>
#include <stdlib.h>

enum { BRANCHES = 4, ROOM_FIRST = 256 };

static bool grow(struct conflict_agenda *agenda)
{
    uint32_t room = agenda->room ? 2 * agenda->room : ROOM_FIRST;
    struct conflict_entry *entry = realloc(agenda->entry, room * sizeof *entry);
    if (!entry)
        return false;
    agenda->entry = entry;
    agenda->room = room;
    return true;
}

bool conflict_agenda_add(struct conflict_agenda *agenda, pim_time at, uint32_t who)
{
    if (agenda->count == agenda->room && !grow(agenda))
        return false;
    struct conflict_entry *entry = agenda->entry;
    uint32_t place = agenda->count++;
    while (place > 0 && entry[(place - 1) / BRANCHES].at > at) {
        entry[place] = entry[(place - 1) / BRANCHES];
        place = (place - 1) / BRANCHES;
    }
    entry[place] = (struct conflict_entry){at, who};
    return true;
}

uint32_t conflict_agenda_take(struct conflict_agenda *agenda)
{
    struct conflict_entry *entry = agenda->entry;
    assert(agenda->count > 0);
    uint32_t who = entry[0].who, count = --agenda->count, place = 0;
    const struct conflict_entry last = entry[count];
    for (uint32_t child = 1; child < count; child = BRANCHES * place + 1) {
        uint32_t end = child + BRANCHES < count ? child + BRANCHES : count, least = child;
        for (uint32_t i = child + 1; i < end; i++)
            least = entry[i].at < entry[least].at ? i : least;
        if (entry[least].at >= last.at)
            break;
        entry[place] = entry[least];
        place = least;
    }
    entry[place] = last;
    return who;
}

void conflict_agenda_terminate(struct conflict_agenda *agenda)
{
    free(agenda->entry);
    *agenda = (struct conflict_agenda){0};
}

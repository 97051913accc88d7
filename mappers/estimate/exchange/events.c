#include "mappers/estimate/exchange/timing.h"

#include <stdlib.h>

static bool before(const struct event *a, const struct event *b)
{
    return a->time != b->time ? a->time < b->time : a->number < b->number;
}

static void add(struct agenda *agenda, const struct event *event)
{
    if (agenda->events == agenda->capacity) {
        size_t capacity = agenda->capacity ? 2 * agenda->capacity : 1024;
        struct event *grown = realloc(agenda->heap, capacity * sizeof *grown);
        if (!grown) {
            agenda->failed = true;
            return;
        }
        agenda->heap = grown;
        agenda->capacity = capacity;
    }
    size_t place = agenda->events++;
    for (; place > 0 && before(event, &agenda->heap[(place - 1) / 2]); place = (place - 1) / 2)
        agenda->heap[place] = agenda->heap[(place - 1) / 2];
    agenda->heap[place] = *event;
}

void timing_at(struct timing *timing, uint64_t time, enum event_kind kind, uint32_t subject)
{
    add(&timing->agenda, &(struct event){time, timing->agenda.made++, kind, subject});
}

void timing_last_at(struct timing *timing, uint64_t time, enum event_kind kind, uint32_t subject)
{
    const uint64_t behind_all = UINT64_C(1) << 63;
    add(&timing->agenda, &(struct event){time, behind_all + timing->agenda.made++, kind, subject});
}

struct event timing_next(struct timing *timing)
{
    struct agenda *agenda = &timing->agenda;
    struct event *heap = agenda->heap, first = heap[0], last = heap[--agenda->events];
    size_t place = 0;
    for (size_t child; (child = 2 * place + 1) < agenda->events; place = child) {
        child += child + 1 < agenda->events && before(&heap[child + 1], &heap[child]);
        if (!before(&heap[child], &last))
            break;
        heap[place] = heap[child];
    }
    heap[place] = last;
    return first;
}

#include "mappers/pimcomp/cost/timing_internal.h"

bool pim_server_make(struct pim_server *server, unsigned kept, struct pim_arena *arena)
{
    size_t intervals = (size_t)1 << kept;
    *server = (struct pim_server){.mask = (uint32_t)intervals - 1,
                                  .busy = PIM_ARENA_ITEMS(arena, struct pim_server_interval, intervals)};
    return server->busy != NULL;
}

static struct pim_server_interval *at_place(const struct pim_server *s, uint32_t place)
{
    return &s->busy[place & s->mask];
}

/* Room for an interval at `place`, those from there on behind it. */
static void insert(struct pim_server *s, uint32_t place)
{
    if (s->tail - s->head > s->mask)
        s->forgotten = at_place(s, s->head++)->end;
    for (uint32_t i = s->tail++; i != place; i--)
        *at_place(s, i) = *at_place(s, i - 1);
}

/* The intervals from `last` on close up to those before `first`. */
static void erase(struct pim_server *s, uint32_t first, uint32_t last)
{
    if (first == last)
        return;
    while (last != s->tail)
        *at_place(s, first++) = *at_place(s, last++);
    s->tail = first;
}

uint64_t pim_server_take(struct pim_server *s, uint64_t at, uint64_t cycles)
{
    if (cycles == 0)
        return at;
    uint64_t least = s->tail - s->head > s->mask ? at_place(s, s->head)->begin : s->forgotten;
    at = at > least ? at : least; /* no room for an interval before the first */
    uint32_t place = s->tail;
    while (place != s->head && at_place(s, place - 1)->end >= at)
        place--;
    /* The request joins the intervals from `place` to `behind` that it touches. */
    struct pim_server_interval joined = {.begin = at, .end = at};
    uint64_t served = at;
    uint32_t behind = place;
    for (;; behind++) {
        const struct pim_server_interval *next = behind == s->tail ? NULL : at_place(s, behind);
        uint64_t room = !next ? UINT64_MAX : next->begin > joined.end ? next->begin - joined.end : 0;
        uint64_t given = cycles < room ? cycles : room;
        cycles -= given;
        if (given > 0)
            served = joined.end += given;
        if (!next || next->begin > joined.end)
            break;
        joined.begin = next->begin < joined.begin ? next->begin : joined.begin;
        joined.end = next->end;
    }
    if (behind == place)
        insert(s, place);
    else
        erase(s, place + 1, behind);
    *at_place(s, place) = joined;
    return served;
}

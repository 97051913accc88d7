#include "mappers/pimcomp/cost/server.h"

#include <string.h>

bool pim_server_make(struct pim_server *server, unsigned shift, unsigned kept, struct pim_arena *arena)
{
    size_t buckets = (size_t)1 << kept;
    *server = (struct pim_server){.shift = shift,
                                  .mask = (uint32_t)buckets - 1,
                                  .given = PIM_ARENA_ITEMS(arena, uint16_t, buckets),
                                  .skip = PIM_ARENA_ITEMS(arena, uint16_t, buckets)};
    return server->given && server->skip;
}

/* Buckets up to `bucket` are there, those that have not been touched with all of their cycles. */
static void extend(struct pim_server *s, uint64_t bucket)
{
    if (bucket - s->end > s->mask) {
        memset(s->given, 0, ((size_t)s->mask + 1) * sizeof *s->given);
        s->end = bucket + 1;
        return;
    }
    for (; s->end <= bucket; s->end++)
        s->given[s->end & s->mask] = 0;
}

uint64_t pim_server_take(struct pim_server *s, uint64_t at, uint64_t cycles)
{
    const uint32_t length = UINT32_C(1) << s->shift;
    uint64_t bucket = at >> s->shift, left = cycles, done = at + cycles;
    if (cycles == 0)
        return at;
    if (s->end > s->mask && bucket < s->end - s->mask - 1) /* forgotten */
        bucket = s->end - s->mask - 1;
    uint64_t first = bucket;
    for (;;) {
        if (bucket >= s->end)
            extend(s, bucket);
        uint16_t *given = &s->given[bucket & s->mask];
        uint32_t room = length - *given;
        if (room >= left) {
            *given = (uint16_t)(*given + left);
            break;
        }
        if (room) {
            *given = (uint16_t)length;
            left -= room;
            s->skip[bucket & s->mask] = 1;
        }
        bucket += s->skip[bucket & s->mask];
    }
    if (s->given[bucket & s->mask] == length)
        s->skip[bucket & s->mask] = 1;
    if (bucket > first) /* all between are full by now */
        s->skip[first & s->mask] = (uint16_t)(bucket - first < UINT16_MAX ? bucket - first : UINT16_MAX);
    uint64_t end = (bucket << s->shift) + s->given[bucket & s->mask];
    return end > done ? end : done;
}

/* Edges in whose favour something has changed, in the order in which an arbiter asks them. */
#include "models/conflict/internal.h"

bool conflict_goes_first(const struct conflict_replay *replay, uint32_t a, uint32_t b)
{
    uint64_t left = (uint64_t)replay->edge[a].arrived * replay->edge[b].total;
    uint64_t right = (uint64_t)replay->edge[b].arrived * replay->edge[a].total;
    return left != right ? left < right : a < b;
}

/* Lets the edge at `place` of a heap sink, whose root is the one that goes last. */
static void sink(const struct conflict_replay *replay, conflict_order *before, uint32_t place, uint32_t count)
{
    uint32_t *list = replay->asked, e = list[place];
    for (uint32_t child = 2 * place + 1; child < count; child = 2 * place + 1) {
        if (child + 1 < count && before(replay, list[child], list[child + 1]))
            child++;
        if (!before(replay, e, list[child]))
            break;
        list[place] = list[child];
        place = child;
    }
    list[place] = e;
}

void conflict_sort_asked(const struct conflict_replay *replay, conflict_order *before, uint32_t count)
{
    uint32_t *list = replay->asked;
    if (!before)
        return;
    for (uint32_t place = count / 2; place-- > 0;)
        sink(replay, before, place, count);
    while (count > 1) {
        uint32_t last = list[0];
        list[0] = list[--count];
        list[count] = last;
        sink(replay, before, 0, count);
    }
}

uint32_t conflict_take_asking(struct conflict_replay *replay)
{
    struct conflict_taking taking = {0};
    uint32_t count = 0;
    for (uint32_t e; conflict_take(&replay->asking, &taking, &e);)
        replay->asked[count++] = e;
    return count;
}

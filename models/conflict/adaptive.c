/*
 * The extended Dijkstra of the paper, equation (5): a shortest path over links that are idle, or none when it
 * is too long.
 *
 * All links cost one, so Dijkstra is a breadth-first search. Its result depends on the order in which it
 * looks at the neighbours of a router. In the authors' code that is a list: a link that is taken leaves the
 * lists of its two ends, one that is released goes to their end. Routers from which the target cannot be
 * reached within the limit are left out; that does not change the path found, because what is reached first
 * through such a router is itself such a router.
 */
#include "models/conflict/internal.h"

#include <stdlib.h>
#include <string.h>

struct lists {
    uint8_t order[PIM_DIRECTIONS]; /* directions of idle links, in the order of the search */
    uint8_t count;
};

struct place {
    uint32_t x, y;
};

struct conflict_adaptive {
    struct pim_conflict_mesh mesh;
    enum pim_tie_break tie_break;
    struct lists *lists; /* by router */
    struct place *place; /* by router */
    uint64_t *seen;      /* by router: number of the search that saw it last */
    uint8_t *came;       /* by router: direction of the link by which it was reached */
    uint32_t *queue, *depth;
    uint32_t reached; /* routers in the queue of the last search */
    uint64_t searches;
};

struct conflict_adaptive *conflict_adaptive_create(const struct pim_conflict_mesh *mesh,
                                                   enum pim_tie_break tie_break)
{
    uint32_t routers = pim_conflict_routers(mesh);
    struct conflict_adaptive *adaptive = calloc(1, sizeof *adaptive);
    if (!adaptive)
        return NULL;
    adaptive->mesh = *mesh;
    adaptive->tie_break = tie_break;
    adaptive->lists = calloc(routers, sizeof *adaptive->lists);
    adaptive->place = calloc(routers, sizeof *adaptive->place);
    adaptive->seen = calloc(routers, sizeof *adaptive->seen);
    adaptive->came = calloc(routers, sizeof *adaptive->came);
    adaptive->queue = calloc(routers, sizeof *adaptive->queue);
    adaptive->depth = calloc(routers, sizeof *adaptive->depth);
    if (!adaptive->lists || !adaptive->place || !adaptive->seen || !adaptive->came || !adaptive->queue ||
        !adaptive->depth) {
        conflict_adaptive_destroy(adaptive);
        return NULL;
    }
    for (uint32_t r = 0; r < routers; r++) {
        adaptive->place[r] = (struct place){r % mesh->width, r / mesh->width};
        for (unsigned d = 0; d < PIM_DIRECTIONS; d++) {
            if (pim_conflict_has_neighbour(mesh, r, d))
                adaptive->lists[r].order[adaptive->lists[r].count++] = (uint8_t)d;
        }
    }
    return adaptive;
}

void conflict_adaptive_destroy(struct conflict_adaptive *adaptive)
{
    if (!adaptive)
        return;
    free(adaptive->lists);
    free(adaptive->place);
    free(adaptive->seen);
    free(adaptive->came);
    free(adaptive->queue);
    free(adaptive->depth);
    free(adaptive);
}

uint32_t conflict_adaptive_limit(const struct pim_conflict_mesh *mesh, const struct pim_detour *detour,
                                 uint32_t from, uint32_t to)
{
    uint64_t length = pim_conflict_distance(mesh, from, to) + (detour->count_routers ? UINT64_C(1) : 0);
    uint64_t stretched = detour->detour_milli * length / 1000;
    uint64_t limit = stretched > length + detour->slack ? stretched : length + detour->slack;
    limit -= detour->count_routers ? 1 : 0;
    uint64_t longest = pim_conflict_routers(mesh) - 1;
    return (uint32_t)(limit < longest ? limit : longest);
}

/* The path is read backwards from the target. */
static uint32_t write_path(const struct conflict_adaptive *adaptive, uint32_t from, uint32_t to,
                           uint32_t hops, uint32_t *links)
{
    uint32_t at = to;
    for (uint32_t i = hops; i-- > 0;) {
        unsigned direction = adaptive->came[at];
        at = pim_conflict_neighbour(&adaptive->mesh, at, pim_conflict_opposite(direction));
        links[i] = at * PIM_DIRECTIONS + direction;
    }
    assert(at == from);
    (void)from;
    return hops;
}

static uint32_t distance(struct place a, struct place b)
{
    return (a.x > b.x ? a.x - b.x : b.x - a.x) + (a.y > b.y ? a.y - b.y : b.y - a.y);
}

uint32_t conflict_adaptive_search(struct conflict_adaptive *adaptive, uint32_t from, uint32_t to,
                                  uint32_t limit, uint32_t *links)
{
    uint64_t search = ++adaptive->searches;
    uint32_t head = 0, tail = 0;
    const struct place target = adaptive->place[to];
    adaptive->reached = 1;
    adaptive->queue[0] = to;
    if (adaptive->lists[to].count == 0)
        return 0; /* nothing leads to it, until one of its own links is freed */
    adaptive->seen[from] = search;
    adaptive->depth[from] = 0;
    adaptive->queue[tail++] = from;
    while (head < tail) {
        uint32_t router = adaptive->queue[head++];
        uint32_t depth = adaptive->depth[router] + 1;
        for (unsigned i = 0; i < adaptive->lists[router].count; i++) {
            uint8_t direction = adaptive->lists[router].order[i];
            uint32_t next = pim_conflict_neighbour(&adaptive->mesh, router, direction);
            if (adaptive->seen[next] == search || depth + distance(adaptive->place[next], target) > limit)
                continue;
            adaptive->seen[next] = search;
            adaptive->came[next] = direction;
            adaptive->depth[next] = depth;
            if (next == to)
                return write_path(adaptive, from, to, depth, links);
            adaptive->queue[tail++] = next;
        }
    }
    adaptive->reached = tail;
    return 0;
}

void conflict_adaptive_reached(const struct conflict_adaptive *adaptive, uint64_t *routers)
{
    for (uint32_t i = 0; i < adaptive->reached; i++)
        conflict_set(routers, adaptive->queue[i]);
}

static void take_one(struct lists *lists, unsigned direction)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < lists->count; i++) {
        if (lists->order[i] != direction)
            lists->order[kept++] = lists->order[i];
    }
    assert(kept + 1 == lists->count);
    lists->count = (uint8_t)kept;
}

static void release_one(struct conflict_adaptive *adaptive, uint32_t router, unsigned direction)
{
    struct lists *lists = &adaptive->lists[router];
    unsigned place = lists->count++;
    if (adaptive->tie_break == PIM_TIE_STATELESS) {
        for (; place > 0 && lists->order[place - 1] > direction; place--)
            lists->order[place] = lists->order[place - 1];
    }
    lists->order[place] = (uint8_t)direction;
}

void conflict_adaptive_take(struct conflict_adaptive *adaptive, const uint32_t *links, uint32_t hops)
{
    for (uint32_t i = 0; i < hops; i++) {
        uint32_t router = links[i] / PIM_DIRECTIONS, direction = links[i] % PIM_DIRECTIONS;
        take_one(&adaptive->lists[router], direction);
        take_one(&adaptive->lists[pim_conflict_neighbour(&adaptive->mesh, router, direction)],
                 pim_conflict_opposite(direction));
    }
}

void conflict_adaptive_release(struct conflict_adaptive *adaptive, const uint32_t *links, uint32_t hops)
{
    bool backward = adaptive->tie_break == PIM_TIE_RELEASE_BACKWARD;
    for (uint32_t i = 0; i < hops; i++) {
        uint32_t link = links[backward ? hops - 1 - i : i];
        uint32_t router = link / PIM_DIRECTIONS, direction = link % PIM_DIRECTIONS;
        release_one(adaptive, router, direction);
        release_one(adaptive, pim_conflict_neighbour(&adaptive->mesh, router, direction),
                    pim_conflict_opposite(direction));
    }
}

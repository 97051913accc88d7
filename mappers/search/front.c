/* Fronts and the knapsack by classes; see front.h. */
#include "mappers/search/front.h"

#include <inttypes.h>
#include <stdlib.h>

#define SUM_MOST (UINT64_MAX / 2)

static enum pim_status no_room(uint64_t count, struct pim_error *error)
{
    return pim_fail(error, PIM_NO_MEMORY, "no memory for a front of %" PRIu64 " points", count);
}

/* By weight, cost, and the order in which the points were made. */
static int compare(const void *left, const void *right)
{
    const struct pim_front_point *a = left, *b = right;
    if (a->weight != b->weight)
        return a->weight < b->weight ? -1 : 1;
    if (a->cost != b->cost)
        return a->cost < b->cost ? -1 : 1;
    if (a->left != b->left)
        return a->left < b->left ? -1 : 1;
    return a->right < b->right ? -1 : a->right > b->right;
}

/* Takes over `points`, and keeps those that none before beats. */
static void filter(struct pim_front *front, struct pim_front_point *points, uint32_t count)
{
    uint32_t kept = 0;
    if (count > 0)
        qsort(points, count, sizeof *points, compare);
    for (uint32_t i = 0; i < count; i++)
        if (kept == 0 || points[i].cost < points[kept - 1].cost)
            points[kept++] = points[i];
    front->points = points;
    front->count = kept;
    struct pim_front_point *fitting = realloc(points, ((size_t)kept + 1) * sizeof *fitting);
    if (fitting)
        front->points = fitting;
}

enum pim_status pim_front_of_items(const uint64_t *weights, const uint64_t *costs, uint32_t count,
                                   uint64_t capacity, struct pim_front *front, struct pim_error *error)
{
    struct pim_front_point *points = calloc((size_t)count + 1, sizeof *points);
    uint32_t fitting = 0;
    *front = (struct pim_front){0};
    if (!points)
        return no_room(count, error);
    for (uint32_t i = 0; i < count; i++)
        if (weights[i] <= capacity)
            points[fitting++] = (struct pim_front_point){weights[i], costs[i], i, 0};
    filter(front, points, fitting);
    return PIM_OK;
}

/* False: beyond SUM_MOST. */
static bool combine(enum pim_front_rule rule, uint64_t a, uint64_t b, uint64_t *result)
{
    if (rule == PIM_FRONT_LARGER)
        *result = a > b ? a : b;
    else if (a > SUM_MOST || b > SUM_MOST - a)
        return false;
    else
        *result = a + b;
    return true;
}

/* --- joining --- */

/*
 * The pairs of a point of the part that has fewer with all points of the other, by weight: `moving` goes from
 * point to point there. A heap of these gives all pairs by weight; those that are beaten by what is kept do
 * not enter it, which are most.
 */
struct stream {
    struct pim_front_point next;
    uint32_t fixed, moving;
};

struct joiner {
    const struct pim_front *a, *b;
    enum pim_front_rule weights, costs;
    uint64_t capacity;
    struct stream *heap; /* the first by compare() first */
    uint32_t streams;
    struct pim_front_point *kept; /* weights ascend, costs fall */
    uint32_t count;
    size_t room;
};

/* Whether a point that weighs as much as the last one that is kept, or more, is not worth having. */
static bool is_beaten(const struct joiner *joiner, const struct pim_front_point *point)
{
    if (joiner->count == 0)
        return false;
    const struct pim_front_point *last = &joiner->kept[joiner->count - 1];
    return point->cost > last->cost || (point->cost == last->cost && compare(last, point) <= 0);
}

/* The next pair of a stream, from `moving` on, that is not beaten; false: there is none. */
static bool draw(const struct joiner *joiner, struct stream *stream)
{
    const bool left = joiner->a->count <= joiner->b->count; /* is fixed */
    const uint32_t end = left ? joiner->b->count : joiner->a->count;
    for (; stream->moving < end; stream->moving++) {
        struct pim_front_point *next = &stream->next;
        next->left = left ? stream->fixed : stream->moving;
        next->right = left ? stream->moving : stream->fixed;
        const struct pim_front_point *a = &joiner->a->points[next->left],
                                     *b = &joiner->b->points[next->right];
        (void)combine(joiner->weights, a->weight, b->weight, &next->weight);
        (void)combine(joiner->costs, a->cost, b->cost, &next->cost);
        if (next->weight > joiner->capacity)
            return false;
        if (!is_beaten(joiner, next))
            return true;
    }
    return false;
}

static void sink(struct joiner *joiner, uint32_t place)
{
    struct stream *heap = joiner->heap, falling = heap[place];
    for (uint32_t child; (child = 2 * place + 1) < joiner->streams; place = child) {
        if (child + 1 < joiner->streams && compare(&heap[child + 1].next, &heap[child].next) < 0)
            child++;
        if (compare(&falling.next, &heap[child].next) <= 0)
            break;
        heap[place] = heap[child];
    }
    heap[place] = falling;
}

/* Keeps a point that is not beaten, in place of the last one where that weighs the same. */
static bool keep(struct joiner *joiner, const struct pim_front_point *point)
{
    if (joiner->count > 0 && joiner->kept[joiner->count - 1].weight == point->weight)
        joiner->count--;
    if (joiner->count == joiner->room) {
        size_t room = 2 * joiner->room + 64;
        struct pim_front_point *kept = realloc(joiner->kept, room * sizeof *kept);
        if (!kept)
            return false;
        joiner->kept = kept;
        joiner->room = room;
    }
    joiner->kept[joiner->count++] = *point;
    return true;
}

static bool join(struct joiner *joiner)
{
    const uint32_t fewer = joiner->a->count < joiner->b->count ? joiner->a->count : joiner->b->count;
    joiner->heap = calloc((size_t)fewer + 1, sizeof *joiner->heap);
    joiner->kept = calloc(1, sizeof *joiner->kept); /* of an empty front, too */
    joiner->room = 1;
    if (!joiner->heap || !joiner->kept)
        return false;
    for (uint32_t i = 0; i < fewer; i++) {
        joiner->heap[joiner->streams] = (struct stream){.fixed = i};
        joiner->streams += draw(joiner, &joiner->heap[joiner->streams]);
    }
    for (uint32_t place = joiner->streams / 2; place-- > 0;)
        sink(joiner, place);
    while (joiner->streams > 0) {
        struct stream *first = &joiner->heap[0];
        if (!is_beaten(joiner, &first->next) && !keep(joiner, &first->next))
            return false;
        first->moving++;
        if (!draw(joiner, first))
            *first = joiner->heap[--joiner->streams];
        sink(joiner, 0);
    }
    return true;
}

/* Whether no sum is beyond SUM_MOST: that of the heaviest points is not, nor that of the dearest. */
static bool sums_fit(const struct joiner *joiner)
{
    const struct pim_front *a = joiner->a, *b = joiner->b;
    uint64_t sum;
    return a->count == 0 || b->count == 0 ||
           (combine(joiner->weights, a->points[a->count - 1].weight, b->points[b->count - 1].weight, &sum) &&
            combine(joiner->costs, a->points[0].cost, b->points[0].cost, &sum));
}

enum pim_status pim_front_join(const struct pim_front *a, const struct pim_front *b,
                               enum pim_front_rule weights, enum pim_front_rule costs, uint64_t capacity,
                               struct pim_front *front, struct pim_error *error)
{
    struct joiner joiner = {.a = a, .b = b, .weights = weights, .costs = costs, .capacity = capacity};
    *front = (struct pim_front){0};
    if ((uint64_t)a->count * b->count > PIM_FRONT_POINTS)
        return pim_fail(error, PIM_BAD_INPUT,
                        "fronts of %" PRIu32 " and %" PRIu32 " points: at most %d pairs can be joined",
                        a->count, b->count, PIM_FRONT_POINTS);
    if (!sums_fit(&joiner))
        return pim_fail(error, PIM_BAD_INPUT, "a sum of weights or costs is beyond %" PRIu64, SUM_MOST);
    const bool done = join(&joiner);
    free(joiner.heap);
    *front = (struct pim_front){joiner.kept, joiner.count};
    if (done)
        return PIM_OK;
    pim_front_terminate(front);
    return no_room(joiner.count, error);
}

enum pim_status pim_front_unite(const struct pim_front *const *parts, uint32_t count, struct pim_front *front,
                                struct pim_error *error)
{
    uint64_t all = 0;
    uint32_t made = 0;
    *front = (struct pim_front){0};
    for (uint32_t i = 0; i < count; i++)
        all += parts[i]->count;
    if (all > PIM_FRONT_POINTS)
        return pim_fail(error, PIM_BAD_INPUT, "%" PRIu64 " points: at most %d can be united", all,
                        PIM_FRONT_POINTS);
    struct pim_front_point *points = calloc((size_t)all + 1, sizeof *points);
    if (!points)
        return no_room(all, error);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < parts[i]->count; j++)
            points[made++] =
                (struct pim_front_point){parts[i]->points[j].weight, parts[i]->points[j].cost, i, j};
    filter(front, points, made);
    return PIM_OK;
}

void pim_front_terminate(struct pim_front *front)
{
    free(front->points);
    *front = (struct pim_front){0};
}

/* --- the knapsack --- */

/* items[c]: the front of class c; front[c]: that of classes 0 to c. */
struct classes {
    struct pim_front *items, *front;
};

static void give_back(struct classes *classes, uint32_t count)
{
    for (uint32_t c = 0; c < count; c++) {
        if (classes->items)
            pim_front_terminate(&classes->items[c]);
        if (classes->front)
            pim_front_terminate(&classes->front[c]);
    }
    free(classes->items);
    free(classes->front);
}

static enum pim_status build(const struct pim_knapsack *knapsack, uint64_t capacity, struct classes *classes,
                             struct pim_error *error)
{
    uint32_t count = knapsack->classes;
    classes->items = calloc((size_t)count + 1, sizeof *classes->items);
    classes->front = calloc((size_t)count + 1, sizeof *classes->front);
    if (!classes->items || !classes->front)
        return no_room(count, error);
    const uint64_t nothing = 0;
    struct pim_front start;
    enum pim_status status = pim_front_of_items(&nothing, &nothing, 1, 0, &start, error);
    for (uint32_t c = 0; c < count && status == PIM_OK; c++) {
        uint32_t first = knapsack->first[c];
        status = pim_front_of_items(knapsack->weights + first, knapsack->costs + first,
                                    knapsack->first[c + 1] - first, capacity, &classes->items[c], error);
        if (status == PIM_OK)
            status = pim_front_join(c ? &classes->front[c - 1] : &start, &classes->items[c], PIM_FRONT_SUM,
                                    PIM_FRONT_SUM, capacity, &classes->front[c], error);
    }
    pim_front_terminate(&start);
    return status;
}

enum pim_status pim_knapsack_solve(const struct pim_knapsack *knapsack, uint64_t capacity, bool *found,
                                   uint64_t *cost, uint64_t *weight, uint32_t *choice,
                                   struct pim_error *error)
{
    struct classes classes = {0};
    uint32_t count = knapsack->classes;
    enum pim_status status = build(knapsack, capacity, &classes, error);
    *found = false;
    *cost = *weight = 0;
    if (status == PIM_OK && count == 0)
        *found = true;
    else if (status == PIM_OK && classes.front[count - 1].count > 0) {
        uint32_t at = classes.front[count - 1].count - 1; /* the dearest in weight costs least */
        *found = true;
        *cost = classes.front[count - 1].points[at].cost;
        *weight = classes.front[count - 1].points[at].weight;
        for (uint32_t c = count; c-- > 0;) {
            const struct pim_front_point *point = &classes.front[c].points[at];
            choice[c] = classes.items[c].points[point->right].left;
            at = point->left;
        }
    }
    give_back(&classes, count);
    return status;
}

enum pim_status pim_knapsack_front(const struct pim_knapsack *knapsack, uint64_t capacity,
                                   struct pim_front *front, struct pim_error *error)
{
    struct classes classes = {0};
    uint32_t count = knapsack->classes;
    *front = (struct pim_front){0};
    enum pim_status status = build(knapsack, capacity, &classes, error);
    if (status == PIM_OK && count > 0) {
        *front = classes.front[count - 1];
        classes.front[count - 1] = (struct pim_front){0};
    }
    give_back(&classes, count);
    return status;
}

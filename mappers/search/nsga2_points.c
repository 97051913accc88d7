/* Fronts, crowding, selection and volume of points; see nsga2.h. */
#include "mappers/search/nsga2.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

bool pim_dominates(const double *a, const double *b, uint32_t objectives)
{
    bool below = false;
    for (uint32_t i = 0; i < objectives; i++) {
        if (a[i] > b[i])
            return false;
        below = below || a[i] < b[i];
    }
    return below;
}

static enum pim_status no_room(uint32_t count, struct pim_error *error)
{
    return pim_fail(error, PIM_NO_MEMORY, "no memory for %" PRIu32 " points", count);
}

/* The figures of one objective with the indices of their points. */
struct figure {
    double value;
    uint32_t index;
};

static int compare(const void *left, const void *right)
{
    const struct figure *a = left, *b = right;
    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

enum pim_status pim_nsga2_fronts(const double *points, uint32_t count, uint32_t objectives, uint32_t *front,
                                 struct pim_error *error)
{
    uint32_t *above = calloc((size_t)count + 1, sizeof *above); /* points that dominate, not yet in a front */
    if (!above)
        return no_room(count, error);
    for (uint32_t i = 0; i < count; i++) {
        front[i] = UINT32_MAX;
        for (uint32_t j = 0; j < count; j++)
            above[i] +=
                pim_dominates(points + (size_t)j * objectives, points + (size_t)i * objectives, objectives);
    }
    uint32_t left = count;
    for (uint32_t number = 0; left > 0; number++) {
        for (uint32_t i = 0; i < count; i++)
            if (front[i] == UINT32_MAX && above[i] == 0) {
                front[i] = number;
                left--;
            }
        for (uint32_t i = 0; i < count && left > 0; i++)
            for (uint32_t j = 0; front[i] == number && j < count; j++)
                if (front[j] == UINT32_MAX)
                    above[j] -= pim_dominates(points + (size_t)i * objectives,
                                              points + (size_t)j * objectives, objectives);
    }
    free(above);
    return PIM_OK;
}

/* One objective of one front, sorted. */
static void crowd(const struct figure *figures, uint32_t count, double *crowding)
{
    double extent = figures[count - 1].value - figures[0].value;
    crowding[figures[0].index] = HUGE_VAL;
    crowding[figures[count - 1].index] = HUGE_VAL;
    for (uint32_t i = 1; i + 1 < count && extent > 0 && isfinite(extent); i++)
        crowding[figures[i].index] += (figures[i + 1].value - figures[i - 1].value) / extent;
}

enum pim_status pim_nsga2_crowding(const double *points, uint32_t count, uint32_t objectives,
                                   const uint32_t *front, double *crowding, struct pim_error *error)
{
    struct figure *figures = calloc((size_t)count + 1, sizeof *figures);
    if (!figures)
        return no_room(count, error);
    uint32_t fronts = 0;
    for (uint32_t i = 0; i < count; i++) {
        crowding[i] = 0;
        fronts = front[i] >= fronts ? front[i] + 1 : fronts;
    }
    for (uint32_t number = 0; number < fronts; number++)
        for (uint32_t k = 0; k < objectives; k++) {
            uint32_t members = 0;
            for (uint32_t i = 0; i < count; i++)
                if (front[i] == number)
                    figures[members++] = (struct figure){points[(size_t)i * objectives + k], i};
            if (members == 0)
                continue;
            qsort(figures, members, sizeof *figures, compare);
            crowd(figures, members, crowding);
        }
    free(figures);
    return PIM_OK;
}

struct rank {
    uint32_t front, index;
    double crowding;
};

static int compare_ranks(const void *left, const void *right)
{
    const struct rank *a = left, *b = right;
    if (a->front != b->front)
        return a->front < b->front ? -1 : 1;
    if (a->crowding != b->crowding)
        return a->crowding > b->crowding ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

enum pim_status pim_nsga2_select(uint32_t count, const uint32_t *front, const double *crowding, uint32_t keep,
                                 uint32_t *selected, struct pim_error *error)
{
    struct rank *ranks = calloc((size_t)count + 1, sizeof *ranks);
    if (!ranks)
        return no_room(count, error);
    for (uint32_t i = 0; i < count; i++)
        ranks[i] = (struct rank){front[i], i, crowding[i]};
    qsort(ranks, count, sizeof *ranks, compare_ranks);
    for (uint32_t i = 0; i < keep && i < count; i++)
        selected[i] = ranks[i].index;
    free(ranks);
    return PIM_OK;
}

/* --- volume --- */

/* Area that points[index] of the first `count` figures dominate in the last two objectives; they come by the
   first of the two ascending. */
static double area(const double *points, uint32_t objectives, const struct figure *figures, uint32_t count,
                   const double *reference)
{
    double covered = 0, height = reference[objectives - 1];
    for (uint32_t i = 0; i < count; i++) {
        const double *point = points + (size_t)figures[i].index * objectives;
        if (point[objectives - 1] >= height)
            continue;
        covered += (reference[objectives - 2] - point[objectives - 2]) * (height - point[objectives - 1]);
        height = point[objectives - 1];
    }
    return covered;
}

/* The points within the box, by objective `by`. Returns how many. */
static uint32_t gather(const double *points, uint32_t count, uint32_t objectives, const double *reference,
                       uint32_t by, double most, struct figure *figures)
{
    uint32_t members = 0;
    for (uint32_t i = 0; i < count; i++) {
        const double *point = points + (size_t)i * objectives;
        bool inside = point[0] <= most;
        for (uint32_t k = 0; k < objectives; k++)
            inside = inside && point[k] < reference[k];
        if (inside)
            figures[members++] = (struct figure){point[by], i};
    }
    if (members > 0)
        qsort(figures, members, sizeof *figures, compare);
    return members;
}

enum pim_status pim_hypervolume(const double *points, uint32_t count, uint32_t objectives,
                                const double *reference, double *volume, struct pim_error *error)
{
    assert(objectives == 2 || objectives == 3);
    struct figure *figures = calloc((size_t)count + 1, sizeof *figures),
                  *slices = calloc((size_t)count + 1, sizeof *slices);
    *volume = 0;
    if (figures && slices && objectives == 2) {
        uint32_t members = gather(points, count, 2, reference, 0, HUGE_VAL, figures);
        *volume = area(points, 2, figures, members, reference);
    } else if (figures && slices) {
        uint32_t steps = gather(points, count, 3, reference, 0, HUGE_VAL, slices);
        for (uint32_t i = 0; i < steps; i++) {
            double from = slices[i].value, to = i + 1 < steps ? slices[i + 1].value : reference[0];
            if (to > from) {
                uint32_t members = gather(points, count, 3, reference, 1, from, figures);
                *volume += (to - from) * area(points, 3, figures, members, reference);
            }
        }
    }
    bool enough = figures && slices;
    free(figures);
    free(slices);
    return enough ? PIM_OK : no_room(count, error);
}

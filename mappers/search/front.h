/*
 * Fronts of cost and weight, and the knapsack by classes, exactly.
 *
 * A front is the set of pairs (weight, cost) that are worth having: weights ascend, costs fall. From the
 * fronts of parts the front of the whole is made by joining (both parts are needed) and uniting (one of them
 * is). What joining adds and of what it takes the larger is free, so that nested choices are solved as well:
 * the best candidate of every layer in every region of every segment.
 *
 * A front remembers what each of its points was made of, so that the choice can be read back.
 *
 * Rules of dominated points: of equal pairs the one that was made first stands, and pairs are made in the
 * order of the first part, then the second.
 */
#ifndef PIMSIM_MAPPERS_SEARCH_FRONT_H
#define PIMSIM_MAPPERS_SEARCH_FRONT_H

#include "sim/status.h"

#include <stdbool.h>
#include <stdint.h>

struct pim_front_point {
    uint64_t weight, cost;
    uint32_t left, right; /* of the two parts; of a front of items: the item, and 0 */
};

struct pim_front {
    struct pim_front_point *points;
    uint32_t count; /* 0: nothing fits */
};

enum pim_front_rule { PIM_FRONT_SUM, PIM_FRONT_LARGER };

/* Pairs that two fronts may have to be joined. Most are never made; what is beyond is chosen with rounded
 * sizes (docs/mappers/nicepim.md), and a larger limit would change plans. */
enum { PIM_FRONT_POINTS = 1 << 22 };

/* The front of `count` items to choose from, as far as they weigh at most `capacity`. PIM_NO_MEMORY. */
enum pim_status pim_front_of_items(const uint64_t *weights, const uint64_t *costs, uint32_t count,
                                   uint64_t capacity, struct pim_front *front, struct pim_error *error);

/*
 * Both of two parts; `left` and `right` of a point are its points in `a` and `b`. Points above the capacity
 * are left out. PIM_BAD_INPUT when there are more than PIM_FRONT_POINTS pairs to join or a sum is beyond
 * 2^63; PIM_NO_MEMORY.
 */
enum pim_status pim_front_join(const struct pim_front *a, const struct pim_front *b,
                               enum pim_front_rule weights, enum pim_front_rule costs, uint64_t capacity,
                               struct pim_front *front, struct pim_error *error);

/* One of `count` parts; `left` of a point is the number of its part, `right` its point there. */
enum pim_status pim_front_unite(const struct pim_front *const *parts, uint32_t count, struct pim_front *front,
                                struct pim_error *error);

void pim_front_terminate(struct pim_front *front);

/* --- the knapsack by classes --- */

/* Classes c = 0 to classes - 1 have the items first[c] to first[c + 1] - 1 of the two lists. */
struct pim_knapsack {
    uint32_t classes;
    const uint32_t *first;
    const uint64_t *weights, *costs;
};

/*
 * One item of each class, with the least sum of costs whose weights add up to at most `capacity`; of choices
 * with that cost one of the least weight. *found is false when nothing fits. choice[c] is the number of the
 * item in its class, from 0. Errors as pim_front_join().
 */
enum pim_status pim_knapsack_solve(const struct pim_knapsack *knapsack, uint64_t capacity, bool *found,
                                   uint64_t *cost, uint64_t *weight, uint32_t *choice,
                                   struct pim_error *error);

/* The front of all choices up to a capacity; the caller terminates it. Its parts are gone: left and right
 * mean nothing. */
enum pim_status pim_knapsack_front(const struct pim_knapsack *knapsack, uint64_t capacity,
                                   struct pim_front *front, struct pim_error *error);

#endif

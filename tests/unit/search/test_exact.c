/* Exact methods against recorded optima and enumeration: knapsacks, nested choices, labels. */
#include "mappers/search/front.h"
#include "mappers/search/labels.h"
#include "sim/random.h"
#include "tests/unit/search/suites.h"
#include "tests/unit/test_main.h"

#include <stdlib.h>
#include <string.h>

enum { ITEMS = 512, CLASSES = 64 };

static struct pim_error problem_of;

/* --- knapsacks --- */

struct sack {
    uint64_t weights[ITEMS], costs[ITEMS];
    uint32_t first[CLASSES + 1];
    struct pim_knapsack knapsack;
};

static void hold_solution(const struct sack *sack, FILE *file, const char *name)
{
    uint32_t choice[CLASSES];
    uint64_t cost, weight, capacity = next_count(file), sum_cost = 0, sum_weight = 0;
    bool found, feasible = next_count(file) != 0;
    uint64_t wanted = next_count(file), least = next_count(file);
    ck_assert(pim_knapsack_solve(&sack->knapsack, capacity, &found, &cost, &weight, choice, &problem_of) ==
              PIM_OK);
    ck_assert_msg(found == feasible, "%s at %llu", name, (unsigned long long)capacity);
    if (!found)
        return;
    ck_assert_uint_eq(cost, wanted);
    ck_assert_uint_eq(weight, least);
    for (uint32_t c = 0; c < sack->knapsack.classes; c++) {
        ck_assert_uint_lt(choice[c], sack->first[c + 1] - sack->first[c]);
        sum_cost += sack->costs[sack->first[c] + choice[c]];
        sum_weight += sack->weights[sack->first[c] + choice[c]];
    }
    ck_assert_uint_eq(sum_cost, cost);
    ck_assert_uint_eq(sum_weight, weight);
}

START_TEST(knapsacks_as_recorded)
{
    FILE *file = open_data("mckp.txt");
    char word[64], name[64];
    unsigned cases = 0;
    for (; next_word(file, word); cases++) {
        struct sack sack = {.knapsack = {0}};
        struct pim_front front;
        ck_assert(strcmp(word, "case") == 0 && next_word(file, name));
        uint32_t classes = (uint32_t)next_count(file), solutions = (uint32_t)next_count(file), items = 0;
        ck_assert(classes <= CLASSES);
        for (uint32_t c = 0; c < classes; c++) {
            for (uint32_t n = (uint32_t)next_count(file); n > 0; n--, items++) {
                sack.weights[items] = next_count(file);
                sack.costs[items] = next_count(file);
            }
            sack.first[c + 1] = items;
        }
        sack.knapsack = (struct pim_knapsack){classes, sack.first, sack.weights, sack.costs};
        for (uint32_t i = 0; i < solutions; i++)
            hold_solution(&sack, file, name);
        ck_assert(next_word(file, word) && strcmp(word, "front") == 0);
        uint32_t points = (uint32_t)next_count(file);
        ck_assert(pim_knapsack_front(&sack.knapsack, UINT64_MAX, &front, &problem_of) == PIM_OK);
        ck_assert_uint_eq(front.count, points);
        for (uint32_t i = 0; i < points; i++) {
            ck_assert_uint_eq(front.points[i].weight, next_count(file));
            ck_assert_uint_eq(front.points[i].cost, next_count(file));
        }
        pim_front_terminate(&front);
    }
    ck_assert_uint_eq(cases, 7);
    ck_assert(fclose(file) == 0);
}
END_TEST

/* --- nested choices --- */

/* Replaces `front` by its join with another, which is given back. */
static void join(struct pim_front *front, struct pim_front *other, bool first, enum pim_front_rule rule,
                 uint64_t capacity)
{
    struct pim_front joined;
    if (first) {
        *front = *other;
        return;
    }
    ck_assert(pim_front_join(front, other, rule, rule, capacity, &joined, &problem_of) == PIM_OK);
    pim_front_terminate(front);
    pim_front_terminate(other);
    *front = joined;
}

static struct pim_front read_segment(FILE *file, uint64_t capacity)
{
    struct pim_front choices[16], front;
    const struct pim_front *parts[16];
    uint32_t count = (uint32_t)next_count(file);
    ck_assert(count <= 16);
    for (uint32_t m = 0; m < count; m++) {
        uint32_t regions = (uint32_t)next_count(file);
        for (uint32_t r = 0; r < regions; r++) {
            struct pim_front region = {0};
            uint32_t layers = (uint32_t)next_count(file);
            for (uint32_t l = 0; l < layers; l++) {
                uint64_t weights[64], costs[64];
                struct pim_front layer;
                uint32_t candidates = (uint32_t)next_count(file);
                ck_assert(candidates <= 64);
                for (uint32_t i = 0; i < candidates; i++) {
                    costs[i] = next_count(file);
                    weights[i] = next_count(file);
                }
                ck_assert(pim_front_of_items(weights, costs, candidates, capacity, &layer, &problem_of) ==
                          PIM_OK);
                join(&region, &layer, l == 0, PIM_FRONT_SUM, capacity);
            }
            join(&choices[m], &region, r == 0, PIM_FRONT_LARGER, capacity);
        }
        parts[m] = &choices[m];
    }
    ck_assert(pim_front_unite(parts, count, &front, &problem_of) == PIM_OK);
    for (uint32_t m = 0; m < count; m++)
        pim_front_terminate(&choices[m]);
    return front;
}

START_TEST(nested_choices_as_recorded)
{
    FILE *file = open_data("nested.txt");
    char word[64];
    unsigned cases = 0;
    for (; next_word(file, word); cases++) {
        struct pim_front front = {0};
        ck_assert(strcmp(word, "case") == 0);
        uint64_t id = next_count(file), capacity = next_count(file), segments = next_count(file);
        bool feasible = next_count(file) != 0;
        uint64_t latency = next_count(file);
        for (uint64_t s = 0; s < segments; s++) {
            struct pim_front segment = read_segment(file, capacity);
            join(&front, &segment, s == 0, PIM_FRONT_SUM, capacity);
        }
        ck_assert_msg((front.count > 0) == feasible, "case %llu", (unsigned long long)id);
        if (feasible)
            ck_assert_uint_eq(front.points[front.count - 1].cost, latency);
        pim_front_terminate(&front);
    }
    ck_assert_uint_eq(cases, 49);
    ck_assert(fclose(file) == 0);
}
END_TEST

/* A front of up to `most` points with many equal weights and costs. */
static struct pim_front draw_front(struct pim_random *random, uint32_t most)
{
    uint64_t weights[48], costs[48], range = 1 + pim_random_below(random, 60);
    struct pim_front front;
    uint32_t count = (uint32_t)pim_random_below(random, most + 1);
    for (uint32_t i = 0; i < count; i++) {
        weights[i] = pim_random_below(random, range);
        costs[i] = pim_random_below(random, range);
    }
    ck_assert(pim_front_of_items(weights, costs, count, UINT64_MAX, &front, &problem_of) == PIM_OK);
    return front;
}

/* Whether a pair of points beats another, or is the same and was made before. */
static bool beats(const struct pim_front_point *a, const struct pim_front_point *b)
{
    if (a->weight > b->weight || a->cost > b->cost)
        return false;
    if (a->weight < b->weight || a->cost < b->cost)
        return true;
    return a->left < b->left || (a->left == b->left && a->right < b->right);
}

static uint64_t combined(enum pim_front_rule rule, uint64_t a, uint64_t b)
{
    return rule == PIM_FRONT_SUM ? a + b : a > b ? a : b;
}

static bool has_point(const struct pim_front *front, const struct pim_front_point *point)
{
    for (uint32_t k = 0; k < front->count; k++)
        if (memcmp(&front->points[k], point, sizeof *point) == 0)
            return true;
    return false;
}

/* All pairs, and of these those that no other beats. */
static void expect_joined(const struct pim_front *a, const struct pim_front *b, enum pim_front_rule weights,
                          enum pim_front_rule costs, uint64_t capacity, const struct pim_front *joined)
{
    struct pim_front_point *pairs = calloc((size_t)a->count * b->count + 1, sizeof *pairs);
    uint32_t count = 0, found = 0;
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t j = 0; j < b->count; j++)
            pairs[count++] =
                (struct pim_front_point){combined(weights, a->points[i].weight, b->points[j].weight),
                                         combined(costs, a->points[i].cost, b->points[j].cost), i, j};
    for (uint32_t i = 0; i < count; i++) {
        bool worth = pairs[i].weight <= capacity;
        for (uint32_t j = 0; j < count && worth; j++)
            worth = i == j || !beats(&pairs[j], &pairs[i]);
        if (!worth)
            continue;
        found++;
        ck_assert_msg(has_point(joined, &pairs[i]), "pair %u of %u", i, count);
    }
    ck_assert_uint_eq(found, joined->count);
    for (uint32_t k = 1; k < joined->count; k++)
        ck_assert(joined->points[k - 1].weight < joined->points[k].weight);
    free(pairs);
}

START_TEST(joins_are_those_of_all_pairs)
{
    struct pim_random random;
    pim_random_initialize(&random, 20261128 + (uint64_t)_i);
    struct pim_front a = draw_front(&random, 48), b = draw_front(&random, _i % 2 ? 48 : 6), joined;
    const uint64_t capacity = pim_random_below(&random, 4) ? pim_random_below(&random, 100) : UINT64_MAX;
    for (int rules = 0; rules < 4; rules++) {
        const enum pim_front_rule weights = rules & 1 ? PIM_FRONT_LARGER : PIM_FRONT_SUM,
                                  costs = rules & 2 ? PIM_FRONT_LARGER : PIM_FRONT_SUM;
        ck_assert(pim_front_join(&a, &b, weights, costs, capacity, &joined, &problem_of) == PIM_OK);
        expect_joined(&a, &b, weights, costs, capacity, &joined);
        pim_front_terminate(&joined);
    }
    pim_front_terminate(&a);
    pim_front_terminate(&b);
}
END_TEST

START_TEST(fronts_refuse_what_is_too_large)
{
    const uint64_t huge[] = {UINT64_MAX / 2}, one[] = {1};
    struct pim_front a, b, c;
    ck_assert(pim_front_of_items(huge, one, 1, UINT64_MAX, &a, &problem_of) == PIM_OK);
    ck_assert(pim_front_of_items(one, one, 1, UINT64_MAX, &b, &problem_of) == PIM_OK);
    ck_assert(pim_front_join(&a, &b, PIM_FRONT_SUM, PIM_FRONT_SUM, UINT64_MAX, &c, &problem_of) ==
              PIM_BAD_INPUT);
    pim_front_terminate(&a);
    pim_front_terminate(&b);
}
END_TEST

/* --- labels --- */

/* Shortest path from 0 to n - 1 through all places, as a path over sets of visited places. */
static uint64_t tour_by_labels(const uint64_t *distance, uint32_t n, bool closed)
{
    uint32_t ends = n, sets = 1U << n, arcs = 0, last = sets * ends;
    struct pim_label_arc *arc = calloc((size_t)sets * n * n + n, sizeof *arc);
    const uint64_t limit[PIM_LABEL_RESOURCES] = {0};
    struct pim_label_path path;
    ck_assert_ptr_nonnull(arc);
    for (uint32_t set = 1; set < sets; set += 2) /* 0 is in all of them */
        for (uint32_t at = 0; at < n; at++) {
            if (!(set >> at & 1))
                continue;
            for (uint32_t to = 1; to < n; to++)
                if (!(set >> to & 1))
                    arc[arcs++] = (struct pim_label_arc){(set - 1) * ends + at,
                                                         ((set | 1U << to) - 1) * ends + to,
                                                         distance[at * n + to],
                                                         {0}};
            if (set == sets - 1 && (closed || at == n - 1))
                arc[arcs++] =
                    (struct pim_label_arc){(set - 1) * ends + at, last, closed ? distance[at * n] : 0, {0}};
        }
    ck_assert_msg(pim_label_path(last + 1, arc, arcs, limit, &path, &problem_of) == PIM_OK, "%s",
                  problem_of.text);
    ck_assert(path.found);
    ck_assert_uint_eq(path.count, n);
    uint64_t cost = 0;
    for (uint32_t i = 0; i < path.count; i++)
        cost += arc[path.arcs[i]].cost;
    ck_assert_uint_eq(cost, path.cost);
    free(path.arcs);
    free(arc);
    return cost;
}

START_TEST(tours_by_labels)
{
    FILE *file = open_data("tours.txt");
    char word[64], name[64];
    unsigned cases = 0;
    while (next_word(file, word)) {
        uint64_t distance[32 * 32];
        ck_assert(strcmp(word, "tour") == 0 && next_word(file, name));
        uint32_t n = (uint32_t)next_count(file);
        uint64_t cycle = next_count(file), path;
        (void)next_count(file);
        path = next_count(file);
        ck_assert(n <= 32);
        for (uint32_t i = 0; i < n * n; i++)
            distance[i] = next_count(file);
        if (n > 11)
            continue;
        cases++;
        ck_assert_uint_eq(tour_by_labels(distance, n, true), cycle);
        ck_assert_uint_eq(tour_by_labels(distance, n, false), path);
    }
    ck_assert_uint_ge(cases, 5);
    ck_assert(fclose(file) == 0);
}
END_TEST

/* Every path of a small graph, by recursion. */
struct brute {
    const struct pim_label_arc *arcs;
    uint32_t count, last;
    const uint64_t *limit;
    uint64_t best;
};

static void go_on(struct brute *brute, uint32_t node, uint64_t cost, uint64_t a, uint64_t b)
{
    if (a > brute->limit[0] || b > brute->limit[1])
        return;
    if (node == brute->last && cost < brute->best)
        brute->best = cost;
    for (uint32_t i = 0; i < brute->count; i++)
        if (brute->arcs[i].from == node)
            go_on(brute, brute->arcs[i].to, cost + brute->arcs[i].cost, a + brute->arcs[i].resource[0],
                  b + brute->arcs[i].resource[1]);
}

START_TEST(labels_are_all_paths)
{
    struct pim_random random;
    pim_random_initialize(&random, 20251122);
    for (unsigned round = 0; round < 300; round++) {
        struct pim_label_arc arcs[24];
        uint32_t nodes = 2 + (uint32_t)pim_random_below(&random, 6);
        const uint64_t limit[PIM_LABEL_RESOURCES] = {pim_random_below(&random, 25),
                                                     pim_random_below(&random, 25), 0};
        for (uint32_t i = 0; i < 24; i++) {
            uint32_t from = (uint32_t)pim_random_below(&random, nodes - 1);
            arcs[i] =
                (struct pim_label_arc){from,
                                       from + 1 + (uint32_t)pim_random_below(&random, nodes - 1 - from),
                                       pim_random_below(&random, 10),
                                       {pim_random_below(&random, 10), pim_random_below(&random, 10), 0}};
        }
        struct brute brute = {arcs, 24, nodes - 1, limit, UINT64_MAX};
        struct pim_label_path path;
        go_on(&brute, 0, 0, 0, 0);
        ck_assert(pim_label_path(nodes, arcs, 24, limit, &path, &problem_of) == PIM_OK);
        ck_assert_msg(path.found == (brute.best != UINT64_MAX), "round %u", round);
        if (path.found)
            ck_assert_uint_eq(path.cost, brute.best);
        free(path.arcs);
    }
}
END_TEST

START_TEST(arcs_lead_upwards)
{
    const struct pim_label_arc back = {1, 1, 1, {0}};
    const uint64_t limit[PIM_LABEL_RESOURCES] = {0};
    struct pim_label_path path;
    ck_assert(pim_label_path(2, &back, 1, limit, &path, &problem_of) == PIM_BAD_INPUT);
}
END_TEST

Suite *search_exact_suite(void)
{
    Suite *suite = suite_create("search_exact");
    TCase *tests = tcase_create("exact");
    tcase_add_test(tests, knapsacks_as_recorded);
    tcase_add_test(tests, nested_choices_as_recorded);
    tcase_add_test(tests, fronts_refuse_what_is_too_large);
    tcase_add_loop_test(tests, joins_are_those_of_all_pairs, 0, PIM_DRAWS(400));
    tcase_add_test(tests, tours_by_labels);
    tcase_add_test(tests, labels_are_all_paths);
    tcase_add_test(tests, arcs_lead_upwards);
    suite_add_tcase(suite, tests);
    return suite;
}

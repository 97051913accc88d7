/* Cycles of sharing sets: evaluation, bounds, search, reading. */
#include "mappers/nicepim/cycles/cycles_memory.h"
#include "mappers/nicepim/cycles/internal.h"
#include "sim/random.h"
#include "tests/unit/nicepim/suites.h"

#include <stdlib.h>
#include <string.h>

static struct pim_sharing read_case(const json_t *test)
{
    struct pim_error error = {0};
    struct pim_sharing sharing;
    ck_assert_msg(pim_sharing_read(test, &sharing, &error) == PIM_OK, "%s", error.text);
    return sharing;
}

static struct pim_cycles solve(const struct pim_sharing *sharing, uint64_t steps)
{
    struct pim_error error = {0};
    struct pim_cycles cycles;
    struct pim_cycles_options options = pim_cycles_defaults();
    options.steps = steps;
    options.solver = "none";
    ck_assert_msg(pim_cycles_solve(sharing, &options, &cycles, &error) == PIM_OK, "%s", error.text);
    ck_assert_msg(pim_cycles_check(sharing, cycles.order, &error) == PIM_OK, "%s", error.text);
    uint64_t load, hops;
    pim_cycles_evaluate(sharing, cycles.order, &load, &hops);
    ck_assert_uint_eq(load, cycles.max_load);
    ck_assert_uint_eq(hops, cycles.hops);
    ck_assert(cycles.load_bound <= load && cycles.hops_bound <= hops);
    return cycles;
}

START_TEST(golden_cycles_cost_what_the_file_says)
{
    json_t *root = nicepim_golden("scheduler.json");
    ck_assert_uint_eq(json_array_size(root), 56);
    for (size_t i = 0; i < json_array_size(root); i++) {
        const json_t *test = json_array_get(root, i), *cycles = json_object_get(test, "cycles");
        struct pim_sharing sharing = read_case(test);
        uint32_t *order = calloc(sharing.start[sharing.set_count], sizeof *order);
        for (size_t s = 0; s < sharing.set_count; s++) {
            const json_t *cycle = json_array_get(cycles, s);
            ck_assert_uint_eq(json_array_size(cycle), sharing.start[s + 1] - sharing.start[s]);
            for (size_t k = 0; k < json_array_size(cycle); k++)
                order[sharing.start[s] + k] = (uint32_t)json_integer_value(json_array_get(cycle, k));
        }
        struct pim_error error = {0};
        uint64_t load, hops;
        ck_assert_int_eq(pim_cycles_check(&sharing, order, &error), PIM_OK);
        pim_cycles_evaluate(&sharing, order, &load, &hops);
        ck_assert_uint_eq(load, (uint64_t)nicepim_integer(test, "max_load"));
        ck_assert_uint_eq(hops, (uint64_t)nicepim_integer(test, "hops"));
        free(order);
        pim_sharing_terminate(&sharing);
    }
    json_decref(root);
}
END_TEST

/* Bounds are bounds: never above what is proved, and tours exact where they are said to be. */
START_TEST(bounds_hold_for_golden_cases)
{
    json_t *root = nicepim_golden("scheduler.json");
    size_t exact = 0;
    for (size_t i = 0; i < json_array_size(root); i++) {
        const json_t *test = json_array_get(root, i), *golden = json_object_get(test, "shortest_tours");
        struct pim_sharing sharing = read_case(test);
        struct pim_error error = {0};
        uint64_t *tours = calloc(sharing.set_count, sizeof *tours), bound;
        enum pim_cycles_proof proof;
        ck_assert_int_eq(sharing_tours(&sharing, tours, &error), PIM_OK);
        for (size_t s = 0; s < sharing.set_count; s++) {
            uint64_t shortest = (uint64_t)json_integer_value(json_array_get(golden, s));
            ck_assert_uint_le(tours[s], shortest);
            if (sharing.start[s + 1] - sharing.start[s] <= 13) {
                ck_assert_uint_eq(tours[s], shortest);
                exact++;
            }
        }
        uint64_t sum = sharing_tours_sum(&sharing, tours);
        ck_assert_uint_le(sum, (uint64_t)nicepim_integer(test, "hops_of_shortest_tours"));
        ck_assert_int_eq(sharing_load_bound(&sharing, sum, &bound, &proof, &error), PIM_OK);
        ck_assert_uint_le(bound, (uint64_t)nicepim_integer(test, "max_load"));
        ck_assert_uint_ge(bound, (uint64_t)nicepim_integer(test, "rectangle_bound"));
        free(tours);
        pim_sharing_terminate(&sharing);
    }
    ck_assert_uint_gt(exact, 100);
    json_decref(root);
}
END_TEST

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* What needs no solver and few steps: the golden optimum, with its proof. */
START_TEST(cases_with_cheap_proofs_are_optimal)
{
    json_t *root = nicepim_golden("scheduler.json");
    size_t proved = 0;
    for (size_t i = 0; i < json_array_size(root); i++) {
        const json_t *test = json_array_get(root, i);
        const char *name = json_string_value(json_object_get(test, "name"));
        bool wanted = strstr(name, "inter2x2") || strstr(name, "inter4x4") || strstr(name, "block") ||
                      strstr(name, "rows") || strstr(name, "_wr_") || starts_with(name, "4x4_fig5") ||
                      starts_with(name, "4x4_one") || starts_with(name, "8x8_one");
        if (!wanted || strstr(name, "8x8_block"))
            continue;
        struct pim_sharing sharing = read_case(test);
        struct pim_cycles cycles = solve(&sharing, 400000);
        ck_assert_msg(cycles.max_load == (uint64_t)nicepim_integer(test, "max_load"), "%s: load %lu", name,
                      (unsigned long)cycles.max_load);
        ck_assert_msg(cycles.hops == (uint64_t)nicepim_integer(test, "hops"), "%s: %lu hops", name,
                      (unsigned long)cycles.hops);
        proved += cycles.max_load == cycles.load_bound && cycles.hops == cycles.hops_bound;
        pim_cycles_terminate(&cycles);
        pim_sharing_terminate(&sharing);
    }
    ck_assert_uint_ge(proved, 15);
    json_decref(root);
}
END_TEST

/* The three cases of the paper's Fig. 12 cost nothing: the construction meets both bounds. */
START_TEST(sets_that_are_grids_need_no_search)
{
    static const char *const names[] = {"4x4_one16", "8x8_inter2x2", "16x16_inter4x4"};
    static const uint64_t loads[] = {1, 1, 2}, hops[] = {16, 128, 1024};
    json_t *root = nicepim_golden("scheduler.json");
    size_t found = 0;
    for (size_t i = 0; i < json_array_size(root); i++) {
        const json_t *test = json_array_get(root, i);
        for (size_t k = 0; k < 3; k++) {
            if (strcmp(json_string_value(json_object_get(test, "name")), names[k]) != 0)
                continue;
            struct pim_sharing sharing = read_case(test);
            struct pim_cycles cycles = solve(&sharing, 0);
            ck_assert_uint_eq(cycles.max_load, loads[k]);
            ck_assert_uint_eq(cycles.load_bound, loads[k]);
            ck_assert_uint_eq(cycles.hops, hops[k]);
            ck_assert_uint_eq(cycles.hops_bound, hops[k]);
            struct pim_cycles tours;
            struct pim_error error = {0};
            const struct pim_cycles_options options = pim_cycles_defaults();
            ck_assert_int_eq(pim_cycles_shortest_tours(&sharing, &options, &tours, &error), PIM_OK);
            ck_assert_uint_eq(tours.hops, hops[k]);
            ck_assert_uint_ge(tours.max_load, loads[k]);
            /* Translated alike, interleaved sets pile up on the same links: the paper's point. */
            ck_assert_uint_eq(tours.max_load, (uint64_t)1 << k);
            pim_cycles_terminate(&tours);
            pim_cycles_terminate(&cycles);
            pim_sharing_terminate(&sharing);
            found++;
        }
    }
    ck_assert_uint_eq(found, 3);
    json_decref(root);
}
END_TEST

static struct pim_sharing read_text(const char *text)
{
    struct pim_error error = {0};
    json_t *root;
    ck_assert_int_eq(pim_json_parse("case", text, strlen(text), &root, &error), PIM_OK);
    struct pim_sharing sharing = read_case(root);
    json_decref(root);
    return sharing;
}

START_TEST(small_sets_have_the_cycles_they_must)
{
    /* One member: nothing to send. Two: there and back. Four in a square: no arcs to themselves. */
    struct pim_sharing sharing = read_text("{\"rows\":3,\"cols\":4,\"sets\":[[[0,0]],[[0,0],[2,3]],[[1,1],[1,"
                                           "2],[2,2],[2,1]]],\"weights\":[9,1,1]}");
    struct pim_cycles cycles = solve(&sharing, 10000);
    ck_assert_uint_eq(cycles.hops, 10 + 4);
    ck_assert_uint_eq(cycles.max_load, 1);
    ck_assert_uint_eq(cycles.load_bound, 1);
    pim_cycles_terminate(&cycles);
    pim_sharing_terminate(&sharing);
    sharing = read_text("{\"rows\":1,\"cols\":1,\"sets\":[[[0,0]]]}");
    cycles = solve(&sharing, 10000);
    ck_assert_uint_eq(cycles.hops, 0);
    ck_assert_uint_eq(cycles.max_load, 0);
    pim_cycles_terminate(&cycles);
    pim_sharing_terminate(&sharing);
}
END_TEST

/* All orders of one random set, by hand: the annealing finds the least load and the least hops. */
static void permute(const struct pim_sharing *sharing, uint32_t *order, size_t at, uint64_t best[2])
{
    size_t count = sharing->start[1];
    if (at == count) {
        uint64_t load, hops;
        pim_cycles_evaluate(sharing, order, &load, &hops);
        if (load < best[0] || (load == best[0] && hops < best[1])) {
            best[0] = load;
            best[1] = hops;
        }
        return;
    }
    for (size_t i = at; i < count; i++) {
        uint32_t member = order[at];
        order[at] = order[i];
        order[i] = member;
        permute(sharing, order, at + 1, best);
        order[i] = order[at];
        order[at] = member;
    }
}

START_TEST(small_random_sets_match_enumeration)
{
    struct pim_random random;
    pim_random_initialize(&random, 31);
    for (int round = 0; round < 20; round++) {
        uint32_t node[7];
        size_t start[2] = {0, 3 + (size_t)pim_random_below(&random, 5)};
        uint64_t weight = 1 + pim_random_below(&random, 3), best[2] = {UINT64_MAX, UINT64_MAX};
        struct pim_sharing sharing = {
            .rows = 4, .columns = 5, .set_count = 1, .start = start, .node = node, .weight = &weight};
        uint32_t all[20], order[7];
        for (uint32_t i = 0; i < 20; i++)
            all[i] = i;
        pim_random_shuffle(&random, all, 20, sizeof all[0]);
        memcpy(node, all, sizeof node);
        for (uint32_t i = 0; i < 7; i++)
            order[i] = i;
        permute(&sharing, order, 1, best);
        struct pim_cycles cycles = solve(&sharing, 60000);
        ck_assert_uint_eq(cycles.max_load, best[0]);
        ck_assert_uint_eq(cycles.hops, best[1]);
        pim_cycles_terminate(&cycles);
    }
}
END_TEST

START_TEST(the_same_seed_gives_the_same_cycles)
{
    json_t *root = nicepim_golden("scheduler.json");
    struct pim_sharing sharing = read_case(json_array_get(root, 9)); /* 4x4_weighted_3: search needed */
    struct pim_cycles one = solve(&sharing, 50000), two = solve(&sharing, 50000);
    ck_assert_int_eq(memcmp(one.order, two.order, sharing.start[sharing.set_count] * sizeof *one.order), 0);
    pim_cycles_terminate(&one);
    pim_cycles_terminate(&two);
    pim_sharing_terminate(&sharing);
    json_decref(root);
}
END_TEST

/* Random sets that are asked for again and again, some of them alike but for a weight, a node or the mesh, by
 * turns in one memory: each time what the solver finds. */
START_TEST(what_is_remembered_is_what_was_found)
{
    enum { CASES = 40, TURNS = 3 };
    struct pim_cycles_memory *memory = pim_cycles_memory_create();
    struct pim_cycles_options options = pim_cycles_defaults();
    struct pim_error error = {0};
    ck_assert_ptr_nonnull(memory);
    options.steps = 300;
    options.solver = "none";
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        for (uint32_t c = 0; c < CASES; c++) {
            uint32_t node[] = {0, 5, 10, 3, 1, 6, 11, 12 + c / 4 % 4}, order[8];
            size_t start[] = {0, c / 16 + 2, 8};
            uint64_t weight[] = {1 + c % 2, 3};
            const struct pim_sharing sharing = {4, 4 + c % 4 / 2, 2, start, node, weight};
            struct pim_cycles cycles = solve(&sharing, options.steps);
            ck_assert_int_eq(pim_cycles_recall(memory, &sharing, &options, order, &error), PIM_OK);
            ck_assert_mem_eq(order, cycles.order, sizeof order);
            pim_cycles_terminate(&cycles);
        }
    }
    pim_cycles_memory_destroy(memory);
}
END_TEST

/* Stops when it has been asked so often. */
static bool stop_at(void *context)
{
    uint64_t *left = context;
    *left -= *left > 0;
    return *left == 0;
}

/* A search that is stopped gives cycles, the bounds that are known by then, and what it had found: with more
 * time never less. What would take for ever ends. */
START_TEST(a_stopped_search_gives_the_best_so_far)
{
    json_t *root = nicepim_golden("scheduler.json");
    struct pim_sharing sharing = read_case(json_array_get(root, 5)); /* 4x4_random_1: a load of 2, bound 1 */
    uint64_t before = UINT64_MAX;
    for (uint64_t looks = 1; looks <= 4096; looks *= 8) {
        struct pim_error error = {0};
        struct pim_cycles cycles;
        struct pim_cycles_options options = pim_cycles_defaults();
        uint64_t left = looks;
        options.steps = UINT64_C(1) << 60;
        options.solver = "none";
        options.stop = stop_at;
        options.stop_context = &left;
        ck_assert_int_eq(pim_cycles_solve(&sharing, &options, &cycles, &error), PIM_OK);
        ck_assert_uint_eq(left, 0);
        ck_assert_int_eq(pim_cycles_check(&sharing, cycles.order, &error), PIM_OK);
        ck_assert(cycles.load_bound == 1 && cycles.max_load <= before);
        before = cycles.max_load;
        pim_cycles_terminate(&cycles);
        left = looks;
        ck_assert_int_eq(pim_cycles_shortest_tours(&sharing, &options, &cycles, &error), PIM_OK);
        ck_assert_int_eq(pim_cycles_check(&sharing, cycles.order, &error), PIM_OK);
        pim_cycles_terminate(&cycles);
    }
    ck_assert_uint_eq(before, 2);
    pim_sharing_terminate(&sharing);
    json_decref(root);
}
END_TEST

START_TEST(bad_cases_are_refused)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"[]", "the case is not an object"},
        {"{\"rows\":2,\"sets\":[[[0,0]]]}", "cols is missing"},
        {"{\"rows\":0,\"cols\":2,\"sets\":[[[0,0]]]}", "rows is not an integer from 1 to 32"},
        {"{\"rows\":2.5,\"cols\":2,\"sets\":[[[0,0]]]}", "rows is not an integer"},
        {"{\"rows\":2,\"cols\":2}", "sets is not a list"},
        {"{\"rows\":2,\"cols\":2,\"sets\":[]}", "sets is not a list"},
        {"{\"rows\":2,\"cols\":2,\"sets\":[[]]}", "sets[0] is not a list of nodes, one at least"},
        {"{\"rows\":2,\"cols\":2,\"sets\":[[[0,0]],[[0,2]]]}", "sets[1]: the column of a node"},
        {"{\"rows\":2,\"cols\":2,\"sets\":[[[0,0],[0,0]]]}", "node [0, 0] stands twice"},
        {"{\"rows\":2,\"cols\":2,\"sets\":[[[0]]]}", "a node is not [row, column]"},
        {"{\"rows\":2,\"cols\":2,\"sets\":[[[0,0]]],\"weights\":[1,1]}", "weights is not a list of 1"},
        {"{\"rows\":2,\"cols\":2,\"sets\":[[[0,0]]],\"weights\":[0]}", "weights[0] is not an integer from 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pim_error error = {0};
        struct pim_sharing sharing;
        json_t *root;
        ck_assert_int_eq(pim_json_parse("case", cases[i].text, strlen(cases[i].text), &root, &error), PIM_OK);
        ck_assert_int_eq(pim_sharing_read(root, &sharing, &error), PIM_BAD_INPUT);
        ck_assert_msg(strstr(error.text, cases[i].message) != NULL, "case %zu: %s", i, error.text);
        json_decref(root);
    }
    struct pim_sharing sharing = read_text("{\"rows\":2,\"cols\":2,\"sets\":[[[0,0],[1,1]]]}");
    struct pim_error error = {0};
    ck_assert_int_eq(pim_cycles_check(&sharing, (uint32_t[]){0, 0}, &error), PIM_BAD_INPUT);
    ck_assert_int_eq(pim_cycles_check(&sharing, (uint32_t[]){0, 2}, &error), PIM_BAD_INPUT);
    struct pim_cycles cycles;
    struct pim_cycles_options options = pim_cycles_defaults();
    options.solver = "abacus";
    ck_assert_int_eq(pim_cycles_solve(&sharing, &options, &cycles, &error), PIM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "abacus"));
    pim_sharing_terminate(&sharing);
}
END_TEST

Suite *nicepim_cycles_suite(void)
{
    Suite *suite = suite_create("cycles");
    TCase *tests = tcase_create("cycles");
    tcase_add_test(tests, golden_cycles_cost_what_the_file_says);
    tcase_add_test(tests, bounds_hold_for_golden_cases);
    tcase_add_test(tests, cases_with_cheap_proofs_are_optimal);
    tcase_add_test(tests, sets_that_are_grids_need_no_search);
    tcase_add_test(tests, small_sets_have_the_cycles_they_must);
    tcase_add_test(tests, small_random_sets_match_enumeration);
    tcase_add_test(tests, the_same_seed_gives_the_same_cycles);
    tcase_add_test(tests, what_is_remembered_is_what_was_found);
    tcase_add_test(tests, a_stopped_search_gives_the_best_so_far);
    tcase_add_test(tests, bad_cases_are_refused);
    suite_add_tcase(suite, tests);
    return suite;
}

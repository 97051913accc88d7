/* The best three of a search against sorting all, with architectures that come again; and the folder of
 * traces, which nobody else's search removes. */
#include "tests/unit/tune/suites.h"
#include "tools/tune/best.h"
#include "tools/tune/folder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROUNDS = 200, LENGTH = 24, KINDS = 9 };

/* Costs by the number of an architecture: two of equal cost, one that fails. */
static const double costs[KINDS] = {5, 3, 8, 3, (double)INFINITY, 1, 9, 2, 7};

static void sort_kinds(const bool seen[KINDS], const uint64_t first[KINDS], unsigned order[KINDS],
                       unsigned *count)
{
    *count = 0;
    for (unsigned k = 0; k < KINDS; k++) {
        if (!seen[k] || !isfinite(costs[k]))
            continue;
        unsigned at = (*count)++;
        for (; at > 0 && (costs[k] < costs[order[at - 1]] ||
                          (costs[k] <= costs[order[at - 1]] && first[k] < first[order[at - 1]]));
             at--)
            order[at] = order[at - 1];
        order[at] = k;
    }
}

START_TEST(the_best_three_are_different_ones)
{
    struct pim_random random;
    pim_random_initialize(&random, 5);
    for (int round = 0; round < ROUNDS; round++) {
        struct pim_tune_best best = {.count = 0};
        bool seen[KINDS] = {false};
        uint64_t first[KINDS] = {0};
        ck_assert(isnan(pim_tune_best_mean_quality(&best)));
        for (uint64_t i = 0; i < LENGTH; i++) {
            unsigned order[KINDS], count, k = (unsigned)pim_random_below(&random, KINDS);
            const struct pim_tune_architecture architecture = {{(uint16_t)k, 1}};
            first[k] = seen[k] ? first[k] : i;
            seen[k] = true;
            pim_tune_best_count(&best, &architecture, i, costs[k]);
            sort_kinds(seen, first, order, &count);
            count = count < PIM_TUNE_BEST ? count : PIM_TUNE_BEST;
            ck_assert_uint_eq(best.count, count);
            double quality = 0;
            for (unsigned r = 0; r < count; r++) {
                ck_assert_uint_eq(best.rank[r].architecture.at[0], order[r]);
                ck_assert_uint_eq(best.rank[r].iteration, first[order[r]]);
                quality += 1 / costs[order[r]] / count;
            }
            if (count > 0) {
                ck_assert_double_eq(pim_tune_best_quality(&best), 1 / costs[order[0]]);
                ck_assert_double_eq_tol(pim_tune_best_mean_quality(&best), quality, 1e-12);
            }
        }
    }
}
END_TEST

static bool exists(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0;
}

START_TEST(what_killed_searches_left_is_removed)
{
    struct pim_tune_folder one, two;
    struct pim_error error = {0};
    char parent[] = "/tmp/pimsim-folder-XXXXXX", left[64], other[64], file[128];
    ck_assert_ptr_nonnull(mkdtemp(parent));
    ck_assert_int_eq(setenv("TMPDIR", parent, 1), 0);
    (void)snprintf(left, sizeof left, "%s/pimsim-tune-abcdef", parent);
    (void)snprintf(other, sizeof other, "%s/pimsim-tune-abcdefg", parent); /* not a name of ours */
    ck_assert(mkdir(left, 0700) == 0 && mkdir(other, 0700) == 0);
    static const char *const names[] = {"3-0.trace", ".pimsim-77-0.tmp"}; /* one was not finished */
    for (unsigned i = 0; i < 2; i++) {
        (void)snprintf(file, sizeof file, "%s/%s", left, names[i]);
        FILE *trace = fopen(file, "w");
        ck_assert_ptr_nonnull(trace);
        ck_assert_int_eq(fclose(trace), 0);
    }
    ck_assert_int_eq(pim_tune_folder_initialize(&one, &error), PIM_OK);
    ck_assert(!exists(left) && exists(other) && exists(one.path));
    ck_assert_int_eq(pim_tune_folder_initialize(&two, &error), PIM_OK); /* the first one is held */
    ck_assert(exists(one.path) && exists(two.path) && strcmp(one.path, two.path) != 0);
    pim_tune_folder_terminate(&one);
    pim_tune_folder_terminate(&two);
    pim_tune_folder_terminate(&two);
    ck_assert(rmdir(other) == 0 && rmdir(parent) == 0); /* nothing is left in it */
    ck_assert_int_eq(pim_tune_folder_initialize(&one, &error), PIM_IO);
    ck_assert_ptr_nonnull(strstr(error.text, parent));
}
END_TEST

Suite *best_suite(void)
{
    Suite *suite = suite_create("best");
    TCase *tcase = tcase_create("best");
    tcase_add_test(tcase, the_best_three_are_different_ones);
    tcase_add_test(tcase, what_killed_searches_left_is_removed);
    suite_add_tcase(suite, tcase);
    return suite;
}

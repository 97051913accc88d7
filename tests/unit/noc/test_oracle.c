/*
 * The plain router (oracle.h), the fast mesh and the general routers against each other: every column of
 * every packet, the flits and blocked cycles of every link. The plain router is held to the measured lists
 * as well, so what the two fast ones do under options of which no measured list is at hand is what the
 * rules say, read twice.
 */
#include "tests/unit/noc/cases.h"
#include "tests/unit/noc/oracle.h"
#include "tests/unit/noc/suites.h"

#include <stdio.h>
#include <stdlib.h>

enum { RANDOM = 80 };

START_TEST(measured_list)
{
    const int which = PIM_CASE(_i);
    struct pim_noc_configuration configuration = golden_configuration(which);
    struct list expected = list_read(golden_name(which)), found = list_copy(&expected);
    oracle_run(&configuration, &found, 5000, NULL);
    list_expect_same(&expected, &found, golden_name(which));
    list_free(&expected);
    list_free(&found);
}
END_TEST

static void compare_links(const struct pim_noc_configuration *configuration, const uint64_t *expected,
                          const uint64_t *found, const char *what)
{
    size_t places = (size_t)configuration->width * configuration->height * 6;
    for (size_t i = 0; i < 2 * places; i++)
        if (expected[i] != found[i])
            ck_abort_msg("%s: node %zu, direction %zu: %llu %s instead of %llu", what, i % places / 6, i % 6,
                         (unsigned long long)found[i], i < places ? "flits" : "blocked cycles",
                         (unsigned long long)expected[i]);
}

/* Runs a stimulus on all three. */
static void expect_agreement(struct pim_noc_configuration configuration, const struct list *stimulus,
                             const char *what)
{
    struct list plain = list_copy(stimulus), fast = list_copy(stimulus), general = list_copy(stimulus);
    uint64_t *plain_links, *fast_links;
    oracle_run(&configuration, &plain, UINT64_C(1) << 40, &plain_links);
    (void)list_run(&configuration, &fast, 61, &fast_links);
    list_expect_same(&plain, &fast, what);
    compare_links(&configuration, plain_links, fast_links, what);
    configuration.general = true;
    (void)list_run(&configuration, &general, 61, NULL);
    list_expect_same(&plain, &general, what);
    free(plain_links);
    free(fast_links);
    list_free(&plain);
    list_free(&fast);
    list_free(&general);
}

START_TEST(random_case)
{
    struct pim_random random;
    pim_random_initialize(&random, 5150 + (uint64_t)_i);
    struct pim_noc_configuration configuration = random_mesh(&random);
    struct list list = random_short_packets(&random, &configuration);
    char what[64];
    (void)snprintf(what, sizeof what, "seed %d", 5150 + _i);
    expect_agreement(configuration, &list, what);
    list_free(&list);
}
END_TEST

Suite *oracle_suite(void)
{
    Suite *suite = suite_create("noc_oracle");
    TCase *tests = tcase_create("plain router");
    tcase_add_loop_test(tests, measured_list, 0, PIM_CASES(GOLDEN_LISTS));
    tcase_add_loop_test(tests, random_case, 0, PIM_DRAWS(RANDOM));
    suite_add_tcase(suite, tests);
    return suite;
}

/*
 * The general routers on a mesh: the cycles of the lists measured on BookSim 2, and those of the fast mesh
 * under all options that both have, packet for packet and link for link.
 */
#include "tests/unit/noc_general/suites.h"
#include "tests/unit/noc_general/support.h"

#include <stdio.h>
#include <stdlib.h>

enum { RANDOM = 160 };

/* --- BookSim's lists --- */

START_TEST(golden_list)
{
    struct pim_noc_configuration configuration = golden_configuration(_i);
    configuration.general = true;
    ck_assert(pim_noc_configuration_is_general(&configuration));
    struct list expected = list_read(golden_name(_i)), found = list_copy(&expected);
    (void)list_run(&configuration, &found, 211, NULL);
    list_expect_same(&expected, &found, golden_name(_i));
    list_free(&expected);
    list_free(&found);
}
END_TEST

/* --- the fast mesh --- */

START_TEST(random_case)
{
    struct pim_random random;
    pim_random_initialize(&random, 31001 + (uint64_t)_i);
    struct pim_noc_configuration configuration = random_mesh(&random);
    uint32_t nodes = configuration.width * configuration.height;
    struct list fast = random_list(&random, nodes), general = list_copy(&fast), stepped = list_copy(&fast);
    struct links fast_links, links;
    char what[64];
    (void)snprintf(what, sizeof what, "seed %d", 31001 + _i);
    run(&configuration, &fast, (struct run_options){.links = &fast_links});
    configuration.general = true;
    run(&configuration, &general, (struct run_options){.links = &links, .check_period = 29});
    list_expect_same(&fast, &general, what);
    ck_assert_uint_eq(fast_links.count, links.count);
    for (size_t i = 0; i < links.count; i++) {
        const struct pim_noc_link_use *expected = &fast_links.link[i], *found = &links.link[i];
        if (expected->from != found->from || expected->to != found->to || expected->flits != found->flits ||
            expected->blocked_cycles != found->blocked_cycles)
            ck_abort_msg("%s: link %u->%u: %llu flits, blocked %llu; expected are %u->%u, %llu, %llu", what,
                         found->from, found->to, (unsigned long long)found->flits,
                         (unsigned long long)found->blocked_cycles, expected->from, expected->to,
                         (unsigned long long)expected->flits, (unsigned long long)expected->blocked_cycles);
    }
    configuration.step_every_cycle = true;
    (void)list_run(&configuration, &stepped, 499, NULL);
    list_expect_same(&general, &stepped, what);
    free(fast_links.link);
    free(links.link);
    list_free(&fast);
    list_free(&general);
    list_free(&stepped);
}
END_TEST

Suite *equal_suite(void)
{
    Suite *suite = suite_create("noc_general_equal");
    TCase *tests = tcase_create("mesh");
    tcase_add_loop_test(tests, golden_list, 0, GOLDEN_LISTS);
    tcase_add_loop_test(tests, random_case, 0, RANDOM);
    suite_add_tcase(suite, tests);
    return suite;
}

/* The ideal and the analytic fidelity: by hand, and beside the flit-level mesh where all three must agree. */
#include "tests/unit/noc/suites.h"

#include "sim/random.h"

#include <stdlib.h>

static struct pim_noc_configuration with(enum pim_noc_fidelity fidelity)
{
    struct pim_noc_configuration configuration;
    pim_noc_configuration_initialize(&configuration);
    configuration.fidelity = fidelity;
    return configuration;
}

START_TEST(source_sends_a_flit_a_cycle)
{
    struct pim_noc_configuration configuration = with(PIM_NOC_IDEAL);
    struct list list = {0};
    list_add(&list, 0, 0, 1, 10);
    list_add(&list, 0, 0, 9, 5);
    list_add(&list, 100, 0, 0, 1);
    (void)list_run(&configuration, &list, 0, NULL);
    static const uint64_t heads[] = {0, 10, 100}, tails[] = {9, 14, 100},
                          arrived[] = {12 + 9, 10 + 17 + 4, 107};
    for (size_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(list.packets[i].head_injected, heads[i]);
        ck_assert_uint_eq(list.packets[i].tail_injected, tails[i]);
        ck_assert_uint_eq(list.packets[i].tail_arrived, arrived[i]);
    }
    list_free(&list);
}
END_TEST

/* Two worms over the same link: the ideal one lets both pass, the analytic one after the other. */
START_TEST(links_are_held)
{
    struct list ideal = {0}, analytic = {0};
    list_add(&ideal, 0, 0, 3, 100);
    list_add(&ideal, 0, 1, 3, 50);
    analytic = list_copy(&ideal);
    struct pim_noc_configuration configuration = with(PIM_NOC_IDEAL);
    uint64_t *links;
    (void)list_run(&configuration, &ideal, 0, &links);
    ck_assert_uint_eq(ideal.packets[0].tail_arrived, 22 + 99);
    ck_assert_uint_eq(ideal.packets[1].tail_arrived, 17 + 49);
    ck_assert_uint_eq(links[1 * 6 + PIM_NOC_EAST], 150);
    ck_assert_uint_eq(links[3 * 6 + PIM_NOC_EJECT], 150);
    free(links);
    configuration.fidelity = PIM_NOC_ANALYTIC;
    (void)list_run(&configuration, &analytic, 0, NULL);
    ck_assert_uint_eq(analytic.packets[0].tail_arrived, 22 + 99);
    /* The first head passes link 1->2 in cycle 6 + 5 and holds it for 100; then there are 2 hops and the
     * terminal. */
    ck_assert_uint_eq(analytic.packets[1].head_arrived, 11 + 100 + 11);
    ck_assert_uint_eq(analytic.packets[1].tail_arrived, 11 + 100 + 11 + 49);
    list_free(&ideal);
    list_free(&analytic);
}
END_TEST

/* Where packets meet nobody, all fidelities agree on every column; the links count the same flits in any
 * case. */
START_TEST(fidelities_agree_without_contention)
{
    struct pim_random random;
    pim_random_initialize(&random, 4711);
    struct pim_noc_configuration configuration = with(PIM_NOC_FLIT);
    configuration.width = 7;
    configuration.height = 3;
    configuration.routing_delay = 2;
    configuration.switch_traversal_delay = 2;
    configuration.buffer_flits = 16;
    struct list flit = {0};
    uint64_t cycle = 0;
    for (unsigned i = 0; i < 200; i++) {
        uint64_t flits = 1 + pim_random_below(&random, 90);
        list_add(&flit, cycle, (uint32_t)pim_random_below(&random, 21),
                 (uint32_t)pim_random_below(&random, 21), flits);
        cycle += 100 + flits;
    }
    uint64_t *links, *others;
    (void)list_run(&configuration, &flit, 0, &links);
    for (int fidelity = PIM_NOC_IDEAL; fidelity <= PIM_NOC_ANALYTIC; fidelity++) {
        struct list list = list_copy(&flit);
        configuration.fidelity = (enum pim_noc_fidelity)fidelity;
        (void)list_run(&configuration, &list, 0, &others);
        list_expect_same(&flit, &list, fidelity == PIM_NOC_IDEAL ? "ideal" : "analytic");
        for (size_t i = 0; i < 21 * 6; i++)
            ck_assert_uint_eq(links[i], others[i]);
        free(others);
        list_free(&list);
    }
    free(links);
    list_free(&flit);
}
END_TEST

Suite *estimate_suite(void)
{
    Suite *suite = suite_create("noc_estimate");
    TCase *tests = tcase_create("estimate");
    tcase_add_test(tests, source_sends_a_flit_a_cycle);
    tcase_add_test(tests, links_are_held);
    tcase_add_test(tests, fidelities_agree_without_contention);
    suite_add_tcase(suite, tests);
    return suite;
}

/* The ideal and the analytic fidelity: by hand, and beside the flit-level mesh where all three must agree. */
#include "tests/unit/noc/suites.h"

#include "sim/random.h"

#include <inttypes.h>
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

/* A long worm to a destination two links away, with buffers shorter than the credit loop: a buffer of flits
 * passes in each loop. */
START_TEST(a_buffer_of_flits_passes_in_a_credit_loop)
{
    enum { FLITS = 6000 };
    static const struct {
        enum pim_noc_topology_kind topology;
        uint32_t concentration, destination, output_speedup, channels;
        uint32_t routing, vc, grant, traversal, link, credit;
    } cases[] = {
        {PIM_NOC_MESH, 1, 2, 1, 1, 1, 1, 1, 1, 1, 0},  {PIM_NOC_TORUS, 1, 2, 1, 2, 1, 1, 1, 1, 1, 0},
        {PIM_NOC_MESH, 4, 8, 1, 1, 1, 1, 1, 1, 1, 0},  {PIM_NOC_MESH, 1, 2, 2, 1, 1, 1, 1, 1, 1, 0},
        {PIM_NOC_TORUS, 1, 2, 1, 2, 2, 1, 2, 3, 2, 3}, {PIM_NOC_MESH, 4, 8, 2, 1, 3, 2, 1, 2, 3, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (uint32_t buffer = 1; buffer <= 4; buffer++) {
            struct pim_noc_configuration configuration = with(PIM_NOC_FLIT);
            configuration.topology = cases[i].topology;
            configuration.concentration = cases[i].concentration;
            configuration.output_speedup = cases[i].output_speedup;
            configuration.virtual_channels = cases[i].channels;
            configuration.routing_delay = cases[i].routing;
            configuration.vc_allocation_delay = cases[i].vc;
            configuration.switch_allocation_delay = cases[i].grant;
            configuration.switch_traversal_delay = cases[i].traversal;
            configuration.link_latency = cases[i].link;
            configuration.credit_delay = cases[i].credit;
            configuration.buffer_flits = buffer;
            struct list list = {0};
            list_add(&list, 0, 0, cases[i].destination, FLITS);
            (void)list_run(&configuration, &list, 0, NULL);
            const uint64_t took = list.packets[0].tail_arrived - list.packets[0].head_arrived,
                           loops = FLITS / buffer * pim_noc_credit_loop(&configuration);
            ck_assert_msg(took <= loops && took + pim_noc_credit_loop(&configuration) >= loops,
                          "case %zu, buffer %u: %" PRIu64 " cycles, %" PRIu64 " by the loop", i, buffer, took,
                          loops);
            list_free(&list);
        }
    }
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
    tcase_add_test(tests, a_buffer_of_flits_passes_in_a_credit_loop);
    tcase_add_test(tests, fidelities_agree_without_contention);
    suite_add_tcase(suite, tests);
    return suite;
}

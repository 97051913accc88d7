/*
 * Blocked cycles of links, counted by hand. A cycle of a link is the one in which its flit wins the switch: a
 * head that is usable in cycle r asks for a virtual channel in r + 1 and for the switch in r + 2.
 */
#include "tests/unit/noc/suites.h"

#include <stdlib.h>

static struct pim_noc_configuration standard(void)
{
    struct pim_noc_configuration configuration;
    pim_noc_configuration_initialize(&configuration);
    configuration.virtual_channels = 8;
    return configuration;
}

struct expected {
    uint32_t node;
    enum pim_noc_direction direction;
    uint64_t cycles;
};

/* All links that are not in `expected` were never blocked. With and without sleeping routers. */
static void expect_blocked(struct pim_noc_configuration configuration, struct list *list,
                           const struct expected *expected, size_t count)
{
    for (int stepped = 0; stepped < 2; stepped++) {
        configuration.step_every_cycle = stepped;
        for (size_t i = 0; i < list->count; i++)
            list->packets[i].delivered = false;
        uint64_t *links;
        (void)list_run(&configuration, list, 0, &links);
        size_t all = (size_t)configuration.width * configuration.height * 6;
        for (size_t i = 0; i < all; i++) {
            uint64_t cycles = 0;
            for (size_t j = 0; j < count; j++)
                if (i == expected[j].node * 6 + expected[j].direction)
                    cycles = expected[j].cycles;
            ck_assert_msg(links[all + i] == cycles, "node %zu, direction %zu: %llu blocked cycles, not %llu",
                          i / 6, i % 6, (unsigned long long)links[all + i], (unsigned long long)cycles);
        }
        free(links);
    }
}

/* The stages of a router are no wait. */
START_TEST(alone)
{
    for (uint64_t flits = 1; flits <= 500; flits += 83) {
        struct list list = {0};
        list_add(&list, 0, 0, 63, flits);
        list_add(&list, 3000, 5, 5, flits);
        expect_blocked(standard(), &list, NULL, 0);
        list_free(&list);
    }
}
END_TEST

/* Two heads are usable at router 1 in cycle 7 and ask for virtual channels to the east in 8. One gets none,
 * and nobody has one before: nothing leaves in 8. The winner leaves in 9, the other one in 10. */
START_TEST(two_heads)
{
    static const struct expected expected[] = {{1, PIM_NOC_EAST, 1}};
    for (uint64_t flits = 1; flits <= 8; flits += 4) {
        struct list list = {0};
        list_add(&list, 0, 0, 2, flits);
        list_add(&list, 5, 1, 2, flits);
        expect_blocked(standard(), &list, expected, 1);
        list_free(&list);
    }
}
END_TEST

/*
 * Buffers of one flit. Flits win the switch of router 0 in cycles 4, 11, 18, 23, 28 ..., of router 1 in 9,
 * 16, 21, 26 ..., of router 2 in 14, 19, 24 ...: two cycles after the win the credit is upstream, and a
 * head needs two cycles more in each router than the flits behind it. A flit that leaves router 0 in cycle
 * s lets the terminal inject in s + 2, and that flit can leave in s + 4. So it waits for the credit of
 * router 1 in 8-10, 15-17, 22, 27 ...; at router 1 the second one waits in 14 and 15; the terminal waits in
 * 1-5, 7-12, 14-19, 21-24, 26-29 ...
 */
START_TEST(no_credits)
{
    struct pim_noc_configuration configuration = standard();
    configuration.buffer_flits = 1;
    for (uint64_t flits = 5; flits <= 500; flits += 165) { /* short and long packets */
        const struct expected expected[] = {{0, PIM_NOC_INJECT, 21 + 4 * (flits - 5)},
                                            {0, PIM_NOC_EAST, 8 + (flits - 5)},
                                            {1, PIM_NOC_EAST, 2}};
        struct list list = {0};
        list_add(&list, 0, 0, 2, flits);
        expect_blocked(configuration, &list, expected, 3);
        list_free(&list);
    }
}
END_TEST

/* The other fidelities have no buffers that fill. */
START_TEST(not_counted)
{
    struct pim_noc_configuration configuration = standard();
    configuration.fidelity = PIM_NOC_ANALYTIC;
    struct pim_noc *noc;
    struct pim_error error = {0};
    ck_assert_int_eq(pim_noc_create(&configuration, NULL, 1, NULL, &noc, &error), PIM_OK);
    ck_assert_uint_eq(pim_noc_link_blocked_cycles(noc, 0, PIM_NOC_EAST), UINT64_MAX);
    pim_noc_destroy(noc);
}
END_TEST

Suite *blocked_suite(void)
{
    Suite *suite = suite_create("noc_blocked");
    TCase *tests = tcase_create("blocked cycles of links");
    tcase_add_test(tests, alone);
    tcase_add_test(tests, two_heads);
    tcase_add_test(tests, no_credits);
    tcase_add_test(tests, not_counted);
    suite_add_tcase(suite, tests);
    return suite;
}

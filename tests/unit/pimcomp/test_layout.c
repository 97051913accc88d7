/* Layouts without a search. */
#include "tests/unit/pimcomp/cases.h"

#include <string.h>

START_TEST(first_fit_and_balance_hold_every_network)
{
    static const char *const names[] = {"vgg8", "resnet18", "resnet34", "googlenet", "squeezenet"};
    struct core_case c;
    core_case_begin(&c);
    c.architecture = core_architecture(14, 12, 96, 128, 16);
    core_case_network(&c, names[_i], NULL);
    core_case_map(&c, PIM_CORE_HIGH_THROUGHPUT, PIM_UNFOLDINGS, pim_core_layout_first);
    uint64_t first = pim_core_layout_arrays(&c.mapping);
    ck_assert_uint_eq(first, c.partition.arrays);
    core_case_map(&c, PIM_CORE_HIGH_THROUGHPUT, PIM_UNFOLDINGS, pim_core_layout_balance);
    uint64_t balanced = pim_core_layout_arrays(&c.mapping), all = (uint64_t)c.architecture.cores * 96;
    ck_assert_uint_gt(balanced, first);
    ck_assert_uint_le(balanced - first, (all - first) / 2);
    /* The layer with the most windows gained, and no layer has more replicas than windows. */
    for (uint32_t i = 0; i < c.network.count; i++) {
        ck_assert_uint_le(c.layout.layer[i].replicas, c.network.layer[i].windows);
        if (c.network.layer[i].windows == 1 && c.partition.layer[i].groups)
            ck_assert_uint_eq(c.layout.layer[i].replicas, 1);
    }
    core_case_end(&c);
}
END_TEST

/* Groups of 3 and 2 arrays in cores of 5: in the order of layers they leave gaps, by size they fit. */
START_TEST(fragments_are_packed_by_size)
{
    struct core_case c;
    core_case_begin(&c);
    c.architecture = core_architecture(2, 1, 5, 16, 16);
    uint32_t x = core_case_image(&c, 16, 4, 4);
    x = core_case_convolution(&c, "a", x, 32, 1, 1, 0);
    x = core_case_convolution(&c, "b", x, 16, 1, 1, 0); /* 2 groups of 1 */
    x = core_case_convolution(&c, "c", x, 48, 1, 1, 0);
    (void)core_case_convolution(&c, "d", x, 16, 1, 1, 0); /* 3 groups of 1 */
    core_case_lower(&c);
    core_case_map(&c, PIM_CORE_LOW_LATENCY, PIM_UNFOLDING_IKK_O_1, pim_core_layout_first);
    core_case_end(&c);
}
END_TEST

START_TEST(gaps_that_do_not_hold_a_group_are_reported)
{
    struct core_case c;
    struct pim_error error;
    core_case_begin(&c);
    c.architecture = core_architecture(3, 1, 3, 16, 16);
    uint32_t x = core_case_image(&c, 16, 4, 4);
    (void)core_case_convolution(&c, "a", x, 32, 2, 1, 0); /* 4 groups of 2 arrays in three cores of 3 */
    core_case_lower(&c);
    core_case_map(&c, PIM_CORE_LOW_LATENCY, PIM_UNFOLDING_IKK_O_1, NULL);
    ck_assert_int_eq(pim_core_layout_first(&c.mapping, &c.arena, &c.layout, &error), PIM_BAD_INPUT);
    ck_assert_msg(strstr(error.text, "2 arrays of groups find no room; 4 cores would do"), "%s", error.text);
    core_case_end(&c);
}
END_TEST

/* Groups of 3, 2 and 1 arrays in cores of 4: as many cores as are said to do hold them, one less does not. */
START_TEST(the_least_cores_hold_the_network_and_one_less_do_not)
{
    struct core_case c;
    struct pim_error error;
    core_case_begin(&c);
    c.architecture = core_architecture(8, 8, 4, 16, 16);
    uint32_t x = core_case_image(&c, 16, 4, 4);
    x = core_case_convolution(&c, "a", x, 48, 1, 1, 0);   /* a group of 3 */
    x = core_case_convolution(&c, "b", x, 32, 1, 1, 0);   /* 3 of 2 */
    x = core_case_convolution(&c, "c", x, 16, 1, 1, 0);   /* 2 of 1 */
    (void)core_case_convolution(&c, "d", x, 48, 2, 1, 0); /* 4 of 3 */
    core_case_lower(&c);
    core_case_map(&c, PIM_CORE_LOW_LATENCY, PIM_UNFOLDING_IKK_O_1, NULL);
    uint32_t least = pim_core_partition_least_cores(&c.network, &c.architecture, &c.partition, &c.arena);
    ck_assert_uint_eq(least, 7); /* 5 of 3, two with 1 beside them; 2 + 2 and 2 */
    for (uint32_t less = 0; less < 2; less++) {
        c.architecture.cores = least - less;
        ck_assert_int_eq(pim_core_layout_first(&c.mapping, &c.arena, &c.layout, &error),
                         less ? PIM_BAD_INPUT : PIM_OK);
    }
    core_case_end(&c);
}
END_TEST

Suite *layout_suite(void)
{
    Suite *suite = suite_create("layout");
    TCase *t = tcase_create("layout");
    tcase_add_loop_test(t, first_fit_and_balance_hold_every_network, 0, 5);
    tcase_add_test(t, fragments_are_packed_by_size);
    tcase_add_test(t, the_least_cores_hold_the_network_and_one_less_do_not);
    tcase_add_test(t, gaps_that_do_not_hold_a_group_are_reported);
    suite_add_tcase(suite, t);
    return suite;
}

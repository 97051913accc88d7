/* Layouts without a search. */
#include "mappers/pimcomp/cost/estimate.h"
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

/* Steps of a layer: windows for each replica, rounded up. */
static uint64_t steps_of(const struct core_case *c, const struct pim_core_layout *layout, uint32_t i)
{
    uint32_t replicas = layout->layer[i].replicas;
    return replicas ? (c->network.layer[i].windows + replicas - 1) / replicas : 0;
}

/* Every layer has as few replicas as its steps need, and the first layout is that of the fewest steps: one
 * less takes more arrays than there are. */
START_TEST(even_layouts_have_the_fewest_steps)
{
    enum { MOST = 5 };
    struct core_case c;
    struct pim_error error;
    struct pim_core_layout layout[MOST];
    uint32_t count;
    uint64_t before = 0, arrays = 0;
    core_case_small(&c);
    core_case_map(&c, PIM_CORE_HIGH_THROUGHPUT, PIM_UNFOLDINGS, NULL);
    ck_assert_int_eq(pim_core_layouts_even(&c.mapping, MOST, &c.arena, layout, &count, &error), PIM_OK);
    ck_assert_uint_eq(count, MOST);
    for (uint32_t n = 0; n < count; n++) {
        uint64_t steps = 0;
        for (uint32_t i = 0; i < c.network.count; i++)
            steps = steps_of(&c, &layout[n], i) > steps ? steps_of(&c, &layout[n], i) : steps;
        for (uint32_t i = 0; i < c.network.count; i++)
            if (c.partition.layer[i].groups)
                ck_assert_uint_eq(layout[n].layer[i].replicas,
                                  (c.network.layer[i].windows + steps - 1) / steps);
        ck_assert_uint_gt(steps, before);
        c.layout = layout[n];
        ck_assert_msg(pim_core_layout_check(&c.mapping, &error) == PIM_OK, "%s", error.text);
        if (n == 0)
            for (uint32_t i = 0; i < c.network.count; i++)
                arrays +=
                    (c.network.layer[i].windows + steps - 2) / (steps - 1) * c.partition.layer[i].arrays;
        before = steps;
    }
    ck_assert_uint_gt(arrays, (uint64_t)c.architecture.cores * c.architecture.arrays);
    core_case_end(&c);
}
END_TEST

/* A layer whose groups find no room even once has none. */
START_TEST(even_layouts_that_find_no_room)
{
    struct core_case c;
    struct pim_error error;
    struct pim_core_layout layout;
    uint32_t count = 7;
    core_case_small(&c);
    core_case_map(&c, PIM_CORE_HIGH_THROUGHPUT, PIM_UNFOLDINGS, NULL);
    c.architecture.cores = 1; /* of 12 arrays */
    ck_assert_int_eq(pim_core_layouts_even(&c.mapping, 1, &c.arena, &layout, &count, &error), PIM_OK);
    ck_assert_uint_eq(count, 0);
    core_case_end(&c);
}
END_TEST

/* The most windows that replicas of a core go through. */
static uint64_t most_windows(const struct core_case *c, const struct pim_core_layout *layout)
{
    uint64_t most = 0;
    for (uint32_t core = 0; core < c->architecture.cores; core++) {
        uint64_t windows = 0;
        for (uint32_t i = 0; i < c->network.count; i++)
            for (uint32_t r = 0; r < layout->layer[i].replicas; r++) {
                const uint32_t groups = c->partition.layer[i].groups;
                uint32_t here = 0;
                for (uint32_t g = 0; g < groups; g++)
                    here += layout->layer[i].core[(size_t)r * groups + g] == core;
                windows += here > 0 ? steps_of(c, layout, i) : 0;
            }
        most = windows > most ? windows : most;
    }
    return most;
}

/* The closed form of a layout. */
static uint64_t estimate(const struct core_case *c)
{
    struct pim_core_estimate result;
    struct pim_error error;
    ck_assert_msg(pim_core_estimate_layout(&c->mapping, &result, &error) == PIM_OK, "%s", error.text);
    return result.cycles;
}

/* A spread layout has the replicas of the other one, in room that there is, and its busiest core goes through
 * fewer windows; its closed form is shorter. */
START_TEST(spread_layouts_have_less_on_the_busiest_core)
{
    struct core_case c;
    struct pim_error error;
    struct pim_core_layout even, spread;
    uint32_t count;
    bool placed = false;
    core_case_small(&c);
    core_case_map(&c, PIM_CORE_LOW_LATENCY, PIM_UNFOLDINGS, NULL);
    ck_assert_int_eq(pim_core_layouts_even(&c.mapping, 1, &c.arena, &even, &count, &error), PIM_OK);
    ck_assert_int_eq(pim_core_layout_spread(&c.mapping, &even, (enum pim_core_spread)_i, &c.arena, &spread,
                                            &placed, &error),
                     PIM_OK);
    ck_assert(placed);
    for (uint32_t i = 0; i < c.network.count; i++)
        ck_assert_uint_eq(spread.layer[i].replicas, even.layer[i].replicas);
    ck_assert_uint_lt(most_windows(&c, &spread), most_windows(&c, &even));
    c.layout = even;
    const uint64_t before = estimate(&c);
    c.layout = spread;
    ck_assert_msg(pim_core_layout_check(&c.mapping, &error) == PIM_OK, "%s", error.text);
    ck_assert_uint_lt(estimate(&c), before);
    core_case_end(&c);
}
END_TEST

/* Where replicas lie in pieces, or one of each layer fills the cores, there may be no room: it is said. */
START_TEST(spread_layouts_that_find_no_room)
{
    struct core_case c;
    struct pim_error error;
    struct pim_core_layout spread;
    bool placed = true;
    core_case_small(&c);
    core_case_map(&c, PIM_CORE_LOW_LATENCY, PIM_UNFOLDINGS, pim_core_layout_first);
    c.architecture.cores = 1;
    ck_assert_int_eq(pim_core_layout_spread(&c.mapping, &c.layout, PIM_CORE_SPREAD_BY_GROUP, &c.arena,
                                            &spread, &placed, &error),
                     PIM_OK);
    ck_assert(!placed);
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
    tcase_add_test(t, even_layouts_have_the_fewest_steps);
    tcase_add_test(t, even_layouts_that_find_no_room);
    tcase_add_loop_test(t, spread_layouts_have_less_on_the_busiest_core, 0, PIM_CORE_SPREADS);
    tcase_add_test(t, spread_layouts_that_find_no_room);
    suite_add_tcase(suite, t);
    return suite;
}

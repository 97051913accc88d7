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

enum option { PLAIN, FOUR, SIXTEEN, SEPARABLE, TAIL_CREDIT, CREDIT_DELAY, LOOKAHEAD, SPECULATIVE, HOLD };

static const struct {
    const char *name;
    enum option option;
} golden[] = {
    {"m8_u_p1_r040", PLAIN},
    {"m8_u_p5_r038", PLAIN},
    {"m8_tr_p1_r013", PLAIN},
    {"m8_u_p1_r040_sif", SEPARABLE},
    {"m8_u_p5_r038_sif", SEPARABLE},
    {"m4_u_p1_v2b4_r050", FOUR},
    {"m8_u_mix15_wtc_r030", TAIL_CREDIT},
    {"m8_u_mix15_cd2_r030", CREDIT_DELAY},
    {"m8_u_mix15_rd0_r030", LOOKAHEAD},
    {"m8_u_mix15_spec_sif_r030", SPECULATIVE},
    {"m8_u_mix15_hold_r030", HOLD},
    {"m16_u_p1_r018", SIXTEEN},
};
enum { GOLDEN = sizeof golden / sizeof *golden };

static struct pim_noc_configuration configuration_of(enum option option)
{
    struct pim_noc_configuration configuration;
    pim_noc_configuration_initialize(&configuration);
    configuration.general = true;
    configuration.virtual_channels = option == FOUR ? 2 : 8;
    configuration.buffer_flits = option == FOUR ? 4 : 8;
    configuration.width = configuration.height = option == FOUR ? 4 : option == SIXTEEN ? 16 : 8;
    configuration.speculative = option == SPECULATIVE;
    if (option == SPECULATIVE || option == SEPARABLE)
        configuration.vc_allocator = configuration.switch_allocator = PIM_NOC_SEPARABLE_INPUT_FIRST;
    configuration.wait_for_tail_credit = option == TAIL_CREDIT;
    configuration.credit_delay = option == CREDIT_DELAY ? 2 : 0;
    configuration.routing_delay = option == LOOKAHEAD ? 0 : 1;
    configuration.hold_switch_for_packet = option == HOLD;
    return configuration;
}

START_TEST(golden_list)
{
    struct pim_noc_configuration configuration = configuration_of(golden[_i].option);
    ck_assert(pim_noc_configuration_is_general(&configuration));
    struct list expected = list_read(golden[_i].name), found = list_copy(&expected);
    (void)list_run(&configuration, &found, 211, NULL);
    list_expect_same(&expected, &found, golden[_i].name);
    list_free(&expected);
    list_free(&found);
}
END_TEST

/* --- the fast mesh --- */

static struct pim_noc_configuration random_configuration(struct pim_random *random)
{
    struct pim_noc_configuration configuration;
    pim_noc_configuration_initialize(&configuration);
    configuration.width = pick(random, 1, 6);
    configuration.height = pick(random, 1, 6);
    configuration.virtual_channels = chance(random, 4) ? pick(random, 1, 32) : pick(random, 1, 5);
    configuration.buffer_flits = chance(random, 4) ? pick(random, 1, 60) : pick(random, 1, 9);
    if (chance(random, 2)) {
        configuration.routing_delay = pick(random, 0, 3);
        configuration.switch_allocation_delay = pick(random, 1, 3);
        configuration.vc_allocation_delay = pick(random, 1, 3);
        configuration.switch_traversal_delay = pick(random, 1, 3);
        configuration.link_latency = pick(random, 1, 4);
        configuration.credit_delay = pick(random, 0, 3);
    }
    configuration.speculative = chance(random, 3);
    if (configuration.speculative &&
        configuration.vc_allocation_delay > configuration.switch_allocation_delay)
        configuration.vc_allocation_delay = configuration.switch_allocation_delay;
    configuration.hold_switch_for_packet = chance(random, 3);
    configuration.wait_for_tail_credit = chance(random, 3);
    configuration.vc_allocator = chance(random, 3) ? PIM_NOC_SEPARABLE_INPUT_FIRST : PIM_NOC_ISLIP;
    configuration.switch_allocator = chance(random, 3) ? PIM_NOC_SEPARABLE_INPUT_FIRST : PIM_NOC_ISLIP;
    configuration.allocator_iterations = chance(random, 2) ? 1 : pick(random, 2, 4);
    uint32_t speedup = chance(random, 3) ? pick(random, 1, 4) : 1;
    configuration.input_speedup = configuration.virtual_channels % speedup == 0 ? speedup : 1;
    return configuration;
}

START_TEST(random_case)
{
    struct pim_random random;
    pim_random_initialize(&random, 31001 + (uint64_t)_i);
    struct pim_noc_configuration configuration = random_configuration(&random);
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
    tcase_add_loop_test(tests, golden_list, 0, GOLDEN);
    tcase_add_loop_test(tests, random_case, 0, RANDOM);
    tcase_set_timeout(tests, 120);
    suite_add_tcase(suite, tests);
    return suite;
}

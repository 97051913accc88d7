/* Every packet list measured on BookSim 2, all columns of all packets, with and without sleeping routers. */
#include "tests/unit/noc/suites.h"

#include <stdio.h>

static struct pim_noc_configuration eight_by_eight(void)
{
    struct pim_noc_configuration configuration;
    pim_noc_configuration_initialize(&configuration);
    configuration.virtual_channels = 8;
    return configuration;
}

enum option { PLAIN, FOUR, SIXTEEN, SEPARABLE, TAIL_CREDIT, CREDIT_DELAY, LOOKAHEAD, SPECULATIVE, HOLD };

static const struct {
    const char *name;
    enum option option;
} golden[] = {
    {"m8_u_p1_r020", PLAIN},
    {"m8_u_p1_r040", PLAIN},
    {"m8_u_p5_r020", PLAIN},
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
    struct pim_noc_configuration configuration = eight_by_eight();
    switch (option) {
    case PLAIN:
        break;
    case FOUR:
        configuration.width = configuration.height = 4;
        configuration.virtual_channels = 2;
        configuration.buffer_flits = 4;
        break;
    case SIXTEEN:
        configuration.width = configuration.height = 16;
        break;
    case SPECULATIVE:
        configuration.speculative = true;
        configuration.vc_allocator = configuration.switch_allocator = PIM_NOC_SEPARABLE_INPUT_FIRST;
        break;
    case SEPARABLE:
        configuration.vc_allocator = configuration.switch_allocator = PIM_NOC_SEPARABLE_INPUT_FIRST;
        break;
    case TAIL_CREDIT:
        configuration.wait_for_tail_credit = true;
        break;
    case CREDIT_DELAY:
        configuration.credit_delay = 2;
        break;
    case LOOKAHEAD:
        configuration.routing_delay = 0;
        break;
    case HOLD:
        configuration.hold_switch_for_packet = true;
        break;
    }
    return configuration;
}

START_TEST(golden_list)
{
    struct pim_noc_configuration configuration = configuration_of(golden[_i % GOLDEN].option);
    configuration.step_every_cycle = _i >= GOLDEN;
    struct list expected = list_read(golden[_i % GOLDEN].name), found = list_copy(&expected);
    (void)list_run(&configuration, &found, 211, NULL);
    list_expect_same(&expected, &found, golden[_i % GOLDEN].name);
    list_free(&expected);
    list_free(&found);
}
END_TEST

Suite *golden_suite(void)
{
    Suite *suite = suite_create("noc_golden");
    TCase *lists = tcase_create("lists");
    tcase_add_loop_test(lists, golden_list, 0, 2 * GOLDEN);
    tcase_set_timeout(lists, 120);
    suite_add_tcase(suite, lists);
    return suite;
}

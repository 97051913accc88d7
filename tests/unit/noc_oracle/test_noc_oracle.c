/*
 * Every network against the oracle (oracle.h): random topologies, routings, routers and packets; every column
 * of every packet, the flits of every link and, where noc.md and noc-general.md say what they are, blocked
 * cycles. The evaluation that is chosen, asleep and stepped, and the plain one. PIMSIM_ORACLE_FIRST and
 * PIMSIM_ORACLE_CASES in the environment try others.
 */
#include "tests/unit/noc_oracle/oracle.h"
#include "tests/unit/noc_oracle/random_network.h"
#include "tests/unit/test_main.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { FIRST = 77001, RANDOM = 200 };

static void describe(const struct pim_noc_configuration *is, uint64_t seed, char *text, size_t size)
{
    (void)snprintf(text, size,
                   "seed %" PRIu64
                   " topology %u %ux%u depth %u c %u k %u n %u routing %u partition %u numbered %d | vcs %u "
                   "buffer %u R%u V%u S%u X%u D%u C%u spec %d hold %d wtc %d | va %u sa %u iter %u,%u,%u arb "
                   "%u,%u,%u prio "
                   "%u | is %u os %u ob %u link %u/%u term %u/%u classes %u message %d urgent %d",
                   seed, (unsigned)is->topology, is->width, is->height, is->depth, is->concentration,
                   is->radix, is->levels, (unsigned)is->routing, (unsigned)is->partition, is->numbered_draws,
                   is->virtual_channels, is->buffer_flits, is->routing_delay, is->vc_allocation_delay,
                   is->switch_allocation_delay, is->switch_traversal_delay, is->link_latency,
                   is->credit_delay, is->speculative, is->hold_switch_for_packet, is->wait_for_tail_credit,
                   (unsigned)is->vc_allocator, (unsigned)is->switch_allocator, is->allocator_iterations,
                   is->vc_iterations, is->switch_iterations, (unsigned)is->arbiter, (unsigned)is->vc_arbiter,
                   (unsigned)is->switch_arbiter, (unsigned)is->priority, is->input_speedup,
                   is->output_speedup, is->output_buffer_flits, is->link_bits.numerator,
                   is->link_bits.denominator, is->terminal_bits.numerator, is->terminal_bits.denominator,
                   is->classes, is->message_classes, is->urgent_classes);
}

/* Blocked cycles are compared where a head asks for one output alone, and a flit that wins passes at once. */
static void expect_links(const struct pim_noc_configuration *configuration, const struct links *expected,
                         struct links *found, const char *what)
{
    bool blocked = configuration->output_speedup == 1 && configuration->link_bits.numerator == 0 &&
                   configuration->routing != PIM_NOC_MINIMAL_ADAPTIVE &&
                   configuration->routing != PIM_NOC_WEST_FIRST && configuration->routing != PIM_NOC_ODD_EVEN;
    for (size_t i = 0; i < found->count && i < expected->count; i++) {
        found->link[i].busy_cycles = 0;
        if (!blocked)
            found->link[i].blocked_cycles = expected->link[i].blocked_cycles;
    }
    expect_same_links(expected, found, what);
    free(found->link);
}

static void compare(struct pim_noc_configuration configuration, const struct list *list,
                    const struct pim_noc_tag *tags, const struct list *expected,
                    const struct links *expected_links, const char *what, const char *how)
{
    char text[1024];
    struct list found = list_copy(list);
    struct links links;
    (void)snprintf(text, sizeof text, "%s, %s", what, how);
    run(&configuration, &found, (struct run_options){.tags = tags, .links = &links, .check_period = 211});
    list_expect_same(expected, &found, text);
    expect_links(&configuration, expected_links, &links, text);
    list_free(&found);
}

static void try_seed(uint64_t seed)
{
    char what[900];
    struct pim_random random;
    pim_random_initialize(&random, seed);
    struct pim_noc_configuration configuration = random_network(&random);
    struct list list = random_packets(&random, &configuration), expected = list_copy(&list);
    struct pim_noc_tag *tags = calloc(list.count + 1, sizeof *tags);
    struct links links;
    describe(&configuration, seed, what, sizeof what);
    for (size_t i = 0; i < list.count; i++) {
        tags[i] = (struct pim_noc_tag){.task = PIM_NOC_NO_TASK, .class = list.packets[i].message};
        expected.packets[i].message = list.packets[i].message;
    }
    ck_assert_msg(oracle_run(&configuration, &expected, &links), "stuck: %s", what);
    compare(configuration, &list, tags, &expected, &links, what, "as it is chosen");
    configuration.step_every_cycle = true;
    compare(configuration, &list, tags, &expected, &links, what, "stepped");
    configuration.general = true;
    configuration.step_every_cycle = false;
    compare(configuration, &list, tags, &expected, &links, what, "plain");
    remove_files(&configuration);
    free(links.link);
    free(tags);
    list_free(&list);
    list_free(&expected);
}

/* Flits that wait behind a crossbar for a link of a bit a cycle arrive more than a thousand cycles later. */
START_TEST(far_ahead)
{
    struct pim_noc_configuration configuration = general_mesh();
    struct list list = {0};
    configuration.width = 3;
    configuration.height = 1;
    configuration.virtual_channels = 2;
    configuration.buffer_flits = 31;
    configuration.output_speedup = 2;
    configuration.link_bits = (struct pim_noc_bits){1, 1};
    for (uint32_t i = 0; i < 40; i++)
        list_add(&list, i / 2, i % 2, 2, 1 + i % 16);
    struct list expected = list_copy(&list);
    struct links links;
    ck_assert(oracle_run(&configuration, &expected, &links));
    compare(configuration, &list, NULL, &expected, &links, "a slow link", "plain");
    free(links.link);
    list_free(&list);
    list_free(&expected);
}
END_TEST

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

START_TEST(random_network_case)
{
    try_seed(number_from("PIMSIM_ORACLE_FIRST", FIRST) + (uint64_t)_i);
}
END_TEST

void pimsim_suites(SRunner *runner)
{
    Suite *suite = suite_create("noc_oracle_random");
    TCase *tests = tcase_create("networks");
    tcase_add_loop_test(tests, random_network_case, 0,
                        (int)number_from("PIMSIM_ORACLE_CASES", PIM_DRAWS(RANDOM)));
    tcase_add_test(tests, far_ahead);
    suite_add_tcase(suite, tests);
    srunner_add_suite(runner, suite);
}

/*
 * Every network against the oracle (oracle.h): random topologies, routings, routers and packets; every column
 * of every packet; of every link the flits, the cycles they took and the blocked ones, of those of terminals
 * the flits and, on the fast mesh, the blocked cycles. The evaluation that is chosen, asleep and stepped, and
 * the plain one.
 * PIMSIM_ORACLE_FIRST and PIMSIM_ORACLE_CASES in the environment try others, CK_RUN_CASE one kind alone.
 */
#include "tests/unit/noc_oracle/oracle.h"
#include "tests/unit/noc_oracle/random_network.h"
#include "tests/unit/noc_oracle/suites.h"
#include "tests/unit/test_main.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { FIRST = 77001, NETWORKS = 70, MESHES = 60, USUALS = 30, LISTED = 60, MANY_PORTS = 12 };

void describe_network(const struct pim_noc_configuration *is, uint64_t seed, char *text, size_t size)
{
    (void)snprintf(
        text, size,
        "seed %" PRIu64
        " topology %u %ux%u depth %u c %u k %u n %u routing %u partition %u numbered %d | vcs %u "
        "buffer %u R%u V%u S%u X%u D%u C%u spec %d hold %d wtc %d | va %u sa %u iter %u,%u,%u arb "
        "%u,%u,%u prio "
        "%u | is %u os %u ob %u link %u/%u term %u/%u classes %u message %d urgent %d express %d "
        "links %d",
        seed, (unsigned)is->topology, is->width, is->height, is->depth, is->concentration, is->radix,
        is->levels, (unsigned)is->routing, (unsigned)is->partition, is->numbered_draws, is->virtual_channels,
        is->buffer_flits, is->routing_delay, is->vc_allocation_delay, is->switch_allocation_delay,
        is->switch_traversal_delay, is->link_latency, is->credit_delay, is->speculative,
        is->hold_switch_for_packet, is->wait_for_tail_credit, (unsigned)is->vc_allocator,
        (unsigned)is->switch_allocator, is->allocator_iterations, is->vc_iterations, is->switch_iterations,
        (unsigned)is->arbiter, (unsigned)is->vc_arbiter, (unsigned)is->switch_arbiter, (unsigned)is->priority,
        is->input_speedup, is->output_speedup, is->output_buffer_flits, is->link_bits.numerator,
        is->link_bits.denominator, is->terminal_bits.numerator, is->terminal_bits.denominator, is->classes,
        is->message_classes, is->urgent_classes, is->express_list[0] != 0, is->link_list[0] != 0);
}

struct answers {
    struct list list;
    struct links links, ends; /* of terminals: into the router, out of it */
};

static void expect_links(const struct links *expected, struct links *found, const char *what)
{
    expect_same_links(expected, found, what);
    free(found->link);
}

static void compare(struct pim_noc_configuration configuration, const struct list *list,
                    const struct pim_noc_tag *tags, const struct answers *expected, const char *what,
                    const char *how)
{
    char text[1024];
    struct answers found = {.list = list_copy(list)};
    (void)snprintf(text, sizeof text, "%s, %s", what, how);
    run(&configuration, &found.list,
        (struct run_options){.tags = tags, .links = &found.links, .ends = &found.ends, .check_period = 211});
    list_expect_same(&expected->list, &found.list, text);
    expect_links(&expected->links, &found.links, text);
    (void)snprintf(text, sizeof text, "%s, %s, terminals", what, how);
    for (size_t i = 0; i < found.ends.count; i++) /* these are counted on the fast mesh alone */
        if (found.ends.link[i].blocked_cycles == UINT64_MAX)
            found.ends.link[i].blocked_cycles = expected->ends.link[i].blocked_cycles;
    expect_links(&expected->ends, &found.ends, text);
    list_free(&found.list);
}

/* False: stuck. */
static bool ask_oracle(const struct pim_noc_configuration *configuration, const struct list *list,
                       struct answers *answers)
{
    answers->list = list_copy(list);
    for (size_t i = 0; i < list->count; i++)
        answers->list.packets[i].message = list->packets[i].message;
    return oracle_run(configuration, &answers->list, &answers->links, &answers->ends);
}

static void free_answers(struct answers *answers)
{
    list_free(&answers->list);
    free(answers->links.link);
    free(answers->ends.link);
}

/* The network stops as the oracle does, with the same packets delivered. */
static void expect_stuck(const struct pim_noc_configuration *configuration, const struct list *stopped,
                         const char *what)
{
    struct pim_packet_list list = {calloc(stopped->count + 1, sizeof *list.packets), stopped->count};
    struct pim_noc_delivery *deliveries = calloc(stopped->count + 1, sizeof *deliveries);
    struct pim_traffic_result result;
    struct pim_error error = {0};
    for (size_t i = 0; i < stopped->count; i++) {
        const struct list_packet *packet = &stopped->packets[i];
        list.packets[i] =
            (struct pim_listed_packet){.cycle = packet->created,
                                       .source = packet->source,
                                       .destination = packet->destination,
                                       .flits = packet->flits,
                                       .tag = {.task = PIM_NOC_NO_TASK, .class = packet->message}};
    }
    if (pim_traffic_replay(configuration, &list, false, NULL, deliveries, &result, &error) != PIM_DEADLOCK)
        ck_abort_msg("%s: it should be stuck", what);
    for (size_t i = 0; i < stopped->count; i++) {
        const struct list_packet *packet = &stopped->packets[i];
        if (deliveries[i].tail_arrived != (packet->delivered ? packet->tail_arrived : 0))
            ck_abort_msg("%s: packet %zu before the stop", what, i);
    }
    pim_packet_list_terminate(&list);
    free(deliveries);
}

static void try_network(struct pim_noc_configuration configuration, const struct list *list, uint64_t seed)
{
    char what[900];
    struct pim_noc_tag *tags = calloc(list->count + 1, sizeof *tags);
    struct answers expected;
    describe_network(&configuration, seed, what, sizeof what);
    for (size_t i = 0; i < list->count; i++)
        tags[i] = (struct pim_noc_tag){.task = PIM_NOC_NO_TASK, .class = list->packets[i].message};
    bool stuck = !ask_oracle(&configuration, list, &expected);
    if (!stuck) {
        compare(configuration, list, tags, &expected, what, "as it is chosen");
        configuration.step_every_cycle = true;
        compare(configuration, list, tags, &expected, what, "stepped");
        configuration.general = true;
        configuration.step_every_cycle = false;
        compare(configuration, list, tags, &expected, what, "plain");
    }
    if (stuck && !configuration.may_deadlock)
        ck_abort_msg("stuck: %s", what);
    for (unsigned i = 0; i < 3 && stuck; i++) {
        configuration.step_every_cycle = i == 1;
        configuration.general = i == 2;
        expect_stuck(&configuration, &expected.list, what);
    }
    free(tags);
    free_answers(&expected);
}

static void try_variety(enum variety variety, uint64_t seed)
{
    struct pim_random random;
    pim_random_initialize(&random, seed);
    struct pim_noc_configuration configuration = random_network(&random, variety);
    struct list list = random_packets(&random, &configuration);
    try_network(configuration, &list, seed);
    remove_files(&configuration);
    list_free(&list);
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
    struct answers expected;
    ck_assert(ask_oracle(&configuration, &list, &expected));
    compare(configuration, &list, NULL, &expected, "a slow link", "plain");
    free_answers(&expected);
    list_free(&list);
}
END_TEST

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

uint64_t oracle_seed(int index)
{
    return number_from("PIMSIM_ORACLE_FIRST", FIRST) + (uint64_t)index;
}

int oracle_cases(int usual)
{
    return (int)number_from("PIMSIM_ORACLE_CASES", (uint64_t)usual);
}

START_TEST(network_case)
{
    try_variety(ORDINARY, oracle_seed(_i));
}
END_TEST

/* What few draws have: a head gets its virtual channel in the cycle that wakes a router with output speedup;
   a head with a choice has none to ask for; a held switch is given up before a full buffer. */
static const uint64_t rare[] = {500137, 500486, 500662, 500029, 500038, 500155, 500535};

START_TEST(rare_case)
{
    try_variety(ORDINARY, rare[_i]);
}
END_TEST

START_TEST(files_case)
{
    try_variety(FILES, oracle_seed(_i));
}
END_TEST

START_TEST(wide_case)
{
    try_variety(WIDE, oracle_seed(_i));
}
END_TEST

/* Meshes with any options that the fast one knows. */
START_TEST(mesh_case)
{
    struct pim_random random;
    pim_random_initialize(&random, oracle_seed(_i));
    struct pim_noc_configuration configuration = random_mesh(&random);
    struct list list = random_short_packets(&random, &configuration);
    try_network(configuration, &list, oracle_seed(_i));
    list_free(&list);
}
END_TEST

/* Every third of them is tried, and all when the number of cases is given. */
static int measured_step(void)
{
    return getenv("PIMSIM_ORACLE_CASES") ? 1 : 3;
}

/* Lists measured on BookSim 2; the others are in test_booksim. */
START_TEST(measured_list)
{
    int which = _i * measured_step();
    struct pim_noc_configuration configuration = golden_configuration(which);
    struct list expected = list_read(golden_name(which)), found = list_copy(&expected);
    ck_assert(oracle_run(&configuration, &found, NULL, NULL));
    list_expect_same(&expected, &found, golden_name(which));
    list_free(&expected);
    list_free(&found);
}
END_TEST

/* Worms, and long pauses, on what much is done in advance for. */
START_TEST(usual_case)
{
    struct pim_random random;
    pim_random_initialize(&random, oracle_seed(_i));
    struct pim_noc_configuration configuration = random_network(&random, USUAL);
    struct list list = random_list(&random, pim_noc_nodes(&configuration));
    for (size_t i = 0; i < list.count && configuration.classes; i++)
        list.packets[i].message = pick(&random, 0, configuration.classes - 1);
    try_network(configuration, &list, oracle_seed(_i));
    list_free(&list);
}
END_TEST

static void add_tests(Suite *suite, const char *name, const TTest *test, int usual)
{
    TCase *tests = tcase_create(name);
    tcase_add_loop_test(tests, test, 0, oracle_cases(PIM_DRAWS(usual)));
    suite_add_tcase(suite, tests);
}

void pimsim_suites(SRunner *runner)
{
    Suite *suite = suite_create("noc_oracle_random");
    printf("seeds from %" PRIu64 "\n", oracle_seed(0));
    TCase *single = tcase_create("single");
    tcase_add_test(single, far_ahead);
    tcase_add_loop_test(single, rare_case, 0, (int)(sizeof rare / sizeof *rare));
    suite_add_tcase(suite, single);
    TCase *measured = tcase_create("measured");
    tcase_add_loop_test(measured, measured_list, 0,
                        PIM_CASES((GOLDEN_LISTS + measured_step() - 1) / measured_step()));
    suite_add_tcase(suite, measured);
    add_tests(suite, "networks", network_case, NETWORKS);
    add_tests(suite, "meshes", mesh_case, MESHES);
    add_tests(suite, "usual", usual_case, USUALS);
    add_tests(suite, "files", files_case, LISTED);
    add_tests(suite, "wide", wide_case, MANY_PORTS);
    suite_add_tcase(suite, exchange_tests());
    srunner_add_suite(runner, suite);
}

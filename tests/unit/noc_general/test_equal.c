/*
 * The general routers on a mesh: the cycles of the lists measured on BookSim 2, and those of the fast mesh
 * under all options, topologies and routings that both have, packet for packet and link for link.
 */
#include "tests/unit/noc_general/suites.h"
#include "tests/unit/noc_general/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { RANDOM = 160, ROUTED = 200, MESSAGES = 120 };

/* --- BookSim's lists --- */

START_TEST(golden_list)
{
    const int which = PIM_CASE(_i);
    struct pim_noc_configuration configuration = golden_configuration(which);
    configuration.general = true;
    ck_assert(pim_noc_configuration_is_general(&configuration));
    struct list expected = list_read(golden_name(which)), found = list_copy(&expected);
    (void)list_run(&configuration, &found, 211, NULL);
    list_expect_same(&expected, &found, golden_name(which));
    list_free(&expected);
    list_free(&found);
}
END_TEST

/* --- the fast mesh --- */

/* The fast mesh, asleep and stepped, and the general routers, asleep and stepped. */
static void expect_same_runs(struct pim_noc_configuration configuration, const struct list *list,
                             const struct pim_noc_tag *tags, const char *what)
{
    struct list fast = list_copy(list), general = list_copy(list), stepped = list_copy(list),
                general_stepped = list_copy(list);
    struct links links[3];
    ck_assert(!pim_noc_configuration_is_general(&configuration));
    run(&configuration, &fast, (struct run_options){.tags = tags, .links = &links[0], .check_period = 37});
    configuration.step_every_cycle = true;
    run(&configuration, &stepped, (struct run_options){.tags = tags, .links = &links[1]});
    configuration.step_every_cycle = false;
    configuration.general = true;
    run(&configuration, &general, (struct run_options){.tags = tags, .links = &links[2], .check_period = 29});
    list_expect_same(&general, &fast, what);
    list_expect_same(&general, &stepped, what);
    expect_same_links(&links[2], &links[0], what);
    expect_same_links(&links[2], &links[1], what);
    configuration.step_every_cycle = true;
    run(&configuration, &general_stepped, (struct run_options){.tags = tags, .check_period = 499});
    list_expect_same(&general, &general_stepped, what);
    for (unsigned i = 0; i < 3; i++)
        free(links[i].link);
    list_free(&fast);
    list_free(&general);
    list_free(&stepped);
    list_free(&general_stepped);
}

START_TEST(random_case)
{
    struct pim_random random;
    pim_random_initialize(&random, 31001 + (uint64_t)_i);
    struct pim_noc_configuration configuration = random_mesh(&random);
    struct list list = random_list(&random, configuration.width * configuration.height);
    char what[64];
    (void)snprintf(what, sizeof what, "seed %d", 31001 + _i);
    expect_same_runs(configuration, &list, NULL, what);
    list_free(&list);
}
END_TEST

/* --- the fast mesh on tori, and with other routings --- */

/* A way by columns first, but for the destinations of every third number. */
static void write_table(struct pim_noc_configuration *configuration)
{
    static char text[64 * 1024];
    size_t length = (size_t)snprintf(text, sizeof text, "router,destination,next\n");
    uint32_t width = configuration->width, routers = width * configuration->height;
    for (uint32_t at = 0; at < routers; at++)
        for (uint32_t to = 0; to < routers; to++) {
            bool row = at % width != to % width, column = at / width != to / width;
            uint32_t next = at % width < to % width ? at + 1 : at - 1;
            if (column && (to % 3 || !row))
                next = at < to ? at + width : at - width;
            if (at != to)
                length += (size_t)snprintf(text + length, sizeof text - length, "%u,%u,%u\n", at, to, next);
        }
    write_file(configuration->route_table, text);
}

static struct pim_noc_configuration random_routed(struct pim_random *random)
{
    static const enum pim_noc_routing_kind routings[] = {PIM_NOC_XY,     PIM_NOC_YX,   PIM_NOC_VALIANT,
                                                         PIM_NOC_O1TURN, PIM_NOC_ROMM, PIM_NOC_TABLE};
    struct pim_noc_configuration configuration = random_mesh(random);
    if (chance(random, 2)) { /* the usual rules, in which most is done in advance */
        struct pim_noc_configuration usual;
        pim_noc_configuration_initialize(&usual);
        usual.width = configuration.width;
        usual.height = configuration.height;
        usual.virtual_channels = configuration.virtual_channels;
        usual.buffer_flits = configuration.buffer_flits;
        usual.link_latency = configuration.link_latency;
        usual.vc_allocator = configuration.vc_allocator;
        configuration = usual;
    }
    bool torus = chance(random, 2);
    configuration.topology = torus ? PIM_NOC_TORUS : PIM_NOC_MESH;
    configuration.routing = routings[pick(random, torus ? 0 : 1, torus ? 2 : 5)];
    configuration.partition = torus && configuration.routing != PIM_NOC_VALIANT
                                  ? (enum pim_noc_partition)pick(random, 0, PIM_NOC_PARTITIONS - 1)
                                  : PIM_NOC_DATELINE;
    configuration.numbered_draws = chance(random, 3);
    configuration.seed = pick(random, 0, 1000);
    configuration.portable = chance(random, 2);
    return configuration;
}

/* Kinds of messages with virtual channels anywhere, which may overlap, and not all of which are used. */
static void add_messages(struct pim_random *random, struct pim_noc_configuration *configuration)
{
    configuration->message_classes = true;
    configuration->classes = pick(random, 1, 4);
    for (uint32_t class = 0; class < configuration->classes; class ++) {
        uint32_t first = pick(random, 0, configuration->virtual_channels - 1);
        configuration->class_first[class] = first;
        configuration->class_channels[class] = pick(random, 1, configuration->virtual_channels - first);
    }
}

/* One that is accepted. */
static struct pim_noc_configuration draw_routed(struct pim_random *random, bool messages)
{
    struct pim_error error = {0};
    for (;;) {
        struct pim_noc_configuration configuration = random_routed(random);
        if (messages && chance(random, 2)) {
            configuration.topology = PIM_NOC_MESH;
            configuration.routing = PIM_NOC_XY;
            configuration.partition = PIM_NOC_DATELINE;
        }
        if (messages)
            add_messages(random, &configuration);
        if (configuration.routing == PIM_NOC_TABLE)
            write_table(&configuration);
        if (pim_noc_configuration_check(&configuration, &error) == PIM_OK)
            return configuration;
        if (configuration.routing == PIM_NOC_TABLE) /* it can deadlock */
            (void)unlink(configuration.route_table);
    }
}

START_TEST(random_routed_case)
{
    struct pim_random random;
    pim_random_initialize(&random, 51001 + (uint64_t)_i);
    struct pim_noc_configuration configuration = draw_routed(&random, false);
    ck_assert(pim_noc_configuration_is_routed(&configuration));
    struct list list = random_list(&random, configuration.width * configuration.height);
    char what[64];
    (void)snprintf(what, sizeof what, "routed, seed %d", 51001 + _i);
    expect_same_runs(configuration, &list, NULL, what);
    list_free(&list);
    if (configuration.routing == PIM_NOC_TABLE)
        (void)unlink(configuration.route_table);
}
END_TEST

START_TEST(random_messages_case)
{
    struct pim_random random;
    pim_random_initialize(&random, 71001 + (uint64_t)_i);
    struct pim_noc_configuration configuration = draw_routed(&random, true);
    struct list list = random_list(&random, configuration.width * configuration.height);
    struct pim_noc_tag *tags = calloc(list.count + 1, sizeof *tags);
    for (size_t i = 0; i < list.count; i++)
        tags[i] = (struct pim_noc_tag){.task = PIM_NOC_NO_TASK,
                                       .class = pick(&random, 0, configuration.classes - 1)};
    char what[64];
    (void)snprintf(what, sizeof what, "messages, seed %d", 71001 + _i);
    expect_same_runs(configuration, &list, tags, what);
    list_free(&list);
    free(tags);
    if (configuration.routing == PIM_NOC_TABLE)
        (void)unlink(configuration.route_table);
}
END_TEST

Suite *equal_suite(void)
{
    Suite *suite = suite_create("noc_general_equal");
    TCase *tests = tcase_create("mesh");
    tcase_add_loop_test(tests, golden_list, 0, PIM_CASES(GOLDEN_LISTS));
    tcase_add_loop_test(tests, random_case, 0, PIM_DRAWS(RANDOM));
    tcase_add_loop_test(tests, random_routed_case, 0, PIM_DRAWS(ROUTED));
    tcase_add_loop_test(tests, random_messages_case, 0, PIM_DRAWS(MESSAGES));
    suite_add_tcase(suite, tests);
    return suite;
}

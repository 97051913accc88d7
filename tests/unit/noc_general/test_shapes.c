/*
 * Other shapes than a mesh: latencies worked out by hand, all pairs of tori and concentrated meshes, express
 * links; and any configuration at random, asleep and stepped.
 */
#include "tests/unit/noc_general/suites.h"
#include "tests/unit/noc_general/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Packets of all pairs, so far apart that they never meet: the zero-load latency, and the routers of the
 * shortest way. */
static void expect_zero_load(const struct pim_noc_configuration *configuration)
{
    struct list list = {0};
    uint32_t nodes = pim_noc_nodes(configuration);
    for (uint32_t i = 0; i < nodes * nodes; i++)
        list_add(&list, (uint64_t)i * 300, i / nodes, i % nodes, 1 + i % 7);
    run(configuration, &list, (struct run_options){.check_period = 500});
    for (size_t i = 0; i < list.count; i++) {
        const struct list_packet *packet = &list.packets[i];
        uint64_t latency =
            pim_noc_zero_load_latency(configuration, packet->source, packet->destination, packet->flits);
        if (packet->tail_arrived - packet->created != latency ||
            packet->hops != pim_noc_hops(configuration, packet->source, packet->destination))
            ck_abort_msg("%u->%u x%llu: %llu cycles over %u routers, expected are %llu over %u",
                         packet->source, packet->destination, (unsigned long long)packet->flits,
                         (unsigned long long)(packet->tail_arrived - packet->created), packet->hops,
                         (unsigned long long)latency,
                         pim_noc_hops(configuration, packet->source, packet->destination));
    }
    list_free(&list);
}

START_TEST(all_pairs)
{
    static const struct {
        enum pim_noc_topology_kind topology;
        uint32_t width, height, concentration, link_bits, link_latency;
    } shapes[] = {
        {PIM_NOC_TORUS, 5, 4, 1, 0, 1}, {PIM_NOC_TORUS, 2, 3, 1, 0, 2}, {PIM_NOC_TORUS, 7, 1, 1, 16, 1},
        {PIM_NOC_TORUS, 3, 2, 2, 0, 1}, {PIM_NOC_MESH, 3, 2, 4, 0, 1},  {PIM_NOC_MESH, 1, 1, 16, 0, 1},
        {PIM_NOC_MESH, 4, 3, 1, 32, 3},
    };
    struct pim_noc_configuration configuration = general_mesh();
    configuration.buffer_flits = 64;
    configuration.topology = shapes[_i].topology;
    configuration.width = shapes[_i].width;
    configuration.height = shapes[_i].height;
    configuration.concentration = shapes[_i].concentration;
    configuration.link_bits = (struct pim_noc_bits){shapes[_i].link_bits, 1};
    configuration.link_latency = shapes[_i].link_latency;
    expect_zero_load(&configuration);
    configuration.speculative = true;
    configuration.routing_delay = 0;
    configuration.switch_allocation_delay = 2;
    configuration.switch_traversal_delay = 3;
    expect_zero_load(&configuration);
}
END_TEST

static uint64_t arrival(const struct pim_noc_configuration *configuration, uint32_t source,
                        uint32_t destination, uint32_t *hops)
{
    struct list list = {0};
    list_add(&list, 0, source, destination, 1);
    run(configuration, &list, (struct run_options){0});
    *hops = list.packets[0].hops;
    uint64_t cycle = list.packets[0].tail_arrived;
    list_free(&list);
    return cycle;
}

/* On a torus of 8 columns node 7 is a neighbour of node 0. */
START_TEST(wraps)
{
    struct pim_noc_configuration configuration = general_mesh();
    configuration.topology = PIM_NOC_TORUS;
    uint32_t hops;
    ck_assert_uint_eq(arrival(&configuration, 0, 7, &hops), 12);
    ck_assert_uint_eq(hops, 2);
    ck_assert_uint_eq(arrival(&configuration, 0, 63, &hops), 17);
    ck_assert_uint_eq(hops, 3);
    ck_assert_uint_eq(arrival(&configuration, 0, 5, &hops), 22); /* three to the west */
    ck_assert_uint_eq(hops, 4);
    ck_assert_uint_eq(arrival(&configuration, 0, 4 + 8 * 4, &hops), 47); /* half way in both dimensions */
    ck_assert_uint_eq(hops, 9);
}
END_TEST

/* Nodes of one router reach each other through it alone, each by its own port: four packets at once do not
 * wait for each other. */
START_TEST(terminals_of_one_router)
{
    struct pim_noc_configuration configuration = general_mesh();
    configuration.concentration = 4;
    struct list list = {0};
    for (uint32_t i = 0; i < 4; i++)
        list_add(&list, 0, 8 + i, 8 + (i + 1) % 4, 3);
    run(&configuration, &list, (struct run_options){.check_period = 1});
    for (size_t i = 0; i < list.count; i++) {
        ck_assert_uint_eq(list.packets[i].hops, 1);
        ck_assert_uint_eq(list.packets[i].tail_arrived, 7 + 2);
    }
    list_free(&list);
    ck_assert_uint_eq(pim_noc_nodes(&configuration), 256);
    ck_assert_uint_eq(pim_noc_columns(&configuration), 32);
}
END_TEST

/* An express link from router 0 to router 4 of latency 3 saves three routers: 5 for each, and costs 2. */
START_TEST(express)
{
    struct pim_noc_configuration configuration = general_mesh();
    write_file(configuration.express_list, "from,to,latency,bits_per_cycle\n0,4,3,\n4,0,3,16\n");
    uint32_t hops;
    ck_assert_uint_eq(arrival(&configuration, 0, 5, &hops), 32 - 15 + 2);
    ck_assert_uint_eq(hops, 3);
    ck_assert_uint_eq(arrival(&configuration, 4, 0, &hops), 27 - 15 + 2 + 3);
    ck_assert_uint_eq(hops, 2);
    ck_assert_uint_eq(arrival(&configuration, 1, 5, &hops), 27);
    ck_assert_uint_eq(hops, 5);
    (void)unlink(configuration.express_list);
}
END_TEST

/* --- at random --- */

/* A topology that is no grid. */
static void choose_other(struct pim_random *random, struct pim_noc_configuration *configuration)
{
    static const struct {
        enum pim_noc_topology_kind kind;
        uint32_t width, height, radix, levels;
    } others[] = {
        {PIM_NOC_FAT_TREE, 4, 2, 2, 3},
        {PIM_NOC_FAT_TREE, 3, 3, 3, 2},
        {PIM_NOC_QUAD_TREE, 9, 3, 3, 3},
        {PIM_NOC_BUTTERFLY, 4, 4, 2, 4},
        {PIM_NOC_FLATTENED_BUTTERFLY, 6, 3, 3, 1},
        {PIM_NOC_CONCENTRATED_MESH, 8, 8, 4, 1},
        {PIM_NOC_DRAGONFLY, 9, 8, 2, 1},
    };
    unsigned which = pick(random, 0, 6);
    configuration->topology = others[which].kind;
    configuration->width = others[which].width;
    configuration->height = others[which].height;
    configuration->radix = others[which].radix;
    configuration->levels = others[which].levels;
    configuration->concentration = 1;
    configuration->partition = PIM_NOC_DATELINE;
    configuration->latency_by_length = chance(random, 2);
    configuration->global_latency = pick(random, 1, 200);
    configuration->routing = PIM_NOC_MINIMAL;
    if (configuration->topology == PIM_NOC_FAT_TREE && chance(random, 2))
        configuration->routing = PIM_NOC_D_MOD_K;
    if (configuration->topology == PIM_NOC_CONCENTRATED_MESH && chance(random, 2))
        configuration->routing = PIM_NOC_XY;
}

static void choose_shape(struct pim_random *random, struct pim_noc_configuration *configuration)
{
    static const enum pim_noc_routing_kind on_meshes[] = {PIM_NOC_XY,       PIM_NOC_YX,
                                                          PIM_NOC_O1TURN,   PIM_NOC_WEST_FIRST,
                                                          PIM_NOC_ODD_EVEN, PIM_NOC_MINIMAL_ADAPTIVE,
                                                          PIM_NOC_VALIANT,  PIM_NOC_ROMM};
    static const enum pim_noc_routing_kind on_tori[] = {PIM_NOC_XY, PIM_NOC_YX, PIM_NOC_MINIMAL_ADAPTIVE,
                                                        PIM_NOC_VALIANT};
    configuration->general = true;
    configuration->topology = chance(random, 3) ? PIM_NOC_TORUS : PIM_NOC_MESH;
    configuration->width = pick(random, 1, 5);
    configuration->height = pick(random, 1, 5);
    configuration->concentration = chance(random, 3) ? pick(random, 1, 4) : 1;
    configuration->routing = configuration->topology == PIM_NOC_TORUS ? on_tori[pick(random, 0, 3)]
                                                                      : on_meshes[pick(random, 0, 7)];
    configuration->seed = pick(random, 0, 1000);
    if (configuration->topology == PIM_NOC_TORUS && chance(random, 2))
        configuration->partition = (enum pim_noc_partition)pick(random, 0, PIM_NOC_PARTITIONS - 1);
    configuration->numbered_draws = chance(random, 3);
    if (configuration->height == 4 && chance(random, 2)) { /* a third dimension */
        configuration->depth = 2;
        configuration->routing = PIM_NOC_XY;
    }
    if (chance(random, 4))
        choose_other(random, configuration);
    if (chance(random, 3))
        configuration->link_bits = (struct pim_noc_bits){pick(random, 3, 90), pick(random, 1, 3)};
    if (chance(random, 5))
        configuration->terminal_bits = (struct pim_noc_bits){pick(random, 10, 64), 1};
}

static void choose_routers(struct pim_random *random, struct pim_noc_configuration *configuration)
{
    configuration->virtual_channels = pick(random, 4, 12);
    configuration->buffer_flits = pick(random, 1, 9);
    if (chance(random, 2)) {
        configuration->routing_delay = pick(random, 0, 3);
        configuration->switch_allocation_delay = pick(random, 1, 3);
        configuration->vc_allocation_delay = pick(random, 1, 3);
        configuration->switch_traversal_delay = pick(random, 1, 3);
        configuration->link_latency = pick(random, 1, 4);
        configuration->credit_delay = pick(random, 0, 3);
    }
    configuration->speculative =
        chance(random, 3) && configuration->vc_allocation_delay <= configuration->switch_allocation_delay;
    configuration->hold_switch_for_packet = chance(random, 3);
    configuration->wait_for_tail_credit = chance(random, 3);
    configuration->vc_allocator = (enum pim_noc_allocator)pick(random, 0, PIM_NOC_ALLOCATORS - 1);
    configuration->switch_allocator = (enum pim_noc_allocator)pick(random, 0, PIM_NOC_ALLOCATORS - 1);
    if (configuration->vc_allocator < PIM_NOC_WAVEFRONT &&
        configuration->switch_allocator < PIM_NOC_WAVEFRONT)
        configuration->arbiter = (enum pim_noc_arbiter)pick(random, 0, PIM_NOC_TREE - 1);
    configuration->allocator_iterations = pick(random, 1, 3);
    configuration->switch_iterations = chance(random, 2) ? 0 : pick(random, 1, 3);
    configuration->priority = chance(random, 2)
                                  ? PIM_NOC_NO_PRIORITY
                                  : (enum pim_noc_priority)pick(random, 0, PIM_NOC_PRIORITIES - 1);
    if (chance(random, 3)) { /* refused with allocators that have none, and drawn again then */
        configuration->vc_arbiter = (enum pim_noc_arbiter)pick(random, 0, PIM_NOC_TREE);
        configuration->vc_groups = configuration->vc_arbiter == PIM_NOC_TREE;
        configuration->switch_arbiter = PIM_NOC_MATRIX;
    }
    uint32_t speedup = chance(random, 3) ? pick(random, 1, 4) : 1;
    configuration->input_speedup = configuration->virtual_channels % speedup == 0 ? speedup : 1;
    configuration->output_speedup = chance(random, 3) ? pick(random, 1, 4) : 1;
    configuration->output_buffer_flits = chance(random, 4) ? pick(random, 1, 5) : 0;
    if (configuration->virtual_channels >= 8 && chance(random, 3)) {
        configuration->classes = 2;
        configuration->class_channels[0] = 4;
        configuration->class_channels[1] = configuration->virtual_channels - 4;
        configuration->urgent_classes = chance(random, 2);
    }
}

/* Sleeping and stepped runs, and a second sleeping one, agree in every packet and every link; the invariants
 * hold meanwhile. */
START_TEST(any_configuration)
{
    struct pim_random random;
    pim_random_initialize(&random, 86001 + (uint64_t)_i);
    struct pim_noc_configuration configuration;
    struct pim_error error = {0};
    do {
        pim_noc_configuration_initialize(&configuration);
        choose_shape(&random, &configuration);
        choose_routers(&random, &configuration);
    } while (pim_noc_configuration_check(&configuration, &error) != PIM_OK); /* those that can deadlock */
    configuration.general = _i % 2; /* test_sets.c has both against each other */
    struct list list = random_list(&random, pim_noc_nodes(&configuration));
    struct list stepped = list_copy(&list), again = list_copy(&list);
    struct pim_noc_tag *tags = calloc(list.count, sizeof *tags);
    struct task_total tasks[4];
    for (uint32_t i = 0; i < 4; i++)
        tasks[i] = (struct task_total){i, pick(&random, 1, 1000)};
    for (size_t i = 0; i < list.count; i++)
        tags[i] = (struct pim_noc_tag){.task = chance(&random, 4) ? PIM_NOC_NO_TASK : pick(&random, 0, 3),
                                       .class = configuration.classes ? pick(&random, 0, 1) : 0};
    char what[64];
    struct links links[3];
    struct run_options options = {.tags = tags, .tasks = tasks, .task_count = 4};
    (void)snprintf(what, sizeof what, "seed %d", 86001 + _i);
    options.check_period = 31;
    options.links = &links[0];
    run(&configuration, &list, options);
    options.check_period = 0;
    options.links = &links[1];
    run(&configuration, &again, options);
    configuration.step_every_cycle = true;
    options.links = &links[2];
    run(&configuration, &stepped, options);
    list_expect_same(&stepped, &list, what);
    list_expect_same(&list, &again, what);
    expect_same_links(&links[2], &links[0], what);
    expect_same_links(&links[0], &links[1], what);
    for (unsigned i = 0; i < 3; i++)
        free(links[i].link);
    free(tags);
    list_free(&list);
    list_free(&stepped);
    list_free(&again);
}
END_TEST

Suite *shapes_suite(void)
{
    Suite *suite = suite_create("noc_general_shapes");
    TCase *tests = tcase_create("shapes");
    tcase_add_loop_test(tests, all_pairs, 0, 7);
    tcase_add_test(tests, wraps);
    tcase_add_test(tests, terminals_of_one_router);
    tcase_add_test(tests, express);
    tcase_add_loop_test(tests, any_configuration, 0, PIM_DRAWS(200));
    suite_add_tcase(suite, tests);
    return suite;
}

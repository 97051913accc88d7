/*
 * Rules that only the general routers have: output speedup, classes, workload balance, adaptive choice; the
 * network under a kernel; who waits; what is refused.
 */
#include "tests/unit/noc_general/suites.h"
#include "tests/unit/noc_general/support.h"

#include "models/noc/general/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * What BookSim 2 makes of packets that meet at an output with output speedup: 8, 10, 1 and 17 send to 9, one
 * flit and five, on 8 x 8 routers; all sixteen of 4 x 4 send five flits to 0. The order in which simultaneous
 * winners are queued decides.
 */
static const struct {
    enum pim_noc_allocator allocator;
    bool matrix;
    uint32_t speedup;
    uint64_t single[4], head[4], tail[4], gather[16];
} speedups[] = {
    {PIM_NOC_ISLIP,
     false,
     1,
     {13, 12, 15, 14},
     {13, 12, 15, 14},
     {29, 28, 31, 30},
     {11, 24, 34, 40, 29, 50, 58, 67, 68, 59, 65, 86, 77, 66, 85, 84}},
    {PIM_NOC_ISLIP,
     false,
     2,
     {13, 12, 15, 14},
     {13, 12, 17, 15},
     {28, 26, 31, 30},
     {11, 24, 34, 40, 29, 50, 58, 67, 68, 59, 65, 86, 77, 66, 85, 84}},
    {PIM_NOC_ISLIP,
     false,
     4,
     {13, 12, 15, 14},
     {13, 12, 18, 15},
     {28, 25, 31, 30},
     {11, 20, 30, 40, 22, 38, 53, 64, 44, 56, 69, 82, 63, 74, 83, 86}},
    {PIM_NOC_WAVEFRONT,
     false,
     1,
     {12, 15, 14, 13},
     {12, 15, 14, 13},
     {27, 25, 31, 30},
     {11, 24, 30, 36, 44, 54, 74, 76, 53, 62, 73, 84, 55, 63, 86, 72}},
    {PIM_NOC_WAVEFRONT,
     false,
     2,
     {12, 14, 15, 13},
     {12, 14, 15, 13},
     {24, 22, 31, 30},
     {11, 19, 25, 30, 45, 47, 48, 79, 53, 78, 77, 81, 56, 80, 86, 75}},
    {PIM_NOC_WAVEFRONT,
     false,
     4,
     {13, 12, 15, 14},
     {13, 12, 15, 14},
     {29, 28, 31, 30},
     {11, 20, 30, 40, 21, 39, 52, 61, 41, 57, 70, 80, 59, 71, 81, 86}},
    {PIM_NOC_SEPARABLE_INPUT_FIRST,
     true,
     1,
     {14, 15, 12, 13},
     {14, 15, 12, 13},
     {30, 31, 28, 29},
     {11, 25, 35, 41, 24, 64, 61, 76, 49, 83, 66, 71, 62, 67, 81, 86}},
    {PIM_NOC_SEPARABLE_INPUT_FIRST,
     true,
     2,
     {14, 15, 12, 13},
     {15, 17, 12, 13},
     {30, 31, 26, 28},
     {11, 25, 35, 41, 24, 64, 61, 76, 49, 83, 66, 71, 62, 67, 81, 86}},
    {PIM_NOC_SEPARABLE_INPUT_FIRST,
     true,
     4,
     {14, 15, 12, 13},
     {15, 18, 12, 13},
     {30, 31, 25, 28},
     {11, 22, 34, 41, 20, 42, 55, 63, 36, 60, 72, 80, 54, 68, 81, 86}},
};

START_TEST(output_speedup)
{
    struct pim_noc_configuration configuration = general_mesh();
    configuration.vc_allocator = configuration.switch_allocator = speedups[_i].allocator;
    if (speedups[_i].matrix)
        configuration.vc_arbiter = configuration.switch_arbiter = PIM_NOC_MATRIX;
    configuration.output_speedup = speedups[_i].speedup;
    static const uint32_t around[4] = {1, 8, 10, 17}; /* of 9, in the order of a packet list */
    static const unsigned column[4] = {2, 0, 1, 3};   /* of the table */
    for (uint64_t flits = 1; flits <= 5; flits += 4) {
        struct list list = {0};
        for (unsigned i = 0; i < 4; i++)
            list_add(&list, 0, around[i], 9, flits);
        run(&configuration, &list, (struct run_options){.check_period = 1});
        for (unsigned i = 0; i < 4; i++) {
            const uint64_t *heads = flits == 1 ? speedups[_i].single : speedups[_i].head;
            const uint64_t *tails = flits == 1 ? speedups[_i].single : speedups[_i].tail;
            ck_assert_uint_eq(list.packets[i].head_arrived, heads[column[i]]);
            ck_assert_uint_eq(list.packets[i].tail_arrived, tails[column[i]]);
        }
        list_free(&list);
    }
    configuration.width = configuration.height = 4;
    struct list gather = {0};
    for (uint32_t node = 0; node < 16; node++)
        list_add(&gather, 0, node, 0, 5);
    run(&configuration, &gather, (struct run_options){.check_period = 1});
    for (uint32_t node = 0; node < 16; node++)
        ck_assert_uint_eq(gather.packets[node].tail_arrived, speedups[_i].gather[node]);
    list_free(&gather);
}
END_TEST

/* With urgent classes a packet of class 0 crosses a mesh that is full of worms of class 1 as if it were
 * empty: it has virtual channels of its own, and goes first at every switch and at its terminal. */
START_TEST(urgent_class)
{
    for (unsigned allocator = 0; allocator < PIM_NOC_ALLOCATORS; allocator++) {
        struct pim_noc_configuration configuration = general_mesh();
        configuration.classes = 2;
        configuration.class_channels[0] = 2;
        configuration.class_channels[1] = 6;
        configuration.urgent_classes = true;
        configuration.switch_allocator = (enum pim_noc_allocator)allocator;
        struct list list = {0};
        struct pim_noc_tag tags[64 * 4 + 1];
        for (uint32_t i = 0; i < 64 * 4; i++)
            list_add(&list, 0, i % 64, (i * 37 + 11) % 64, 60);
        list_add(&list, 100, 0, 63, 1);
        for (size_t i = 0; i < list.count; i++)
            tags[i] = (struct pim_noc_tag){.task = PIM_NOC_NO_TASK, .class = i + 1 < list.count};
        run(&configuration, &list, (struct run_options){.tags = tags, .check_period = 97});
        ck_assert_uint_eq(list.packets[list.count - 1].tail_arrived, 100 + 77);
        list_free(&list);
    }
}
END_TEST

/* Without urgency the classes take turns, and one that is stuck does not hold the other up: class 0 fills the
 * buffers on the way to a slow terminal, class 1 passes by. */
START_TEST(classes_do_not_block_each_other)
{
    struct pim_noc_configuration configuration = general_mesh();
    configuration.width = 4;
    configuration.height = 1;
    configuration.virtual_channels = 2;
    configuration.classes = 2;
    configuration.class_channels[0] = configuration.class_channels[1] = 1;
    write_file(configuration.link_list, "from,to,latency,bits_per_cycle\n2,3,1,1\n");
    struct list list = {0};
    list_add(&list, 0, 0, 3, 100); /* a flit takes 64 cycles on the last link */
    list_add(&list, 1000, 0, 2, 1);
    struct pim_noc_tag tags[2] = {{.task = PIM_NOC_NO_TASK}, {.task = PIM_NOC_NO_TASK, .class = 1}};
    run(&configuration, &list, (struct run_options){.tags = tags});
    ck_assert_uint_ge(list.packets[0].tail_arrived, 6400);
    ck_assert_uint_le(list.packets[1].tail_arrived, 1000 + 17 + 4);
    tags[1].class = 0; /* in the same class it waits for the whole worm to leave the terminal */
    list.packets[0].delivered = list.packets[1].delivered = false;
    run(&configuration, &list, (struct run_options){.tags = tags});
    ck_assert_uint_ge(list.packets[1].tail_arrived, 4000);
    (void)unlink(configuration.link_list);
    list_free(&list);
}
END_TEST

/* Tasks of 120 and 40 packets share a link. In turn, the small one ends when 40 of each have passed, half
 * way; balanced, both always have the same share behind them and end together. */
START_TEST(balanced_tasks)
{
    for (unsigned balanced = 0; balanced < 2; balanced++) {
        struct pim_noc_configuration configuration = general_mesh();
        configuration.arbiter = balanced ? PIM_NOC_WORKLOAD_BALANCE : PIM_NOC_ROUND_ROBIN;
        configuration.virtual_channels = 2;
        struct list list = {0};
        struct pim_noc_tag tags[160];
        const struct task_total tasks[2] = {{0, 480}, {1, 160}};
        for (uint32_t i = 0; i < 160; i++)
            tags[i] = (struct pim_noc_tag){.task = i >= 120, .class = 0};
        for (uint32_t i = 0; i < 160; i++)
            list_add(&list, 0, i < 120 ? 1 : 10, 11, 4); /* both by way of the link 10 -> 11, or from it */
        run(&configuration, &list, (struct run_options){.tags = tags, .tasks = tasks, .task_count = 2});
        uint64_t end[2] = {0};
        for (size_t i = 0; i < list.count; i++)
            if (list.packets[i].tail_arrived > end[tags[i].task])
                end[tags[i].task] = list.packets[i].tail_arrived;
        if (balanced)
            ck_assert_uint_le(end[0] - end[1], 40);
        else
            ck_assert_uint_ge(end[0] - end[1], 150);
        list_free(&list);
    }
}
END_TEST

/* Packets from one corner to the other: adaptive routing uses both ways out of the corner about equally, by
 * the credits that are left; xy uses one. */
START_TEST(adaptive_choice)
{
    for (unsigned adaptive = 0; adaptive < 2; adaptive++) {
        struct pim_noc_configuration configuration = general_mesh();
        configuration.routing = adaptive ? PIM_NOC_MINIMAL_ADAPTIVE : PIM_NOC_XY;
        struct list list = {0};
        struct links links;
        for (uint32_t i = 0; i < 200; i++)
            list_add(&list, 0, 0, 63, 4);
        run(&configuration, &list, (struct run_options){.links = &links, .check_period = 13});
        uint64_t east = links.link[0].flits, south = links.link[1].flits;
        ck_assert_uint_eq(east + south, 800);
        if (adaptive)
            ck_assert(east >= 250 && south >= 250);
        else
            ck_assert_uint_eq(east, 800);
        for (size_t i = 0; i < list.count; i++)
            ck_assert_uint_eq(list.packets[i].hops, 15);
        free(links.link);
        list_free(&list);
    }
}
END_TEST

/* Worms longer than the buffers on their way, from everywhere to everywhere and as many as fit: with the
 * fewest virtual channels that a routing may have, all arrive. */
START_TEST(no_deadlock)
{
    static const struct {
        enum pim_noc_topology_kind topology;
        enum pim_noc_routing_kind routing;
        uint32_t channels;
    } cases[] = {
        {PIM_NOC_MESH, PIM_NOC_XY, 1},       {PIM_NOC_MESH, PIM_NOC_O1TURN, 2},
        {PIM_NOC_MESH, PIM_NOC_ODD_EVEN, 1}, {PIM_NOC_MESH, PIM_NOC_WEST_FIRST, 1},
        {PIM_NOC_MESH, PIM_NOC_ROMM, 2},     {PIM_NOC_MESH, PIM_NOC_MINIMAL_ADAPTIVE, 2},
        {PIM_NOC_TORUS, PIM_NOC_XY, 2},      {PIM_NOC_TORUS, PIM_NOC_MINIMAL_ADAPTIVE, 3},
        {PIM_NOC_TORUS, PIM_NOC_VALIANT, 4},
    };
    struct pim_random random;
    pim_random_initialize(&random, 4242 + (uint64_t)_i);
    for (uint32_t buffer = 1; buffer <= 4; buffer *= 4) {
        struct pim_noc_configuration configuration = general_mesh();
        configuration.topology = cases[_i].topology;
        configuration.routing = cases[_i].routing;
        configuration.virtual_channels = cases[_i].channels;
        configuration.buffer_flits = buffer;
        configuration.width = configuration.height = 5;
        struct list list = {0};
        for (uint32_t i = 0; i < 600; i++)
            list_add(&list, i / 50, pick(&random, 0, 24), pick(&random, 0, 24), pick(&random, 1, 30));
        run(&configuration, &list, (struct run_options){.check_period = 401});
        list_free(&list);
    }
}
END_TEST

/* --- under a kernel --- */

struct receipt {
    uint64_t arrived[64];
    struct pim_noc *noc;
};

static void received(void *context, const struct pim_noc_delivery *delivery)
{
    struct receipt *receipt = context;
    receipt->arrived[delivery->packet] = delivery->tail_arrived;
    if (delivery->packet == 0) /* what is sent from a callback is created in the next cycle */
        pim_noc_send_tagged(receipt->noc, 3, 0, 1, 1,
                            (struct pim_noc_tag){.task = PIM_NOC_NO_TASK, .class = 0});
}

START_TEST(under_a_kernel)
{
    struct pim_noc_configuration configuration = general_mesh();
    configuration.topology = PIM_NOC_TORUS;
    configuration.link_bits = (struct pim_noc_bits){32, 1};
    struct pim_kernel *kernel = pim_kernel_create();
    struct receipt receipt = {{0}, NULL};
    struct pim_noc_callbacks callbacks = {.context = &receipt, .delivered = received};
    struct pim_error error = {0};
    ck_assert_int_eq(pim_noc_create(&configuration, kernel, 5, &callbacks, &receipt.noc, &error), PIM_OK);
    pim_noc_send(receipt.noc, 0, 3, 10, 0);
    ck_assert_int_eq(pim_kernel_run(kernel, PIM_TIME_LAST), PIM_OK);
    uint64_t first = pim_noc_zero_load_latency(&configuration, 0, 3, 10);
    uint64_t second = pim_noc_zero_load_latency(&configuration, 3, 0, 1);
    ck_assert_uint_eq(receipt.arrived[0], first);
    ck_assert_uint_eq(receipt.arrived[1], first + 1 + second);
    ck_assert_uint_eq(pim_kernel_now(kernel), 5 * receipt.arrived[1]);
    ck_assert(pim_noc_idle(receipt.noc));
    struct pim_noc_statistics statistics;
    pim_noc_get_statistics(receipt.noc, &statistics);
    ck_assert_uint_eq(statistics.packets_delivered, 2);
    ck_assert_uint_eq(statistics.flit_hops, 11 * 4);
    ck_assert_uint_eq(pim_noc_link_flits(receipt.noc, 0, PIM_NOC_INJECT), 10);
    ck_assert_uint_eq(pim_noc_link_flits(receipt.noc, 3, PIM_NOC_EJECT), 10);
    ck_assert_uint_eq(pim_noc_link_flits(receipt.noc, 1, PIM_NOC_EAST), 10);
    ck_assert_uint_eq(pim_noc_link_flits(receipt.noc, 1, PIM_NOC_WEST), 1);
    pim_noc_destroy(receipt.noc);
    pim_kernel_destroy(kernel);
}
END_TEST

/* --- who waits --- */

/* One virtual channel: a worm of node 0 holds it on the way to node 2; the packet of node 1 waits for it; the
 * second packet of node 1 in its terminal, once the buffer there is full. */
START_TEST(waiting)
{
    struct pim_noc_configuration configuration = general_mesh();
    configuration.width = 3;
    configuration.height = 1;
    configuration.virtual_channels = 1;
    configuration.buffer_flits = 2;
    struct pim_noc *noc;
    struct pim_error error = {0};
    ck_assert_int_eq(pim_noc_create(&configuration, NULL, 1, NULL, &noc, &error), PIM_OK);
    pim_noc_send_at(noc, 0, 0, 2, 200, 70);
    for (uint64_t cycle = 0; cycle < 60; cycle++) {
        if (cycle == 20) {
            pim_noc_send_at(noc, cycle, 1, 2, 5, 71);
            pim_noc_send_at(noc, cycle, 1, 0, 1, 72);
        }
        pim_noc_step(noc, cycle);
    }
    struct pim_noc_waiting items[8];
    size_t count = pim_noc_get_waiting(noc, items, 8);
    bool found[2] = {false, false};
    for (size_t i = 0; i < count; i++) {
        if (items[i].packet != 71)
            continue;
        bool terminal = strcmp(items[i].reason, "its terminal has flits left to inject") == 0;
        if (!terminal) {
            ck_assert_str_eq(items[i].reason, "no virtual channel that it may use is free");
            ck_assert_int_eq(items[i].input, PIM_NOC_INJECT);
            ck_assert_int_eq(items[i].output, PIM_NOC_EAST);
            ck_assert_uint_eq(items[i].virtual_channel, 0);
        }
        ck_assert_uint_eq(items[i].node, 1);
        found[terminal] = true;
    }
    ck_assert(found[0] && found[1]);
    ck_assert_uint_eq(pim_noc_get_waiting(noc, items, 0), count);
    pim_noc_destroy(noc);
}
END_TEST

/* The invariants notice what is wrong. */
START_TEST(check_notices)
{
    struct pim_noc_configuration configuration = general_mesh();
    configuration.width = configuration.height = 3;
    struct pim_noc *noc;
    struct pim_error error = {0};
    ck_assert_int_eq(pim_noc_create(&configuration, NULL, 1, NULL, &noc, &error), PIM_OK);
    pim_noc_send_at(noc, 0, 0, 8, 30, 1);
    for (uint64_t cycle = 0; cycle < 15; cycle++)
        pim_noc_step(noc, cycle);
    ck_assert_int_eq(pim_noc_check(noc, &error), PIM_OK);
    noc->general->columns[0].credits--;
    ck_assert_int_eq(pim_noc_check(noc, &error), PIM_INTERNAL);
    ck_assert_ptr_nonnull(strstr(error.text, "credits upstream"));
    noc->general->columns[0].credits++;
    noc->general->outputs[0].free ^= 1;
    ck_assert_int_eq(pim_noc_check(noc, &error), PIM_INTERNAL);
    ck_assert_ptr_nonnull(strstr(error.text, "but taken are"));
    noc->general->outputs[0].free ^= 1;
    noc->general->terminals[0].flits++;
    ck_assert_int_eq(pim_noc_check(noc, &error), PIM_INTERNAL);
    ck_assert_ptr_nonnull(strstr(error.text, "flits injected"));
    pim_noc_destroy(noc);
}
END_TEST

/* --- what is refused --- */

static void change(struct pim_noc_configuration *configuration, unsigned which)
{
    switch (which) {
    case 0:
        configuration->concentration = 17;
        break;
    case 1:
        configuration->output_speedup = 5;
        break;
    case 2:
        configuration->classes = 9;
        break;
    case 3:
        configuration->classes = 2;
        configuration->class_channels[0] = 8;
        break;
    case 4:
        configuration->classes = 2;
        configuration->class_channels[0] = configuration->class_channels[1] = 3;
        break;
    case 5:
        configuration->vc_allocator = PIM_NOC_WAVEFRONT;
        configuration->arbiter = PIM_NOC_AGE;
        break;
    case 6:
        configuration->arbiter = PIM_NOC_ARBITERS;
        break;
    case 7:
        configuration->routing = PIM_NOC_TABLE;
        break;
    case 8:
        configuration->width = configuration->height = 256;
        configuration->concentration = 2;
        break;
    case 9:
        configuration->fidelity = PIM_NOC_ANALYTIC;
        configuration->topology = PIM_NOC_TORUS;
        break;
    case 10: /* a ring of one virtual channel */
        configuration->topology = PIM_NOC_TORUS;
        configuration->virtual_channels = 1;
        break;
    case 11:
        (void)strcpy(configuration->link_list, "/nonexistent/links.csv");
        break;
    case 12:
        configuration->topology = PIM_NOC_TOPOLOGIES;
        break;
    case 13:
        configuration->switch_allocator = PIM_NOC_ALLOCATORS;
        break;
    case 14:
        configuration->vc_arbiter = PIM_NOC_MATRIX;
        break;
    case 15:
        configuration->switch_allocator = PIM_NOC_SEPARABLE_INPUT_FIRST;
        configuration->switch_arbiter = PIM_NOC_TREE;
        configuration->switch_groups = 3;
        break;
    case 16:
        configuration->switch_allocator = PIM_NOC_SEPARABLE_INPUT_FIRST;
        configuration->switch_arbiter = PIM_NOC_TREE;
        break;
    case 17:
        configuration->output_buffer_flits = 4;
        break;
    case 18:
        configuration->partition = PIM_NOC_BALANCED;
        break;
    default:
        configuration->priority = PIM_NOC_PRIORITIES;
        break;
    }
}

START_TEST(refused)
{
    static const char *const messages[] = {
        "noc.concentration is 17: allowed are 1 to 16",
        "noc.output_speedup is 5: allowed are 1 to 4",
        "noc.classes is 9: allowed are 0 to 8",
        "noc.classes: class 1 has 0 virtual channels",
        "noc.classes: the classes have 6 virtual channels together: they must have all of",
        "noc.arbiter: the allocator wavefront has no arbiters",
        "noc.arbiter is unknown: allowed are round_robin",
        "noc.route_table must name its file",
        "256 x 256 routers have 131072 nodes, allowed are 65536",
        "noc.fidelity is analytic, which knows plain meshes alone: noc.topology asks for more",
        "waits for",
        "/nonexistent/links.csv",
        "noc.topology is unknown: allowed are mesh, torus, fat_tree",
        "noc.switch_allocator is unknown: allowed are islip",
        "noc.vc_arbiter: only separable_input_first and separable_output_first have arbiters",
        "noc.switch_arbiter_groups is 3: it must divide the 5 candidates of an arbiter",
        "noc.switch_arbiter_groups is 0: it must be 1 or more with noc.switch_arbiter",
        "noc.output_buffer_flits is 4: it needs noc.output_speedup above 1",
        "the partitions coordinate and balanced of the virtual channels go with",
        "noc.priority is unknown: allowed are none",
    };
    struct pim_noc_configuration configuration = general_mesh();
    change(&configuration, (unsigned)_i);
    struct pim_error error = {0};
    enum pim_status status = pim_noc_configuration_check(&configuration, &error);
    ck_assert_int_eq(status, _i == 11 ? PIM_IO : PIM_BAD_INPUT);
    ck_assert_msg(strstr(error.text, messages[_i]) != NULL, "%s", error.text);
    struct pim_noc *noc;
    ck_assert_int_eq(pim_noc_create(&configuration, NULL, 1, NULL, &noc, &error), status);
    ck_assert_ptr_null(noc);
}
END_TEST

Suite *rules_suite(void)
{
    Suite *suite = suite_create("noc_general_rules");
    TCase *tests = tcase_create("rules");
    tcase_add_loop_test(tests, output_speedup, 0, (int)(sizeof speedups / sizeof *speedups));
    tcase_add_test(tests, urgent_class);
    tcase_add_test(tests, classes_do_not_block_each_other);
    tcase_add_test(tests, balanced_tasks);
    tcase_add_test(tests, adaptive_choice);
    tcase_add_loop_test(tests, no_deadlock, 0, 9);
    tcase_add_test(tests, under_a_kernel);
    tcase_add_test(tests, waiting);
    tcase_add_test(tests, check_notices);
    tcase_add_loop_test(tests, refused, 0, 20);
    suite_add_tcase(suite, tests);
    return suite;
}

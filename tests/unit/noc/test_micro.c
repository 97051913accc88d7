/*
 * Small cases in an idle 8x8 (or 4x4) mesh, cycle by cycle. The figures were measured on BookSim 2, commit
 * 28f43299, driven by explicit packet lists. Unless said: 8 virtual channels of 8 flits, all delays 1, islip.
 */
#include "tests/unit/noc/cases.h"
#include "tests/unit/noc/suites.h"

#include <inttypes.h>
#include <stdio.h>

static struct pim_noc_configuration separable(void)
{
    struct pim_noc_configuration configuration = eight_channels();
    configuration.vc_allocator = configuration.switch_allocator = PIM_NOC_SEPARABLE_INPUT_FIRST;
    return configuration;
}

/* Runs the list with and without sleeping routers and expects the tails (and heads, when given) to arrive
 * then. */
static void expect(struct pim_noc_configuration configuration, struct list *list, const uint64_t *heads,
                   const uint64_t *tails, const char *what)
{
    for (int stepped = 0; stepped < 2; stepped++) {
        configuration.step_every_cycle = stepped;
        for (size_t i = 0; i < list->count; i++)
            list->packets[i].delivered = false;
        (void)list_run(&configuration, list, 29, NULL);
        for (size_t i = 0; i < list->count; i++) {
            const struct list_packet *packet = &list->packets[i];
            ck_assert_msg(packet->tail_arrived == tails[i],
                          "%s: tail of packet %zu arrives at %" PRIu64 " instead of %" PRIu64, what, i,
                          packet->tail_arrived, tails[i]);
            ck_assert_msg(!heads || packet->head_arrived == heads[i],
                          "%s: head of packet %zu arrives at %" PRIu64 " instead of %" PRIu64, what, i,
                          packet->head_arrived, heads ? heads[i] : 0);
        }
    }
}

static void expect_one(struct pim_noc_configuration configuration, uint32_t destination, uint64_t flits,
                       uint64_t head, uint64_t tail)
{
    struct list list = {0};
    char what[64];
    (void)snprintf(what, sizeof what, "0->%" PRIu32 " x%" PRIu64, destination, flits);
    list_add(&list, 0, 0, destination, flits);
    expect(configuration, &list, &head, &tail, what);
    ck_assert_uint_eq(tail, pim_noc_zero_load_latency(&configuration, 0, destination, flits));
    list_free(&list);
}

START_TEST(single_packets)
{
    struct pim_noc_configuration configuration = eight_channels();
    static const struct {
        uint32_t destination;
        uint64_t head;
    } cases[] = {{0, 7}, {1, 12}, {2, 17}, {3, 22}, {4, 27}, {5, 32}, {6, 37}, {7, 42}, {63, 77}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect_one(configuration, cases[i].destination, 1, cases[i].head, cases[i].head);
        expect_one(configuration, cases[i].destination, 5, cases[i].head, cases[i].head + 4);
    }
    expect_one(configuration, 2, 20, 17, 36);
    configuration.routing_delay = 0;
    expect_one(configuration, 2, 1, 14, 14);
    expect_one(configuration, 2, 5, 14, 18);
    configuration = separable();
    configuration.speculative = true;
    expect_one(configuration, 2, 1, 14, 14);
    expect_one(configuration, 2, 5, 14, 18);
    configuration.routing_delay = 0;
    expect_one(configuration, 2, 1, 11, 11);
    expect_one(configuration, 2, 5, 11, 15);
    configuration = eight_channels();
    configuration.credit_delay = 3;
    expect_one(configuration, 2, 5, 17, 21);
}
END_TEST

/* The closed form for every combination of delays: stages longer than a cycle are pipelined, a stream has no
 * gaps. The packets of a list follow each other in an empty network. */
START_TEST(zero_load_latency)
{
    for (unsigned i = 0; i < 3 * 3 * 3 * 2 * 2; i++) {
        struct pim_noc_configuration configuration = eight_channels();
        configuration.routing_delay = i % 3;
        configuration.switch_allocation_delay = 1 + i / 3 % 3;
        configuration.vc_allocation_delay = 1 + i / 9 % 3;
        configuration.speculative = i / 27 % 2;
        configuration.link_latency = configuration.switch_traversal_delay = 1 + i / 54 % 2;
        configuration.buffer_flits = 32; /* more than a round trip of credits */
        configuration.width = 8;
        configuration.height = 4;
        configuration.virtual_channels = 2;
        if (configuration.speculative &&
            configuration.vc_allocation_delay > configuration.switch_allocation_delay)
            continue;
        struct list list = {0};
        uint64_t heads[16], tails[16], cycle = 0;
        for (uint64_t flits = 1; flits <= 64; flits *= 4)
            for (uint32_t destination = 0; destination < 32; destination += 10) {
                tails[list.count] = cycle + pim_noc_zero_load_latency(&configuration, 0, destination, flits);
                heads[list.count] = tails[list.count] - (flits - 1);
                list_add(&list, cycle, 0, destination, flits);
                cycle = tails[list.count - 1] + 20; /* the last credits are back */
            }
        expect(configuration, &list, heads, tails, "zero load");
        for (size_t k = 0; k < list.count; k++)
            ck_assert_uint_eq(list.packets[k].hops,
                              pim_noc_hops(&configuration, 0, list.packets[k].destination));
        list_free(&list);
    }
}
END_TEST

/* One packet after the other from two corners to all nodes: every distance, every turn, and lengths on both
 * sides of what counts as short. */
START_TEST(zero_load_at_every_distance)
{
    static const uint64_t lengths[] = {1, 2, 8, 9, 20};
    struct pim_noc_configuration configuration = eight_channels();
    configuration.routing_delay = (uint32_t)_i % 3;
    configuration.speculative = _i / 3 % 2;
    configuration.step_every_cycle = _i / 6;
    struct list list = {0};
    for (uint32_t i = 0; i < 5 * 128; i++)
        list_add(&list, 130 * i, i % 128 < 64 ? 0 : 56, i % 64, lengths[i / 128]);
    (void)list_run(&configuration, &list, 0, NULL);
    for (size_t i = 0; i < list.count; i++) {
        const struct list_packet *packet = &list.packets[i];
        uint64_t latency =
            pim_noc_zero_load_latency(&configuration, packet->source, packet->destination, packet->flits);
        ck_assert_uint_eq(packet->tail_arrived, packet->created + latency);
        ck_assert_uint_eq(packet->head_arrived, packet->tail_arrived - (packet->flits - 1));
    }
    list_free(&list);
}
END_TEST

START_TEST(collisions)
{
    static const struct {
        uint64_t created, tails[2];
    } cases[] = {{5, {17, 18}}, {3, {18, 15}}, {4, {17, 16}}, {6, {17, 18}}, {7, {17, 20}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct list list = {0};
        list_add(&list, 0, 0, 2, 1);
        list_add(&list, cases[i].created, 1, 2, 1);
        expect(eight_channels(), &list, NULL, cases[i].tails, "0->2 and 1->2");
        if (cases[i].created == 5)
            expect(separable(), &list, NULL, cases[i].tails, "0->2 and 1->2, separable");
        list_free(&list);
    }
    struct list four = {0};
    static const uint32_t sources[] = {8, 10, 1, 17};
    for (size_t i = 0; i < 4; i++)
        list_add(&four, 0, sources[i], 9, 1);
    expect(eight_channels(), &four, NULL, (const uint64_t[]){13, 12, 15, 14}, "four neighbours");
    expect(separable(), &four, NULL, (const uint64_t[]){13, 12, 15, 14}, "four neighbours, separable");
    list_add(&four, 5, 9, 9, 1);
    expect(eight_channels(), &four, NULL, (const uint64_t[]){13, 12, 15, 14, 16},
           "four neighbours and itself");
    list_free(&four);

    struct list worms = {0};
    list_add(&worms, 0, 0, 2, 5);
    list_add(&worms, 5, 1, 2, 5);
    expect(eight_channels(), &worms, (const uint64_t[]){17, 18}, (const uint64_t[]){25, 26},
           "two worms alternate");
    struct pim_noc_configuration hold = eight_channels();
    hold.hold_switch_for_packet = true;
    expect(hold, &worms, (const uint64_t[]){17, 22}, (const uint64_t[]){21, 26}, "two worms, switch held");
    list_free(&worms);
}
END_TEST

START_TEST(credit_limited_stream)
{
    static const struct {
        uint32_t buffer, delay;
        uint64_t tail, injected;
    } cases[] = {{1, 0, 112, 100}, {2, 0, 63, 51}, {3, 0, 48, 36}, {4, 0, 40, 28}, {5, 0, 36, 24},
                 {6, 0, 36, 21},   {8, 0, 36, 19}, {4, 2, 48, 34}, {8, 2, 36, 19}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pim_noc_configuration configuration = eight_channels();
        configuration.buffer_flits = cases[i].buffer;
        configuration.credit_delay = cases[i].delay;
        struct list list = {0};
        list_add(&list, 0, 0, 2, 20);
        expect(configuration, &list, (const uint64_t[]){17}, &cases[i].tail, "credit-limited stream");
        ck_assert_uint_eq(list.packets[0].tail_injected, cases[i].injected);
        list_free(&list);
    }
}
END_TEST

START_TEST(back_to_back)
{
    static const struct {
        uint32_t channels;
        bool wait_for_tail_credit;
        uint64_t tails[12];
    } cases[] = {
        {8, false, {12, 13, 15, 16, 18, 19, 22, 23, 20, 21, 26, 24}},
        {4, false, {12, 13, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24}},
        {3, false, {12, 13, 15, 16, 17, 20, 21, 19, 24, 22, 23, 25}},
        {2, false, {12, 13, 17, 16, 19, 20, 23, 22, 25, 26, 29, 28}},
        {1, false, {12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 45}},
        {8, true, {12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}},
        {2, true, {12, 13, 21, 20, 29, 28, 37, 36, 45, 44, 53, 52}},
        {1, true, {12, 20, 28, 36, 44, 52, 60, 68, 76, 84, 92, 100}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pim_noc_configuration configuration = eight_channels();
        configuration.virtual_channels = cases[i].channels;
        configuration.wait_for_tail_credit = cases[i].wait_for_tail_credit;
        struct list list = {0};
        for (uint64_t cycle = 0; cycle < 12; cycle++)
            list_add(&list, cycle, 0, 1, 1);
        expect(configuration, &list, NULL, cases[i].tails, "back to back");
        if (cases[i].channels == 1 && !cases[i].wait_for_tail_credit) {
            ck_assert_uint_eq(list.packets[10].head_injected, 12);
            ck_assert_uint_eq(list.packets[11].head_injected, 15);
        }
        list_free(&list);
    }
}
END_TEST

START_TEST(queue_of_worms)
{
    struct list list = {0};
    uint64_t heads[10], tails[10];
    for (unsigned i = 0; i < 10; i++)
        list_add(&list, 0, 0, 3, 5);
    struct pim_noc_configuration configuration = eight_channels();
    for (unsigned i = 0; i < 10; i++)
        heads[i] = 22 + 5 * i, tails[i] = heads[i] + 4;
    expect(configuration, &list, heads, tails, "queue, 8 channels");
    configuration.virtual_channels = 1;
    for (unsigned i = 0; i < 10; i++)
        heads[i] = 22 + 7 * i, tails[i] = heads[i] + 4;
    expect(configuration, &list, heads, tails, "queue, 1 channel");
    configuration.virtual_channels = 2;
    configuration.buffer_flits = 4;
    for (unsigned i = 0; i < 10; i++)
        heads[i] = 22 + 7 * i, tails[i] = heads[i] + 6;
    heads[9] = 85, tails[9] = 90;
    expect(configuration, &list, heads, tails, "queue, 2 channels of 4");
    list_free(&list);
}
END_TEST

START_TEST(gather_and_scatter)
{
    static const uint64_t single[16] = {7, 12, 17, 22, 13, 19, 23, 27, 18, 25, 28, 32, 24, 29, 33, 37};
    static const uint64_t heads[16] = {7, 12, 18, 28, 13, 19, 25, 41, 42, 27, 37, 72, 57, 39, 71, 70};
    static const uint64_t tails[16] = {11, 24, 34, 40, 29, 50, 58, 67, 68, 59, 65, 86, 77, 66, 85, 84};
    static const uint64_t scatter[16] = {7, 13, 19, 27, 16, 24, 28, 38, 25, 32, 37, 46, 34, 42, 46, 55};
    struct pim_noc_configuration configuration = eight_channels(), other = separable();
    configuration.width = configuration.height = other.width = other.height = 4;
    struct list one = {0}, five = {0}, out = {0};
    for (uint32_t node = 0; node < 16; node++) {
        list_add(&one, 0, node, 0, 1);
        list_add(&five, 0, node, 0, 5);
        list_add(&out, 0, 0, node, 1);
    }
    expect(configuration, &one, NULL, single, "gather");
    expect(configuration, &out, NULL, scatter, "scatter");
    for (size_t i = 0; i < 16; i++)
        ck_assert_uint_eq(out.packets[i].head_injected, i);
    expect(configuration, &five, heads, tails, "gather of worms");
    uint64_t with_separable[16];
    for (size_t i = 0; i < 16; i++)
        with_separable[i] = single[i];
    with_separable[9] = 24, with_separable[12] = 25, with_separable[10] = 28, with_separable[13] = 29,
    with_separable[7] = 30;
    expect(other, &one, NULL, with_separable, "gather, separable");
    list_free(&one);
    list_free(&five);
    list_free(&out);
}
END_TEST

/* Stages longer than a cycle are pipelined: packets that follow each other lose nothing but the longer way.
 */
START_TEST(long_stages_are_pipelined)
{
    struct list list = {0};
    for (uint64_t cycle = 0; cycle < 8; cycle++)
        list_add(&list, cycle, 0, 1, 1);
    struct pim_noc_configuration configuration = eight_channels();
    configuration.virtual_channels = 32;
    (void)list_run(&configuration, &list, 1, NULL);
    struct list longer = list_copy(&list);
    configuration.switch_traversal_delay = 4;
    (void)list_run(&configuration, &longer, 1, NULL);
    for (size_t i = 0; i < 8; i++)
        ck_assert_uint_eq(longer.packets[i].tail_arrived, list.packets[i].tail_arrived + 2 * 3);
    list_free(&list);
    list_free(&longer);
}
END_TEST

/* One router, a mesh of more than 4096 routers, and the longest delays. */
START_TEST(extremes)
{
    struct pim_noc_configuration configuration = eight_channels();
    configuration.width = configuration.height = 1;
    expect_one(configuration, 0, 3, 7, 9);
    configuration = eight_channels();
    configuration.width = 100;
    configuration.height = 90;
    configuration.virtual_channels = 1;
    struct list list = {0};
    list_add(&list, 0, 0, 8999, 3000);
    list_add(&list, 0, 8999, 0, 3000);
    (void)list_run(&configuration, &list, 0, NULL);
    for (size_t i = 0; i < 2; i++)
        ck_assert_uint_eq(list.packets[i].tail_arrived,
                          pim_noc_zero_load_latency(&configuration, 0, 8999, 3000));
    list_free(&list);
    configuration = eight_channels();
    configuration.routing_delay = configuration.credit_delay = PIM_NOC_DELAY_LIMIT;
    configuration.vc_allocation_delay = configuration.switch_allocation_delay = PIM_NOC_DELAY_LIMIT;
    configuration.switch_traversal_delay = configuration.link_latency = PIM_NOC_DELAY_LIMIT;
    configuration.width = configuration.height = 2;
    configuration.virtual_channels = 4;
    configuration.buffer_flits = PIM_NOC_BUFFER_LIMIT;
    uint64_t head = pim_noc_zero_load_latency(&configuration, 0, 3, 1);
    expect_one(configuration, 3, 2000, head, head + 1999);
}
END_TEST

Suite *micro_suite(void)
{
    Suite *suite = suite_create("noc_micro");
    TCase *tests = tcase_create("micro");
    tcase_add_test(tests, single_packets);
    tcase_add_test(tests, zero_load_latency);
    tcase_add_loop_test(tests, zero_load_at_every_distance, 0, 3 * 2 * 2);
    tcase_add_test(tests, collisions);
    tcase_add_test(tests, credit_limited_stream);
    tcase_add_test(tests, back_to_back);
    tcase_add_test(tests, queue_of_worms);
    tcase_add_test(tests, gather_and_scatter);
    tcase_add_test(tests, long_stages_are_pipelined);
    tcase_add_test(tests, extremes);
    suite_add_tcase(suite, tests);
    return suite;
}

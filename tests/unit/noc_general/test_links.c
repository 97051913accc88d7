/*
 * Links: how long flits hold them, worked out by hand; latencies and widths of single links; terminals; what
 * is reported of links.
 */
#include "tests/unit/noc_general/suites.h"
#include "tests/unit/noc_general/support.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* With deep buffers, so that credits never hold a worm up. */
static struct pim_noc_configuration with_link(uint32_t bits, uint32_t denominator)
{
    struct pim_noc_configuration configuration = general_mesh();
    configuration.buffer_flits = 4096;
    configuration.link_bits = (struct pim_noc_bits){bits, denominator};
    return configuration;
}

static struct list_packet one_packet(const struct pim_noc_configuration *configuration, uint32_t source,
                                     uint32_t destination, uint64_t flits)
{
    struct list list = {0};
    list_add(&list, 0, source, destination, flits);
    run(configuration, &list, (struct run_options){.check_period = 7});
    struct list_packet packet = list.packets[0];
    list_free(&list);
    return packet;
}

/* When the tail comes, relative to the head, behind a link that took `cycles` from the first flit to the
 * last: in the last router the head loses two cycles (routing, virtual channel) that the others do not, and
 * the terminal takes one flit a cycle. */
static uint64_t behind_head(uint64_t cycles, uint64_t flits)
{
    return cycles > flits + 1 ? cycles - 2 : flits - 1;
}

/* 64-bit flits on links of 64 / k bits: the head is late by k - 1 a link, the worm takes k cycles a flit. */
START_TEST(whole_cycles)
{
    for (uint32_t k = 1; k <= 64; k *= 2)
        for (uint32_t links = 1; links <= 3; links++) {
            struct pim_noc_configuration configuration = with_link(64 / k, 1);
            for (uint64_t flits = 1; flits <= 40; flits += 13) {
                struct list_packet packet = one_packet(&configuration, 0, links, flits);
                uint64_t head = 5 * (links + 1) + 2 + (uint64_t)links * (k - 1);
                ck_assert_uint_eq(packet.head_arrived, head);
                ck_assert_uint_eq(packet.tail_arrived, head + behind_head((flits - 1) * k, flits));
                ck_assert_uint_eq(pim_noc_zero_load_latency(&configuration, 0, links, flits),
                                  packet.tail_arrived);
            }
        }
}
END_TEST

/* Flits counted behind a crossbar need links that pass one a cycle; a list may give latencies. */
START_TEST(output_buffers_need_whole_links)
{
    struct pim_noc_configuration configuration = general_mesh();
    struct pim_error error = {0};
    configuration.output_speedup = 2;
    configuration.output_buffer_flits = 3;
    write_file(configuration.link_list, "from,to,latency,bits_per_cycle\n0,1,7,\n1,2,,64\n");
    ck_assert_int_eq(pim_noc_configuration_check(&configuration, &error), PIM_OK);
    (void)unlink(configuration.link_list);
    for (int express = 0; express < 2; express++) {
        configuration.link_list[0] = configuration.express_list[0] = '\0';
        write_file(express ? configuration.express_list : configuration.link_list,
                   express ? "from,to,latency,bits_per_cycle\n0,2,,63\n"
                           : "from,to,latency,bits_per_cycle\n0,1,,63\n");
        ck_assert_int_eq(pim_noc_configuration_check(&configuration, &error), PIM_BAD_INPUT);
        ck_assert_msg(strstr(error.text, "it needs links of a flit per cycle, 64 bits, which 0->") != NULL,
                      "%s", error.text);
        (void)unlink(express ? configuration.express_list : configuration.link_list);
    }
}
END_TEST

/* 64-bit flits on one link of 48 bits a cycle: 4/3 cycles each, nothing lost to rounding: flit i has passed
 * after ceil(4 (i + 1) / 3) cycles. */
START_TEST(broken_cycles)
{
    struct pim_noc_configuration configuration = with_link(48, 1);
    for (uint64_t flits = 1; flits < 200; flits += 11) {
        struct list_packet packet = one_packet(&configuration, 0, 1, flits);
        ck_assert_uint_eq(packet.head_arrived, 12 + 1); /* the head: 2 cycles instead of 1 */
        ck_assert_uint_eq(packet.tail_arrived, 13 + behind_head((4 * flits + 2) / 3 - 2, flits));
        ck_assert_uint_eq(pim_noc_zero_load_latency(&configuration, 0, 1, flits), packet.tail_arrived);
    }
    configuration = with_link(100, 3); /* 33 1/3 bits: 1.92 cycles */
    ck_assert_uint_eq(one_packet(&configuration, 0, 1, 100).tail_arrived, 13 + behind_head(192 - 2, 100));
}
END_TEST

/* The estimates know narrow links too: a packet alone takes what it takes in the routers; of two that share a
 * link the second waits for the first, which holds it for all of its flits. */
START_TEST(estimates)
{
    static const struct pim_noc_bits widths[] = {{0, 1}, {16, 1}, {48, 1}, {100, 3}};
    for (unsigned i = 0; i < 16; i++) {
        struct pim_noc_configuration configuration = with_link(0, 1);
        configuration.link_bits = widths[i % 4];
        configuration.terminal_bits = widths[i / 4];
        for (uint32_t fidelity = PIM_NOC_IDEAL; fidelity <= PIM_NOC_FLIT; fidelity++) {
            configuration.fidelity = (enum pim_noc_fidelity)fidelity;
            configuration.general = fidelity == PIM_NOC_FLIT;
            for (uint64_t flits = 1; flits < 40; flits += 7) {
                struct list_packet packet = one_packet(&configuration, 0, 1, flits);
                uint64_t latency = pim_noc_zero_load_latency(&configuration, 0, 1, flits);
                /* a broken number of cycles a flit is rounded up on every link: on 2 after the first */
                ck_assert_uint_ge(packet.tail_arrived, latency);
                ck_assert_uint_le(packet.tail_arrived, latency + (fidelity == PIM_NOC_FLIT ? 2 : 0));
            }
        }
    }
    struct pim_noc_configuration configuration = with_link(16, 1);
    configuration.fidelity = PIM_NOC_ANALYTIC;
    configuration.general = false;
    struct list list = {0};
    list_add(&list, 0, 0, 2, 20);
    list_add(&list, 0, 1, 2, 20);
    run(&configuration, &list, (struct run_options){0});
    ck_assert_uint_eq(list.packets[0].tail_arrived, 17 + 3 + 3 + 80 - 4 - 2); /* node 0 reserves first */
    ck_assert_uint_eq(list.packets[1].head_arrived, list.packets[0].head_arrived + 80);
    list_free(&list);
}
END_TEST

/* More than a flit per cycle is a flit per cycle. */
START_TEST(wide_links)
{
    struct pim_noc_configuration configuration = with_link(1000, 1);
    ck_assert_uint_eq(one_packet(&configuration, 0, 3, 30).tail_arrived, 5 * 4 + 2 + 29);
    configuration.general = false;
    ck_assert(!pim_noc_configuration_is_general(&configuration));
    configuration.link_bits.numerator = 64;
    ck_assert(!pim_noc_configuration_is_general(&configuration));
    configuration.link_bits.numerator = 63;
    ck_assert(pim_noc_configuration_is_general(&configuration));
}
END_TEST

/* Terminals of 16 bits a cycle: injection and ejection take 4 cycles a flit. */
START_TEST(terminals)
{
    struct pim_noc_configuration configuration = with_link(0, 1);
    configuration.terminal_bits = (struct pim_noc_bits){16, 1};
    struct list_packet packet = one_packet(&configuration, 0, 2, 10);
    ck_assert_uint_eq(packet.head_arrived, 17 + 3 + 3);
    ck_assert_uint_eq(packet.tail_injected, 36);
    ck_assert_uint_eq(packet.tail_arrived, 17 + 3 + 3 + 36); /* the last link is a slow one */
    ck_assert_uint_eq(pim_noc_zero_load_latency(&configuration, 0, 2, 10), packet.tail_arrived);
}
END_TEST

/* One link differs: from 1 to 2 it takes 7 cycles and passes 16 bits a cycle; the way back is as usual. */
START_TEST(one_link_differs)
{
    struct pim_noc_configuration configuration = with_link(0, 1);
    write_file(configuration.link_list, "from,to,latency,bits_per_cycle\n1,2,7,16\n");
    ck_assert_uint_eq(one_packet(&configuration, 0, 3, 1).tail_arrived, 22 + 6 + 3);
    ck_assert_uint_eq(one_packet(&configuration, 0, 3, 11).tail_arrived,
                      22 + 6 + 3 + 40 - 2 - 2); /* 2 routers behind */
    ck_assert_uint_eq(one_packet(&configuration, 3, 0, 11).tail_arrived, 22 + 10);
    (void)unlink(configuration.link_list);
}
END_TEST

/* Two worms that share a link of a quarter of a flit per cycle keep it busy from the first flit to the last:
 * it is busy for 2 x 20 x 4 cycles. */
START_TEST(shared_link)
{
    struct pim_noc_configuration configuration = with_link(16, 1);
    struct list list = {0};
    struct links links;
    list_add(&list, 0, 0, 2, 20);
    list_add(&list, 5, 1, 2, 20);
    run(&configuration, &list, (struct run_options){.links = &links, .check_period = 3});
    uint64_t last = list.packets[0].tail_arrived > list.packets[1].tail_arrived
                        ? list.packets[0].tail_arrived
                        : list.packets[1].tail_arrived;
    /* the first flit to want it is that of node 1: usable in 7, it wins in 9; so all have passed at the end
     * of cycle 9 + 160 - 1, and the last one, a body flit, goes straight through router 2 */
    ck_assert_uint_eq(last, 9 + 160 - 1 + 3 + 3);
    for (size_t i = 0; i < links.count; i++) {
        const struct pim_noc_link_use *link = &links.link[i];
        bool first = link->from == 0 && link->to == 1, second = link->from == 1 && link->to == 2;
        ck_assert_uint_eq(link->flits, first ? 20 : second ? 40 : 0);
        ck_assert_uint_eq(link->busy_cycles, 4 * link->flits);
        ck_assert_uint_eq(link->blocked_cycles, 0); /* it never idles while somebody wants it */
    }
    free(links.link);
    list_free(&list);
}
END_TEST

/* Two heads come to router 1 in the same cycle 7; both ask for a virtual channel in 8, when one is refused
 * and the link has nothing to send; the first wins the switch in 9, the other in 10. */
START_TEST(blocked_by_allocation)
{
    struct pim_noc_configuration configuration = general_mesh();
    struct list list = {0};
    struct links links;
    list_add(&list, 0, 0, 2, 1);
    list_add(&list, 5, 1, 2, 1);
    run(&configuration, &list, (struct run_options){.links = &links});
    ck_assert_uint_eq(list.packets[0].tail_arrived, 17);
    ck_assert_uint_eq(list.packets[1].tail_arrived, 18);
    for (size_t i = 0; i < links.count; i++)
        ck_assert_uint_eq(links.link[i].blocked_cycles, links.link[i].from == 1 && links.link[i].to == 2);
    free(links.link);
    list_free(&list);
}
END_TEST

/*
 * Buffers of one flit. Router 0 gets its flits in cycles 2, 8, 15, 22, 27 and so on (a credit of the terminal
 * comes 2 cycles after a flit has won the switch, the next flit 2 cycles later), and can send them in 4, 11,
 * 18, 23, 28 and so on, when credits come: 3, 3, 1, 1 ... blocked cycles. Router 1 gets the second flit in
 * 14 and a credit for it in 16; after that each flit finds one.
 */
START_TEST(blocked_by_credits)
{
    struct pim_noc_configuration configuration = general_mesh();
    configuration.buffer_flits = 1;
    struct list list = {0};
    struct links links;
    list_add(&list, 0, 0, 2, 20);
    run(&configuration, &list, (struct run_options){.links = &links});
    ck_assert_uint_eq(list.packets[0].tail_arrived, 112); /* measured on BookSim */
    for (size_t i = 0; i < links.count; i++) {
        const struct pim_noc_link_use *link = &links.link[i];
        bool first = link->from == 0 && link->to == 1, second = link->from == 1 && link->to == 2;
        ck_assert_uint_eq(link->flits, first || second ? 20 : 0);
        ck_assert_uint_eq(link->blocked_cycles, first ? 3 + 3 + 17 : second ? 2 : 0);
    }
    free(links.link);
    list_free(&list);
}
END_TEST

/* The list of links is the same for the fast mesh, the general routers and the estimates. */
START_TEST(same_list)
{
    for (uint32_t width = 1; width <= 5; width++)
        for (uint32_t height = 1; height <= 4; height++) {
            struct links links[3];
            for (unsigned i = 0; i < 3; i++) {
                struct pim_noc_configuration configuration = general_mesh();
                struct list list = {0};
                configuration.width = width;
                configuration.height = height;
                configuration.general = i == 1;
                configuration.fidelity = i == 2 ? PIM_NOC_ANALYTIC : PIM_NOC_FLIT;
                for (uint32_t node = 0; node < width * height; node++)
                    list_add(&list, 0, node, width * height - 1 - node, node + 1);
                run(&configuration, &list, (struct run_options){.links = &links[i]});
                list_free(&list);
            }
            ck_assert_uint_eq(links[0].count, 2 * ((width - 1) * height + (height - 1) * width));
            for (unsigned i = 1; i < 3; i++) {
                ck_assert_uint_eq(links[i].count, links[0].count);
                for (size_t k = 0; k < links[0].count; k++) {
                    ck_assert_uint_eq(links[i].link[k].from, links[0].link[k].from);
                    ck_assert_uint_eq(links[i].link[k].to, links[0].link[k].to);
                    ck_assert_uint_eq(links[i].link[k].from_port, links[0].link[k].from_port);
                    ck_assert_uint_eq(links[i].link[k].flits, links[0].link[k].flits);
                    ck_assert_uint_eq(links[i].link[k].busy_cycles, links[0].link[k].busy_cycles);
                }
            }
            for (unsigned i = 0; i < 3; i++)
                free(links[i].link);
        }
}
END_TEST

/* A worm on a slow link costs evaluations for its flits, not for the cycles between them. */
START_TEST(sleeps_between_flits)
{
    uint64_t evaluations[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct pim_noc_configuration configuration = with_link(i ? 1 : 32, 1);
        struct list list = {0};
        list_add(&list, 0, 0, 7, 50);
        run(&configuration, &list, (struct run_options){.evaluations = &evaluations[i]});
        list_free(&list);
    }
    ck_assert_uint_le(evaluations[1], 2 * evaluations[0]);
    ck_assert_uint_le(evaluations[1], 3 * 8 * 50 + 3 * 8);
}
END_TEST

Suite *links_suite(void)
{
    Suite *suite = suite_create("noc_general_links");
    TCase *tests = tcase_create("links");
    tcase_add_test(tests, whole_cycles);
    tcase_add_test(tests, output_buffers_need_whole_links);
    tcase_add_test(tests, broken_cycles);
    tcase_add_test(tests, estimates);
    tcase_add_test(tests, wide_links);
    tcase_add_test(tests, terminals);
    tcase_add_test(tests, one_link_differs);
    tcase_add_test(tests, shared_link);
    tcase_add_test(tests, blocked_by_allocation);
    tcase_add_test(tests, blocked_by_credits);
    tcase_add_test(tests, same_list);
    tcase_add_test(tests, sleeps_between_flits);
    suite_add_tcase(suite, tests);
    return suite;
}

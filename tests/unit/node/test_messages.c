/* Messages between units: when they start and end, by hand; rings, several senders, repeated names, clocks of
 * different rates. */
#include "tests/unit/node/suites.h"
#include "tests/unit/node/support.h"

#include "sim/random.h"

#include <stdio.h>
#include <stdlib.h>

#define PHASE ".phase 0 \"work\" cycles=0\n"
#define UNIT(number, program) ".unit " #number "\nphase_begin 0\n" program "phase_end 0\n"

static const char *const one_message = PHASE UNIT(0, "send peer=1 tag=5 address=0 bytes=64\n")
    UNIT(1, "receive peer=0 tag=5 address=0 bytes=64\n");

START_TEST(a_message_is_announced_read_carried_and_written)
{
    static const char *const fidelities[] = {"noc.fidelity=ideal", "noc.fidelity=analytic",
                                             "noc.fidelity=flit"};
    /* Announced in 0: leaves in 1, there in 13. Read: ACT 14, RD 22 to 25, data 34. 8 flits leave in 35 to
     * 42, the last is there in 35 + 12 + 7 = 54. Written: ACT 55, WR 63 to 66, data 71. */
    struct run run = {.width = 2, .height = 1, .settings = {fidelities[_i]}};
    replay_well(&run, one_message);
    STARTS(&run, 1, 1, 0);
    STARTS(&run, 0, 1, 13);
    ENDS(&run, 0, 1, 42);
    ENDS(&run, 1, 1, 71);
    ck_assert_uint_eq(run.result.cycles, 71);
    const struct pim_unit_result *sender = &run.result.units[0], *receiver = &run.result.units[1];
    ck_assert_uint_eq(sender->wait[PIM_ENGINE_SEND][PIM_WAIT_PEER], 13);
    ck_assert_uint_eq(sender->busy[PIM_CLASS_NOC], 42 - 13);
    ck_assert_uint_eq(sender->idle[PIM_CLASS_NOC], 71 - 42);
    /* The receiver waits for its peer until the first packet has come in. */
    ck_assert_uint_eq(receiver->wait[PIM_ENGINE_RECEIVE][PIM_WAIT_PEER], 54);
    ck_assert_uint_eq(receiver->busy[PIM_CLASS_NOC], 71 - 54);
    ck_assert_uint_eq(run.system->phases[0].noc_contention, 0);
    /* A flit of announcement and eight of payload, through two routers each. */
    ck_assert_uint_eq(run.result.actions.noc_bit_hops, (1 + 8) * 64);
    ck_assert_uint_eq(sender->actions.noc_bit_hops, 8 * 64);
    ck_assert_uint_eq(run.system->packets, 1);
    ck_assert_uint_eq(pim_system_nodes(run.system)->receive_queue_high_water, 1);
    clean(&run);
}
END_TEST

START_TEST(a_slower_network_clock_waits_for_its_edges)
{
    /* Network at half the rate, tick 2.5 ns: announced in 0, leaves in network cycle 1, there in 13, which is
     * tick 26. Data read in 26 + 21 = 47, so the packet leaves in cycle 24 and is there in 43, tick 86;
     * written in 86 + 17. */
    struct run run = {.width = 2, .height = 1, .settings = {"clock.network_khz=200000"}};
    replay_well(&run, one_message);
    STARTS(&run, 0, 1, 26);
    ENDS(&run, 0, 1, (24 + 7) * 2);
    ENDS(&run, 1, 1, 103);
    ck_assert_uint_eq(run.result.network_cycles, 51);
    clean(&run);
}
END_TEST

START_TEST(clocks_without_a_common_divisor_are_exact)
{
    /* Logic 400, network 300, memory 200 MHz: ticks of 1/1.2 ns; periods 3, 4, 6. Announced in 0, leaves in
     * network cycle 1, there in 13: tick 52. Port on the edge at 54 = memory cycle 9: ACT 10, RD 14 to 17,
     * data 17 + 5 = 22: tick 132 = network cycle 33, so out in 34, there in 53: tick 212. Port in memory
     * cycle 36 (216): ACT 37, WR 41 to 44; tCWL 10 ns is 2 cycles, data 44 + 3 = 47: tick 282. */
    struct run run = {
        .width = 2, .height = 1, .settings = {"clock.network_khz=300000", "clock.memory_khz=200000"}};
    replay_well(&run, one_message);
    ck_assert_uint_eq(run.system->hardware.ticks_per_second, 1200000000);
    STARTS(&run, 0, 1, 52);
    ENDS(&run, 0, 1, (34 + 7) * 4);
    ENDS(&run, 1, 1, 282);
    ck_assert_uint_eq(run.result.cycles, 94);
    ck_assert_uint_eq(run.result.time_ps, 235000);
    clean(&run);
}
END_TEST

static const char *const long_message = PHASE UNIT(0, "send peer=1 tag=5 address=0 bytes=192\n")
    UNIT(1, "receive peer=0 tag=5 address=0 bytes=192\n");

START_TEST(packets_of_a_message_overlap_as_far_as_the_interface_holds_them)
{
    /* Three packets of 8 flits, two held. First: as above. Second: at the port in 25, RD 26 to 29, data 38;
     * leaves behind the first: 43 to 50. Third: read when the first has left, in 42: RD 43 to 46, data 55,
     * leaves 56 to 63. There in 54, 62, 75; written: WR 63 to 66; port free in 66, WR 67 to 70; WR 76 to 79,
     * data 84. */
    struct run run = {.width = 2,
                      .height = 1,
                      .settings = {"network_interface.packet_bytes=64", "network_interface.send_packets=2"}};
    replay_well(&run, long_message);
    ENDS(&run, 0, 1, 63);
    ENDS(&run, 1, 1, 84);
    ck_assert_uint_eq(run.system->packets, 3);
    clean(&run);
    /* One held: read, 8 flits, read, ...: data 34, 55, 76; the last leaves in 77 to 84, is there in 96;
     * written WR 97 to 100, data 105. */
    run.settings[1] = "network_interface.send_packets=1";
    replay_well(&run, long_message);
    ENDS(&run, 0, 1, 84);
    ENDS(&run, 1, 1, 105);
    clean(&run);
}
END_TEST

static const char *const two_messages =
    PHASE UNIT(0, "send peer=1 tag=5 address=0 bytes=64\nsend peer=1 tag=6 address=64 bytes=64\n")
        UNIT(1, "receive peer=0 tag=5 address=0 bytes=64\nreceive peer=0 tag=6 address=64 bytes=64\n");

static const char *const message_of_two_packets = PHASE UNIT(0, "send peer=1 tag=5 address=0 bytes=128\n")
    UNIT(1, "receive peer=0 tag=5 address=0 bytes=128\n");

START_TEST(a_receiver_grants_packet_after_packet)
{
    /* One packet granted: the first is written in 71, its grant leaves in 72 and is there in 84. Read RD 85
     * to 88, data 97; out in 98, there in 117; written WR 118 to 121, data 126. */
    struct run run = {
        .width = 2,
        .height = 1,
        .settings = {"network_interface.packet_bytes=64", "network_interface.receive_packets=1"}};
    replay_well(&run, message_of_two_packets);
    ENDS(&run, 1, 1, 126);
    ck_assert_uint_eq(run.system->packets, 2);
    ck_assert_uint_eq(run.result.noc.packets_delivered, 2 + 1 + 1); /* announcement, grant */
    clean(&run);
    /* Two granted: the second packet does not wait, and nothing is granted any more. */
    run.settings[1] = "network_interface.receive_packets=2";
    replay_well(&run, message_of_two_packets);
    ck_assert_uint_eq(run.result.noc.packets_delivered, 2 + 1);
    ck_assert_uint_lt(run.result.cycles, 126);
    clean(&run);
}
END_TEST

START_TEST(only_so_many_receives_are_announced)
{
    /* One open receive: the second is announced when the first is written, in 71: leaves in 72, there in 84.
     * Read RD 85 to 88, data 97; out in 98, there in 117; written WR 118 to 121, data 126. */
    struct run run = {.width = 2, .height = 1, .settings = {"network_interface.posted_receives=1"}};
    replay_well(&run, two_messages);
    ENDS(&run, 1, 1, 71);
    STARTS(&run, 1, 2, 71);
    STARTS(&run, 0, 2, 84);
    ENDS(&run, 1, 2, 126);
    ck_assert_uint_eq(run.result.units[0].wait[PIM_ENGINE_SEND][PIM_WAIT_PEER], 13 + (84 - 42));
    clean(&run);
    /* Two: announcements leave in 1 and 2; the second send reads as soon as the port has taken the first:
     * starts in 14 at the earliest. */
    run.settings[0] = "network_interface.posted_receives=2";
    replay_well(&run, two_messages);
    STARTS(&run, 0, 2, 14);
    ENDS(&run, 0, 2, 50); /* RD 26 to 29, leaves behind the first message */
    clean(&run);
}
END_TEST

START_TEST(a_ring_of_four_runs_without_contention)
{
    /* Every unit sends to the next and receives from the one before, all neighbours: each message as alone
     * until it is there in 54. The row is still open from the read: WR 55 to 58, data 63. */
    struct run run = {.width = 2, .height = 2};
    replay_well(
        &run,
        PHASE UNIT(0, "send peer=1 tag=1 address=0 bytes=64\nreceive peer=2 tag=1 address=64 bytes=64\n")
            UNIT(1, "send peer=3 tag=1 address=0 bytes=64\nreceive peer=0 tag=1 address=64 bytes=64\n") UNIT(
                2, "send peer=0 tag=1 address=0 bytes=64\nreceive peer=3 tag=1 address=64 bytes=64\n")
                UNIT(3, "send peer=2 tag=1 address=0 bytes=64\nreceive peer=1 tag=1 address=64 bytes=64\n"));
    for (unsigned unit = 0; unit < 4; unit++) {
        ENDS(&run, unit, 1, 42);
        ENDS(&run, unit, 2, 63);
    }
    ck_assert_uint_eq(run.system->phases[0].noc_contention, 0);
    ck_assert_uint_eq(run.result.bytes_received, 256);
    clean(&run);
}
END_TEST

static const char *const two_senders = PHASE UNIT(0, "send peer=1 tag=1 address=0 bytes=64\n")
    UNIT(1, "receive peer=0 tag=1 address=0 bytes=64\nreceive peer=2 tag=1 address=64 bytes=64\n")
        UNIT(2, "send peer=1 tag=1 address=0 bytes=64\n");

START_TEST(two_senders_share_the_way_into_one_receiver)
{
    /* The second announcement leaves a cycle later, so the heads come a cycle apart, in 47 and 48, and 16
     * flits pass one link. Ideal: there in 54 and 55. Analytic: the second waits until the first is through,
     * 62. Flits: 62 is the last one, whoever it belongs to. */
    struct run run = {.width = 3, .height = 1, .settings = {"noc.fidelity=ideal"}};
    replay_well(&run, two_senders);
    ck_assert_uint_eq(run.system->phases[0].noc_contention, 0);
    ENDS(&run, 1, 1, 71);
    ENDS(&run, 1, 2, 75); /* the port is free in 66: WR 67 to 70 */
    ck_assert_uint_eq(pim_system_nodes(run.system)->receive_queue_high_water, 2);
    clean(&run);
    run.settings[0] = "noc.fidelity=analytic";
    replay_well(&run, two_senders);
    ck_assert_uint_eq(run.system->phases[0].noc_contention, 7);
    ENDS(&run, 1, 1, 71);
    ENDS(&run, 1, 2, 75);
    clean(&run);
    run.settings[0] = "noc.fidelity=flit";
    replay_well(&run, two_senders);
    ck_assert_uint_ge(run.system->phases[0].noc_contention, 7);
    ck_assert_uint_le(run.system->phases[0].noc_contention, 7 + 7);
    ck_assert_uint_ge(run.result.cycles, 75);
    ck_assert_uint_le(run.result.cycles, 82); /* both tails in 61 and 62: WR 70 to 73 and 74 to 77 */
    clean(&run);
}
END_TEST

START_TEST(messages_of_one_name_meet_in_program_order)
{
    /* Sizes differ, so a swapped pair would not fit. */
    struct run run = {.width = 2, .height = 1, .settings = {"network_interface.packet_bytes=16"}};
    replay_well(
        &run,
        PHASE UNIT(0, "send peer=1 tag=1 address=0 bytes=100\nsend peer=1 tag=1 address=0 bytes=10\n"
                      "send peer=1 tag=1 address=0 bytes=250\nsend peer=1 tag=1 address=0 bytes=1\n")
            UNIT(1, "receive peer=0 tag=1 address=0 bytes=100\nreceive peer=0 tag=1 address=0 bytes=10\n"
                    "receive peer=0 tag=1 address=0 bytes=250\nreceive peer=0 tag=1 address=0 bytes=1\n"));
    ck_assert_uint_eq(run.result.bytes_received, 361);
    clean(&run);
}
END_TEST

/*
 * Many senders to four units in the middle, messages of one name and of different sizes in flight at a time:
 * packets and announcements overtake each other on their virtual channels. (Pairing by arrival, instead of in
 * program order, refuses each of these programs.)
 */
static const char *const crowded[][5] = {
    {"network_interface.packet_bytes=64", "network_interface.posted_receives=4",
     "network_interface.send_packets=8", "noc.buffer_flits=1", "noc.virtual_channels=4"},
    {"network_interface.packet_bytes=24", "network_interface.posted_receives=64",
     "network_interface.send_packets=8", "noc.buffer_flits=8", "noc.virtual_channels=8"},
    {"network_interface.packet_bytes=16", "network_interface.posted_receives=64",
     "network_interface.send_packets=2", "noc.buffer_flits=2", "noc.virtual_channels=2"},
};

START_TEST(overtaking_does_not_mix_messages)
{
    enum { UNITS = 16, PAIRS = 300, MESSAGES = 3, LINE = 64 };
    static const unsigned middle[4] = {5, 6, 9, 10}, sizes[4] = {3, 30, 90, 200};
    uint64_t state = 1;
    uint64_t bytes = 0;
    char *programs[UNITS];
    size_t lengths[UNITS] = {0}, whole = sizeof PHASE;
    for (unsigned unit = 0; unit < UNITS; unit++)
        programs[unit] = calloc(2 * PAIRS * MESSAGES, LINE);
    for (unsigned pair = 0; pair < PAIRS; pair++) {
        unsigned from = (unsigned)(pim_splitmix64(&state) % UNITS), to = middle[pim_splitmix64(&state) % 4];
        for (unsigned i = 0; i < MESSAGES && from != to; i++) {
            unsigned size = sizes[pim_splitmix64(&state) % 4];
            lengths[from] += (size_t)sprintf(programs[from] + lengths[from],
                                             "send peer=%u tag=1 address=0 bytes=%u\n", to, size);
            lengths[to] += (size_t)sprintf(programs[to] + lengths[to],
                                           "receive peer=%u tag=1 address=4096 bytes=%u\n", from, size);
            bytes += size;
        }
    }
    for (unsigned unit = 0; unit < UNITS; unit++)
        whole += lengths[unit] + LINE;
    char *program = malloc(whole);
    size_t length = (size_t)sprintf(program, PHASE);
    for (unsigned unit = 0; unit < UNITS; unit++) {
        length += (size_t)sprintf(program + length, ".unit %u\nphase_begin 0\n%sphase_end 0\n", unit,
                                  programs[unit]);
        free(programs[unit]);
    }
    struct run run = {.width = 4, .height = 4};
    for (unsigned i = 0; i < 5; i++)
        run.settings[i] = crowded[_i][i];
    replay_well(&run, program);
    ck_assert_uint_eq(run.result.bytes_received, bytes);
    clean(&run);
    free(program);
}
END_TEST

START_TEST(fidelities_are_ordered_on_crossing_traffic)
{
    /* All units of a 4 x 4 array send to the one across: links are shared, so leaving contention out can only
     * be faster. */
    static char program[8000];
    size_t length = (size_t)snprintf(program, sizeof program, PHASE);
    for (unsigned unit = 0; unit < 16; unit++)
        length += (size_t)snprintf(program + length, sizeof program - length,
                                   ".unit %u\nphase_begin 0\nsend peer=%u tag=1 address=0 bytes=4096\n"
                                   "receive peer=%u tag=1 address=8192 bytes=4096\nphase_end 0\n",
                                   unit, 15 - unit, 15 - unit);
    uint64_t cycles[3];
    static const char *const fidelities[] = {"noc.fidelity=ideal", "noc.fidelity=analytic",
                                             "noc.fidelity=flit"};
    for (unsigned i = 0; i < 3; i++) {
        struct run run = {.width = 4, .height = 4, .settings = {fidelities[i]}};
        replay_well(&run, program);
        cycles[i] = run.result.cycles;
        ck_assert(i == 0 ? run.system->phases[0].noc_contention == 0
                         : run.system->phases[0].noc_contention > 0);
        clean(&run);
    }
    ck_assert_uint_lt(cycles[0], cycles[1]);
    ck_assert_uint_lt(cycles[0], cycles[2]);
}
END_TEST

START_TEST(a_message_alone_on_narrow_links_waits_for_nobody)
{
    /* A flit of 64 bits takes 4 cycles of a link of 16: 8 flits last longer, without any contention. */
    static const char *const narrow[] = {"noc.link_bits_per_cycle=16", "noc.terminal_bits_per_cycle=16"};
    struct run wide = {.width = 2, .height = 1}, run = {.width = 2, .height = 1, .settings = {narrow[_i]}};
    replay_well(&wide, one_message);
    replay_well(&run, one_message);
    ck_assert_uint_ge(run.result.cycles, wide.result.cycles + 3 * 8);
    ck_assert_uint_eq(run.system->phases[0].noc_contention, 0);
    clean(&wide);
    clean(&run);
}
END_TEST

START_TEST(the_zero_load_latency_of_the_nodes_is_that_of_the_network)
{
    static const char *const settings[][3] = {{"noc.routing_delay=0"},
                                              {"noc.link_latency=3", "noc.speculative=true"},
                                              {"noc.vc_allocation_delay=2", "noc.credit_delay=2"}};
    struct run run = {.width = 4, .height = 3};
    for (size_t i = 0; i < 3; i++)
        run.settings[i] = settings[_i][i];
    make(&run, PHASE ".unit 0\n");
    const struct pim_node_configuration *node = &run.system->hardware.node;
    for (uint32_t to = 0; to < 12; to++)
        for (uint64_t flits = 1; flits < 40; flits += 13)
            ck_assert_uint_eq(
                node->zero_load.fixed +
                    pim_noc_hops(&run.system->hardware.noc, 0, to) * node->zero_load.per_router + flits - 1,
                pim_noc_zero_load_latency(&run.system->hardware.noc, 0, to, flits));
    clean(&run);
}
END_TEST

static const char *const passed_on = PHASE UNIT(0, "send peer=1 tag=5 address=0 bytes=64\n")
    UNIT(1, "receive peer=0 tag=5 address=0 bytes=64\nsend peer=2 tag=5 address=0 bytes=64 after=1\n")
        UNIT(2, "receive peer=1 tag=5 address=0 bytes=64\n");

START_TEST(a_message_is_passed_on_from_the_bank_or_from_the_interface)
{
    /* Written in unit 1 in 71, as above. From the interface: 8 flits leave in 72 to 79, the last is there in
     * 72 + 12 + 7 = 91; ACT 92, WR 100 to 103, data 108. */
    struct run run = {.width = 3, .height = 1, .settings = {"network_interface.forward=cut_through"}};
    replay_well(&run, passed_on);
    STARTS(&run, 1, 2, 71);
    ENDS(&run, 1, 2, 79);
    ENDS(&run, 2, 1, 108);
    ck_assert_uint_eq(run.result.units[1].bank.reads, 0);
    ck_assert_uint_eq(run.result.units[1].bank.writes, 4);
    ck_assert_uint_eq(run.result.units[0].bank.reads, 4); /* it has them from nowhere else */
    clean(&run);
    run.settings[0] = "network_interface.forward=dram";
    replay_well(&run, passed_on);
    STARTS(&run, 1, 2, 71);
    ck_assert_uint_eq(run.result.units[1].bank.reads, 4);
    ck_assert_uint_gt(run.seen[1][2].end, 79);
    clean(&run);
}
END_TEST

Suite *messages_suite(void)
{
    Suite *suite = suite_create("messages");
    TCase *tests = tcase_create("between units");
    tcase_add_loop_test(tests, a_message_is_announced_read_carried_and_written, 0, 3);
    tcase_add_test(tests, a_slower_network_clock_waits_for_its_edges);
    tcase_add_test(tests, clocks_without_a_common_divisor_are_exact);
    tcase_add_test(tests, packets_of_a_message_overlap_as_far_as_the_interface_holds_them);
    tcase_add_test(tests, only_so_many_receives_are_announced);
    tcase_add_test(tests, a_receiver_grants_packet_after_packet);
    tcase_add_test(tests, a_ring_of_four_runs_without_contention);
    tcase_add_test(tests, two_senders_share_the_way_into_one_receiver);
    tcase_add_test(tests, messages_of_one_name_meet_in_program_order);
    tcase_add_loop_test(tests, overtaking_does_not_mix_messages, 0, 3);
    tcase_add_test(tests, a_message_is_passed_on_from_the_bank_or_from_the_interface);
    tcase_add_test(tests, fidelities_are_ordered_on_crossing_traffic);
    tcase_add_loop_test(tests, a_message_alone_on_narrow_links_waits_for_nobody, 0, 2);
    tcase_add_loop_test(tests, the_zero_load_latency_of_the_nodes_is_that_of_the_network, 0, 3);
    suite_add_tcase(suite, tests);
    return suite;
}

/* Messages: meeting, interconnects, buffers; rules of docs/models/core.md. */
#include "tests/unit/core/suites.h"
#include "tests/unit/core/support.h"

#define BUS "interconnect.kind=bus", "interconnect.bytes_per_cycle=8"

/* The receive is known a cycle later; 16 bytes: read 2, bus 2, write 3. */
START_TEST(bus_rendezvous)
{
    static const char program[] = ".unit 0\nsend peer=1 address=0 bytes=16\n"
                                  ".unit 1\nreceive peer=0 address=32 bytes=16\n";
    struct run run = {.width = 2, .height = 1, .settings = {BUS}};
    replay_well(&run, program);
    STARTS(&run, 0, 0, 1);
    ENDS(&run, 0, 0, 1 + 2 + 2);
    STARTS(&run, 1, 0, 0);
    ENDS(&run, 1, 0, 5 + 3);
    ck_assert_uint_eq(run.result.actions.interconnect_bits, 128);
    ck_assert_uint_eq(run.result.units[0].wait[PIM_ENGINE_SEND][PIM_WAIT_PEER], 1);
    ck_assert_uint_eq(run.result.units[1].wait[PIM_ENGINE_RECEIVE][PIM_WAIT_PEER], 1);
    ck_assert_uint_eq(run.result.units[1].busy[PIM_CLASS_NOC], 7);
    clean(&run);
    run.settings[0] = "interconnect.kind=shared_memory";
    replay_well(&run, program);
    ENDS(&run, 0, 0, 5);
    ENDS(&run, 1, 0, 5 + 2 + 3);
    ck_assert_uint_eq(run.result.actions.interconnect_bits, 256);
    clean(&run);
}
END_TEST

/* Packets of 8 bytes: the bus moves one while the next is read. */
START_TEST(packets)
{
    struct run run = {.width = 2, .height = 1, .settings = {BUS, "interconnect.packet_bytes=8"}};
    replay_well(&run,
                ".unit 0\nsend peer=1 address=0 bytes=20\n.unit 1\nreceive peer=0 address=32 bytes=20\n");
    /* reads end at 3, 5, 7; on the bus until 4, 6, 8; writes 4-7, 7-10, 10-13 */
    ENDS(&run, 0, 0, 8);
    ENDS(&run, 1, 0, 13);
    clean(&run);
}
END_TEST

/* Both buses ask in one cycle: by core number. */
START_TEST(bus_contention)
{
    struct run run = {.width = 4, .height = 1, .settings = {BUS}};
    replay_well(&run,
                ".unit 0\nsend peer=1 address=0 bytes=64\n.unit 1\nreceive peer=0 address=64 bytes=64\n"
                ".unit 2\nsend peer=3 address=0 bytes=64\n.unit 3\nreceive peer=2 address=64 bytes=64\n");
    ENDS(&run, 0, 0, 1 + 8 + 8);
    ENDS(&run, 2, 0, 1 + 8 + 16);
    clean(&run);
}
END_TEST

/* Tags keep messages of one pair apart; those of one tag meet in order. */
START_TEST(tags)
{
    struct run run = {.width = 2, .height = 1, .settings = {BUS, "core.communication=asynchronous"}};
    replay_well(
        &run,
        ".unit 0\nsend peer=1 tag=1 address=0 bytes=16\nsend peer=1 tag=2 address=0 bytes=32\n"
        "send peer=1 tag=1 address=0 bytes=48\n"
        ".unit 1\nreceive peer=0 tag=2 address=100 bytes=32\nreceive peer=0 tag=1 address=200 bytes=16\n"
        "receive peer=0 tag=1 address=300 bytes=48\n");
    ck_assert_uint_lt(run.seen[1][1].end, run.seen[1][0].end); /* what came first is written first */
    clean(&run);
    run.settings[3] = NULL;
    run.settings[2] = "core.communication=synchronous";
    replay(&run,
           ".unit 0\nsend peer=1 tag=1 address=0 bytes=16\nsend peer=1 tag=2 address=0 bytes=32\n"
           ".unit 1\nreceive peer=0 tag=2 address=100 bytes=32\nreceive peer=0 tag=1 address=200 bytes=16\n");
    ck_assert_int_eq(run.status, PIM_DEADLOCK); /* a synchronous core waits for its first receive */
    clean(&run);
}
END_TEST

/* A send does not wait for its receive, while the receiver has room. */
START_TEST(asynchronous)
{
    static const char program[] =
        ".unit 0\nsend peer=1 address=0 bytes=16\nsend peer=1 address=0 bytes=16\nsend peer=1 address=0 "
        "bytes=16\n"
        ".unit 1\n.array_group rows=4 columns=4\n"
        "mvm group=0 input_address=0 input_bytes=8 output_address=64 output_bytes=8\n"
        "receive peer=0 address=64 bytes=16\nreceive peer=0 address=80 bytes=16\nreceive peer=0 address=96 "
        "bytes=16\n";
    struct run run = {
        .width = 2,
        .height = 1,
        .settings = {BUS, "core.communication=asynchronous", "core.issue=in_order", "core.receive_bytes=32"}};
    replay_well(&run, program);
    STARTS(&run, 0, 0, 0);
    ENDS(&run, 0, 0, 4);
    STARTS(&run, 0, 1, 4);
    ENDS(&run, 0, 1, 8);
    STARTS(&run, 1, 1, 19);
    STARTS(&run, 0, 2, 19); /* room again when the first one is taken out */
    ENDS(&run, 1, 1, 22);
    ENDS(&run, 1, 2, 25);
    ENDS(&run, 1, 3, 28); /* on the bus from 21 to 23; the port is taken until 25 */
    ck_assert_uint_eq(run.result.units[0].wait[PIM_ENGINE_SEND][PIM_WAIT_BUFFER], 11);
    clean(&run);
    run.settings[4] = "core.receive_bytes=1"; /* larger messages pass when nothing else is held */
    replay_well(&run, program);
    STARTS(&run, 0, 1, 19);
    clean(&run);
}
END_TEST

/* Over the mesh: 16 bytes are 2 flits; a flit takes 12 cycles to a neighbour, 5 more for each router. */
START_TEST(mesh)
{
    struct run run = {.width = 3, .height = 1};
    replay_well(&run,
                ".unit 0\nsend peer=2 address=0 bytes=16\n.unit 2\nreceive peer=0 address=32 bytes=16\n");
    STARTS(&run, 0, 0, 17); /* the announcement */
    uint64_t handed = 17 + 2;
    ck_assert_uint_eq(run.result.noc.flits_delivered, 2);
    ck_assert_uint_ge(run.seen[2][0].end, handed + 17 + 1 + 3);
    ck_assert_uint_le(run.seen[2][0].end, handed + 17 + 1 + 3 + 1);
    ck_assert_uint_eq(run.result.actions.noc_bit_hops, 2 * 64 * 2);
    clean(&run);
}
END_TEST

/* From chip to chip: 16 bytes, 4 a cycle, 20 cycles of latency; one port a chip each way. */
START_TEST(chips)
{
    struct run run = {.width = 4,
                      .height = 1,
                      .settings = {"chips.width=2", "chips.link_bytes_per_cycle=4", "chips.link_cycles=20"}};
    replay_well(&run,
                ".unit 0\nsend peer=2 address=0 bytes=16\n.unit 2\nreceive peer=0 address=32 bytes=16\n"
                ".unit 1\nsend peer=3 address=0 bytes=16\n.unit 3\nreceive peer=1 address=32 bytes=16\n");
    STARTS(&run, 0, 0, 20);
    ENDS(&run, 0, 0, 22 + 4);
    ENDS(&run, 2, 0, 26 + 20 + 3);
    ENDS(&run, 1, 0, 22 + 8);
    ENDS(&run, 3, 0, 30 + 20 + 3);
    ck_assert_uint_eq(run.result.actions.chip_link_bits, 256);
    ck_assert_uint_eq(run.result.noc.packets_sent, 0);
    clean(&run);
}
END_TEST

/* Two chips send to the same one in one cycle: the second waits at the port in of that, not at its own. */
START_TEST(chips_meet_at_the_receiver)
{
    struct run run = {.width = 6,
                      .height = 1,
                      .settings = {"chips.width=3", "chips.link_bytes_per_cycle=4", "chips.link_cycles=20"}};
    replay_well(&run,
                ".unit 0\nsend peer=4 address=0 bytes=16\n.unit 4\nreceive peer=0 address=32 bytes=16\n"
                ".unit 2\nsend peer=5 address=0 bytes=16\n.unit 5\nreceive peer=2 address=32 bytes=16\n");
    STARTS(&run, 0, 0, 20);
    STARTS(&run, 2, 0, 20);
    ENDS(&run, 0, 0, 20 + 2 + 4);
    ENDS(&run, 2, 0, 20 + 2 + 4);
    ENDS(&run, 4, 0, 22 + 20 + 4 + 3); /* head there at 42, the port until 46 */
    ENDS(&run, 5, 0, 22 + 20 + 8 + 3); /* the port from 46 to 50 */
    ck_assert_uint_eq(run.result.actions.chip_link_bits, 256);
    clean(&run);
    run.settings[2] = "chips.link_cycles=0"; /* a head needs a cycle all the same */
    replay_well(&run,
                ".unit 0\nsend peer=4 address=0 bytes=16\n.unit 4\nreceive peer=0 address=32 bytes=16\n");
    STARTS(&run, 0, 0, 0);
    ENDS(&run, 4, 0, 2 + 1 + 4 + 3);
    clean(&run);
}
END_TEST

/* A grid of three chips: two links, one after the other; the second is taken by the chip between. */
START_TEST(chips_in_a_row)
{
    struct run run = {.width = 6,
                      .height = 1,
                      .settings = {"chips.width=3", "chips.link_bytes_per_cycle=4", "chips.link_cycles=20",
                                   "chips.connection=grid"}};
    replay_well(&run,
                ".unit 0\nsend peer=4 address=0 bytes=16\n.unit 4\nreceive peer=0 address=32 bytes=16\n");
    STARTS(&run, 0, 0, 2 * 20);
    ENDS(&run, 0, 0, 40 + 2 + 4);
    ENDS(&run, 4, 0, 46 + 20 + 4 + 20 + 3);
    ck_assert_uint_eq(run.result.actions.chip_link_bits, 2 * 128);
    clean(&run);
    replay_well(&run,
                ".unit 0\nsend peer=4 address=0 bytes=16\n.unit 4\nreceive peer=0 address=32 bytes=16\n"
                ".unit 2\nsend peer=5 address=0 bytes=256\n.unit 5\nreceive peer=2 address=256 bytes=256\n");
    ENDS(&run, 2, 0, 20 + 32 + 64);     /* the link from 52 to 116 */
    ENDS(&run, 5, 0, 116 + 20 + 48);    /* 16 beats of 3 cycles */
    ENDS(&run, 0, 0, 46);               /* at the chip between at 66 ... */
    ENDS(&run, 4, 0, 116 + 4 + 20 + 3); /* ... where it waits */
    ck_assert_uint_eq(run.result.actions.chip_link_bits, 2 * 128 + 2048);
    clean(&run);
}
END_TEST

/* A grid of 2 x 2 chips of 2 cores: x first, then y, in both directions at once. */
START_TEST(chips_in_a_grid)
{
    struct run run = {.width = 4,
                      .height = 2,
                      .settings = {"chips.width=2", "chips.height=2", "chips.link_bytes_per_cycle=4",
                                   "chips.link_cycles=20", "chips.connection=grid"}};
    replay_well(&run,
                ".unit 0\nsend peer=6 address=0 bytes=16\nreceive peer=6 address=512 bytes=16\n"
                ".unit 6\nsend peer=0 address=0 bytes=16\nreceive peer=0 address=512 bytes=16\n"
                ".unit 2\nsend peer=7 address=0 bytes=256\n.unit 7\nreceive peer=2 address=256 bytes=256\n"
                ".unit 4\nsend peer=3 address=0 bytes=256\n.unit 3\nreceive peer=4 address=256 bytes=256\n");
    /* core 2 keeps the link south of chip 1 from 52 to 116: 0 to 6 comes by there, and waits from 66 on */
    ENDS(&run, 6, 1, 116 + 4 + 20 + 3);
    /* core 4 goes east first and then north, by other links than core 2; 6 to 0 goes west first */
    ENDS(&run, 0, 1, 40 + 2 + 4 + 20 + 4 + 20 + 3);
    ENDS(&run, 7, 0, 116 + 20 + 48);
    ENDS(&run, 3, 0, 40 + 32 + 64 + 20 + 64 + 20 + 48);
    clean(&run);
}
END_TEST

START_TEST(deadlocks)
{
    struct run run = {.width = 2, .height = 1, .settings = {BUS, "core.issue=in_order"}};
    replay_badly(&run,
                 ".unit 0\nsend peer=1 address=0 bytes=16\nreceive peer=1 address=32 bytes=16\n"
                 ".unit 1\nsend peer=0 address=0 bytes=16\nreceive peer=0 address=32 bytes=16\n",
                 PIM_DEADLOCK,
                 "core 0, instruction 1: send to core 1, tag 0 waits for core 1 to reach its receive");
    run.settings[2] = NULL;
    replay_badly(&run, ".unit 0\nreceive peer=1 address=0 bytes=16\n.unit 1\njoin\n", PIM_DEADLOCK,
                 "core 0, instruction 1: receive waits for core 1 to send tag 0: that core has finished");
    replay_badly(
        &run,
        ".unit 0\nreceive peer=1 address=0 bytes=16\nlocal_vector relu elements=4 source=0 destination=0\n"
        ".unit 1\njoin\n",
        PIM_DEADLOCK, "core 0, instruction 2: local_vector waits for instruction 1 (receive)");
}
END_TEST

Suite *core_messages_suite(void)
{
    Suite *suite = suite_create("core_messages");
    TCase *cases = tcase_create("messages");
    tcase_add_test(cases, bus_rendezvous);
    tcase_add_test(cases, packets);
    tcase_add_test(cases, bus_contention);
    tcase_add_test(cases, tags);
    tcase_add_test(cases, asynchronous);
    tcase_add_test(cases, mesh);
    tcase_add_test(cases, chips);
    tcase_add_test(cases, chips_meet_at_the_receiver);
    tcase_add_test(cases, chips_in_a_row);
    tcase_add_test(cases, chips_in_a_grid);
    tcase_add_test(cases, deadlocks);
    suite_add_tcase(suite, cases);
    return suite;
}

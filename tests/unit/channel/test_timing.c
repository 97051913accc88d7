/*
 * Programs of one or two channels by hand, from the rules of models/channel/channel.h and the figure's
 * costs: an addition takes 196 cycles, a multiplication 980, a row of 1 KiB crosses a link of 16 bytes in 64.
 */
#include "tests/unit/channel/suites.h"
#include "tests/unit/channel/support.h"

#include <math.h>

enum { ROW = 64 };

START_TEST(instructions_alone)
{
    static const struct {
        const char *text;
        uint64_t cycles;
    } cases[] = {
        {"row_compute add bits=16 source=0 second=16 result=32\n", 196},
        {"row_compute add bits=16 source=0 second=16 result=32 banks=8\n", 196}, /* lock step */
        {"row_compute subtract bits=3 source=0 second=16 result=32\n", 196},
        {"row_compute multiply bits=16 size=32 source=0 second=16 result=32 banks=4 bank_stride=2\n", 980},
        {"row_compute multiply bits=16 size=32 source=0 second=16 result=32 count=7\n", 7 * 980},
        {"row_compute copy bits=5 source=0 result=32 banks=8\n", 5 * 64}, /* levels.aap_cycles */
        /* three levels: an addition each; rows of 32, 33 and 34 bits out and back */
        {"row_compute reduce bits=32 size=3 source=0 second=40 result=80\n", 3 * 196 + 2 * 99 * ROW},
        {"row_compute reduce bits=32 size=3 source=0 second=40 result=80 banks=8 count=2\n",
         2 * (3 * 196 + 8 * 2 * 99 * ROW)},
        {"row_transpose bits=12 source=0 result=32 banks=2\n", 2 * (16 + 12) * ROW},
        {"row_move column source=0 result=16 rows=16 shift=7 banks=3\n", 3 * 2 * 16 * ROW},
        {"row_move bank source=0 result=16 rows=5 banks=2 to_bank=6\n", 2 * 2 * 5 * ROW},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct run run = {.width = 1, .height = 1};
        replay_well(&run, cases[i].text);
        STARTS(&run, 0, 0, 0);
        ENDS(&run, 0, 0, cases[i].cycles);
        ck_assert_uint_eq(run.result.cycles, cases[i].cycles);
        clean(&run);
    }
}
END_TEST

START_TEST(reram_has_its_own_figure)
{
    struct run run = {.width = 1, .height = 1, .file = RERAM};
    replay_well(&run, "row_compute add bits=16 source=0 second=16 result=32 banks=256\n"
                      "row_compute multiply bits=16 size=16 source=0 second=16 result=32 banks=256 after=1\n"
                      "row_move column source=0 result=99 rows=10 banks=256 after=1\n");
    ENDS(&run, 0, 0, 442);
    ENDS(&run, 0, 1, 442 + 696);
    ENDS(&run, 0, 2, 442 + 696 + 2 * 10 * 256); /* 64 columns are 8 bytes: a cycle a row */
    ck_assert_uint_eq(run.result.actions.dram_activates, 0);
    clean(&run);
}
END_TEST

/* Steps of 1.1 ns in a clock of 1 ns: 162, 3055, 195, 33; and two levels of 162 + 10 and + 20, with rows of
 * 16 and 17 bits out and back. No source has an energy for a step: none is made up. */
START_TEST(reram_by_steps)
{
    static const uint64_t ends[] = {179, 3361, 215, 37, 390 + 2 * 33};
    static const uint64_t steps = 162 + 3055 + 195 + 33 + 172 + 182;
    for (unsigned priced = 0; priced < 2; priced++) {
        struct run run = {.width = 1, .height = 1, .file = RERAM, .settings = {"levels.costs=steps"}};
        run.settings[1] = priced ? "energy.crossbar_step_pj=2.5" : NULL;
        replay_well(&run, "row_compute add bits=16 source=0 second=16 result=32 banks=1\n"
                          "row_compute multiply bits=16 size=32 source=0 second=16 result=32 after=1\n"
                          "row_compute subtract bits=16 source=0 second=16 result=32 after=1\n"
                          "row_compute copy bits=16 source=0 result=32 after=1\n"
                          "row_compute reduce bits=16 size=2 source=0 second=32 result=64 after=1\n");
        for (uint64_t i = 0, end = 0; i < 5; i++)
            ENDS(&run, 0, i, end += ends[i]);
        ck_assert_uint_eq(run.result.actions.crossbar_steps, steps);
        ck_assert_uint_eq(run.result.actions.dram_activates, 0);
        if (priced)
            ck_assert_double_eq(run.result.energy.dram, 2.5 * (double)steps);
        else
            ck_assert(isnan(run.result.energy.dram));
        clean(&run);
    }
    struct run run = {.width = 1, .height = 1, .settings = {"levels.costs=steps"}};
    replay_badly(&run, "join\n", PIM_BAD_INPUT, "steps are of crossbars");
}
END_TEST

/* What has banks of its own goes on beside; what has not waits for them, in the order of the program. */
START_TEST(banks_are_kept)
{
    struct run run = {.width = 1, .height = 1};
    replay_well(&run, "row_compute multiply bits=16 size=32 source=0 second=16 result=32 banks=4\n"
                      "row_compute add bits=16 source=0 second=16 result=32 first_bank=4 banks=4\n"
                      "row_compute add bits=16 source=0 second=16 result=32 first_bank=3 banks=2\n"
                      "row_move bank source=0 result=1 rows=1 first_bank=6 to_bank=7\n"
                      "row_move column source=0 result=1 rows=1 first_bank=2\n");
    ENDS(&run, 0, 0, 980);
    ENDS(&run, 0, 1, 196);
    STARTS(&run, 0, 2, 980); /* banks 3 and 4 */
    ENDS(&run, 0, 2, 980 + 196);
    STARTS(&run, 0, 3, 196);
    ENDS(&run, 0, 3, 196 + 2 * ROW);
    STARTS(&run, 0, 4, 980);
    ENDS(&run, 0, 4, 980 + 2 * ROW);
    clean(&run);
}
END_TEST

/* Moves of other banks share the data bus: 8 rows and 4 rows at once take as long as 12. */
START_TEST(the_data_bus_is_shared)
{
    struct run run = {.width = 1, .height = 1};
    replay_well(&run, "row_move column source=0 result=16 rows=8\n"
                      "row_transpose bits=4 source=0 result=16 first_bank=1\n"
                      "row_compute add bits=16 source=0 second=16 result=32 first_bank=2\n");
    ENDS(&run, 0, 0, 16 * ROW);
    STARTS(&run, 0, 1, 0);
    ENDS(&run, 0, 1, (16 + 8) * ROW);
    ENDS(&run, 0, 2, 196);
    clean(&run);
}
END_TEST

/* Read and sent in 16 x 64 cycles; the last row is written when it is there. */
START_TEST(a_message)
{
    struct run run = {.width = 2, .height = 1};
    replay_well(&run, ".unit 0\nrow_compute add bits=8 source=0 second=16 result=32\n"
                      "row_send channel peer=1 tag=7 row=0 rows=8 banks=2 after=1\n"
                      ".unit 1\nrow_receive channel peer=0 tag=7 row=9 rows=16 first_bank=5\n");
    STARTS(&run, 0, 1, 196);
    ENDS(&run, 0, 1, 196 + 16 * ROW);
    STARTS(&run, 1, 0, 196 + ROW); /* with its first row */
    ENDS(&run, 1, 0, 196 + 17 * ROW);
    ck_assert_uint_eq(run.result.bytes_sent, 16 * 1024);
    ck_assert_uint_eq(run.result.bytes_received, 16 * 1024);
    ck_assert_uint_eq(run.result.actions.chip_link_bits, 0);
    clean(&run);
}
END_TEST

/* Two channels send to one: its link takes one after the other, 64 cycles a row. Its banks are busy first. */
START_TEST(a_link_into_a_channel_is_shared)
{
    struct run run = {.width = 3, .height = 1};
    replay_well(&run, ".unit 0\nrow_send channel peer=2 row=0 rows=4\n"
                      ".unit 1\nrow_send channel peer=2 row=0 rows=4\n"
                      ".unit 2\nrow_receive channel peer=0 row=0 rows=4\n"
                      "row_receive channel peer=1 row=0 rows=4 first_bank=1\n"
                      "row_compute multiply bits=16 size=32 source=0 second=16 result=32 first_bank=1\n");
    ENDS(&run, 0, 0, 4 * ROW);
    ENDS(&run, 1, 0, 8 * ROW);
    ENDS(&run, 2, 0, 5 * ROW);
    STARTS(&run, 2, 1, 980); /* the product keeps bank 1 */
    ENDS(&run, 2, 1, 980 + 4 * ROW);
    clean(&run);
}
END_TEST

/* The bus between stacks: 16 bytes a cycle here, so that two messages take as long as one of both. */
START_TEST(the_bus_between_stacks_is_shared)
{
    struct run run = {.width = 2, .height = 2, .settings = {"levels.bus_bytes=16"}};
    replay_well(&run, ".unit 0\nrow_send stack peer=2 row=0 rows=4\n"
                      ".unit 1\nrow_send stack peer=3 row=0 rows=4\n"
                      ".unit 2\nrow_receive stack peer=0 row=0 rows=4\n"
                      ".unit 3\nrow_receive stack peer=1 row=0 rows=4\n");
    ENDS(&run, 0, 0, 4 * ROW);
    ENDS(&run, 1, 0, 8 * ROW);
    ENDS(&run, 2, 0, 5 * ROW);
    ENDS(&run, 3, 0, 9 * ROW);
    ck_assert_uint_eq(pim_system_channels(run.system)->bus_cycles, 8 * ROW);
    ck_assert_uint_eq(run.result.actions.chip_link_bits, 8 * 8192);
    clean(&run);
}
END_TEST

/* Messages of one name meet in order; another name may pass. A join waits for all. */
START_TEST(messages_meet_in_order)
{
    struct run run = {.width = 2, .height = 1};
    replay_well(&run, ".unit 0\nrow_send channel peer=1 tag=1 row=0 rows=2\n"
                      "row_send channel peer=1 tag=1 row=0 rows=1 first_bank=1\n"
                      "row_send channel peer=1 tag=2 row=0 rows=1 first_bank=2\njoin\n"
                      "row_compute add bits=8 source=0 second=16 result=32\n"
                      ".unit 1\nrow_receive channel peer=0 tag=2 row=0 rows=1\n"
                      "row_receive channel peer=0 tag=1 row=4 rows=2 first_bank=1\n"
                      "row_receive channel peer=0 tag=1 row=9 rows=1 first_bank=2\n");
    ENDS(&run, 0, 0, 2 * ROW);
    ENDS(&run, 0, 1, 3 * ROW);
    ENDS(&run, 0, 2, 4 * ROW);
    STARTS(&run, 0, 4, 4 * ROW);
    /* All first rows come at 64; the writes share the data bus in the order of the program: 1, 2 and 1
     * rows. */
    ENDS(&run, 1, 0, 5 * ROW); /* its row has left at 4 x 64 */
    ENDS(&run, 1, 1, 4 * ROW);
    ENDS(&run, 1, 2, 5 * ROW);
    clean(&run);
}
END_TEST

/* A run that is stopped accounts up to there. */
START_TEST(a_run_may_be_stopped)
{
    struct run run = {.width = 1, .height = 1, .until = 500};
    replay(&run, "row_compute multiply bits=16 size=32 source=0 second=16 result=32\n");
    ck_assert_int_eq(run.status, PIM_OK);
    ck_assert(!run.result.complete);
    check_invariants(&run);
    ck_assert_uint_eq(run.result.units[0].busy[PIM_CLASS_PE], 500);
    clean(&run);
}
END_TEST

Suite *channel_timing_suite(void)
{
    Suite *suite = suite_create("channel_timing");
    TCase *tests = tcase_create("timing");
    tcase_add_test(tests, instructions_alone);
    tcase_add_test(tests, reram_has_its_own_figure);
    tcase_add_test(tests, reram_by_steps);
    tcase_add_test(tests, banks_are_kept);
    tcase_add_test(tests, the_data_bus_is_shared);
    tcase_add_test(tests, a_message);
    tcase_add_test(tests, a_link_into_a_channel_is_shared);
    tcase_add_test(tests, the_bus_between_stacks_is_shared);
    tcase_add_test(tests, messages_meet_in_order);
    tcase_add_test(tests, a_run_may_be_stopped);
    suite_add_tcase(suite, tests);
    return suite;
}

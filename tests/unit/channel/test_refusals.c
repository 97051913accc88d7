/* What channels refuse, and what they say when they wait for ever. */
#include "tests/unit/channel/suites.h"
#include "tests/unit/channel/support.h"

#include <stdio.h>

START_TEST(programs_are_refused)
{
    static const struct {
        const char *program, *part;
    } cases[] = {
        {"row_compute add bits=16 source=0 second=16 result=32 first_bank=1 banks=8\n",
         "channel 0, instruction 1 (row_compute): bank 8 does not exist: a channel has 8 (levels.banks)"},
        {"row_compute add bits=16 source=32721 second=16 result=32\n",
         "source: rows 32721 to 32736, and a bank has 32736 for data: 1 are missing (levels.rows)"},
        {"row_compute multiply bits=16 size=32 source=0 second=16 result=32720\n", "16 are missing"},
        {"row_compute reduce bits=4 size=14 source=0 second=16 result=40\n",
         "reduces 2^14 columns: a row has 8192"},
        {"row_compute reduce bits=4 size=13 source=0 second=32721 result=40\n",
         "second: rows 32721 to 32736"},
        {"row_transpose bits=12 source=32721 result=0\n", "source: rows 32721 to 32736"},
        {"row_move bank source=0 result=0 rows=1 banks=4 to_bank=2\n", "bank 2 is both read and written"},
        {"row_move bank source=0 result=0 rows=1 first_bank=4 banks=2 bank_stride=2 to_bank=2\n",
         "bank 4 is both read and written"},
        {"row_move bank source=0 result=0 rows=1 banks=2 to_bank=7\n", "bank 8 does not exist"},
        {"row_move column source=0 result=0 rows=1 shift=8192\n", "shift is 8192: a row has 8192 columns"},
        {"row_move column source=0 result=0 rows=32768 banks=8\n", "rows 0 to 32767"},
        {"row_send channel peer=1 row=0 rows=40000\n", "row: rows 0 to 39999"},
        {"load none address=0 bytes=1\n",
         "instruction 1 (load): this hardware has no engine for it: that of array.kind = \"node\""},
        {"send peer=1 bytes=1\n", "that of array.kind = \"node\" or \"core\" executes it"},
        {"bit_serial add bits=1 rows=1\n", "there is no engine for it: row_compute has taken its place"},
        {".unit 0\nrow_send channel peer=1 tag=5 row=0 rows=4 banks=2\n"
         ".unit 1\nrow_receive channel peer=0 tag=5 row=0 rows=7\n",
         "channel 0, instruction 1 (row_send): sends 4 rows of 2 banks, tag 5, and channel 1 waits for 7 of "
         "1"},
        {".unit 0\nrow_send stack peer=1 row=0 rows=4\n.unit 1\nrow_receive stack peer=0 row=0 rows=4\n",
         "goes to channel 1, which is in the same stack: both ends must say \"channel\""},
        {".unit 0\nrow_send channel peer=2 row=0 rows=4\n.unit 2\nrow_receive channel peer=0 row=0 rows=4\n",
         "goes to channel 2, which is in another stack: both ends must say \"stack\""},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct run run = {.width = 2, .height = 2};
        replay_badly(&run, cases[i].program, PIM_BAD_INPUT, cases[i].part);
    }
}
END_TEST

START_TEST(who_waits_for_whom)
{
    static const struct {
        const char *program, *part;
    } cases[] = {
        {".unit 0\nrow_send channel peer=1 tag=3 row=0 rows=4\n",
         "channel 0, instruction 1: row_send to channel 1, tag 3 waits for channel 1 to reach its receive: "
         "that "
         "channel has finished"},
        {".unit 0\nrow_receive channel peer=1 tag=3 row=0 rows=4\n"
         "row_compute add bits=16 source=0 second=16 result=32 after=1\n",
         "channel 0, instruction 1: row_receive waits for channel 1 to send tag 3: that channel has "
         "finished"},
        {".unit 0\nrow_receive channel peer=1 tag=3 row=0 rows=4\n"
         "row_compute add bits=16 source=0 second=16 result=32 after=1\n",
         "channel 0, instruction 2: row_compute waits for instruction 1 (row_receive)"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct run run = {.width = 2, .height = 1};
        replay_badly(&run, cases[i].program, PIM_DEADLOCK, cases[i].part);
    }
}
END_TEST

START_TEST(hardware_is_refused)
{
    static const struct {
        const char *settings[2], *part;
    } cases[] = {
        {{"levels.banks=0"}, "at least one bank is needed"},
        {{"levels.banks=16"}, "is 16, and the memory of levels.memory has 8"},
        {{"levels.columns=4096"}, "is 4096, and the memory of levels.memory has 8192"},
        {{"levels.rows=32768"}, "is 32768, and the memory of levels.memory has 32736"},
        {{"levels.memory=fast_overlap"}, "the nearest is fast_overlapim"},
        {{"levels.memory=ddr4_2400r"}, "dram.taa is 0"},
        {{"levels.memory=", "levels.costs=commands"}, "name the memory whose commands they are"},
        {{"clock.memory_khz=500000", "levels.costs=commands"}, "has a period of 1000 ps"},
        {{"levels.memory_values=dram = { trefi = 350; };"}, "refreshes could not keep up"},
        {{"levels.memory_values=dram = { tfow = 3; };"}, "tfaw"},
        {{"levels.memory_values=dram = { stack_ids = 2; };"}, "dram.stack_ids is 2: banks that compute"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct run run = {.width = 1, .height = 1, .settings = {cases[i].settings[0], cases[i].settings[1]}};
        replay_badly(&run, "join\n", PIM_BAD_INPUT, cases[i].part);
    }
}
END_TEST

/* The same without a run: `pimsim trace check`. */
START_TEST(traces_are_checked)
{
    static const struct {
        const char *program, *part;
    } cases[] = {
        {"row_compute copy bits=16 source=32730 result=0 banks=1\n", "10 are missing"},
        {"row_compute add bits=16 source=0 second=16 result=32721 banks=1\n", "result: rows 32721 to 32736"},
        {"row_compute copy bits=8 source=0 result=8 first_bank=1 banks=4 bank_stride=3\n",
         "bank 10 does not exist: a channel has 8"},
        {"row_move bank source=0 result=0 rows=4 banks=2 to_bank=7\n", "bank 8 does not exist"},
        {"row_move column source=0 result=0 rows=4 banks=1 shift=8192\n", "a row has 8192 columns"},
        {"row_send channel peer=2 row=0 rows=4 banks=1\n.unit 2\nrow_receive channel peer=0 row=0 rows=4 "
         "banks=1\n",
         "the reach must be \"stack\""},
        {"repeat 2 {\nrow_compute copy bits=16 source=32730 result=0 banks=1\n}\n",
         "channel 0, stored instruction 2 (row_compute)"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct run run = {.width = 2, .height = 2};
        struct pim_error error = {PIM_OK, ""};
        begin(&run, cases[i].program);
        ck_assert_msg(run.status == PIM_OK, "%s", run.error.text);
        ck_assert_int_eq(pim_channels_check(&run.system->hardware.channels, run.trace, &error),
                         PIM_BAD_INPUT);
        ck_assert_msg(strstr(error.text, cases[i].part) != NULL, "case %u: %s", i, error.text);
        clean(&run);
    }
    struct run run = {.width = 2, .height = 2};
    struct pim_error error = {PIM_OK, ""};
    begin(&run, "row_compute copy bits=16 source=32720 result=0 first_bank=1 banks=3 bank_stride=3\n"
                "row_send stack peer=2 row=32732 rows=4 banks=1\n.unit 2\n"
                "row_receive stack peer=0 row=0 rows=4 banks=1\n");
    ck_assert_msg(pim_channels_check(&run.system->hardware.channels, run.trace, &error) == PIM_OK, "%s",
                  error.text);
    clean(&run);
}
END_TEST

/* A cycle of 1 kHz is 65521 * 65519 ticks here: 268 566 576 cycles of one channel fit below 2^60, half as
 * many of each of two. */
#define SLOW "clock.logic_khz=1", "clock.network_khz=65521", "clock.memory_khz=65519"

START_TEST(times_that_cannot_be_counted_are_refused)
{
    static const char *const multiply =
        "row_compute multiply bits=16 size=32 source=0 second=16 result=32 banks=1\n";
    struct run last = {.width = 1, .height = 1, .settings = {SLOW, "levels.multiply_cycles=268566576"}};
    replay_well(&last, multiply);
    ENDS(&last, 0, 0, 268566576);
    clean(&last);
    struct run late = {.width = 1, .height = 1, .settings = {SLOW, "levels.multiply_cycles=268566577"}};
    replay_badly(&late, multiply, PIM_BAD_INPUT,
                 "channel 0, instruction 1 (row_compute): the run goes on after tick 1152921504606846975, "
                 "beyond which times cannot be counted");
    /* 32736 rows of 1024 cycles on the way: the message of one bank four times, but not five */
    static const char *const send = ".unit 0\nrow_send channel peer=1 row=0 rows=32736 banks=%d\n"
                                    ".unit 1\nrow_receive channel peer=0 row=0 rows=32736 banks=%d\n";
    for (int banks = 4; banks <= 5; banks++) {
        struct run run = {.width = 2, .height = 1, .settings = {SLOW, "levels.channel_bytes=1"}};
        char program[256];
        (void)snprintf(program, sizeof program, send, banks, banks);
        if (banks == 4) {
            replay_well(&run, program);
            clean(&run);
        } else {
            replay_badly(&run, program, PIM_BAD_INPUT,
                         "channel 0, instruction 1 (row_send): the run goes on after tick");
        }
    }
}
END_TEST

Suite *channel_refusals_suite(void)
{
    Suite *suite = suite_create("channel_refusals");
    TCase *tests = tcase_create("refusals");
    tcase_add_test(tests, programs_are_refused);
    tcase_add_test(tests, who_waits_for_whom);
    tcase_add_test(tests, traces_are_checked);
    tcase_add_test(tests, hardware_is_refused);
    tcase_add_test(tests, times_that_cannot_be_counted_are_refused);
    suite_add_tcase(suite, tests);
    return suite;
}

/* Traces that no hardware, or not this one, can run; deadlocks and what their message says; configurations
 * that are refused. */
#include "tests/unit/node/suites.h"
#include "tests/unit/node/support.h"

#include "models/system/read.h"
#include "models/system/schema.h"

#include <string.h>

#define PHASE ".phase 0 \"work\" cycles=0\n"
#define UNIT(number, program) ".unit " #number "\nphase_begin 0\n" program "phase_end 0\n"

static const struct {
    const char *program, *part;
} refused[] = {
    /* buffers */
    {PHASE UNIT(0, "load input address=0 bytes=16385\n"),
     "unit 0, instruction 1 (load): needs 16385 bytes of the input buffer, which has 16384"},
    {PHASE UNIT(0, "matrix m=128 n=128 k=8 open_output\n"),
     "needs 65536 bytes of the output buffer, which has 16384"},
    {PHASE UNIT(0, "store output address=0 bytes=16\n"),
     "instruction 1 (store): gives back 16 bytes of the output buffer, which holds 0 bytes"},
    {PHASE UNIT(0, "matrix m=8 n=8 k=8 release_input\n"),
     "gives back 64 bytes of the input buffer, which holds 0 bytes"},
    {PHASE UNIT(0, "matrix m=8 n=8 k=8 release_weight\n"), "gives back 64 bytes of the weight buffer"},
    {PHASE UNIT(0, "vector copy rows=1 elements=1 bits=8 release=4\n"),
     "gives back 4 bytes of the output buffer"},
    /* given back twice, while the first to give it back is still at work */
    {PHASE UNIT(0, "load output address=0 bytes=64\nstore output address=0 bytes=64 after=1\nstore output "
                   "address=0 bytes=64 after=2\n"),
     "instruction 3 (store): gives back 64 bytes of the output buffer, which holds 0 bytes that are not "
     "given back yet"},
    {PHASE UNIT(0, "load input address=0 bytes=64\nmatrix m=8 n=8 k=8 release_input after=1\nstore input "
                   "address=0 bytes=64 after=2\n"),
     "instruction 3 (store): gives back 64 bytes of the input buffer, which holds 0 bytes that are not given "
     "back yet"},
    /* memory: 8 MiB */
    {PHASE UNIT(0, "load none address=8388608 bytes=1\n"),
     "reach beyond the memory of the node, which has 8388608 bytes"},
    {PHASE UNIT(0, "load none address=8388607 bytes=2\n"), "reach beyond the memory"},
    {PHASE UNIT(0, "load none address=0 bytes=1 stride=2147483648 count=1073741824\n"),
     "reach beyond the memory"},
    {PHASE UNIT(0, "store none address=4611686018427387903 bytes=1\n"), "reach beyond the memory"},
    {PHASE UNIT(0, "repeat 3 {\nload none address=4194304 bytes=1 step=2097152\n}\n"),
     "instruction 3 (load)"},
    {PHASE UNIT(0, "send peer=1 tag=0 address=8388600 bytes=9\n"), "instruction 1 (send)"},
    {PHASE UNIT(0, "receive peer=1 tag=0 address=0 bytes=4611686018427387904\n"), "instruction 1 (receive)"},
    /* sizes that the models bound */
    {PHASE UNIT(0, "matrix m=1048577 n=1 k=1\n"),
     "instruction 1 (matrix): PE array: m of a product is 1048577"},
    {PHASE UNIT(0, "vector copy rows=16777217 elements=1 bits=8\n"),
     "instruction 1 (vector): ACU operation copy"},
    /* engines that this family has not */
    {PHASE UNIT(0, "mvm group=0 windows=1 input_address=0 input_bytes=1 output_address=0 output_bytes=1\n"),
     "instruction 1 (mvm): this hardware has no engine for it: that of array.kind = \"core\" executes it"},
    {PHASE UNIT(0, "bit_serial add bits=8 rows=3 first_bank=0 banks=1 count=1\n"), "no engine for it"},
    /* messages of different size */
    {PHASE UNIT(0, "send peer=1 tag=3 address=0 bytes=10\n")
         UNIT(1, "join\nreceive peer=0 tag=3 address=0 bytes=11\n"),
     "unit 0, instruction 1 (send): sends 10 bytes of tag 3 to unit 1, whose receive (instruction 2) expects "
     "11"},
    /* work without time */
    {PHASE UNIT(0, "repeat 4294967295 {\njoin\n}\n"), "more than 1048576 joins follow each other"},
};

START_TEST(a_wrong_trace_is_refused_with_its_place)
{
    struct run run = {.width = 2, .height = 1};
    replay_badly(&run, refused[_i].program, PIM_BAD_INPUT, refused[_i].part);
}
END_TEST

START_TEST(a_circle_of_receives_is_a_deadlock)
{
    /* Each unit sends only when it has received. */
    struct run run = {.width = 2, .height = 1};
    static const char *const program =
        PHASE UNIT(0, "receive peer=1 tag=0 address=0 bytes=8\nsend peer=1 tag=1 address=0 bytes=8 after=1\n")
            UNIT(1, "receive peer=0 tag=1 address=0 bytes=8\nsend peer=0 tag=0 address=0 bytes=8 after=1\n");
    replay(&run, program);
    ck_assert_int_eq(run.status, PIM_DEADLOCK);
    ck_assert_int_eq(pim_status_exit_code(run.status), 3);
    ck_assert_ptr_nonnull(
        strstr(run.error.text,
               "unit 0, instruction 1: receive from unit 1, tag 0 waits for a send that has not started\n"));
    ck_assert_ptr_nonnull(strstr(
        run.error.text, "unit 0, instruction 2: send to unit 1, tag 1 waits for instruction 1 (receive)"));
    ck_assert_ptr_nonnull(strstr(
        run.error.text, "unit 1, instruction 2: send to unit 0, tag 0 waits for instruction 1 (receive)"));
    ck_assert_ptr_null(strstr(run.error.text, "packet")); /* nothing is stuck in the network */
    clean(&run);
}
END_TEST

static const struct {
    const char *setting, *program, *part;
} deadlocks[] = {
    {NULL, PHASE UNIT(0, "send peer=1 tag=7 address=0 bytes=8\n"),
     "unit 0, instruction 1: send to unit 1, tag 7 waits for unit 1 to announce its receive"},
    {NULL, PHASE UNIT(0, "receive peer=1 tag=7 address=0 bytes=8\n") UNIT(1, "join\n"),
     "unit 0, instruction 1: receive from unit 1, tag 7 waits for a send that has not started: that unit has "
     "finished"},
    {NULL, PHASE UNIT(0, "load input address=0 bytes=16000\nload input address=0 bytes=400\n"),
     "unit 0, instruction 2: load waits for space: 384 of 16384 bytes of the input buffer are free"},
    {"unit.issue=in_order", PHASE UNIT(0, "send peer=1 tag=7 address=0 bytes=8\nmatrix m=1 n=1 k=1\n"),
     "unit 0, instruction 2: matrix waits for instruction 1 to start (in-order issue)"},
    {"network_interface.posted_receives=1",
     PHASE UNIT(0, "receive peer=1 tag=1 address=0 bytes=8\nreceive peer=1 tag=0 address=0 bytes=8\n")
         UNIT(1, "send peer=0 tag=0 address=0 bytes=8\nsend peer=0 tag=1 address=0 bytes=8\n"),
     "unit 0, instruction 2: receive from unit 1, tag 0 waits for an open receive to end: 1 are open"},
    {NULL,
     PHASE UNIT(0, "load weight address=0 bytes=16384\nvector copy rows=1 elements=1 bits=8 after=1\nload "
                   "weight address=0 bytes=1 after=1\n"
                   "matrix m=1 n=1 k=1 after=1\n"),
     "unit 0, instruction 4: matrix waits for instruction 3 (load)"},
};

START_TEST(a_deadlock_says_who_waits_for_what)
{
    struct run run = {.width = 2, .height = 1, .settings = {deadlocks[_i].setting}};
    replay_badly(&run, deadlocks[_i].program, PIM_DEADLOCK, deadlocks[_i].part);
}
END_TEST

START_TEST(a_trace_for_another_array_is_refused)
{
    struct run run = {.width = 2, .height = 1, .settings = {"array.width=3"}};
    replay_badly(&run, PHASE UNIT(0, "join\n"), PIM_BAD_INPUT,
                 "the trace is made for an array of 2 x 1, the hardware has 3 x 1");
}
END_TEST

START_TEST(times_that_cannot_be_counted_are_refused)
{
    /* A cycle of 1 kHz is almost 2^20 ticks of 999 983 kHz; 2^40 products on one multiplier are 2^60 ticks.
     * */
    struct run run = {.width = 2,
                      .height = 1,
                      .settings = {"clock.logic_khz=1", "clock.network_khz=999983", "clock.memory_khz=999983",
                                   "pe.rows=1", "pe.columns=1"}};
    replay_badly(&run, PHASE UNIT(0, "matrix m=1048576 n=1048576 k=1\n"), PIM_BAD_INPUT,
                 "beyond which times cannot be counted");
    replay_badly(&run, PHASE UNIT(0, "vector softmax rows=16777216 elements=16777216 bits=8\n"),
                 PIM_BAD_INPUT, "beyond which times cannot be counted");
    /* 2^40 cycles of 1 kHz are 35 years in few ticks: too many picoseconds. */
    struct run slow = {.width = 1,
                       .height = 1,
                       .settings = {"clock.logic_khz=1", "clock.network_khz=1", "clock.memory_khz=1",
                                    "pe.rows=1", "pe.columns=1"}};
    replay_badly(&slow, PHASE UNIT(0, "matrix m=1048576 n=1048576 k=1\n"), PIM_BAD_INPUT,
                 "beyond which times cannot be counted");
}
END_TEST

static const struct {
    const char *settings[3], *part;
} configurations[] = {
    {{"unit.window=5"}, "unit.window"},
    {{"clock.logic_khz=1", "clock.network_khz=99999989", "clock.memory_khz=9999991"}, "clock"},
    {{"clock.memory_khz=10000001"}, "clock.memory_khz"},
    {{"dram.trefi_ns=1000000000", "clock.memory_khz=10000000"},
     "trefi"}, /* 10^10 cycles: must not wrap in 32 bits */
    {{"dram.trefi_ns=1"}, "dram.trefi_ns"},
    {{"dram.trefi_ns=300"}, "trefi"},
    {{"dram.trc_ns=10"}, "trc"},
    {{"dram.row_bytes=1000"}, "row"},
    {{"clock.logic_khz=1", "clock.network_khz=99999989", "clock.memory_khz=9973"},
     "clock.logic_khz"}, /* 10^12 ticks a cycle */
};

START_TEST(a_wrong_configuration_is_refused)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_configuration *configuration;
    struct pim_hardware hardware;
    ck_assert_int_eq(pim_configuration_create(&pim_hardware_schema, &configuration, &error), PIM_OK);
    enum pim_status status = pim_configuration_set(configuration, "array.width=2", &error);
    if (status == PIM_OK)
        status = pim_configuration_set(configuration, "array.height=2", &error);
    for (size_t i = 0; i < 3 && configurations[_i].settings[i] && status == PIM_OK; i++)
        status = pim_configuration_set(configuration, configurations[_i].settings[i], &error);
    if (status == PIM_OK)
        status = pim_hardware_read(configuration, &hardware, &error);
    ck_assert_int_eq(status, PIM_BAD_INPUT);
    ck_assert_msg(strstr(error.text, configurations[_i].part) != NULL, "'%s' is not in '%s'",
                  configurations[_i].part, error.text);
    pim_configuration_destroy(configuration);
}
END_TEST

Suite *refusals_suite(void)
{
    Suite *suite = suite_create("refusals");
    TCase *tests = tcase_create("input");
    tcase_add_loop_test(tests, a_wrong_trace_is_refused_with_its_place, 0,
                        (int)(sizeof refused / sizeof refused[0]));
    tcase_add_test(tests, a_circle_of_receives_is_a_deadlock);
    tcase_add_loop_test(tests, a_deadlock_says_who_waits_for_what, 0,
                        (int)(sizeof deadlocks / sizeof deadlocks[0]));
    tcase_add_test(tests, a_trace_for_another_array_is_refused);
    tcase_add_test(tests, times_that_cannot_be_counted_are_refused);
    tcase_add_loop_test(tests, a_wrong_configuration_is_refused, 0,
                        (int)(sizeof configurations / sizeof configurations[0]));
    suite_add_tcase(suite, tests);
    return suite;
}

/* What a run refuses, and how it says so. */
#include "tests/unit/core/suites.h"
#include "tests/unit/core/support.h"

START_TEST(arrays)
{
    struct run run = {.width = 2, .height = 1};
    replay_badly(&run,
                 ".unit 1\n.array_group arrays=5 rows=4 columns=4\n.array_group arrays=6 rows=4 columns=4\n",
                 PIM_BAD_INPUT, "core 1 holds 11 arrays, has 8: 3 are missing");
    run.settings[0] = "crossbar.management_arrays=4";
    replay_badly(&run,
                 ".unit 1\n.array_group arrays=5 rows=4 columns=4\n.array_group arrays=1 rows=4 columns=4\n",
                 PIM_BAD_INPUT, "core 1 holds 12 arrays, has 8: 4 are missing");
    run.settings[0] = "crossbar.cell_bits=4"; /* four arrays for one of the mapper's */
    replay_badly(&run, ".unit 0\n.array_group arrays=3 rows=4 columns=4\n", PIM_BAD_INPUT,
                 "core 0 holds 3 arrays, has 2: 1 are missing");
    run.settings[0] = NULL;
    replay_badly(&run,
                 ".unit 0\n.array_group rows=4 columns=4\n"
                 "mvm group=1 input_address=0 input_bytes=8 output_address=64 output_bytes=8\n",
                 PIM_BAD_INPUT, "does not exist");
}
END_TEST

/* Every weight of a group has a cell: those of a trace that is mapped for other arrays may have none. An
 * array has 4 x 4 weights of one slice. */
START_TEST(cells_of_groups)
{
    struct run run = {.width = 2, .height = 1};
    replay_well(&run, ".unit 1\n.array_group arrays=2 rows=4 columns=8\n"
                      ".array_group arrays=2 rows=4 columns=4 folds=2 fold_stride=4\n");
    clean(&run);
    replay_badly(&run, ".unit 1\n.array_group rows=4 columns=4\n.array_group rows=5 columns=4\n",
                 PIM_BAD_INPUT, "core 1, array group 1 has 5 rows of weights, an array 4 (crossbar.rows)");
    replay_badly(&run, ".unit 1\n.array_group arrays=2 rows=4 columns=9\n", PIM_BAD_INPUT,
                 "core 1, array group 0 has 9 columns of weights, its arrays (2) hold 8");
    replay_badly(&run, ".unit 1\n.array_group arrays=2 rows=4 columns=3 folds=3 fold_stride=4\n",
                 PIM_BAD_INPUT, "array group 0 has 9 columns of weights, its arrays (2) hold 8");
    run.settings[0] = "crossbar.weight_slicing=columns";
    run.settings[1] = "crossbar.cell_bits=8"; /* two columns for a weight */
    replay_badly(&run, ".unit 0\n.array_group rows=4 columns=3\n", PIM_BAD_INPUT,
                 "core 0, array group 0 has 3 columns of weights, its arrays (1) hold 2");
}
END_TEST

/* Sets take turns in the arrays beside those that stay: the largest of them must fit. */
START_TEST(sets_of_arrays)
{
    struct run run = {.width = 1, .height = 1, .settings = {"crossbar.write_row_ns=10"}};
#define SETS(most)                                                                                           \
    ".unit 0\n.array_group arrays=3 rows=4 columns=4\n.array_group arrays=4 rows=4 columns=4 set=1\n"        \
    ".array_group arrays=" most " rows=4 columns=4 set=2\n.array_group arrays=2 rows=4 columns=4 set=2\n"
#define WRITE "array_write group=1 row=0 rows=4 source=0 bytes=32\n"
    replay_well(&run, SETS("3") WRITE);
    clean(&run);
    replay_badly(&run, SETS("4") WRITE, PIM_BAD_INPUT, "core 0 holds 9 arrays, has 8: 1 are missing");
    replay_badly(&run, SETS("3") "array_write group=1 row=1 rows=4 source=0 bytes=32\n", PIM_BAD_INPUT,
                 "array group 1 does not exist, or has other rows than that");
    replay_badly(&run, SETS("3") "array_write group=1 row=0 rows=4 source=0 bytes=30\n", PIM_BAD_INPUT,
                 "has other rows");
    replay_badly(&run, SETS("3") "array_write group=4 row=0 rows=4 source=0 bytes=32\n", PIM_BAD_INPUT,
                 "gives this core 4 groups");
    run.settings[0] = NULL;
    replay_badly(&run, SETS("3") WRITE, PIM_BAD_INPUT, "crossbar.write_row_ns is 0");
    run.settings[0] = "clock.logic_khz=10000000"; /* 10^9 cycles; 2^28 - 1 are 26843545.5 ns */
    run.settings[1] = "crossbar.write_row_ns=100000000";
    replay_badly(&run, SETS("3") WRITE, PIM_BAD_INPUT,
                 "crossbar.write_row_ns: 100000000 ns are 1000000000 cycles of clock.logic_khz = 10000000: "
                 "allowed are up to 268435455");
}
END_TEST

START_TEST(memories)
{
    struct run run = {
        .width = 2, .height = 1, .settings = {"core.local_memory_bytes=1024", "global_memory.bytes=4096"}};
    replay_badly(&run, ".unit 0\nlocal_write destination=1000 bytes=25\n", PIM_BAD_INPUT,
                 "core 0, instruction 1 (local_write): uses 1025 bytes of the local memory, which has 1024");
    replay_badly(&run, ".unit 0\nlocal_load address=0 local=1000 bytes=25\n", PIM_BAD_INPUT, "local memory");
    replay_badly(&run, ".unit 0\nlocal_load address=4000 local=0 bytes=97\n", PIM_BAD_INPUT,
                 "the global memory ends at 4096");
    replay_badly(&run,
                 ".unit 0\nsend peer=1 address=1000 bytes=25\n.unit 1\nreceive peer=0 address=0 bytes=25\n",
                 PIM_BAD_INPUT, "local memory");
    replay_badly(&run,
                 ".unit 0\nsend peer=1 address=0 bytes=16\n.unit 1\nreceive peer=0 address=0 bytes=24\n",
                 PIM_BAD_INPUT, "waits for 24 bytes");
}
END_TEST

START_TEST(kinds)
{
    struct run run = {.width = 1, .height = 1};
    replay_badly(&run, ".unit 0\nload input address=0 bytes=8\n", PIM_BAD_INPUT,
                 "that of array.kind = \"node\"");
    replay_badly(&run, ".unit 0\nrow_compute add bits=8 source=0 second=8 result=16\n", PIM_BAD_INPUT,
                 "that of array.kind = \"channel\"");
    replay_badly(&run, ".unit 0\ntile_step time=1\n", PIM_BAD_INPUT, "that of array.kind = \"tile\"");
    run.settings[0] = "array.kind=node";
    replay_badly(&run, ".unit 0\n.array_group rows=4 columns=4\n", PIM_BAD_INPUT, "array.kind");
    replay_badly(&run,
                 ".phase 0 \"a\"\n.unit 0\nphase_begin 0\nlocal_write destination=0 bytes=4\nphase_end 0\n",
                 PIM_BAD_INPUT, "no engine");
}
END_TEST

START_TEST(functions)
{
    struct run run = {.width = 1, .height = 1, .settings = {"core.vector_functions=\"add, relu\""}};
    replay_well(&run, ".unit 0\nlocal_vector relu elements=4 source=0 destination=0\n");
    clean(&run);
    replay_badly(&run, ".unit 0\nlocal_vector maximum elements=4 source=0 second=64 destination=0\n",
                 PIM_BAD_INPUT, "the vector units have no maximum");
    run.settings[0] = "core.vector_functions=\"add,sum\"";
    replay_badly(&run, ".unit 0\njoin\n", PIM_BAD_INPUT, "\"sum\" is no operation");
}
END_TEST

START_TEST(hardware)
{
    struct run run = {.width = 6, .height = 1, .settings = {"chips.width=4"}};
    replay_badly(&run, ".unit 0\njoin\n", PIM_BAD_INPUT, "chips.width");
    run.settings[0] = "chips.width=2";
    run.settings[1] = "noc.topology=torus";
    replay_badly(&run, ".unit 0\njoin\n", PIM_BAD_INPUT, "several chips");
    run.settings[0] = "crossbar.cell_bits=1";
    run.settings[1] = NULL;
    replay_badly(&run, ".unit 0\njoin\n", PIM_BAD_INPUT, "16 arrays");
}
END_TEST

/* A cycle of 1 kHz is 65521 * 65519 ticks here: of n cores each may use 268 566 576 / n cycles below 2^60. */
#define SLOW "clock.logic_khz=1", "clock.network_khz=65521", "clock.memory_khz=65519"

/* 2 cycles to read, 19 183 326 windows of 14, and 10 to write are all; a cycle more is too many. */
START_TEST(times_inside_a_core)
{
    static const char *const windows =
        ".unit 0\n.array_group rows=4 columns=4\n"
        "mvm group=0 windows=19183326 input_address=0 input_bytes=8 output_address=64 output_bytes=8\n";
    struct run run = {.width = 1, .height = 1, .settings = {SLOW, "core.local_write_cycles=10"}};
    replay_well(&run, windows);
    ENDS(&run, 0, 0, 268566576);
    clean(&run);
    run.settings[3] = "core.local_write_cycles=11";
    replay_badly(&run, windows, PIM_BAD_INPUT,
                 "core 0: the run goes on after tick 1152921504606846975, beyond which times cannot be "
                 "counted");
}
END_TEST

/* Chips in a row, a core each: 8 392 705 cycles of each of 32. A link takes a million, first to tell the
 * source that it is waited for. The source of the message is at fault, wherever its packet is. */
START_TEST(times_between_chips)
{
    struct run run = {
        .width = 32,
        .height = 1,
        .settings = {SLOW, "chips.width=32", "chips.connection=grid", "chips.link_cycles=1000000"}};
    replay_well(&run,
                ".unit 0\nsend peer=4 address=0 bytes=16\n.unit 4\nreceive peer=0 address=0 bytes=16\n");
    clean(&run);
    replay_badly(&run,
                 ".unit 0\nsend peer=5 address=0 bytes=16\n.unit 5\nreceive peer=0 address=0 bytes=16\n",
                 PIM_BAD_INPUT, "core 0: the run goes on after tick");
}
END_TEST

/* Five packets of 2^24 bytes go through a shared memory, a byte a cycle: all are in before the last cycle,
 * and not all are out. */
START_TEST(times_of_a_shared_memory)
{
    struct run run = {.width = 2,
                      .height = 1,
                      .settings = {SLOW, "interconnect.kind=shared_memory", "interconnect.bytes_per_cycle=1",
                                   "interconnect.packet_bytes=16777216", "core.local_memory_bytes=83886080"}};
    replay_badly(
        &run,
        ".unit 0\nsend peer=1 address=0 bytes=83886080\n.unit 1\nreceive peer=0 address=0 bytes=83886080\n",
        PIM_BAD_INPUT, "core 0: the run goes on after tick");
}
END_TEST

Suite *core_refusals_suite(void)
{
    Suite *suite = suite_create("core_refusals");
    TCase *cases = tcase_create("refusals");
    tcase_add_test(cases, arrays);
    tcase_add_test(cases, cells_of_groups);
    tcase_add_test(cases, sets_of_arrays);
    tcase_add_test(cases, memories);
    tcase_add_test(cases, kinds);
    tcase_add_test(cases, functions);
    tcase_add_test(cases, hardware);
    tcase_add_test(cases, times_inside_a_core);
    tcase_add_test(cases, times_between_chips);
    tcase_add_test(cases, times_of_a_shared_memory);
    suite_add_tcase(suite, cases);
    return suite;
}

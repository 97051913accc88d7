/* Instructions of one core, by hand from the rules of docs/models/core.md and the quantities of support.h. */
#include "tests/unit/core/suites.h"
#include "tests/unit/core/support.h"

#include <inttypes.h>
#include <stdio.h>

#define GROUPS ".unit 0\n.array_group rows=4 columns=4\n.array_group rows=4 columns=4\n"

/* 8 bytes in (a beat, 2 cycles), 14 cycles, 8 bytes out (3 cycles). */
START_TEST(mvm_alone)
{
    struct run run = {.width = 1, .height = 1};
    replay_well(&run, GROUPS "mvm group=0 input_address=0 input_bytes=8 output_address=64 output_bytes=8\n");
    STARTS(&run, 0, 0, 0);
    ENDS(&run, 0, 0, 19);
    ck_assert_uint_eq(run.result.cycles, 19);
    ck_assert_uint_eq(run.result.actions.crossbar_mvms, 1);
    ck_assert_uint_eq(run.result.actions.macs, 16);
    ck_assert_uint_eq(run.result.actions.local_bits, 128);
    clean(&run);
}
END_TEST

/* Other groups work beside it, behind each other at the port; the same group waits for its output. */
START_TEST(mvms_of_groups)
{
    struct run run = {.width = 1, .height = 1};
    replay_well(&run, GROUPS "mvm group=0 input_address=0 input_bytes=8 output_address=64 output_bytes=8\n"
                             "mvm group=1 input_address=0 input_bytes=8 output_address=80 output_bytes=8\n"
                             "mvm group=0 input_address=0 input_bytes=8 output_address=96 output_bytes=8\n");
    ENDS(&run, 0, 0, 19);
    STARTS(&run, 0, 1, 0);
    ENDS(&run, 0, 1, 22); /* computed at 18, the port is taken until 19 */
    STARTS(&run, 0, 2, 19);
    ENDS(&run, 0, 2, 41); /* its read waits for the port until 22: 24 + 14 + 3 */
    clean(&run);
}
END_TEST

/* Two operands of 32 bytes: 2 beats each. */
START_TEST(vector)
{
    struct run run = {.width = 1, .height = 1};
    replay_well(&run, ".unit 0\nlocal_vector add elements=16 destination=0 source=0 second=64\n"
                      "local_vector relu elements=16 destination=128 source=256\n");
    ENDS(&run, 0, 0, 4 + 4 + (4 + 2) + 6);
    STARTS(&run, 0, 1, 20); /* one at a time */
    ENDS(&run, 0, 1, 20 + 4 + 6 + 6);
    clean(&run);
    run.settings[0] = "core.vector_pipelined=false";
    run.settings[1] = "core.vector_units=2";
    replay_well(&run, ".unit 0\nlocal_vector add elements=17 destination=0 source=0 second=64\n");
    ENDS(&run, 0, 0, 6 + 6 + 2 * 4 + 9);
    clean(&run);
}
END_TEST

START_TEST(pipelined_port)
{
    struct run run = {.width = 1, .height = 1, .settings = {"core.local_pipelined=true"}};
    replay_well(
        &run,
        ".unit 0\nlocal_write destination=0 bytes=64\nlocal_copy source=256 destination=512 bytes=32\n");
    ENDS(&run, 0, 0, 4 + 2);
    STARTS(&run, 0, 1, 6);
    ENDS(&run, 0, 1, 6 + 2 + 1 + 2 + 2); /* read until 9, then two beats and two cycles more */
    clean(&run);
}
END_TEST

/* Load: 40 bytes are 3 beats of the global memory and 3 of the port. */
START_TEST(loads_and_stores)
{
    struct run run = {.width = 1, .height = 1};
    replay_well(&run,
                ".unit 0\nlocal_load address=0 local=0 bytes=40\nlocal_load address=64 local=64 bytes=16\n"
                "local_store address=0 local=0 bytes=40\n");
    ENDS(&run, 0, 0, 3 + 9 + 9);
    STARTS(&run, 0, 1, 1);
    ENDS(&run, 0, 1, 24);   /* served from 3 on, there at 13; the port is taken until 21 */
    STARTS(&run, 0, 2, 21); /* it reads what the first one wrote; the port is taken until 24 */
    ENDS(&run, 0, 2, 24 + 6 + 3 + 4);
    ck_assert_uint_eq(run.result.bytes_loaded, 56);
    ck_assert_uint_eq(run.result.bytes_stored, 40);
    ck_assert_uint_eq(run.result.actions.global_bits, 8 * 96);
    clean(&run);
    /* pieces with gaps take a beat each; without gaps they are one */
    replay_well(&run, ".unit 0\nlocal_load address=0 local=0 bytes=4 count=4 stride=64\n");
    ENDS(&run, 0, 0, 4 + 9 + 3);
    clean(&run);
    replay_well(&run, ".unit 0\nlocal_load address=0 local=0 bytes=4 count=4 stride=4\n");
    ENDS(&run, 0, 0, 1 + 9 + 3);
    clean(&run);
}
END_TEST

/* Two cores of a chip at the global memory in one cycle: by number; of two chips: each its own. */
START_TEST(global_memory_of_chips)
{
    static const char program[] = ".unit 0\nlocal_load address=0 local=0 bytes=160\n"
                                  ".unit 1\nlocal_load address=0 local=0 bytes=160\n";
    struct run run = {.width = 2, .height = 1};
    replay_well(&run, program);
    ENDS(&run, 0, 0, 10 + 9 + 30);
    ENDS(&run, 1, 0, 20 + 9 + 30);
    clean(&run);
    run.settings[0] = "chips.width=2";
    replay_well(&run, program);
    ENDS(&run, 0, 0, 49);
    ENDS(&run, 1, 0, 49);
    clean(&run);
}
END_TEST

/* Write after read, write after write, read after write in the local memory; bounding range of pieces. */
START_TEST(conflicts)
{
    struct run run = {.width = 1, .height = 1};
    replay_well(&run, GROUPS "mvm group=0 input_address=0 input_bytes=8 output_address=64 output_bytes=8\n"
                             "local_write destination=4 bytes=4\n");
    STARTS(&run, 0, 1, 19); /* the input is held to the end of the instruction */
    clean(&run);
    replay_well(&run, GROUPS "mvm group=0 input_address=0 input_bytes=8 output_address=64 output_bytes=8\n"
                             "local_write destination=71 bytes=1\n");
    STARTS(&run, 0, 1, 19);
    clean(&run);
    replay_well(&run, GROUPS "mvm group=0 input_address=0 input_bytes=8 output_address=64 output_bytes=8\n"
                             "local_copy source=64 destination=200 bytes=4\n");
    STARTS(&run, 0, 1, 19);
    clean(&run);
    replay_well(&run, GROUPS "mvm group=0 input_address=0 input_bytes=8 output_address=64 output_bytes=8\n"
                             "local_write destination=48 bytes=4 count=2 stride=40\n"
                             "local_vector relu elements=4 source=0 destination=300\n");
    STARTS(&run, 0, 1, 19); /* 48 to 92, though no piece meets 64 to 72 */
    STARTS(&run, 0, 2, 0);  /* reads beside reads */
    clean(&run);
    replay_well(&run, ".unit 0\nlocal_load address=0 local=0 bytes=16\n"
                      "local_vector relu elements=4 source=64 destination=128 after=1\n");
    STARTS(&run, 0, 1, 1 + 9 + 3); /* a dependency by name */
    clean(&run);
}
END_TEST

/* An element at `source` is read while a load of `length` bytes to `begin` is under way. */
static void read_beside_load(unsigned begin, unsigned length, unsigned source, bool waits)
{
    struct run run = {.width = 1, .height = 1, .settings = {"core.local_memory_bytes=65536"}};
    char program[256];
    (void)snprintf(program, sizeof program,
                   ".unit 0\nlocal_load address=0 local=%u bytes=%u\n"
                   "local_vector relu elements=1 source=%u destination=0\n",
                   begin, length, source);
    replay_well(&run, program);
    ck_assert_msg(run.seen[0][1].start == (waits ? run.seen[0][0].end : 0),
                  "load of %u bytes to %u, read at %u: starts in cycle %" PRIu64, length, begin, source,
                  run.seen[0][1].start);
    clean(&run);
}

/* Ranges of all lengths in all places of the local memory, also those whose lines begin again (unit.c). */
START_TEST(conflicts_everywhere)
{
    static const unsigned lengths[] = {2, 256, 700, 16000, 16384, 16400, 40000};
    for (unsigned i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        for (unsigned begin = 1000; begin + lengths[i] + 2 <= 65536; begin += 3701) {
            unsigned end = begin + lengths[i];
            read_beside_load(begin, lengths[i], begin - 2, false);
            read_beside_load(begin, lengths[i], begin - 1, true);
            read_beside_load(begin, lengths[i], begin + lengths[i] / 2, true);
            read_beside_load(begin, lengths[i], end - 1, true);
            read_beside_load(begin, lengths[i], end, false);
        }
}
END_TEST

START_TEST(in_order_and_window)
{
    static const char program[] =
        GROUPS "mvm group=0 input_address=0 input_bytes=8 output_address=64 output_bytes=8\n"
               "mvm group=1 input_address=0 input_bytes=8 output_address=80 output_bytes=8\n"
               "local_write destination=200 bytes=4\n"
               "local_vector relu elements=4 source=300 destination=300\n";
    struct run run = {.width = 1, .height = 1, .settings = {"core.issue=in_order"}};
    replay_well(&run, program);
    STARTS(&run, 0, 1, 0);  /* of the same engine */
    STARTS(&run, 0, 2, 22); /* when both are complete */
    STARTS(&run, 0, 3, 25);
    clean(&run);
    run.settings[0] = "core.window=2";
    replay_well(&run, program);
    STARTS(&run, 0, 2, 19); /* when the first one has left the window */
    STARTS(&run, 0, 3, 22); /* when the second one has */
    clean(&run);
    run.settings[0] = "core.window=1";
    replay_well(&run, program);
    STARTS(&run, 0, 1, 19);
    clean(&run);
}
END_TEST

/* A join waits for everything, a phase tiles the time of its core. */
START_TEST(joins_and_phases)
{
    struct run run = {.width = 1, .height = 1};
    replay_well(&run,
                ".phase 0 \"a\"\n.phase 1 \"b\"\n.unit 0\nphase_begin 0\nlocal_write destination=0 bytes=4\n"
                "local_store address=0 local=0 bytes=4\njoin\nlocal_load address=0 local=64 bytes=4\n"
                "phase_end 0\nphase_begin 1\nlocal_write destination=0 bytes=16\nphase_end 1\n");
    /* write to 3, store reads to 5 and is there at 10 */
    ENDS(&run, 0, 2, 5 + 1 + 4);
    STARTS(&run, 0, 4, 10);
    ENDS(&run, 0, 4, 10 + 1 + 9 + 3);
    ck_assert_uint_eq(run.system->phases[0].end, 23);
    ck_assert_uint_eq(run.system->phases[1].start, 23);
    ck_assert_uint_eq(run.system->phases[1].end, 26);
    ck_assert_uint_eq(run.system->phases[0].share[PIM_SHARE_MEMORY], 23);
    ck_assert_uint_eq(run.result.cycles, 26);
    clean(&run);
}
END_TEST

/* Shares and causes of a core that multiplies, then adds what came out. */
START_TEST(accounts)
{
    struct run run = {.width = 1, .height = 1};
    replay_well(&run,
                ".phase 0 \"a\"\n" GROUPS
                "phase_begin 0\nmvm group=0 input_address=0 input_bytes=8 output_address=64 output_bytes=8\n"
                "local_vector relu elements=4 source=64 destination=64\nphase_end 0\n");
    const struct pim_unit_result *unit = &run.result.units[0];
    ck_assert_uint_eq(run.result.end, 19 + 2 + 5 + 3);
    ck_assert_uint_eq(unit->busy[PIM_CLASS_PE], 19);
    ck_assert_uint_eq(unit->idle[PIM_CLASS_PE], 10);
    ck_assert_uint_eq(unit->stall[PIM_CLASS_ACU], 19);
    ck_assert_uint_eq(unit->wait[PIM_ENGINE_VECTOR][PIM_WAIT_MATRIX], 19);
    ck_assert_uint_eq(unit->share[PIM_SHARE_MATRIX], 19);
    ck_assert_uint_eq(unit->share[PIM_SHARE_VECTOR], 10);
    clean(&run);
    run.until = 12;
    replay_well(&run,
                ".phase 0 \"a\"\n" GROUPS
                "phase_begin 0\nmvm group=0 input_address=0 input_bytes=8 output_address=64 output_bytes=8\n"
                "phase_end 0\n");
    ck_assert(!run.result.complete);
    ck_assert_uint_eq(run.result.units[0].busy[PIM_CLASS_PE], 12);
    clean(&run);
}
END_TEST

/* 16 bytes in (a beat, 2 cycles), 2 rows of 4 cycles; another group beside it, an mvm of the same behind. */
START_TEST(written_weights)
{
    struct run run = {.width = 1, .height = 1, .settings = {"crossbar.write_row_ns=10"}};
    replay_well(&run, GROUPS "array_write group=0 row=2 rows=2 source=0 bytes=16\n"
                             "array_write group=1 row=0 rows=4 source=16 bytes=32\n"
                             "mvm group=0 input_address=0 input_bytes=8 output_address=64 output_bytes=8\n"
                             "local_write destination=40 bytes=16\n");
    ENDS(&run, 0, 0, 10);
    STARTS(&run, 0, 1, 0);
    ENDS(&run, 0, 1, 22); /* its two beats are read at 6 */
    STARTS(&run, 0, 2, 10);
    ENDS(&run, 0, 2, 29);   /* 12 + 14 + 3 */
    STARTS(&run, 0, 3, 22); /* the weights are read until the write ends */
    ck_assert_uint_eq(run.result.actions.crossbar_cells, (2 + 4) * 4);
    ck_assert_uint_eq(run.result.actions.crossbar_mvms, 1);
    clean(&run);
}
END_TEST

Suite *core_timing_suite(void)
{
    Suite *suite = suite_create("core_timing");
    TCase *cases = tcase_create("timing");
    tcase_add_test(cases, mvm_alone);
    tcase_add_test(cases, mvms_of_groups);
    tcase_add_test(cases, vector);
    tcase_add_test(cases, pipelined_port);
    tcase_add_test(cases, loads_and_stores);
    tcase_add_test(cases, global_memory_of_chips);
    tcase_add_test(cases, conflicts);
    tcase_add_test(cases, conflicts_everywhere);
    tcase_add_test(cases, in_order_and_window);
    tcase_add_test(cases, joins_and_phases);
    tcase_add_test(cases, accounts);
    tcase_add_test(cases, written_weights);
    suite_add_tcase(suite, cases);
    return suite;
}

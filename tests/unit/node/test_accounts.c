/* Accounts: busy, stalled, idle; phases; actions and energy; runs that stop early; determinism. */
#include "tests/unit/node/suites.h"
#include "tests/unit/node/support.h"

#include <stdlib.h>
#include <string.h>

#define CHAIN                                                                                                \
    ".phase 0 \"load\" cycles=20\n.phase 1 \"work\" cycles=50\n.phase 2 \"store\" cycles=9\n.unit 0\n"       \
    "phase_begin 0\nload input address=0 bytes=128\nload weight address=128 bytes=64\nphase_end 0\n"         \
    "phase_begin 1\nmatrix m=16 n=8 k=8 open_output release_input release_weight\n"                          \
    "vector softmax rows=16 elements=8 bits=8 release=512 after=1\nphase_end 1\n"                            \
    "phase_begin 2\nstore none address=1024 bytes=128\nphase_end 2\n"

START_TEST(phases_hold_the_time_and_work_between_their_marks)
{
    /* Loads until 29. Product until 53; softmax: a row is one group, G = 16, two pass distances of max(16, 1
     * + 16) and 16 + 16: until 119. Store in another row: PRE at once (RD was long ago) in 120, ACT 128, WR
     * 136 to 143, data 148. */
    struct run run = {.width = 1, .height = 1};
    replay_well(&run, CHAIN);
    const struct pim_phase_result *phases = run.system->phases;
    ck_assert_uint_eq(phases[0].start, 0);
    ck_assert_uint_eq(phases[0].end, 29);
    ck_assert_uint_eq(phases[1].start, 29);
    ck_assert_uint_eq(phases[1].end, 119);
    ck_assert_uint_eq(phases[2].start, 119);
    ck_assert_uint_eq(phases[2].end, 148);
    ck_assert_uint_eq(phases[0].share[PIM_SHARE_MEMORY], 29);
    ck_assert_uint_eq(phases[1].share[PIM_SHARE_MATRIX], 24);
    ck_assert_uint_eq(phases[1].share[PIM_SHARE_VECTOR], 66);
    ck_assert_uint_eq(phases[1].last_share[PIM_SHARE_VECTOR], 66);
    ck_assert_uint_eq(phases[0].actions.dram_bits, 192 * 8);
    ck_assert_uint_eq(phases[0].actions.dram_activates, 1);
    ck_assert_uint_eq(phases[1].actions.dram_bits, 0);
    ck_assert_uint_eq(phases[2].actions.dram_bits, 128 * 8);
    ck_assert_uint_eq(phases[2].actions.dram_activates, 1);
    ck_assert_uint_eq(phases[0].dram_row, 9 - 1); /* from the first cycle in which the load could be served */
    ck_assert_uint_eq(phases[2].dram_row, 136 - 120);
    ck_assert_uint_eq(phases[1].actions.macs, 16 * 8 * 8);
    ck_assert_uint_eq(phases[1].actions.acu_operations, 16 * 8 * 3);
    clean(&run);
}
END_TEST

START_TEST(sram_bits_are_those_of_every_access)
{
    struct run run = {.width = 1, .height = 1};
    replay_well(&run, CHAIN);
    const struct pim_phase_result *phases = run.system->phases;
    ck_assert_uint_eq(phases[0].actions.sram_bits, 8 * 192);
    /* Product: inputs m k, weights k n, 32-bit sums written once, none read. Softmax: sums read in full in
     * the first pass, 8-bit elements in two more, and written once. */
    uint64_t product = 8 * (128 + 64) + 128 * 32;
    uint64_t softmax = 128 * 32 + 128 * 8 * (2 + 1);
    ck_assert_uint_eq(phases[1].actions.sram_bits, product + softmax);
    ck_assert_uint_eq(phases[2].actions.sram_bits, 8 * 128);
    clean(&run);
}
END_TEST

static const char *const with_message =
    CHAIN "phase_begin 0\nsend peer=1 tag=0 address=0 bytes=32\nphase_end 0\n"
          ".unit 1\nphase_begin 0\nreceive peer=0 tag=0 address=0 bytes=32\nphase_end 0\n";

/* A partial sum lies in whole bytes: 128 of 33 bits give back 128 x 5. */
START_TEST(partial_sums_lie_in_whole_bytes)
{
    struct run run = {
        .width = 1, .height = 1, .settings = {"pe.accumulator_bits=33", "buffers.output_bytes=640"}};
    replay_well(&run,
                ".phase 0 \"work\" cycles=0\n.unit 0\nphase_begin 0\n"
                "matrix m=16 n=8 k=8 open_output\nvector copy rows=16 elements=8 bits=8 release=640 after=1\n"
                "matrix m=16 n=8 k=8 open_output\nvector copy rows=16 elements=8 bits=8 release=640 after=1\n"
                "phase_end 0\n");
    ck_assert_uint_eq(run.system->phases[0].actions.macs, 2 * 16 * 8 * 8);
    clean(&run);
}
END_TEST

START_TEST(energy_is_the_sum_over_actions)
{
    /* Values that binary fractions hold, so that sums are exact. */
    struct run run = {.width = 2,
                      .height = 1,
                      .settings = {"energy.mac_pj=0.25", "energy.sram_pj_per_bit=0.125",
                                   "energy.acu_pj_per_operation=0.5", "energy.dram_pj_per_bit=2",
                                   "energy.dram_activate_pj=1024", "energy.noc_pj_per_bit_hop=0.75",
                                   "energy.static_mw_per_node=3"}};
    replay_well(&run, with_message);
    const struct pim_energy *energy = &run.result.energy;
    double pe = 0.25 * 16 * 8 * 8, acu = 0.5 * 16 * 8 * 3;
    double sram = 0.125 * (8 * 192 + 8 * (128 + 64) + 128 * 32 + 128 * 32 + 128 * 8 * 3 + 8 * 128);
    /* Columns of 16 bytes: 12 read, 8 written, 2 sent, 2 received. Rows: unit 0 loads, stores, sends from
     * another row; unit 1 receives. */
    double dram = 2.0 * 8 * 16 * (12 + 8 + 2 + 2) + 1024.0 * (3 + 1);
    double noc = 0.75 * 64 * (1 + 4); /* over one link */
    double standing = 3.0 * 2 * (double)run.result.time_ps / 1000.0;
    ck_assert_double_eq(energy->pe, pe);
    ck_assert_double_eq(energy->acu, acu);
    ck_assert_double_eq(energy->sram, sram);
    ck_assert_double_eq(energy->dram, dram);
    ck_assert_double_eq(energy->noc, noc);
    ck_assert_double_eq(energy->standing, standing);
    ck_assert_double_eq(energy->total, pe + acu + sram + dram + noc + standing);
    clean(&run);
}
END_TEST

START_TEST(banks_in_lock_step_open_a_row_each)
{
    struct run run = {.width = 1, .height = 1, .settings = {"dram.banks=4", "energy.dram_activate_pj=1000"}};
    replay_well(
        &run, ".phase 0 \"x\" cycles=0\n.unit 0\nphase_begin 0\nload none address=0 bytes=64\nphase_end 0\n");
    ck_assert_uint_eq(run.result.dram.activates, 1); /* a command */
    ck_assert_uint_eq(run.result.dram.reads, 1);
    ck_assert_uint_eq(run.result.actions.dram_activates, 4);
    ck_assert_double_eq(run.result.energy.dram, 4000.0);
    ENDS(&run, 0, 1, 9 + 9);
    clean(&run);
}
END_TEST

START_TEST(time_ends_with_the_last_phase_not_with_the_last_credit)
{
    /* Credits of the last flits still travel when the last receive ends; nothing of that is in the results.
     * */
    struct run run = {
        .width = 2, .height = 1, .settings = {"noc.credit_delay=64", "dram.tcwl_ns=2.5", "dram.trcd_ns=2.5"}};
    replay_well(
        &run,
        ".phase 0 \"x\" cycles=0\n.unit 0\nphase_begin 0\nsend peer=1 tag=0 address=0 bytes=64\nphase_end 0\n"
        ".unit 1\nphase_begin 0\nreceive peer=0 tag=0 address=0 bytes=64\nphase_end 0\n");
    ck_assert_uint_eq(run.result.end, run.seen[1][1].end);
    for (unsigned class = 0; class < PIM_CLASSES; class ++)
        ck_assert_uint_eq(run.result.units[1].busy[class] + run.result.units[1].stall[class] +
                              run.result.units[1].idle[class],
                          run.result.end);
    clean(&run);
}
END_TEST

START_TEST(a_run_that_stops_early_closes_its_phases)
{
    /* In 60 the softmax works; its phase has 24 cycles of product and 7 of softmax. */
    struct run run = {.width = 1, .height = 1, .until = 60};
    replay_well(&run, CHAIN);
    ck_assert(!run.result.complete);
    ck_assert_uint_eq(run.result.cycles, 60);
    const struct pim_phase_result *phases = run.system->phases;
    ck_assert_uint_eq(phases[1].start, 29);
    ck_assert_uint_eq(phases[1].end, 60);
    ck_assert_uint_eq(phases[1].share[PIM_SHARE_VECTOR], 7);
    ck_assert_uint_eq(phases[2].units, 0);
    ck_assert_uint_eq(phases[2].end, 0);
    clean(&run);
    run.until = 20; /* the loads have been handed to the bank: their work is in the open phase */
    replay_well(&run, CHAIN);
    ck_assert_uint_eq(run.system->phases[0].end, 20);
    ck_assert_uint_eq(run.result.actions.dram_bits, 192 * 8);
    clean(&run);
    run.until = 148;
    replay_well(&run, CHAIN);
    ck_assert(run.result.complete);
    clean(&run);
}
END_TEST

START_TEST(a_longer_run_goes_on_from_the_shorter_one)
{
    uint64_t last[4] = {0};
    for (uint64_t until = 1; until < 240; until += 7) {
        struct run run = {.width = 2, .height = 1, .until = until};
        replay_well(&run, with_message);
        uint64_t now[4] = {run.result.actions.sram_bits, run.result.dram.reads + run.result.dram.writes,
                           run.result.noc.flits_delivered, run.result.instructions};
        for (unsigned i = 0; i < 4; i++) {
            ck_assert_uint_ge(now[i], last[i]);
            last[i] = now[i];
        }
        ck_assert_uint_le(run.result.end, until);
        for (unsigned phase = 0; phase < 3; phase++)
            ck_assert_uint_le(run.system->phases[phase].end, until);
        /* What ended before the stop ended in the same tick. */
        if (until >= 148)
            ck_assert_uint_eq(run.seen[0][9].end, 148);
        clean(&run);
    }
    ck_assert_uint_eq(last[3], 11 + 3 + 3);
}
END_TEST

START_TEST(units_that_finish_early_are_idle)
{
    struct run run = {.width = 2, .height = 1};
    replay_well(&run, ".phase 0 \"x\" cycles=0\n.unit 0\nphase_begin 0\nmatrix m=16 n=8 k=8\nphase_end 0\n"
                      ".unit 1\nphase_begin 0\nmatrix m=100 n=8 k=8\nphase_end 0\n");
    ck_assert_uint_eq(run.result.cycles, 108);
    ck_assert_uint_eq(run.result.units[0].finished_at, 24);
    ck_assert_uint_eq(run.result.units[0].idle[PIM_CLASS_PE], 84);
    ck_assert_uint_eq(run.result.units[0].share[PIM_SHARE_WAITING], 84);
    ck_assert_uint_eq(run.system->phases[0].units, 2);
    ck_assert_uint_eq(run.system->phases[0].time_sum, 24 + 108);
    ck_assert_uint_eq(run.system->phases[0].last_time, 108);
    clean(&run);
}
END_TEST

START_TEST(an_empty_program_takes_no_time)
{
    struct run run = {.width = 2, .height = 2};
    replay_well(&run, ".phase 0 \"x\" cycles=0\n.unit 0\n");
    ck_assert(run.result.complete);
    ck_assert_uint_eq(run.result.cycles, 0);
    char *json = json_of(&run);
    ck_assert_ptr_nonnull(strstr(json, "\"average_packet_latency\": null"));
    ck_assert_ptr_nonnull(strstr(json, "\"p99_packet_latency\": null"));
    free(json);
    clean(&run);
}
END_TEST

START_TEST(systems_in_one_process_do_not_touch_each_other)
{
    struct run alone = {.width = 2, .height = 1}, first = {.width = 2, .height = 1},
               second = {.width = 2, .height = 1, .settings = {"noc.fidelity=ideal", "unit.issue=in_order"}};
    replay_well(&alone, with_message);
    make(&first, with_message);
    make(&second, with_message);
    for (pim_time time = 0; time < 400; time += 3) {
        (void)pim_kernel_run(first.system->kernel, time);
        (void)pim_kernel_run(second.system->kernel, time + 1);
    }
    finish_run(&first);
    finish_run(&second);
    check_invariants(&first);
    check_invariants(&second);
    char *expected = json_of(&alone), *found = json_of(&first);
    ck_assert_str_eq(found, expected);
    free(expected);
    free(found);
    clean(&alone);
    clean(&first);
    clean(&second);
}
END_TEST

Suite *accounts_suite(void)
{
    Suite *suite = suite_create("accounts");
    TCase *tests = tcase_create("results");
    tcase_add_test(tests, phases_hold_the_time_and_work_between_their_marks);
    tcase_add_test(tests, sram_bits_are_those_of_every_access);
    tcase_add_test(tests, partial_sums_lie_in_whole_bytes);
    tcase_add_test(tests, energy_is_the_sum_over_actions);
    tcase_add_test(tests, banks_in_lock_step_open_a_row_each);
    tcase_add_test(tests, time_ends_with_the_last_phase_not_with_the_last_credit);
    tcase_add_test(tests, a_run_that_stops_early_closes_its_phases);
    tcase_add_test(tests, a_longer_run_goes_on_from_the_shorter_one);
    tcase_add_test(tests, units_that_finish_early_are_idle);
    tcase_add_test(tests, an_empty_program_takes_no_time);
    tcase_add_test(tests, systems_in_one_process_do_not_touch_each_other);
    suite_add_tcase(suite, tests);
    return suite;
}

/*
 * A million commands for every preset, at random settings: none of them breaks a rule. And the long lists on
 * which Ramulator 2.1 (commit c5b1c3a) was measured, made anew: total cycles, command counts, mean latency of
 * reads, row hits. And all rounds of the stepped controller.
 */
#include "models/dram/standard/schema.h"
#include "tests/unit/dram_channel/check_runs.h"
#include "tests/unit/dram_channel/suites.h"
#include "tests/unit/dram_channel/support.h"
#include "tests/unit/test_main.h"

#include <check.h>
#include <stdlib.h>

START_TEST(a_million_commands)
{
    uint64_t commands = 0;
    for (uint64_t seed = 100; commands < 1000000; seed += 100)
        commands += check_runs((size_t)_i, 4, 20000, seed);
}
END_TEST

enum list { SEQUENTIAL, RANDOM, MIXED, RANDOM_20, IDLE };

/* Ramulator ends a list in the cycle of its last WR: `tail` is tCWL + B where that was the last command. Zero
 * commands: not published. */
static const struct {
    const char *preset;
    enum list list;
    uint64_t cycles, tail;
    double latency;
    uint64_t activates, precharges, all_precharges, reads, writes, refreshes;
    uint64_t hits, misses, conflicts;
} lists[] = {
    {"ddr4_2400r", SEQUENTIAL, 1070765, 0, 191.44, 1717, 0, 114, 200000, 0, 114, 0, 0, 0},
    {"ddr4_2400r", RANDOM, 1369425, 0, 255.07, 199991, 198673, 146, 200000, 0, 146, 0, 0, 0},
    {"ddr4_2400r", MIXED, 1064796, 16, 286.26, 125356, 123912, 113, 134011, 65989, 113, 72125, 29152, 98723},
    {"ddr4_2400r", RANDOM_20, 4000033, 0, 74.52, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {"ddr4_2400r", IDLE, 19999037, 0, 51.72, 20000, 4513, 2135, 20000, 0, 2135, 0, 0, 0},
    {"hbm2_pim_act1", SEQUENTIAL, 435171, 0, 88.15, 6472, 4680, 111, 200000, 0, 111, 0, 0, 0},
    {"hbm2_pim_act1", RANDOM, 868984, 0, 173.51, 199967, 197926, 222, 200000, 0, 222, 0, 0, 0},
    {"hbm2_pim_act1", MIXED, 768680, 6, 209.81, 112623, 110102, 197, 134011, 65988, 197, 84570, 20214, 95215},
    {"hbm2_pim_act1", RANDOM_20, 4000056, 0, 67.17, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {"hbm2_pim_act1", IDLE, 19999035, 0, 49.89, 20000, 1793, 5127, 20000, 0, 5127, 0, 0, 0},
    {"pimbank_400", SEQUENTIAL, 270958, 0, 52.47, 3226, 3123, 102, 200000, 0, 173, 0, 0, 0},
    {"pimbank_400", RANDOM, 5012682, 0, 818.93, 199229, 197084, 2144, 200000, 0, 3211, 0, 0, 0},
    {"pimbank_400", MIXED, 2951139, 5, 717.21, 110339, 109079, 1259, 134009, 65988, 1890, 89658, 1373,
     108966},
    {"pimbank_400", IDLE, 19999026, 0, 23.36, 19999, 7291, 12707, 20000, 0, 12811, 0, 0, 0},
};

static void make(struct access *list, size_t count, enum list kind,
                 const struct pim_dram_configuration *configuration)
{
    const struct pim_dram_organization *o = &configuration->specification.organization;
    const uint64_t places = configuration->mapping.capacity / o->access_bytes;
    uint64_t state = 1, place = 0;
    for (size_t i = 0; i < count; i++) {
        bool write = false;
        if (kind == SEQUENTIAL) {
            place = i;
        } else if (kind == MIXED) {
            bool near = (pim_splitmix64(&state) & 0xffff) < 39322 && i > 0;
            place = near ? place / o->columns * o->columns + (place + 1) % o->columns
                         : pim_splitmix64(&state) % places;
            write = (pim_splitmix64(&state) & 0xffff) < 21627;
        } else {
            place = pim_splitmix64(&state) % places;
        }
        list[i] = (struct access){kind == IDLE        ? 1000 * i
                                  : kind == RANDOM_20 ? 20 * i
                                                      : 0,
                                  place * o->access_bytes, write};
    }
}

START_TEST(long_lists)
{
    const size_t count = lists[_i].list == IDLE ? 20000 : 200000;
    struct pim_dram_configuration configuration;
    struct outcome outcome;
    struct access *list = malloc(count * sizeof *list);
    ck_assert_ptr_nonnull(list);
    configure(&configuration, lists[_i].preset, NULL);
    make(list, count, lists[_i].list, &configuration);
    serve(&outcome, &configuration, list, count, false);
    ck_assert_uint_eq(outcome.cycles, lists[_i].cycles + lists[_i].tail);
    double sum = 0, reads = 0;
    for (size_t i = 0; i < count; i++)
        if (!list[i].write) {
            sum += (double)(outcome.completed[i] - outcome.arrived[i]);
            reads++;
        }
    ck_assert_double_eq_tol(sum / reads, lists[_i].latency, 0.00501);
    const uint64_t *commands = outcome.counters.commands;
    if (lists[_i].activates > 0) {
        ck_assert_uint_eq(commands[PIM_DRAM_ACT], lists[_i].activates);
        ck_assert_uint_eq(commands[PIM_DRAM_PRE], lists[_i].precharges);
        ck_assert_uint_eq(commands[PIM_DRAM_PREA], lists[_i].all_precharges);
        ck_assert_uint_eq(commands[PIM_DRAM_RD], lists[_i].reads);
        ck_assert_uint_eq(commands[PIM_DRAM_WR], lists[_i].writes);
        ck_assert_uint_eq(commands[PIM_DRAM_REF], lists[_i].refreshes);
    }
    if (lists[_i].hits > 0) {
        ck_assert_uint_eq(outcome.counters.row_hits, lists[_i].hits);
        ck_assert_uint_eq(outcome.counters.row_misses, lists[_i].misses);
        ck_assert_uint_eq(outcome.counters.row_conflicts, lists[_i].conflicts);
    }
    outcome_free(&outcome);
    free(list);
}
END_TEST

/* A suite is a process with a time limit of its own: on a machine with much other work, where all this may
 * take ten times as long, each stays well inside of it. */
static Suite *million(const char *name, size_t first, size_t end)
{
    Suite *suite = suite_create(name);
    TCase *cases = tcase_create("random");
    tcase_add_loop_test(cases, a_million_commands, (int)first, (int)end);
    suite_add_tcase(suite, cases);
    return suite;
}

static Suite *ramulator_lists(void)
{
    Suite *suite = suite_create("channel_lists");
    TCase *cases = tcase_create("ramulator");
    tcase_add_loop_test(cases, long_lists, 0, sizeof lists / sizeof lists[0]);
    suite_add_tcase(suite, cases);
    return suite;
}

void pimsim_suites(SRunner *runner)
{
    const size_t presets = pim_dram_preset_count();
    srunner_add_suite(runner, million("channel_million_1", 0, presets / 3));
    srunner_add_suite(runner, million("channel_million_2", presets / 3, 2 * presets / 3));
    srunner_add_suite(runner, million("channel_million_3", 2 * presets / 3, presets));
    srunner_add_suite(runner, ramulator_lists());
    srunner_add_suite(runner, suite_channel_stepped_long());
}

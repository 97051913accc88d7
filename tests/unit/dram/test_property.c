/*
 * The run-length bank against the stepped one on random bursts: times of every burst, and all counters at the
 * end.
 */
#include "tests/unit/dram/draw.h"
#include "tests/unit/dram/presets.h"
#include "tests/unit/dram/stepped_bank.h"
#include "tests/unit/dram/suites.h"

#include "models/cost/burst.h"
#include "sim/random.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>

enum { CONFIGURATIONS = 400, BURSTS = 24 };

static const uint64_t seed = UINT64_C(0x70696d62616e6b);

static struct pim_bank_timing random_timing(uint64_t *state)
{
    struct pim_bank_timing t = {.trcd = between(state, 1, 20),
                                .trp = between(state, 1, 20),
                                .tcl = between(state, 1, 20),
                                .tcwl = between(state, 1, 20),
                                .tccd = between(state, 1, 6),
                                .twr = between(state, 1, 20),
                                .trtp = between(state, 1, 9),
                                .twtr = between(state, 1, 9),
                                .trtw = below(state, 4),
                                .trfc = between(state, 1, 90),
                                .burst_cycles = between(state, 1, 5)};
    if (below(state, 4) == 0) /* short distances, so that the column step decides */
        t.tcwl = t.twtr = t.burst_cycles = t.twr = t.trtp = 1;
    t.tras = t.trcd + below(state, 30);
    t.trc = t.tras + below(state, 2) * t.trp + below(state, 4);
    if (below(state, 4) != 0) {
        uint32_t busy = t.trcd + t.trp + t.trc + t.tcl + t.tcwl + t.tccd + t.twr + t.trtp + t.twtr + t.trtw +
                        t.trfc + t.burst_cycles;
        t.trefi = busy + 1 + below(state, below(state, 2) ? 20 : 1500);
    }
    return t;
}

static struct pim_bank_organization random_organization(uint64_t *state)
{
    uint32_t column_bytes = UINT32_C(1) << below(state, 6);
    if (below(state, 4) == 0)
        column_bytes = between(state, 1, 40);
    return (struct pim_bank_organization){.banks = between(state, 1, 4),
                                          .rows = between(state, 1, 64),
                                          .row_bytes = column_bytes * between(state, 1, 64),
                                          .column_bytes = column_bytes,
                                          .closed_page = below(state, 2) == 1};
}

static void compare_counters(const struct pim_bank *fast, const struct stepped_bank *stepped,
                             int configuration)
{
    struct pim_bank_counters counters;
    pim_bank_read_counters(fast, &counters);
#define SAME(field)                                                                                          \
    ck_assert_msg(counters.field == stepped->counters.field,                                                 \
                  "configuration %d: " #field " is %" PRIu64 ", stepped %" PRIu64, configuration,            \
                  counters.field, stepped->counters.field)
    SAME(row_hits);
    SAME(row_misses);
    SAME(row_conflicts);
    SAME(activates);
    SAME(precharges);
    SAME(refreshes);
    SAME(reads);
    SAME(writes);
    SAME(bytes_read);
    SAME(bytes_written);
    SAME(data_cycles);
    SAME(row_cycles);
    SAME(refresh_cycles);
    SAME(turnaround_cycles);
#undef SAME
}

START_TEST(runs_equal_single_steps)
{
    uint64_t state = seed;
    uint64_t refreshes = 0, conflicts = 0, turnarounds = 0;
    printf("seed 0x%" PRIx64 "\n", seed);
    for (int i = 0; i < CONFIGURATIONS; i++) {
        struct pim_bank_timing timing = random_timing(&state);
        struct pim_bank_organization organization = random_organization(&state);
        struct pim_error error;
        ck_assert_msg(pim_bank_check_configuration(&timing, &organization, &error) == PIM_OK, "%s",
                      error.text);
        struct pim_bank_rules rules;
        struct pim_bank fast;
        struct stepped_bank stepped;
        pim_bank_rules_initialize(&rules, &timing, &organization);
        pim_bank_initialize(&fast, &rules);
        stepped_bank_initialize(&stepped, &timing, &organization);
        uint64_t arrival = 0;
        for (int j = 0; j < BURSTS; j++) {
            struct pim_burst burst = random_burst(&state, rules.capacity_bytes, 8);
            ck_assert_msg(pim_bank_check_burst(&rules, &burst, &error) == PIM_OK, "%s", error.text);
            struct pim_burst_times times, expected;
            pim_bank_access(&fast, &burst, arrival, &times);
            stepped_bank_access(&stepped, &burst, arrival, &expected);
            ck_assert_msg(times.first_command == expected.first_command &&
                              times.first_data == expected.first_data &&
                              times.last_data == expected.last_data && times.next == expected.next,
                          "configuration %d, burst %d: first command %" PRIu64 " data %" PRIu64 " to %" PRIu64
                          " next %" PRIu64 ", stepped %" PRIu64 ", %" PRIu64 " to %" PRIu64 ", %" PRIu64,
                          i, j, times.first_command, times.first_data, times.last_data, times.next,
                          expected.first_command, expected.first_data, expected.last_data, expected.next);
            /* Too early, back to back, a little or far behind. */
            switch (below(&state, 4)) {
            case 0:
                break;
            case 1:
                arrival = times.next;
                break;
            case 2:
                arrival = times.next + below(&state, 40);
                break;
            default:
                arrival = times.next + below(&state, 6000);
                break;
            }
        }
        arrival = stepped.cycle + below(&state, 5000);
        pim_bank_advance(&fast, arrival);
        stepped_bank_finish(&stepped, arrival);
        compare_counters(&fast, &stepped, i);
        refreshes += stepped.counters.refresh_cycles;
        conflicts += stepped.counters.row_conflicts;
        turnarounds += stepped.counters.turnaround_cycles;
    }
    /* The sample did meet what it is for. */
    ck_assert_uint_gt(refreshes, 1000);
    ck_assert_uint_gt(conflicts, 1000);
    ck_assert_uint_gt(turnarounds, 1000);
}
END_TEST

/* Runs of a burst hold exactly the columns that its bytes touch. */
START_TEST(runs_hold_every_column_once)
{
    uint64_t state = seed + 1;
    for (int i = 0; i < 20000; i++) {
        uint32_t port_bytes = between(&state, 1, 70), columns_per_row = between(&state, 1, 50);
        struct pim_burst burst = random_burst(&state, UINT64_C(1) << 16, 8);
        struct pim_run_cursor cursor;
        struct pim_run run;
        uint64_t total = 0, last_row = UINT64_MAX, expected = 0, column = UINT64_MAX, rows = 0,
                 row = UINT64_MAX, runs = 0;
        pim_run_first(&cursor, &burst, port_bytes, columns_per_row);
        while (pim_run_next(&cursor, &run)) {
            ck_assert(last_row == UINT64_MAX || run.row > last_row);
            ck_assert_uint_ge(run.columns, 1);
            ck_assert_uint_le(run.columns, columns_per_row);
            last_row = run.row;
            total += run.columns;
            runs++;
        }
        for (uint64_t piece = 0; piece < burst.count; piece++) {
            uint64_t start = burst.address + piece * burst.stride;
            for (uint64_t c = start / port_bytes; c <= (start + burst.bytes - 1) / port_bytes; c++) {
                expected += c != column;
                rows += c / columns_per_row != row;
                row = c / columns_per_row;
                column = c;
            }
        }
        ck_assert_msg(total == expected && runs == rows,
                      "address %" PRIu64 ", %u x %u bytes, stride %u, port %u: %" PRIu64
                      " columns in %" PRIu64 " rows instead of %" PRIu64 " in %" PRIu64,
                      burst.address, burst.count, burst.bytes, burst.stride, port_bytes, total, runs,
                      expected, rows);
    }
}
END_TEST

/* Invariant 4 of bank.h, and invariant 3: a busy port accounts for every cycle. */
START_TEST(early_arrival_changes_nothing_and_no_cycle_is_lost)
{
    uint64_t state = seed + 2;
    for (int i = 0; i < CONFIGURATIONS; i++) {
        struct pim_bank_timing timing = random_timing(&state);
        struct pim_bank_organization organization = random_organization(&state);
        struct pim_bank_rules rules;
        struct pim_bank early, prompt;
        pim_bank_rules_initialize(&rules, &timing, &organization);
        pim_bank_initialize(&early, &rules);
        pim_bank_initialize(&prompt, &rules);
        uint64_t start = below(&state, 5000), next = start, last = 0;
        for (int j = 0; j < BURSTS; j++) {
            struct pim_burst burst = random_burst(&state, rules.capacity_bytes, 8);
            struct pim_burst_times a, b;
            pim_bank_access(&early, &burst, start, &a);
            pim_bank_access(&prompt, &burst, next, &b);
            ck_assert_uint_eq(a.first_command, b.first_command);
            ck_assert_uint_eq(a.first_data, b.first_data);
            ck_assert_uint_eq(a.last_data, b.last_data);
            ck_assert_uint_eq(a.next, b.next);
            next = last = a.next;
        }
        struct pim_bank_counters c;
        pim_bank_read_counters(&early, &c);
        ck_assert_uint_eq(c.data_cycles + c.row_cycles + c.refresh_cycles + c.turnaround_cycles,
                          last + rules.column_step - (start + 1));
        ck_assert_uint_eq(c.row_hits + c.row_misses + c.row_conflicts, c.reads + c.writes);
    }
}
END_TEST

Suite *suite_property(void)
{
    Suite *suite = suite_create("property");
    TCase *tests = tcase_create("property");
    tcase_add_test(tests, runs_equal_single_steps);
    tcase_add_test(tests, runs_hold_every_column_once);
    tcase_add_test(tests, early_arrival_changes_nothing_and_no_cycle_is_lost);
    suite_add_tcase(suite, tests);
    return suite;
}

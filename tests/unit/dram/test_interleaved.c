/*
 * Interleaved banks: against banks stepped cycle by cycle on random bursts that arrive while others are under
 * way, and by hand.
 */
#include "tests/unit/dram/draw.h"
#include "tests/unit/dram/presets.h"
#include "tests/unit/dram/stepped_banks.h"
#include "tests/unit/dram/suites.h"

#include "sim/random.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>

enum { CONFIGURATIONS = 600, BURSTS = 24 };

static struct pim_bank_organization random_organization(uint64_t *state)
{
    uint32_t column_bytes = UINT32_C(1) << below(state, 6);
    return (struct pim_bank_organization){.banks = between(state, 1, 3),
                                          .rows = between(state, 1, 64),
                                          .row_bytes = column_bytes * between(state, 1, 40),
                                          .column_bytes = column_bytes,
                                          .closed_page = below(state, 3) == 0,
                                          .interleaved = below(state, 2) ? 2 : 4};
}

static struct pim_bank_timing random_timing(uint64_t *state, const struct pim_bank_organization *o)
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
                                .trrd = below(state, 12),
                                .trfc = between(state, 1, 90),
                                .burst_cycles = between(state, 1, 5)};
    t.tras = t.trcd + below(state, 30);
    t.trc = t.tras + below(state, 2) * t.trp + below(state, 4);
    if (below(state, 4) == 0)
        return t;
    struct pim_error error;
    t.trefi = 1; /* the least that is allowed, or more */
    while (pim_bank_check_configuration(&t, o, &error) != PIM_OK)
        t.trefi += 1 + t.trefi / 8;
    t.trefi += below(state, below(state, 2) ? 20 : 1500);
    return t;
}

START_TEST(interleaved_banks_equal_stepped_ones)
{
    uint64_t state = UINT64_C(0x696e7465726c6561), refreshes = 0, conflicts = 0, together = 0;
    for (int i = 0; i < CONFIGURATIONS; i++) {
        const struct pim_bank_organization organization = random_organization(&state);
        const struct pim_bank_timing timing = random_timing(&state, &organization);
        struct pim_bank_rules rules;
        struct pim_bank bank;
        struct pim_burst burst[BURSTS];
        struct pim_burst_times times[BURSTS], expected[BURSTS];
        uint64_t arrival[BURSTS], at = 0, last_next = 0;
        pim_bank_rules_initialize(&rules, &timing, &organization);
        pim_bank_initialize(&bank, &rules);
        for (int j = 0; j < BURSTS; j++) {
            burst[j] = random_burst(&state, rules.capacity_bytes, 16);
            arrival[j] = at;
            pim_bank_access(&bank, &burst[j], at, &times[j]);
            /* The port takes a burst when fewer than banks are under way, and no two in a cycle. */
            const int before = j - (int)organization.interleaved + 1;
            const uint64_t free_at = before >= 0 ? times[before].last_data -
                                                       (burst[before].write ? timing.tcwl : timing.tcl) -
                                                       timing.burst_cycles
                                                 : 0;
            ck_assert_uint_eq(times[j].next, free_at > at + 1 ? free_at : at + 1);
            ck_assert_uint_ge(times[j].next, last_next);
            last_next = times[j].next;
            together += j > 0 && arrival[j] < times[j - 1].last_data;
            at = below(&state, 2) ? times[j].next
                                  : times[j].next + below(&state, below(&state, 2) ? 40 : 4000);
        }
        const uint64_t until = times[BURSTS - 1].last_data + below(&state, 5000);
        pim_bank_advance(&bank, until);
        struct pim_bank_counters counters, stepped;
        pim_bank_read_counters(&bank, &counters);
        stepped_banks_run(&timing, &organization, burst, arrival, BURSTS, until, expected, &stepped);
        for (int j = 0; j < BURSTS; j++)
            ck_assert_msg(times[j].first_command == expected[j].first_command &&
                              times[j].first_data == expected[j].first_data &&
                              times[j].last_data == expected[j].last_data,
                          "configuration %d, burst %d: first command %" PRIu64 " data %" PRIu64 " to %" PRIu64
                          ", stepped %" PRIu64 ", %" PRIu64 " to %" PRIu64,
                          i, j, times[j].first_command, times[j].first_data, times[j].last_data,
                          expected[j].first_command, expected[j].first_data, expected[j].last_data);
#define SAME(field)                                                                                          \
    ck_assert_msg(counters.field == stepped.field,                                                           \
                  "configuration %d: " #field " is %" PRIu64 ", stepped %" PRIu64, i, counters.field,        \
                  stepped.field)
        SAME(row_hits);
        SAME(row_misses);
        SAME(row_conflicts);
        SAME(activates);
        SAME(precharges);
        SAME(refreshes);
        SAME(reads);
        SAME(writes);
        SAME(row_cycles);
        SAME(refresh_cycles);
        SAME(turnaround_cycles);
#undef SAME
        refreshes += stepped.refresh_cycles;
        conflicts += stepped.row_conflicts;
    }
    /* The sample did meet what it is for. */
    ck_assert_uint_gt(refreshes, 1000);
    ck_assert_uint_gt(conflicts, 1000);
    ck_assert_uint_gt(together, 1000);
}
END_TEST

/* Rows of a stream open behind columns of the one before: all 200 x 64 columns without a gap, but for the
   first row. One bank loses tRTP + tRP + tRCD - 1 = 18 cycles a row. */
START_TEST(a_stream_hides_its_rows)
{
    for (uint32_t banks = 1; banks <= 4; banks *= 2) {
        struct pim_bank_organization organization = pimbank_organization;
        struct pim_bank_timing timing = pimbank_timing;
        struct pim_bank_rules rules;
        struct pim_bank bank;
        struct pim_burst_times times;
        organization.interleaved = banks;
        timing.trefi = 0;
        pim_bank_rules_initialize(&rules, &timing, &organization);
        pim_bank_initialize(&bank, &rules);
        const struct pim_burst burst = {.bytes = 200 * 1024, .count = 1};
        pim_bank_access(&bank, &burst, 0, &times);
        ck_assert_uint_eq(times.first_data, 1 + 8 + 8 + 1);
        ck_assert_uint_eq(times.last_data, 1 + 8 + 200 * 64 - 1 + 8 + 1 + (banks == 1 ? 199 * 18 : 0));
        ck_assert_uint_eq(rules.capacity_bytes, banks * UINT64_C(8192) * 1024);
    }
}
END_TEST

/* Two banks: two bursts may be under way. The row of the second opens behind columns of the first, unless it
   lies in the same bank. */
START_TEST(two_bursts_are_under_way)
{
    struct pim_bank_organization organization = pimbank_organization;
    struct pim_bank_timing timing = pimbank_timing;
    struct pim_bank_rules rules;
    organization.interleaved = 2;
    timing.trrd = 2;
    pim_bank_rules_initialize(&rules, &timing, &organization);
    for (uint64_t row = 1; row <= 2; row++) {
        struct pim_bank bank;
        struct pim_burst_times first, second, third;
        pim_bank_initialize(&bank, &rules);
        const struct pim_burst bursts[] = {{.bytes = 320, .count = 1},
                                           {.address = row * 1024, .bytes = 16, .count = 1}};
        pim_bank_access(&bank, &bursts[0], 0, &first); /* ACT 1, RD 9 to 28 */
        ck_assert_uint_eq(first.next, 1);
        pim_bank_access(&bank, &bursts[1], first.next, &second);
        ck_assert_uint_eq(second.next, 28);
        /* Other bank: ACT in 3 (tRRD 2), read behind the 20 columns. Same: PRE 31, ACT 39, RD 47. */
        ck_assert_uint_eq(second.first_command, row == 1 ? 3 : 31);
        ck_assert_uint_eq(second.last_data, row == 1 ? 29 + 9 : 47 + 9);
        pim_bank_access(&bank, &bursts[0], second.next,
                        &third); /* the first row is open, or: PRE 55, ACT 63, RD 71 */
        ck_assert_uint_eq(third.first_data, row == 1 ? 30 + 9 : 71 + 9);
    }
}
END_TEST

START_TEST(only_one_two_and_four_are_banks)
{
    struct pim_bank_organization organization = pimbank_organization;
    struct pim_error error;
    for (uint32_t banks = 1; banks <= 5; banks++) {
        organization.interleaved = banks;
        ck_assert_int_eq(pim_bank_check_configuration(&pimbank_timing, &organization, &error),
                         banks == 3 || banks == 5 ? PIM_BAD_INPUT : PIM_OK);
    }
    /* A row of each may be under way when a refresh becomes due: 4 x (64 + 17) + 53 + 17 + 72. */
    struct pim_bank_timing timing = pimbank_timing;
    organization.interleaved = 4;
    for (timing.trefi = 1; pim_bank_check_configuration(&timing, &organization, &error) != PIM_OK;)
        timing.trefi++;
    ck_assert_uint_gt(timing.trefi, 4 * 64 + 72);
    ck_assert_uint_lt(timing.trefi, 1000);
}
END_TEST

Suite *suite_interleaved(void)
{
    Suite *suite = suite_create("interleaved");
    TCase *tests = tcase_create("interleaved");
    tcase_add_test(tests, interleaved_banks_equal_stepped_ones);
    tcase_add_test(tests, a_stream_hides_its_rows);
    tcase_add_test(tests, two_bursts_are_under_way);
    tcase_add_test(tests, only_one_two_and_four_are_banks);
    suite_add_tcase(suite, tests);
    return suite;
}

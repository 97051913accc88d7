/*
 * Refusals, conversions, sustained bandwidth, idle time, and what lock-step banks and closed pages change.
 */
#include "tests/unit/dram/presets.h"
#include "tests/unit/dram/suites.h"
#include "tests/unit/test_main.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void refused(const struct pim_bank_timing *timing, const struct pim_bank_organization *organization,
                    const char *word)
{
    struct pim_error error = {PIM_OK, ""};
    ck_assert_int_eq(pim_bank_check_configuration(timing, organization, &error), PIM_BAD_INPUT);
    ck_assert_msg(strstr(error.text, word) != NULL, "'%s' does not name %s", error.text, word);
}

START_TEST(impossible_timings_are_refused)
{
    struct pim_error error;
    struct pim_bank_timing t = pimbank_timing;
    ck_assert_int_eq(pim_bank_check_configuration(&t, &pimbank_organization, &error), PIM_OK);
    t.tras = 25;
    refused(&t, &pimbank_organization, "tras (25 cycles) is longer than trc (24)");
    t = pimbank_timing, t.trcd = 17;
    refused(&t, &pimbank_organization, "trcd");
    t = pimbank_timing, t.tccd = 0;
    refused(&t, &pimbank_organization, "tccd is 0");
    t = pimbank_timing, t.burst_cycles = 0;
    refused(&t, &pimbank_organization, "burst_cycles");
    t = pimbank_timing, t.trtp = PIM_BANK_CYCLES_MAX + 1;
    refused(&t, &pimbank_organization, "trtp");
    t = pimbank_timing, t.trfc = 0;
    refused(&t, &pimbank_organization, "trfc");
    t.trefi = 0; /* without refresh trfc does not matter */
    ck_assert_int_eq(pim_bank_check_configuration(&t, &pimbank_organization, &error), PIM_OK);
    t = pimbank_timing, t.trefi = 100;
    refused(&t, &pimbank_organization, "trefi is 100 cycles: refreshes would leave no time");
    t = pimbank_timing, t.trefi = PIM_BANK_REFRESH_INTERVAL_MAX + 1U;
    refused(&t, &pimbank_organization, "trefi");
}
END_TEST

START_TEST(impossible_organizations_are_refused)
{
    struct pim_bank_organization o = pimbank_organization;
    o.banks = 0;
    refused(&pimbank_timing, &o, "banks");
    o = pimbank_organization, o.rows = 0;
    refused(&pimbank_timing, &o, "rows");
    o = pimbank_organization, o.column_bytes = 48;
    refused(&pimbank_timing, &o, "row of 1024 bytes and column of 48");
    o = pimbank_organization, o.column_bytes = 0;
    refused(&pimbank_timing, &o, "column");
    o = pimbank_organization, o.row_bytes = 0;
    refused(&pimbank_timing, &o, "row of 0");
    o = pimbank_organization, o.banks = UINT32_MAX;
    refused(&pimbank_timing, &o, "bytes wide");
    o = pimbank_organization, o.rows = UINT32_MAX, o.row_bytes = UINT32_MAX - UINT32_MAX % 16;
    refused(&pimbank_timing, &o, "behind one port");
}
END_TEST

START_TEST(impossible_bursts_are_refused)
{
    struct pim_bank_rules rules;
    pim_bank_rules_initialize(&rules, &pimbank_timing, &pimbank_organization);
    const uint64_t end = rules.capacity_bytes;
    ck_assert_uint_eq(end, 8 << 20);
    const struct {
        struct pim_burst burst;
        const char *word; /* NULL: allowed */
    } bursts[] = {
        {{.address = 0, .bytes = 0, .count = 1}, "empty"},
        {{.address = 0, .bytes = 1, .count = 0}, "empty"},
        {{.address = 0, .bytes = 8, .stride = 7, .count = 2}, "overlap"},
        {{.address = 0, .bytes = 8, .stride = 0, .count = 1}, NULL},
        {{.address = end - 8, .bytes = 8, .count = 1}, NULL},
        {{.address = end - 8, .bytes = 9, .count = 1}, "ends at 8388608"},
        {{.address = end, .bytes = 1, .count = 1}, "ends at"},
        {{.address = UINT64_MAX, .bytes = 1, .count = 1}, "ends at"},
        {{.address = 0, .bytes = UINT32_MAX, .stride = UINT32_MAX, .count = UINT32_MAX}, "ends at"},
        {{.address = 0, .bytes = 1024, .stride = 8192, .count = 1024}, NULL},
        {{.address = 8000, .bytes = 1024, .stride = 8192, .count = 1024}, "ends at"},
    };
    for (size_t i = 0; i < sizeof bursts / sizeof *bursts; i++) {
        struct pim_error error = {PIM_OK, ""};
        enum pim_status status = pim_bank_check_burst(&rules, &bursts[i].burst, &error);
        ck_assert_int_eq(status, bursts[i].word ? PIM_BAD_INPUT : PIM_OK);
        if (bursts[i].word)
            ck_assert_msg(strstr(error.text, bursts[i].word) != NULL, "%zu: %s", i, error.text);
    }
}
END_TEST

/* Allspark's Table IV at 400 MHz gives pimbank_400. */
START_TEST(nanoseconds_become_cycles)
{
    ck_assert_uint_eq(pim_dram_cycles(18000, 400000), 8);   /* 7.2 */
    ck_assert_uint_eq(pim_dram_cycles(40000, 400000), 16);  /* exact */
    ck_assert_uint_eq(pim_dram_cycles(180000, 400000), 72); /* exact */
    ck_assert_uint_eq(pim_dram_cycles(0, 400000), 0);
    ck_assert_uint_eq(pim_dram_cycles(1, 1), 1);
    ck_assert_uint_eq(pim_dram_refresh_interval(3904000, 400000),
                      1561); /* 1561.6: the row would wait too long */
    ck_assert_uint_eq(pim_dram_refresh_interval(7800000, 1200000), 9360);
    ck_assert_uint_eq(pim_dram_cycles(UINT64_C(1000000000000), 10000000), UINT64_C(10000000000));
}
END_TEST

/* A megabyte in one go, in bursts of 256 bytes handed over at `next`, and through four banks in lock-step,
 * with rows of 8 KiB. */
START_TEST(a_stream_reaches_the_peak)
{
    const struct {
        uint32_t banks, bytes;
    } streams[] = {{1, 1 << 20}, {1, 256}, {4, 1 << 20}};
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        struct pim_bank_organization o = pimbank_organization;
        o.banks = streams[i].banks;
        o.row_bytes = 8192;
        struct pim_bank_rules rules;
        struct pim_bank bank;
        pim_bank_rules_initialize(&rules, &pimbank_timing, &o);
        pim_bank_initialize(&bank, &rules);
        struct pim_burst_times times = {.next = 0};
        for (uint64_t at = 0; at < 1 << 20; at += streams[i].bytes) {
            struct pim_burst burst = {.address = at, .bytes = streams[i].bytes, .count = 1};
            pim_bank_access(&bank, &burst, times.next, &times);
        }
        struct pim_bank_counters c;
        pim_bank_read_counters(&bank, &c);
        double share = (double)c.data_cycles / (double)(times.next - c.refresh_cycles);
        ck_assert_msg(share >= 0.95, "stream %zu: %.4f of the peak after refresh", i, share);
        ck_assert_uint_eq(c.bytes_read, 1 << 20);
        ck_assert_uint_eq(c.data_cycles, (UINT64_C(1) << 20) / 16 / streams[i].banks);
    }
}
END_TEST

/* With one bank and rows of 1 KiB the row change cannot hide: 64 columns, then RD -> PRE -> ACT -> RD = tRTP
 * + tRP + tRCD. */
START_TEST(small_rows_cost_bandwidth)
{
    struct pim_bank_timing t = pimbank_timing;
    t.trefi = 0;
    struct pim_bank_rules rules;
    struct pim_bank bank;
    struct pim_burst_times times;
    pim_bank_rules_initialize(&rules, &t, &pimbank_organization);
    pim_bank_initialize(&bank, &rules);
    struct pim_burst burst = {.bytes = 100 * 1024, .count = 1};
    pim_bank_access(&bank, &burst, 0, &times);
    ck_assert_uint_eq(times.next, 1 + 8 + 100 * 63 + 99 * (3 + 8 + 8));
    struct pim_bank_counters c;
    pim_bank_read_counters(&bank, &c);
    ck_assert_uint_eq(c.row_misses, 1);
    ck_assert_uint_eq(c.row_conflicts, 99);
    ck_assert_uint_eq(c.row_hits, 6400 - 100);
}
END_TEST

/* A bank that waited for ten seconds answers as fast, and its refreshes were counted. */
START_TEST(idle_time_is_free_and_refreshed)
{
    struct pim_bank_rules rules;
    struct pim_bank bank;
    struct pim_burst_times times;
    pim_bank_rules_initialize(&rules, &pimbank_timing, &pimbank_organization);
    pim_bank_initialize(&bank, &rules);
    struct pim_burst burst = {.bytes = 16, .count = 1};
    const uint64_t intervals = 2562460, arrival = intervals * 1561 + 200;
    pim_bank_access(&bank, &burst, arrival, &times);
    ck_assert_uint_eq(times.last_data, arrival + 18);
    struct pim_bank_counters c;
    pim_bank_read_counters(&bank, &c);
    ck_assert_uint_eq(c.refreshes, intervals);
    ck_assert_uint_eq(c.refresh_cycles, 0);
    pim_bank_advance(&bank, arrival + 1561 * 3);
    pim_bank_read_counters(&bank, &c);
    ck_assert_uint_eq(c.refreshes, intervals + 3);
    ck_assert_uint_eq(c.precharges, 1);
}
END_TEST

START_TEST(a_closed_page_closes_behind_every_burst)
{
    struct pim_bank_organization o = pimbank_organization;
    o.closed_page = true;
    struct pim_bank_rules rules;
    struct pim_bank bank;
    struct pim_burst_times times;
    pim_bank_rules_initialize(&rules, &pimbank_timing, &o);
    pim_bank_initialize(&bank, &rules);
    struct pim_burst burst = {.bytes = 64, .count = 1};
    pim_bank_access(&bank, &burst, 0, &times);
    ck_assert_uint_eq(times.last_data, 18 + 3);
    /* ACT@1, RD@9 to 12; precharge at max(1 + 16, 12 + 3) = 17, ACT@25. */
    pim_bank_access(&bank, &burst, times.next, &times);
    ck_assert_uint_eq(times.first_command, 25);
    ck_assert_uint_eq(times.first_data, 25 + 8 + 9);
    pim_bank_access(&bank, &burst, 1000, &times);
    ck_assert_uint_eq(times.first_data, 1000 + 18);
    struct pim_bank_counters c;
    pim_bank_read_counters(&bank, &c);
    ck_assert_uint_eq(c.row_misses, 3);
    ck_assert_uint_eq(c.row_conflicts, 0);
    ck_assert_uint_eq(c.precharges, 3);
}
END_TEST

void pimsim_suites(SRunner *runner)
{
    Suite *suite = suite_create("rules");
    TCase *tests = tcase_create("rules");
    tcase_add_test(tests, impossible_timings_are_refused);
    tcase_add_test(tests, impossible_organizations_are_refused);
    tcase_add_test(tests, impossible_bursts_are_refused);
    tcase_add_test(tests, nanoseconds_become_cycles);
    tcase_add_test(tests, a_stream_reaches_the_peak);
    tcase_add_test(tests, small_rows_cost_bandwidth);
    tcase_add_test(tests, idle_time_is_free_and_refreshed);
    tcase_add_test(tests, a_closed_page_closes_behind_every_burst);
    suite_add_tcase(suite, tests);
    srunner_add_suite(runner, suite);
    srunner_add_suite(runner, suite_golden());
    srunner_add_suite(runner, suite_property());
    srunner_add_suite(runner, suite_interleaved());
}

/* Time in which nothing comes is skipped: with the same cycles, refreshes and energy. */
#include "tests/unit/dram_channel/suites.h"
#include "tests/unit/dram_channel/support.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* Idle refreshes are only counted when nobody wants commands: cycles and counters are as with all planned. */
static const struct {
    const char *preset;
    const char *settings[6];
} idle[] = {
    {"ddr4_2400r", {NULL}},
    {"ddr4_2400r", {"dram.ranks=2", "dram.refresh_postpone=3"}},
    {"hbm2_pim", {"dram.refresh_mode=per_bank"}},
    {"hbm2_2000", {"dram.page=timeout", "dram.channels=2"}},
    {"hbm2_2000", {"dram.refresh_mode=per_bank", "dram.page=closed", "dram.channels=1"}},
    {"lpddr4_3200", {"dram.refresh_mode=per_bank", "dram.page=timeout"}},
    {"ddr4_2400r", {"dram.ranks=4", "dram.refresh_stagger=true"}},
    {"pimbank_400", {"dram.page=closed"}},
    {"hbm3_6400", {"dram.pseudo_channels=2", "dram.trefi=3100"}},
    {"lpddr5_6400", {NULL}},
    {"allspark_stack", {NULL}},
    {"ddr4_2400r", {"dram.ranks=2", "dram.maintenance=rank", "dram.refresh_pull_in=4"}},
    {"hbm3_6400", {"dram.stack_ids=2", "dram.maintenance=rank", "dram.page=timeout"}},
    {"gddr6_14000", {"dram.refresh_mode=same_bank", "dram.maintenance=rank", "dram.ranks=2"}},
    /* The refresh of one rank is not over when the next rank has its turn. */
    {"hbm2_pim_act1", {"dram.ranks=4", "dram.refresh_stagger=true", "dram.trefi=690"}},
    {"ddr4_2400r",
     {"dram.ranks=4", "dram.refresh_stagger=true", "dram.maintenance=rank", "dram.refresh_mode=per_bank"}},
    {"ddr5_4800an", {"dram.ranks=8", "dram.refresh_stagger=true", "dram.trefi=4800"}},
};

/* Requests before a gap of so many times all refreshes of a rank, and behind it; returns the refreshes. Times
 * behind the gap are counted from its end. */
static uint64_t serve_across(struct outcome *outcome, const struct pim_dram_configuration *configuration,
                             uint64_t times)
{
    enum { BEFORE = 3, COUNT = 8 };
    const uint32_t *parameter = configuration->specification.parameter;
    const struct pim_dram_policy *policy = &configuration->policy;
    const struct pim_dram_organization *o = &configuration->specification.organization;
    const uint64_t banks = !policy->per_bank_refresh ? 1
                           : policy->same_bank       ? o->banks
                                                     : pim_dram_banks_per_rank(o);
    uint64_t interval = policy->per_bank_refresh
                            ? pim_dram_bank_refresh_interval(&configuration->specification)
                            : parameter[PIM_DRAM_T_REFI];
    interval -= policy->stagger ? interval % pim_dram_ranks(o) : 0;
    const uint64_t gap = times * interval * banks;
    const struct access list[COUNT] = {{0, 0, false},
                                       {1, 64, true},
                                       {5, UINT64_C(1) << 20, false},
                                       {gap + 7, 0, false},
                                       {gap + 8, 128, true},
                                       {gap + interval - 3, UINT64_C(1) << 20, false},
                                       {gap + 2 * interval, UINT64_C(1) << 19, false},
                                       {gap + 2 * interval + 1, 0, true}};
    serve(outcome, configuration, list, COUNT, false);
    for (size_t i = BEFORE; i < COUNT; i++)
        outcome->completed[i] -= gap;
    return (outcome->counters.commands[PIM_DRAM_REF] + outcome->counters.commands[PIM_DRAM_REFPB] +
            outcome->counters.commands[PIM_DRAM_REFSB]) /
           (pim_dram_ranks(o) * o->channels) / banks;
}

/* However long nothing comes, what comes behind it is served alike, and no refresh is left out. */
START_TEST(gaps_of_any_length)
{
    enum { SHORT = 50, COUNT = 8 };
    static const uint64_t more[] = {1000, 1000000, UINT64_C(1000000000000)};
    struct pim_dram_configuration configuration;
    struct outcome near, far;
    configure(&configuration, idle[_i].preset, idle[_i].settings);
    const uint64_t done = serve_across(&near, &configuration, SHORT);
    for (size_t k = 0; k < sizeof more / sizeof more[0]; k++) {
        ck_assert_uint_eq(serve_across(&far, &configuration, SHORT + more[k]), done + more[k]);
        ck_assert_mem_eq(near.completed, far.completed, COUNT * sizeof near.completed[0]);
        ck_assert_uint_eq(near.counters.row_hits, far.counters.row_hits);
        ck_assert_uint_eq(near.counters.commands[PIM_DRAM_ACT], far.counters.commands[PIM_DRAM_ACT]);
        outcome_free(&far);
    }
    outcome_free(&near);
}
END_TEST

START_TEST(skipping_idle_time_changes_nothing)
{
    enum { COUNT = 400 };
    struct pim_dram_configuration configuration;
    struct outcome with, without;
    struct pim_random random;
    pim_random_initialize(&random, 5);
    configure(&configuration, idle[_i].preset, idle[_i].settings);
    struct access *list = random_list(&random, &configuration, COUNT, 0.001);
    for (size_t i = 0; i < COUNT; i++)
        list[i].cycle = list[i].cycle * 20 + (uint64_t)(i % 7 == 0) * 3;
    for (size_t i = 1; i < COUNT; i++)
        if (list[i].cycle < list[i - 1].cycle)
            list[i].cycle = list[i - 1].cycle;
    serve(&with, &configuration, list, COUNT, true);
    serve(&without, &configuration, list, COUNT, false);
    for (size_t i = 0; i < COUNT; i++)
        ck_assert_uint_eq(with.completed[i], without.completed[i]);
    ck_assert_uint_eq(with.counters.skipped_refreshes, 0);
    if (strcmp(idle[_i].preset, "lpddr4_3200") != 0)
        ck_assert_uint_gt(without.counters.skipped_refreshes, 0);
    without.counters.skipped_refreshes = 0;
    ck_assert_mem_eq(&with.counters, &without.counters, sizeof with.counters);
    outcome_free(&with);
    outcome_free(&without);
    free(list);
}
END_TEST

Suite *suite_channel_idle(void)
{
    Suite *suite = suite_create("channel_idle");
    TCase *cases = tcase_create("idle");
    tcase_add_loop_test(cases, skipping_idle_time_changes_nothing, 0, sizeof idle / sizeof idle[0]);
    tcase_add_loop_test(cases, gaps_of_any_length, 0, sizeof idle / sizeof idle[0]);
    suite_add_tcase(suite, cases);
    return suite;
}

#include "tests/unit/dram_channel/check_runs.h"
#include "tests/unit/dram_channel/support.h"

#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void complain(void *context, const struct pim_dram_violation *violation)
{
    ck_abort_msg("%s: command %" PRIu64 ", %s in %" PRIu64 ": %s", (const char *)context, violation->number,
                 pim_dram_command_text(violation->command.command), violation->command.cycle,
                 violation->constraint ? violation->constraint->text : violation->rule);
}

static void near(double a, double b, const char *what)
{
    ck_assert_msg((isnan(a) && isnan(b)) || fabs(a - b) <= 1e-9 * fabs(b), "%s: %.17g and %.17g", what, a, b);
}

/* NaN is no part of a sum: it is not modelled. */
static double part(double value)
{
    return isnan(value) ? 0 : value;
}

/* Energy of the counters against energy re-added from the log. */
static void compare_energy(const struct pim_dram_configuration *configuration, const struct outcome *outcome,
                           const struct pim_dram_check *check)
{
    struct pim_dram_counters counters;
    struct pim_dram_energy a, b;
    uint64_t end = outcome->cycles;
    const struct pim_dram_organization *organization = &configuration->specification.organization;
    pim_dram_check_counters(check, end, &counters);
    ck_assert_uint_le(counters.active_cycles, end * pim_dram_ranks(organization) * organization->channels);
    ck_assert_uint_eq(counters.active_cycles, outcome->counters.active_cycles);
    ck_assert_uint_eq(counters.precharged_banks, outcome->counters.precharged_banks);
    pim_dram_energy_compute(&configuration->specification, &configuration->energy, &outcome->counters, end,
                            &a);
    pim_dram_energy_compute(&configuration->specification, &configuration->energy, &counters, end, &b);
    if (configuration->energy.model == PIM_DRAM_ENERGY_NONE)
        return;
    near(a.activate, b.activate, "activate");
    near(a.precharge, b.precharge, "precharge");
    near(a.read, b.read, "read");
    near(a.write, b.write, "write");
    near(a.io, b.io, "i/o");
    near(a.background_active, b.background_active, "background with open rows");
    near(a.background_precharged, b.background_precharged, "background with closed rows");
    near(a.refresh, b.refresh, "refresh");
    near(a.background, b.background, "background");
    near(a.modelled, b.modelled, "sum");
    near(a.total, b.total, "total");
    near(a.modelled,
         part(a.activate) + part(a.precharge) + part(a.read) + part(a.write) + part(a.refresh) + part(a.io) +
             part(a.background),
         "sum");
}

/* A channel's commands are in order, those of several channels are not; column before row as in the log. */
static int by_cycle(const void *left, const void *right)
{
    const struct pim_dram_record *a = left, *b = right;
    return (a->cycle > b->cycle) - (a->cycle < b->cycle);
}

uint64_t check_runs(size_t preset_index, unsigned rounds, size_t requests, uint64_t seed)
{
    uint64_t commands = 0;
    static const char *const more[] = {NULL, "dram.refresh_mode=per_bank", "dram.ranks=2",
                                       "dram.bank_xor=true"};
    const char *preset = pim_dram_preset(preset_index)->name;
    struct pim_random random;
    pim_random_initialize(&random, seed + preset_index);
    for (unsigned round = 0; round < rounds; round++) {
        struct settings settings;
        struct pim_dram_configuration configuration;
        struct outcome outcome;
        struct pim_error error = {PIM_OK, ""};
        random_settings(&settings, &random);
        const char *all[16] = {NULL};
        size_t n = 0;
        while (round > 0 && settings.list[n])
            all[n] = settings.list[n], n++;
        const char *extra = more[round % 4];
        if (round % 4 == 2 && strncmp(preset, "hbm3", 4) == 0)
            extra = "dram.pseudo_channels=2";                             /* HBM3 has no ranks */
        if (extra && !(round % 4 == 1 && strncmp(preset, "ddr", 3) == 0)) /* DDR has no REFpb */
            all[n++] = extra;
        if (round % 3 == 2)
            all[n++] = "dram.maintenance=rank";
        if (round % 4 == 2) {
            all[n++] = "dram.refresh_stagger=true";
            all[n] = "dram.refresh_pull_in=8";
        }
        configure(&configuration, preset, all);
        struct access *list = random_list(&random, &configuration, requests, 0.05 + pim_random_unit(&random));
        serve(&outcome, &configuration, list, requests, true);
        struct pim_dram_check *check = pim_dram_check_create(
            &configuration.specification, &configuration.policy, complain, (void *)(uintptr_t)preset);
        ck_assert_ptr_nonnull(check);
        if (configuration.specification.organization.channels > 1)
            qsort(outcome.records, outcome.record_count, sizeof *outcome.records, by_cycle);
        for (size_t i = 0; i < outcome.record_count; i++) {
            struct pim_dram_logged logged =
                pim_dram_logged_record(&configuration.specification, &outcome.records[i]);
            ck_assert(pim_dram_check_command(check, &logged, &error) == PIM_OK);
        }
        ck_assert(pim_dram_check_end(check, &error) == PIM_OK);
        commands += outcome.record_count;
        /* The checker takes both; a channel refreshes in its own mode alone. */
        ck_assert_uint_eq(
            outcome.counters.commands[configuration.policy.per_bank_refresh ? PIM_DRAM_REF : PIM_DRAM_REFPB],
            0);
        compare_energy(&configuration, &outcome, check);
        pim_dram_check_destroy(check);
        outcome_free(&outcome);
        free(list);
    }
    return commands;
}

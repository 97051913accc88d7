/* Energy from counters: closed forms, what is missing and why. */
#include "models/dram/energy.h"
#include "tests/unit/dram_channel/suites.h"
#include "tests/unit/dram_channel/support.h"
#include "tests/unit/test_main.h"

#include <check.h>
#include <math.h>

/* DRAMPower's formulas with the currents of MT40A1G8PM, each in its closed form. */
START_TEST(energy_of_currents)
{
    struct pim_dram_configuration configuration;
    configure(&configuration, "ddr4_2400r", NULL);
    struct pim_dram_counters counters = {.precharged_banks = 91964, .active_cycles = 1000};
    counters.commands[PIM_DRAM_ACT] = 91980;
    counters.commands[PIM_DRAM_RD] = 134008;
    counters.commands[PIM_DRAM_WR] = 65984;
    counters.commands[PIM_DRAM_REF] = 110;
    struct pim_dram_energy energy;
    pim_dram_energy_compute(&configuration.specification, &configuration.energy, &counters, 3000, &energy);
    /* DRAMPower on a log with these counts: J x 10^12. */
    ck_assert_double_eq_tol(energy.read / 3.943617e8, 1, 1e-6);
    ck_assert_double_eq_tol(energy.write / 1.688515e8, 1, 1e-6);
    ck_assert_double_eq_tol(energy.refresh / 7.884373e7, 1, 1e-6);
    ck_assert_double_eq_tol(energy.activate / 1.434314e8, 1, 1e-6);
    ck_assert_double_eq_tol(energy.precharge / 1.647336e8, 1, 1e-6);
    ck_assert_double_eq_tol(energy.background_active, 8 * 1.2 * 43 * 1000 * 0.833, 1e-6);
    ck_assert_double_eq_tol(energy.background_precharged, 8 * 1.2 * 34 * 2000 * 0.833, 1e-6);

    /* Refreshes of single banks have a current and a length of their own. */
    static const char *const settings[] = {"energy.idd5pb_ma=100", "dram.trfc_bank=150", NULL};
    configure(&configuration, "ddr4_2400r", settings);
    counters.commands[PIM_DRAM_REFPB] = 30;
    counters.commands[PIM_DRAM_REFSB] = 5;
    pim_dram_energy_compute(&configuration.specification, &configuration.energy, &counters, 3000, &energy);
    ck_assert_double_eq_tol(energy.refresh / (7.884373e7 + 8 * 1.2 * (100 - 43) * 150 * 0.833 * 35), 1, 1e-6);
}
END_TEST

START_TEST(energy_per_bit)
{
    struct pim_dram_configuration configuration;
    configure(&configuration, "nicepim_stack", NULL);
    struct pim_dram_counters counters = {0};
    counters.commands[PIM_DRAM_RD] = 1000;
    struct pim_dram_energy energy;
    pim_dram_energy_compute(&configuration.specification, &configuration.energy, &counters, 5000, &energy);
    ck_assert_double_eq_tol(energy.modelled, 0.88 * 128 * 1000, 1e-6);
    ck_assert(isnan(energy.total));       /* no total without a part */
    ck_assert_double_eq(energy.write, 0); /* modelled, and there were none */
    /* The paper gives energy per bit and nothing else. */
    ck_assert(isnan(energy.activate) && isnan(energy.precharge) && isnan(energy.refresh) && isnan(energy.io));
    ck_assert(isnan(energy.background) && isnan(energy.background_active) &&
              isnan(energy.background_precharged));

    static const char *const settings[] = {"energy.refresh_pj=1600", "energy.background_mw=2.5",
                                           "energy.activate_pj=300", "energy.io_pj_per_bit=0.5", NULL};
    configure(&configuration, "hbm2_pim", settings);
    counters.commands[PIM_DRAM_WR] = 10;
    counters.commands[PIM_DRAM_ACT] = 7;
    counters.commands[PIM_DRAM_REF] = 3;
    counters.commands[PIM_DRAM_REFPB] = 4;
    pim_dram_energy_compute(&configuration.specification, &configuration.energy, &counters, 5000, &energy);
    ck_assert_double_eq_tol(energy.activate, 2100, 1e-9);
    ck_assert_double_eq_tol(energy.refresh, 1600 * 3 + 1600 * 4 / 16.0, 1e-9);
    ck_assert_double_eq_tol(energy.background, 2.5 * 5000, 1e-9);
    ck_assert_double_eq_tol(energy.io, 0.5 * 256 * 1010, 1e-9);
    ck_assert_double_eq_tol(energy.total, 2100 + 5200 + 12500 + (2.68 + 0.5) * 256 * 1010, 1e-6);
    ck_assert_double_eq(energy.total, energy.modelled);
    ck_assert(isnan(energy.precharge) && isnan(energy.background_active));

    configure(&configuration, "lpddr4_3200", NULL);
    pim_dram_energy_compute(&configuration.specification, &configuration.energy, &counters, 5000, &energy);
    ck_assert(isnan(energy.total) && isnan(energy.read));
}
END_TEST

/* What a configuration lacks, and the reason: that of the part, or of the total. */
static const struct {
    const char *preset;
    const char *settings[3];
    uint64_t refreshes, bank_refreshes;
    enum pim_dram_energy_part part;
    const char *reason; /* empty: the part is there */
} lacking[] = {
    {"ddr4_2400r",
     {NULL},
     5,
     0,
     PIM_DRAM_ENERGY_io,
     "no energy.io_pj_per_bit in this configuration: give it to have I/O energy"},
    {"ddr4_2400r",
     {NULL},
     5,
     0,
     PIM_DRAM_ENERGY_total,
     "no energy.io_pj_per_bit in this configuration: give it to have the total"},
    {"ddr4_2400r", {"energy.io_pj_per_bit=1"}, 5, 0, PIM_DRAM_ENERGY_total, ""},
    {"ddr4_2400r", {NULL}, 5, 0, PIM_DRAM_ENERGY_refresh, ""},
    {"ddr4_2400r",
     {"dram.refresh_mode=per_bank"},
     0,
     5,
     PIM_DRAM_ENERGY_refresh,
     "no energy.idd5pb_ma in this configuration: give it to have refresh energy"},
    {"ddr4_2400r", {"dram.refresh_mode=per_bank", "energy.idd5pb_ma=100"}, 0, 5, PIM_DRAM_ENERGY_refresh, ""},
    {"ddr4_2400r",
     {"energy.idd5b_ma=0", "energy.idd5pb_ma=100"},
     5,
     0,
     PIM_DRAM_ENERGY_refresh,
     "no energy.idd5b_ma in this configuration: give it to have refresh energy"},
    {"ddr4_2400r",
     {"energy.idd2n_ma=0", "energy.idd0_ma=0"},
     5,
     0,
     PIM_DRAM_ENERGY_precharge,
     "no energy.idd0_ma, energy.idd2n_ma in this configuration: give them to have precharge energy"},
    {"ddr4_2400r",
     {"energy.idd2n_ma=0"},
     5,
     0,
     PIM_DRAM_ENERGY_background,
     "no energy.idd2n_ma in this configuration: give it to have background energy"},
    {"ddr4_2400r",
     {"energy.idd3n_ma=0"},
     5,
     0,
     PIM_DRAM_ENERGY_read,
     "no energy.idd3n_ma in this configuration: give it to have read energy"},
    {"hbm2_2000",
     {NULL},
     5,
     0,
     PIM_DRAM_ENERGY_total,
     "no energy.refresh_pj, energy.background_mw in this configuration: give them to have the total"},
    {"hbm2_2000", {"energy.refresh_pj=1", "energy.background_mw=1"}, 5, 0, PIM_DRAM_ENERGY_total, ""},
    {"hbm2_2000", {NULL}, 5, 0, PIM_DRAM_ENERGY_precharge, "energy.model is per_bit: it is part of activate"},
    {"hbm3_6400",
     {NULL},
     5,
     0,
     PIM_DRAM_ENERGY_refresh,
     "energy.model is none: give per_bit or currents, and their figures, to have refresh energy"},
};

START_TEST(missing_energy_has_its_reason)
{
    struct pim_dram_configuration configuration;
    const char *settings[4] = {lacking[_i].settings[0], lacking[_i].settings[1], NULL};
    configure(&configuration, lacking[_i].preset, settings);
    struct pim_dram_counters counters = {.precharged_banks = 7, .active_cycles = 1000};
    counters.commands[PIM_DRAM_ACT] = 7;
    counters.commands[PIM_DRAM_RD] = 30;
    counters.commands[PIM_DRAM_REF] = lacking[_i].refreshes;
    counters.commands[PIM_DRAM_REFPB] = lacking[_i].bank_refreshes;
    struct pim_dram_energy energy;
    char reason[PIM_DRAM_ENERGY_REASON];
    pim_dram_energy_compute(&configuration.specification, &configuration.energy, &counters, 5000, &energy);
    pim_dram_energy_reason(&energy, lacking[_i].part, reason);
    ck_assert_str_eq(reason, lacking[_i].reason);
    for (unsigned part = 0; part < PIM_DRAM_ENERGY_PART_COUNT; part++) {
        const double value = pim_dram_energy_of_part(&energy, part);
        pim_dram_energy_reason(&energy, part, reason);
        ck_assert_int_eq(isnan(value), reason[0] != '\0');
        ck_assert(isnan(value) || value >= 0);
    }
}
END_TEST

Suite *suite_channel_energy(void)
{
    Suite *suite = suite_create("channel_energy");
    TCase *cases = tcase_create("energy");
    tcase_add_test(cases, energy_of_currents);
    tcase_add_test(cases, energy_per_bit);
    tcase_add_loop_test(cases, missing_energy_has_its_reason, 0, sizeof lacking / sizeof lacking[0]);
    suite_add_tcase(suite, cases);
    return suite;
}

#include "models/dram/standard/idle.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum decider { PAGE, REFRESH, MODE, RATE, CLOCK, STACKS, ENERGY };

static const char *const paths[] = {
    [PAGE] = "dram.page",         [REFRESH] = "dram.refresh",   [MODE] = "dram.refresh_mode",
    [RATE] = "dram.refresh_rate", [CLOCK] = "dram.write_clock", [STACKS] = "dram.stack_ids",
    [ENERGY] = "energy.model"};

/* `needed`: the values of the key that decides with which this one counts, in the words of the message. */
static const struct {
    const char *path;
    enum decider decider;
    const char *needed;
} idle[] = {
    {"dram.page_cap", PAGE, "\"closed\""},
    {"dram.page_timeout", PAGE, "\"timeout\""},
    {"dram.refresh_mode", REFRESH, "true"},
    {"dram.refresh_stagger", REFRESH, "true"},
    {"dram.refresh_postpone", REFRESH, "true"},
    {"dram.refresh_pull_in", REFRESH, "true"},
    {"dram.trefi", REFRESH, "true"},
    {"dram.trefi_ns", REFRESH, "true"},
    {"dram.trefi_bank", REFRESH, "true"},
    {"dram.trefi_bank_ns", REFRESH, "true"},
    {"dram.trefi_bank", MODE, "\"per_bank\" or \"same_bank\""},
    {"dram.trefi_bank_ns", MODE, "\"per_bank\" or \"same_bank\""},
    {"dram.trfc", RATE, "\"1\""},
    {"dram.trfc_ns", RATE, "\"1\""},
    {"dram.trfc_fine", RATE, "\"2\" or \"4\""},
    {"dram.trfc_fine_ns", RATE, "\"2\" or \"4\""},
    {"dram.twckpst", CLOCK, "true"},
    {"dram.twckpst_ns", CLOCK, "true"},
    {"dram.tccd_r", STACKS, "2 or 4"},
    {"dram.tccd_r_ns", STACKS, "2 or 4"},
    {"energy.io_pj_per_bit", ENERGY, "\"per_bit\" or \"currents\""},
    {"energy.read_pj_per_bit", ENERGY, "\"per_bit\""},
    {"energy.write_pj_per_bit", ENERGY, "\"per_bit\""},
    {"energy.activate_pj", ENERGY, "\"per_bit\""},
    {"energy.refresh_pj", ENERGY, "\"per_bit\""},
    {"energy.background_mw", ENERGY, "\"per_bit\""},
    {"energy.vdd_v", ENERGY, "\"currents\""},
    {"energy.idd0_ma", ENERGY, "\"currents\""},
    {"energy.idd2n_ma", ENERGY, "\"currents\""},
    {"energy.idd3n_ma", ENERGY, "\"currents\""},
    {"energy.idd4r_ma", ENERGY, "\"currents\""},
    {"energy.idd4w_ma", ENERGY, "\"currents\""},
    {"energy.idd5b_ma", ENERGY, "\"currents\""},
    {"energy.idd5pb_ma", ENERGY, "\"currents\""},
    {"energy.devices", ENERGY, "\"currents\""},
};

/* Rows and commands of the user's own may stand for distances by the name of any time. */
static bool has_other_uses(const struct pim_configuration *values, const char *path)
{
    return strncmp(path, "dram.t", strlen("dram.t")) == 0 &&
           (pim_configuration_given(values, "dram.constraints") ||
            pim_configuration_given(values, "dram.commands"));
}

static bool is_same_bank(const struct pim_configuration *values)
{
    char mode[32];
    pim_configuration_show(values, paths[MODE], mode, sizeof mode);
    return strcmp(mode, "\"same_bank\"") == 0;
}

uint32_t pim_dram_refresh_rate(const struct pim_configuration *values, bool fine)
{
    const uint32_t rate = UINT32_C(1) << pim_configuration_choice(values, paths[RATE]);
    return rate == 1 && fine && is_same_bank(values) ? 2 : rate;
}

bool pim_dram_bank_interval_counts(const struct pim_configuration *values)
{
    return !is_same_bank(values) || !pim_configuration_later(values, paths[MODE], "dram.trefi_bank") ||
           !pim_configuration_later(values, paths[MODE], "dram.trefi_bank_ns");
}

/* With refreshes of banks the interval of a rank, and its rate, count where they make theirs: not beside a
 * given one. */
static enum pim_status refuse_rank_interval(const struct pim_configuration *values, struct pim_error *error)
{
    static const char *const ranks[] = {"dram.trefi", "dram.trefi_ns", "dram.refresh_rate"};
    static const char *const banks[] = {"dram.trefi_bank", "dram.trefi_bank_ns"};
    char mode[32], interval[32];
    pim_configuration_show(values, paths[MODE], mode, sizeof mode);
    if (strcmp(mode, "\"all_bank\"") == 0 || !pim_dram_bank_interval_counts(values))
        return PIM_OK;
    for (unsigned i = 0; i < 2 * sizeof ranks / sizeof ranks[0]; i++) {
        const char *rank = ranks[i / 2], *bank = banks[i % 2];
        if (!pim_configuration_given(values, bank) || !pim_configuration_in_spite(values, rank, bank) ||
            has_other_uses(values, rank))
            continue;
        pim_configuration_show(values, bank, interval, sizeof interval);
        if (strtod(interval, NULL) > 0)
            return pim_configuration_fail(values, error, rank,
                                          "counts with %s %s where %s is 0, which is %s here: it would "
                                          "change nothing",
                                          paths[MODE], mode, bank, interval);
    }
    return PIM_OK;
}

/* REFsb, not the key, decides the rate. */
static bool is_made_fine(const struct pim_configuration *values, bool fine)
{
    return pim_dram_refresh_rate(values, fine) != UINT32_C(1)
                                                      << pim_configuration_choice(values, paths[RATE]);
}

enum pim_status pim_dram_refuse_idle(const struct pim_configuration *values, bool fine,
                                     struct pim_error *error)
{
    const bool made_fine = is_made_fine(values, fine);
    for (size_t i = 0; i < sizeof idle / sizeof idle[0]; i++) {
        const char *decider = paths[idle[i].decider], *cause = decider;
        char value[32]; /* "currents" in its quotes is the longest */
        pim_configuration_show(values, decider, value, sizeof value);
        if (idle[i].decider == RATE && made_fine) {
            (void)snprintf(value, sizeof value, "\"2\"");
            cause = paths[MODE];
        }
        if (!strstr(idle[i].needed, value) && pim_configuration_in_spite(values, idle[i].path, cause) &&
            !has_other_uses(values, idle[i].path))
            return pim_configuration_fail(
                values, error, idle[i].path,
                "counts with %s %s alone, which is %s here: it would change nothing", decider, idle[i].needed,
                value);
    }
    if (made_fine && pim_configuration_in_spite(values, paths[RATE], paths[MODE]))
        return pim_configuration_fail(values, error, paths[RATE],
                                      "with dram.refresh_mode \"same_bank\" and dram.trfc_fine it is 2 or 4, "
                                      "not 1: REFsb is of the fine mode");
    return refuse_rank_interval(values, error);
}

/* The table behind `pim_dram_schema`, and its values as the models' structs. */
#include "models/dram/standard/schema.h"

#include "models/dram/standard/commands.h"
#include "models/dram/standard/idle.h"
#include "models/dram/standard/rows.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#define INTEGER PIM_KEY_OF_INTEGER
#define REAL(path, fallback, high, unit, text) PIM_KEY_OF_REAL(path, fallback, 0, high, unit, text)
#define BOOLEAN PIM_KEY_OF_BOOLEAN
#define CHOICE PIM_KEY_OF_CHOICE
#define TEXT PIM_KEY_OF_TEXT

static const struct pim_key keys[] = {
    TEXT("name", "\"unnamed\"", "Name of the memory, for people."),

    INTEGER("dram.channels", "1", 1, 4096, "channels", "Channels, independent of one another."),
    INTEGER("dram.pseudo_channels", "1", 1, 16, "pseudo-channels",
            "Pseudo-channels of a channel: they share its command bus and have a data bus each."),
    INTEGER("dram.ranks", "1", 1, 16, "ranks", "Ranks of a pseudo-channel; they share its data bus."),
    INTEGER(
        "dram.stack_ids", "1", 1, PIM_DRAM_STACKS_MAX, "identifiers",
        "Stack identifiers (SID, HBM3) of a rank: as many times its bank groups, and tccd_r between them."),
    INTEGER("dram.bank_groups", "4", 1, 64, "groups", "Bank groups of a rank, of each of its stack_ids."),
    INTEGER("dram.banks", "4", 1, 64, "banks", "Banks of a bank group. A channel has at most 256 in all."),
    INTEGER("dram.rows", "65536", 1, 268435456, "rows", "Rows of a bank."),
    INTEGER("dram.row_bytes", "8192", 1, 16777216, "bytes", "Bytes of a row (of all devices of a rank)."),
    INTEGER("dram.access_bytes", "64", 1, 65536, "bytes", "Bytes moved by one column access."),
    INTEGER("dram.clock_ps", "833", 1, 1000000, "ps", "Period of the memory clock."),
    BOOLEAN("dram.split_command_bus", "false",
            "HBM: column commands and row commands have a bus each, one command a cycle on each."),

    BOOLEAN("dram.half_clock", "false",
            "HBM3: a cycle is half a clock; commands issue in odd cycles, PRE and PREA in any."),
    BOOLEAN("dram.write_clock", "false",
            "LPDDR5: CAS starts the write clock before RD or WR when it does not run any more."),

#define X(name, key, fallback, text)                                                                         \
    INTEGER("dram." key, fallback, 0,                                                                        \
            PIM_DRAM_T_##name == PIM_DRAM_T_REFI || PIM_DRAM_T_##name == PIM_DRAM_T_REFIPB                   \
                ? PIM_DRAM_REFRESH_INTERVAL_MAX                                                              \
                : PIM_DRAM_CYCLES_MAX,                                                                       \
            "cycles", text),
    PIM_DRAM_PARAMETER_MAP(X)
#undef X

#define X(name, key, fallback, text)                                                                         \
    REAL("dram." key "_ns", "", PIM_DRAM_NS_MAX, "ns", "In place of dram." key ", in ns. " text),
        PIM_DRAM_TIME_MAP(X) PIM_DRAM_CLOCK_TIME_MAP(X)
#undef X

            TEXT("dram.timings", "\"\"",
                 "Names for distances in dram.constraints, in cycles or in ns (rounded up): "
                 "\"trfm = 280 ns; tmine = 12\"."),
    TEXT("dram.commands", "\"jedec\"",
         "Commands of the standard, with semicolons between them: \"jedec; ACT: opens bank, cycles 4; "
         "without REFpb\"; jedec stands for those of configs/dram/commands/jedec.commands. See "
         "dram-standards.md."),
    TEXT("dram.constraints", "\"jedec\"",
         "Rows of constraints, with semicolons between them: \"jedec; rank: REF -> ACT >= tmine + 2\"; "
         "jedec "
         "stands for the rows of configs/dram/constraints/jedec.rows. See dram-standards.md."),

    TEXT("dram.mapping", "\"" PIM_DRAM_MAPPING_DEFAULT "\"",
         "Fields of an address from the most significant bit to the least: row, bank, group, stack, "
         "rank, pseudo, column, channel; name:n takes the next n bits of a field only."),
    BOOLEAN("dram.bank_xor", "false", "Bank and bank group are exclusive-ored with the low bits of the row."),

    CHOICE(
        "dram.scheduler", "frfcfs", "frfcfs|frfcfs_row_hit|fcfs",
        "frfcfs: the oldest request whose next command is ready. frfcfs_row_hit: and no row is closed while "
        "an older request hits it. fcfs: strictly in order."),
    INTEGER(
        "dram.row_hit_cap", "0", 0, 1048576, "accesses",
        "After so many accesses of a row, hits no longer overtake older requests of the bank; 0: no cap."),
    CHOICE(
        "dram.page", "open", "open|closed|timeout",
        "open: rows stay open until another is needed. closed: a row is closed after page_cap accesses, the "
        "next of which closes it by itself. timeout: after page_timeout cycles without access."),
    INTEGER("dram.page_cap", "0", 0, 1048576, "accesses",
            "Closed pages: accesses of a row before the one that closes it; 0: every access closes its row."),
    INTEGER("dram.page_timeout", "100", 1, 1048576, "cycles",
            "Cycles without access after which a row is closed."),
    INTEGER("dram.read_queue", "32", 1, 4096, "requests", "Reads that wait for their row in a channel."),
    INTEGER("dram.write_queue", "32", 1, 4096, "requests", "Writes that wait for their row in a channel."),
    INTEGER("dram.write_high", "0", 0, 4096, "requests",
            "Writes are served from so many waiting ones on; 0: more than 4/5 of the queue."),
    INTEGER(
        "dram.write_low", "-1", -1, 4096, "requests",
        "And reads again when no more than so many wait; below write_high. -1: less than 1/5 of the queue."),

    BOOLEAN("dram.refresh", "true", "false: no refresh at all (for studies only)."),
    CHOICE(
        "dram.refresh_mode", "all_bank", "all_bank|per_bank|same_bank",
        "all_bank: REF for a rank. per_bank: REFpb for its banks in turn. same_bank: REFsb for its banks of "
        "one number in all bank groups, in turn (DDR5)."),
    CHOICE("dram.refresh_rate", "1", "1|2|4",
           "Fine-granularity refresh: trefi is divided by this, and trfc is trfc_fine. With same_bank 1 is 2 "
           "where trfc_fine is given: DDR5 has REFsb in its fine mode alone."),
    CHOICE(
        "dram.maintenance", "channel", "channel|rank",
        "channel: refreshes and closings of the page policy wait in one queue, and no waiting request of the "
        "channel is looked at until it is empty. rank: each goes on by itself, and keeps away requests for "
        "its rank (REF) or its bank (REFpb, PRE) alone."),
    BOOLEAN("dram.refresh_stagger", "false",
            "Ranks (and pseudo-channels) owe their refreshes in turn, an equal part of the interval apart, "
            "instead of all at once."),
    INTEGER("dram.refresh_postpone", "0", 0, 8, "refreshes",
            "Due refreshes of a rank that wait while requests for the rank do."),
    INTEGER("dram.refresh_pull_in", "0", 0, 8, "refreshes",
            "Refreshes of a rank that are made ahead of their time while no request for the rank waits."),

    CHOICE("energy.model", "none", "none|per_bit|currents",
           "per_bit: from energies per bit and per command. currents: from IDD and VDD, as DRAMPower does."),
    REAL("energy.io_pj_per_bit", "0", 1000000, "pJ/bit",
         "Interface, for each bit read or written. 0: not modelled."),
    REAL("energy.read_pj_per_bit", "0", 1000000, "pJ/bit",
         "per_bit: reading, without the interface. 0: not modelled."),
    REAL("energy.write_pj_per_bit", "0", 1000000, "pJ/bit",
         "per_bit: writing, without the interface. 0: not modelled."),
    REAL("energy.activate_pj", "0", 1000000000, "pJ",
         "per_bit: ACT and the PRE that follows. 0: not modelled."),
    REAL("energy.refresh_pj", "0", 1000000000, "pJ",
         "per_bit: REF at refresh_rate 1; what refreshes less costs its share. 0: not modelled."),
    REAL("energy.background_mw", "0", 1000000, "mW", "per_bit: background power of a rank. 0: not modelled."),
    REAL("energy.vdd_v", "1.2", 100, "V", "currents: supply voltage."),
    REAL("energy.idd0_ma", "0", 100000, "mA", "currents: one bank opened and closed over and over."),
    REAL("energy.idd2n_ma", "0", 100000, "mA", "currents: standby, all banks closed."),
    REAL("energy.idd3n_ma", "0", 100000, "mA", "currents: standby, rows open."),
    REAL("energy.idd4r_ma", "0", 100000, "mA", "currents: reading without a gap."),
    REAL("energy.idd4w_ma", "0", 100000, "mA", "currents: writing without a gap."),
    REAL("energy.idd5b_ma", "0", 100000, "mA", "currents: during REF."),
    REAL("energy.idd5pb_ma", "0", 100000, "mA",
         "currents: during REFpb or REFsb; 0: not given, their energy is not modelled."),
    INTEGER("energy.devices", "1", 1, 64, "devices", "currents: devices that form a rank."),
};

const struct pim_schema pim_dram_schema = {
    .name = "dram",
    .text = "A DRAM: organisation, timing, controller, energy. Presets: `pimsim dram --preset NAME`.",
    .keys = keys,
    .count = sizeof keys / sizeof keys[0]};

/* A time in ns, in whole ps, as cycles: a shortest distance is rounded up, the interval of refreshes down. */
static enum pim_status take_time(const struct pim_configuration *values, const char *path, bool interval,
                                 uint32_t clock_ps, uint32_t *cycles, struct pim_error *error)
{
    const double ns = pim_configuration_real(values, path);
    const uint64_t picoseconds = (uint64_t)llround(ns * 1000);
    const uint64_t most = interval ? PIM_DRAM_REFRESH_INTERVAL_MAX : PIM_DRAM_CYCLES_MAX;
    assert(clock_ps > 0);
    const uint64_t count = (picoseconds + (interval ? 0 : clock_ps - 1)) / clock_ps;
    if (count > most || (count == 0 && ns > 0))
        return pim_configuration_fail(values, error, path,
                                      "%g ns are %llu cycles of %u ps: allowed are 0, and 1 to %llu cycles",
                                      ns, (unsigned long long)count, clock_ps, (unsigned long long)most);
    *cycles = (uint32_t)count;
    return PIM_OK;
}

/* Each parameter in cycles, or, where it is a time that was given in ns, from that. */
static enum pim_status take_parameters(const struct pim_configuration *values,
                                       struct pim_dram_specification *specification, struct pim_error *error)
{
    for (unsigned i = 1; i < PIM_DRAM_PARAMETERS; i++) {
        const char *key = pim_dram_parameter_key((enum pim_dram_parameter)i);
        const bool interval = i == PIM_DRAM_T_REFI || i == PIM_DRAM_T_REFIPB;
        const bool time = i != PIM_DRAM_T_B && i != PIM_DRAM_T_ACT_CYCLES && i != PIM_DRAM_T_COLUMN_CYCLES;
        char path[64], ns[72];
        (void)snprintf(path, sizeof path, "dram.%s", key);
        (void)snprintf(ns, sizeof ns, "%s_ns", path);
        if (!time || !pim_configuration_given(values, ns))
            specification->parameter[i] = pim_configuration_count(values, path);
        else if (take_time(values, ns, interval, specification->clock_ps, &specification->parameter[i],
                           error) != PIM_OK)
            return error->status;
    }
    return PIM_OK;
}

static enum pim_status take_specification(const struct pim_configuration *values, uint32_t row_bytes,
                                          struct pim_dram_specification *specification,
                                          struct pim_error *error)
{
    uint32_t access = pim_configuration_count(values, "dram.access_bytes");
    specification->organization = (struct pim_dram_organization){
        .channels = pim_configuration_count(values, "dram.channels"),
        .pseudo_channels = pim_configuration_count(values, "dram.pseudo_channels"),
        .ranks = pim_configuration_count(values, "dram.ranks"),
        .stack_ids = pim_configuration_count(values, "dram.stack_ids"),
        .bank_groups = pim_configuration_count(values, "dram.bank_groups") *
                       pim_configuration_count(values, "dram.stack_ids"),
        .banks = pim_configuration_count(values, "dram.banks"),
        .rows = pim_configuration_count(values, "dram.rows"),
        .columns = row_bytes / access,
        .access_bytes = access,
    };
    specification->clock_ps = pim_configuration_count(values, "dram.clock_ps");
    specification->split_command_bus = pim_configuration_boolean(values, "dram.split_command_bus");
    specification->half_clock = pim_configuration_boolean(values, "dram.half_clock");
    specification->write_clock = pim_configuration_boolean(values, "dram.write_clock");
    if (take_parameters(values, specification, error) != PIM_OK)
        return error->status;
    if (specification->parameter[PIM_DRAM_T_RPAB] == 0)
        specification->parameter[PIM_DRAM_T_RPAB] = specification->parameter[PIM_DRAM_T_RP];
    if (specification->parameter[PIM_DRAM_T_CCD_L_WR] == 0)
        specification->parameter[PIM_DRAM_T_CCD_L_WR] = specification->parameter[PIM_DRAM_T_CCD_L];
    if (specification->parameter[PIM_DRAM_T_CCD_R] == 0)
        specification->parameter[PIM_DRAM_T_CCD_R] = specification->parameter[PIM_DRAM_T_CCD_S];
    if (specification->parameter[PIM_DRAM_T_REFPB_REFPB] == 0)
        specification->parameter[PIM_DRAM_T_REFPB_REFPB] = specification->parameter[PIM_DRAM_T_RREFD];
    return PIM_OK;
}

static enum pim_status take_rows(const struct pim_configuration *values,
                                 struct pim_dram_specification *specification, struct pim_error *error)
{
    static const char timings[] = "dram.timings", commands[] = "dram.commands", rows[] = "dram.constraints";
    if (pim_dram_timings_parse(specification, pim_configuration_text(values, timings), error) != PIM_OK)
        return pim_configuration_fail(values, error, timings, "%s", error->text);
    if (pim_dram_commands_parse(specification, pim_configuration_text(values, commands), error) != PIM_OK)
        return pim_configuration_fail(values, error, commands, "%s", error->text);
    if (pim_dram_rows_parse(specification, pim_configuration_text(values, rows), error) != PIM_OK)
        return pim_configuration_fail(values, error, rows, "%s", error->text);
    return PIM_OK;
}

static void take_policy(const struct pim_configuration *values, struct pim_dram_policy *policy)
{
    uint32_t writes = pim_configuration_count(values, "dram.write_queue");
    uint32_t high = pim_configuration_count(values, "dram.write_high"), fifth = (writes + 4) / 5 - 1;
    int64_t low = pim_configuration_integer(values, "dram.write_low");
    high = high ? high : writes * 4 / 5 + 1;
    *policy = (struct pim_dram_policy){
        .scheduler = (enum pim_dram_scheduler)pim_configuration_choice(values, "dram.scheduler"),
        .row_hit_cap = pim_configuration_count(values, "dram.row_hit_cap"),
        .page = (enum pim_dram_page)pim_configuration_choice(values, "dram.page"),
        .page_cap = pim_configuration_count(values, "dram.page_cap"),
        .page_timeout = pim_configuration_count(values, "dram.page_timeout"),
        .read_queue = pim_configuration_count(values, "dram.read_queue"),
        .write_queue = writes,
        .write_high = high,
        .write_low = low >= 0       ? (uint32_t)low
                     : fifth < high ? fifth
                                    : high - 1,
        .refresh = pim_configuration_boolean(values, "dram.refresh"),
        .per_bank_refresh = pim_configuration_choice(values, "dram.refresh_mode") > 0,
        .same_bank = pim_configuration_choice(values, "dram.refresh_mode") == 2,
        .independent = pim_configuration_choice(values, "dram.maintenance") == 1,
        .stagger = pim_configuration_boolean(values, "dram.refresh_stagger"),
        .postpone = pim_configuration_count(values, "dram.refresh_postpone"),
        .pull_in = pim_configuration_count(values, "dram.refresh_pull_in"),
    };
}

/* Fine granularity, and how often same-bank refreshes are due. */
static enum pim_status take_refresh(const struct pim_configuration *values,
                                    struct pim_dram_specification *specification,
                                    const struct pim_dram_policy *policy, struct pim_error *error)
{
    uint32_t *parameter = specification->parameter;
    const uint32_t rate = pim_dram_refresh_rate(values, parameter[PIM_DRAM_T_RFC_FINE] > 0);
    if (rate > 1 && parameter[PIM_DRAM_T_RFC_FINE] == 0)
        return pim_configuration_fail(values, error, "dram.refresh_rate",
                                      "%u needs dram.trfc_fine, the cycles of one of its refreshes", rate);
    if (!pim_dram_bank_interval_counts(values))
        parameter[PIM_DRAM_T_REFIPB] = 0;
    /* Refreshes of banks that have an interval of their own are not more frequent, nor are they of less. */
    specification->refresh_rate = policy->per_bank_refresh && parameter[PIM_DRAM_T_REFIPB] > 0 ? 1 : rate;
    if (rate > 1) {
        parameter[PIM_DRAM_T_REFI] /= rate;
        parameter[PIM_DRAM_T_RFC] = parameter[PIM_DRAM_T_RFC_FINE];
    }
    if (policy->same_bank && parameter[PIM_DRAM_T_REFIPB] == 0)
        parameter[PIM_DRAM_T_REFIPB] = parameter[PIM_DRAM_T_REFI] / specification->organization.banks;
    return PIM_OK;
}

static enum pim_status take_energy(const struct pim_configuration *values, uint32_t refresh_rate,
                                   struct pim_dram_energy_parameters *energy, struct pim_error *error)
{
    *energy = (struct pim_dram_energy_parameters){
        .model = (enum pim_dram_energy_model)pim_configuration_choice(values, "energy.model"),
        .io_pj_per_bit = pim_configuration_real(values, "energy.io_pj_per_bit"),
        .read_pj_per_bit = pim_configuration_real(values, "energy.read_pj_per_bit"),
        .write_pj_per_bit = pim_configuration_real(values, "energy.write_pj_per_bit"),
        .activate_pj = pim_configuration_real(values, "energy.activate_pj"),
        .refresh_pj = pim_configuration_real(values, "energy.refresh_pj"),
        .background_mw = pim_configuration_real(values, "energy.background_mw"),
        .vdd = pim_configuration_real(values, "energy.vdd_v"),
        .idd0 = pim_configuration_real(values, "energy.idd0_ma"),
        .idd2n = pim_configuration_real(values, "energy.idd2n_ma"),
        .idd3n = pim_configuration_real(values, "energy.idd3n_ma"),
        .idd4r = pim_configuration_real(values, "energy.idd4r_ma"),
        .idd4w = pim_configuration_real(values, "energy.idd4w_ma"),
        .idd5b = pim_configuration_real(values, "energy.idd5b_ma"),
        .idd5pb = pim_configuration_real(values, "energy.idd5pb_ma"),
        .devices = pim_configuration_count(values, "energy.devices"),
    };
    energy->refresh_pj /= refresh_rate;
    if (energy->model != PIM_DRAM_ENERGY_CURRENTS)
        return PIM_OK;
    /* What is below standby would give negative energy; 0 is not given, and what needs it is not modelled. */
    const struct {
        const char *path;
        double value, least;
        const char *what;
    } currents[] = {
        {"energy.idd3n_ma", energy->idd3n, energy->idd2n, "idd2n_ma"},
        {"energy.idd0_ma", energy->idd0, energy->idd2n, "idd2n_ma"},
        {"energy.idd0_ma", energy->idd0, energy->idd3n, "idd3n_ma"},
        {"energy.idd4r_ma", energy->idd4r, energy->idd3n, "idd3n_ma"},
        {"energy.idd4w_ma", energy->idd4w, energy->idd3n, "idd3n_ma"},
        {"energy.idd5b_ma", energy->idd5b, energy->idd3n, "idd3n_ma"},
        {"energy.idd5pb_ma", energy->idd5pb, energy->idd3n, "idd3n_ma"},
    };
    for (size_t i = 0; i < sizeof currents / sizeof currents[0]; i++)
        if (currents[i].value > 0 && currents[i].value < currents[i].least)
            return pim_configuration_fail(
                values, error, currents[i].path,
                "%g mA is below energy.%s, which is %g mA: its energy would be negative", currents[i].value,
                currents[i].what, currents[i].least);
    return PIM_OK;
}

enum pim_status pim_dram_configure(const struct pim_configuration *values,
                                   struct pim_dram_configuration *configuration, struct pim_error *error)
{
    *configuration = (struct pim_dram_configuration){0};
    uint32_t row_bytes = pim_configuration_count(values, "dram.row_bytes"),
             access = pim_configuration_count(values, "dram.access_bytes");
    if (row_bytes % access != 0)
        return pim_configuration_fail(values, error, "dram.row_bytes",
                                      "%u is no multiple of dram.access_bytes, which is %u", row_bytes,
                                      access);
    if (take_specification(values, row_bytes, &configuration->specification, error) != PIM_OK ||
        take_rows(values, &configuration->specification, error) != PIM_OK)
        return error->status;
    take_policy(values, &configuration->policy);
    const struct pim_dram_policy *policy = &configuration->policy;
    const struct pim_dram_specification *specification = &configuration->specification;
    const enum pim_dram_refreshing refreshing = !policy->refresh            ? PIM_DRAM_NOT_REFRESHED
                                                : !policy->per_bank_refresh ? PIM_DRAM_ALL_BANKS
                                                : policy->same_bank         ? PIM_DRAM_SAME_BANK
                                                                            : PIM_DRAM_PER_BANK;
    if (pim_dram_refuse_idle(values, specification->parameter[PIM_DRAM_T_RFC_FINE] > 0, error) != PIM_OK ||
        take_refresh(values, &configuration->specification, policy, error) != PIM_OK)
        return error->status;
    if (pim_dram_commands_needed(specification, refreshing, policy->page == PIM_DRAM_PAGE_CLOSED, error) !=
            PIM_OK ||
        pim_dram_check_specification(specification, refreshing, policy->independent, error) != PIM_OK ||
        pim_dram_check_policy(policy, error) != PIM_OK ||
        pim_dram_mapping_parse(&configuration->mapping, pim_configuration_text(values, "dram.mapping"),
                               pim_configuration_boolean(values, "dram.bank_xor"),
                               &specification->organization, error) != PIM_OK)
        return error->status;
    return take_energy(values, specification->refresh_rate, &configuration->energy, error);
}

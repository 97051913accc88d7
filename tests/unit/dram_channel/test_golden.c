/* The channel against Ramulator 2.1's measured cycles (tests/data/dram): every completion, every command. */
#include "tests/unit/dram_channel/suites.h"
#include "tests/unit/dram_channel/support.h"
#include "tests/unit/test_main.h"

#include "sim/output/csv.h"

#include <check.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_MAX = 64, LOG_MAX = 256 };

static const char *const presets[] = {"ddr4_2400r", "hbm2_pim",    "hbm2_pim_act1", "pimbank_400",
                                      "ddr3_1600k", "ddr5_4800an", "gddr6_14000",   "hbm1_2000",
                                      "hbm3_6400",  "lpddr5_6400"};

/* Ramulator takes tRP from PREA to REF of LPDDR5, where the standard has tRPab; its lists hold that. */
static const char *defect_of(const char *preset)
{
    return strcmp(preset, "lpddr5_6400") == 0 ? "dram.trp_all=15" : NULL;
}

/* Its name of a command. */
static const char *ramulator_name(const struct pim_dram_configuration *configuration,
                                  enum pim_dram_command command)
{
    if (configuration->specification.parameter[PIM_DRAM_T_AAD] > 0 && command == PIM_DRAM_ACT)
        return "ACT1";
    return command == PIM_DRAM_ACT_SECOND ? "ACT2" : pim_dram_command_text(command);
}

static struct pim_csv_reader *open_csv(const char *path)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_csv_reader *reader = NULL;
    ck_assert_msg(pim_csv_open(&reader, path, NULL, 0, &error) == PIM_OK, "%s", error.text);
    return reader;
}

static bool next_row(struct pim_csv_reader *reader)
{
    struct pim_error error = {PIM_OK, ""};
    bool more = false;
    ck_assert_msg(pim_csv_next(reader, &more, &error) == PIM_OK, "%s", error.text);
    return more;
}

static const char *field(const struct pim_csv_reader *reader, const char *name)
{
    struct pim_error error = {PIM_OK, ""};
    size_t column = 0;
    ck_assert_msg(pim_csv_column(reader, name, &column, &error) == PIM_OK, "%s", error.text);
    return pim_csv_text(reader, column);
}

static int64_t number(const struct pim_csv_reader *reader, const char *name)
{
    return strtoll(field(reader, name), NULL, 0);
}

/* Requests of a case, with the completions of one column. */
static size_t read_case(const char *path, const char *column, struct access *list, uint64_t *expected)
{
    struct pim_csv_reader *reader = open_csv(path);
    size_t count = 0;
    while (next_row(reader)) {
        ck_assert_uint_lt(count, LIST_MAX);
        list[count] = (struct access){(uint64_t)number(reader, "arrive"), (uint64_t)number(reader, "addr"),
                                      *field(reader, "op") == 'W'};
        expected[count++] = (uint64_t)number(reader, column);
    }
    pim_csv_close(reader);
    ck_assert_uint_gt(count, 0);
    return count;
}

static void compare_completions(const char *name, const struct outcome *outcome, const uint64_t *expected)
{
    for (size_t i = 0; i < outcome->count; i++)
        ck_assert_msg(outcome->completed[i] == expected[i],
                      "%s: request %zu is complete in %" PRIu64 ", expected %" PRIu64, name, i,
                      outcome->completed[i], expected[i]);
}

/* The commands of one tool in a .cmds.csv against the log. */
static void compare_commands(const char *path, const char *tool,
                             const struct pim_dram_configuration *configuration,
                             const struct outcome *outcome)
{
    struct pim_csv_reader *reader = open_csv(path);
    size_t count = 0;
    while (next_row(reader)) {
        if (strcmp(field(reader, "tool"), tool) != 0)
            continue;
        ck_assert_msg(count < outcome->record_count, "%s: command %zu is missing", path, count);
        struct pim_dram_logged logged =
            pim_dram_logged_record(&configuration->specification, &outcome->records[count]);
        bool equal = logged.cycle == (uint64_t)number(reader, "cycle") &&
                     strcmp(ramulator_name(configuration, logged.command), field(reader, "cmd")) == 0 &&
                     logged.bank_group == number(reader, "bg") && logged.bank == number(reader, "bank") &&
                     logged.row == number(reader, "row") && logged.column == number(reader, "col");
        ck_assert_msg(equal, "%s: command %zu is %s in %" PRIu64 ", expected %s in %s", path, count,
                      pim_dram_command_text(logged.command), logged.cycle, field(reader, "cmd"),
                      field(reader, "cycle"));
        count++;
    }
    pim_csv_close(reader);
    ck_assert_msg(count == outcome->record_count, "%s: %zu commands too many", path,
                  outcome->record_count - count);
}

/* Every case of a preset under both schedulers. */
START_TEST(micro_cases)
{
    const char *preset = presets[_i];
    char folder[512], path[1024];
    data_path(folder, sizeof folder, preset);
    DIR *directory = opendir(folder);
    ck_assert_ptr_nonnull(directory);
    unsigned cases = 0;
    for (struct dirent *file; (file = readdir(directory)) != NULL;) {
        char name[256];
        size_t length = strlen(file->d_name);
        if (length < 5 || length >= sizeof name || strcmp(file->d_name + length - 4, ".csv") != 0 ||
            strstr(file->d_name, ".cmds."))
            continue;
        memcpy(name, file->d_name, length - 3);
        name[length - 4] = '\0';
        for (unsigned row_hit = 0; row_hit < 2; row_hit++) {
            const char *const settings[] = {
                row_hit ? "dram.scheduler=frfcfs_row_hit" : "dram.scheduler=frfcfs", defect_of(preset), NULL};
            struct access list[LIST_MAX];
            uint64_t expected[LIST_MAX] = {0};
            struct pim_dram_configuration configuration;
            struct outcome outcome;
            configure(&configuration, preset, settings);
            (void)snprintf(path, sizeof path, "%s/%s.csv", folder, name);
            size_t count = read_case(path, row_hit ? "r2rh_data_end" : "r2_data_end", list, expected);
            serve(&outcome, &configuration, list, count, true);
            compare_completions(path, &outcome, expected);
            (void)snprintf(path, sizeof path, "%s/%s.cmds.csv", folder, name);
            compare_commands(path, row_hit ? "r2rh" : "r2", &configuration, &outcome);
            outcome_free(&outcome);
        }
        cases++;
    }
    closedir(directory);
    ck_assert_uint_ge(cases, 21);
}
END_TEST

#define RANK_SWITCH                                                                                          \
    "dram.constraints=jedec; without other_rank: RD RDA -> WR WRA; "                                         \
    "other_rank: RD RDA -> WR WRA >= burst_cycles + tcs"
#define RANK_SWITCH_OF_LPDDR5 RANK_SWITCH "; other_rank: WR WRA -> RD RDA >= tcl + burst_cycles + tcs - tcwl"

static const struct {
    const char *file, *preset, *column;
    const char *settings[4];
} extras[] = {
    {"closed_r2_cap1_ddr4_2400r_noref", "ddr4_2400r", "r2_complete", {"dram.page=closed", "dram.page_cap=1"}},
    {"closed_r2_cap4_ddr4_2400r_noref", "ddr4_2400r", "r2_complete", {"dram.page=closed", "dram.page_cap=4"}},
    {"closed_ds3_ddr4_2400r_noref", "ddr4_2400r", "ds3_complete", {"dram.page=closed"}},
    {"frfcfs_rtp3_hbm2_pim_act1_noref", "hbm2_pim_act1", "r2_complete", {"dram.trtp=3"}},
    {"frfcfs_rowhit_rtp3_hbm2_pim_act1_noref",
     "hbm2_pim_act1",
     "r2_complete",
     {"dram.trtp=3", "dram.scheduler=frfcfs_row_hit"}},
    {"per_bank_refresh_hbm2_pim_act1",
     "hbm2_pim_act1",
     "r2_complete",
     {"dram.refresh=true", "dram.refresh_mode=per_bank", "dram.trefi_bank=500"}},
    {"closed_r2_cap1_ddr3_1600k_noref", "ddr3_1600k", "r2_complete", {"dram.page=closed", "dram.page_cap=1"}},
    {"closed_r2_cap1_ddr5_4800an_noref",
     "ddr5_4800an",
     "r2_complete",
     {"dram.page=closed", "dram.page_cap=1"}},
    {"closed_r2_cap1_gddr6_14000_noref",
     "gddr6_14000",
     "r2_complete",
     {"dram.page=closed", "dram.page_cap=1"}},
    {"closed_r2_cap1_hbm1_2000_noref", "hbm1_2000", "r2_complete", {"dram.page=closed", "dram.page_cap=1"}},
    {"rank_switch_corrected_ddr3_1600k_2rank_noref", "ddr3_1600k", "r2_complete", {"dram.ranks=2"}},
    {"rank_switch_corrected_ddr5_4800an_2rank_noref", "ddr5_4800an", "r2_complete", {"dram.ranks=2"}},
    {"per_bank_refresh_hbm1_2000",
     "hbm1_2000",
     "r2_complete",
     {"dram.refresh=true", "dram.refresh_mode=per_bank"}},
    {"tfaw24_hbm1_2000_noref", "hbm1_2000", "r2_complete", {"dram.tfaw=24"}},
    {"closed_r2_cap1_lpddr5_6400_noref",
     "lpddr5_6400",
     "r2_complete",
     {"dram.page=closed", "dram.page_cap=1"}},
    {"closed_r2_cap1_hbm3_6400_noref", "hbm3_6400", "r2_complete", {"dram.page=closed", "dram.page_cap=1"}},
    {"per_bank_refresh_lpddr5_6400",
     "lpddr5_6400",
     "r2_complete",
     {"dram.refresh=true", "dram.refresh_mode=per_bank"}},
    {"per_bank_refresh_hbm3_6400",
     "hbm3_6400",
     "r2_complete",
     {"dram.refresh=true", "dram.refresh_mode=per_bank"}},
    {"rank_switch_corrected_lpddr5_6400_2rank_noref", "lpddr5_6400", "r2_complete", {"dram.ranks=2"}},
    {"ref_rpab_corrected_lpddr5_6400", "lpddr5_6400", "r2_complete", {"dram.refresh=true"}},
    {"tfaw24_lpddr5_6400_noref", "lpddr5_6400", "r2_complete", {"dram.tfaw=24"}},
    {"wck_always_on_lpddr5_6400_noref", "lpddr5_6400", "r2_complete", {"dram.write_clock=false"}},
    {"pseudo_channel_hbm3_6400_2pc_noref", "hbm3_6400", "r2_complete", {"dram.pseudo_channels=2"}},
    {"pseudo_channel_refresh_hbm3_6400_2pc",
     "hbm3_6400",
     "r2_complete",
     {"dram.refresh=true", "dram.pseudo_channels=2"}},
    {"tfaw60_gddr6_14000_noref", "gddr6_14000", "r2_complete", {"dram.tfaw=60"}},
    {"dual_channel_gddr6_14000_2ch", "gddr6_14000", "r2_complete", {"dram.refresh=true", "dram.channels=2"}},
    {"sid_switch_hbm3_6400_2sid_noref", "hbm3_6400", "r2_complete", {"dram.stack_ids=2"}},
    /* Ramulator's rules between ranks, and of PRE before REF, as it has them. */
    {"rank_switch_ddr4_2400r_2rank_noref", "ddr4_2400r", "r2_complete", {"dram.ranks=2", RANK_SWITCH}},
    {"rank_switch_ddr3_1600k_2rank_noref", "ddr3_1600k", "r2_complete", {"dram.ranks=2", RANK_SWITCH}},
    {"rank_switch_ddr5_4800an_2rank_noref", "ddr5_4800an", "r2_complete", {"dram.ranks=2", RANK_SWITCH}},
    {"rank_switch_lpddr5_6400_2rank_noref",
     "lpddr5_6400",
     "r2_complete",
     {"dram.ranks=2", RANK_SWITCH_OF_LPDDR5}},
    {"rank_switch_overlap_lpddr5_6400_2rank_noref",
     "lpddr5_6400",
     "r2_complete",
     {"dram.ranks=2", RANK_SWITCH_OF_LPDDR5}},
    {"ref_behind_precharge_gddr6_14000",
     "gddr6_14000",
     "r2_complete",
     {"dram.refresh=true", "dram.constraints=jedec; without rank: PRE -> REF"}},
};

/* Ramulator's completion of a write is its WR; that of a read is the end of its data. */
static uint64_t ramulator_completion(const struct pim_dram_configuration *configuration, bool write,
                                     uint64_t completion)
{
    return completion + (write ? pim_dram_write_latency(&configuration->specification) : 0);
}

/* Commands of channels one behind the other come in the order of their cycles. */
static void sort_records(struct outcome *outcome)
{
    for (size_t i = 1; i < outcome->record_count; i++) {
        const struct pim_dram_record record = outcome->records[i];
        size_t place = i;
        for (; place > 0 && outcome->records[place - 1].cycle > record.cycle; place--)
            outcome->records[place] = outcome->records[place - 1];
        outcome->records[place] = record;
    }
}

/* A place that the file has as -1 is none: a command to a rank. */
static bool same_place(int64_t ours, int64_t theirs)
{
    return ours == theirs || theirs < 0;
}

/* The commands of a case in `extra` against the log. Either may go on for a while behind the last request. */
static void compare_extra_commands(const char *path, const struct pim_dram_configuration *configuration,
                                   struct outcome *outcome)
{
    struct pim_csv_reader *reader = open_csv(path);
    size_t count = 0;
    sort_records(outcome);
    for (; next_row(reader) && count < outcome->record_count; count++) {
        const struct pim_dram_logged logged =
            pim_dram_logged_record(&configuration->specification, &outcome->records[count]);
        const bool equal = logged.cycle == (uint64_t)number(reader, "cycle") &&
                           strcmp(ramulator_name(configuration, logged.command), field(reader, "cmd")) == 0 &&
                           logged.channel == number(reader, "ch") && logged.rank == number(reader, "rank") &&
                           same_place(logged.bank_group, number(reader, "bg")) &&
                           same_place(logged.bank, number(reader, "bank")) &&
                           same_place(logged.row, number(reader, "row")) &&
                           same_place(logged.column, number(reader, "col"));
        ck_assert_msg(equal, "%s: command %zu is %s in %" PRIu64 ", expected %s in %s", path, count,
                      pim_dram_command_text(logged.command), logged.cycle, field(reader, "cmd"),
                      field(reader, "cycle"));
    }
    pim_csv_close(reader);
    unsigned served = 0;
    for (size_t i = 0; i < count; i++)
        served += pim_dram_is_column((enum pim_dram_command)outcome->records[i].command);
    ck_assert_uint_gt(served, 0);
    for (size_t i = count; i < outcome->record_count; i++)
        ck_assert(!pim_dram_is_column((enum pim_dram_command)outcome->records[i].command));
}

START_TEST(other_settings)
{
    char path[512], name[128];
    struct access list[LIST_MAX];
    uint64_t expected[LIST_MAX] = {0};
    struct pim_dram_configuration configuration;
    struct outcome outcome;
    const char *settings[6] = {"dram.refresh=false"};
    memcpy(&settings[1], extras[_i].settings, sizeof extras[_i].settings);
    configure(&configuration, extras[_i].preset, settings);
    (void)snprintf(name, sizeof name, "extra/%s.csv", extras[_i].file);
    data_path(path, sizeof path, name);
    size_t count = read_case(path, extras[_i].column, list, expected);
    for (size_t i = 0; i < count; i++)
        expected[i] = ramulator_completion(&configuration, list[i].write, expected[i]);
    serve(&outcome, &configuration, list, count, true);
    compare_completions(path, &outcome, expected);
    if (strncmp(extras[_i].column, "r2", 2) == 0) {
        (void)snprintf(name, sizeof name, "extra/%s.cmds.csv", extras[_i].file);
        data_path(path, sizeof path, name);
        compare_extra_commands(path, &configuration, &outcome);
    }
    outcome_free(&outcome);
}
END_TEST

/* Where Ramulator is wrong: a write behind another rank's read must not meet its data (DRAMsim3: WR in 111),
 * and a forwarded read is answered in the cycle behind its arrival, whatever is under way. */
START_TEST(defects_are_not_copied)
{
    char path[512];
    struct access list[LIST_MAX];
    uint64_t expected[LIST_MAX] = {0};
    struct pim_dram_configuration configuration;
    struct outcome outcome;
    const char *const two_ranks[] = {"dram.refresh=false", "dram.ranks=2", NULL};
    configure(&configuration, "ddr4_2400r", two_ranks);
    data_path(path, sizeof path, "extra/rank_switch_ddr4_2400r_2rank_noref.csv");
    size_t count = read_case(path, "ds3_complete", list, expected);
    expected[3] = 111 + 16; /* the file has no data end for writes */
    expected[4] = 201 + 16;
    serve(&outcome, &configuration, list, count, false);
    compare_completions(path, &outcome, expected);
    outcome_free(&outcome);

    const char *const one_rank[] = {"dram.refresh=false", NULL};
    configure(&configuration, "ddr4_2400r", one_rank);
    data_path(path, sizeof path, "extra/raw_forward_hol_ddr4_2400r_noref.csv");
    count = read_case(path, "ds3_complete", list, expected);
    expected[1] = 72 + 16;
    serve(&outcome, &configuration, list, count, true);
    compare_completions(path, &outcome, expected);
    data_path(path, sizeof path, "extra/raw_forward_hol_ddr4_2400r_noref.cmds.csv");
    compare_extra_commands(path, &configuration, &outcome);
    ck_assert_uint_eq(outcome.first_command[2], UINT64_MAX);
    ck_assert_uint_eq(outcome.counters.forwarded_reads, 1);
    outcome_free(&outcome);
}
END_TEST

static const struct {
    const char *file, *preset;
    size_t count;
    uint64_t spacing, bytes, places; /* places: of random addresses; 0: sequential */
} lists[] = {
    {"ddr4_2400r.idle.csv", "ddr4_2400r", 2000, 1000, 64, UINT64_C(1) << 27},
    {"hbm2_pim.seq.csv", "hbm2_pim_act1", 5000, 0, 32, 0},
    {"pimbank_400.idle.csv", "pimbank_400", 2000, 1000, 16, UINT64_C(1) << 19},
    {"pimbank_400.seq.csv", "pimbank_400", 5000, 0, 16, 0},
};

START_TEST(long_lists)
{
    char path[512];
    size_t count = lists[_i].count;
    struct access *list = malloc(count * sizeof *list);
    ck_assert_ptr_nonnull(list);
    uint64_t state = 1;
    for (size_t i = 0; i < count; i++)
        list[i] = (struct access){
            lists[_i].spacing * i,
            lists[_i].bytes * (lists[_i].places ? pim_splitmix64(&state) % lists[_i].places : i), false};
    struct pim_dram_configuration configuration;
    struct outcome outcome;
    configure(&configuration, lists[_i].preset, NULL);
    /* Twice: idle refreshes are skipped when nobody listens to commands, with the same cycles. */
    for (unsigned log = 0; log < 2; log++) {
        serve(&outcome, &configuration, list, count, log);
        data_path(path, sizeof path, lists[_i].file);
        struct pim_csv_reader *reader = open_csv(path);
        for (size_t i = 0; next_row(reader) && i < count; i++) {
            ck_assert_msg(outcome.arrived[i] == (uint64_t)number(reader, "inject"), "%s: arrival of %zu",
                          path, i);
            ck_assert_msg(outcome.completed[i] == (uint64_t)number(reader, "complete"),
                          "%s: completion of %zu", path, i);
        }
        pim_csv_close(reader);
        outcome_free(&outcome);
    }
    free(list);
}
END_TEST

/*
 * The list `blend`: in turn a block of 1 000 requests that are sequential (written in every third round),
 * that are random, that stay in their row three times of five, and that come in groups of 16 with pauses.
 * They come as fast as they are accepted, but for odd rounds, in which up to 40 cycles lie between them.
 */
static void make_blend(struct access *list, size_t count, const struct pim_dram_configuration *configuration)
{
    const struct pim_dram_organization *o = &configuration->specification.organization;
    const uint64_t places = configuration->mapping.capacity / o->access_bytes;
    uint64_t state = 1, place = 0, time = 0;
    bool write = false;
    for (size_t i = 0; i < count; i++) {
        const size_t kind = i / 1000 % 4, round = i / 4000;
        if (i % 1000 == 0)
            place = pim_splitmix64(&state) % places;
        uint64_t gap = round % 2 == 1 ? pim_splitmix64(&state) % 41 : 0;
        bool jump = kind == 1;
        if (kind == 2)
            jump = (pim_splitmix64(&state) & 0xffff) >= 39322;
        else if (kind == 3)
            jump = i % 1000 % 16 == 0;
        if (jump)
            place = pim_splitmix64(&state) % places;
        else if (kind == 2)
            place = place / o->columns * o->columns + (place + 1) % o->columns;
        else
            place = (place + 1) % places;
        if (kind == 0)
            write = round % 3 == 1;
        else if (kind != 3 || jump)
            write = (pim_splitmix64(&state) & 0xffff) < 21627;
        if (kind == 3)
            gap = jump ? 400 : 0;
        time += gap;
        list[i] = (struct access){time, place * o->access_bytes, write};
    }
}

/* File and preset, with one setting. */
static const char *const blends[][4] = {{"ddr3_1600k", "ddr3_1600k", NULL},
                                        {"ddr5_4800an", "ddr5_4800an", NULL},
                                        {"gddr6_14000", "gddr6_14000", NULL},
                                        {"hbm1_2000", "hbm1_2000", NULL},
                                        {"hbm3_6400", "hbm3_6400", NULL},
                                        {"hbm3_6400_2pc", "hbm3_6400", "dram.pseudo_channels=2"},
                                        {"lpddr5_6400", "lpddr5_6400", "dram.trp_all=15"}};

START_TEST(blend_lists)
{
    enum { COUNT = 20000, ROWS = 5000 }; /* requests behind those of the file overtake some of them */
    char path[512], name[128];
    struct access *list = malloc(COUNT * sizeof *list);
    ck_assert_ptr_nonnull(list);
    struct pim_dram_configuration configuration;
    struct outcome outcome;
    configure(&configuration, blends[_i][1], &blends[_i][2]);
    make_blend(list, COUNT, &configuration);
    serve(&outcome, &configuration, list, COUNT, false);
    (void)snprintf(name, sizeof name, "%s.blend.csv", blends[_i][0]);
    data_path(path, sizeof path, name);
    struct pim_csv_reader *reader = open_csv(path);
    size_t rows = 0;
    for (; next_row(reader); rows++) {
        ck_assert_uint_lt(rows, ROWS);
        /* A write that is absorbed, or a read that a write answers, causes no command. */
        bool written = list[rows].write && outcome.first_command[rows] != UINT64_MAX;
        uint64_t expected =
            ramulator_completion(&configuration, written, (uint64_t)number(reader, "complete"));
        ck_assert_msg(outcome.arrived[rows] == (uint64_t)number(reader, "inject"),
                      "%s: request %zu arrived in %" PRIu64, path, rows, outcome.arrived[rows]);
        ck_assert_msg(outcome.completed[rows] == expected, "%s: request %zu is complete in %" PRIu64, path,
                      rows, outcome.completed[rows]);
    }
    ck_assert_uint_eq(rows, ROWS);
    pim_csv_close(reader);
    outcome_free(&outcome);
    free(list);
}
END_TEST

Suite *suite_channel_golden(void)
{
    Suite *suite = suite_create("channel_golden");
    TCase *cases = tcase_create("ramulator");
    tcase_add_loop_test(cases, micro_cases, 0, sizeof presets / sizeof presets[0]);
    tcase_add_loop_test(cases, other_settings, 0, sizeof extras / sizeof extras[0]);
    tcase_add_test(cases, defects_are_not_copied);
    tcase_add_loop_test(cases, long_lists, 0, sizeof lists / sizeof lists[0]);
    tcase_add_loop_test(cases, blend_lists, 0, sizeof blends / sizeof blends[0]);
    suite_add_tcase(suite, cases);
    return suite;
}

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, suite_channel_golden());
    srunner_add_suite(runner, suite_channel_stepped());
    srunner_add_suite(runner, suite_channel_check());
    srunner_add_suite(runner, suite_channel_stream());
    srunner_add_suite(runner, suite_channel_tensor());
    srunner_add_suite(runner, suite_channel_refusals());
    srunner_add_suite(runner, suite_channel_policy());
    srunner_add_suite(runner, suite_channel_run());
    srunner_add_suite(runner, suite_channel_energy());
    srunner_add_suite(runner, suite_channel_idle());
    srunner_add_suite(runner, suite_channel_refresh());
}

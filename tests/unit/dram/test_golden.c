/*
 * The bank against Ramulator 2.1's measured cycles (tests/data/dram), and the stepped bank against its
 * commands.
 */
#include "tests/unit/dram/presets.h"
#include "tests/unit/dram/stepped_bank.h"
#include "tests/unit/dram/suites.h"
#include "tests/unit/test_main.h"

#include "sim/random.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REQUESTS_MAX = 64 };

struct request {
    uint64_t arrival, address, completion;
    bool write;
};

/* Every case, and whether service in order gives Ramulator's cycles. Where it does not, FR-FCFS lets row hits
 * overtake. */
static const struct {
    const char *name;
    size_t requests;
    bool in_order;
} cases[] = {
    {"01_single_closed", 1, true},
    {"02_row_hit_after", 2, true},
    {"03_row_conflict", 2, true},
    {"03b_conflict_early", 2, true},
    {"04_stream_one_row", 32, true},
    {"05_one_bank_rows", 16, true},
    {"07a_rd_to_wr_hit", 2, true},
    {"07b_wr_to_rd_hit", 2, true},
    {"07b2_wr_then_rd_asap", 2, true},
    {"07e_wr_conflict", 2, true},
    {"07f_wr_stream8", 8, true},
    {"08_raw_forward", 2, true},
    {"09_rd_merge", 2, true},
    {"10_frfcfs_reorder", 4, false},
    {"11_starve_cap", 14, false},
    {"12_wr9_drain", 10, true},
    {"20_ref_idle_then_read", 1, true},
    {"21_ref_open_row_hit", 2, true},
    {"22_ref_read_just_before", 1, true},
    {"23_ref_stream_across", 16, true},
    {"24_ref_second_interval", 1, true},
};

static const struct {
    const char *folder;
    const struct pim_bank_timing *timing;
    const struct pim_bank_organization *organization;
} presets[] = {{"pimbank_400", &pimbank_timing, &pimbank_organization},
               {"ddr4_2400r", &ddr4_timing, &ddr4_organization},
               {"hbm2_pim_act1", &hbm2_timing, &hbm2_organization}};

enum { CASES = sizeof cases / sizeof *cases, PRESETS = sizeof presets / sizeof *presets };

static FILE *open_data(const char *name, const char *suffix)
{
    char relative[256], path[1024];
    (void)snprintf(relative, sizeof relative, "tests/data/dram/%s%s", name, suffix);
    FILE *file = fopen(pimsim_source_path(path, sizeof path, relative), "r");
    ck_assert_msg(file != NULL, "cannot open %s", path);
    return file;
}

static size_t read_requests(int preset, const char *name, struct request *requests)
{
    char relative[128], line[512];
    (void)snprintf(relative, sizeof relative, "%s/%s", presets[preset].folder, name);
    FILE *file = open_data(relative, ".csv");
    const struct pim_bank_organization *o = presets[preset].organization;
    ck_assert_ptr_nonnull(fgets(line, sizeof line, file));
    size_t count = 0;
    while (fgets(line, sizeof line, file)) {
        ck_assert_uint_lt(count, REQUESTS_MAX);
        /* id, arrive, op, addr, row, bg, bank, col, DRAMsim3: cas, end, latency (may be empty), Ramulator:
         * cas, end */
        char operation;
        uint64_t row, column;
        int fields = sscanf(line, "%*u,%" SCNu64 ",%c,%*x,%" SCNu64 ",0,0,%" SCNu64, &requests[count].arrival,
                            &operation, &row, &column);
        ck_assert_int_eq(fields, 4);
        const char *field = line;
        for (int comma = 0; comma < 12; comma++) {
            field = strchr(field, ',');
            ck_assert_ptr_nonnull(field);
            field++;
        }
        ck_assert_int_eq(sscanf(field, "%" SCNu64, &requests[count].completion), 1);
        requests[count].address = row * o->row_bytes + column * o->column_bytes;
        requests[count++].write = operation == 'W';
    }
    (void)fclose(file);
    return count;
}

static struct pim_burst burst_of(int preset, const struct request *request)
{
    return (struct pim_burst){.address = request->address,
                              .bytes = presets[preset].organization->column_bytes,
                              .count = 1,
                              .write = request->write};
}

START_TEST(completions_equal_the_reference)
{
    int preset = _i / CASES, number = _i % CASES;
    struct request requests[REQUESTS_MAX];
    struct pim_burst_times times[REQUESTS_MAX];
    size_t count = read_requests(preset, cases[number].name, requests);
    ck_assert_uint_eq(count, cases[number].requests);
    struct pim_bank_rules rules;
    struct pim_bank bank;
    pim_bank_rules_initialize(&rules, presets[preset].timing, presets[preset].organization);
    pim_bank_initialize(&bank, &rules);
    for (size_t i = 0; i < count; i++) {
        struct pim_burst burst = burst_of(preset, &requests[i]);
        pim_bank_access(&bank, &burst, requests[i].arrival, &times[i]);
        ck_assert_msg(!cases[number].in_order || times[i].last_data == requests[i].completion,
                      "%s/%s, request %zu: %" PRIu64 ", reference %" PRIu64, presets[preset].folder,
                      cases[number].name, i, times[i].last_data, requests[i].completion);
    }
    if (!cases[number].in_order) {
        ck_assert_uint_ge(count, 2);
        /* Row 5, then row 9, then back to row 5 for all others: two row cycles. */
        ck_assert_uint_eq(times[0].last_data, requests[0].completion);
        ck_assert_uint_eq(times[1].last_data, times[0].last_data + rules.timing.trc);
        for (size_t i = 2; i < count; i++)
            ck_assert_uint_eq(times[i].last_data,
                              times[1].last_data + rules.timing.trc + (i - 2) * rules.column_step);
        ck_assert_uint_lt(requests[2].completion, requests[1].completion); /* the reference did reorder */
    }
}
END_TEST

static enum stepped_command command_of(const char *text)
{
    static const char *const names[STEPPED_COMMANDS] = {"ACT", "PRE", "RD", "WR", "REF"};
    if (strcmp(text, "PREA") == 0) /* all banks: there is one */
        return STEPPED_PRE;
    for (int i = 0; i < STEPPED_COMMANDS; i++)
        if (strcmp(text, names[i]) == 0)
            return (enum stepped_command)i;
    ck_abort_msg("unknown command %s", text);
    return STEPPED_COMMANDS;
}

START_TEST(stepped_commands_equal_the_reference)
{
    int preset = _i / CASES, number = _i % CASES;
    if (!cases[number].in_order)
        return;
    struct request requests[REQUESTS_MAX];
    size_t count = read_requests(preset, cases[number].name, requests);
    struct stepped_log log = {0};
    struct stepped_bank bank;
    stepped_bank_initialize(&bank, presets[preset].timing, presets[preset].organization);
    bank.log = &log;
    for (size_t i = 0; i < count; i++) {
        struct pim_burst burst = burst_of(preset, &requests[i]);
        struct pim_burst_times times;
        stepped_bank_access(&bank, &burst, requests[i].arrival, &times);
        ck_assert_uint_eq(times.last_data, requests[i].completion);
    }
    char relative[128], line[256], tool[16], command[16];
    (void)snprintf(relative, sizeof relative, "%s/%s", presets[preset].folder, cases[number].name);
    FILE *file = open_data(relative, ".cmds.csv");
    size_t at = 0;
    while (fgets(line, sizeof line, file)) {
        uint64_t cycle;
        int column;
        if (sscanf(line, "%15[^,],%" SCNu64 ",%15[^,],%*d,%*d,%*d,%d", tool, &cycle, command, &column) != 4 ||
            strcmp(tool, "r2") != 0)
            continue;
        if (at == log.length)
            stepped_bank_finish(&bank, cycle); /* refreshes behind the last request */
        ck_assert_msg(at < log.length, "%s: no command for %s", relative, line);
        ck_assert_uint_eq(log.entry[at].cycle, cycle);
        ck_assert_int_eq(log.entry[at].command, command_of(command));
        if (log.entry[at].command == STEPPED_RD || log.entry[at].command == STEPPED_WR)
            ck_assert_uint_eq(log.entry[at].column, (uint64_t)column);
        at++;
    }
    ck_assert_uint_eq(at, log.length);
    ck_assert_uint_gt(at, 0);
    (void)fclose(file);
    free(log.entry);
}
END_TEST

/* A long list: `random` rows, or the sequential stream. */
static void compare_long(const char *name, bool random, uint64_t expected)
{
    char line[256];
    FILE *file = open_data(name, ".csv");
    struct pim_bank_rules rules;
    struct pim_bank bank;
    pim_bank_rules_initialize(&rules, &pimbank_timing, &pimbank_organization);
    pim_bank_initialize(&bank, &rules);
    uint64_t state = 1, count = 0;
    ck_assert_ptr_nonnull(fgets(line, sizeof line, file));
    while (fgets(line, sizeof line, file)) {
        uint64_t arrival, completion;
        ck_assert_int_eq(sscanf(line, "%*u,%" SCNu64 ",%" SCNu64, &arrival, &completion), 2);
        struct pim_burst burst = {
            .address = 16 * (random ? pim_splitmix64(&state) % 524288 : count), .bytes = 16, .count = 1};
        struct pim_burst_times times;
        pim_bank_access(&bank, &burst, arrival, &times);
        ck_assert_msg(times.last_data == completion,
                      "%s, request %" PRIu64 ": %" PRIu64 ", reference %" PRIu64, name, count,
                      times.last_data, completion);
        count++;
    }
    ck_assert_uint_eq(count, expected);
    (void)fclose(file);
}

START_TEST(idle_list_equals_the_reference)
{
    compare_long("pimbank_400.idle", true, 2000);
}
END_TEST

START_TEST(sequential_list_equals_the_reference)
{
    compare_long("pimbank_400.seq", false, 5000);
}
END_TEST

/* The stream again, as one burst: the run-length path must end where the 5 000 single requests ended. */
START_TEST(one_burst_ends_like_its_single_requests)
{
    struct pim_bank_rules rules;
    struct pim_bank bank;
    struct pim_burst_times times;
    pim_bank_rules_initialize(&rules, &pimbank_timing, &pimbank_organization);
    pim_bank_initialize(&bank, &rules);
    struct pim_burst burst = {.bytes = 5000 * 16, .count = 1};
    pim_bank_access(&bank, &burst, 0, &times);
    char line[256];
    uint64_t completion = 0;
    FILE *file = open_data("pimbank_400.seq", ".csv");
    while (fgets(line, sizeof line, file))
        (void)sscanf(line, "%*u,%*u,%" SCNu64, &completion);
    (void)fclose(file);
    ck_assert_uint_eq(times.last_data, completion);
}
END_TEST

Suite *suite_golden(void)
{
    Suite *suite = suite_create("golden");
    TCase *tests = tcase_create("golden");
    tcase_add_loop_test(tests, completions_equal_the_reference, 0, CASES * PRESETS);
    tcase_add_loop_test(tests, stepped_commands_equal_the_reference, 0, CASES * PRESETS);
    tcase_add_test(tests, idle_list_equals_the_reference);
    tcase_add_test(tests, sequential_list_equals_the_reference);
    tcase_add_test(tests, one_burst_ends_like_its_single_requests);
    suite_add_tcase(suite, tests);
    return suite;
}

/*
 * Refreshes come in time: the longest wait that a configuration is checked with (pim_dram_refresh_check) is
 * held against runs at the shortest intervals that are taken, with rows of one's own and without, under lists
 * that leave a channel no pause.
 */
#include "models/dram/check/command_check.h"
#include "tests/unit/dram_channel/stepped/controller.h"
#include "tests/unit/dram_channel/suites.h"
#include "tests/unit/dram_channel/support.h"
#include "tests/unit/test_main.h"
#include "tools/command/dram/run.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { REQUESTS = 500, STEPPED_REQUESTS = 120, SETTINGS = 40, ROWS_TEXT = 512, WHAT = 4096 };

/* A drawn configuration: preset, settings, and at which key its refreshes are due. */
struct drawn {
    const char *preset;
    const char *list[SETTINGS];
    size_t count;
    bool banks;           /* refreshes of banks */
    char rows[ROWS_TEXT]; /* of one's own, or "" */
    char interval[64];
    struct settings settings;
};

static const struct {
    const char *preset;
    const char *settings[4]; /* organisations */
} memories[] = {
    {"ddr4_2400r", {NULL}},
    {"ddr4_2400r", {"dram.ranks=2"}},
    {"ddr4_2400r", {"dram.ranks=4", "dram.bank_groups=2"}},
    {"ddr4_2400r", {"dram.bank_groups=16", "dram.tfaw=16"}},
    {"ddr3_1600k", {"dram.ranks=2"}},
    {"ddr5_4800an", {"dram.trfc_bank=312", "dram.trefpb_refpb=312"}},
    {"lpddr4_3200", {NULL}},
    {"lpddr4_3200", {"dram.ranks=4"}},
    {"lpddr5_6400", {NULL}},
    {"lpddr5_6400", {"dram.ranks=2"}},
    {"gddr6_14000", {NULL}},
    {"hbm1_2000", {"dram.tfaw=4", "dram.trrd_s=1", "dram.trrd_l=2"}},
    {"hbm2_pim", {"dram.pseudo_channels=4"}},
    {"hbm2_pim", {"dram.ranks=2"}},
    {"hbm3_6400", {"dram.pseudo_channels=2"}},
    {"hbm3_6400", {"dram.stack_ids=2", "dram.tccd_r=14"}},
};

static const char *pick(struct pim_random *random, const char *const *texts, size_t count)
{
    return texts[pim_random_below(random, count)];
}

/* One to three rows of any scope; what the scope does not have is refused, and drawn again. */
static void draw_rows(struct drawn *drawn, struct pim_random *random)
{
    static const char *const scopes[] = {"group",      "stack",  "other_stack", "rank",
                                         "other_rank", "pseudo", "channel"};
    static const char *const before[] = {"ACT",     "PRE",    "RD RDA", "WR WRA", "RD RDA WR WRA",
                                         "ACT PRE", "RD ACT", "WR PRE", "REFpb",  "ACT PRE RD RDA WR WRA"};
    static const char *const behind[] = {"ACT",       "PRE",       "RD RDA",  "WR WRA",  "RD RDA WR WRA",
                                         "REFpb",     "PRE REFsb", "PREA",    "REF",     "REFsb",
                                         "PRE REFpb", "PREA REF",  "ACT PRE", "REF ACT", "RD RDA PRE"};
    const unsigned rows = (unsigned)pim_random_between(random, 1, 3);
    int length = snprintf(drawn->rows, sizeof drawn->rows, "dram.constraints=jedec");
    for (unsigned i = 0; i < rows; i++)
        length += snprintf(drawn->rows + length, sizeof drawn->rows - (size_t)length, "; %s: %s -> %s >= %u",
                           pick(random, scopes, COUNT(scopes)), pick(random, before, COUNT(before)),
                           pick(random, behind, COUNT(behind)), (unsigned)pim_random_between(random, 2, 60));
}

static void draw(struct drawn *drawn, struct pim_random *random, bool own)
{
    static const char *const modes[] = {"dram.refresh_mode=all_bank", "dram.refresh_mode=per_bank",
                                        "dram.refresh_mode=same_bank"};
    const size_t memory = (size_t)pim_random_below(random, COUNT(memories));
    const size_t mode = (size_t)pim_random_below(random, COUNT(modes));
    *drawn = (struct drawn){.preset = memories[memory].preset, .banks = mode > 0};
    random_settings(&drawn->settings, random);
    for (const char *const *s = drawn->settings.list; *s; s++)
        drawn->list[drawn->count++] = *s;
    for (const char *const *s = memories[memory].settings; *s; s++)
        drawn->list[drawn->count++] = *s;
    drawn->list[drawn->count++] = modes[mode];
    if (pim_random_below(random, 3) > 0)
        drawn->list[drawn->count++] = "dram.maintenance=rank";
    if (pim_random_below(random, 3) == 0)
        drawn->list[drawn->count++] = "dram.refresh_stagger=true";
    if (pim_random_below(random, 4) == 0)
        drawn->list[drawn->count++] = "dram.refresh_pull_in=3";
    drawn->list[drawn->count++] = "energy.model=none";
    if (own) {
        draw_rows(drawn, random);
        drawn->list[drawn->count++] = drawn->rows;
    }
    drawn->list[drawn->count++] = drawn->interval;
    ck_assert_uint_lt(drawn->count, SETTINGS);
}

static bool taken(struct drawn *drawn, uint32_t interval, struct pim_dram_configuration *configuration)
{
    struct pim_error error;
    (void)snprintf(drawn->interval, sizeof drawn->interval, "dram.%s=%" PRIu32,
                   drawn->banks ? "trefi_bank" : "trefi", interval);
    return try_configure(configuration, drawn->preset, drawn->list, &error) == PIM_OK;
}

/* The shortest interval that is taken; false: none. */
static bool configure_shortest(struct drawn *drawn, struct pim_dram_configuration *configuration)
{
    uint32_t least = 1, most = 1 << 20;
    if (!taken(drawn, most, configuration))
        return false;
    while (least < most) {
        const uint32_t middle = least + (most - least) / 2;
        if (taken(drawn, middle, configuration))
            most = middle;
        else
            least = middle + 1;
    }
    return taken(drawn, most, configuration);
}

static void describe(const struct drawn *drawn, char *text)
{
    int length = snprintf(text, WHAT, "%s", drawn->preset);
    for (size_t i = 0; i < drawn->count; i++)
        length += snprintf(text + length, WHAT - (size_t)length, " '%s'", drawn->list[i]);
}

/* No refresh is late and no command too early, by the checker, which knows no controller. */
static void check_run(const struct pim_dram_configuration *configuration, const struct outcome *outcome,
                      char *what)
{
    struct pim_error error = {PIM_OK, ""};
    outcome_check(outcome, configuration, what);
    ck_assert_msg(pim_dram_counters_judge(&outcome->counters, &error) == PIM_OK, "%s: %s", what, error.text);
}

/* The controller that is stepped cycle by cycle issues the same commands. */
static void check_stepped(const struct pim_dram_configuration *configuration, const struct access *list,
                          const char *what)
{
    struct outcome fast, slow;
    serve(&fast, configuration, list, STEPPED_REQUESTS, true);
    stepped_serve(&slow, configuration, list, STEPPED_REQUESTS);
    ck_assert_msg(slow.record_count <= fast.record_count, "%s: commands are missing", what);
    for (size_t i = 0; i < slow.record_count; i++) {
        const struct pim_dram_record *a = &fast.records[i], *b = &slow.records[i];
        ck_assert_msg(a->cycle == b->cycle && a->command == b->command && a->bank == b->bank &&
                          a->row == b->row && a->column == b->column,
                      "%s: command %zu is %s to bank %u in %" PRIu64 ", stepped %s to bank %u in %" PRIu64,
                      what, i, pim_dram_command_text((enum pim_dram_command)a->command), a->bank, a->cycle,
                      pim_dram_command_text((enum pim_dram_command)b->command), b->bank, b->cycle);
    }
    ck_assert_uint_eq(fast.cycles, slow.cycles);
    outcome_free(&fast);
    outcome_free(&slow);
}

/* Keeps every second list to some of the banks: refreshes of the others keep no request waiting. */
static void keep_to_banks(struct pim_random *random, const struct pim_dram_configuration *configuration,
                          struct access *list)
{
    const struct pim_dram_organization *o = &configuration->specification.organization;
    const uint32_t banks = pim_dram_ranks(o) * pim_dram_banks_per_rank(o);
    const uint32_t always = pim_random_below(random, 2) ? (uint32_t)pim_random_below(random, banks) : 0;
    for (size_t i = 0; i < REQUESTS; i++) {
        struct pim_dram_location location = pim_dram_locate(&configuration->mapping, list[i].address);
        location.bank |= always;
        list[i].address = pim_dram_address(&configuration->mapping, &location);
    }
}

/* Draws until `rounds` are taken; every eighth is stepped as well. */
static void run_rounds(uint64_t seed, unsigned rounds, bool own)
{
    struct pim_random random;
    pim_random_initialize(&random, seed);
    for (unsigned round = 0, tries = 0; round < rounds; tries++) {
        struct drawn drawn;
        struct pim_dram_configuration configuration;
        struct outcome outcome;
        char what[WHAT];
        ck_assert_uint_lt(tries, 200 * (rounds + 1));
        draw(&drawn, &random, own);
        if (!configure_shortest(&drawn, &configuration))
            continue;
        int length = snprintf(what, sizeof what, "seed %" PRIu64 ", round %u: ", seed, round);
        describe(&drawn, what + length);
        struct access *list = random_list(&random, &configuration, REQUESTS, 2);
        keep_to_banks(&random, &configuration, list);
        serve(&outcome, &configuration, list, REQUESTS, true);
        check_run(&configuration, &outcome, what);
        outcome_free(&outcome);
        if (round % 8 == 0)
            check_stepped(&configuration, list, what);
        free(list);
        round++;
    }
}

enum { PARTS = 16, ROUNDS = 40 };

START_TEST(in_time_by_built_in_rows)
{
    const int part = PIM_CASE(_i);
    run_rounds(7000 + (uint64_t)part, ROUNDS, false);
}
END_TEST

START_TEST(in_time_by_own_rows)
{
    const int part = PIM_CASE(_i);
    run_rounds(8000 + (uint64_t)part, ROUNDS, true);
}
END_TEST

/*
 * Rows by which commands that come fast enough, alone or in turns (RD with ACT), could keep a refresh, or the
 * PRE before it, away for ever: the first ones did, as long as requests came.
 */
#define BANKS_ALONE "dram.maintenance=rank", "dram.refresh_mode=per_bank", "dram.trefi_bank=2000"
#define MANY_ACTS                                                                                            \
    "dram.bank_groups=16", "dram.tfaw=8", "dram.trrd_l=4", "dram.tccd_l=4", "dram.read_queue=128"
static const struct {
    const char *preset;
    const char *settings[14];
} starving[] = {
    {"ddr4_2400r",
     {BANKS_ALONE, "dram.mapping=row bank column group pseudo channel rank",
      "dram.constraints=jedec; rank: RD RDA WR WRA -> PRE >= 40"}},
    {"ddr4_2400r", {BANKS_ALONE, MANY_ACTS, "dram.constraints=jedec; rank: RD RDA -> REFpb >= 3"}},
    {"ddr4_2400r", {BANKS_ALONE, MANY_ACTS, "dram.constraints=jedec; rank: RD RDA -> REFpb >= tccd_s"}},
    {"ddr4_2400r",
     {BANKS_ALONE, MANY_ACTS,
      "dram.constraints=jedec; rank: PRE -> PRE >= 3; rank: PRE RD RDA -> REFpb >= 3"}},
    {"lpddr4_3200", {BANKS_ALONE, "dram.constraints=jedec; rank: RD RDA WR WRA ACT -> REFpb >= 16"}},
    {"ddr4_2400r",
     {"dram.maintenance=rank", "dram.ranks=2", "dram.trefi=9000", "dram.refresh_stagger=true",
      "dram.read_queue=256", "dram.constraints=jedec; other_rank: RD RDA WR WRA ACT -> PREA REF >= 60"}},
    {"hbm2_pim",
     {"dram.maintenance=rank", "dram.pseudo_channels=2", "dram.trefi=5000",
      "dram.constraints=jedec; channel: WR WRA RD RDA -> REF >= 50"}},
    {"hbm2_pim",
     {BANKS_ALONE, "dram.pseudo_channels=2", "dram.trefi_bank=9000",
      "dram.constraints=jedec; channel: WR WRA -> RD RDA >= 50"}},
#define OF_RANKS(ranks, rows)                                                                                \
    {                                                                                                        \
        BANKS_ALONE, ("dram.ranks=" ranks), "dram.trefi_bank=16000",                                         \
            ("dram.constraints=jedec; other_rank: RD RDA -> RD RDA >= 60; " rows)                            \
    }
    {"hbm2_pim", OF_RANKS("2", "rank: RD RDA -> REFpb >= 40")},
    {"hbm2_pim", OF_RANKS("2", "group: RD RDA -> REFpb >= 40")},
    {"hbm2_pim", OF_RANKS("4", "other_rank: RD RDA ACT -> REFpb >= 40")},
    {"hbm2_pim", OF_RANKS("2", "pseudo: ACT -> REFpb >= 40")},
    {"hbm3_6400",
     {BANKS_ALONE, "dram.stack_ids=4", "dram.trefi_bank=16000",
      "dram.constraints=jedec; other_stack: RD RDA -> RD RDA >= 60; other_stack: RD RDA -> REFpb >= 40"}},
    {"ddr5_4800an",
     {"dram.refresh_mode=same_bank", "dram.maintenance=rank", "dram.trefi_bank=9000",
      "dram.constraints=jedec; group: RD RDA -> REFsb >= 11"}},
    {"lpddr4_3200", {BANKS_ALONE, "dram.commands=jedec; ACT: opens bank, cycles 3"}},
    /* REFsb behind ACT of any group, which come sooner in turns; a row of the standard. */
    {"ddr4_2400r",
     {"dram.maintenance=rank", "dram.refresh_mode=same_bank", "dram.trefi_bank=2000", "dram.bank_groups=16",
      "dram.tfaw=16", "dram.trrd_l=24", "energy.model=none"}},
    /* REFpb behind ACTs of other groups, or of one stack identifier, which come sooner than those that a row
     * keeps apart. */
    {"hbm2_pim",
     {BANKS_ALONE, "dram.bank_groups=16", "dram.tfaw=4", "dram.tccd_l=2", "dram.page=closed",
      "dram.read_queue=256", "dram.constraints=jedec; group: ACT -> ACT >= 3"}},
    {"ddr4_2400r",
     {BANKS_ALONE, "dram.bank_groups=16", "dram.tfaw=4", "dram.tccd_s=2", "dram.burst_cycles=2",
      "dram.page=closed", "dram.read_queue=256",
      "dram.constraints=jedec; without rank: ACT ACT2 -> ACT ACT2"}},
    {"ddr4_2400r",
     {BANKS_ALONE, "dram.bank_groups=16", "dram.stack_ids=2", "dram.tfaw=4", "dram.tccd_s=2", "dram.tccd_r=2",
      "dram.burst_cycles=2", "dram.page=closed", "dram.read_queue=256", "dram.trefi_bank=4000",
      "dram.constraints=jedec; without rank: ACT ACT2 -> ACT ACT2; other_stack: ACT -> ACT >= 12"}},
    /* PREs of another rank or stack identifier, which do not wait for one another. */
    {"ddr4_2400r",
     {"dram.maintenance=rank", "dram.ranks=2", "dram.trfc=60", "dram.trefi=14000",
      "dram.constraints=jedec; other_rank: PRE -> PREA >= 160"}},
    {"ddr4_2400r",
     {BANKS_ALONE, "dram.ranks=2", "dram.trefi_bank=9000",
      "dram.constraints=jedec; other_rank: PRE -> PRE >= 60"}},
    {"hbm3_6400",
     {BANKS_ALONE, "dram.stack_ids=2", "dram.trefi_bank=16000",
      "dram.constraints=jedec; other_stack: PRE -> PRE >= 60"}},
};

START_TEST(rows_that_starved)
{
    enum { SEQUENTIAL, RANDOM, HITS, ELSEWHERE, HALF, KINDS, MANY = 20000 };
    struct pim_dram_configuration configuration;
    struct pim_random random;
    struct access *list = malloc(MANY * sizeof *list);
    ck_assert_ptr_nonnull(list);
    pim_random_initialize(&random, 5);
    configure(&configuration, starving[_i].preset, starving[_i].settings);
    const uint32_t access = configuration.specification.organization.access_bytes;
    const uint64_t places = configuration.mapping.capacity / access;
    const struct pim_dram_organization *o = &configuration.specification.organization;
    const uint32_t banks = pim_dram_ranks(o) * pim_dram_banks_per_rank(o);
    for (unsigned kind = 0; kind < KINDS; kind++) {
        struct outcome outcome;
        char what[64];
        uint64_t place = 0;
        (void)snprintf(what, sizeof what, "case %d, list %u", _i, kind);
        for (size_t i = 0; i < MANY; i++) {
            const bool jump = kind == RANDOM || kind >= ELSEWHERE || (kind == HITS && i % 4 == 0);
            place = jump ? pim_random_below(&random, places) : (place + 1) % places;
            if (kind ==
                ELSEWHERE) { /* in no bank but the last of each group: the others wait for nothing else */
                struct pim_dram_location location = pim_dram_locate(&configuration.mapping, place * access);
                location.bank |= configuration.specification.organization.banks - 1;
                place = pim_dram_address(&configuration.mapping, &location) / access;
            }
            if (kind == HALF && i >= 64) { /* in half of the banks: the rows of the others stay open */
                struct pim_dram_location location = pim_dram_locate(&configuration.mapping, place * access);
                location.bank |= banks / 2;
                place = pim_dram_address(&configuration.mapping, &location) / access;
            }
            list[i] = (struct access){0, place * access, kind == HITS && pim_random_below(&random, 3) == 0};
        }
        serve(&outcome, &configuration, list, MANY, true);
        check_run(&configuration, &outcome, what);
        outcome_free(&outcome);
    }
    free(list);
}
END_TEST

/* A bound that does not hold, as by a mistake of pim_dram_refresh_check: `pimsim dram` ends with an error. */
START_TEST(late_refreshes_are_told)
{
    const struct dram_stream stream = {DRAM_RANDOM, REQUESTS, 0, 0, 0.5, 1, 3};
    const struct dram_run_outputs outputs = {.context = NULL};
    struct pim_dram_configuration configuration;
    struct pim_error error = {PIM_OK, ""};
    struct dram_source *source;
    struct dram_run run = {0};
    configure(&configuration, "ddr4_2400r", NULL);
    configuration.specification.parameter[PIM_DRAM_T_REFI] =
        configuration.specification.parameter[PIM_DRAM_T_RFC] / 2;
    ck_assert(dram_source_generate(&source, &stream, &configuration, &error) == PIM_OK);
    ck_assert(dram_run_execute(&run, &configuration, source, &outputs, &error) == PIM_BAD_INPUT);
    ck_assert_msg(
        strstr(error.text, "refreshes of the DRAM were not done when the next one of their rank was due"),
        "%s", error.text);
    dram_source_close(source);
}
END_TEST

Suite *suite_channel_refresh(void)
{
    Suite *suite = suite_create("channel_refresh");
    TCase *cases = tcase_create("in_time");
    tcase_add_loop_test(cases, in_time_by_built_in_rows, 0, PIM_CASES(PARTS));
    tcase_add_loop_test(cases, in_time_by_own_rows, 0, PIM_CASES(PARTS));
    tcase_add_loop_test(cases, rows_that_starved, 0, COUNT(starving));
    tcase_add_test(cases, late_refreshes_are_told);
    suite_add_tcase(suite, cases);
    return suite;
}

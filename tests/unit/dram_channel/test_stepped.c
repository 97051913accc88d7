/* The event-driven channel against the stepped controller, on random lists, settings and organisations. */
#include "models/dram/check/command_check.h"
#include "tests/unit/dram_channel/stepped/controller.h"
#include "tests/unit/dram_channel/suites.h"
#include "tests/unit/dram_channel/support.h"
#include "tests/unit/test_main.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Rounds of a shape: settings of its own, then random ones; quick takes the first and the second. */
enum { QUICK_ROUNDS = 2, ROUNDS = 8, REQUESTS = 200 };

/* Organisations that the presets do not have, and refresh often enough to matter. */
static const struct {
    const char *preset;
    const char *settings[8];
} shapes[] = {
#define INDEPENDENT "dram.maintenance=rank"
    {"ddr4_2400r", {INDEPENDENT, "dram.ranks=2", "dram.trefi=1500"}},
    {"ddr4_2400r", {INDEPENDENT, "dram.ranks=4", "dram.bank_groups=2", "dram.trefi=1501"}},
    {"ddr4_2400r",
     {INDEPENDENT, "dram.ranks=4", "dram.bank_groups=2", "dram.trefi=1501", "dram.refresh_stagger=true"}},
    {"lpddr4_3200", {INDEPENDENT, "dram.ranks=4", "dram.refresh_mode=per_bank", "dram.trefi_bank=543"}},
    {"lpddr5_6400", {INDEPENDENT, "dram.ranks=2", "dram.refresh_mode=per_bank", "dram.trefi_bank=391"}},
    {"lpddr5_6400", {INDEPENDENT, "dram.taad=13", "dram.trrd_s=1", "dram.trrd_l=1", "dram.trefi=1000"}},
    {"hbm2_pim",
     {INDEPENDENT, "dram.pseudo_channels=4", "dram.refresh_mode=per_bank", "dram.trefi_bank=200"}},
    {"hbm2_2000", {INDEPENDENT, "dram.channels=1", "dram.trefi=1000"}},
    {"hbm3_6400",
     {INDEPENDENT, "dram.pseudo_channels=2", "dram.refresh_mode=per_bank", "dram.trefi_bank=401"}},
    {"pimbank_400", {INDEPENDENT, "dram.trefi=300"}},
    {"ddr4_2400r", {"dram.trefi=1200"}},
    {"ddr4_2400r", {"dram.ranks=2", "dram.trefi=1500"}},
    {"ddr4_2400r", {"dram.ranks=4", "dram.bank_groups=2", "dram.trefi=2501", "dram.refresh_stagger=true"}},
    {"lpddr4_3200",
     {"dram.ranks=2", "dram.refresh_mode=per_bank", "dram.trefi_bank=630", "dram.refresh_stagger=true"}},
    {"hbm3_6400", {"dram.pseudo_channels=2", "dram.trefi=3301", "dram.refresh_stagger=true"}},
    {"hbm2_pim", {"dram.trefi=900"}},
    {"hbm2_pim", {"dram.pseudo_channels=2", "dram.refresh_mode=per_bank", "dram.trefi_bank=300"}},
    {"lpddr4_3200", {"dram.trefi=1400"}},
    {"lpddr4_3200", {"dram.ranks=2", "dram.refresh_mode=per_bank", "dram.trefi_bank=630"}},
    {"pimbank_400", {"dram.trefi=300"}},
    {"ddr4_2400r", {"dram.activate_cycles=2", "dram.bank_xor=true", "dram.refresh=false"}},
    {"hbm2_2000", {"dram.channels=1", "dram.trefi=1000"}},
    {"ddr5_4800an", {"dram.trefi=2000"}},
    {"ddr4_2400r", {"dram.column_cycles=3", "dram.tccd_l_write=9", "dram.trefi=1500"}},
    {"hbm3_6400", {"dram.trefi=3100"}},
    {"hbm3_6400", {"dram.pseudo_channels=2", "dram.tfaw=47", "dram.trefi=3301"}},
    {"hbm3_6400", {"dram.refresh_mode=per_bank", "dram.trefi_bank=501"}},
    {"lpddr5_6400", {"dram.trefi=1000"}},
    {"lpddr5_6400", {"dram.ranks=2", "dram.refresh_mode=per_bank", "dram.trefi_bank=391"}},
    {"lpddr5_6400", {"dram.taad=13", "dram.trrd_s=1", "dram.trrd_l=1", "dram.tfaw=1", "dram.trefi=1000"}},
    {"lpddr5_6400", {"dram.write_clock=false", "dram.taad=3", "dram.trefi=1000"}},
    {"lpddr5_6400", {"dram.taad=2", "dram.twckpst=0", "dram.trefi=1000"}},
    {"lpddr5_6400", {"dram.taad=0", "dram.twckpst=9"}},
/* Same-bank and fine-granularity refresh, and refreshes ahead of their time. */
#define SAME_BANK "dram.refresh_mode=same_bank"
    {"ddr5_4800an", {SAME_BANK, "dram.trefi=2500", "dram.trfc_bank=312"}},
    {"ddr5_4800an",
     {SAME_BANK, INDEPENDENT, "dram.trefi=2500", "dram.trfc_bank=312", "dram.refresh_pull_in=3"}},
    {"ddr4_2400r",
     {SAME_BANK, INDEPENDENT, "dram.ranks=2", "dram.trefi=2001", "dram.trefpb_refpb=150",
      "energy.model=none"}},
    {"ddr4_2400r",
     {SAME_BANK, "dram.ranks=2", "dram.refresh_stagger=true", "dram.trefi=4003", "dram.refresh_pull_in=8",
      "energy.model=none"}},
    {"hbm3_6400", {SAME_BANK, "dram.pseudo_channels=2", "dram.trefi_bank=1001", "dram.refresh_pull_in=1"}},
    {"hbm2_pim", {SAME_BANK, INDEPENDENT, "dram.pseudo_channels=2", "dram.trefi=900"}},
    {"ddr4_2400r", {"dram.refresh_rate=2", "dram.trfc_fine=211", "dram.trefi=2000"}},
    {"ddr5_4800an",
     {"dram.refresh_rate=4", "dram.trfc_fine=160", "dram.trefi=4801", "dram.refresh_pull_in=2"}},
    {"lpddr5_6400",
     {"dram.ranks=2", "dram.refresh_mode=per_bank", "dram.trefi_bank=391", "dram.refresh_pull_in=5"}},
    {"lpddr4_3200", {INDEPENDENT, "dram.ranks=2", "dram.refresh_pull_in=2", "dram.trefi=1400"}},
    {"hbm1_2000", {"dram.refresh_pull_in=8", "dram.trefi=700"}},
    /* Rows of one's own, of every scope. */
    {"ddr4_2400r",
     {"dram.ranks=2", "dram.timings=a = 9; b = 7.5 ns", "dram.trefi=5000",
      "dram.constraints=jedec; bank: PRE -> ACT >= trp + a; group: ACT -> RD RDA >= b; other_rank: ACT -> "
      "ACT >= a; "
      "rank: REF -> ACT >= trfc + 5; rank: 4 ACT -> ACT >= tfaw + a"}},
    {"hbm2_pim",
     {"dram.pseudo_channels=4", "dram.trefi=9000",
      "dram.constraints=channel: ACT -> ACT >= 5; pseudo: WR WRA -> RD RDA >= 30; jedec; rank: WR -> PREA >= "
      "40"}},
/* Commands of one's own: LPDDR4's times on the bus, PREA of three cycles with ranks, commands that hold
       one of two buses, PRE at rising edges alone. */
#define LPDDR4_COMMANDS_AND(refresh)                                                                         \
    "dram.commands=jedec; ACT: opens bank, cycles 4; PRE: closes bank, cycles 2; PREA: closes rank, cycles " \
    "2; "                                                                                                    \
    "RD: reads bank, cycles 4; RDA: reads bank, closes bank, cycles 4; WR: writes bank, cycles 3; "          \
    "WRA: writes bank, closes bank, cycles 3; REF: refreshes rank, cycles 2; " refresh
#define LPDDR4_COMMANDS LPDDR4_COMMANDS_AND("REFpb: refreshes bank, cycles 2")
    {"lpddr4_3200", {LPDDR4_COMMANDS, "dram.tccd_s=8", "dram.tccd_l=8", "dram.trefi=1600"}},
    {"lpddr4_3200", {LPDDR4_COMMANDS, INDEPENDENT, "dram.ranks=2", "dram.trefi=1800"}},
    {"lpddr4_3200",
     {LPDDR4_COMMANDS, "dram.ranks=2", "dram.refresh_mode=per_bank", "dram.trefi_bank=990", "dram.tccd_s=5"}},
    {"lpddr4_3200",
     {LPDDR4_COMMANDS_AND("REFpb: refreshes bank, cycles 4"), INDEPENDENT, "dram.refresh_mode=per_bank",
      "dram.trefi_bank=480", "dram.page=closed"}},
    {"ddr4_2400r",
     {"dram.commands=jedec; PREA: closes rank, cycles 3; REF: refreshes rank, cycles 5; without REFpb",
      "dram.ranks=4", "dram.trefi=4100",
      "dram.constraints=jedec; rank: PRE PREA RD RDA -> ACT RD RDA >= 7; channel: REF -> PRE PREA >= 9"}},
    {"hbm2_pim",
     {"dram.commands=jedec; PRE: closes bank, cycles 3; REFsb: refreshes same_bank, cycles 2", SAME_BANK,
      "dram.pseudo_channels=2", "dram.trefi=3000"}},
    {"hbm3_6400", {"dram.commands=jedec; PRE: closes bank", "dram.trefi=3100", "dram.page=closed"}},
    {"hbm3_6400",
     {"dram.commands=jedec; PRE: closes bank, either_edge, cycles 3", "dram.pseudo_channels=2",
      "dram.trefi=3301"}},
    {"hbm3_6400",
     {"dram.commands=jedec; PRE: closes bank, cycles 2; PREA: closes rank", "dram.pseudo_channels=2",
      "dram.tfaw=47", "dram.trefi=4301"}},
    {"hbm3_6400",
     {"dram.commands=jedec; PRE: closes bank; REFsb: refreshes same_bank, cycles 3", INDEPENDENT, SAME_BANK,
      "dram.trefi_bank=1001"}},
    {"hbm1_2000", {"dram.column_cycles=1", "dram.refresh_mode=per_bank", "dram.trefi_bank=200"}},
    /* More than 64 banks: in ranks of less, of 64, and of more. */
    {"ddr5_4800an", {"dram.ranks=4", "dram.trefi=4001"}},
    {"ddr4_2400r", {INDEPENDENT, "dram.ranks=16", "dram.trefi=2500", "dram.refresh_stagger=true"}},
    {"ddr4_2400r", {"dram.ranks=8", "dram.scheduler=fcfs", "dram.page=closed", "dram.refresh=false"}},
    {"ddr4_2400r", {INDEPENDENT, "dram.ranks=8", "dram.scheduler=fcfs", "dram.trefi=1700"}},
    {"hbm3_6400", {"dram.pseudo_channels=8", "dram.page=timeout"}},
    {"hbm2_pim",
     {INDEPENDENT, "dram.pseudo_channels=4", "dram.bank_groups=8", "dram.banks=8",
      "dram.refresh_mode=per_bank", "dram.trefi_bank=350", "dram.page=closed"}},
    {"ddr5_4800an",
     {SAME_BANK, INDEPENDENT, "dram.ranks=2", "dram.bank_groups=32", "dram.trefi=9000", "dram.trfc_bank=312",
      "dram.page=timeout"}},
    {"ddr4_2400r", {INDEPENDENT, "dram.bank_groups=64", "dram.trefi=4000", "dram.bank_xor=true"}},
    {"lpddr5_6400",
     {"dram.ranks=8", "dram.refresh_mode=per_bank", "dram.trefi_bank=1200", "dram.refresh_postpone=4"}},
    {"lpddr4_3200",
     {INDEPENDENT, "dram.ranks=16", "dram.refresh_mode=per_bank", "dram.trefi_bank=2115",
      "dram.refresh_stagger=true", "dram.mapping=row column bank group rank pseudo channel"}},
    {"ddr4_2400r",
     {SAME_BANK, INDEPENDENT, "dram.ranks=2", "dram.bank_groups=32", "dram.banks=2", "dram.trefi_bank=800",
      "energy.model=none"}},
    /* tRAS + tRP above tRC: rows that close by themselves close behind tRAS. */
    {"ddr4_2400r", {"dram.page=closed", "dram.trp=40", "dram.trefi=1500"}},
    {"hbm2_pim", {"dram.page=closed", "dram.trp=41", "dram.refresh_mode=per_bank", "dram.trefi_bank=300"}},
    {"lpddr5_6400",
     {"dram.page=closed", "dram.trp=31", "dram.ranks=2", "dram.refresh_mode=per_bank",
      "dram.trefi_bank=391"}},
    {"hbm3_6400", {"dram.page=closed", "dram.trp=87", "dram.pseudo_channels=2", "dram.trefi=3301"}},
    {"hbm3_6400", {"dram.page=closed", "dram.trp=90", "dram.refresh_mode=per_bank", INDEPENDENT}},
    /* As little as there can be: one bank, row, column, queues of one, and no time between refreshes. */
    {"pimbank_400", {"dram.rows=1", "dram.row_bytes=16", "dram.read_queue=1", "dram.trefi=116"}},
    {"ddr4_2400r",
     {"dram.bank_groups=1", "dram.banks=1", "dram.rows=3", "dram.row_bytes=64", "dram.write_queue=1",
      "dram.trefi=539"}},
    {"lpddr5_6400",
     {INDEPENDENT, "dram.bank_groups=1", "dram.banks=1", "dram.rows=7", "dram.row_bytes=32",
      "dram.trefi=400"}},
    {"hbm3_6400",
     {"dram.bank_groups=1", "dram.banks=1", "dram.rows=1", "dram.pseudo_channels=2", "dram.page=closed",
      "dram.trefi=2400"}},
    {"ddr5_4800an",
     {INDEPENDENT, "dram.ranks=2", "dram.bank_groups=1", "dram.banks=2", "dram.rows=5", "dram.trefi=1200"}},
    /* Stack identifiers, and rows taken out. */
    {"hbm3_6400", {"dram.stack_ids=2", "dram.tccd_r=10", "dram.trefi=3101"}},
    {"hbm3_6400",
     {"dram.stack_ids=4", "dram.pseudo_channels=2", "dram.refresh_mode=per_bank", "dram.trefi_bank=701",
      "dram.tccd_s=6", "dram.tccd_r=6", "dram.mapping=row stack bank group pseudo column"}},
    {"ddr4_2400r",
     {"dram.stack_ids=2", "dram.ranks=2", "dram.tccd_r=9", "dram.trefi=2801",
      "dram.constraints=jedec; stack: ACT -> ACT >= 7; other_stack: WR WRA PRE -> WR WRA ACT >= 11"}},
    {"hbm3_6400",
     {INDEPENDENT, "dram.stack_ids=2", "dram.trefi=3101",
      "dram.constraints=jedec; other_stack: PRE ACT -> PRE ACT >= 13; stack: RD RDA -> PRE >= 21"}},
    {"ddr4_2400r",
     {SAME_BANK, "dram.stack_ids=2", "dram.trefi_bank=900", "dram.bank_xor=true", "dram.tccd_r=5"}},
    {"ddr4_2400r", {SAME_BANK, INDEPENDENT, "dram.stack_ids=4", "dram.trefi_bank=1051", "dram.tccd_r=12"}},
    {"hbm3_6400",
     {INDEPENDENT, "dram.stack_ids=2", "dram.refresh_mode=per_bank", "dram.trefi_bank=801",
      "dram.tccd_r=14"}},
    {"gddr6_14000",
     {"dram.trefi=1900", "dram.constraints=jedec; without rank: PRE -> REF; without bank: ACT -> PRE; "
                         "without rank: 4 ACT ACT2 -> ACT ACT2; bank: ACT -> PRE >= 40"}},
    {"hbm2_pim",
     {INDEPENDENT, "dram.ranks=2", "dram.refresh_mode=per_bank", "dram.trefi_bank=191",
      "dram.constraints=jedec; without rank: PRE -> REF; without bank: RD -> PRE"}},
    {"hbm2_pim",
     {INDEPENDENT, "dram.refresh_mode=per_bank", "dram.trefi_bank=801",
      "dram.constraints=jedec; without rank: PRE -> REF; bank: PRE -> ACT >= trp + 3"}},
    {"ddr4_2400r",
     {INDEPENDENT, "dram.refresh_mode=per_bank", "dram.trefi_bank=147",
      "dram.constraints=jedec; without rank: ACT ACT2 -> ACT ACT2; without group: ACT ACT2 -> ACT ACT2"}},
    {"ddr4_2400r",
     {INDEPENDENT, "dram.ranks=2", "dram.refresh_mode=per_bank", "dram.trefi_bank=3000",
      "dram.constraints=jedec; other_rank: PRE -> PRE >= 20"}},
};

static void compare(const struct outcome *fast, const struct outcome *slow, const char *what)
{
    size_t common = fast->record_count < slow->record_count ? fast->record_count : slow->record_count;
    for (size_t i = 0; i < common; i++) {
        const struct pim_dram_record *a = &fast->records[i], *b = &slow->records[i];
        ck_assert_msg(a->cycle == b->cycle && a->command == b->command && a->bank == b->bank &&
                          a->row == b->row && a->column == b->column,
                      "%s: command %zu is %s to bank %u in %" PRIu64 ", stepped %s to bank %u in %" PRIu64,
                      what, i, pim_dram_command_text((enum pim_dram_command)a->command), a->bank, a->cycle,
                      pim_dram_command_text((enum pim_dram_command)b->command), b->bank, b->cycle);
    }
    /* The channel may end what it has begun: maintenance that was asked for before the end. */
    ck_assert_msg(slow->record_count == common, "%s: commands are missing", what);
    for (size_t i = 0; i < fast->count; i++)
        ck_assert_msg(fast->arrived[i] == slow->arrived[i] && fast->completed[i] == slow->completed[i] &&
                          fast->first_command[i] == slow->first_command[i],
                      "%s: request %zu", what, i);
    ck_assert_uint_eq(fast->cycles, slow->cycles);
}

enum { SETTINGS = 32 }; /* of a shape and at random, at most */

/* Those at random behind those of a shape; where there is no refresh, its keys are refused. */
static size_t add_random(const char **all, size_t n, const struct settings *settings)
{
    bool refreshes = true;
    for (size_t i = 0; i < n; i++)
        refreshes = refreshes && strcmp(all[i], "dram.refresh=false") != 0;
    for (const char *const *s = settings->list; *s; s++)
        if (refreshes || strncmp(*s, "dram.refresh", strlen("dram.refresh")) != 0)
            all[n++] = *s;
    return n;
}

static void run_rounds(int shape, unsigned rounds)
{
    struct pim_random random;
    pim_random_initialize(&random, 1000 + (uint64_t)shape);
    for (unsigned round = 0; round < rounds; round++) {
        struct settings settings;
        struct pim_dram_configuration configuration;
        struct outcome fast, slow;
        random_settings(&settings, &random);
        const char *all[SETTINGS] = {NULL};
        size_t n = 0;
        for (const char *const *s = shapes[shape].settings; *s; s++)
            all[n++] = *s;
        n = round > 0 ? add_random(all, n, &settings) : n;
        ck_assert_uint_lt(n, SETTINGS); /* the last one is NULL */
        configure(&configuration, shapes[shape].preset, all);
        struct access *list = random_list(&random, &configuration, REQUESTS,
                                          round % 3 == 0 ? 2 : 0.02 + 0.3 * pim_random_unit(&random));
        char what[64 * SETTINGS];
        int length = snprintf(what, sizeof what, "shape %d, round %u:", shape, round);
        for (size_t i = 0; i < n; i++)
            length += snprintf(what + length, sizeof what - (size_t)length, " %s", all[i]);
        serve(&fast, &configuration, list, REQUESTS, true);
        stepped_serve(&slow, &configuration, list, REQUESTS);
        compare(&fast, &slow, what);
        outcome_check(&fast, &configuration, what);
        outcome_free(&fast);
        outcome_free(&slow);
        free(list);
    }
}

START_TEST(fast_equals_slow)
{
    const int which = PIM_CASE(_i);
    run_rounds(which, QUICK_ROUNDS);
}
END_TEST

START_TEST(fast_equals_slow_for_long)
{
    run_rounds(_i, ROUNDS);
}
END_TEST

/*
 * LPDDR5: an access that needs a CAS comes to a row just as the page policy may close it. Between CAS and
 * column command the row is left alone; that command, not a precharge behind it, closes the row, and nothing
 * else issues for it (once a REFpb did, without a row to close).
 */
START_TEST(row_closes_behind_a_cas)
{
    const char *const settings[] = {_i ? "dram.page=timeout" : "dram.page=closed",
                                    _i ? "dram.page_timeout=60" : "dram.page_cap=1", NULL};
    struct pim_dram_configuration configuration;
    configure(&configuration, "lpddr5_6400", settings);
    unsigned closed = 0;
    for (uint64_t arrival = 1; arrival < 150; arrival++)
        for (unsigned kinds = 0; kinds < 4; kinds++) {
            const struct access list[] = {
                {0, 0, kinds & 1},
                {arrival, configuration.specification.organization.access_bytes, kinds >> 1}};
            struct outcome fast, slow;
            char what[64];
            (void)snprintf(what, sizeof what, "arrival %" PRIu64 ", kinds %u", arrival, kinds);
            serve(&fast, &configuration, list, 2, true);
            stepped_serve(&slow, &configuration, list, 2);
            compare(&fast, &slow, what);
            closed += fast.counters.commands[PIM_DRAM_RDA] + fast.counters.commands[PIM_DRAM_WRA] > 0;
            ck_assert_uint_eq(fast.counters.commands[PIM_DRAM_REFPB], 0);
            ck_assert_uint_eq(fast.counters.commands[PIM_DRAM_RD] + fast.counters.commands[PIM_DRAM_RDA] +
                                  fast.counters.commands[PIM_DRAM_WR] + fast.counters.commands[PIM_DRAM_WRA],
                              2);
            outcome_free(&fast);
            outcome_free(&slow);
        }
    ck_assert((closed > 0) == (_i == 0));
}
END_TEST

/* A refresh of bank 0 waits for its open row, and keeps away requests for that bank, not for bank 64. */
START_TEST(refresh_keeps_away_one_bank)
{
    const char *const settings[] = {INDEPENDENT,
                                    "dram.ranks=16",
                                    "dram.refresh_mode=per_bank",
                                    "dram.trefi_bank=2115",
                                    "dram.refresh_stagger=true",
                                    NULL};
    struct pim_dram_configuration configuration;
    configure(&configuration, "lpddr4_3200", settings);
    const struct pim_dram_location other = {.bank = 64};
    unsigned before = 0; /* the ACT to bank 64 comes while the refresh waits */
    for (uint64_t arrival = 107; arrival < 147; arrival++) { /* the refresh is due in 2115 / 16 */
        const struct access list[] = {
            {arrival, 0, false}, {arrival + 10, pim_dram_address(&configuration.mapping, &other), false}};
        struct outcome fast, slow;
        char what[48];
        (void)snprintf(what, sizeof what, "arrival %" PRIu64, arrival);
        serve(&fast, &configuration, list, 2, true);
        stepped_serve(&slow, &configuration, list, 2);
        compare(&fast, &slow, what);
        for (size_t i = 0; i < fast.record_count; i++)
            if (fast.records[i].bank == 0 && fast.records[i].command == PIM_DRAM_PRE)
                before += fast.records[i].cycle > fast.first_command[1];
        outcome_free(&fast);
        outcome_free(&slow);
    }
    ck_assert_uint_gt(before, 10);
}
END_TEST

/* Without refreshes a rank whose neighbours are idle is as good as alone: 64 banks of a channel of 256, in
 * each of its four ranks, against a channel of 64. */
START_TEST(ranks_are_like_small_channels)
{
    const int which = PIM_CASE(_i);
    enum { BANKS = 64, RANKS = 4 };
    struct pim_random random;
    pim_random_initialize(&random, 64 + (uint64_t)which);
    struct settings settings;
    random_settings(&settings, &random);
    const char *all[SETTINGS] = {"dram.bank_groups=16", "dram.refresh=false"};
    const size_t n = add_random(all, 2, &settings);
    struct pim_dram_configuration small, large;
    configure(&small, "ddr4_2400r", all);
    all[n] = "dram.ranks=4";
    configure(&large, "ddr4_2400r", all);
    struct access *list = random_list(&random, &small, REQUESTS, 0.02 + 0.3 * pim_random_unit(&random));
    struct access *there = calloc(REQUESTS, sizeof *there);
    ck_assert_ptr_nonnull(there);
    struct outcome alone;
    serve(&alone, &small, list, REQUESTS, true);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        char what[32];
        struct outcome outcome;
        (void)snprintf(what, sizeof what, "rank %" PRIu32, rank);
        for (size_t i = 0; i < REQUESTS; i++) {
            struct pim_dram_location place = pim_dram_locate(&small.mapping, list[i].address);
            place.bank += rank * BANKS;
            there[i] = list[i];
            there[i].address = pim_dram_address(&large.mapping, &place);
        }
        serve(&outcome, &large, there, REQUESTS, true);
        for (size_t i = 0; i < outcome.record_count; i++)
            outcome.records[i].bank = (uint8_t)(outcome.records[i].bank - rank * BANKS);
        compare(&outcome, &alone, what);
        outcome_free(&outcome);
    }
    outcome_free(&alone);
    free(there);
    free(list);
}
END_TEST

Suite *suite_channel_stepped(void)
{
    Suite *suite = suite_create("channel_stepped");
    TCase *cases = tcase_create("random");
    tcase_add_loop_test(cases, fast_equals_slow, 0, PIM_CASES(sizeof shapes / sizeof shapes[0]));
    tcase_add_loop_test(cases, row_closes_behind_a_cas, 0, 2);
    tcase_add_test(cases, refresh_keeps_away_one_bank);
    tcase_add_loop_test(cases, ranks_are_like_small_channels, 0, PIM_CASES(12));
    suite_add_tcase(suite, cases);
    return suite;
}

Suite *suite_channel_stepped_long(void)
{
    Suite *suite = suite_create("channel_stepped_long");
    TCase *cases = tcase_create("random");
    tcase_add_loop_test(cases, fast_equals_slow_for_long, 0, sizeof shapes / sizeof shapes[0]);
    suite_add_tcase(suite, cases);
    return suite;
}

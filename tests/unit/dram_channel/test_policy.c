/*
 * One rule a case, with the cycles worked out by hand from the rules in docs/models/dram.md. Of ddr4_2400r:
 * tRCD = tRP = 16, tRAS 39, tRC 55, tCL 16, tCWL 12, B 4; a read is complete 20 cycles after RD, a write 16
 * after WR; RD -> PRE 9, WR -> PRE 34; RD -> WR 10; WR -> RD 25 in the bank group, 19 outside; tRRD 4, 6;
 * tFAW 26; tRFC 433.
 */
#include "tests/unit/dram_channel/suites.h"
#include "tests/unit/dram_channel/support.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REQUESTS_MAX = 6 };

struct step {
    uint64_t cycle;
    char op;              /* 0 ends the list */
    uint32_t rank, group; /* rank: through pseudo-channels */
    uint32_t bank, row, column;
    uint64_t arrived, completed;
};

static const struct {
    const char *what, *preset;
    const char *settings[5];
    struct step steps[REQUESTS_MAX];
} rules[] = {
    /* ACT 1, 8, 15, 22; the fifth waits for tRRD (29), and only from tFAW = 29 on for the first. */
    {"tFAW just not felt",
     "ddr4_2400r",
     {"dram.refresh=false", "dram.trrd_s=7", "dram.trrd_l=7", "dram.tfaw=28"},
     {{0, 'R', 0, 0, 0, 5, 0, 0, 37},
      {1, 'R', 0, 1, 0, 5, 0, 1, 44},
      {2, 'R', 0, 2, 0, 5, 0, 2, 51},
      {3, 'R', 0, 3, 0, 5, 0, 3, 58},
      {4, 'R', 0, 0, 1, 5, 0, 4, 65}}},
    {"tFAW just felt",
     "ddr4_2400r",
     {"dram.refresh=false", "dram.trrd_s=7", "dram.trrd_l=7", "dram.tfaw=29"},
     {{0, 'R', 0, 0, 0, 5, 0, 0, 37},
      {1, 'R', 0, 1, 0, 5, 0, 1, 44},
      {2, 'R', 0, 2, 0, 5, 0, 2, 51},
      {3, 'R', 0, 3, 0, 5, 0, 3, 58},
      {4, 'R', 0, 0, 1, 5, 0, 4, 66}}},
    /* R row 9 waits for its bank, so the writes have no turn before its ACT in 56 has emptied the read queue:
     * ACT 60, 64; the writes behind RD 72. */
    {"writes wait while a read waits",
     "ddr4_2400r",
     {"dram.refresh=false"},
     {{0, 'R', 0, 0, 0, 5, 0, 0, 37},
      {1, 'R', 0, 0, 0, 9, 0, 1, 92},
      {2, 'W', 0, 1, 0, 5, 0, 2, 98},
      {3, 'W', 0, 2, 0, 5, 0, 3, 102}}},
    /* Two writes are many: ACT 5 for the first, which leaves one, few enough for reads. WR 27 (RD + 10). */
    {"high and low mark",
     "ddr4_2400r",
     {"dram.refresh=false", "dram.write_high=2", "dram.write_low=1"},
     {{0, 'R', 0, 0, 0, 5, 0, 0, 37},
      {1, 'R', 0, 0, 0, 9, 0, 1, 92},
      {2, 'W', 0, 1, 0, 5, 0, 2, 43},
      {3, 'W', 0, 2, 0, 5, 0, 3, 98}}},
    /* A queue of three has the low mark 0: both writes are drained, ACT 5 and 9, WR 27 and 31. */
    {"drained to the end",
     "ddr4_2400r",
     {"dram.refresh=false", "dram.write_queue=3", "dram.write_high=2"},
     {{0, 'R', 0, 0, 0, 5, 0, 0, 37},
      {1, 'R', 0, 0, 0, 9, 0, 1, 92},
      {2, 'W', 0, 1, 0, 5, 0, 2, 43},
      {3, 'W', 0, 2, 0, 5, 0, 3, 47}}},
    /* So it does in a longer queue whose low mark is set to 0. */
    {"a low mark of 0",
     "ddr4_2400r",
     {"dram.refresh=false", "dram.write_high=2", "dram.write_low=0"},
     {{0, 'R', 0, 0, 0, 5, 0, 0, 37},
      {1, 'R', 0, 0, 0, 9, 0, 1, 92},
      {2, 'W', 0, 1, 0, 5, 0, 2, 43},
      {3, 'W', 0, 2, 0, 5, 0, 3, 47}}},
    /* A write that waits (row 9) answers a read and absorbs a write; one that is active (row 5, ACT 1) does
     * not: RD 42 = WR 17 + 25. Then PRE 51 (both 17 + 34 and 42 + 9), ACT 67, WR 83. */
    {"forwarding ends with the ACT",
     "ddr4_2400r",
     {"dram.refresh=false"},
     {{0, 'W', 0, 0, 0, 5, 0, 0, 33},
      {1, 'W', 0, 0, 0, 9, 3, 1, 99},
      {5, 'R', 0, 0, 0, 9, 3, 5, 6},
      {6, 'R', 0, 0, 0, 5, 0, 6, 62},
      {7, 'W', 0, 0, 0, 9, 3, 7, 7}}},
    /* The queues of one are full, but an absorbed write and a forwarded read wait in none. One write is
     * already many here, so row 9 has its turn first: ACT 67, WR 83; then PRE 117, ACT 133, RD 149. */
    {"full queues do not hold up what needs no place",
     "ddr4_2400r",
     {"dram.refresh=false", "dram.read_queue=1", "dram.write_queue=1"},
     {{0, 'W', 0, 0, 0, 5, 0, 0, 33},
      {1, 'W', 0, 0, 0, 9, 3, 1, 99},
      {2, 'W', 0, 0, 0, 9, 3, 2, 2},
      {3, 'R', 0, 0, 0, 5, 0, 3, 169},
      {4, 'R', 0, 0, 0, 9, 3, 4, 5}}},
    /* REF is due in 1000: the write whose ACT was issued (991) is served in 1007, PREA 1041, REF 1057, and
     * the other two behind ACT 1490. */
    {"refresh within writes",
     "ddr4_2400r",
     {"dram.trefi=1000"},
     {{990, 'W', 0, 0, 0, 5, 0, 990, 1023},
      {991, 'W', 0, 0, 0, 5, 1, 991, 1522},
      {992, 'W', 0, 0, 0, 5, 2, 992, 1528}}},
    /* The second read waits for the refresh, or the refresh for it: PREA 1035, REF 1051, ACT 1484. */
    {"refresh at once",
     "ddr4_2400r",
     {"dram.trefi=1000"},
     {{995, 'R', 0, 0, 0, 5, 0, 995, 1032}, {996, 'R', 0, 0, 0, 5, 1, 996, 1520}}},
    {"refresh postponed",
     "ddr4_2400r",
     {"dram.trefi=1000", "dram.refresh_postpone=1"},
     {{995, 'R', 0, 0, 0, 5, 0, 995, 1032},
      {996, 'R', 0, 0, 0, 5, 1, 996, 1038},
      {1100, 'R', 0, 0, 0, 5, 2, 1100, 1520}}},
    /* Ranks are refreshed one behind the other: REF 1000, 1001; ACT 1433, 1434; RD 1449, 1455 (B + tCS). */
    {"refresh of two ranks",
     "ddr4_2400r",
     {"dram.trefi=1000", "dram.ranks=2"},
     {{1001, 'R', 1, 0, 0, 5, 0, 1001, 1475}, {1002, 'R', 0, 0, 0, 5, 0, 1002, 1469}}},
    /* WR 17, data 29 to 32; RD of the other rank 19, data 35 to 38. */
    {"write and read of two ranks",
     "ddr4_2400r",
     {"dram.refresh=false", "dram.ranks=2"},
     {{0, 'W', 0, 0, 0, 5, 0, 0, 33}, {1, 'R', 1, 0, 0, 5, 0, 1, 39}}},
    /* Neither tRRD nor the data bus is shared: ACT 1, 2, RD 17, 18, one command a cycle on each bus. */
    {"two pseudo-channels",
     "hbm2_pim_act1",
     {"dram.refresh=false", "dram.pseudo_channels=2"},
     {{0, 'R', 0, 0, 0, 5, 0, 0, 35}, {1, 'R', 1, 0, 0, 5, 0, 1, 36}}},
    /* Behind two accesses of row 5 the older request has its turn: PRE 40, ACT 56, PRE 95, ACT 111. */
    {"cap of two row hits",
     "ddr4_2400r",
     {"dram.refresh=false", "dram.row_hit_cap=2"},
     {{0, 'R', 0, 0, 0, 5, 0, 0, 37},
      {1, 'R', 0, 0, 0, 9, 0, 1, 92},
      {2, 'R', 0, 0, 0, 5, 1, 2, 43},
      {3, 'R', 0, 0, 0, 5, 2, 3, 147}}},
    {"cap of one row hit",
     "ddr4_2400r",
     {"dram.refresh=false", "dram.row_hit_cap=1"},
     {{0, 'R', 0, 0, 0, 5, 0, 0, 37},
      {1, 'R', 0, 0, 0, 9, 0, 1, 92},
      {2, 'R', 0, 0, 0, 5, 1, 2, 147},
      {3, 'R', 0, 0, 0, 5, 2, 3, 153}}},
    /* One after the other: the next ACT in the cycle behind RD 17, hits in their turn. */
    {"first come, first served, two banks",
     "ddr4_2400r",
     {"dram.refresh=false", "dram.scheduler=fcfs"},
     {{0, 'R', 0, 0, 0, 5, 0, 0, 37}, {1, 'R', 0, 1, 0, 5, 0, 1, 54}}},
    {"first come, first served, one bank",
     "ddr4_2400r",
     {"dram.refresh=false", "dram.scheduler=fcfs"},
     {{0, 'R', 0, 0, 0, 5, 0, 0, 37}, {1, 'R', 0, 0, 0, 9, 0, 1, 92}, {2, 'R', 0, 0, 0, 5, 1, 2, 147}}},
    /* RDA 17; ACT 56 (tRC), not 42 (RDA + tRTP + tRP). */
    {"every access closes its row",
     "ddr4_2400r",
     {"dram.refresh=false", "dram.page=closed", "dram.page_cap=0"},
     {{0, 'R', 0, 0, 0, 5, 0, 0, 37}, {1, 'R', 0, 0, 0, 5, 1, 1, 92}, {200, 'R', 0, 0, 0, 5, 2, 200, 237}}},
    /* RDA 17 closes its row in 40 (tRAS), not in 26 (tRTP): ACT 64 (tRP), not 56 (tRC). */
    {"a row that closes by itself is closed behind tRAS",
     "ddr4_2400r",
     {"dram.refresh=false", "dram.page=closed", "dram.page_cap=0", "dram.trp=24"},
     {{0, 'R', 0, 0, 0, 5, 0, 0, 37}, {1, 'R', 0, 0, 0, 5, 1, 1, 100}}},
    /* The same of ACTIVATE-1 in 1, and of a CAS and RDA in 16 and 17: ACT 65 (tRAS + tRP), not 50 (tRC). */
    {"and so in LPDDR5",
     "lpddr5_6400",
     {"dram.refresh=false", "dram.page=closed", "dram.page_cap=0", "dram.trp=30"},
     {{0, 'R', 0, 0, 0, 5, 0, 0, 36}, {1, 'R', 0, 0, 0, 5, 1, 1, 100}}},
    /* Half clocks: ACT 1 to 3, RDA 65, the row closes in 93: ACT in 163, not in 145 (tRC). */
    {"and so in half clocks",
     "hbm3_6400",
     {"dram.refresh=false", "dram.page=closed", "dram.page_cap=0", "dram.trp=72"},
     {{0, 'R', 0, 0, 0, 5, 0, 0, 109}, {1, 'R', 0, 0, 0, 5, 1, 1, 271}}},
    /* Last accesses in 17 and 61: PRE in 111, ACT 201. */
    {"a row is closed 50 cycles after its last access",
     "ddr4_2400r",
     {"dram.refresh=false", "dram.page=timeout", "dram.page_timeout=50"},
     {{0, 'R', 0, 0, 0, 5, 0, 0, 37}, {60, 'R', 0, 0, 0, 5, 1, 60, 81}, {200, 'R', 0, 0, 0, 9, 0, 200, 237}}},
    /* PRE in 111 as well, in the very cycle in which a hit could go: the hit comes too late. ACT 127. */
    {"a hit in the cycle of the closing",
     "ddr4_2400r",
     {"dram.refresh=false", "dram.page=timeout", "dram.page_timeout=50"},
     {{0, 'R', 0, 0, 0, 5, 0, 0, 37}, {60, 'R', 0, 0, 0, 5, 1, 60, 81}, {110, 'R', 0, 0, 0, 5, 2, 110, 163}}},
    /* One place: it is free again in the cycle of the ACT (56), and is taken in that cycle. */
    {"a full queue",
     "ddr4_2400r",
     {"dram.refresh=false", "dram.read_queue=1"},
     {{0, 'R', 0, 0, 0, 5, 0, 0, 37}, {1, 'R', 0, 0, 0, 9, 0, 1, 92}, {2, 'R', 0, 1, 0, 5, 0, 56, 96}}},
    /* What is handed over in one cycle is accepted in one cycle each, in the order of the list. */
    {"three in one cycle",
     "ddr4_2400r",
     {"dram.refresh=false"},
     {{7, 'R', 0, 0, 0, 5, 0, 7, 44}, {7, 'R', 0, 0, 0, 5, 2, 8, 50}, {7, 'R', 0, 0, 0, 5, 1, 9, 56}}},
    /* Reads and writes of one row: the read is first though the write is older, because reads wait. WR 27 =
     * RD 17 + 10 would be ready, but the second read (arrived in 20) is there: RD 23, WR 33. */
    {"a read overtakes a write in one row",
     "ddr4_2400r",
     {"dram.refresh=false"},
     {{0, 'R', 0, 0, 0, 5, 0, 0, 37}, {10, 'W', 0, 0, 0, 5, 1, 10, 49}, {20, 'R', 0, 0, 0, 5, 2, 20, 43}}},
};

START_TEST(rule_by_rule)
{
    struct access list[REQUESTS_MAX];
    struct pim_dram_configuration configuration;
    struct outcome outcome;
    size_t count = 0;
    configure(&configuration, rules[_i].preset, rules[_i].settings);
    const struct pim_dram_organization *o = &configuration.specification.organization;
    for (const struct step *s = rules[_i].steps; count < REQUESTS_MAX && s->op; s++) {
        const struct pim_dram_location location = {
            0, (s->rank * o->bank_groups + s->group) * o->banks + s->bank, s->row, s->column};
        list[count++] =
            (struct access){s->cycle, pim_dram_address(&configuration.mapping, &location), s->op == 'W'};
    }
    serve(&outcome, &configuration, list, count, true);
    for (size_t i = 0; i < count; i++)
        ck_assert_msg(outcome.arrived[i] == rules[_i].steps[i].arrived &&
                          outcome.completed[i] == rules[_i].steps[i].completed,
                      "%s: request %zu arrived in %" PRIu64 " and is complete in %" PRIu64
                      ", expected %" PRIu64 " and %" PRIu64,
                      rules[_i].what, i, outcome.arrived[i], outcome.completed[i], rules[_i].steps[i].arrived,
                      rules[_i].steps[i].completed);
    outcome_free(&outcome);
}
END_TEST

/* Refreshes of banks that go on by themselves, where one of them waits for a read and writes never end. */
static const struct {
    const char *preset;
    const char *settings[6];
    enum pim_dram_command command;
} streams[] = {
    {"ddr5_4800an",
     {"dram.maintenance=rank", "dram.refresh_mode=same_bank", "dram.trfc_bank=312", "dram.trefpb_refpb=312",
      "dram.trrefd=72"},
     PIM_DRAM_REFSB},
    {"hbm3_6400", {"dram.maintenance=rank", "dram.refresh_mode=per_bank"}, PIM_DRAM_REFPB},
};

/* A write in every cycle, to two rows of two bank groups in turn, and at times a read of a row of a third. */
START_TEST(refreshes_under_writes)
{
    enum { WRITES = 20000, APART = 400 };
    struct pim_dram_configuration configuration;
    struct outcome outcome;
    configure(&configuration, streams[_i].preset, streams[_i].settings);
    const struct pim_dram_organization *o = &configuration.specification.organization;
    const uint64_t interval = pim_dram_bank_refresh_interval(&configuration.specification);
    struct access *list = calloc(WRITES + WRITES / APART, sizeof *list);
    ck_assert_ptr_nonnull(list);
    size_t count = 0;
    for (uint32_t i = 0; i < WRITES; i++) {
        const struct pim_dram_location read = {0, i / APART % o->banks, 7 + i / APART, i % o->columns},
                                       write = {0, (1 + i % 2) * o->banks + 1, 5, i / 2 % o->columns};
        if (i % APART == APART - 1)
            list[count++] = (struct access){i, pim_dram_address(&configuration.mapping, &read), false};
        list[count++] = (struct access){i, pim_dram_address(&configuration.mapping, &write), true};
    }
    serve(&outcome, &configuration, list, count, true);
    uint64_t refreshes = 0;
    for (size_t i = 0; i < outcome.record_count; i++)
        if (outcome.records[i].command == streams[_i].command)
            ck_assert_uint_lt(outcome.records[i].cycle, ++refreshes * interval + interval);
    ck_assert_uint_ge(refreshes + 1, outcome.cycles / interval);
    outcome_free(&outcome);
    free(list);
}
END_TEST

/* Reads of one stack identifier without a gap, and at times one of the other, which has to keep farther away
 * from them than they from one another: a refresh that waits for it is no later than the next one is due. */
START_TEST(refreshes_beside_a_stack)
{
    enum { READS = 20000, APART = 97 };
    static const char *const settings[] = {"dram.stack_ids=2", "dram.maintenance=rank",
                                           "dram.refresh_mode=per_bank", NULL};
    struct pim_dram_configuration configuration;
    struct outcome outcome;
    configure(&configuration, "hbm3_6400", settings);
    const struct pim_dram_organization *o = &configuration.specification.organization;
    const uint64_t interval = pim_dram_bank_refresh_interval(&configuration.specification);
    const uint32_t groups = pim_dram_groups_per_stack(o);
    struct access *list = calloc(READS + READS / APART, sizeof *list);
    ck_assert_ptr_nonnull(list);
    size_t count = 0;
    for (uint32_t i = 0; i < READS; i++) {
        const struct pim_dram_location stream = {0, i % groups * o->banks + 3, 5, i / groups % o->columns},
                                       other = {0, (groups + i / APART % groups) * o->banks, 7 + i, 3};
        list[count++] = (struct access){i, pim_dram_address(&configuration.mapping, &stream), false};
        if (i % APART == APART - 1)
            list[count++] = (struct access){i, pim_dram_address(&configuration.mapping, &other), false};
    }
    serve(&outcome, &configuration, list, count, true);
    uint64_t refreshes = 0;
    for (size_t i = 0; i < outcome.record_count; i++)
        if (outcome.records[i].command == PIM_DRAM_REFPB)
            ck_assert_uint_lt(outcome.records[i].cycle, ++refreshes * interval + interval);
    ck_assert_uint_ge(refreshes + 1, outcome.cycles / interval);
    outcome_free(&outcome);
    free(list);
}
END_TEST

/* ACT keeps REFpb away for a cycle longer than the next ACT (it holds the bus for two): rows that are opened
 * without a gap do not keep a refresh away. It is asked for when seven are due. */
START_TEST(refreshes_under_rows)
{
    enum { WRITES = 4000, INTERVAL = 123 };
    static const char *const settings[] = {"dram.channels=1",
                                           "dram.pseudo_channels=1",
                                           "dram.refresh_mode=per_bank",
                                           "dram.maintenance=rank",
                                           "dram.trefi_bank=123",
                                           "dram.refresh_postpone=6",
                                           NULL};
    struct pim_dram_configuration configuration;
    struct outcome outcome;
    struct pim_random random;
    configure(&configuration, "hbm2_2000", settings);
    pim_random_initialize(&random, 1);
    struct access *list = calloc(WRITES, sizeof *list);
    ck_assert_ptr_nonnull(list);
    for (uint32_t i = 0; i < WRITES; i++)
        list[i] = (struct access){0, pim_random_below(&random, configuration.mapping.capacity), true};
    serve(&outcome, &configuration, list, WRITES, true);
    uint64_t refreshes = 0;
    for (size_t i = 0; i < outcome.record_count; i++)
        if (outcome.records[i].command == PIM_DRAM_REFPB) {
            refreshes++;
            ck_assert_uint_lt(outcome.records[i].cycle, (refreshes + 7) * INTERVAL);
        }
    ck_assert_uint_ge(refreshes + 8, outcome.cycles / INTERVAL);
    outcome_free(&outcome);
    free(list);
}
END_TEST

/* Refreshes at the shortest interval that is taken. */
static const struct {
    const char *preset, *maintenance, *mode, *ranks, *stagger, *postpone;
    unsigned run; /* requests of one direction */
} limits[] = {
    {"ddr4_2400r", "rank", "per_bank", "1", "false", "0", 8},
    {"ddr4_2400r", "rank", "per_bank", "2", "false", "0", 1},
    {"ddr4_2400r", "rank", "per_bank", "4", "false", "0", 8},
    {"ddr4_2400r", "rank", "per_bank", "4", "true", "3", 1},
    {"ddr4_2400r", "rank", "per_bank", "8", "false", "0", 1},
    {"ddr4_2400r", "rank", "per_bank", "16", "true", "0", 1},
    {"lpddr4_3200", "rank", "per_bank", "2", "true", "0", 1},
    {"lpddr4_3200", "rank", "per_bank", "16", "true", "8", 200},
    {"lpddr5_6400", "rank", "per_bank", "2", "false", "0", 8},
    {"lpddr5_6400", "rank", "per_bank", "16", "false", "0", 8},
    {"gddr6_14000", "rank", "per_bank", "2", "false", "0", 8},
    {"gddr6_14000", "rank", "same_bank", "8", "true", "0", 8},
    {"ddr5_4800an", "rank", "same_bank", "2", "false", "0", 1},
    {"ddr5_4800an", "rank", "same_bank", "8", "false", "0", 8},
    {"ddr5_4800an", "rank", "same_bank", "2", "true", "3", 1},
    {"ddr4_2400r", "channel", "all_bank", "2", "false", "8", 8},
    {"ddr4_3200", "channel", "all_bank", "8", "true", "0", 1},
    {"lpddr5_6400", "channel", "all_bank", "4", "false", "0", 8},
    {"gddr6_14000", "channel", "all_bank", "1", "false", "0", 8},
    {"ddr3_1600k", "channel", "all_bank", "8", "false", "1", 1},
    {"lpddr4_3200", "rank", "all_bank", "8", "false", "0", 1},
    {"ddr5_4800an", "rank", "all_bank", "8", "false", "2", 8},
    {"hbm1_2000", "rank", "all_bank", "4", "true", "8", 8},
};

/* The shortest interval that is taken; the configuration is of that one. */
static uint32_t shortest_interval(struct pim_dram_configuration *configuration, int number)
{
    uint32_t low = 1, high = PIM_DRAM_CYCLES_MAX;
    char text[6][48];
    const char *settings[] = {"dram.read_queue=512",
                              "dram.write_queue=512",
                              text[0],
                              text[1],
                              text[2],
                              text[3],
                              text[4],
                              text[5],
                              NULL};
    const char *key = strcmp(limits[number].mode, "all_bank") == 0 ? "dram.trefi" : "dram.trefi_bank";
    (void)snprintf(text[0], sizeof text[0], "dram.refresh_mode=%s", limits[number].mode);
    (void)snprintf(text[1], sizeof text[1], "dram.ranks=%s", limits[number].ranks);
    (void)snprintf(text[2], sizeof text[2], "dram.refresh_stagger=%s", limits[number].stagger);
    (void)snprintf(text[3], sizeof text[3], "dram.refresh_postpone=%s", limits[number].postpone);
    (void)snprintf(text[4], sizeof text[4], "dram.maintenance=%s", limits[number].maintenance);
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        struct pim_error error;
        (void)snprintf(text[5], sizeof text[5], "%s=%u", key, middle);
        if (try_configure(configuration, limits[number].preset, settings, &error) == PIM_OK)
            high = middle;
        else
            low = middle + 1;
    }
    (void)snprintf(text[5], sizeof text[5], "%s=%u", key, low);
    configure(configuration, limits[number].preset, settings);
    return low;
}

/* A request in every cycle, for the banks of all ranks in an order that is drawn anew each time, to rows that
 * are not open: most rows are opened long before the bus serves them. */
static struct access *rows_of_all_banks(const struct pim_dram_configuration *configuration, unsigned run,
                                        size_t count, uint64_t seed)
{
    const struct pim_dram_organization *o = &configuration->specification.organization;
    const uint32_t banks = pim_dram_ranks(o) * pim_dram_banks_per_rank(o);
    struct access *list = calloc(count, sizeof *list);
    uint32_t order[PIM_DRAM_BANKS_MAX];
    struct pim_random random;
    bool write = false;
    ck_assert_ptr_nonnull(list);
    pim_random_initialize(&random, seed);
    for (uint32_t i = 0; i < banks; i++)
        order[i] = i;
    for (size_t i = 0; i < count; i++) {
        const uint32_t place = (uint32_t)(i % banks);
        const uint32_t other = place + (uint32_t)pim_random_below(&random, banks - place);
        const uint32_t bank = order[other];
        order[other] = order[place];
        order[place] = bank;
        if (i % run == 0)
            write = pim_random_below(&random, 10) < 3;
        const struct pim_dram_location location = {0, bank, (uint32_t)pim_random_below(&random, 1000), 0};
        list[i] = (struct access){i + 1, pim_dram_address(&configuration->mapping, &location), write};
    }
    return list;
}

/* No refresh of a list is later than the next one is due. */
static void refresh_in_time(const struct pim_dram_configuration *configuration, const struct access *list,
                            size_t count, uint64_t interval)
{
    struct outcome outcome;
    uint32_t done[PIM_DRAM_RANKS_MAX] = {0};
    const struct pim_dram_organization *o = &configuration->specification.organization;
    const uint64_t postponed = configuration->policy.postpone, part = interval / o->ranks;
    serve(&outcome, configuration, list, count, true);
    for (size_t i = 0; i < outcome.record_count; i++) {
        const struct pim_dram_record *record = &outcome.records[i];
        const uint32_t rank = record->bank / pim_dram_banks_per_rank(o);
        if (record->command != PIM_DRAM_REF && record->command != PIM_DRAM_REFPB &&
            record->command != PIM_DRAM_REFSB)
            continue;
        const uint64_t due = configuration->policy.stagger
                                 ? (done[rank] + postponed) * part * o->ranks + (rank + 1) * part
                                 : (done[rank] + 1 + postponed) * interval;
        ck_assert_msg(record->cycle <= due + interval,
                      "%u ranks: a refresh in %" PRIu64 " was due in %" PRIu64 ", every %" PRIu64, o->ranks,
                      record->cycle, due, interval);
        done[rank]++;
    }
    for (uint32_t rank = 0; rank < o->ranks; rank++)
        ck_assert_uint_ge(done[rank] + postponed + 2, outcome.cycles / interval);
    outcome_free(&outcome);
}

START_TEST(refreshes_at_the_limit)
{
    struct pim_dram_configuration configuration;
    const uint64_t interval = shortest_interval(&configuration, _i);
    const size_t count = 8000 + (size_t)configuration.specification.organization.ranks * 1500;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct access *list = rows_of_all_banks(&configuration, limits[_i].run, count, seed);
        refresh_in_time(&configuration, list, count, interval);
        free(list);
    }
}
END_TEST

Suite *suite_channel_policy(void)
{
    Suite *suite = suite_create("channel_policy");
    TCase *cases = tcase_create("by hand");
    tcase_add_loop_test(cases, rule_by_rule, 0, sizeof rules / sizeof rules[0]);
    tcase_add_loop_test(cases, refreshes_under_writes, 0, sizeof streams / sizeof streams[0]);
    tcase_add_test(cases, refreshes_beside_a_stack);
    tcase_add_test(cases, refreshes_under_rows);
    tcase_add_loop_test(cases, refreshes_at_the_limit, 0, sizeof limits / sizeof limits[0]);
    suite_add_tcase(suite, cases);
    return suite;
}

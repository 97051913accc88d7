/* The command checker: planted violations are found, runs of the controller have none, energy adds up. */
#include "models/dram/check/command_check_rules.h"
#include "models/dram/standard/rows.h"
#include "tests/unit/dram_channel/check_runs.h"
#include "tests/unit/dram_channel/suites.h"
#include "tests/unit/dram_channel/support.h"
#include "tests/unit/test_main.h"
#include "tools/command/dram/list.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct found {
    const char *wanted;                           /* text of a rule or of a constraint */
    const struct pim_dram_constraint *constraint; /* its scope and sets; NULL: any */
    unsigned hits;
};

static void look(void *context, const struct pim_dram_violation *violation)
{
    struct found *found = context;
    const struct pim_dram_constraint *c = violation->constraint, *w = found->constraint;
    const char *text = c ? c->text : violation->rule;
    if (strcmp(text, found->wanted) == 0 &&
        (!w || (c && c->scope == w->scope && c->previous == w->previous && c->next == w->next)))
        found->hits++;
}

/* A place for `command` in which `scope` relates it to bank 0 of rank 0. */
static struct pim_dram_logged place(const struct pim_dram_organization *o, enum pim_dram_command command,
                                    enum pim_dram_scope scope, unsigned number)
{
    struct pim_dram_logged logged = {.command = command};
    if (scope == PIM_DRAM_SCOPE_OTHER_RANK)
        logged.rank = number;
    if (scope == PIM_DRAM_SCOPE_OTHER_STACK)
        logged.bank_group = number * pim_dram_groups_per_stack(o);
    if (scope >= PIM_DRAM_SCOPE_GROUP && scope != PIM_DRAM_SCOPE_OTHER_RANK && o->banks > 1)
        logged.bank = number % o->banks;
    return logged;
}

/* Only previous and next (with a window: those in between as well), one cycle too close or just right. */
static unsigned plant(const struct pim_dram_configuration *configuration,
                      const struct pim_dram_constraint *constraint, unsigned previous, unsigned next,
                      bool legal)
{
    struct found found = {constraint->text, constraint, 0};
    struct pim_dram_check *check =
        pim_dram_check_create(&configuration->specification, &configuration->policy, look, &found);
    struct pim_error error = {PIM_OK, ""};
    ck_assert_ptr_nonnull(check);
    const struct pim_dram_organization *o = &configuration->specification.organization;
    uint64_t first = 1000;
    for (unsigned i = 0; i < constraint->window; i++) {
        struct pim_dram_logged logged = place(o, (enum pim_dram_command)previous, constraint->scope, 0);
        logged.cycle = first + i;
        ck_assert(pim_dram_check_command(check, &logged, &error) == PIM_OK);
    }
    struct pim_dram_logged logged = place(o, (enum pim_dram_command)next, constraint->scope, 1);
    logged.cycle = first + constraint->cycles - !legal;
    ck_assert(pim_dram_check_command(check, &logged, &error) == PIM_OK);
    pim_dram_check_destroy(check);
    return found.hits;
}

/* Of every constraint of every preset, for each pair of commands it is about. */
START_TEST(every_constraint_is_checked)
{
    const int which = PIM_CASE(_i);
    static const char *const two_ranks[] = {"dram.ranks=2", NULL}, *const two_stacks[] = {"dram.stack_ids=2",
                                                                                          NULL};
    const struct pim_dram_preset *preset = pim_dram_preset((size_t)which / 2);
    struct pim_dram_configuration configuration;
    struct pim_dram_constraint_table table;
    /* HBM3 has no ranks. */
    const char *const *const two = strncmp(preset->name, "hbm3", 4) == 0 ? two_stacks : two_ranks;
    configure(&configuration, preset->name, which % 2 ? two : NULL);
    pim_dram_check_rules(&configuration.specification, &table);
    ck_assert_uint_gt(table.count, 30);
    for (size_t i = 0; i < table.count; i++)
        for (unsigned previous = 0; previous < PIM_DRAM_COMMANDS; previous++)
            for (unsigned next = 0; next < PIM_DRAM_COMMANDS; next++) {
                const struct pim_dram_constraint *row = &table.row[i];
                if (!(row->previous >> previous & 1) || !(row->next >> next & 1) ||
                    (row->scope == PIM_DRAM_SCOPE_OTHER_RANK &&
                     configuration.specification.organization.ranks < 2))
                    continue;
                ck_assert_msg(plant(&configuration, row, previous, next, false) == 1,
                              "%s: %s not found: %s to %s", preset->name, row->text,
                              pim_dram_command_text((enum pim_dram_command)previous),
                              pim_dram_command_text((enum pim_dram_command)next));
                ck_assert_msg(plant(&configuration, row, previous, next, true) == 0, "%s: %s is too strict",
                              preset->name, row->text);
            }
}
END_TEST

/* And of rows of one's own: what breaks one is found once, what keeps it is not. */
START_TEST(own_rows_are_checked)
{
    static const char *const settings[] = {
        "dram.ranks=2", "dram.refresh=false", "dram.timings=a = 100; b = 83.4 ns",
        ("dram.constraints=jedec; rank: RD RDA -> RD RDA >= a + tccd_l - 1; bank: PRE -> ACT >= b; "
         "channel: REF -> ACT ACT2 >= 500; other_rank: WR -> PRE >= a"),
        NULL};
    static const uint32_t cycles[] = {105, 101, 500, 100};
    struct pim_dram_configuration configuration;
    struct pim_dram_constraint_table table = {.count = 0};
    configure(&configuration, "ddr4_2400r", settings);
    pim_dram_own_constraints(&configuration.specification, &table);
    ck_assert_uint_eq(table.count, 4);
    for (size_t i = 0; i < table.count; i++) {
        const struct pim_dram_constraint *row = &table.row[i];
        ck_assert_uint_eq(row->cycles, cycles[i]);
        for (unsigned previous = 0; previous < PIM_DRAM_COMMANDS; previous++)
            for (unsigned next = 0; next < PIM_DRAM_COMMANDS; next++)
                if ((row->previous >> previous & 1) && (row->next >> next & 1)) {
                    ck_assert_uint_eq(plant(&configuration, row, previous, next, false), 1);
                    ck_assert_uint_eq(plant(&configuration, row, previous, next, true), 0);
                }
    }
}
END_TEST

/* How the places of two commands are related. */
enum relation {
    SAME_BANK,
    SAME_GROUP,
    SAME_STACK,
    SAME_RANK, /* another stack identifier */
    OTHER_RANK,
    OTHER_PSEUDO_CHANNEL,
    RELATIONS
};

/* The distance that a table asks for; `window` as in its rows. */
static uint32_t asked(const struct pim_dram_constraint_table *table, enum relation relation,
                      unsigned previous, unsigned next, uint32_t window)
{
    static const bool holds[][RELATIONS] = {
        [PIM_DRAM_SCOPE_BANK] = {true},
        [PIM_DRAM_SCOPE_GROUP] = {true, true},
        [PIM_DRAM_SCOPE_STACK] = {true, true, true},
        [PIM_DRAM_SCOPE_OTHER_STACK] = {false, false, false, true},
        [PIM_DRAM_SCOPE_RANK] = {true, true, true, true},
        [PIM_DRAM_SCOPE_OTHER_RANK] = {false, false, false, false, true},
        [PIM_DRAM_SCOPE_PSEUDO_CHANNEL] = {true, true, true, true, true},
        [PIM_DRAM_SCOPE_CHANNEL] = {true, true, true, true, true, true},
    };
    uint32_t most = 0;
    for (size_t i = 0; i < table->count; i++) {
        const struct pim_dram_constraint *row = &table->row[i];
        if ((row->previous >> previous & 1) && (row->next >> next & 1) && row->window == window &&
            holds[row->scope][relation] && row->cycles > most)
            most = row->cycles;
    }
    return most;
}

/* The state of the bank forbids the pair already: ACT2 needs an open row. */
static bool without_row(unsigned previous, unsigned next)
{
    return next == PIM_DRAM_ACT2 && (previous == PIM_DRAM_REF || previous == PIM_DRAM_PREA);
}

static void compare_tables(const struct pim_dram_specification *specification, const char *name)
{
    struct pim_dram_constraint_table scheduler, checker;
    pim_dram_constraints(specification, &scheduler);
    pim_dram_check_rules(specification, &checker);
    for (unsigned relation = 0; relation < RELATIONS; relation++)
        for (unsigned previous = 0; previous < PIM_DRAM_COMMANDS; previous++)
            for (unsigned next = 0; next < PIM_DRAM_COMMANDS; next++)
                for (uint32_t window = 1; window <= 4; window += 3) {
                    uint32_t a = asked(&scheduler, (enum relation)relation, previous, next, window);
                    uint32_t b = asked(&checker, (enum relation)relation, previous, next, window);
                    ck_assert_msg(a == b || without_row(previous, next),
                                  "%s, relation %u, window %u: %s to %s is %u for the scheduler, %u for the "
                                  "checker",
                                  name, relation, window,
                                  pim_dram_command_text((enum pim_dram_command)previous),
                                  pim_dram_command_text((enum pim_dram_command)next), a, b);
                }
}

/* Scheduler and checker have a table each: both ask for the same distances, with any parameters. */
START_TEST(both_tables_agree)
{
    struct pim_dram_configuration configuration;
    struct pim_random random;
    const char *name = pim_dram_preset((size_t)_i)->name;
    pim_random_initialize(&random, 900 + (uint64_t)_i);
    configure(&configuration, name, NULL);
    compare_tables(&configuration.specification, name);
    for (unsigned round = 0; round < 100; round++) {
        uint32_t *parameter = configuration.specification.parameter;
        for (unsigned i = 1; i < PIM_DRAM_PARAMETERS; i++)
            parameter[i] = (uint32_t)pim_random_below(&random, round % 2 ? 5 : 60);
        parameter[PIM_DRAM_T_ACT_CYCLES] = 1 + (uint32_t)pim_random_below(&random, 3);
        parameter[PIM_DRAM_T_COLUMN_CYCLES] = 1 + (uint32_t)pim_random_below(&random, 3);
        configuration.specification.split_command_bus = pim_random_below(&random, 2) > 0;
        configuration.specification.organization.stack_ids = 1 + (uint32_t)pim_random_below(&random, 2);
        /* Commands of one's own: half of them hold the bus for other times, and some are not there. */
        for (unsigned i = 0; round >= 50 && i < PIM_DRAM_COMMANDS; i++) {
            struct pim_dram_command_row *row = &configuration.specification.command[i];
            row->exists = i == PIM_DRAM_ACT || i == PIM_DRAM_ACT2 || pim_random_below(&random, 8) > 0;
            if (i != PIM_DRAM_ACT && i != PIM_DRAM_ACT2)
                row->cycles = (struct pim_dram_term){.cycles = 1 + (uint32_t)pim_random_below(&random, 4)};
        }
        compare_tables(&configuration.specification, name);
    }
}
END_TEST

/* The text that takes a built-in row out: "jedec; without rank: PRE -> REF". */
static void write_without(char *text, size_t size, const struct pim_dram_row *row)
{
    static const char *const scopes[] = {"bank", "group",      "stack",  "other_stack",
                                         "rank", "other_rank", "pseudo", "channel"};
    size_t length =
        (size_t)snprintf(text, size, "jedec; without %s:%s", scopes[row->scope], row->window > 1 ? "4" : "");
    const uint32_t sets[] = {row->previous, row->next};
    for (unsigned side = 0; side < 2; side++) {
        length += (size_t)snprintf(text + length, size - length, side ? " ->" : "");
        for (unsigned i = 0; i < PIM_DRAM_COMMANDS; i++)
            if (sets[side] >> i & 1)
                length += (size_t)snprintf(text + length, size - length, " %s",
                                           pim_dram_command_text((enum pim_dram_command)i));
    }
    ck_assert_uint_lt(length, size);
}

/* A row that is taken out asks for nothing any more, neither of the scheduler nor of the checker. */
START_TEST(rows_are_taken_out)
{
    static const char *const presets[] = {"ddr4_2400r", "fast_overlapim", "hbm3_6400", "lpddr5_6400"};
    struct pim_dram_configuration configuration;
    struct pim_error error = {PIM_OK, ""};
    const char *name = presets[_i];
    configure(&configuration, name, NULL);
    for (unsigned stacks = 1; stacks <= 2; stacks++) {
        struct pim_dram_specification all = configuration.specification;
        struct pim_dram_constraint_table before, after;
        all.organization.stack_ids = stacks;
        for (unsigned i = 1; i < PIM_DRAM_PARAMETERS; i++) /* every row holds */
            all.parameter[i] += all.parameter[i] == 0;
        pim_dram_constraints(&all, &before);
        for (unsigned i = 0; i < all.rows; i++) {
            struct pim_dram_specification less = all;
            const struct pim_dram_row *row = &all.row[i];
            char text[256];
            write_without(text, sizeof text, row);
            ck_assert_msg(pim_dram_rows_parse(&less, text, &error) == PIM_OK, "%s: %s", text, error.text);
            ck_assert_uint_eq(less.rows, all.rows - 1);
            pim_dram_constraints(&less, &after);
            ck_assert_msg(after.count < before.count || row->scope == PIM_DRAM_SCOPE_OTHER_STACK ||
                              row->scope == PIM_DRAM_SCOPE_OTHER_RANK,
                          "%s, %s", name, text);
            compare_tables(&less, text);
        }
    }
}
END_TEST

/* The built-in commands have the names that the rows of jedec use. */
START_TEST(names_of_jedec)
{
    struct pim_dram_configuration configuration;
    configure(&configuration, "ddr4_2400r", NULL);
    for (unsigned i = 0; i < PIM_DRAM_COMMANDS; i++) {
        const struct pim_dram_command_row *row = &configuration.specification.command[i];
        ck_assert_str_eq(row->name, pim_dram_command_text((enum pim_dram_command)i));
        ck_assert(row->exists && !row->own);
    }
}
END_TEST

/* Logs with one mistake that is no distance, and the rule that must be named. */
static const struct {
    const char *rule;
    struct pim_dram_logged log[3];
} mistakes[] = {
    {"the bank is open already",
     {{100, PIM_DRAM_ACT, 0, 0, 0, 0, 1, 0}, {900, PIM_DRAM_ACT, 0, 0, 0, 0, 2, 0}}},
    {"the bank is closed", {{100, PIM_DRAM_RD, 0, 0, 0, 0, 1, 0}}},
    {"another row is open", {{100, PIM_DRAM_ACT, 0, 0, 0, 0, 1, 0}, {900, PIM_DRAM_RD, 0, 0, 0, 0, 2, 0}}},
    {"a row of the rank is open",
     {{100, PIM_DRAM_ACT, 0, 0, 0, 0, 1, 0}, {900, PIM_DRAM_REF, 0, 0, -1, -1, -1, -1}}},
    {"the bank is open", {{100, PIM_DRAM_ACT, 0, 0, 0, 0, 1, 0}, {900, PIM_DRAM_REFPB, 0, 0, 0, 0, -1, -1}}},
    {"the bank is closed",
     {{100, PIM_DRAM_ACT, 0, 0, 0, 0, 1, 0},
      {200, PIM_DRAM_RDA, 0, 0, 0, 0, 1, 0},
      {900, PIM_DRAM_RD, 0, 0, 0, 0, 1, 0}}},
    {"the bank is closed",
     {{100, PIM_DRAM_ACT, 0, 0, 0, 0, 1, 0},
      {200, PIM_DRAM_PREA, 0, 0, -1, -1, -1, -1},
      {900, PIM_DRAM_WR, 0, 0, 0, 0, 1, 0}}},
    {"an automatic precharge of the bank is not over", /* tRAS: 100 + 39, and tRP 16 */
     {{100, PIM_DRAM_ACT, 0, 0, 0, 0, 1, 0},
      {116, PIM_DRAM_RDA, 0, 0, 0, 0, 1, 0},
      {154, PIM_DRAM_REFPB, 0, 0, 0, 0, -1, -1}}},
    {"the command bus is in use in this cycle",
     {{100, PIM_DRAM_ACT, 0, 0, 0, 0, 1, 0}, {100, PIM_DRAM_ACT, 0, 0, 1, 0, 1, 0}}},
    {"the data bus is in use when the data come",
     {{100, PIM_DRAM_RD, 0, 0, 0, 0, 1, 0},
      {101, PIM_DRAM_WR, 0, 0, 1, 0, 1, 0},
      {108, PIM_DRAM_RD, 0, 0, 2, 0, 1, 0}}},
    {"earlier than the command before",
     {{100, PIM_DRAM_ACT, 0, 0, 0, 0, 1, 0}, {99, PIM_DRAM_ACT, 0, 0, 1, 0, 1, 0}}},
    {"a refresh of the rank is overdue", {{2 * 9364, PIM_DRAM_ACT, 0, 0, 0, 0, 1, 0}}},
    {"no such channel", {{100, PIM_DRAM_ACT, 1, 0, 0, 0, 1, 0}}},
    {"no such rank", {{100, PIM_DRAM_ACT, 0, 1, 0, 0, 1, 0}}},
    {"no such bank group", {{100, PIM_DRAM_ACT, 0, 0, 4, 0, 1, 0}}},
    {"no such bank", {{100, PIM_DRAM_ACT, 0, 0, 0, -1, 1, 0}}},
    {"no such row", {{100, PIM_DRAM_ACT, 0, 0, 0, 0, 65536, 0}}},
    {"no such column", {{100, PIM_DRAM_RD, 0, 0, 0, 0, 0, 128}}},
};

START_TEST(other_mistakes_are_found)
{
    struct pim_dram_configuration configuration;
    struct found found = {mistakes[_i].rule, NULL, 0};
    struct pim_error error = {PIM_OK, ""};
    configure(&configuration, "ddr4_2400r", NULL);
    struct pim_dram_check *check =
        pim_dram_check_create(&configuration.specification, &configuration.policy, look, &found);
    ck_assert_ptr_nonnull(check);
    for (unsigned i = 0; i < 3 && mistakes[_i].log[i].cycle > 0; i++)
        ck_assert(pim_dram_check_command(check, &mistakes[_i].log[i], &error) == PIM_OK);
    ck_assert_msg(found.hits == 1, "%s: %u times", mistakes[_i].rule, found.hits);
    ck_assert_uint_ge(pim_dram_check_violations(check), 1);
    pim_dram_check_destroy(check);
}
END_TEST

/* Refreshes over the whole log: of ranks and channels that nobody names, bank by bank, and ahead of time. */
static const struct {
    const char *settings[4];
    enum pim_dram_command
        command; /* one every `interval` cycles to rank 0 of channel 0, bank by bank if `turn` */
    uint64_t interval, count;
    bool turn;
    const char *rule;
    unsigned hits;
} refreshes[] = {
    {{NULL}, PIM_DRAM_REF, 9364, 6, false, "overdue", 0},
    {{"dram.ranks=2"}, PIM_DRAM_REF, 9364, 6, false, "overdue", 1},    /* the other rank */
    {{"dram.channels=2"}, PIM_DRAM_REF, 9364, 6, false, "overdue", 1}, /* the other channel, at the end */
    {{"dram.channels=2"}, PIM_DRAM_REF, 9364, 1, false, "overdue", 0}, /* nothing is late yet */
    {{"dram.ranks=2", "dram.refresh=false"}, PIM_DRAM_REF, 9364, 6, false, "overdue", 0},
    {{NULL}, PIM_DRAM_REFPB, 9364, 40, true, "overdue", 1},       /* one bank in tREFI is no REF */
    {{NULL}, PIM_DRAM_REFPB, 9364 / 16, 400, true, "overdue", 0}, /* all sixteen are */
    {{NULL}, PIM_DRAM_REFPB, 9364 / 16, 400, false, "overdue", 1},
    {{"dram.refresh_mode=per_bank", "energy.model=none"}, PIM_DRAM_REFPB, 585, 100, true, "overdue", 0},
    {{"dram.refresh_mode=per_bank", "energy.model=none"}, PIM_DRAM_REF, 1169, 4, false, "overdue", 0},
    {{NULL}, PIM_DRAM_REF, 433, 8, false, "ahead", 0},
    {{NULL}, PIM_DRAM_REF, 433, 9, false, "ahead", 1},
    {{"dram.refresh_mode=per_bank", "energy.model=none"}, PIM_DRAM_REFPB, 20, 8 * 16 + 4, true, "ahead", 0},
    {{"dram.refresh_mode=per_bank", "energy.model=none"}, PIM_DRAM_REFPB, 20, 8 * 16 + 5, true, "ahead", 1},
};

static void look_for_part(void *context, const struct pim_dram_violation *violation)
{
    struct found *found = context;
    found->hits += violation->rule && strstr(violation->rule, found->wanted) != NULL;
}

/* Mistakes of edges, of activations in two halves and of the write clock, and the same log without. */
static const struct {
    const char *preset, *rule;
    struct pim_dram_logged log[5];
    unsigned hits;
} clocked[] = {
#define EDGE "this command does not issue at a falling edge of the clock, in an even cycle"
#define PAIR "the row command of the rising edge before allows at most a PRE of another bank"
#define LATE "an ACT-2 is overdue"
#define STANDS "the write clock does not run: CAS must come in the cycle before"
    {"hbm3_6400", EDGE, {{100, PIM_DRAM_ACT, 0, 0, 0, 0, 1, 0}}, 1},
    {"hbm3_6400", EDGE, {{101, PIM_DRAM_ACT, 0, 0, 0, 0, 1, 0}, {200, PIM_DRAM_PRE, 0, 0, 0, 0, 1, 0}}, 0},
    {"hbm3_6400",
     PAIR,
     {{101, PIM_DRAM_REFPB, 0, 0, 0, 0, 1, 0}, {102, PIM_DRAM_PREA, 0, 0, -1, -1, -1, -1}},
     1},
    {"hbm3_6400",
     PAIR,
     {{101, PIM_DRAM_REFPB, 0, 0, 0, 0, 1, 0}, {104, PIM_DRAM_PREA, 0, 0, -1, -1, -1, -1}},
     0},
    {"hbm3_6400", PAIR, {{101, PIM_DRAM_ACT, 0, 0, 0, 0, 1, 0}, {104, PIM_DRAM_PRE, 0, 0, 0, 0, 1, 0}}, 1},
    {"hbm3_6400", PAIR, {{101, PIM_DRAM_ACT, 0, 0, 0, 0, 1, 0}, {104, PIM_DRAM_PRE, 0, 0, 1, 0, 1, 0}}, 0},
    {"lpddr5_6400", LATE, {{100, PIM_DRAM_ACT, 0, 0, 0, 0, 1, 0}, {109, PIM_DRAM_ACT, 0, 0, 1, 0, 1, 0}}, 1},
    {"lpddr5_6400",
     "ACT-2 later than tAAD behind its ACT",
     {{100, PIM_DRAM_ACT, 0, 0, 0, 0, 1, 0}, {109, PIM_DRAM_ACT_SECOND, 0, 0, 0, 0, 1, 0}},
     1},
    {"lpddr5_6400",
     "ACT-2 later than tAAD behind its ACT",
     {{100, PIM_DRAM_ACT, 0, 0, 0, 0, 1, 0}, {108, PIM_DRAM_ACT_SECOND, 0, 0, 0, 0, 1, 0}},
     0},
    {"lpddr5_6400",
     "no ACT of this row waits for its ACT-2",
     {{100, PIM_DRAM_ACT, 0, 0, 0, 0, 1, 0}, {108, PIM_DRAM_ACT_SECOND, 0, 0, 0, 0, 2, 0}},
     1},
    {"lpddr5_6400",
     "another ACT waits for its ACT-2",
     {{100, PIM_DRAM_ACT, 0, 0, 0, 0, 1, 0}, {104, PIM_DRAM_ACT, 0, 0, 1, 0, 1, 0}},
     1},
    {"lpddr5_6400",
     "the ACT of this bank waits for its ACT-2",
     {{100, PIM_DRAM_ACT, 0, 0, 0, 0, 1, 0}, {104, PIM_DRAM_PREA, 0, 0, -1, -1, -1, -1}},
     1},
    {"lpddr5_6400", STANDS, {{100, PIM_DRAM_RD, 0, 0, 0, 0, 1, 0}}, 1},
    {"lpddr5_6400",
     STANDS,
     {{100, PIM_DRAM_CAS_RD, 0, 0, 0, 0, 1, 0},
      {101, PIM_DRAM_RD, 0, 0, 0, 0, 1, 0},
      {120, PIM_DRAM_RD, 0, 0, 0, 0, 1, 0}},
     0},
    {"lpddr5_6400",
     STANDS,
     {{100, PIM_DRAM_CAS_RD, 0, 0, 0, 0, 1, 0},
      {101, PIM_DRAM_RD, 0, 0, 0, 0, 1, 0},
      {121, PIM_DRAM_RD, 0, 0, 0, 0, 1, 0}},
     1},
    {"lpddr5_6400",
     STANDS,
     {{100, PIM_DRAM_CAS_WR, 0, 0, 0, 0, 1, 0}, {101, PIM_DRAM_RD, 0, 0, 0, 0, 1, 0}},
     1},
    {"ddr4_2400r", "ACT is one command: dram.taad is 0", {{100, PIM_DRAM_ACT_SECOND, 0, 0, 0, 0, 1, 0}}, 1},
    {"ddr4_2400r",
     "there is no write clock: dram.write_clock is false",
     {{100, PIM_DRAM_CAS_RD, 0, 0, 0, 0, 1, 0}},
     1},
};

START_TEST(mistakes_of_the_clock_are_found)
{
    struct pim_dram_configuration configuration;
    struct found found = {clocked[_i].rule, NULL, 0};
    struct pim_error error = {PIM_OK, ""};
    configure(&configuration, clocked[_i].preset, NULL);
    struct pim_dram_check *check =
        pim_dram_check_create(&configuration.specification, &configuration.policy, look, &found);
    ck_assert_ptr_nonnull(check);
    for (unsigned i = 0; clocked[_i].log[i].cycle > 0; i++)
        ck_assert(pim_dram_check_command(check, &clocked[_i].log[i], &error) == PIM_OK);
    ck_assert_msg(found.hits == clocked[_i].hits, "%s: %u times", clocked[_i].rule, found.hits);
    pim_dram_check_destroy(check);
}
END_TEST

START_TEST(refreshes_of_the_whole_log)
{
    struct pim_dram_configuration configuration;
    struct found found = {refreshes[_i].rule, NULL, 0};
    struct pim_error error = {PIM_OK, ""};
    configure(&configuration, "ddr4_2400r", refreshes[_i].settings);
    struct pim_dram_check *check =
        pim_dram_check_create(&configuration.specification, &configuration.policy, look_for_part, &found);
    ck_assert_ptr_nonnull(check);
    bool whole = refreshes[_i].command == PIM_DRAM_REF;
    for (uint64_t i = 1; i <= refreshes[_i].count; i++) {
        int64_t bank = refreshes[_i].turn ? (int64_t)(i % 16) : 0;
        const struct pim_dram_logged command = {refreshes[_i].interval * i, refreshes[_i].command, 0,  0,
                                                whole ? -1 : bank / 4,      whole ? -1 : bank % 4, -1, -1};
        ck_assert(pim_dram_check_command(check, &command, &error) == PIM_OK);
    }
    ck_assert(pim_dram_check_end(check, &error) == PIM_OK);
    ck_assert_msg(found.hits == refreshes[_i].hits, "case %d: %u times", _i, found.hits);
    pim_dram_check_destroy(check);
}
END_TEST

/* Two staggered ranks: rank 0 owes its first refresh half an interval before rank 1. `count` REFs to a rank,
 * the last one in `cycle`. */
static const struct {
    uint32_t rank;
    uint64_t cycle, count;
    const char *rule;
    unsigned hits;
} staggered[] = {
    {0, 4682 + 9364 - 1, 1, "overdue", 0},
    {0, 4682 + 9364, 1, "overdue", 1},
    {0, 4682, 9, "ahead", 0},
    {0, 4681, 9, "ahead", 1},
    {1, 9364, 9, "ahead", 0},
    {1, 9363, 9, "ahead", 1},
};

START_TEST(staggered_refreshes)
{
    static const char *const settings[] = {"dram.ranks=2", "dram.refresh_stagger=true", NULL};
    struct pim_dram_configuration configuration;
    struct found found = {staggered[_i].rule, NULL, 0};
    struct pim_error error = {PIM_OK, ""};
    configure(&configuration, "ddr4_2400r", settings);
    struct pim_dram_check *check =
        pim_dram_check_create(&configuration.specification, &configuration.policy, look_for_part, &found);
    ck_assert_ptr_nonnull(check);
    for (uint64_t i = 1; i <= staggered[_i].count; i++) {
        const uint64_t cycle = staggered[_i].cycle - 433 * (staggered[_i].count - i);
        const struct pim_dram_logged command = {cycle, PIM_DRAM_REF, 0, staggered[_i].rank, -1, -1, -1, -1};
        ck_assert(pim_dram_check_command(check, &command, &error) == PIM_OK);
    }
    ck_assert_msg(found.hits == staggered[_i].hits, "case %d: %u times", _i, found.hits);
    pim_dram_check_destroy(check);
}
END_TEST

START_TEST(runs_violate_nothing)
{
    const int which = PIM_CASE(_i);
    (void)check_runs((size_t)which, 12, 1000, 7);
}
END_TEST

/* A stream reaches 95 % of what refresh leaves of the peak; `settings` interleave where the preset does not.
 * A private bank cannot hide its row changes: 64 columns take 64 + tRTP + tRP + tRCD - 1 cycles. */
static const struct {
    const char *preset;
    const char *settings[4];
    double least, most;
} streams[] = {
    {"ddr4_2400r", {"dram.mapping=row bank rank column group pseudo channel"}, 0.95, 1},
    {"ddr4_3200", {NULL}, 0.95, 1},
    {"lpddr4_3200", {NULL}, 0.95, 1},
    {"hbm2_pim", {NULL}, 0.95, 1},
    {"hbm2_pim_act1", {NULL}, 0.95, 1},
    {"hbm2_2000", {NULL}, 0.95, 1},
    {"fast_overlapim", {NULL}, 0.95, 1},
    {"pimbank_400", {NULL}, 0.95 * 64 / 82, 64.0 / 82},
    /* Its row changes are hidden only by another bank behind the same port, */
    {"pimbank_400", {"dram.banks=2", "dram.rows=4096", "dram.split_command_bus=true"}, 0.95, 1},
    /* or by longer rows. */
    {"pimbank_400", {"dram.row_bytes=8192", "dram.rows=1024"}, 0.95, 1},
    {"allspark_stack", {"dram.mapping=row column channel", "dram.channels=16"}, 0.95 * 64 / 82, 64.0 / 82},
    {"nicepim_stack", {"dram.mapping=row column channel", "dram.channels=16"}, 0.95 * 64 / 82, 64.0 / 82},
};

static void ignore(void *context, uint64_t request, uint64_t first_command, uint64_t completed)
{
    (void)context, (void)request, (void)first_command, (void)completed;
}

START_TEST(stream_bandwidth)
{
    const int which = PIM_CASE(_i);
    struct pim_dram_configuration configuration;
    struct outcome outcome;
    configure(&configuration, streams[which].preset, streams[which].settings);
    const struct pim_dram_organization *o = &configuration.specification.organization;
    const uint32_t *parameter = configuration.specification.parameter;
    uint32_t buses = o->channels * o->pseudo_channels;
    size_t count = (size_t)buses * 8000;
    struct access *list = malloc(count * sizeof *list);
    ck_assert_ptr_nonnull(list);
    for (size_t i = 0; i < count; i++)
        list[i] = (struct access){0, i * o->access_bytes, false};
    serve(&outcome, &configuration, list, count, false);
    uint32_t step = parameter[PIM_DRAM_T_B] > parameter[PIM_DRAM_T_CCD_S] ? parameter[PIM_DRAM_T_B]
                                                                          : parameter[PIM_DRAM_T_CCD_S];
    double share = (double)count * step / buses / (double)outcome.cycles;
    double after_refresh = share / (1 - (double)parameter[PIM_DRAM_T_RFC] / parameter[PIM_DRAM_T_REFI]);
    printf("%s: %.4f of the peak, %.4f of the peak after refresh\n", streams[which].preset, share,
           after_refresh);
    ck_assert_msg(after_refresh >= streams[which].least && after_refresh <= streams[which].most + 0.01,
                  "%s: %g", streams[which].preset, after_refresh);
    outcome_free(&outcome);
    free(list);
}
END_TEST

/* With the mapping that each preset has, too, a stream reaches the peak when it changes bank groups. */
START_TEST(interleaved_bandwidth)
{
    const int which = PIM_CASE(_i);
    static const char *const few[] = {"dram.channels=4", NULL};
    const char *preset = pim_dram_preset((size_t)which)->name;
    struct pim_dram_configuration configuration;
    struct pim_error error = {PIM_OK, ""};
    struct dram_list list;
    configure(&configuration, preset, NULL);
    if (configuration.specification.organization.channels > 16)
        configure(&configuration, preset, few);
    const struct pim_dram_organization *o = &configuration.specification.organization;
    const uint32_t *parameter = configuration.specification.parameter;
    const uint32_t buses = o->channels * o->pseudo_channels;
    const struct dram_stream stream = {
        .pattern = DRAM_INTERLEAVED, .count = UINT64_C(20000) * buses, .reads = 1, .rate = 1e6, .seed = 1};
    ck_assert(dram_list_generate(&list, &stream, &configuration, &error) == PIM_OK);
    uint64_t *arrived = malloc(list.count * sizeof *arrived);
    const struct pim_dram_sink sink = {NULL, ignore, NULL};
    struct pim_dram_memory *memory = pim_dram_memory_create(
        &configuration.specification, &configuration.policy, &configuration.mapping, &sink);
    ck_assert(memory && arrived);
    ck_assert_uint_eq(pim_dram_memory_serve(memory, list.items, list.count, 0, arrived), list.count);
    const uint64_t cycles = pim_dram_memory_finish(memory);
    const uint32_t step = parameter[PIM_DRAM_T_B] > parameter[PIM_DRAM_T_CCD_S] ? parameter[PIM_DRAM_T_B]
                                                                                : parameter[PIM_DRAM_T_CCD_S];
    double share = 20000.0 * step / (double)cycles;
    double after_refresh = share / (1 - (double)parameter[PIM_DRAM_T_RFC] / parameter[PIM_DRAM_T_REFI]);
    printf("%s, interleaved: %.4f of the peak, %.4f of the peak after refresh\n", preset, share,
           after_refresh);
    bool private_bank = o->bank_groups * o->banks == 1;
    ck_assert_msg(after_refresh >= (private_bank ? 0.95 * 64 / 82 : 0.95), "%s: %g", preset, after_refresh);
    ck_assert_msg(after_refresh <= (private_bank ? 64.0 / 82 : 1) + 0.01, "%s: %g", preset, after_refresh);
    pim_dram_memory_destroy(memory);
    dram_list_terminate(&list);
    free(arrived);
}
END_TEST

Suite *suite_channel_check(void)
{
    Suite *suite = suite_create("channel_check");
    TCase *cases = tcase_create("check");
    int presets = (int)pim_dram_preset_count();
    tcase_add_test(cases, own_rows_are_checked);
    tcase_add_loop_test(cases, every_constraint_is_checked, 0, PIM_CASES(2 * presets));
    tcase_add_test(cases, names_of_jedec);
    tcase_add_loop_test(cases, both_tables_agree, 0, presets);
    tcase_add_loop_test(cases, rows_are_taken_out, 0, 4);
    tcase_add_loop_test(cases, other_mistakes_are_found, 0, sizeof mistakes / sizeof mistakes[0]);
    tcase_add_loop_test(cases, mistakes_of_the_clock_are_found, 0, sizeof clocked / sizeof clocked[0]);
    tcase_add_loop_test(cases, refreshes_of_the_whole_log, 0, sizeof refreshes / sizeof refreshes[0]);
    tcase_add_loop_test(cases, staggered_refreshes, 0, sizeof staggered / sizeof staggered[0]);
    tcase_add_loop_test(cases, runs_violate_nothing, 0, PIM_CASES(presets));
    tcase_add_loop_test(cases, stream_bandwidth, 0, PIM_CASES(sizeof streams / sizeof streams[0]));
    tcase_add_loop_test(cases, interleaved_bandwidth, 0, PIM_CASES(presets));
    suite_add_tcase(suite, cases);
    return suite;
}

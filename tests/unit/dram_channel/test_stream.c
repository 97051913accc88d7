/*
 * Runs of column accesses as single events against the same accesses handed over one by one: every arrival,
 * completion, command and counter is the same. And ages: renumbering them changes nothing.
 */
#include "models/dram/channel/internal.h"
#include "tests/unit/dram_channel/suites.h"
#include "tests/unit/dram_channel/support.h"
#include "tests/unit/test_main.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 40, REQUESTS = 400 };

static const struct {
    const char *preset;
    const char *settings[4];
} shapes[] = {
    {"ddr4_2400r", {"dram.trefi=1200"}},
    {"ddr4_2400r", {"dram.ranks=2", "dram.trefi=1500", "dram.bank_xor=true"}},
    {"hbm2_pim", {"dram.trefi=900"}},
    {"hbm3_6400", {"dram.trefi=3100"}},
    {"lpddr5_6400", {"dram.trefi=1000"}},
    {"hbm2_pim", {"dram.pseudo_channels=2", "dram.refresh_mode=per_bank", "dram.trefi_bank=300"}},
    {"lpddr4_3200", {"dram.trefi=1400"}},
    {"pimbank_400", {"dram.trefi=300"}},
    {"pimbank_400", {"dram.trtp=1", "dram.tccd_s=2", "dram.tccd_l=3"}},
    {"pimbank_400", {"dram.banks=4", "dram.mapping=row bank column:2 channel column:4", "dram.channels=2"}},
    {"allspark_stack", {"dram.channels=4"}},
    {"ddr5_4800an", {"dram.ranks=4", "dram.trefi=4001"}},
    {"hbm3_6400", {"dram.pseudo_channels=16", "dram.mapping=row rank group bank pseudo column channel"}},
};

/* Bursts of up to 200 accesses, mostly in order, with pauses; some again, some partly overlapping. */
static struct pim_dram_request *bursts(struct pim_random *random,
                                       const struct pim_dram_configuration *configuration)
{
    struct pim_dram_request *list = malloc(REQUESTS * sizeof *list);
    ck_assert_ptr_nonnull(list);
    const uint64_t access = configuration->specification.organization.access_bytes;
    const uint64_t capacity = configuration->mapping.capacity;
    const bool long_ones = pim_random_below(random, 2), jumps = pim_random_below(random, 2);
    const uint64_t pause = pim_random_below(random, 3) * 40;
    const uint64_t write = pim_random_threshold(0.5 * (double)pim_random_below(random, 3) * 0.4);
    uint64_t address = 0, cycle = 0;
    for (size_t i = 0; i < REQUESTS; i++) {
        if (pim_random_below(random, jumps ? 3 : 60) == 0)
            address = pim_random_below(random, capacity / access) * access;
        if (pim_random_below(random, 20) == 0 && i > 0)
            address = list[pim_random_below(random, i)].address;
        uint64_t bytes = access;
        if (pim_random_below(random, 4) == 0 && long_ones)
            bytes = 1 + pim_random_below(random, 200 * access);
        if (bytes > capacity - address)
            address = 0;
        bool same = pim_random_below(random, 8) > 0 && i > 0;
        list[i] = (struct pim_dram_request){cycle, address, (uint32_t)bytes,
                                            same ? list[i - 1].write : pim_random_chance(random, write)};
        address = (address + bytes + access - 1) / access * access % capacity;
        cycle += pause > 0 && pim_random_below(random, 10) == 0 ? pim_random_below(random, 20 * pause)
                                                                : pim_random_below(random, 3);
    }
    return list;
}

struct trace {
    uint64_t arrived[REQUESTS], first_command[REQUESTS], completed[REQUESTS];
    struct pim_dram_record *records;
    size_t count, room;
    uint64_t cycles, accesses;
    struct pim_dram_counters counters;
};

static void served(void *context, uint64_t request, uint64_t first_command, uint64_t completed)
{
    struct trace *trace = context;
    ck_assert_uint_lt(request, REQUESTS);
    if (first_command < trace->first_command[request])
        trace->first_command[request] = first_command;
    if (completed > trace->completed[request])
        trace->completed[request] = completed;
}

static void command(void *context, const struct pim_dram_record *record)
{
    struct trace *trace = context;
    if (trace->count == trace->room) {
        trace->room = trace->room ? 2 * trace->room : 4096;
        trace->records = realloc(trace->records, trace->room * sizeof *trace->records);
        ck_assert_ptr_nonnull(trace->records);
    }
    trace->records[trace->count++] = *record;
}

/* Channels are worked on one after the other: their commands are in order, but not among one another. */
static int by_channel(const void *left, const void *right)
{
    const struct pim_dram_record *a = left, *b = right;
    if (a->channel != b->channel)
        return a->channel < b->channel ? -1 : 1;
    if (a->cycle != b->cycle)
        return a->cycle < b->cycle ? -1 : 1;
    return (int)pim_dram_is_column((enum pim_dram_command)b->command) -
           (int)pim_dram_is_column((enum pim_dram_command)a->command);
}

static struct trace *run(const struct pim_dram_configuration *configuration,
                         const struct pim_dram_request *list, bool whole, bool log)
{
    struct trace *trace = calloc(1, sizeof *trace);
    ck_assert_ptr_nonnull(trace);
    memset(trace->first_command, 0xff, sizeof trace->first_command);
    const struct pim_dram_sink sink = {trace, served, log ? command : NULL};
    struct pim_dram_memory *memory = pim_dram_memory_create(
        &configuration->specification, &configuration->policy, &configuration->mapping, &sink);
    ck_assert_ptr_nonnull(memory);
    const uint64_t access = configuration->specification.organization.access_bytes;
    if (whole)
        trace->accesses = pim_dram_memory_serve(memory, list, REQUESTS, 0, trace->arrived);
    for (size_t i = 0; !whole && i < REQUESTS; i++) {
        uint64_t end = list[i].address + list[i].bytes, first = list[i].address / access * access;
        for (uint64_t at = first; at < end; at += access, trace->accesses++) {
            uint64_t arrived = pim_dram_memory_request(memory, list[i].cycle, at, list[i].write, i);
            trace->arrived[i] = at == first || arrived < trace->arrived[i] ? arrived : trace->arrived[i];
        }
    }
    trace->cycles = pim_dram_memory_finish(memory);
    pim_dram_memory_counters(memory, trace->cycles, &trace->counters);
    pim_dram_memory_destroy(memory);
    if (trace->count > 0)
        qsort(trace->records, trace->count, sizeof *trace->records, by_channel);
    return trace;
}

static void compare(const struct trace *fast, const struct trace *slow, const char *what)
{
    for (size_t i = 0; i < fast->count && i < slow->count; i++) {
        const struct pim_dram_record *a = &fast->records[i], *b = &slow->records[i];
        ck_assert_msg(a->cycle == b->cycle && a->command == b->command && a->bank == b->bank &&
                          a->row == b->row && a->column == b->column && a->channel == b->channel,
                      "%s: command %zu is %s in %" PRIu64 ", one by one %s in %" PRIu64, what, i,
                      pim_dram_command_text((enum pim_dram_command)a->command), a->cycle,
                      pim_dram_command_text((enum pim_dram_command)b->command), b->cycle);
    }
    ck_assert_uint_eq(fast->count, slow->count);
    for (size_t i = 0; i < REQUESTS; i++)
        ck_assert_msg(fast->arrived[i] == slow->arrived[i] && fast->completed[i] == slow->completed[i] &&
                          fast->first_command[i] == slow->first_command[i],
                      "%s: request %zu: arrived %" PRIu64 " and %" PRIu64 ", complete %" PRIu64
                      " and %" PRIu64,
                      what, i, fast->arrived[i], slow->arrived[i], fast->completed[i], slow->completed[i]);
    ck_assert_uint_eq(fast->cycles, slow->cycles);
    ck_assert_uint_eq(fast->accesses, slow->accesses);
    ck_assert_mem_eq(&fast->counters, &slow->counters, sizeof fast->counters);
}

static void trace_free(struct trace *trace)
{
    free(trace->records);
    free(trace);
}

START_TEST(runs_equal_single_accesses)
{
    const int which = PIM_CASE(_i);
    struct pim_random random;
    pim_random_initialize(&random, 2000 + (uint64_t)which);
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct settings settings;
        struct pim_dram_configuration configuration;
        random_settings(&settings, &random);
        const char *all[16] = {NULL};
        size_t n = 0;
        for (const char *const *s = shapes[which].settings; *s; s++)
            all[n++] = *s;
        for (size_t i = 0; round > 0 && settings.list[i]; i++)
            if (strncmp(settings.list[i], "dram.page", 9) != 0 || round % 4 == 0) /* mostly open pages */
                all[n++] = settings.list[i];
        configure(&configuration, shapes[which].preset, all);
        struct pim_dram_request *list = bursts(&random, &configuration);
        char what[512];
        int length = snprintf(what, sizeof what, "shape %d, round %u:", which, round);
        for (size_t i = 0; i < n; i++)
            length += snprintf(what + length, sizeof what - (size_t)length, " %s", all[i]);
        struct trace *fast = run(&configuration, list, true, round % 2);
        struct trace *slow = run(&configuration, list, false, round % 2);
        compare(fast, slow, what);
        trace_free(fast);
        trace_free(slow);
        free(list);
    }
}
END_TEST

/* The path is really taken: one call hands a whole run over. RD of the four requests in 9 to 12, then one
 * RD in each cycle behind the arrivals from 9 on. */
START_TEST(a_stream_is_one_event)
{
    enum { FIRST = 4, COUNT = 60 };
    struct pim_dram_configuration configuration;
    configure(&configuration, "pimbank_400", NULL);
    struct pim_dram_rules *rules = pim_dram_rules_create(&configuration.specification, &configuration.policy);
    struct trace *trace = calloc(1, sizeof *trace);
    const struct pim_dram_sink sink = {trace, served, NULL};
    struct pim_dram_channel *channel = pim_dram_channel_create(rules, 0, &sink);
    ck_assert(rules && trace && channel);
    uint64_t cycle = 0, arrived[COUNT] = {0};
    for (; cycle < FIRST; cycle++) {
        const struct pim_dram_location place = {0, 0, 5, (uint32_t)cycle};
        ck_assert(pim_dram_channel_offer(channel, cycle, &place, false, cycle));
    }
    const struct pim_dram_run run = {{0, 0, 5, FIRST}, COUNT, false, FIRST, 1, arrived};
    ck_assert_uint_eq(pim_dram_channel_stream(channel, &run, &cycle), 0); /* the row is not open yet */
    cycle = 9;
    ck_assert_uint_eq(pim_dram_channel_stream(channel, &run, &cycle), COUNT);
    ck_assert_uint_eq(cycle, 9 + COUNT - 1);
    for (uint64_t i = 0; i < COUNT; i++)
        ck_assert_uint_eq(arrived[i], 9 + i);
    (void)pim_dram_channel_drain(channel);
    for (uint64_t i = 0; i < FIRST + COUNT; i++)
        ck_assert_uint_eq(trace->completed[i], 9 + i + 8 + 1);
    pim_dram_channel_destroy(channel);
    pim_dram_rules_destroy(rules);
    trace_free(trace);
}
END_TEST

/* Ages that overflow are renumbered: the same completions as of a channel that is far from it. */
START_TEST(renumbering_changes_nothing)
{
    struct pim_random random;
    pim_random_initialize(&random, 77);
    struct pim_dram_configuration configuration;
    configure(&configuration, "ddr4_2400r", NULL);
    struct access *list = random_list(&random, &configuration, REQUESTS, 1);
    struct pim_dram_rules *rules = pim_dram_rules_create(&configuration.specification, &configuration.policy);
    struct trace *traces[2];
    for (unsigned i = 0; i < 2; i++) {
        traces[i] = calloc(1, sizeof *traces[i]);
        const struct pim_dram_sink sink = {traces[i], served, NULL};
        struct pim_dram_channel *channel = pim_dram_channel_create(rules, 0, &sink);
        ck_assert(rules && traces[i] && channel);
        channel->next_age = i == 0 ? 0 : (UINT64_C(1) << AGE_BITS) - 150;
        uint64_t cycle = 0;
        for (size_t j = 0; j < REQUESTS; j++, cycle++) {
            struct pim_dram_location place = pim_dram_locate(&configuration.mapping, list[j].address);
            cycle = later(cycle, list[j].cycle);
            while (!pim_dram_channel_offer(channel, cycle, &place, list[j].write, j))
                cycle = pim_dram_channel_wait(channel, list[j].write);
        }
        traces[i]->cycles = pim_dram_channel_drain(channel);
        if (i == 1)
            ck_assert_uint_lt(channel->next_age, REQUESTS);
        pim_dram_channel_destroy(channel);
    }
    ck_assert_uint_eq(traces[0]->cycles, traces[1]->cycles);
    ck_assert_mem_eq(traces[0]->completed, traces[1]->completed, sizeof traces[0]->completed);
    pim_dram_rules_destroy(rules);
    trace_free(traces[0]);
    trace_free(traces[1]);
    free(list);
}
END_TEST

/* What a channel decides at the start of a cycle waits for the requests of the cycle before, also when it was
 * asked for its next command in between. */
static const struct {
    const char *preset;
    const char *settings[5];
} asked[] = {
    {"hbm2_2000", {"dram.channels=1", "dram.refresh_stagger=true", "dram.refresh_postpone=3"}},
    {"ddr4_2400r", {"dram.refresh_postpone=8", "dram.trefi=1200"}},
    {"ddr4_2400r", {"dram.write_queue=8", "dram.page=closed", "dram.trefi=1200"}},
    {"lpddr5_6400", {"dram.refresh_mode=per_bank", "dram.refresh_pull_in=4", "dram.page=timeout"}},
};

START_TEST(asking_changes_nothing)
{
    struct pim_random random;
    pim_random_initialize(&random, 5 + (uint64_t)_i);
    struct pim_dram_configuration configuration;
    configure(&configuration, asked[_i].preset, asked[_i].settings);
    struct pim_dram_rules *rules = pim_dram_rules_create(&configuration.specification, &configuration.policy);
    ck_assert_ptr_nonnull(rules);
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct access *list = random_list(&random, &configuration, REQUESTS, 0.05);
        struct trace *traces[2];
        for (unsigned i = 0; i < 2; i++) {
            traces[i] = calloc(1, sizeof *traces[i]);
            const struct pim_dram_sink sink = {traces[i], served, NULL};
            struct pim_dram_channel *channel = pim_dram_channel_create(rules, 0, &sink);
            ck_assert(traces[i] && channel);
            uint64_t cycle = 0;
            for (size_t j = 0; j < REQUESTS; j++, cycle++) {
                struct pim_dram_location place = pim_dram_locate(&configuration.mapping, list[j].address);
                cycle = later(cycle, list[j].cycle);
                if (i == 1) {
                    pim_dram_channel_advance(channel, cycle);
                    (void)pim_dram_channel_next(channel);
                }
                while (!pim_dram_channel_offer(channel, cycle, &place, list[j].write, j))
                    cycle = pim_dram_channel_wait(channel, list[j].write);
            }
            traces[i]->cycles = pim_dram_channel_drain(channel);
            pim_dram_channel_destroy(channel);
        }
        ck_assert_uint_eq(traces[0]->cycles, traces[1]->cycles);
        ck_assert_mem_eq(traces[0]->completed, traces[1]->completed, sizeof traces[0]->completed);
        trace_free(traces[0]);
        trace_free(traces[1]);
        free(list);
    }
    pim_dram_rules_destroy(rules);
}
END_TEST

/* A request in two channels arrives in the one that takes it, while the other is full. */
START_TEST(arrival_in_two_channels)
{
    enum { BEFORE = 60 };
    static const char *const settings[] = {"dram.channels=2", NULL};
    struct pim_dram_configuration configuration;
    configure(&configuration, "ddr4_2400r", settings);
    struct trace *trace = calloc(1, sizeof *trace);
    ck_assert_ptr_nonnull(trace);
    const struct pim_dram_sink sink = {trace, served, NULL};
    struct pim_dram_memory *memory = pim_dram_memory_create(
        &configuration.specification, &configuration.policy, &configuration.mapping, &sink);
    ck_assert_ptr_nonnull(memory);
    struct pim_dram_request list[BEFORE + 1];
    for (uint32_t i = 0; i <= BEFORE; i++) {
        const struct pim_dram_location row = {.row = i};
        list[i] = (struct pim_dram_request){0, pim_dram_address(&configuration.mapping, &row),
                                            i < BEFORE ? 64 : 128, false};
    }
    (void)pim_dram_memory_serve(memory, list, BEFORE + 1, 0, trace->arrived);
    ck_assert_uint_gt(trace->arrived[BEFORE - 1], 1000); /* the first channel: a row each */
    ck_assert_uint_eq(trace->arrived[BEFORE], 0);
    (void)pim_dram_memory_finish(memory);
    pim_dram_memory_destroy(memory);
    free(trace);
}
END_TEST

Suite *suite_channel_stream(void)
{
    Suite *suite = suite_create("channel_stream");
    TCase *cases = tcase_create("runs");
    tcase_add_loop_test(cases, runs_equal_single_accesses, 0, PIM_CASES(sizeof shapes / sizeof shapes[0]));
    tcase_add_test(cases, a_stream_is_one_event);
    tcase_add_test(cases, renumbering_changes_nothing);
    tcase_add_loop_test(cases, asking_changes_nothing, 0, sizeof asked / sizeof asked[0]);
    tcase_add_test(cases, arrival_in_two_channels);
    suite_add_tcase(suite, cases);
    return suite;
}

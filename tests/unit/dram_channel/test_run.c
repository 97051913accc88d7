/* Runs of `pimsim dram`: requests pass in blocks, commands in parts, latencies in counts; the same as with
 * everything in memory. Lists and logs of other tools. */
#include "tests/unit/dram_channel/suites.h"
#include "tests/unit/dram_channel/support.h"
#include "tests/unit/test_main.h"
#include "tools/command/dram/blocks.h"
#include "tools/command/dram/run.h"

#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

struct seen {
    const struct outcome *whole;
    uint64_t next;
};

static void compare_request(void *context, const struct dram_served *served)
{
    struct seen *seen = context;
    const uint64_t i = seen->next++;
    ck_assert_uint_eq(served->number, i);
    ck_assert_msg(served->arrived == seen->whole->arrived[i] &&
                      served->completed == seen->whole->completed[i] &&
                      served->first_command == seen->whole->first_command[i],
                  "request %" PRIu64, i);
}

static void count_request(void *context, const struct dram_served *served)
{
    uint64_t *count = context;
    ck_assert_uint_eq(served->number, *count);
    ++*count;
}

static int by_size(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Percentiles of the sorted latencies of one direction. */
static void compare_latency(const struct dram_latency *latency, const struct outcome *whole,
                            const struct access *list, bool write)
{
    uint64_t *values = malloc(whole->count * sizeof *values), count = 0;
    ck_assert_ptr_nonnull(values);
    for (size_t i = 0; i < whole->count; i++)
        if (list[i].write == write)
            values[count++] = whole->completed[i] - whole->arrived[i];
    qsort(values, count, sizeof *values, by_size);
    ck_assert_uint_eq(latency->count, count);
    ck_assert_uint_eq(latency->median, values[count / 2]);
    ck_assert_uint_eq(latency->p95, values[count * 95 / 100]);
    ck_assert_uint_eq(latency->p99, values[count * 99 / 100]);
    ck_assert_uint_eq(latency->most, values[count - 1]);
    free(values);
}

/* Every look is a second later. */
static uint64_t clock_of_seconds(void *context)
{
    uint64_t *seconds = context;
    return ++*seconds * UINT64_C(1000000000);
}

/* The progress was shown up to the last request, and taken away. */
static void check_progress(FILE *shown)
{
    char text[4096];
    rewind(shown);
    text[fread(text, 1, sizeof text - 1, shown)] = '\0';
    ck_assert_ptr_nonnull(strstr(text, "requests [##......................]  10%"));
    ck_assert_ptr_nonnull(strstr(text, "requests [########################] 100%"));
    ck_assert_str_eq(text + strlen(text) - 4, "\r\033[K");
    (void)fclose(shown);
}

/* More requests than a block has, one channel and several; one channel is left alone for most of the time. */
START_TEST(blocks_change_nothing)
{
    enum { COUNT = 150000 };
    static const char *const four[] = {"dram.channels=4", "dram.mapping=channel row bank group pseudo column",
                                       NULL};
    struct pim_dram_configuration configuration;
    struct pim_error error = {PIM_OK, ""};
    configure(&configuration, _i ? "hbm2_2000" : "ddr4_2400r", _i ? four : NULL);
    struct pim_random random;
    pim_random_initialize(&random, 40 + (uint64_t)_i);
    struct access *accesses = random_list(&random, &configuration, COUNT, 0.2);
    struct outcome whole;
    serve(&whole, &configuration, accesses, COUNT, true);
    struct dram_list list = {malloc(COUNT * sizeof *list.items), COUNT};
    ck_assert_ptr_nonnull(list.items);
    const uint32_t access = configuration.specification.organization.access_bytes;
    for (size_t i = 0; i < COUNT; i++)
        list.items[i] =
            (struct pim_dram_request){accesses[i].cycle, accesses[i].address, access, accesses[i].write};
    struct dram_source *source;
    struct dram_run run = {0};
    struct seen seen = {&whole, 0};
    struct pim_progress progress;
    FILE *shown = tmpfile();
    ck_assert_ptr_nonnull(shown);
    pim_progress_start_on(&progress, "requests", COUNT, shown, clock_of_seconds, &(uint64_t){0});
    const struct dram_run_outputs outputs = {&seen, compare_request, NULL, DRAM_LOG_CSV, true, &progress};
    ck_assert(dram_source_items(&source, &list, &error) == PIM_OK);
    ck_assert_msg(dram_run_execute(&run, &configuration, source, &outputs, &error) == PIM_OK, "%s",
                  error.text);
    dram_source_close(source);
    pim_progress_finish(&progress);
    check_progress(shown);
    ck_assert_uint_eq(seen.next, COUNT);
    ck_assert_uint_eq(run.requests, COUNT);
    ck_assert_uint_eq(run.cycles, whole.cycles);
    ck_assert_uint_eq(run.checked_commands, whole.record_count);
    ck_assert_uint_eq(run.violations, 0);
    compare_latency(&run.reads, &whole, accesses, false);
    compare_latency(&run.writes, &whole, accesses, true);
    outcome_free(&whole);
    dram_list_terminate(&list);
    free(accesses);
}
END_TEST

/* A write that waits while there are reads holds up all blocks behind it: most of them are not in memory. */
START_TEST(blocks_behind_a_waiting_request)
{
    enum { COUNT = DRAM_BLOCK * (DRAM_BLOCKS_KEPT + 2) };
    struct pim_dram_configuration configuration;
    struct pim_error error = {PIM_OK, ""};
    configure(&configuration, "ddr4_2400r", NULL);
    const uint32_t access = configuration.specification.organization.access_bytes;
    struct access *accesses = calloc(COUNT, sizeof *accesses);
    struct dram_list list = {calloc(COUNT, sizeof *list.items), COUNT};
    ck_assert(accesses && list.items);
    for (uint64_t i = 0; i < COUNT; i++) {
        const uint64_t place = i % 1000 == 7 ? i * 977 % 100000 + 300000 : i % 200000;
        accesses[i] = (struct access){0, place * access, i == 5 || i == COUNT / 2};
        list.items[i] = (struct pim_dram_request){0, accesses[i].address, access, accesses[i].write};
    }
    struct outcome whole;
    serve(&whole, &configuration, accesses, COUNT, true);
    for (unsigned logged = 0; logged < 2; logged++) {
        struct dram_source *source;
        struct dram_run run = {0};
        struct seen seen = {&whole, 0};
        const struct dram_run_outputs outputs = {
            &seen, logged ? compare_request : NULL, NULL, DRAM_LOG_CSV, false, NULL};
        ck_assert(dram_source_items(&source, &list, &error) == PIM_OK);
        ck_assert_msg(dram_run_execute(&run, &configuration, source, &outputs, &error) == PIM_OK, "%s",
                      error.text);
        dram_source_close(source);
        ck_assert_uint_eq(seen.next, logged ? COUNT : 0);
        compare_latency(&run.reads, &whole, accesses, false);
        compare_latency(&run.writes, &whole, accesses, true);
    }
    ck_assert_uint_gt(whole.first_command[5], whole.completed[COUNT - DRAM_BLOCK]);
    outcome_free(&whole);
    dram_list_terminate(&list);
    free(accesses);
}
END_TEST

/* KiB that this process has had in memory at most, with so many requests, few of which write. */
static uint64_t memory_of(uint64_t count, bool logged)
{
    const struct dram_stream stream = {DRAM_SEQUENTIAL, count, 4096, 0, 0.99998, 1, 1};
    struct pim_dram_configuration configuration;
    struct pim_error error = {PIM_OK, ""};
    struct dram_source *source;
    struct dram_run run = {0};
    uint64_t seen = 0;
    struct rusage usage;
    const struct dram_run_outputs outputs = {&seen, logged ? count_request : NULL, NULL, DRAM_LOG_CSV, false,
                                             NULL};
    configure(&configuration, "ddr4_2400r", NULL);
    ck_assert(dram_source_generate(&source, &stream, &configuration, &error) == PIM_OK);
    ck_assert(dram_run_execute(&run, &configuration, source, &outputs, &error) == PIM_OK);
    dram_source_close(source);
    ck_assert_uint_eq(seen, logged ? count : 0);
    ck_assert_uint_gt(run.writes.count, 0);
    ck_assert_int_eq(getrusage(RUSAGE_SELF, &usage), 0);
    return (uint64_t)usage.ru_maxrss;
}

/* Too few writes to be served before the end: memory does not grow with the requests behind them. */
START_TEST(memory_is_constant)
{
    const uint64_t before = memory_of(800000, _i);
    ck_assert_uint_le(memory_of(1250000, _i), before + 4096); /* 20 000 if latencies were kept */
}
END_TEST

/* Latencies that are counted, and those that are too long for it. */
START_TEST(long_latencies)
{
    struct dram_latencies latencies = {0};
    struct dram_latency summary;
    dram_latencies_summarize(&latencies, &summary);
    ck_assert_uint_eq(summary.count, 0);
    for (uint64_t i = 100; i > 0; i--)
        ck_assert(dram_latencies_add(&latencies, i > 97 ? UINT64_C(1) << (i - 50) : i));
    dram_latencies_summarize(&latencies, &summary);
    ck_assert_uint_eq(summary.median, 51);
    ck_assert_uint_eq(summary.p95, 96);
    ck_assert_uint_eq(summary.p99, UINT64_C(1) << 50);
    ck_assert_uint_eq(summary.most, UINT64_C(1) << 50);
    dram_latencies_terminate(&latencies);
}
END_TEST

struct order {
    uint64_t count, sum, cycle;
    uint32_t channel;
};

static enum pim_status take_in_order(void *context, const struct pim_dram_record *record,
                                     struct pim_error *error)
{
    struct order *order = context;
    (void)error;
    ck_assert_msg(order->count == 0 || record->cycle > order->cycle ||
                      (record->cycle == order->cycle && record->channel > order->channel),
                  "record %" PRIu64 " is out of order", order->count);
    order->count++;
    order->sum += record->cycle * 31 + record->row;
    order->cycle = record->cycle;
    order->channel = record->channel;
    return PIM_OK;
}

/* Channels one after the other, so that every part of the temporary file overlaps the others. */
START_TEST(parts_are_merged)
{
    enum { CHANNELS = 3, EACH = DRAM_LOG_KEPT * 3 / 4 };
    struct dram_log log = {0};
    struct order order = {0};
    struct pim_error error = {PIM_OK, ""};
    uint64_t sum = 0;
    for (unsigned channel = 0; channel < CHANNELS; channel++)
        for (uint64_t i = 0; i < EACH; i++) {
            const struct pim_dram_record record = {i * 3 + (channel == 1), (uint32_t)i,  0,
                                                   (uint16_t)channel,      PIM_DRAM_ACT, 0};
            sum += record.cycle * 31 + record.row;
            dram_log_add(&log, &record);
        }
    ck_assert_uint_gt(log.part_count, 1);
    const struct dram_log_taker taker = {&order, take_in_order};
    ck_assert_msg(dram_log_each(&log, &taker, &error) == PIM_OK, "%s", error.text);
    ck_assert_uint_eq(order.count, (uint64_t)CHANNELS * EACH);
    ck_assert_uint_eq(order.sum, sum);
    dram_log_terminate(&log);
}
END_TEST

/* Temporary files that may not grow: the message has the system's reason. */
START_TEST(files_that_fail_say_why)
{
    struct dram_log log = {0};
    struct dram_blocks blocks = {0};
    struct order order = {0};
    struct pim_error of_log = {PIM_OK, ""}, of_blocks = {PIM_OK, ""};
    struct rlimit before, small;
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 4096;
    ck_assert(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    for (uint64_t i = 0; i <= DRAM_LOG_KEPT; i++)
        dram_log_add(&log, &(struct pim_dram_record){i, 0, 0, 0, PIM_DRAM_ACT, 0});
    unsigned added = 0;
    while (added < DRAM_BLOCKS_KEPT + 1 && dram_blocks_add(&blocks, (uint64_t)added * DRAM_BLOCK, &of_blocks))
        added++;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
    const struct dram_log_taker taker = {&order, take_in_order};
    ck_assert_int_eq(dram_log_each(&log, &taker, &of_log), PIM_IO);
    ck_assert_msg(strstr(of_log.text, strerror(EFBIG)), "%s", of_log.text);
    ck_assert_uint_eq(added, DRAM_BLOCKS_KEPT);
    ck_assert_int_eq(of_blocks.status, PIM_IO);
    ck_assert_msg(strstr(of_blocks.text, strerror(EFBIG)), "%s", of_blocks.text);
    dram_log_terminate(&log);
    dram_blocks_terminate(&blocks);
}
END_TEST

/* A record of a log with copies comes once for each channel, in order. */
START_TEST(records_stand_for_channels)
{
    struct dram_log log = {.copies = 5};
    struct order order = {0};
    struct pim_error error = {PIM_OK, ""};
    for (uint64_t i = 0; i < 100; i++) {
        const struct pim_dram_record record = {i * 7, 0, 0, 0, PIM_DRAM_PRE, 0};
        dram_log_add(&log, &record);
    }
    const struct dram_log_taker taker = {&order, take_in_order};
    ck_assert(dram_log_each(&log, &taker, &error) == PIM_OK);
    ck_assert_uint_eq(order.count, 500);
    ck_assert_uint_eq(order.channel, 4);
    dram_log_terminate(&log);
}
END_TEST

/* Puts a text into a file, whose name is written to `path`. */
static void put_file(char *path, size_t size, const char *text)
{
    (void)snprintf(path, size, "/tmp/pimsim-dram-XXXXXX");
    int descriptor = mkstemp(path);
    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq(write(descriptor, text, strlen(text)), (ssize_t)strlen(text));
    close(descriptor);
}

/* Lists of other tools: the requests, or what the message must have. */
static const struct {
    enum dram_list_format format;
    const char *text, *message;
    size_t count;
    struct pim_dram_request requests[3];
} foreign[] = {
    {DRAM_LIST_DRAMSIM3,
     "0x40 READ 0\n 80\tWRITE 7 \n\n",
     NULL,
     2,
     {{0, 0x40, 64, false}, {7, 0x80, 64, true}}},
    {DRAM_LIST_DRAMSIM3, "40 READ\n", ":1: 2 words: a line is ADDRESS, READ or WRITE, and CYCLE", 0, {{0}}},
    {DRAM_LIST_DRAMSIM3,
     "80 P_MEM_WR 1\nc0 P_MEM_RD 2\n100 BOFF 3\n",
     NULL,
     3,
     {{1, 0x80, 64, true}, {2, 0xc0, 64, false}, {3, 0x100, 64, true}}},
    {DRAM_LIST_DRAMSIM3, "40 READ 5\n40 LOCK 9\n", ":2: 'LOCK': allowed are READ, P_MEM_RD", 0, {{0}}},
    {DRAM_LIST_DRAMSIM3, "40 READ 5\n40 READ 4\n", ":2: '4': the list must not go back in time", 0, {{0}}},
    {DRAM_LIST_DRAMSIM3, "4g READ 5\n", "'4g': allowed are integers", 0, {{0}}},
    {DRAM_LIST_DRAMSIM3, "0x200000000 READ 5\n", "beyond the capacity of 8589934592 bytes", 0, {{0}}},
    {DRAM_LIST_DRAMSIM3, "1ffffffffffffffff READ 5\n", "allowed are integers", 0, {{0}}},
    {DRAM_LIST_RAMULATOR,
     "LD 0x44\nST 128\n# a comment\nR 0,0,1,2,5,3\n",
     NULL,
     3,
     {{0, 0x44, 60, false}, {0, 128, 64, true}, {0, 0, 64, false}}},
    {DRAM_LIST_RAMULATOR, "R 0,0,4,2,5,3\n", "'4': allowed are integers from 0 to 3", 0, {{0}}},
    {DRAM_LIST_RAMULATOR, "R 0,0,2,5\n", "places are channel,", 0, {{0}}},
    {DRAM_LIST_RAMULATOR, "R 0,0,2,5,1\n", "places are channel,", 0, {{0}}},
    {DRAM_LIST_RAMULATOR, "LD 1 2\n", "a line is LD or ST, and an address", 0, {{0}}},
    {DRAM_LIST_RAMULATOR, "MV 1\n", "'MV': allowed are LD and ST", 0, {{0}}},
    {DRAM_LIST_RAMULATOR, "LD -1\n", "allowed are integers", 0, {{0}}},
};

/* Reads up to eight requests of a list in the format of another tool. */
static enum pim_status read_list(enum dram_list_format format, const char *text,
                                 const struct pim_dram_configuration *configuration,
                                 struct pim_dram_request requests[8], size_t *count, struct pim_error *error)
{
    char path[64];
    struct dram_source *source;
    put_file(path, sizeof path, text);
    enum pim_status status = dram_source_open(&source, path, format, configuration, error);
    if (status == PIM_OK)
        status = dram_source_next(source, requests, 8, count, error);
    (void)unlink(path);
    dram_source_close(source);
    return status;
}

START_TEST(lists_of_other_tools)
{
    struct pim_dram_configuration configuration;
    struct pim_error error = {PIM_OK, ""};
    struct pim_dram_request requests[8];
    size_t count = 0;
    configure(&configuration, "ddr4_2400r", NULL);
    const enum pim_status status =
        read_list(foreign[_i].format, foreign[_i].text, &configuration, requests, &count, &error);
    if (foreign[_i].message) {
        ck_assert_msg(status == PIM_BAD_INPUT && strstr(error.text, foreign[_i].message), "%s", error.text);
    } else {
        ck_assert_msg(status == PIM_OK, "%s", error.text);
        ck_assert_uint_eq(count, foreign[_i].count);
    }
    for (size_t i = 0; i < foreign[_i].count; i++) {
        const struct pim_dram_request *a = &requests[i], *b = &foreign[_i].requests[i];
        const struct pim_dram_location place = pim_dram_locate(&configuration.mapping, a->address);
        ck_assert(a->cycle == b->cycle && a->bytes == b->bytes && a->write == b->write);
        if (b->address > 0)
            ck_assert_uint_eq(a->address, b->address);
        else /* places: bank group 1, bank 2, row 5, column 3 */
            ck_assert(place.bank == 6 && place.row == 5 && place.column == 3 && place.channel == 0);
    }
}
END_TEST

/* Ramulator's places have the stack identifier between pseudo-channel and bank group, where others have the
 * rank: refused, whatever their number; addresses are as ever. */
START_TEST(places_with_stack_identifiers)
{
    static const char *const texts[] = {"LD 64\nR 0,0,1,2,1,5,3\n", "ST 64\nW 0,0,5,1,5,3\n", "LD 64\n"};
    static const char *const stacks[] = {"dram.stack_ids=2", "dram.pseudo_channels=2", NULL};
    struct pim_dram_configuration configuration;
    struct pim_error error = {PIM_OK, ""};
    struct pim_dram_request requests[8];
    size_t count = 0;
    configure(&configuration, "hbm3_6400", stacks);
    const enum pim_status status =
        read_list(DRAM_LIST_RAMULATOR, texts[_i], &configuration, requests, &count, &error);
    ck_assert_int_eq(status, _i < 2 ? PIM_BAD_INPUT : PIM_OK);
    if (_i < 2)
        ck_assert_msg(strstr(error.text, ":2: '") && strstr(error.text, "with dram.stack_ids above 1 a list"),
                      "%s", error.text);
    else
        ck_assert(count == 1 && requests[0].address == 64);
}
END_TEST

/* Logs of other tools: how many violations, or what the message must have. */
#define LEVELS_OF_RAMULATOR "clock,command,Channel,Rank,BankGroup,Bank,Row,Column,type,source\n"
static const struct {
    enum dram_log_format format;
    const char *text, *message;
    uint64_t violations;
    const char *line;
} logs[] = {
    {DRAM_LOG_RAMULATOR,
     LEVELS_OF_RAMULATOR "1,ACT,0,0,1,0,5,0,0,0\n17,RDA,0,0,1,0,5,3,0,0\n60,REFab,0,0,-1,-1,-1,-1,9,9\n",
     NULL, 0, ""},
    {DRAM_LOG_RAMULATOR, LEVELS_OF_RAMULATOR "1,ACT,0,0,1,0,5,0,0,0\n16,RD,0,0,1,0,5,3,0,0\n", NULL, 1,
     "line 3: RD in cycle 16"},
    {DRAM_LOG_RAMULATOR, LEVELS_OF_RAMULATOR "1,RFMab,0,0,1,0,5,0,0,0\n",
     ":2: 'RFMab': no command of Ramulator that is modelled here", 0, ""},
    {DRAM_LOG_RAMULATOR, LEVELS_OF_RAMULATOR "1,ACT,0\n", ":2: 3 words: as many words as the header has", 0,
     ""},
    {DRAM_LOG_RAMULATOR, "1,ACT,0,0,1,0,5,0,0,0\n", "the header is clock,command", 0, ""},
    {DRAM_LOG_RAMULATOR, "clock,command,Channel,Sid,Bank,Row,Column\n1,ACT,0,1,0,5,0\n",
     "a stack identifier (Sid) below dram.stack_ids", 0, ""},
    {DRAM_LOG_RAMULATOR,
     "clock,command,Channel,Sid,BankGroup,Bank,Row,Column\n1,ACT,0,0,3,0,5,0\n9,ACT,0,1,3,0,5,0\n"
     "40,RD,0,0,3,0,5,0\n48,RD,0,1,3,0,5,0\n58,RD,0,1,3,0,5,0\n",
     NULL, 1, "RD in cycle 48, channel 0, rank 0, bank group 7, bank 0: tCCD_R (other stack)"},
    {DRAM_LOG_RAMULATOR, "clock,command,Channel,Sid,BankGroup,Bank,Row,Column\n1,ACT,0,1,4,0,5,0\n",
     "a bank group of a stack identifier (Sid)", 0, ""},
    {DRAM_LOG_RAMULATOR, "clock,command,Channel,Sid,Rank,BankGroup,Bank,Row,Column\n1,ACT,0,0,0,4,0,5,0\n",
     NULL, 1, "no such bank group"},
    {DRAM_LOG_RAMULATOR, "clock,command,Channel,Bank,Bank,Row,Column\n", "a level stands twice", 0, ""},
    {DRAM_LOG_DRAMSIM3,
     "# clk cmd ch rank bg bank row col\n1 activate 0 0 0 0 0x5 0x0\n17 read_p 0 0 0 0 0x5 0x0\n"
     "56 activate 0 0 0 0 0x5 0x1\n",
     NULL, 0, ""},
    {DRAM_LOG_DRAMSIM3,
     "1 activate 0 0 0 0 0x5 0x0\n17 read_p 0 0 0 0 0x5 0x0\n55 activate 0 0 0 0 0x5 0x1\n", NULL, 2,
     "line 3: ACT in cycle 55"}, /* tRC, and tRAS + tRP of the automatic precharge */
    /* Refreshes as it writes them, and the precharges before them: no channel, no row. */
    {DRAM_LOG_DRAMSIM3,
     "1                  activate               0   0   0   0      0x5      0x0\n"
     "9364               precharge             -1   0   0   0     -0x1     -0x1\n"
     "9380               refresh               -1   0  -1  -1     -0x1     -0x1\n",
     NULL, 0, "3 commands, 0 violations"},
    {DRAM_LOG_DRAMSIM3, "1 self_refresh_enter 0 0 0 0 0x0 0x0\n",
     "no command of DRAMsim3 that is modelled here: activate, precharge,", 0, ""},
};

START_TEST(logs_of_other_tools)
{
    char path[64], *text = NULL;
    size_t length = 0;
    uint64_t violations = 0;
    struct pim_dram_configuration configuration;
    struct pim_error error = {PIM_OK, ""};
    static const char *const stacks[] = {"dram.stack_ids=2", "dram.tccd_r=9", NULL};
    configure(&configuration, "ddr4_2400r", strstr(logs[_i].text, "Sid,BankGroup") ? stacks : NULL);
    put_file(path, sizeof path, logs[_i].text);
    FILE *out = open_memstream(&text, &length);
    ck_assert_ptr_nonnull(out);
    enum pim_status status =
        dram_check_file(&configuration, path, logs[_i].format, 9, 0, out, &violations, &error);
    (void)fclose(out);
    (void)unlink(path);
    if (logs[_i].message) {
        ck_assert_msg(status == PIM_BAD_INPUT && strstr(error.text, logs[_i].message), "%s", error.text);
    } else {
        ck_assert_msg(status == PIM_OK, "%s", error.text);
        ck_assert_uint_eq(violations, logs[_i].violations);
        ck_assert_msg(strstr(text, logs[_i].line) != NULL, "%s", text);
    }
    free(text);
}
END_TEST

/* What DRAMPower reads: no header, no -1, data behind column commands, and an end. */
START_TEST(commands_for_drampower)
{
    static const struct pim_dram_record records[] = {{1, 5, 3, 0, PIM_DRAM_ACT, 6},
                                                     {17, 5, 3, 0, PIM_DRAM_RD, 6},
                                                     {60, UINT32_MAX, UINT32_MAX, 0, PIM_DRAM_PREA, 0},
                                                     {80, UINT32_MAX, UINT32_MAX, 0, PIM_DRAM_REF, 0}};
    static const char *const small[] = {"dram.access_bytes=2", "dram.row_bytes=256", NULL};
    struct pim_dram_configuration configuration;
    struct pim_error error = {PIM_OK, ""};
    struct dram_log_use use;
    char *text = NULL;
    size_t length = 0;
    configure(&configuration, "ddr4_2400r", small);
    FILE *out = open_memstream(&text, &length);
    ck_assert_ptr_nonnull(out);
    ck_assert(dram_log_use_start(&use, &configuration, out, DRAM_LOG_DRAMPOWER, false, &error) == PIM_OK);
    for (size_t i = 0; i < sizeof records / sizeof records[0]; i++)
        ck_assert(dram_log_use_take(&use, &records[i], &error) == PIM_OK);
    dram_log_use_end(&use, 600);
    dram_log_use_terminate(&use);
    (void)fclose(out);
    /* Bank 2 of group 1 is the seventh of sixteen. */
    ck_assert_str_eq(text, "1,ACT,0,1,6,5,3\n17,RD,0,1,6,5,3,0000\n60,PREA,0,0,0,0,0\n"
                           "80,REFA,0,0,0,0,0\n600,END,0,0,0,0,0\n");
    free(text);
}
END_TEST

Suite *suite_channel_run(void)
{
    Suite *suite = suite_create("channel_run");
    TCase *cases = tcase_create("run");
    tcase_add_loop_test(cases, blocks_change_nothing, 0, 2);
    tcase_add_test(cases, blocks_behind_a_waiting_request);
    tcase_add_loop_test(cases, memory_is_constant, 0, 2 * PIM_CASES(1)); /* a sanitizer keeps what is freed */
    tcase_add_test(cases, long_latencies);
    tcase_add_test(cases, parts_are_merged);
    tcase_add_test(cases, files_that_fail_say_why);
    tcase_add_test(cases, records_stand_for_channels);
    tcase_add_loop_test(cases, places_with_stack_identifiers, 0, 3);
    tcase_add_loop_test(cases, lists_of_other_tools, 0, sizeof foreign / sizeof foreign[0]);
    tcase_add_loop_test(cases, logs_of_other_tools, 0, sizeof logs / sizeof logs[0]);
    tcase_add_test(cases, commands_for_drampower);
    suite_add_tcase(suite, cases);
    return suite;
}

/*
 * pimsim-bench dram: the DRAM bank alone. Bursts and column accesses per CPU second for patterns that stress
 * it differently, over 1, 32 and 1 024 banks: the state of one bank stays in the first-level cache, that of
 * 1 024 in the second. Timing and organisation are those of configs/hardware/allspark-16x16.cfg in cycles of
 * 400 MHz.
 */
#include "models/cost/bank.h"
#include "sim/output/json.h"
#include "tools/bench/bench.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { MOST_BANKS = 1024, IDLE_CYCLES = 1000, BURST_BYTES = 4096 };

static const struct pim_bank_timing timing = {.trcd = 8,
                                              .trp = 8,
                                              .tras = 16,
                                              .trc = 24,
                                              .tcl = 8,
                                              .tcwl = 4,
                                              .tccd = 1,
                                              .twr = 6,
                                              .trtp = 3,
                                              .twtr = 3,
                                              .trtw = 2,
                                              .trfc = 72,
                                              .trefi = 1561,
                                              .burst_cycles = 1};
static const struct pim_bank_organization organization = {
    .banks = 1, .rows = 8192, .row_bytes = 1024, .column_bytes = 16, .closed_page = false};

enum pattern { RANDOM, SEQUENTIAL, STRIDED, IDLE };

/* A pattern, the length of a run as a share of --bursts, and its name in JSON. */
static const struct {
    enum pattern pattern;
    uint32_t banks;
    uint64_t divisor;
    const char *name, *text;
} cases[] = {
    {RANDOM, 1, 1, "random-1", "random columns, dense, 1 bank"},
    {RANDOM, 32, 1, "random-32", "random columns, dense, 32 banks"},
    {RANDOM, 1024, 1, "random-1024", "random columns, dense, 1024 banks"},
    {SEQUENTIAL, 1, 1, "sequential-1", "4 KiB runs, 1 bank"},
    {SEQUENTIAL, 1024, 1, "sequential-1024", "4 KiB runs, 1024 banks"},
    {STRIDED, 1, 4, "strided-1", "64 x 40 bytes, stride 100, 1 bank"},
    {STRIDED, 1024, 4, "strided-1024", "64 x 40 bytes, stride 100, 1024 banks"},
    {IDLE, 64, 1, "idle-64", "random columns, one in 1000 cycles, 64 banks"},
};

struct options {
    bool json;
    uint64_t bursts, repeats;
};

struct figures {
    double seconds;
    uint64_t bursts, columns, cycles; /* columns: accesses that the banks counted */
};

static const char usage[] = "usage: pimsim-bench dram [--bursts N] [--repeat N] [--json]\n"
                            "\n"
                            "  --bursts N   bursts of a run (default 4000000; strided runs take a quarter)\n"
                            "  --repeat N   runs; the fastest counts (default 3)\n"
                            "  --json       the results as JSON\n";

/* The i-th burst of a pattern. */
static struct pim_burst burst_of(enum pattern pattern, uint64_t i, uint64_t *state)
{
    const uint64_t capacity = (uint64_t)organization.rows * organization.row_bytes;
    switch (pattern) {
    case SEQUENTIAL:
        return (struct pim_burst){.address = i * BURST_BYTES % capacity, .bytes = BURST_BYTES, .count = 1};
    case STRIDED:
        return (struct pim_burst){
            .address = i * BURST_BYTES % (capacity / 2), .bytes = 40, .stride = 100, .count = 64};
    case RANDOM:
    case IDLE:
        break;
    }
    return (struct pim_burst){.address = (bench_random(state) >> 32) * organization.column_bytes % capacity,
                              .bytes = 16,
                              .count = 1};
}

/* One run over fresh banks, in turn. A dense request arrives when its bank takes it without a lost cycle. */
static struct figures run(enum pattern pattern, uint32_t count, uint64_t bursts)
{
    struct pim_bank_rules rules;
    struct pim_bank *banks = bench_allocate(count, sizeof *banks);
    uint64_t *next = bench_allocate(count, sizeof *next);
    struct pim_burst_times times = {0};
    struct figures figures = {.bursts = bursts};
    uint64_t state = 1;
    pim_bank_rules_initialize(&rules, &timing, &organization);
    for (uint32_t bank = 0; bank < count; bank++) {
        pim_bank_initialize(&banks[bank], &rules);
        next[bank] = 0;
    }
    double start = bench_cpu_ns();
    for (uint64_t i = 0; i < bursts; i++) {
        uint32_t bank = (uint32_t)i & (count - 1); /* counts are powers of two */
        struct pim_burst burst = burst_of(pattern, i, &state);
        pim_bank_access(&banks[bank], &burst, pattern == IDLE ? i * IDLE_CYCLES : next[bank], &times);
        next[bank] = times.next;
    }
    figures.seconds = (bench_cpu_ns() - start) * 1e-9;
    for (uint32_t bank = 0; bank < count; bank++) {
        struct pim_bank_counters counters;
        pim_bank_read_counters(&banks[bank], &counters);
        figures.columns += counters.reads + counters.writes;
        figures.cycles = next[bank] > figures.cycles ? next[bank] : figures.cycles;
    }
    free(banks);
    free(next);
    return figures;
}

static struct figures measure(size_t which, const struct options *options)
{
    struct figures best = {0};
    for (uint64_t i = 0; i < options->repeats; i++) {
        uint64_t bursts = options->bursts / cases[which].divisor + 1;
        struct figures now = run(cases[which].pattern, cases[which].banks, bursts);
        if (i == 0 || now.seconds < best.seconds)
            best = now;
    }
    return best;
}

static void print_text(const struct options *options)
{
    printf("clock %.2f GHz; CPU time, fastest of %" PRIu64 "; a bank is %zu bytes\n", bench_clock_ghz(),
           options->repeats, sizeof(struct pim_bank));
    printf("%-46s %9s %10s %12s %12s\n", "pattern", "ns/burst", "M bursts/s", "M columns/s", "M cycles/s");
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct figures figures = measure(i, options);
        printf("%-46s %9.2f %10.2f %12.1f %12.1f\n", cases[i].text,
               figures.seconds * 1e9 / (double)figures.bursts,
               (double)figures.bursts / figures.seconds * 1e-6,
               (double)figures.columns / figures.seconds * 1e-6,
               (double)figures.cycles / figures.seconds * 1e-6);
        (void)fflush(stdout);
    }
}

static bool print_json(const struct options *options)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_json *json = pim_json_create();
    if (!json)
        return false;
    pim_json_put_real(json, "clock_ghz", bench_clock_ghz());
    pim_json_put_count(json, "repeats", options->repeats);
    pim_json_begin_array(json, "cases");
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct figures figures = measure(i, options);
        pim_json_begin_object(json, NULL);
        pim_json_put_text(json, "name", cases[i].name);
        pim_json_put_count(json, "banks", cases[i].banks);
        pim_json_put_count(json, "bursts", figures.bursts);
        pim_json_put_count(json, "columns", figures.columns);
        pim_json_put_count(json, "cycles", figures.cycles);
        pim_json_put_real(json, "cpu_seconds", figures.seconds);
        pim_json_put_real(json, "bursts_per_cpu_second", (double)figures.bursts / figures.seconds);
        pim_json_put_real(json, "columns_per_cpu_second", (double)figures.columns / figures.seconds);
        pim_json_end(json);
    }
    pim_json_end(json);
    enum pim_status status = pim_json_write(json, stdout, &error);
    pim_json_destroy(json);
    if (status != PIM_OK)
        fprintf(stderr, "pimsim-bench dram: %s\n", error.text);
    return status == PIM_OK;
}

int bench_dram(int count, char **arguments)
{
    struct options options = {.bursts = 4000000, .repeats = 3};
    for (int i = 1; i < count; i++) {
        const char *value = i + 1 < count ? arguments[i + 1] : NULL;
        if (strcmp(arguments[i], "--help") == 0) {
            (void)fputs(usage, stdout);
            return 0;
        }
        if (strcmp(arguments[i], "--json") == 0) {
            options.json = true;
            continue;
        }
        bool good = false;
        if (strcmp(arguments[i], "--bursts") == 0)
            good = bench_count(arguments[i], value, 1000, UINT64_C(1000000000000), &options.bursts);
        else if (strcmp(arguments[i], "--repeat") == 0)
            good = bench_count(arguments[i], value, 1, 1000, &options.repeats);
        else
            fprintf(stderr, "pimsim-bench: dram has no option '%s'\n%s", arguments[i], usage);
        if (!good)
            return 2;
        i++;
    }
    if (options.json)
        return print_json(&options) ? EXIT_SUCCESS : EXIT_FAILURE;
    print_text(&options);
    return EXIT_SUCCESS;
}

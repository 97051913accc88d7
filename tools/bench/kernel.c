/*
 * pimsim-bench kernel: what an event costs, beside a binary heap in the same run and beside figures recorded
 * for other simulators.
 *
 * The recorded figures were measured once, on another machine (AMD EPYC, Zen 5, 4.43 GHz): cimba 3.0.0 RC1
 * (commit 278eb47, event interface, release build) and SystemC 2.3.4 (an sc_event that notifies itself;
 * SC_METHOD on a clock edge). A ratio to them compares two machines, so it is given in time as measured and
 * in core cycles.
 */
#include "tools/bench/kernel.h"

#include "tools/bench/bench.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define RECORDED_GHZ 4.43
#define RECORDED_MACHINE "AMD EPYC (Zen 5), 4.43 GHz"
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct hold_case {
    enum bench_delays delays;
    unsigned handlers;
    uint64_t pending;
    double cimba_ns; /* recorded; 0: none */
    double systemc_ns;
};

static const struct hold_case hold_cases[] = {
    {BENCH_HW, 1, 100, 66.4, 75.3}, {BENCH_HW, 1, 256, 77, 85},  {BENCH_HW, 1, 4096, 106, 123},
    {BENCH_HW, 1, 10000, 113, 153}, {BENCH_HW, 1, 65536, 0, 0},  {BENCH_HW, 1, 1000000, 435, 1350},
    {BENCH_HOT, 1, 256, 0, 0},      {BENCH_HOT, 1, 4096, 0, 0},  {BENCH_HOT, 1, 65536, 0, 0},
    {BENCH_FAR, 1, 256, 0, 0},      {BENCH_FAR, 1, 4096, 0, 0},  {BENCH_FAR, 1, 65536, 0, 0},
    {BENCH_EXP, 1, 256, 0, 0},      {BENCH_EXP, 1, 4096, 0, 0},  {BENCH_EXP, 1, 65536, 0, 0},
    {BENCH_LATE, 1, 256, 0, 0},     {BENCH_LATE, 1, 4096, 0, 0}, {BENCH_LATE, 1, 65536, 0, 0},
    {BENCH_HW, 8, 256, 0, 0},       {BENCH_HW, 8, 4096, 0, 0},   {BENCH_HW, 8, 65536, 0, 0},
};

struct grid_case {
    unsigned side;
    double systemc_ns;
};

static const struct grid_case grid_cases[] = {{16, 15.3}, {64, 20.9}};

struct options {
    bool json;
    uint64_t pending; /* --hold: a single measurement; 0: the whole table */
    uint64_t events;
    uint64_t repeats;
    uint64_t handlers;
    enum bench_delays delays;
    enum bench_queue queue;
};

/* Measured CPU ns of each case. */
struct results {
    double wheel[COUNT(hold_cases)];
    double heap[COUNT(hold_cases)];
    double grid[COUNT(grid_cases)];
    double ghz;
};

static const char *const usage = "usage: pimsim-bench kernel [--json] [--repeat N] [--events N]\n"
                                 "       pimsim-bench kernel --hold PENDING [--delays NAME] [--handlers N] "
                                 "[--queue wheel|heap] [--events N] [--repeat N]\n"
                                 "\n"
                                 "  --json         the results as JSON\n"
                                 "  --hold N       the hold model alone, with N pending events (with "
                                 "--repeat 1: no warm-up, for callgrind)\n"
                                 "  --delays NAME  distribution of the delays: hw, hot, far, exp, late (hw)\n"
                                 "  --handlers N   different handlers, 1 to 8 (1)\n"
                                 "  --queue NAME   the kernel's wheel or the binary heap (wheel)\n"
                                 "  --events N     events of a run (default 2000000)\n"
                                 "  --repeat N     runs; the fastest counts (default 5)\n";

/* ---- options ---- */

static bool choose(const char *option, const char *text, const char *const *names, unsigned count,
                   unsigned *choice)
{
    for (unsigned i = 0; text && i < count; i++) {
        if (strcmp(text, names[i]) == 0) {
            *choice = i;
            return true;
        }
    }
    fprintf(stderr, "pimsim-bench: %s %s: expected", option, text ? text : "");
    for (unsigned i = 0; i < count; i++)
        fprintf(stderr, "%s %s", i ? "," : "", names[i]);
    fprintf(stderr, "\n");
    return false;
}

/* Reads one option with its value; false after a message. */
static bool read_option(struct options *options, const char *name, const char *value)
{
    static const char *const queues[] = {"wheel", "heap"};
    unsigned choice = 0;
    if (strcmp(name, "--hold") == 0)
        return bench_count(name, value, 1, 100000000, &options->pending);
    if (strcmp(name, "--events") == 0)
        return bench_count(name, value, 1, UINT64_C(1000000000000), &options->events);
    if (strcmp(name, "--repeat") == 0)
        return bench_count(name, value, 1, 1000, &options->repeats);
    if (strcmp(name, "--handlers") == 0)
        return bench_count(name, value, 1, BENCH_HANDLERS, &options->handlers);
    if (strcmp(name, "--delays") == 0) {
        if (!choose(name, value, bench_delay_names, BENCH_DELAYS, &choice))
            return false;
        options->delays = (enum bench_delays)choice;
        return true;
    }
    if (strcmp(name, "--queue") == 0) {
        if (!choose(name, value, queues, COUNT(queues), &choice))
            return false;
        options->queue = (enum bench_queue)choice;
        return true;
    }
    fprintf(stderr, "pimsim-bench: kernel has no option '%s'\n%s", name, usage);
    return false;
}

/* ---- output ---- */

static void measure(const struct options *options, struct results *results)
{
    unsigned repeats = (unsigned)options->repeats;
    results->ghz = bench_clock_ghz();
    for (size_t i = 0; i < COUNT(hold_cases); i++) {
        const struct hold_case *c = &hold_cases[i];
        results->wheel[i] =
            bench_hold(BENCH_WHEEL, c->delays, c->handlers, c->pending, options->events, repeats);
        results->heap[i] =
            bench_hold(BENCH_HEAP, c->delays, c->handlers, c->pending, options->events, repeats);
    }
    for (size_t i = 0; i < COUNT(grid_cases); i++) {
        const struct grid_case *c = &grid_cases[i];
        uint64_t cells = (uint64_t)c->side * c->side;
        results->grid[i] = bench_grid(c->side, options->events / cells + 1, repeats);
    }
    double ghz = bench_clock_ghz();
    results->ghz = ghz > results->ghz ? ghz : results->ghz;
}

/* "4.9x (7.3x)": recorded over measured, in time and in core cycles; "" when nothing is recorded. */
static void ratio_text(char *text, size_t size, double recorded_ns, double ns, double ghz)
{
    text[0] = '\0';
    if (recorded_ns > 0)
        (void)snprintf(text, size, "%.1fx (%.1fx)", recorded_ns / ns,
                       recorded_ns * RECORDED_GHZ / (ns * ghz));
}

static void print_text(const struct results *results)
{
    char cimba[32];
    char systemc[32];
    printf("CPU time of the process, fastest run; the core's clock: %.2f GHz\n", results->ghz);
    printf("cimba, SystemC: figures recorded on the reference machine (%s) over this run's, in time (in core "
           "cycles)\n\n",
           RECORDED_MACHINE);
    printf("hold model, 4 random phases, handler included, ns per event\n");
    printf("%-6s %8s %8s %7s %7s %8s %7s  %-16s %-16s\n", "delays", "handlers", "pending", "wheel", "cycles",
           "heap", "heap/wh.", "cimba", "SystemC");
    for (size_t i = 0; i < COUNT(hold_cases); i++) {
        const struct hold_case *c = &hold_cases[i];
        ratio_text(cimba, sizeof cimba, c->cimba_ns, results->wheel[i], results->ghz);
        ratio_text(systemc, sizeof systemc, c->systemc_ns, results->wheel[i], results->ghz);
        printf("%-6s %8u %8" PRIu64 " %7.1f %7.1f %8.1f %7.1fx  %-16s %-16s\n", bench_delay_names[c->delays],
               c->handlers, c->pending, results->wheel[i], results->wheel[i] * results->ghz, results->heap[i],
               results->heap[i] / results->wheel[i], cimba, systemc);
    }
    printf("\ngrid of cells with an event each, ns per cell and cycle\n");
    for (size_t i = 0; i < COUNT(grid_cases); i++) {
        const struct grid_case *c = &grid_cases[i];
        ratio_text(systemc, sizeof systemc, c->systemc_ns, results->grid[i], results->ghz);
        printf("%2ux%-2u %5.2f %7.1f cycles  SystemC %s\n", c->side, c->side, results->grid[i],
               results->grid[i] * results->ghz, systemc);
    }
}

/* Adds recorded ns and the ratios of it, when there is any. */
static void add_recorded(json_t *row, const char *name, double recorded_ns, double ns, double ghz)
{
    if (recorded_ns > 0)
        (void)json_object_set_new(row, name,
                                  json_pack("{s:f, s:f, s:f}", "recorded_ns", recorded_ns, "ratio_time",
                                            recorded_ns / ns, "ratio_cycles",
                                            recorded_ns * RECORDED_GHZ / (ns * ghz)));
}

static int print_json(const struct options *options, const struct results *results)
{
    json_t *hold = json_array();
    json_t *grid = json_array();
    for (size_t i = 0; i < COUNT(hold_cases); i++) {
        const struct hold_case *c = &hold_cases[i];
        json_t *row = json_pack("{s:s, s:i, s:I, s:f, s:f}", "delays", bench_delay_names[c->delays],
                                "handlers", (int)c->handlers, "pending", (json_int_t)c->pending,
                                "ns_per_event", results->wheel[i], "heap_ns_per_event", results->heap[i]);
        add_recorded(row, "cimba", c->cimba_ns, results->wheel[i], results->ghz);
        add_recorded(row, "systemc", c->systemc_ns, results->wheel[i], results->ghz);
        (void)json_array_append_new(hold, row);
    }
    for (size_t i = 0; i < COUNT(grid_cases); i++) {
        const struct grid_case *c = &grid_cases[i];
        json_t *row =
            json_pack("{s:i, s:f}", "side", (int)c->side, "ns_per_cell_and_cycle", results->grid[i]);
        add_recorded(row, "systemc", c->systemc_ns, results->grid[i], results->ghz);
        (void)json_array_append_new(grid, row);
    }
    json_t *all =
        json_pack("{s:s, s:s, s:f, s:I, s:I, s:s, s:o, s:o}", "benchmark", "kernel", "version",
                  PIMSIM_VERSION, "clock_ghz", results->ghz, "events", (json_int_t)options->events, "repeats",
                  (json_int_t)options->repeats, "recorded_on", RECORDED_MACHINE, "hold", hold, "grid", grid);
    int failed =
        !all || json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) != 0 || printf("\n") < 0;
    json_decref(all);
    return failed;
}

int bench_kernel(int count, char **arguments)
{
    struct options options = {
        .events = 2000000, .repeats = 5, .handlers = 1, .delays = BENCH_HW, .queue = BENCH_WHEEL};
    for (int i = 1; i < count; i++) {
        if (strcmp(arguments[i], "--help") == 0) {
            printf("%s", usage);
            return 0;
        }
        if (strcmp(arguments[i], "--json") == 0) {
            options.json = true;
            continue;
        }
        if (!read_option(&options, arguments[i], i + 1 < count ? arguments[i + 1] : NULL))
            return 2;
        i++;
    }
    if (options.pending > 0) {
        double ns = bench_hold(options.queue, options.delays, (unsigned)options.handlers, options.pending,
                               options.events, (unsigned)options.repeats);
        printf("%.2f ns per event\n", ns);
        return 0;
    }
    struct results results;
    measure(&options, &results);
    if (options.json)
        return print_json(&options, &results);
    print_text(&results);
    return 0;
}

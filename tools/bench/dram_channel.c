/*
 * pimsim-bench channel: DRAM channels with their controller. Requests and simulated cycles per CPU second on
 * the lists on which Ramulator 2.1 (commit c5b1c3a) and DRAMsim3 (commit 2981759) were measured (simulation
 * loop only, CPU time, gcc -O3, a shared AMD EPYC; docs/models/dram.md), and the cost of a request against
 * the number of private banks.
 */
#include "tools/bench/bench.h"

#include "models/dram/memory.h"
#include "models/dram/standard/schema.h"
#include "sim/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum list { SEQUENTIAL, RANDOM, MIXED, RANDOM_20, IDLE };

/* Requests per CPU second of the other tools, in thousands; 0: not measured. */
static const struct {
    const char *preset;
    enum list list;
    double ramulator, dramsim;
} cases[] = {
    {"ddr4_2400r", SEQUENTIAL, 446, 416},    {"ddr4_2400r", RANDOM, 229, 175},
    {"ddr4_2400r", MIXED, 338, 287},         {"ddr4_2400r", RANDOM_20, 697, 340},
    {"ddr4_2400r", IDLE, 54.9, 11.3},        {"hbm2_pim_act1", SEQUENTIAL, 573, 685},
    {"hbm2_pim_act1", RANDOM, 202, 206},     {"hbm2_pim_act1", MIXED, 277, 312},
    {"hbm2_pim_act1", RANDOM_20, 481, 318},  {"hbm2_pim_act1", IDLE, 26.8, 11.1},
    {"pimbank_400", SEQUENTIAL, 1550, 2300}, {"pimbank_400", RANDOM, 100, 102},
    {"pimbank_400", MIXED, 192, 192},        {"pimbank_400", IDLE, 53.3, 26.8},
};

static const char *const list_names[] = {"sequential", "random", "mixed", "random every 20",
                                         "random every 1000"};

static void ignore(void *context, uint64_t request, uint64_t first_command, uint64_t completed)
{
    (void)request;
    (void)first_command;
    *(uint64_t *)context += completed;
}

static void configure(struct pim_dram_configuration *configuration, const char *preset, uint32_t channels)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_configuration *values = NULL;
    char setting[64];
    (void)snprintf(setting, sizeof setting, "dram.channels=%" PRIu32, channels);
    enum pim_status status = pim_configuration_create(&pim_dram_schema, &values, &error);
    if (status == PIM_OK)
        status = pim_dram_preset_read(values, preset, &error);
    if (status == PIM_OK && channels > 0)
        status = pim_configuration_set(values, setting, &error);
    if (status == PIM_OK)
        status = pim_dram_configure(values, configuration, &error);
    pim_configuration_destroy(values);
    if (status != PIM_OK) {
        fprintf(stderr, "pimsim-bench: %s\n", error.text);
        exit(EXIT_FAILURE);
    }
}

/* The lists as the other tools had them: splitmix64 with seed 1. */
static void fill(struct pim_dram_request *requests, uint64_t count, enum list list,
                 const struct pim_dram_configuration *configuration)
{
    const struct pim_dram_organization *organization = &configuration->specification.organization;
    const uint64_t bytes = organization->access_bytes, columns = organization->columns;
    const uint64_t places = configuration->mapping.capacity / bytes;
    const uint64_t spacing = list == RANDOM_20 ? 20 : list == IDLE ? 1000 : 0;
    uint64_t state = 1, place = 0;
    for (uint64_t i = 0; i < count; i++) {
        bool write = false;
        if (list == SEQUENTIAL) {
            place = i % places;
        } else if (list == MIXED) {
            bool near = (pim_splitmix64(&state) & 0xffff) < 39322 && i > 0;
            place =
                near ? place / columns * columns + (place + 1) % columns : pim_splitmix64(&state) % places;
            write = (pim_splitmix64(&state) & 0xffff) < 21627;
        } else {
            place = pim_splitmix64(&state) % places;
        }
        requests[i] = (struct pim_dram_request){spacing * i, place * bytes, (uint32_t)bytes, write};
    }
}

struct result {
    double ns; /* best of the repetitions */
    uint64_t cycles;
};

static struct result run(const struct pim_dram_configuration *configuration,
                         const struct pim_dram_request *requests, uint64_t count, uint64_t repetitions)
{
    struct result result = {0, 0};
    uint64_t sum = 0;
    uint64_t *arrived = bench_allocate(count, sizeof *arrived);
    const struct pim_dram_sink sink = {&sum, ignore, NULL};
    for (uint64_t i = 0; i < repetitions; i++) {
        struct pim_dram_memory *memory = pim_dram_memory_create(
            &configuration->specification, &configuration->policy, &configuration->mapping, &sink);
        if (!memory) {
            fprintf(stderr, "pimsim-bench: out of memory\n");
            exit(EXIT_FAILURE);
        }
        double start = bench_cpu_ns();
        (void)pim_dram_memory_serve(memory, requests, count, 0, arrived);
        result.cycles = pim_dram_memory_finish(memory);
        double ns = bench_cpu_ns() - start;
        result.ns = i == 0 || ns < result.ns ? ns : result.ns;
        pim_dram_memory_destroy(memory);
    }
    free(arrived);
    return result;
}

static void bench_lists(uint64_t repetitions)
{
    printf("%-15s %-18s %9s %9s %10s %10s %9s %8s\n", "preset", "list", "ns/req", "k req/s", "M cycles/s",
           "cycles", "Ramulator", "DRAMsim3");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pim_dram_configuration configuration;
        uint64_t count = cases[i].list == IDLE ? 20000 : 200000;
        struct pim_dram_request *requests = bench_allocate(count, sizeof *requests);
        configure(&configuration, cases[i].preset, 0);
        fill(requests, count, cases[i].list, &configuration);
        struct result result = run(&configuration, requests, count, repetitions);
        double rate = (double)count / result.ns * 1e6;
        printf("%-15s %-18s %9.1f %9.0f %10.1f %10" PRIu64 " %8.1fx %7.1fx\n", cases[i].preset,
               list_names[cases[i].list], result.ns / (double)count, rate,
               (double)result.cycles / result.ns * 1e3, result.cycles, rate / cases[i].ramulator,
               rate / cases[i].dramsim);
        free(requests);
    }
}

/* Random reads over more and more private banks: as fast as they are accepted, and 1 000 cycles apart. */
static void bench_banks(uint64_t repetitions)
{
    enum { COUNT = 200000, IDLE_COUNT = 20000 };
    struct pim_dram_request *requests = bench_allocate(COUNT, sizeof *requests);
    printf("\n%-15s %14s %14s\n", "private banks", "busy ns/req", "idle ns/req");
    for (uint32_t banks = 1; banks <= 1024; banks *= 4) {
        struct pim_dram_configuration configuration;
        configure(&configuration, "allspark_stack", banks);
        fill(requests, COUNT, RANDOM, &configuration);
        struct result busy = run(&configuration, requests, COUNT, repetitions);
        fill(requests, IDLE_COUNT, IDLE, &configuration);
        struct result idle = run(&configuration, requests, IDLE_COUNT, repetitions);
        printf("%15" PRIu32 " %14.1f %14.1f\n", banks, busy.ns / COUNT, idle.ns / IDLE_COUNT);
    }
    struct pim_dram_configuration configuration;
    configure(&configuration, "allspark_stack", 64);
    fill(requests, 2000, IDLE, &configuration);
    struct result result = run(&configuration, requests, 2000, repetitions);
    double rate = 2000 / result.ns * 1e6;
    printf(
        "64 private banks, 2000 reads in 2 M cycles: %.0f k requests/s, Ramulator x %.0f, DRAMsim3 x %.0f\n",
        rate, rate / 0.90, rate / 0.38);
    free(requests);
}

int bench_dram_channel(int count, char **arguments)
{
    uint64_t repetitions = 3;
    for (int i = 1; i < count; i++) {
        if (strcmp(arguments[i], "--help") == 0) {
            printf("usage: pimsim-bench channel [--repeat N]\n\n  --repeat N   best of N runs (1 to 100)\n");
            return 0;
        }
        if (strcmp(arguments[i], "--repeat") != 0 || i + 1 >= count) {
            fprintf(stderr, "pimsim-bench channel: unknown option '%s'\n", arguments[i]);
            return 2;
        }
        if (!bench_count("--repeat", arguments[++i], 1, 100, &repetitions))
            return 2;
    }
    printf("clock %.2f GHz; CPU time of the simulation loop\n", bench_clock_ghz());
    bench_lists(repetitions);
    bench_banks(repetitions);
    return 0;
}

/*
 * pimsim-bench SUBCOMMAND [options]: the project's benchmarks. docs/benchmarks.md and the model pages quote
 * their commands.
 */
#include "tools/bench/bench.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct {
    const char *name;
    bench_command *run;
    const char *text;
} commands[] = {
    {"kernel", bench_kernel, "event kernel: ns per event and per clocked module, beside a binary heap"},
    {"dram", bench_dram, "DRAM bank: bursts and columns per CPU second"},
    {"channel", bench_dram_channel,
     "DRAM channels: requests per CPU second beside measured Ramulator 2.1 and DRAMsim3"},
    {"noc", bench_noc, "mesh: flit-hops, flits and packet-hops per CPU second"},
    {"core", bench_core, "cores with crossbars: instructions per CPU second of a program of a million"},
    {"overlap", bench_overlap, "overlap analysis: pairs of layers, beside comparison of all data spaces"},
    {"run", bench_run, "the whole program: maps and replays Swin networks; time, rates and memory"},
};

#define COMMANDS (sizeof commands / sizeof commands[0])
#define CLOCK_TRIES 5
#define CLOCK_CHAIN 20000000

double bench_cpu_ns(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

double bench_clock_ghz(void)
{
    double best = 0;
    for (int try = 0; try < CLOCK_TRIES; try++) {
        volatile uint64_t seed = 1;
        uint64_t value = seed;
        double start = bench_cpu_ns();
        /* Addition and exclusive or alternate, so that no compiler folds the chain: two cycles a turn. */
        for (uint64_t i = 0; i < CLOCK_CHAIN; i++)
            value = (value + i) ^ seed;
        double rate = 2.0 * CLOCK_CHAIN / (bench_cpu_ns() - start);
        seed = value;
        best = rate > best ? rate : best;
    }
    return best;
}

uint64_t bench_random(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * UINT64_C(2685821657736338717);
}

bool bench_count(const char *option, const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
    char *end = NULL;
    errno = 0;
    unsigned long long number = text ? strtoull(text, &end, 10) : 0;
    bool good = text && text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && number >= least &&
                number <= most;
    if (!good)
        fprintf(stderr, "pimsim-bench: %s %s: expected a number from %" PRIu64 " to %" PRIu64 "\n", option,
                text ? text : "", least, most);
    else
        *value = number;
    return good;
}

void *bench_allocate(size_t count, size_t size)
{
    void *memory = count > SIZE_MAX / size ? NULL : malloc(count * size);
    if (!memory) {
        fprintf(stderr, "pimsim-bench: out of memory\n");
        exit(EXIT_FAILURE);
    }
    return memory;
}

static void print_usage(FILE *stream)
{
    fprintf(stream, "usage: pimsim-bench SUBCOMMAND [options]   (--help after a subcommand lists "
                    "them)\n\nsubcommands:\n");
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(stream, "  %-10s %s\n", commands[i].name, commands[i].text);
}

int main(int count, char **arguments)
{
    if (count >= 2 && strcmp(arguments[1], "--help") == 0) {
        print_usage(stdout);
        return 0;
    }
    for (size_t i = 0; count >= 2 && i < COMMANDS; i++)
        if (strcmp(arguments[1], commands[i].name) == 0)
            return commands[i].run(count - 1, arguments + 1);
    if (count >= 2)
        fprintf(stderr, "pimsim-bench: no subcommand '%s'\n", arguments[1]);
    print_usage(stderr);
    return 2;
}

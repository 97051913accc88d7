/*
 * pimsim-bench: a program with one subcommand a benchmark. What the benchmarks share: time that does not
 * depend on the load of the machine (CPU time of the process), the clock rate that was really had, and seeded
 * numbers.
 */
#ifndef PIMSIM_TOOLS_BENCH_BENCH_H
#define PIMSIM_TOOLS_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Runs a subcommand with its own options (arguments[0] is its name); returns the exit code. */
typedef int bench_command(int count, char **arguments);

bench_command bench_kernel;
bench_command bench_dram;
bench_command bench_dram_channel;
bench_command bench_noc;
bench_command bench_core;
bench_command bench_overlap;
bench_command bench_run;

/* CPU time of the process in nanoseconds (CLOCK_PROCESS_CPUTIME_ID). */
double bench_cpu_ns(void);

/*
 * Rate in GHz of a chain of dependent additions: the core's clock at this moment, the best of several
 * tries.
 */
double bench_clock_ghz(void);

/* xorshift64*: the inputs of a benchmark. The state is not 0. */
uint64_t bench_random(uint64_t *state);

/*
 * Parses a decimal count from `least` to `most`. On anything else it prints why to stderr and returns
 * false.
 */
bool bench_count(const char *option, const char *text, uint64_t least, uint64_t most, uint64_t *value);

/* malloc() that ends the program with a message when memory is out. */
void *bench_allocate(size_t count, size_t size);

#endif

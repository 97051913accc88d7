/* Latencies of requests, counted: percentiles are exact, and memory grows with the number of unlike latencies
 * but not with the number of requests. */
#ifndef PIMSIM_TOOLS_COMMAND_DRAM_LATENCY_H
#define PIMSIM_TOOLS_COMMAND_DRAM_LATENCY_H

#include "sim/output/histogram.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dram_latency {
    uint64_t count;
    double average; /* NaN without requests */
    uint64_t median, p95, p99, most;
};

/* From DRAM_LATENCY_PAGES pages on latencies are kept one by one: a request that waits so long is starved,
 * which is rare. */
enum { DRAM_LATENCY_PAGE = 1 << 11, DRAM_LATENCY_PAGES = 1 << 11 };

/* All zero is empty. */
struct dram_latencies {
    uint64_t *counts[DRAM_LATENCY_PAGES]; /* owned: of DRAM_LATENCY_PAGE latencies each; NULL: none of them */
    uint64_t *longer;                     /* owned: the others, one by one */
    size_t longer_count, longer_capacity;
    uint64_t count, most;
    struct pim_sum sum;
};

/* False: memory is out. */
bool dram_latencies_add(struct dram_latencies *latencies, uint64_t cycles);
/* p per cent of the latencies are not above a percentile, at least. Sorts. */
void dram_latencies_summarize(struct dram_latencies *latencies, struct dram_latency *summary);
void dram_latencies_terminate(struct dram_latencies *latencies);

#endif

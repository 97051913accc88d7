#include "tools/command/dram/latency.h"

#include "sim/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* From here on latencies are kept one by one: a request that waits so long is starved, which is rare. */
enum { COUNTED = 1 << 22, FIRST_SIZE = 1 << 12 };

static bool grow(struct dram_latencies *latencies, uint64_t cycles)
{
    size_t size = latencies->size > 0 ? latencies->size : FIRST_SIZE;
    while (size <= cycles)
        size *= 2;
    uint64_t *counts = realloc(latencies->counts, size * sizeof *counts);
    if (!counts)
        return false;
    memset(&counts[latencies->size], 0, (size - latencies->size) * sizeof *counts);
    latencies->counts = counts;
    latencies->size = size;
    return true;
}

bool dram_latencies_add(struct dram_latencies *latencies, uint64_t cycles)
{
    if (cycles >= COUNTED) {
        uint64_t *longer = pim_array_grow(latencies->longer, &latencies->longer_capacity,
                                          latencies->longer_count + 1, sizeof *longer);
        if (!longer)
            return false;
        latencies->longer = longer;
        latencies->longer[latencies->longer_count++] = cycles;
    } else {
        if (cycles >= latencies->size && !grow(latencies, cycles))
            return false;
        latencies->counts[cycles]++;
    }
    latencies->count++;
    pim_sum_add(&latencies->sum, cycles);
    latencies->most = cycles > latencies->most ? cycles : latencies->most;
    return true;
}

static int compare(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* The latency at a place of all of them in rising order. */
static uint64_t at_place(const struct dram_latencies *latencies, uint64_t place)
{
    uint64_t before = 0;
    for (size_t i = 0; i < latencies->size; i++) {
        before += latencies->counts[i];
        if (before > place)
            return i;
    }
    return latencies->longer[place - before];
}

void dram_latencies_summarize(struct dram_latencies *latencies, struct dram_latency *summary)
{
    const uint64_t count = latencies->count;
    *summary = (struct dram_latency){.count = count, .average = (double)NAN, .most = latencies->most};
    if (count == 0)
        return;
    if (latencies->longer_count > 1)
        qsort(latencies->longer, latencies->longer_count, sizeof latencies->longer[0], compare);
    summary->average = pim_sum_real(&latencies->sum) / (double)count;
    summary->median = at_place(latencies, count / 2);
    summary->p95 = at_place(latencies, count / 100 * 95 + count % 100 * 95 / 100);
    summary->p99 = at_place(latencies, count / 100 * 99 + count % 100 * 99 / 100);
}

void dram_latencies_terminate(struct dram_latencies *latencies)
{
    free(latencies->counts);
    free(latencies->longer);
    *latencies = (struct dram_latencies){0};
}

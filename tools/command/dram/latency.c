#include "tools/command/dram/latency.h"

#include "sim/arena.h"

#include <math.h>
#include <stdlib.h>

bool dram_latencies_add(struct dram_latencies *latencies, uint64_t cycles)
{
    const uint64_t page = cycles / DRAM_LATENCY_PAGE;
    if (page >= DRAM_LATENCY_PAGES) {
        uint64_t *longer = pim_array_grow(latencies->longer, &latencies->longer_capacity,
                                          latencies->longer_count + 1, sizeof *longer);
        if (!longer)
            return false;
        latencies->longer = longer;
        latencies->longer[latencies->longer_count++] = cycles;
    } else {
        uint64_t **counts = &latencies->counts[page];
        if (!*counts && !(*counts = calloc(DRAM_LATENCY_PAGE, sizeof **counts)))
            return false;
        (*counts)[cycles % DRAM_LATENCY_PAGE]++;
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
    for (uint64_t i = 0; i < DRAM_LATENCY_PAGES; i++)
        for (uint64_t j = 0; latencies->counts[i] && j < DRAM_LATENCY_PAGE; j++) {
            before += latencies->counts[i][j];
            if (before > place)
                return i * DRAM_LATENCY_PAGE + j;
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
    for (size_t i = 0; i < DRAM_LATENCY_PAGES; i++)
        free(latencies->counts[i]);
    free(latencies->longer);
    *latencies = (struct dram_latencies){0};
}

/* Exact sums of 128 bits, and histograms of integers. Updates are inline and never allocate; counts, sums,
 * minima and maxima are exact, only means are floating point. */
#ifndef PIMSIM_SIM_OUTPUT_HISTOGRAM_H
#define PIMSIM_SIM_OUTPUT_HISTOGRAM_H

#include "sim/integer.h"

#include <stdint.h>

/* An exact sum of 128 bits. */
struct pim_sum {
    uint64_t low, high;
};

static inline void pim_sum_add(struct pim_sum *sum, uint64_t amount)
{
    sum->low += amount;
    sum->high += sum->low < amount;
}

/* The sum as the nearest double, or one beside it. */
static inline double pim_sum_real(const struct pim_sum *sum)
{
    return (double)sum->high * 0x1p64 + (double)sum->low;
}

/*
 * A histogram of integers with log-linear buckets (as in HdrHistogram): values below 2^exact_bits have a
 * bucket each; above, every power of two is divided into 2^(exact_bits - 1) buckets of the same width, so
 * that a bucket is no wider than value / 2^(exact_bits - 1). Values above `largest` are counted in the last
 * bucket. Count, sum, minimum and maximum are exact for all values.
 */
struct pim_histogram {
    uint64_t *buckets;
    uint64_t bucket_count;
    uint64_t largest;
    unsigned exact_bits;
    uint64_t count;
    uint64_t minimum; /* UINT64_MAX while empty */
    uint64_t maximum; /* 0 while empty */
    struct pim_sum sum;
};

enum { PIM_HISTOGRAM_EXACT_BITS = 8, PIM_HISTOGRAM_LEAST_BITS = 1, PIM_HISTOGRAM_MOST_BITS = 16 };

/* Allocates the buckets: 8 bytes each, (2^exact_bits + powers of two above * 2^(exact_bits - 1)) of them.
 * Aborts with a message when memory is out. exact_bits from 1 to 16. */
void pim_histogram_initialize(struct pim_histogram *histogram, unsigned exact_bits, uint64_t largest);
void pim_histogram_terminate(struct pim_histogram *histogram);

/* Empties it. */
void pim_histogram_clear(struct pim_histogram *histogram);

static inline uint64_t pim_histogram_bucket(const struct pim_histogram *histogram, uint64_t value)
{
    if (value > histogram->largest)
        value = histogram->largest;
    if (value >> histogram->exact_bits == 0)
        return value;
    unsigned shift = pim_log2_floor(value) - histogram->exact_bits + 1;
    return ((uint64_t)shift << (histogram->exact_bits - 1)) + (value >> shift);
}

static inline void pim_histogram_add(struct pim_histogram *histogram, uint64_t value)
{
    histogram->buckets[pim_histogram_bucket(histogram, value)]++;
    histogram->count++;
    pim_sum_add(&histogram->sum, value);
    if (value < histogram->minimum)
        histogram->minimum = value;
    if (value > histogram->maximum)
        histogram->maximum = value;
}

/*
 * The per_mille-th quantile by nearest rank (990: p99; 500: the lower median): the smallest value v for which
 * at least ceil(count * per_mille / 1000) values are <= v. Exact when v < 2^exact_bits; otherwise the upper
 * end of v's bucket, which is at least v and less than v * (1 + 2^(1 - exact_bits)), and never above the
 * maximum. When v is above `largest`, the maximum. 0 while empty.
 */
uint64_t pim_histogram_quantile(const struct pim_histogram *histogram, unsigned per_mille);

/* NaN while empty. */
double pim_histogram_mean(const struct pim_histogram *histogram);

#endif

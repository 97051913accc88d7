#include "sim/output/histogram.h"

#include "sim/arena.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void pim_histogram_initialize(struct pim_histogram *histogram, unsigned exact_bits, uint64_t largest)
{
    assert(exact_bits >= PIM_HISTOGRAM_LEAST_BITS && exact_bits <= PIM_HISTOGRAM_MOST_BITS);
    *histogram = (struct pim_histogram){.exact_bits = exact_bits, .largest = largest};
    size_t count = (size_t)pim_histogram_bucket(histogram, largest) + 1;
    size_t capacity = 0;
    histogram->buckets = pim_array_require(NULL, &capacity, count, sizeof *histogram->buckets);
    histogram->bucket_count = count;
    pim_histogram_clear(histogram);
}

void pim_histogram_terminate(struct pim_histogram *histogram)
{
    free(histogram->buckets);
    histogram->buckets = NULL;
    histogram->bucket_count = 0;
}

void pim_histogram_clear(struct pim_histogram *histogram)
{
    memset(histogram->buckets, 0, (size_t)histogram->bucket_count * sizeof *histogram->buckets);
    histogram->count = 0;
    histogram->minimum = UINT64_MAX;
    histogram->maximum = 0;
    histogram->sum = (struct pim_sum){0};
}

/* The largest value that falls into a bucket. */
static uint64_t bucket_end(const struct pim_histogram *histogram, uint64_t bucket)
{
    if (bucket + 1 == histogram->bucket_count)
        return UINT64_MAX; /* also holds everything above `largest` */
    unsigned half_bits = histogram->exact_bits - 1;
    if (bucket >> histogram->exact_bits == 0)
        return bucket;
    /* The inverse of pim_histogram_bucket: bucket = shift * half + mantissa, half <= mantissa < 2 * half. */
    uint64_t half = UINT64_C(1) << half_bits;
    unsigned shift = (unsigned)(bucket >> half_bits) - 1;
    uint64_t mantissa = (bucket & (half - 1)) + half;
    return (mantissa << shift) + ((UINT64_C(1) << shift) - 1);
}

uint64_t pim_histogram_quantile(const struct pim_histogram *histogram, unsigned per_mille)
{
    assert(per_mille <= 1000);
    if (histogram->count == 0)
        return 0;
    /* ceil(count * per_mille / 1000) in parts that cannot overflow; rank 0 means the first value. */
    uint64_t rank = histogram->count / 1000 * per_mille + (histogram->count % 1000 * per_mille + 999) / 1000;
    if (rank <= 1)
        return histogram->minimum;
    uint64_t below = 0;
    for (uint64_t bucket = 0; bucket < histogram->bucket_count; bucket++) {
        below += histogram->buckets[bucket];
        if (below >= rank) {
            uint64_t end = bucket_end(histogram, bucket);
            return end < histogram->maximum ? end : histogram->maximum;
        }
    }
    return histogram->maximum;
}

double pim_histogram_mean(const struct pim_histogram *histogram)
{
    return histogram->count ? pim_sum_real(&histogram->sum) / (double)histogram->count : (double)NAN;
}

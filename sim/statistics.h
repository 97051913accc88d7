/*
 * Statistics of one simulation: a registry of named values. docs/statistics.md explains the outputs.
 *
 * Names are hierarchical, "noc.packet_latency": parts of lower-case letters, digits and underscores, joined
 * by points. Each has a unit ("cycles", "flits", "pJ", "1" for a plain count) and a description of one line.
 *
 * A value lives either in the registry (pim_statistics_counter gives its address) or in the owner's own
 * struct (..._at registers the address, which must stay valid as long as the registry is read). Updates are
 * inline and never allocate.
 *
 * Invariants:
 *  1. A name stands once, and is not also a group of other names ("a" and "a.b"): breaking that, or the form
 *     of names, is a bug of ours and ends the process with a message, in every build. So does memory that
 *     runs out while registering.
 *  2. Iteration and outputs keep the order of registration.
 *  3. Counts, sums, minima, maxima and areas are exact integers; only means and reals are floating point.
 */
#ifndef PIMSIM_SIM_STATISTICS_H
#define PIMSIM_SIM_STATISTICS_H

#include "sim/integer.h"
#include "sim/json.h"
#include "sim/status.h"

#include <stdio.h>

/* --- the values --- */

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

/* Counts `value` `times` times. */
static inline void pim_histogram_add_times(struct pim_histogram *histogram, uint64_t value, uint64_t times)
{
    if (times == 0)
        return;
    uint64_t low, high = pim_multiply_full(value, times, &low);
    histogram->buckets[pim_histogram_bucket(histogram, value)] += times;
    histogram->count += times;
    pim_sum_add(&histogram->sum, low);
    histogram->sum.high += high;
    if (value < histogram->minimum)
        histogram->minimum = value;
    if (value > histogram->maximum)
        histogram->maximum = value;
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

/* Adds everything that `from` has counted; both must have the same exact_bits and largest. */
void pim_histogram_merge(struct pim_histogram *into, const struct pim_histogram *from);

/*
 * The per_mille-th quantile by nearest rank (990: p99; 500: the lower median): the smallest value v for which
 * at least ceil(count * per_mille / 1000) values are <= v. Exact when v < 2^exact_bits; otherwise the upper
 * end of v's bucket, which is at least v and less than v * (1 + 2^(1 - exact_bits)), and never above the
 * maximum. When v is above `largest`, the maximum. 0 while empty.
 */
uint64_t pim_histogram_quantile(const struct pim_histogram *histogram, unsigned per_mille);

/* NaN while empty. */
double pim_histogram_mean(const struct pim_histogram *histogram);

/* A time-weighted average: the area under a step function of integers, in value * ticks. */
struct pim_average {
    uint64_t value; /* present value */
    uint64_t since; /* tick from which it holds */
    uint64_t start; /* tick of the start */
    uint64_t maximum;
    struct pim_sum area; /* from start to since */
};

/* Starts with `value` at tick `now`. An all-zero struct is one that started with 0 at tick 0. */
static inline void pim_average_start(struct pim_average *average, uint64_t now, uint64_t value)
{
    *average = (struct pim_average){.value = value, .since = now, .start = now, .maximum = value};
}

/* Brings the area up to tick `now`, which is not before the last update. */
static inline void pim_average_advance(struct pim_average *average, uint64_t now)
{
    uint64_t low, high = pim_multiply_full(average->value, now - average->since, &low);
    pim_sum_add(&average->area, low);
    average->area.high += high;
    average->since = now;
}

/* The value is `value` from tick `now` on. */
static inline void pim_average_set(struct pim_average *average, uint64_t now, uint64_t value)
{
    pim_average_advance(average, now);
    average->value = value;
    if (value > average->maximum)
        average->maximum = value;
}

/* Area over ticks since the start; NaN while no time has passed. */
double pim_average_mean(const struct pim_average *average);

/* --- the registry --- */

/* X(name, text) */
#define PIM_STATISTIC_MAP(X)                                                                                 \
    X(PIM_STATISTIC_COUNTER, "counter")                                                                      \
    X(PIM_STATISTIC_HISTOGRAM, "histogram")                                                                  \
    X(PIM_STATISTIC_AVERAGE, "average")                                                                      \
    X(PIM_STATISTIC_REAL, "real")

enum pim_statistic_kind {
#define X(name, text) name,
    PIM_STATISTIC_MAP(X)
#undef X
        PIM_STATISTIC_KINDS
};

struct pim_statistic {
    const char *name; /* whole name; these three are owned by the registry */
    const char *unit;
    const char *description;
    enum pim_statistic_kind kind;
    union {
        const uint64_t *counter;
        const struct pim_histogram *histogram;
        struct pim_average *average;
        const double *real;
    } value;
};

struct pim_statistics;

/* An empty registry; aborts with a message when memory is out. */
struct pim_statistics *pim_statistics_create(void);
void pim_statistics_destroy(struct pim_statistics *statistics);

/* Values that live in the registry until it is destroyed. All start at 0 (averages at tick 0). */
uint64_t *pim_statistics_counter(struct pim_statistics *statistics, const char *name, const char *unit,
                                 const char *description);
struct pim_histogram *pim_statistics_histogram(struct pim_statistics *statistics, const char *name,
                                               const char *unit, const char *description, unsigned exact_bits,
                                               uint64_t largest);
struct pim_average *pim_statistics_average(struct pim_statistics *statistics, const char *name,
                                           const char *unit, const char *description);
double *pim_statistics_real(struct pim_statistics *statistics, const char *name, const char *unit,
                            const char *description);

/* Values that live at the owner's. */
void pim_statistics_counter_at(struct pim_statistics *statistics, const uint64_t *value, const char *name,
                               const char *unit, const char *description);
void pim_statistics_histogram_at(struct pim_statistics *statistics, const struct pim_histogram *value,
                                 const char *name, const char *unit, const char *description);
void pim_statistics_average_at(struct pim_statistics *statistics, struct pim_average *value, const char *name,
                               const char *unit, const char *description);
/* NaN means "not modelled" and is shown as n/a. */
void pim_statistics_real_at(struct pim_statistics *statistics, const double *value, const char *name,
                            const char *unit, const char *description);

/* Number of statistics; the index-th in order of registration; the one with a name, or NULL. */
size_t pim_statistics_count(const struct pim_statistics *statistics);
const struct pim_statistic *pim_statistics_get(const struct pim_statistics *statistics, size_t index);
const struct pim_statistic *pim_statistics_find(const struct pim_statistics *statistics, const char *name);
const char *pim_statistic_kind_name(enum pim_statistic_kind kind);

/* Brings all averages up to tick `now`; call it before an output. */
void pim_statistics_advance(struct pim_statistics *statistics, uint64_t now);

/*
 * Outputs. A histogram becomes count, sum, minimum, maximum, mean, p50, p95, p99; an average mean and
 * maximum; of an empty one what has no value is n/a (text), empty (CSV), null (JSON). text: aligned "name
 * value # description [unit]"; csv: header "name,value,unit,description" and a row each; json: puts the tree
 * of groups into the innermost open object: values only, or with unit, description and kind instead of
 * values.
 */
void pim_statistics_write_text(const struct pim_statistics *statistics, FILE *file);
void pim_statistics_write_csv(const struct pim_statistics *statistics, FILE *file);
void pim_statistics_write_json(const struct pim_statistics *statistics, struct pim_json *json);
void pim_statistics_describe_json(const struct pim_statistics *statistics, struct pim_json *json);

#endif

#include "sim/output/histogram.h"
#include "sim/random.h"
#include "tests/unit/services/services.h"

#include <math.h>
#include <stdlib.h>

#define SEED UINT64_C(7)

static int compare(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* Buckets follow one another without gaps, and their number is what the header says. */
START_TEST(buckets_are_monotone)
{
    for (unsigned bits = 1; bits <= 16; bits++) {
        struct pim_histogram histogram;
        pim_histogram_initialize(&histogram, bits, UINT64_MAX);
        ck_assert_uint_eq(histogram.bucket_count,
                          (UINT64_C(1) << bits) + (64 - bits) * (UINT64_C(1) << (bits - 1)));
        uint64_t last = 0;
        for (uint64_t value = 0; value < 140000; value++) {
            uint64_t bucket = pim_histogram_bucket(&histogram, value);
            if (bucket - last > 1)
                ck_abort_msg("bits %u: bucket %d follows %d", bits, (int)bucket, (int)last);
            last = bucket;
        }
        for (unsigned power = 2; power < 64; power++) {
            uint64_t value = UINT64_C(1) << power;
            uint64_t step =
                pim_histogram_bucket(&histogram, value) - pim_histogram_bucket(&histogram, value - 1);
            ck_assert_uint_eq(step, 1);
        }
        ck_assert_uint_eq(pim_histogram_bucket(&histogram, UINT64_MAX), histogram.bucket_count - 1);
        pim_histogram_terminate(&histogram);
    }
}
END_TEST

/* Against the sorted list: exact below 2^bits; above, not less and less than 2^(1 - bits) too much. */
START_TEST(quantiles_against_sorted_list)
{
    enum { MOST = 3000 };
    static const unsigned bits[] = {1, 2, 5, 8, 12, 16},
                          per_mille[] = {0, 1, 250, 500, 501, 950, 990, 999, 1000};
    uint64_t *values = malloc(MOST * sizeof *values);
    ck_assert_ptr_nonnull(values);
    struct pim_random random;
    pim_random_initialize(&random, SEED);
    for (int round = 0; round < 60; round++) {
        struct pim_histogram histogram;
        unsigned e = bits[round % 6], widest = (unsigned)pim_random_between(&random, 1, 64);
        pim_histogram_initialize(&histogram, e, UINT64_MAX);
        size_t count = (size_t)pim_random_between(&random, 1, MOST);
        for (size_t i = 0; i < count; i++) {
            values[i] = pim_random_next(&random) >> (64 - pim_random_between(&random, 1, widest));
            pim_histogram_add(&histogram, values[i]);
        }
        qsort(values, count, sizeof *values, compare);
        ck_assert_uint_eq(histogram.minimum, values[0]);
        ck_assert_uint_eq(histogram.maximum, values[count - 1]);
        for (size_t i = 0; i < sizeof per_mille / sizeof per_mille[0]; i++) {
            size_t rank = (count * per_mille[i] + 999) / 1000;
            uint64_t exact = values[rank ? rank - 1 : 0],
                     found = pim_histogram_quantile(&histogram, per_mille[i]);
            if (exact >> e == 0)
                ck_assert_uint_eq(found, exact);
            ck_assert_uint_eq(pim_histogram_bucket(&histogram, found),
                              pim_histogram_bucket(&histogram, exact));
            ck_assert_msg(found >= exact && found - exact <= exact >> (e - 1),
                          "seed %d, round %d, bits %u: %llu for %llu", (int)SEED, round, e,
                          (unsigned long long)found, (unsigned long long)exact);
        }
        pim_histogram_terminate(&histogram);
    }
    free(values);
}
END_TEST

/* Nearest rank by hand: of 1..100 p50 is 50, p95 is 95, p99 is 99; of one value all are that one. */
START_TEST(quantiles_by_hand)
{
    struct pim_histogram histogram;
    pim_histogram_initialize(&histogram, PIM_HISTOGRAM_EXACT_BITS, 1000);
    ck_assert_uint_eq(pim_histogram_quantile(&histogram, 500), 0);
    ck_assert(isnan(pim_histogram_mean(&histogram)));
    for (uint64_t value = 100; value >= 1; value--)
        pim_histogram_add(&histogram, value);
    ck_assert_uint_eq(pim_histogram_quantile(&histogram, 500), 50);
    ck_assert_uint_eq(pim_histogram_quantile(&histogram, 950), 95);
    ck_assert_uint_eq(pim_histogram_quantile(&histogram, 990), 99);
    ck_assert_uint_eq(pim_histogram_quantile(&histogram, 991), 100);
    ck_assert_uint_eq(pim_histogram_quantile(&histogram, 0), 1);
    ck_assert_double_eq(pim_histogram_mean(&histogram), 50.5);
    pim_histogram_clear(&histogram);
    pim_histogram_add(&histogram, 777);
    for (unsigned per_mille = 0; per_mille <= 1000; per_mille += 100)
        ck_assert_uint_eq(pim_histogram_quantile(&histogram, per_mille), 777);
    pim_histogram_terminate(&histogram);
}
END_TEST

/* Above `largest` the buckets end, but count, sum, minimum and maximum go on. */
START_TEST(values_above_the_largest)
{
    struct pim_histogram histogram;
    pim_histogram_initialize(&histogram, 4, 100);
    for (int i = 0; i < 10; i++)
        pim_histogram_add(&histogram, 5);
    for (int i = 0; i < 10; i++)
        pim_histogram_add(&histogram, 1000000 + (uint64_t)i);
    ck_assert_uint_eq(pim_histogram_quantile(&histogram, 500), 5);
    ck_assert_uint_eq(pim_histogram_quantile(&histogram, 510), 1000009);
    ck_assert_uint_eq(histogram.sum.low, 50 + 10000045);
    pim_histogram_terminate(&histogram);
}
END_TEST

START_TEST(sums_beyond_64_bits)
{
    struct pim_histogram histogram;
    pim_histogram_initialize(&histogram, 8, UINT64_MAX);
    for (int i = 0; i < 4; i++)
        pim_histogram_add(&histogram, UINT64_MAX);
    ck_assert_uint_eq(histogram.sum.high, 3);
    ck_assert_uint_eq(histogram.sum.low, UINT64_MAX - 3);
    ck_assert_double_eq(pim_histogram_mean(&histogram), 0x1p64);
    for (int i = 0; i < 4; i++)
        pim_histogram_add(&histogram, UINT64_MAX);
    ck_assert_uint_eq(histogram.sum.high, 7);
    ck_assert_uint_eq(histogram.sum.low, UINT64_MAX - 7);
    pim_histogram_terminate(&histogram);
}
END_TEST

/* Adding many times is adding again and again; merging is adding all to one. */
Suite *histogram_suite(void)
{
    Suite *suite = suite_create("histogram");
    TCase *histogram = tcase_create("histogram");
    tcase_add_test(histogram, buckets_are_monotone);
    tcase_add_test(histogram, quantiles_against_sorted_list);
    tcase_add_test(histogram, quantiles_by_hand);
    tcase_add_test(histogram, values_above_the_largest);
    tcase_add_test(histogram, sums_beyond_64_bits);
    suite_add_tcase(suite, histogram);
    return suite;
}

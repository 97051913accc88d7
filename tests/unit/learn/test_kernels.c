/* Elementary functions, matrices, correlations. */
#include "mappers/learn/correlation.h"
#include "mappers/learn/elementary.h"
#include "mappers/learn/matrix.h"
#include "sim/random.h"
#include "tests/unit/learn/golden.h"
#include "tests/unit/learn/suites.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The library's own functions are right to a unit in the last place, so ours must be near them. */
START_TEST(exponential_and_logarithm_are_near_the_library)
{
    struct pim_random random;
    pim_random_initialize(&random, 20);
    for (int i = 0; i < 100000; i++) {
        double x = 1400 * pim_random_unit(&random) - 700, y = exp(x);
        ck_assert_double_le(fabs(pim_exponential(x) - y), 2.5 * DBL_EPSILON * y);
        double small = x * 1e-4, z = ldexp(1 + pim_random_unit(&random), (int)(x * 1.4));
        ck_assert_double_le(fabs(pim_exponential(small) - exp(small)), 2.5 * DBL_EPSILON * exp(small));
        ck_assert_double_le(fabs(pim_logarithm(z) - log(z)), 2.5 * DBL_EPSILON * fabs(log(z)));
        double near = 1 + small;
        if (near > 0)
            ck_assert_double_le(fabs(pim_logarithm(near) - log(near)), 3 * DBL_EPSILON * fabs(log(near)));
    }
    ck_assert_double_eq(pim_exponential(0), 1);
    ck_assert_double_eq(pim_exponential(-(double)INFINITY), 0);
    ck_assert(isinf(pim_exponential(1000)) && isnan(pim_exponential((double)NAN)));
    ck_assert_double_eq(pim_logarithm(1), 0);
    ck_assert(isinf(pim_logarithm(0)) && isnan(pim_logarithm(-1)) && isinf(pim_logarithm((double)INFINITY)));
    ck_assert_double_le(fabs(pim_logarithm(0x1p-1070) + 1070 * log(2)), 1e-12);
    ck_assert_double_le(fabs(pim_exponential(-744) - exp(-744)), 0x1p-1074);
}
END_TEST

START_TEST(sines_of_turns)
{
    for (uint32_t whole = 1; whole < 70; whole++)
        for (uint32_t part = 0; part < whole; part++) {
            double sine = pim_sine_of_turn(part, whole);
            ck_assert_double_le(fabs(sine - sin(8 * atan(1) * part / whole)), 2e-15);
            ck_assert_double_eq(sine, part == 0 ? 0 : -pim_sine_of_turn(whole - part, whole));
            if (whole % 2 == 0 && part <= whole / 2)
                ck_assert_double_eq(sine, pim_sine_of_turn(whole / 2 - part, whole));
        }
    ck_assert_double_eq(pim_sine_of_turn(1, 8), pim_sine_of_turn(3, 8));
    ck_assert_double_eq(pim_sine_of_turn(UINT32_MAX / 2, UINT32_MAX - 1), 0);
}
END_TEST

static uint64_t mix(uint64_t hash, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    hash ^= bits;
    return pim_splitmix64(&hash);
}

/* The bits of both functions, so that another compiler or machine that gives others is found out. */
START_TEST(bits_are_fixed)
{
    struct pim_random random;
    pim_random_initialize(&random, 21);
    uint64_t hash = 0;
    for (int i = 0; i < 10000; i++) {
        double x = 100 * pim_random_unit(&random) - 50;
        hash = mix(hash, pim_exponential(x));
        hash = mix(hash, pim_logarithm(x * x));
    }
    ck_assert_uint_eq(hash, UINT64_C(7044621928944097032));
}
END_TEST

static double *random_matrix(struct pim_random *random, size_t count)
{
    double *matrix = calloc(count + 1, sizeof *matrix);
    ck_assert_ptr_nonnull(matrix);
    for (size_t i = 0; i < count; i++)
        matrix[i] = 2 * pim_random_unit(random) - 1;
    return matrix;
}

/* Products in the order of the inner index, bit for bit: a plain triple loop says so. */
START_TEST(products_add_in_the_order_of_their_index)
{
    struct pim_random random;
    pim_random_initialize(&random, 22);
    for (size_t round = 0; round < 60; round++) {
        size_t m = 1 + pim_random_below(&random, 9), n = 1 + pim_random_below(&random, 9),
               k = pim_random_below(&random, 14);
        double *a = random_matrix(&random, m * k), *b = random_matrix(&random, k * n),
               *c = random_matrix(&random, m * n), *turned = calloc(m * k + 1, sizeof *turned),
               *wanted = calloc(m * n, sizeof *wanted), *second = calloc(m * n, sizeof *second);
        memcpy(wanted, c, m * n * sizeof *c);
        memcpy(second, c, m * n * sizeof *c);
        for (size_t i = 0; i < m; i++) {
            for (size_t j = 0; j < n; j++) {
                for (size_t l = 0; l < k; l++)
                    wanted[i * n + j] += a[i * k + l] * b[l * n + j];
            }
        }
        pim_multiply_add(m, n, k, a, b, c);
        pim_transpose(m, k, a, turned);
        pim_multiply_transposed_add(m, n, k, turned, b, second);
        ck_assert_int_eq(memcmp(c, wanted, m * n * sizeof *c), 0);
        ck_assert_int_eq(memcmp(second, wanted, m * n * sizeof *c), 0);
        free(a);
        free(b);
        free(c);
        free(turned);
        free(wanted);
        free(second);
    }
}
END_TEST

START_TEST(triangles_solve_what_they_factor)
{
    struct pim_random random;
    pim_random_initialize(&random, 23);
    for (size_t n = 1; n <= 24; n++) {
        double *base = random_matrix(&random, n * n), *matrix = calloc(n * n, sizeof *matrix),
               *turned = calloc(n * n, sizeof *turned), *factor = calloc(n * n, sizeof *factor),
               *inverse = calloc(n * n, sizeof *inverse), *x = random_matrix(&random, n),
               *b = calloc(n, sizeof *b);
        pim_transpose(n, n, base, turned);
        pim_multiply_add(n, n, n, base, turned, matrix);
        for (size_t i = 0; i < n; i++)
            matrix[i * n + i] += 0.5;
        memcpy(factor, matrix, n * n * sizeof *factor);
        ck_assert(pim_cholesky(n, factor));
        pim_multiply_add(n, 1, n, matrix, x, b);
        pim_solve_lower(n, factor, b);
        pim_solve_lower_transposed(n, factor, b);
        golden_close("solution", n, b, x, 0, 1e-12 * (double)n);
        pim_invert_lower(n, factor, inverse);
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < n; j++) {
                double sum = 0;
                for (size_t k = 0; k < n; k++)
                    sum += (k <= i ? factor[i * n + k] : 0) * inverse[k * n + j];
                ck_assert_double_le(fabs(sum - (i == j ? 1 : 0)), 1e-12);
            }
        }
        factor[0] = 0; /* no positive pivot */
        ck_assert(!pim_cholesky(n, factor));
        free(base);
        free(matrix);
        free(turned);
        free(factor);
        free(inverse);
        free(x);
        free(b);
    }
}
END_TEST

static void check_number(double got, const json_t *wanted)
{
    double value = golden_number(wanted);
    ck_assert_msg(isnan(value) ? isnan(got) : fabs(got - value) <= 1e-12, "%.17g is not %.17g", got, value);
}

START_TEST(correlations_are_golden)
{
    json_t *root = golden_read("stats.json");
    const json_t *cases = json_object_get(root, "correlation");
    ck_assert_uint_eq(json_array_size(cases), 13);
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *test = json_array_get(cases, i);
        size_t count;
        double *x = golden_tensor(json_object_get(test, "x"), &count), rank;
        double *y = golden_tensor(json_object_get(test, "y"), NULL), *ranks = calloc(count, sizeof *ranks);
        struct pim_error error = {0};
        check_number(pim_correlation(count, x, y), json_object_get(test, "pearson"));
        check_number(pim_pair_correlation(count, x, y), json_object_get(test, "kendall_tau_b"));
        ck_assert_int_eq(pim_rank_correlation(count, x, y, &rank, &error), PIM_OK);
        check_number(rank, json_object_get(test, "spearman"));
        ck_assert_int_eq(pim_ranks(count, x, ranks, &error), PIM_OK);
        golden_check("ranks", json_object_get(test, "ranks_x"), count, ranks, 0);
        free(x);
        free(y);
        free(ranks);
    }
    cases = json_object_get(root, "standardisation");
    ck_assert_uint_eq(json_array_size(cases), 4);
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *test = json_array_get(cases, i), *shape;
        shape = json_object_get(json_object_get(test, "X"), "shape");
        size_t rows = (size_t)json_integer_value(json_array_get(shape, 0)),
               columns = (size_t)json_integer_value(json_array_get(shape, 1));
        double *x = golden_tensor(json_object_get(test, "X"), NULL),
               *wanted = golden_tensor(json_object_get(test, "standardised"), NULL);
        for (size_t j = 0; j < columns; j++) {
            double column[32], standard[32], golden[32], mean, deviation;
            ck_assert_uint_le(rows, 32);
            for (size_t row = 0; row < rows; row++) {
                column[row] = x[row * columns + j];
                golden[row] = wanted[row * columns + j];
            }
            pim_standardise(rows, column, &mean, &deviation, standard);
            double stated = golden_number(json_array_get(json_object_get(test, "mean"), j));
            golden_close("mean", 1, &mean, &stated, 0, 1e-15);
            golden_close("standardised", rows, standard, golden, 1, 1e-7);
            if (fabs(stated) < 1e6)
                golden_close("standardised", rows, standard, golden, 1, 1e-12);
        }
        free(x);
        free(wanted);
    }
    json_decref(root);
}
END_TEST

Suite *learn_kernels_suite(void)
{
    Suite *suite = suite_create("kernels");
    TCase *tests = tcase_create("kernels");
    tcase_add_test(tests, exponential_and_logarithm_are_near_the_library);
    tcase_add_test(tests, sines_of_turns);
    tcase_add_test(tests, bits_are_fixed);
    tcase_add_test(tests, products_add_in_the_order_of_their_index);
    tcase_add_test(tests, triangles_solve_what_they_factor);
    tcase_add_test(tests, correlations_are_golden);
    suite_add_tcase(suite, tests);
    return suite;
}

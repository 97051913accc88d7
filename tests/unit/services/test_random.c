#include "sim/random.h"
#include "tests/unit/services/services.h"

#include <string.h>

#define SEED UINT64_C(20240229) /* of all property tests here */

/* From the state {1, 2, 3, 4}: the values that the Rust crate rand_xoshiro checks, made with Blackman and
 * Vigna's C program. */
START_TEST(published_sequence)
{
    static const uint64_t expected[] = {41943041,
                                        58720359,
                                        3588806011781223,
                                        3591011842654386,
                                        9228616714210784205U,
                                        9973669472204895162U,
                                        14011001112246962877U,
                                        12406186145184390807U,
                                        15849039046786891736U,
                                        10450023813501588000U};
    struct pim_random random = {{1, 2, 3, 4}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        ck_assert_uint_eq(pim_random_next(&random), expected[i]);
}
END_TEST

/* From the state {0, 0, 0, 1}: the test data of xoshiro-fortran (DSCF-1224), made with the same C program. */
START_TEST(published_jumps)
{
    static const uint64_t jumped[] = {0x934D05E8B2076310, 0xEABDD0BF76A1BE51, 0x75DD6A992ACCB1E8,
                                      0xC660C602A7330187};
    static const uint64_t jumped_samples[] = {0x88F9A31AFDB439F5, 0x38134A20DFA1A232, 0x21D6A25A297797C7};
    static const uint64_t far[] = {0x4AA11F0B3241CDBF, 0xB6A17239B35B197F, 0x504952572E3F844B,
                                   0x2628DF68616FD3A0};
    static const uint64_t far_samples[] = {0x846AF7DBE1FA32BE, 0x1033C1FBB3AEC9B2, 0xD7A4D3AEFA68B7BF};
    struct pim_random random = {{0, 0, 0, 1}};
    pim_random_jump(&random);
    ck_assert_mem_eq(random.state, jumped, sizeof jumped);
    for (int i = 0; i < 3; i++)
        ck_assert_uint_eq(pim_random_next(&random), jumped_samples[i]);
    random = (struct pim_random){{0, 0, 0, 1}};
    pim_random_long_jump(&random);
    ck_assert_mem_eq(random.state, far, sizeof far);
    for (int i = 0; i < 3; i++)
        ck_assert_uint_eq(pim_random_next(&random), far_samples[i]);
}
END_TEST

/* The published outputs of splitmix64 for the seed 1234567 (Rosetta Code, from Vigna's C program), and the
 * seeding by them. */
START_TEST(published_seeding)
{
    static const uint64_t expected[] = {6457827717110365317U, 3203168211198807973U, 9817491932198370423U,
                                        4593380528125082431U, 16408922859458223821U};
    uint64_t state = 1234567;
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        ck_assert_uint_eq(pim_splitmix64(&state), expected[i]);
    struct pim_random random;
    pim_random_initialize(&random, 1234567);
    ck_assert_mem_eq(random.state, expected, sizeof random.state);
}
END_TEST

struct matrix {
    uint64_t column[256][4];
};

static void multiply(const struct matrix *matrix, const uint64_t vector[4], uint64_t product[4])
{
    memset(product, 0, 4 * sizeof *product);
    for (unsigned i = 0; i < 256; i++) {
        if (!(vector[i / 64] >> i % 64 & 1))
            continue;
        for (unsigned word = 0; word < 4; word++)
            product[word] ^= matrix->column[i][word];
    }
}

/* A step is linear over GF(2). So a jump is the step's matrix to the power of 2^128 (or 2^192): squared that
 * many times. */
START_TEST(jumps_are_powers_of_the_step)
{
    static struct matrix step, square; /* the test's process is its own */
    for (unsigned i = 0; i < 256; i++) {
        struct pim_random unit = {{0}};
        unit.state[i / 64] = UINT64_C(1) << i % 64;
        (void)pim_random_next(&unit);
        memcpy(step.column[i], unit.state, sizeof unit.state);
    }
    struct pim_random start;
    pim_random_initialize(&start, SEED);
    for (unsigned power = 1; power <= 192; power++) {
        for (unsigned i = 0; i < 256; i++)
            multiply(&step, step.column[i], square.column[i]);
        step = square;
        if (power != 128 && power != 192)
            continue;
        uint64_t expected[4];
        struct pim_random random = start;
        multiply(&step, start.state, expected);
        if (power == 128)
            pim_random_jump(&random);
        else
            pim_random_long_jump(&random);
        ck_assert_mem_eq(random.state, expected, sizeof expected);
    }
}
END_TEST

START_TEST(split_hands_out_the_stream)
{
    struct pim_random parent, copy;
    pim_random_initialize(&parent, SEED);
    copy = parent;
    struct pim_random first = pim_random_split(&parent), second = pim_random_split(&parent);
    ck_assert_mem_eq(&first, &copy, sizeof copy);
    pim_random_jump(&copy);
    ck_assert_mem_eq(&second, &copy, sizeof copy);
    pim_random_jump(&copy);
    ck_assert_mem_eq(&parent, &copy, sizeof copy);
}
END_TEST

/* |count - trials * p| is below six standard deviations. */
static void expect_share(uint64_t count, uint64_t trials, double p)
{
    double deviation = (double)count - (double)trials * p;
    double variance = (double)trials * p * (1 - p);
    ck_assert_msg(deviation * deviation <= 36 * variance, "%llu of %llu, expected a share of %g, seed %llu",
                  (unsigned long long)count, (unsigned long long)trials, p, (unsigned long long)SEED);
}

/* With 3 * 2^62 as bound, plain multiplication without rejection would give half of the results the residue 0
 * mod 3. */
START_TEST(below_has_no_bias)
{
    enum { TRIALS = 60000 };
    struct pim_random random;
    pim_random_initialize(&random, SEED);
    const uint64_t huge = UINT64_C(3) << 62;
    uint64_t residues[3] = {0}, outside = 0;
    for (int i = 0; i < TRIALS; i++) {
        uint64_t value = pim_random_below(&random, huge);
        outside += value >= huge;
        residues[value % 3]++;
    }
    ck_assert_uint_eq(outside, 0);
    for (int i = 0; i < 3; i++)
        expect_share(residues[i], TRIALS, 1.0 / 3);
    for (uint64_t bound = 1; bound <= 20; bound++) {
        uint64_t counts[20] = {0};
        for (int i = 0; i < 20000; i++) {
            uint64_t value = pim_random_below(&random, bound);
            if (value >= bound)
                ck_abort_msg("%d is not below %d", (int)value, (int)bound);
            counts[value]++;
        }
        for (uint64_t i = 0; i < bound && bound > 1; i++)
            expect_share(counts[i], 20000, 1.0 / (double)bound);
    }
}
END_TEST

START_TEST(between_includes_both_ends)
{
    struct pim_random random, same;
    pim_random_initialize(&random, SEED);
    bool seen[3] = {false};
    for (int i = 0; i < 200; i++) {
        uint64_t value = pim_random_between(&random, UINT64_MAX - 2, UINT64_MAX);
        ck_assert_uint_ge(value, UINT64_MAX - 2);
        seen[value - (UINT64_MAX - 2)] = true;
    }
    ck_assert(seen[0] && seen[1] && seen[2]);
    ck_assert_uint_eq(pim_random_between(&random, 17, 17), 17);
    same = random;
    ck_assert_uint_eq(pim_random_between(&random, 0, UINT64_MAX), pim_random_next(&same));
}
END_TEST

START_TEST(chances)
{
    ck_assert_uint_eq(pim_random_threshold(0), 0);
    ck_assert_uint_eq(pim_random_threshold(1), UINT64_C(1) << 53);
    ck_assert_uint_eq(pim_random_threshold(0.5), UINT64_C(1) << 52);
    ck_assert_uint_eq(pim_random_threshold(0x1p-53), 1);
    ck_assert_uint_eq(pim_random_threshold(1e-300), 1);
    struct pim_random random;
    pim_random_initialize(&random, SEED);
    static const double shares[] = {0, 1, 0.5, 0.018, 0.999};
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        uint64_t threshold = pim_random_threshold(shares[i]), count = 0;
        for (int trial = 0; trial < 100000; trial++)
            count += pim_random_chance(&random, threshold);
        expect_share(count, 100000, shares[i]);
    }
    uint64_t upper_half = 0, outside = 0;
    for (int i = 0; i < 100000; i++) {
        double unit = pim_random_unit(&random);
        upper_half += unit >= 0.5;
        outside += unit < 0 || unit >= 1;
    }
    expect_share(upper_half, 100000, 0.5);
    ck_assert_uint_eq(outside, 0);
}
END_TEST

/* Every value up to 8 has the share p (1 - p)^k, and the rest what is left. */
START_TEST(geometric_distribution)
{
    static const double probabilities[] = {1, 0.9, 0.5, 0.25, 0.05};
    enum { TRIALS = 200000, VALUES = 8 };
    struct pim_random random;
    pim_random_initialize(&random, SEED);
    for (size_t i = 0; i < sizeof probabilities / sizeof probabilities[0]; i++) {
        struct pim_geometric geometric;
        pim_geometric_initialize(&geometric, probabilities[i]);
        uint64_t counts[VALUES + 1] = {0};
        for (int trial = 0; trial < TRIALS; trial++) {
            uint64_t value = pim_geometric_next(&geometric, &random);
            counts[value < VALUES ? value : VALUES]++;
        }
        double rest = 1;
        for (int value = 0; value < VALUES; value++) {
            double share = rest * probabilities[i];
            expect_share(counts[value], TRIALS, share);
            rest -= share;
        }
        expect_share(counts[VALUES], TRIALS, rest);
    }
}
END_TEST

/* The mean is (1 - p) / p, also where p is so small that 1 - p has lost most of its digits. */
START_TEST(geometric_mean)
{
    static const double probabilities[] = {0.018, 1e-4, 1e-9, 1e-12};
    enum { TRIALS = 20000 };
    struct pim_random random;
    pim_random_initialize(&random, SEED);
    for (size_t i = 0; i < sizeof probabilities / sizeof probabilities[0]; i++) {
        struct pim_geometric geometric;
        double p = probabilities[i], sum = 0;
        pim_geometric_initialize(&geometric, p);
        for (int trial = 0; trial < TRIALS; trial++)
            sum += (double)pim_geometric_next(&geometric, &random);
        double relative = sum / TRIALS / ((1 - p) / p) - 1;
        ck_assert_msg(relative * relative * TRIALS < 25, "p %g: mean is off by %g", p,
                      relative); /* 5 deviations */
    }
}
END_TEST

/* Digits end where no success has a chance below 2^-53: (1 - p)^(2^digits) < 2^-53, so 2^digits is about 36.7
 * / p. */
START_TEST(geometric_digits)
{
    static const struct {
        double probability;
        unsigned digits;
    } cases[] = {{1, 0}, {0.5, 6}, {0.018, 11}, {1e-9, 36}, {0x1p-53, 59}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pim_geometric geometric;
        pim_geometric_initialize(&geometric, cases[i].probability);
        ck_assert_uint_eq(geometric.digits, cases[i].digits);
        for (unsigned digit = 1; digit < geometric.digits; digit++)
            ck_assert_uint_le(geometric.threshold[digit], geometric.threshold[digit - 1]);
    }
}
END_TEST

START_TEST(shuffle_is_uniform)
{
    enum { TRIALS = 48000 };
    struct pim_random random;
    pim_random_initialize(&random, SEED);
    uint64_t counts[256] = {0};
    for (int trial = 0; trial < TRIALS; trial++) {
        uint8_t items[4] = {0, 1, 2, 3};
        pim_random_shuffle(&random, items, 4, 1);
        counts[items[0] | items[1] << 2 | items[2] << 4 | items[3] << 6]++;
    }
    unsigned orders = 0;
    for (int i = 0; i < 256; i++) {
        if (counts[i] == 0)
            continue;
        orders++;
        expect_share(counts[i], TRIALS, 1.0 / 24);
    }
    ck_assert_uint_eq(orders, 24);
    struct {
        unsigned char bytes[150];
    } large[20];
    for (unsigned i = 0; i < 20; i++)
        memset(&large[i], (int)i, sizeof large[i]);
    pim_random_shuffle(&random, large, 20, sizeof large[0]);
    unsigned sum = 0, moved = 0;
    for (unsigned i = 0; i < 20; i++) {
        for (unsigned j = 1; j < 150; j++)
            ck_assert_uint_eq(large[i].bytes[j], large[i].bytes[0]);
        sum += 1U << large[i].bytes[0];
        moved += large[i].bytes[0] != i;
    }
    ck_assert_uint_eq(sum, (1U << 20) - 1);
    ck_assert_uint_gt(moved, 10);
    pim_random_shuffle(&random, NULL, 0, 4);
}
END_TEST

Suite *random_suite(void)
{
    Suite *suite = suite_create("random");
    TCase *random = tcase_create("random");
    tcase_add_test(random, published_sequence);
    tcase_add_test(random, published_jumps);
    tcase_add_test(random, published_seeding);
    tcase_add_test(random, jumps_are_powers_of_the_step);
    tcase_add_test(random, split_hands_out_the_stream);
    tcase_add_test(random, below_has_no_bias);
    tcase_add_test(random, between_includes_both_ends);
    tcase_add_test(random, chances);
    tcase_add_test(random, geometric_distribution);
    tcase_add_test(random, geometric_mean);
    tcase_add_test(random, geometric_digits);
    tcase_add_test(random, shuffle_is_uniform);
    suite_add_tcase(suite, random);
    return suite;
}

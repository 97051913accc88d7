#include "mappers/learn/elementary.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if FLT_EVAL_METHOD != 0
#error "double arithmetic has excess precision here: results would differ from other machines (try -msse2)"
#endif

/* ln 2 in two parts: the first has zeros at its end, so that its product with an exponent is exact. */
static const double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;

/* 2^exponent for a normal result: exponent in [-1022, 1023]. */
static double power_of_two(int exponent)
{
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double pim_exponential(double x)
{
    /* 1/n!, from n = 2: for |r| <= ln(2)/2 the first term left out, r^14/14!, is 4e-18. */
    static const double factor[] = {1.0 / 2,       1.0 / 6,        1.0 / 24,        1.0 / 120,
                                    1.0 / 720,     1.0 / 5040,     1.0 / 40320,     1.0 / 362880,
                                    1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800.0};
    if (isnan(x))
        return x;
    if (x > 710)
        return (double)INFINITY;
    if (x < -746)
        return 0;
    int exponent = (int)(x * 0x1.71547652b82fep+0 + (x < 0 ? -0.5 : 0.5));
    double r = (x - exponent * ln2_high) - exponent * ln2_low;
    double sum = 0;
    for (size_t i = sizeof factor / sizeof factor[0]; i-- > 0;)
        sum = sum * r + factor[i];
    double value = 1 + (r + r * r * sum);
    /* In two steps: the exponent alone may lie outside of the normal range at both ends. */
    int half = exponent / 2;
    return value * power_of_two(half) * power_of_two(exponent - half);
}

double pim_logarithm(double x)
{
    if (isnan(x) || x < 0)
        return (double)NAN;
    if (x == 0)
        return -(double)INFINITY;
    if (isinf(x))
        return x;
    int exponent = 0;
    if (x < DBL_MIN) {
        x *= 0x1p54;
        exponent = -54;
    }
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    exponent += (int)(bits >> 52) - 1023;
    bits = (bits & 0xfffffffffffffu) | (uint64_t)1023 << 52;
    double mantissa;
    memcpy(&mantissa, &bits, sizeof mantissa);
    if (mantissa > 0x1.6a09e667f3bcdp+0) { /* the square root of 2 */
        mantissa /= 2;
        exponent++;
    }
    /* ln(1 + f) = 2 (s + s^3/3 + s^5/5 + ...), s = f / (2 + f), s^2 <= 0.0295: 12 terms reach 1e-19. */
    double f = mantissa - 1, s = f / (2 + f), square = s * s, sum = 0;
    for (int i = 11; i > 0; i--)
        sum = (sum + 1.0 / (2 * i + 1)) * square;
    return exponent * ln2_high + (2 * s + (2 * s * sum + exponent * ln2_low));
}

double pim_sine_of_turn(uint32_t part, uint32_t whole)
{
    uint64_t turn = 2 * (uint64_t)whole, at = 2 * (uint64_t)part % turn;
    bool below = at > turn / 2;
    at = below ? turn - at : at;
    at = 4 * at > turn ? turn / 2 - at : at;
    /* At most a quarter of a turn: the first term left out, x^23 / 23!, is below 2e-18. */
    double x = 0x1.921fb54442d18p+2 * ((double)at / (double)turn), square = x * x, sum = 0;
    for (int i = 21; i > 1; i -= 2)
        sum = (1 + sum) * (-square / (i * (i - 1)));
    sum = x + x * sum;
    return below ? -sum : sum;
}

/*
 * Integer arithmetic that C17 lacks: the larger and the smaller, differences, quotients rounded up, the
 * greatest common divisor, floor of the binary logarithm, the full product of two 64-bit integers, sizes that
 * cannot overflow. The one compiler built-in used has a portable form with the same result beside it.
 */
#ifndef PIMSIM_SIM_INTEGER_H
#define PIMSIM_SIM_INTEGER_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline uint64_t pim_larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline uint64_t pim_smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint32_t pim_smaller32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* |a - b| */
static inline uint32_t pim_difference(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

/* a / b, rounded up. */
static inline uint64_t pim_divide_up(uint64_t a, uint64_t b)
{
    assert(b != 0);
    return a / b + (a % b != 0);
}

static inline uint32_t pim_divide_up32(uint32_t a, uint32_t b)
{
    assert(b != 0);
    return a / b + (a % b != 0);
}

/* a * b / c, rounded up; no intermediate result is larger than the result while b * c is below 2^64. */
static inline uint64_t pim_scale_up(uint64_t a, uint64_t b, uint64_t c)
{
    return a / c * b + pim_divide_up(a % c * b, c);
}

/* The greatest common divisor; of 0 and a number the number. */
static inline uint64_t pim_greatest_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* floor(log2(value)); `value` must not be 0. */
static inline unsigned pim_log2_floor(uint64_t value)
{
#if defined(__GNUC__)
    return 63U - (unsigned)__builtin_clzll(value);
#else
    unsigned result = 0;
    for (unsigned step = 32; step; step /= 2) {
        if (value >> step) {
            value >>= step;
            result += step;
        }
    }
    return result;
#endif
}

/* a * b as 128 bits: the high half is returned, the low half is stored in `*low`. */
static inline uint64_t pim_multiply_full(uint64_t a, uint64_t b, uint64_t *low)
{
    uint64_t a_low = (uint32_t)a, a_high = a >> 32;
    uint64_t b_low = (uint32_t)b, b_high = b >> 32;
    uint64_t bottom = a_low * b_low;
    uint64_t middle = a_high * b_low + (bottom >> 32); /* at most 2^64 - 2^33 + 2^32, so it does not wrap */
    uint64_t cross = a_low * b_high + (uint32_t)middle;
    *low = cross << 32 | (uint32_t)bottom;
    return a_high * b_high + (middle >> 32) + (cross >> 32);
}

/* *product = a * b and true; false, with *product untouched, when the product does not fit size_t. */
static inline bool pim_multiply_size(size_t a, size_t b, size_t *product)
{
    if (a != 0 && b > SIZE_MAX / a)
        return false;
    *product = a * b;
    return true;
}

#endif

/* Instants as integers; see instant.h. */
#include "models/conflict/replay/instant.h"

#include <math.h>

/* Rounded: (exponent << FRACTION_BITS | fraction) stands for (2^FRACTION_BITS + fraction) x 2^(exponent -
 * BIAS - FRACTION_BITS) ns. */
enum { FRACTION_BITS = 52, BIAS = 128, EXPONENT_LAST = 511, GUARD_BITS = 10, FIXED_BITS = 20 };

#define HIDDEN_BIT (UINT64_C(1) << FRACTION_BITS)

static uint64_t significand(pim_time instant)
{
    return (instant & (HIDDEN_BIT - 1)) | HIDDEN_BIT;
}

static unsigned exponent(pim_time instant)
{
    return (unsigned)(instant >> FRACTION_BITS);
}

/* A 53-bit significand, or 2^53, with its exponent. */
static pim_time pack(uint64_t value, unsigned power)
{
    if (value == 2 * HIDDEN_BIT) {
        value = HIDDEN_BIT;
        power++;
    }
    return power > EXPONENT_LAST ? PIM_TIME_NEVER
                                 : (pim_time)power << FRACTION_BITS | (value & (HIDDEN_BIT - 1));
}

/* value / 2^bits to the nearest integer, ties to even; bits is 1 or more. */
static uint64_t round_even(uint64_t value, unsigned bits)
{
    uint64_t whole = value >> bits, rest = value & ((UINT64_C(1) << bits) - 1),
             half = UINT64_C(1) << (bits - 1);
    return whole + (rest > half || (rest == half && (whole & 1)) ? 1 : 0);
}

static pim_time add_rounded(pim_time large, pim_time small)
{
    if (large < small) {
        pim_time swap = large;
        large = small;
        small = swap;
    }
    if (small == 0)
        return large;
    unsigned distance = exponent(large) - exponent(small);
    if (distance > FRACTION_BITS + 1)
        return large; /* less than half of the last place */
    uint64_t addend = significand(small) << GUARD_BITS;
    uint64_t kept = addend >> distance;
    bool lost = kept << distance != addend;
    uint64_t sum = (significand(large) << GUARD_BITS) + kept; /* below 2^64 */
    unsigned carry = sum >> (FRACTION_BITS + 1 + GUARD_BITS) ? 1 : 0;
    return pack(round_even(sum | (lost ? 1 : 0), GUARD_BITS + carry), exponent(large) + carry);
}

pim_time pim_conflict_instant(enum pim_conflict_arithmetic arithmetic, double ns)
{
    assert(ns >= 0 && ns <= 1e24);
    if (arithmetic == PIM_CONFLICT_EXACT) {
        double ticks = nearbyint(ns * (double)PIM_CONFLICT_FS);
        const pim_time last = PIM_TIME_LAST / 2;
        return ticks > (double)last ? PIM_TIME_NEVER : (pim_time)ticks;
    }
    int power;
    double part = frexp(ns, &power); /* ns = part x 2^power, 1/2 <= part < 1 */
    if (part < 0.5 || power <= -BIAS)
        return 0; /* ns is 0, or below 2^-128 */
    return pack((uint64_t)ldexp(part, FRACTION_BITS + 1), (unsigned)(power - 1 + BIAS));
}

pim_time pim_conflict_after(enum pim_conflict_arithmetic arithmetic, pim_time instant, pim_time span)
{
    if (instant == PIM_TIME_NEVER || span == PIM_TIME_NEVER)
        return PIM_TIME_NEVER;
    if (arithmetic == PIM_CONFLICT_ROUNDED)
        return add_rounded(instant, span);
    return span > PIM_TIME_LAST - instant ? PIM_TIME_NEVER : instant + span;
}

double pim_conflict_ns(enum pim_conflict_arithmetic arithmetic, pim_time instant)
{
    if (arithmetic == PIM_CONFLICT_EXACT)
        return (double)instant / (double)PIM_CONFLICT_FS;
    return instant == 0 ? 0.0
                        : ldexp((double)significand(instant), (int)exponent(instant) - BIAS - FRACTION_BITS);
}

uint64_t pim_conflict_fixed(enum pim_conflict_arithmetic arithmetic, pim_time instant)
{
    if (arithmetic == PIM_CONFLICT_EXACT)
        return (instant / PIM_CONFLICT_FS << FIXED_BITS) +
               (instant % PIM_CONFLICT_FS << FIXED_BITS) / PIM_CONFLICT_FS;
    if (instant == 0)
        return 0;
    int shift = (int)exponent(instant) - BIAS - FRACTION_BITS + FIXED_BITS;
    if (shift > 0)
        return significand(instant) << (shift < 10 ? shift : 10);
    return shift < -FRACTION_BITS ? 0 : significand(instant) >> -shift;
}

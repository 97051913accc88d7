/*
 * Sets of bits in 64-bit words.
 */
#ifndef PIMSIM_SIM_BITS_H
#define PIMSIM_SIM_BITS_H

#include <stdbool.h>
#include <stdint.h>

/* The second copy of a function, with the bit-manipulation instructions of newer x86-64 processors, carries
 * PIM_BIT_MANIPULATION; pim_has_bit_manipulation() says whether it may run. Elsewhere it never does. */
#if defined(__GNUC__) && defined(__x86_64__)
#define PIM_BIT_MANIPULATION __attribute__((target("bmi,bmi2")))
static inline bool pim_has_bit_manipulation(void)
{
    return __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}
#else
#define PIM_BIT_MANIPULATION
static inline bool pim_has_bit_manipulation(void)
{
    return false;
}
#endif

/* Index of the lowest bit that is set in `word`, which must not be 0. */
static inline unsigned pim_lowest_bit(uint64_t word)
{
#if defined(__GNUC__)
    return (unsigned)__builtin_ctzll(word);
#else
    unsigned bit = 0;
    while (!(word >> bit & 1))
        bit++;
    return bit;
#endif
}

#endif

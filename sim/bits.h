/*
 * Sets of bits in 64-bit words.
 */
#ifndef PIMSIM_SIM_BITS_H
#define PIMSIM_SIM_BITS_H

#include <stdbool.h>
#include <stdint.h>

/* Functions that are worth a second copy with the bit-manipulation instructions of newer x86-64 processors carry
 * PIM_BIT_MANIPULATION there; it is chosen by pim_has_bit_manipulation(). Elsewhere both copies are the same. */
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

/*
 * Sets of bits in 64-bit words.
 */
#ifndef PIMSIM_SIM_BITS_H
#define PIMSIM_SIM_BITS_H

#include <stdint.h>

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

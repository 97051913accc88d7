/*
 * Sets of up to 32 or 64 small numbers as bit masks.
 */
#ifndef PIMSIM_MODELS_NOC_BITS_H
#define PIMSIM_MODELS_NOC_BITS_H

#include "sim/bits.h"
#include "sim/status.h"

#include <stdint.h>

/* First member at or after `pointer` (0 to 63), else the lowest: the choice of a round-robin arbiter. The set
 * is not empty. */
static PIM_ALWAYS_INLINE unsigned pim_noc_first_from(uint64_t set, unsigned pointer)
{
    uint64_t above = set >> pointer << pointer;
    return pim_lowest_bit(above | (set & (0 - (uint64_t)(above == 0)))); /* without a branch */
}

/* {0 ... count - 1} for count <= 32. */
static inline uint32_t pim_noc_all(unsigned count)
{
    return count >= 32 ? UINT32_MAX : (UINT32_C(1) << count) - 1;
}

#endif

/*
 * The agenda of the flit-level mesh: which units (routers, or terminals) have to be evaluated in which
 * network cycle.
 *
 * A set of units per cycle for the next PIM_NOC_HORIZON cycles. Evaluating a unit that has nothing new to do
 * is harmless, so a wake beyond the horizon is entered at its end, and a wake that has become pointless is
 * left in.
 */
#ifndef PIMSIM_MODELS_NOC_WHEEL_H
#define PIMSIM_MODELS_NOC_WHEEL_H

#include "models/noc/bits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PIM_NOC_HORIZON = 1024 }; /* cycles; a power of two, more than any latency between two units */

struct pim_noc_wheel {
    uint64_t *sets;    /* [PIM_NOC_HORIZON][words] */
    uint64_t *touched; /* [PIM_NOC_HORIZON][words / 64, rounded up]: which words of a set are not zero */
    uint64_t busy[PIM_NOC_HORIZON / 64]; /* which sets are not empty */
    uint32_t words, groups;
};

/* `time` is later than the cycle that is being evaluated, `now`. */
static inline void pim_noc_wake(struct pim_noc_wheel *wheel, uint32_t unit, uint64_t time, uint64_t now)
{
    if (time - now >= PIM_NOC_HORIZON)
        time = now + PIM_NOC_HORIZON - 1;
    size_t slot = time & (PIM_NOC_HORIZON - 1);
    uint32_t word = unit / 64;
    wheel->sets[slot * wheel->words + word] |= UINT64_C(1) << unit % 64;
    wheel->touched[slot * wheel->groups + word / 64] |= UINT64_C(1) << word % 64;
    wheel->busy[slot / 64] |= UINT64_C(1) << slot % 64;
}

/* The first cycle at or after `from` with a unit to evaluate, UINT64_MAX when there is none. */
static inline uint64_t pim_noc_wheel_next(const struct pim_noc_wheel *wheel, uint64_t from)
{
    enum { WORDS = PIM_NOC_HORIZON / 64 };
    size_t slot = from & (PIM_NOC_HORIZON - 1);
    uint64_t word = wheel->busy[slot / 64] >> slot % 64;
    if (word)
        return from + pim_lowest_bit(word);
    uint64_t base = from + (64 - slot % 64);
    for (size_t i = 1; i <= WORDS; i++) {
        word = wheel->busy[(slot / 64 + i) % WORDS];
        if (word)
            return base + 64 * (i - 1) + pim_lowest_bit(word);
    }
    return UINT64_MAX;
}

#endif

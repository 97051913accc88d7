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
#include "sim/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

enum { PIM_NOC_HORIZON = 1024 }; /* cycles; a power of two, more than any latency between two units */

struct pim_noc_wheel {
    uint64_t *sets; /* [PIM_NOC_HORIZON]: `words` of the set, and behind them `groups`: which are not zero */
    uint64_t busy[PIM_NOC_HORIZON / 64]; /* which sets are not empty */
    uint32_t words, groups;
    uint32_t stride; /* both together */
};

static inline void pim_noc_wheel_create(struct pim_noc_wheel *wheel, uint32_t units, bool *failed)
{
    wheel->words = (units + 63) / 64;
    wheel->groups = (wheel->words + 63) / 64;
    wheel->stride = wheel->words + wheel->groups;
    wheel->sets = pim_lines_allocate((size_t)PIM_NOC_HORIZON * wheel->stride, sizeof *wheel->sets, failed);
}

static inline void pim_noc_wheel_destroy(struct pim_noc_wheel *wheel)
{
    free(wheel->sets);
}

/* The entries of one cycle. A step of a network looks up several and enters little in each, so that no more
 * than the place of the set is worked out. */
struct pim_noc_spoke {
    struct pim_noc_wheel *wheel;
    uint64_t *sets;
    size_t slot;
};

static inline struct pim_noc_spoke pim_noc_spoke_at(struct pim_noc_wheel *wheel, uint64_t time)
{
    size_t slot = time & (PIM_NOC_HORIZON - 1);
    return (struct pim_noc_spoke){wheel, wheel->sets + slot * wheel->stride, slot};
}

/* The word of its set is not zero any more. */
static PIM_ALWAYS_INLINE void pim_noc_touch(const struct pim_noc_spoke *spoke, uint32_t word)
{
    struct pim_noc_wheel *wheel = spoke->wheel;
    spoke->sets[wheel->words + word / 64] |= UINT64_C(1) << word % 64;
    wheel->busy[spoke->slot / 64] |= UINT64_C(1) << spoke->slot % 64;
}

static PIM_ALWAYS_INLINE void pim_noc_wake_in(const struct pim_noc_spoke *spoke, uint32_t unit)
{
    uint32_t word = unit / 64;
    uint64_t set = spoke->sets[word];
    spoke->sets[word] = set | UINT64_C(1) << unit % 64;
    if (!set)
        pim_noc_touch(spoke, word);
}

static inline void pim_noc_wake_word(const struct pim_noc_spoke *spoke, uint32_t word, uint64_t units)
{
    spoke->sets[word] |= units;
    pim_noc_touch(spoke, word);
}

/* `time` is not before the cycle that is being evaluated, `now`. */
static inline void pim_noc_wake(struct pim_noc_wheel *wheel, uint32_t unit, uint64_t time, uint64_t now)
{
    if (time - now >= PIM_NOC_HORIZON)
        time = now + PIM_NOC_HORIZON - 1;
    struct pim_noc_spoke spoke = pim_noc_spoke_at(wheel, time);
    pim_noc_wake_in(&spoke, unit);
}

/* A walk through the units of one cycle, ascending; they are taken out. Units may be entered for later cycles
 * meanwhile. */
struct pim_noc_visit {
    struct pim_noc_spoke spoke;
    uint64_t touched, units; /* words of the present group still to be visited; units of the present word */
    uint32_t group, groups, word;
};

static inline struct pim_noc_visit pim_noc_visit(struct pim_noc_wheel *wheel, uint64_t time)
{
    struct pim_noc_visit visit = {.spoke = pim_noc_spoke_at(wheel, time), .groups = wheel->groups};
    wheel->busy[visit.spoke.slot / 64] &= ~(UINT64_C(1) << visit.spoke.slot % 64);
    return visit;
}

/* The next word that has units. */
static inline bool pim_noc_visit_word(struct pim_noc_visit *visit)
{
    for (; !visit->touched; visit->group++) {
        if (visit->group == visit->groups)
            return false;
        uint64_t *touched = visit->spoke.sets + visit->spoke.wheel->words + visit->group;
        visit->touched = *touched;
        *touched = 0;
    }
    visit->word = (visit->group - 1) * 64 + pim_lowest_bit(visit->touched);
    visit->touched &= visit->touched - 1;
    visit->units = visit->spoke.sets[visit->word];
    visit->spoke.sets[visit->word] = 0;
    return true;
}

/* The first cycle at or after `from` with a unit to evaluate in one of the wheels, UINT64_MAX when there is
 * none. */
static PIM_ALWAYS_INLINE uint64_t pim_noc_wheels_next(const struct pim_noc_wheel *const wheels[],
                                                      unsigned count, uint64_t from)
{
    enum { WORDS = PIM_NOC_HORIZON / 64 };
    const size_t slot = from & (PIM_NOC_HORIZON - 1);
    uint64_t base = from - slot % 64; /* of the word; of the first one only what is not before `from` */
    uint64_t wanted = UINT64_MAX << slot % 64;
    for (size_t i = 0; i <= WORDS; i++, base += 64, wanted = UINT64_MAX) {
        uint64_t busy = 0;
        for (unsigned wheel = 0; wheel < count; wheel++)
            busy |= wheels[wheel]->busy[(slot / 64 + i) % WORDS];
        if (busy & wanted)
            return base + pim_lowest_bit(busy & wanted);
    }
    return UINT64_MAX;
}

#endif

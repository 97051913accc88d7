/*
 * Seeded random numbers, the same on every machine: xoshiro256++ 1.0, seeded through splitmix64.
 *
 * Sources: D. Blackman, S. Vigna, "Scrambled Linear Pseudorandom Number Generators", ACM TOMS 47(4), 2021
 * (generator, jumps); G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA
 * 2014 (splitmix64); D. Lemire, "Fast Random Integer Generation in an Interval", ACM TOMACS 29(1), 2019
 * (integers below a bound).
 *
 * Invariants:
 *  1. No function of the C library's <math.h> takes part, because its last bits differ between machines; the
 *     floating-point operations that do take part are exactly rounded by IEEE 754.
 *  2. The state is never all zero.
 *  3. Streams that come from pim_random_split do not overlap before 2^128 numbers each.
 */
#ifndef PIMSIM_SIM_RANDOM_H
#define PIMSIM_SIM_RANDOM_H

#include "sim/integer.h"

struct pim_random {
    uint64_t state[4];
};

/* The next output of splitmix64; `*state` is any seed. Also good for deriving seeds from a seed. */
uint64_t pim_splitmix64(uint64_t *state);

/* The generator that belongs to a seed: its state is the first four outputs of splitmix64. */
void pim_random_initialize(struct pim_random *random, uint64_t seed);

/* Advances by 2^128 and by 2^192 numbers. */
void pim_random_jump(struct pim_random *random);
void pim_random_long_jump(struct pim_random *random);

/* A stream of its own for a part of the model: the parent's present state is handed out, and the parent jumps
 * 2^128 ahead. */
struct pim_random pim_random_split(struct pim_random *parent);

static inline uint64_t pim_rotate_left(uint64_t value, unsigned bits)
{
    return value << bits | value >> (64 - bits);
}

/* 64 uniform bits. */
static inline uint64_t pim_random_next(struct pim_random *random)
{
    uint64_t *state = random->state;
    uint64_t result = pim_rotate_left(state[0] + state[3], 23) + state[0];
    uint64_t shifted = state[1] << 17;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= shifted;
    state[3] = pim_rotate_left(state[3], 45);
    return result;
}

/* A uniform integer in [0, bound), without bias (Lemire's multiplication with rejection); `bound` must not be
 * 0. */
uint64_t pim_random_below(struct pim_random *random, uint64_t bound);

/* A uniform integer in [first, last], both included; first <= last. */
uint64_t pim_random_between(struct pim_random *random, uint64_t first, uint64_t last);

/* A uniform multiple of 2^-53 in [0, 1). */
static inline double pim_random_unit(struct pim_random *random)
{
    return (double)(pim_random_next(random) >> 11) * 0x1p-53;
}

/* The threshold for pim_random_chance: `probability` in [0, 1] in units of 2^-53, rounded up. 0 and 1 are
 * exact: never and always. */
uint64_t pim_random_threshold(double probability);

/* True with the probability whose threshold is given: one number and one integer comparison. */
static inline bool pim_random_chance(struct pim_random *random, uint64_t threshold)
{
    return (pim_random_next(random) >> 11) < threshold;
}

/*
 * Geometric skips: how many trials fail before the next success, when each succeeds with the same
 * probability. One skip costs about log2(40 / probability) numbers instead of 1 / probability of them. The
 * binary digits of a geometrically distributed number are independent: digit i is 1 with q^(2^i) / (1 +
 * q^(2^i)), q = 1 - p. So each digit is one comparison with an integer threshold, and no logarithm is taken.
 */
struct pim_geometric {
    unsigned digits;        /* digits above have a probability below 2^-53 */
    uint64_t threshold[64]; /* for pim_random_chance, by digit */
};

/* `probability` in (0, 1], at least 2^-53. */
void pim_geometric_initialize(struct pim_geometric *geometric, double probability);
uint64_t pim_geometric_next(const struct pim_geometric *geometric, struct pim_random *random);

/* Puts `count` items of `item_size` bytes in a uniformly random order (Fisher and Yates). */
void pim_random_shuffle(struct pim_random *random, void *items, size_t count, size_t item_size);

#endif

#include "sim/random.h"

#include <assert.h>
#include <string.h>

uint64_t pim_splitmix64(uint64_t *state)
{
    uint64_t mixed = *state += 0x9e3779b97f4a7c15U;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebU;
    return mixed ^ mixed >> 31;
}

void pim_random_initialize(struct pim_random *random, uint64_t seed)
{
    /* splitmix64 is a bijection of its counter, so four outputs in a row are never all zero. */
    for (unsigned i = 0; i < 4; i++)
        random->state[i] = pim_splitmix64(&seed);
}

/* Advances by the number of steps whose power of x, modulo the generator's characteristic polynomial, has
 * these coefficients. */
static void jump(struct pim_random *random, const uint64_t polynomial[4])
{
    struct pim_random sum = {{0}};
    for (unsigned word = 0; word < 4; word++) {
        for (unsigned bit = 0; bit < 64; bit++) {
            if (polynomial[word] >> bit & 1) {
                for (unsigned i = 0; i < 4; i++)
                    sum.state[i] ^= random->state[i];
            }
            (void)pim_random_next(random);
        }
    }
    *random = sum;
}

void pim_random_jump(struct pim_random *random)
{
    static const uint64_t polynomial[4] = {0x180ec6d33cfd0aba, 0xd5a61266f0c9392c, 0xa9582618e03fc9aa,
                                           0x39abdc4529b1661c};
    jump(random, polynomial);
}

void pim_random_long_jump(struct pim_random *random)
{
    static const uint64_t polynomial[4] = {0x76e15d3efefdcbbf, 0xc5004e441c522fb3, 0x77710069854ee241,
                                           0x39109bb02acbe635};
    jump(random, polynomial);
}

struct pim_random pim_random_split(struct pim_random *parent)
{
    struct pim_random child = *parent;
    pim_random_jump(parent);
    return child;
}

uint64_t pim_random_below(struct pim_random *random, uint64_t bound)
{
    assert(bound != 0);
    uint64_t low;
    uint64_t result = pim_multiply_full(pim_random_next(random), bound, &low);
    if (low < bound) {
        /* 2^64 mod bound products would fall too often on some results: draw again for those. */
        uint64_t excess = (0 - bound) % bound;
        while (low < excess)
            result = pim_multiply_full(pim_random_next(random), bound, &low);
    }
    return result;
}

uint64_t pim_random_between(struct pim_random *random, uint64_t first, uint64_t last)
{
    assert(first <= last);
    uint64_t span = last - first;
    if (span == UINT64_MAX)
        return pim_random_next(random);
    return first + pim_random_below(random, span + 1);
}

uint64_t pim_random_threshold(double probability)
{
    assert(probability >= 0 && probability <= 1);
    double scaled = probability * 0x1p53; /* exact: a power of two */
    uint64_t threshold = (uint64_t)scaled;
    return (double)threshold < scaled ? threshold + 1 : threshold;
}

void pim_geometric_initialize(struct pim_geometric *geometric, double probability)
{
    assert(probability >= 0x1p-53 && probability <= 1);
    *geometric = (struct pim_geometric){0};
    /* `left` is q^(2^digit), the chance of no success within 2^digit trials, and `reached` is 1 - left. Each
     * is advanced in the form that keeps its digits: `reached` while it is small, `left` from then on. */
    double reached = probability, left = 1 - probability;
    while (geometric->digits < 64) {
        double digit_is_one = left / (1 + left);
        if (digit_is_one < 0x1p-53)
            break;
        geometric->threshold[geometric->digits++] = pim_random_threshold(digit_is_one);
        if (reached < 0.5) {
            reached *= 2 - reached;
            left = 1 - reached;
        } else {
            left *= left;
            reached = 1 - left;
        }
    }
}

uint64_t pim_geometric_next(const struct pim_geometric *geometric, struct pim_random *random)
{
    uint64_t failures = 0;
    for (unsigned digit = 0; digit < geometric->digits; digit++)
        failures |= (uint64_t)pim_random_chance(random, geometric->threshold[digit]) << digit;
    return failures;
}

static void swap_items(unsigned char *a, unsigned char *b, size_t size)
{
    unsigned char kept[64];
    while (size > 0) {
        size_t part = size < sizeof kept ? size : sizeof kept;
        memcpy(kept, a, part);
        memcpy(a, b, part);
        memcpy(b, kept, part);
        a += part;
        b += part;
        size -= part;
    }
}

void pim_random_shuffle(struct pim_random *random, void *items, size_t count, size_t item_size)
{
    unsigned char *bytes = items;
    for (size_t left = count; left > 1; left--) {
        size_t chosen = (size_t)pim_random_below(random, left);
        if (chosen != left - 1)
            swap_items(bytes + chosen * item_size, bytes + (left - 1) * item_size, item_size);
    }
}

#include "mappers/nest/near.h"

#include <string.h>

static const unsigned temporal[] = {PIM_SLOT_OUTER, PIM_SLOT_STEPS}; /* slots whose order counts */

static unsigned slot_of(const struct pim_nest_loop *loop)
{
    static const unsigned in_time[] = {PIM_SLOT_OUTER, PIM_SLOT_OUTER, PIM_SLOT_STEPS, PIM_SLOT_INSIDE},
                          in_space[] = {PIM_SLOT_CHANNELS, PIM_SLOT_CHANNELS, PIM_SLOT_BANKS,
                                        PIM_SLOT_COLUMNS};
    return loop->spatial ? in_space[loop->level] : in_time[loop->level];
}

/* Puts dimensions that have no loop in a slot anywhere among the `count` that have one. */
static void complete_order(struct pim_random *random, uint8_t order[PIM_DIMENSIONS], unsigned count)
{
    unsigned seen = 0;
    for (unsigned i = 0; i < count; i++)
        seen |= 1U << order[i];
    for (unsigned d = 0; d < PIM_DIMENSIONS; d++) {
        if (seen >> d & 1)
            continue;
        const unsigned place = (unsigned)pim_random_below(random, count + 1);
        memmove(&order[place + 1], &order[place], count - place);
        order[place] = (uint8_t)d;
        count++;
    }
}

/* Pins all that is free as `nest` has it. */
static void hold(const struct pim_mapping_space *space, const struct pim_nest *nest,
                 struct pim_random *random, struct pim_mapping_space *near)
{
    unsigned loops[PIM_SLOTS] = {0};
    *near = *space;
    for (unsigned slot = 0; slot < PIM_SLOTS; slot++) {
        for (unsigned d = 0; d < PIM_DIMENSIONS; d++)
            near->factor[slot][d] = space->factor[slot][d] > 0 ? space->factor[slot][d] : 1;
    }
    for (uint32_t i = 0; i < nest->loops; i++) {
        const unsigned slot = slot_of(&nest->loop[i]), d = nest->loop[i].dimension;
        if (space->factor[slot][d] == 0)
            near->factor[slot][d] = nest->loop[i].count;
        if (!space->ordered[slot])
            near->order[slot][loops[slot]++] = (uint8_t)d;
    }
    for (unsigned i = 0; i < 2; i++) {
        if (!space->ordered[temporal[i]])
            complete_order(random, near->order[temporal[i]], loops[temporal[i]]);
        near->ordered[temporal[i]] = true;
    }
}

static uint32_t least_prime(uint32_t value)
{
    for (uint32_t factor = 2; factor <= value / factor; factor++) {
        if (value % factor == 0)
            return factor;
    }
    return value;
}

/* A prime factor of a value above 1, smaller ones more often. */
static uint32_t draw_prime(struct pim_random *random, uint32_t value)
{
    uint32_t prime = least_prime(value);
    while (value > prime && pim_random_below(random, 2) == 0) {
        value /= prime;
        prime = least_prime(value);
    }
    return prime;
}

/* Of what `holds` has bits of, one; `none` if there is nothing. */
static unsigned draw_bit(struct pim_random *random, unsigned holds, unsigned none)
{
    unsigned bits[8 * sizeof holds], count = 0;
    for (unsigned i = 0; i < 8 * sizeof holds; i++) {
        if (holds >> i & 1)
            bits[count++] = i;
    }
    return count > 0 ? bits[pim_random_below(random, count)] : none;
}

static unsigned draw_dimension(const struct pim_mapping_space *space, struct pim_random *random)
{
    unsigned longer = 0;
    for (unsigned d = 0; d < PIM_DIMENSIONS; d++)
        longer |= space->workload.size[d] > 1 ? 1U << d : 0;
    return draw_bit(random, longer, PIM_N);
}

static unsigned draw_slot(const struct pim_mapping_space *near, struct pim_random *random, unsigned d)
{
    unsigned loops = 0;
    for (unsigned slot = 0; slot < PIM_SLOTS; slot++)
        loops |= near->factor[slot][d] > 1 ? 1U << slot : 0;
    return draw_bit(random, loops, PIM_SLOT_OUTER);
}

/* Moves a prime factor of dimension d from slot to slot, where the space pins neither. */
static void move(const struct pim_mapping_space *space, struct pim_random *random, unsigned d, unsigned from,
                 unsigned to, struct pim_mapping_space *near)
{
    if (space->factor[from][d] > 0 || space->factor[to][d] > 0 || near->factor[from][d] < 2)
        return;
    const uint32_t prime = draw_prime(random, near->factor[from][d]);
    near->factor[from][d] /= prime;
    near->factor[to][d] *= prime;
}

/* A prime factor of dimension d goes from slot to slot, and one of another, if there is one, comes back. */
static void exchange(const struct pim_mapping_space *space, struct pim_random *random, unsigned d,
                     unsigned from, unsigned to, struct pim_mapping_space *near)
{
    unsigned others = 0;
    for (unsigned i = 0; i < PIM_DIMENSIONS; i++)
        others |= i != d && near->factor[to][i] > 1 ? 1U << i : 0;
    const unsigned other = draw_bit(random, others, d);
    move(space, random, d, from, to, near);
    if (other != d)
        move(space, random, other, to, from, near);
}

static void free_dimension(const struct pim_mapping_space *space, unsigned d, struct pim_mapping_space *near)
{
    for (unsigned slot = 0; slot < PIM_SLOTS; slot++)
        near->factor[slot][d] = space->factor[slot][d];
}

static void free_slot(const struct pim_mapping_space *space, unsigned slot, struct pim_mapping_space *near)
{
    memcpy(near->factor[slot], space->factor[slot], sizeof near->factor[slot]);
}

void pim_mapping_space_near(const struct pim_mapping_space *space, const struct pim_nest *nest,
                            struct pim_random *random, struct pim_mapping_space *near)
{
    enum { EXCHANGE = 3, ORDER = 1, DIMENSIONS = 6, SLOTS = 6 }; /* how often each is drawn */
    hold(space, nest, random, near);
    const unsigned one = draw_dimension(space, random), from = draw_slot(near, random, one),
                   to = (from + 1 + (unsigned)pim_random_below(random, PIM_SLOTS - 1)) % PIM_SLOTS;
    const unsigned change = (unsigned)pim_random_below(random, EXCHANGE + ORDER + DIMENSIONS + SLOTS);
    if (change < EXCHANGE) {
        exchange(space, random, one, from, to, near);
    } else if (change < EXCHANGE + ORDER) {
        const unsigned slot = temporal[pim_random_below(random, 2)];
        near->ordered[slot] = space->ordered[slot]; /* samples shuffle it */
    } else if (change < EXCHANGE + ORDER + DIMENSIONS) {
        free_dimension(space, one, near);
        free_dimension(space, draw_dimension(space, random), near);
    } else {
        free_slot(space, from, near);
        free_slot(space, to, near);
    }
}

static bool has_loop(const struct pim_nest *nest, const struct pim_nest_loop *loop)
{
    for (uint32_t i = 0; i < nest->loops; i++) {
        const struct pim_nest_loop *other = &nest->loop[i];
        if (loop->dimension == other->dimension && loop->spatial == other->spatial &&
            loop->level == other->level && loop->count == other->count)
            return true;
    }
    return false;
}

bool pim_nest_like(const struct pim_nest *one, const struct pim_nest *other)
{
    if (one->loops != other->loops || one->cut != other->cut)
        return false;
    uint32_t next = 0; /* loop of `other` that is in time */
    for (uint32_t i = 0; i < one->loops; i++) {
        const struct pim_nest_loop *loop = &one->loop[i];
        if (!has_loop(other, loop))
            return false;
        if (loop->spatial || i >= one->cut)
            continue;
        while (next < other->cut && other->loop[next].spatial)
            next++;
        if (next >= other->cut || loop->dimension != other->loop[next].dimension ||
            loop->level != other->loop[next].level)
            return false;
        next++;
    }
    return true;
}

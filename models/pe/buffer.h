/*
 * Space in an SRAM buffer of a node (input, weight or output), kept as a credit account in bytes. Who must
 * wait because a buffer is full waits in the engine that wanted the space; how long is that engine's
 * statistic, not the account's.
 *
 * Invariants: taken <= high_water <= capacity; nothing is given back that was not taken.
 */
#ifndef PIMSIM_MODELS_PE_BUFFER_H
#define PIMSIM_MODELS_PE_BUFFER_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

struct pim_buffer_space {
    uint64_t capacity; /* bytes */
    uint64_t taken;
    uint64_t high_water; /* most that was ever taken */
};

static inline void pim_buffer_initialize(struct pim_buffer_space *space, uint64_t capacity)
{
    *space = (struct pim_buffer_space){.capacity = capacity};
}

static inline uint64_t pim_buffer_free(const struct pim_buffer_space *space)
{
    return space->capacity - space->taken;
}

static inline bool pim_buffer_fits(const struct pim_buffer_space *space, uint64_t bytes)
{
    return bytes <= space->capacity - space->taken;
}

/* The space must fit. */
static inline void pim_buffer_take(struct pim_buffer_space *space, uint64_t bytes)
{
    assert(pim_buffer_fits(space, bytes));
    space->taken += bytes;
    if (space->taken > space->high_water)
        space->high_water = space->taken;
}

/* Not more than was taken. */
static inline void pim_buffer_give(struct pim_buffer_space *space, uint64_t bytes)
{
    assert(bytes <= space->taken);
    space->taken -= bytes;
}

#endif

/*
 * The memory manager of one core's local memory, for schedulers: address-ordered first fit with coalescing
 * (paper: PIMCOMP, section VII-B, the heap-based manager of Fig. 9).
 *
 * A block is an address and a size; the owner remembers both. Addresses depend on the sequence of calls
 * alone.
 *
 * Invariants:
 *  1. Blocks in use do not overlap and lie in [0, capacity).
 *  2. Free extents are sorted by address, not empty, and no two of them touch.
 *  3. used = capacity - sum of the free extents; high_water never falls.
 */
#ifndef PIMSIM_MAPPERS_EMIT_LOCAL_HEAP_H
#define PIMSIM_MAPPERS_EMIT_LOCAL_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pim_local_extent {
    uint32_t address, bytes;
};

struct pim_local_heap {
    uint32_t capacity;   /* bytes */
    uint32_t granule;    /* sizes are rounded up to a multiple of this */
    uint32_t used;       /* bytes in blocks at present */
    uint32_t high_water; /* end of the highest block there ever was */
    size_t extents, room;
    struct pim_local_extent *extent; /* free, sorted by address */
};

/* An empty memory of `capacity` bytes, which may be 0. `granule` is at least 1; addresses are multiples of
 * it. */
void pim_local_heap_initialize(struct pim_local_heap *heap, uint32_t capacity, uint32_t granule);
void pim_local_heap_terminate(struct pim_local_heap *heap);

/* Takes the lowest free place for `bytes` (not 0) and writes it to *address; false, with nothing changed,
 * when no free extent is large enough. */
bool pim_local_heap_allocate(struct pim_local_heap *heap, uint32_t bytes, uint32_t *address);

/* Gives back a block of pim_local_heap_allocate: the same address, the same size. */
void pim_local_heap_release(struct pim_local_heap *heap, uint32_t address, uint32_t bytes);

/* The largest block that could be allocated now. Linear in the free extents. */
uint32_t pim_local_heap_largest(const struct pim_local_heap *heap);

#endif

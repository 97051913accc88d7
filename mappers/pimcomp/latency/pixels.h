/*
 * The runtime record of the low-latency schedule: which pixel stands at which address of which core, and how
 * many uses there still are (paper: PIMCOMP, Fig. 9, "runtime record").
 *
 * A hash table over a pool of records; the number of a record stays the same as long as it is in the table.
 *
 * Invariants:
 *  1. At most one record for each (layer, pixel, core).
 *  2. The table is at most half full; keys from their place on are without a gap (linear probing).
 */
#ifndef PIMSIM_MAPPERS_PIMCOMP_LATENCY_PIXELS_H
#define PIMSIM_MAPPERS_PIMCOMP_LATENCY_PIXELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bits of a key; layers, cores and pixels beyond them must be refused before. */
enum { PIM_PIXEL_LAYER_BITS = 16, PIM_PIXEL_CORE_BITS = 20, PIM_PIXEL_BITS = 28 };
#define PIM_PIXEL_NONE UINT32_MAX

struct pim_pixel {
    uint64_t key;
    uint32_t address; /* in the core's local memory */
    uint32_t uses;    /* that are still to come: windows of the core, messages that wait */
    uint32_t block;   /* of the heap, shared by pixels that were loaded together */
    uint32_t epoch;   /* flushes before it was made, or came by message */
    bool by_message;
    bool here; /* false: the place is taken, the message waits */
};

struct pim_pixel_table {
    size_t used, records, room;
    struct pim_pixel *record;
    uint32_t free_record; /* chain through `block`, PIM_PIXEL_NONE at the end */
    size_t slots;         /* a power of two, or 0 */
    uint32_t *slot;       /* number of a record, PIM_PIXEL_NONE: empty */
};

static inline uint64_t pim_pixel_key(uint32_t layer, uint32_t pixel, uint32_t core)
{
    return (uint64_t)layer << (PIM_PIXEL_CORE_BITS + PIM_PIXEL_BITS) | (uint64_t)core << PIM_PIXEL_BITS |
           pixel;
}

static inline uint32_t pim_pixel_core(uint64_t key)
{
    return (uint32_t)(key >> PIM_PIXEL_BITS) & ((UINT32_C(1) << PIM_PIXEL_CORE_BITS) - 1);
}

void pim_pixel_table_initialize(struct pim_pixel_table *table);
void pim_pixel_table_terminate(struct pim_pixel_table *table);

/* Number of the record, PIM_PIXEL_NONE if there is none. */
uint32_t pim_pixel_find(const struct pim_pixel_table *table, uint64_t key);

/* A new record for a key that has none; PIM_PIXEL_NONE when memory is out. All fields but the key are 0. */
uint32_t pim_pixel_add(struct pim_pixel_table *table, uint64_t key);

void pim_pixel_drop(struct pim_pixel_table *table, uint32_t number);

#endif

#include "mappers/pimcomp/latency/pixels.h"

#include "sim/arena.h"

#include <assert.h>
#include <stdlib.h>

void pim_pixel_table_initialize(struct pim_pixel_table *table)
{
    *table = (struct pim_pixel_table){.free_record = PIM_PIXEL_NONE};
}

void pim_pixel_table_terminate(struct pim_pixel_table *table)
{
    free(table->record);
    free(table->slot);
    pim_pixel_table_initialize(table);
}

static size_t home_of(const struct pim_pixel_table *table, uint64_t key)
{
    return (size_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 20) & (table->slots - 1);
}

uint32_t pim_pixel_find(const struct pim_pixel_table *table, uint64_t key)
{
    if (table->slots == 0)
        return PIM_PIXEL_NONE;
    for (size_t i = home_of(table, key);; i = (i + 1) & (table->slots - 1)) {
        uint32_t number = table->slot[i];
        if (number == PIM_PIXEL_NONE || table->record[number].key == key)
            return number;
    }
}

static void put(struct pim_pixel_table *table, uint32_t number)
{
    size_t i = home_of(table, table->record[number].key);
    while (table->slot[i] != PIM_PIXEL_NONE)
        i = (i + 1) & (table->slots - 1);
    table->slot[i] = number;
}

static bool widen(struct pim_pixel_table *table)
{
    size_t slots = table->slots ? 2 * table->slots : 1024;
    if (slots > SIZE_MAX / sizeof *table->slot)
        return false;
    uint32_t *old = table->slot, *slot = malloc(slots * sizeof *slot);
    size_t old_slots = table->slots;
    if (!slot)
        return false;
    for (size_t i = 0; i < slots; i++)
        slot[i] = PIM_PIXEL_NONE;
    table->slot = slot;
    table->slots = slots;
    for (size_t i = 0; i < old_slots; i++)
        if (old[i] != PIM_PIXEL_NONE)
            put(table, old[i]);
    free(old);
    return true;
}

uint32_t pim_pixel_add(struct pim_pixel_table *table, uint64_t key)
{
    if (2 * (table->used + 1) > table->slots && !widen(table))
        return PIM_PIXEL_NONE;
    uint32_t number = table->free_record;
    if (number != PIM_PIXEL_NONE) {
        table->free_record = table->record[number].block;
    } else {
        if (table->records >= PIM_PIXEL_NONE)
            return PIM_PIXEL_NONE;
        struct pim_pixel *grown =
            pim_array_grow(table->record, &table->room, table->records + 1, sizeof *grown);
        if (!grown)
            return PIM_PIXEL_NONE;
        table->record = grown;
        number = (uint32_t)table->records++;
    }
    table->record[number] = (struct pim_pixel){.key = key};
    put(table, number);
    table->used++;
    return number;
}

void pim_pixel_drop(struct pim_pixel_table *table, uint32_t number)
{
    size_t mask = table->slots - 1, hole = home_of(table, table->record[number].key);
    while (table->slot[hole] != number)
        hole = (hole + 1) & mask;
    /* What follows without a gap moves up when the hole lies between its home and its place. */
    for (size_t i = (hole + 1) & mask; table->slot[i] != PIM_PIXEL_NONE; i = (i + 1) & mask) {
        size_t home = home_of(table, table->record[table->slot[i]].key);
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            table->slot[hole] = table->slot[i];
            hole = i;
        }
    }
    table->slot[hole] = PIM_PIXEL_NONE;
    assert(table->used > 0);
    table->used--;
    table->record[number].block = table->free_record;
    table->free_record = number;
}

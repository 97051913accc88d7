/* What the tests of speed bins and densities share. */
#ifndef PIMSIM_TESTS_UNIT_DRAM_BINS_BINS_H
#define PIMSIM_TESTS_UNIT_DRAM_BINS_BINS_H

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bin_memory {
    char name[64], standard[16];
    const char *bin, *density;
    uint32_t rate, gigabits, width; /* as the names say; width 0: none is said */
};

/* The memory of a bin and a density by their numbers; false when they are of different standards. */
bool bins_memory(size_t bin, size_t density, struct bin_memory *memory);

/* Data pins of a channel. */
uint32_t bins_bus_bits(const char *standard);

/* Values against the standards' own figures. */
Suite *suite_dram_values(void);

#endif

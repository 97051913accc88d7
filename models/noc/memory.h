/*
 * Memory for the big arrays of a network.
 */
#ifndef PIMSIM_MODELS_NOC_MEMORY_H
#define PIMSIM_MODELS_NOC_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

enum {
    NOC_LINE = 64,          /* bytes of a cache line */
    NOC_HUGE_PAGE = 1 << 21 /* bytes of a huge page */
};

/* `count` items of `size` bytes, all 0, at the beginning of a cache line, or of a huge page when they fill
 * one; the system is then asked to map them by huge pages, since every cycle walks through all of them. The
 * caller frees them; NULL, and `failed`, when there is no memory, or the size is no size_t. */
void *pim_noc_allocate(size_t count, size_t size, bool *failed);

#endif

#include "mappers/emit/local_heap.h"

#include "sim/arena.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void pim_local_heap_initialize(struct pim_local_heap *heap, uint32_t capacity, uint32_t granule)
{
    assert(granule > 0);
    *heap = (struct pim_local_heap){.capacity = capacity - capacity % granule, .granule = granule};
    if (heap->capacity == 0)
        return;
    heap->extent = pim_array_require(NULL, &heap->room, 16, sizeof *heap->extent);
    heap->extent[0] = (struct pim_local_extent){.address = 0, .bytes = heap->capacity};
    heap->extents = 1;
}

void pim_local_heap_terminate(struct pim_local_heap *heap)
{
    free(heap->extent);
    *heap = (struct pim_local_heap){.granule = 1};
}

/* `bytes` rounded up to the granule; 0 when that is beyond 2^32. */
static uint32_t rounded(const struct pim_local_heap *heap, uint32_t bytes)
{
    uint64_t up = ((uint64_t)bytes + heap->granule - 1) / heap->granule * heap->granule;
    return up > UINT32_MAX ? 0 : (uint32_t)up;
}

bool pim_local_heap_allocate(struct pim_local_heap *heap, uint32_t bytes, uint32_t *address)
{
    assert(bytes > 0);
    bytes = rounded(heap, bytes);
    if (bytes == 0)
        return false;
    for (size_t i = 0; i < heap->extents; i++) {
        struct pim_local_extent *extent = &heap->extent[i];
        if (extent->bytes < bytes)
            continue;
        *address = extent->address;
        extent->address += bytes;
        extent->bytes -= bytes;
        if (extent->bytes == 0) {
            heap->extents--;
            memmove(extent, extent + 1, (heap->extents - i) * sizeof *extent);
        }
        heap->used += bytes;
        if (*address + bytes > heap->high_water)
            heap->high_water = *address + bytes;
        return true;
    }
    return false;
}

void pim_local_heap_release(struct pim_local_heap *heap, uint32_t address, uint32_t bytes)
{
    bytes = rounded(heap, bytes);
    assert(bytes > 0 && bytes <= heap->used);
    size_t low = 0, high = heap->extents; /* the first extent behind the block is in [low, high] */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (heap->extent[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    struct pim_local_extent *extent = heap->extent;
    bool joins_before = low > 0 && extent[low - 1].address + extent[low - 1].bytes == address;
    bool joins_behind = low < heap->extents && address + bytes == extent[low].address;
    assert(low == 0 || extent[low - 1].address + extent[low - 1].bytes <= address);
    assert(low == heap->extents || address + bytes <= extent[low].address);
    heap->used -= bytes;
    if (joins_before && joins_behind) {
        extent[low - 1].bytes += bytes + extent[low].bytes;
        heap->extents--;
        memmove(&extent[low], &extent[low + 1], (heap->extents - low) * sizeof *extent);
    } else if (joins_before) {
        extent[low - 1].bytes += bytes;
    } else if (joins_behind) {
        extent[low].address = address;
        extent[low].bytes += bytes;
    } else {
        heap->extent = pim_array_require(heap->extent, &heap->room, heap->extents + 1, sizeof *extent);
        extent = heap->extent;
        memmove(&extent[low + 1], &extent[low], (heap->extents - low) * sizeof *extent);
        extent[low] = (struct pim_local_extent){.address = address, .bytes = bytes};
        heap->extents++;
    }
}

uint32_t pim_local_heap_largest(const struct pim_local_heap *heap)
{
    uint32_t largest = 0;
    for (size_t i = 0; i < heap->extents; i++)
        if (heap->extent[i].bytes > largest)
            largest = heap->extent[i].bytes;
    return largest;
}

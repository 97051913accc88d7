#include "sim/arena.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { DEFAULT_CHUNK_BYTES = 65536, LARGEST_ALIGNMENT = 4096, LEAST_ARRAY_ITEMS = 8 };

struct pim_arena_chunk {
    struct pim_arena_chunk *next;
    size_t size; /* payload bytes */
    size_t used;
    _Alignas(max_align_t) unsigned char payload[];
};

_Noreturn static void out_of_memory(size_t count, size_t item_size)
{
    (void)fprintf(stderr, "pimsim: out of memory: %zu items of %zu bytes could not be allocated\n", count,
                  item_size);
    _Exit(1);
}

void pim_arena_initialize(struct pim_arena *arena, size_t chunk_bytes)
{
    *arena = (struct pim_arena){.chunk_bytes = chunk_bytes ? chunk_bytes : DEFAULT_CHUNK_BYTES};
}

void pim_arena_terminate(struct pim_arena *arena)
{
    struct pim_arena_chunk *chunk = arena->first;
    while (chunk) {
        struct pim_arena_chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
    pim_arena_initialize(arena, arena->chunk_bytes);
}

void pim_arena_reset(struct pim_arena *arena)
{
    for (struct pim_arena_chunk *chunk = arena->first; chunk; chunk = chunk->next)
        chunk->used = 0;
    arena->current = arena->first;
    arena->used_bytes = 0;
}

/* A block from one chunk, or NULL when it does not fit there. */
static void *take(struct pim_arena_chunk *chunk, size_t size, size_t alignment)
{
    uintptr_t free_start = (uintptr_t)(chunk->payload + chunk->used);
    size_t padding = (size_t)(-free_start & (alignment - 1));
    size_t room = chunk->size - chunk->used;
    if (padding > room || size > room - padding)
        return NULL;
    void *block = chunk->payload + chunk->used + padding;
    chunk->used += padding + size;
    return block;
}

/* A new chunk with room for the block, behind the current one. */
static struct pim_arena_chunk *grow(struct pim_arena *arena, size_t size, size_t alignment)
{
    if (size > SIZE_MAX / 2 - alignment)
        return NULL;
    size_t payload = size + alignment > arena->chunk_bytes ? size + alignment : arena->chunk_bytes;
    if (payload > SIZE_MAX - sizeof(struct pim_arena_chunk))
        return NULL;
    struct pim_arena_chunk *chunk = malloc(sizeof *chunk + payload);
    if (!chunk)
        return NULL;
    chunk->size = payload;
    chunk->used = 0;
    if (arena->current) {
        chunk->next = arena->current->next;
        arena->current->next = chunk;
    } else {
        chunk->next = arena->first;
        arena->first = chunk;
    }
    return chunk;
}

void *pim_arena_allocate(struct pim_arena *arena, size_t size, size_t alignment)
{
    assert(alignment != 0 && (alignment & (alignment - 1)) == 0 && alignment <= LARGEST_ALIGNMENT);
    /* After a reset the chunks behind the current one are empty: use them before asking for more. One that is
     * too small for this block is passed over and stays unused until the next reset. */
    for (struct pim_arena_chunk *chunk = arena->current; chunk; chunk = chunk->next) {
        void *block = take(chunk, size, alignment);
        if (block) {
            arena->current = chunk;
            arena->used_bytes += size;
            return block;
        }
        arena->current = chunk;
    }
    struct pim_arena_chunk *chunk = grow(arena, size, alignment);
    if (!chunk)
        return NULL;
    arena->current = chunk;
    arena->used_bytes += size;
    void *block = take(chunk, size, alignment);
    assert(block);
    return block;
}

void *pim_arena_allocate_items(struct pim_arena *arena, size_t count, size_t item_size, size_t alignment)
{
    size_t size;
    return pim_multiply_size(count, item_size, &size) ? pim_arena_allocate(arena, size, alignment) : NULL;
}

void *pim_arena_allocate_array(struct pim_arena *arena, size_t count, size_t item_size, size_t alignment)
{
    void *block = pim_arena_allocate_items(arena, count, item_size, alignment);
    if (block)
        memset(block, 0, count * item_size);
    return block;
}

void *pim_arena_require(struct pim_arena *arena, size_t size, size_t alignment)
{
    void *block = pim_arena_allocate(arena, size, alignment);
    if (!block)
        out_of_memory(1, size);
    return block;
}

void *pim_arena_require_array(struct pim_arena *arena, size_t count, size_t item_size, size_t alignment)
{
    void *block = pim_arena_allocate_array(arena, count, item_size, alignment);
    if (!block)
        out_of_memory(count, item_size);
    return block;
}

char *pim_arena_copy_text(struct pim_arena *arena, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = pim_arena_require(arena, size, 1);
    memcpy(copy, text, size);
    return copy;
}

void *pim_array_grow(void *items, size_t *capacity, size_t needed, size_t item_size)
{
    assert(item_size != 0);
    if (needed <= *capacity && items)
        return items;
    size_t wanted = *capacity > SIZE_MAX / 2 ? SIZE_MAX : *capacity * 2;
    if (wanted < needed)
        wanted = needed;
    if (wanted < LEAST_ARRAY_ITEMS)
        wanted = LEAST_ARRAY_ITEMS;
    size_t bytes;
    if (!pim_multiply_size(wanted, item_size, &bytes) || bytes > PTRDIFF_MAX) {
        /* Doubling may overshoot where the need itself still fits. */
        wanted = needed ? needed : 1;
        if (!pim_multiply_size(wanted, item_size, &bytes) || bytes > PTRDIFF_MAX)
            return NULL;
        assert(bytes != 0);
    }
    void *grown = realloc(items, bytes);
    if (grown)
        *capacity = wanted;
    return grown;
}

void *pim_array_require(void *items, size_t *capacity, size_t needed, size_t item_size)
{
    void *grown = pim_array_grow(items, capacity, needed, item_size);
    if (!grown)
        out_of_memory(needed, item_size);
    return grown;
}

static void *obtain(size_t count, size_t size)
{
    void *items = NULL;
    if (size != 0 && count > (SIZE_MAX - PIM_LINE) / size)
        return NULL;
    size_t bytes = count * size + (count * size == 0), huge = bytes / PIM_HUGE_PAGE * PIM_HUGE_PAGE;
    if (posix_memalign(&items, huge ? (size_t)PIM_HUGE_PAGE : (size_t)PIM_LINE, bytes) != 0)
        return NULL;
#if defined(MADV_HUGEPAGE)
    if (huge)
        (void)madvise(items, huge, MADV_HUGEPAGE); /* a wish: without it the results are the same */
#endif
    memset(items, 0, bytes);
    return items;
}

void *pim_lines_allocate(size_t count, size_t size, bool *failed)
{
    void *items = obtain(count, size);
    *failed |= !items;
    return items;
}

/*
 * Memory that is given back all at once: a bump allocator over a chain of chunks; the growth of arrays; big
 * arrays that a simulation walks through.
 *
 * Two ways to meet memory that runs out, chosen by the caller: `..allocate..` returns NULL (sizes that come
 * from input),
 * `..require..` ends the process with a message that names what was asked for (small sizes of our own, at
 * set-up).
 *
 * Invariants:
 *  1. Every block is aligned as asked and lies in one chunk; blocks never move until reset or terminate.
 *  2. A block larger than a chunk gets a chunk of its own size.
 *  3. reset keeps the chunks, so that a second round of the same demands allocates nothing.
 */
#ifndef PIMSIM_SIM_ARENA_H
#define PIMSIM_SIM_ARENA_H

#include "sim/integer.h"

struct pim_arena_chunk;

struct pim_arena {
    struct pim_arena_chunk *first;
    struct pim_arena_chunk *current; /* chunks behind it are empty */
    size_t chunk_bytes;              /* payload of a new chunk */
    size_t used_bytes;               /* sum of the sizes asked for since the last reset */
};

/* `chunk_bytes` is the payload of a chunk; 0 means 64 KiB. Allocates nothing yet. */
void pim_arena_initialize(struct pim_arena *arena, size_t chunk_bytes);

/* Frees all chunks. The arena may be initialized again. */
void pim_arena_terminate(struct pim_arena *arena);

/* Gives all blocks back and keeps the chunks. */
void pim_arena_reset(struct pim_arena *arena);

/* `size` bytes at a multiple of `alignment` (a power of two, at most 4096); content undefined. A size of 0
 * gives a valid pointer to no bytes. NULL when memory is out or the size cannot be represented. */
void *pim_arena_allocate(struct pim_arena *arena, size_t size, size_t alignment);

/* `count` items of `item_size` bytes, content undefined; NULL also when the product overflows. */
void *pim_arena_allocate_items(struct pim_arena *arena, size_t count, size_t item_size, size_t alignment);

/* The same, all zero. */
void *pim_arena_allocate_array(struct pim_arena *arena, size_t count, size_t item_size, size_t alignment);

/* The same, but abort with a message instead of NULL. */
void *pim_arena_require(struct pim_arena *arena, size_t size, size_t alignment);
void *pim_arena_require_array(struct pim_arena *arena, size_t count, size_t item_size, size_t alignment);

/* A copy of `text` with its final zero; aborts with a message when memory is out. */
char *pim_arena_copy_text(struct pim_arena *arena, const char *text);

/* Zeroed items of a type: PIM_ARENA_ARRAY may give NULL, PIM_ARENA_NEW aborts instead. */
#define PIM_ARENA_ARRAY(arena, type, count)                                                                  \
    ((type *)pim_arena_allocate_array((arena), (count), sizeof(type), _Alignof(type)))
#define PIM_ARENA_ITEMS(arena, type, count) /* undefined: for what is written before it is read */           \
    ((type *)pim_arena_allocate_items((arena), (count), sizeof(type), _Alignof(type)))
#define PIM_ARENA_NEW(arena, type) ((type *)pim_arena_require_array((arena), 1, sizeof(type), _Alignof(type)))

/*
 * Room for `needed` items of `item_size` bytes in an array from malloc (`items` NULL: none yet) that has room
 * for `*capacity`. Returns the array, perhaps moved, with `*capacity` at least doubled when it had to grow;
 * items in use are kept, new ones are undefined. NULL when memory is out or the size overflows: then `items`
 * and `*capacity` are as before, and the caller still owns it.
 *
 *     struct link *grown = pim_array_grow(links, &capacity, count + 1, sizeof *links);
 *     if (!grown)
 *         return pim_fail(error, PIM_NO_MEMORY, ...);
 *     links = grown;
 */
void *pim_array_grow(void *items, size_t *capacity, size_t needed, size_t item_size);

/* The same, but aborts with a message instead of NULL. */
void *pim_array_require(void *items, size_t *capacity, size_t needed, size_t item_size);

enum {
    PIM_LINE = 64,          /* bytes of a cache line */
    PIM_HUGE_PAGE = 1 << 21 /* bytes of a huge page */
};

/* `count` items of `size` bytes, all 0, at the beginning of a cache line, or of a huge page when they fill
 * one; the system is then asked to map them by huge pages. The caller frees them with free(); NULL, and
 * `failed`, when there is no memory, or the size is no size_t. */
void *pim_lines_allocate(size_t count, size_t size, bool *failed);

#endif

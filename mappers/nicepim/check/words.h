/*
 * Memory of nodes for the check: each 16 bits know which element of which tensor they are, so that whoever
 * reads them can tell whether they are what is needed. Sums have 32 bits, of which the lower 16 count.
 */
#ifndef PIMSIM_MAPPERS_NICEPIM_CHECK_WORDS_H
#define PIMSIM_MAPPERS_NICEPIM_CHECK_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum word_kind { WORD_NOTHING, WORD_DATA, WORD_SUM, WORD_HIGH, WORD_WEIGHT };
enum { WORD_BYTES = 2 };

struct word {
    uint32_t tensor, element; /* WEIGHT: copy and place in it */
    int16_t value;
    uint8_t kind; /* enum word_kind; HIGH: the other half of the sum before it */
};

/* Words in a row. */
struct words {
    struct word *items; /* from malloc */
    size_t count, capacity;
};
bool words_add(struct words *words, const struct word *word);

/* Words by what they are; the last of equal ones counts. */
struct word_table {
    struct word *slots; /* from malloc */
    size_t capacity;    /* a power of two */
};
bool word_table_make(struct word_table *table, const struct word *words, size_t count);
const struct word *word_table_find(const struct word_table *table, uint8_t kind, uint32_t tensor,
                                   uint32_t element);

/* The memory of a node: pages that were written. */
struct word_memory {
    struct word **pages; /* from malloc */
    uint64_t page_count;
};
bool word_memory_initialize(struct word_memory *memory, uint64_t bytes);
void word_memory_terminate(struct word_memory *memory);
/* False: there is no such address, or memory of the host ran out. */
bool word_memory_write(struct word_memory *memory, uint64_t address, const struct word *word);
bool word_memory_read(const struct word_memory *memory, uint64_t address, struct word *word);

#endif

#include "mappers/nicepim/check/words.h"

#include "sim/arena.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE_WORDS = 1024 };

bool words_add(struct words *words, const struct word *word)
{
    struct word *items = pim_array_grow(words->items, &words->capacity, words->count + 1, sizeof *items);
    if (!items)
        return false;
    words->items = items;
    items[words->count++] = *word;
    return true;
}

/* --- tables --- */

static size_t slot_of(const struct word_table *table, uint8_t kind, uint32_t tensor, uint32_t element)
{
    uint64_t key = ((uint64_t)tensor << 32 | element) * UINT64_C(0x9E3779B97F4A7C15) + kind;
    size_t slot = (size_t)(key >> 20) & (table->capacity - 1);
    for (;; slot = (slot + 1) & (table->capacity - 1)) {
        const struct word *word = &table->slots[slot];
        if (word->kind == WORD_NOTHING ||
            (word->kind == kind && word->tensor == tensor && word->element == element))
            return slot;
    }
}

bool word_table_make(struct word_table *table, const struct word *words, size_t count)
{
    size_t capacity = 16;
    while (capacity < 2 * count)
        capacity *= 2;
    if (capacity > table->capacity) {
        free(table->slots);
        table->slots = malloc(capacity * sizeof *table->slots);
        table->capacity = table->slots ? capacity : 0;
        if (!table->slots)
            return false;
    }
    memset(table->slots, 0, table->capacity * sizeof *table->slots);
    for (size_t i = 0; i < count; i++) {
        if (words[i].kind != WORD_NOTHING && words[i].kind != WORD_HIGH)
            table->slots[slot_of(table, words[i].kind, words[i].tensor, words[i].element)] = words[i];
    }
    return true;
}

const struct word *word_table_find(const struct word_table *table, uint8_t kind, uint32_t tensor,
                                   uint32_t element)
{
    if (table->capacity == 0)
        return NULL;
    const struct word *word = &table->slots[slot_of(table, kind, tensor, element)];
    return word->kind == WORD_NOTHING ? NULL : word;
}

/* --- memory --- */

bool word_memory_initialize(struct word_memory *memory, uint64_t bytes)
{
    memory->page_count = bytes / (PAGE_WORDS * WORD_BYTES) + 1;
    memory->pages = calloc((size_t)memory->page_count, sizeof(struct word *));
    return memory->pages != NULL;
}

void word_memory_terminate(struct word_memory *memory)
{
    for (uint64_t i = 0; memory->pages && i < memory->page_count; i++)
        free(memory->pages[i]);
    free(memory->pages);
    *memory = (struct word_memory){0};
}

bool word_memory_write(struct word_memory *memory, uint64_t address, const struct word *word)
{
    uint64_t page = address / (PAGE_WORDS * WORD_BYTES);
    if (page >= memory->page_count || address % WORD_BYTES != 0)
        return false;
    if (!memory->pages[page])
        memory->pages[page] = calloc(PAGE_WORDS, sizeof **memory->pages);
    if (!memory->pages[page])
        return false;
    memory->pages[page][address / WORD_BYTES % PAGE_WORDS] = *word;
    return true;
}

bool word_memory_read(const struct word_memory *memory, uint64_t address, struct word *word)
{
    uint64_t page = address / (PAGE_WORDS * WORD_BYTES);
    if (page >= memory->page_count || address % WORD_BYTES != 0)
        return false;
    *word = memory->pages[page] ? memory->pages[page][address / WORD_BYTES % PAGE_WORDS] : (struct word){0};
    return true;
}

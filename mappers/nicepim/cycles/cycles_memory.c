#include "mappers/nicepim/cycles/cycles_memory.h"

#include <stdlib.h>
#include <string.h>

/* A prime. A case that finds the place of another one takes it. */
enum { PLACES = 4093 };

/* Words: rows, columns, sets; members and weight of each set; nodes; then the order that was found. */
struct known {
    size_t words;
    uint64_t *word; /* of the question and behind it of the answer */
};

struct pim_cycles_memory {
    struct known places[PLACES];
};

struct pim_cycles_memory *pim_cycles_memory_create(void)
{
    return calloc(1, sizeof(struct pim_cycles_memory));
}

void pim_cycles_memory_destroy(struct pim_cycles_memory *memory)
{
    for (size_t i = 0; memory && i < PLACES; i++)
        free(memory->places[i].word);
    free(memory);
}

static void write_question(const struct pim_sharing *sharing, uint64_t *word)
{
    const size_t sets = sharing->set_count, members = sharing->start[sets];
    *word++ = sharing->rows;
    *word++ = sharing->columns;
    *word++ = sets;
    for (size_t s = 0; s < sets; s++) {
        *word++ = sharing->start[s + 1] - sharing->start[s];
        *word++ = sharing->weight[s];
    }
    for (size_t m = 0; m < members; m++)
        *word++ = sharing->node[m];
}

static size_t place_of(const uint64_t *word, size_t words)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < words; i++) {
        hash = (hash ^ word[i]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash % PLACES;
}

enum pim_status pim_cycles_recall(struct pim_cycles_memory *memory, const struct pim_sharing *sharing,
                                  const struct pim_cycles_options *options, uint32_t *order,
                                  struct pim_error *error)
{
    const size_t members = sharing->start[sharing->set_count], words = 3 + 2 * sharing->set_count + members;
    uint64_t *word = calloc(words + members, sizeof *word);
    if (!word)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for sharing sets");
    write_question(sharing, word);
    struct known *known = &memory->places[place_of(word, words)];
    if (known->words == words && memcmp(known->word, word, words * sizeof *word) == 0) {
        for (size_t m = 0; m < members; m++)
            order[m] = (uint32_t)known->word[words + m];
        free(word);
        return PIM_OK;
    }
    struct pim_cycles cycles;
    if (pim_cycles_solve(sharing, options, &cycles, error) != PIM_OK) {
        free(word);
        return error->status;
    }
    for (size_t m = 0; m < members; m++)
        word[words + m] = order[m] = cycles.order[m];
    pim_cycles_terminate(&cycles);
    free(known->word);
    *known = (struct known){words, word};
    return PIM_OK;
}

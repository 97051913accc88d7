/*
 * Sets of numbers, from which all are taken in their order: a bit for each number, and a bit for each word of
 * these that is not empty. What is taken at a time point is little beside what there is.
 */
#ifndef PIMSIM_MODELS_CONFLICT_REPLAY_MARKS_H
#define PIMSIM_MODELS_CONFLICT_REPLAY_MARKS_H

#include "sim/bits.h"

#include <stdlib.h>

struct conflict_marks {
    uint64_t *numbers; /* 64 to a word */
    uint64_t *words;   /* words of `numbers`, 64 to a word */
    uint32_t groups;   /* words of `words` */
};

/* Where taking is: begins as all zeros. */
struct conflict_taking {
    uint32_t word;  /* the first one that is not taken yet */
    uint32_t first; /* number of the lowest of `left` */
    uint64_t left;  /* of the word that was taken last */
};

/* Empty, for numbers below `count`; false when memory is out. conflict_marks_terminate() in every case. */
static inline bool conflict_marks_initialize(struct conflict_marks *marks, size_t count)
{
    size_t words = count / 64 + 1;
    marks->groups = (uint32_t)(words / 64 + 1);
    marks->numbers = calloc(words, sizeof *marks->numbers);
    marks->words = calloc(marks->groups, sizeof *marks->words);
    return marks->numbers && marks->words;
}

static inline void conflict_marks_terminate(struct conflict_marks *marks)
{
    free(marks->numbers);
    free(marks->words);
    *marks = (struct conflict_marks){0};
}

static inline void conflict_mark(struct conflict_marks *marks, uint32_t number)
{
    uint32_t word = number / 64;
    marks->numbers[word] |= UINT64_C(1) << (number % 64);
    marks->words[word / 64] |= UINT64_C(1) << (word % 64);
}

/* The first word from taking->word on that is not empty. */
static inline bool conflict_marks_next_word(const struct conflict_marks *marks,
                                            const struct conflict_taking *taking, uint32_t *word)
{
    uint32_t group = taking->word / 64;
    if (group >= marks->groups)
        return false;
    uint64_t words = marks->words[group] & ~UINT64_C(0) << (taking->word % 64);
    while (words == 0) {
        if (++group == marks->groups)
            return false;
        words = marks->words[group];
    }
    *word = group * 64 + pim_lowest_bit(words);
    return true;
}

/* Takes the next number out of the set; false: there is none. A number that is marked meanwhile is taken too
 * when it is in a word that has not been reached, and stays for the next taking otherwise. */
static inline bool conflict_take(struct conflict_marks *marks, struct conflict_taking *taking,
                                 uint32_t *number)
{
    if (taking->left == 0) {
        uint32_t word;
        if (!conflict_marks_next_word(marks, taking, &word))
            return false;
        taking->left = marks->numbers[word];
        taking->first = word * 64;
        taking->word = word + 1;
        marks->numbers[word] = 0;
        marks->words[word / 64] &= ~(UINT64_C(1) << (word % 64));
    }
    *number = taking->first + pim_lowest_bit(taking->left);
    taking->left &= taking->left - 1;
    return true;
}

#endif

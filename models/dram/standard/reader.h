/*
 * Reads the texts that describe a standard (commands.h, rows.h): rows between semicolons, in a file between
 * ends of lines with comments from # on. Every refusal says which row, which word, and what would be right.
 */
#ifndef PIMSIM_MODELS_DRAM_STANDARD_READER_H
#define PIMSIM_MODELS_DRAM_STANDARD_READER_H

#include "sim/status.h"

#include <stdbool.h>
#include <stdint.h>

enum { PIM_DRAM_WORD_MOST = 32 };

struct pim_dram_reader {
    const char *at;
    bool file; /* ends of lines end rows, and there are comments */
    unsigned row;
    const char *what; /* "row", "timing" */
    char word[PIM_DRAM_WORD_MOST + 1];
    struct pim_error *error;
};

/* What stands at the reader's place is wrong. */
enum pim_status pim_dram_refuse(const struct pim_dram_reader *reader, const char *right);
/* The word read last is wrong: the message shows it. */
enum pim_status pim_dram_refuse_word(const struct pim_dram_reader *reader, const char *right);

/* Is the row over? */
bool pim_dram_row_ends(const struct pim_dram_reader *reader);
/* To the next row that is not empty; false: there is none. */
bool pim_dram_next_row(struct pim_dram_reader *reader);

/* Takes these characters if they come next. */
bool pim_dram_take(struct pim_dram_reader *reader, const char *text);
/* Takes a word of letters, digits, _ and of `others` into reader->word; false: none comes next, or one too
 * long. */
bool pim_dram_take_word(struct pim_dram_reader *reader, const char *others);

/* A number of at most `most` from the word. */
bool pim_dram_number_of(const char *word, uint32_t most, uint32_t *number);

#endif

/* Lines of words between blanks, as other tools write their traces: the reader of both their request lists
 * and their logs of commands. Input is hostile: lines have a greatest length and no zero bytes. */
#ifndef PIMSIM_TOOLS_COMMAND_DRAM_WORDS_H
#define PIMSIM_TOOLS_COMMAND_DRAM_WORDS_H

#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { DRAM_WORDS_LINE = 512, DRAM_WORDS_MAX = 12 };

struct dram_words {
    FILE *file;
    const char *path;
    uint64_t line; /* from 1 */
    size_t count;
    char *word[DRAM_WORDS_MAX]; /* of the present line */
    bool gap;                   /* it has a comma with no word before it, or none behind it */
    char text[DRAM_WORDS_LINE];
};

/* "-" is standard input. */
enum pim_status dram_words_open(struct dram_words *words, const char *path, struct pim_error *error);
void dram_words_close(struct dram_words *words);
/* The next line that is not empty and does not begin with '#'; `*more` is false at the end. Commas separate
 * words as well with `commas`. */
enum pim_status dram_words_next(struct dram_words *words, bool commas, bool *more, struct pim_error *error);
/* Refuses the present line: "FILE:LINE: 'WORD': RULE". */
enum pim_status dram_words_refuse(const struct dram_words *words, size_t word, const char *rule,
                                  struct pim_error *error);
/* A word as a number up to `maximum`: with base 16 hexadecimal, with or without 0x; with base 10 decimal, or
 * hexadecimal with 0x. */
enum pim_status dram_words_number(const struct dram_words *words, size_t word, unsigned base,
                                  uint64_t maximum, uint64_t *value, struct pim_error *error);

#endif

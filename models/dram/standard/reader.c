#include "models/dram/standard/reader.h"

#include <ctype.h>
#include <string.h>

/* Characters of the word of letters, digits, _ and of `others` that comes next. */
static size_t word_length(const struct pim_dram_reader *reader, const char *others)
{
    size_t length = 0;
    for (char c; c = reader->at[length], isalnum((unsigned char)c) || c == '_' || (c && strchr(others, c));)
        length++;
    return length;
}

enum pim_status pim_dram_refuse(const struct pim_dram_reader *reader, const char *right)
{
    bool too_long = word_length(reader, "") > PIM_DRAM_WORD_MOST;
    return pim_fail(reader->error, PIM_BAD_INPUT, "%s %u, at '%.20s': %s", reader->what, reader->row,
                    reader->at[0] ? reader->at : "the end",
                    too_long ? "a word has at most 32 characters" : right);
}

enum pim_status pim_dram_refuse_word(const struct pim_dram_reader *reader, const char *right)
{
    return pim_fail(reader->error, PIM_BAD_INPUT, "%s %u: '%s': %s", reader->what, reader->row, reader->word,
                    right);
}

bool pim_dram_row_ends(const struct pim_dram_reader *reader)
{
    return *reader->at == '\0' || *reader->at == ';' || (reader->file && *reader->at == '\n');
}

static void skip_blanks(struct pim_dram_reader *reader)
{
    while (*reader->at == ' ' || *reader->at == '\t')
        reader->at++;
    while (reader->file && *reader->at == '#')
        reader->at += strcspn(reader->at, "\n");
}

bool pim_dram_next_row(struct pim_dram_reader *reader)
{
    skip_blanks(reader);
    while (*reader->at != '\0' && pim_dram_row_ends(reader)) {
        reader->at++;
        skip_blanks(reader);
    }
    reader->row++;
    return *reader->at != '\0';
}

bool pim_dram_take(struct pim_dram_reader *reader, const char *text)
{
    skip_blanks(reader);
    if (strncmp(reader->at, text, strlen(text)) != 0)
        return false;
    reader->at += strlen(text);
    skip_blanks(reader);
    return true;
}

bool pim_dram_take_word(struct pim_dram_reader *reader, const char *others)
{
    skip_blanks(reader);
    size_t length = word_length(reader, others);
    if (length == 0 || length > PIM_DRAM_WORD_MOST)
        return false;
    memcpy(reader->word, reader->at, length);
    reader->word[length] = '\0';
    reader->at += length;
    skip_blanks(reader);
    return true;
}

bool pim_dram_number_of(const char *word, uint32_t most, uint32_t *number)
{
    uint64_t value = 0;
    for (const char *c = word; *c; c++) {
        if (*c < '0' || *c > '9')
            return false;
        value = value * 10 + (uint64_t)(*c - '0');
        if (value > most)
            return false;
    }
    *number = (uint32_t)value;
    return true;
}

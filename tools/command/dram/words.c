#include "tools/command/dram/words.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum pim_status dram_words_open(struct dram_words *words, const char *path, struct pim_error *error)
{
    *words = (struct dram_words){.path = path};
    words->file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (!words->file)
        return pim_fail(error, PIM_IO, "%s: %s", path, strerror(errno));
    return PIM_OK;
}

void dram_words_close(struct dram_words *words)
{
    if (words->file && words->file != stdin)
        (void)fclose(words->file);
    words->file = NULL;
}

static bool is_blank(char c, bool commas)
{
    return c == ' ' || c == '\t' || c == '\r' || (commas && c == ',');
}

/* Reads a line into `text`; its length, or SIZE_MAX at the end of the file. */
static enum pim_status read_line(struct dram_words *words, size_t *length, struct pim_error *error)
{
    size_t n = 0;
    int c;
    while ((c = getc(words->file)) != EOF && c != '\n') {
        if (c == 0x8b && n == 1 && words->line == 0 && words->text[0] == '\x1f')
            return pim_fail(error, PIM_BAD_INPUT, "%s:1: is compressed by gzip: unpack it first",
                            words->path);
        if (c == '\0' || n + 1 == sizeof words->text)
            return pim_fail(error, PIM_BAD_INPUT,
                            "%s:%" PRIu64 ": %s: allowed are lines of text of up to %d characters",
                            words->path, words->line + 1, c == '\0' ? "a zero byte" : "a line too long",
                            DRAM_WORDS_LINE - 1);
        words->text[n++] = (char)c;
    }
    if (c == EOF && ferror(words->file))
        return pim_fail(error, PIM_IO, "%s: cannot be read: %s", words->path, strerror(errno));
    words->text[n] = '\0';
    *length = c == EOF && n == 0 ? SIZE_MAX : n;
    return PIM_OK;
}

enum pim_status dram_words_next(struct dram_words *words, bool commas, bool *more, struct pim_error *error)
{
    size_t length = 0;
    *more = true;
    for (words->count = 0; words->count == 0;) {
        if (read_line(words, &length, error) != PIM_OK)
            return error->status;
        if (length == SIZE_MAX) {
            *more = false;
            return PIM_OK;
        }
        words->line++;
        char *at = words->text;
        if (*at == '#')
            continue;
        words->gap = false;
        for (;;) {
            unsigned between =
                words->count < 2; /* commas since the word before: one, none before the places */
            for (; is_blank(*at, commas); *at++ = '\0')
                between += *at == ',';
            words->gap |= between > 1 || (between > 0 && words->count > 1 && !*at);
            if (!*at)
                break;
            if (words->count == DRAM_WORDS_MAX)
                return pim_fail(error, PIM_BAD_INPUT, "%s:%" PRIu64 ": more than %d words", words->path,
                                words->line, DRAM_WORDS_MAX);
            words->word[words->count++] = at;
            while (*at && !is_blank(*at, commas))
                at++;
        }
    }
    return PIM_OK;
}

enum pim_status dram_words_refuse(const struct dram_words *words, size_t word, const char *rule,
                                  struct pim_error *error)
{
    if (word >= words->count)
        return pim_fail(error, PIM_BAD_INPUT, "%s:%" PRIu64 ": %zu words: %s", words->path, words->line,
                        words->count, rule);
    return pim_fail(error, PIM_BAD_INPUT, "%s:%" PRIu64 ": '%.40s': %s", words->path, words->line,
                    words->word[word], rule);
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

enum pim_status dram_words_number(const struct dram_words *words, size_t word, unsigned base,
                                  uint64_t maximum, uint64_t *value, struct pim_error *error)
{
    char rule[96];
    (void)snprintf(rule, sizeof rule, "allowed are integers from 0 to %" PRIu64, maximum);
    if (word >= words->count)
        return dram_words_refuse(words, word, "a number is missing", error);
    const char *at = words->word[word];
    if (at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) {
        base = 16;
        at += 2;
    }
    *value = 0;
    bool good = *at != '\0';
    for (; good && *at; at++) {
        const unsigned digit = (unsigned)digit_of(*at);
        good = digit < base && *value <= (maximum - (digit < maximum ? digit : maximum)) / base &&
               *value * base + digit <= maximum;
        if (good)
            *value = *value * base + digit;
    }
    return good ? PIM_OK : dram_words_refuse(words, word, rule, error);
}

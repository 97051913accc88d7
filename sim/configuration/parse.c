/* A scanned text through libconfig. */
#include "sim/configuration/internal.h"

#include <stdlib.h>
#include <string.h>

/* What libconfig needs at most: its tables, and a setting with its names for a few letters of the text. */
enum { PARSER_BYTES = 1 << 18, BYTES_OF_LETTER = 64 };

/* Line number `line` of the text, without blanks at its ends, for a message. */
static void quote_line(const struct pim_source *source, unsigned line, char *buffer, size_t size)
{
    const char *begin = source->text, *end = source->text + source->size;
    for (unsigned i = 1; i < line; i++) {
        const char *newline = memchr(begin, '\n', (size_t)(end - begin));
        if (!newline)
            break;
        begin = newline + 1;
    }
    while (begin < end && (*begin == ' ' || *begin == '\t'))
        begin++;
    const char *stop = begin;
    while (stop < end && *stop != '\n' && *stop != '\r')
        stop++;
    pim_quote(begin, (size_t)(stop - begin), buffer, size);
}

enum pim_status pim_source_parse(const struct pim_source *source, config_t *parsed, struct pim_error *error)
{
    /* libconfig uses what it was not given: the memory that it can need is had before, and left to it.
     * (volatile: the compiler leaves the call in.) */
    void *volatile room = malloc(PARSER_BYTES + BYTES_OF_LETTER * source->size);
    if (!room)
        return pim_fail(error, PIM_NO_MEMORY, "%s: out of memory while reading it", source->name);
    free(room);
    config_init(parsed);
    if (config_read_string(parsed, source->clean) == CONFIG_TRUE)
        return PIM_OK;
    unsigned line = config_error_line(parsed) > 0 ? (unsigned)config_error_line(parsed) : 1;
    char text[80];
    const char *message = config_error_text(parsed);
    quote_line(source, line, text, sizeof text);
    (void)pim_source_fail(source, line, error, "%s%s%s", message ? message : "syntax error",
                          text[0] ? " at or before: " : "", text);
    config_destroy(parsed);
    return PIM_BAD_INPUT;
}

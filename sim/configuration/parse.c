/* A scanned text through libconfig. */
#include "sim/configuration/internal.h"

#include <stdlib.h>
#include <string.h>

/*
 * What libconfig needs at most: its tables, and a setting with its names for a few letters of the text. It is
 * had in blocks, since jemalloc takes small objects from free pieces of at most 64 pages alone.
 */
#ifdef PIMSIM_SANITIZED /* which ends the program itself where memory is missing; large blocks take long */
enum { PARSER_BYTES = 1, BYTES_OF_LETTER = 0, BLOCK_BYTES = 64 };
#else
enum { PARSER_BYTES = 1 << 18, BYTES_OF_LETTER = 64, BLOCK_BYTES = 3 << 16 };
#endif

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

struct room {
    void **block;
    size_t count;
};

static void room_terminate(struct room *room)
{
    for (size_t i = 0; i < room->count; i++)
        free(room->block[i]);
    free(room->block);
}

/* The memory that libconfig can need, left to it: it uses what it was not given. Every second block stays
 * with the caller, so that free ones do not become one. False: out of memory. */
static bool room_initialize(struct room *room, size_t size)
{
    const size_t bytes = PARSER_BYTES + BYTES_OF_LETTER * size, count = 2 * (bytes / BLOCK_BYTES + 1);
    void *volatile whole = malloc(bytes); /* volatile: the compiler leaves the call in */
    *room = (struct room){.block = calloc(count, sizeof *room->block)};
    bool enough = whole && room->block;
    while (enough && room->count < count) {
        room->block[room->count] = malloc(BLOCK_BYTES);
        enough = room->block[room->count++] != NULL;
    }
    free(whole);
    for (size_t i = 0; enough && i < count; i += 2) {
        free(room->block[i]);
        room->block[i] = NULL;
    }
    if (!enough)
        room_terminate(room);
    return enough;
}

enum pim_status pim_source_parse(const struct pim_source *source, config_t *parsed, struct pim_error *error)
{
    struct room room;
    if (!room_initialize(&room, source->size))
        return pim_fail(error, PIM_NO_MEMORY, "%s: out of memory while reading it", source->name);
    config_init(parsed);
    const bool good = config_read_string(parsed, source->clean) == CONFIG_TRUE;
    room_terminate(&room);
    if (good)
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

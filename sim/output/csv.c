#include "sim/output/csv.h"

#include "sim/output/output.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- writer --- */

static void put_raw(struct pim_csv_writer *writer, const char *text)
{
    assert(writer->column < writer->columns);
    if (writer->column++ > 0)
        (void)fputc(',', writer->file);
    (void)fputs(text, writer->file);
}

void pim_csv_put_text(struct pim_csv_writer *writer, const char *text)
{
    /* A row of one empty field would read as an empty line. */
    bool quoted = strpbrk(text, ",\"\r\n") || (text[0] == '\0' && writer->columns == 1);
    if (!quoted) {
        put_raw(writer, text);
        return;
    }
    put_raw(writer, "\"");
    for (const char *at = text; *at; at++) {
        if (*at == '"')
            (void)fputc('"', writer->file);
        (void)fputc(*at, writer->file);
    }
    (void)fputc('"', writer->file);
}

void pim_csv_put_count(struct pim_csv_writer *writer, uint64_t value)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%" PRIu64, value);
    put_raw(writer, text);
}

void pim_csv_put_integer(struct pim_csv_writer *writer, int64_t value)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%" PRId64, value);
    put_raw(writer, text);
}

void pim_csv_put_real(struct pim_csv_writer *writer, double value)
{
    char text[PIM_REAL_CHARACTERS] = "";
    if (!isnan(value))
        pim_format_real(text, value, 17);
    pim_csv_put_text(writer, text);
}

void pim_csv_end_row(struct pim_csv_writer *writer)
{
    assert(writer->column == writer->columns);
    (void)fputc('\n', writer->file);
    writer->column = 0;
}

void pim_csv_start(struct pim_csv_writer *writer, FILE *file, const char *const *header, size_t columns)
{
    assert(columns >= 1 && columns <= PIM_CSV_COLUMNS);
    *writer = (struct pim_csv_writer){.file = file, .columns = columns};
    for (size_t i = 0; i < columns; i++)
        pim_csv_put_text(writer, header[i]);
    pim_csv_end_row(writer);
}

/* --- reader --- */

struct pim_csv_reader {
    FILE *stream;
    bool owned; /* the stream is closed with the reader */
    char *name;
    uint64_t line;
    size_t columns;
    char *header;                           /* the text that header_at points into */
    const char *header_at[PIM_CSV_COLUMNS]; /* names of the columns */
    const char *field_at[PIM_CSV_COLUMNS];  /* fields of the present row, in `buffer` */
    size_t fields;
    char buffer[PIM_CSV_LINE_BYTES + 2]; /* a line, its carriage return and a final zero */
};

static enum pim_status refuse_line(const struct pim_csv_reader *reader, const char *text,
                                   struct pim_error *error)
{
    return pim_fail(error, PIM_BAD_INPUT, "%s:%" PRIu64 ": %s", reader->name, reader->line, text);
}

/* Copies hostile text for a message: printable ASCII, cut short. */
static const char *printable(char *buffer, size_t size, const char *text)
{
    size_t length = 0;
    for (; text[length] && length + 4 < size; length++)
        buffer[length] = text[length] >= ' ' && text[length] <= '~' ? text[length] : '?';
    (void)snprintf(buffer + length, size - length, "%s", text[length] ? "..." : "");
    return buffer;
}

/* Reads a line without its end into the buffer. *more is false when nothing is left. */
static enum pim_status read_line(struct pim_csv_reader *reader, bool *more, struct pim_error *error)
{
    size_t length = 0;
    int character;
    *more = true;
    errno = 0;
    while ((character = getc_unlocked(reader->stream)) != EOF && character != '\n') {
        if (length == 0)
            reader->line++;
        if (character == 0x8b && length == 1 && reader->line == 1 && reader->buffer[0] == '\x1f')
            return refuse_line(reader, "is compressed by gzip: unpack it first", error);
        if (character == '\0')
            return refuse_line(reader, "contains a zero byte: this is not a text file", error);
        if (length > PIM_CSV_LINE_BYTES || (length == PIM_CSV_LINE_BYTES && character != '\r'))
            return refuse_line(reader, "is longer than 65536 bytes", error);
        reader->buffer[length++] = (char)character;
    }
    if (character == EOF && ferror(reader->stream))
        return pim_fail(error, PIM_IO, "%s: cannot be read: %s", reader->name, strerror(errno));
    if (character == EOF && length == 0) {
        *more = false;
        return PIM_OK;
    }
    if (length == 0)
        reader->line++;
    if (length > 0 && reader->buffer[length - 1] == '\r')
        length--;
    reader->buffer[length] = '\0';
    if (memchr(reader->buffer, '\r', length))
        return refuse_line(reader, "contains a carriage return that is not at its end", error);
    return PIM_OK;
}

/* Unquotes the field at `*at` in place and moves `*at` to the comma or zero behind it; `*field` is its text.
 */
static enum pim_status split_quoted(struct pim_csv_reader *reader, char **at, const char **field,
                                    struct pim_error *error)
{
    char *from = *at + 1, *to = *at;
    *field = *at;
    for (;; from++) {
        if (*from == '\0')
            return refuse_line(reader, "a quote is opened and not closed on the same line", error);
        if (*from == '"' && *++from != '"')
            break;
        *to++ = *from;
    }
    if (*from != ',' && *from != '\0')
        return refuse_line(
            reader, "text follows a closing quote: a comma or the end of the line is needed there", error);
    *at = from;
    *to = '\0'; /* two quotes are gone, so this is before `from` */
    return PIM_OK;
}

static enum pim_status split(struct pim_csv_reader *reader, struct pim_error *error)
{
    char *at = reader->buffer;
    reader->fields = 0;
    for (;;) {
        if (reader->fields == PIM_CSV_COLUMNS)
            return refuse_line(reader, "has more than 256 fields", error);
        const char *field = at;
        if (*at == '"') {
            enum pim_status status = split_quoted(reader, &at, &field, error);
            if (status != PIM_OK)
                return status;
        } else {
            at += strcspn(at, ",\"");
            if (*at == '"')
                return refuse_line(reader, "a quote stands inside a field that does not begin with one",
                                   error);
        }
        reader->field_at[reader->fields++] = field;
        if (*at == '\0')
            return PIM_OK;
        *at++ = '\0';
    }
}

/* Only empty lines may follow an empty line: it ends the file. */
static enum pim_status skip_empty_end(struct pim_csv_reader *reader, bool *more, struct pim_error *error)
{
    uint64_t empty = reader->line;
    for (;;) {
        enum pim_status status = read_line(reader, more, error);
        if (status != PIM_OK || !*more)
            return status;
        if (reader->buffer[0] != '\0') {
            reader->line = empty;
            return refuse_line(reader, "is empty, and rows follow: remove it", error);
        }
    }
}

enum pim_status pim_csv_next(struct pim_csv_reader *reader, bool *more, struct pim_error *error)
{
    reader->fields = 0;
    enum pim_status status = read_line(reader, more, error);
    if (status != PIM_OK || !*more)
        return status;
    if (reader->buffer[0] == '\0')
        return skip_empty_end(reader, more, error);
    status = split(reader, error);
    if (status == PIM_OK && reader->fields != reader->columns)
        return pim_fail(error, PIM_BAD_INPUT, "%s:%" PRIu64 ": has %zu fields, but the header has %zu",
                        reader->name, reader->line, reader->fields, reader->columns);
    return status;
}

/* Keeps the names of the columns, which are the fields of the line just read. */
static enum pim_status keep_header(struct pim_csv_reader *reader, struct pim_error *error)
{
    const char *last = reader->field_at[reader->fields - 1];
    size_t size = (size_t)(last - reader->buffer) + strlen(last) + 1;
    reader->header = malloc(size);
    if (!reader->header)
        return pim_fail(error, PIM_NO_MEMORY, "%s: no memory to read it", reader->name);
    memcpy(reader->header, reader->buffer, size);
    reader->columns = reader->fields;
    for (size_t i = 0; i < reader->columns; i++) {
        reader->header_at[i] = reader->header + (reader->field_at[i] - reader->buffer);
        for (size_t j = 0; j < i; j++) {
            char name[64];
            if (strcmp(reader->header_at[i], reader->header_at[j]) == 0)
                return pim_fail(error, PIM_BAD_INPUT, "%s:1: columns %zu and %zu have the same name '%s'%s",
                                reader->name, j + 1, i + 1,
                                printable(name, sizeof name, reader->header_at[i]),
                                strchr("0123456789-", reader->header_at[i][0])
                                    ? ": the first line is a header with the names of the columns"
                                    : "");
        }
    }
    return PIM_OK;
}

/* The wanted header as one text, for messages. */
static enum pim_status refuse_header(const struct pim_csv_reader *reader, const char *const *header,
                                     size_t columns, struct pim_error *error)
{
    char wanted[1024] = "";
    size_t length = 0;
    for (size_t i = 0; i < columns && length < sizeof wanted; i++) {
        int added = snprintf(wanted + length, sizeof wanted - length, "%s%s", i ? "," : "", header[i]);
        length += added > 0 ? (size_t)added : 0;
    }
    for (size_t i = 0; i < columns && i < reader->columns; i++) {
        char name[64];
        if (strcmp(header[i], reader->header_at[i]) != 0)
            return pim_fail(error, PIM_BAD_INPUT,
                            "%s:1: column %zu is named '%s', not '%s': the header must be %s", reader->name,
                            i + 1, printable(name, sizeof name, reader->header_at[i]), header[i], wanted);
    }
    return pim_fail(error, PIM_BAD_INPUT, "%s:1: has %zu columns, not %zu: the header must be %s",
                    reader->name, reader->columns, columns, wanted);
}

static enum pim_status read_header(struct pim_csv_reader *reader, const char *const *header, size_t columns,
                                   struct pim_error *error)
{
    bool more;
    enum pim_status status = read_line(reader, &more, error);
    if (status != PIM_OK)
        return status;
    if (!more || reader->buffer[0] == '\0') {
        reader->line = 1;
        return refuse_line(reader, "is empty: a header with the names of the columns is needed", error);
    }
    if (memcmp(reader->buffer, "\xef\xbb\xbf", 3) == 0)
        memmove(reader->buffer, reader->buffer + 3, strlen(reader->buffer + 3) + 1);
    status = split(reader, error);
    if (status == PIM_OK)
        status = keep_header(reader, error);
    if (status != PIM_OK || columns == 0)
        return status;
    bool same = columns == reader->columns;
    for (size_t i = 0; i < columns && same; i++)
        same = strcmp(header[i], reader->header_at[i]) == 0;
    return same ? PIM_OK : refuse_header(reader, header, columns, error);
}

enum pim_status pim_csv_open_stream(struct pim_csv_reader **reader, FILE *stream, const char *name,
                                    const char *const *header, size_t columns, struct pim_error *error)
{
    *reader = NULL;
    struct pim_csv_reader *opened = calloc(1, sizeof *opened);
    size_t size = strlen(name) + 1;
    if (opened)
        opened->name = malloc(size);
    if (!opened || !opened->name) {
        free(opened);
        return pim_fail(error, PIM_NO_MEMORY, "%s: no memory to read it", name);
    }
    memcpy(opened->name, name, size);
    opened->stream = stream;
    enum pim_status status = read_header(opened, header, columns, error);
    if (status == PIM_OK)
        *reader = opened;
    else
        pim_csv_close(opened);
    return status;
}

enum pim_status pim_csv_open(struct pim_csv_reader **reader, const char *path, const char *const *header,
                             size_t columns, struct pim_error *error)
{
    *reader = NULL;
    if (strcmp(path, "-") == 0)
        return pim_csv_open_stream(reader, stdin, "standard input", header, columns, error);
    FILE *stream = fopen(path, "rb");
    if (!stream)
        return pim_fail(error, PIM_IO, "%s: cannot be opened: %s", path, strerror(errno));
    enum pim_status status = pim_csv_open_stream(reader, stream, path, header, columns, error);
    if (status == PIM_OK)
        (*reader)->owned = true;
    else
        (void)fclose(stream);
    return status;
}

void pim_csv_close(struct pim_csv_reader *reader)
{
    if (!reader)
        return;
    if (reader->owned)
        (void)fclose(reader->stream);
    free(reader->header);
    free(reader->name);
    free(reader);
}

enum pim_status pim_csv_column(const struct pim_csv_reader *reader, const char *name, size_t *column,
                               struct pim_error *error)
{
    char present[1024] = "", part[64];
    size_t length = 0;
    for (size_t i = 0; i < reader->columns; i++) {
        if (strcmp(reader->header_at[i], name) == 0) {
            *column = i;
            return PIM_OK;
        }
        if (length < sizeof present) {
            int added = snprintf(present + length, sizeof present - length, "%s%s", i ? ", " : "",
                                 printable(part, sizeof part, reader->header_at[i]));
            length += added > 0 ? (size_t)added : 0;
        }
    }
    return pim_fail(error, PIM_BAD_INPUT, "%s:1: has no column '%s': there are %s", reader->name, name,
                    present);
}

size_t pim_csv_columns(const struct pim_csv_reader *reader)
{
    return reader->columns;
}

uint64_t pim_csv_line(const struct pim_csv_reader *reader)
{
    return reader->line;
}

const char *pim_csv_text(const struct pim_csv_reader *reader, size_t column)
{
    assert(column < reader->fields);
    return reader->field_at[column];
}

enum pim_status pim_csv_refuse(const struct pim_csv_reader *reader, size_t column, const char *allowed,
                               struct pim_error *error)
{
    assert(column < reader->fields);
    char name[64], field[64];
    return pim_fail(error, PIM_BAD_INPUT, "%s:%" PRIu64 ": column %zu (%s) is '%s': %s", reader->name,
                    reader->line, column + 1, printable(name, sizeof name, reader->header_at[column]),
                    printable(field, sizeof field, reader->field_at[column]), allowed);
}

/* All of `text` as digits; false when it is something else or exceeds 64 bits. */
static bool parse_digits(const char *text, uint64_t *value)
{
    unsigned base = 10;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        base = 16;
        text += 2;
    }
    if (*text == '\0')
        return false;
    uint64_t parsed = 0;
    for (; *text; text++) {
        unsigned digit = 99;
        if (*text >= '0' && *text <= '9')
            digit = (unsigned)(*text - '0');
        else if (*text >= 'a' && *text <= 'f')
            digit = (unsigned)(*text - 'a') + 10;
        else if (*text >= 'A' && *text <= 'F')
            digit = (unsigned)(*text - 'A') + 10;
        if (digit >= base || parsed > (UINT64_MAX - digit) / base)
            return false;
        parsed = parsed * base + digit;
    }
    *value = parsed;
    return true;
}

enum pim_status pim_csv_count(const struct pim_csv_reader *reader, size_t column, uint64_t minimum,
                              uint64_t maximum, uint64_t *value, struct pim_error *error)
{
    uint64_t parsed;
    if (parse_digits(pim_csv_text(reader, column), &parsed) && parsed >= minimum && parsed <= maximum) {
        *value = parsed;
        return PIM_OK;
    }
    char allowed[96];
    (void)snprintf(allowed, sizeof allowed, "allowed are integers from %" PRIu64 " to %" PRIu64, minimum,
                   maximum);
    return pim_csv_refuse(reader, column, allowed, error);
}

enum pim_status pim_csv_integer(const struct pim_csv_reader *reader, size_t column, int64_t minimum,
                                int64_t maximum, int64_t *value, struct pim_error *error)
{
    const char *text = pim_csv_text(reader, column);
    bool negative = text[0] == '-';
    uint64_t magnitude;
    if (parse_digits(text + negative, &magnitude) && magnitude <= (uint64_t)INT64_MAX + negative) {
        /* -magnitude without overflow at -2^63 */
        int64_t parsed = !negative ? (int64_t)magnitude : magnitude ? -(int64_t)(magnitude - 1) - 1 : 0;
        if (parsed >= minimum && parsed <= maximum) {
            *value = parsed;
            return PIM_OK;
        }
    }
    char allowed[96];
    (void)snprintf(allowed, sizeof allowed, "allowed are integers from %" PRId64 " to %" PRId64, minimum,
                   maximum);
    return pim_csv_refuse(reader, column, allowed, error);
}

/*
 * A configuration file before libconfig sees it.
 *
 * libconfig 1.5 wraps integers beyond 32 bits without a word, resolves @include against one folder only, ends
 * the process when an included file is a folder, leaks a text that stands in a wrong place, and searches
 * duplicates in quadratic time. So every text is scanned first. The scanner knows tokens, brackets and the
 * path of the group it is in; the grammar stays libconfig's.
 *
 * 1. What it lets through has at most the sizes of internal.h, closed brackets, no NUL and no
 *    duplicate key.
 * 2. The clean text has as many lines as the original, so that libconfig's line numbers are right.
 * 3. Integers leave it in decimal with the suffix L, reals with a decimal point.
 */
#include "sim/configuration/internal.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct scope {
    char bracket; /* '{', '[' or '(' */
    unsigned line;
    unsigned elements;   /* of a list, counted by its commas */
    size_t outer_length; /* path length outside */
};

struct scanner {
    struct pim_source *source;
    struct pim_error *error;
    FILE *out;
    const char *at, *end;
    unsigned line;
    unsigned elements;
    bool expects_value; /* after '=' */
    char previous;      /* the token before: its first character, '"' for a text */
    bool line_begins;   /* only blanks so far in this line */
    size_t depth;
    struct scope scopes[DEPTH_LIMIT];
    char path[PATH_LIMIT + 1]; /* of the group we are in, then of the setting whose value comes */
    size_t group_length;       /* of the group's part of `path` */
};

enum pim_status pim_source_fail(const struct pim_source *source, unsigned line, struct pim_error *error,
                                const char *format, ...)
{
    char message[sizeof error->text];
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is two lines above */
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (source->numbered)
        return pim_fail(error, PIM_BAD_INPUT, "%s:%u: %s", source->name, line, message);
    return pim_fail(error, PIM_BAD_INPUT, "%s: %s", source->name, message);
}

static enum pim_status no_memory(struct scanner *scanner)
{
    return pim_fail(scanner->error, PIM_NO_MEMORY, "%s: out of memory", scanner->source->name);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex_digit(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool begins_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '*';
}

static bool in_word(char c)
{
    return begins_word(c) || is_digit(c) || c == '-' || c == '_';
}

static bool in_list(const struct scanner *scanner)
{
    return scanner->depth > 0 && scanner->scopes[scanner->depth - 1].bracket != '{';
}

/* " of noc.width" when a value is being read, for messages. */
static const char *owner(const struct scanner *scanner, char buffer[static PATH_LIMIT + 8])
{
    buffer[0] = '\0';
    if (scanner->source->numbered && (scanner->expects_value || in_list(scanner)))
        (void)snprintf(buffer, PATH_LIMIT + 8, "%s: ", scanner->path);
    return buffer;
}

static enum pim_status scan_comment(struct scanner *scanner)
{
    if (scanner->at[0] == '#' || scanner->at[1] == '/') {
        while (scanner->at < scanner->end && *scanner->at != '\n')
            scanner->at++;
        return PIM_OK;
    }
    unsigned begin = scanner->line;
    (void)fputc(' ', scanner->out);
    for (scanner->at += 2; scanner->at + 1 < scanner->end; scanner->at++) {
        if (scanner->at[0] == '*' && scanner->at[1] == '/') {
            scanner->at += 2;
            return PIM_OK;
        }
        if (*scanner->at == '\n') {
            (void)fputc('\n', scanner->out);
            scanner->line++;
        }
    }
    return pim_source_fail(scanner->source, begin, scanner->error, "this comment has no end: */ is missing");
}

/* May a text stand here? libconfig 1.5 leaks one that comes where its grammar has none. */
static bool accepts_text(const struct scanner *scanner)
{
    char c = scanner->previous;
    return scanner->expects_value || c == '"' || (in_list(scanner) && (c == ',' || c == '[' || c == '('));
}

static enum pim_status scan_string(struct scanner *scanner)
{
    const char *begin = scanner->at;
    unsigned first = scanner->line;
    char name[PATH_LIMIT + 8];
    if (!accepts_text(scanner))
        return pim_source_fail(scanner->source, first, scanner->error,
                               "%sa text stands where none is expected", owner(scanner, name));
    const char *c = begin + 1;
    for (; c < scanner->end && *c != '"'; c++) {
        if (*c == '\n')
            scanner->line++;
        if (*c != '\\' || c + 1 >= scanner->end)
            continue;
        if (c + 3 < scanner->end && (c[1] == 'x' || c[1] == 'X') && c[2] == '0' && c[3] == '0')
            return pim_source_fail(scanner->source, scanner->line, scanner->error,
                                   "%sa text cannot hold the character \\x00", owner(scanner, name));
        if (c[1] == '"' || c[1] == '\\')
            c++;
    }
    if (c >= scanner->end)
        return pim_source_fail(scanner->source, first, scanner->error,
                               "%sthis text has no end: a quote is missing", owner(scanner, name));
    scanner->at = c + 1;
    (void)fwrite(begin, 1, (size_t)(scanner->at - begin), scanner->out);
    scanner->expects_value = false;
    return PIM_OK;
}

static enum pim_status add_include(struct scanner *scanner, const char *path, size_t length)
{
    struct pim_source *source = scanner->source;
    struct pim_include *grown = realloc(source->includes, (source->include_count + 1) * sizeof *grown);
    if (!grown)
        return no_memory(scanner);
    source->includes = grown;
    struct pim_include *include = &grown[source->include_count];
    include->path = strndup(path, length);
    include->prefix = strndup(scanner->path, scanner->group_length);
    include->line = scanner->line;
    source->include_count++;
    return include->path && include->prefix ? PIM_OK : no_memory(scanner);
}

/* @include "file": the directive becomes blanks; the reader applies the file before this one. */
static enum pim_status scan_include(struct scanner *scanner)
{
    static const char word[] = "@include";
    struct pim_source *source = scanner->source;
    size_t left = (size_t)(scanner->end - scanner->at);
    const char *c = scanner->at + sizeof word - 1;
    if (left < sizeof word || memcmp(scanner->at, word, sizeof word - 1) != 0 || !scanner->line_begins)
        return pim_source_fail(source, scanner->line, scanner->error,
                               "'@' begins @include \"FILE\" only, at the start of a line");
    if (!source->may_include)
        return pim_source_fail(source, scanner->line, scanner->error,
                               "@include works in files only, not in %s",
                               source->numbered ? "a text inside another file" : "a single value");
    while (c < scanner->end && (*c == ' ' || *c == '\t'))
        c++;
    const char *path = c < scanner->end && *c == '"' ? c + 1 : scanner->end;
    const char *close = path;
    while (close < scanner->end && *close != '"' && *close != '\n' && *close != '\\')
        close++;
    if (close >= scanner->end || *close != '"' || close == path)
        return pim_source_fail(source, scanner->line, scanner->error,
                               "@include needs a file name in quotes: @include \"base.cfg\"");
    if (close - path > INCLUDE_PATH_LIMIT)
        return pim_source_fail(source, scanner->line, scanner->error,
                               "the path of the included file has %zu bytes: allowed are %d",
                               (size_t)(close - path), INCLUDE_PATH_LIMIT);
    if (in_list(scanner) || scanner->expects_value)
        return pim_source_fail(source, scanner->line, scanner->error,
                               "@include cannot stand inside a value: %s", scanner->path);
    if (source->include_count >= PIM_CONFIGURATION_INCLUDE_LIMIT)
        return pim_source_fail(source, scanner->line, scanner->error, "more than %u files are included",
                               PIM_CONFIGURATION_INCLUDE_LIMIT);
    scanner->at = close + 1;
    return add_include(scanner, path, (size_t)(close - path));
}

/* Hexadecimal or decimal digits to an integer; false beyond 64 bits. */
static bool to_integer(const char *digits, size_t length, bool hexadecimal, bool negative, int64_t *value)
{
    const uint64_t base = hexadecimal ? 16 : 10;
    const uint64_t limit = negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;
    uint64_t sum = 0;
    for (size_t i = 0; i < length; i++) {
        char c = digits[i];
        uint64_t digit = (uint64_t)(is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
        if (sum > (limit - digit) / base)
            return false;
        sum = sum * base + digit;
    }
    *value = negative ? (sum == limit ? INT64_MIN : -(int64_t)sum) : (int64_t)sum;
    return true;
}

/* Writes the real number that `text` is, with a decimal point, or returns false when it is none. */
static bool copy_real(FILE *out, const char *text, size_t length)
{
    size_t i = 0, digits = 0;
    bool point = false;
    if (i < length && (text[i] == '-' || text[i] == '+'))
        i++;
    for (; i < length && (is_digit(text[i]) || (text[i] == '.' && !point)); i++) {
        point = point || text[i] == '.';
        digits += is_digit(text[i]);
    }
    size_t mantissa = i;
    if (digits == 0)
        return false;
    if (i < length) {
        if (text[i] != 'e' && text[i] != 'E')
            return false;
        i++;
        if (i < length && (text[i] == '-' || text[i] == '+'))
            i++;
        size_t exponent = i;
        while (i < length && is_digit(text[i]))
            i++;
        if (i == exponent || i < length)
            return false;
    }
    (void)fwrite(text, 1, mantissa, out);
    if (!point)
        (void)fputs(".0", out);
    (void)fwrite(text + mantissa, 1, length - mantissa, out);
    return true;
}

static enum pim_status scan_number(struct scanner *scanner)
{
    const char *text = scanner->at;
    size_t length = 0, left = (size_t)(scanner->end - text);
    while (length < left && (in_word(text[length]) || text[length] == '.' || text[length] == '+')) {
        /* a sign belongs to the number at its start and after an exponent only */
        if (length > 0 && (text[length] == '-' || text[length] == '+') && text[length - 1] != 'e' &&
            text[length - 1] != 'E')
            break;
        length++;
    }
    char name[PATH_LIMIT + 8], found[48];
    pim_quote(text, length, found, sizeof found);
    if (length > NUMBER_LIMIT)
        return pim_source_fail(scanner->source, scanner->line, scanner->error,
                               "%s%s is longer than %d characters", owner(scanner, name), found,
                               NUMBER_LIMIT);
    bool negative = text[0] == '-';
    const char *digits = text + (negative || text[0] == '+');
    size_t count = length - (size_t)(digits - text);
    for (int suffix = 0; suffix < 2 && count > 1 && digits[count - 1] == 'L'; suffix++)
        count--;
    bool hexadecimal = count > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
    size_t skip = hexadecimal ? 2 : 0, good = skip;
    while (good < count && (hexadecimal ? is_hex_digit(digits[good]) : is_digit(digits[good])))
        good++;
    if (good == count && count > 0) {
        int64_t value;
        if (!hexadecimal && count > 1 && digits[0] == '0')
            return pim_source_fail(
                scanner->source, scanner->line, scanner->error,
                "%s%s begins with 0: write a decimal number without it, or 0x for a hexadecimal one",
                owner(scanner, name), found);
        if (!to_integer(digits + skip, count - skip, hexadecimal, negative, &value))
            return pim_source_fail(scanner->source, scanner->line, scanner->error, "%s%s is beyond 64 bits",
                                   owner(scanner, name), found);
        (void)fprintf(scanner->out, "%lldL", (long long)value);
    } else if (!copy_real(scanner->out, text, length)) {
        return pim_source_fail(scanner->source, scanner->line, scanner->error, "%s%s is not a number",
                               owner(scanner, name), found);
    }
    scanner->at += length;
    scanner->expects_value = false;
    return PIM_OK;
}

static bool is_boolean(const char *word, size_t length)
{
    const char *name = length == 4 ? "true" : length == 5 ? "false" : "";
    size_t i = 0;
    while (name[i] && (word[i] | 0x20) == name[i])
        i++;
    return i == length;
}

/* A setting's name: puts it into scanner->path, refuses a second one, notes the place. */
static enum pim_status add_setting(struct scanner *scanner, const char *word, size_t length)
{
    struct pim_source *source = scanner->source;
    char found[PATH_LIMIT + 1];
    pim_quote(word, length, found, 80);
    size_t dot = scanner->group_length > 0;
    if (scanner->group_length + dot + length > PATH_LIMIT)
        return pim_source_fail(source, scanner->line, scanner->error,
                               "the name %s is too long: a path has at most %d characters", found,
                               PATH_LIMIT);
    if (dot)
        scanner->path[scanner->group_length] = '.';
    memcpy(scanner->path + scanner->group_length + dot, word, length);
    scanner->path[scanner->group_length + dot + length] = '\0';
    for (size_t i = 0; i < source->setting_count; i++) {
        if (strcmp(source->settings[i].path, scanner->path) == 0)
            return pim_source_fail(source, scanner->line, scanner->error,
                                   "%s: given twice, the first time in line %u: remove one of them",
                                   scanner->path, source->settings[i].line);
    }
    if (source->setting_count >= SETTING_LIMIT)
        return pim_source_fail(source, scanner->line, scanner->error, "more than %d settings", SETTING_LIMIT);
    if (source->setting_count % 64 == 0) {
        struct pim_setting_place *grown =
            realloc(source->settings, (source->setting_count + 64) * sizeof *grown);
        if (!grown)
            return no_memory(scanner);
        source->settings = grown;
    }
    char *path = strdup(scanner->path);
    if (!path)
        return no_memory(scanner);
    source->settings[source->setting_count++] = (struct pim_setting_place){path, scanner->line};
    return PIM_OK;
}

static enum pim_status scan_word(struct scanner *scanner)
{
    const char *word = scanner->at;
    size_t length = 0, left = (size_t)(scanner->end - word);
    while (length < left && in_word(word[length]))
        length++;
    scanner->at += length;
    (void)fwrite(word, 1, length, scanner->out);
    if (!scanner->expects_value && !in_list(scanner))
        return add_setting(scanner, word, length);
    if (!is_boolean(word, length)) {
        char name[PATH_LIMIT + 8], found[48];
        pim_quote(word, length, found, sizeof found);
        return pim_source_fail(
            scanner->source, scanner->line, scanner->error,
            "%sfound %s, which is neither a number nor true or false; a text stands in quotes: \"%s\"",
            owner(scanner, name), found, found);
    }
    scanner->expects_value = false;
    return PIM_OK;
}

static enum pim_status open_scope(struct scanner *scanner)
{
    struct pim_source *source = scanner->source;
    if (in_list(scanner))
        return pim_source_fail(source, scanner->line, scanner->error,
                               "%s: a list holds plain values only, found '%c'", scanner->path, *scanner->at);
    if (scanner->depth >= DEPTH_LIMIT)
        return pim_source_fail(source, scanner->line, scanner->error, "groups stand more than %d deep",
                               DEPTH_LIMIT);
    struct scope *scope = &scanner->scopes[scanner->depth++];
    *scope = (struct scope){*scanner->at, scanner->line, 0, scanner->group_length};
    if (*scanner->at == '{')
        scanner->group_length = strlen(scanner->path);
    scanner->expects_value = false;
    return PIM_OK;
}

static enum pim_status close_scope(struct scanner *scanner)
{
    struct pim_source *source = scanner->source;
    char close = *scanner->at;
    char open = close == '}' ? '{' : close == ']' ? '[' : '(';
    if (scanner->depth == 0)
        return pim_source_fail(source, scanner->line, scanner->error, "'%c' closes nothing", close);
    struct scope *scope = &scanner->scopes[scanner->depth - 1];
    if (scope->bracket != open)
        return pim_source_fail(source, scanner->line, scanner->error, "'%c' cannot close the '%c' of line %u",
                               close, scope->bracket, scope->line);
    scanner->depth--;
    scanner->group_length = scope->outer_length;
    if (open == '{')
        scanner->path[scanner->group_length] = '\0';
    scanner->expects_value = false;
    return PIM_OK;
}

static enum pim_status count_element(struct scanner *scanner)
{
    if (!in_list(scanner))
        return PIM_OK;
    if (++scanner->scopes[scanner->depth - 1].elements >= PIM_CONFIGURATION_LIST_LIMIT)
        return pim_source_fail(scanner->source, scanner->line, scanner->error,
                               "%s: a list has at most %u elements", scanner->path,
                               PIM_CONFIGURATION_LIST_LIMIT);
    if (++scanner->elements > ELEMENT_LIMIT)
        return pim_source_fail(scanner->source, scanner->line, scanner->error,
                               "more than %d list elements in one file", ELEMENT_LIMIT);
    return PIM_OK;
}

static enum pim_status scan_mark(struct scanner *scanner)
{
    enum pim_status status = PIM_OK;
    char c = *scanner->at;
    switch (c) {
    case '=':
    case ':':
        scanner->expects_value = true;
        break;
    case '{':
    case '[':
    case '(':
        status = open_scope(scanner);
        break;
    case '}':
    case ']':
    case ')':
        status = close_scope(scanner);
        break;
    case ',':
        status = count_element(scanner);
        break;
    case ';':
        break;
    default:
        return pim_source_fail(scanner->source, scanner->line, scanner->error,
                               c > ' ' && c < 0x7f ? "unexpected character '%c'" : "unexpected byte 0x%02x",
                               (unsigned char)c);
    }
    (void)fputc(c, scanner->out);
    scanner->at++;
    return status;
}

static enum pim_status scan_token(struct scanner *scanner)
{
    char c = *scanner->at;
    char next = scanner->at + 1 < scanner->end ? scanner->at[1] : '\0';
    if (c == '#' || (c == '/' && (next == '/' || next == '*')))
        return scan_comment(scanner);
    if (c == '"')
        return scan_string(scanner);
    if (c == '@')
        return scan_include(scanner);
    if (is_digit(c) || (c == '.' && is_digit(next)) ||
        ((c == '-' || c == '+') && (is_digit(next) || next == '.')))
        return scan_number(scanner);
    if (begins_word(c))
        return scan_word(scanner);
    return scan_mark(scanner);
}

static enum pim_status scan_all(struct scanner *scanner)
{
    while (scanner->at < scanner->end) {
        char c = *scanner->at;
        if (c == '\n' || c == ' ' || c == '\t' || c == '\r' || c == '\f') {
            scanner->line += c == '\n';
            scanner->line_begins = c == '\n' || scanner->line_begins;
            (void)fputc(c, scanner->out);
            scanner->at++;
            continue;
        }
        bool comment = c == '#' || c == '/'; /* a '/' of another kind is refused */
        enum pim_status status = scan_token(scanner);
        if (status != PIM_OK)
            return status;
        scanner->previous = comment ? scanner->previous : c;
        scanner->line_begins = false;
    }
    if (scanner->depth > 0) {
        const struct scope *scope = &scanner->scopes[scanner->depth - 1];
        return pim_source_fail(scanner->source, scope->line, scanner->error, "'%c' is not closed",
                               scope->bracket);
    }
    return PIM_OK;
}

/* A NUL would end the text for libconfig, so none is allowed anywhere, comments included. */
static enum pim_status refuse_nul(const struct pim_source *source, struct pim_error *error)
{
    const char *nul = source->size > 0 ? memchr(source->text, '\0', source->size) : NULL;
    if (!nul)
        return PIM_OK;
    unsigned line = 1;
    for (const char *c = source->text; c < nul; c++)
        line += *c == '\n';
    return pim_source_fail(source, line, error,
                           "the text holds a NUL byte: this is not a configuration file");
}

enum pim_status pim_source_scan(struct pim_source *source, struct pim_error *error)
{
    struct scanner scanner = {
        .source = source, .error = error, .at = source->text, .line = 1, .line_begins = true};
    size_t clean_size = 0;
    if (source->size > PIM_CONFIGURATION_FILE_LIMIT)
        return pim_fail(error, PIM_BAD_INPUT, "%s: %zu bytes: allowed are %u", source->name, source->size,
                        PIM_CONFIGURATION_FILE_LIMIT);
    enum pim_status status = refuse_nul(source, error);
    if (status != PIM_OK)
        return status;
    scanner.end = source->size > 0 ? source->text + source->size : source->text;
    scanner.out = open_memstream(&source->clean, &clean_size);
    if (!scanner.out)
        return no_memory(&scanner);
    status = scan_all(&scanner);
    bool written = !ferror(scanner.out);
    written = fclose(scanner.out) == 0 && written;
    return status == PIM_OK && !written ? no_memory(&scanner) : status;
}

void pim_source_terminate(struct pim_source *source)
{
    for (size_t i = 0; i < source->include_count; i++) {
        free(source->includes[i].path);
        free(source->includes[i].prefix);
    }
    for (size_t i = 0; i < source->setting_count; i++)
        free(source->settings[i].path);
    free(source->includes);
    free(source->settings);
    free(source->clean);
}

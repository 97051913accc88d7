/*
 * Text to values of keys. A statement is NAME = VALUE ; a value is all up to the semicolon without the white
 * space around it; // begins a comment that ends with the line. The last one of several statements for a key
 * holds, as in BookSim.
 */
#include "models/booksim/internal.h"

#include "sim/nearest.h"
#include "sim/parse.h"

#include <assert.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct scanner {
    const char *text;
    size_t at, length;
    unsigned line;
    struct booksim_values *values;
};

static unsigned key_of(const char *name)
{
    unsigned key = 0;
    while (key < booksim_key_count && strcmp(booksim_keys[key].name, name) != 0)
        key++;
    return key;
}

static bool comment(const struct scanner *scanner)
{
    return scanner->length - scanner->at >= 2 && memcmp(scanner->text + scanner->at, "//", 2) == 0;
}

static void pass(struct scanner *scanner)
{
    scanner->line += scanner->text[scanner->at++] == '\n';
}

static void skip_space(struct scanner *scanner)
{
    while (scanner->at < scanner->length) {
        if (comment(scanner))
            while (scanner->at < scanner->length && scanner->text[scanner->at] != '\n')
                scanner->at++;
        else if (isspace((unsigned char)scanner->text[scanner->at]))
            pass(scanner);
        else
            return;
    }
}

static enum pim_status refuse_text(const struct scanner *scanner, struct pim_error *error, const char *what)
{
    return pim_fail(error, PIM_BAD_INPUT, "%s:%u: %s", scanner->values->file, scanner->line, what);
}

static enum pim_status scan_name(struct scanner *scanner, char name[64], struct pim_error *error)
{
    size_t length = 0;
    while (scanner->at < scanner->length &&
           (isalnum((unsigned char)scanner->text[scanner->at]) || scanner->text[scanner->at] == '_')) {
        if (length + 1 >= 64)
            return refuse_text(scanner, error, "a name is longer than 63 letters");
        name[length++] = scanner->text[scanner->at++];
    }
    name[length] = '\0';
    skip_space(scanner);
    if (length == 0 || scanner->at >= scanner->length || scanner->text[scanner->at] != '=')
        return refuse_text(scanner, error, "\"key = value;\" is expected");
    scanner->at++;
    return PIM_OK;
}

/* Up to the semicolon, white space at the ends and comments left out. */
static enum pim_status scan_value(struct scanner *scanner, char value[BOOKSIM_VALUE_LIMIT],
                                  struct pim_error *error)
{
    size_t length = 0;
    skip_space(scanner);
    while (scanner->at < scanner->length && scanner->text[scanner->at] != ';') {
        if (comment(scanner)) {
            skip_space(scanner);
            continue;
        }
        unsigned char letter = (unsigned char)scanner->text[scanner->at];
        if (length + 1 >= BOOKSIM_VALUE_LIMIT)
            return refuse_text(scanner, error, "a value is longer than 511 bytes, or has no semicolon");
        if (letter < ' ' && !isspace(letter))
            return refuse_text(scanner, error, "a value has a byte that is no text");
        value[length++] = isspace(letter) ? ' ' : (char)letter;
        pass(scanner);
    }
    if (scanner->at >= scanner->length)
        return refuse_text(scanner, error, "the semicolon behind a value is missing");
    scanner->at++;
    while (length > 0 && value[length - 1] == ' ')
        length--;
    value[length] = '\0';
    return PIM_OK;
}

static bool same_value(const char *a, const char *b)
{
    char *end_a, *end_b;
    if (strcmp(a, b) == 0)
        return true;
    double first = strtod(a, &end_a), second = strtod(b, &end_b);
    return end_a != a && *end_a == '\0' && *end_b == '\0' && first == second;
}

/* A list of one value, "{0.1}": for these keys, which have a value for each class and one class. */
static bool is_list_of_one(const char *name, const char *value)
{
    static const char *const of_classes[] = {"traffic", "injection_rate", "injection_process"};
    const size_t length = strlen(value);
    bool found = false, one = length > 2 && value[0] == '{' && value[length - 1] == '}';
    for (size_t i = 0; i < sizeof of_classes / sizeof of_classes[0]; i++)
        found = found || strcmp(name, of_classes[i]) == 0;
    unsigned depth = 0;
    for (size_t i = 0; i + 1 < length && one; i++) {
        depth += value[i] == '{';
        depth -= value[i] == '}';
        one = depth > 1 || (depth == 1 && value[i] != ',');
    }
    return found && one;
}

/* Without its first and last character and the white space beside them. */
static void take_ends_off(char *value)
{
    const size_t length = strlen(value) - 2, blank = strspn(value + 1, " ");
    memmove(value, value + 1 + blank, length - blank);
    size_t end = length - blank;
    while (end > 0 && value[end - 1] == ' ')
        end--;
    value[end] = '\0';
}

static enum pim_status scan_statement(struct scanner *scanner, struct pim_error *error)
{
    char name[64], value[BOOKSIM_VALUE_LIMIT];
    unsigned line = scanner->line;
    struct booksim_values *values = scanner->values;
    if (scan_name(scanner, name, error) != PIM_OK || scan_value(scanner, value, error) != PIM_OK)
        return error->status;
    unsigned key = key_of(name);
    if (key == booksim_key_count) {
        struct pim_nearest nearest = {.wanted = name};
        for (key = 0; key < booksim_key_count; key++)
            (void)pim_nearest_offer(&nearest, booksim_keys[key].name);
        return pim_fail(error, PIM_BAD_INPUT, "%s:%u: BookSim 2 has no key %s%s%s", values->file, line, name,
                        PIM_NEAREST(nearest, ": the nearest is "));
    }
    if (strchr(value, '=') != NULL) /* the next statement, which would be read as a part of this one */
        return pim_fail(error, PIM_BAD_INPUT,
                        "%s:%u: the semicolon behind the value of %s is missing: '%.60s' has another =",
                        values->file, line, name, value);
    values->line[key] = line;
    if (is_list_of_one(name, value))
        take_ends_off(value);
    memcpy(values->text[key], value, sizeof value);
    return PIM_OK;
}

/* The values that hold, once all statements are read. */
static enum pim_status check_key(const struct booksim_values *values, unsigned key, struct pim_error *error)
{
    const struct booksim_key *rule = &booksim_keys[key];
    if (rule->use == BOOKSIM_READ && !rule->value && values->line[key] == 0)
        return pim_fail(error, PIM_BAD_INPUT, "%s: %s is not given: it has no default", values->file,
                        rule->name);
    if (rule->use == BOOKSIM_ONLY && !same_value(values->text[key], rule->value))
        return pim_fail(error, PIM_BAD_INPUT, "%s:%u: %s is %s, which is not honoured here: only %s is",
                        values->file, values->line[key], rule->name, values->text[key], rule->value);
    return PIM_OK;
}

enum pim_status booksim_values_parse(const char *text, size_t length, struct booksim_values *values,
                                     struct pim_error *error)
{
    assert(booksim_key_count <= sizeof values->line / sizeof *values->line);
    struct scanner scanner = {.text = text, .length = length, .line = 1, .values = values};
    for (unsigned key = 0; key < booksim_key_count; key++) {
        values->line[key] = 0;
        (void)snprintf(values->text[key], sizeof values->text[key], "%s",
                       booksim_keys[key].value ? booksim_keys[key].value : "");
    }
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        scanner.at = 3; /* a byte order mark */
    for (skip_space(&scanner); scanner.at < length; skip_space(&scanner))
        if (scan_statement(&scanner, error) != PIM_OK)
            return error->status;
    for (unsigned key = 0; key < booksim_key_count; key++)
        if (check_key(values, key, error) != PIM_OK)
            return error->status;
    return PIM_OK;
}

/* --- values --- */

const char *booksim_text(const struct booksim_values *values, const char *key)
{
    unsigned found = key_of(key);
    assert(found < booksim_key_count);
    return values->text[found];
}

enum pim_status booksim_refuse(const struct booksim_values *values, const char *key, struct pim_error *error,
                               const char *format, ...)
{
    char allowed[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(allowed, sizeof allowed, format, arguments);
    va_end(arguments);
    unsigned found = key_of(key);
    assert(found < booksim_key_count);
    if (values->line[found] == 0)
        return pim_fail(error, PIM_BAD_INPUT, "%s: %s is %s, its default: %s", values->file, key,
                        values->text[found], allowed);
    return pim_fail(error, PIM_BAD_INPUT, "%s:%u: %s is %s: %s", values->file, values->line[found], key,
                    values->text[found], allowed);
}

enum pim_status booksim_integer(const struct booksim_values *values, const char *key, int64_t least,
                                int64_t most, uint32_t *value, struct pim_error *error)
{
    const char *text = booksim_text(values, key);
    char *end;
    long long found = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || found < least || found > most)
        return booksim_refuse(values, key, error, "allowed are whole numbers from %lld to %lld",
                              (long long)least, (long long)most);
    *value = found < 0 ? 0 : (uint32_t)found;
    return PIM_OK;
}

enum pim_status booksim_real(const struct booksim_values *values, const char *key, double least, double most,
                             double *value, struct pim_error *error)
{
    struct pim_error ignored;
    if (pim_parse_real(key, booksim_text(values, key), least, most, value, &ignored) != PIM_OK)
        return booksim_refuse(values, key, error, "allowed are numbers from %g to %g", least, most);
    return PIM_OK;
}

#include "traces/text/lexer.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

enum pim_status pim_lexer_fail(const struct pim_lexer *lexer, unsigned column, struct pim_error *error,
                               const char *format, ...)
{
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return pim_fail(error, PIM_BAD_INPUT, "%s:%u:%u: %s", lexer->name, lexer->line, column, message);
}

enum pim_status pim_lexer_line(struct pim_lexer *lexer, bool *end, struct pim_error *error)
{
    lexer->line++;
    lexer->length = lexer->place = 0;
    int c;
    while ((c = getc(lexer->file)) != EOF && c != '\n') {
        if (lexer->length == PIM_LINE_LENGTH)
            return pim_lexer_fail(lexer, PIM_LINE_LENGTH, error, "the line is longer than %d bytes",
                                  PIM_LINE_LENGTH);
        if (c == 0)
            return pim_lexer_fail(lexer, (unsigned)lexer->length + 1, error,
                                  "a zero byte: this is not the text of a trace");
        lexer->text[lexer->length++] = (char)c;
    }
    lexer->text[lexer->length] = '\0';
    if (c == EOF && ferror(lexer->file))
        return pim_fail(error, PIM_IO, "%s:%u: %s", lexer->name, lexer->line, strerror(errno));
    *end = c == EOF && lexer->length == 0;
    return pim_lexer_next(lexer, error);
}

/* The classes of ASCII alone: what the locale says must not change what a text means. */
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
}

static int hexadecimal(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static enum pim_status take_number(struct pim_lexer *lexer, struct pim_error *error)
{
    struct pim_token *token = &lexer->token;
    const char *text = lexer->text + lexer->place;
    token->kind = PIM_TOKEN_NUMBER;
    token->negative = *text == '-';
    text += token->negative;
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    unsigned base = hex ? 16 : 10;
    text += hex ? 2 : 0;
    token->number = 0;
    const char *first = text;
    while (hex ? hexadecimal(*text) >= 0 : is_digit(*text)) {
        unsigned digit = (unsigned)hexadecimal(*text++);
        if (token->number > (UINT64_MAX - digit) / base)
            return pim_lexer_fail(lexer, token->column, error, "the number does not fit 64 bits");
        token->number = token->number * base + digit;
    }
    if (text == first || is_letter(*text) || is_digit(*text))
        return pim_lexer_fail(lexer, token->column, error, "not a number: write 123, -123 or 0x7b");
    lexer->place = (size_t)(text - lexer->text);
    return PIM_OK;
}

/* The character behind a backslash; `place` is moved behind what was used. -1 when there is no such escape.
 */
static int take_escape(const char *text, size_t *place)
{
    char c = text[(*place)++];
    if (c == 'n')
        return '\n';
    if (c == 't')
        return '\t';
    if (c == '"' || c == '\\')
        return c;
    if (c == 'x') {
        int high = hexadecimal(text[*place]);
        int low = high < 0 ? -1 : hexadecimal(text[*place + 1]);
        *place += 2;
        return low < 0 ? -1 : high * 16 + low;
    }
    return -1;
}

static enum pim_status take_string(struct pim_lexer *lexer, struct pim_error *error)
{
    struct pim_token *token = &lexer->token;
    token->kind = PIM_TOKEN_STRING;
    token->length = 0;
    lexer->place++;
    while (lexer->text[lexer->place] != '"') {
        size_t start = lexer->place;
        int c = (unsigned char)lexer->text[lexer->place++];
        if (c == 0)
            return pim_lexer_fail(lexer, token->column, error, "the string has no closing quote on its line");
        if (c == '\\') {
            c = take_escape(lexer->text, &lexer->place);
            if (c <= 0)
                return pim_lexer_fail(lexer, (unsigned)start + 1, error,
                                      "unknown escape: there are \\n, \\t, \\\", \\\\ and \\x01 to \\xff");
        }
        lexer->string[token->length++] = (char)c;
    }
    lexer->place++;
    lexer->string[token->length] = '\0';
    return PIM_OK;
}

enum pim_status pim_lexer_next(struct pim_lexer *lexer, struct pim_error *error)
{
    struct pim_token *token = &lexer->token;
    const char *text = lexer->text;
    while (text[lexer->place] == ' ' || text[lexer->place] == '\t' || text[lexer->place] == '\r')
        lexer->place++;
    char c = text[lexer->place];
    token->column = (unsigned)lexer->place + 1;
    token->kind = PIM_TOKEN_END;
    token->word[0] = '\0';
    if (c == '\0' || c == '#')
        return PIM_OK;
    if (is_digit(c) || c == '-')
        return take_number(lexer, error);
    if (c == '"')
        return take_string(lexer, error);
    if (c == '=' || c == ',' || c == '{' || c == '}') {
        token->kind = PIM_TOKEN_MARK;
        token->word[0] = c;
        token->word[1] = '\0';
        lexer->place++;
        return PIM_OK;
    }
    if (!is_letter(c))
        return pim_lexer_fail(lexer, token->column, error,
                              "the byte 0x%02x begins nothing that is known here",
                              (unsigned)(unsigned char)c);
    size_t length = 0;
    while (is_letter(text[lexer->place]) || is_digit(text[lexer->place])) {
        if (length == PIM_WORD_LENGTH)
            return pim_lexer_fail(lexer, token->column, error, "the word is longer than %d letters",
                                  PIM_WORD_LENGTH);
        token->word[length++] = text[lexer->place++];
    }
    token->word[length] = '\0';
    token->kind = PIM_TOKEN_WORD;
    return PIM_OK;
}

const char *pim_token_text(const struct pim_token *token, char *buffer, size_t size)
{
    switch (token->kind) {
    case PIM_TOKEN_END:
        (void)snprintf(buffer, size, "the end of the line");
        break;
    case PIM_TOKEN_WORD:
    case PIM_TOKEN_MARK:
        (void)snprintf(buffer, size, "'%s'", token->word);
        break;
    case PIM_TOKEN_NUMBER:
        (void)snprintf(buffer, size, "the number %s%llu", token->negative ? "-" : "",
                       (unsigned long long)token->number);
        break;
    case PIM_TOKEN_STRING:
        (void)snprintf(buffer, size, "a string");
        break;
    }
    return buffer;
}

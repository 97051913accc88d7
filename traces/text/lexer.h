/*
 * Splits the text form of a trace into lines of tokens, for the assembler.
 *
 * Lines have at most PIM_LINE_LENGTH bytes; `#` begins a comment. Every message gives line and column, both
 * counted from 1.
 */
#ifndef PIMSIM_TRACES_TEXT_LEXER_H
#define PIMSIM_TRACES_TEXT_LEXER_H

#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { PIM_LINE_LENGTH = 16384, PIM_WORD_LENGTH = 63 };

enum pim_token_kind {
    PIM_TOKEN_END,    /* of the line */
    PIM_TOKEN_WORD,   /* letters, digits, _ and . */
    PIM_TOKEN_NUMBER, /* decimal or 0x…, with an optional minus */
    PIM_TOKEN_STRING, /* "…" */
    PIM_TOKEN_MARK    /* one of = , { } */
};

struct pim_token {
    enum pim_token_kind kind;
    unsigned column;
    bool negative;                  /* NUMBER: -number */
    uint64_t number;                /* NUMBER: magnitude */
    char word[PIM_WORD_LENGTH + 1]; /* WORD; MARK: the one character */
    size_t length;                  /* STRING: bytes in lexer->string */
};

struct pim_lexer {
    const char *name; /* for messages */
    FILE *file;
    unsigned line;
    size_t length, place; /* of text */
    struct pim_token token;
    char string[PIM_LINE_LENGTH + 1]; /* the last STRING, unescaped, a zero byte behind it */
    char text[PIM_LINE_LENGTH + 1];
};

/* Fails with "name:line:column: message". */
enum pim_status pim_lexer_fail(const struct pim_lexer *lexer, unsigned column, struct pim_error *error,
                               const char *format, ...) PIM_PRINTF(4, 5);

/* Reads the next line and its first token; *end is true when there is no further line. */
enum pim_status pim_lexer_line(struct pim_lexer *lexer, bool *end, struct pim_error *error);

/* The next token of the line, to lexer->token. */
enum pim_status pim_lexer_next(struct pim_lexer *lexer, struct pim_error *error);

/* How a token is called in a message: written to `buffer`, which is returned. */
const char *pim_token_text(const struct pim_token *token, char *buffer, size_t size);

#endif

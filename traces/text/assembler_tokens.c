/* Tokens of the assembler: what is expected, and the messages where it is not there. */
#include "traces/text/assembler_internal.h"

#include "sim/nearest.h"

#include <inttypes.h>
#include <stdio.h>

enum pim_status pim_assembler_next(struct pim_assembler *self, struct pim_error *error)
{
    return pim_lexer_next(&self->lexer, error);
}

enum pim_status pim_assembler_unexpected(const struct pim_assembler *self, const char *wanted,
                                         struct pim_error *error)
{
    char text[PIM_WORD_LENGTH + 32];
    const struct pim_token *token = &self->lexer.token;
    return pim_lexer_fail(&self->lexer, token->column, error, "found %s, where %s was expected",
                          pim_token_text(token, text, sizeof text), wanted);
}

enum pim_status pim_assembler_unknown(const struct pim_assembler *self, const char *what,
                                      const char *const *names, size_t count, struct pim_error *error)
{
    const struct pim_token *token = &self->lexer.token;
    struct pim_nearest nearest = {.wanted = token->word};
    for (size_t i = 0; i < count; i++)
        (void)pim_nearest_offer(&nearest, names[i]);
    if (!nearest.name)
        return pim_lexer_fail(&self->lexer, token->column, error, "there is no %s '%s' here", what,
                              token->word);
    return pim_lexer_fail(&self->lexer, token->column, error, "there is no %s '%s': the nearest is '%s'",
                          what, token->word, nearest.name);
}

bool pim_assembler_is_mark(const struct pim_assembler *self, char mark)
{
    return self->lexer.token.kind == PIM_TOKEN_MARK && self->lexer.token.word[0] == mark;
}

enum pim_status pim_assembler_need_end(const struct pim_assembler *self, struct pim_error *error)
{
    return self->lexer.token.kind == PIM_TOKEN_END
               ? PIM_OK
               : pim_assembler_unexpected(self, "the end of the line", error);
}

enum pim_status pim_assembler_take_mark(struct pim_assembler *self, char mark, struct pim_error *error)
{
    char wanted[] = {'\'', mark, '\'', '\0'};
    return pim_assembler_is_mark(self, mark) ? pim_assembler_next(self, error)
                                             : pim_assembler_unexpected(self, wanted, error);
}

enum pim_status pim_assembler_take_number(struct pim_assembler *self, uint64_t most, uint64_t *value,
                                          struct pim_error *error)
{
    const struct pim_token *token = &self->lexer.token;
    if (token->kind != PIM_TOKEN_NUMBER)
        return pim_assembler_unexpected(self, "a number", error);
    if ((token->negative && token->number != 0) || token->number > most)
        return pim_lexer_fail(&self->lexer, token->column, error,
                              "%s%" PRIu64 " is out of range: allowed are 0 to %" PRIu64,
                              token->negative ? "-" : "", token->number, most);
    *value = token->number;
    return pim_assembler_next(self, error);
}

enum pim_status pim_assembler_fail_at_line(const struct pim_assembler *self, unsigned line,
                                           struct pim_error *error)
{
    return pim_fail_in(error, "%s:%u:1", self->lexer.name, line);
}

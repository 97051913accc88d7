/*
 * The assembler; see text.h. A text is, in this order: the description; phases and behaviour tables;
 * programs, which may use the phases above them. All but programs is in assembler_directives.c. The repeat
 * block that is open is held back until it is closed, because its REPEAT must say how long it is.
 */
#include "traces/text/text.h"

#include "sim/try.h"
#include "traces/text/assembler_internal.h"
#include "traces/text/fields.h"
#include "traces/validate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A field's number as its bits: two's complement where it is signed. */
static enum pim_status take_field(struct pim_assembler *self, const struct pim_field *field, uint64_t *value,
                                  struct pim_error *error)
{
    if (field->look != PIM_FIELD_SIGNED)
        return pim_assembler_take_number(
            self, field->size == 8 ? UINT64_MAX : ((uint64_t)1 << (8 * field->size)) - 1, value, error);
    const struct pim_token *token = &self->lexer.token;
    if (token->kind != PIM_TOKEN_NUMBER)
        return pim_assembler_unexpected(self, "a number", error);
    uint64_t half = (uint64_t)1 << (8 * field->size - 1);
    if (token->number > half - !token->negative)
        return pim_lexer_fail(&self->lexer, token->column, error,
                              "%s%" PRIu64 " is out of range: allowed are -%" PRIu64 " to %" PRIu64,
                              token->negative ? "-" : "", token->number, half, half - 1);
    *value = token->negative ? 0 - token->number : token->number;
    return pim_assembler_next(self, error);
}

/* Hands an instruction to the writer. */
static enum pim_status append(struct pim_assembler *self, const struct pim_instruction *instruction,
                              unsigned line, struct pim_error *error)
{
    enum pim_status status = pim_trace_writer_append(self->writer, self->unit, instruction, error);
    return status == PIM_BAD_INPUT ? pim_assembler_fail_at_line(self, line, error) : status;
}

/* Inside a block instructions are held until the outermost block is closed. */
static enum pim_status emit(struct pim_assembler *self, const struct pim_instruction *instruction,
                            unsigned column, struct pim_error *error)
{
    if (self->depth == 0 && instruction->opcode != PIM_OP_REPEAT)
        return append(self, instruction, self->lexer.line, error);
    if (self->held == PIM_ASSEMBLER_BLOCK)
        return pim_lexer_fail(&self->lexer, column, error, "a repeat block has more than %d instructions",
                              PIM_REPEAT_LENGTH);
    self->block[self->held] = *instruction;
    self->block_line[self->held++] = self->lexer.line;
    return PIM_OK;
}

static enum pim_status close_block(struct pim_assembler *self, struct pim_error *error)
{
    unsigned column = self->lexer.token.column;
    if (self->depth == 0)
        return pim_lexer_fail(&self->lexer, column, error, "'}' closes nothing: no repeat block is open");
    uint32_t open = self->open[--self->depth];
    uint32_t length = self->held - open - 1;
    if (length == 0)
        return pim_lexer_fail(&self->lexer, column, error, "the repeat block is empty");
    self->block[open].u.control.length = length;
    if (self->depth == 0) {
        for (uint32_t i = 0; i < self->held; i++)
            PIM_TRY(append(self, &self->block[i], self->block_line[i], error));
        self->held = 0;
    }
    PIM_TRY(pim_assembler_next(self, error));
    return pim_assembler_need_end(self, error);
}

/* repeat COUNT { */
static enum pim_status take_repeat(struct pim_assembler *self, struct pim_instruction *instruction,
                                   unsigned column, struct pim_error *error)
{
    uint64_t count = 0;
    unsigned count_column = self->lexer.token.column;
    PIM_TRY(pim_assembler_take_number(self, UINT32_MAX, &count, error));
    if (count == 0)
        return pim_lexer_fail(&self->lexer, count_column, error, "a block is repeated 1 to %" PRIu32 " times",
                              UINT32_MAX);
    instruction->u.control.count = (uint32_t)count;
    PIM_TRY(pim_assembler_take_mark(self, '{', error));
    PIM_TRY(pim_assembler_need_end(self, error));
    if (self->depth == PIM_REPEAT_DEPTH)
        return pim_lexer_fail(&self->lexer, column, error, "repeat blocks nest more than %d deep",
                              PIM_REPEAT_DEPTH);
    PIM_TRY(emit(self, instruction, column, error));
    self->open[self->depth++] = self->held - 1;
    return PIM_OK;
}

/* The word behind the mnemonic that `detail` is written as. That of a message may be left out: an operand
   follows then. */
static enum pim_status take_detail(struct pim_assembler *self, enum pim_detail_kind kind,
                                   struct pim_instruction *instruction, struct pim_error *error)
{
    const char *names[PIM_ASSEMBLER_NAMES_MOST], *what;
    unsigned count = 0, least, most = pim_detail_range(kind, &least, &what);
    const bool word = self->lexer.token.kind == PIM_TOKEN_WORD;
    if (!word && kind != PIM_DETAIL_MESSAGE) {
        char wanted[32];
        (void)snprintf(wanted, sizeof wanted, "a%s %s", what[0] == 'o' ? "n" : "", what);
        return pim_assembler_unexpected(self, wanted, error);
    }
    for (unsigned value = least; value <= most && count < PIM_ASSEMBLER_NAMES_MOST; value++) {
        names[count++] = pim_detail_name(kind, value);
        if (word && strcmp(names[count - 1], self->lexer.token.word) == 0) {
            instruction->detail = (uint8_t)value;
            return pim_assembler_next(self, error);
        }
    }
    return kind == PIM_DETAIL_MESSAGE ? PIM_OK : pim_assembler_unknown(self, what, names, count, error);
}

static enum pim_status take_dependencies(struct pim_assembler *self, struct pim_instruction *instruction,
                                         struct pim_error *error)
{
    for (int i = 0;; i++) {
        uint64_t value = 0;
        if (i == PIM_DEPENDENCIES)
            return pim_lexer_fail(&self->lexer, self->lexer.token.column, error, "more than %d dependencies",
                                  PIM_DEPENDENCIES);
        PIM_TRY(pim_assembler_take_number(self, PIM_DEPENDENCY_REACH, &value, error));
        instruction->dependency[i] = (uint16_t)value;
        if (!pim_assembler_is_mark(self, ','))
            return PIM_OK;
        PIM_TRY(pim_assembler_next(self, error));
    }
}

/* One operand: after=…, a field, or a flag. `seen` has a bit for each field, flag (from bit FLAGS) and
 * after (bit AFTER). */
enum { FLAGS = 16, AFTER = 24 };
_Static_assert((int)PIM_FIELDS_MOST <= (int)FLAGS, "fields and flags have bits of their own");

static enum pim_status take_operand(struct pim_assembler *self, struct pim_instruction *instruction,
                                    uint32_t *seen, struct pim_error *error)
{
    const struct pim_field *fields = pim_opcode_fields(instruction->opcode);
    const uint32_t uses = pim_opcode_uses(instruction->opcode);
    const char *names[PIM_ASSEMBLER_NAMES_MOST];
    unsigned count = 0, bit = UINT32_MAX;
    const struct pim_field *field = NULL;
    const struct pim_token *token = &self->lexer.token;
    if (token->kind != PIM_TOKEN_WORD)
        return pim_assembler_unexpected(self, "name=number", error);
    for (unsigned i = 0; fields[i].name; i++) {
        if (!(uses >> i & 1))
            continue;
        names[count++] = fields[i].name;
        if (strcmp(fields[i].name, token->word) == 0) {
            field = &fields[i];
            bit = i;
        }
    }
    if (pim_opcode_detail(instruction->opcode) == PIM_DETAIL_FLAGS)
        for (unsigned i = 0; pim_matrix_flag_name(i); i++) {
            names[count++] = pim_matrix_flag_name(i);
            if (strcmp(names[count - 1], token->word) == 0)
                bit = FLAGS + i;
        }
    names[count++] = "after";
    if (strcmp("after", token->word) == 0)
        bit = AFTER;
    bool message = pim_opcode_detail(instruction->opcode) == PIM_DETAIL_MESSAGE;
    for (unsigned i = 0; message && pim_message_name(i); i++) /* behind the mnemonic it would be right */
        names[count++] = pim_message_name(i);
    if (bit == UINT32_MAX)
        return pim_assembler_unknown(self, "operand", names, count, error);
    if (*seen & 1U << bit)
        return pim_lexer_fail(&self->lexer, token->column, error, "'%s' stands twice", token->word);
    *seen |= 1U << bit;
    PIM_TRY(pim_assembler_next(self, error));
    if (bit >= FLAGS && bit < AFTER) {
        instruction->detail |= (uint8_t)(1U << (bit - FLAGS));
        return PIM_OK;
    }
    PIM_TRY(pim_assembler_take_mark(self, '=', error));
    if (!field)
        return take_dependencies(self, instruction, error);
    uint64_t value = 0;
    PIM_TRY(take_field(self, field, &value, error));
    pim_field_set(instruction, field, value);
    return PIM_OK;
}

static enum pim_status take_operands(struct pim_assembler *self, struct pim_instruction *instruction,
                                     unsigned column, struct pim_error *error)
{
    const struct pim_field *fields = pim_opcode_fields(instruction->opcode);
    const uint32_t uses = pim_opcode_uses(instruction->opcode);
    uint32_t seen = 0;
    for (unsigned i = 0; fields[i].name; i++)
        if (fields[i].standard > 0 && (uses >> i & 1))
            pim_field_set(instruction, &fields[i], (uint64_t)fields[i].standard);
    while (self->lexer.token.kind != PIM_TOKEN_END)
        PIM_TRY(take_operand(self, instruction, &seen, error));
    for (unsigned i = 0; fields[i].name; i++)
        if (fields[i].standard < 0 && (uses >> i & 1) && !(seen >> i & 1))
            return pim_lexer_fail(&self->lexer, column, error, "%s needs %s=…",
                                  pim_opcode_name(instruction->opcode), fields[i].name);
    if (pim_instruction_check(instruction, self->unit, self->description.units, error) != PIM_OK)
        return pim_fail_in(error, "%s:%u:%u", self->lexer.name, self->lexer.line, column);
    return emit(self, instruction, column, error);
}

static enum pim_status take_instruction(struct pim_assembler *self, struct pim_error *error)
{
    const char *names[PIM_OPCODES];
    unsigned column = self->lexer.token.column, opcode = 0;
    for (unsigned i = 0; i < PIM_OPCODES; i++)
        names[i] = pim_opcode_name(i);
    while (opcode < PIM_OPCODES && strcmp(names[opcode], self->lexer.token.word) != 0)
        opcode++;
    if (opcode == PIM_OPCODES)
        return pim_assembler_unknown(self, "instruction", names, PIM_OPCODES, error);
    if (self->unit == PIM_ALL_UNITS)
        return pim_lexer_fail(&self->lexer, column, error, "'.unit' must stand before the first instruction");
    PIM_TRY(pim_assembler_next(self, error));
    struct pim_instruction instruction = {.opcode = (uint8_t)opcode};
    if (opcode == PIM_OP_PHASE_BEGIN || opcode == PIM_OP_PHASE_END) {
        uint64_t phase = 0;
        PIM_TRY(pim_assembler_take_number(self, UINT32_MAX, &phase, error));
        instruction.u.control.phase = (uint32_t)phase;
        PIM_TRY(pim_assembler_need_end(self, error));
        return emit(self, &instruction, column, error);
    }
    if (opcode == PIM_OP_REPEAT)
        return take_repeat(self, &instruction, column, error);
    if (opcode == PIM_OP_JOIN) {
        PIM_TRY(pim_assembler_need_end(self, error));
        return emit(self, &instruction, column, error);
    }
    enum pim_detail_kind kind = pim_opcode_detail(opcode);
    if (kind != PIM_DETAIL_NONE && kind != PIM_DETAIL_FLAGS)
        PIM_TRY(take_detail(self, kind, &instruction, error));
    return take_operands(self, &instruction, column, error);
}

static enum pim_status assemble(struct pim_assembler *self, struct pim_error *error)
{
    for (;;) {
        bool end = false;
        PIM_TRY(pim_lexer_line(&self->lexer, &end, error));
        if (end)
            break;
        const struct pim_token *token = &self->lexer.token;
        if (token->kind == PIM_TOKEN_END)
            continue;
        if (pim_assembler_is_mark(self, '}'))
            PIM_TRY(close_block(self, error));
        else if (token->kind != PIM_TOKEN_WORD)
            return pim_assembler_unexpected(self, "a directive or an instruction", error);
        else if (token->word[0] == '.')
            PIM_TRY(pim_assembler_take_directive(self, error));
        else
            PIM_TRY(take_instruction(self, error));
    }
    if (self->depth > 0)
        return pim_lexer_fail(&self->lexer, 1, error,
                              "the text ends inside a repeat block that line %u opened",
                              self->block_line[self->open[self->depth - 1]]);
    PIM_TRY(pim_assembler_start_writer(self, error));
    return pim_assembler_end_router(self, error);
}

enum pim_status pim_trace_assemble(const char *name, FILE *file, const char *path, struct pim_error *error)
{
    struct pim_assembler *self = calloc(1, sizeof *self);
    if (!self)
        return pim_fail(error, PIM_NO_MEMORY, "%s: out of memory", name);
    self->lexer.name = name;
    self->lexer.file = file;
    self->path = path;
    self->unit = PIM_ALL_UNITS;
    enum pim_status status = assemble(self, error);
    if (status == PIM_OK) {
        status = pim_trace_writer_finish(self->writer, error);
        if (status == PIM_BAD_INPUT)
            (void)pim_assembler_fail_at_line(self, self->lexer.line, error);
    } else {
        pim_trace_writer_abandon(self->writer);
    }
    for (int i = 0; i < PIM_ASSEMBLER_TEXTS; i++)
        free(self->text[i].bytes);
    free(self->entry);
    free(self);
    return status;
}

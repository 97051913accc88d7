/*
 * The assembler; see text.h. A text is, in this order: the description; phases and behaviour tables;
 * programs, which may use the phases above them. The repeat block that is open is held back until it is
 * closed, because its REPEAT must say how long it is.
 */
#include "traces/text/text.h"

#include "sim/nearest.h"
#include "sim/try.h"
#include "traces/file/sections.h"
#include "traces/file/writer.h"
#include "traces/text/fields.h"
#include "traces/text/lexer.h"
#include "traces/trace.h"
#include "traces/validate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = PIM_REPEAT_LENGTH + 1, NAMES_MOST = 24, TEXTS = 4 };

/* A text of the description, joined from its pieces. */
struct text {
    char *bytes;
    size_t length;
};

struct assembler {
    struct pim_lexer lexer;
    const char *path;
    struct pim_trace_writer *writer; /* NULL until the description is complete */
    struct pim_trace_description description;
    struct text text[TEXTS]; /* family, network, mapping, configuration */
    bool versioned;
    uint32_t phases;
    uint32_t with_equations; /* up to the last phase that has some */
    uint32_t unit;           /* PIM_ALL_UNITS: none yet */
    bool in_router;
    uint32_t router, entries, entry_capacity;
    struct pim_trace_behaviour *entry;
    unsigned depth; /* open repeat blocks */
    uint32_t open[PIM_REPEAT_DEPTH];
    uint32_t held; /* instructions of the outermost open block */
    struct pim_instruction block[BLOCK];
    unsigned block_line[BLOCK];
};

static enum pim_status next(struct assembler *self, struct pim_error *error)
{
    return pim_lexer_next(&self->lexer, error);
}

/* Refuses the token that is there: `wanted` says what would be right. */
static enum pim_status unexpected(const struct assembler *self, const char *wanted, struct pim_error *error)
{
    char text[PIM_WORD_LENGTH + 32];
    const struct pim_token *token = &self->lexer.token;
    return pim_lexer_fail(&self->lexer, token->column, error, "found %s, where %s was expected",
                          pim_token_text(token, text, sizeof text), wanted);
}

/* Refuses a word that is none of `names`, and tells the nearest, if there is one. */
static enum pim_status unknown(const struct assembler *self, const char *what, const char *const *names,
                               size_t count, struct pim_error *error)
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

static bool is_mark(const struct assembler *self, char mark)
{
    return self->lexer.token.kind == PIM_TOKEN_MARK && self->lexer.token.word[0] == mark;
}

static enum pim_status need_end(const struct assembler *self, struct pim_error *error)
{
    return self->lexer.token.kind == PIM_TOKEN_END ? PIM_OK : unexpected(self, "the end of the line", error);
}

static enum pim_status take_mark(struct assembler *self, char mark, struct pim_error *error)
{
    char wanted[] = {'\'', mark, '\'', '\0'};
    return is_mark(self, mark) ? next(self, error) : unexpected(self, wanted, error);
}

/* A number from 0 to `most`. */
static enum pim_status take_number(struct assembler *self, uint64_t most, uint64_t *value,
                                   struct pim_error *error)
{
    const struct pim_token *token = &self->lexer.token;
    if (token->kind != PIM_TOKEN_NUMBER)
        return unexpected(self, "a number", error);
    if ((token->negative && token->number != 0) || token->number > most)
        return pim_lexer_fail(&self->lexer, token->column, error,
                              "%s%" PRIu64 " is out of range: allowed are 0 to %" PRIu64,
                              token->negative ? "-" : "", token->number, most);
    *value = token->number;
    return next(self, error);
}

/* A field's number as its bits: two's complement where it is signed. */
static enum pim_status take_field(struct assembler *self, const struct pim_field *field, uint64_t *value,
                                  struct pim_error *error)
{
    if (field->look != PIM_FIELD_SIGNED)
        return take_number(self, field->size == 8 ? UINT64_MAX : ((uint64_t)1 << (8 * field->size)) - 1,
                           value, error);
    const struct pim_token *token = &self->lexer.token;
    if (token->kind != PIM_TOKEN_NUMBER)
        return unexpected(self, "a number", error);
    uint64_t half = (uint64_t)1 << (8 * field->size - 1);
    if (token->number > half - !token->negative)
        return pim_lexer_fail(&self->lexer, token->column, error,
                              "%s%" PRIu64 " is out of range: allowed are -%" PRIu64 " to %" PRIu64,
                              token->negative ? "-" : "", token->number, half, half - 1);
    *value = token->negative ? 0 - token->number : token->number;
    return next(self, error);
}

/* name=number pairs to the end of the line; each name at most once. `value` starts with the defaults. */
static enum pim_status take_pairs(struct assembler *self, const char *const *names, uint64_t *const *values,
                                  size_t count, uint64_t most, struct pim_error *error)
{
    uint32_t seen = 0;
    while (self->lexer.token.kind != PIM_TOKEN_END) {
        if (self->lexer.token.kind != PIM_TOKEN_WORD)
            return unexpected(self, "name=number", error);
        size_t i = 0;
        while (i < count && strcmp(names[i], self->lexer.token.word) != 0)
            i++;
        if (i == count)
            return unknown(self, "field", names, count, error);
        if (seen & 1U << i)
            return pim_lexer_fail(&self->lexer, self->lexer.token.column, error, "'%s' stands twice",
                                  names[i]);
        seen |= 1U << i;
        PIM_TRY(next(self, error));
        PIM_TRY(take_mark(self, '=', error));
        PIM_TRY(take_number(self, most, values[i], error));
    }
    return PIM_OK;
}

/* Puts "name:line:1: " in front of a message that came from below. */
static enum pim_status fail_at_line(const struct assembler *self, unsigned line, struct pim_error *error)
{
    return pim_fail_in(error, "%s:%u:1", self->lexer.name, line);
}

static enum pim_status take_text(struct assembler *self, struct text *text, struct pim_error *error)
{
    unsigned column = self->lexer.token.column;
    if (self->lexer.token.kind != PIM_TOKEN_STRING)
        return unexpected(self, "a string", error);
    if (self->writer)
        return pim_lexer_fail(&self->lexer, 1, error,
                              "the description ends where phases, behaviour tables and programs begin");
    size_t length = self->lexer.token.length;
    if (length > PIM_TRACE_TEXT - text->length)
        return pim_lexer_fail(&self->lexer, column, error, "the text is longer than %d bytes",
                              PIM_TRACE_TEXT);
    char *larger = realloc(text->bytes, text->length + length + 1);
    if (!larger)
        return pim_fail(error, PIM_NO_MEMORY, "%s:%u: out of memory", self->lexer.name, self->lexer.line);
    memcpy(larger + text->length, self->lexer.string, length + 1);
    text->bytes = larger;
    text->length += length;
    PIM_TRY(next(self, error));
    return need_end(self, error);
}

static enum pim_status take_array(struct assembler *self, struct pim_error *error)
{
    static const char *const names[] = {"width", "height", "units"};
    uint64_t width = 0, height = 0, units = 0;
    uint64_t *const values[] = {&width, &height, &units};
    PIM_TRY(take_pairs(self, names, values, 3, PIM_TRACE_UNITS, error));
    self->description.width = (uint32_t)width;
    self->description.height = (uint32_t)height;
    self->description.units = (uint32_t)(units ? units : width * height);
    if (width == 0 || height == 0 || width * height > PIM_TRACE_UNITS)
        return pim_lexer_fail(&self->lexer, 1, error,
                              "width and height must be given, and span at most %d places", PIM_TRACE_UNITS);
    return PIM_OK;
}

static enum pim_status take_counts(struct assembler *self, struct pim_error *error)
{
    static const char *const names[] = {"macs", "padding_macs", "weight_bytes"};
    uint64_t *const values[] = {&self->description.macs, &self->description.padding_macs,
                                &self->description.weight_bytes};
    return take_pairs(self, names, values, 3, UINT64_MAX, error);
}

/* The description is over: starts the trace. */
static enum pim_status start_writer(struct assembler *self, struct pim_error *error)
{
    if (self->writer)
        return PIM_OK;
    if (!self->versioned)
        return pim_lexer_fail(&self->lexer, 1, error, "'.version 1' must stand before this line");
    if (self->description.width == 0)
        return pim_lexer_fail(&self->lexer, 1, error,
                              "'.array width=… height=…' must stand before this line");
    self->description.family = self->text[0].bytes;
    self->description.network = self->text[1].bytes;
    self->description.mapping = self->text[2].bytes;
    self->description.configuration = self->text[3].bytes;
    enum pim_status status = pim_trace_writer_create(self->path, &self->description, &self->writer, error);
    return status == PIM_BAD_INPUT ? fail_at_line(self, self->lexer.line, error) : status;
}

static enum pim_status end_router(struct assembler *self, struct pim_error *error)
{
    if (!self->in_router)
        return PIM_OK;
    self->in_router = false;
    if (pim_trace_writer_behaviour(self->writer, self->router, self->entry, self->entries, error) != PIM_OK)
        return fail_at_line(self, self->lexer.line, error);
    return PIM_OK;
}

static enum pim_status take_phase(struct assembler *self, struct pim_error *error)
{
    const char *names[1 + PIM_ESTIMATE_PARTS] = {"cycles"};
    struct pim_trace_phase phase = {.name = NULL};
    uint64_t *values[1 + PIM_ESTIMATE_PARTS] = {&phase.estimate_cycles};
    for (unsigned part = 0; part < PIM_ESTIMATE_PARTS; part++) {
        names[1 + part] = pim_estimate_part_name(part);
        values[1 + part] = &phase.estimate_parts[part];
    }
    unsigned column = self->lexer.token.column;
    uint64_t number = 0;
    PIM_TRY(take_number(self, PIM_TRACE_PHASES - 1, &number, error));
    if (number != self->phases)
        return pim_lexer_fail(&self->lexer, column, error, "phases count up from 0: this one is %" PRIu32,
                              self->phases);
    if (self->lexer.token.kind != PIM_TOKEN_STRING)
        return unexpected(self, "the name of the phase as a string", error);
    if (self->lexer.token.length > PIM_TRACE_NAME)
        return pim_lexer_fail(&self->lexer, self->lexer.token.column, error,
                              "the name is longer than %d bytes", PIM_TRACE_NAME);
    char name[PIM_TRACE_NAME + 1];
    memcpy(name, self->lexer.string, self->lexer.token.length + 1);
    phase.name = name;
    if (pim_name_check(name, self->lexer.token.length, "name", error) != PIM_OK)
        return pim_fail_in(error, "%s:%u:%u", self->lexer.name, self->lexer.line, self->lexer.token.column);
    PIM_TRY(next(self, error));
    PIM_TRY(take_pairs(self, names, values, 1 + PIM_ESTIMATE_PARTS, UINT64_MAX, error));
    if (pim_trace_writer_phase(self->writer, &phase) != self->phases)
        return pim_fail(error, PIM_NO_MEMORY, "%s:%u: out of memory for a phase", self->lexer.name,
                        self->lexer.line);
    self->phases++;
    return PIM_OK;
}

/* Of the phase before. */
static enum pim_status take_equations(struct assembler *self, struct pim_error *error)
{
    const char *names[PIM_EQUATION_TERMS];
    struct pim_trace_phase phase = {.name = NULL};
    uint64_t *values[PIM_EQUATION_TERMS];
    for (unsigned term = 0; term < PIM_EQUATION_TERMS; term++) {
        names[term] = pim_equation_term_name(term);
        values[term] = &phase.equation_terms[term];
    }
    if (self->phases == 0)
        return pim_lexer_fail(&self->lexer, 1, error, "'.equations' must follow a '.phase'");
    if (self->with_equations == self->phases)
        return pim_lexer_fail(&self->lexer, 1, error, "phase %" PRIu32 " has its equations already",
                              self->phases - 1);
    self->with_equations = self->phases;
    PIM_TRY(take_pairs(self, names, values, PIM_EQUATION_TERMS, UINT64_MAX, error));
    pim_trace_writer_set_equations(self->writer, self->phases - 1, &phase);
    return PIM_OK;
}

static enum pim_status take_serve(struct assembler *self, struct pim_error *error)
{
    static const char *const names[] = {"task", "start", "end"};
    uint64_t task = 0, start = 0, end = 0;
    uint64_t *const values[] = {&task, &start, &end};
    if (!self->in_router)
        return pim_lexer_fail(&self->lexer, 1, error, "'.serve' must follow a '.router'");
    PIM_TRY(take_pairs(self, names, values, 3, UINT32_MAX, error));
    if (start >= PIM_TRACE_PORTS || end >= PIM_TRACE_PORTS)
        return pim_lexer_fail(&self->lexer, 1, error,
                              "start is port %" PRIu64 " and end port %" PRIu64 ": ports are 0 to %d", start,
                              end, PIM_TRACE_PORTS - 1);
    if (self->entries == self->entry_capacity) {
        uint32_t wanted = self->entry_capacity ? self->entry_capacity * 2 : 64;
        struct pim_trace_behaviour *larger =
            wanted > PIM_TRACE_BEHAVIOURS ? NULL : realloc(self->entry, wanted * sizeof *larger);
        if (!larger)
            return pim_fail(error, PIM_NO_MEMORY, "%s:%u: out of memory for behaviour entries",
                            self->lexer.name, self->lexer.line);
        self->entry = larger;
        self->entry_capacity = wanted;
    }
    self->entry[self->entries++] =
        (struct pim_trace_behaviour){.task = (uint32_t)task, .start = (uint32_t)start, .end = (uint32_t)end};
    return PIM_OK;
}

static enum pim_status take_router(struct assembler *self, struct pim_error *error)
{
    uint64_t router = 0;
    PIM_TRY(end_router(self, error));
    PIM_TRY(take_number(self, PIM_TRACE_ROUTERS - 1, &router, error));
    self->router = (uint32_t)router;
    self->entries = 0;
    self->in_router = true;
    return need_end(self, error);
}

static enum pim_status take_unit(struct assembler *self, struct pim_error *error)
{
    uint64_t unit = 0;
    if (self->depth > 0)
        return pim_lexer_fail(&self->lexer, 1, error,
                              "a repeat block of unit %" PRIu32 " is still open: '}' is missing", self->unit);
    PIM_TRY(end_router(self, error));
    PIM_TRY(take_number(self, self->description.units - 1, &unit, error));
    self->unit = (uint32_t)unit;
    return need_end(self, error);
}

/* Of the unit that is open; `rows=…` and so on. */
static enum pim_status take_array_group(struct assembler *self, struct pim_error *error)
{
    static const char *const names[] = {"layer",   "arrays", "row",         "rows",   "column",
                                        "columns", "folds",  "fold_stride", "blocks", "set"};
    uint64_t layer = 0, arrays = 1, row = 0, rows = 0, column = 0, columns = 0, folds = 1, fold_stride = 0;
    uint64_t blocks = 0, set = 0;
    uint64_t *const values[] = {&layer,   &arrays, &row,         &rows,   &column,
                                &columns, &folds,  &fold_stride, &blocks, &set};
    if (self->unit == PIM_ALL_UNITS)
        return pim_lexer_fail(&self->lexer, 1, error, "'.unit' must stand before '.array_group'");
    PIM_TRY(take_pairs(self, names, values, 10, UINT32_MAX, error));
    const struct pim_trace_array_group group = {.layer = (uint32_t)layer,
                                                .arrays = (uint32_t)arrays,
                                                .row = (uint32_t)row,
                                                .rows = (uint32_t)rows,
                                                .column = (uint32_t)column,
                                                .columns = (uint32_t)columns,
                                                .folds = (uint32_t)folds,
                                                .fold_stride = (uint32_t)fold_stride,
                                                .blocks = (uint32_t)blocks,
                                                .set = (uint32_t)set};
    enum pim_status status = pim_trace_writer_array_group(self->writer, self->unit, &group, error);
    return status == PIM_BAD_INPUT ? fail_at_line(self, self->lexer.line, error) : status;
}

static enum pim_status take_version(struct assembler *self, struct pim_error *error)
{
    unsigned column = self->lexer.token.column;
    uint64_t version = 0;
    PIM_TRY(take_number(self, UINT32_MAX, &version, error));
    if (version != 1)
        return pim_lexer_fail(&self->lexer, column, error,
                              "version %" PRIu64 ": this assembler knows version 1", version);
    self->versioned = true;
    return need_end(self, error);
}

static enum pim_status take_directive(struct assembler *self, struct pim_error *error)
{
    static const char *const names[] = {".version", ".family", ".network",    ".mapping",   ".configuration",
                                        ".array",   ".counts", ".phase",      ".equations", ".router",
                                        ".serve",   ".unit",   ".array_group"};
    enum {
        VERSION,
        FAMILY,
        NETWORK,
        MAPPING,
        CONFIGURATION,
        ARRAY,
        COUNTS,
        PHASE,
        EQUATIONS,
        ROUTER,
        SERVE,
        UNIT,
        ARRAY_GROUP,
        DIRECTIVES
    };
    unsigned found = 0;
    while (found < DIRECTIVES && strcmp(names[found], self->lexer.token.word) != 0)
        found++;
    if (found == DIRECTIVES)
        return unknown(self, "directive", names, DIRECTIVES, error);
    PIM_TRY(next(self, error));
    if (found >= FAMILY && found <= CONFIGURATION)
        return take_text(self, &self->text[found - FAMILY], error);
    if (found < PHASE && self->writer)
        return pim_lexer_fail(&self->lexer, 1, error,
                              "the description ends where phases, behaviour tables and programs begin");
    if (found == VERSION)
        return take_version(self, error);
    if (found == ARRAY)
        return take_array(self, error);
    if (found == COUNTS)
        return take_counts(self, error);
    PIM_TRY(start_writer(self, error));
    if (found == PHASE)
        return take_phase(self, error);
    if (found == EQUATIONS)
        return take_equations(self, error);
    if (found == ROUTER)
        return take_router(self, error);
    if (found == ARRAY_GROUP)
        return take_array_group(self, error);
    return found == SERVE ? take_serve(self, error) : take_unit(self, error);
}

/* Hands an instruction to the writer. */
static enum pim_status append(struct assembler *self, const struct pim_instruction *instruction,
                              unsigned line, struct pim_error *error)
{
    enum pim_status status = pim_trace_writer_append(self->writer, self->unit, instruction, error);
    return status == PIM_BAD_INPUT ? fail_at_line(self, line, error) : status;
}

/* Inside a block instructions are held until the outermost block is closed. */
static enum pim_status emit(struct assembler *self, const struct pim_instruction *instruction,
                            unsigned column, struct pim_error *error)
{
    if (self->depth == 0 && instruction->opcode != PIM_OP_REPEAT)
        return append(self, instruction, self->lexer.line, error);
    if (self->held == BLOCK)
        return pim_lexer_fail(&self->lexer, column, error, "a repeat block has more than %d instructions",
                              PIM_REPEAT_LENGTH);
    self->block[self->held] = *instruction;
    self->block_line[self->held++] = self->lexer.line;
    return PIM_OK;
}

static enum pim_status close_block(struct assembler *self, struct pim_error *error)
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
    PIM_TRY(next(self, error));
    return need_end(self, error);
}

/* repeat COUNT { */
static enum pim_status take_repeat(struct assembler *self, struct pim_instruction *instruction,
                                   unsigned column, struct pim_error *error)
{
    uint64_t count = 0;
    unsigned count_column = self->lexer.token.column;
    PIM_TRY(take_number(self, UINT32_MAX, &count, error));
    if (count == 0)
        return pim_lexer_fail(&self->lexer, count_column, error, "a block is repeated 1 to %" PRIu32 " times",
                              UINT32_MAX);
    instruction->u.control.count = (uint32_t)count;
    PIM_TRY(take_mark(self, '{', error));
    PIM_TRY(need_end(self, error));
    if (self->depth == PIM_REPEAT_DEPTH)
        return pim_lexer_fail(&self->lexer, column, error, "repeat blocks nest more than %d deep",
                              PIM_REPEAT_DEPTH);
    PIM_TRY(emit(self, instruction, column, error));
    self->open[self->depth++] = self->held - 1;
    return PIM_OK;
}

/* The word behind the mnemonic that `detail` is written as. That of a message may be left out: an operand
   follows then. */
static enum pim_status take_detail(struct assembler *self, enum pim_detail_kind kind,
                                   struct pim_instruction *instruction, struct pim_error *error)
{
    const char *names[NAMES_MOST], *what;
    unsigned count = 0, least, most = pim_detail_range(kind, &least, &what);
    const bool word = self->lexer.token.kind == PIM_TOKEN_WORD;
    if (!word && kind != PIM_DETAIL_MESSAGE) {
        char wanted[32];
        (void)snprintf(wanted, sizeof wanted, "a%s %s", what[0] == 'o' ? "n" : "", what);
        return unexpected(self, wanted, error);
    }
    for (unsigned value = least; value <= most && count < NAMES_MOST; value++) {
        names[count++] = pim_detail_name(kind, value);
        if (word && strcmp(names[count - 1], self->lexer.token.word) == 0) {
            instruction->detail = (uint8_t)value;
            return next(self, error);
        }
    }
    return kind == PIM_DETAIL_MESSAGE ? PIM_OK : unknown(self, what, names, count, error);
}

static enum pim_status take_dependencies(struct assembler *self, struct pim_instruction *instruction,
                                         struct pim_error *error)
{
    for (int i = 0;; i++) {
        uint64_t value = 0;
        if (i == PIM_DEPENDENCIES)
            return pim_lexer_fail(&self->lexer, self->lexer.token.column, error, "more than %d dependencies",
                                  PIM_DEPENDENCIES);
        PIM_TRY(take_number(self, PIM_DEPENDENCY_REACH, &value, error));
        instruction->dependency[i] = (uint16_t)value;
        if (!is_mark(self, ','))
            return PIM_OK;
        PIM_TRY(next(self, error));
    }
}

/* One operand: after=…, a field, or a flag. `seen` has a bit for each field, flag (from bit FLAGS) and
 * after (bit AFTER). */
enum { FLAGS = 16, AFTER = 24 };
_Static_assert((int)PIM_FIELDS_MOST <= (int)FLAGS, "fields and flags have bits of their own");

static enum pim_status take_operand(struct assembler *self, struct pim_instruction *instruction,
                                    uint32_t *seen, struct pim_error *error)
{
    const struct pim_field *fields = pim_opcode_fields(instruction->opcode);
    const uint32_t uses = pim_opcode_uses(instruction->opcode);
    const char *names[NAMES_MOST];
    unsigned count = 0, bit = UINT32_MAX;
    const struct pim_field *field = NULL;
    const struct pim_token *token = &self->lexer.token;
    if (token->kind != PIM_TOKEN_WORD)
        return unexpected(self, "name=number", error);
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
        return unknown(self, "operand", names, count, error);
    if (*seen & 1U << bit)
        return pim_lexer_fail(&self->lexer, token->column, error, "'%s' stands twice", token->word);
    *seen |= 1U << bit;
    PIM_TRY(next(self, error));
    if (bit >= FLAGS && bit < AFTER) {
        instruction->detail |= (uint8_t)(1U << (bit - FLAGS));
        return PIM_OK;
    }
    PIM_TRY(take_mark(self, '=', error));
    if (!field)
        return take_dependencies(self, instruction, error);
    uint64_t value = 0;
    PIM_TRY(take_field(self, field, &value, error));
    pim_field_set(instruction, field, value);
    return PIM_OK;
}

static enum pim_status take_operands(struct assembler *self, struct pim_instruction *instruction,
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

static enum pim_status take_instruction(struct assembler *self, struct pim_error *error)
{
    const char *names[PIM_OPCODES];
    unsigned column = self->lexer.token.column, opcode = 0;
    for (unsigned i = 0; i < PIM_OPCODES; i++)
        names[i] = pim_opcode_name(i);
    while (opcode < PIM_OPCODES && strcmp(names[opcode], self->lexer.token.word) != 0)
        opcode++;
    if (opcode == PIM_OPCODES)
        return unknown(self, "instruction", names, PIM_OPCODES, error);
    if (self->unit == PIM_ALL_UNITS)
        return pim_lexer_fail(&self->lexer, column, error, "'.unit' must stand before the first instruction");
    PIM_TRY(next(self, error));
    struct pim_instruction instruction = {.opcode = (uint8_t)opcode};
    if (opcode == PIM_OP_PHASE_BEGIN || opcode == PIM_OP_PHASE_END) {
        uint64_t phase = 0;
        PIM_TRY(take_number(self, UINT32_MAX, &phase, error));
        instruction.u.control.phase = (uint32_t)phase;
        PIM_TRY(need_end(self, error));
        return emit(self, &instruction, column, error);
    }
    if (opcode == PIM_OP_REPEAT)
        return take_repeat(self, &instruction, column, error);
    if (opcode == PIM_OP_JOIN) {
        PIM_TRY(need_end(self, error));
        return emit(self, &instruction, column, error);
    }
    enum pim_detail_kind kind = pim_opcode_detail(opcode);
    if (kind != PIM_DETAIL_NONE && kind != PIM_DETAIL_FLAGS)
        PIM_TRY(take_detail(self, kind, &instruction, error));
    return take_operands(self, &instruction, column, error);
}

static enum pim_status assemble(struct assembler *self, struct pim_error *error)
{
    for (;;) {
        bool end = false;
        PIM_TRY(pim_lexer_line(&self->lexer, &end, error));
        if (end)
            break;
        const struct pim_token *token = &self->lexer.token;
        if (token->kind == PIM_TOKEN_END)
            continue;
        if (is_mark(self, '}'))
            PIM_TRY(close_block(self, error));
        else if (token->kind != PIM_TOKEN_WORD)
            return unexpected(self, "a directive or an instruction", error);
        else if (token->word[0] == '.')
            PIM_TRY(take_directive(self, error));
        else
            PIM_TRY(take_instruction(self, error));
    }
    if (self->depth > 0)
        return pim_lexer_fail(&self->lexer, 1, error,
                              "the text ends inside a repeat block that line %u opened",
                              self->block_line[self->open[self->depth - 1]]);
    PIM_TRY(start_writer(self, error));
    return end_router(self, error);
}

enum pim_status pim_trace_assemble(const char *name, FILE *file, const char *path, struct pim_error *error)
{
    struct assembler *self = calloc(1, sizeof *self);
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
            (void)fail_at_line(self, self->lexer.line, error);
    } else {
        pim_trace_writer_abandon(self->writer);
    }
    for (int i = 0; i < TEXTS; i++)
        free(self->text[i].bytes);
    free(self->entry);
    free(self);
    return status;
}

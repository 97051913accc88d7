/* Directives of the assembler: the description, phases, behaviour tables, array groups, units. */
#include "traces/text/assembler_internal.h"

#include "sim/try.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* name=number pairs to the end of the line; each name at most once. `value` starts with the defaults. */
static enum pim_status take_pairs(struct pim_assembler *self, const char *const *names,
                                  uint64_t *const *values, size_t count, uint64_t most,
                                  struct pim_error *error)
{
    uint32_t seen = 0;
    while (self->lexer.token.kind != PIM_TOKEN_END) {
        if (self->lexer.token.kind != PIM_TOKEN_WORD)
            return pim_assembler_unexpected(self, "name=number", error);
        size_t i = 0;
        while (i < count && strcmp(names[i], self->lexer.token.word) != 0)
            i++;
        if (i == count)
            return pim_assembler_unknown(self, "field", names, count, error);
        if (seen & 1U << i)
            return pim_lexer_fail(&self->lexer, self->lexer.token.column, error, "'%s' stands twice",
                                  names[i]);
        seen |= 1U << i;
        PIM_TRY(pim_assembler_next(self, error));
        PIM_TRY(pim_assembler_take_mark(self, '=', error));
        PIM_TRY(pim_assembler_take_number(self, most, values[i], error));
    }
    return PIM_OK;
}

static enum pim_status take_text(struct pim_assembler *self, struct pim_assembler_text *text,
                                 struct pim_error *error)
{
    unsigned column = self->lexer.token.column;
    if (self->lexer.token.kind != PIM_TOKEN_STRING)
        return pim_assembler_unexpected(self, "a string", error);
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
    PIM_TRY(pim_assembler_next(self, error));
    return pim_assembler_need_end(self, error);
}

static enum pim_status take_array(struct pim_assembler *self, struct pim_error *error)
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

static enum pim_status take_counts(struct pim_assembler *self, struct pim_error *error)
{
    static const char *const names[] = {"macs", "padding_macs", "weight_bytes"};
    uint64_t *const values[] = {&self->description.macs, &self->description.padding_macs,
                                &self->description.weight_bytes};
    return take_pairs(self, names, values, 3, UINT64_MAX, error);
}

enum pim_status pim_assembler_start_writer(struct pim_assembler *self, struct pim_error *error)
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
    return status == PIM_BAD_INPUT ? pim_assembler_fail_at_line(self, self->lexer.line, error) : status;
}

enum pim_status pim_assembler_end_router(struct pim_assembler *self, struct pim_error *error)
{
    if (!self->in_router)
        return PIM_OK;
    self->in_router = false;
    if (pim_trace_writer_behaviour(self->writer, self->router, self->entry, self->entries, error) != PIM_OK)
        return pim_assembler_fail_at_line(self, self->lexer.line, error);
    return PIM_OK;
}

static enum pim_status take_phase(struct pim_assembler *self, struct pim_error *error)
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
    PIM_TRY(pim_assembler_take_number(self, PIM_TRACE_PHASES - 1, &number, error));
    if (number != self->phases)
        return pim_lexer_fail(&self->lexer, column, error, "phases count up from 0: this one is %" PRIu32,
                              self->phases);
    if (self->lexer.token.kind != PIM_TOKEN_STRING)
        return pim_assembler_unexpected(self, "the name of the phase as a string", error);
    if (self->lexer.token.length > PIM_TRACE_NAME)
        return pim_lexer_fail(&self->lexer, self->lexer.token.column, error,
                              "the name is longer than %d bytes", PIM_TRACE_NAME);
    char name[PIM_TRACE_NAME + 1];
    memcpy(name, self->lexer.string, self->lexer.token.length + 1);
    phase.name = name;
    if (pim_name_check(name, self->lexer.token.length, "name", error) != PIM_OK)
        return pim_fail_in(error, "%s:%u:%u", self->lexer.name, self->lexer.line, self->lexer.token.column);
    PIM_TRY(pim_assembler_next(self, error));
    PIM_TRY(take_pairs(self, names, values, 1 + PIM_ESTIMATE_PARTS, UINT64_MAX, error));
    if (pim_trace_writer_phase(self->writer, &phase) != self->phases)
        return pim_fail(error, PIM_NO_MEMORY, "%s:%u: out of memory for a phase", self->lexer.name,
                        self->lexer.line);
    self->phases++;
    return PIM_OK;
}

/* Of the phase before. */
static enum pim_status take_equations(struct pim_assembler *self, struct pim_error *error)
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

static enum pim_status take_serve(struct pim_assembler *self, struct pim_error *error)
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

static enum pim_status take_router(struct pim_assembler *self, struct pim_error *error)
{
    uint64_t router = 0;
    PIM_TRY(pim_assembler_end_router(self, error));
    PIM_TRY(pim_assembler_take_number(self, PIM_TRACE_ROUTERS - 1, &router, error));
    self->router = (uint32_t)router;
    self->entries = 0;
    self->in_router = true;
    return pim_assembler_need_end(self, error);
}

static enum pim_status take_unit(struct pim_assembler *self, struct pim_error *error)
{
    uint64_t unit = 0;
    if (self->depth > 0)
        return pim_lexer_fail(&self->lexer, 1, error,
                              "a repeat block of unit %" PRIu32 " is still open: '}' is missing", self->unit);
    PIM_TRY(pim_assembler_end_router(self, error));
    PIM_TRY(pim_assembler_take_number(self, self->description.units - 1, &unit, error));
    self->unit = (uint32_t)unit;
    return pim_assembler_need_end(self, error);
}

/* Of the unit that is open; `rows=…` and so on. */
static enum pim_status take_array_group(struct pim_assembler *self, struct pim_error *error)
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
    return status == PIM_BAD_INPUT ? pim_assembler_fail_at_line(self, self->lexer.line, error) : status;
}

static enum pim_status take_version(struct pim_assembler *self, struct pim_error *error)
{
    unsigned column = self->lexer.token.column;
    uint64_t version = 0;
    PIM_TRY(pim_assembler_take_number(self, UINT32_MAX, &version, error));
    if (version != 1)
        return pim_lexer_fail(&self->lexer, column, error,
                              "version %" PRIu64 ": this assembler knows version 1", version);
    self->versioned = true;
    return pim_assembler_need_end(self, error);
}

enum pim_status pim_assembler_take_directive(struct pim_assembler *self, struct pim_error *error)
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
        return pim_assembler_unknown(self, "directive", names, DIRECTIVES, error);
    PIM_TRY(pim_assembler_next(self, error));
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
    PIM_TRY(pim_assembler_start_writer(self, error));
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

/* A trace as text; see text.h. What is written here assembler.c reads. */
#include "traces/text/text.h"

#include "traces/text/fields.h"
#include "traces/trace.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

enum { PIECE = 2048, INDENT = 4 };

/* A quoted string: backslash, quote, and everything that is not printable ASCII escaped. */
static void print_string(const char *text, size_t length, FILE *file)
{
    (void)fputc('"', file);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '\n')
            (void)fputs("\\n", file);
        else if (c == '\t')
            (void)fputs("\\t", file);
        else if (c == '"' || c == '\\')
            (void)fprintf(file, "\\%c", c);
        else if (c < 32 || c > 126)
            (void)fprintf(file, "\\x%02x", (unsigned)c);
        else
            (void)fputc(c, file);
    }
    (void)fputc('"', file);
}

/* Long texts are written in pieces, a line of the text each where lines are short enough; the assembler joins
 * them. */
static void print_text(const char *directive, const char *text, FILE *file)
{
    do {
        const char *line = strchr(text, '\n');
        size_t length = line ? (size_t)(line - text) + 1 : strlen(text);
        if (length > PIECE)
            length = PIECE;
        (void)fprintf(file, ".%s ", directive);
        print_string(text, length, file);
        (void)fputc('\n', file);
        text += length;
    } while (*text);
}

static void print_front(const struct pim_trace *trace, FILE *file)
{
    const struct pim_trace_description *description = pim_trace_description(trace);
    (void)fprintf(file, "# pimsim trace, content hash %016" PRIx64 "\n.version 1\n", pim_trace_hash(trace));
    print_text("family", description->family, file);
    print_text("network", description->network, file);
    print_text("mapping", description->mapping, file);
    print_text("configuration", description->configuration, file);
    (void)fprintf(file, ".array width=%" PRIu32 " height=%" PRIu32 " units=%" PRIu32 "\n", description->width,
                  description->height, description->units);
    (void)fprintf(file, ".counts macs=%" PRIu64 " padding_macs=%" PRIu64 " weight_bytes=%" PRIu64 "\n",
                  description->macs, description->padding_macs, description->weight_bytes);
    for (uint32_t i = 0; i < pim_trace_phases(trace); i++) {
        const struct pim_trace_phase *phase = pim_trace_phase(trace, i);
        (void)fprintf(file, ".phase %" PRIu32 " ", i);
        print_string(phase->name, strlen(phase->name), file);
        (void)fprintf(file, " cycles=%" PRIu64, phase->estimate_cycles);
        for (unsigned part = 0; part < PIM_ESTIMATE_PARTS; part++)
            if (phase->estimate_parts[part] != 0)
                (void)fprintf(file, " %s=%" PRIu64, pim_estimate_part_name(part),
                              phase->estimate_parts[part]);
        (void)fputc('\n', file);
        if (!phase->has_equations)
            continue;
        (void)fprintf(file, ".equations");
        for (unsigned term = 0; term < PIM_EQUATION_TERMS; term++)
            (void)fprintf(file, " %s=%" PRIu64, pim_equation_term_name(term), phase->equation_terms[term]);
        (void)fputc('\n', file);
    }
    for (uint32_t i = 0; i < pim_trace_behaviour_routers(trace); i++) {
        uint32_t router, count;
        const struct pim_trace_behaviour *entry = pim_trace_behaviour(trace, i, &router, &count);
        (void)fprintf(file, ".router %" PRIu32 "\n", router);
        for (uint32_t j = 0; j < count; j++)
            (void)fprintf(file, ".serve task=%" PRIu32 " start=%" PRIu32 " end=%" PRIu32 "\n", entry[j].task,
                          entry[j].start, entry[j].end);
    }
}

static void print_fields(const struct pim_instruction *instruction, FILE *file)
{
    for (const struct pim_field *field = pim_opcode_fields(instruction->opcode); field->name; field++) {
        uint64_t value = pim_field_get(instruction, field);
        if (field->standard >= 0 && value == (uint64_t)field->standard)
            continue;
        if (field->look == PIM_FIELD_SIGNED)
            (void)fprintf(file, " %s=%" PRId64, field->name, (int64_t)value);
        else if (field->look == PIM_FIELD_HEXADECIMAL)
            (void)fprintf(file, " %s=0x%" PRIx64, field->name, value);
        else
            (void)fprintf(file, " %s=%" PRIu64, field->name, value);
    }
}

static void print_dependencies(const struct pim_instruction *instruction, FILE *file)
{
    int last = PIM_DEPENDENCIES - 1;
    while (last >= 0 && instruction->dependency[last] == 0)
        last--;
    for (int i = 0; i <= last; i++)
        (void)fprintf(file, "%s%u", i == 0 ? " after=" : ",", (unsigned)instruction->dependency[i]);
}

void pim_instruction_print(const struct pim_instruction *instruction, FILE *file)
{
    unsigned opcode = instruction->opcode;
    (void)fputs(pim_opcode_name(opcode), file);
    if (opcode == PIM_OP_PHASE_BEGIN || opcode == PIM_OP_PHASE_END) {
        (void)fprintf(file, " %" PRIu32, instruction->u.control.phase);
        return;
    }
    if (opcode == PIM_OP_REPEAT)
        (void)fprintf(file, " %" PRIu32 " {", instruction->u.control.count);
    if (pim_opcode_engine(opcode) == PIM_ENGINE_CONTROL)
        return;
    enum pim_detail_kind kind = pim_opcode_detail(opcode);
    bool left_out = kind == PIM_DETAIL_MESSAGE && instruction->detail == PIM_MESSAGE_PLAIN;
    if (kind != PIM_DETAIL_NONE && kind != PIM_DETAIL_FLAGS && !left_out)
        (void)fprintf(file, " %s", pim_detail_name(kind, instruction->detail));
    print_fields(instruction, file);
    if (kind == PIM_DETAIL_FLAGS)
        for (unsigned bit = 0; pim_matrix_flag_name(bit); bit++)
            if (instruction->detail & 1U << bit)
                (void)fprintf(file, " %s", pim_matrix_flag_name(bit));
    print_dependencies(instruction, file);
}

static enum pim_status print_program(struct pim_trace_cursor *cursor, FILE *file, struct pim_error *error)
{
    uint32_t remaining[PIM_REPEAT_DEPTH + 1];
    unsigned depth = 0;
    const struct pim_instruction *instruction;
    enum pim_status status;
    while ((status = pim_trace_cursor_next(cursor, &instruction, error)) == PIM_OK && instruction) {
        (void)fprintf(file, "%*s", (int)(INDENT * (1 + depth)), "");
        pim_instruction_print(instruction, file);
        (void)fputc('\n', file);
        if (instruction->opcode == PIM_OP_REPEAT) {
            if (depth > 0) /* the inner block belongs to the body of the outer one */
                remaining[depth - 1] -= 1 + instruction->u.control.length;
            remaining[depth++] = instruction->u.control.length;
            continue;
        }
        if (depth > 0)
            remaining[depth - 1]--;
        while (depth > 0 && remaining[depth - 1] == 0)
            (void)fprintf(file, "%*s}\n", (int)(INDENT * depth--), "");
    }
    return status;
}

static void print_groups(const struct pim_trace_array_group *group, uint32_t groups, FILE *file)
{
    for (uint32_t i = 0; i < groups; i++) {
        (void)fprintf(file,
                      "    .array_group layer=%" PRIu32 " arrays=%" PRIu32 " row=%" PRIu32 " rows=%" PRIu32
                      " column=%" PRIu32 " columns=%" PRIu32,
                      group[i].layer, group[i].arrays, group[i].row, group[i].rows, group[i].column,
                      group[i].columns);
        if (group[i].folds > 1)
            (void)fprintf(file, " folds=%" PRIu32 " fold_stride=%" PRIu32, group[i].folds,
                          group[i].fold_stride);
        if (group[i].blocks)
            (void)fprintf(file, " blocks=%" PRIu32, group[i].blocks);
        if (group[i].set)
            (void)fprintf(file, " set=%" PRIu32, group[i].set);
        (void)fputc('\n', file);
    }
}

/* Array groups and program of one unit; nothing when it has neither. */
static enum pim_status print_unit(const struct pim_trace *trace, uint32_t unit, FILE *file,
                                  struct pim_error *error)
{
    uint32_t groups;
    const struct pim_trace_array_group *group = pim_trace_array_groups(trace, unit, &groups);
    if (groups == 0 && pim_trace_instructions(trace, unit) == 0)
        return PIM_OK;
    (void)fprintf(file, ".unit %" PRIu32 "\n", unit);
    print_groups(group, groups, file);
    struct pim_trace_cursor *cursor;
    enum pim_status status = pim_trace_cursor_create_stored(trace, unit, &cursor, error);
    if (status == PIM_OK)
        status = print_program(cursor, file, error);
    pim_trace_cursor_destroy(cursor);
    return status;
}

enum pim_status pim_trace_disassemble(const struct pim_trace *trace, uint32_t unit, FILE *file,
                                      struct pim_error *error)
{
    uint32_t units = pim_trace_description(trace)->units;
    if (unit != PIM_ALL_UNITS && unit >= units)
        return pim_fail(error, PIM_BAD_INPUT,
                        "there is no unit %" PRIu32 ": the trace has units 0 to %" PRIu32, unit, units - 1);
    print_front(trace, file);
    for (uint32_t i = 0; i < units; i++) {
        if (unit != PIM_ALL_UNITS && i != unit)
            continue;
        enum pim_status status = print_unit(trace, i, file, error);
        if (status != PIM_OK)
            return status;
    }
    return ferror(file) ? pim_fail(error, PIM_IO, "the text could not be written: is the disk full?")
                        : PIM_OK;
}

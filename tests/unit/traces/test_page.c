/*
 * docs/reference/instructions.md is what the table of instructions says: the page is made here from
 * traces/opcodes.def and held against the one in the repository.
 */
#include "tests/unit/test_main.h"
#include "tests/unit/traces/suites.h"
#include "tests/unit/traces/support.h"
#include "traces/text/fields.h"
#include "traces/validate.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE "docs/reference/instructions.md"

/* An expression of the table without its V() and SECOND(). */
static void print_expression(FILE *file, const char *text)
{
    bool shown[16] = {false};
    for (unsigned depth = 0; *text; text++) {
        const bool word = strncmp(text, "SECOND(", 7) == 0, letter = strncmp(text, "V(", 2) == 0;
        if (word || letter || *text == '(') {
            shown[++depth % 16] = *text == '(';
            text += word ? 6 : letter;
        }
        if ((*text == '(' || *text == ')') && !shown[(*text == '(' ? depth : depth--) % 16])
            continue;
        (void)fputc(*text, file);
    }
}

/* A bound: powers of two, and what is one below, as such when they are large. */
static void print_bound(FILE *file, uint64_t value)
{
    unsigned power = 0;
    while (power < 63 && (uint64_t)1 << power < value)
        power++;
    if (value < 1 << 16)
        (void)fprintf(file, "%" PRIu64, value);
    else if (value == (uint64_t)1 << power)
        (void)fprintf(file, "2^%u", power);
    else
        (void)fprintf(file, "2^%u - 1", power);
}

static void print_field(FILE *file, int offset, size_t size, const char *name, int standard,
                        enum pim_field_look look, uint64_t least, uint64_t most, const char *text)
{
    (void)fprintf(file, "| %d | %zu | `%s` | ", offset, size, name);
    if (standard < 0)
        (void)fputs("must be given", file);
    else
        (void)fprintf(file, "%d", standard);
    (void)fputs(" | ", file);
    if (look == PIM_FIELD_SIGNED) {
        (void)fputs("-2^31 to 2^31 - 1", file);
    } else {
        print_bound(file, least);
        (void)fputs(" to ", file);
        print_bound(file, most);
    }
    (void)fprintf(file, " | %s |\n", text);
}

/* The operands of a form that an opcode uses. */
static void print_operands(FILE *file, unsigned opcode)
{
#define ALL UINT32_MAX
#define USE(form, member) (1U << FIELD_##form##_##member)
#define NEEDED PIM_FIELD_NEEDED
#define FORM(form) enum {
#define FIELD(form, offset, type, member, ...) FIELD_##form##_##member,
#define FORM_END(form)                                                                                       \
    FIELDS_##form                                                                                            \
    }                                                                                                        \
    ;
#include "traces/opcodes.def"
    static const uint32_t used[] = {
#define OPCODE(number, name, mnemonic, engine, units, form, uses, ...) [number] = uses,
#include "traces/opcodes.def"
    };
    enum form {
#define FORM(form) FORM_##form,
#include "traces/opcodes.def"
    };
    static const enum form forms[] = {
#define OPCODE(number, name, mnemonic, engine, units, form, ...) [number] = FORM_##form,
#include "traces/opcodes.def"
    };
    if (used[opcode] == 0)
        return;
    (void)fputs("\n| offset | bytes | operand | left out | range | meaning |\n|---|---|---|---|---|---|\n",
                file);
#define FIELD(form, offset, type, member, standard, look, least, most, text)                                 \
    if (forms[opcode] == FORM_##form && (used[opcode] & USE(form, member)))                                  \
        print_field(file, offset, sizeof(type), #member, standard, PIM_FIELD_##look, least, most, text);
#include "traces/opcodes.def"
    bool any = false;
#define RULE(form, text, ...)                                                                                \
    if (forms[opcode] == FORM_##form) {                                                                      \
        (void)fprintf(file, any ? "; " text : "\nRules: " text);                                             \
        any = true;                                                                                          \
    }
#include "traces/opcodes.def"
    if (any)
        (void)fputs(".\n", file);
}

/* "Reads (source, local memory): count pieces of bytes bytes from source on, source_stride apart." */
static void print_pieces(FILE *file, const char *verb, const char *space, const char *part,
                         const char *const expressions[4])
{
    const char *address = expressions[0], *bytes = expressions[1], *count = expressions[2];
    const bool several = strcmp(count, "1") != 0;
    (void)fprintf(file, "\n%s (%s, %s): ", verb, part, space);
    if (several) {
        (void)fputs("`", file);
        print_expression(file, count);
        (void)fputs("` pieces of ", file);
    }
    (void)fputs("`", file);
    print_expression(file, bytes);
    (void)fputs("` bytes from `", file);
    print_expression(file, address);
    (void)fputs("` on", file);
    if (several) {
        (void)fputs(", `", file);
        print_expression(file, expressions[3]);
        (void)fputs("` apart", file);
    }
    (void)fputs(strncmp(bytes, "SECOND(", 7) == 0 ? "; only where two vectors are read.\n" : ".\n", file);
}

/* "NODES | CORES" as "nodes, cores". */
static const char *units_text(const char *units)
{
    static char text[64];
    char *end = text;
    for (; *units && end < text + sizeof text - 1; units++)
        if (*units == '|')
            end[-1] = ',';
        else
            *end++ = (char)tolower((unsigned char)*units);
    *end = '\0';
    return text;
}

/* The words for the columns of the table. */
#define NODE "memory of the node"
#define GLOBAL "global memory"
#define LOCAL "local memory"
#define OWN "memory of the node, or local memory of the core"

static const char *const detail_titles[] = {[PIM_DETAIL_BUFFER] = "buffer",
                                            [PIM_DETAIL_VECTOR] = "vector operation",
                                            [PIM_DETAIL_LOCAL] = "local vector operation",
                                            [PIM_DETAIL_BIT_SERIAL] = "bit-serial operation",
                                            [PIM_DETAIL_FLAGS] = "matrix flags",
                                            [PIM_DETAIL_MESSAGE] = "kind of message",
                                            [PIM_DETAIL_ROW] = "row operation",
                                            [PIM_DETAIL_MOVE] = "reach",
                                            [PIM_DETAIL_REACH] = "reach"};

static void print_instructions(FILE *file)
{
#define OPCODE(number, name, mnemonic, engine, units, form, uses, detail, text)                              \
    (void)fprintf(file, "\n## %d `%s`\n\n%c%s. Engine: %s. Units: %s.\n", number, mnemonic,                  \
                  toupper((text)[0]), &(text)[1], pim_engine_name(PIM_ENGINE_##engine), units_text(#units)); \
    if (PIM_DETAIL_##detail != PIM_DETAIL_NONE)                                                              \
        (void)fprintf(file, "Detail: [%s](#details).\n", detail_titles[PIM_DETAIL_##detail]);                \
    print_operands(file, number);
#define READS(space, place, part, address, bytes, count, stride)                                             \
    print_pieces(file, "Reads", space, part, (const char *const[]){#address, #bytes, #count, #stride});
#define WRITES(space, part, address, bytes, count, stride)                                                   \
    print_pieces(file, "Writes", space, part, (const char *const[]){#address, #bytes, #count, #stride});
#include "traces/opcodes.def"
}

/* --- details --- */

struct detail {
    enum pim_detail_kind kind;
    unsigned number;
    const char *text, *meaning;
};

static const struct detail details[] = {
#define X(number, name, text, meaning) {PIM_DETAIL_BUFFER, number, text, meaning},
    PIM_BUFFER_MAP(X)
#undef X
#define X(number, name, text, meaning) {PIM_DETAIL_VECTOR, number, text, meaning},
        PIM_VECTOR_MAP(X)
#undef X
#define X(number, name, text, vectors, meaning) {PIM_DETAIL_LOCAL, number, text, meaning},
            PIM_LOCAL_MAP(X)
#undef X
#define X(number, name, text, meaning) {PIM_DETAIL_BIT_SERIAL, number, text, meaning},
                PIM_BIT_SERIAL_MAP(X)
#undef X
#define X(number, name, text, meaning) {PIM_DETAIL_ROW, number, text, meaning},
                    PIM_ROW_OPERATION_MAP(X)
#undef X
#define X(number, name, text, meaning) {PIM_DETAIL_REACH, number, text, meaning},
                        PIM_REACH_MAP(X)
#undef X
#define X(number, name, text, meaning) {PIM_DETAIL_MESSAGE, number, text, meaning},
                            PIM_MESSAGE_MAP(X)
#undef X
#define X(number, name, text, meaning) {PIM_DETAIL_FLAGS, 1U << (number), text, meaning},
                                PIM_MATRIX_MAP(X)
#undef X
};

static void print_details(FILE *file)
{
    (void)fputs("\n## Details\n", file);
    for (size_t i = 0; i < sizeof details / sizeof details[0]; i++) {
        if (i == 0 || details[i].kind != details[i - 1].kind)
            (void)fprintf(file, "\n| %s | name | meaning |\n|---|---|---|\n", detail_titles[details[i].kind]);
        (void)fprintf(file, "| %u | `%s` | %s |\n", details[i].number, details[i].text, details[i].meaning);
    }
    (void)fputs(
        "\nLocal vector operations work element by element over two's complement integers of `bits`, results "
        "cut to"
        " `bits`: a is the\nelement at `source`, b the one at `second`, i the immediate. What the numbers of"
        " function, binary and normalize mean is the mapper's.\nMatrix flags are added up. "
        "[Channels whose banks compute](../models/channel.md) says what the operations on rows mean; a move "
        "reaches a column or bank, a\nmessage of rows a channel or stack.\n",
        file);
}

static const char front[] = "# Instructions\n\n"
                            "Made from `traces/opcodes.def`; a test holds this page against it. [The trace "
                            "format](../trace-format.md) says how a"
                            " program is\nexecuted, and what the other bytes of a file are.\n\n"
                            "An instruction is a record of 32 bytes, little endian: opcode (1 byte at offset "
                            "0), detail (1 at 1), three dependencies"
                            " (2 each at 2;\n0 = none, at most 4095), operands from offset 8 on. Operands "
                            "that an opcode does not have, and details of"
                            " opcodes without, are 0.\n\n"
                            "In the text form an operand that is left out has the value of the column *left "
                            "out*. Pieces that are written, or lie outside"
                            " of a\nlocal memory, do not overlap (the stride of one piece does not matter). "
                            "A local memory ends below 2^32, other memories"
                            " within 2^62.\n";

START_TEST(page_of_instructions_is_current)
{
    char *made = NULL, path[PATH_SIZE];
    size_t size = 0, page_size = 0;
    FILE *file = open_memstream(&made, &size);
    ck_assert_ptr_nonnull(file);
    (void)fputs(front, file);
    print_instructions(file);
    print_details(file);
    ck_assert_int_eq(fclose(file), 0);
    if (getenv("PIMSIM_WRITE_PAGES")) {
        write_bytes(pimsim_source_path(path, sizeof path, PAGE), made, size);
    } else {
        uint8_t *page = read_bytes(pimsim_source_path(path, sizeof path, PAGE), &page_size);
        ck_assert_msg(size == page_size && memcmp(made, page, size) == 0,
                      PAGE " is out of date: run this test with PIMSIM_WRITE_PAGES=1 set");
        free(page);
    }
    free(made);
}
END_TEST

Suite *page_suite(void)
{
    Suite *suite = suite_create("page");
    TCase *cases = tcase_create("page");
    tcase_add_test(cases, page_of_instructions_is_current);
    suite_add_tcase(suite, cases);
    return suite;
}

/*
 * Golden files of the format (tests/data/traces): what was written once reads the same for good. Numbers of
 * instructions and operations, places of fields and sections cannot change without a failure here.
 */
#include "tests/unit/test_main.h"
#include "tests/unit/traces/suites.h"
#include "tests/unit/traces/support.h"
#include "traces/text/fields.h"
#include "traces/text/text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* A new instruction or operation brings a file of its own: see golden_files_show_everything. */
static const char *const golden[] = {"nodes-1", "cores-1",   "banks-1",    "channels-1",
                                     "tiles-1", "weights-1", "equations-1"};
enum { GOLDEN = sizeof golden / sizeof golden[0] };

/* The release of zstd that the files were made with: another one may compress otherwise. */
enum { ZSTD_OF_FILES = 10504 };

/* The path of golden file `name` with an ending, written to `buffer`. */
static const char *golden_path(const char *name, const char *ending, char *buffer)
{
    char relative[PATH_SIZE];
    (void)snprintf(relative, sizeof relative, "tests/data/traces/%s.%s", name, ending);
    return pimsim_source_path(buffer, PATH_SIZE, relative);
}

/* The bytes of a golden file with a zero byte behind them; the caller frees them. */
static char *golden_bytes(const char *name, const char *ending, size_t *size)
{
    char path[PATH_SIZE];
    uint8_t *bytes = read_bytes(golden_path(name, ending, path), size);
    char *text = malloc(*size + 1);
    ck_assert_ptr_nonnull(text);
    memcpy(text, bytes, *size);
    text[*size] = '\0';
    free(bytes);
    return text;
}

static struct pim_trace *golden_open(const char *name)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_trace *trace;
    char path[PATH_SIZE];
    EXPECT_OK(pim_trace_open(golden_path(name, "bin", path), &trace, &error));
    return trace;
}

START_TEST(golden_files_read_as_their_text)
{
    struct pim_error error = {PIM_OK, ""};
    char *text = NULL;
    size_t size = 0, wanted_size;
    char *wanted = golden_bytes(golden[_i], "txt", &wanted_size);
    struct pim_trace *trace = golden_open(golden[_i]);
    FILE *file = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(file);
    EXPECT_OK(pim_trace_disassemble(trace, PIM_ALL_UNITS, file, &error));
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_str_eq(text, wanted);
    pim_trace_close(trace);
    free(text);
    free(wanted);
}
END_TEST

START_TEST(golden_texts_assemble_to_their_file)
{
    struct pim_error error = {PIM_OK, ""};
    size_t size, made_size, wanted_size;
    char path[PATH_SIZE];
    char *text = golden_bytes(golden[_i], "txt", &size);
    EXPECT_OK(assemble(text, "made", &error));
    struct pim_trace *trace = golden_open(golden[_i]), *made;
    EXPECT_OK(pim_trace_open(temporary(path, "made"), &made, &error));
    ck_assert_uint_eq(pim_trace_hash(made), pim_trace_hash(trace));
    if (ZSTD_versionNumber() == ZSTD_OF_FILES) {
        uint8_t *bytes = read_bytes(path, &made_size);
        char *wanted = golden_bytes(golden[_i], "bin", &wanted_size);
        ck_assert_uint_eq(made_size, wanted_size);
        ck_assert_mem_eq(bytes, wanted, wanted_size);
        free(bytes);
        free(wanted);
    }
    pim_trace_close(trace);
    pim_trace_close(made);
    free(text);
}
END_TEST

START_TEST(golden_files_stand_on_their_page)
{
    char row[PATH_SIZE], hash[32];
    char *page = golden_bytes("README", "md", &(size_t){0});
    struct pim_trace *trace = golden_open(golden[_i]);
    (void)snprintf(row, sizeof row, "| `%s.bin` | ", golden[_i]);
    (void)snprintf(hash, sizeof hash, "`%016" PRIx64 "` |", pim_trace_hash(trace));
    const char *place = strstr(page, row);
    ck_assert_msg(place, "no row \"%s\" in tests/data/traces/README.md", row);
    const char *found = strstr(place, hash);
    ck_assert_msg(found && found < strchr(place, '\n'), "%s%s", row, hash);
    pim_trace_close(trace);
    free(page);
}
END_TEST

/* What the golden files hold: each opcode and each detail of it. */
static void see_all(bool seen[PIM_OPCODES][UINT8_MAX + 1])
{
    struct pim_error error = {PIM_OK, ""};
    for (int i = 0; i < GOLDEN; i++) {
        struct pim_trace *trace = golden_open(golden[i]);
        for (uint32_t unit = 0; unit < pim_trace_description(trace)->units; unit++) {
            struct pim_trace_cursor *cursor;
            const struct pim_instruction *instruction;
            EXPECT_OK(pim_trace_cursor_create_stored(trace, unit, &cursor, &error));
            for (;;) {
                EXPECT_OK(pim_trace_cursor_next(cursor, &instruction, &error));
                if (!instruction)
                    break;
                seen[instruction->opcode][instruction->detail] = true;
            }
            pim_trace_cursor_destroy(cursor);
        }
        pim_trace_close(trace);
    }
}

START_TEST(golden_files_show_everything)
{
    bool seen[PIM_OPCODES][UINT8_MAX + 1] = {{false}};
    see_all(seen);
    for (unsigned opcode = 0; opcode < PIM_OPCODES; opcode++) {
        enum pim_detail_kind kind = pim_opcode_detail(opcode);
        const char *what;
        unsigned least, most = pim_detail_range(kind, &least, &what);
        bool any = false;
        for (unsigned detail = 0; detail <= UINT8_MAX; detail++) {
            bool none =
                kind == PIM_DETAIL_FLAGS || kind == PIM_DETAIL_NONE || detail < least || detail > most;
            any = any || seen[opcode][detail];
            ck_assert_msg(none || seen[opcode][detail],
                          "no golden file has %s %s: add a file to tests/data/traces",
                          pim_opcode_name(opcode), pim_detail_name(kind, detail));
        }
        ck_assert_msg(any, "no golden file has %s: add a file to tests/data/traces", pim_opcode_name(opcode));
    }
}
END_TEST

/* What a publication says of a phase is no part of what is executed. */
START_TEST(hash_is_without_equations)
{
    char text[4096];
    const char *place = strstr(small_text, ".equations computation=700"), *end = strchr(place, '\n') + 1;
    struct pim_trace *with = trace_of(small_text);
    (void)snprintf(text, sizeof text, "%.*s%s", (int)(place - small_text), small_text, end);
    struct pim_trace *without = trace_of(text);
    ck_assert_uint_eq(pim_trace_phase_equations(pim_trace_phase(with, 0)), 1);
    ck_assert(pim_trace_phase(with, 1)->has_equations);
    ck_assert_uint_eq(pim_trace_phase(with, 1)->equation_terms[PIM_EQUATION_COMPUTATION], 700);
    ck_assert_uint_eq(pim_trace_phase(with, 1)->equation_terms[PIM_EQUATION_TRANSFER], 80);
    ck_assert_uint_eq(pim_trace_phase(with, 1)->equation_terms[PIM_EQUATION_WEIGHT_SHARING], 9);
    ck_assert_uint_eq(pim_trace_phase_equations(pim_trace_phase(with, 1)), 789);
    ck_assert(!pim_trace_phase(without, 1)->has_equations);
    ck_assert_uint_eq(pim_trace_hash(with), pim_trace_hash(without));
    ck_assert_uint_gt(pim_trace_file_bytes(with), pim_trace_file_bytes(without));
    pim_trace_close(with);
    pim_trace_close(without);
}
END_TEST

Suite *golden_suite(void)
{
    Suite *suite = suite_create("golden");
    TCase *cases = tcase_create("golden");
    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_loop_test(cases, golden_files_read_as_their_text, 0, GOLDEN);
    tcase_add_loop_test(cases, golden_texts_assemble_to_their_file, 0, GOLDEN);
    tcase_add_loop_test(cases, golden_files_stand_on_their_page, 0, GOLDEN);
    tcase_add_test(cases, golden_files_show_everything);
    tcase_add_test(cases, hash_is_without_equations);
    suite_add_tcase(suite, cases);
    return suite;
}

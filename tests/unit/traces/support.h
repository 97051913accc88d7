/* Traces for the tests of traces/: made from text or by hand, in a folder of their own that is removed at the
 * end. */
#ifndef PIMSIM_TESTS_UNIT_TRACES_SUPPORT_H
#define PIMSIM_TESTS_UNIT_TRACES_SUPPORT_H

#include "sim/status.h"
#include "traces/file/reader.h"
#include "traces/file/writer.h"

#include <check.h>
#include <stddef.h>
#include <stdint.h>

/* Path of `name` in a temporary folder, written to `buffer`. setup makes the folder before each test,
 * teardown removes it. */
enum { PATH_SIZE = 256 };
const char *temporary(char *buffer, const char *name);
void setup(void);
void teardown(void);

/* The bytes of a file; the caller frees them. */
uint8_t *read_bytes(const char *path, size_t *size);
void write_bytes(const char *path, const void *bytes, size_t size);

/* Fails the test unless `call` gives `wanted`; shows the message. */
#define EXPECT(call, wanted)                                                                                 \
    do {                                                                                                     \
        enum pim_status expect_status = (call);                                                              \
        ck_assert_msg(expect_status == (wanted), "%s: status %d, not %d: %s", #call, (int)expect_status,     \
                      (int)(wanted), error.text);                                                            \
    } while (0)
#define EXPECT_OK(call) EXPECT(call, PIM_OK)
#define EXPECT_TEXT(part)                                                                                    \
    ck_assert_msg(strstr(error.text, part) != NULL, "'%s' is not in '%s'", part, error.text)

/* Assembles a text to the file `name`; status and message are the assembler's. */
enum pim_status assemble(const char *text, const char *name, struct pim_error *error);

/* Assembles a text, which must be right, and opens it. */
struct pim_trace *trace_of(const char *text);

/* The small trace that most tests use: 3 units, 2 phases, all opcodes, a behaviour table, array
 * groups. */
extern const char *const small_text;

/* A simple description of `units` units. */
struct pim_trace_description description_of(uint32_t units);

/* Reads every program to its end in executed order; the first error stops. */
enum pim_status read_programs(const struct pim_trace *trace, struct pim_error *error);

#endif

/* Small traces for the tests of the public interface, in a folder of their own that is removed at the end. */
#ifndef PIMSIM_TESTS_UNIT_API_SUPPORT_H
#define PIMSIM_TESTS_UNIT_API_SUPPORT_H

#include "include/pimsim/pimsim.h"

#include <check.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

Suite *refusals_suite(void);
Suite *results_suite(void);
Suite *together_suite(void);

/* The work of trace_of(), by hand: two units; the first multiplies and sends, the second receives. */
enum {
    TILES = 3,
    TILE_M = 16,
    TILE_N = 8,
    TILE_K = 32,
    TRACE_MACS = TILES * TILE_M * TILE_N * TILE_K,
    TILE_BYTES = TILE_M * TILE_N,
    MESSAGE_BYTES = TILES * TILE_BYTES
};

/* What a trace of the tests is like; all zero: two units that complete. */
struct shape {
    bool no_configuration;     /* the trace carries none */
    const char *configuration; /* another one than the tests' own */
    bool unanswered;           /* the second unit waits for a message that nobody sends */
};

/* The path of `name` in the folder of the test: setup makes it before each test, teardown removes it. */
enum { PATH_SIZE = 512 };
const char *temporary(char path[PATH_SIZE], const char *name);
void setup(void);
void teardown(void);

/* Writes the trace `name`, and returns its path in `path`. */
const char *trace_of(char path[PATH_SIZE], const char *name, struct shape shape);

/* Writes a text, or any bytes, as the file `name`, and returns its path in `path`. */
const char *file_of(char path[PATH_SIZE], const char *name, const void *bytes, size_t size);

/* The options that a caller begins with. */
struct pimsim_options no_options(void);

/* Creates, runs, and returns comparable() of the results; every step must succeed.
 * The caller frees it. */
char *replay(const char *path, const struct pimsim_options *options);

/* The results as a document: must parse. The caller gives it back (json_decref). */
json_t *results_of(struct pimsim_simulation *simulation);
/* A copy of results without what they cost; the caller frees it. */
char *comparable(json_t *results);
/* A whole number, or a real one, deep in a document: "work.macs". Fails the test when it is not there. */
json_int_t integer_at(const json_t *document, const char *path);
double real_at(const json_t *document, const char *path);

/* Fails the test with the message unless the call gives the status. */
#define EXPECT_STATUS(call, wanted)                                                                          \
    do {                                                                                                     \
        int expect_status = (call);                                                                          \
        ck_assert_msg(expect_status == (wanted), "%s: %s, not %s: %s", #call,                                \
                      pimsim_status_text(expect_status), pimsim_status_text(wanted), message);               \
    } while (0)

#endif

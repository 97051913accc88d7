/* Every mistake that the header names comes back as its status, with a message, and leaves nothing behind. */
#include "tests/unit/api/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* pimsim_create() must refuse with this status and a message that holds `part`. */
static void expect_refused(const char *path, const struct pimsim_options *options, int wanted,
                           const char *part)
{
    char message[2048] = "";
    char marker = 'x';
    struct pimsim_simulation *simulation = (struct pimsim_simulation *)(void *)&marker;
    EXPECT_STATUS(pimsim_create(&simulation, path, options, message, sizeof message), wanted);
    ck_assert_ptr_null(simulation);
    ck_assert_msg(strstr(message, part) != NULL, "'%s' is not in '%s'", part, message);
    ck_assert_ptr_null(strchr(message, '\n'));
}

START_TEST(test_arguments)
{
    char path[PATH_SIZE], message[256] = "";
    const char *json = "x";
    struct pimsim_simulation *simulation = NULL;
    trace_of(path, "trace.bin", (struct shape){.no_configuration = false});
    EXPECT_STATUS(pimsim_create(NULL, path, NULL, message, sizeof message), PIMSIM_USAGE);
    ck_assert_ptr_nonnull(strstr(message, "simulation is NULL"));
    expect_refused(NULL, NULL, PIMSIM_USAGE, "trace_path is NULL");
    EXPECT_STATUS(pimsim_create(&simulation, path, NULL, NULL, 10), PIMSIM_USAGE);
    EXPECT_STATUS(pimsim_run(NULL, message, sizeof message), PIMSIM_USAGE);
    EXPECT_STATUS(pimsim_results(NULL, &json, message, sizeof message), PIMSIM_USAGE);
    ck_assert_ptr_null(json);
    EXPECT_STATUS(pimsim_create(&simulation, path, NULL, message, sizeof message), PIMSIM_OK);
    EXPECT_STATUS(pimsim_run(simulation, NULL, 1), PIMSIM_USAGE);
    EXPECT_STATUS(pimsim_results(simulation, NULL, message, sizeof message), PIMSIM_USAGE);
    EXPECT_STATUS(pimsim_run(simulation, NULL, 0), PIMSIM_OK); /* the wrong calls used nothing up */
    EXPECT_STATUS(pimsim_results(simulation, &json, NULL, 1), PIMSIM_USAGE);
    ck_assert_ptr_null(json);
    EXPECT_STATUS(pimsim_results(simulation, &json, NULL, 0), PIMSIM_OK);
    pimsim_destroy(simulation);
    pimsim_destroy(NULL);
}
END_TEST

START_TEST(test_options)
{
    char path[PATH_SIZE];
    const char *holes[] = {"noc.flit_bits=32", NULL};
    trace_of(path, "trace.bin", (struct shape){.no_configuration = false});
    struct pimsim_options options = no_options();
    options.size = 0;
    expect_refused(path, &options, PIMSIM_USAGE, "options.size is 0");
    options.size = sizeof options + 8;
    expect_refused(path, &options, PIMSIM_USAGE, "options.size");
    options = no_options();
    options.override_count = 1;
    expect_refused(path, &options, PIMSIM_USAGE, "options.overrides is NULL");
    options.overrides = holes;
    options.override_count = 2;
    expect_refused(path, &options, PIMSIM_USAGE, "options.overrides[1] is NULL");
    options = no_options();
    int outside = 4;
    memcpy(&options.noc, &outside, sizeof outside);
    expect_refused(path, &options, PIMSIM_USAGE, "options.noc is 4");
}
END_TEST

START_TEST(test_files)
{
    static const char text[] = "array = { width = 2; height = 1; }; nok = { flit_bits = 64; };";
    char path[PATH_SIZE], other[PATH_SIZE];
    struct pimsim_options options = no_options();
    expect_refused(temporary(path, "nothing.bin"), NULL, PIMSIM_IO, "nothing.bin");
    expect_refused(file_of(path, "empty.bin", "", 0), NULL, PIMSIM_BAD_INPUT, "empty.bin");
    expect_refused(file_of(path, "text.bin", text, sizeof text), NULL, PIMSIM_BAD_INPUT, "text.bin");
    trace_of(path, "trace.bin", (struct shape){.no_configuration = false});
    options.hardware_path = temporary(other, "nothing.cfg");
    expect_refused(path, &options, PIMSIM_IO, "nothing.cfg");
    options.hardware_path = file_of(other, "wrong.cfg", text, sizeof text - 1);
    expect_refused(path, &options, PIMSIM_BAD_INPUT, "wrong.cfg:1");
}
END_TEST

START_TEST(test_configurations)
{
    char path[PATH_SIZE];
    struct pimsim_options options = no_options();
    trace_of(path, "bare.bin", (struct shape){.no_configuration = true});
    expect_refused(path, NULL, PIMSIM_BAD_INPUT, "carries no hardware configuration");
    trace_of(path, "wrong.bin", (struct shape){.configuration = "array = { width = 2; height = 0; };"});
    expect_refused(path, NULL, PIMSIM_BAD_INPUT, "the configuration that the trace carries");
    trace_of(path, "part.bin", (struct shape){.configuration = "array = { width = 2; };"});
    expect_refused(path, NULL, PIMSIM_BAD_INPUT, "array.height");
    trace_of(path, "trace.bin", (struct shape){.no_configuration = false});
    const char *overrides[] = {"noc.flit_bitz=32"};
    options.overrides = overrides;
    options.override_count = 1;
    expect_refused(path, &options, PIMSIM_BAD_INPUT, "noc.flit_bits"); /* the nearest key */
    overrides[0] = "noc.flit_bits=0";
    expect_refused(path, &options, PIMSIM_BAD_INPUT, "found 0");
    overrides[0] = "noc.flit_bits";
    expect_refused(path, &options, PIMSIM_BAD_INPUT, "KEY=VALUE");
    overrides[0] = "array.height=2"; /* a good value that does not fit the trace */
    expect_refused(path, &options, PIMSIM_BAD_INPUT, "made for an array of 2 x 1, the hardware has");
    overrides[0] = "pe.accumulator_bits=40"; /* five bytes a sum, of which programs give back four */
    expect_refused(
        path, &options, PIMSIM_BAD_INPUT,
        "pe.accumulator_bits: 40 bits, the trace is made for 32: its programs give back partial sums of "
        "4 bytes");
    overrides[0] = "pe.accumulator_bits=25"; /* four bytes as well */
    free(replay(path, &options));
}
END_TEST

/* A trace without a configuration may get all of it from overrides. */
START_TEST(test_overrides_alone_are_a_configuration)
{
    char path[PATH_SIZE];
    const char *overrides[] = {"array.width=2", "array.height=1"};
    struct pimsim_options options = no_options();
    options.overrides = overrides;
    options.override_count = 2;
    free(replay(trace_of(path, "bare.bin", (struct shape){.no_configuration = true}), &options));
}
END_TEST

START_TEST(test_moments)
{
    char path[PATH_SIZE], message[256] = "";
    const char *json = "x";
    struct pimsim_simulation *simulation = NULL;
    trace_of(path, "trace.bin", (struct shape){.no_configuration = false});
    EXPECT_STATUS(pimsim_create(&simulation, path, NULL, message, sizeof message), PIMSIM_OK);
    EXPECT_STATUS(pimsim_results(simulation, &json, message, sizeof message), PIMSIM_USAGE);
    ck_assert_ptr_null(json);
    ck_assert_ptr_nonnull(strstr(message, "has not run"));
    EXPECT_STATUS(pimsim_run(simulation, message, sizeof message), PIMSIM_OK);
    EXPECT_STATUS(pimsim_run(simulation, message, sizeof message), PIMSIM_USAGE);
    ck_assert_ptr_nonnull(strstr(message, "has run already"));
    EXPECT_STATUS(pimsim_results(simulation, &json, message, sizeof message), PIMSIM_OK);
    ck_assert_ptr_nonnull(json);
    pimsim_destroy(simulation);
}
END_TEST

START_TEST(test_deadlock)
{
    char path[PATH_SIZE], message[2048] = "";
    const char *json = "x";
    struct pimsim_simulation *simulation = NULL;
    trace_of(path, "trace.bin", (struct shape){.unanswered = true});
    EXPECT_STATUS(pimsim_create(&simulation, path, NULL, message, sizeof message), PIMSIM_OK);
    EXPECT_STATUS(pimsim_run(simulation, message, sizeof message), PIMSIM_DEADLOCK);
    ck_assert_msg(strstr(message, "receive") != NULL, "the message does not tell who waits: %s", message);
    EXPECT_STATUS(pimsim_results(simulation, &json, message, sizeof message), PIMSIM_USAGE);
    ck_assert_ptr_null(json);
    ck_assert_ptr_nonnull(strstr(message, "its run failed"));
    EXPECT_STATUS(pimsim_run(simulation, message, sizeof message), PIMSIM_USAGE);
    pimsim_destroy(simulation);
}
END_TEST

/* A message is cut to its buffer, whatever its size, and nothing beyond the buffer is written. */
START_TEST(test_messages_are_cut)
{
    char path[PATH_SIZE], whole[2048] = "";
    struct pimsim_simulation *simulation = NULL;
    temporary(path, "nothing.bin");
    ck_assert_int_eq(pimsim_create(&simulation, path, NULL, whole, sizeof whole), PIMSIM_IO);
    size_t length = strlen(whole);
    ck_assert_uint_gt(length, 20);
    for (size_t size = 0; size <= length + 2; size++) {
        char buffer[2048];
        memset(buffer, '#', sizeof buffer);
        ck_assert_int_eq(pimsim_create(&simulation, path, NULL, buffer, size), PIMSIM_IO);
        size_t kept = size == 0 ? 0 : size - 1 < length ? size - 1 : length;
        ck_assert_mem_eq(buffer, whole, kept);
        if (size > 0)
            ck_assert_int_eq(buffer[kept], '\0');
        size_t beyond = 0;
        for (size_t i = size; i < sizeof buffer; i++)
            beyond += buffer[i] != '#';
        ck_assert_uint_eq(beyond, 0);
    }
    ck_assert_int_eq(pimsim_create(&simulation, path, NULL, NULL, 0), PIMSIM_IO);
}
END_TEST

/* Any byte of a trace that is wrong is refused, by create or, in the streamed programs, by run; so is a trace
 * that ends too early. */
START_TEST(test_damaged_traces)
{
    char path[PATH_SIZE], other[PATH_SIZE];
    static unsigned char bytes[65536];
    trace_of(path, "trace.bin", (struct shape){.no_configuration = false});
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_uint_gt(size, 100);
    ck_assert_uint_lt(size, sizeof bytes);
    unsigned by_run = 0;
    for (size_t place = 0; place < size; place++) {
        char message[2048] = "";
        struct pimsim_simulation *simulation = NULL;
        bytes[place] ^= (unsigned char)(1u << place % 8);
        file_of(other, "damaged.bin", bytes, size);
        bytes[place] ^= (unsigned char)(1u << place % 8);
        int status = pimsim_create(&simulation, other, NULL, message, sizeof message);
        if (status == PIMSIM_OK) {
            status = pimsim_run(simulation, message, sizeof message);
            by_run++;
        }
        pimsim_destroy(simulation);
        ck_assert_msg(status == PIMSIM_BAD_INPUT, "byte %zu of %zu changed: %s: %s", place, size,
                      pimsim_status_text(status), message);
        ck_assert_str_ne(message, "");
    }
    ck_assert_uint_gt(by_run, 0);
    for (size_t end = 0; end < size; end += 7)
        expect_refused(file_of(other, "short.bin", bytes, end), NULL, PIMSIM_BAD_INPUT, "short.bin");
}
END_TEST

START_TEST(test_status_texts)
{
    for (int status = PIMSIM_OK; status <= PIMSIM_INTERNAL; status++) {
        for (int other = PIMSIM_OK; other < status; other++)
            ck_assert_str_ne(pimsim_status_text(status), pimsim_status_text(other));
        ck_assert_str_ne(pimsim_status_text(status), "unknown status");
    }
    ck_assert_str_eq(pimsim_status_text(-1), "unknown status");
    ck_assert_str_eq(pimsim_status_text(PIMSIM_INTERNAL + 1), "unknown status");
}
END_TEST

Suite *refusals_suite(void)
{
    Suite *suite = suite_create("api_refusals");
    TCase *tests = tcase_create("api_refusals");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, test_arguments);
    tcase_add_test(tests, test_options);
    tcase_add_test(tests, test_files);
    tcase_add_test(tests, test_configurations);
    tcase_add_test(tests, test_overrides_alone_are_a_configuration);
    tcase_add_test(tests, test_moments);
    tcase_add_test(tests, test_deadlock);
    tcase_add_test(tests, test_messages_are_cut);
    tcase_add_test(tests, test_damaged_traces);
    tcase_add_test(tests, test_status_texts);
    suite_add_tcase(suite, tests);
    return suite;
}

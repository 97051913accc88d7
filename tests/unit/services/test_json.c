#include "sim/output/json.h"
#include "tests/unit/services/services.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *written(struct pim_json *json)
{
    struct pim_error error = {0};
    FILE *file = tmpfile();
    ck_assert_msg(pim_json_write(json, file, &error) == PIM_OK, "%s", error.text);
    pim_json_destroy(json);
    return stream_text(file);
}

START_TEST(document)
{
    struct pim_json *json = pim_json_create();
    pim_json_put_text(json, "zebra", "first, \"quoted\"\n\x01");
    pim_json_put_count(json, "alpha", INT64_MAX);
    pim_json_put_integer(json, "lowest", INT64_MIN);
    pim_json_begin_array(json, "links");
    pim_json_begin_object(json, NULL);
    pim_json_put_boolean(json, "busy", true);
    pim_json_end(json);
    pim_json_put_real(json, NULL, 1);
    pim_json_put_real(json, NULL, (double)NAN);
    pim_json_begin_array(json, NULL);
    pim_json_end(json);
    pim_json_end(json);
    pim_json_put_value(json, "taken", json_pack("[i]", 5));
    pim_json_put_null(json, "none");
    char *text = written(json);
    ck_assert_str_eq(text, "{\n"
                           "  \"zebra\": \"first, \\\"quoted\\\"\\n\\u0001\",\n"
                           "  \"alpha\": 9223372036854775807,\n"
                           "  \"lowest\": -9223372036854775808,\n"
                           "  \"links\": [\n"
                           "    {\n"
                           "      \"busy\": true\n"
                           "    },\n"
                           "    1.0,\n"
                           "    null,\n"
                           "    []\n"
                           "  ],\n"
                           "  \"taken\": [\n"
                           "    5\n"
                           "  ],\n"
                           "  \"none\": null\n"
                           "}\n");
    free(text);
}
END_TEST

/* Reading a real back gives the same bits. */
START_TEST(reals_survive)
{
    static const double values[] = {
        0.1, 1.0 / 3, 1e300, -0.0, 5e-324, 123456789.123456789, 0x1.fffffffffffffp1023, 2e22};
    struct pim_error error = {0};
    struct pim_json *json = pim_json_create();
    pim_json_begin_array(json, "values");
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        pim_json_put_real(json, NULL, values[i]);
    pim_json_end(json);
    char *text = written(json);
    json_t *read;
    ck_assert_int_eq(pim_json_parse("values", text, strlen(text), &read, &error), PIM_OK);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        double value = json_real_value(json_array_get(json_object_get(read, "values"), i));
        ck_assert_mem_eq(&value, &values[i], sizeof value);
    }
    json_decref(read);
    free(text);
}
END_TEST

/* Bytes that are no UTF-8 become U+FFFD, the characters around them stay. */
START_TEST(text_is_repaired)
{
    static const char *const cases[][2] = {
        {"caf\xc3\xa9", "caf\xc3\xa9"},
        {"caf\xe9", "caf\xef\xbf\xbd"},
        {"\xff\xfe", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"a\xc3", "a\xef\xbf\xbd"},
        {"\xed\xa0\x80z", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz"}, /* a surrogate */
        {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},                   /* an overlong slash */
        {"\xff\xf0\x9f\x98\x80", "\xef\xbf\xbd\xf0\x9f\x98\x80"},
        {"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pim_json *json = pim_json_create();
        pim_json_put_text(json, "text", cases[i][0]);
        ck_assert_str_eq(json_string_value(json_object_get(pim_json_root(json), "text")), cases[i][1]);
        pim_json_destroy(json);
    }
}
END_TEST

/* The first error is the one reported, with its place; what follows it changes nothing and leaks nothing. */
START_TEST(errors_stick)
{
    struct pim_error error = {0};
    struct pim_json *json = pim_json_create();
    pim_json_begin_object(json, "noc");
    pim_json_begin_array(json, "links");
    for (int i = 0; i < 4; i++) {
        pim_json_begin_object(json, NULL);
        pim_json_put_count(json, "flits", i == 2 ? UINT64_MAX : 1);
        pim_json_begin_array(json, "list");
        pim_json_put_real(json, NULL, (double)INFINITY);
        pim_json_end(json);
        pim_json_end(json);
        if (i == 1)
            break;
    }
    pim_json_end(json);
    pim_json_put_value(json, "late", json_integer(1));
    pim_json_end(json);
    enum pim_status status = pim_json_write(json, stdout, &error);
    expect_failure(status, PIM_BAD_INPUT, &error, "noc.links[0].list[0]: is infinite");
    pim_json_destroy(json);

    json = pim_json_create();
    pim_json_begin_array(json, "links");
    pim_json_put_null(json, NULL);
    pim_json_put_count(json, NULL, UINT64_C(1) << 63);
    pim_json_end(json);
    expect_failure(pim_json_write(json, stdout, &error), PIM_BAD_INPUT, &error,
                   "links[1]: 9223372036854775808 is above");
    pim_json_destroy(json);

    json = pim_json_create();
    pim_json_put_null(json, "twice");
    pim_json_begin_object(json, "twice");
    pim_json_end(json);
    expect_failure(pim_json_write(json, stdout, &error), PIM_INTERNAL, &error,
                   "twice: this key stands twice");
    pim_json_destroy(json);

    json = pim_json_create();
    for (int i = 0; i < 70; i++)
        pim_json_begin_object(json, "a");
    for (int i = 0; i < 70; i++)
        pim_json_end(json);
    expect_failure(pim_json_write(json, stdout, &error), PIM_INTERNAL, &error, "nested deeper");
    pim_json_destroy(json);
}
END_TEST

static const struct {
    const char *text;
    size_t length; /* 0: of the text */
    const char *message;
} malformed[] = {
    {"{\"a\": 1,\n \"b\" 2}", 0, "spec.json:2:6: "},
    {"{\"a\": 1, \"a\": 2}", 0, "duplicate"},
    {"{} x", 0, "spec.json:1:4: end of file expected"},
    {"[9223372036854775808]", 0, "too big"},
    {"[1e999]", 0, "spec.json:1:6: real number overflow"},
    {"", 0, "spec.json:"},
    {"3", 0, "spec.json:1:1: '[' or '{' expected"},
    {"[\"a\0b\"]", 7, "spec.json:1:"},
    {"[\"\\u0000\"]", 0, "spec.json:1:"},
    {"[\"\xff\"]", 0, "spec.json:1:2: unable to decode byte 0xff"},
    {"[1, \x1b[31m]", 0, "near '?'"},
    {"{\"a\": [1, 2", 0, "spec.json:1:11: "},
};

START_TEST(malformed_is_refused)
{
    struct pim_error error = {0};
    json_t *value = json_true();
    size_t length = malformed[_i].length ? malformed[_i].length : strlen(malformed[_i].text);
    enum pim_status status = pim_json_parse("spec.json", malformed[_i].text, length, &value, &error);
    expect_failure(status, PIM_BAD_INPUT, &error, malformed[_i].message);
    ck_assert_ptr_null(value);
}
END_TEST

/* No nesting, however deep, exhausts the stack. */
START_TEST(deep_nesting)
{
    struct pim_error error = {0};
    json_t *value;
    char *text = malloc(1000000);
    ck_assert_ptr_nonnull(text);
    memset(text, '[', 1000000);
    expect_failure(pim_json_parse("deep", text, 1000000, &value, &error), PIM_BAD_INPUT, &error, "depth");
    free(text);
}
END_TEST

START_TEST(files)
{
    struct pim_error error = {0};
    struct scratch scratch;
    char path[512];
    json_t *value;
    scratch_make(&scratch);
    (void)scratch_path(&scratch, "a.json", path);
    expect_failure(pim_json_read(path, 100, &value, &error), PIM_IO, &error, "No such file");
    write_file(path, "{\"key\": [1, 2]}\n", 16);
    ck_assert_int_eq(pim_json_read(path, 16, &value, &error), PIM_OK);
    ck_assert_uint_eq(json_array_size(json_object_get(value, "key")), 2);
    json_decref(value);
    expect_failure(pim_json_read(path, 15, &value, &error), PIM_BAD_INPUT, &error, "larger than 15 bytes");
    ck_assert_ptr_null(value);
    expect_failure(pim_json_read(scratch.folder, 100, &value, &error), PIM_IO, &error, "directory");
    scratch_remove(&scratch);
}
END_TEST

static size_t allocations_left;

static void *allocate(size_t size)
{
    return allocations_left > 0 ? (allocations_left--, malloc(size)) : NULL;
}

/* Wherever memory ends, the message says so, and not that the key was wrong. */
START_TEST(memory_ends)
{
    unsigned ended = 0;
    json_set_alloc_funcs(allocate, free);
    for (size_t most = 0; most < 100; most++) {
        struct pim_error error = {0};
        allocations_left = SIZE_MAX;
        struct pim_json *json = pim_json_create();
        allocations_left = most;
        for (unsigned i = 0; i < 20; i++) {
            char key[16];
            (void)snprintf(key, sizeof key, "caf\xc3\xa9%u", i);
            pim_json_put_count(json, key, i);
        }
        allocations_left = SIZE_MAX;
        FILE *file = tmpfile();
        enum pim_status status = pim_json_write(json, file, &error);
        (void)fclose(file);
        ck_assert_msg(status == PIM_OK || status == PIM_NO_MEMORY, "%zu allocations: %s", most, error.text);
        ended += status == PIM_NO_MEMORY;
        pim_json_destroy(json);
    }
    struct pim_json *json = pim_json_create();
    struct pim_error error = {0};
    pim_json_put_count(json, "caf\xe9", 1);
    expect_failure(pim_json_write(json, stdout, &error), PIM_INTERNAL, &error, "no valid UTF-8");
    pim_json_destroy(json);
    json_set_alloc_funcs(malloc, free);
    ck_assert_uint_ge(ended, 20);
    ck_assert_uint_lt(ended, 100);
}
END_TEST

Suite *json_suite(void)
{
    Suite *suite = suite_create("json");
    TCase *json = tcase_create("json");
    tcase_add_test(json, document);
    tcase_add_test(json, reals_survive);
    tcase_add_test(json, text_is_repaired);
    tcase_add_test(json, errors_stick);
    tcase_add_loop_test(json, malformed_is_refused, 0, sizeof malformed / sizeof malformed[0]);
    tcase_add_test(json, memory_ends);
    tcase_add_test(json, deep_nesting);
    tcase_add_test(json, files);
    suite_add_tcase(suite, json);
    return suite;
}

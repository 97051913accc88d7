/* The golden cases (tests/data/overlap): everything under `expect`, value by value. */
#include "mappers/overlapim/analysis/case/case.h"
#include "sim/output/json.h"
#include "tests/unit/overlap/suites.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *report(const char *path, bool exhaustive)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_case kase;
    char *text = NULL;
    size_t length = 0;
    json_t *result = NULL;
    const struct pim_case_options options = {.json = true, .exhaustive = exhaustive};
    ck_assert_msg(pim_case_read(path, &kase, &error) == PIM_OK, "%s", error.text);
    FILE *file = open_memstream(&text, &length);
    ck_assert_ptr_nonnull(file);
    ck_assert_msg(pim_case_report(&kase, &options, file, &error) == PIM_OK, "%s: %s", path, error.text);
    (void)fclose(file);
    ck_assert_msg(pim_json_parse(path, text, length, &result, &error) == PIM_OK, "%s", error.text);
    free(text);
    pim_case_terminate(&kase);
    return result;
}

static void check(const char *path, bool exhaustive)
{
    struct pim_error error = {PIM_OK, ""};
    json_t *golden = NULL, *have = report(path, exhaustive), *value;
    const char *key;
    unsigned keys = 0;
    ck_assert_msg(pim_json_read(path, PIM_CASE_BYTES, &golden, &error) == PIM_OK, "%s", error.text);
    json_object_foreach(json_object_get(golden, "expect"), key, value)
    {
        keys++;
        ck_assert_msg(json_equal(value, json_object_get(have, key)), "%s: %s differs", path, key);
    }
    ck_assert_msg(keys >= 4, "%s: expects nothing", path);
    json_decref(golden);
    json_decref(have);
}

static void check_all(bool exhaustive)
{
    char folder[PATH_MAX];
    unsigned cases = 0;
    (void)pimsim_source_path(folder, sizeof folder, "tests/data/overlap");
    DIR *directory = opendir(folder);
    ck_assert_ptr_nonnull(directory);
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        char path[PATH_MAX];
        size_t length = strlen(entry->d_name);
        if (length < 5 || strcmp(entry->d_name + length - 5, ".json") != 0)
            continue;
        ck_assert_int_lt(snprintf(path, sizeof path, "%s/%s", folder, entry->d_name), PATH_MAX);
        check(path, exhaustive);
        cases++;
    }
    (void)closedir(directory);
    ck_assert_uint_eq(cases, 29);
}

START_TEST(by_analysis)
{
    check_all(false);
}
END_TEST

START_TEST(by_exhaustive_comparison)
{
    check_all(true);
}
END_TEST

Suite *golden_suite(void)
{
    Suite *suite = suite_create("golden");
    TCase *tests = tcase_create("golden");
    tcase_add_test(tests, by_analysis);
    tcase_add_test(tests, by_exhaustive_comparison);
    suite_add_tcase(suite, tests);
    return suite;
}

/*
 * The tables of docs/reference/run-json.md are those of models/system/results.def: each stands behind a line
 * "<!-- figures: NAME -->", is made here and held against the page. NAME is a member of the result ("run":
 * the figures at the top).
 */
#include "tests/unit/test_main.h"

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE "docs/reference/run-json.md"
#define MARK "<!-- figures: "

enum { DEPTH = 8, PAGE_BYTES = 1 << 20 };

/* What is open while rows go by. */
struct place {
    char part[DEPTH][40];
    unsigned depth;
};

static void open_part(struct place *place, const char *key, const char *ending)
{
    ck_assert_uint_lt(place->depth, DEPTH);
    (void)snprintf(place->part[place->depth], sizeof place->part[0], "%s%s.", key, ending);
    place->depth++;
}

/* A row, when it belongs to the table that is wanted. */
static void row(FILE *file, const struct place *place, const char *wanted, const char *key, const char *unit,
                const char *definition)
{
    const char *top = place->depth ? place->part[0] : "run";
    if (strncmp(top, wanted, strlen(wanted)) != 0 ||
        (place->depth && strchr("[.", top[strlen(wanted)]) == NULL))
        return;
    (void)fputs("| `", file);
    for (unsigned i = 0; i < place->depth; i++)
        (void)fputs(place->part[i], file);
    (void)fprintf(file, "%s` | %s | %s |\n", key, unit, definition);
}

static void print_table(FILE *file, const char *wanted)
{
    struct place place = {.depth = 0};
    (void)fputs("\n| key | unit | definition |\n|---|---|---|\n", file);
#define OBJECT(page, key) open_part(&place, key, "");
#define OBJECT_END place.depth--;
#define EACH(key, count, ...) open_part(&place, key, "[]");
#define EACH_END place.depth--;
#define COUNT(page, key, unit, definition, value) row(file, &place, wanted, key, unit, definition);
#define REAL(page, key, unit, definition, value) row(file, &place, wanted, key, unit, definition);
#define TEXT(page, key, unit, definition, value) row(file, &place, wanted, key, unit, definition);
#define HASH(page, key, unit, definition, value) row(file, &place, wanted, key, unit, definition);
#define FLAG(page, key, unit, definition, ...) row(file, &place, wanted, key, unit, definition);
#define MAYBE_COUNT(page, key, unit, definition, ...) row(file, &place, wanted, key, unit, definition);
#define MAYBE_REAL(page, key, unit, definition, ...) row(file, &place, wanted, key, unit, definition);
#define DEFINED(key, unit, definition) row(file, &place, wanted, key, unit, definition);
#define ROWS(key, unit, definition, statement) row(file, &place, wanted, key, unit, definition);
#include "models/system/results.def"
    ck_assert_uint_eq(place.depth, 0);
}

/* The page with its tables made anew. */
static char *make_page(const char *page)
{
    char *made = NULL;
    size_t size = 0;
    bool skipping = false;
    FILE *file = open_memstream(&made, &size);
    ck_assert_ptr_nonnull(file);
    for (const char *line = page; *line;) {
        const size_t length = strcspn(line, "\n") + 1;
        char wanted[40];
        const bool was = skipping, mark = sscanf(line, MARK "%39[a-z_] -->", wanted) == 1;
        skipping = mark || (skipping && (*line == '|' || *line == '\n'));
        if (was && !skipping)
            (void)fputc('\n', file);
        if (mark || !skipping)
            (void)fwrite(line, 1, length, file);
        if (mark)
            print_table(file, wanted);
        line += length;
    }
    ck_assert_int_eq(fclose(file), 0);
    return made;
}

/* Every member of the result has its table. */
static void expect_marks(const char *page)
{
    struct place place = {.depth = 0};
    char mark[64];
    ck_assert_ptr_nonnull(strstr(page, MARK "run -->"));
#define OPENED(key)                                                                                          \
    (void)snprintf(mark, sizeof mark, MARK "%s -->", key);                                                   \
    ck_assert_msg(place.depth > 0 || strstr(page, mark), PAGE " has no line '%s'", mark);                    \
    open_part(&place, key, "");
#define OBJECT(page, key) OPENED(key)
#define OBJECT_END place.depth--;
#define EACH(key, count, ...) OPENED(key)
#define EACH_END place.depth--;
#include "models/system/results.def"
}

START_TEST(page_of_results_is_current)
{
    char path[512], *page = calloc(1, PAGE_BYTES);
    ck_assert_ptr_nonnull(page);
    const bool writes = getenv("PIMSIM_WRITE_PAGES") != NULL;
    FILE *file = fopen(pimsim_source_path(path, sizeof path, PAGE), "rb");
    ck_assert_ptr_nonnull(file);
    const size_t size = fread(page, 1, PAGE_BYTES - 1, file);
    (void)fclose(file);
    ck_assert_uint_lt(size, PAGE_BYTES - 1);
    expect_marks(page);
    char *made = make_page(page);
    if (writes) {
        file = fopen(path, "wb");
        ck_assert_ptr_nonnull(file);
        (void)fputs(made, file);
        ck_assert_int_eq(fclose(file), 0);
    }
    ck_assert_msg(writes || strcmp(made, page) == 0,
                  PAGE " is out of date: run this test with PIMSIM_WRITE_PAGES=1 set");
    free(made);
    free(page);
}
END_TEST

void pimsim_suites(SRunner *runner)
{
    Suite *suite = suite_create("results_page");
    TCase *cases = tcase_create("page");
    tcase_add_test(cases, page_of_results_is_current);
    suite_add_tcase(suite, cases);
    srunner_add_suite(runner, suite);
}

/*
 * Packet lists measured on BookSim 2, or computed by another model of its rules (tests/data/noc/lists.csv),
 * each with its configuration as BookSim reads it: every column of every packet, on the routers that are
 * chosen and on the general ones.
 */
#include "tests/unit/booksim/suites.h"
#include "tests/unit/noc/lists.h"
#include "tests/unit/noc_oracle/oracle.h"

#include "models/booksim/booksim.h"
#include "sim/output/csv.h"

#include <stdio.h>
#include <string.h>

enum { LISTS = 45, MEASURED = 35 };

/* The text of a configuration; a network file is beside the lists. */
static void place_file(const char *text, char *placed, size_t size)
{
    static const char key[] = "network_file=";
    char path[1024];
    const char *file = strstr(text, key);
    size_t before = file ? (size_t)(file - text) + strlen(key) : strlen(text);
    (void)pimsim_source_path(path, sizeof path, "tests/data/noc");
    (void)snprintf(placed, size, "%.*s%s%s%s", (int)before, text, file ? path : "", file ? "/" : "",
                   text + before);
}

/* The row `index` of the table of lists; false behind the last one. */
static bool read_case(int index, char name[64], struct pim_booksim *booksim)
{
    static const char *const header[] = {"name", "draw", "booksim"};
    char path[1024];
    struct pim_csv_reader *reader;
    struct pim_error error = {.status = PIM_OK};
    bool more = true;
    if (pim_csv_open(&reader, pimsim_source_path(path, sizeof path, "tests/data/noc/lists.csv"), header, 3,
                     &error) != PIM_OK)
        ck_abort_msg("%s", error.text);
    for (int row = 0; row <= index && more; row++)
        if (pim_csv_next(reader, &more, &error) != PIM_OK)
            ck_abort_msg("%s", error.text);
    if (more) {
        char text[2048];
        place_file(pim_csv_text(reader, 2), text, sizeof text);
        (void)snprintf(name, 64, "%s", pim_csv_text(reader, 0));
        if (pim_booksim_parse(text, strlen(text), name, booksim, &error) != PIM_OK)
            ck_abort_msg("%s", error.text);
        if (pim_csv_text(reader, 1)[0] == '1')
            pim_booksim_fix_draws(booksim);
    }
    pim_csv_close(reader);
    return more;
}

START_TEST(measured_list)
{
    const int which = PIM_CASE(_i);
    char name[64];
    struct pim_booksim booksim;
    ck_assert(read_case(which % LISTS, name, &booksim));
    booksim.noc.general = which >= LISTS;
    struct list expected = list_read(name), found = list_copy(&expected);
    (void)list_run(&booksim.noc, &found, 499, NULL);
    list_expect_same(&expected, &found, name);
    list_free(&expected);
    list_free(&found);
}
END_TEST

/* The oracle of the networks gives all lists; every third measured one is tried, and all computed ones. */
START_TEST(oracle_gives_list)
{
    const int which = PIM_CASE(_i);
    char name[64];
    struct pim_booksim booksim;
    ck_assert(read_case(which < MEASURED / 3 ? 3 * which : MEASURED + which - MEASURED / 3, name, &booksim));
    struct list expected = list_read(name), found = list_copy(&expected);
    ck_assert(oracle_run(&booksim.noc, &found, NULL, NULL));
    list_expect_same(&expected, &found, name);
    list_free(&expected);
    list_free(&found);
}
END_TEST

START_TEST(no_list_left_out)
{
    char name[64];
    struct pim_booksim booksim;
    ck_assert(!read_case(LISTS, name, &booksim));
}
END_TEST

Suite *lists_suite(void)
{
    Suite *suite = suite_create("booksim_lists");
    TCase *tests = tcase_create("lists");
    tcase_add_loop_test(tests, measured_list, 0, PIM_CASES(2 * LISTS));
    tcase_add_loop_test(tests, oracle_gives_list, 0, PIM_CASES(MEASURED / 3 + LISTS - MEASURED));
    tcase_add_test(tests, no_list_left_out);
    suite_add_tcase(suite, tests);
    return suite;
}

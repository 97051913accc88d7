/* Lists of systems: what a row means, the line of what is wrong, and what is taken from a list by names. */
#include "tests/unit/api/support.h"
#include "tests/unit/systems/suites.h"
#include "tests/unit/test_main.h"
#include "tools/systems/list.h"

#include <stdio.h>
#include <string.h>

#define ROW(name)                                                                                            \
    name " = { title = \"T\"; mapper = \"m\"; hardware = \"h.cfg\"; bits = 8; technology = \"t\"; };\n"

static enum pim_status read_text(const char *text, struct pim_systems *systems, struct pim_error *error)
{
    char path[PATH_SIZE];
    *systems = (struct pim_systems){.rows = NULL};
    return pim_systems_read(file_of(path, "list.cfg", text, strlen(text)), systems, error);
}

START_TEST(test_rows)
{
    static const char text[] = "# two\n" ROW(
        "one") "two-b = { title = \"Second\"; mapper = \"pimcomp --mode ht\"; hardware = \"/abs.cfg\";\n"
               " measures = \"throughput\"; bits = 16; technology_nm = 32; technology = \"where\";\n"
               " area_mm2 = 85.4; area = \"there\"; energy = \"links alone\"; };\n";
    struct pim_systems systems;
    struct pim_error error = {PIM_OK, ""};
    char path[PATH_SIZE];
    ck_assert_msg(read_text(text, &systems, &error) == PIM_OK, "%s", error.text);
    ck_assert_uint_eq(systems.count, 2);
    const struct pim_system_row *one = &systems.rows[0], *two = &systems.rows[1];
    ck_assert_str_eq(one->name, "one");
    ck_assert_str_eq(one->hardware, temporary(path, "h.cfg"));
    ck_assert(!one->throughput && one->technology_nm == 0 && one->area_mm2 == 0 && !one->area);
    ck_assert_str_eq(two->name, "two-b");
    ck_assert_str_eq(two->title, "Second");
    ck_assert_str_eq(two->mapper, "pimcomp --mode ht");
    ck_assert_str_eq(two->hardware, "/abs.cfg");
    ck_assert(two->throughput && two->bits == 16 && two->technology_nm == 32);
    ck_assert_double_eq(two->area_mm2, 85.4);
    ck_assert_str_eq(two->area, "there");
    ck_assert_str_eq(two->energy, "links alone");
    ck_assert_ptr_null(one->energy);
    pim_systems_terminate(&systems);
}
END_TEST

START_TEST(test_what_is_wrong)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"a = { titel = \"x\"; };\n", ":1: titel: unknown key; the nearest is title"},
        {"a = {\n bits = 0; };\n", ":2: bits: an integer from 1 to 64"},
        {"a = {\n\n measures = \"speed\"; };\n", ":3: measures: \"latency\" or \"throughput\""},
        {"a = { area_mm2 = -1.0; };\n", ":1: area_mm2: a number above 0"},
        {"a = { title = 3; };\n", ":1: title: a text in quotes"},
        {"a = { title = \"x\"; };\n", ":1: a: title, mapper, hardware and bits are needed"},
        {"a = { title = \"T\"; mapper = \"m\"; hardware = \"h\"; bits = 8; };\n", ":1: a: technology: where"},
        {"a = 3;\n", ":1: a: a group is expected"},
        {ROW("a") ROW("a"), "a"},
        {"a = { title = \n", "list.cfg"},
        {"", "the list has no system"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pim_systems systems;
        struct pim_error error = {PIM_OK, ""};
        ck_assert_msg(read_text(cases[i].text, &systems, &error) == PIM_BAD_INPUT, "case %zu is taken", i);
        ck_assert_msg(strstr(error.text, cases[i].message) != NULL, "case %zu: %s", i, error.text);
        pim_systems_terminate(&systems);
    }
}
END_TEST

static void choose(const char *names, const char *expected)
{
    struct pim_systems systems;
    struct pim_error error = {PIM_OK, ""};
    char got[64] = "";
    ck_assert_int_eq(read_text(ROW("a1") ROW("b") ROW("a2") ROW("c"), &systems, &error), PIM_OK);
    if (pim_systems_choose(&systems, names, &error) != PIM_OK)
        (void)snprintf(got, sizeof got, "%.60s", error.text);
    for (size_t i = 0; error.status == PIM_OK && i < systems.count; i++)
        (void)snprintf(got + strlen(got), sizeof got - strlen(got), "%s ", systems.rows[i].name);
    ck_assert_msg(strncmp(got, expected, strlen(expected)) == 0, "%s gives \"%s\"", names, got);
    pim_systems_terminate(&systems);
}

START_TEST(test_names)
{
    choose("c,a1", "c a1 ");
    choose("a*", "a1 a2 ");
    choose("a2,a*,b", "a2 a1 b ");
    choose("b,b", "b ");
    choose("*", "a1 b a2 c ");
    choose("bb", "there is no system bb in the list");
    choose("aa1", "there is no system aa1 in the list; the nearest is a1");
    choose("c,", "c ");
    choose("", "no system is named");
}
END_TEST

Suite *list_suite(void)
{
    Suite *suite = suite_create("systems_list");
    TCase *tests = tcase_create("systems_list");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, test_rows);
    tcase_add_test(tests, test_what_is_wrong);
    tcase_add_test(tests, test_names);
    suite_add_tcase(suite, tests);
    return suite;
}

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, list_suite());
    srunner_add_suite(runner, terms_suite());
    srunner_add_suite(runner, area_keys_suite());
}

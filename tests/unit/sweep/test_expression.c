/* Constraints: what they mean, and where they are wrong. */
#include "tests/unit/sweep/suites.h"
#include "tests/unit/sweep/support.h"

#include <string.h>

/* Keys of these tests: numbers a = 6, b = 4, zero = 0; texts t = "flit", u = "ideal". */
static enum pim_status known(void *context, const char *name, bool *is_text, struct pim_error *error)
{
    (void)context;
    *is_text = strcmp(name, "t") == 0 || strcmp(name, "u") == 0;
    if (*is_text || strcmp(name, "a") == 0 || strcmp(name, "x.b_1") == 0 || strcmp(name, "zero") == 0)
        return PIM_OK;
    return pim_fail(error, PIM_BAD_INPUT, "%s: unknown key", name);
}

static struct pim_expression_value look_up(void *context, const char *name)
{
    (void)context;
    return (struct pim_expression_value){.text = strcmp(name, "t") == 0   ? "flit"
                                                 : strcmp(name, "u") == 0 ? "ideal"
                                                                          : NULL,
                                         .number = strcmp(name, "a") == 0       ? 6
                                                   : strcmp(name, "x.b_1") == 0 ? 4
                                                                                : 0};
}

static const struct {
    const char *text;
    bool value;
} good[] = {
    {"a > x.b_1", true},
    {"a<x.b_1", false},
    {"a >= 6 && a <= 6", true},
    {"a != 6 || x.b_1 == 4", true},
    {"a != 6 || x.b_1 == 4 && zero == 1", false}, /* && binds stronger */
    {"(a == 6 || x.b_1 == 4) && zero == 1", false},
    {"a == 6 || x.b_1 == 4 && zero == 1", true},
    {"1 + 2 * 3 == 7", true},
    {"(1 + 2) * 3 == 9", true},
    {"10 - 4 - 3 == 3", true}, /* from the left */
    {"16 / 4 / 2 == 2", true},
    {"a % x.b_1 == 2", true},
    {"-a + 7 == 1", true},
    {"!(a == 6)", false},
    {"!a == 7", true}, /* ! of the comparison */
    {"!!(a == 6)", true},
    {"t == \"flit\"", true},
    {"t != u", true},
    {"a * x.b_1 <= 2.4e1", true},
    {"\"a b\" == \"a b\"", true},
};

START_TEST(test_value)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_expression *expression;
    bool value = !good[_i].value;
    ck_assert_msg(pim_expression_create(good[_i].text, known, NULL, &expression, &error) == PIM_OK, "%s",
                  error.text);
    ck_assert_msg(pim_expression_evaluate(expression, look_up, NULL, &value, &error) == PIM_OK, "%s",
                  error.text);
    ck_assert_msg(value == good[_i].value, "%s", good[_i].text);
    ck_assert_str_eq(pim_expression_text(expression), good[_i].text);
    pim_expression_destroy(expression);
}
END_TEST

static const struct {
    const char *text, *message;
} bad[] = {
    {"", "at character 1: it ends where"},
    {"a", "the whole is no condition"},
    {"a * 2", "the whole is no condition"},
    {"a >", "at character 4: it ends where"},
    {"a > 1 2", "at character 7: an operator is expected"},
    {"(a > 1", ") is missing"},
    {"a > 1)", "an operator is expected"},
    {"nothing > 1", "nothing: unknown key"},
    {"t > \"a\"", "two texts by == or !="},
    {"t == 1", "two numbers are compared"},
    {"t + 1 == 2", "take numbers"},
    {"-t == 1", "- stands before what is no number"},
    {"!a", "! stands before what is no condition"},
    {"a && a == 6", "take conditions"},
    {"(a > 1) == (a > 2)", "two numbers are compared"},
    {"t == \"flit", "a quote is missing"},
    {"1 < 2 < 3", "an operator is expected"},
    {"a = 6", "an operator is expected"},
    {"1e999 > a", "not a number"},
    {"& > a", "is expected"},
};

START_TEST(test_refused)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_expression *expression;
    (void)pim_expression_create(bad[_i].text, known, NULL, &expression, &error);
    ck_assert_ptr_null(expression);
    expect_error(&error, PIM_BAD_INPUT, bad[_i].message);
}
END_TEST

START_TEST(test_division)
{
    static const char *const texts[] = {"a / zero > 1", "a % zero > 1"};
    struct pim_error error = {PIM_OK, ""};
    struct pim_expression *expression;
    bool value;
    ck_assert_int_eq(pim_expression_create(texts[_i], known, NULL, &expression, &error), PIM_OK);
    ck_assert_int_eq(pim_expression_evaluate(expression, look_up, NULL, &value, &error), PIM_BAD_INPUT);
    expect_error(&error, PIM_BAD_INPUT, "division by 0");
    pim_expression_destroy(expression);
}
END_TEST

/* Neither depth nor length of a text leads anywhere but to a message. */
START_TEST(test_hostile)
{
    static const char *const parts[] = {"(", "!", "-", "a+", "a>1&&", "\"\"=="};
    char text[20001] = "";
    struct pim_error error = {PIM_OK, ""};
    struct pim_expression *expression;
    size_t length = strlen(parts[_i]);
    for (size_t i = 0; i + length < sizeof text; i += length)
        memcpy(text + i, parts[_i], length + 1);
    ck_assert_int_eq(pim_expression_create(text, known, NULL, &expression, &error), PIM_BAD_INPUT);
    ck_assert_ptr_null(expression);
}
END_TEST

Suite *sweep_expression_suite(void)
{
    Suite *suite = suite_create("sweep_expression");
    TCase *cases = tcase_create("constraints");
    tcase_add_loop_test(cases, test_value, 0, sizeof good / sizeof good[0]);
    tcase_add_loop_test(cases, test_refused, 0, sizeof bad / sizeof bad[0]);
    tcase_add_loop_test(cases, test_division, 0, 2);
    tcase_add_loop_test(cases, test_hostile, 0, 6);
    suite_add_tcase(suite, cases);
    return suite;
}

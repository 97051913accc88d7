/* What is wrong with a case is named. */
#include "mappers/overlapim/analysis/case/case.h"
#include "tests/unit/overlap/suites.h"

#include <stdio.h>
#include <string.h>

#define LAYER(nest, cut) "{\"dims\":{\"K\":4,\"C\":4,\"P\":6},\"nest\":" nest ",\"cut\":" cut "}"
#define PLAIN LAYER("[[\"P\",6,\"T\"],[\"K\",4,\"S\"],[\"C\",4,\"T\"]]", "2")
#define PAIR(first, second, rest) "{\"producer\":" first ",\"consumer\":" second ",\"L1\":1,\"L2\":1" rest "}"

static const struct {
    const char *text, *message;
} refused[] = {
    {"", "holds no layer"},
    {"[]", "must be a mapping"},
    {"{}", "producer: must be a layer"},
    {PAIR(PLAIN, LAYER("[[\"P\",5,\"T\"],[\"K\",4,\"S\"],[\"C\",4,\"T\"]]", "2"), ""),
     "does not cover its layer: its loops over P make 5 of 6"},
    {PAIR(PLAIN, LAYER("[[\"P\",7,\"T\"],[\"K\",4,\"S\"],[\"C\",4,\"T\"]]", "2"), ""),
     "its last iterations do not exist, P has 6"},
    {PAIR(PLAIN, LAYER("[[\"P\",6,\"T\"],[\"K\",4,\"X\"],[\"C\",4,\"T\"]]", "2"), ""), "nest[1] must be"},
    {PAIR(PLAIN, LAYER("[[\"P\",6,\"T\"],[\"K\",4,\"S\"],[\"C\",4,\"T\"]]", "4"), ""), "cut behind loop 4"},
    {PAIR(PLAIN, PLAIN, ",\"link\":{\"pol\":[2,2,0]}"), "\"pol\": a link has pool"},
    {PAIR(PLAIN, PLAIN, ",\"link\":{\"pool\":[2,2,2]}"), "padding below the kernel"},
    {PAIR(PLAIN, PLAIN, ",\"link\":{\"producer\":1}"), "reads from a layer that is not before it"},
    {PAIR(PLAIN, "{\"dims\":{\"K\":4,\"C\":3},\"nest\":[[\"K\",4,\"S\"],[\"C\",3,\"T\"]],\"cut\":2}", ""),
     "makes 4 channels from channel 0, its consumer reads 3"},
    {PAIR(PLAIN, PLAIN, ",\"link\":[]"), "link: a pair needs a link"},
    {PAIR(PLAIN, PLAIN, ",\"X\":-1"), "X: must be a number of ticks"},
    {PAIR(PLAIN, PLAIN, ",\"what\":1"), "unknown key \"what\""},
    {"layer a\nfor P in [0:2)\n", "its last iterations do not exist"},
    {"layer a\nsize P 2\nfor P in [0,2)\n", "must be \"for D in [0:n)\""},
    {"size P 2\n", "begins with a line \"layer NAME\""},
    {"layer a\nsize P 2\n", "does not cover its layer"},
    {"layer a\nlayer a\n", "the name is there already"},
    {"layer a\nlayer b\nafter c\n", "no layer before this one has that name"},
    {"layer a\nlatency 0\n", "a step of 0 ticks"},
    {"layer a\ngroups 2\n", "groups is 2: it must divide K"},
};

START_TEST(refusals)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_case kase;
    enum pim_status status =
        pim_case_parse("case", refused[_i].text, strlen(refused[_i].text), &kase, &error);
    if (strcmp(refused[_i].message, "must be a mapping") == 0) { /* an array is read as a mapping */
        ck_assert(status == PIM_BAD_INPUT);
        return;
    }
    ck_assert_msg(status == PIM_BAD_INPUT, "accepted: %s", refused[_i].text);
    ck_assert_msg(strstr(error.text, refused[_i].message), "said: %s", error.text);
    ck_assert_ptr_null(kase.layer);
}
END_TEST

Suite *refusal_suite(void)
{
    Suite *suite = suite_create("refusal");
    TCase *tests = tcase_create("refusal");
    tcase_add_loop_test(tests, refusals, 0, sizeof refused / sizeof refused[0]);
    suite_add_tcase(suite, tests);
    return suite;
}

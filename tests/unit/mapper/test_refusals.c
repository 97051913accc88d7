/* Options of mappers that do nothing beside others are refused, whatever their values: in every context each
 * row of the table is either among those that are refused or is taken. */
#include "mappers/mappers.h"
#include "tests/unit/test_main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEARCH "preset budget time-limit profile start-from rank "

static const struct context {
    const char *mapper, *given[3];
    const char *refused; /* rows beside `given`; blanks around each */
} contexts[] = {
    {"allspark", {NULL}, " solver "},
    {"allspark", {"scheduler=ilp"}, " "},
    {"allspark", {"plan=x"}, " solver partition "},
    {"allspark", {"plan=x", "partition=B"}, " all "},
    {"allspark", {"ring=2"}, " solver "},
    {"allspark", {"ring=2", "copies=best"}, " all "},
    {"overlapim", {NULL}, " "},
    {"overlapim", {"objective=transform"}, " check-values "},
    {"overlapim", {"objective=ahead"}, " "},
    {"overlapim", {"objective=ahead", "check-values"}, " rows "},
    {"overlapim", {"objective=ahead", "check-values", "rows=real"}, " "},
    {"nicepim", {NULL}, " "},
    {"nicepim", {"mapping=serial"}, " "},
    {"nicepim", {"mapping=parallel"}, " "},
    {"nicepim", {"mapping=sequential"}, " objective "},
    {"nicepim", {"mapping=ddam"}, " objective "},
    {"pimcomp", {NULL}, " transmit-threshold keep-pixels "},
    {"pimcomp", {"check-values"}, " transmit-threshold keep-pixels "},
    {"pimcomp", {"profile=0"}, " transmit-threshold keep-pixels rank plan "},
    {"pimcomp", {"mode=ll"}, " batch reuse no-grouping no-keeping "},
    {"pimcomp", {"mode=ll", "keep-pixels"}, " batch reuse no-grouping no-keeping profile rank check-values "},
    {"pimcomp", {"layout=balance"}, " transmit-threshold keep-pixels seed plan " SEARCH},
    {"pimcomp", {"layout=first", "check-values"}, " transmit-threshold keep-pixels plan " SEARCH},
    {"pimcomp", {"plan=x"}, " transmit-threshold keep-pixels seed layout cut " SEARCH},
    {"pimcomp", {"plan=x", "check-values"}, " transmit-threshold keep-pixels layout cut " SEARCH},
    {"pimcomp", {"mode=ll", "plan=x"}, " batch reuse no-grouping no-keeping seed layout cut " SEARCH},
    {"pimcomp",
     {"baseline=songc"},
     " transmit-threshold keep-pixels batch no-grouping seed plan layout cut " SEARCH},
    {"pimcomp",
     {"mode=ll", "baseline=songc"},
     " transmit-threshold keep-pixels batch reuse no-grouping no-keeping seed plan layout cut " SEARCH},
    {"pimcomp",
     {"mode=ll", "baseline=puma"},
     " batch reuse no-grouping no-keeping seed plan layout cut " SEARCH},
    {"pimcomp",
     {"baseline=polyhedral", "check-values"},
     " transmit-threshold keep-pixels plan layout cut " SEARCH},
    {"conflict", {NULL}, " group populations epochs weights judge "},
    {"conflict", {"mapping=capped-groups"}, " populations epochs weights judge "},
    {"conflict", {"mapping=nsga2"}, " populations epochs weights judge "},
    {"conflict", {"finalists=0"}, " refine searches log group populations epochs weights judge "},
    {"conflict",
     {"finalists=0", "fitness=simulation"},
     " refine searches group populations epochs weights judge "},
    {"conflict", {"fitness=gcn", "weights=x"}, " group populations epochs train "},
    {"conflict", {"weights=x", "judge"}, " group epochs train "},
    {"conflict", {"train=x"}, " group weights judge "},
    {"conflict",
     {"mapping=snake"},
     " fitness finalists refine searches log seed population generations group populations epochs weights "
     "judge "},
    {"conflict",
     {"mapping=snake", "weights=x", "judge"},
     " fitness finalists refine searches log group epochs train "},
    {"conflict", {"mapping=snake", "train=x"}, " fitness finalists refine searches log group weights judge "},
};

/* A value of the option that leaves the context as it is: the default, where a user can give it. */
static void value_of(const struct pim_option_table *table, const struct pim_option *row, char text[128])
{
    const char *member = (const char *)table->defaults + row->offset;
    uint64_t count;
    unsigned choice;
    int length = snprintf(text, 128, "%s", row->name);
    switch (row->kind) {
    case PIM_OPTION_FLAG:
        break;
    case PIM_OPTION_TEXT:
        (void)snprintf(text + length, 128 - (size_t)length, "=%s", "x");
        break;
    case PIM_OPTION_CHOICE: {
        const char *name = row->choices;
        memcpy(&choice, member, sizeof choice);
        while (choice-- > 0)
            name = strchr(name, '|') + 1;
        (void)snprintf(text + length, 128 - (size_t)length, "=%.*s", (int)strcspn(name, "|"), name);
        break;
    }
    case PIM_OPTION_COUNT:
        memcpy(&count, member, sizeof count);
        count = count < row->minimum || count > row->maximum ? 1 : count;
        (void)snprintf(text + length, 128 - (size_t)length, "=%llu", (unsigned long long)count);
        break;
    case PIM_OPTION_REAL:
        (void)snprintf(text + length, 128 - (size_t)length, "=%g", row->real_minimum);
        break;
    }
}

static bool names(const char *list, const char *name)
{
    char word[64];
    (void)snprintf(word, sizeof word, " %s ", name);
    return strstr(list, word) != NULL;
}

static bool stands_in(const struct context *context, const char *name)
{
    for (size_t i = 0; i < 3 && context->given[i]; i++)
        if (strcspn(context->given[i], "=") == strlen(name) &&
            strncmp(context->given[i], name, strlen(name)) == 0)
            return true;
    return false;
}

static void give(const struct pim_mapper *mapper, const char *text, void *options)
{
    struct pim_error error;
    ck_assert_msg(pim_option_assign(&mapper->options, mapper->name, text, options, &error) == PIM_OK, "%s",
                  error.text);
}

START_TEST(options_that_do_nothing_are_refused)
{
    const struct context *context = &contexts[_i];
    const struct pim_mapper *mapper;
    struct pim_error error;
    ck_assert_int_eq(pim_mapper_find(context->mapper, &mapper, &error), PIM_OK);
    size_t refused = 0;
    for (size_t r = 0; r < mapper->options.count; r++) {
        const struct pim_option *row = &mapper->options.rows[r];
        char text[128];
        if (stands_in(context, row->name))
            continue;
        void *options = pim_mapper_options(mapper);
        for (size_t i = 0; i < 3 && context->given[i]; i++)
            give(mapper, context->given[i], options);
        value_of(&mapper->options, row, text);
        give(mapper, text, options);
        bool expected = names(context->refused, row->name) || names(context->refused, "all");
        refused += expected;
        error = (struct pim_error){.status = PIM_OK};
        enum pim_status status = mapper->accept(options, false, &error);
        ck_assert_msg(status == (expected ? PIM_USAGE : PIM_OK), "%s %s %s %s, --%s: %s", context->mapper,
                      context->given[0] ? context->given[0] : "", context->given[1] ? context->given[1] : "",
                      context->given[2] ? context->given[2] : "", text,
                      expected ? "not refused" : error.text);
        ck_assert_msg(!expected || strstr(error.text, "--") == error.text, "%s", error.text);
        free(options);
    }
    for (const char *c = context->refused; *c; c++)
        refused -= *c == ' ' && c[1] != '\0' && !names(context->refused, "all");
    ck_assert_msg(names(context->refused, "all") || refused == 0, "a name that is no row of %s, or given",
                  context->mapper);
}
END_TEST

/* Every mapper that has options to refuse has a context here. */
START_TEST(every_mapper_is_tried)
{
    const struct pim_mapper *mapper;
    for (size_t m = 0; (mapper = pim_mapper_at(m)) != NULL; m++) {
        bool found = false;
        for (size_t i = 0; i < sizeof contexts / sizeof contexts[0]; i++)
            found = found || strcmp(contexts[i].mapper, mapper->name) == 0;
        ck_assert_msg(found && mapper->accept, "%s", mapper->name);
    }
}
END_TEST

void pimsim_suites(SRunner *runner)
{
    Suite *suite = suite_create("refusals");
    TCase *cases = tcase_create("options");
    tcase_add_loop_test(cases, options_that_do_nothing_are_refused, 0,
                        (int)(sizeof contexts / sizeof contexts[0]));
    tcase_add_test(cases, every_mapper_is_tried);
    suite_add_tcase(suite, cases);
    srunner_add_suite(runner, suite);
}

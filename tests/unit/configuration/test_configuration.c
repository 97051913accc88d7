/* Values, defaults, origins, assignments, canonical text and hash. */
#include "sim/configuration/internal.h"
#include "sim/nearest.h"
#include "tests/unit/configuration/test_schema.h"
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct pim_key keys[] = {
    {"name", PIM_KEY_TEXT, "\"unnamed\"", 0, 0, NULL, "", "A name."},
    {"noc.width", PIM_KEY_INTEGER, NULL, 1, 64, NULL, "nodes", "Nodes in a row."},
    {"noc.link_bits", PIM_KEY_INTEGER, "64", 1, 4096, NULL, "bits", "Width of a link."},
    {"dram.trcd_ns", PIM_KEY_REAL, "18", 0, 10000, NULL, "ns", "ACT to RD."},
    {"noc.routing", PIM_KEY_CHOICE, "xy", 0, 0, "xy|yx|o1turn", "", "Routing function."},
    {"dram.rows", PIM_KEY_INTEGER, "8192", -9007199254740992.0, 9007199254740992.0, NULL, "rows", "Rows."},
    {"dram.refresh", PIM_KEY_BOOLEAN, "true", 0, 0, NULL, "", "Refresh."},
    {"energy.scale", PIM_KEY_REAL, "1.0", -1e308, 1e308, NULL, "", "Scale."},
    {"dram.timing.banks", PIM_KEY_INTEGER, "4", 1, 64, NULL, "", "Three parts of a path."},
    {"depths", PIM_KEY_INTEGER_LIST, "[2, 2, 6, 2]", 1, 5000000000.0, NULL, "blocks",
     "Blocks of each stage."},
};
static const struct pim_key inner_keys[] = {
    {"noc.depth", PIM_KEY_INTEGER, "1", 1, 64, NULL, "nodes", "What a text holds."},
    {"depth", PIM_KEY_INTEGER, "1", 1, 64, NULL, "nodes", "The same in no group."}};
static const struct pim_schema inner_schema = {
    .name = "inner", .text = "", .keys = inner_keys, .count = sizeof inner_keys / sizeof inner_keys[0]};
const struct pim_schema test_schema = {.name = "test",
                                       .text = "A schema for tests.",
                                       .keys = keys,
                                       .count = sizeof keys / sizeof keys[0],
                                       .inner = &inner_schema,
                                       .place = "name"};

struct pim_configuration *make_configuration(void)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_configuration *configuration = NULL;
    ck_assert_msg(pim_configuration_create(&test_schema, &configuration, &error) == PIM_OK, "%s", error.text);
    return configuration;
}

void read_good(struct pim_configuration *configuration, const char *text)
{
    struct pim_error error = {PIM_OK, ""};
    enum pim_status status = pim_configuration_read_text(configuration, "a.cfg", text, strlen(text), &error);
    ck_assert_msg(status == PIM_OK, "%s", error.text);
}

static void set_good(struct pim_configuration *configuration, const char *assignment)
{
    struct pim_error error = {PIM_OK, ""};
    enum pim_status status = pim_configuration_set(configuration, assignment, &error);
    ck_assert_msg(status == PIM_OK, "%s", error.text);
}

START_TEST(defaults)
{
    struct pim_configuration *configuration = make_configuration();
    const int64_t *list = NULL;
    ck_assert_int_eq(pim_configuration_integer(configuration, "noc.link_bits"), 64);
    ck_assert_double_eq(pim_configuration_real(configuration, "dram.trcd_ns"), 18.0);
    ck_assert(pim_configuration_boolean(configuration, "dram.refresh"));
    ck_assert_uint_eq(pim_configuration_choice(configuration, "noc.routing"), 0);
    ck_assert_str_eq(pim_configuration_text(configuration, "name"), "unnamed");
    ck_assert_uint_eq(pim_configuration_list(configuration, "depths", &list), 4);
    ck_assert_int_eq(list[2], 6);
    ck_assert(!pim_configuration_given(configuration, "noc.link_bits"));
    ck_assert(!pim_configuration_given(configuration, "noc.width"));
    pim_configuration_destroy(configuration);
}
END_TEST

START_TEST(values_of_a_text)
{
    struct pim_configuration *configuration = make_configuration();
    struct pim_error error = {PIM_OK, ""};
    const int64_t *list = NULL;
    read_good(
        configuration,
        "# a comment { [ \"\n/* another } \n*/ name = \"a \\\"b\\\" # \\\\ \" \"\\xc3\\xa9\"; // end\r\n"
        "noc : { width = 0x10, routing = \"o1turn\" link_bits = 32L; }\n"
        "dram = { trcd_ns = 20; rows = 3000000000; refresh = FALSE; timing = { banks = 8 } };\n"
        "energy = { scale = 1e5 }; depths = ( 1, 0xFFFFFFFF, 3 );");
    ck_assert_str_eq(pim_configuration_text(configuration, "name"), "a \"b\" # \\ \xc3\xa9");
    ck_assert_int_eq(pim_configuration_integer(configuration, "noc.width"), 16);
    ck_assert_uint_eq(pim_configuration_choice(configuration, "noc.routing"), 2);
    ck_assert_int_eq(pim_configuration_integer(configuration, "noc.link_bits"), 32);
    ck_assert_double_eq(pim_configuration_real(configuration, "dram.trcd_ns"), 20.0);
    ck_assert(pim_configuration_integer(configuration, "dram.rows") == 3000000000);
    ck_assert(!pim_configuration_boolean(configuration, "dram.refresh"));
    ck_assert_int_eq(pim_configuration_integer(configuration, "dram.timing.banks"), 8);
    ck_assert_double_eq(pim_configuration_real(configuration, "energy.scale"), 1e5);
    ck_assert_uint_eq(pim_configuration_list(configuration, "depths", &list), 3);
    ck_assert(list[1] == 4294967295);
    ck_assert(pim_configuration_given(configuration, "noc.width"));
    ck_assert_int_eq(pim_configuration_complete(configuration, &error), PIM_OK);
    pim_configuration_destroy(configuration);
}
END_TEST

/* Literals around the places where libconfig 1.5 alone would wrap, each with its value. */
static const struct {
    const char *literal;
    double value;
} literals[] = {
    {"2147483647", 2147483647.0},
    {"2147483648", 2147483648.0},
    {"-2147483649", -2147483649.0},
    {"4294967296", 4294967296.0},
    {"9007199254740992", 9007199254740992.0},
    {"-9007199254740992L", -9007199254740992.0},
    {"0x7fffffff", 2147483647.0},
    {"0x80000000", 2147483648.0},
    {"0xFFFFFFFFLL", 4294967295.0},
    {"-0x10", -16.0},
    {"+7", 7.0},
    {"0", 0.0},
};

START_TEST(integer_literals)
{
    struct pim_configuration *configuration = make_configuration();
    char text[128];
    (void)snprintf(text, sizeof text, "dram = { rows = %s; };", literals[_i].literal);
    read_good(configuration, text);
    ck_assert_double_eq((double)pim_configuration_integer(configuration, "dram.rows"), literals[_i].value);
    (void)snprintf(text, sizeof text, "energy = { scale = %s; };", literals[_i].literal);
    read_good(configuration, text);
    ck_assert_double_eq(pim_configuration_real(configuration, "energy.scale"), literals[_i].value);
    pim_configuration_destroy(configuration);
}
END_TEST

static const struct {
    const char *literal;
    double value;
} reals[] = {{"1e5", 1e5},    {"1E-3", 1e-3}, {"-2.5e+2", -250.0}, {".5", 0.5},
             {"-.5", -0.5},   {"3.", 3.0},    {"0.1", 0.1},        {"1.e2", 100.0},
             {"+4.25", 4.25}, {"-0.0", 0.0},  {"5e-324", 5e-324},  {"1e308", 1e308}};

START_TEST(real_literals)
{
    struct pim_configuration *configuration = make_configuration();
    char text[128];
    (void)snprintf(text, sizeof text, "energy = { scale = %s; };", reals[_i].literal);
    read_good(configuration, text);
    ck_assert_double_eq(pim_configuration_real(configuration, "energy.scale"), reals[_i].value);
    ck_assert(!signbit(pim_configuration_real(configuration, "energy.scale")) || reals[_i].value < 0);
    pim_configuration_destroy(configuration);
}
END_TEST

START_TEST(assignments)
{
    struct pim_configuration *configuration = make_configuration();
    const int64_t *list = NULL;
    read_good(configuration, "noc = { width = 2; };");
    set_good(configuration, "noc.width=0x20");
    set_good(configuration, " noc.routing = yx");
    set_good(configuration, "name=a \"quoted\" \\ name=b");
    set_good(configuration, "dram.trcd_ns=1e2");
    set_good(configuration, "depths=3,4");
    ck_assert_int_eq(pim_configuration_integer(configuration, "noc.width"), 32);
    ck_assert_uint_eq(pim_configuration_choice(configuration, "noc.routing"), 1);
    ck_assert_str_eq(pim_configuration_text(configuration, "name"), "a \"quoted\" \\ name=b");
    ck_assert_double_eq(pim_configuration_real(configuration, "dram.trcd_ns"), 100.0);
    ck_assert_uint_eq(pim_configuration_list(configuration, "depths", &list), 2);
    ck_assert_int_eq(list[1], 4);
    set_good(configuration, "depths=[5]");
    set_good(configuration, "name=");
    set_good(configuration, "noc.routing=\"xy\"");
    ck_assert_uint_eq(pim_configuration_list(configuration, "depths", &list), 1);
    ck_assert_str_eq(pim_configuration_text(configuration, "name"), "");
    ck_assert_uint_eq(pim_configuration_choice(configuration, "noc.routing"), 0);
    set_good(configuration, "depths=");
    ck_assert_uint_eq(pim_configuration_list(configuration, "depths", &list), 0);
    pim_configuration_destroy(configuration);
}
END_TEST

START_TEST(later_value_wins_and_keeps_its_origin)
{
    struct pim_configuration *configuration = make_configuration();
    struct pim_error error = {PIM_OK, ""};
    read_good(configuration, "noc = { width = 2;\n link_bits = 8; };");
    const char *second = "\n\nnoc = {\n\n width = 3; };";
    ck_assert_int_eq(pim_configuration_read_text(configuration, "b.cfg", second, strlen(second), &error),
                     PIM_OK);
    ck_assert_int_eq(pim_configuration_integer(configuration, "noc.width"), 3);
    ck_assert_int_eq(pim_configuration_integer(configuration, "noc.link_bits"), 8);
    ck_assert_int_eq(pim_configuration_fail(configuration, &error, "noc.width", "must divide %d", 16),
                     PIM_BAD_INPUT);
    ck_assert_str_eq(error.text, "b.cfg:5: noc.width: must divide 16");
    (void)pim_configuration_fail(configuration, &error, "noc.link_bits", "x");
    ck_assert_str_eq(error.text, "a.cfg:2: noc.link_bits: x");
    (void)pim_configuration_fail(configuration, &error, "dram.rows", "x");
    ck_assert_str_eq(error.text, "default: dram.rows: x");
    set_good(configuration, "dram.rows=1");
    (void)pim_configuration_fail(configuration, &error, "dram.rows", "x");
    ck_assert_str_eq(error.text, "command line: dram.rows: x");
    pim_configuration_destroy(configuration);
}
END_TEST

START_TEST(canonical_text)
{
    struct pim_configuration *configuration = make_configuration();
    read_good(
        configuration,
        "noc = { width = 4; }; dram = { rows = 3000000000; trcd_ns = 2.5e-7; };\nname = \"a\\\\\\\"\";");
    set_good(configuration, "depths=5000000000,1");
    char *text = pim_configuration_write(configuration, false);
    ck_assert_str_eq(text, "name = \"a\\\\\\\"\";\n"
                           "noc = {\n    width = 4;\n    link_bits = 64;\n    routing = \"xy\";\n};\n"
                           "dram = {\n    trcd_ns = 2.5e-07;\n    rows = 3000000000L;\n    refresh = true;\n"
                           "    timing = {\n        banks = 4;\n    };\n};\n"
                           "energy = {\n    scale = 1.0;\n};\n"
                           "depths = [5000000000L, 1L];\n");
    free(text);
    text = pim_configuration_write(configuration, true);
    ck_assert_ptr_nonnull(strstr(text, "width = 4;  # nodes; a.cfg:1\n"));
    ck_assert_ptr_nonnull(strstr(text, "routing = \"xy\";  # default\n"));
    ck_assert_ptr_nonnull(strstr(text, "depths = [5000000000L, 1L];  # blocks; command line\n"));
    struct pim_configuration *again = make_configuration();
    read_good(again, text);
    ck_assert(pim_configuration_hash(again) == pim_configuration_hash(configuration));
    set_good(again, "noc.link_bits=63");
    ck_assert(pim_configuration_hash(again) != pim_configuration_hash(configuration));
    set_good(again, "noc.link_bits=64");
    ck_assert(pim_configuration_hash(again) == pim_configuration_hash(configuration));
    free(text);
    pim_configuration_destroy(again);
    pim_configuration_destroy(configuration);
}
END_TEST

/* A required key without a value is left out, and with it a group that would be empty. */
START_TEST(canonical_text_without_values)
{
    static const struct pim_key required[] = {{"a.b", PIM_KEY_INTEGER, NULL, 0, 9, NULL, "", ""},
                                              {"c", PIM_KEY_INTEGER, "1", 0, 9, NULL, "", ""}};
    const struct pim_schema schema = {.name = "small", .text = "", .keys = required, .count = 2};
    struct pim_configuration *configuration = NULL;
    struct pim_error error = {PIM_OK, ""};
    ck_assert_int_eq(pim_configuration_create(&schema, &configuration, &error), PIM_OK);
    char *text = pim_configuration_write(configuration, false);
    ck_assert_str_eq(text, "c = 1;\n");
    free(text);
    ck_assert_int_eq(pim_configuration_complete(configuration, &error), PIM_BAD_INPUT);
    ck_assert_str_eq(
        error.text,
        "no file was read: the small configuration lacks 1 required key: a.b (an integer from 0 to 9)");
    pim_configuration_destroy(configuration);
}
END_TEST

/* Random values of all types survive writing and reading, bit for bit. */
START_TEST(round_trip_property)
{
    uint64_t seed = 0x243f6a8885a308d3u;
    printf("seed %llu\n", (unsigned long long)seed);
    struct pim_configuration *one = make_configuration(), *two = make_configuration();
    for (int i = 0; i < 300; i++) {
        char assignment[256];
        double real;
        uint64_t bits;
        do {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            bits = seed ^ seed >> 29;
            memcpy(&real, &bits, sizeof real);
        } while (!(fabs(real) < 1e308));
        (void)snprintf(assignment, sizeof assignment, "energy.scale=%.17g", real);
        set_good(one, assignment);
        (void)snprintf(assignment, sizeof assignment, "dram.rows=%lld",
                       (long long)(bits >> 11) * (bits & 1 ? 1 : -1));
        set_good(one, assignment);
        (void)snprintf(assignment, sizeof assignment, "noc.width=%u", (unsigned)(bits % 64 + 1));
        set_good(one, assignment);
        char *text = pim_configuration_write(one, i % 2 == 0);
        read_good(two, text);
        free(text);
        double a = pim_configuration_real(one, "energy.scale"),
               b = pim_configuration_real(two, "energy.scale");
        ck_assert(memcmp(&a, &b, sizeof a) == 0 && a == real);
        ck_assert(pim_configuration_integer(one, "dram.rows") == pim_configuration_integer(two, "dram.rows"));
        ck_assert(pim_configuration_hash(one) == pim_configuration_hash(two));
    }
    pim_configuration_destroy(one);
    pim_configuration_destroy(two);
}
END_TEST

/* The same where the key in ns has the default. */
START_TEST(two_units_with_ns_first)
{
    static const struct pim_key units[] = {{"t.a_ns", PIM_KEY_REAL, "2.5", 0, 9, NULL, "ns", ""},
                                           {"t.a", PIM_KEY_INTEGER, "", 0, 9, NULL, "cycles", ""},
                                           {"t.b_ns", PIM_KEY_REAL, "1", 0, 9, NULL, "ns", ""}};
    const struct pim_schema schema = {.name = "small", .text = "", .keys = units, .count = 3};
    struct pim_configuration *configuration = NULL;
    struct pim_error error = {PIM_OK, ""};
    ck_assert_int_eq(pim_configuration_create(&schema, &configuration, &error), PIM_OK);
    ck_assert_int_eq(pim_configuration_complete(configuration, &error), PIM_OK);
    ck_assert(pim_configuration_holds(configuration, "t.a_ns"));
    ck_assert(!pim_configuration_holds(configuration, "t.a"));
    set_good(configuration, "t.a=4");
    ck_assert_int_eq(pim_configuration_complete(configuration, &error), PIM_OK);
    ck_assert(!pim_configuration_holds(configuration, "t.a_ns"));
    ck_assert_int_eq(pim_configuration_integer(configuration, "t.a"), 4);
    set_good(configuration, "t.a_ns=1.5");
    ck_assert(!pim_configuration_holds(configuration, "t.a"));
    ck_assert(pim_configuration_real(configuration, "t.a_ns") == 1.5);
    ck_assert(pim_configuration_same_quantity(&schema, "t.a", "t.a_ns"));
    ck_assert(pim_configuration_same_quantity(&schema, "t.a_ns", "t.a"));
    ck_assert(!pim_configuration_same_quantity(&schema, "t.a", "t.b_ns"));
    ck_assert(!pim_configuration_same_quantity(&schema, "t.a", "t.a"));
    ck_assert(!pim_configuration_same_quantity(&schema, "t.b_ns", "t.a"));
    pim_configuration_destroy(configuration);
}
END_TEST

/* One quantity in cycles or in ns: the later says it, and takes the other's value away. */
START_TEST(two_units)
{
    static const struct pim_key units[] = {{"t.a", PIM_KEY_INTEGER, "3", 0, 9, NULL, "cycles", ""},
                                           {"t.a_ns", PIM_KEY_REAL, "", 0, 9, NULL, "ns", ""}};
    static const char both[] = "t = {\n a = 4;\n a_ns = 1.5; };", cycles[] = "t = { a = 5; };";
    const struct pim_schema schema = {.name = "small", .text = "", .keys = units, .count = 2};
    struct pim_configuration *configuration = NULL;
    struct pim_error error = {PIM_OK, ""};
    ck_assert_int_eq(pim_configuration_create(&schema, &configuration, &error), PIM_OK);
    ck_assert_int_eq(pim_configuration_complete(configuration, &error), PIM_OK);
    ck_assert(!pim_configuration_given(configuration, "t.a_ns"));
    set_good(configuration, "t.a_ns=2.5");
    char *text = pim_configuration_write(configuration, false);
    ck_assert_str_eq(text, "t = {\n    a_ns = 2.5;\n};\n");
    ck_assert_int_eq(pim_configuration_complete(configuration, &error), PIM_OK);
    read_good(configuration, cycles);
    ck_assert(!pim_configuration_given(configuration, "t.a_ns"));
    ck_assert_int_eq(pim_configuration_integer(configuration, "t.a"), 5);
    read_good(configuration, text);
    ck_assert(!pim_configuration_given(configuration, "t.a"));
    ck_assert(pim_configuration_real(configuration, "t.a_ns") == 2.5);
    free(text);
    ck_assert_int_eq(pim_configuration_read_text(configuration, "b", both, strlen(both), &error),
                     PIM_BAD_INPUT);
    ck_assert_str_eq(error.text, "b:3: t.a_ns: t.a in line 2 says the same: remove one of them");
    pim_configuration_destroy(configuration);
}
END_TEST

/* Which of two keys was set behind the other. */
START_TEST(later_settings)
{
    static const struct pim_key three[] = {{"t.a", PIM_KEY_INTEGER, "3", 0, 9, NULL, "", ""},
                                           {"t.b", PIM_KEY_INTEGER, "3", 0, 9, NULL, "", ""},
                                           {"t.c", PIM_KEY_INTEGER, NULL, 0, 9, NULL, "", ""}};
    static const char first[] = "t = { b = 4; };", second[] = "t = { c = 2; a = 4; };";
    const struct pim_schema schema = {.name = "small", .text = "", .keys = three, .count = 3};
    struct pim_configuration *configuration = NULL;
    struct pim_error error = {PIM_OK, ""};
    ck_assert_int_eq(pim_configuration_create(&schema, &configuration, &error), PIM_OK);
    ck_assert(!pim_configuration_later(configuration, "t.a", "t.b"));
    ck_assert(!pim_configuration_later(configuration, "t.b", "t.a"));
    ck_assert(pim_configuration_later(configuration, "t.a", "t.c"));     /* which has no value */
    ck_assert(!pim_configuration_in_spite(configuration, "t.a", "t.c")); /* but a default is not given */
    read_good(configuration, first);
    ck_assert(pim_configuration_later(configuration, "t.b", "t.a"));
    ck_assert(!pim_configuration_later(configuration, "t.a", "t.b"));
    read_good(configuration, second);
    ck_assert(pim_configuration_later(configuration, "t.a", "t.b"));
    ck_assert(!pim_configuration_later(configuration, "t.b", "t.a"));
    ck_assert(!pim_configuration_later(configuration, "t.a", "t.c"));
    ck_assert(!pim_configuration_later(configuration, "t.c", "t.a"));
    ck_assert(!pim_configuration_in_spite(configuration, "t.c", "t.a")); /* one file says both */
    ck_assert(pim_configuration_in_spite(configuration, "t.a", "t.b"));
    ck_assert(!pim_configuration_in_spite(configuration, "t.b", "t.a"));
    set_good(configuration, "t.b=5");
    ck_assert(pim_configuration_later(configuration, "t.b", "t.a"));
    ck_assert(pim_configuration_in_spite(configuration, "t.b", "t.a"));
    ck_assert(!pim_configuration_in_spite(configuration, "t.a", "t.b"));
    set_good(configuration, "t.a=5");
    ck_assert(pim_configuration_in_spite(configuration, "t.b", "t.a")); /* both on the command line */
    ck_assert(pim_configuration_in_spite(configuration, "t.a", "t.b"));
    ck_assert(!pim_configuration_later(configuration, "t.b", "t.a"));
    ck_assert(!pim_configuration_later(configuration, "t.a", "t.b"));
    pim_configuration_destroy(configuration);
}
END_TEST

START_TEST(wrong_default_is_named)
{
    static const struct pim_key wrong[] = {{"a", PIM_KEY_INTEGER, "10", 0, 9, NULL, "", ""}};
    const struct pim_schema schema = {.name = "small", .text = "", .keys = wrong, .count = 1};
    struct pim_configuration *configuration = NULL;
    struct pim_error error = {PIM_OK, ""};
    ck_assert_int_eq(pim_configuration_create(&schema, &configuration, &error), PIM_INTERNAL);
    ck_assert_int_eq(error.status, PIM_INTERNAL);
    ck_assert_str_eq(error.text, "schema small: default: a: found 10, allowed is an integer from 0 to 9");
    ck_assert_ptr_null(configuration);
}
END_TEST

/* All but lists at once, with the same values as one by one. */
START_TEST(defaults_are_parsed_as_one_text)
{
    struct pim_configuration *configuration = make_configuration();
    struct pim_error error = {PIM_OK, ""};
    char *text = pim_configuration_write(configuration, true);
    for (size_t i = 0; i < test_schema.count; i++) {
        pim_value_release(&keys[i], &configuration->values[i]);
        configuration->values[i] = (struct pim_value){.origin = PIM_ORIGIN_NONE};
    }
    pim_configuration_take_plain_defaults(configuration);
    for (size_t i = 0; i < test_schema.count; i++) {
        const bool plain = pim_configuration_has_default(&keys[i]) && keys[i].type != PIM_KEY_INTEGER_LIST;
        ck_assert(configuration->values[i].origin == (plain ? PIM_ORIGIN_DEFAULT : PIM_ORIGIN_NONE));
        if (pim_configuration_has_default(&keys[i]))
            ck_assert(pim_configuration_assign(configuration, i, keys[i].fallback, PIM_ORIGIN_DEFAULT,
                                               &error) == PIM_OK);
    }
    char *again = pim_configuration_write(configuration, true);
    ck_assert(text && again);
    ck_assert_str_eq(text, again);
    free(text);
    free(again);
    pim_configuration_destroy(configuration);
}
END_TEST

/* Defaults are parsed as one text: that of the wrong key is named, and none is taken for the next key's. */
START_TEST(wrong_default_among_others_is_named)
{
    static const struct {
        const char *fallback, *message;
    } wrong[] = {
        {"10", "schema small: default: b: found 10, allowed is an integer from 0 to 9"},
        {"1, 2", "schema small: default: b: found 1, 2, allowed is an integer from 0 to 9"},
        {"1,\n2", "schema small: default: b: found 1,?2, allowed is an integer from 0 to 9"},
        {"1)", "schema small: default: b: found 1), allowed is an integer from 0 to 9"},
        {" ", "schema small: default: b: found  , allowed is an integer from 0 to 9"},
        {"true", "schema small: default: b: found true, allowed is an integer from 0 to 9"},
    };
    struct pim_key small[] = {{"a", PIM_KEY_INTEGER, "3", 0, 9, NULL, "", ""},
                              {"b", PIM_KEY_INTEGER, wrong[_i].fallback, 0, 9, NULL, "", ""},
                              {"c", PIM_KEY_INTEGER, NULL, 0, 9, NULL, "", ""},
                              {"d", PIM_KEY_INTEGER, "4", 0, 9, NULL, "", ""}};
    const struct pim_schema schema = {
        .name = "small", .text = "", .keys = small, .count = sizeof small / sizeof small[0]};
    struct pim_configuration *configuration = NULL;
    struct pim_error error = {PIM_OK, ""};
    ck_assert_int_eq(pim_configuration_create(&schema, &configuration, &error), PIM_INTERNAL);
    ck_assert_str_eq(error.text, wrong[_i].message);
    ck_assert_ptr_null(configuration);
    small[1].fallback = " 5";
    ck_assert_int_eq(pim_configuration_create(&schema, &configuration, &error), PIM_OK);
    ck_assert_int_eq(pim_configuration_set(configuration, "c=6", &error), PIM_OK);
    static const char *const names[] = {"a", "b", "c", "d"};
    static const int64_t values[] = {3, 5, 6, 4};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        ck_assert_int_eq(pim_configuration_integer(configuration, names[i]), values[i]);
    pim_configuration_destroy(configuration);
}
END_TEST

START_TEST(infinity_is_never_a_value)
{
    static const struct pim_key endless[] = {{"a", PIM_KEY_REAL, "1", 0, (double)INFINITY, NULL, "", ""}};
    const struct pim_schema schema = {.name = "small", .text = "", .keys = endless, .count = 1};
    struct pim_configuration *configuration = NULL;
    struct pim_error error = {PIM_OK, ""};
    ck_assert_int_eq(pim_configuration_create(&schema, &configuration, &error), PIM_OK);
    ck_assert_int_eq(pim_configuration_set(configuration, "a=1e999", &error), PIM_BAD_INPUT);
    ck_assert_str_eq(error.text, "command line: a: found inf, allowed is a number from 0.0 to inf");
    pim_configuration_destroy(configuration);
}
END_TEST

START_TEST(edit_distances)
{
    ck_assert_uint_eq(pim_edit_distance("", ""), 0);
    ck_assert_uint_eq(pim_edit_distance("", "abc"), 3);
    ck_assert_uint_eq(pim_edit_distance("width", "widht"), 1);
    ck_assert_uint_eq(pim_edit_distance("Width", "wIDTH"), 0);
    ck_assert_uint_eq(pim_edit_distance("kitten", "sitting"), 3);
    ck_assert_uint_eq(pim_edit_distance("ca", "abc"),
                      3); /* optimal string alignment, not the unrestricted distance 2 */
    char a[600], b[600];
    memset(a, 'x', sizeof a);
    memset(b, 'y', sizeof b);
    a[599] = b[599] = '\0';
    ck_assert_uint_eq(pim_edit_distance(a, b), 255);
    struct pim_nearest nearest = {.wanted = "hlepp"};
    pim_nearest_offer(&nearest, "set");
    ck_assert_ptr_null(nearest.name);
    pim_nearest_offer(&nearest, "hleppo");
    pim_nearest_offer(&nearest, "HLEPP");
    pim_nearest_offer(&nearest, "hlepp");
    ck_assert_str_eq(nearest.name, "HLEPP");
    char buffer[] = "hlep", kept[8];
    nearest = (struct pim_nearest){.wanted = "help"};
    ck_assert(pim_nearest_offer_copy(&nearest, buffer, kept, sizeof kept));
    buffer[0] = 'x';
    ck_assert(!pim_nearest_offer_copy(&nearest, buffer, kept, sizeof kept));
    ck_assert_str_eq(nearest.name, "hlep");
    nearest = (struct pim_nearest){.wanted = "usges"};
    pim_nearest_offer(&nearest, "usage");
    ck_assert_ptr_null(nearest.name);
}
END_TEST

/* Short names, and beginnings of names: told where one alone may be meant. */
START_TEST(nearest_alone)
{
    static const struct {
        const char *wanted, *names[4], *nearest;
    } cases[] = {
        {"se", {"set"}, "set"},
        {"xz", {"xy", "yx", "valiant"}, "xy"},
        {"xz", {"xy", "zz"}, NULL},
        {"xz", {"xy", "xy"}, "xy"}, /* the same name twice is one */
        {"XY", {"xz", "xy"}, "xy"},
        {"ab", {"cd"}, NULL},
        {"y", {"xy"}, NULL},
        {"cat", {"cut"}, "cut"},
        {"cat", {"cut", "dog", "can"}, NULL},
        {"cat", {"cut", "can", "CAT"}, "CAT"},
        {"budget", {"side", "budget_mm2"}, "budget_mm2"},
        {"budget", {"budget_mm2", "budget_usd"}, NULL},
        {"budget", {"budget_mm2", "budget_usd", "budgets"}, "budgets"},
        {"budget", {"budgets", "budget_mm2"}, "budgets"},
        {"", {"budget"}, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pim_nearest nearest = {.wanted = cases[i].wanted};
        for (size_t n = 0; n < 4 && cases[i].names[n]; n++)
            (void)pim_nearest_offer(&nearest, cases[i].names[n]);
        ck_assert_pstr_eq(nearest.name, cases[i].nearest);
    }
}
END_TEST

Suite *values_suite(void)
{
    Suite *suite = suite_create("values");
    TCase *group = tcase_create("values");
    tcase_add_test(group, defaults);
    tcase_add_test(group, values_of_a_text);
    tcase_add_loop_test(group, integer_literals, 0, sizeof literals / sizeof literals[0]);
    tcase_add_loop_test(group, real_literals, 0, sizeof reals / sizeof reals[0]);
    tcase_add_test(group, assignments);
    tcase_add_test(group, later_value_wins_and_keeps_its_origin);
    tcase_add_test(group, canonical_text);
    tcase_add_test(group, canonical_text_without_values);
    tcase_add_test(group, round_trip_property);
    tcase_add_test(group, two_units);
    tcase_add_test(group, later_settings);
    tcase_add_test(group, two_units_with_ns_first);
    tcase_add_test(group, defaults_are_parsed_as_one_text);
    tcase_add_test(group, wrong_default_is_named);
    tcase_add_loop_test(group, wrong_default_among_others_is_named, 0, 6);
    tcase_add_test(group, infinity_is_never_a_value);
    tcase_add_test(group, edit_distances);
    tcase_add_test(group, nearest_alone);
    suite_add_tcase(suite, group);
    return suite;
}

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, values_suite());
    srunner_add_suite(runner, refusals_suite());
    srunner_add_suite(runner, include_suite());
}

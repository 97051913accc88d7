/* Every way in which a text, a file or an assignment is refused, with the message a user gets. */
#include "tests/unit/configuration/test_schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* `message` is the whole text. */
static const struct {
    const char *text, *message;
} refusals[] = {
    /* names */
    {"noc = {\n widht = 4;\n};",
     "a.cfg:2: noc.widht: unknown key; the nearest is noc.width (an integer from 1 to 64 nodes)"},
    {"\n\nlink_bits = 4;",
     "a.cfg:3: link_bits: unknown key of the test configuration; the nearest is noc.link_bits (an integer "
     "from 1 to 4096 bits)"},
    /* a key of the schema whose keys stand in a text of this one */
    {"noc = {\n depth = 4;\n};", "a.cfg:2: noc.depth: a key of the inner configuration, which stands in "
                                 "name: \"noc = { depth = ...; };\""},
    {"depth = 4;", "a.cfg:1: depth: unknown key of the test configuration; the nearest is depths (a list of "
                   "integers from 1 to 5000000000 blocks, as [2, 3])"},
    {"nco = { width = 4; };", "a.cfg:1: nco: unknown group of the test configuration; the nearest is noc"},
    {"dram = { timings = { }; };", "a.cfg:1: dram.timings: unknown group; the nearest is dram.timing"},
    {"noc = 3;", "a.cfg:1: noc: a group of keys, write noc = { ... };"},
    {"noc = { width = { }; };",
     "a.cfg:1: noc.width: found a group, allowed is an integer from 1 to 64 nodes"},
    {"noc = {\n width = 4;\n\n width = 5; };",
     "a.cfg:4: noc.width: given twice, the first time in line 2: remove one of them"},
    {"noc = { };\nnoc = { };", "a.cfg:2: noc: given twice, the first time in line 1: remove one of them"},
    /* types and ranges */
    {"noc = {\n width = 0; };", "a.cfg:2: noc.width: found 0, allowed is an integer from 1 to 64 nodes"},
    {"noc = {\n width = 65; };", "a.cfg:2: noc.width: found 65, allowed is an integer from 1 to 64 nodes"},
    {"noc = { width = 4294967297; };",
     "a.cfg:1: noc.width: found 4294967297, allowed is an integer from 1 to 64 nodes"},
    {"noc = { width = 4.0; };", "a.cfg:1: noc.width: found 4.0, allowed is an integer from 1 to 64 nodes"},
    {"noc = { width = \"4\"; };",
     "a.cfg:1: noc.width: found \"4\", allowed is an integer from 1 to 64 nodes"},
    {"noc = { width = true; };", "a.cfg:1: noc.width: found true, allowed is an integer from 1 to 64 nodes"},
    {"noc = { width = [4]; };",
     "a.cfg:1: noc.width: found a list of 1 elements, allowed is an integer from 1 to 64 nodes"},
    {"dram = { rows = 9007199254740993; };",
     "a.cfg:1: dram.rows: found 9007199254740993, allowed is an integer from "
     "-9007199254740992 to 9007199254740992 rows"},
    {"dram = { rows = 9223372036854775808; };", "a.cfg:1: dram.rows: 9223372036854775808 is beyond 64 bits"},
    {"dram = { rows = 0x10000000000000000; };", "a.cfg:1: dram.rows: 0x10000000000000000 is beyond 64 bits"},
    {"dram = { rows = -9223372036854775809; };",
     "a.cfg:1: dram.rows: -9223372036854775809 is beyond 64 bits"},
    {"dram = { trcd_ns = -0.5; };",
     "a.cfg:1: dram.trcd_ns: found -0.5, allowed is a number from 0.0 to 10000.0 ns"},
    {"dram = { trcd_ns = 10000.5; };",
     "a.cfg:1: dram.trcd_ns: found 10000.5, allowed is a number from 0.0 to 10000.0 ns"},
    {"dram = { trcd_ns = \"18\"; };",
     "a.cfg:1: dram.trcd_ns: found \"18\", allowed is a number from 0.0 to 10000.0 ns"},
    {"energy = { scale = 1e999; };",
     "a.cfg:1: energy.scale: found inf, allowed is a number from -1.0e+308 to 1.0e+308"},
    {"energy = { scale = nan; };", "a.cfg:1: energy.scale: found nan, which is neither a number nor true or "
                                   "false; a text stands in quotes: \"nan\""},
    {"dram = { refresh = 1; };", "a.cfg:1: dram.refresh: found 1, allowed is true or false"},
    {"noc = { routing = xy; };", "a.cfg:1: noc.routing: found xy, which is neither a number nor true or "
                                 "false; a text stands in quotes: \"xy\""},
    {"noc = { routing = \"xz\"; };",
     "a.cfg:1: noc.routing: found \"xz\", allowed is \"xy\", \"yx\" or \"o1turn\"; the nearest is \"xy\""},
    {"noc = { routing = 1; };", "a.cfg:1: noc.routing: found 1, allowed is \"xy\", \"yx\" or \"o1turn\""},
    {"name = 1;", "a.cfg:1: name: found 1, allowed is a text of at most 4096 bytes in quotes"},
    {"name = \"a\\nb\";",
     "a.cfg:1: name: a control character or a byte that is not UTF-8: found \"a?b\", allowed is a text of at "
     "most 4096 bytes in quotes"},
    {"depths = 2;",
     "a.cfg:1: depths: found 2, allowed is a list of integers from 1 to 5000000000 blocks, as [2, 3]"},
    {"depths = [2,\n0];", "a.cfg:1: depths: element 2: found 0, allowed is a list of integers from 1 to "
                          "5000000000 blocks, as [2, 3]"},
    {"depths = (2, \"x\");", "a.cfg:1: depths: element 2: found \"x\", allowed is a list of integers from 1 "
                             "to 5000000000 blocks, as [2, 3]"},
    {"depths = (2, (3));", "a.cfg:1: depths: a list holds plain values only, found '('"},
    {"depths = [2, two];", "a.cfg:1: depths: found two, which is neither a number nor true or false; a text "
                           "stands in quotes: \"two\""},
    /* numbers */
    {"noc = { width = 4kB; };", "a.cfg:1: noc.width: 4kB is not a number"},
    {"noc = { width = 0x; };", "a.cfg:1: noc.width: 0x is not a number"},
    {"noc = { width = 0xfg; };", "a.cfg:1: noc.width: 0xfg is not a number"},
    {"noc = { width = 1.2.3; };", "a.cfg:1: noc.width: 1.2.3 is not a number"},
    {"noc = { width = 1e; };", "a.cfg:1: noc.width: 1e is not a number"},
    {"noc = { width = -.; };", "a.cfg:1: noc.width: -. is not a number"},
    {"noc = { width = 010; };",
     "a.cfg:1: noc.width: 010 begins with 0: write a decimal number without it, or 0x for a hexadecimal one"},
    {"noc = { width = 11111111111111111111111111111111111111111111111111111111111111111; };",
     "a.cfg:1: noc.width: 11111111111111111111111111111111111111111111... is longer than 64 characters"},
    /* the text itself */
    {"noc = {\n width = 4;\n", "a.cfg:1: '{' is not closed"},
    {"noc = {\n width = 4; ];", "a.cfg:2: ']' cannot close the '{' of line 1"},
    {"}", "a.cfg:1: '}' closes nothing"},
    {"\nname = \"abc;\n\n", "a.cfg:2: name: this text has no end: a quote is missing"},
    {"\n/* abc\n\n", "a.cfg:2: this comment has no end: */ is missing"},
    {"name = \"a\\x00b\";", "a.cfg:1: name: a text cannot hold the character \\x00"},
    {"name = $;", "a.cfg:1: unexpected character '$'"},
    {"name = \x01;", "a.cfg:1: unexpected byte 0x01"},
    {"\xef\xbb\xbfname = \"a\";", "a.cfg:1: unexpected byte 0xef"},
    {"name = \"a\";\nnoc { width = 4; };", "a.cfg:2: syntax error at or before: noc { width = 4; };"},
    {"noc = { width = ; };", "a.cfg:1: syntax error at or before: noc = { width = ; };"},
    {"depths = [1, 2.5];", "a.cfg:1: mismatched element type in array at or before: depths = [1, 2.5];"},
    {"name \"a\";", "a.cfg:1: a text stands where none is expected"},
    {"depths = [1 \"a\"];", "a.cfg:1: depths: a text stands where none is expected"},
    {"@include \"b.cfg\"", "a.cfg:1: @include works in files only, not in a text inside another file"},
};

START_TEST(refused_text)
{
    struct pim_configuration *configuration = make_configuration();
    struct pim_error error = {PIM_OK, ""};
    const char *text = refusals[_i].text;
    ck_assert_int_eq(pim_configuration_read_text(configuration, "a.cfg", text, strlen(text), &error),
                     PIM_BAD_INPUT);
    ck_assert_str_eq(error.text, refusals[_i].message);
    ck_assert_int_eq(error.status, PIM_BAD_INPUT);
    pim_configuration_destroy(configuration);
}
END_TEST

static const struct {
    const char *assignment, *message;
} assignments[] = {
    {"noc.widht=4",
     "command line: noc.widht: unknown key; the nearest is noc.width (an integer from 1 to 64 nodes)"},
    /* the right name in a wrong group */
    {"dram.timing.rows=4",
     "command line: dram.timing.rows: unknown key; the nearest is dram.rows (an integer from "
     "-9007199254740992 to 9007199254740992 rows)"},
    {"noc.depth=4",
     "command line: noc.depth: a key of the inner configuration, which stands in name: \"noc = "
     "{ depth = ...; };\""},
    {"noc=4", "command line: noc: this is a group of keys, not a key"},
    {"noc.width", "command line: noc.width: write KEY=VALUE, as in noc.flit_bits=32"},
    {"=4", "command line: =4: the key is missing in front of ="},
    {"noc.width=", "command line: noc.width: found nothing, allowed is an integer from 1 to 64 nodes"},
    {"noc.width=65", "command line: noc.width: found 65, allowed is an integer from 1 to 64 nodes"},
    {"noc.width=4 4", "command line: noc.width: found 4 4, allowed is an integer from 1 to 64 nodes"},
    {"noc.width=4; name = \"x\"",
     "command line: noc.width: found several values, allowed is an integer from 1 to 64 nodes"},
    {"noc.width=99999999999999999999",
     "command line: noc.width: found 99999999999999999999, allowed is an integer from 1 to 64 nodes"},
    {"noc.width=four", "command line: noc.width: found four, allowed is an integer from 1 to 64 nodes"},
    {"energy.scale=inf",
     "command line: energy.scale: found inf, allowed is a number from -1.0e+308 to 1.0e+308"},
    {"noc.routing=zz", "command line: noc.routing: found \"zz\", allowed is \"xy\", \"yx\" or \"o1turn\""},
    {"noc.routing=zy", "command line: noc.routing: found \"zy\", allowed is \"xy\", \"yx\" or \"o1turn\"; "
                       "the nearest is \"xy\""},
    /* the beginning of one name in this group, of one in any, of one in another group, of two */
    {"noc.rou=xy", "command line: noc.rou: unknown key; the nearest is noc.routing (\"xy\", \"yx\" or "
                   "\"o1turn\")"},
    {"rou=xy",
     "command line: rou: unknown key of the test configuration; the nearest is noc.routing (\"xy\", "
     "\"yx\" or \"o1turn\")"},
    {"dram.rou=4", "command line: dram.rou: unknown key"},
    {"dram.r=4", "command line: dram.r: unknown key"},
    {"noc.routing=o1trun", "command line: noc.routing: found \"o1trun\", allowed is \"xy\", \"yx\" or "
                           "\"o1turn\"; the nearest is \"o1turn\""},
    {"something.else=4", "command line: something.else: unknown key"},
    {"noc.foo=4", "command line: noc.foo: unknown key"},
    {"depths=2,x",
     "command line: depths: found 2,x, allowed is a list of integers from 1 to 5000000000 blocks, as [2, 3]"},
    {"noc.width=@include \"a.cfg\"",
     "command line: noc.width: found @include \"a.cfg\", allowed is an integer from 1 to 64 nodes"},
    {"name=\"a", "command line: name: found \"a, allowed is a text of at most 4096 bytes in quotes"},
    {"name=a\nb", "command line: name: a control character or a byte that is not UTF-8: found \"a?b\", "
                  "allowed is a text of at most "
                  "4096 bytes in quotes"},
};

START_TEST(refused_assignment)
{
    struct pim_configuration *configuration = make_configuration();
    struct pim_error error = {PIM_OK, ""};
    ck_assert_int_eq(pim_configuration_set(configuration, assignments[_i].assignment, &error), PIM_BAD_INPUT);
    ck_assert_str_eq(error.text, assignments[_i].message);
    pim_configuration_destroy(configuration);
}
END_TEST

static void expect(const char *text, size_t size, const char *message)
{
    struct pim_configuration *configuration = make_configuration();
    struct pim_error error = {PIM_OK, ""};
    ck_assert_int_eq(pim_configuration_read_text(configuration, "a.cfg", text, size, &error), PIM_BAD_INPUT);
    ck_assert_str_eq(error.text, message);
    pim_configuration_destroy(configuration);
}

START_TEST(nul_byte)
{
    expect("name = \"a\";\n\0noc", 15,
           "a.cfg:2: the text holds a NUL byte: this is not a configuration file");
    expect("name = \"a\0\";", 11, "a.cfg:1: the text holds a NUL byte: this is not a configuration file");
    expect("# a\0\n", 5, "a.cfg:1: the text holds a NUL byte: this is not a configuration file");
}
END_TEST

START_TEST(invalid_utf8)
{
    static const char *const bad[] = {"\xff",     "\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                                      "\xe2\x82", "\x80"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct pim_configuration *configuration = make_configuration();
        struct pim_error error = {PIM_OK, ""};
        char text[32];
        (void)snprintf(text, sizeof text, "name = \"%s\";", bad[i]);
        ck_assert_int_eq(pim_configuration_read_text(configuration, "a.cfg", text, strlen(text), &error),
                         PIM_BAD_INPUT);
        ck_assert_ptr_nonnull(strstr(error.text, "not UTF-8"));
        pim_configuration_destroy(configuration);
    }
    struct pim_configuration *configuration = make_configuration();
    read_good(configuration, "name = \"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\";");
    pim_configuration_destroy(configuration);
}
END_TEST

/* Sizes: what is at the limit passes, one more is refused. */
START_TEST(sizes)
{
    char *text = malloc(PIM_CONFIGURATION_FILE_LIMIT + 64u);
    ck_assert_ptr_nonnull(text);
    struct pim_configuration *configuration = make_configuration();
    for (int over = 0; over < 2; over++) {
        size_t size = (size_t)sprintf(text, "name = \"");
        memset(text + size, 'x', PIM_CONFIGURATION_TEXT_LIMIT + (unsigned)over);
        strcpy(text + size + PIM_CONFIGURATION_TEXT_LIMIT + over, "\";");
        if (over)
            expect(text, strlen(text),
                   "a.cfg:1: name: found a text of 4097 bytes, allowed is a text of at most 4096");
        else
            read_good(configuration, text);
    }
    for (unsigned over = 0; over < 2; over++) {
        size_t size = (size_t)sprintf(text, "depths = [");
        for (unsigned i = 0; i < PIM_CONFIGURATION_LIST_LIMIT + over; i++)
            size += (size_t)sprintf(text + size, "%s1", i > 0 ? "," : "");
        strcpy(text + size, "];");
        if (over)
            expect(text, strlen(text), "a.cfg:1: depths: a list has at most 4096 elements");
        else
            read_good(configuration, text);
    }
    memset(text, ' ', PIM_CONFIGURATION_FILE_LIMIT + 1u);
    expect(text, PIM_CONFIGURATION_FILE_LIMIT + 1u, "a.cfg: 16777217 bytes: allowed are 16777216");
    memcpy(text, "noc = { width = 9; }", 20);
    text[PIM_CONFIGURATION_FILE_LIMIT] = '\0';
    read_good(configuration, text);
    ck_assert_int_eq(pim_configuration_integer(configuration, "noc.width"), 9);
    pim_configuration_destroy(configuration);
    free(text);
}
END_TEST

/* What would cost libconfig quadratic time, memory or stack. */
START_TEST(hostile_shapes)
{
    char *text = malloc(1u << 20);
    ck_assert_ptr_nonnull(text);
    size_t size = 0;
    for (int i = 0; i < 17; i++)
        size += (size_t)sprintf(text + size, "a%d = {", i);
    expect(text, size, "a.cfg:1: groups stand more than 16 deep");
    size = 0;
    for (int i = 0; i < 4097; i++)
        size += (size_t)sprintf(text + size, "a%d=1;\n", i);
    expect(text, size, "a.cfg:4097: more than 4096 settings");
    size = 0;
    for (int i = 0; i < 17; i++) {
        size += (size_t)sprintf(text + size, "a%d=[1", i);
        for (int j = 1; j < 4096; j++)
            size += (size_t)sprintf(text + size, ",1");
        size += (size_t)sprintf(text + size, "];\n");
    }
    expect(text, size, "a.cfg:17: more than 65536 list elements in one file");
    memset(text, 'a', 300);
    strcpy(text + 300, " = 1;");
    expect(
        text, strlen(text),
        "a.cfg:1: the name aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa... "
        "is too long: a path has "
        "at most 255 characters");
    free(text);
}
END_TEST

START_TEST(required_keys)
{
    struct pim_configuration *configuration = make_configuration();
    struct pim_error error = {PIM_OK, ""};
    read_good(configuration, "noc = { link_bits = 9; };");
    ck_assert_int_eq(pim_configuration_complete(configuration, &error), PIM_BAD_INPUT);
    ck_assert_str_eq(
        error.text,
        "a.cfg: the test configuration lacks 1 required key: noc.width (an integer from 1 to 64 nodes)");
    pim_configuration_destroy(configuration);
}
END_TEST

START_TEST(refused_files)
{
    struct pim_configuration *configuration = make_configuration();
    struct pim_error error = {PIM_OK, ""};
    ck_assert_int_eq(pim_configuration_read_file(configuration, "no/such.cfg", &error), PIM_IO);
    ck_assert_str_eq(error.text, "no/such.cfg: cannot open: No such file or directory");
    ck_assert_int_eq(pim_configuration_read_file(configuration, "/", &error), PIM_IO);
    ck_assert_str_eq(error.text, "/: this is a folder, a configuration file is needed");
    ck_assert_int_eq(pim_configuration_read_file(configuration, "/dev/zero", &error), PIM_BAD_INPUT);
    ck_assert_str_eq(error.text,
                     "/dev/zero: too large: a configuration with all it includes has at most 16777216 bytes");
    char path[] = "/tmp/pimsim-test-XXXXXX";
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(fchmod(file, 0), 0);
    if (access(path, R_OK) != 0) { /* not when run by root */
        ck_assert_int_eq(pim_configuration_read_file(configuration, path, &error), PIM_IO);
        ck_assert_ptr_nonnull(strstr(error.text, "cannot open: Permission denied"));
    }
    (void)close(file);
    (void)unlink(path);
    pim_configuration_destroy(configuration);
}
END_TEST

Suite *refusals_suite(void)
{
    Suite *suite = suite_create("refusals");
    TCase *group = tcase_create("refusals");
    tcase_add_loop_test(group, refused_text, 0, sizeof refusals / sizeof refusals[0]);
    tcase_add_loop_test(group, refused_assignment, 0, sizeof assignments / sizeof assignments[0]);
    tcase_add_test(group, nul_byte);
    tcase_add_test(group, invalid_utf8);
    tcase_add_test(group, sizes);
    tcase_add_test(group, hostile_shapes);
    tcase_add_test(group, required_keys);
    tcase_add_test(group, refused_files);
    suite_add_tcase(suite, group);
    return suite;
}

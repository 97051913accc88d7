/* Specification files: what they mean, and the line of what is wrong. */
#include "tests/unit/api/support.h"
#include "tests/unit/sweep/suites.h"
#include "tests/unit/sweep/support.h"
#include "tests/unit/test_main.h"
#include "tools/sweep/specification/specification.h"

#include <stdlib.h>
#include <string.h>

START_TEST(test_everything)
{
    static const char text[] =
        "# all keys\n"
        "name = \"all\";\n"
        "networks = [\"a.cfg\", \"/b.cfg\"];\n"
        "mappers = [\"allspark\", \"allspark --partition head\"];\n"
        "hardware = \"h.cfg\";\n"
        "set = [\"noc.link_latency=2\", \"network.window=7\"];\n"
        "axes = { network = { image = [224, 256]; };\n"
        "  noc = { flit_bits = \"1:30:log8\"; fidelity = [\"flit\", \"ideal\"]; };\n"
        "  dram = { trcd_ns = [14.0, 18.5]; refresh = [true, false]; rows = 0x1000; }; };\n"
        "zip = { one = { pe = { rows = [8, 16]; columns = [\"4:8:4\"]; }; };\n"
        "        two = { unit = { window = [4, 8]; }; acu = { elements_per_cycle = [8, 8]; }; }; };\n"
        "constraints = [\"pe.rows > 1\", \"noc.flit_bits > 1\"];\n"
        "repeats = 3; seed = 7; until = 1000; noc = \"analytic\"; mapping = \"once\";\n";
    static const char *const names[] = {"network.image", "noc.flit_bits", "noc.fidelity", "dram.trcd_ns",
                                        "dram.refresh",  "dram.rows",     "pe.rows",      "unit.window"};
    static const size_t counts[] = {2, 8, 2, 2, 2, 1, 2, 2};
    struct pim_error error = {PIM_OK, ""};
    struct pim_sweep sweep;
    char path[PATH_SIZE], expected[PATH_SIZE];
    pim_sweep_initialize(&sweep);
    file_of(path, "s.cfg", text, sizeof text - 1);
    ck_assert_msg(pim_sweep_read(&sweep, path, &error) == PIM_OK, "%s", error.text);
    ck_assert_str_eq(sweep.name, "all");
    ck_assert_uint_eq(sweep.source_count, 4);
    ck_assert_str_eq(sweep.sources[1].network, temporary(expected, "a.cfg"));
    ck_assert_str_eq(sweep.sources[1].mapper, "allspark --partition head");
    ck_assert_str_eq(sweep.sources[2].network, "/b.cfg");
    ck_assert_str_eq(sweep.hardware.items[0], temporary(expected, "h.cfg"));
    ck_assert_str_eq(sweep.sets.items[0], "noc.link_latency=2");
    ck_assert_str_eq(sweep.network_sets.items[0], "network.window=7");
    ck_assert_uint_eq(sweep.axis_count, 8);
    for (size_t i = 0; i < 8; i++) {
        ck_assert_str_eq(sweep.axes[i].keys[0].name, names[i]);
        ck_assert_uint_eq(sweep.axes[i].count, counts[i]);
    }
    ck_assert_str_eq(sweep.axes[3].keys[0].values[1].text, "18.5");
    ck_assert_str_eq(sweep.axes[5].keys[0].values[0].text, "4096");
    ck_assert_uint_eq(sweep.axes[6].key_count, 2);
    ck_assert_str_eq(sweep.axes[6].keys[1].name, "pe.columns");
    ck_assert_str_eq(sweep.axes[6].keys[1].values[1].text, "8");
    ck_assert_uint_eq(sweep.axes[7].key_count, 2); /* a value may stand twice beside one that differs */
    ck_assert_uint_eq(sweep.conditions.count, 2);
    ck_assert_uint_eq(sweep.repeats, 3);
    ck_assert_uint_eq(sweep.seed, 7);
    ck_assert_uint_eq(sweep.until_cycle, 1000);
    ck_assert_str_eq(sweep.fidelity, "analytic");
    ck_assert(sweep.map_once);
    pim_sweep_terminate(&sweep);
}
END_TEST

#define SOURCE "trace = \"t.bin\";\n"
static const struct {
    const char *text, *message;
} bad[] = {
    {"", "neither a trace, nor networks and mappers"},
    {"\n\nnmae = \"x\";", ":3: nmae: unknown key; the nearest is name"},
    {SOURCE "axes = { noc = { flitbits = [1]; }; };",
     ":2: noc.flitbits: unknown key; the nearest is noc.flit_bits"},
    {SOURCE "axes = {\n noc = {\n flit_bits = [];\n }; };", ":4: noc.flit_bits: an axis without values"},
    {SOURCE "axes = { noc = {\n flit_bits = [16, 0]; }; };", ":3: noc.flit_bits: found 0"},
    {SOURCE "axes = { noc = {\n flit_bits = \"9:1:log\"; }; };", ":3: noc.flit_bits: range 9:1:log"},
    {SOURCE "axes = { noc = {\n flit_bits = [16, 16]; }; };", ":3: noc.flit_bits: the value 16 stands twice"},
    {SOURCE "axes = { noc = 3; };", ":2: noc: this is a group of keys"},
    {SOURCE "axes = [1];", ":2: axes: a group of keys is expected"},
    {SOURCE "axes = { };", ":2: axes: there is none"},
    {SOURCE "axes = { noc = { flit_bits = [1]; }; };\nzip = { a = { noc = { flit_bits = [2]; }; }; };",
     ":3: noc.flit_bits is an axis twice"},
    {SOURCE "zip = { a = { pe = { rows = [1, 2];\n columns = [1]; }; }; };",
     ":3: pe.columns has 1 values, pe.rows before it 2"},
    {SOURCE "zip = { a = { pe = { rows = [8, 16, 8]; columns = [4, 4, 4]; }; }; };",
     ":2: pe.rows: the value 8 stands twice, with the same values of the keys zipped with it"},
    {SOURCE "zip = { a = 3; };", ":2: zip: a is no group of keys"},
    {SOURCE "zip = { a = { }; };", ":2: zip: a is empty"},
    {SOURCE "repeats = 0;", ":2: repeats: an integer from 1 to 1000000"},
    {SOURCE "seed = -1;", ":2: seed: an integer from 0"},
    {SOURCE "repeats = \"3\";", ":2: repeats: an integer"},
    {SOURCE "noc = \"fit\";", ":2: noc: one of \"ideal\", \"analytic\", \"flit\""},
    {SOURCE "mapping = \"never\";", ":2: mapping: one of \"each\", \"once\""},
    {SOURCE "name = 3;", ":2: name: a text in quotes"},
    {SOURCE "hardware = [1, 2];", ":2: hardware: a text in quotes"},
    {SOURCE "hardware = 4;", ":2: hardware: a text in quotes"},
    {SOURCE "networks = [\"n.cfg\"];", "networks are named, but no mappers"},
    {"mapper = \"allspark\";", "mappers are named, but no networks"},
    {SOURCE "networks = [\"n.cfg\"]; mapper = \"allspark\";", "either traces, or networks and mappers"},
    {SOURCE "name = \"a\"\nname = \"b\";", "name"},
    {SOURCE "seed = 99999999999999999999;", ":2: "},
    {SOURCE "axes = { noc = { flit_bits = [16, \"a\"]; }; };", ":2: "},
    {SOURCE "repeats = = 3;", ":2: "},
    {SOURCE "@include \"other.cfg\"\n", ":2: @include"},
};

START_TEST(test_refused)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_sweep sweep;
    char path[PATH_SIZE];
    pim_sweep_initialize(&sweep);
    file_of(path, "s.cfg", bad[_i].text, strlen(bad[_i].text));
    (void)pim_sweep_read(&sweep, path, &error);
    expect_error(&error, PIM_BAD_INPUT, bad[_i].message);
    expect_error(&error, PIM_BAD_INPUT, "/s.cfg");
    pim_sweep_terminate(&sweep);
}
END_TEST

START_TEST(test_unreadable)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_sweep sweep;
    char path[PATH_SIZE];
    pim_sweep_initialize(&sweep);
    (void)pim_sweep_read(&sweep, temporary(path, "none.cfg"), &error);
    expect_error(&error, PIM_IO, "none.cfg: cannot open: No such file");
    char *large = calloc(1, PIM_SPECIFICATION_BYTES + 1);
    ck_assert_ptr_nonnull(large);
    memset(large, ' ', PIM_SPECIFICATION_BYTES + 1);
    error = (struct pim_error){PIM_OK, ""};
    (void)pim_sweep_read(&sweep, file_of(path, "large.cfg", large, PIM_SPECIFICATION_BYTES + 1), &error);
    expect_error(&error, PIM_BAD_INPUT, "too large");
    free(large);
    pim_sweep_terminate(&sweep);
}
END_TEST

/* The sweeps that are delivered can be prepared: files, keys and values are right. */
START_TEST(test_ready)
{
    static const struct {
        const char *path;
        uint64_t points;
    } ready[] = {{"configs/sweeps/noc-bandwidth.cfg", 20},
                 {"configs/sweeps/pe-array.cfg", 5},
                 {"configs/sweeps/dram-timing.cfg", 24}};
    struct pim_error error = {PIM_OK, ""};
    struct pim_sweep sweep;
    char path[PATH_SIZE];
    uint64_t count;
    pim_sweep_initialize(&sweep);
    pimsim_source_path(path, sizeof path, ready[_i].path);
    ck_assert_msg(pim_sweep_read(&sweep, path, &error) == PIM_OK, "%s", error.text);
    prepare(&sweep);
    ck_assert_int_eq(pim_sweep_count(&sweep, &count, &error), PIM_OK);
    ck_assert_uint_eq(count, ready[_i].points);
    pim_sweep_terminate(&sweep);
}
END_TEST

Suite *sweep_specification_suite(void)
{
    Suite *suite = suite_create("sweep_specification");
    TCase *cases = tcase_create("files");
    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_test(cases, test_everything);
    tcase_add_loop_test(cases, test_refused, 0, sizeof bad / sizeof bad[0]);
    tcase_add_test(cases, test_unreadable);
    tcase_add_loop_test(cases, test_ready, 0, 3);
    suite_add_tcase(suite, cases);
    return suite;
}

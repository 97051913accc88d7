/* Values of axes: lists, ranges, their one spelling, and what is refused. */
#include "tests/unit/sweep/suites.h"
#include "tests/unit/sweep/support.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *items, *values; /* joined by blanks */
} good[] = {
    {"noc.flit_bits", "16,32,64", "16 32 64"},
    {"noc.flit_bits", " 0x20 ,128", "32 128"},
    {"noc.flit_bits", "8:40:8", "8 16 24 32 40"},
    {"noc.flit_bits", "8:39:8", "8 16 24 32"},
    {"noc.flit_bits", "40:8:-16", "40 24 8"},
    {"noc.flit_bits", "1:30:log8", "1 2 3 4 7 11 18 30"},
    {"noc.flit_bits", "1:4:log8", "1 2 3 4"}, /* rounded, equal ones once */
    {"noc.flit_bits", "1024:1:log3,7", "1024 32 1 7"},
    {"dram.trcd_ns", "14,18.50,1e1", "14 18.5 10"},
    {"dram.trcd_ns", "0.1:0.5:0.1", "0.1 0.2 0.3 0.4 0.5"},
    {"dram.trcd_ns", "10:1000:log5", "10 31.6228 100 316.228 1000"},
    {"dram.refresh", "false,true", "false true"},
    {"noc.fidelity", "flit,ideal", "flit ideal"},
    {"network.blocks", "[2, 2,6,2],[2,2,18,2]", "[2, 2, 6, 2] [2, 2, 18, 2]"},
};

START_TEST(test_values)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_sweep_key key;
    char joined[512] = "";
    ck_assert_msg(pim_sweep_key_begin(&key, good[_i].name, &error) == PIM_OK, "%s", error.text);
    ck_assert_msg(pim_sweep_key_add_list(&key, good[_i].items, &error) == PIM_OK, "%s", error.text);
    ck_assert_msg(pim_sweep_key_end(&key, &error) == PIM_OK, "%s", error.text);
    for (size_t i = 0; i < key.count; i++) {
        strcat(joined, i ? " " : "");
        strcat(joined, key.values[i].text);
    }
    ck_assert_str_eq(joined, good[_i].values);
    pim_sweep_key_terminate(&key);
}
END_TEST

static const struct {
    const char *name, *items, *message;
} bad[] = {
    {"noc.flitbits", "1", "the nearest is noc.flit_bits"},
    {"noc.no_such_key", "1", "unknown key"},
    {"network.imag", "1", "the nearest is network.image"},
    {"noc. flit_bits", "1", "no key of the hardware configuration"},
    {"noc.flit_bits", "", "a value is missing"},
    {"noc.flit_bits", "16,,32", "a value is missing"},
    {"noc.flit_bits", "16,", "a value is missing"},
    {"noc.flit_bits", "0", "allowed is an integer from 1 to 65536"},
    {"noc.flit_bits", "16,0x10", "the value 16 stands twice"},
    {"noc.flit_bits", "1.5", "noc.flit_bits"},
    {"noc.flit_bits", "10:1:1", "the step leads away"},
    {"noc.flit_bits", "1:10:0", "the step is not a number other than 0"},
    {"noc.flit_bits", "1:10", "not two numbers and a step"},
    {"noc.flit_bits", "1:x:1", "not two numbers and a step"},
    {"noc.flit_bits", "1:10:0.5", "integers only"},
    {"noc.flit_bits", "0:10:log4", "greater than 0"},
    {"noc.flit_bits", "1:10:log1", "from 2 to 100000"},
    {"noc.flit_bits", "1:10:log", "from 2 to 100000"},
    {"noc.flit_bits", "1:10:log-3", "from 2 to 100000"},
    {"noc.flit_bits", "1:10:log99999999999999999999", "from 2 to 100000"},
    {"dram.trcd_ns", "0:10000:0.001", "more than 100000 values"},
    {"dram.trcd_ns", "nan", "dram.trcd_ns"},
    {"dram.trcd_ns", "nan:1:1", "not two numbers"},
    {"noc.fidelity", "fit", "flit"},
};

START_TEST(test_refused)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_sweep_key key;
    if (pim_sweep_key_begin(&key, bad[_i].name, &error) == PIM_OK &&
        pim_sweep_key_add_list(&key, bad[_i].items, &error) == PIM_OK)
        (void)pim_sweep_key_end(&key, &error);
    expect_error(&error, PIM_BAD_INPUT, bad[_i].message);
    pim_sweep_key_terminate(&key);
}
END_TEST

START_TEST(test_no_values)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_sweep_key key;
    ck_assert_int_eq(pim_sweep_key_begin(&key, "noc.flit_bits", &error), PIM_OK);
    ck_assert_int_eq(pim_sweep_key_end(&key, &error), PIM_BAD_INPUT);
    expect_error(&error, PIM_BAD_INPUT, "an axis without values");
    pim_sweep_key_terminate(&key);
}
END_TEST

/* Points of a range carry no dust of the arithmetic: the text of each is short. */
START_TEST(test_no_dust)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_sweep_key key;
    ck_assert_int_eq(pim_sweep_key_begin(&key, "dram.trcd_ns", &error), PIM_OK);
    ck_assert_int_eq(pim_sweep_key_add(&key, "0.05:99.95:0.05", &error), PIM_OK);
    ck_assert_int_eq(pim_sweep_key_end(&key, &error), PIM_OK);
    ck_assert_uint_eq(key.count, 1999);
    for (size_t i = 0; i < key.count; i++)
        ck_assert_msg(strlen(key.values[i].text) <= 5, "%s", key.values[i].text);
    ck_assert_str_eq(key.values[1998].text, "99.95");
    pim_sweep_key_terminate(&key);
}
END_TEST

Suite *sweep_axis_suite(void)
{
    Suite *suite = suite_create("sweep_axis");
    TCase *cases = tcase_create("values");
    tcase_add_loop_test(cases, test_values, 0, sizeof good / sizeof good[0]);
    tcase_add_loop_test(cases, test_refused, 0, sizeof bad / sizeof bad[0]);
    tcase_add_test(cases, test_no_values);
    tcase_add_test(cases, test_no_dust);
    suite_add_tcase(suite, cases);
    return suite;
}

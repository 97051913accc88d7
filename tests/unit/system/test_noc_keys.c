/*
 * The width of links by its two keys, bits per cycle and gigabits per second: the quotient that each means,
 * and what is refused.
 */
#include "models/system/hardware/noc_schema.h"
#include "models/system/read.h"
#include "models/system/schema.h"
#include "tests/unit/test_main.h"

#include <check.h>
#include <string.h>

enum { SETS = 3 };

/* Reads the keys of `schema` after these changes. */
static enum pim_status read_with(const struct pim_schema *schema, const char *const sets[SETS],
                                 struct pim_noc_configuration *noc, struct pim_error *error)
{
    struct pim_configuration *configuration;
    ck_assert_int_eq(pim_configuration_create(schema, &configuration, error), PIM_OK);
    for (size_t i = 0; i < SETS; i++)
        if (sets[i])
            ck_assert_msg(pim_configuration_set(configuration, sets[i], error) == PIM_OK, "%s", error->text);
    enum pim_status status = pim_noc_configuration_read(configuration, 4, 4, noc, error);
    pim_configuration_destroy(configuration);
    return status;
}

static const struct {
    const char *sets[SETS];
    uint32_t numerator, denominator; /* of links between routers, when `terminal` is not set */
    bool terminal;
} widths[] = {
    {{NULL}, 0, 1, false},
    {{"noc.link_bits_per_cycle=32"}, 32, 1, false},
    {{"noc.link_bits_per_cycle=0.75"}, 3, 4, false},
    {{"noc.link_gigabits_per_second=12.8"}, 32, 1, false}, /* 12.8e9 / 400e6 */
    {{"noc.link_gigabits_per_second=12.8", "clock.network_khz=800000"}, 16, 1, false},
    {{"noc.link_gigabits_per_second=1", "clock.network_khz=300000"}, 10, 3, false},
    {{"noc.link_gigabits_per_second=0.001", "clock.network_khz=1000000"}, 1, 1000, false},
    {{"noc.link_gigabits_per_second=0.7", "clock.network_khz=933333"}, 700000, 933333, false},
    {{"noc.terminal_gigabits_per_second=2.5", "noc.link_bits_per_cycle=7"}, 25, 4, true},
    {{"noc.link_gigabits_per_second=5", "noc.terminal_bits_per_cycle=7"}, 25, 2, false},
};
enum { WIDTHS = sizeof widths / sizeof widths[0] };

START_TEST(quotients)
{
    const struct pim_schema *const schemas[] = {&pim_noc_schema, &pim_hardware_schema};
    for (size_t i = 0; i < 2; i++) {
        struct pim_noc_configuration noc;
        struct pim_error error = {.status = PIM_OK};
        ck_assert_msg(read_with(schemas[i], widths[_i].sets, &noc, &error) == PIM_OK, "%s", error.text);
        struct pim_noc_bits bits = widths[_i].terminal ? noc.terminal_bits : noc.link_bits;
        ck_assert_uint_eq(bits.numerator, widths[_i].numerator);
        ck_assert_uint_eq(bits.denominator, widths[_i].denominator);
    }
}
END_TEST

/* Nodes in layers: a router more on the way takes as long as in one layer. */
START_TEST(layers)
{
    static const char *const sets[] = {"array.width=2", "array.height=4", "noc.depth=1"};
    uint64_t per_router[2];
    for (unsigned depth = 0; depth < 2; depth++) {
        struct pim_configuration *configuration;
        struct pim_hardware hardware;
        struct pim_error error = {.status = PIM_OK};
        ck_assert_int_eq(pim_configuration_create(&pim_hardware_schema, &configuration, &error), PIM_OK);
        for (size_t i = 0; i < 3; i++) {
            const char *set = i == 2 && depth ? "noc.depth=4" : sets[i];
            ck_assert_int_eq(pim_configuration_set(configuration, set, &error), PIM_OK);
        }
        ck_assert_msg(pim_hardware_read(configuration, &hardware, &error) == PIM_OK, "%s", error.text);
        pim_configuration_destroy(configuration);
        ck_assert_uint_eq(hardware.noc.depth, depth ? 4 : 1);
        per_router[depth] = hardware.node.zero_load.per_router;
    }
    ck_assert_uint_gt(per_router[0], 0);
    ck_assert_uint_eq(per_router[0], per_router[1]);
}
END_TEST

static const struct {
    const char *sets[SETS];
    const char *says;
} refusals[] = {
    {{"noc.link_gigabits_per_second=12.8", "noc.link_bits_per_cycle=32"},
     "noc.link_bits_per_cycle is given too"},
    {{"noc.terminal_gigabits_per_second=1", "noc.terminal_bits_per_cycle=1"},
     "noc.terminal_bits_per_cycle is given too"},
    {{"noc.link_gigabits_per_second=0.0005"}, "more than three decimals"},
    {{"noc.link_gigabits_per_second=12.801", "clock.network_khz=933333"},
     "simpler ratio to clock.network_khz"},
    {{"noc.link_gigabits_per_second=1000000", "clock.network_khz=1"}, "simpler ratio to clock.network_khz"},
    {{"noc.link_bits_per_cycle=1048575.001"}, "use fewer decimals"},
};
enum { REFUSALS = sizeof refusals / sizeof refusals[0] };

START_TEST(refused)
{
    struct pim_noc_configuration noc;
    struct pim_error error = {.status = PIM_OK};
    ck_assert_int_eq(read_with(&pim_noc_schema, refusals[_i].sets, &noc, &error), PIM_BAD_INPUT);
    ck_assert_msg(strstr(error.text, refusals[_i].says) != NULL, "%s", error.text);
}
END_TEST

void pimsim_suites(SRunner *runner)
{
    Suite *suite = suite_create("noc_keys");
    TCase *tests = tcase_create("width of links");
    tcase_add_loop_test(tests, quotients, 0, WIDTHS);
    tcase_add_loop_test(tests, refused, 0, REFUSALS);
    tcase_add_test(tests, layers);
    suite_add_tcase(suite, tests);
    srunner_add_suite(runner, suite);
}

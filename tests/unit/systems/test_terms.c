/* Terms of the systems that come along, worked out by hand from the figures of their papers. */
#include "models/system/schema.h"
#include "tests/unit/systems/suites.h"
#include "tests/unit/test_main.h"
#include "tools/systems/terms.h"

#include <math.h>
#include <string.h>

static struct pim_system_terms terms_of(const char *name, const char *set)
{
    struct pim_systems systems = {.rows = NULL};
    struct pim_error error = {PIM_OK, ""};
    struct pim_configuration *configuration;
    struct pim_system_terms terms;
    char path[1024];
    pimsim_source_path(path, sizeof path, "configs/systems.cfg");
    ck_assert_msg(pim_systems_read(path, &systems, &error) == PIM_OK, "%s", error.text);
    ck_assert_msg(pim_systems_choose(&systems, name, &error) == PIM_OK, "%s", error.text);
    ck_assert_int_eq(pim_configuration_create(&pim_hardware_schema, &configuration, &error), PIM_OK);
    ck_assert_msg(pim_configuration_read_file(configuration, systems.rows[0].hardware, &error) == PIM_OK,
                  "%s", error.text);
    if (set)
        ck_assert_msg(pim_configuration_set(configuration, set, &error) == PIM_OK, "%s", error.text);
    ck_assert_int_eq(pim_configuration_complete(configuration, &error), PIM_OK);
    ck_assert_msg(pim_system_terms_of(&systems.rows[0], configuration, &terms, &error) == PIM_OK, "%s",
                  error.text);
    pim_configuration_destroy(configuration);
    pim_systems_terminate(&systems);
    return terms;
}

static void near(double value, double expected, double relative)
{
    ck_assert_msg(fabs(value - expected) <= relative * fabs(expected), "%.9g, not %.9g", value, expected);
}

START_TEST(test_nodes)
{
    struct pim_system_terms terms = terms_of("allspark", NULL);
    near(terms.peak_macs, 256.0 * 64 * 400e6, 1e-12); /* 16 x 16 nodes of 8 x 8 at 400 MHz */
    near(terms.weight_bytes, 256.0 * (8 << 20), 1e-12);
    near(terms.buffer_bytes, 256.0 * (48 << 10), 1e-12);
    ck_assert(terms.technology_nm == 28 && terms.area_28nm_mm2 == terms.area_mm2);
    ck_assert(terms.area_low_mm2 < terms.area_mm2 && terms.area_mm2 < terms.area_high_mm2);
    terms = terms_of("nicepim-4x4", NULL);
    near(terms.area_mm2, 62.581,
         1e-4); /* docs/models/area.md: engines 25.930, routers 30.251, controllers 6.400 */
    near(terms_of("nicepim-4x4", "array.width=8").peak_macs, 2 * terms.peak_macs, 1e-12);
    const struct pim_system_terms twice = terms_of("nicepim-4x4", "dram.interleaved_banks=2");
    near(twice.weight_bytes, 2 * terms.weight_bytes, 1e-12);
    near(twice.area_mm2 - terms.area_mm2, 6.400, 1e-9); /* a controller for each bank */
}
END_TEST

START_TEST(test_cores)
{
    struct pim_system_terms terms = terms_of("pimcomp-a-ht", NULL);
    near(terms.peak_macs, 168.0 * 96 * 128 * 16 / 2192 * 1.28e9, 1e-12); /* an MVM takes 2192 cycles */
    near(terms.weight_bytes, 168.0 * 96 * 128 * 128 * 2 / 8, 1e-12);     /* 63 MB */
    near(terms.buffer_bytes, 168.0 * 262144, 1e-12);
    near(terms.area_28nm_mm2, 85.4 * (28.0 / 32) * (28.0 / 32), 1e-12);
    near(pim_system_energy_factor(terms.technology_nm), 28.0 / 32, 1e-12);
    terms = terms_of("pimcomp-c-ll", NULL);
    ck_assert(isnan(terms.area_mm2) && isnan(terms.area_28nm_mm2) && terms.technology_nm == 32);
}
END_TEST

START_TEST(test_channels)
{
    struct pim_system_terms terms = terms_of("overlapim-hbm2", NULL);
    near(terms.peak_macs, 128.0 * 8 * 8192 / (980 + 196) * 1e9, 1e-12);
    near(terms.weight_bytes, 128.0 * 8 * 8192 * 32736 / 8, 1e-12);
    ck_assert(isnan(terms.buffer_bytes) && isnan(terms.technology_nm) && isnan(terms.area_mm2));
    ck_assert(isnan(pim_system_energy_factor(terms.technology_nm)));
    near(terms_of("overlapim-reram", NULL).peak_macs, 32.0 * 256 * 64 / (696 + 442) * 1e9, 1e-12);
}
END_TEST

START_TEST(test_tiles)
{
    struct pim_system_terms terms = terms_of("conflict", NULL);
    /* 256 channels in and through a crossbar, five slices, digital part; adders over 512 columns */
    double step = 8 * 36 + 8 * 36 + 5 * (3.16 + 4 + 100.0 / 11) + 33.1208042 + 2 + 8 * 512 / 20.0 + 8 * 72;
    near(terms.peak_macs, 256.0 * 4 * 256 * 256 / step * 1e9, 1e-12);
    near(terms.weight_bytes, 256.0 * 4 * 256 * 256 * 9 / 8, 1e-12);
    near(terms.buffer_bytes, 256.0 * 67108864 / 8, 1e-12);
    ck_assert(isnan(terms.technology_nm) && isnan(terms.area_28nm_mm2));
    near(terms.area_mm2, 1131.7, 1e-12);
}
END_TEST

Suite *terms_suite(void)
{
    Suite *suite = suite_create("systems_terms");
    TCase *tests = tcase_create("systems_terms");
    tcase_add_test(tests, test_nodes);
    tcase_add_test(tests, test_cores);
    tcase_add_test(tests, test_channels);
    tcase_add_test(tests, test_tiles);
    suite_add_tcase(suite, tests);
    return suite;
}

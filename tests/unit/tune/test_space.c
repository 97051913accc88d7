/* The space: its values, and the hardware of an architecture against the file that stands for it. */
#include "tests/unit/tune/suites.h"

#include "models/system/read.h"
#include "models/system/schema.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    uint32_t value[PIM_TUNE_DIMENSIONS];
    double engines; /* docs/models/area.md */
} systems[] = {{"nicepim-4x4", {4, 4, 32, 32, 128, 128, 128}, 25.9},
               {"nicepim-4x8", {4, 8, 128, 8, 16, 144, 32}, 42.8},
               {"nicepim-8x8", {8, 8, 16, 16, 32, 32, 32}, 26.2},
               {"nicepim-16x16", {16, 16, 8, 8, 8, 8, 8}, 26.7}};
enum { SYSTEMS = sizeof systems / sizeof systems[0] };

static struct pim_tune_architecture architecture_of(const struct pim_tune_space *space,
                                                    const uint32_t value[PIM_TUNE_DIMENSIONS])
{
    struct pim_tune_architecture made;
    for (int d = 0; d < PIM_TUNE_DIMENSIONS; d++)
        ck_assert(pim_tune_index(space, (enum pim_tune_dimension)d, value[d], &made.at[d]));
    return made;
}

/* Text of a configuration without name and with the energy of SRAM in thousandths, as the files have it. */
static char *canonical(struct pim_configuration *configuration)
{
    struct pim_error error = {0};
    char set[64];
    double energy = pim_configuration_real(configuration, "energy.sram_pj_per_bit");
    (void)snprintf(set, sizeof set, "energy.sram_pj_per_bit=%.3f", energy);
    ck_assert_int_eq(pim_configuration_set(configuration, set, &error), PIM_OK);
    ck_assert_int_eq(pim_configuration_set(configuration, "name=x", &error), PIM_OK);
    return pim_configuration_write(configuration, false);
}

/* Each file is what the tuner makes of each other one. */
START_TEST(hardware_is_that_of_the_files)
{
    for (int from = 0; from < SYSTEMS; from++) {
        struct pim_tune_space space;
        make_space(&space, systems[from].name);
        for (int to = 0; to < SYSTEMS; to++) {
            struct pim_tune_space other;
            struct pim_configuration *made;
            struct pim_error error = {0};
            struct pim_tune_architecture architecture = architecture_of(&space, systems[to].value);
            make_space(&other, systems[to].name);
            ck_assert_msg(pim_tune_configure(&space, &architecture, &made, &error) == PIM_OK, "%s",
                          error.text);
            char *found = canonical(made), *expected = canonical(other.base);
            ck_assert_str_eq(found, expected);
            free(found);
            free(expected);
            pim_configuration_destroy(made);
            pim_tune_space_terminate(&other);
        }
        pim_tune_space_terminate(&space);
    }
}
END_TEST

START_TEST(areas_are_those_of_the_page)
{
    struct pim_tune_space space;
    make_space(&space, "nicepim-16x16");
    for (int i = 0; i < SYSTEMS; i++) {
        struct pim_tune_architecture architecture = architecture_of(&space, systems[i].value);
        struct pim_area area;
        pim_tune_area(&space, &architecture, &area);
        ck_assert_double_le(fabs(area.engines - systems[i].engines), 0.05);
    }
    pim_tune_space_terminate(&space);
}
END_TEST

/* Table II: 4 numbers of nodes a side, 9 of PEs, 259 sizes of a buffer. */
START_TEST(values_are_those_of_the_paper)
{
    static const uint16_t counts[] = {4, 4, 9, 9, 259, 259, 259};
    struct pim_tune_space space;
    make_space(&space, "nicepim-16x16");
    for (int d = 0; d < PIM_TUNE_DIMENSIONS; d++) {
        ck_assert_uint_eq(space.count[d], counts[d]);
        ck_assert_double_eq(space.feature[d][0], 0);
        ck_assert_double_eq(space.feature[d][counts[d] - 1], 1);
        for (uint16_t i = 1; i < counts[d]; i++) {
            ck_assert_uint_lt(space.value[d][i - 1], space.value[d][i]);
            ck_assert_double_lt(space.feature[d][i - 1], space.feature[d][i]);
        }
    }
    ck_assert_double_eq_tol(space.feature[PIM_TUNE_ROWS][4], 0.5, 1e-15); /* 16 of 1 to 256 */
    pim_tune_space_terminate(&space);
}
END_TEST

/* Every architecture that is drawn or stepped to is a hardware that the models accept. */
START_TEST(random_architectures_are_hardware)
{
    struct pim_tune_space space;
    struct pim_random random;
    make_space(&space, "nicepim-16x16");
    pim_random_initialize(&random, 20240915);
    for (int i = 0; i < 200; i++) {
        struct pim_tune_architecture architecture, before;
        struct pim_configuration *made;
        struct pim_hardware hardware;
        struct pim_error error = {0};
        int moved = 0;
        pim_tune_random(&space, &random, &architecture);
        before = architecture;
        pim_tune_step(&space, &random, &architecture);
        for (int d = 0; d < PIM_TUNE_DIMENSIONS; d++) {
            ck_assert_int_le(abs((int)architecture.at[d] - (int)before.at[d]), 2);
            moved += architecture.at[d] != before.at[d];
        }
        ck_assert_int_eq(moved, 1);
        ck_assert_uint_le(pim_tune_banks(&space, &architecture), PIM_TUNE_NODE_BANKS_MOST);
        ck_assert_msg(pim_tune_configure(&space, &architecture, &made, &error) == PIM_OK, "%s", error.text);
        ck_assert_msg(pim_hardware_read(made, &hardware, &error) == PIM_OK, "%s", error.text);
        ck_assert_uint_eq(hardware.width, pim_tune_value(&space, &architecture, PIM_TUNE_WIDTH));
        pim_configuration_destroy(made);
    }
    pim_tune_space_terminate(&space);
}
END_TEST

/* Twice the DRAM of the page, half of which no architecture would have. */
START_TEST(interleaved_banks_are_refused)
{
    static const struct pim_tune_bounds bounds = {2, 16, 1, 256, 1, 2048};
    struct pim_tune_space good, space;
    struct pim_configuration *base;
    struct pim_error error = {0};
    make_space(&good, "nicepim-16x16");
    ck_assert_int_eq(pim_configuration_create(&pim_hardware_schema, &base, &error), PIM_OK);
    ck_assert_int_eq(
        pim_configuration_read_text(base, "base", good.base_text, strlen(good.base_text), &error), PIM_OK);
    ck_assert_int_eq(pim_configuration_set(base, "dram.interleaved_banks=2", &error), PIM_OK);
    ck_assert_int_eq(pim_configuration_complete(base, &error), PIM_OK);
    ck_assert_int_eq(pim_tune_space_initialize(&space, base, &bounds, PIM_AREA_MID, &error), PIM_BAD_INPUT);
    ck_assert_msg(strstr(error.text, "dram.interleaved_banks: 1: the tuner divides single banks"), "%s",
                  error.text);
    pim_tune_space_terminate(&space);
    pim_tune_space_terminate(&good);
}
END_TEST

Suite *space_suite(void)
{
    Suite *suite = suite_create("space");
    TCase *tests = tcase_create("space");
    tcase_add_test(tests, hardware_is_that_of_the_files);
    tcase_add_test(tests, areas_are_those_of_the_page);
    tcase_add_test(tests, values_are_those_of_the_paper);
    tcase_add_test(tests, random_architectures_are_hardware);
    tcase_add_test(tests, interleaved_banks_are_refused);
    suite_add_tcase(suite, tests);
    return suite;
}

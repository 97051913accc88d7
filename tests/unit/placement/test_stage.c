/* Whole stages: the plan of the paper's Table V, and what is refused. */
#include "tests/unit/placement/suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Table V in our letters: u for tokens, v for heads; Swin-B, 640 x 640, 16 x 16 nodes. */
static const struct {
    uint32_t count;
    struct pim_placement_layer layers[3];
} table_v[4] = {{3, {{1, 1, 1, 256}, {1, 1, 1, 256}, {2, 4, 1, 17}}},
                {2, {{1, 2, 1, 128}, {4, 4, 1, 16}}},
                {3, {{2, 8, 1, 16}, {2, 8, 1, 16}, {4, 16, 1, 4}}},
                {1, {{4, 4, 1, 9}}}};

START_TEST(table_v_stands_near)
{
    struct pim_network *network = shipped("swin-b", 640);
    uint32_t slot_of[529];
    bool taken[529] = {false};
    struct pim_placement_report report;
    struct pim_error error = {0};
    enum pim_status status =
        pim_placement_of_stage(network->transformer, (uint32_t)_i, 16, 16, table_v[_i].layers,
                               table_v[_i].count, slot_of, &report, &error);
    ck_assert_msg(status == PIM_OK, "%s", error.text);
    for (uint32_t b = 0; b < report.branches; b++) {
        ck_assert_uint_lt(slot_of[b], report.branches);
        ck_assert(!taken[slot_of[b]]);
        taken[slot_of[b]] = true;
    }
    /* the figures of docs/mappers/allspark-placement.md, in hundredths of a hop */
    static const uint32_t greedy[4] = {211, 369, 493, 830}, ordered[4] = {759, 813, 1019, 830},
                          any[4] = {1066, 1064, 946, 889};
    ck_assert_uint_eq((uint32_t)(100 * report.greedy.average + 0.5), greedy[_i]);
    ck_assert_uint_eq((uint32_t)(100 * report.ordered.average + 0.5), ordered[_i]);
    ck_assert_uint_eq((uint32_t)(100 * report.random + 0.5), any[_i]);
    pim_network_destroy(network);
}
END_TEST

START_TEST(refusals)
{
    struct pim_network *network = shipped("swin-b", 640);
    struct pim_placement_report report;
    struct pim_error error = {0};
    const struct pim_placement_layer large = {4, 4, 1, 17}, few = {4, 4, 1, 8}, none = {17, 17, 1, 1};
    ck_assert(pim_placement_of_stage(network->transformer, 3, 16, 16, &large, 1, NULL, &report, &error) ==
              PIM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "17 branches"));
    ck_assert_ptr_nonnull(strstr(error.text, "has 16"));
    ck_assert(pim_placement_of_stage(network->transformer, 3, 16, 16, &few, 1, NULL, &report, &error) ==
              PIM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "8 branches"));
    ck_assert_ptr_nonnull(strstr(error.text, "9"));
    ck_assert(pim_placement_of_stage(network->transformer, 3, 16, 16, &none, 1, NULL, &report, &error) ==
              PIM_BAD_INPUT);
    pim_network_destroy(network);
}
END_TEST

/* The example of section VII-B1: 6 sub-arrays of 2 x 1 on 3 x 4 nodes. Stacked in pairs on 16 x 16, branch 1
   of a group stands u rows below branch 0. */
START_TEST(sub_arrays)
{
    const struct pim_placement_layer example = {2, 1, 1, 6}, stacked = {3, 2, 2, 4};
    struct pim_placement_slot *slots;
    struct pim_error error = {0};
    uint32_t total;
    ck_assert_uint_eq(pim_placement_capacity(3, 4, &example), 6);
    ck_assert(pim_placement_slots(16, 16, &stacked, 1, &slots, &total, &error) == PIM_OK);
    ck_assert_uint_eq(total, 4);
    ck_assert_uint_eq(slots[1].y, slots[0].y + 3);
    ck_assert_uint_eq(slots[1].x, slots[0].x);
    ck_assert_uint_eq(slots[2].x, slots[0].x + 2);
    free(slots);
    const struct pim_placement_layer odd = {2, 2, 3, 1};
    ck_assert_uint_eq(pim_placement_capacity(16, 16, &odd) % 3, 0);
}
END_TEST

Suite *stage_suite(void)
{
    Suite *suite = suite_create("stage");
    TCase *tests = tcase_create("stage");
    tcase_add_loop_test(tests, table_v_stands_near, 0, 4);
    tcase_add_test(tests, refusals);
    tcase_add_test(tests, sub_arrays);
    suite_add_tcase(suite, tests);
    return suite;
}

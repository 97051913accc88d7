/* Loop nests: strides, imperfect factors, the large pair, footprints. */
#include "mappers/nest/nest.h"
#include "mappers/overlapim/analysis/overlap.h"
#include "tests/unit/overlap/suites.h"

#include <stdlib.h>
#include <string.h>

static struct pim_nest_loop loop(unsigned dimension, uint32_t count, bool spatial)
{
    return (struct pim_nest_loop){.dimension = (uint8_t)dimension, .spatial = spatial, .count = count};
}

/* 7 rows as 2 banks of 4: the last bank has 3; one more step of 2 x 4 temporal iterations does not exist. */
START_TEST(imperfect_factors)
{
    struct pim_workload workload;
    struct pim_nest nest = {.loops = 2, .cut = 2};
    struct pim_strides strides;
    struct pim_interval box[PIM_DIMENSIONS];
    struct pim_error error = {PIM_OK, ""};
    pim_workload_initialize(&workload);
    workload.size[PIM_P] = 7;
    nest.loop[0] = loop(PIM_P, 2, true);
    nest.loop[1] = loop(PIM_P, 4, false);
    ck_assert(pim_nest_derive(&workload, &nest, &strides, &error) == PIM_OK);
    ck_assert_uint_eq(strides.steps, 4);
    ck_assert_uint_eq(strides.banks, 2);
    ck_assert(pim_nest_data_space(&workload, &nest, &strides, 0, 3, box));
    ck_assert(!pim_nest_data_space(&workload, &nest, &strides, 1, 3, box));
    ck_assert(pim_nest_data_space(&workload, &nest, &strides, 1, 2, box));
    ck_assert_int_eq(box[PIM_P].first, 6);
    nest.loop[0].spatial = false;
    struct pim_overlap_layer layer;
    struct pim_schedule none = {0}, schedule;
    struct pim_overlap overlap;
    pim_overlap_layer_initialize(&layer);
    layer.workload = workload;
    layer.nest = nest;
    ck_assert(pim_overlap_layer_derive(&layer, 0, &error) == PIM_OK);
    ck_assert(pim_overlap_initialize(&overlap, &layer, 0, &none, &error) == PIM_OK);
    ck_assert(pim_overlap_schedule(&overlap, false, &schedule, &error) == PIM_OK);
    ck_assert_uint_eq(schedule.end, 7); /* of 8 steps one has no data space and takes no time */
    pim_schedule_terminate(&schedule);
    pim_overlap_terminate(&overlap);
}
END_TEST

START_TEST(footprints)
{
    struct pim_workload workload;
    const uint32_t extent[PIM_DIMENSIONS] = {1, 4, 3, 5, 2, 3, 3};
    pim_workload_initialize(&workload);
    workload.stride[0] = 2;
    workload.dilation[1] = 2;
    struct pim_footprint footprint = pim_nest_footprint(&workload, extent);
    ck_assert_uint_eq(footprint.weights, 4 * 3 * 9);
    ck_assert_uint_eq(footprint.outputs, 4 * 5 * 2);
    ck_assert_uint_eq(footprint.inputs, 3 * (4 * 2 + 2 + 1) * (1 + 2 * 2 + 1));
}
END_TEST

/* 720 000 data spaces: the closed form against the steps one by one. */
START_TEST(large_pair)
{
    struct pim_overlap_layer layers[2];
    struct pim_schedule schedules[2] = {0};
    struct pim_overlap overlap;
    struct pim_error error = {PIM_OK, ""};
    struct pim_link link = {.transfer = 3};
    for (unsigned i = 0; i < 2; i++) {
        pim_overlap_layer_initialize(&layers[i]);
        struct pim_workload *w = &layers[i].workload;
        w->size[PIM_K] = w->size[PIM_C] = 20;
        w->size[PIM_P] = w->size[PIM_Q] = 60;
        w->size[PIM_R] = w->size[PIM_S] = 3;
        w->padding[0] = w->padding[1] = 1;
        layers[i].latency = 5 + 2 * i;
    }
    layers[0].nest = (struct pim_nest){.loops = 6, .cut = 4};
    layers[0].nest.loop[0] = loop(PIM_P, 60, false);
    layers[0].nest.loop[1] = loop(PIM_K, 20, false);
    layers[0].nest.loop[2] = loop(PIM_Q, 60, false);
    layers[0].nest.loop[3] = loop(PIM_C, 20, true);
    layers[0].nest.loop[4] = loop(PIM_R, 3, false);
    layers[0].nest.loop[5] = loop(PIM_S, 3, false);
    layers[1].nest = layers[0].nest;
    layers[1].nest.loop[1] = loop(PIM_K, 10, false);
    layers[1].nest.loop[3] = loop(PIM_C, 20, false);
    layers[1].nest.loop[6] = loop(PIM_K, 2, false);
    layers[1].nest.loops = 7;
    layers[1].links = 1;
    layers[1].link = &link;
    for (uint32_t i = 0; i < 2; i++)
        ck_assert_msg(pim_overlap_layer_derive(layers, i, &error) == PIM_OK, "%s", error.text);
    schedules[0] = (struct pim_schedule){.latency = 5, .end = layers[0].strides.steps * 5};
    ck_assert(pim_overlap_initialize(&overlap, layers, 1, schedules, &error) == PIM_OK);
    ck_assert_uint_eq(overlap.data_spaces, 720000);
    uint64_t closed = 0, now = 0, steps = layers[1].strides.steps;
    ck_assert(pim_overlap_lockstep(&overlap, &closed, &error) == PIM_OK);
    uint64_t *ready = calloc(steps, sizeof *ready);
    ck_assert_ptr_nonnull(ready);
    ck_assert(pim_overlap_step_ready(&overlap, ready, NULL, &error) == PIM_OK);
    for (uint64_t s = 0; s < steps; s++)
        now = (ready[s] > now ? ready[s] : now) + 7;
    ck_assert_uint_eq(closed, now);
    free(ready);
    pim_overlap_terminate(&overlap);
}
END_TEST

Suite *nest_suite(void)
{
    Suite *suite = suite_create("nest");
    TCase *tests = tcase_create("nest");
    tcase_add_test(tests, imperfect_factors);
    tcase_add_test(tests, footprints);
    tcase_add_test(tests, large_pair);
    suite_add_tcase(suite, tests);
    return suite;
}

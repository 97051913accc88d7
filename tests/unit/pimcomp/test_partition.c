/* Array groups: they tile the weight matrix, and their numbers are those of the released PIMCOMP. */
#include "sim/random.h"
#include "tests/unit/pimcomp/cases.h"
#include "traces/counts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Does the cell of the matrix, in the order of the layer's groups, hold a weight? */
static bool holds_weight(const struct pim_core_layer *layer, const struct pim_core_partition_layer *p,
                         uint64_t cell)
{
    uint32_t row = (uint32_t)(cell / layer->channels), column = (uint32_t)(cell % layer->channels);
    const struct pim_core_stretch s = pim_core_stretch_at(layer, p, row, row + 1);
    return s.channel / (layer->source[0].channels / layer->blocks) ==
           column / (layer->channels / layer->blocks);
}

/* Every cell of the weight matrix, of a grouped convolution every cell that holds a weight, is in one group,
 * and no group is larger than a core. */
static void check_cover(const struct core_case *c)
{
    const struct pim_core_architecture *a = &c->architecture;
    for (uint32_t i = 0; i < c->network.count; i++) {
        const struct pim_core_layer *layer = &c->network.layer[i];
        const struct pim_core_partition_layer *p = &c->partition.layer[i];
        uint64_t cells = (uint64_t)layer->rows * layer->channels, arrays = 0, outside = 0;
        uint8_t *seen = calloc(cells + 1, 1);
        ck_assert_ptr_nonnull(seen);
        for (uint32_t g = 0; g < p->groups; g++) {
            const struct pim_trace_array_group *group = &p->group[g];
            ck_assert_uint_eq(group->layer, i);
            ck_assert_uint_ge(group->rows, 1);
            ck_assert_uint_le(group->rows, a->array_rows);
            ck_assert_uint_le(group->arrays, a->arrays);
            ck_assert_uint_eq(group->arrays % a->arrays_per_group_step, 0);
            ck_assert_uint_ge((uint64_t)group->arrays * a->array_columns, group->columns * group->folds);
            ck_assert((group->fold_stride == 0) == (group->folds == 1));
            ck_assert(group->blocks == 0 || layer->blocks > 1);
            for (uint32_t f = 0; f < group->folds; f++)
                for (uint32_t row = 0; row < group->rows; row++)
                    for (uint32_t column = 0; column < group->columns; column++) {
                        uint64_t r = group->row + f * group->fold_stride + row;
                        if (r >= layer->rows || group->column + column >= layer->channels)
                            outside++;
                        else
                            seen[r * layer->channels + group->column + column]++;
                    }
            arrays += group->arrays;
        }
        ck_assert_uint_eq(arrays, p->arrays);
        for (uint64_t cell = 0; cell < cells; cell++)
            outside += p->unfolding == PIM_UNFOLDING_BLOCKS
                           ? seen[cell] != 1 && (seen[cell] != 0 || holds_weight(layer, p, cell))
                           : seen[cell] != 1;
        ck_assert_uint_eq(outside, 0);
        free(seen);
    }
}

/* Random layers and accelerators; seed printed by a failure's values. */
START_TEST(groups_cover_the_matrix)
{
    struct pim_random random;
    pim_random_initialize(&random, 20260611u + (unsigned)_i);
    for (unsigned n = 0; n < 25; n++) {
        struct core_case c;
        core_case_begin(&c);
        c.architecture = core_architecture(16, 16, (uint32_t)pim_random_between(&random, 6, 40),
                                           (uint32_t)pim_random_between(&random, 3, 40),
                                           (uint32_t)pim_random_between(&random, 9, 40));
        c.architecture.arrays_per_group_step = (uint32_t)pim_random_between(&random, 1, 4);
        uint32_t size = (uint32_t)pim_random_between(&random, 5, 12);
        uint32_t x = core_case_image(&c, (uint32_t)pim_random_between(&random, 1, 20), size, size);
        (void)core_case_convolution(&c, "conv", x, (uint32_t)pim_random_between(&random, 1, 300),
                                    (uint32_t)pim_random_between(&random, 1, 5),
                                    (uint32_t)pim_random_between(&random, 1, 2), 1);
        core_case_lower(&c);
        core_case_map(&c, PIM_CORE_HIGH_THROUGHPUT, (enum pim_unfolding)_i, NULL);
        check_cover(&c);
        core_case_end(&c);
    }
}
END_TEST

/* Table IV by hand: 16 channels to 32, kernel 3, arrays of 16 x 32. */
START_TEST(unfoldings_as_in_table_iv)
{
    static const struct {
        enum pim_unfolding unfolding;
        uint32_t groups, rows, folds, stride, arrays;
    } expected[] = {{PIM_UNFOLDING_I_O_KK, 9, 16, 1, 0, 1},
                    {PIM_UNFOLDING_I_OKK_1, 1, 16, 9, 16, 9},
                    {PIM_UNFOLDING_IK_O_K, 9, 16, 1, 0, 1},
                    {PIM_UNFOLDING_IK_OK_1, 3, 16, 3, 48, 3},
                    {PIM_UNFOLDING_IKK_O_1, 9, 16, 1, 0, 1}};
    for (unsigned i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        struct core_case c;
        core_case_begin(&c);
        c.architecture = core_architecture(2, 2, 10, 16, 32);
        (void)core_case_convolution(&c, "conv", core_case_image(&c, 16, 8, 8), 32, 3, 1, 1);
        core_case_lower(&c);
        core_case_map(&c, PIM_CORE_LOW_LATENCY, expected[i].unfolding, NULL);
        const struct pim_core_partition_layer *p = &c.partition.layer[1];
        ck_assert_uint_eq(p->groups, expected[i].groups);
        ck_assert_uint_eq(p->group[0].rows, expected[i].rows);
        ck_assert_uint_eq(p->group[0].folds, expected[i].folds);
        ck_assert_uint_eq(p->group[0].fold_stride, expected[i].stride);
        ck_assert_uint_eq(p->group[0].arrays, expected[i].arrays);
        core_case_end(&c);
    }
}
END_TEST

/* Grouped and depthwise convolutions on random accelerators: all weights are held, and no zero between groups
 * is counted. */
START_TEST(blocks_cover_the_weights)
{
    struct pim_random random;
    pim_random_initialize(&random, 20260801u + (unsigned)_i);
    for (unsigned n = 0; n < 25; n++) {
        struct core_case c;
        core_case_begin(&c);
        c.architecture = core_architecture(16, 16, (uint32_t)pim_random_between(&random, 6, 40),
                                           (uint32_t)pim_random_between(&random, 3, 40),
                                           (uint32_t)pim_random_between(&random, 9, 40));
        c.architecture.arrays_per_group_step = (uint32_t)pim_random_between(&random, 1, 4);
        uint32_t groups = (uint32_t)pim_random_between(&random, 2, 30);
        uint32_t x = core_case_image(&c, groups * (uint32_t)pim_random_between(&random, 1, 4), 7, 7);
        (void)core_case_grouped(&c, "conv", x, groups * (uint32_t)pim_random_between(&random, 1, 5), groups,
                                (uint32_t)pim_random_between(&random, 1, 4));
        core_case_lower(&c);
        core_case_map(&c, PIM_CORE_HIGH_THROUGHPUT, PIM_UNFOLDING_BLOCKS, NULL);
        const struct pim_core_layer *layer = &c.network.layer[1];
        const struct pim_core_partition_layer *p = &c.partition.layer[1];
        check_cover(&c);
        uint64_t macs = 0, weights = (uint64_t)layer->rows * layer->channels / groups;
        for (uint32_t g = 0; g < p->groups; g++)
            macs += pim_group_macs(&p->group[g]);
        ck_assert_uint_eq(layer->blocks, groups);
        ck_assert_uint_eq(macs, weights); /* no stored zero is counted */
        ck_assert_uint_eq(c.partition.weights, weights);
        ck_assert_uint_eq(c.partition.macs, weights * layer->windows);
        core_case_end(&c);
    }
}
END_TEST

/* A depthwise kernel of 3 x 3 on arrays of 128 x 16: 14 channels in one array, 96 channels in 7. */
START_TEST(depthwise_fills_arrays)
{
    for (unsigned greedy = 0; greedy < 2; greedy++) {
        struct core_case c;
        core_case_begin(&c);
        c.architecture = core_architecture(4, 4, 96, 128, 16);
        (void)core_case_grouped(&c, "conv", core_case_image(&c, 96, 8, 8), 96, 96, 3);
        core_case_lower(&c);
        core_case_map(&c, PIM_CORE_LOW_LATENCY, greedy ? PIM_UNFOLDINGS : PIM_UNFOLDING_IKK_O_1, NULL);
        const struct pim_core_partition_layer *p = &c.partition.layer[1];
        ck_assert_uint_eq(p->arrays, greedy ? 7 : 42);
        ck_assert_uint_eq(p->groups, 7);
        ck_assert_uint_eq(p->group[0].blocks, greedy ? 14 : 0);
        ck_assert_uint_eq(p->group[6].blocks, greedy ? 12 : 0);
        ck_assert_uint_eq(p->bundle, greedy ? 14 : 0);
        core_case_end(&c);
    }
}
END_TEST

/* Equal cycles at equal arrays: HT shares loads between rows of the kernel, LL takes the least memory; where
 * cutting the matrix costs arrays, the usual unfolding stays. */
START_TEST(greedy_choice)
{
    for (unsigned i = 0; i < 3; i++) {
        struct core_case c;
        core_case_begin(&c);
        c.architecture = core_architecture(4, 4, 16, 16, 32);
        (void)core_case_convolution(&c, "conv", core_case_image(&c, i == 2 ? 3 : 16, 8, 8), 32, 3, 1, 1);
        core_case_lower(&c);
        core_case_map(&c, i == 1 ? PIM_CORE_LOW_LATENCY : PIM_CORE_HIGH_THROUGHPUT, PIM_UNFOLDINGS, NULL);
        ck_assert_int_eq(c.partition.layer[1].unfolding,
                         i == 0 ? PIM_UNFOLDING_IK_O_K : PIM_UNFOLDING_IKK_O_1);
        core_case_end(&c);
    }
}
END_TEST

START_TEST(too_large_says_how_many_arrays_are_missing)
{
    struct core_case c;
    struct pim_error error;
    core_case_begin(&c);
    c.architecture = core_architecture(2, 2, 2, 16, 32);
    (void)core_case_convolution(&c, "conv", core_case_image(&c, 16, 8, 8), 40, 3, 1, 1);
    core_case_lower(&c);
    ck_assert_int_eq(pim_core_partition_make(&c.network, &c.architecture, PIM_CORE_LOW_LATENCY,
                                             PIM_UNFOLDINGS, &c.arena, &c.partition, &error),
                     PIM_BAD_INPUT);
    ck_assert_msg(strstr(error.text, "18 arrays") &&
                      strstr(error.text, "10 arrays are missing; 9 cores would do"),
                  "%s", error.text);
    core_case_end(&c);
}
END_TEST

/* 73728 cores of one weight: array.width and array.height are 256 at most. */
START_TEST(more_cores_than_hardware_can_have_are_not_proposed)
{
    struct core_case c;
    struct pim_error error;
    core_case_begin(&c);
    c.architecture = core_architecture(2, 2, 1, 1, 1);
    (void)core_case_convolution(&c, "conv", core_case_image(&c, 64, 8, 8), _i ? 128 : 113, 3, 1, 1);
    core_case_lower(&c);
    ck_assert_int_eq(pim_core_partition_make(&c.network, &c.architecture, PIM_CORE_LOW_LATENCY,
                                             PIM_UNFOLDINGS, &c.arena, &c.partition, &error),
                     PIM_BAD_INPUT);
    ck_assert_msg(strstr(error.text, _i ? "73724 arrays are missing" : "; 65088 cores would do"), "%s",
                  error.text);
    ck_assert_msg(!_i == !!strstr(error.text, "would do"), "%s", error.text);
    core_case_end(&c);
}
END_TEST

/*
 * Networks of tests/data/pimcomp/closed_form_mvm.csv, and the MVMs that our graph has more:
 *  - alexnet: ours pads conv1 as torchvision's, so that the maps are 55, 27 and 13 pixels wide, theirs 54,
 *  26 and
 *    12: 3 row blocks of conv1, 19 of conv2, 18 + 27 + 27 of conv3 to conv5;
 *  - resnet50: ours has the stride of a stage in its 3x3 convolution, theirs in the 1x1 before it, which so
 *  runs
 *    over a quarter of the pixels: 2, 4 and 8 row blocks in the stages of 28, 14 and 7 pixels.
 */
static const struct {
    const char *name;
    uint64_t more;
} published[] = {
    {"alexnet", (55 * 55 - 54 * 54) * 3 + (27 * 27 - 26 * 26) * 19 + (13 * 13 - 12 * 12) * (18 + 27 + 27)},
    {"vgg16", 0},
    {"resnet18", 0},
    {"resnet34", 0},
    {"resnet50", (56 * 56 - 28 * 28) * 2 + (28 * 28 - 14 * 14) * 4 + (14 * 14 - 7 * 7) * 8},
    {"googlenet", 0},
    {"squeezenet", 0},
};

struct totals {
    uint64_t weights, groups, arrays, mvms;
};

/* The row of a network in the released tool's table. */
static struct totals read_totals(const char *name)
{
    char path[512], line[256];
    struct totals t;
    size_t length = strlen(name);
    FILE *file = fopen(pimsim_source_path(path, sizeof path, "tests/data/pimcomp/closed_form_mvm.csv"), "r");
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file))
        if (strncmp(line, name, length) == 0 && line[length] == ',') {
            ck_assert_int_eq(sscanf(line + length, ",128,%" SCNu64 ",%" SCNu64 ",%" SCNu64 ",%" SCNu64,
                                    &t.weights, &t.groups, &t.arrays, &t.mvms),
                             4);
            (void)fclose(file);
            return t;
        }
    ck_abort_msg("no row for %s", name);
    return (struct totals){0};
}

START_TEST(totals_of_the_released_tool)
{
    struct core_case c;
    struct totals t = read_totals(published[_i].name);
    core_case_begin(&c);
    c.architecture = core_architecture(12, 12, 128, 128, 128);
    core_case_network(&c, published[_i].name, NULL);
    core_case_map(&c, PIM_CORE_HIGH_THROUGHPUT, PIM_UNFOLDING_IKK_O_1, NULL);
    uint64_t groups = 0, closed = 0;
    for (uint32_t i = 0; i < c.network.count; i++) {
        const struct pim_core_layer *layer = &c.network.layer[i];
        groups += c.partition.layer[i].groups;
        closed += layer->kind == PIM_CORE_MATRIX ? (uint64_t)layer->windows * ((layer->rows + 127) / 128) : 0;
    }
    ck_assert_uint_eq(core_case_mvms(&c), closed);
    ck_assert_uint_eq(core_case_mvms(&c), t.mvms + published[_i].more);
    ck_assert_uint_eq(core_case_weights(&c), t.weights);
    ck_assert_uint_eq(groups, t.groups);
    ck_assert_uint_eq(c.partition.arrays, t.arrays);
    core_case_end(&c);
}
END_TEST

Suite *partition_suite(void)
{
    Suite *suite = suite_create("partition");
    TCase *t = tcase_create("partition");
    tcase_add_loop_test(t, groups_cover_the_matrix, 0, PIM_UNFOLDINGS);
    tcase_add_loop_test(t, blocks_cover_the_weights, 0, 4);
    tcase_add_test(t, depthwise_fills_arrays);
    tcase_add_test(t, unfoldings_as_in_table_iv);
    tcase_add_test(t, greedy_choice);
    tcase_add_test(t, too_large_says_how_many_arrays_are_missing);
    tcase_add_loop_test(t, more_cores_than_hardware_can_have_are_not_proposed, 0, 2);
    tcase_add_loop_test(t, totals_of_the_released_tool, 0, 7);
    suite_add_tcase(suite, t);
    return suite;
}

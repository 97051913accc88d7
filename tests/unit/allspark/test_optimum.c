/* The automatic plan is the best: against all partitions and all plans of small networks, at many sizes of
   memory. The quick suite takes few of the sizes, the long one many. */
#include "tests/unit/allspark/scenario.h"

#include <stdlib.h>

/* No partition, whatever its ring, is estimated to be quicker than the automatic one, at sizes of memory of
   which each is smaller by 1 / `step`. */
static void expect_best_partition(enum small_network name, unsigned step)
{
    const struct pim_allspark_options automatic = fixed(PIM_ALLSPARK_AUTOMATIC, 0);
    struct pim_network *network = small_network(name);
    struct pim_estimate_hardware hardware = small_hardware(4, 4);
    uint64_t before = 0, fitting = 0;
    for (hardware.memory_bytes = 1 << 16; hardware.memory_bytes > 1024;
         hardware.memory_bytes -= hardware.memory_bytes / step) {
        struct pim_allspark_plan plan, other;
        struct pim_error error = {0};
        bool found = pim_allspark_plan(network, &hardware, &automatic, &plan, &error) == PIM_OK;
        uint64_t cycles = found ? cycles_of(&plan) : UINT64_MAX;
        ck_assert_uint_ge(cycles, before); /* less memory, more time */
        before = cycles;
        if (found)
            pim_allspark_plan_terminate(&plan);
        for (uint32_t u = 1; u <= 4; u++)
            for (uint32_t v = 1; v <= 4; v++) {
                struct pim_allspark_options options = partition(u, v, 0);
                if (pim_allspark_plan(network, &hardware, &options, &other, &error) != PIM_OK)
                    continue;
                ck_assert_uint_ge(cycles_of(&other), cycles);
                pim_allspark_plan_terminate(&other);
                fitting++;
            }
    }
    ck_assert_uint_gt(fitting, 10);
    pim_network_destroy(network);
}

START_TEST(automatic_is_the_best_partition)
{
    expect_best_partition((enum small_network)_i, 2);
}
END_TEST

START_TEST(automatic_is_the_best_partition_in_fine_steps)
{
    expect_best_partition((enum small_network)_i, 4);
}
END_TEST

/* What a plan costs. */
struct cost {
    uint64_t cycles, bytes;
};

enum { COSTS = 4096 };

/* Whether with fewer nodes the largest share would be larger; automatic looks at no others. */
static bool useful(uint32_t work, uint32_t parts)
{
    return parts <= work && (parts == 1 || share_of(work, parts, 0) < share_of(work, parts - 1, 0));
}

/* All plans of a network of two stages that useful partitions and one length of rings can express. */
static unsigned all_costs(const struct pim_network *network, struct cost *costs)
{
    const struct pim_estimate_hardware hardware = small_hardware(4, 4);
    unsigned count = 0;
    for (uint32_t code = 0; code < 4 * 4 * 4 * 4 * 4; code++) {
        uint32_t uv[2][2];
        struct pim_allspark_plan plan;
        struct pim_error error = {0};
        bool all = true;
        for (uint32_t i = 0, rest = code / 4; i < 2; i++, rest /= 16) {
            const struct pim_transformer_stage *stage = &network->transformer->stage[i];
            uv[i][0] = 1 + rest % 4;
            uv[i][1] = 1 + rest / 4 % 4;
            all = all && useful(stage->window * stage->window, uv[i][0]) && useful(stage->heads, uv[i][1]);
        }
        const struct pim_allspark_options options = partitions(2, uv, 1 + code % 4);
        if (!all || pim_allspark_plan(network, &hardware, &options, &plan, &error) != PIM_OK)
            continue;
        costs[count++] = (struct cost){cycles_of(&plan), plan.weight_bytes + plan.workspace_bytes};
        pim_allspark_plan_terminate(&plan);
    }
    return count;
}

/* At the sizes of memory at which every `step`th of these plans begins to fit, automatic is as quick or
   quicker. */
static void expect_best_plan(enum small_network name, unsigned step)
{
    const struct pim_allspark_options automatic = fixed(PIM_ALLSPARK_AUTOMATIC, 0);
    struct pim_network *network = small_network(name);
    struct pim_estimate_hardware hardware = small_hardware(4, 4);
    struct cost *costs = calloc(COSTS, sizeof *costs);
    ck_assert_ptr_nonnull(costs);
    unsigned count = all_costs(network, costs);
    ck_assert_uint_gt(count, 100);
    for (unsigned i = 0; i < count; i += step) {
        uint64_t best = UINT64_MAX;
        for (unsigned j = 0; j < count; j++)
            if (costs[j].bytes <= costs[i].bytes && costs[j].cycles < best)
                best = costs[j].cycles;
        struct pim_allspark_plan plan;
        struct pim_error error = {0};
        hardware.memory_bytes = costs[i].bytes;
        ck_assert_msg(pim_allspark_plan(network, &hardware, &automatic, &plan, &error) == PIM_OK, "%s",
                      error.text);
        ck_assert_uint_le(cycles_of(&plan), best);
        pim_allspark_plan_terminate(&plan);
    }
    free(costs);
    pim_network_destroy(network);
}

static const enum small_network all_planned[] = {SMALL_PADDED, SMALL_ODD};

START_TEST(automatic_against_all_plans)
{
    expect_best_plan(all_planned[_i], 29);
}
END_TEST

START_TEST(automatic_against_all_plans_at_more_sizes)
{
    expect_best_plan(all_planned[_i], 5);
}
END_TEST

Suite *optimum_suite(void)
{
    Suite *suite = suite_create("optimum");
    TCase *tests = tcase_create("optimum");
    tcase_add_loop_test(tests, automatic_is_the_best_partition, 0, SMALL_NETWORKS);
    tcase_add_loop_test(tests, automatic_against_all_plans, 0, 2);
    suite_add_tcase(suite, tests);
    return suite;
}

Suite *optimum_long_suite(void)
{
    Suite *suite = suite_create("optimum_long");
    TCase *tests = tcase_create("optimum");
    tcase_add_loop_test(tests, automatic_is_the_best_partition_in_fine_steps, 0, SMALL_NETWORKS);
    tcase_add_loop_test(tests, automatic_against_all_plans_at_more_sizes, 0, 2);
    suite_add_tcase(suite, tests);
    return suite;
}

/*
 * The paper's equations (13) to (15) against numbers put into them by hand: Swin-T at 224, whose windows have
 * 49 tokens, on 16 x 16 nodes with 8 x 8 elements, links of 8 bytes and memories of 16 bytes a cycle.
 */
#include "tests/unit/allspark/scenario.h"

#include <string.h>

static void expect_none(const struct scenario *scenario, const char *name)
{
    bool found = false;
    for (uint32_t i = 0; i < pim_trace_phases(scenario->trace); i++) {
        const struct pim_trace_phase *phase = pim_trace_phase(scenario->trace, i);
        if (!strstr(phase->name, name))
            continue;
        found = true;
        ck_assert_msg(!phase->has_equations, "%s", phase->name);
        ck_assert_uint_eq(pim_trace_phase_equations(phase), 0);
    }
    ck_assert_msg(found, "no phase %s", name);
}

static void expect(const struct scenario *scenario, const char *name, uint64_t computation, uint64_t transfer,
                   uint64_t sharing)
{
    for (uint32_t i = 0; i < pim_trace_phases(scenario->trace); i++) {
        const struct pim_trace_phase *phase = pim_trace_phase(scenario->trace, i);
        if (strcmp(phase->name, name) != 0)
            continue;
        ck_assert(phase->has_equations);
        ck_assert_msg(phase->equation_terms[PIM_EQUATION_COMPUTATION] == computation, "%s: %lu", name,
                      (unsigned long)phase->equation_terms[PIM_EQUATION_COMPUTATION]);
        ck_assert_msg(phase->equation_terms[PIM_EQUATION_TRANSFER] == transfer, "%s: %lu", name,
                      (unsigned long)phase->equation_terms[PIM_EQUATION_TRANSFER]);
        ck_assert_msg(phase->equation_terms[PIM_EQUATION_WEIGHT_SHARING] == sharing, "%s: %lu", name,
                      (unsigned long)phase->equation_terms[PIM_EQUATION_WEIGHT_SHARING]);
        return;
    }
    ck_abort_msg("no phase %s", name);
}

/* Swin-T on sub-arrays of u x v, `batch` images. */
static void make(struct scenario *scenario, uint32_t u, uint32_t v, uint32_t ring, uint32_t batch,
                 struct pim_estimate_hardware *hardware)
{
    struct pim_error error = {0};
    struct pim_allspark_options options = partition(u, v, ring);
    options.batch = batch;
    *hardware = real_hardware(16, 16);
    ck_assert_uint_eq(hardware->flit_bytes, 8);
    ck_assert_uint_eq(hardware->port_bytes, 16);
    ck_assert_uint_eq(hardware->column_cycles, 1);
    ck_assert_uint_eq(hardware->acu_elements, 8);
    ck_assert_msg(scenario_make(scenario, real_network("swin-t", NULL), hardware, &options, &error), "%s",
                  error.text);
}

/* Tokens on 4 rows (13 on the first), heads on 3 columns; stage 1 has 96 channels: 32 on each. */
static void expect_stages(uint64_t images)
{
    struct scenario scenario;
    struct pim_estimate_hardware hardware;
    make(&scenario, 4, 3, 4, (uint32_t)images, &hardware);
    const uint64_t d = hardware.pe_depth, a = hardware.acu_depth;
    expect(&scenario, "stage1/block0/layer0/merge", images * (13 * 6 * 4 + d), 0, 144); /* 48 x 32, 3 of 4 */
    expect(&scenario, "stage1/block0/layer0/norm1", images * (13 * 4 * 2 + a), images * 7, 0); /* 52 bytes */
    expect(&scenario, "stage1/block0/layer0/query", images * (13 * 12 * 4 + d), 0, 288);       /* 96 x 32 */
    expect(&scenario, "stage1/block1/layer0/value", images * (13 * 12 * 4 + d), 0, 288);
    expect(&scenario, "stage1/block0/layer0/scores", images * (13 * 7 * 4 + d + 13 * 7 * 3 + a), images * 156,
           0);
    expect(&scenario, "stage1/block0/layer0/context", images * (13 * 4 * 7 + d), images * 156, 0);
    expect(&scenario, "stage1/block0/layer0/projection", images * (13 * 12 * 4 + d), images * 104, 288);
    expect(&scenario, "stage1/block0/layer0/ffn_expand", images * (13 * 12 * 16 + d + 13 * 128 / 8 + a),
           images * 104, 1152); /* 96 x 128 */
    expect(&scenario, "stage1/block0/layer0/ffn_contract", images * (13 * 48 * 4 + d), images * 416, 1152);
    /* two heads, 64 channels on a column: each head is a product */
    expect(&scenario, "stage2/block0/layer0/merge", images * (13 * 48 * 8 + d), images * 416, 2304);
    expect(&scenario, "stage2/block0/layer0/scores", images * (2 * (13 * 7 * 4 + d) + 2 * 13 * 7 * 3 + a),
           images * 312, 0);
    expect_none(&scenario, "/shift");
    expect_none(&scenario, "pool");
    expect_none(&scenario, "head");
    scenario_end(&scenario);
}

START_TEST(equations_of_stages)
{
    expect_stages(1);
}
END_TEST

/* (12): an image more adds T^c and T^t, and no T^ws. */
START_TEST(equations_of_batches)
{
    expect_stages(2);
}
END_TEST

/* 4 tokens on a node: 4 x 12 x 12 cycles of the array are fewer than the 96 x 96 + 2 x 4 x 96 bytes take. */
START_TEST(equations_wait_for_memory)
{
    struct scenario scenario;
    struct pim_estimate_hardware hardware;
    make(&scenario, 16, 1, 16, 1, &hardware);
    ck_assert_uint_lt(576 + hardware.pe_depth, 624);
    expect(&scenario, "stage1/block0/layer0/query", 624, 0, 96 * 96 / 8 / 16 * 15);
    scenario_end(&scenario);
}
END_TEST

/* A branch alone on a node gives nothing to any other; 16 in a ring share their weights. */
START_TEST(equations_of_rings)
{
    struct scenario scenario;
    struct pim_estimate_hardware hardware;
    make(&scenario, 1, 1, 16, 1, &hardware);
    expect(&scenario, "stage1/block0/layer0/query", 49 * 12 * 12 + hardware.pe_depth, 0,
           96 * 96 / 8 / 16 * 15);
    expect(&scenario, "stage1/block0/layer0/context", 3 * (49 * 4 * 7 + hardware.pe_depth), 0, 0);
    scenario_end(&scenario);
}
END_TEST

Suite *equations_suite(void)
{
    Suite *suite = suite_create("equations");
    TCase *cases = tcase_create("equations");
    tcase_add_test(cases, equations_of_stages);
    tcase_add_test(cases, equations_of_batches);
    tcase_add_test(cases, equations_wait_for_memory);
    tcase_add_test(cases, equations_of_rings);
    suite_add_tcase(suite, cases);
    return suite;
}

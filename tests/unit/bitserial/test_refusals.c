/* What cannot be is refused, with the reason. */
#include "models/bitserial/operation.h"
#include "models/bitserial/reram.h"
#include "models/bitserial/transfer.h"
#include "models/dram/standard/schema.h"
#include "tests/unit/bitserial/suites.h"
#include "tests/unit/test_main.h"

#include <string.h>

static struct pim_dram_configuration memory(const char *preset)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_configuration *values;
    struct pim_dram_configuration configuration;
    ck_assert(pim_configuration_create(&pim_dram_schema, &values, &error) == PIM_OK);
    ck_assert(pim_dram_preset_read(values, preset, &error) == PIM_OK);
    ck_assert(pim_dram_configure(values, &configuration, &error) == PIM_OK);
    pim_configuration_destroy(values);
    return configuration;
}

#define ADD PIM_BITSERIAL_OPERATION_ADD
#define MULTIPLY PIM_BITSERIAL_OPERATION_MULTIPLY
#define REDUCE PIM_BITSERIAL_OPERATION_REDUCE

/* The bank of the test has 96 rows: 64 data rows. */
static const struct {
    struct pim_bitserial_operation operation;
    const char *reason; /* NULL: allowed */
} operations[] = {
    {{.kind = ADD, .bits = 0}, "bits is 0"},
    {{.kind = ADD, .bits = 65}, "bits is 65"},
    {{.kind = MULTIPLY, .bits = 8, .result_bits = 7}, "allowed are 8 to 16"},
    {{.kind = MULTIPLY, .bits = 8, .result_bits = 17}, "allowed are 8 to 16"},
    {{.kind = REDUCE, .bits = 8, .width = 1}, "a reduction over 1 columns"},
    {{.kind = REDUCE, .bits = 8, .width = 12}, "a reduction over 12 columns"},
    {{.kind = REDUCE, .bits = 8, .width = 1024}, "the 512 columns"},
    {{.kind = ADD, .bits = 8, .a = 0, .b = 8, .result = 16}, NULL},
    {{.kind = ADD, .bits = 8, .a = 0, .b = 8, .result = 56}, NULL},
    {{.kind = ADD, .bits = 8, .a = 0, .b = 8, .result = 57}, "result: rows 57 to 64 do not fit"},
    {{.kind = ADD, .bits = 8, .a = UINT32_MAX, .b = 8, .result = 16}, "a: rows 4294967295 to 4294967302"},
    {{.kind = ADD, .bits = 8, .a = 0, .b = 8, .result = 0}, NULL},
    {{.kind = ADD, .bits = 8, .a = 0, .b = 8, .result = 8}, NULL},
    {{.kind = ADD, .bits = 8, .a = 0, .b = 0, .result = 8}, NULL},
    {{.kind = ADD, .bits = 8, .a = 0, .b = 8, .result = 1}, "rows of a and result overlap"},
    {{.kind = ADD, .bits = 8, .a = 0, .b = 4, .result = 16}, "rows of a and b overlap"},
    {{.kind = MULTIPLY, .bits = 8, .result_bits = 16, .a = 0, .b = 8, .result = 8},
     "rows of result and b overlap"},
    {{.kind = REDUCE, .bits = 8, .width = 2, .a = 0, .result = 8, .scratch = 16},
     "rows of result and scratch overlap"},
    {{.kind = REDUCE, .bits = 8, .width = 2, .a = 0, .result = 8, .scratch = 0},
     "rows of a and scratch overlap"},
};

START_TEST(bad_operations)
{
    const struct pim_bitserial_bank_shape shape = {96, 8, 8};
    struct pim_error error = {PIM_OK, ""};
    enum pim_status status = pim_bitserial_check_operation(&operations[_i].operation, &shape, &error);
    if (!operations[_i].reason) {
        ck_assert_msg(status == PIM_OK, "%s", error.text);
        return;
    }
    ck_assert(status == PIM_BAD_INPUT);
    ck_assert_msg(strstr(error.text, operations[_i].reason) != NULL, "%s", error.text);
}
END_TEST

START_TEST(bad_memories)
{
    const struct {
        const char *preset;
        uint32_t banks, channels, bits;
        uint64_t repeat;
        const char *reason;
    } cases[] = {
        {"hbm2_pim", 1, 1, 8, 1, "dram.taa is 0"},
        {"fast_overlapim", 0, 1, 8, 1, "0 banks of a channel: allowed are 1 to 8"},
        {"fast_overlapim", 9, 1, 8, 1, "9 banks of a channel: allowed are 1 to 8"},
        {"fast_overlapim", 8, 33, 8, 1, "33 channels"},
        {"fast_overlapim", 8, 0, 8, 1, "0 channels"},
        {"fast_overlapim", 8, 1, 8, 0, "0 repetitions"},
        {"fast_overlapim", 8, 1, 8, UINT64_MAX, "allowed are 1 to 2^40"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pim_dram_configuration configuration = memory(cases[i].preset);
        struct pim_bitserial_request request = {.operation = {.kind = ADD, .bits = cases[i].bits},
                                                .banks = cases[i].banks,
                                                .channels = cases[i].channels,
                                                .repeat = cases[i].repeat};
        pim_bitserial_place(&request.operation);
        struct pim_bitserial_cost cost;
        struct pim_error error = {PIM_OK, ""};
        ck_assert(pim_bitserial_run(&configuration.specification, &configuration.energy, &request, &cost,
                                    &error) == PIM_BAD_INPUT);
        ck_assert_msg(strstr(error.text, cases[i].reason) != NULL, "%s", error.text);
    }
}
END_TEST

/* Steps longer than the time between two refreshes. */
START_TEST(refreshes_keep_up)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_dram_configuration configuration = memory("fast_overlapim");
    ck_assert(pim_bitserial_check_refresh(&configuration.specification, &error) == PIM_OK);
    configuration.specification.parameter[PIM_DRAM_T_AA] = 3900 - 260 - 29 - 16;
    ck_assert(pim_bitserial_check_refresh(&configuration.specification, &error) == PIM_OK);
    configuration.specification.parameter[PIM_DRAM_T_AA]++;
    ck_assert(pim_bitserial_check_refresh(&configuration.specification, &error) == PIM_BAD_INPUT);
    ck_assert_ptr_nonnull(
        strstr(error.text, "dram.trefi is 3900 cycles of 1000 ps: a step takes up to 3641 cycles"));
    ck_assert_ptr_nonnull(strstr(error.text, "as dram.trefi_ns = 3901,"));
    /* what pim_dram_configure() names where refreshes of 3900 cycles are too close (dram_channel) */
    configuration = memory("fast_overlapim");
    configuration.specification.parameter[PIM_DRAM_T_RFC] = 3720;
    ck_assert(pim_bitserial_check_refresh(&configuration.specification, &error) == PIM_OK);
    configuration.specification.parameter[PIM_DRAM_T_RFC] = 3900;
    configuration.specification.parameter[PIM_DRAM_T_REFI] = 4080;
    ck_assert(pim_bitserial_check_refresh(&configuration.specification, &error) == PIM_OK);
    configuration.specification.parameter[PIM_DRAM_T_REFI] = 4079;
    ck_assert(pim_bitserial_check_refresh(&configuration.specification, &error) == PIM_BAD_INPUT);
}
END_TEST

START_TEST(bad_moves)
{
    const struct {
        struct pim_bitserial_transfer transfer;
        const char *reason;
    } cases[] = {
        {{.reach = PIM_BITSERIAL_REACH_BANK, .rows = 0, .pairs = 1, .link_bytes = 1, .bus_bytes = 1},
         "a move of 0 rows"},
        {{.reach = PIM_BITSERIAL_REACH_COLUMN, .rows = 16385, .pairs = 1, .link_bytes = 1, .bus_bytes = 1},
         "allowed are 1 to 16368"},
        {{.reach = PIM_BITSERIAL_REACH_BANK, .rows = 1, .pairs = 5, .link_bytes = 1, .bus_bytes = 1},
         "5 moves at once: allowed are 1 to 4"},
        {{.reach = PIM_BITSERIAL_REACH_STACK, .rows = 1, .pairs = 33, .link_bytes = 1, .bus_bytes = 1},
         "33 moves at once"},
        {{.reach = PIM_BITSERIAL_REACH_COLUMN,
          .rows = 1,
          .shift = 8192,
          .pairs = 1,
          .link_bytes = 1,
          .bus_bytes = 1},
         "a move by 8192 columns"},
        {{.reach = PIM_BITSERIAL_REACH_STACK, .rows = 1, .pairs = 1, .link_bytes = 1}, "at least 1 byte"},
    };
    struct pim_dram_configuration configuration = memory("fast_overlapim");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pim_bitserial_transfer_cost cost;
        struct pim_error error = {PIM_OK, ""};
        ck_assert(pim_bitserial_move(&configuration.specification, &configuration.energy, &cases[i].transfer,
                                     &cost, &error) == PIM_BAD_INPUT);
        ck_assert_msg(strstr(error.text, cases[i].reason) != NULL, "%s", error.text);
    }
}
END_TEST

START_TEST(bad_reram)
{
    struct pim_reram_program program = {0};
    struct pim_error error = {PIM_OK, ""};
    ck_assert(pim_reram_add(&program, 0, &error) == PIM_BAD_INPUT);
    ck_assert(pim_reram_multiply(&program, 33, &error) == PIM_BAD_INPUT);
    ck_assert(program.count == 0);
    pim_reram_program_terminate(&program);
}
END_TEST

Suite *suite_bitserial_refusals(void)
{
    Suite *suite = suite_create("bitserial_refusals");
    TCase *cases = tcase_create("refusals");
    tcase_add_loop_test(cases, bad_operations, 0, (int)(sizeof operations / sizeof operations[0]));
    tcase_add_test(cases, bad_memories);
    tcase_add_test(cases, bad_moves);
    tcase_add_test(cases, refreshes_keep_up);
    tcase_add_test(cases, bad_reram);
    suite_add_tcase(suite, cases);
    return suite;
}

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, suite_bitserial_functional());
    srunner_add_suite(runner, suite_bitserial_timing());
    srunner_add_suite(runner, suite_bitserial_refusals());
}

/* A whole small layer with real bits: 128 outputs of 256 inputs, its inputs shared out to two channels,
 * timed with commands; against integers. */
#include "tests/unit/channel/suites.h"
#include "tests/unit/channel/support.h"

#include <stdio.h>

enum { COLUMNS = 8192, INPUTS = 128, OUTPUTS = 64, BANKS = 2, BITS = 6, ROWS = 256, SUM = 2 * BITS + 7 };
enum { WEIGHT = 0, INPUT = 8, PRODUCT = 16, SCRATCH = 32, RESULT = 64, OTHER = 96, TOTAL = 128 };

static uint32_t draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 40) & ((1U << BITS) - 1);
}

static const char text[] =
    ".unit 0\n"
    "row_compute multiply bits=6 size=12 source=0 second=8 result=16 banks=2\n"
    "row_compute reduce bits=12 size=7 source=16 second=32 result=64 banks=2 after=1\n"
    "row_send channel peer=1 row=64 rows=19 banks=2 after=1\n"
    "row_compute copy bits=6 source=0 result=64 banks=2\n" /* overwrites what is sent */
    ".unit 1\n"
    "row_receive channel peer=0 row=96 rows=19 banks=2\n"
    "row_compute multiply bits=6 size=12 source=0 second=8 result=16 banks=2\n"
    "row_compute reduce bits=12 size=7 source=16 second=32 result=64 banks=2 after=1\n"
    "row_compute add bits=20 source=64 second=96 result=128 banks=2 after=%s\n"
    "row_move bank source=128 result=128 rows=20 first_bank=1 to_bank=7 after=1\n";

/* Numbers of a column of a group of INPUTS columns: a weight and an input each; the sums of the layer. */
static void fill(struct pim_channel_values *values, uint64_t sums[BANKS][OUTPUTS])
{
    uint64_t state = 7;
    for (uint32_t channel = 0; channel < 2; channel++) {
        uint32_t input[INPUTS];
        for (uint32_t i = 0; i < INPUTS; i++)
            input[i] = draw(&state);
        for (uint32_t bank = 0; bank < BANKS; bank++) {
            struct pim_bitserial_bits *bits = pim_channel_values_bank(values, channel, bank);
            ck_assert_ptr_nonnull(bits);
            for (uint32_t column = 0; column < COLUMNS; column++) {
                uint32_t weight = draw(&state);
                pim_bitserial_set_number(bits, WEIGHT, BITS, column, weight);
                pim_bitserial_set_number(bits, INPUT, BITS, column, input[column % INPUTS]);
                sums[bank][column / INPUTS] += (uint64_t)weight * input[column % INPUTS];
            }
        }
    }
}

/* Outputs that differ from the integers. */
static unsigned count_wrong(const char *program)
{
    struct run run = {.width = 2, .height = 1, .settings = {"levels.costs=commands"}, .values_rows = ROWS};
    uint64_t sums[BANKS][OUTPUTS] = {{0}};
    unsigned wrong = 0;
    begin(&run, program);
    ck_assert_msg(run.status == PIM_OK, "%s", run.error.text);
    fill(run.values, sums);
    finish(&run);
    ck_assert_msg(run.status == PIM_OK, "%s", run.error.text);
    for (uint32_t bank = 0; bank < BANKS; bank++) {
        const struct pim_bitserial_bits *bits = pim_channel_values_bank(run.values, 1, bank == 1 ? 7 : 0);
        for (uint32_t output = 0; output < OUTPUTS; output++)
            wrong += pim_bitserial_number(bits, TOTAL, SUM + 1, output * INPUTS) != sums[bank][output];
    }
    clean(&run);
    return wrong;
}

START_TEST(a_layer_computes_what_integers_do)
{
    char program[1024];
    (void)snprintf(program, sizeof program, text, "1,3");
    ck_assert_uint_eq(count_wrong(program), 0);
}
END_TEST

/* Without a dependency on the receive the sums are added before those of the other channel have come. */
START_TEST(a_missing_dependency_computes_wrong)
{
    char program[1024];
    (void)snprintf(program, sizeof program, text, "1");
    ck_assert_uint_gt(count_wrong(program), OUTPUTS);
}
END_TEST

START_TEST(rows_without_values_are_refused)
{
    struct run run = {.width = 1, .height = 1, .values_rows = ROWS};
    begin(&run, "row_move bank source=250 result=0 rows=7 banks=1 to_bank=1\n");
    finish(&run);
    ck_assert_int_eq(run.status, PIM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(run.error.text, "row 256 has no values: 256 rows have"));
    clean(&run);
}
END_TEST

Suite *channel_values_suite(void)
{
    Suite *suite = suite_create("channel_values");
    TCase *tests = tcase_create("values");
    tcase_add_test(tests, a_layer_computes_what_integers_do);
    tcase_add_test(tests, a_missing_dependency_computes_wrong);
    tcase_add_test(tests, rows_without_values_are_refused);
    suite_add_tcase(suite, tests);
    return suite;
}

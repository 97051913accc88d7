/* Costs by commands: an instruction alone against models/bitserial, which issues every command; refreshes,
 * and what works at the same time, against the sequencer with the work of all. */
#include "models/bitserial/operation.h"
#include "models/bitserial/transfer.h"
#include "tests/unit/channel/suites.h"
#include "tests/unit/channel/support.h"
#include "tests/unit/test_main.h"

#include <stdio.h>
#include <string.h>

#define COMMANDS "levels.costs=commands"
#define NO_REFRESH "levels.memory_values=dram = { refresh = false; };"

static const struct {
    const char *text;
    enum pim_bitserial_kind kind;
    uint32_t bits, result_bits, width;
} operations[] = {
    {"row_compute add bits=16", PIM_BITSERIAL_OPERATION_ADD, 16, 0, 0},
    {"row_compute subtract bits=5", PIM_BITSERIAL_OPERATION_SUBTRACT, 5, 0, 0},
    {"row_compute multiply bits=4 size=8", PIM_BITSERIAL_OPERATION_MULTIPLY, 4, 8, 0},
    {"row_compute multiply bits=4 size=5", PIM_BITSERIAL_OPERATION_MULTIPLY, 4, 5, 0},
    {"row_compute reduce bits=3 size=4", PIM_BITSERIAL_OPERATION_REDUCE, 3, 0, 16},
    {"row_compute copy bits=9", PIM_BITSERIAL_OPERATION_COPY, 9, 0, 0},
    {"row_transpose bits=6", PIM_BITSERIAL_OPERATION_TRANSPOSE, 6, 0, 0},
};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

static void run_operation(struct run *run, int which, unsigned banks, unsigned count)
{
    char text[256];
    bool two = operations[which].kind != PIM_BITSERIAL_OPERATION_COPY &&
               operations[which].kind != PIM_BITSERIAL_OPERATION_TRANSPOSE;
    (void)snprintf(text, sizeof text, "%s source=0%s result=200 banks=%u count=%u\n", operations[which].text,
                   two ? " second=100" : "", banks, count);
    replay_well(run, text);
}

static void exact_cost(const struct run *run, int which, uint32_t banks, uint32_t count, bool refresh,
                       struct pim_bitserial_cost *cost)
{
    const struct pim_channel_memory *memory = &run->system->hardware.channels.memory;
    const struct pim_dram_energy_parameters energy = {.model = PIM_DRAM_ENERGY_PER_BIT,
                                                      .activate_pj = 909.0,
                                                      .read_pj_per_bit = 2.68,
                                                      .write_pj_per_bit = 2.68,
                                                      .io_pj_per_bit = 0.80};
    struct pim_bitserial_request request = {.operation = {.kind = operations[which].kind,
                                                          .bits = operations[which].bits,
                                                          .result_bits = operations[which].result_bits,
                                                          .width = operations[which].width},
                                            .banks = banks,
                                            .channels = 1,
                                            .repeat = count,
                                            .refresh = refresh};
    struct pim_error error = {.status = PIM_OK};
    pim_bitserial_place(&request.operation);
    ck_assert_msg(pim_bitserial_run(&memory->specification, &energy, &request, cost, &error) == PIM_OK, "%s",
                  error.text);
}

/* One bank, and all eight: to the cycle. Commands, bits and energy too. */
START_TEST(operations_alone_are_exact)
{
    const int which = PIM_CASE(_i);
    static const uint32_t banks[] = {1, 8};
    for (unsigned i = 0; i < 4; i++) {
        struct run run = {.width = 1, .height = 1, .settings = {COMMANDS, NO_REFRESH}};
        struct pim_bitserial_cost cost;
        uint32_t count = i < 2 ? 1 : 5;
        run_operation(&run, which, banks[i % 2], count);
        exact_cost(&run, which, banks[i % 2], count, false, &cost);
        ck_assert_uint_eq(run.seen[0][0].end, cost.timing.cycles);
        ck_assert_uint_eq(run.result.actions.dram_activates,
                          cost.commands[PIM_DRAM_ACT] + cost.commands[PIM_DRAM_ACT2]);
        ck_assert_uint_eq(run.result.actions.dram_bits,
                          (cost.commands[PIM_DRAM_RD] + cost.commands[PIM_DRAM_WR]) * 32 * 8);
        ck_assert_double_eq_tol(run.result.energy.total, cost.energy.modelled, 1e-9 * cost.energy.modelled);
        clean(&run);
    }
}
END_TEST

/* Refreshes are counted as whole: within 2 % of a run from command to command that makes them. */
START_TEST(refreshes_are_close)
{
    const int which = PIM_CASE(_i);
    struct run run = {.width = 1, .height = 1, .settings = {COMMANDS}};
    struct pim_bitserial_cost cost;
    run_operation(&run, which, 8, 40);
    exact_cost(&run, which, 8, 40, true, &cost);
    double exact = (double)cost.timing.cycles, mine = (double)run.seen[0][0].end;
    ck_assert_msg(mine >= 0.98 * exact && mine <= 1.02 * exact, "%s: %.0f, by commands %.0f",
                  operations[which].text, mine, exact);
    clean(&run);
}
END_TEST

/* Two operations on halves of a channel at once, against all eight banks from command to command. */
START_TEST(halves_of_a_channel_share_its_rows)
{
    struct run run = {.width = 1, .height = 1, .settings = {COMMANDS, NO_REFRESH}};
    struct pim_bitserial_cost all;
    replay_well(
        &run, "row_compute add bits=16 source=0 second=100 result=200 banks=4 bank_stride=2\n"
              "row_compute add bits=16 source=0 second=100 result=200 first_bank=1 banks=4 bank_stride=2\n");
    exact_cost(&run, 0, 8, 1, false, &all);
    double exact = (double)all.timing.cycles, mine = (double)run.result.cycles;
    ck_assert_msg(mine >= 0.98 * exact && mine <= 1.02 * exact, "%.0f, by commands %.0f", mine, exact);
    ck_assert_uint_ge(run.result.cycles, run.result.actions.dram_activates * 16 / 4); /* tFAW */
    clean(&run);
}
END_TEST

/* Rows of one bank to another channel, against the move that issues every command of both. */
START_TEST(messages_are_close)
{
    static const uint32_t rows[] = {1, 4, 16, 64};
    for (unsigned i = 0; i < 4; i++) {
        struct run run = {.width = 1, .height = 2, .settings = {COMMANDS, NO_REFRESH}};
        char text[256];
        (void)snprintf(
            text, sizeof text,
            ".unit 0\nrow_send stack peer=1 row=0 rows=%u\n.unit 1\nrow_receive stack peer=0 row=0 rows=%u\n",
            rows[i], rows[i]);
        replay_well(&run, text);
        const struct pim_channel_memory *memory = &run.system->hardware.channels.memory;
        struct pim_dram_specification specification = memory->specification;
        const struct pim_dram_energy_parameters energy = {.model = PIM_DRAM_ENERGY_NONE};
        const struct pim_bitserial_transfer transfer = {.reach = PIM_BITSERIAL_REACH_STACK,
                                                        .rows = rows[i],
                                                        .pairs = 1,
                                                        .link_bytes = memory->link_bytes,
                                                        .bus_bytes = memory->bus_bytes};
        struct pim_bitserial_transfer_cost cost;
        struct pim_error error = {.status = PIM_OK};
        ck_assert_int_eq(pim_bitserial_move(&specification, &energy, &transfer, &cost, &error), PIM_OK);
        double exact = (double)cost.cycles, mine = (double)run.result.cycles;
        ck_assert_msg(mine >= 0.97 * exact && mine <= 1.10 * exact, "%u rows: %.0f, by commands %.0f",
                      rows[i], mine, exact);
        clean(&run);
    }
}
END_TEST

Suite *channel_commands_suite(void)
{
    Suite *suite = suite_create("channel_commands");
    TCase *tests = tcase_create("commands");
    tcase_add_loop_test(tests, operations_alone_are_exact, 0, PIM_CASES(OPERATIONS));
    tcase_add_loop_test(tests, refreshes_are_close, 0, PIM_CASES(OPERATIONS));
    tcase_add_test(tests, halves_of_a_channel_share_its_rows);
    tcase_add_test(tests, messages_are_close);
    suite_add_tcase(suite, tests);
    return suite;
}

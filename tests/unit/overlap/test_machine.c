/* The closed forms of the machine against the commands of the channel, for every number of busy banks. */
#include "mappers/overlapim/machine.h"
#include "mappers/overlapim/model.h"
#include "models/system/read.h"
#include "models/system/schema.h"
#include "tests/unit/overlap/suites.h"
#include "tests/unit/test_main.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

struct sides {
    struct pim_configuration *configuration;
    struct pim_hardware hardware;
    struct pim_machine machine;
    struct pim_channel_costs *costs;
};

/* The machine of a file with at most three changes; NULL: no more. */
static enum pim_status read_machine(const char *file, const char *const settings[3],
                                    struct pim_configuration **configuration, struct pim_machine *machine,
                                    struct pim_error *error)
{
    char path[PATH_MAX];
    ck_assert(pim_configuration_create(&pim_hardware_schema, configuration, error) == PIM_OK);
    ck_assert_msg(pim_configuration_read_file(*configuration, pimsim_source_path(path, sizeof path, file),
                                              error) == PIM_OK,
                  "%s", error->text);
    for (unsigned i = 0; i < 3 && settings[i]; i++)
        ck_assert_msg(pim_configuration_set(*configuration, settings[i], error) == PIM_OK, "%s", error->text);
    ck_assert_msg(pim_configuration_complete(*configuration, error) == PIM_OK, "%s", error->text);
    return pim_machine_read(*configuration, machine, error);
}

static const char hbm2[] = "configs/hardware/fast-overlapim-hbm2.cfg";

static void set_up_with(struct sides *sides, const char *file, const char *const settings[3])
{
    struct pim_error error = {PIM_OK, ""};
    ck_assert(read_machine(file, settings, &sides->configuration, &sides->machine, &error) == PIM_OK);
    ck_assert_msg(pim_hardware_read(sides->configuration, &sides->hardware, &error) == PIM_OK, "%s",
                  error.text);
    ck_assert(pim_channel_costs_create(&sides->hardware.channels.memory, &sides->costs, &error) == PIM_OK);
}

static void set_up(struct sides *sides)
{
    static const char *const settings[3] = {"levels.costs=commands",
                                            "levels.memory_values=dram = { refresh = false; };"};
    set_up_with(sides, hbm2, settings);
}

static void tear_down(struct sides *sides)
{
    pim_channel_costs_destroy(sides->costs);
    pim_configuration_destroy(sides->configuration);
}

static void check(struct sides *sides, unsigned kind, const struct pim_instruction *instruction,
                  uint64_t estimate, double percent)
{
    struct pim_channel_cost cost;
    struct pim_error error = {PIM_OK, ""};
    ck_assert_msg(pim_channel_cost_of(sides->costs, kind, instruction, &cost, &error) == PIM_OK, "%s",
                  error.text);
    double off = 100 * ((double)estimate / (double)cost.cycles - 1);
    ck_assert_msg(off <= percent && off >= -percent,
                  "%s of %u banks: %" PRIu64 " cycles estimated, %" PRIu64 " by commands",
                  kind < PIM_OPCODES ? pim_opcode_name(kind) : "rows", instruction->u.row_compute.banks,
                  estimate, cost.cycles);
}

static struct pim_instruction compute(unsigned operation, uint16_t banks, uint8_t bits, uint8_t size)
{
    struct pim_instruction instruction = {.opcode = PIM_OP_ROW_COMPUTE, .detail = (uint8_t)operation};
    instruction.u.row_compute.second = 64;
    instruction.u.row_compute.result = 128;
    instruction.u.row_compute.bits = bits;
    instruction.u.row_compute.size = size;
    instruction.u.row_compute.count = 2;
    instruction.u.row_compute.banks = banks;
    instruction.u.row_compute.bank_stride = 1;
    return instruction;
}

START_TEST(operations)
{
    struct sides sides;
    set_up(&sides);
    for (uint16_t banks = 1; banks <= 8; banks++) {
        struct pim_instruction add = compute(PIM_ROW_ADD, banks, 32, 0);
        struct pim_instruction multiply = compute(PIM_ROW_MULTIPLY, banks, 16, 32);
        check(&sides, PIM_OP_ROW_COMPUTE, &add, 2 * pim_machine_add(&sides.machine, banks), 1.2);
        check(&sides, PIM_OP_ROW_COMPUTE, &multiply, 2 * pim_machine_multiply(&sides.machine, banks), 1.2);
        for (uint8_t levels = 1; levels <= 13; levels += 12) {
            struct pim_instruction reduce = compute(PIM_ROW_REDUCE, banks, 32, levels);
            struct pim_reduction_cycles tree =
                pim_machine_reduce(&sides.machine, UINT64_C(1) << levels, banks);
            check(&sides, PIM_OP_ROW_COMPUTE, &reduce, 2 * (tree.move + tree.add), 1.2);
        }
    }
    tear_down(&sides);
}
END_TEST

/* Rows of a column that hold a reduction of words over all columns, counted by hand: two operands of w bits,
 * a product of 2 w, and a sum that grows by a bit a level; one fewer is refused. */
START_TEST(rows_are_counted)
{
    static const struct {
        unsigned bits, columns, rows;
    } cases[] = {{4, 8192, 53}, {6, 8192, 73}, {16, 1024, 193}, {2, 8, 25}, {2, 64, 26}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (unsigned fewer = 0; fewer < 2; fewer++) {
            char text[3][64];
            const char *const settings[3] = {text[0], text[1], text[2]};
            struct pim_error error = {PIM_OK, ""};
            struct pim_configuration *configuration;
            struct pim_machine machine;
            (void)snprintf(text[0], sizeof text[0], "levels.word_bits=%u", cases[i].bits);
            (void)snprintf(text[1], sizeof text[1], "levels.columns=%u", cases[i].columns);
            (void)snprintf(text[2], sizeof text[2], "levels.rows=%u", cases[i].rows - fewer);
            ck_assert_msg(read_machine(hbm2, settings, &configuration, &machine, &error) ==
                              (fewer ? PIM_BAD_INPUT : PIM_OK),
                          "%u bits, %u columns, %u rows: %s", cases[i].bits, cases[i].columns,
                          cases[i].rows - fewer, error.text);
            pim_configuration_destroy(configuration);
        }
}
END_TEST

/* Five of a dimension over two banks and four steps: three of eight do not exist, nor what is loaded for
 * them, also where it is of other dimensions. */
START_TEST(loads_of_what_does_not_exist)
{
    static const struct {
        uint8_t outer, inner; /* dimensions */
        uint64_t inputs, weights;
    } cases[] = {{PIM_K, PIM_P, 5 * 12 / 2, 3}, {PIM_P, PIM_K, 3, 5 * 12 / 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pim_mapped_layer layer = {.product = true};
        struct pim_nest nest = {.loops = 3,
                                .cut = 3,
                                .loop = {{.dimension = cases[i].outer, .spatial = true, .count = 2},
                                         {.dimension = cases[i].outer, .count = 4},
                                         {.dimension = cases[i].inner, .count = 12}}};
        struct pim_strides strides;
        struct pim_column_use use;
        struct pim_error error = {PIM_OK, ""};
        pim_workload_initialize(&layer.workload);
        layer.workload.size[cases[i].outer] = 5;
        layer.workload.size[cases[i].inner] = 12;
        ck_assert_msg(pim_nest_derive(&layer.workload, &nest, &strides, &error) == PIM_OK, "%s", error.text);
        pim_column_use(&layer, &nest, &strides, &use);
        pim_column_use_existing(&layer, &nest, &strides, &use);
        ck_assert_uint_eq(use.input_loads, cases[i].inputs);
        ck_assert_uint_eq(use.weight_loads, cases[i].weights);
        ck_assert_uint_eq(use.output_stores, 5 * 12 / 2);
    }
}
END_TEST

/* Commands take cycles of the memory, estimates are in those of the logic: other clocks are refused, but not
 * with costs that are counted by the clock of the logic. */
START_TEST(clocks_of_commands)
{
    static const char *const cases[][3] = {{"levels.costs=figure", "clock.logic_khz=500000"},
                                           {"levels.costs=commands", "clock.logic_khz=1000000"},
                                           {"levels.costs=commands", "clock.logic_khz=500000"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pim_error error = {PIM_OK, ""};
        struct pim_configuration *configuration;
        struct pim_machine machine;
        ck_assert(read_machine(hbm2, cases[i], &configuration, &machine, &error) ==
                  (i == 2 ? PIM_BAD_INPUT : PIM_OK));
        ck_assert(i != 2 || strstr(error.text, "it must be clock.memory_khz, 1000000"));
        pim_configuration_destroy(configuration);
    }
}
END_TEST

/* What commands alone look at is no obstacle to figures. */
START_TEST(commands_alone)
{
    static const char *const settings[2][3] = {
        {"levels.costs=figure", "levels.refresh_cycles=9000", "levels.refresh_interval_cycles=9"},
        {"levels.costs=commands", "levels.refresh_cycles=9000", "levels.refresh_interval_cycles=9"}};
    struct pim_machine machine;
    for (unsigned i = 0; i < 2; i++) {
        struct pim_configuration *configuration = NULL;
        struct pim_error error = {PIM_OK, ""};
        const enum pim_status status = read_machine(hbm2, settings[i], &configuration, &machine, &error);
        ck_assert_msg((status == PIM_OK) == (i == 0), "%s", error.text);
        ck_assert(i == 0 || strstr(error.text, "levels.refresh_cycles: must be below") != NULL);
        ck_assert(i == 1 || pim_machine_refresh(&machine, 100000) == 0);
        pim_configuration_destroy(configuration);
    }
}
END_TEST

START_TEST(rows)
{
    struct sides sides;
    set_up(&sides);
    for (uint16_t banks = 1; banks <= 8; banks++) {
        struct pim_instruction transpose = {.opcode = PIM_OP_ROW_TRANSPOSE};
        struct pim_instruction move = {.opcode = PIM_OP_ROW_MOVE, .detail = PIM_REACH_COLUMN};
        struct pim_instruction message = {.opcode = PIM_OP_ROW_SEND};
        transpose.u.row_compute.result = 128;
        transpose.u.row_compute.bits = 16;
        transpose.u.row_compute.count = 4;
        transpose.u.row_compute.banks = banks;
        transpose.u.row_compute.bank_stride = 1;
        move.u.row_move.rows = message.u.row_message.rows = 128;
        move.u.row_move.banks = message.u.row_message.banks = banks;
        move.u.row_move.bank_stride = message.u.row_message.bank_stride = 1;
        uint64_t stream = pim_machine_rows(&sides.machine, 128, banks);
        check(&sides, PIM_OP_ROW_TRANSPOSE, &transpose, stream, 1.2);
        double alone = banks == 1 ? 6 : 1.2; /* closing a row takes less behind reads than behind writes */
        check(&sides, PIM_CHANNEL_READ, &message, stream, alone);
        check(&sides, PIM_CHANNEL_WRITE, &message, stream, alone);
        check(&sides, PIM_OP_ROW_MOVE, &move, pim_machine_move(&sides.machine, 128, banks), 5);
    }
    tear_down(&sides);
}
END_TEST

/* Steps of crossbars are closed forms on both sides; a sum over columns is rounded up level by level here. */
START_TEST(steps_of_crossbars)
{
    static const char *const settings[3] = {"levels.costs=steps", NULL};
    struct sides sides;
    set_up_with(&sides, "configs/hardware/fast-overlapim-reram.cfg", settings);
    for (uint16_t banks = 1; banks <= 256; banks *= 4) {
        struct pim_instruction add = compute(PIM_ROW_ADD, banks, 32, 0);
        struct pim_instruction multiply = compute(PIM_ROW_MULTIPLY, banks, 16, 32);
        struct pim_instruction reduce = compute(PIM_ROW_REDUCE, banks, 32, 6);
        struct pim_reduction_cycles tree = pim_machine_reduce(&sides.machine, 64, banks);
        check(&sides, PIM_OP_ROW_COMPUTE, &add, 2 * pim_machine_add(&sides.machine, banks), 0);
        check(&sides, PIM_OP_ROW_COMPUTE, &multiply, 2 * pim_machine_multiply(&sides.machine, banks), 0);
        check(&sides, PIM_OP_ROW_COMPUTE, &reduce, 2 * (tree.move + tree.add), 0.3);
    }
    tear_down(&sides);
}
END_TEST

Suite *machine_suite(void)
{
    Suite *suite = suite_create("machine");
    TCase *tests = tcase_create("machine");
    tcase_add_test(tests, operations);
    tcase_add_test(tests, rows);
    tcase_add_test(tests, rows_are_counted);
    tcase_add_test(tests, loads_of_what_does_not_exist);
    tcase_add_test(tests, clocks_of_commands);
    tcase_add_test(tests, commands_alone);
    tcase_add_test(tests, steps_of_crossbars);
    suite_add_tcase(suite, tests);
    return suite;
}

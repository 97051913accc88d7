/* Closed forms of area and energy against the runs of CACTI and DSENT that they stand for, and systems of the
 * NicePIM paper against figures worked out by hand. */
#include "models/area/area.h"
#include "sim/output/csv.h"
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Mean and largest relative error of a form. */
struct deviation {
    double sum, largest;
    size_t count;
};

static void account(struct deviation *deviation, double form, double measured)
{
    double relative = fabs(form / measured - 1);
    deviation->sum += relative;
    deviation->largest = relative > deviation->largest ? relative : deviation->largest;
    deviation->count++;
}

static void check_deviation(const struct deviation *deviation, size_t count, double mean, double largest)
{
    ck_assert_uint_eq(deviation->count, count);
    ck_assert_msg(deviation->sum / (double)count <= mean && deviation->largest <= largest,
                  "mean error %.4f, largest %.4f, stated are %.4f and %.4f", deviation->sum / (double)count,
                  deviation->largest, mean, largest);
}

static struct pim_csv_reader *open_table(const char *name)
{
    char relative[256], path[1024];
    struct pim_error error = {0};
    struct pim_csv_reader *reader;
    (void)snprintf(relative, sizeof relative, "tests/data/area/%s", name);
    ck_assert_msg(pim_csv_open(&reader, pimsim_source_path(path, sizeof path, relative), NULL, 0, &error) ==
                      PIM_OK,
                  "%s", error.text);
    return reader;
}

static bool next(struct pim_csv_reader *reader)
{
    struct pim_error error = {0};
    bool more = false;
    ck_assert_msg(pim_csv_next(reader, &more, &error) == PIM_OK, "%s", error.text);
    return more;
}

static const char *text_of(const struct pim_csv_reader *reader, const char *name)
{
    struct pim_error error = {0};
    size_t place;
    ck_assert_msg(pim_csv_column(reader, name, &place, &error) == PIM_OK, "%s", error.text);
    return pim_csv_text(reader, place);
}

static double number(const struct pim_csv_reader *reader, const char *name)
{
    char *end;
    const char *text = text_of(reader, name);
    double value = strtod(text, &end);
    ck_assert_msg(*end == '\0' && end != text, "%s is no number: %s", name, text);
    return value;
}

START_TEST(sram_forms_are_near_cacti)
{
    struct deviation area = {0}, read = {0}, write = {0}, mid = {0};
    struct pim_csv_reader *reader = open_table("sram_banked28.csv");
    while (next(reader)) {
        double bytes = number(reader, "size_bytes"), width = number(reader, "width_bits");
        account(&area, pim_area_sram(PIM_AREA_LOW, bytes, width) * 1e-6, number(reader, "area_mm2"));
        account(&mid, pim_area_sram(PIM_AREA_MID, bytes, width) * 1e-6, 1.2 * number(reader, "area_fit_mm2"));
        account(&read, pim_area_sram_read_pj(bytes, width), number(reader, "read_pj"));
        account(&write, pim_area_sram_write_pj(bytes, width), number(reader, "write_pj"));
    }
    pim_csv_close(reader);
    check_deviation(&area, 126, 0.084, 0.30);
    check_deviation(&mid, 126, 0.001, 0.001);
    check_deviation(&read, 126, 0.180, 0.54);
    check_deviation(&write, 126, 0.043, 0.136);
}
END_TEST

/* A value at 28 nm on the power law through those at 32 and 22 nm. */
static double at_28(double at_32, double at_22)
{
    return at_22 * pow(at_32 / at_22, log(28.0 / 22) / log(32.0 / 22));
}

static double flit_energy(const struct pim_csv_reader *reader)
{
    return number(reader, "write_buffer_pj") + number(reader, "read_buffer_pj") +
           number(reader, "crossbar_pj") + number(reader, "allocate_pj");
}

START_TEST(router_forms_are_near_dsent)
{
    enum { ROWS = 40 };
    double area_32[ROWS] = {0}, energy_32[ROWS] = {0}, clock_32[ROWS] = {0}, width[ROWS] = {0},
           channels[ROWS] = {0}, flits[ROWS] = {0};
    struct deviation area = {0}, energy = {0}, clock = {0};
    struct pim_csv_reader *reader = open_table("router_dsent.csv");
    size_t rows = 0;
    while (next(reader)) {
        size_t i = rows++ % ROWS;
        if (strcmp(text_of(reader, "tech"), "Bulk32LVT") == 0) {
            ck_assert_uint_le(rows, ROWS);
            width[i] = number(reader, "flit_bits");
            channels[i] = number(reader, "vcs");
            flits[i] = number(reader, "flits_per_vc");
            area_32[i] = number(reader, "area_mm2");
            energy_32[i] = flit_energy(reader);
            clock_32[i] = number(reader, "clock_pj_per_cycle");
            continue;
        }
        ck_assert_double_eq(number(reader, "flit_bits"), width[i]);
        ck_assert_double_eq(number(reader, "flits_per_vc"), flits[i]);
        account(&area, pim_area_router(PIM_AREA_MID, 5, channels[i], flits[i], width[i]) * 1e-6,
                at_28(area_32[i], number(reader, "area_mm2")));
        account(&energy, pim_area_router_pj(channels[i], flits[i], width[i]),
                at_28(energy_32[i], flit_energy(reader)));
        account(&clock, pim_area_router_clock_pj(width[i]),
                at_28(clock_32[i], number(reader, "clock_pj_per_cycle")));
    }
    pim_csv_close(reader);
    check_deviation(&area, ROWS, 0.023, 0.13);
    check_deviation(&energy, ROWS, 0.024, 0.095);
    ck_assert_double_le(clock.sum / ROWS, 0.35); /* one number a bit: a coarse form */
}
END_TEST

/* Sources and their means, from the text of docs/models/area.md. */
START_TEST(elements_are_what_the_sources_say)
{
    ck_assert_double_le(fabs(pim_area_pe(PIM_AREA_LOW, 16, 32) - 671), 2);
    ck_assert_double_le(fabs(pim_area_pe(PIM_AREA_LOW, 8, 24) - 290), 2);
    ck_assert_double_le(fabs(pim_area_pe(PIM_AREA_MID, 16, 32) - 983), 1);
    ck_assert_double_le(fabs(pim_area_pe(PIM_AREA_MID, 8, 24) - 369), 1);
    ck_assert_double_eq(pim_area_pe(PIM_AREA_HIGH, 16, 32), 1780);
    ck_assert_double_eq(pim_area_pe(PIM_AREA_HIGH, 8, 24), 1200);
    ck_assert_double_le(fabs(pim_area_mac_pj(16, 32) - 1.2), 0.05);
    ck_assert_double_le(fabs(pim_area_mac_pj(8, 24) - 0.43), 0.01);
    for (int bits = 4; bits <= 32; bits++) {
        for (int reading = PIM_AREA_LOW; reading < PIM_AREA_READINGS; reading++)
            ck_assert_double_gt(pim_area_pe((enum pim_area_reading)reading, bits + 1, 32),
                                pim_area_pe((enum pim_area_reading)reading, bits, 32));
    }
}
END_TEST

/* Nodes, PE array, buffers; engines at low, mid and high, routers with flits for one and four in each
 * channel. */
static const struct {
    uint32_t nodes, rows, columns;
    uint64_t input, weight, output;
    uint32_t flit_bits;
    double low, mid, high, router_one, router_four;
} systems[] = {
    {16, 32, 32, 131072, 131072, 131072, 1024, 19.2, 25.9, 49.1, 14.9, 21.5},
    {256, 8, 8, 8192, 8192, 8192, 64, 19.8, 26.7, 49.1, 3.7, 10.3},
    {32, 128, 8, 16384, 147456, 32768, 512, 30.9, 42.8, 78.3, 8.9, 15.5},
};

/* By hand: 256 routers of 5 ports, 2 channels of 4 flits of 16 bits, and buffers of 1024 bits. */
START_TEST(tiles_take_what_was_worked_out)
{
    const struct pim_area_tile_system system = {.tiles = 256,
                                                .input_bits = 1024,
                                                .output_bits = 2048,
                                                .access_bits = 64,
                                                .router_ports = 5,
                                                .virtual_channels = 2,
                                                .buffer_flits = 4,
                                                .flit_bits = 16};
    struct pim_area_tiles area;
    pim_area_of_tiles(PIM_AREA_LOW, &system, &area);
    ck_assert_double_le(fabs(area.input - 256e-6 * (0.1586 * 1024 + 6.166 * 64)), 1e-9);
    ck_assert_double_le(fabs(area.output - 256e-6 * (0.1586 * 2048 + 6.166 * 64)), 1e-9);
    ck_assert_double_le(fabs(area.routers - 128e-6 * (3.357 * 640 + 0.708 * 256 + 9.43 * 80)), 1e-9);
    ck_assert_double_eq(area.isaac_routers, 64 * 0.15);
    pim_area_of_tiles(PIM_AREA_HIGH, &system, &area);
    ck_assert_double_le(fabs(area.routers - 512e-6 * (3.357 * 640 + 0.708 * 256 + 9.43 * 80)), 1e-9);
    ck_assert_double_eq(area.isaac_routers, 64 * 0.15);
}
END_TEST

START_TEST(systems_of_the_paper_take_what_was_worked_out)
{
    for (size_t i = 0; i < sizeof systems / sizeof systems[0]; i++) {
        struct pim_area_system system = {.nodes = systems[i].nodes,
                                         .pe_rows = systems[i].rows,
                                         .pe_columns = systems[i].columns,
                                         .operand_bits = 16,
                                         .sum_bits = 32,
                                         .input_bytes = systems[i].input,
                                         .weight_bytes = systems[i].weight,
                                         .output_bytes = systems[i].output,
                                         .router_ports = 5,
                                         .virtual_channels = 8,
                                         .buffer_flits = 1,
                                         .flit_bits = systems[i].flit_bits,
                                         .banks = 256 / systems[i].nodes};
        const double engines[] = {systems[i].low, systems[i].mid, systems[i].high};
        struct pim_area area;
        for (int reading = PIM_AREA_LOW; reading < PIM_AREA_READINGS; reading++) {
            pim_area_of((enum pim_area_reading)reading, &system, &area);
            ck_assert_msg(fabs(area.engines - engines[reading]) <= 0.15, "system %zu, reading %d: %.2f mm2",
                          i, reading, area.engines);
            ck_assert_double_le(fabs(area.pe + area.input + area.weight + area.output - area.engines), 1e-9);
            ck_assert_double_le(fabs(area.engines + area.routers + area.controllers - area.total), 1e-9);
        }
        pim_area_of(PIM_AREA_MID, &system, &area);
        ck_assert_double_le(fabs(area.routers - systems[i].router_one), 0.06);
        ck_assert_double_le(fabs(area.controllers - 6.4), 1e-9); /* 256 banks of 0.025 mm2 */
        system.buffer_flits = 4;
        pim_area_of(PIM_AREA_MID, &system, &area);
        ck_assert_double_le(fabs(area.routers - systems[i].router_four), 0.06);
        system.input_bytes = system.weight_bytes = system.output_bytes = 0;
        pim_area_of(PIM_AREA_MID, &system, &area);
        ck_assert_double_eq(area.engines, area.pe);
        ck_assert_double_eq(pim_area_buffer_pj_per_bit(&system), 0);
    }
}
END_TEST

static Suite *area_suite(void)
{
    Suite *suite = suite_create("area");
    TCase *tests = tcase_create("area");
    tcase_add_test(tests, sram_forms_are_near_cacti);
    tcase_add_test(tests, router_forms_are_near_dsent);
    tcase_add_test(tests, elements_are_what_the_sources_say);
    tcase_add_test(tests, tiles_take_what_was_worked_out);
    tcase_add_test(tests, systems_of_the_paper_take_what_was_worked_out);
    suite_add_tcase(suite, tests);
    return suite;
}

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, area_suite());
}

/*
 * Streams and pieces against the bank itself, with the timings that each preset's configuration gives it.
 *
 * What a form counts of a burst is its service: columns, and the rows between them. The bank's last data come
 * one access later than the service of everything but the last column, without a change of row behind it.
 */
#include "tests/unit/estimate/machine.h"
#include "tests/unit/estimate/suites.h"

#include "models/cost/bank.h"
#include "sim/random.h"

#include <inttypes.h>
#include <stdio.h>

static const uint64_t seed = UINT64_C(0x6d656d6f7279);

static uint64_t last_data(const struct machine *machine, const struct pim_burst *burst)
{
    struct pim_bank bank;
    struct pim_burst_times times;
    struct pim_error error = {0};
    ck_assert_msg(pim_bank_check_burst(&machine->hardware.node.bank, burst, &error) == PIM_OK, "%s",
                  error.text);
    pim_bank_initialize(&bank, &machine->hardware.node.bank);
    pim_bank_access(&bank, burst, 0, &times);
    return times.last_data;
}

/* Memory cycles that the bank needs for a burst as the forms count them. */
static uint64_t service(const struct machine *machine, const struct pim_burst *burst)
{
    const struct pim_bank_rules *rules = &machine->hardware.node.bank;
    uint64_t first =
        1 + rules->timing.trcd + (burst->write ? rules->write_to_data_end : rules->read_to_data_end);
    uint64_t row = burst->write ? machine->estimate.write_row_cycles : machine->estimate.read_row_cycles;
    return last_data(machine, burst) - first + rules->column_step + row;
}

static uint64_t to_logic(const struct pim_estimate_hardware *hardware, uint64_t cycles)
{
    return (cycles * hardware->logic_khz + hardware->memory_khz - 1) / hardware->memory_khz;
}

START_TEST(access_is_what_the_bank_needs_for_its_first_data)
{
    struct machine machine;
    machine_read(&machine, machine_presets[_i], NULL, 0);
    const struct pim_burst burst = {.bytes = machine.estimate.port_bytes, .count = 1};
    ck_assert_uint_eq(machine.estimate.access_cycles, last_data(&machine, &burst));
    ck_assert_uint_eq(pim_estimate_access(&machine.estimate),
                      to_logic(&machine.estimate, machine.estimate.access_cycles));
}
END_TEST

START_TEST(turns_are_what_the_bank_loses)
{
    struct machine machine;
    machine_read(&machine, machine_presets[_i], NULL, 0);
    struct pim_burst burst = {.bytes = machine.estimate.port_bytes, .count = 1};
    struct pim_bank bank;
    struct pim_burst_times first, last;
    pim_bank_initialize(&bank, &machine.hardware.node.bank);
    pim_bank_access(&bank, &burst, 0, &first);
    burst.write = true;
    pim_bank_access(&bank, &burst, first.next, &last);
    burst.write = false;
    pim_bank_access(&bank, &burst, last.next, &last);
    ck_assert_uint_eq(last.next - first.next,
                      2 * machine.estimate.column_cycles + machine.estimate.turn_cycles);
}
END_TEST

/* Any number of bytes from the beginning of a row on, without refresh: the bank's cycles, exactly. */
START_TEST(streams_take_the_cycles_of_the_bank)
{
    const char *const off[] = {"dram.refresh=false"};
    struct machine machine;
    struct pim_random random;
    pim_random_initialize(&random, seed + (uint64_t)_i);
    machine_read(&machine, machine_presets[_i % MACHINE_PRESETS], off, 1);
    uint64_t row = machine.estimate.row_bytes;
    for (int i = 0; i < 200; i++) {
        uint64_t bytes = i < 6 ? (uint64_t)(i / 3) * row + row - 1 + (uint64_t)(i % 3)
                               : 1 + pim_random_below(&random, 20 * row);
        const struct pim_burst burst = {.bytes = (uint32_t)bytes, .count = 1, .write = _i >= MACHINE_PRESETS};
        uint64_t expected = to_logic(&machine.estimate, service(&machine, &burst));
        uint64_t columns = (bytes % row + machine.estimate.port_bytes - 1) / machine.estimate.port_bytes;
        /* a row whose last access comes before tRAS is over does not close in tRTP: not in the form */
        bool short_row = bytes > row && columns < 16 && columns > 0;
        uint64_t estimate = pim_estimate_stream(&machine.estimate, bytes, burst.write);
        ck_assert_msg(estimate == expected || short_row,
                      "%" PRIu64 " bytes: estimated %" PRIu64 ", the bank takes %" PRIu64, bytes, estimate,
                      expected);
    }
}
END_TEST

/* Interleaved banks: a stream pays for its first row alone, which is of the same bank as the one before once
 * in so many times; single columns in rows that follow each other, or lie an even number of rows apart. */
START_TEST(interleaved_banks_open_rows_behind_columns)
{
    const char *const two[] = {"dram.refresh=false", "dram.interleaved_banks=2"},
                      *const four[] = {"dram.refresh=false", "dram.interleaved_banks=4"};
    struct machine machine;
    const uint64_t banks = _i % 2 ? 2 : 4;
    const bool write = _i >= 2;
    machine_read(&machine, "allspark-16x16", banks == 2 ? two : four, 2);
    const struct pim_estimate_hardware *hardware = &machine.estimate;
    ck_assert_uint_eq(hardware->interleaved, banks);
    ck_assert_uint_eq(hardware->memory_bytes, banks << 23);
    const uint64_t row = hardware->row_bytes,
                   opening = write ? hardware->write_row_cycles : hardware->read_row_cycles;
    for (uint64_t bytes = 1; bytes < 20 * row; bytes += 777) {
        const struct pim_burst burst = {.bytes = (uint32_t)bytes, .count = 1, .write = write};
        const uint64_t cycles = service(&machine, &burst) - opening + (opening + banks - 1) / banks;
        if (bytes >= row || bytes > 9 * 16) /* fewer columns do not hide a row */
            ck_assert_uint_eq(pim_estimate_stream(hardware, bytes, write), to_logic(hardware, cycles));
    }
    for (uint64_t apart = 1; apart <= 2 * banks; apart++) {
        const struct pim_burst burst = {
            .bytes = 16, .count = 400, .stride = (uint32_t)(apart * row), .write = write};
        const double expected = (double)service(&machine, &burst),
                     estimate = (double)pim_estimate_pieces(hardware, 16, apart * row, 400, 1, write);
        /* Four banks two rows apart are two banks: that is left out. */
        if (banks == 4 && apart % 4 == 2)
            continue;
        ck_assert_msg(estimate >= 0.95 * expected && estimate <= 1.05 * expected,
                      "%d banks, %d rows apart: estimated %.0f, the banks take %.0f", (int)banks, (int)apart,
                      estimate, expected);
    }
}
END_TEST

/* What is between two ACTs sets the pace of single columns in rows of banks that follow each other: tRRD,
 * if it is long; with closed pages no PRE, but tRC over the banks. */
START_TEST(rows_ahead_are_as_far_apart_as_the_banks_have_them)
{
    static const struct {
        const char *banks, *page, *trrd;
        uint64_t cycles; /* a row, of 400 */
    } cases[] = {
        {"dram.interleaved_banks=2", "dram.page=open", "dram.trrd=20", 20},
        {"dram.interleaved_banks=4", "dram.page=open", "dram.trrd=2", 9},
        {"dram.interleaved_banks=4", "dram.page=open", "dram.trrd=15", 15},
        {"dram.interleaved_banks=4", "dram.page=closed", "dram.trrd=2", 6},
        {"dram.interleaved_banks=4", "dram.page=closed", "dram.trrd=8", 8},
        {"dram.interleaved_banks=2", "dram.page=closed", "dram.trrd=2", 12},
    };
    const char *const set[] = {"dram.refresh=false", cases[_i].banks, cases[_i].page, cases[_i].trrd};
    struct machine machine;
    machine_read(&machine, "allspark-16x16", set, 4);
    const struct pim_estimate_hardware *hardware = &machine.estimate;
    const struct pim_burst burst = {.bytes = 16, .count = 400, .stride = (uint32_t)hardware->row_bytes};
    const double expected = (double)service(&machine, &burst),
                 estimate = (double)pim_estimate_pieces(hardware, 16, hardware->row_bytes, 400, 1, false);
    ck_assert_double_eq_tol(expected / 400, (double)cases[_i].cycles, 0.1);
    ck_assert_double_eq_tol(estimate / expected, 1, 0.02);
}
END_TEST

/* Steps that may lead anywhere meet the same of two banks every other time; those to the next row never do,
 * and a stream that only goes away is one whose rows are all anywhere. Of one bank they are all alike. */
START_TEST(near_streams_that_go_away_meet_their_bank_again)
{
    const char *const set[] = {"dram.refresh=false",
                               _i == 0 ? "dram.interleaved_banks=1" : "dram.interleaved_banks=2"};
    struct machine machine;
    machine_read(&machine, "allspark-16x16", set, 2);
    const uint64_t next = pim_estimate_near(&machine.estimate, 6400, 100, 0, 0, false),
                   half = pim_estimate_near(&machine.estimate, 6400, 100, 50, 0, false),
                   away = pim_estimate_near(&machine.estimate, 6400, 100, 100, 0, false);
    const uint64_t opening = to_logic(&machine.estimate, machine.estimate.read_row_cycles);
    ck_assert_uint_eq(half - next, _i == 0 ? 0 : 25 * opening);
    ck_assert_uint_eq(away - next, _i == 0 ? 0 : 50 * opening);
    ck_assert_uint_eq(away, pim_estimate_columns(&machine.estimate, 6400, 100, false));
}
END_TEST

/* A stream in one place of two: in the open row it takes its columns alone, and its data come without an
 * activation; the more of a row is in use by turns, the more of an opening it pays. */
START_TEST(near_streams_open_their_row_in_part)
{
    static const char *const off[] = {"dram.refresh=false"};
    struct machine machine;
    machine_read(&machine, machine_presets[_i % MACHINE_PRESETS], off, 1);
    const struct pim_estimate_hardware *hardware = &machine.estimate;
    bool write = _i >= MACHINE_PRESETS;
    uint64_t row = hardware->row_bytes,
             opening = write ? hardware->write_row_cycles : hardware->read_row_cycles;
    for (uint64_t columns = 1; columns < 9; columns++) {
        uint64_t open = to_logic(hardware, columns * hardware->column_cycles);
        uint64_t closed = pim_estimate_columns(hardware, columns, 1, write);
        ck_assert_uint_eq(pim_estimate_near(hardware, columns, 0, 0, 0, write), open);
        ck_assert_uint_eq(pim_estimate_near(hardware, columns, 0, 0, row, write), closed);
        ck_assert_uint_eq(pim_estimate_near(hardware, columns, 0, 0, 7 * row + 1, write), closed);
        ck_assert_uint_eq(pim_estimate_near(hardware, columns, 0, 0, row / 2, write),
                          to_logic(hardware, columns * hardware->column_cycles + (opening + 1) / 2));
    }
    struct pim_estimate_hardware closed = *hardware; /* pages that close by themselves are never found open */
    closed.bank.organization.closed_page = true;
    ck_assert_uint_eq(pim_estimate_near(&closed, 4, 0, 0, 0, write),
                      pim_estimate_columns(&closed, 4, 1, write));
    ck_assert_uint_eq(pim_estimate_near(hardware, 100, 3, 1, row, write),
                      pim_estimate_columns(hardware, 100, 4, write));
    ck_assert_uint_eq(pim_estimate_near(hardware, 0, 0, 0, row, write), 0);
    ck_assert_uint_eq(hardware->latency_cycles + machine.hardware.node.bank.timing.trcd,
                      hardware->access_cycles);
    ck_assert_uint_eq(pim_estimate_latency(hardware), to_logic(hardware, hardware->latency_cycles));
}
END_TEST

/* Turns at the port are a row of all banks in lock-step and packets two, as models and forms see them;
 * what is given holds. */
START_TEST(sizes_follow_the_row)
{
    static const struct {
        const char *set[3];
        uint32_t turn, packet;
    } cases[] = {
        {{"dram.page=open"}, 1024, 2048},
        {{"dram.row_bytes=4096"}, 4096, 8192},
        {{"dram.banks=8", "dram.interleaved_banks=2"}, 8192, 16384},
        {{"dram.arbitration_bytes=96"}, 96, 2048},
        {{"network_interface.packet_bytes=24"}, 1024, 24},
        {{"dram.row_bytes=1048576", "dram.banks=64", "dram.rows=1"}, 1048576, 16777216},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct machine machine;
        size_t count = 0;
        while (count < 3 && cases[i].set[count])
            count++;
        machine_read(&machine, "allspark-16x16", cases[i].set, count);
        ck_assert_uint_eq(machine.estimate.turn_bytes, cases[i].turn);
        ck_assert_uint_eq(machine.estimate.packet_bytes, cases[i].packet);
        ck_assert_uint_eq(machine.hardware.node.arbitration_bytes, cases[i].turn);
        ck_assert_uint_eq(machine.hardware.node.packet_bytes, cases[i].packet);
    }
}
END_TEST

/* The reason: two clients by turns open every row once where a turn is a row, more often where it is less,
 * and no row less where it is more. */
START_TEST(shorter_turns_open_rows_again)
{
    struct machine machine;
    machine_read(&machine, machine_presets[_i], NULL, 0);
    const uint64_t row = machine.estimate.row_bytes, rows = 8;
    uint64_t opened[3];
    for (unsigned size = 0; size < 3; size++) {
        const uint64_t turn = row / 2 << size;
        struct pim_bank bank;
        struct pim_bank_counters counters;
        struct pim_burst_times times = {0};
        pim_bank_initialize(&bank, &machine.hardware.node.bank);
        for (uint64_t at = 0; at < rows * row; at += turn)
            for (uint64_t client = 0; client < 2; client++) {
                const struct pim_burst burst = {
                    .address = at + client * rows * row, .bytes = (uint32_t)turn, .count = 1};
                pim_bank_access(&bank, &burst, times.next, &times);
            }
        pim_bank_read_counters(&bank, &counters);
        opened[size] = counters.activates;
    }
    const uint64_t refreshed = 8; /* rows that a refresh closes */
    ck_assert_uint_ge(opened[0], 4 * rows);
    ck_assert_uint_le(opened[1], 2 * rows + refreshed);
    ck_assert_uint_ge(opened[2], 2 * rows);
    ck_assert_uint_eq(machine.estimate.turn_bytes, row);
}
END_TEST

/* Over many refreshes: within one percent and a refresh. */
START_TEST(refresh_takes_its_share)
{
    struct machine machine;
    machine_read(&machine, machine_presets[_i], NULL, 0);
    ck_assert_uint_gt(machine.estimate.refresh_interval, 0);
    const struct pim_burst burst = {.bytes = 1 << 22, .count = 1};
    double expected = (double)to_logic(&machine.estimate, service(&machine, &burst));
    double estimate = (double)pim_estimate_stream(&machine.estimate, burst.bytes, false);
    ck_assert_double_le(estimate, 1.01 * expected);
    ck_assert_double_ge(estimate, 0.99 * expected);
}
END_TEST

/* Pieces on column boundaries, a row's stretch of at least 16 columns: all columns, and at most one change of
 * row more or less than the bank has. */
START_TEST(pieces_take_the_columns_of_the_bank)
{
    const char *const off[] = {"dram.refresh=false"};
    struct machine machine;
    struct pim_random random;
    pim_random_initialize(&random, seed + 77 + (uint64_t)_i);
    machine_read(&machine, machine_presets[_i % MACHINE_PRESETS], off, 1);
    const struct pim_estimate_hardware *hardware = &machine.estimate;
    bool write = _i >= MACHINE_PRESETS;
    uint64_t port = hardware->port_bytes, in_row = hardware->row_bytes / port;
    uint64_t change = write ? hardware->write_row_cycles : hardware->read_row_cycles;
    for (int i = 0; i < 300; i++) {
        uint64_t columns = pim_random_between(&random, 1, in_row),
                 pitch = columns + pim_random_below(&random, 4);
        pitch = i % 2 && in_row % pitch ? in_row : pitch;
        uint64_t pieces = pim_random_between(&random, 1, 40);
        if ((pitch >= in_row ? columns : in_row * columns / pitch) < 16)
            continue;
        const struct pim_burst burst = {.bytes = (uint32_t)(columns * port),
                                        .stride = (uint32_t)((pitch < columns ? columns : pitch) * port),
                                        .count = (uint32_t)pieces,
                                        .write = write};
        uint64_t expected = service(&machine, &burst);
        uint64_t estimate = pim_estimate_pieces(hardware, burst.bytes, burst.stride, pieces, 1, write);
        ck_assert_msg(estimate + to_logic(hardware, change) + 1 >= to_logic(hardware, expected) &&
                          estimate <= to_logic(hardware, expected + change),
                      "%" PRIu64 " pieces of %" PRIu32 " bytes, %" PRIu32 " apart: estimated %" PRIu64
                      ", the bank takes %" PRIu64 ", %" PRIu64 " with another row",
                      pieces, burst.bytes, burst.stride, estimate, to_logic(hardware, expected),
                      to_logic(hardware, expected + change));
    }
}
END_TEST

START_TEST(nothing_takes_no_time)
{
    struct machine machine;
    machine_read(&machine, machine_presets[_i], NULL, 0);
    ck_assert_uint_eq(pim_estimate_pieces(&machine.estimate, 0, 64, 5, 1, false), 0);
    ck_assert_uint_eq(pim_estimate_pieces(&machine.estimate, 64, 64, 0, 1, true), 0);
    ck_assert_uint_eq(pim_estimate_stream(&machine.estimate, 0, true), 0);
}
END_TEST

Suite *estimate_memory_suite(void)
{
    Suite *suite = suite_create("memory");
    TCase *cases = tcase_create("memory");
    printf("estimate memory: seed 0x%" PRIx64 "\n", seed);
    tcase_add_loop_test(cases, access_is_what_the_bank_needs_for_its_first_data, 0, MACHINE_PRESETS);
    tcase_add_loop_test(cases, turns_are_what_the_bank_loses, 0, MACHINE_PRESETS);
    tcase_add_loop_test(cases, streams_take_the_cycles_of_the_bank, 0, 2 * MACHINE_PRESETS);
    tcase_add_loop_test(cases, near_streams_open_their_row_in_part, 0, 2 * MACHINE_PRESETS);
    tcase_add_loop_test(cases, interleaved_banks_open_rows_behind_columns, 0, 4);
    tcase_add_loop_test(cases, near_streams_that_go_away_meet_their_bank_again, 0, 2);
    tcase_add_loop_test(cases, rows_ahead_are_as_far_apart_as_the_banks_have_them, 0, 6);
    tcase_add_test(cases, sizes_follow_the_row);
    tcase_add_loop_test(cases, shorter_turns_open_rows_again, 0, MACHINE_PRESETS);
    tcase_add_loop_test(cases, refresh_takes_its_share, 0, MACHINE_PRESETS);
    tcase_add_loop_test(cases, pieces_take_the_columns_of_the_bank, 0, 2 * MACHINE_PRESETS);
    tcase_add_loop_test(cases, nothing_takes_no_time, 0, MACHINE_PRESETS);
    suite_add_tcase(suite, cases);
    return suite;
}

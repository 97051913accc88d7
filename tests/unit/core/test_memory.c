/* The global memory on channels of a DRAM standard: by hand, against the memory of `pimsim dram`, and what
 * holds for any run. */
#include "models/core/cores_internal.h"
#include "models/dram/memory.h"
#include "sim/random.h"
#include "tests/unit/core/suites.h"
#include "tests/unit/core/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BANK "global_memory.standard=pimbank_400", "global_memory.bytes=8388608"
#define DDR4                                                                                                 \
    "global_memory.standard=ddr4_2400r", "clock.memory_khz=1200000", "clock.logic_khz=1200000",              \
        "clock.network_khz=1200000"
#define NO_REFRESH "global_memory.standard_values=\"dram = { refresh = false; };\""
/* Consecutive columns in different channels, as in the standard's own mapping. */
#define FOUR_CHANNELS "global_memory.standard_values=\"dram = { refresh = false; channels = 4; };\""

/* ACT in 1, RD in 9 to 12, data in 12 + tCL 8 + 1; then the local memory: 4 beats of 3 cycles. */
START_TEST(a_load)
{
    struct run run = {.width = 1, .height = 1, .settings = {BANK, NO_REFRESH}};
    replay_well(&run, ".unit 0\nlocal_load address=0 local=0 bytes=64\n");
    ENDS(&run, 0, 0, 21 + 12);
    ck_assert_uint_eq(run.result.dram.reads, 4);
    ck_assert_uint_eq(run.result.dram.row_misses, 1);
    ck_assert_uint_eq(run.result.dram.row_hits, 3);
    ck_assert_uint_eq(run.result.dram.bytes_read, 64);
    clean(&run);
}
END_TEST

/* Pieces that share a column read it once; bytes 8 to 23 are two columns. */
START_TEST(pieces)
{
    struct run run = {.width = 1, .height = 1, .settings = {BANK, NO_REFRESH}};
    replay_well(&run, ".unit 0\nlocal_load address=8 local=0 bytes=8 count=2 stride=8\n");
    ck_assert_uint_eq(run.result.dram.reads, 2);
    ENDS(&run, 0, 0, 1 + 8 + 1 + 8 + 1 + 3);
    clean(&run);
    replay_well(&run, ".unit 0\nlocal_load address=0 local=0 bytes=4 count=4 stride=64\n");
    ck_assert_uint_eq(run.result.dram.reads, 4);
    clean(&run);
}
END_TEST

/* The data of a store are read first (4 beats of 2 cycles); WR 8 behind ACT, data tCWL 4 + 1 behind the
 * last. */
START_TEST(a_store)
{
    struct run run = {.width = 1, .height = 1, .settings = {BANK, NO_REFRESH}};
    replay_well(&run, ".unit 0\nlocal_store address=0 local=0 bytes=64\n");
    ENDS(&run, 0, 0, 8 + 1 + 8 + 3 + 4 + 1);
    ck_assert_uint_eq(run.result.dram.writes, 4);
    ck_assert_uint_eq(run.result.dram.data_cycles, 4);
    clean(&run);
}
END_TEST

/* The memory runs at a third of the cores' clock: asked in its cycle 0, data in 3 x 21. */
START_TEST(another_clock)
{
    struct run run = {.width = 1,
                      .height = 1,
                      .settings = {BANK, NO_REFRESH, "clock.logic_khz=1200000", "clock.memory_khz=400000",
                                   "clock.network_khz=400000"}};
    replay_well(&run, ".unit 0\nlocal_load address=0 local=0 bytes=64\n");
    ENDS(&run, 0, 0, 63 + 12);
    clean(&run);
}
END_TEST

/* Clocks that do not divide each other, 2.5 cycles of the cores to one of the memory. The data of a load come
 * in 21 of the memory, 52.5 of the cores; those of a store, asked for in 8 of the cores, 3.2 of memory,
 * 17 cycles behind its edge 4, 52.5 as well. Both go on at the next edge of the cores. */
START_TEST(no_common_edges)
{
    struct run run = {.width = 1,
                      .height = 1,
                      .settings = {BANK, NO_REFRESH, "clock.logic_khz=1000000", "clock.memory_khz=400000",
                                   "clock.network_khz=400000"}};
    replay_well(&run, ".unit 0\nlocal_load address=0 local=0 bytes=64\n");
    ENDS(&run, 0, 0, 53 + 12);
    clean(&run);
    replay_well(&run, ".unit 0\nlocal_store address=0 local=0 bytes=64\n");
    ENDS(&run, 0, 0, 53);
    clean(&run);
}
END_TEST

/* A single byte reads its column. */
START_TEST(a_byte)
{
    struct run run = {.width = 1, .height = 1, .settings = {BANK, NO_REFRESH}};
    replay_well(&run, ".unit 0\nlocal_load address=5 local=0 bytes=1\n");
    ck_assert_uint_eq(run.result.dram.reads, 1);
    ENDS(&run, 0, 0, 1 + 8 + 8 + 1 + 3);
    clean(&run);
}
END_TEST

/* Chip 0 asks in cycle 4 for writes in two rows of one bank; the second waits until the first row is closed.
 * The others copy in their local memories before, 2 + 3 cycles. Their writes to the second row, asked for in
 * 7, are absorbed in that cycle and in the next, one in a cycle, and end in the cycle behind; a read, asked
 * for in 5, is answered in the next one. */
START_TEST(what_a_waiting_write_holds)
{
    struct run run = {.width = 3, .height = 1, .settings = {BANK, NO_REFRESH, "chips.width=3"}};
    replay_well(&run, ".unit 0\nlocal_store address=0 local=0 bytes=16 count=2 stride=4096\n"
                      ".unit 1\nlocal_copy source=0 destination=64 bytes=16\n"
                      "local_store address=4096 local=0 bytes=16\n"
                      ".unit 2\nlocal_copy source=0 destination=64 bytes=16\n"
                      "local_store address=4096 local=0 bytes=16\n");
    ENDS(&run, 1, 1, 8);
    ENDS(&run, 2, 1, 9);
    ck_assert_uint_eq(run.result.dram.writes, 4);
    clean(&run);
    replay_well(&run, ".unit 0\nlocal_store address=0 local=0 bytes=16 count=2 stride=4096\n"
                      ".unit 1\nlocal_copy source=0 destination=64 bytes=16\n"
                      "local_load address=4096 local=0 bytes=16\n");
    ck_assert_uint_eq(run.result.dram.reads, 1);
    ENDS(&run, 1, 1, 7 + 3);
    clean(&run);
}
END_TEST

/* A request that comes a cycle before the next command of another channel is handed over at once. Chip 0: ACT
 * in 1, RD in 17. Chip 1 asks in 16, ACT in 17 and 18, WR 16 later, data tCWL 12 + 4 behind the last. */
START_TEST(a_request_between_commands)
{
    struct run run = {.width = 2, .height = 1, .settings = {DDR4, "chips.width=2", FOUR_CHANNELS}};
    replay_well(&run, ".unit 0\nlocal_load address=0 local=0 bytes=64\n"
                      ".unit 1\nlocal_store address=64 local=0 bytes=128\n");
    ENDS(&run, 0, 0, 17 + 16 + 4 + 12);
    ENDS(&run, 1, 0, 18 + 16 + 12 + 4);
    clean(&run);
}
END_TEST

static void note(void *context, uint64_t request, uint64_t first_command, uint64_t completed)
{
    uint64_t *ends = context;
    (void)first_command;
    ends[request] = completed > ends[request] ? completed : ends[request];
}

/* Two or three chips load together: their accesses come to the controller in turn, each load ends with its
 * last data. The same accesses handed to the memory of `pimsim dram`. */
START_TEST(chips_take_turns)
{
    enum { CHIPS = 3 };
    static const uint32_t bytes[][CHIPS] = {{1024, 640},      {64, 4096},        {2048, 2048},
                                            {2048, 64, 2048}, {640, 4096, 1024}, {1024, 1024, 1024}};
    const uint32_t chips = bytes[_i][2] > 0 ? 3 : 2;
    struct run run = {
        .width = chips,
        .height = 1,
        .settings = {DDR4, chips == 3 ? "chips.width=3" : "chips.width=2", _i % 2 ? NO_REFRESH : NULL}};
    char program[256];
    size_t length = 0;
    for (unsigned i = 0; i < chips; i++)
        length +=
            (size_t)snprintf(program + length, sizeof program - length,
                             ".unit %u\nlocal_load address=%u local=0 bytes=%u\n", i, i << 20, bytes[_i][i]);
    replay_well(&run, program);
    const struct pim_dram_configuration *dram = &run.system->hardware.cores.dram;
    uint64_t ends[CHIPS] = {0}, all = 0, handed = 1;
    const struct pim_dram_sink sink = {ends, note, NULL};
    struct pim_dram_memory *memory =
        pim_dram_memory_create(&dram->specification, &dram->policy, &dram->mapping, &sink);
    ck_assert_ptr_nonnull(memory);
    for (uint64_t at = 0; handed > 0; at += 64) {
        handed = 0;
        for (uint64_t i = 0; i < chips; i++)
            if (at < bytes[_i][i]) {
                (void)pim_dram_memory_request(memory, 0, (i << 20) + at, false, i);
                handed++;
            }
        all += handed;
    }
    (void)pim_dram_memory_finish(memory);
    pim_dram_memory_destroy(memory);
    for (unsigned i = 0; i < chips; i++)
        ENDS(&run, i, 0, ends[i] + bytes[_i][i] / 16 * 3);
    ck_assert_uint_eq(run.result.dram.reads, all);
    ck_assert(run.result.memory_energy.modelled > 0 && isnan(run.result.energy.global) &&
              isnan(run.result.energy.total)); /* the standard has no I/O */
    clean(&run);
}
END_TEST

/* Cores of one chip wait in one line, in the order of their numbers: the second load hands over its first
 * access in the cycle behind the last of the first. The same accesses, one in a cycle, to the memory of
 * `pimsim dram`. */
START_TEST(cores_of_a_chip_stand_in_line)
{
    enum { FIRST = 1024, SECOND = 640 };
    struct run run = {.width = 2, .height = 1, .settings = {DDR4, NO_REFRESH}};
    replay_well(&run, ".unit 0\nlocal_load address=0 local=0 bytes=1024\n"
                      ".unit 1\nlocal_load address=0x100000 local=0 bytes=640\n");
    const struct pim_dram_configuration *dram = &run.system->hardware.cores.dram;
    uint64_t ends[2] = {0};
    const struct pim_dram_sink sink = {ends, note, NULL};
    struct pim_dram_memory *memory =
        pim_dram_memory_create(&dram->specification, &dram->policy, &dram->mapping, &sink);
    ck_assert_ptr_nonnull(memory);
    for (uint64_t at = 0; at < FIRST + SECOND; at += 64)
        (void)pim_dram_memory_request(memory, at / 64, at < FIRST ? at : (1 << 20) + at - FIRST, false,
                                      at >= FIRST);
    (void)pim_dram_memory_finish(memory);
    pim_dram_memory_destroy(memory);
    ENDS(&run, 0, 0, ends[0] + FIRST / 16 * 3);
    ENDS(&run, 1, 0, ends[1] + SECOND / 16 * 3);
    ck_assert_uint_eq(run.result.dram.reads, (FIRST + SECOND) / 64);
    clean(&run);
}
END_TEST

static const char *const standards[][4] = {
    {"global_memory.standard=ddr4_2400r", "clock.memory_khz=1200000"},
    {"global_memory.standard=ddr5_4800an", "clock.memory_khz=2400000"},
    {"global_memory.standard=hbm3_6400", "clock.memory_khz=3200000",
     "global_memory.standard_values=\"dram = { channels = 4; pseudo_channels = 2; };\""},
    {"global_memory.standard=lpddr5_6400", "clock.memory_khz=800000"},
};

/* Random loads and stores of four chips: every run holds its invariants (support.c), is the same twice, and
 * accounts for every column. */
START_TEST(random_traffic)
{
    enum { LINES = 24 };
    struct pim_random random;
    pim_random_initialize(&random, 77 + (uint64_t)_i);
    static char program[1 << 15];
    size_t length = 0;
    for (unsigned core = 0; core < 8; core++) {
        length += (size_t)snprintf(program + length, sizeof program - length, ".unit %u\n", core);
        for (unsigned i = 0; i < LINES; i++) {
            const unsigned count = 1 + (unsigned)pim_random_below(&random, 4);
            length += (size_t)snprintf(
                program + length, sizeof program - length, "local_%s address=%u local=%u bytes=%u%s",
                pim_random_below(&random, 2) ? "load" : "store", (unsigned)pim_random_below(&random, 100000),
                (unsigned)pim_random_below(&random, 4096), 1 + (unsigned)pim_random_below(&random, 500),
                count > 1 ? " " : "\n");
            if (count > 1)
                length += (size_t)snprintf(program + length, sizeof program - length, "count=%u stride=%u\n",
                                           count, 500 + (unsigned)pim_random_below(&random, 9000));
        }
    }
    ck_assert_uint_lt(length, sizeof program - 1);
    struct run runs[2];
    for (unsigned i = 0; i < 2; i++) {
        struct run *run = &runs[i];
        *run = (struct run){.width = 4, .height = 2, .settings = {"chips.width=2", "chips.height=2"}};
        for (unsigned j = 0; j < 4 && standards[_i][j]; j++)
            run->settings[2 + j] = standards[_i][j];
        replay_well(run, program);
        const struct pim_bank_counters *dram = &run->result.dram;
        ck_assert_uint_gt(dram->reads, 0);
        struct pim_dram_counters channels = {0};
        pim_core_memory_rows(run->system->units, &channels);
        ck_assert_uint_gt(channels.forwarded_reads + channels.absorbed_writes, 0);
        ck_assert_uint_eq(dram->row_hits + dram->row_misses + dram->row_conflicts + channels.forwarded_reads +
                              channels.absorbed_writes,
                          dram->reads + dram->writes);
        ck_assert_uint_ge(dram->bytes_read, run->result.bytes_loaded);
        ck_assert_uint_ge(dram->bytes_written, run->result.bytes_stored);
    }
    ck_assert_uint_eq(runs[0].result.cycles, runs[1].result.cycles);
    ck_assert(memcmp(runs[0].seen, runs[1].seen, sizeof runs[0].seen) == 0);
    ck_assert(memcmp(&runs[0].result.dram, &runs[1].result.dram, sizeof runs[0].result.dram) == 0);
    clean(&runs[0]);
    clean(&runs[1]);
}
END_TEST

START_TEST(refusals)
{
    static const char load[] = ".unit 0\nlocal_load address=0 local=0 bytes=64\n";
    struct run run = {.width = 1, .height = 1, .settings = {"global_memory.standard=pimbank_400"}};
    replay_badly(&run, load, PIM_BAD_INPUT, "global_memory.standard holds 8388608 bytes");
    run.settings[0] = "global_memory.standard=ddr4_2400r";
    replay_badly(&run, load, PIM_BAD_INPUT, "a cycle of global_memory.standard lasts 833 ps");
    run.settings[0] = NO_REFRESH;
    replay_badly(&run, load, PIM_BAD_INPUT, "is empty: global_memory.standard_values");
    run.settings[0] = "global_memory.standard=ddr4_2401";
    replay_badly(&run, load, PIM_BAD_INPUT, "the nearest is ddr4_2400r");
}
END_TEST

Suite *core_memory_suite(void)
{
    Suite *suite = suite_create("core_memory");
    TCase *cases = tcase_create("channels");
    tcase_add_test(cases, a_load);
    tcase_add_test(cases, pieces);
    tcase_add_test(cases, a_store);
    tcase_add_test(cases, another_clock);
    tcase_add_test(cases, no_common_edges);
    tcase_add_test(cases, a_byte);
    tcase_add_test(cases, what_a_waiting_write_holds);
    tcase_add_test(cases, a_request_between_commands);
    tcase_add_loop_test(cases, chips_take_turns, 0, 6);
    tcase_add_test(cases, cores_of_a_chip_stand_in_line);
    tcase_add_loop_test(cases, random_traffic, 0, 4);
    tcase_add_test(cases, refusals);
    suite_add_tcase(suite, cases);
    return suite;
}

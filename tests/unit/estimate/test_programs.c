/* When programs of several nodes end, with messages among them, against the nodes themselves. */
#include "tests/unit/estimate/machine.h"
#include "tests/unit/estimate/suites.h"

#include "mappers/estimate/messages.h"
#include "models/system/system.h"
#include "sim/random.h"
#include "traces/file/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint64_t seed = UINT64_C(0x70726f67);

enum { PROGRAMS = 30, MOST_UNITS = 6, MOST_INSTRUCTIONS = 400 };

/* How many per cent the estimate of a program may be from the cycles of the nodes, at most and in the mean: 0
 * between two nodes, whose packets meet no others on their way. */
static const struct setting {
    const char *preset, *assignment[5];
    double most, mean;
} settings[] = {
    {"nicepim-4x4", {"array.width=2", "array.height=1"}, 0, 0},
    {"nicepim-4x4", {"array.width=2", "array.height=1", "unit.issue=\"in_order\""}, 0, 0},
    {"nicepim-4x4", {"array.width=2", "array.height=1", "dram.arbitration_bytes=64"}, 0, 0},
    {"nicepim-4x4",
     {"array.width=2", "array.height=1", "clock.memory_khz=266000", "clock.network_khz=300000",
      "unit.window=4"},
     0,
     0},
    {"nicepim-4x4", {"array.width=3", "array.height=2"}, 9, 0.5},
    {"nicepim-4x4", {"array.width=3", "array.height=2", "unit.issue=\"in_order\""}, 9, 0.5},
    {"nicepim-4x4",
     {"array.width=3", "array.height=2", "network_interface.posted_receives=1", "unit.window=8"},
     9,
     0.5},
    {"nicepim-4x4",
     {"array.width=3", "array.height=2", "network_interface.packet_bytes=64", "dram.arbitration_bytes=64"},
     9,
     0.5},
};
enum { SETTINGS = sizeof settings / sizeof settings[0] };

struct draw {
    struct pim_random random;
    uint32_t units;
    struct pim_instruction instruction[MOST_UNITS][MOST_INSTRUCTIONS];
    uint32_t count[MOST_UNITS];
};

/* Behind up to two of the last few of its unit. */
static void put(struct draw *draw, uint32_t unit, struct pim_instruction instruction)
{
    const uint32_t at = draw->count[unit];
    ck_assert_uint_lt(at, MOST_INSTRUCTIONS);
    for (size_t i = 0; i < 2 && instruction.opcode != PIM_OP_JOIN && instruction.opcode != PIM_OP_RECEIVE;
         i++) {
        const uint32_t reach = (uint32_t)pim_random_below(&draw->random, 6);
        instruction.dependency[i] = (uint16_t)(reach <= at ? reach : 0);
    }
    draw->instruction[unit][draw->count[unit]++] = instruction;
}

static void put_work(struct draw *draw, uint32_t unit)
{
    struct pim_instruction instruction = {.opcode = PIM_OP_JOIN};
    switch (pim_random_below(&draw->random, 8)) {
    case 0:
        break;
    case 1:
    case 2:
        instruction.opcode = PIM_OP_VECTOR;
        instruction.detail = PIM_VECTOR_ADD;
        instruction.u.vector.rows = 1;
        instruction.u.vector.elements = (uint32_t)pim_random_between(&draw->random, 1, 3000);
        instruction.u.vector.bits = 32;
        break;
    default:
        instruction.opcode = pim_random_below(&draw->random, 2) ? PIM_OP_LOAD : PIM_OP_STORE;
        instruction.u.memory.address = pim_random_below(&draw->random, 1 << 16);
        instruction.u.memory.count = (uint32_t)pim_random_between(&draw->random, 1, 4);
        instruction.u.memory.bytes = (uint32_t)pim_random_between(&draw->random, 1, 2500);
        instruction.u.memory.stride =
            instruction.u.memory.bytes + (uint32_t)pim_random_below(&draw->random, 200);
    }
    put(draw, unit, instruction);
}

/* Messages in one order that all units keep, and work in between. */
static void draw_programs(struct draw *draw)
{
    memset(draw->count, 0, sizeof draw->count);
    const uint32_t messages = (uint32_t)pim_random_between(&draw->random, 1, 30);
    for (uint32_t i = 0; i < messages; i++) {
        const uint32_t from = (uint32_t)pim_random_below(&draw->random, draw->units),
                       to = (from + (uint32_t)pim_random_between(&draw->random, 1, draw->units - 1)) %
                            draw->units;
        struct pim_instruction message = {.opcode = PIM_OP_RECEIVE};
        message.u.network.peer = from;
        message.u.network.tag = (uint32_t)pim_random_below(&draw->random, 3);
        message.u.network.address = pim_random_below(&draw->random, 1 << 16);
        message.u.network.bytes =
            pim_random_between(&draw->random, 1, pim_random_below(&draw->random, 3) ? 300 : 9000);
        put(draw, to, message);
        message.opcode = PIM_OP_SEND;
        message.u.network.peer = to;
        message.u.network.address = pim_random_below(&draw->random, 1 << 16);
        put(draw, from, message);
        for (uint64_t work = pim_random_below(&draw->random, 5); work > 0; work--)
            put_work(draw, (uint32_t)pim_random_below(&draw->random, draw->units));
    }
}

static void write_programs(const struct draw *draw, const struct machine *machine, const char *path)
{
    struct pim_trace_writer *writer;
    struct pim_error error = {0};
    const struct pim_trace_description description = {.family = "test",
                                                      .width = machine->estimate.width,
                                                      .height = machine->estimate.height,
                                                      .units = draw->units};
    ck_assert_msg(pim_trace_writer_create(path, &description, &writer, &error) == PIM_OK, "%s", error.text);
    const uint32_t phase = pim_trace_writer_phase(writer, &(struct pim_trace_phase){.name = "all"});
    for (uint32_t u = 0; u < draw->units; u++) {
        struct pim_instruction mark = {.opcode = PIM_OP_PHASE_BEGIN};
        mark.u.control.phase = phase;
        ck_assert_int_eq(pim_trace_writer_append(writer, u, &mark, &error), PIM_OK);
        for (uint32_t i = 0; i < draw->count[u]; i++)
            ck_assert_msg(pim_trace_writer_append(writer, u, &draw->instruction[u][i], &error) == PIM_OK,
                          "%s", error.text);
        mark.opcode = PIM_OP_PHASE_END;
        ck_assert_int_eq(pim_trace_writer_append(writer, u, &mark, &error), PIM_OK);
    }
    ck_assert_msg(pim_trace_writer_finish(writer, &error) == PIM_OK, "%s", error.text);
}

/* The last unit, from 0 on. */
static uint64_t estimate(const struct draw *draw, const struct machine *machine)
{
    struct pim_estimate_program programs[MOST_UNITS];
    struct pim_pace *pace[MOST_UNITS];
    uint64_t ends[MOST_UNITS][MOST_INSTRUCTIONS], clock[MOST_UNITS] = {0}, last = 0;
    for (uint32_t u = 0; u < draw->units; u++) {
        programs[u] = (struct pim_estimate_program){draw->instruction[u], draw->count[u], ends[u]};
        pace[u] = pim_pace_create(&machine->estimate);
        ck_assert_ptr_nonnull(pace[u]);
    }
    ck_assert(pim_estimate_programs(&machine->estimate, programs, pace, clock, clock));
    for (uint32_t u = 0; u < draw->units; u++) {
        uint64_t end = 0;
        for (uint32_t i = 0; i < draw->count[u]; i++)
            end = ends[u][i] > end ? ends[u][i] : end;
        ck_assert_uint_eq(end, clock[u]);
        last = end > last ? end : last;
        pim_pace_destroy(pace[u]);
    }
    return last;
}

START_TEST(programs_take_the_cycles_of_the_nodes)
{
    struct machine machine;
    struct draw *draw = calloc(1, sizeof *draw);
    char path[64];
    size_t assignments = 0;
    double sum = 0;
    ck_assert_ptr_nonnull(draw);
    while (assignments < 5 && settings[_i].assignment[assignments])
        assignments++;
    machine_read(&machine, settings[_i].preset, settings[_i].assignment, assignments);
    draw->units = machine.estimate.width * machine.estimate.height;
    (void)snprintf(path, sizeof path, "test_programs_%ld.bin", (long)getpid());
    pim_random_initialize(&draw->random, seed + (uint64_t)_i);
    for (int i = 0; i < PROGRAMS; i++) {
        draw_programs(draw);
        write_programs(draw, &machine, path);
        const double cycles = (double)machine_simulate(&machine, path),
                     estimated = (double)estimate(draw, &machine),
                     error = 100 * (estimated - cycles) / cycles;
        sum += error;
        ck_assert_msg(error <= settings[_i].most && error >= -settings[_i].most,
                      "program %d: estimated %.0f, simulated %.0f", i, estimated, cycles);
    }
    ck_assert_double_le(sum, PROGRAMS * settings[_i].mean);
    ck_assert_double_ge(sum, -PROGRAMS * settings[_i].mean);
    (void)unlink(path);
    free(draw);
}
END_TEST

Suite *estimate_programs_suite(void)
{
    Suite *suite = suite_create("programs");
    TCase *cases = tcase_create("programs");
    printf("estimate programs: seed 0x%" PRIx64 "\n", seed);
    tcase_add_loop_test(cases, programs_take_the_cycles_of_the_nodes, 0, SETTINGS);
    suite_add_tcase(suite, cases);
    return suite;
}

/* When instructions of a node end, against the node itself: random programs on one node, to the cycle. */
#include "tests/unit/estimate/machine.h"
#include "tests/unit/estimate/suites.h"

#include "mappers/estimate/messages.h"
#include "models/system/system.h"
#include "sim/integer.h"
#include "sim/random.h"
#include "traces/file/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static const uint64_t seed = UINT64_C(0x70616365);

enum { PROGRAMS = 40 };

/* A node alone: its clocks, banks, buffers and window. */
static const struct setting {
    const char *preset, *assignment[4];
} settings[] = {
    {"nicepim-4x8", {"array.width=1", "array.height=1"}},
    {"nicepim-4x8", {"array.width=1", "array.height=1", "clock.memory_khz=333000", "unit.window=8"}},
    {"nicepim-16x16",
     {"array.width=1", "array.height=1", "buffers.input_bytes=4096", "dram.page=\"closed\""}},
    {"allspark-16x16", {"array.width=1", "array.height=1", "clock.logic_khz=700000", "dram.trefi_ns=500"}},
    {"nicepim-4x8", {"array.width=1", "array.height=1", "unit.issue=\"in_order\""}},
    {"allspark-16x16", {"array.width=1", "array.height=1", "unit.issue=\"in_order\"", "unit.window=4"}},
};
enum { SETTINGS = sizeof settings / sizeof settings[0] };

struct draw {
    struct pim_random random;
    struct pim_trace_writer *writer;
    struct pim_pace *pace;
    uint64_t count; /* instructions so far */
};

static uint64_t put(struct draw *draw, struct pim_instruction instruction, uint64_t after, uint64_t after2)
{
    struct pim_error error = {0};
    const uint64_t wait[] = {after, after2};
    for (size_t i = 0; i < 2; i++)
        instruction.dependency[i] =
            (uint16_t)(wait[i] == UINT64_MAX || (i == 1 && after == after2) ? 0 : draw->count - wait[i]);
    ck_assert_msg(pim_trace_writer_append(draw->writer, 0, &instruction, &error) == PIM_OK, "%s", error.text);
    pim_pace_put(draw->pace, &instruction);
    return draw->count++;
}

static void put_mark(struct draw *draw, uint8_t opcode, uint32_t phase)
{
    struct pim_instruction instruction = {.opcode = opcode};
    instruction.u.control.phase = phase;
    (void)put(draw, instruction, UINT64_MAX, UINT64_MAX);
}

/* A piece of memory: one run, or some pieces, in rows far apart or near. */
static uint64_t put_memory(struct draw *draw, uint8_t opcode, uint8_t buffer, uint32_t bytes, uint64_t after)
{
    struct pim_instruction instruction = {.opcode = opcode, .detail = buffer};
    uint32_t pieces = (uint32_t)pim_random_below(&draw->random, 3) == 0 ? 4 : 1;
    instruction.u.memory.address =
        pim_random_below(&draw->random, pim_random_below(&draw->random, 2) ? 4096 : 1 << 20);
    instruction.u.memory.count = bytes % pieces == 0 ? pieces : 1;
    instruction.u.memory.bytes = bytes / instruction.u.memory.count;
    instruction.u.memory.stride =
        instruction.u.memory.bytes +
        (uint32_t)pim_random_below(&draw->random, pim_random_below(&draw->random, 2) ? 64 : 40000);
    return put(draw, instruction, after, UINT64_MAX);
}

/* Tiles as mappers write them: loads, a product, a vector operation, and the store behind the next loads. */
static void put_tiles(struct draw *draw)
{
    uint64_t pending = UINT64_MAX;
    uint32_t outputs = 0;
    for (uint64_t tile = 0, tiles = pim_random_between(&draw->random, 1, 30); tile < tiles; tile++) {
        uint32_t m = (uint32_t)pim_random_between(&draw->random, 1, 12),
                 n = (uint32_t)pim_random_between(&draw->random, 1, 40),
                 k = (uint32_t)pim_random_between(&draw->random, 1, 80);
        uint64_t input = put_memory(draw, PIM_OP_LOAD, PIM_BUFFER_INPUT, m * k * 2, UINT64_MAX);
        uint64_t weight = put_memory(draw, PIM_OP_LOAD, PIM_BUFFER_WEIGHT, k * n * 2, UINT64_MAX);
        struct pim_instruction matrix = {.opcode = PIM_OP_MATRIX,
                                         .detail = PIM_MATRIX_RELEASE_INPUT | PIM_MATRIX_RELEASE_WEIGHT |
                                                   PIM_MATRIX_OPEN_OUTPUT};
        matrix.u.matrix.m = m;
        matrix.u.matrix.n = n;
        matrix.u.matrix.k = k;
        matrix.u.matrix.input_bits = matrix.u.matrix.weight_bits = matrix.u.matrix.output_bits = 16;
        uint64_t done = put(draw, matrix, input, weight);
        if (pending != UINT64_MAX)
            (void)put_memory(draw, PIM_OP_STORE, PIM_BUFFER_NONE, 2 * outputs, pending);
        struct pim_instruction vector = {.opcode = PIM_OP_VECTOR, .detail = PIM_VECTOR_COPY};
        vector.u.vector.rows = m;
        vector.u.vector.elements = n;
        vector.u.vector.release = 4 * m * n;
        vector.u.vector.bits = 16;
        pending = put(draw, vector, done, UINT64_MAX);
        outputs = m * n;
        if (pim_random_below(&draw->random, 8) == 0)
            (void)put(draw, (struct pim_instruction){.opcode = PIM_OP_JOIN}, UINT64_MAX, UINT64_MAX);
    }
    (void)put_memory(draw, PIM_OP_STORE, PIM_BUFFER_NONE, 2 * outputs, pending);
}

START_TEST(programs_take_the_cycles_of_the_node)
{
    struct machine machine;
    struct draw draw;
    char path[64];
    size_t assignments = 0;
    while (assignments < 4 && settings[_i].assignment[assignments])
        assignments++;
    machine_read(&machine, settings[_i].preset, settings[_i].assignment, assignments);
    (void)snprintf(path, sizeof path, "test_pace_%ld.bin", (long)getpid());
    pim_random_initialize(&draw.random, seed + (uint64_t)_i);
    for (int i = 0; i < PROGRAMS; i++) {
        struct pim_error error = {0};
        const struct pim_trace_description description = {
            .family = "test", .width = 1, .height = 1, .units = 1};
        ck_assert_msg(pim_trace_writer_create(path, &description, &draw.writer, &error) == PIM_OK, "%s",
                      error.text);
        draw.pace = pim_pace_create(&machine.estimate);
        ck_assert_ptr_nonnull(draw.pace);
        pim_pace_begin(draw.pace, 0);
        draw.count = 0;
        put_mark(&draw, PIM_OP_PHASE_BEGIN,
                 pim_trace_writer_phase(draw.writer, &(struct pim_trace_phase){.name = "tiles"}));
        put_tiles(&draw);
        put_mark(&draw, PIM_OP_PHASE_END, 0);
        ck_assert_msg(pim_trace_writer_finish(draw.writer, &error) == PIM_OK, "%s", error.text);
        ck_assert_uint_eq(pim_pace_cycles(draw.pace), machine_simulate(&machine, path));
        pim_pace_destroy(draw.pace);
    }
    (void)unlink(path);
}
END_TEST

/* One receive at a time, with sends between two of them that are over first: all messages go, no sooner than
 * with more receives. */
START_TEST(receives_go_on_behind_sends)
{
    const char *const assignment[] = {"array.width=4", "array.height=1",
                                      "network_interface.posted_receives=1"};
    const struct pim_estimate_message messages[] = {{.from = 2, .to = 1, .bytes = 100000},
                                                    {.from = 1, .to = 0, .bytes = 64},
                                                    {.from = 1, .to = 3, .bytes = 64},
                                                    {.from = 0, .to = 1, .bytes = 50000}};
    const uint64_t start[4] = {0};
    uint64_t ends[2][4];
    for (size_t i = 0; i < 2; i++) {
        struct machine machine;
        machine_read(&machine, "nicepim-4x4", assignment, i == 0 ? 2 : 3);
        ck_assert(pim_estimate_messages(&machine.estimate, messages, 4, start, ends[i]));
    }
    const uint64_t last = pim_larger(ends[0][0], ends[0][1]);
    ck_assert_uint_gt(ends[1][1], last);
    ck_assert_uint_gt(ends[1][0], ends[1][2]); /* the last message begins when the first is there */
    ck_assert_uint_gt(ends[1][0], 10 * ends[1][3]);
}
END_TEST

/* In order a receive behind a send is announced when that has started, which its late receiver holds up; and
 * a send behind a receive goes when that is announced, whatever comes. */
START_TEST(messages_start_in_order)
{
    const char *const assignment[] = {"array.width=3", "array.height=1", "unit.issue=\"in_order\""};
    const struct pim_estimate_message messages[] = {{.from = 1, .to = 2, .bytes = 64},
                                                    {.from = 0, .to = 1, .bytes = 64}};
    const struct pim_estimate_message turned[] = {messages[1], messages[0]};
    const uint64_t start[3] = {0, 0, 10000};
    uint64_t ends[3][3];
    for (size_t i = 0; i < 3; i++) {
        struct machine machine;
        machine_read(&machine, "nicepim-4x4", assignment, i == 0 ? 2 : 3);
        ck_assert(pim_estimate_messages(&machine.estimate, i < 2 ? messages : turned, 2, start, ends[i]));
    }
    ck_assert_uint_lt(ends[0][0], 1000);
    ck_assert_uint_gt(ends[1][0], 10000);
    ck_assert_uint_eq(ends[2][0], ends[0][0]);
    ck_assert_uint_eq(ends[1][2], ends[0][2]);
}
END_TEST

/* A load begins with the row that was left open; without it where all is begun anew. */
START_TEST(rows_stay_open_until_all_begins_anew)
{
    struct machine machine;
    machine_read(&machine, "nicepim-4x4", NULL, 0);
    struct pim_pace *pace = pim_pace_create(&machine.estimate);
    ck_assert_ptr_nonnull(pace);
    struct pim_instruction load = {.opcode = PIM_OP_LOAD};
    load.u.memory.bytes = 4096;
    load.u.memory.count = 1;
    uint64_t taken[3];
    for (int turn = 0; turn < 3; turn++) {
        if (turn == 2)
            pim_pace_restart(pace);
        pim_pace_begin(pace, 100 + 1000 * (uint64_t)(turn % 2));
        pim_pace_put(pace, &load);
        taken[turn] = pim_pace_cycles(pace);
    }
    ck_assert_uint_lt(taken[1], taken[0]);
    ck_assert_uint_eq(taken[2], taken[0]);
    pim_pace_destroy(pace);
}
END_TEST

Suite *estimate_pace_suite(void)
{
    Suite *suite = suite_create("pace");
    TCase *cases = tcase_create("pace");
    printf("estimate pace: seed 0x%" PRIx64 "\n", seed);
    tcase_add_loop_test(cases, programs_take_the_cycles_of_the_node, 0, SETTINGS);
    tcase_add_test(cases, receives_go_on_behind_sends);
    tcase_add_test(cases, messages_start_in_order);
    tcase_add_test(cases, rows_stay_open_until_all_begins_anew);
    suite_add_tcase(suite, cases);
    return suite;
}

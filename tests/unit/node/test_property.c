/*
 * Random valid programs on random hardware: each runs to its end with every invariant, is found completable
 * by the checker of traces, does the work that its instructions say, and gives the same results when the
 * network is stepped cycle by cycle.
 *
 * Why they complete: messages are appended to both units' programs in one order for all, so the first that is
 * not complete has everything before it complete in both units; every buffer holds a whole tile, and a tile
 * is given back by instructions that depend on nothing later.
 */
#include "tests/unit/node/programs.h"
#include "tests/unit/node/suites.h"
#include "tests/unit/node/support.h"
#include "tests/unit/test_main.h"

#include "sim/random.h"
#include "traces/check/check.h"
#include "traces/file/writer.h"
#include "traces/validate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROGRAMS = 60, PHASES = 3, HOSTILE = 60 };

static const uint64_t seed = UINT64_C(0x6e6f646573);

/* A unit's program as it is written, and the work it holds. */
struct writing {
    struct pim_trace_writer *writer;
    struct pim_random random;
    uint32_t width, height;
    uint64_t macs, loaded, stored, sent;
};

static uint32_t below(struct writing *writing, uint32_t bound)
{
    return (uint32_t)pim_random_below(&writing->random, bound);
}

/* Appends with the dependencies of the instruction and, now and then, one on anything that was fetched
 * before. */
static void append(struct writing *writing, uint32_t unit, struct pim_instruction instruction)
{
    struct pim_error error = {PIM_OK, ""};
    uint64_t fetched = pim_trace_writer_fetches(writing->writer, unit);
    if (instruction.opcode >= PIM_OP_LOAD && below(writing, 3) == 0)
        instruction.dependency[2] = (uint16_t)(1 + below(writing, fetched < 60 ? (uint32_t)fetched : 60));
    enum pim_status status = pim_trace_writer_append(writing->writer, unit, &instruction, &error);
    ck_assert_msg(status == PIM_OK, "%s", error.text);
}

static struct pim_instruction memory(uint8_t opcode, uint8_t buffer, uint64_t address, uint32_t bytes,
                                     uint32_t count)
{
    struct pim_instruction instruction = {.opcode = opcode, .detail = buffer};
    instruction.u.memory.address = address;
    instruction.u.memory.bytes = bytes;
    instruction.u.memory.count = count;
    instruction.u.memory.stride = count > 1 ? bytes + (uint32_t)(address % 40) : 0;
    return instruction;
}

/* A product of a tile: two loads, a matrix, a vector, a store; perhaps repeated. Two tiles fit every buffer.
 * */
static void append_tile(struct writing *writing, uint32_t unit)
{
    uint32_t m = 1 + below(writing, 24), n = 1 + below(writing, 24), k = 1 + below(writing, 24),
             times = 1 + below(writing, 3);
    struct pim_instruction repeat = {.opcode = PIM_OP_REPEAT};
    repeat.u.control.count = times;
    repeat.u.control.length = 5;
    if (times > 1)
        append(writing, unit, repeat);
    bool windows = m > 1 && below(writing, 3) == 0; /* of a convolution */
    struct pim_instruction load =
        windows ? memory(PIM_OP_LOAD, PIM_BUFFER_INPUT, below(writing, 50000), k + m - 1, 1)
                : memory(PIM_OP_LOAD, PIM_BUFFER_INPUT, below(writing, 50000), k, m);
    load.u.memory.step = times > 1 ? (int32_t)below(writing, 900) : 0;
    append(writing, unit, load);
    append(writing, unit, memory(PIM_OP_LOAD, PIM_BUFFER_WEIGHT, below(writing, 50000), k * n, 1));
    struct pim_instruction matrix = {.opcode = PIM_OP_MATRIX,
                                     .detail = PIM_MATRIX_RELEASE_INPUT | PIM_MATRIX_RELEASE_WEIGHT |
                                               PIM_MATRIX_OPEN_OUTPUT,
                                     .dependency = {1, 2}};
    matrix.u.matrix.m = m;
    matrix.u.matrix.n = n;
    matrix.u.matrix.k = k;
    matrix.u.matrix.window = windows ? k + m - 1 : 0;
    matrix.u.matrix.input_bits = matrix.u.matrix.weight_bits = matrix.u.matrix.output_bits = 8;
    append(writing, unit, matrix);
    struct pim_instruction vector = {
        .opcode = PIM_OP_VECTOR, .detail = (uint8_t)below(writing, PIM_VECTORS), .dependency = {1}};
    vector.u.vector.rows = m;
    vector.u.vector.elements = n;
    vector.u.vector.release = m * n * 4;
    vector.u.vector.bits = 8;
    append(writing, unit, vector);
    struct pim_instruction store = memory(PIM_OP_STORE, PIM_BUFFER_NONE, below(writing, 50000), n, m);
    store.dependency[0] = 1;
    append(writing, unit, store);
    writing->macs += (uint64_t)m * n * k * times;
    writing->loaded += ((windows ? (uint64_t)k + m - 1 : (uint64_t)m * k) + (uint64_t)k * n) * times;
    writing->stored += (uint64_t)m * n * times;
}

static void append_message(struct writing *writing)
{
    uint32_t units = writing->width * writing->height, source = below(writing, units),
             destination = below(writing, units);
    if (source == destination)
        return;
    struct pim_instruction message = {.opcode = PIM_OP_SEND};
    message.u.network.peer = destination;
    message.u.network.tag = below(writing, 2); /* names are used again and again */
    message.u.network.address = below(writing, 50000);
    message.u.network.bytes = 1 + below(writing, below(writing, 2) ? 40 : 3000);
    append(writing, source, message);
    writing->sent += message.u.network.bytes;
    message.opcode = PIM_OP_RECEIVE;
    message.u.network.peer = source;
    message.u.network.address = below(writing, 50000);
    append(writing, destination, message);
}

static enum pim_status write_program(const char *path, const void *context, struct pim_error *error)
{
    struct writing *writing = *(struct writing *const *)context;
    uint32_t units = writing->width * writing->height;
    const struct pim_trace_description description = {
        .family = "test", .width = writing->width, .height = writing->height, .units = units};
    enum pim_status status = pim_trace_writer_create(path, &description, &writing->writer, error);
    if (status != PIM_OK)
        return status;
    for (uint32_t phase = 0; phase < PHASES; phase++) {
        struct pim_instruction mark = {.opcode = PIM_OP_PHASE_BEGIN};
        mark.u.control.phase =
            pim_trace_writer_phase(writing->writer, &(struct pim_trace_phase){.name = "p"});
        for (uint32_t unit = 0; unit < units; unit++)
            append(writing, unit, mark);
        for (uint32_t items = 10 + below(writing, 40); items > 0; items--) {
            uint32_t kind = below(writing, 8);
            if (kind < 3 && units > 1)
                append_message(writing);
            else if (kind < 7)
                append_tile(writing, below(writing, units));
            else
                append(writing, below(writing, units), (struct pim_instruction){.opcode = PIM_OP_JOIN});
        }
        mark.opcode = PIM_OP_PHASE_END;
        for (uint32_t unit = 0; unit < units; unit++)
            append(writing, unit, mark);
    }
    return pim_trace_writer_finish(writing->writer, error);
}

void random_program(struct run *run, uint64_t program_seed)
{
    struct writing writing = {.writer = NULL};
    pim_random_initialize(&writing.random, program_seed);
    run->width = writing.width = 1 + below(&writing, 4);
    run->height = writing.height = 1 + below(&writing, 4);
    const void *const context[] = {&writing};
    run->trace = trace_from(write_program, context);
    make_from(run, run->trace);
}

static const char *pick(struct pim_random *random, const char *const *choices, size_t count)
{
    return choices[pim_random_below(random, count)];
}
#define PICK(random, ...)                                                                                    \
    pick(random, (const char *const[]){__VA_ARGS__},                                                         \
         sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void check_completable(const struct run *run)
{
    const struct pim_node_configuration *node = &run->system->hardware.node;
    struct pim_check_limits limits = {.memory_bytes = node->bank.capacity_bytes,
                                      .window = node->window,
                                      .posted_receives = node->posted_receives,
                                      .accumulator_bits = node->pe.accumulator_bits,
                                      .in_order = node->in_order};
    memcpy(limits.buffer_bytes, node->buffer_bytes, sizeof limits.buffer_bytes);
    struct pim_check_result result;
    struct pim_error error = {PIM_OK, ""};
    ck_assert_msg(pim_trace_check(run->trace, &limits, &result, &error) == PIM_OK, "%s", error.text);
}

START_TEST(random_programs_complete_with_every_invariant)
{
    struct writing writing = {.writer = NULL};
    pim_random_initialize(&writing.random, seed + (uint64_t)_i);
    writing.width = 1 + below(&writing, 4);
    writing.height = 1 + below(&writing, 4);
    struct pim_random *random = &writing.random;
    struct run run = {
        .width = writing.width,
        .height = writing.height,
        .settings = {
            PICK(random, "unit.issue=in_order", "unit.issue=out_of_order"),
            PICK(random, "unit.window=4", "unit.window=8", "unit.window=64"),
            PICK(random, "network_interface.packet_bytes=24", "network_interface.packet_bytes=256"),
            PICK(random, "network_interface.posted_receives=1", "network_interface.posted_receives=3",
                 "network_interface.posted_receives=20"),
            PICK(random, "noc.buffer_flits=1", "noc.buffer_flits=4", "noc.buffer_flits=8"),
            PICK(random, "clock.network_khz=400000", "clock.network_khz=300000", "clock.memory_khz=533333"),
            PICK(random, "dram.refresh=true", "dram.page=closed", "dram.arbitration_bytes=48",
                 "noc.fidelity=analytic", "network_interface.send_packets=7"),
            PICK(random, "dram.interleaved_banks=1", "dram.interleaved_banks=2",
                 "dram.interleaved_banks=4")}};
    printf("program %d of %d, seed 0x%" PRIx64 ": %u x %u\n", _i, (int)PROGRAMS, seed + (uint64_t)_i,
           run.width, run.height);
    const void *const context[] = {&writing};
    run.trace = trace_from(write_program, context);
    make_from(&run, run.trace);
    check_completable(&run);
    finish_run(&run);
    ck_assert_msg(run.status == PIM_OK, "%s", run.error.text);
    ck_assert(run.result.complete);
    check_invariants(&run);
    ck_assert_uint_eq(run.result.actions.macs, writing.macs);
    ck_assert_uint_eq(run.result.bytes_loaded, writing.loaded);
    ck_assert_uint_eq(run.result.bytes_stored, writing.stored);
    ck_assert_uint_eq(run.result.bytes_sent, writing.sent);

    struct run stepped = run;
    stepped.settings[8] = "noc.step_every_cycle=true";
    make_from(&stepped, run.trace);
    finish_run(&stepped);
    ck_assert_msg(stepped.status == PIM_OK, "%s", stepped.error.text);
    char *expected = json_of(&run), *found = json_of(&stepped);
    ck_assert_str_eq(found, expected);
    free(expected);
    free(found);
    stepped.trace = NULL;
    clean(&stepped);
    clean(&run);
}
END_TEST

/* A value that is likely to be at an edge of something. */
static uint64_t hostile(struct writing *writing)
{
    static const uint64_t edges[] = {0,
                                     1,
                                     2,
                                     3,
                                     15,
                                     16,
                                     17,
                                     1023,
                                     1024,
                                     8192,
                                     16384,
                                     8388607,
                                     8388608,
                                     16777216,
                                     1u << 31,
                                     UINT32_MAX,
                                     65535,
                                     65536,
                                     1048576,
                                     4096,
                                     UINT32_MAX,
                                     UINT64_MAX,
                                     UINT64_C(1) << 62,
                                     64};
    uint64_t value = edges[below(writing, sizeof edges / sizeof edges[0])];
    return below(writing, 4) == 0 ? value - 1 : value;
}

static struct pim_instruction hostile_instruction(struct writing *writing)
{
    struct pim_instruction instruction = {
        .opcode = (uint8_t)below(writing, PIM_OPCODES),
        .detail = (uint8_t)below(writing, below(writing, 2) ? 4 : 16),
        .dependency = {(uint16_t)below(writing, 4), (uint16_t)below(writing, 3)}};
    switch (pim_opcode_engine(instruction.opcode)) {
    case PIM_ENGINE_MEMORY:
        instruction.u.memory.address = hostile(writing);
        instruction.u.memory.bytes = (uint32_t)hostile(writing);
        instruction.u.memory.stride = (uint32_t)hostile(writing);
        instruction.u.memory.count = (uint32_t)hostile(writing);
        break;
    case PIM_ENGINE_SEND:
    case PIM_ENGINE_RECEIVE:
        instruction.detail = 0;
        instruction.u.network.peer = below(writing, 2);
        instruction.u.network.tag = below(writing, 2);
        instruction.u.network.address = hostile(writing);
        instruction.u.network.bytes = hostile(writing);
        break;
    case PIM_ENGINE_CONTROL:
        instruction = (struct pim_instruction){.opcode = below(writing, 2) ? PIM_OP_JOIN : PIM_OP_REPEAT};
        if (instruction.opcode == PIM_OP_REPEAT) {
            instruction.u.control.count = (uint32_t)hostile(writing);
            instruction.u.control.length = 1;
        }
        break;
    case PIM_ENGINE_MATRIX:
    case PIM_ENGINE_VECTOR:
    case PIM_ENGINES:
        for (unsigned i = 0; i < 6; i++) {
            uint32_t value = (uint32_t)hostile(writing);
            memcpy(instruction.u.raw + 4 * i, &value, sizeof value);
        }
        if (instruction.opcode == PIM_OP_MATRIX) {
            instruction.u.matrix.reserved = 0;
            instruction.u.matrix.reserved2 = 0;
            instruction.u.matrix.window = (uint32_t)hostile(writing);
            instruction.u.matrix.input_bits = instruction.u.matrix.weight_bits =
                (uint8_t)(1 + below(writing, 64));
            instruction.u.matrix.output_bits = 8;
        } else if (instruction.opcode == PIM_OP_VECTOR) {
            instruction.u.vector.bits = 1 + below(writing, 64);
        }
        break;
    }
    return instruction;
}

/* Whatever the writer of traces accepts, one after the other. */
static enum pim_status write_hostile(const char *path, const void *context, struct pim_error *error)
{
    struct writing *writing = *(struct writing *const *)context;
    const struct pim_trace_description description = {.family = "test", .width = 2, .height = 1, .units = 2};
    enum pim_status status = pim_trace_writer_create(path, &description, &writing->writer, error);
    if (status != PIM_OK)
        return status;
    struct pim_instruction mark = {.opcode = PIM_OP_PHASE_BEGIN};
    mark.u.control.phase = pim_trace_writer_phase(writing->writer, &(struct pim_trace_phase){.name = "p"});
    for (uint32_t unit = 0; unit < 2 && status == PIM_OK; unit++) {
        struct pim_program_state state = pim_program_start(unit, 2, 1), next;
        mark.opcode = PIM_OP_PHASE_BEGIN;
        ck_assert_int_eq(pim_program_add(&state, &mark, error), PIM_OK);
        status = pim_trace_writer_append(writing->writer, unit, &mark, error);
        for (uint32_t left = 1 + below(writing, 12); (left > 0 || state.depth > 0) && status == PIM_OK;
             left -= left > 0) {
            struct pim_instruction instruction = hostile_instruction(writing);
            struct pim_error refused;
            next = state;
            if (pim_program_add(&next, &instruction, &refused) != PIM_OK)
                continue;
            state = next;
            status = pim_trace_writer_append(writing->writer, unit, &instruction, error);
        }
        mark.opcode = PIM_OP_PHASE_END;
        if (status == PIM_OK)
            status = pim_trace_writer_append(writing->writer, unit, &mark, error);
    }
    if (status == PIM_OK)
        return pim_trace_writer_finish(writing->writer, error);
    pim_trace_writer_abandon(writing->writer);
    return status;
}

START_TEST(whatever_a_trace_holds_a_run_ends_with_a_status)
{
    unsigned ends[PIM_INTERNAL + 1] = {0};
    for (unsigned program = 0; program < HOSTILE; program++) {
        struct writing writing = {.writer = NULL};
        pim_random_initialize(&writing.random, seed + 1000 + (uint64_t)_i * HOSTILE + program);
        struct run run = {
            .width = 2,
            .height = 1,
            .until = 20000,
            .settings = {"noc.fidelity=analytic",
                         below(&writing, 2) ? "unit.issue=in_order" : "unit.window=4",
                         below(&writing, 2) ? "pe.rows=1" : "dram.banks=3",
                         below(&writing, 2) ? "dram.arbitration_bytes=1" : "dram.arbitration_bytes=1000"}};
        const void *const context[] = {&writing};
        run.trace = trace_from(write_hostile, context);
        make_from(&run, run.trace);
        finish_run(&run);
        ck_assert_msg(run.status == PIM_OK || run.status == PIM_BAD_INPUT || run.status == PIM_DEADLOCK,
                      "program %u: %s", program, run.error.text);
        if (run.status == PIM_OK)
            check_invariants(&run);
        ends[run.status]++;
        clean(&run);
    }
    printf("%u ran, %u were refused, %u deadlocked\n", ends[PIM_OK], ends[PIM_BAD_INPUT], ends[PIM_DEADLOCK]);
    ck_assert(ends[PIM_OK] > 0 && ends[PIM_BAD_INPUT] > 0 && ends[PIM_DEADLOCK] > 0);
}
END_TEST

Suite *property_suite(void)
{
    Suite *suite = suite_create("property");
    TCase *tests = tcase_create("random programs");
    tcase_add_loop_test(tests, random_programs_complete_with_every_invariant, 0, PIM_DRAWS(PROGRAMS));
    tcase_add_loop_test(tests, whatever_a_trace_holds_a_run_ends_with_a_status, 0, 4);
    suite_add_tcase(suite, tests);
    return suite;
}

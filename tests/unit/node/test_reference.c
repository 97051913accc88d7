/*
 * Random programs on random hardware against the stepped reference: the start and the end of every
 * instruction, and what every bank did.
 *
 * Programs are right and complete for the reasons that test_property.c gives.
 */
#include "tests/unit/node/reference.h"
#include "tests/unit/node/suites.h"
#include "tests/unit/node/support.h"
#include "tests/unit/test_main.h"

#include "sim/random.h"
#include "traces/file/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PROGRAMS = 300, ITEMS = 70 };

static const uint64_t seed = UINT64_C(0x6e6f64657374);

static uint32_t below(struct pim_random *random, uint32_t bound)
{
    return (uint32_t)pim_random_below(random, bound);
}

static bool has_room(const struct reference *r, uint32_t unit, uint32_t more)
{
    return r->length[unit] + more < REFERENCE_LENGTH; /* and the end mark */
}

static void append(struct reference *r, struct pim_random *random, uint32_t unit,
                   struct pim_instruction instruction)
{
    uint32_t index = r->length[unit]++;
    if (instruction.opcode >= PIM_OP_LOAD && below(random, 3) == 0)
        instruction.dependency[2] = (uint16_t)(1 + below(random, index));
    r->program[unit][index] = instruction;
}

static struct pim_instruction memory(struct pim_random *random, uint8_t opcode, uint8_t buffer,
                                     uint32_t bytes, uint32_t count)
{
    struct pim_instruction instruction = {.opcode = opcode, .detail = buffer};
    instruction.u.memory.address = below(random, 50000);
    instruction.u.memory.bytes = bytes;
    instruction.u.memory.count = count;
    instruction.u.memory.stride = count > 1 ? bytes + below(random, 3) * below(random, 2000) : 0;
    return instruction;
}

/* Two loads, a matrix, a vector, a store. */
static void append_tile(struct reference *r, struct pim_random *random, uint32_t unit)
{
    uint32_t m = 1 + below(random, 24), n = 1 + below(random, 24), k = 1 + below(random, 24);
    if (!has_room(r, unit, 5))
        return;
    bool windows = m > 1 && n % 3 == 0; /* of a convolution, each row one element further */
    append(r, random, unit,
           windows ? memory(random, PIM_OP_LOAD, PIM_BUFFER_INPUT, k + m - 1, 1)
                   : memory(random, PIM_OP_LOAD, PIM_BUFFER_INPUT, k, m));
    append(r, random, unit, memory(random, PIM_OP_LOAD, PIM_BUFFER_WEIGHT, k * n, 1));
    struct pim_instruction matrix = {.opcode = PIM_OP_MATRIX,
                                     .detail = PIM_MATRIX_RELEASE_INPUT | PIM_MATRIX_RELEASE_WEIGHT |
                                               PIM_MATRIX_OPEN_OUTPUT,
                                     .dependency = {1, 2}};
    matrix.u.matrix.m = m;
    matrix.u.matrix.n = n;
    matrix.u.matrix.k = k;
    matrix.u.matrix.window = windows ? k + m - 1 : 0;
    matrix.u.matrix.input_bits = matrix.u.matrix.weight_bits = matrix.u.matrix.output_bits = 8;
    append(r, random, unit, matrix);
    struct pim_instruction vector = {
        .opcode = PIM_OP_VECTOR, .detail = (uint8_t)below(random, PIM_VECTORS), .dependency = {1}};
    vector.u.vector.rows = m;
    vector.u.vector.elements = n;
    vector.u.vector.release = m * n * 4;
    vector.u.vector.bits = 8;
    append(r, random, unit, vector);
    struct pim_instruction store = memory(random, PIM_OP_STORE, PIM_BUFFER_NONE, n, m);
    store.dependency[0] = 1;
    append(r, random, unit, store);
}

/* Some sends name the receive before them, and most of those send bytes that it brought. */
static void pass_on(const struct reference *r, struct pim_random *random, uint32_t unit,
                    struct pim_instruction *send)
{
    uint32_t index = r->length[unit], i = index;
    while (i > 0 && r->program[unit][i - 1].opcode != PIM_OP_RECEIVE)
        i--;
    if (i == 0 || below(random, 2) == 0)
        return;
    const struct pim_instruction *receive = &r->program[unit][i - 1];
    uint32_t bytes = (uint32_t)receive->u.network.bytes, skip = below(random, bytes);
    send->dependency[0] = (uint16_t)(index - (i - 1));
    send->u.network.address = receive->u.network.address + skip;
    send->u.network.bytes = bytes - skip + (below(random, 4) == 0); /* at times a byte too many */
}

static void append_message(struct reference *r, struct pim_random *random)
{
    uint32_t source = below(random, r->units), destination = below(random, r->units);
    if (source == destination || !has_room(r, source, 1) || !has_room(r, destination, 1))
        return;
    struct pim_instruction message = {.opcode = PIM_OP_SEND};
    message.u.network.peer = destination;
    message.u.network.tag = below(random, 2); /* names are used again and again */
    message.u.network.address = below(random, 50000);
    message.u.network.bytes = 1 + below(random, below(random, 3) ? 4000 : 40);
    pass_on(r, random, source, &message);
    append(r, random, source, message);
    message.opcode = PIM_OP_RECEIVE;
    message.dependency[0] = 0;
    message.u.network.peer = source;
    message.u.network.address = below(random, 50000);
    append(r, random, destination, message);
}

static void make_programs(struct reference *r, struct pim_random *random)
{
    memset(r->length, 0, sizeof r->length);
    for (uint32_t unit = 0; unit < r->units; unit++)
        append(r, random, unit, (struct pim_instruction){.opcode = PIM_OP_PHASE_BEGIN});
    for (unsigned item = 0; item < ITEMS; item++) {
        uint32_t kind = below(random, 10), unit = below(random, r->units);
        if (kind < 5 && r->units > 1)
            append_message(r, random);
        else if (kind < 8)
            append_tile(r, random, unit);
        else if (kind == 8 && has_room(r, unit, 1)) /* a copy, of pieces of up to some rows */
            append(r, random, unit,
                   memory(random, below(random, 2) ? PIM_OP_LOAD : PIM_OP_STORE, PIM_BUFFER_NONE,
                          1 + below(random, 3000), 1 + below(random, 4)));
        else if (has_room(r, unit, 1))
            append(r, random, unit, (struct pim_instruction){.opcode = PIM_OP_JOIN});
    }
    for (uint32_t unit = 0; unit < r->units; unit++)
        append(r, random, unit, (struct pim_instruction){.opcode = PIM_OP_PHASE_END});
}

static enum pim_status write_programs(const char *path, const void *context, struct pim_error *error)
{
    const struct run *run = ((const void *const *)context)[0];
    const struct reference *r = ((const void *const *)context)[1];
    const struct pim_trace_description description = {
        .family = "test", .width = run->width, .height = run->height, .units = r->units};
    struct pim_trace_writer *writer;
    enum pim_status status = pim_trace_writer_create(path, &description, &writer, error);
    if (status != PIM_OK)
        return status;
    (void)pim_trace_writer_phase(writer, &(struct pim_trace_phase){.name = "p"});
    for (uint32_t unit = 0; unit < r->units; unit++)
        for (uint32_t i = 0; i < r->length[unit]; i++)
            ck_assert_msg(pim_trace_writer_append(writer, unit, &r->program[unit][i], error) == PIM_OK, "%s",
                          error->text);
    return pim_trace_writer_finish(writer, error);
}

static void check_against(const struct run *run, const struct reference *r, int program)
{
    for (uint32_t unit = 0; unit < r->units; unit++) {
        for (uint32_t i = 0; i < r->length[unit]; i++) {
            if (pim_opcode_engine(r->program[unit][i].opcode) == PIM_ENGINE_CONTROL)
                continue;
            ck_assert_msg(
                run->seen[unit][i].start == r->start[unit][i] && run->seen[unit][i].end == r->end[unit][i],
                "program %d, unit %" PRIu32 ", instruction %" PRIu32 " (%s): from %" PRIu64 " to %" PRIu64
                ", the reference says from %" PRIu64 " to %" PRIu64,
                program, unit, i, pim_opcode_name(r->program[unit][i].opcode), run->seen[unit][i].start,
                run->seen[unit][i].end, r->start[unit][i], r->end[unit][i]);
        }
        const struct pim_bank_counters *bank = &run->result.units[unit].bank, *right = &r->bank[unit];
        ck_assert_uint_eq(bank->reads, right->reads);
        ck_assert_uint_eq(bank->writes, right->writes);
        ck_assert_uint_eq(bank->activates, right->activates);
        ck_assert_uint_eq(bank->row_hits, right->row_hits);
        ck_assert_uint_eq(bank->row_conflicts, right->row_conflicts);
        ck_assert_uint_eq(bank->row_cycles, right->row_cycles);
        ck_assert_uint_eq(bank->turnaround_cycles, right->turnaround_cycles);
    }
    ck_assert_uint_eq(run->result.noc.packets_sent, r->packets);
}

static const char *pick(struct pim_random *random, const char *const *choices, size_t count)
{
    return choices[pim_random_below(random, count)];
}
#define PICK(random, ...)                                                                                    \
    pick(random, (const char *const[]){__VA_ARGS__},                                                         \
         sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

START_TEST(every_instruction_starts_and_ends_with_the_reference)
{
    static struct reference reference;
    static struct run run;
    struct pim_random random;
    pim_random_initialize(&random, seed + (uint64_t)_i);
    memset(&run, 0, sizeof run);
    run.width = 1 + below(&random, 4);
    run.height = 1 + below(&random, 4);
    static const char *const interleaved[] = {"dram.interleaved_banks=1", "dram.interleaved_banks=2",
                                              "dram.interleaved_banks=4"};
    const char *const settings[] = {
        PICK(&random, "unit.issue=in_order", "unit.issue=out_of_order"),
        PICK(&random, "unit.window=4", "unit.window=16", "unit.window=64"),
        PICK(&random, "network_interface.packet_bytes=24", "network_interface.packet_bytes=256",
             "network_interface.packet_bytes=1000"),
        PICK(&random, "network_interface.posted_receives=1", "network_interface.posted_receives=3",
             "network_interface.posted_receives=20"),
        PICK(&random, "noc.buffer_flits=2", "noc.buffer_flits=8", "noc.fidelity=ideal"),
        PICK(&random, "clock.network_khz=400000", "clock.network_khz=300000", "clock.memory_khz=500000",
             "clock.logic_khz=200000"),
        PICK(&random, "network_interface.receive_packets=1", "network_interface.receive_packets=2",
             "network_interface.receive_packets=64"),
        PICK(&random, "dram.refresh=true", "dram.page=closed", "dram.arbitration_bytes=48",
             "dram.arbitration_bytes=100", "network_interface.send_packets=1",
             "network_interface.send_packets=7"),
        PICK(&random, "network_interface.forward=dram", "network_interface.forward=cut_through"),
        interleaved[_i % 3]};
    memcpy(run.settings, settings, sizeof settings);
    reference.units = run.width * run.height;
    make_programs(&reference, &random);
    const void *const context[] = {&run, &reference};
    run.trace = trace_from(write_programs, context);
    make_from(&run, run.trace);
    finish_run(&run);
    ck_assert_msg(run.status == PIM_OK, "program %d: %s", _i, run.error.text);
    reference.configuration = run.system->hardware.node;
    reference.noc = run.system->hardware.noc;
    reference_run(&reference);
    check_against(&run, &reference, _i);
    clean(&run);
}
END_TEST

Suite *reference_suite(void)
{
    Suite *suite = suite_create("reference");
    TCase *tests = tcase_create("reference");
    printf("nodes against the reference: seeds 0x%" PRIx64 " and up\n", seed);
    tcase_add_loop_test(tests, every_instruction_starts_and_ends_with_the_reference, 0, PIM_DRAWS(PROGRAMS));
    suite_add_tcase(suite, tests);
    return suite;
}

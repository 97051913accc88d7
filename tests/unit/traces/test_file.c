/* Writer and reader: what is written comes back; the same content gives the same bytes; nothing is left
 * behind. */
#include "tests/unit/traces/suites.h"
#include "tests/unit/traces/support.h"
#include "traces/counts.h"
#include "traces/validate.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A generator with a fixed seed: xorshift64. */
static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* The operands of an instruction of the local memory. */
static void draw_local(struct pim_instruction *instruction, uint64_t *state)
{
    const uint64_t random = draw(state);
    const uint32_t address = (uint32_t)(draw(state) >> 33), bytes = 1 + (uint32_t)(draw(state) >> 54);
    const uint32_t count = 1 + (uint32_t)(draw(state) >> 54);
    const uint32_t stride = count == 1 ? 0 : bytes + (uint32_t)(draw(state) >> 54);
    if (instruction->opcode == PIM_OP_LOCAL_VECTOR) {
        instruction->detail = (uint8_t)(random >> 8) % PIM_LOCALS;
        instruction->u.local_vector.elements = bytes;
        instruction->u.local_vector.destination = address;
        instruction->u.local_vector.source = (uint32_t)(random >> 33);
        if (pim_local_sources(instruction->detail) == 2)
            instruction->u.local_vector.second = (uint32_t)(draw(state) >> 33);
        instruction->u.local_vector.bits = 1 + (uint32_t)(random >> 16) % 64;
        instruction->u.local_vector.immediate = (int32_t)(uint32_t)draw(state) | 1;
    } else if (instruction->opcode == PIM_OP_LOCAL_COPY) {
        instruction->u.local_copy.destination = address;
        instruction->u.local_copy.source = (uint32_t)(random >> 33);
        instruction->u.local_copy.bytes = bytes;
        instruction->u.local_copy.count = count;
        instruction->u.local_copy.destination_stride = stride;
        instruction->u.local_copy.source_stride = count == 1 ? 0 : (uint32_t)(draw(state) >> 54);
    } else if (instruction->opcode == PIM_OP_LOCAL_WRITE) {
        instruction->u.local_write.destination = address;
        instruction->u.local_write.bytes = bytes;
        instruction->u.local_write.count = count;
        instruction->u.local_write.stride = stride;
        instruction->u.local_write.value = (uint8_t)random;
    } else {
        instruction->u.transfer.address = random >> 3;
        instruction->u.transfer.local = address;
        instruction->u.transfer.bytes = bytes;
        instruction->u.transfer.count = count;
        instruction->u.transfer.stride = stride;
    }
}

static void draw_serial(struct pim_instruction *instruction, uint64_t *state)
{
    uint64_t random = draw(state);
    uint8_t bits = 1 + (uint8_t)(random % 32);
    instruction->u.row_compute.bits = bits;
    instruction->u.row_compute.source = (uint32_t)(random >> 33);
    instruction->u.row_compute.result = (uint32_t)(draw(state) >> 33);
    instruction->u.row_compute.count = 1 + (uint32_t)(draw(state) >> 40);
    instruction->u.row_compute.first_bank = (uint16_t)(random >> 17);
    instruction->u.row_compute.banks = 1;
    instruction->u.row_compute.bank_stride = 1 + (uint16_t)(random >> 8) % 1000;
    if (instruction->opcode == PIM_OP_ROW_TRANSPOSE)
        return;
    instruction->detail = (uint8_t)(random >> 8) % PIM_ROW_OPERATIONS;
    if (instruction->detail != PIM_ROW_COPY)
        instruction->u.row_compute.second = (uint32_t)(draw(state) >> 33);
    if (instruction->detail == PIM_ROW_MULTIPLY)
        instruction->u.row_compute.size = bits + (uint8_t)(random >> 20) % bits;
    if (instruction->detail == PIM_ROW_REDUCE)
        instruction->u.row_compute.size = 1 + (uint8_t)(random >> 20) % 24;
}

/* An instruction of banks that compute; `random` chooses its detail. */
static void draw_rows(struct pim_instruction *instruction, uint64_t *state, uint64_t random, uint32_t unit,
                      uint32_t units)
{
    if (instruction->opcode == PIM_OP_ROW_COMPUTE || instruction->opcode == PIM_OP_ROW_TRANSPOSE) {
        draw_serial(instruction, state);
    } else if (instruction->opcode == PIM_OP_ROW_MOVE) {
        instruction->u.row_move.rows = 1 + (uint32_t)(draw(state) >> 40);
        instruction->u.row_move.source = (uint32_t)(draw(state) >> 40);
        instruction->u.row_move.shift = (uint32_t)draw(state);
        instruction->u.row_move.banks = instruction->u.row_move.bank_stride = 255;
    } else {
        instruction->detail = PIM_REACH_CHANNEL + ((random >> 8) & 1);
        instruction->u.row_message.peer = (unit + 1 + (uint32_t)(draw(state) % (units - 1))) % units;
        instruction->u.row_message.tag = (uint32_t)draw(state);
        instruction->u.row_message.row = (uint32_t)(draw(state) >> 40);
        instruction->u.row_message.rows = 1 + (uint32_t)(draw(state) >> 40);
        instruction->u.row_message.banks = instruction->u.row_message.bank_stride = 3;
    }
}

static void draw_crossbar(struct pim_instruction *instruction, uint64_t *state)
{
    if (instruction->opcode == PIM_OP_MVM) {
        instruction->u.mvm.group = (uint32_t)draw(state);
        instruction->u.mvm.windows = 1 + (uint32_t)(draw(state) >> 40);
        instruction->u.mvm.input_address = (uint32_t)(draw(state) >> 33);
        instruction->u.mvm.output_bytes = (uint32_t)(draw(state) >> 33);
    } else {
        instruction->u.array_write.group = (uint32_t)draw(state);
        instruction->u.array_write.row = (uint32_t)(draw(state) >> 33);
        instruction->u.array_write.rows = 1 + (uint32_t)(draw(state) >> 40);
        instruction->u.array_write.source = (uint32_t)(draw(state) >> 33);
        instruction->u.array_write.bytes = 1 + (uint32_t)(draw(state) >> 40);
    }
}

static void draw_tile(struct pim_instruction *instruction, uint64_t *state, uint32_t unit, uint32_t units)
{
    uint32_t random = (uint32_t)draw(state);
    if (instruction->opcode == PIM_OP_TILE_OUTPUT || instruction->opcode == PIM_OP_TILE_INPUT) {
        instruction->u.tile_edge.edge = random / 2;
        instruction->u.tile_edge.peer = (unit + 1 + random % (units - 1)) % units;
        instruction->u.tile_edge.bits = 1 + (draw(state) >> 25);
        instruction->u.tile_edge.packets = 1 + random / 2;
    } else if (instruction->opcode == PIM_OP_TILE_TAKE) {
        instruction->u.tile_take.input = random;
        instruction->u.tile_take.count = 1 + random / 2;
        instruction->u.tile_take.packets = 1 + random / 3;
        instruction->u.tile_take.free = random / 5;
    } else {
        instruction->u.tile_step.time = 1 + (draw(state) >> 5);
        if (instruction->opcode == PIM_OP_TILE_STEP) {
            instruction->u.tile_step.macs = draw(state) >> 17;
            instruction->u.tile_step.arrays = random;
        }
    }
}

/* Any valid instruction that may stand outside of a block, in the middle of a phase. */
static struct pim_instruction draw_instruction(uint64_t *state, uint32_t unit, uint32_t units,
                                               uint64_t before)
{
    struct pim_instruction instruction = {0};
    uint64_t random = draw(state);
    do /* any but those that give a program its form */
        instruction.opcode = (uint8_t)(draw(state) % PIM_OPCODES);
    while (pim_opcode_engine(instruction.opcode) == PIM_ENGINE_CONTROL && instruction.opcode != PIM_OP_JOIN);
    switch ((enum pim_opcode)instruction.opcode) {
    case PIM_OP_LOAD:
    case PIM_OP_STORE:
        instruction.detail = (uint8_t)(random >> 8) % PIM_BUFFERS;
        instruction.u.memory.address = draw(state) >> 20;
        instruction.u.memory.bytes = 1 + (uint32_t)(draw(state) >> 50);
        instruction.u.memory.count = 1 + (uint32_t)(draw(state) >> 52);
        instruction.u.memory.stride = instruction.u.memory.bytes + (uint32_t)(draw(state) >> 45);
        break;
    case PIM_OP_MATRIX:
        instruction.detail = (uint8_t)(random >> 8) & PIM_MATRIX_FLAGS;
        instruction.u.matrix.m = 1 + (uint32_t)(draw(state) >> 50);
        instruction.u.matrix.n = 1 + (uint32_t)(draw(state) >> 50);
        instruction.u.matrix.k = 1 + (uint32_t)(draw(state) >> 50);
        instruction.u.matrix.input_bits = 1 + (uint8_t)(random >> 16) % 64;
        instruction.u.matrix.weight_bits = 1 + (uint8_t)(random >> 24) % 64;
        instruction.u.matrix.output_bits = 1 + (uint8_t)(random >> 32) % 64;
        break;
    case PIM_OP_MVM:
    case PIM_OP_ARRAY_WRITE:
        draw_crossbar(&instruction, state);
        break;
    case PIM_OP_BIT_SERIAL:
        instruction.detail = (uint8_t)(random >> 8) % PIM_BIT_SERIALS;
        instruction.u.bit_serial.bits = 1 + (uint32_t)(random >> 16) % 64;
        instruction.u.bit_serial.rows = 1 + (uint32_t)(draw(state) >> 40);
        instruction.u.bit_serial.first_bank = (uint32_t)(draw(state) >> 40);
        instruction.u.bit_serial.banks = 1 + (uint32_t)(draw(state) >> 40);
        instruction.u.bit_serial.count = 1 + (uint32_t)(draw(state) >> 40);
        break;
    case PIM_OP_ROW_COMPUTE:
    case PIM_OP_ROW_TRANSPOSE:
    case PIM_OP_ROW_MOVE:
    case PIM_OP_ROW_SEND:
    case PIM_OP_ROW_RECEIVE:
        draw_rows(&instruction, state, random, unit, units);
        break;
    case PIM_OP_TILE_OUTPUT:
    case PIM_OP_TILE_INPUT:
    case PIM_OP_TILE_TAKE:
    case PIM_OP_TILE_STEP:
    case PIM_OP_TILE_VECTOR:
        draw_tile(&instruction, state, unit, units);
        break;
    case PIM_OP_VECTOR:
        instruction.detail = (uint8_t)(random >> 8) % PIM_VECTORS;
        instruction.u.vector.rows = 1 + (uint32_t)(draw(state) >> 50);
        instruction.u.vector.elements = 1 + (uint32_t)(draw(state) >> 50);
        instruction.u.vector.release = (uint32_t)draw(state);
        instruction.u.vector.source_address = (uint32_t)draw(state);
        instruction.u.vector.destination_address = (uint32_t)draw(state);
        instruction.u.vector.bits = 1 + (uint32_t)(random >> 16) % 64;
        break;
    case PIM_OP_SEND:
    case PIM_OP_RECEIVE:
        instruction.detail = (uint8_t)(random >> 8) % PIM_MESSAGES;
        instruction.u.network.peer = (unit + 1 + (uint32_t)(draw(state) % (units - 1))) % units;
        instruction.u.network.tag = (uint32_t)draw(state);
        instruction.u.network.address = draw(state) >> 3;
        instruction.u.network.bytes = 1 + (draw(state) >> 20);
        break;
    case PIM_OP_LOCAL_LOAD:
    case PIM_OP_LOCAL_STORE:
    case PIM_OP_LOCAL_VECTOR:
    case PIM_OP_LOCAL_COPY:
    case PIM_OP_LOCAL_WRITE:
        draw_local(&instruction, state);
        break;
    case PIM_OP_PHASE_BEGIN:
    case PIM_OP_PHASE_END:
    case PIM_OP_JOIN:
    case PIM_OP_REPEAT:
    case PIM_OPCODES:
        return instruction;
    }
    for (int i = 0; i < PIM_DEPENDENCIES; i++)
        instruction.dependency[i] =
            (uint16_t)(draw(state) % (1 + (before < PIM_DEPENDENCY_REACH ? before : PIM_DEPENDENCY_REACH)));
    return instruction;
}

enum { UNITS = 5 };

static const uint32_t lengths[UNITS] = {3000, 0, 1, 1022, 1023};

static struct pim_instruction mark(enum pim_opcode opcode)
{
    return (struct pim_instruction){.opcode = (uint8_t)opcode};
}

/* Writes random programs of `lengths` (and two phase marks each) to `name`; `turn` instructions of a unit at
 * a time. */
static struct pim_instruction *write_random(const char *name, uint32_t turn, struct pim_error *error)
{
    char path[PATH_SIZE];
    struct pim_trace_description description = description_of(UNITS);
    struct pim_trace_writer *writer;
    struct pim_instruction *all = calloc(UNITS * 4096u, sizeof *all);
    uint64_t state = 88172645463325252u;
    for (uint32_t unit = 0; unit < UNITS; unit++)
        for (uint32_t i = 0; i < lengths[unit]; i++)
            all[unit * 4096 + i] = draw_instruction(&state, unit, UNITS, i + 1);
    ck_assert_int_eq(pim_trace_writer_create(temporary(path, name), &description, &writer, error), PIM_OK);
    ck_assert_uint_eq(pim_trace_writer_phase(writer, &(struct pim_trace_phase){.name = "all"}), 0);
    for (uint32_t unit = 0; unit < UNITS; unit++)
        ck_assert_int_eq(pim_trace_writer_append(
                             writer, unit, &(struct pim_instruction){.opcode = PIM_OP_PHASE_BEGIN}, error),
                         PIM_OK);
    for (uint32_t start = 0; start < 3000; start += turn)
        for (uint32_t unit = 0; unit < UNITS; unit++)
            for (uint32_t i = start; i < start + turn && i < lengths[unit]; i++) {
                enum pim_status status = pim_trace_writer_append(writer, unit, &all[unit * 4096 + i], error);
                ck_assert_msg(status == PIM_OK, "%s", error->text);
            }
    for (uint32_t unit = 0; unit < UNITS; unit++) {
        struct pim_instruction end = mark(PIM_OP_PHASE_END);
        ck_assert_int_eq(pim_trace_writer_append(writer, unit, &end, error), PIM_OK);
        ck_assert_uint_eq(pim_trace_writer_instructions(writer, unit), lengths[unit] + 2);
    }
    ck_assert_int_eq(pim_trace_writer_finish(writer, error), PIM_OK);
    return all;
}

START_TEST(random_programs_come_back)
{
    struct pim_error error = {PIM_OK, ""};
    char path[PATH_SIZE];
    struct pim_instruction *all = write_random("a", 1, &error);
    struct pim_trace *trace;
    EXPECT_OK(pim_trace_open(temporary(path, "a"), &trace, &error));
    for (uint32_t unit = 0; unit < UNITS; unit++) {
        struct pim_trace_cursor *cursor;
        const struct pim_instruction *instruction;
        ck_assert_uint_eq(pim_trace_instructions(trace, unit), lengths[unit] + 2);
        ck_assert_uint_eq(pim_trace_chunks(trace, unit), (lengths[unit] + 2 + 1023) / 1024);
        EXPECT_OK(pim_trace_cursor_create(trace, unit, &cursor, &error));
        for (uint32_t i = 0; i < lengths[unit] + 2; i++) {
            EXPECT_OK(pim_trace_cursor_next(cursor, &instruction, &error));
            ck_assert_ptr_nonnull(instruction);
            ck_assert_uint_eq(pim_trace_cursor_executed(cursor), i + 1);
            ck_assert_uint_eq(pim_trace_cursor_stored(cursor), i);
            if (i > 0 && i <= lengths[unit])
                ck_assert_mem_eq(instruction, &all[unit * 4096 + i - 1], sizeof *instruction);
        }
        for (int again = 0; again < 2; again++) {
            EXPECT_OK(pim_trace_cursor_next(cursor, &instruction, &error));
            ck_assert_ptr_null(instruction);
        }
        pim_trace_cursor_destroy(cursor);
    }
    pim_trace_close(trace);
    free(all);
}
END_TEST

START_TEST(bytes_do_not_depend_on_interleaving)
{
    struct pim_error error = {PIM_OK, ""};
    char path[PATH_SIZE];
    size_t size, other_size;
    free(write_random("a", 1, &error));
    uint8_t *bytes = read_bytes(temporary(path, "a"), &size);
    static const uint32_t turns[] = {7, 1024, 3000};
    for (unsigned i = 0; i < 3; i++) {
        free(write_random("b", turns[i], &error));
        uint8_t *other = read_bytes(temporary(path, "b"), &other_size);
        ck_assert_uint_eq(size, other_size);
        ck_assert_mem_eq(bytes, other, size);
        free(other);
    }
    free(bytes);
}
END_TEST

START_TEST(description_phases_and_tables_come_back)
{
    struct pim_trace *trace = trace_of(small_text);
    const struct pim_trace_description *description = pim_trace_description(trace);
    ck_assert_str_eq(description->family, "test");
    ck_assert_str_eq(description->network, "three \"units\"");
    ck_assert_str_eq(description->mapping, "by hand");
    ck_assert_str_eq(description->configuration, "array = { width = 3;\n          height = 1; };\n");
    ck_assert_uint_eq(description->width, 3);
    ck_assert_uint_eq(description->units, 3);
    ck_assert_uint_eq(description->macs, 8192);
    ck_assert_uint_eq(description->padding_macs, 7);
    ck_assert_uint_eq(description->weight_bytes, 512);
    ck_assert_uint_eq(pim_trace_phases(trace), 2);
    ck_assert_str_eq(pim_trace_phase(trace, 0)->name, "block0/query");
    ck_assert_uint_eq(pim_trace_phase(trace, 0)->estimate_parts[PIM_ESTIMATE_COMPUTE], 600);
    ck_assert_uint_eq(pim_trace_phase(trace, 0)->estimate_parts[PIM_ESTIMATE_MEMORY], 500);
    ck_assert_uint_eq(pim_trace_phase(trace, 1)->estimate_cycles, UINT64_MAX);
    ck_assert_uint_eq(pim_trace_phase(trace, 1)->estimate_parts[PIM_ESTIMATE_WEIGHT_SHARING], 3);
    uint32_t router, count;
    ck_assert_uint_eq(pim_trace_behaviour_routers(trace), 2);
    const struct pim_trace_behaviour *entry = pim_trace_behaviour(trace, 0, &router, &count);
    ck_assert_uint_eq(router, 2);
    ck_assert_uint_eq(count, 2);
    ck_assert_uint_eq(entry[1].task, 2);
    ck_assert_uint_eq(entry[1].end, 255);
    (void)pim_trace_behaviour(trace, 1, &router, &count);
    ck_assert_uint_eq(router, 7);
    ck_assert_uint_eq(count, 0);
    pim_trace_close(trace);
}
END_TEST

/* The hash is of the content: a change of anything changes it; the file's layout is not in it. */
START_TEST(hash_is_of_the_content)
{
    static const char *const changes[][2] = {{"\"by hand\"", "\"by hanD\""},
                                             {"cycles=1000", "cycles=1001"},
                                             {"tag=5", "tag=6"},
                                             {"start=0 end=10", "start=1 end=10"},
                                             {"rows=24", "rows=25"},
                                             {"0x200", "0x201"},
                                             {"column=5", "column=6"},
                                             {"immediate=-3", "immediate=3"}};
    struct pim_trace *trace = trace_of(small_text);
    uint64_t hash = pim_trace_hash(trace);
    pim_trace_close(trace);
    trace = trace_of(small_text);
    ck_assert_uint_eq(hash, pim_trace_hash(trace));
    pim_trace_close(trace);
    for (unsigned i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        char text[4096];
        const char *place = strstr(small_text, changes[i][0]);
        ck_assert_ptr_nonnull(place);
        (void)snprintf(text, sizeof text, "%.*s%s%s", (int)(place - small_text), small_text, changes[i][1],
                       place + strlen(changes[i][0]));
        trace = trace_of(text);
        ck_assert_msg(pim_trace_hash(trace) != hash, "%s is not in the hash", changes[i][0]);
        pim_trace_close(trace);
    }
}
END_TEST

START_TEST(array_groups_come_back)
{
    struct pim_error error = {PIM_OK, ""};
    char path[PATH_SIZE];
    uint32_t count = 77;
    struct pim_trace *trace = trace_of(small_text);
    ck_assert_ptr_null(pim_trace_array_groups(trace, 0, &count));
    ck_assert_uint_eq(count, 0);
    const struct pim_trace_array_group *group = pim_trace_array_groups(trace, 1, &count);
    ck_assert_uint_eq(count, 2);
    const struct pim_trace_array_group first = {
        .layer = 2, .arrays = 3, .row = 40, .rows = 16, .column = 5, .columns = 9, .folds = 1};
    ck_assert_mem_eq(group, &first, sizeof first);
    ck_assert_uint_eq(group[1].folds, 3);
    ck_assert_uint_eq(group[1].fold_stride, 6);
    group = pim_trace_array_groups(trace, 2, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(group->arrays, 2);
    pim_trace_close(trace);
    /* units in any order give the same bytes */
    uint8_t *bytes[2];
    size_t size[2];
    for (uint32_t backwards = 0; backwards < 2; backwards++) {
        struct pim_trace_description description = description_of(50);
        struct pim_trace_writer *writer;
        EXPECT_OK(pim_trace_writer_create(temporary(path, "groups"), &description, &writer, &error));
        for (uint32_t i = 0; i < 5000; i++) {
            const uint32_t unit = backwards ? 49 - i % 50 : i % 50, number = i / 50;
            const struct pim_trace_array_group one = {
                .layer = unit, .arrays = 1, .rows = number + 1, .columns = 8, .folds = 1};
            EXPECT_OK(pim_trace_writer_array_group(writer, unit, &one, &error));
        }
        EXPECT_OK(pim_trace_writer_finish(writer, &error));
        bytes[backwards] = read_bytes(path, &size[backwards]);
    }
    ck_assert_uint_eq(size[0], size[1]);
    ck_assert_mem_eq(bytes[0], bytes[1], size[0]);
    EXPECT_OK(pim_trace_open(path, &trace, &error));
    for (uint32_t unit = 0; unit < 50; unit++) {
        group = pim_trace_array_groups(trace, unit, &count);
        ck_assert_uint_eq(count, 100);
        for (uint32_t i = 0; i < count; i++) {
            ck_assert_uint_eq(group[i].layer, unit);
            ck_assert_uint_eq(group[i].rows, i + 1);
        }
    }
    pim_trace_close(trace);
    free(bytes[0]);
    free(bytes[1]);
}
END_TEST

/* Groups with blocks: the file gives them back, and cells outside the blocks are no MACs. */
START_TEST(blocks_come_back)
{
    struct pim_error error = {PIM_OK, ""};
    char path[PATH_SIZE];
    struct pim_trace_description description = description_of(3);
    struct pim_trace_writer *writer;
    struct pim_trace *trace;
    const struct pim_trace_array_group given[] = {
        {.layer = 1, .arrays = 1, .rows = 126, .columns = 14, .folds = 1, .blocks = 14},
        {.layer = 1, .arrays = 2, .row = 126, .rows = 64, .column = 14, .columns = 32, .folds = 1}};
    EXPECT_OK(pim_trace_writer_create(temporary(path, "groups"), &description, &writer, &error));
    for (unsigned i = 0; i < 2; i++)
        EXPECT_OK(pim_trace_writer_array_group(writer, 1 + i, &given[i], &error));
    EXPECT_OK(pim_trace_writer_finish(writer, &error));
    EXPECT_OK(pim_trace_open(path, &trace, &error));
    for (unsigned i = 0; i < 2; i++) {
        uint32_t count = 0;
        const struct pim_trace_array_group *group = pim_trace_array_groups(trace, 1 + i, &count);
        ck_assert_uint_eq(count, 1);
        ck_assert_mem_eq(group, &given[i], sizeof *group);
    }
    ck_assert_uint_eq(pim_group_macs(&given[0]), 126);
    ck_assert_uint_eq(pim_group_macs(&given[1]), 64 * 32);
    pim_trace_close(trace);
}
END_TEST

START_TEST(wrong_array_groups_are_refused)
{
    struct pim_error error = {PIM_OK, ""};
    char path[PATH_SIZE];
    struct pim_trace_description description = description_of(2);
    struct pim_trace_writer *writer;
    const uint32_t most = UINT32_MAX;
    const struct {
        struct pim_trace_array_group group;
        const char *message;
    } wrong[] = {
        {{.arrays = 0, .rows = 1, .columns = 1, .folds = 1}, "arrays is 0"},
        {{.arrays = 1, .rows = 0, .columns = 1, .folds = 1}, "rows 0"},
        {{.arrays = 1, .rows = 1, .columns = 0, .folds = 1}, "columns 0"},
        {{.arrays = 1, .rows = 1, .columns = 1, .folds = 0}, "folds 0"},
        {{.arrays = 1, .rows = 1, .columns = 1, .folds = 1, .fold_stride = 1},
         "fold_stride is 1 for 1 folds"},
        {{.arrays = 1, .rows = 1, .columns = 1, .folds = 2}, "fold_stride is 0 for 2 folds"},
        {{.arrays = 1, .rows = 4, .columns = 4, .folds = 1, .blocks = 1}, "blocks is 1 for 4 rows"},
        {{.arrays = 1, .rows = 4, .columns = 6, .folds = 1, .blocks = 4},
         "blocks is 4 for 4 rows, 6 columns"},
        {{.arrays = 1, .rows = 6, .columns = 4, .folds = 1, .blocks = 4},
         "blocks is 4 for 6 rows, 4 columns"},
        {{.arrays = 1, .rows = 4, .columns = 4, .folds = 2, .fold_stride = 4, .blocks = 2}, "and 2 folds"},
        {{.arrays = 1, .rows = 1U << 31, .columns = 1, .folds = 1}, "2 * rows is 4294967296"},
        {{.arrays = 1, .rows = 1, .columns = 1U << 16, .folds = 1U << 15, .fold_stride = 1},
         "folds * columns is 2147483648"},
        {{.arrays = 1, .rows = 1, .columns = 1, .folds = 1U << 17, .fold_stride = 1U << 15},
         "folds * fold_stride is 4294967296"},
        {{.arrays = 1, .row = most, .rows = 1, .columns = 1, .folds = 1}, "+ rows is 4294967296"},
        {{.arrays = 1, .rows = 1, .column = most, .columns = 1, .folds = 1},
         "column + columns is 4294967296"},
    };
    EXPECT_OK(pim_trace_writer_create(temporary(path, "groups"), &description, &writer, &error));
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        EXPECT(pim_trace_writer_array_group(writer, 1, &wrong[i].group, &error), PIM_BAD_INPUT);
        EXPECT_TEXT("unit 1 array group 0: ");
        EXPECT_TEXT(wrong[i].message);
    }
    const struct pim_trace_array_group largest = {
        .layer = most, .arrays = most, .rows = most / 2, .columns = most / 2, .folds = 1};
    EXPECT(pim_trace_writer_array_group(writer, 2, &largest, &error), PIM_BAD_INPUT);
    EXPECT_TEXT("unit is 2");
    EXPECT_OK(pim_trace_writer_array_group(writer, 1, &largest, &error));
    struct pim_trace_array_group set = {.arrays = 1, .rows = 1, .columns = 1, .folds = 1, .set = 2};
    EXPECT_OK(pim_trace_writer_array_group(writer, 1, &set, &error));
    set.set = 1;
    EXPECT(pim_trace_writer_array_group(writer, 1, &set, &error), PIM_BAD_INPUT);
    EXPECT_TEXT("unit 1 array group 2: set is 1 behind a group of set 2");
    EXPECT_OK(pim_trace_writer_finish(writer, &error));
}
END_TEST

START_TEST(estimates_and_counts_can_come_late)
{
    struct pim_error error = {PIM_OK, ""};
    char path[PATH_SIZE];
    struct pim_trace_description description = description_of(1);
    struct pim_trace_writer *writer;
    struct pim_trace *trace;
    EXPECT_OK(pim_trace_writer_create(temporary(path, "late"), &description, &writer, &error));
    uint32_t phase = pim_trace_writer_phase(writer, &(struct pim_trace_phase){.name = "first"});
    struct pim_instruction begin = mark(PIM_OP_PHASE_BEGIN), end = mark(PIM_OP_PHASE_END);
    EXPECT_OK(pim_trace_writer_append(writer, 0, &begin, &error));
    ck_assert_uint_eq(pim_trace_writer_phase(writer, &(struct pim_trace_phase){.name = "second"}), 1);
    EXPECT_OK(pim_trace_writer_append(writer, 0, &end, &error));
    begin.u.control.phase = end.u.control.phase = 1;
    EXPECT_OK(pim_trace_writer_append(writer, 0, &begin, &error));
    EXPECT_OK(pim_trace_writer_append(writer, 0, &end, &error));
    pim_trace_writer_set_estimate(
        writer, phase, &(struct pim_trace_phase){.estimate_cycles = 42, .estimate_parts = {1, 2, 3, 4, 5}});
    pim_trace_writer_set_counts(writer, 10, 20, 30);
    EXPECT_OK(pim_trace_writer_finish(writer, &error));
    EXPECT_OK(pim_trace_open(path, &trace, &error));
    ck_assert_str_eq(pim_trace_phase(trace, 0)->name, "first");
    ck_assert_uint_eq(pim_trace_phase(trace, 0)->estimate_cycles, 42);
    ck_assert_uint_eq(pim_trace_phase(trace, 0)->estimate_parts[4], 5);
    ck_assert_uint_eq(pim_trace_description(trace)->padding_macs, 20);
    pim_trace_close(trace);
}
END_TEST

START_TEST(abandon_and_failure_leave_nothing)
{
    struct pim_error error = {PIM_OK, ""};
    char path[PATH_SIZE];
    struct pim_trace_description description = description_of(1);
    struct pim_trace_writer *writer;
    struct pim_instruction begin = mark(PIM_OP_PHASE_BEGIN);
    write_bytes(temporary(path, "kept"), "old", 3);
    for (int failing = 0; failing < 2; failing++) {
        EXPECT_OK(pim_trace_writer_create(path, &description, &writer, &error));
        (void)pim_trace_writer_phase(writer, &(struct pim_trace_phase){.name = "p"});
        EXPECT_OK(pim_trace_writer_append(writer, 0, &begin, &error));
        if (failing)
            EXPECT(pim_trace_writer_finish(writer, &error), PIM_BAD_INPUT); /* the phase is open */
        else
            pim_trace_writer_abandon(writer);
    }
    EXPECT_TEXT("phase_end is missing");
    size_t size;
    uint8_t *bytes = read_bytes(path, &size);
    ck_assert_uint_eq(size, 3);
    free(bytes); /* teardown sees a temporary file that was left */
}
END_TEST

START_TEST(writer_refuses)
{
    struct pim_error error = {PIM_OK, ""};
    char path[PATH_SIZE];
    struct pim_trace_writer *writer;
    struct pim_trace_description description = description_of(4);
    struct pim_trace_behaviour wrong = {.task = 1, .start = 5, .end = PIM_TRACE_PORTS},
                               right = {.task = 1, .start = 5, .end = 6};
    temporary(path, "refused");
    description.units = 5;
    EXPECT(pim_trace_writer_create(path, &description, &writer, &error), PIM_BAD_INPUT);
    ck_assert_ptr_null(writer);
    EXPECT_TEXT("units is 5");
    description.units = 0;
    EXPECT(pim_trace_writer_create(path, &description, &writer, &error), PIM_BAD_INPUT);
    description.units = 4;
    description.width = UINT32_MAX;
    description.height = UINT32_MAX;
    EXPECT(pim_trace_writer_create(path, &description, &writer, &error), PIM_BAD_INPUT);
    description = description_of(4);
    description.family = "";
    EXPECT(pim_trace_writer_create(path, &description, &writer, &error), PIM_BAD_INPUT);
    description.family = "with\033escape";
    EXPECT(pim_trace_writer_create(path, &description, &writer, &error), PIM_BAD_INPUT);
    EXPECT_TEXT("control character 27");
    description = description_of(4);
    EXPECT(pim_trace_writer_create("/nonexistent/folder/x", &description, &writer, &error), PIM_IO);
    EXPECT_OK(pim_trace_writer_create(path, &description, &writer, &error));
    EXPECT(pim_trace_writer_behaviour(writer, 3, &wrong, 1, &error), PIM_BAD_INPUT);
    EXPECT_OK(pim_trace_writer_behaviour(writer, 3, &right, 1, &error));
    EXPECT(pim_trace_writer_behaviour(writer, 3, &right, 1, &error), PIM_BAD_INPUT);
    EXPECT_OK(pim_trace_writer_behaviour(writer, 1, &right, 1, &error));
    EXPECT(pim_trace_writer_behaviour(writer, PIM_TRACE_ROUTERS, &right, 1, &error), PIM_BAD_INPUT);
    struct pim_instruction begin = mark(PIM_OP_PHASE_BEGIN);
    EXPECT(pim_trace_writer_append(writer, 4, &begin, &error), PIM_BAD_INPUT);
    EXPECT_TEXT("unit is 4");
    ck_assert_uint_eq(pim_trace_writer_phase(writer, &(struct pim_trace_phase){.name = ""}), UINT32_MAX);
    EXPECT(pim_trace_writer_append(writer, 0, &begin, &error), PIM_BAD_INPUT);
    EXPECT_TEXT("phase 0: name has 0 bytes");
    EXPECT(pim_trace_writer_finish(writer, &error), PIM_BAD_INPUT);
}
END_TEST

START_TEST(what_is_no_trace_file_is_refused)
{
    struct pim_error error = {PIM_OK, ""};
    char path[PATH_SIZE];
    struct pim_trace *trace;
    EXPECT(pim_trace_open(temporary(path, "missing"), &trace, &error), PIM_IO);
    ck_assert_ptr_null(trace);
    EXPECT_TEXT("missing");
    EXPECT(pim_trace_open("/dev/null", &trace, &error), PIM_IO);
    EXPECT(pim_trace_open("/", &trace, &error), PIM_IO);
    write_bytes(temporary(path, "empty"), "", 0);
    EXPECT(pim_trace_open(path, &trace, &error), PIM_BAD_INPUT);
    char text[100];
    memset(text, 'x', sizeof text);
    write_bytes(path, text, sizeof text);
    EXPECT(pim_trace_open(path, &trace, &error), PIM_BAD_INPUT);
    EXPECT_TEXT("not a pimsim trace");
}
END_TEST

struct reading {
    const struct pim_trace *trace;
    enum pim_status status;
    struct pim_error error;
};

static void *read_in_thread(void *context)
{
    struct reading *reading = context;
    for (int i = 0; i < 5 && reading->status == PIM_OK; i++)
        reading->status = read_programs(reading->trace, &reading->error);
    return NULL;
}

START_TEST(threads_share_a_trace)
{
    struct pim_error error = {PIM_OK, ""};
    char path[PATH_SIZE];
    struct pim_trace *trace;
    free(write_random("a", 100, &error));
    EXPECT_OK(pim_trace_open(temporary(path, "a"), &trace, &error));
    enum { THREADS = 12 };
    struct reading reading[THREADS];
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++) {
        reading[i] = (struct reading){.trace = trace, .status = PIM_OK};
        ck_assert_int_eq(pthread_create(&thread[i], NULL, read_in_thread, &reading[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        (void)pthread_join(thread[i], NULL);
        ck_assert_int_eq(reading[i].status, PIM_OK);
    }
    pim_trace_close(trace);
}
END_TEST

Suite *file_suite(void)
{
    Suite *suite = suite_create("file");
    TCase *tests = tcase_create("file");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, random_programs_come_back);
    tcase_add_test(tests, bytes_do_not_depend_on_interleaving);
    tcase_add_test(tests, description_phases_and_tables_come_back);
    tcase_add_test(tests, hash_is_of_the_content);
    tcase_add_test(tests, array_groups_come_back);
    tcase_add_test(tests, blocks_come_back);
    tcase_add_test(tests, wrong_array_groups_are_refused);
    tcase_add_test(tests, estimates_and_counts_can_come_late);
    tcase_add_test(tests, abandon_and_failure_leave_nothing);
    tcase_add_test(tests, writer_refuses);
    tcase_add_test(tests, what_is_no_trace_file_is_refused);
    tcase_add_test(tests, threads_share_a_trace);
    suite_add_tcase(suite, tests);
    return suite;
}

/* Checks of instructions and programs, and the expansion of repeat blocks. */
#include "tests/unit/traces/suites.h"
#include "tests/unit/traces/support.h"
#include "traces/counts.h"
#include "traces/validate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOAD(...)                                                                                            \
    {                                                                                                        \
        .opcode = PIM_OP_LOAD, .u.memory = { __VA_ARGS__ }                                                   \
    }
#define SERIAL(operation, repeat, number, stride, ...)                                                       \
    {                                                                                                        \
        .opcode = PIM_OP_ROW_COMPUTE, .detail = PIM_ROW_##operation, .u.row_compute = {                      \
            .count = repeat,                                                                                 \
            .banks = number,                                                                                 \
            .bank_stride = stride,                                                                           \
            __VA_ARGS__                                                                                      \
        }                                                                                                    \
    }
#define MATRIX(...)                                                                                          \
    {                                                                                                        \
        .opcode = PIM_OP_MATRIX, .u.matrix = {                                                               \
            .input_bits = 8,                                                                                 \
            .weight_bits = 8,                                                                                \
            .output_bits = 8,                                                                                \
            __VA_ARGS__                                                                                      \
        }                                                                                                    \
    }
#define SEND(...)                                                                                            \
    {                                                                                                        \
        .opcode = PIM_OP_SEND, .u.network = { __VA_ARGS__ }                                                  \
    }

#define TRANSFER(...)                                                                                        \
    {                                                                                                        \
        .opcode = PIM_OP_LOCAL_LOAD, .u.transfer = { __VA_ARGS__ }                                           \
    }
#define LOCAL_VECTOR(operation, ...)                                                                         \
    {                                                                                                        \
        .opcode = PIM_OP_LOCAL_VECTOR, .detail = (operation), .u.local_vector = { __VA_ARGS__ }              \
    }
#define LOCAL_COPY(...)                                                                                      \
    {                                                                                                        \
        .opcode = PIM_OP_LOCAL_COPY, .u.local_copy = { __VA_ARGS__ }                                         \
    }
#define LOCAL_WRITE(...)                                                                                     \
    {                                                                                                        \
        .opcode = PIM_OP_LOCAL_WRITE, .u.local_write = { __VA_ARGS__ }                                       \
    }

static const struct {
    struct pim_instruction instruction;
    const char *message;
} wrong_instructions[] = {
    {{.opcode = PIM_OPCODES}, ": known are 0 to "},
    {{.opcode = PIM_OP_JOIN, .detail = 1}, "detail is 1"},
    {{.opcode = PIM_OP_JOIN, .dependency = {1}}, "dependency is 1"},
    {{.opcode = PIM_OP_JOIN, .u.control = {.phase = 1}}, "phase is 1"},
    {{.opcode = PIM_OP_JOIN, .u.control = {.count = 1}}, "count is 1"},
    {{.opcode = PIM_OP_PHASE_BEGIN, .u.control = {.reserved = {0, 0, 1}}}, "reserved word"},
    {{.opcode = PIM_OP_REPEAT, .u.control = {.count = 0, .length = 1}}, "count is 0"},
    {{.opcode = PIM_OP_REPEAT, .u.control = {.count = 1, .length = 0}}, "length is 0"},
    {{.opcode = PIM_OP_REPEAT, .u.control = {.count = 1, .length = 1024}}, "length is 1024"},
    {LOAD(.bytes = 0, .count = 1), "bytes is 0"},
    {LOAD(.bytes = 1, .count = 0), "count is 0"},
    {LOAD(.bytes = 2, .count = 2, .stride = 1), "overlap"},
    {LOAD(.bytes = 1, .count = 1, .address = UINT64_MAX), "address is"},
    {LOAD(.bytes = 1, .count = 1, .address = PIM_MEMORY_END), "source ends at 4611686018427387905"},
    {LOAD(.bytes = 1, .count = UINT32_MAX, .stride = UINT32_MAX), "stride * (count - 1)"},
    {{.opcode = PIM_OP_STORE, .detail = PIM_BUFFERS, .u.memory = {.bytes = 1, .count = 1}}, "buffer is 4"},
    {{.opcode = PIM_OP_LOAD, .dependency = {0, 4096}, .u.memory = {.bytes = 1, .count = 1}},
     "dependency is 4096"},
    {MATRIX(.m = 0, .n = 1, .k = 1), "m is 0"},
    {MATRIX(.m = 1, .n = 0, .k = 1), "n is 0"},
    {MATRIX(.m = 1, .n = 1, .k = 0), "k is 0"},
    {MATRIX(.m = 1 << 17, .n = 1 << 17, .k = 1 << 17), "more than 2^48"},
    {MATRIX(.m = UINT32_MAX, .n = UINT32_MAX, .k = UINT32_MAX), "more than 2^48"},
    {MATRIX(.m = 1, .n = 1, .k = 1, .reserved = 1), "reserved byte"},
    {MATRIX(.m = 1, .n = 1, .k = 1, .reserved2 = 1), "reserved word 28"},
    {MATRIX(.m = 3, .n = 1, .k = 2, .window = 7), "window is 7: an input of 3 x 2"},
    {{.opcode = PIM_OP_MATRIX,
      .u.matrix = {.m = 1, .n = 1, .k = 1, .input_bits = 8, .weight_bits = 65, .output_bits = 8}},
     "weight_bits is 65"},
    {{.opcode = PIM_OP_MATRIX, .detail = 16, .u.matrix = {.m = 1, .n = 1, .k = 1}}, "flags is 16"},
    {{.opcode = PIM_OP_MVM, .u.mvm = {.windows = 0}}, "windows is 0"},
    {{.opcode = PIM_OP_MVM, .u.mvm = {.windows = 1, .input_address = UINT32_MAX, .input_bytes = 1}},
     "input ends at 4294967296"},
    {{.opcode = PIM_OP_BIT_SERIAL, .u.bit_serial = {.bits = 0, .rows = 1, .banks = 1, .count = 1}},
     "bits is 0"},
    {{.opcode = PIM_OP_BIT_SERIAL,
      .u.bit_serial = {.bits = 8, .rows = 1, .banks = 1, .first_bank = UINT32_MAX, .count = 1}},
     "first_bank + banks"},
    {SERIAL(ADD, 1, 1, 1, .bits = 0), "bits is 0"},
    {SERIAL(ADD, 1, 1, 1, .bits = 33), "bits is 33"},
    {SERIAL(ADD, 1, 1, 1, .bits = 8, .size = 1), "size is 1, but is not used"},
    {SERIAL(MULTIPLY, 1, 1, 1, .bits = 8, .size = 7), "size is 7"},
    {SERIAL(MULTIPLY, 1, 1, 1, .bits = 8, .size = 17), "size is 17"},
    {SERIAL(REDUCE, 1, 1, 1, .bits = 8), "size is 0"},
    {SERIAL(COPY, 1, 1, 1, .bits = 8, .second = 1), "second is 1, but is not used"},
    {SERIAL(ADD, 0, 1, 1, .bits = 8), "count is 0"},
    {SERIAL(ADD, 1, 0, 1, .bits = 8), "banks is 0"},
    {SERIAL(ADD, 1, 1, 0, .bits = 8), "bank_stride is 0"},
    {SERIAL(ADD, 1, 7, 1, .bits = 8, .first_bank = 65530), "the last bank is 65536"},
    {SERIAL(ADD, 1, 1, 1, .bits = 8, .result = UINT32_MAX), "result is 4294967295"},
    {{.opcode = PIM_OP_ROW_MOVE, .u.row_move = {.rows = 1, .banks = 1, .bank_stride = 1, .to_bank = 1}},
     "to_bank is 1, but is not used"},
    {{.opcode = PIM_OP_ROW_MOVE,
      .detail = PIM_REACH_BANK,
      .u.row_move = {.rows = 1, .banks = 1, .bank_stride = 1, .shift = 1}},
     "shift is 1, but is not used"},
    {{.opcode = PIM_OP_ROW_MOVE, .detail = PIM_REACH_CHANNEL, .u.row_move = {.rows = 1}}, "reach is 2"},
    {{.opcode = PIM_OP_ROW_SEND, .detail = PIM_REACH_BANK, .u.row_message = {.rows = 1}}, "reach is 1"},
    {{.opcode = PIM_OP_ROW_SEND,
      .detail = PIM_REACH_CHANNEL,
      .u.row_message = {.peer = 2, .rows = 0, .banks = 1, .bank_stride = 1}},
     "rows is 0"},
    {{.opcode = PIM_OP_VECTOR, .detail = PIM_VECTORS, .u.vector = {.rows = 1, .elements = 1, .bits = 8}},
     "operation is 11"},
    {{.opcode = PIM_OP_VECTOR, .u.vector = {.rows = UINT32_MAX, .elements = UINT32_MAX, .bits = 8}},
     "rows * elements"},
    {{.opcode = PIM_OP_VECTOR, .u.vector = {.rows = 1, .elements = 1}}, "bits is 0"},
    {TRANSFER(.bytes = 0, .count = 1), "bytes is 0"},
    {TRANSFER(.bytes = 1, .count = 0), "count is 0"},
    {TRANSFER(.bytes = 2, .count = 2, .stride = 1), "stride is 1: pieces of 2 bytes would overlap"},
    {TRANSFER(.bytes = 2, .count = 1, .stride = 2), "stride is 2, but is not used"},
    {TRANSFER(.bytes = 1, .count = 1, .local = UINT32_MAX), "destination ends at 4294967296"},
    {TRANSFER(.bytes = 1 << 16, .count = 1 << 16, .stride = 1 << 16), "destination ends at 4294967296"},
    {TRANSFER(.bytes = 1, .count = 1, .address = UINT64_MAX), "address is"},
    {TRANSFER(.bytes = 1, .count = 1, .address = PIM_MEMORY_END), "source ends at 4611686018427387905"},
    {TRANSFER(.bytes = 1, .count = UINT32_MAX, .stride = UINT32_MAX, .address = (uint64_t)1 << 34),
     "stride * (count - 1)"},
    {{.opcode = PIM_OP_LOCAL_STORE, .detail = 1, .u.transfer = {.bytes = 1, .count = 1}}, "detail is 1"},
    {LOCAL_VECTOR(PIM_LOCALS, .elements = 1, .bits = 8), "operation is 11"},
    {LOCAL_VECTOR(PIM_LOCAL_RELU, .elements = 0, .bits = 8), "elements is 0"},
    {LOCAL_VECTOR(PIM_LOCAL_RELU, .elements = 1, .bits = 65), "bits is 65"},
    {LOCAL_VECTOR(PIM_LOCAL_RELU, .elements = 1, .bits = 0), "bits is 0"},
    {LOCAL_VECTOR(PIM_LOCAL_RELU, .elements = UINT32_MAX, .bits = 64), "source ends at 34359738360"},
    {LOCAL_VECTOR(PIM_LOCAL_RELU, .elements = 2, .bits = 9, .destination = UINT32_MAX - 3),
     "destination ends at 4294967296"},
    {LOCAL_VECTOR(PIM_LOCAL_ADD, .elements = 2, .bits = 9, .second = UINT32_MAX - 3),
     "second source ends at 4294967296"},
    {LOCAL_VECTOR(PIM_LOCAL_RELU, .elements = 1, .bits = 8, .second = 1), "second is 1, but is not used"},
    {LOCAL_VECTOR(PIM_LOCAL_DIVIDE, .elements = 1, .bits = 8), "immediate is 0"},
    {LOCAL_COPY(.bytes = 2, .count = 2, .destination_stride = 1), "destination stride is 1"},
    {LOCAL_COPY(.bytes = 2, .count = 1, .destination_stride = 1), "destination_stride is 1, but"},
    {LOCAL_COPY(.bytes = 2, .count = 1, .source_stride = 1), "source_stride is 1, but"},
    {LOCAL_COPY(.bytes = 1, .count = 2, .destination_stride = 1, .source_stride = UINT32_MAX),
     "source ends at 4294967296"},
    {LOCAL_COPY(.bytes = 1, .count = UINT32_MAX, .destination_stride = 2), "destination ends at 8589934589"},
    {LOCAL_WRITE(.bytes = 1, .count = 1, .value = 256), "value is 256"},
    {LOCAL_WRITE(.bytes = 1, .count = 1, .reserved = 1), "reserved word 28"},
    {LOCAL_WRITE(.bytes = 1, .count = 1, .stride = 1), "stride is 1, but"},
    {LOCAL_WRITE(.bytes = 3, .count = 2, .stride = 2), "destination stride is 2"},
    {SEND(.peer = 4, .bytes = 1), "peer is 4: the trace has units 0 to 3"},
    {SEND(.peer = 1, .bytes = 1), "unit itself"},
    {SEND(.peer = 2, .bytes = 0), "bytes is 0"},
    {SEND(.peer = 2, .bytes = PIM_MEMORY_END, .address = 1), "payload ends at 4611686018427387905"},
};

START_TEST(single_instructions_are_refused)
{
    for (unsigned i = 0; i < sizeof wrong_instructions / sizeof wrong_instructions[0]; i++) {
        struct pim_error error = {PIM_OK, ""};
        EXPECT(pim_instruction_check(&wrong_instructions[i].instruction, 1, 4, &error), PIM_BAD_INPUT);
        EXPECT_TEXT(wrong_instructions[i].message);
    }
}
END_TEST

/* Programs as text; the assembler adds the place. */
START_TEST(programs_are_refused)
{
    static const char *const wrong[][2] = {
        {"join\n", "join stands outside a phase"},
        {"phase_end 0\n", "phase 0 ends, but none is open"},
        {"phase_begin 2\n", "phase is 2: the trace has 2 phases"},
        {"phase_begin 0\nphase_begin 1\n", "phase 1 begins inside phase 0"},
        {"phase_begin 0\nphase_end 1\n", "phase 1 ends, but phase 0 is open"},
        {"phase_begin 0\nrepeat 2 {\nphase_end 0\n}\n", "holds a phase mark"},
        {"phase_begin 0\n", "ends inside phase 0"},
        {"phase_begin 0\nload none address=0 bytes=1 after=2\n",
         "dependency 2 reaches before the start of the program: 1 were"},
        {"phase_begin 0\nload none address=0 bytes=1 step=4\n", "step is 4 outside"},
        {"phase_begin 0\nrepeat 3 {\nload none address=8 bytes=1 step=-5\n}\n",
         "leads from address 8 to below 0 in 3 iterations"},
        {"phase_begin 0\nrepeat 4294967295 {\nload none address=4611686018427387000 bytes=1 step=1\n}\n",
         "beyond 2^62"},
        {"phase_begin 0\nrepeat 4294967295 {\nrepeat 4294967295 {\njoin\n}\n}\nphase_end 0\n",
         "more than 2^62 instructions"},
        {"phase_begin 0\nrepeat 1 {\nrepeat 1 {\nrepeat 1 {\nrepeat 1 {\nrepeat 1 {\njoin\n}\n}\n}\n}\n}\n",
         "nest more than 4 deep"},
    };
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct pim_error error = {PIM_OK, ""};
        char text[1024];
        (void)snprintf(
            text, sizeof text,
            ".version 1\n.family \"t\"\n.array width=2 height=1\n.phase 0 \"a\"\n.phase 1 \"b\"\n.unit 0\n%s",
            wrong[i][0]);
        EXPECT(assemble(text, "wrong", &error), PIM_BAD_INPUT);
        EXPECT_TEXT(wrong[i][1]);
    }
}
END_TEST

/* The first iteration of a block reaches back as far as the program goes; a later one further. */
START_TEST(dependencies_count_executed_instructions)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_program_state state = pim_program_start(0, 2, 1);
    struct pim_instruction begin = {.opcode = PIM_OP_PHASE_BEGIN}, join = {.opcode = PIM_OP_JOIN};
    struct pim_instruction repeat = {.opcode = PIM_OP_REPEAT, .u.control = {.count = 10, .length = 2}};
    struct pim_instruction load = LOAD(.bytes = 1, .count = 1);
    EXPECT_OK(pim_program_add(&state, &begin, &error));
    EXPECT_OK(pim_program_add(&state, &repeat, &error));
    load.dependency[0] = 2;
    struct pim_program_state other = state;
    EXPECT(pim_program_add(&other, &load, &error),
           PIM_BAD_INPUT); /* REPEAT is no fetch: only one came before */
    load.dependency[0] = 1;
    EXPECT_OK(pim_program_add(&state, &load, &error));
    EXPECT_OK(pim_program_add(&state, &join, &error));
    ck_assert_uint_eq(state.fetches, 21);
    ck_assert_uint_eq(state.stored, 4);
    load.dependency[0] = 21;
    EXPECT_OK(pim_program_add(&state, &load, &error));
    load.dependency[0] = 23;
    EXPECT(pim_program_add(&state, &load, &error), PIM_BAD_INPUT);
}
END_TEST

/* --- expansion against a plain recursive one --- */

enum { MOST = 1 << 16 };

struct expanded {
    uint64_t address[MOST];
    uint64_t stored[MOST];
    size_t count;
};

/* Appends the execution of program[from..to); `iteration` is that of the block directly around. */
static void expand(const struct pim_instruction *program, size_t from, size_t to, uint64_t iteration,
                   struct expanded *out)
{
    for (size_t i = from; i < to; i++) {
        const struct pim_instruction *instruction = &program[i];
        if (instruction->opcode == PIM_OP_REPEAT) {
            size_t end = i + 1 + instruction->u.control.length;
            for (uint64_t again = 0; again < instruction->u.control.count; again++)
                expand(program, i + 1, end, again, out);
            i = end - 1;
            continue;
        }
        ck_assert_uint_lt(out->count, MOST);
        out->address[out->count] =
            instruction->opcode == PIM_OP_LOAD
                ? instruction->u.memory.address +
                      (uint64_t)((int64_t)instruction->u.memory.step * (int64_t)iteration)
                : instruction->opcode;
        out->stored[out->count++] = i;
    }
}

static uint64_t draw(uint64_t *state, uint64_t below)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (*state >> 16) % below;
}

/* Appends a random body of about `length` instructions; blocks nest up to four deep. */
static void grow_body(struct pim_instruction *program, size_t *count, uint64_t *state, unsigned depth,
                      uint64_t length)
{
    for (uint64_t i = 0; i < length; i++) {
        if (depth < PIM_REPEAT_DEPTH && draw(state, 6) == 0) {
            size_t repeat = (*count)++;
            grow_body(program, count, state, depth + 1, 1 + draw(state, 4));
            program[repeat] =
                (struct pim_instruction){.opcode = PIM_OP_REPEAT,
                                         .u.control = {.count = 1 + (uint32_t)draw(state, 3),
                                                       .length = (uint32_t)(*count - repeat - 1)}};
        } else if (draw(state, 4) == 0) {
            program[(*count)++] = (struct pim_instruction){.opcode = PIM_OP_JOIN};
        } else {
            int32_t step = depth == 0 || draw(state, 3) == 0 ? 0 : (int32_t)draw(state, 2001) - 1000;
            program[(*count)++] = (struct pim_instruction)LOAD(.address = 1000000 + draw(state, 1000000),
                                                               .bytes = 1, .count = 1, .step = step);
        }
    }
}

/* Writes program[0..count) in one phase, and compares what the cursor gives with the reference. */
static void compare_expansion(const struct pim_instruction *program, size_t count, struct expanded *wanted,
                              const char *name)
{
    struct pim_error error = {PIM_OK, ""};
    char path[PATH_SIZE];
    struct pim_trace_description description = description_of(1);
    struct pim_trace_writer *writer;
    struct pim_trace *trace;
    struct pim_trace_cursor *cursor;
    const struct pim_instruction *instruction;
    EXPECT_OK(pim_trace_writer_create(temporary(path, name), &description, &writer, &error));
    (void)pim_trace_writer_phase(writer, &(struct pim_trace_phase){.name = "p"});
    EXPECT_OK(
        pim_trace_writer_append(writer, 0, &(struct pim_instruction){.opcode = PIM_OP_PHASE_BEGIN}, &error));
    for (size_t i = 0; i < count; i++)
        EXPECT_OK(pim_trace_writer_append(writer, 0, &program[i], &error));
    EXPECT_OK(
        pim_trace_writer_append(writer, 0, &(struct pim_instruction){.opcode = PIM_OP_PHASE_END}, &error));
    wanted->count = 0;
    expand(program, 0, count, 0, wanted);
    ck_assert_uint_eq(pim_trace_writer_fetches(writer, 0), wanted->count + 2);
    EXPECT_OK(pim_trace_writer_finish(writer, &error));
    EXPECT_OK(pim_trace_open(path, &trace, &error));
    EXPECT_OK(pim_trace_cursor_create(trace, 0, &cursor, &error));
    EXPECT_OK(pim_trace_cursor_next(cursor, &instruction, &error));
    ck_assert_uint_eq(instruction->opcode, PIM_OP_PHASE_BEGIN);
    for (size_t i = 0; i < wanted->count; i++) {
        EXPECT_OK(pim_trace_cursor_next(cursor, &instruction, &error));
        ck_assert_ptr_nonnull(instruction);
        ck_assert_uint_eq(instruction->opcode == PIM_OP_LOAD ? instruction->u.memory.address
                                                             : instruction->opcode,
                          wanted->address[i]);
        ck_assert_uint_eq(pim_trace_cursor_stored(cursor), wanted->stored[i] + 1);
        ck_assert_uint_eq(pim_trace_cursor_executed(cursor), i + 2);
    }
    EXPECT_OK(pim_trace_cursor_next(cursor, &instruction, &error));
    ck_assert_uint_eq(instruction->opcode, PIM_OP_PHASE_END);
    EXPECT_OK(pim_trace_cursor_next(cursor, &instruction, &error));
    ck_assert_ptr_null(instruction);
    pim_trace_cursor_destroy(cursor);
    struct pim_trace_counts counts;
    EXPECT_OK(pim_counts_of_unit(trace, 0, &counts, &error));
    ck_assert_uint_eq(counts.fetched, wanted->count + 2);
    ck_assert_uint_eq(counts.stored, count + 2);
    pim_trace_close(trace);
}

START_TEST(repeats_expand_as_the_reference_does)
{
    static const uint64_t seed = 20240817;
    uint64_t state = seed;
    struct expanded *wanted = malloc(sizeof *wanted);
    struct pim_instruction *program = calloc(8192, sizeof *program);
    printf("seed %" PRIu64 "\n", seed);
    for (int round = 0; round < 60; round++) {
        size_t count = 0;
        grow_body(program, &count, &state, 0, round < 45 ? 1 + draw(&state, 20) : 800);
        compare_expansion(program, count, wanted, "repeat");
    }
    free(program);
    free(wanted);
}
END_TEST

/* Blocks of the greatest length at every place of a chunk: the writer closes the chunk before a block that
 * would not fit. */
START_TEST(blocks_never_cross_a_chunk)
{
    struct expanded *wanted = malloc(sizeof *wanted);
    struct pim_instruction *program = calloc(4096, sizeof *program);
    static const size_t before[] = {0, 1, 500, 1021, 1022, 1023};
    static const uint32_t lengths[] = {1, 2, 523, 1022, 1023};
    for (unsigned i = 0; i < 6; i++)
        for (unsigned j = 0; j < 5; j++) {
            size_t count = 0;
            for (size_t n = 0; n < before[i]; n++)
                program[count++] = (struct pim_instruction)LOAD(.address = n, .bytes = 1, .count = 1);
            for (int again = 0; again < 2; again++) {
                program[count++] = (struct pim_instruction){.opcode = PIM_OP_REPEAT,
                                                            .u.control = {.count = 3, .length = lengths[j]}};
                for (uint32_t n = 0; n < lengths[j]; n++)
                    program[count++] = (struct pim_instruction)LOAD(.address = 10 * n, .bytes = 1, .count = 1,
                                                                    .step = n % 3 == 0);
            }
            compare_expansion(program, count, wanted, "chunk");
        }
    free(program);
    free(wanted);
}
END_TEST

START_TEST(stored_order_shows_repeats)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_trace *trace = trace_of(small_text);
    struct pim_trace_cursor *cursor;
    const struct pim_instruction *instruction;
    static const uint8_t wanted[] = {PIM_OP_PHASE_BEGIN, PIM_OP_LOAD,   PIM_OP_REPEAT,
                                     PIM_OP_LOAD,        PIM_OP_MATRIX, PIM_OP_VECTOR,
                                     PIM_OP_STORE,       PIM_OP_SEND,   PIM_OP_PHASE_END};
    EXPECT_OK(pim_trace_cursor_create_stored(trace, 0, &cursor, &error));
    for (unsigned i = 0; i < sizeof wanted; i++) {
        EXPECT_OK(pim_trace_cursor_next(cursor, &instruction, &error));
        ck_assert_uint_eq(instruction->opcode, wanted[i]);
    }
    EXPECT_OK(pim_trace_cursor_next(cursor, &instruction, &error));
    ck_assert_ptr_null(instruction);
    pim_trace_cursor_destroy(cursor);
    pim_trace_close(trace);
}
END_TEST

START_TEST(counts_multiply_repeats)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_trace *trace = trace_of(small_text);
    struct pim_trace_counts counts;
    EXPECT_OK(pim_counts_of_unit(trace, 0, &counts, &error));
    ck_assert_uint_eq(counts.stored, 9);
    ck_assert_uint_eq(counts.fetched, 5 + 4 * 3);
    ck_assert_uint_eq(counts.macs, 4 * 16 * 8 * 16);
    ck_assert_uint_eq(counts.vector_elements, 4 * 16 * 8);
    ck_assert_uint_eq(counts.loaded_bytes[PIM_BUFFER_WEIGHT], 4 * 128);
    ck_assert_uint_eq(counts.loaded_bytes[PIM_BUFFER_INPUT], 256);
    ck_assert_uint_eq(counts.stored_bytes[PIM_BUFFER_INPUT], 256);
    ck_assert_uint_eq(counts.sent_bytes, 300);
    ck_assert_uint_eq(counts.by_opcode[PIM_OP_REPEAT], 1);
    ck_assert_uint_eq(counts.by_opcode[PIM_OP_MATRIX], 4);
    EXPECT_OK(pim_counts_of_unit(trace, 1, &counts, &error));
    ck_assert_uint_eq(counts.local_loaded_bytes, 18);
    ck_assert_uint_eq(counts.local_stored_bytes, 26);
    ck_assert_uint_eq(counts.local_elements, 9);
    ck_assert_uint_eq(counts.local_copied_bytes, 8);
    ck_assert_uint_eq(counts.local_written_bytes, 10);
    ck_assert_uint_eq(counts.mvm_windows, 9);
    ck_assert_uint_eq(counts.crossbar_macs, 9 * 4 * 3 * 2);
    EXPECT_OK(pim_counts_of_unit(trace, 2, &counts, &error));
    ck_assert_uint_eq(counts.fetched, 0);
    pim_trace_close(trace);
}
END_TEST

Suite *program_suite(void)
{
    Suite *suite = suite_create("program");
    TCase *tests = tcase_create("program");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, single_instructions_are_refused);
    tcase_add_test(tests, programs_are_refused);
    tcase_add_test(tests, dependencies_count_executed_instructions);
    tcase_add_test(tests, repeats_expand_as_the_reference_does);
    tcase_add_test(tests, blocks_never_cross_a_chunk);
    tcase_add_test(tests, stored_order_shows_repeats);
    tcase_add_test(tests, counts_multiply_repeats);
    suite_add_tcase(suite, tests);
    return suite;
}

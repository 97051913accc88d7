/* The functional executor: programs written by hand, right ones and wrong ones. */
#include "mappers/verify/execute.h"
#include "tests/unit/pimcomp/values/functional.h"
#include "traces/file/writer.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SEEDS = 40, GLOBAL = 4096 };

/* Two cores or more; what is appended lies in one phase. */
struct program {
    uint32_t units;
    struct pim_trace_writer *writer;
    char path[64];
    struct pim_trace *trace;
    struct pim_error error;
};

static void append(struct program *p, uint32_t unit, struct pim_instruction instruction)
{
    ck_assert_msg(pim_trace_writer_append(p->writer, unit, &instruction, &p->error) == PIM_OK, "%s",
                  p->error.text);
}

static void begin_units(struct program *p, uint32_t units)
{
    p->units = units;
    (void)snprintf(p->path, sizeof p->path, "execute-%ld.bin", (long)getpid());
    const struct pim_trace_description description = {
        .family = "pimcomp", .configuration = "", .width = units, .height = 1, .units = units};
    ck_assert_msg(pim_trace_writer_create(p->path, &description, &p->writer, &p->error) == PIM_OK, "%s",
                  p->error.text);
    (void)pim_trace_writer_phase(p->writer, &(struct pim_trace_phase){.name = "phase"});
    for (uint32_t unit = 0; unit < p->units; unit++)
        append(p, unit, (struct pim_instruction){.opcode = PIM_OP_PHASE_BEGIN});
}

static void begin(struct program *p)
{
    begin_units(p, 2);
}

static void finish(struct program *p)
{
    for (uint32_t unit = 0; unit < p->units; unit++)
        append(p, unit, (struct pim_instruction){.opcode = PIM_OP_PHASE_END});
    ck_assert_msg(pim_trace_writer_finish(p->writer, &p->error) == PIM_OK, "%s", p->error.text);
    ck_assert_msg(pim_trace_open(p->path, &p->trace, &p->error) == PIM_OK, "%s", p->error.text);
}

static void close_program(struct program *p)
{
    pim_trace_close(p->trace);
    (void)unlink(p->path);
}

static struct pim_instruction transfer(enum pim_opcode opcode, uint64_t address, uint32_t local,
                                       uint32_t bytes)
{
    return (struct pim_instruction){
        .opcode = (uint8_t)opcode,
        .u.transfer = {.address = address, .local = local, .bytes = bytes, .count = 1, .stride = 0}};
}

static struct pim_instruction message(enum pim_opcode opcode, uint32_t peer, uint32_t local, uint32_t bytes)
{
    return (struct pim_instruction){.opcode = (uint8_t)opcode,
                                    .u.network = {.peer = peer, .tag = 0, .address = local, .bytes = bytes}};
}

static struct pim_instruction vector(enum pim_local operation, uint32_t destination, uint32_t source,
                                     uint32_t second, int32_t immediate)
{
    return (struct pim_instruction){.opcode = PIM_OP_LOCAL_VECTOR,
                                    .detail = (uint8_t)operation,
                                    .u.local_vector = {.elements = 2,
                                                       .destination = destination,
                                                       .source = source,
                                                       .second = second,
                                                       .bits = 16,
                                                       .immediate = immediate}};
}

static const struct pim_instruction join = {.opcode = PIM_OP_JOIN};

/* Executes with globals 0: 5, -3 (address 0) and old numbers 1000, 1001 (address 64); the two elements at 128
 * are the result. */
static enum pim_status execute(struct program *p, uint64_t seed, uint32_t window, bool asynchronous,
                               int16_t result[2])
{
    static const int16_t input[] = {5, -3}, old[] = {1000, 1001};
    const struct pim_core_execution_options options = {.seed = seed,
                                                       .window = window,
                                                       .asynchronous = asynchronous,
                                                       .local_memory_bytes = 256,
                                                       .global_bytes = GLOBAL};
    struct pim_core_execution *execution;
    ck_assert_int_eq(pim_core_execution_create(p->trace, &options, &execution, &p->error), PIM_OK);
    ck_assert_int_eq(pim_core_execution_write(execution, 0, input, 2, &p->error), PIM_OK);
    ck_assert_int_eq(pim_core_execution_write(execution, 64, old, 2, &p->error), PIM_OK);
    enum pim_status status = pim_core_execution_run(execution, &p->error);
    if (status == PIM_OK)
        status = pim_core_execution_read(execution, 128, result, 2, &p->error);
    pim_core_execution_destroy(execution);
    return status;
}

/* Core 0 doubles the input and stores it at 64; core 1 waits for a message, loads it, and stores relu at 128.
 * `stored` and `received`: the joins that make it right. */
static void handover(struct program *p, bool stored, bool received)
{
    begin(p);
    append(p, 0, transfer(PIM_OP_LOCAL_LOAD, 0, 0, 4));
    append(p, 0, vector(PIM_LOCAL_ADD, 0, 0, 0, 0));
    append(p, 0, transfer(PIM_OP_LOCAL_STORE, 64, 0, 4));
    append(p, 0,
           (struct pim_instruction){.opcode = PIM_OP_LOCAL_WRITE,
                                    .u.local_write = {.destination = 16, .bytes = 2, .count = 1}});
    if (stored)
        append(p, 0, join);
    append(p, 0, message(PIM_OP_SEND, 1, 16, 2));
    append(p, 1, message(PIM_OP_RECEIVE, 0, 0, 2));
    if (received)
        append(p, 1, join);
    append(p, 1, transfer(PIM_OP_LOCAL_LOAD, 64, 32, 4));
    append(p, 1, vector(PIM_LOCAL_RELU, 40, 32, 0, 0));
    append(p, 1, transfer(PIM_OP_LOCAL_STORE, 128, 40, 4));
    finish(p);
}

/* How many of the seeds give the right numbers. */
static int right_results(struct program *p, uint32_t window, bool asynchronous)
{
    int right = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        int16_t result[2];
        ck_assert_msg(execute(p, seed, window, asynchronous, result) == PIM_OK, "%s", p->error.text);
        right += result[0] == 10 && result[1] == 0;
    }
    return right;
}

START_TEST(right_program)
{
    struct program p;
    handover(&p, true, true);
    ck_assert_int_eq(right_results(&p, 1, false), SEEDS);
    ck_assert_int_eq(right_results(&p, 12, false), SEEDS);
    ck_assert_int_eq(right_results(&p, 12, true), SEEDS);
    close_program(&p);
}
END_TEST

/* Without the join behind the store, or before the load, an old number comes sooner or later. */
START_TEST(missing_join)
{
    struct program p;
    handover(&p, false, true);
    ck_assert_int_lt(right_results(&p, 12, false), SEEDS);
    ck_assert_int_lt(right_results(&p, 1, false), SEEDS);
    close_program(&p);
    handover(&p, true, false);
    ck_assert_int_lt(right_results(&p, 12, true), SEEDS);
    close_program(&p);
}
END_TEST

START_TEST(deadlock_is_named)
{
    struct program p;
    int16_t result[2];
    begin(&p);
    append(&p, 0, transfer(PIM_OP_LOCAL_LOAD, 0, 0, 4));
    append(&p, 0, message(PIM_OP_RECEIVE, 1, 8, 2));
    append(&p, 0, message(PIM_OP_SEND, 1, 0, 2));
    append(&p, 1, transfer(PIM_OP_LOCAL_LOAD, 0, 0, 4));
    append(&p, 1, message(PIM_OP_RECEIVE, 0, 0, 2));
    append(&p, 1, message(PIM_OP_SEND, 0, 0, 2));
    finish(&p);
    ck_assert_int_eq(execute(&p, 1, 1, false, result), PIM_DEADLOCK);
    ck_assert_ptr_nonnull(strstr(p.error.text, "unit 0 instruction 2 (receive"));
    ck_assert_ptr_nonnull(strstr(p.error.text, "unit 1 instruction 2 (receive"));
    close_program(&p);
}
END_TEST

/* Ten units that each wait for the next: eight of them are named, in this order. */
START_TEST(a_ring_is_named)
{
    enum { RING = 10 };
    struct program p;
    int16_t result[2];
    char expected[64];
    begin_units(&p, RING);
    for (uint32_t i = 0; i < RING; i++)
        append(&p, i, message(PIM_OP_RECEIVE, (i + 3) % RING, 0, 2));
    finish(&p);
    ck_assert_int_eq(execute(&p, 1, 1, false, result), PIM_DEADLOCK);
    const char *at = p.error.text;
    for (uint32_t i = 0, unit = 0; i < 8; i++, unit = (unit + 3) % RING) {
        (void)snprintf(expected, sizeof expected, "unit %" PRIu32 " instruction 1 (receive peer=%" PRIu32,
                       unit, (unit + 3) % RING);
        at = strstr(at, expected);
        ck_assert_msg(at != NULL, "%s: %s", expected, p.error.text);
    }
    ck_assert_ptr_nonnull(strstr(at, "; and 2 more"));
    close_program(&p);
}
END_TEST

START_TEST(bad_programs)
{
    static const struct {
        struct pim_instruction instruction;
        const char *message;
    } cases[] = {
        {{.opcode = PIM_OP_LOCAL_VECTOR,
          .detail = PIM_LOCAL_RELU,
          .u.local_vector = {.elements = 2, .destination = 0, .source = 20, .bits = 16}},
         "unit 0 instruction 1 (local_vector relu"},
        {{.opcode = PIM_OP_LOCAL_LOAD, .u.transfer = {.address = 8, .local = 0, .bytes = 4, .count = 1}},
         "byte 8 of the global memory is read"},
        {{.opcode = PIM_OP_LOCAL_LOAD, .u.transfer = {.address = 0, .local = 253, .bytes = 4, .count = 1}},
         "the local memory: it has 256 bytes"},
        {{.opcode = PIM_OP_LOCAL_LOAD, .u.transfer = {.address = 4094, .local = 0, .bytes = 4, .count = 1}},
         "the global memory: it has 4096 bytes"},
        {{.opcode = PIM_OP_MVM, .u.mvm = {.group = 0, .windows = 1, .input_bytes = 4, .output_bytes = 4}},
         "array group 0: the core has 0"},
        {{.opcode = PIM_OP_LOAD, .u.memory = {.bytes = 4, .count = 1}}, "no instruction of cores"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct program p;
        int16_t result[2];
        begin(&p);
        append(&p, 0, cases[i].instruction);
        finish(&p);
        ck_assert_int_eq(execute(&p, 1, 12, false, result), PIM_BAD_INPUT);
        ck_assert_msg(strstr(p.error.text, cases[i].message) != NULL, "%s", p.error.text);
        close_program(&p);
    }
}
END_TEST

static int32_t counting(const void *context, uint32_t layer, uint32_t row, uint32_t column)
{
    (void)context;
    return (int32_t)(100 * layer + 10 * row + column);
}

/* Two folds of a group with 2 rows and 1 column: rows 0, 1 and rows 4, 5 of column 3 of layer 2. */
START_TEST(mvm_with_folds)
{
    struct program p;
    begin(&p);
    const struct pim_trace_array_group group = {.layer = 2,
                                                .arrays = 1,
                                                .row = 0,
                                                .rows = 2,
                                                .column = 3,
                                                .columns = 1,
                                                .folds = 2,
                                                .fold_stride = 4};
    ck_assert_int_eq(pim_trace_writer_array_group(p.writer, 0, &group, &p.error), PIM_OK);
    append(&p, 0, transfer(PIM_OP_LOCAL_LOAD, 0, 0, 4));
    append(&p, 0,
           (struct pim_instruction){.opcode = PIM_OP_MVM,
                                    .u.mvm = {.group = 0,
                                              .windows = 1,
                                              .input_address = 0,
                                              .input_bytes = 4,
                                              .output_address = 8,
                                              .output_bytes = 4}});
    append(&p, 0, transfer(PIM_OP_LOCAL_STORE, 128, 8, 4));
    finish(&p);
    static const int16_t input[] = {5, -3};
    const struct pim_core_execution_options options = {.weight = counting};
    struct pim_core_execution *execution;
    int16_t result[2];
    ck_assert_int_eq(pim_core_execution_create(p.trace, &options, &execution, &p.error), PIM_OK);
    ck_assert_int_eq(pim_core_execution_write(execution, 0, input, 2, &p.error), PIM_OK);
    ck_assert_msg(pim_core_execution_run(execution, &p.error) == PIM_OK, "%s", p.error.text);
    ck_assert_int_eq(pim_core_execution_read(execution, 128, result, 2, &p.error), PIM_OK);
    ck_assert_int_eq(result[0], 5 * 203 - 3 * 213);
    ck_assert_int_eq(result[1], 5 * 243 - 3 * 253);
    ck_assert_uint_eq(pim_core_execution_counts(execution)->mvms, 1);
    ck_assert_uint_eq(pim_core_execution_counts(execution)->local_bytes, 12);
    pim_core_execution_destroy(execution);
    close_program(&p);
}
END_TEST

/* The same two folds, written by the program: their numbers come from the global memory. */
START_TEST(mvm_of_written_weights)
{
    for (int short_of = 0; short_of < 2; short_of++) {
        struct program p;
        begin(&p);
        const struct pim_trace_array_group group = {
            .layer = 2, .arrays = 1, .rows = 2, .columns = 1, .folds = 2, .fold_stride = 4, .set = 1};
        ck_assert_int_eq(pim_trace_writer_array_group(p.writer, 0, &group, &p.error), PIM_OK);
        append(&p, 0, transfer(PIM_OP_LOCAL_LOAD, 0, 0, 12));
        for (uint32_t row = 0; row < (short_of ? 1 : 2); row++)
            append(&p, 0,
                   (struct pim_instruction){
                       .opcode = PIM_OP_ARRAY_WRITE,
                       .u.array_write = {.row = row, .rows = 1, .source = 4 + 4 * row, .bytes = 4}});
        append(&p, 0,
               (struct pim_instruction){.opcode = PIM_OP_MVM,
                                        .u.mvm = {.windows = 1,
                                                  .input_address = 0,
                                                  .input_bytes = 4,
                                                  .output_address = 16,
                                                  .output_bytes = 4}});
        append(&p, 0, transfer(PIM_OP_LOCAL_STORE, 128, 16, 4));
        finish(&p);
        static const int16_t memory[] = {5, -3, 7, 11, 13, 17};
        const struct pim_core_execution_options options = {.seed = 3};
        struct pim_core_execution *execution;
        int16_t result[2];
        ck_assert_int_eq(pim_core_execution_create(p.trace, &options, &execution, &p.error), PIM_OK);
        ck_assert_int_eq(pim_core_execution_write(execution, 0, memory, 6, &p.error), PIM_OK);
        enum pim_status status = pim_core_execution_run(execution, &p.error);
        if (short_of) {
            ck_assert_int_eq(status, PIM_BAD_INPUT);
            ck_assert_msg(strstr(p.error.text, "hold 1 of 2 rows") != NULL, "%s", p.error.text);
        } else {
            ck_assert_msg(status == PIM_OK, "%s", p.error.text);
            ck_assert_int_eq(pim_core_execution_read(execution, 128, result, 2, &p.error), PIM_OK);
            ck_assert_int_eq(result[0], 5 * 7 - 3 * 13);
            ck_assert_int_eq(result[1], 5 * 11 - 3 * 17);
        }
        pim_core_execution_destroy(execution);
        close_program(&p);
    }
}
END_TEST

Suite *execute_suite(void)
{
    Suite *suite = suite_create("execute");
    TCase *tests = tcase_create("execute");
    tcase_add_test(tests, right_program);
    tcase_add_test(tests, missing_join);
    tcase_add_test(tests, deadlock_is_named);
    tcase_add_test(tests, a_ring_is_named);
    tcase_add_test(tests, bad_programs);
    tcase_add_test(tests, mvm_with_folds);
    tcase_add_test(tests, mvm_of_written_weights);
    suite_add_tcase(suite, tests);
    return suite;
}

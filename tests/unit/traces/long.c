/* Ten million instructions, in one unit and in 256: memory while they are written, read and checked does not
 * depend on the length. */
#include "tests/unit/test_main.h"
#include "traces/check/check.h"
#include "traces/file/reader.h"
#include "traces/file/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { INSTRUCTIONS = 10000000 };

static void expect_ok(enum pim_status status, const struct pim_error *error)
{
    ck_assert_msg(status == PIM_OK, "%s", error->text);
}

/* The greatest resident size of this process so far, in KiB. */
static long peak(void)
{
    struct rusage usage;
    ck_assert_int_eq(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss;
}

static double seconds(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Tiles of a matrix product: load, load, matrix, vector, store; addresses and sizes vary so that chunks
 * differ. */
static struct pim_instruction instruction_at(uint64_t i, uint32_t unit)
{
    struct pim_instruction instruction = {.opcode = PIM_OP_STORE, .dependency = {1}};
    uint32_t k = 16 + (uint32_t)(i / 5 * 7919 % 13);
    instruction.u.memory.address = i * 64 + unit;
    instruction.u.memory.bytes = 32 + (uint32_t)(i * 31 % 17);
    instruction.u.memory.count = 1;
    if (i % 5 < 2) {
        instruction.opcode = PIM_OP_LOAD;
        instruction.detail = i % 5 == 0 ? PIM_BUFFER_INPUT : PIM_BUFFER_WEIGHT;
        instruction.u.memory.bytes = 8 * k;
    } else if (i % 5 == 2) {
        instruction = (struct pim_instruction){.opcode = PIM_OP_MATRIX, .detail = 7, .dependency = {1, 2}};
        instruction.u.matrix.m = instruction.u.matrix.n = 8;
        instruction.u.matrix.k = k;
        instruction.u.matrix.input_bits = instruction.u.matrix.weight_bits =
            instruction.u.matrix.output_bits = 8;
    } else if (i % 5 == 3) {
        instruction =
            (struct pim_instruction){.opcode = PIM_OP_VECTOR, .detail = PIM_VECTOR_GELU, .dependency = {1}};
        instruction.u.vector.rows = instruction.u.vector.elements = instruction.u.vector.bits = 8;
        instruction.u.vector.release = 256;
    }
    return instruction;
}

static void write_trace(const char *path, uint32_t units, uint64_t each)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_trace_description description = {
        .family = "test", .width = units, .height = 1, .units = units};
    struct pim_instruction begin = {.opcode = PIM_OP_PHASE_BEGIN}, end = {.opcode = PIM_OP_PHASE_END};
    struct pim_trace_writer *writer;
    expect_ok(pim_trace_writer_create(path, &description, &writer, &error), &error);
    (void)pim_trace_writer_phase(writer, &(struct pim_trace_phase){.name = "all"});
    for (uint32_t unit = 0; unit < units; unit++)
        expect_ok(pim_trace_writer_append(writer, unit, &begin, &error), &error);
    for (uint64_t i = 0; i < each; i++)
        for (uint32_t unit = 0; unit < units; unit++) {
            struct pim_instruction instruction = instruction_at(i, unit);
            if (pim_trace_writer_append(writer, unit, &instruction, &error) != PIM_OK)
                ck_abort_msg("%s", error.text);
        }
    for (uint32_t unit = 0; unit < units; unit++)
        expect_ok(pim_trace_writer_append(writer, unit, &end, &error), &error);
    expect_ok(pim_trace_writer_finish(writer, &error), &error);
}

/* All units in turns, one instruction each, as a simulation would. */
static void read_trace(const char *path, uint32_t units, uint64_t each)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_trace *trace;
    struct pim_trace_cursor **cursor = calloc(units, sizeof(struct pim_trace_cursor *));
    expect_ok(pim_trace_open(path, &trace, &error), &error);
    for (uint32_t unit = 0; unit < units; unit++)
        expect_ok(pim_trace_cursor_create(trace, unit, &cursor[unit], &error), &error);
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < each + 2; i++)
        for (uint32_t unit = 0; unit < units; unit++) {
            const struct pim_instruction *instruction;
            if (pim_trace_cursor_next(cursor[unit], &instruction, &error) != PIM_OK || !instruction)
                ck_abort_msg("%s",
                             error.text); /* an assertion for each would be slower than what is measured */
            if (i > 0 && i <= each && instruction->opcode != instruction_at(i - 1, unit).opcode)
                wrong++;
        }
    ck_assert_uint_eq(wrong, 0);
    for (uint32_t unit = 0; unit < units; unit++)
        pim_trace_cursor_destroy(cursor[unit]);
    free(cursor);
    pim_trace_close(trace);
}

static void check_trace(const char *path)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_trace *trace;
    struct pim_check_limits limits = {
        .buffer_bytes = {0, 1024, 1024, 1024}, .window = 64, .accumulator_bits = 32};
    struct pim_check_result result;
    expect_ok(pim_trace_open(path, &trace, &error), &error);
    expect_ok(pim_trace_check(trace, &limits, &result, &error), &error);
    for (int buffer = 0; buffer < PIM_BUFFERS; buffer++)
        ck_assert_uint_eq(result.left_bytes[buffer], 0);
    pim_trace_close(trace);
}

/* Growth of the peak in KiB allowed for `units` units: a chunk with what belongs to it for each, and
 * decompression and buffers once. The instructions themselves are 312500 KiB. */
static void run(uint32_t units)
{
    char path[64];
    uint64_t each = (INSTRUCTIONS / units + 4) / 5 * 5; /* whole tiles */
    (void)snprintf(path, sizeof path, "/tmp/pimsim-long-%ld.bin", (long)getpid());
    long before = peak();
    double start = seconds();
    write_trace(path, units, each);
    long written = peak();
    double middle = seconds();
    read_trace(path, units, each);
    long read = peak();
    double end = seconds();
    check_trace(path);
    long checked = peak();
    printf("%" PRIu32 " units: written %.1f M/s, peak +%ld KiB; read %.1f M/s, peak +%ld KiB; checked %.1f "
           "M/s, peak +%ld KiB\n",
           units, INSTRUCTIONS / (middle - start) / 1e6, written - before,
           INSTRUCTIONS / (end - middle) / 1e6, read - before, INSTRUCTIONS / (seconds() - end) / 1e6,
           checked - before);
    (void)unlink(path);
    long chunks = 48L * units, once = 8192;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    once += 100000; /* shadow memory */
#endif
    ck_assert_int_lt(written - before, chunks + once);
    ck_assert_int_lt(read - before, 2 * chunks + once);
    /* the checker remembers 4096 fetches of 48 bytes for each unit */
    ck_assert_int_lt(checked - before, 2 * chunks + 320L * units + once);
}

START_TEST(one_unit)
{
    run(1);
}
END_TEST

START_TEST(many_units)
{
    run(256);
}
END_TEST

void pimsim_suites(SRunner *runner)
{
    Suite *suite = suite_create("long");
    TCase *tests = tcase_create("long");
    tcase_add_test(tests, one_unit);
    tcase_add_test(tests, many_units);
    suite_add_tcase(suite, tests);
    srunner_add_suite(runner, suite);
}

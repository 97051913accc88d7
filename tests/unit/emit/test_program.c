/* Programs of units: marks of phases, what instructions wait for, pieces, tags, barriers, and numbers that do
 * not fit. */
#include "mappers/emit/program.h"
#include "tests/unit/test_main.h"
#include "traces/check/check.h"
#include "traces/file/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { UNITS = 7 };

struct writing {
    struct pim_trace_writer *writer;
    struct pim_program program;
    struct pim_arena arena;
    struct pim_error error;
    char path[64];
};

/* With a trace, or counting alone. */
static void begin(struct writing *w, bool writes, uint32_t element_bits)
{
    const struct pim_trace_description description = {.family = "test",
                                                      .network = "none",
                                                      .mapping = "none",
                                                      .configuration = "",
                                                      .width = UNITS,
                                                      .height = 1,
                                                      .units = UNITS};
    *w = (struct writing){.writer = NULL};
    (void)snprintf(w->path, sizeof w->path, "test_emit_%ld.bin", (long)getpid());
    pim_arena_initialize(&w->arena, 4096);
    if (writes)
        ck_assert_msg(pim_trace_writer_create(w->path, &description, &w->writer, &w->error) == PIM_OK, "%s",
                      w->error.text);
    ck_assert_int_eq(
        pim_program_initialize(&w->program, w->writer, UNITS, element_bits, &w->arena, &w->error), PIM_OK);
}

static struct pim_trace *finish(struct writing *w)
{
    struct pim_trace *trace;
    ck_assert_msg(w->program.status == PIM_OK, "%s", w->error.text);
    ck_assert_msg(pim_trace_writer_finish(w->writer, &w->error) == PIM_OK, "%s", w->error.text);
    ck_assert_msg(pim_trace_open(w->path, &trace, &w->error) == PIM_OK, "%s", w->error.text);
    (void)unlink(w->path);
    return trace;
}

static void end(struct writing *w, struct pim_trace *trace)
{
    pim_trace_close(trace);
    pim_arena_terminate(&w->arena);
}

static struct pim_program_pieces one(uint64_t address, uint64_t bytes)
{
    return (struct pim_program_pieces){.address = address, .bytes = bytes, .count = 1};
}

static uint64_t load(struct writing *w, uint32_t unit, uint64_t address, uint64_t after)
{
    const struct pim_program_pieces pieces = one(address, 16);
    return pim_program_memory(&w->program, unit, PIM_OP_LOAD, PIM_BUFFER_NONE, &pieces, after);
}

/* The instructions of a unit, at most `room`; returns how many. */
static size_t read_unit(const struct pim_trace *trace, uint32_t unit, struct pim_instruction *into,
                        size_t room)
{
    struct pim_trace_cursor *cursor;
    const struct pim_instruction *next;
    struct pim_error error;
    size_t count = 0;
    ck_assert_int_eq(pim_trace_cursor_create(trace, unit, &cursor, &error), PIM_OK);
    while (pim_trace_cursor_next(cursor, &next, &error) == PIM_OK && next) {
        ck_assert_uint_lt(count, room);
        into[count++] = *next;
    }
    pim_trace_cursor_destroy(cursor);
    return count;
}

/* Two phases: units that have nothing in one have no marks of it. Without a writer the counts are the same.
 */
START_TEST(phases_mark_what_they_hold)
{
    struct pim_instruction got[16];
    uint64_t counted[UNITS];
    for (int writes = 0; writes < 2; writes++) {
        struct writing w;
        begin(&w, writes != 0, 8);
        ck_assert_uint_eq(pim_program_phase_begin(&w.program, "first"), 0);
        uint64_t number = load(&w, 1, 0, PIM_NOTHING);
        ck_assert_uint_eq(number, 1); /* behind the mark */
        (void)load(&w, 1, 64, number);
        pim_program_phase_end(&w.program);
        ck_assert_uint_eq(pim_program_phase_begin(&w.program, "second"), 1);
        (void)load(&w, 1, 0, PIM_NOTHING);
        (void)load(&w, 2, 0, PIM_NOTHING);
        pim_program_phase_end(&w.program);
        for (uint32_t unit = 0; unit < UNITS; unit++) {
            if (writes)
                ck_assert_uint_eq(w.program.instructions[unit], counted[unit]);
            counted[unit] = w.program.instructions[unit];
        }
        ck_assert_uint_eq(w.program.all_instructions, 10);
        if (!writes) {
            end(&w, NULL);
            continue;
        }
        struct pim_trace *trace = finish(&w);
        ck_assert_uint_eq(pim_trace_phases(trace), 2);
        ck_assert_uint_eq(read_unit(trace, 0, got, 16), 0);
        ck_assert_uint_eq(read_unit(trace, 1, got, 16), 7);
        static const uint8_t expected[] = {PIM_OP_PHASE_BEGIN, PIM_OP_LOAD, PIM_OP_LOAD,     PIM_OP_PHASE_END,
                                           PIM_OP_PHASE_BEGIN, PIM_OP_LOAD, PIM_OP_PHASE_END};
        for (size_t i = 0; i < sizeof expected; i++)
            ck_assert_uint_eq(got[i].opcode, expected[i]);
        ck_assert_uint_eq(got[2].dependency[0], 1);
        ck_assert_uint_eq(got[1].dependency[0], 0);
        ck_assert_uint_eq(got[4].u.control.phase, 1);
        ck_assert_uint_eq(read_unit(trace, 2, got, 16), 3);
        end(&w, trace);
    }
}
END_TEST

/* Marks of one unit alone, and what lies further back than any window. */
START_TEST(far_instructions_are_not_waited_for)
{
    static struct pim_instruction got[PIM_DEPENDENCY_REACH + 16];
    struct writing w;
    begin(&w, true, 8);
    uint32_t phase = pim_trace_writer_phase(w.writer, &(struct pim_trace_phase){.name = "own"});
    pim_program_enter(&w.program, 3, phase);
    uint64_t first = load(&w, 3, 0, PIM_NOTHING), second = load(&w, 3, 16, PIM_NOTHING);
    for (uint64_t i = second; i < first + PIM_DEPENDENCY_REACH; i++)
        (void)load(&w, 3, 32, PIM_NOTHING);
    ck_assert_uint_eq(pim_program_next(&w.program, 3), first + PIM_DEPENDENCY_REACH + 1);
    struct pim_instruction last = {.opcode = PIM_OP_LOAD};
    last.u.memory.bytes = 16;
    last.u.memory.count = 1;
    (void)pim_program_append(&w.program, 3, last, first, second, PIM_NOTHING);
    pim_program_leave(&w.program, 3);
    struct pim_trace *trace = finish(&w);
    size_t count = read_unit(trace, 3, got, PIM_DEPENDENCY_REACH + 16);
    ck_assert_uint_eq(got[count - 2].dependency[0], 0); /* 4096 back */
    ck_assert_uint_eq(got[count - 2].dependency[1], PIM_DEPENDENCY_REACH);
    end(&w, trace);
}
END_TEST

START_TEST(pieces_in_a_row_are_one)
{
    struct pim_instruction got[8];
    struct writing w;
    begin(&w, true, 16);
    (void)pim_program_phase_begin(&w.program, "pieces");
    const struct pim_program_pieces row = {.address = 64, .bytes = 16, .stride = 16, .count = 3},
                                    apart = {.address = 64, .bytes = 16, .stride = 32, .count = 3};
    uint64_t a = pim_program_memory(&w.program, 0, PIM_OP_LOAD, PIM_BUFFER_NONE, &row, PIM_NOTHING);
    uint64_t b = pim_program_memory(&w.program, 0, PIM_OP_STORE, PIM_BUFFER_NONE, &apart, a);
    (void)pim_program_vector(&w.program, 0, PIM_VECTOR_ADD, 2, 5, 0, a, b);
    pim_program_phase_end(&w.program);
    struct pim_trace *trace = finish(&w);
    ck_assert_uint_eq(read_unit(trace, 0, got, 8), 5);
    ck_assert_uint_eq(got[1].u.memory.bytes, 48);
    ck_assert_uint_eq(got[1].u.memory.count, 1);
    ck_assert_uint_eq(got[1].u.memory.stride, 0);
    ck_assert_uint_eq(got[2].u.memory.bytes, 16);
    ck_assert_uint_eq(got[2].u.memory.count, 3);
    ck_assert_uint_eq(got[2].u.memory.stride, 32);
    ck_assert_uint_eq(got[3].dependency[0], 2);
    ck_assert_uint_eq(got[3].dependency[1], 1);
    ck_assert_uint_eq(got[3].u.vector.bits, 16); /* the width of an element is the program's */
    ck_assert_uint_eq(pim_program_element_bytes(&w.program), 2);
    end(&w, trace);
}
END_TEST

/* What does not fit is refused with unit and operand, and nothing follows. */
START_TEST(numbers_that_do_not_fit)
{
    static const struct {
        struct pim_program_pieces pieces;
        const char *message;
    } cases[] = {
        {{0, UINT64_C(1) << 32, 0, 1}, "unit 4: bytes of a piece is 4294967296"},
        {{0, 16, UINT64_C(1) << 32, 2}, "unit 4: stride of pieces is 4294967296"},
        {{0, 16, 32, UINT64_C(1) << 32}, "unit 4: number of pieces is 4294967296"},
        {{0, 65536, 65536, 65536}, "unit 4: 65536 pieces of 65536 bytes in a row"},
        {{0, UINT64_C(1) << 40, UINT64_C(1) << 40, UINT64_C(1) << 30}, "in a row"},
    };
    for (size_t i = 0; i <= sizeof cases / sizeof cases[0]; i++) {
        struct writing w;
        begin(&w, false, 8);
        (void)pim_program_phase_begin(&w.program, "large");
        const char *message = "unit 4: elements of a vector is";
        if (i < sizeof cases / sizeof cases[0]) {
            message = cases[i].message;
            (void)pim_program_memory(&w.program, 4, PIM_OP_LOAD, PIM_BUFFER_NONE, &cases[i].pieces,
                                     PIM_NOTHING);
        } else {
            (void)pim_program_vector(&w.program, 4, PIM_VECTOR_ADD, 1, UINT64_MAX, 0, PIM_NOTHING,
                                     PIM_NOTHING);
        }
        ck_assert_int_eq(w.program.status, PIM_BAD_INPUT);
        ck_assert_msg(strstr(w.error.text, message) != NULL, "%s: %s", message, w.error.text);
        uint64_t before = w.program.all_instructions;
        (void)load(&w, 5, 0, PIM_NOTHING);
        (void)pim_program_join(&w.program, 5);
        pim_program_phase_end(&w.program);
        ck_assert_uint_eq(w.program.all_instructions, before);
        end(&w, NULL);
    }
}
END_TEST

START_TEST(tags_run_out)
{
    struct writing w;
    begin(&w, false, 8);
    ck_assert_uint_eq(pim_program_tags(&w.program, 5), 0);
    ck_assert_uint_eq(pim_program_tags(&w.program, UINT32_MAX - 10), 5);
    ck_assert_uint_eq(pim_program_tags(&w.program, 5), UINT32_MAX - 5);
    ck_assert_int_eq(w.program.status, PIM_OK);
    (void)pim_program_tags(&w.program, 1);
    ck_assert_int_eq(w.program.status, PIM_BAD_INPUT);
    end(&w, NULL);
}
END_TEST

/* --- barriers --- */

static void tell(void *context, uint32_t from, uint32_t to)
{
    struct writing *w = context;
    uint32_t tag = pim_program_tags(&w->program, 1);
    const struct pim_program_message sent = {.peer = to, .tag = tag, .address = 0, .bytes = 8},
                                     received = {.peer = from, .tag = tag, .address = 8, .bytes = 8};
    (void)pim_program_message(&w->program, from, PIM_OP_SEND, &sent, PIM_NOTHING);
    (void)pim_program_message(&w->program, to, PIM_OP_RECEIVE, &received, PIM_NOTHING);
}

/*
 * Of every number of units: the trace completes, and every unit hears, over chains of messages, of every
 * other. Who knows of whom is followed through the messages in the order of their tags.
 */
START_TEST(barriers_hold_everyone)
{
    static const uint32_t units[UNITS] = {3, 0, 6, 2, 5, 1, 4};
    uint32_t count = (uint32_t)_i + 1;
    struct writing w;
    begin(&w, true, 8);
    (void)pim_program_phase_begin(&w.program, "barrier");
    pim_program_barrier(&w.program, units, count, NULL, tell, &w);
    pim_program_phase_end(&w.program);
    struct pim_trace *trace = finish(&w);
    struct pim_check_result result;
    const struct pim_check_limits limits = {.kind = PIM_CHECK_NODES};
    ck_assert_msg(pim_trace_check(trace, &limits, &result, &w.error) == PIM_OK, "%s", w.error.text);
    ck_assert_uint_eq(result.messages, 2 * (count - 1));
    uint32_t knows[UNITS], from[2 * UNITS], to[2 * UNITS];
    for (uint32_t unit = 0; unit < UNITS; unit++) {
        struct pim_instruction got[32];
        size_t length = read_unit(trace, unit, got, 32);
        knows[unit] = 1u << unit;
        for (size_t i = 0; i < length; i++)
            if (got[i].opcode == PIM_OP_SEND) {
                from[got[i].u.network.tag] = unit;
                to[got[i].u.network.tag] = got[i].u.network.peer;
            }
    }
    uint32_t all = 0;
    for (uint32_t i = 0; i < count; i++)
        all |= 1u << units[i];
    for (uint32_t tag = 0; tag < 2 * (count - 1); tag++)
        knows[to[tag]] |= knows[from[tag]];
    for (uint32_t i = 0; i < count; i++)
        ck_assert_uint_eq(knows[units[i]], all);
    end(&w, trace);
}
END_TEST

void pimsim_suites(SRunner *runner)
{
    Suite *suite = suite_create("program");
    TCase *cases = tcase_create("program");
    tcase_add_test(cases, phases_mark_what_they_hold);
    tcase_add_test(cases, far_instructions_are_not_waited_for);
    tcase_add_test(cases, pieces_in_a_row_are_one);
    tcase_add_test(cases, numbers_that_do_not_fit);
    tcase_add_test(cases, tags_run_out);
    tcase_add_loop_test(cases, barriers_hold_everyone, 0, UNITS);
    suite_add_tcase(suite, cases);
    srunner_add_suite(runner, suite);
}

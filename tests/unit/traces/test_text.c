/* The text form: round trips bit for bit, and errors with line, column and the nearest name. */
#include "tests/unit/traces/suites.h"
#include "tests/unit/traces/support.h"
#include "traces/text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text of the trace in file `name`; the caller frees it. */
static char *dump(const char *name, uint32_t unit)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_trace *trace;
    char path[PATH_SIZE], *text = NULL;
    size_t size = 0;
    EXPECT_OK(pim_trace_open(temporary(path, name), &trace, &error));
    FILE *file = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(file);
    EXPECT_OK(pim_trace_disassemble(trace, unit, file, &error));
    ck_assert_int_eq(fclose(file), 0);
    pim_trace_close(trace);
    return text;
}

static void expect_same_files(const char *name, const char *other)
{
    char path[PATH_SIZE];
    size_t size, other_size;
    uint8_t *bytes = read_bytes(temporary(path, name), &size),
            *others = read_bytes(temporary(path, other), &other_size);
    ck_assert_uint_eq(size, other_size);
    ck_assert_mem_eq(bytes, others, size);
    free(bytes);
    free(others);
}

START_TEST(text_round_trips)
{
    struct pim_error error = {PIM_OK, ""};
    EXPECT_OK(assemble(small_text, "first", &error));
    char *text = dump("first", PIM_ALL_UNITS);
    EXPECT_OK(assemble(text, "second", &error));
    expect_same_files("first", "second");
    char *again = dump("second", PIM_ALL_UNITS);
    ck_assert_str_eq(text, again);
    free(text);
    free(again);
}
END_TEST

/* Every field with a value of its own, so that none can be forgotten or exchanged. */
static const struct pim_instruction every_field[] = {
    {.opcode = PIM_OP_LOAD,
     .detail = PIM_BUFFER_OUTPUT,
     .dependency = {0, 0, 1},
     .u.memory = {.address = 0x123456789abcdef, .bytes = 11, .stride = 4000000000u, .count = 3}},
    {.opcode = PIM_OP_STORE,
     .detail = PIM_BUFFER_WEIGHT,
     .dependency = {2, 0, 1},
     .u.memory = {.bytes = UINT32_MAX, .count = 1}},
    {.opcode = PIM_OP_MATRIX,
     .detail = 5,
     .u.matrix = {.m = 1, .n = 2, .k = 3, .input_bits = 4, .weight_bits = 5, .output_bits = 6}},
    {.opcode = PIM_OP_MATRIX,
     .detail = 10,
     .u.matrix = {.m = 65535, .n = 65536, .k = 65535, .input_bits = 8, .weight_bits = 8, .output_bits = 8}},
    {.opcode = PIM_OP_MVM,
     .u.mvm = {.group = 1,
               .windows = 2,
               .input_address = 3,
               .input_bytes = 4,
               .output_address = 5,
               .output_bytes = 6}},
    {.opcode = PIM_OP_BIT_SERIAL,
     .detail = PIM_BIT_SERIAL_REDUCE,
     .u.bit_serial = {.bits = 1, .rows = 2, .first_bank = 3, .banks = 4, .count = 5}},
    {.opcode = PIM_OP_ROW_COMPUTE,
     .detail = PIM_ROW_REDUCE,
     .u.row_compute = {.source = 1,
                       .second = 2,
                       .result = 3,
                       .count = UINT32_MAX,
                       .first_bank = 5,
                       .banks = 6,
                       .bank_stride = 7,
                       .bits = 8,
                       .size = 9}},
    {.opcode = PIM_OP_ROW_TRANSPOSE,
     .u.row_compute =
         {.source = 1, .result = 2, .count = 3, .first_bank = 4, .banks = 1, .bank_stride = 5, .bits = 32}},
    {.opcode = PIM_OP_ROW_MOVE,
     .detail = PIM_REACH_BANK,
     .u.row_move =
         {.source = 1, .result = 2, .rows = 3, .first_bank = 4, .banks = 5, .bank_stride = 6, .to_bank = 7}},
    {.opcode = PIM_OP_ROW_SEND,
     .detail = PIM_REACH_CHANNEL,
     .u.row_message =
         {.peer = 1, .tag = 2, .row = 3, .rows = 4, .first_bank = 5, .banks = 6, .bank_stride = 7}},
    {.opcode = PIM_OP_ROW_RECEIVE,
     .detail = PIM_REACH_STACK,
     .u.row_message = {.peer = 2, .tag = UINT32_MAX, .row = 3, .rows = 4, .banks = 1, .bank_stride = 1}},
    {.opcode = PIM_OP_VECTOR,
     .detail = PIM_VECTOR_COPY,
     .dependency = {1, 2, 3},
     .u.vector =
         {.rows = 1, .elements = 2, .release = 3, .source_address = 4, .destination_address = 5, .bits = 6}},
    {.opcode = PIM_OP_SEND,
     .u.network = {.peer = 1, .tag = UINT32_MAX, .address = 1, .bytes = (uint64_t)1 << 61}},
    {.opcode = PIM_OP_RECEIVE, .u.network = {.peer = 2, .tag = 4, .address = 0, .bytes = 1}},
    {.opcode = PIM_OP_LOCAL_LOAD,
     .u.transfer = {.address = 0x123456789abcdef, .local = 1, .bytes = 2, .count = 3, .stride = 4}},
    {.opcode = PIM_OP_LOCAL_STORE,
     .dependency = {4},
     .u.transfer = {.address = (uint64_t)1 << 61, .local = UINT32_MAX - 1, .bytes = 1, .count = 1}},
    {.opcode = PIM_OP_LOCAL_VECTOR,
     .detail = PIM_LOCAL_BINARY,
     .u.local_vector =
         {.elements = 1, .destination = 2, .source = 3, .second = 4, .bits = 5, .immediate = INT32_MIN}},
    {.opcode = PIM_OP_LOCAL_VECTOR,
     .detail = PIM_LOCAL_DIVIDE,
     .u.local_vector = {.elements = 6, .destination = 7, .source = 8, .bits = 16, .immediate = 9}},
    {.opcode = PIM_OP_LOCAL_COPY,
     .u.local_copy = {.destination = 1,
                      .source = 2,
                      .bytes = 3,
                      .count = 4,
                      .destination_stride = 5,
                      .source_stride = 1}},
    {.opcode = PIM_OP_LOCAL_WRITE,
     .u.local_write = {.destination = 1, .bytes = 2, .count = 3, .stride = 4, .value = 5}},
    {.opcode = PIM_OP_JOIN},
    {.opcode = PIM_OP_REPEAT, .u.control = {.count = UINT32_MAX, .length = 3}},
    {.opcode = PIM_OP_LOAD,
     .u.memory = {.address = (uint64_t)1 << 61, .bytes = 1, .count = 1, .step = INT32_MIN / 4}},
    {.opcode = PIM_OP_REPEAT, .u.control = {.count = 1, .length = 1}},
    {.opcode = PIM_OP_STORE, .u.memory = {.bytes = 1, .count = 1, .step = INT32_MAX}},
};

START_TEST(every_field_round_trips)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_trace_description description = description_of(3);
    struct pim_trace_writer *writer;
    char path[PATH_SIZE], long_text[10000];
    memset(long_text, 'a', sizeof long_text);
    for (unsigned i = 0; i < 255; i++)
        if (i + 1 >= 32 && i + 1 != 127)
            long_text[5000 + i] = (char)(i + 1);
    long_text[100] = '\n';
    long_text[101] = '\t';
    long_text[sizeof long_text - 1] = '\0';
    description.mapping = long_text;
    description.configuration = "\n\n\"\\";
    EXPECT_OK(pim_trace_writer_create(temporary(path, "first"), &description, &writer, &error));
    (void)pim_trace_writer_phase(
        writer, &(struct pim_trace_phase){.name = "p \"q\" \\", .estimate_parts = {1, 0, UINT64_MAX, 4, 5}});
    EXPECT_OK(
        pim_trace_writer_append(writer, 0, &(struct pim_instruction){.opcode = PIM_OP_PHASE_BEGIN}, &error));
    for (unsigned i = 0; i < sizeof every_field / sizeof every_field[0]; i++)
        EXPECT_OK(pim_trace_writer_append(writer, 0, &every_field[i], &error));
    EXPECT_OK(
        pim_trace_writer_append(writer, 0, &(struct pim_instruction){.opcode = PIM_OP_PHASE_END}, &error));
    EXPECT_OK(pim_trace_writer_finish(writer, &error));
    char *text = dump("first", PIM_ALL_UNITS);
    EXPECT_OK(assemble(text, "second", &error));
    expect_same_files("first", "second");
    free(text);
}
END_TEST

START_TEST(one_unit_alone)
{
    struct pim_error error = {PIM_OK, ""};
    EXPECT_OK(assemble(small_text, "first", &error));
    char *text = dump("first", 1);
    ck_assert_ptr_null(strstr(text, ".unit 0"));
    ck_assert_ptr_nonnull(strstr(text, ".unit 1"));
    EXPECT_OK(assemble(text, "second", &error));
    free(text);
    struct pim_trace *trace = trace_of(small_text);
    EXPECT(pim_trace_disassemble(trace, 3, stdout, &error), PIM_BAD_INPUT);
    EXPECT_TEXT("there is no unit 3");
    pim_trace_close(trace);
}
END_TEST

/* What is before `|` in a line is where the column of the error begins. */
static const char *const misspelt[][2] = {
    {"|laod input address=0 bytes=1", "there is no instruction 'laod': the nearest is 'load'"},
    {"load |wieght address=0 bytes=1", "there is no buffer 'wieght': the nearest is 'weight'"},
    {"vector |sofmax rows=1 elements=1", "the nearest is 'softmax'"},
    {"bit_serial |addd bits=1 rows=1", "the nearest is 'add'"},
    {"load |address=0 bytes=1", "there is no buffer 'address'"},
    {"send |gahter peer=1 bytes=1", "the nearest is 'gather'"},
    {"send gather |gather peer=1 bytes=1", "there is no operand 'gather'"},
    {"receive |pere=1 bytes=1", "there is no operand 'pere': the nearest is 'peer'"},
    {"load |7 address=0", "where a buffer was expected"},
    {"load input |adress=0 bytes=1", "there is no operand 'adress': the nearest is 'address'"},
    {"matrix m=1 n=1 k=1 |open_outptu", "the nearest is 'open_output'"},
    {"|load input address=0", "load needs bytes="},
    {"load input address=|bytes", "found 'bytes', where a number was expected"},
    {"load input address |0", "where '=' was expected"},
    {"load input address=0 bytes=|4294967296", "out of range: allowed are 0 to 4294967295"},
    {"load input address=0 bytes=|-1", "-1 is out of range"},
    {"load input address=|18446744073709551616 bytes=1", "does not fit 64 bits"},
    {"load input address=|0x bytes=1", "not a number"},
    {"load input address=|12ab bytes=1", "not a number"},
    {"load input address=0 bytes=1 step=|-2147483649", "allowed are -2147483648 to 2147483647"},
    {"load input address=0 bytes=1 step=|2147483648", "allowed are -2147483648 to 2147483647"},
    {"load input address=0 bytes=1 |bytes=2", "'bytes' stands twice"},
    {"matrix m=1 n=1 k=1 accumulate |accumulate", "'accumulate' stands twice"},
    {"load input address=0 bytes=1 after=|4096", "allowed are 0 to 4095"},
    {"load input address=0 bytes=1 after=1,1,1,|1", "more than 3 dependencies"},
    {"load input address=0 bytes=1 after=1,|", "the end of the line, where a number"},
    {"matrix m=1 n=1 k=1 input_bits=|256", "allowed are 0 to 255"},
    {"|matrix m=1 n=1 k=1 input_bits=65", "input_bits is 65"},
    {"|send peer=4 bytes=1", "peer is 4"},
    {"join |1", "where the end of the line was expected"},
    {"phase_end |x", "where a number was expected"},
    {"repeat |0 {", "a block is repeated 1 to 4294967295 times"},
    {"repeat 2 |", "where '{' was expected"},
    {"|}", "'}' closes nothing"},
    {"repeat 2 {\n|}", "the repeat block is empty"},
    {"|@", "the byte 0x40 begins nothing"},
    {"|\"text\"", "found a string, where a directive or an instruction was expected"},
    {"|.untis 3", "there is no directive '.untis': the nearest is '.unit'"},
    {".unit |4", "4 is out of range: allowed are 0 to 3"},
    {".phase |3 \"x\"", "phases count up from 0: this one is 1"},
    {".phase 1 |\"\"", "name has 0 bytes"},
    {".phase 1 \"x\" |cycels=1", "the nearest is 'cycles'"},
    {".phase 1 |\"x", "no closing quote"},
    {".phase 1 \"x|\\y\"", "unknown escape"},
    {".phase 1 \"x|\\x0g\"", "unknown escape"},
    {".phase 1 \"x|\\x00\"", "unknown escape"},
    {".array_group |cloumns=1", "there is no field 'cloumns': the nearest is 'columns'"},
    {".array_group rows=1 |rows=1", "'rows' stands twice"},
    {".array_group rows=|4294967296", "out of range"},
    {"|.array_group rows=1", "unit 0 array group 0: arrays is 1, rows 1, columns 0"},
    {"local_vector |negate elements=1", "there is no operation 'negate'"},
    {"|local_vector add elements=1 destination=0", "local_vector needs source="},
    {"|local_copy destination=0 source=0 bytes=2 count=2", "destination stride is 0"},
    {"|local_load address=0 local=0xffffffff bytes=1", "destination ends at 4294967296"},
    {"|.family \"late\"", "the description ends"},
    {"|.counts macs=1", "the description ends"},
    {"|.serve task=1 start=0 end=1", "must follow a '.router'"},
    {".router |1048576", "out of range"},
    {".router 1\n|.serve task=1 start=2 end=256", "ports are 0 to"},
};

START_TEST(errors_have_line_and_column)
{
    static const char head[] =
        ".version 1\n.family \"t\"\n.array width=2 height=2\n.phase 0 \"a\"\n.unit 0\nphase_begin 0\n";
    for (unsigned i = 0; i < sizeof misspelt / sizeof misspelt[0]; i++) {
        struct pim_error error = {PIM_OK, ""};
        char text[1024], place[64];
        const char *bar = strchr(misspelt[i][0], '|'), *line = bar;
        unsigned number = 7;
        while (line > misspelt[i][0] && line[-1] != '\n')
            line--;
        for (const char *c = misspelt[i][0]; c < line; c++)
            number += *c == '\n';
        (void)snprintf(text, sizeof text, "%s%.*s%s\n", head, (int)(bar - misspelt[i][0]), misspelt[i][0],
                       bar + 1);
        (void)snprintf(place, sizeof place, "test.s:%u:%d: ", number, (int)(bar - line) + 1);
        EXPECT(assemble(text, "wrong", &error), PIM_BAD_INPUT);
        ck_assert_msg(strncmp(error.text, place, strlen(place)) == 0, "'%s' does not begin with '%s'",
                      error.text, place);
        EXPECT_TEXT(misspelt[i][1]);
    }
}
END_TEST

START_TEST(incomplete_texts_are_refused)
{
    static const char *const wrong[][2] = {
        {"", "'.version 1' must stand before"},
        {".version 2\n", "this assembler knows version 1"},
        {".version 1\n.family \"t\"\n", "'.array width=… height=…' must stand before"},
        {".version 1\n.family \"t\"\n.array width=2\n", "width and height must be given"},
        {".version 1\n.array width=2 height=1\n", "family has 0 bytes"},
        {".version 1\n.family \"t\"\n.array width=2 height=1 units=3\n", "units is 3"},
        {".version 1\n.family \"t\"\n.array width=2 height=1\n.phase 0 \"p\"\njoin\n",
         "'.unit' must stand before the first instruction"},
        {".version 1\n.family \"t\"\n.array width=2 height=1\n.array_group rows=1 columns=1\n",
         "'.unit' must stand before '.array_group'"},
        {".version 1\n.family \"t\"\n.array width=2 height=1\n.phase 0 \"p\"\n.unit 0\nphase_begin 0\nrepeat "
         "2 {\njoin\n",
         "inside a repeat block that line 7 opened"},
        {".version 1\n.family \"t\"\n.array width=2 height=1\n.phase 0 \"p\"\n.unit 0\nphase_begin 0\nrepeat "
         "2 {\n.unit 1\n",
         "a repeat block of unit 0 is still open"},
    };
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct pim_error error = {PIM_OK, ""};
        EXPECT(assemble(wrong[i][0], "wrong", &error), PIM_BAD_INPUT);
        EXPECT_TEXT(wrong[i][1]);
    }
}
END_TEST

/* A block may have PIM_REPEAT_LENGTH instructions, and not one more; a line PIM_LINE_LENGTH bytes. */
START_TEST(greatest_sizes)
{
    struct pim_error error = {PIM_OK, ""};
    static const char head[] =
        ".version 1\n.family \"t\"\n.array width=1 height=1\n.phase 0 \"p\"\n.unit 0\nphase_begin 0\n";
    char *text = malloc(60000);
    for (int length = PIM_REPEAT_LENGTH; length <= PIM_REPEAT_LENGTH + 1; length++) {
        strcpy(text, head);
        strcat(text, "repeat 2 {\n");
        size_t used = strlen(text);
        for (int i = 0; i < length; i++, used += 5)
            strcpy(text + used, "join\n");
        strcpy(text + used, "}\nphase_end 0\n");
        EXPECT(assemble(text, "block", &error), length == PIM_REPEAT_LENGTH ? PIM_OK : PIM_BAD_INPUT);
    }
    EXPECT_TEXT("more than 1023 instructions");
    size_t used = strlen(head);
    strcpy(text, head);
    memset(text + used, ' ', 20000);
    strcpy(text + used + 20000, "join\n");
    EXPECT(assemble(text, "line", &error), PIM_BAD_INPUT);
    EXPECT_TEXT("longer than 16384 bytes");
    free(text);
}
END_TEST

Suite *text_suite(void)
{
    Suite *suite = suite_create("text");
    TCase *tests = tcase_create("text");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, text_round_trips);
    tcase_add_test(tests, every_field_round_trips);
    tcase_add_test(tests, one_unit_alone);
    tcase_add_test(tests, errors_have_line_and_column);
    tcase_add_test(tests, incomplete_texts_are_refused);
    tcase_add_test(tests, greatest_sizes);
    suite_add_tcase(suite, tests);
    return suite;
}

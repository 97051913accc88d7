#include "sim/output/csv.h"
#include "sim/random.h"
#include "tests/unit/services/services.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const packet_header[] = {"id", "flits", "op"};

static FILE *stream_of(const void *bytes, size_t length)
{
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, length, file), length);
    rewind(file);
    return file;
}

/* Reads the whole text; the rows in *rows, the first failure as status. */
static enum pim_status read_packets(const char *text, size_t length, unsigned *rows, struct pim_error *error)
{
    struct pim_csv_reader *reader;
    FILE *stream = stream_of(text, length);
    *rows = 0;
    enum pim_status status = pim_csv_open_stream(&reader, stream, "packets.csv", packet_header, 3, error);
    bool more = true;
    while (status == PIM_OK) {
        uint64_t flits;
        status = pim_csv_next(reader, &more, error);
        if (status != PIM_OK || !more)
            break;
        status = pim_csv_count(reader, 1, 1, 64, &flits, error);
        *rows += status == PIM_OK;
    }
    pim_csv_close(reader);
    ck_assert_int_eq(fclose(stream), 0);
    return status;
}

START_TEST(writer_quotes)
{
    static const char *const header[] = {"plain", "with, comma"};
    struct pim_csv_writer writer;
    FILE *file = tmpfile();
    pim_csv_start(&writer, file, header, 2);
    pim_csv_put_text(&writer, "say \"hello\"");
    pim_csv_put_text(&writer, "two\nlines");
    pim_csv_end_row(&writer);
    pim_csv_put_count(&writer, UINT64_MAX);
    pim_csv_put_integer(&writer, INT64_MIN);
    pim_csv_end_row(&writer);
    pim_csv_put_real(&writer, 1.0 / 3);
    pim_csv_put_real(&writer, (double)NAN);
    pim_csv_end_row(&writer);
    char *text = stream_text(file);
    ck_assert_str_eq(text, "plain,\"with, comma\"\n"
                           "\"say \"\"hello\"\"\",\"two\nlines\"\n"
                           "18446744073709551615,-9223372036854775808\n"
                           "0.33333333333333331,\n");
    free(text);
}
END_TEST

/* What the writer writes, the reader reads: random fields of the characters that matter. */
START_TEST(round_trip)
{
    enum { ROWS = 300, COLUMNS = 4 };
    static const char alphabet[] = "ab,\" ';0\t\xc3\xa9";
    static const char *const header[COLUMNS] = {"a", "\"b\"", "c,c", ""};
    static char fields[ROWS][COLUMNS][12];
    struct pim_error error = {0};
    struct pim_random random;
    struct pim_csv_writer writer;
    pim_random_initialize(&random, 11); /* the seed */
    FILE *file = tmpfile();
    pim_csv_start(&writer, file, header, COLUMNS);
    for (unsigned i = 0; i < ROWS * COLUMNS; i++) {
        char *field = fields[i / COLUMNS][i % COLUMNS];
        size_t length = (size_t)pim_random_below(&random, 12);
        for (size_t j = 0; j < length; j++)
            field[j] = alphabet[pim_random_below(&random, sizeof alphabet - 1)];
        pim_csv_put_text(&writer, field);
        if (i % COLUMNS == COLUMNS - 1)
            pim_csv_end_row(&writer);
    }
    rewind(file);
    struct pim_csv_reader *reader;
    ck_assert_int_eq(pim_csv_open_stream(&reader, file, "round trip", header, COLUMNS, &error), PIM_OK);
    bool more;
    for (unsigned i = 0; i < ROWS; i++) {
        ck_assert_msg(pim_csv_next(reader, &more, &error) == PIM_OK && more, "row %u: %s", i, error.text);
        ck_assert_uint_eq(pim_csv_line(reader), i + 2);
        for (unsigned j = 0; j < COLUMNS; j++)
            ck_assert_str_eq(pim_csv_text(reader, j), fields[i][j]);
    }
    ck_assert_int_eq(pim_csv_next(reader, &more, &error), PIM_OK);
    ck_assert(!more);
    pim_csv_close(reader);
    ck_assert_int_eq(fclose(file), 0);
}
END_TEST

/* A single column: an empty field is not an empty line. */
START_TEST(single_column)
{
    static const char *const header[] = {"only"};
    struct pim_error error = {0};
    struct pim_csv_writer writer;
    struct pim_csv_reader *reader;
    FILE *file = tmpfile();
    pim_csv_start(&writer, file, header, 1);
    for (int i = 0; i < 3; i++) {
        pim_csv_put_text(&writer, i == 1 ? "x" : "");
        pim_csv_end_row(&writer);
    }
    rewind(file);
    ck_assert_int_eq(pim_csv_open_stream(&reader, file, "single", header, 1, &error), PIM_OK);
    for (int i = 0; i < 4; i++) {
        bool more;
        ck_assert_msg(pim_csv_next(reader, &more, &error) == PIM_OK, "%s", error.text);
        ck_assert_int_eq(more, i < 3);
        if (more)
            ck_assert_str_eq(pim_csv_text(reader, 0), i == 1 ? "x" : "");
    }
    pim_csv_close(reader);
    ck_assert_int_eq(fclose(file), 0);
}
END_TEST

static const struct {
    const char *text;
    unsigned rows;
} accepted[] = {
    {"id,flits,op\n", 0},
    {"id,flits,op", 0},
    {"id,flits,op\r\n1,5,R\r\n2,6,W\r\n", 2},
    {"id,flits,op\n1,5,R\n2,6,W", 2},
    {"\xef\xbb\xbfid,flits,op\n1,5,R\n", 1},
    {"id,flits,op\n1,5,R\n\n\r\n\n", 1},
    {"\"id\",\"flits\",op\n1,\"5\",\n,64,\n", 2},
    {"id,flits,op\n1,0x40,R\n", 1},
    {"id,flits,op\n1,007,\"a,b\"\n", 1},
};

START_TEST(files_are_accepted)
{
    struct pim_error error = {0};
    unsigned rows;
    enum pim_status status = read_packets(accepted[_i].text, strlen(accepted[_i].text), &rows, &error);
    ck_assert_msg(status == PIM_OK, "%s", error.text);
    ck_assert_uint_eq(rows, accepted[_i].rows);
}
END_TEST

static const struct {
    const char *text;
    size_t length; /* 0: of the text */
    const char *message;
} refused[] = {
    {"", 0, "packets.csv:1: is empty: a header"},
    {"\nid,flits,op\n", 0, "packets.csv:1: is empty: a header"},
    {"id,flits\n", 0, "packets.csv:1: has 2 columns, not 3: the header must be id,flits,op"},
    {"id,size,op\n", 0,
     "packets.csv:1: column 2 is named 'size', not 'flits': the header must be id,flits,op"},
    {"id,flits,op,x\n", 0, "packets.csv:1: has 4 columns, not 3"},
    {"id,id,op\n", 0, "packets.csv:1: columns 1 and 2 have the same name 'id'"},
    {"0,0,R\n", 0, "'0': the first line is a header with the names of the columns"},
    {"id,flits,op\n1,5,R\n1,5\n", 0, "packets.csv:3: has 2 fields, but the header has 3"},
    {"id,flits,op\n1,5,R,\n", 0, "packets.csv:2: has 4 fields"},
    {"id,flits,op\n1,5,R\n\n1,5,R\n", 0, "packets.csv:3: is empty, and rows follow"},
    {"id,flits,op\n1,0,R\n", 0, "packets.csv:2: column 2 (flits) is '0': allowed are integers from 1 to 64"},
    {"id,flits,op\n1,65,R\n", 0, "column 2 (flits) is '65'"},
    {"id,flits,op\n1,-1,R\n", 0, "column 2 (flits) is '-1'"},
    {"id,flits,op\n1, 5,R\n", 0, "column 2 (flits) is ' 5'"},
    {"id,flits,op\n1,5x,R\n", 0, "column 2 (flits) is '5x'"},
    {"id,flits,op\n1,+5,R\n", 0, "column 2 (flits) is '+5'"},
    {"id,flits,op\n1,0x,R\n", 0, "column 2 (flits) is '0x'"},
    {"id,flits,op\n1,,R\n", 0, "column 2 (flits) is ''"},
    {"id,flits,op\n1,1e1,R\n", 0, "column 2 (flits) is '1e1'"},
    {"id,flits,op\n1,18446744073709551617,R\n", 0, "column 2 (flits) is '18446744073709551617'"},
    {"id,flits,op\n1,0x10000000000000001,R\n", 0, "column 2 (flits) is '0x10000000000000001'"},
    {"id,flits,op\n1,\x1b[31m\xff,R\n", 0, "column 2 (flits) is '?[31m?'"},
    {"id,flits,op\n1,\"5,R\n", 0, "packets.csv:2: a quote is opened and not closed"},
    {"id,flits,op\n1,\"5\"x,R\n", 0, "packets.csv:2: text follows a closing quote"},
    {"id,flits,op\n1,5\"6,R\n", 0, "packets.csv:2: a quote stands inside"},
    {"id,flits,op\n1,5,R\rS\n", 0, "packets.csv:2: contains a carriage return"},
    {"id,flits,op\n1,5,R\n1,\0,R\n", 25, "packets.csv:3: contains a zero byte"},
    {"\0", 1, "packets.csv:1: contains a zero byte"},
    {"id,flits,op\n1,5,R\n\0", 19, "packets.csv:3: contains a zero byte"},
};

START_TEST(files_are_refused)
{
    struct pim_error error = {0};
    unsigned rows;
    size_t length = refused[_i].length ? refused[_i].length : strlen(refused[_i].text);
    expect_failure(read_packets(refused[_i].text, length, &rows, &error), PIM_BAD_INPUT, &error,
                   refused[_i].message);
}
END_TEST

/* A line of exactly the limit is taken, with either end; one byte more is not. */
START_TEST(line_length)
{
    struct pim_error error = {0};
    char *text = malloc(2 * PIM_CSV_LINE_BYTES);
    ck_assert_ptr_nonnull(text);
    for (int extra = 0; extra <= 1; extra++) {
        for (int carriage = 0; carriage <= 1; carriage++) {
            unsigned rows;
            size_t length = (size_t)snprintf(text, 100, "id,flits,op\n1,5,");
            size_t filler = PIM_CSV_LINE_BYTES - 4 + (size_t)extra;
            memset(text + length, 'x', filler);
            length += filler;
            memcpy(text + length, carriage ? "\r\n" : "\n", 2);
            length += 1 + (size_t)carriage;
            enum pim_status status = read_packets(text, length, &rows, &error);
            if (extra)
                expect_failure(status, PIM_BAD_INPUT, &error, "packets.csv:2: is longer than 65536 bytes");
            else
                ck_assert_msg(status == PIM_OK && rows == 1, "%s", error.text);
        }
    }
    /* The carriage return that may follow the limit must be the end of the line. */
    unsigned rows;
    memset(text, 'x', PIM_CSV_LINE_BYTES);
    memcpy(text + PIM_CSV_LINE_BYTES, "\ry\n", 3);
    enum pim_status status = read_packets(text, PIM_CSV_LINE_BYTES + 3, &rows, &error);
    expect_failure(status, PIM_BAD_INPUT, &error, "packets.csv:1: is longer than 65536 bytes");
    /* More columns than can be. */
    memset(text, ',', 300);
    memcpy(text + 300, "\n", 2);
    expect_failure(read_packets(text, 301, &rows, &error), PIM_BAD_INPUT, &error,
                   "packets.csv:1: has more than 256 fields");
    free(text);
}
END_TEST

START_TEST(columns_by_name_and_signs)
{
    struct pim_error error = {0};
    struct pim_csv_reader *reader;
    struct scratch scratch;
    char path[512];
    scratch_make(&scratch);
    static const char text[] =
        "cycle,delta\n18446744073709551615,-9223372036854775808\n0,9223372036854775807\n1,-0\n"
        "2,-9223372036854775809\n3,--1\n";
    write_file(scratch_path(&scratch, "signs.csv", path), text, sizeof text - 1);
    ck_assert_int_eq(pim_csv_open(&reader, path, NULL, 0, &error), PIM_OK);
    ck_assert_uint_eq(pim_csv_columns(reader), 2);
    size_t cycle, delta, none;
    ck_assert_int_eq(pim_csv_column(reader, "delta", &delta, &error), PIM_OK);
    ck_assert_int_eq(pim_csv_column(reader, "cycle", &cycle, &error), PIM_OK);
    expect_failure(pim_csv_column(reader, "row", &none, &error), PIM_BAD_INPUT, &error,
                   "signs.csv:1: has no column 'row': there are cycle, delta");
    static const int64_t deltas[] = {INT64_MIN, INT64_MAX, 0};
    bool more;
    uint64_t count;
    int64_t integer;
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(pim_csv_next(reader, &more, &error), PIM_OK);
        ck_assert_int_eq(pim_csv_integer(reader, delta, INT64_MIN, INT64_MAX, &integer, &error), PIM_OK);
        ck_assert_int_eq(integer, deltas[i]);
        ck_assert_int_eq(pim_csv_count(reader, cycle, 0, UINT64_MAX, &count, &error), PIM_OK);
        if (i == 0)
            ck_assert_uint_eq(count, UINT64_MAX);
    }
    expect_failure(pim_csv_integer(reader, delta, 1, 5, &integer, &error), PIM_BAD_INPUT, &error,
                   "signs.csv:4: column 2 (delta) is '-0': allowed are integers from 1 to 5");
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(pim_csv_next(reader, &more, &error), PIM_OK);
        expect_failure(pim_csv_integer(reader, delta, INT64_MIN, INT64_MAX, &integer, &error), PIM_BAD_INPUT,
                       &error, "(delta)");
    }
    expect_failure(pim_csv_refuse(reader, delta, "allowed are R and W", &error), PIM_BAD_INPUT, &error,
                   "signs.csv:6: column 2 (delta) is '--1': allowed are R and W");
    pim_csv_close(reader);
    expect_failure(pim_csv_open(&reader, scratch.folder, NULL, 0, &error), PIM_IO, &error, "directory");
    expect_failure(pim_csv_open(&reader, "/nonexistent/a.csv", NULL, 0, &error), PIM_IO, &error,
                   "No such file");
    ck_assert_ptr_null(reader);
    scratch_remove(&scratch);
}
END_TEST

Suite *csv_suite(void)
{
    Suite *suite = suite_create("csv");
    TCase *csv = tcase_create("csv");
    tcase_add_test(csv, writer_quotes);
    tcase_add_test(csv, round_trip);
    tcase_add_test(csv, single_column);
    tcase_add_loop_test(csv, files_are_accepted, 0, sizeof accepted / sizeof accepted[0]);
    tcase_add_loop_test(csv, files_are_refused, 0, sizeof refused / sizeof refused[0]);
    tcase_add_test(csv, line_length);
    tcase_add_test(csv, columns_by_name_and_signs);
    suite_add_tcase(suite, csv);
    return suite;
}

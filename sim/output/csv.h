/*
 * Comma-separated values as in RFC 4180: a header row with the names of the columns, then rows of as many
 * fields.
 *
 * The writer quotes where a reader would need it. The reader is strict, because its files come from outside.
 * Invariants it enforces:
 *  1. Every row has as many fields as the header.
 *  2. No zero bytes; no line longer than PIM_CSV_LINE_BYTES; quotes are closed on the same line; nothing
 *     follows a closing quote but a comma or the end of the line. Empty lines are refused, except at the end
 *     of the file.
 *  3. Lines end with LF or CRLF (the last may have none). A UTF-8 byte order mark in front of the header is
 *     skipped.
 * Messages carry file and line: "packets.csv:17: column 3 (flits) is '0': allowed are integers from 1 to 99".
 */
#ifndef PIMSIM_SIM_OUTPUT_CSV_H
#define PIMSIM_SIM_OUTPUT_CSV_H

#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { PIM_CSV_LINE_BYTES = 65536, PIM_CSV_COLUMNS = 256 };

/* --- writer: whether the writes arrived is the business of the owner of `file` (sim/output/output.h) --- */

struct pim_csv_writer {
    FILE *file;
    size_t columns;
    size_t column; /* next field of the row that is open */
};

/* Writes the header. `file` must outlive the writer, which owns nothing. */
void pim_csv_start(struct pim_csv_writer *writer, FILE *file, const char *const *header, size_t columns);

/* The next field of the row. Reals have 17 significant digits and a point in every locale; NaN (not modelled)
 * is an empty field. */
void pim_csv_put_text(struct pim_csv_writer *writer, const char *text);
void pim_csv_put_count(struct pim_csv_writer *writer, uint64_t value);
void pim_csv_put_integer(struct pim_csv_writer *writer, int64_t value);
void pim_csv_put_real(struct pim_csv_writer *writer, double value);

/* Ends the row, which must be full. */
void pim_csv_end_row(struct pim_csv_writer *writer);

/* --- reader --- */

struct pim_csv_reader;

/*
 * Opens `path` ("-" is standard input) and reads the header. With `columns` > 0 the header must be exactly
 * these names in this order; with 0 any header without doubled names is taken, and columns are found by name.
 * `*reader` is NULL after a failure.
 */
enum pim_status pim_csv_open(struct pim_csv_reader **reader, const char *path, const char *const *header,
                             size_t columns, struct pim_error *error);

/* The same on an open stream, which stays the caller's; `name` is for messages. */
enum pim_status pim_csv_open_stream(struct pim_csv_reader **reader, FILE *stream, const char *name,
                                    const char *const *header, size_t columns, struct pim_error *error);

void pim_csv_close(struct pim_csv_reader *reader);

/* The column with a name; PIM_BAD_INPUT names the columns that are there. */
enum pim_status pim_csv_column(const struct pim_csv_reader *reader, const char *name, size_t *column,
                               struct pim_error *error);

size_t pim_csv_columns(const struct pim_csv_reader *reader);

/* Reads the next row; `*more` is false at the end of the file. */
enum pim_status pim_csv_next(struct pim_csv_reader *reader, bool *more, struct pim_error *error);

/* Line of the present row, from 1 (the header is line 1). */
uint64_t pim_csv_line(const struct pim_csv_reader *reader);

/* A field of the present row, unquoted; valid until the next pim_csv_next. */
const char *pim_csv_text(const struct pim_csv_reader *reader, size_t column);

/* A field as an integer, decimal or 0x hexadecimal, without blanks or a plus sign, from `minimum` to
 * `maximum`. */
enum pim_status pim_csv_count(const struct pim_csv_reader *reader, size_t column, uint64_t minimum,
                              uint64_t maximum, uint64_t *value, struct pim_error *error);
enum pim_status pim_csv_integer(const struct pim_csv_reader *reader, size_t column, int64_t minimum,
                                int64_t maximum, int64_t *value, struct pim_error *error);

/* Fails with PIM_BAD_INPUT, file, line, column and field in front of what the caller says is right ("allowed
 * are R and W"). */
enum pim_status pim_csv_refuse(const struct pim_csv_reader *reader, size_t column, const char *allowed,
                               struct pim_error *error);

#endif

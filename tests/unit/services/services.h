/*
 * What the suites of the services share: a scratch folder of their own and whole files as text.
 */
#ifndef PIMSIM_TESTS_UNIT_SERVICES_SERVICES_H
#define PIMSIM_TESTS_UNIT_SERVICES_SERVICES_H

#include "tests/unit/test_main.h"

#include "sim/status.h"

#include <stdbool.h>
#include <stdio.h>

struct scratch {
    char folder[256];
};

/* A new empty folder; scratch_remove deletes it with the files in it. */
void scratch_make(struct scratch *scratch);
void scratch_remove(const struct scratch *scratch);

/* Path of a file in the folder. */
const char *scratch_path(const struct scratch *scratch, const char *name, char buffer[512]);

/* Number of files in the folder, hidden ones included. */
int scratch_count(const struct scratch *scratch);

void write_file(const char *path, const void *bytes, size_t length);

/* The whole file with a zero behind it, to be freed; *length may be NULL. */
char *read_file(const char *path, size_t *length);

/* All that was written to a stream from tmpfile(), which is closed; to be freed. */
char *stream_text(FILE *stream);

/* The status was returned with a message that contains `part`. */
void expect_failure(enum pim_status status, enum pim_status expected, const struct pim_error *error,
                    const char *part);

Suite *arena_suite(void);
Suite *random_suite(void);
Suite *histogram_suite(void);
Suite *json_suite(void);
Suite *csv_suite(void);
Suite *output_suite(void);
Suite *progress_suite(void);
Suite *timeline_suite(void);

#endif

/* Sweeps for tests. Every helper fails the test with the message when a step fails. */
#ifndef PIMSIM_TESTS_UNIT_SWEEP_SUPPORT_H
#define PIMSIM_TESTS_UNIT_SWEEP_SUPPORT_H

#include "tools/sweep/store/store.h"
#include "tools/sweep/sweep.h"

#include <check.h>

/* Adds the axis `name` with the values of a comma-separated text. */
void vary(struct pim_sweep *sweep, const char *name, const char *values);
/* Adds an axis of two keys that vary together. */
void vary_together(struct pim_sweep *sweep, const char *one, const char *values, const char *two,
                   const char *others);
void prepare(struct pim_sweep *sweep);

/* Runs all points that are missing in `path` with so many threads; returns how many ran. */
uint64_t run_missing(struct pim_sweep *sweep, const char *path, enum pim_store_mode mode, unsigned threads);

/* The export of the results in `path`; the caller frees it. */
char *exported(const char *path, enum pim_store_format format);

/* The content of a file; the caller frees it. */
char *content(const char *path, size_t *size);

/* Fails the test unless `error` has this status and its text holds `part`. */
void expect_error(const struct pim_error *error, enum pim_status status, const char *part);

#endif

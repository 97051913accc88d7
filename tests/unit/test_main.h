/*
 * Every test program defines pimsim_suites(); main() in test_main.c runs them (one when CK_RUN_SUITE names
 * it) and fails when no check ran, because a misspelt suite would otherwise pass.
 */
#ifndef PIMSIM_TESTS_TEST_MAIN_H
#define PIMSIM_TESTS_TEST_MAIN_H

#include <check.h>

/* Adds all suites of this program to the runner. */
void pimsim_suites(SRunner *runner);

/*
 * Path below the source folder ("tests/data/..."): from PIMSIM_SOURCE_DIR, else the working directory. Static
 * storage per call site is the caller's: the text is written to `buffer`.
 */
const char *pimsim_source_path(char *buffer, size_t size, const char *relative);

/*
 * How many of the `count` cases of a loop are tried: under a sanitizer, which takes five to twenty times as
 * long, the first fourth. What they compute does not differ; which code they touch hardly does.
 */
#ifdef PIMSIM_SANITIZED
#define PIM_CASES(count) ((int)(((count) + 3) / 4))
#else
#define PIM_CASES(count) ((int)(count))
#endif

#endif

/*
 * Every test program defines pimsim_suites(); main() in test_main.c runs them (one when CK_RUN_SUITE names
 * it) and fails when no check ran, because a misspelt suite would otherwise pass.
 */
#ifndef PIMSIM_TESTS_UNIT_TEST_MAIN_H
#define PIMSIM_TESTS_UNIT_TEST_MAIN_H

#include <check.h>

/* Adds all suites of this program to the runner. */
void pimsim_suites(SRunner *runner);

/*
 * Path below the source folder ("tests/data/..."): from PIMSIM_SOURCE_DIR, else the working directory. Static
 * storage per call site is the caller's: the text is written to `buffer`.
 */
const char *pimsim_source_path(char *buffer, size_t size, const char *relative);

/*
 * How many of the `count` cases of a loop are tried, and which one try `i` is: all; under a sanitizer, which
 * takes five to twenty times as long, every fourth, now itself, now the next, so that pairs take turns.
 * Of cases that are drawn at random, each like all others, PIM_DRAWS() are tried: every eighth.
 */
#ifdef PIMSIM_SANITIZED
#define PIM_CASES(count) ((int)(((count) + 2) / 4))
#define PIM_DRAWS(count) ((int)(((count) + 4) / 8))
#define PIM_CASE(i) (4 * (i) + (i) % 2)
#else
#define PIM_CASES(count) ((int)(count))
#define PIM_DRAWS(count) ((int)(count))
#define PIM_CASE(i) (i)
#endif

#endif

#ifndef PIMSIM_TESTS_UNIT_SEARCH_SUITES_H
#define PIMSIM_TESTS_UNIT_SEARCH_SUITES_H

#include "tests/unit/test_main.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

Suite *search_points_suite(void);
Suite *search_exact_suite(void);
Suite *search_methods_suite(void);

/* A file of tests/data/search; never NULL. */
FILE *open_data(const char *name);
/* The next word and the next number of it; false at the end. The test fails where a number does not parse. */
bool next_word(FILE *file, char word[64]);
double next_real(FILE *file);
uint64_t next_count(FILE *file);

#endif

/* The suites of test_estimate. */
#ifndef PIMSIM_TESTS_UNIT_ESTIMATE_SUITES_H
#define PIMSIM_TESTS_UNIT_ESTIMATE_SUITES_H

#include <check.h>

Suite *estimate_memory_suite(void);
Suite *estimate_engines_suite(void);
Suite *estimate_ring_suite(void);
Suite *estimate_pace_suite(void);
Suite *estimate_tiling_suite(void);
Suite *estimate_programs_suite(void);

#endif

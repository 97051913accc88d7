/* The suites that prove numbers: test program test_pimcomp_functional. */
#ifndef PIMSIM_TESTS_UNIT_PIMCOMP_VALUES_FUNCTIONAL_H
#define PIMSIM_TESTS_UNIT_PIMCOMP_VALUES_FUNCTIONAL_H

#include <check.h>

Suite *evaluate_suite(void);
Suite *execute_suite(void);
Suite *functional_suite(void);
Suite *segments_suite(void);

#endif

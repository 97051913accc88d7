/* The suites of the banks that compute. */
#ifndef PIMSIM_TESTS_UNIT_BITSERIAL_SUITES_H
#define PIMSIM_TESTS_UNIT_BITSERIAL_SUITES_H

#include <check.h>

Suite *suite_bitserial_functional(void);
Suite *suite_bitserial_timing(void);
Suite *suite_bitserial_refusals(void);

#endif

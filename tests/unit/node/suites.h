/* The suites of this folder's test program. */
#ifndef PIMSIM_TESTS_UNIT_NODE_SUITES_H
#define PIMSIM_TESTS_UNIT_NODE_SUITES_H

#include <check.h>

Suite *timing_suite(void);
Suite *messages_suite(void);
Suite *accounts_suite(void);
Suite *refusals_suite(void);
Suite *property_suite(void);
Suite *reference_suite(void);
Suite *shared_memory_suite(void);

#endif

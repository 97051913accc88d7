/* The suites of this folder's test program. */
#ifndef PIMSIM_TESTS_UNIT_CORE_SUITES_H
#define PIMSIM_TESTS_UNIT_CORE_SUITES_H

#include <check.h>

Suite *core_timing_suite(void);
Suite *core_messages_suite(void);
Suite *core_refusals_suite(void);
Suite *core_property_suite(void);
Suite *core_micro_suite(void);
Suite *core_memory_suite(void);

#endif

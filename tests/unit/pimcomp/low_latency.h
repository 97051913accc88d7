/* The suites of the low-latency schedule: test program test_pimcomp_low_latency. */
#ifndef PIMSIM_TESTS_UNIT_PIMCOMP_LOW_LATENCY_H
#define PIMSIM_TESTS_UNIT_PIMCOMP_LOW_LATENCY_H

#include <check.h>

Suite *local_heap_suite(void);
Suite *low_latency_suite(void);

#endif

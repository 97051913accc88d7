/* The suite of the high-throughput schedule: test program test_pimcomp_high_throughput. */
#ifndef PIMSIM_TESTS_UNIT_PIMCOMP_HIGH_THROUGHPUT_H
#define PIMSIM_TESTS_UNIT_PIMCOMP_HIGH_THROUGHPUT_H

#include <check.h>

Suite *high_throughput_suite(void);

#endif

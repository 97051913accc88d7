#ifndef PIMSIM_TESTS_UNIT_DRAM_SUITES_H
#define PIMSIM_TESTS_UNIT_DRAM_SUITES_H

#include <check.h>

Suite *suite_golden(void);
Suite *suite_property(void);
Suite *suite_interleaved(void);

#endif

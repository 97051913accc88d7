#ifndef PIMSIM_TESTS_UNIT_PE_SUITES_H
#define PIMSIM_TESTS_UNIT_PE_SUITES_H

#include <check.h>

Suite *suite_pe_golden(void);
Suite *suite_pe_property(void);

#endif

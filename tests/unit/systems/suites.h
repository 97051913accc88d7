#ifndef PIMSIM_TESTS_UNIT_SYSTEMS_SUITES_H
#define PIMSIM_TESTS_UNIT_SYSTEMS_SUITES_H

#include <check.h>

Suite *list_suite(void);
Suite *terms_suite(void);
Suite *area_keys_suite(void);

#endif

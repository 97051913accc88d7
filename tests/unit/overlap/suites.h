#ifndef PIMSIM_TESTS_UNIT_OVERLAP_SUITES_H
#define PIMSIM_TESTS_UNIT_OVERLAP_SUITES_H

#include "tests/unit/test_main.h"

Suite *golden_suite(void);
Suite *property_suite(void);
Suite *nest_suite(void);
Suite *refusal_suite(void);
Suite *machine_suite(void);
Suite *search_suite(void);
Suite *near_suite(void);
Suite *values_suite(void);
Suite *replay_suite(void);
Suite *concat_suite(void);

#endif

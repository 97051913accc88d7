#ifndef PIMSIM_TESTS_UNIT_TRACES_SUITES_H
#define PIMSIM_TESTS_UNIT_TRACES_SUITES_H

#include <check.h>

Suite *file_suite(void);
Suite *damage_suite(void);
Suite *program_suite(void);
Suite *text_suite(void);
Suite *check_suite(void);
Suite *order_suite(void);
Suite *local_suite(void);
Suite *golden_suite(void);
Suite *page_suite(void);

#endif

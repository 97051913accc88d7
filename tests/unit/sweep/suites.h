#ifndef PIMSIM_TESTS_UNIT_SWEEP_SUITES_H
#define PIMSIM_TESTS_UNIT_SWEEP_SUITES_H

#include <check.h>

Suite *sweep_axis_suite(void);
Suite *sweep_best_suite(void);
Suite *sweep_expression_suite(void);
Suite *sweep_points_suite(void);
Suite *sweep_specification_suite(void);
Suite *sweep_store_suite(void);
Suite *sweep_task_suite(void);
Suite *sweep_workers_suite(void);

#endif

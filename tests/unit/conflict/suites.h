/* The suites of the task-graph replay. */
#ifndef PIMSIM_TESTS_UNIT_CONFLICT_SUITES_H
#define PIMSIM_TESTS_UNIT_CONFLICT_SUITES_H

#include <check.h>

Suite *conflict_instant_suite(void);
Suite *conflict_graph_suite(void);
Suite *conflict_golden_suite(void);
Suite *conflict_replay_suite(void);
Suite *conflict_table_suite(void);
Suite *conflict_property_suite(void);
Suite *conflict_marks_suite(void);

#endif

/* The suites of this folder's test program. */
#ifndef PIMSIM_TESTS_UNIT_CHANNEL_SUITES_H
#define PIMSIM_TESTS_UNIT_CHANNEL_SUITES_H

#include <check.h>

Suite *channel_timing_suite(void);
Suite *channel_commands_suite(void);
Suite *channel_property_suite(void);
Suite *channel_refusals_suite(void);
Suite *channel_values_suite(void);

#endif

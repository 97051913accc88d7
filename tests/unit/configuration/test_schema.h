/* A schema with every type of key, and helpers the suites share. */
#ifndef PIMSIM_TESTS_UNIT_CONFIGURATION_TEST_SCHEMA_H
#define PIMSIM_TESTS_UNIT_CONFIGURATION_TEST_SCHEMA_H

#include "sim/configuration/configuration.h"

#include <check.h>

extern const struct pim_schema test_schema;

struct pim_configuration *make_configuration(void);
void read_good(struct pim_configuration *configuration, const char *text);
Suite *values_suite(void);
Suite *refusals_suite(void);
Suite *include_suite(void);

#endif

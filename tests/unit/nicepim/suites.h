#ifndef PIMSIM_TESTS_UNIT_NICEPIM_SUITES_H
#define PIMSIM_TESTS_UNIT_NICEPIM_SUITES_H

#include "sim/output/json.h"
#include "tests/unit/test_main.h"

Suite *nicepim_cycles_suite(void);
Suite *nicepim_sat_suite(void);
Suite *nicepim_space_suite(void);
Suite *nicepim_place_suite(void);
Suite *nicepim_tokens_suite(void);
Suite *nicepim_exchange_suite(void);
Suite *nicepim_values_suite(void);

/* tests/data/nicepim/<name>; the caller releases it with json_decref. */
json_t *nicepim_golden(const char *name);
int64_t nicepim_integer(const json_t *from, const char *key);

#endif

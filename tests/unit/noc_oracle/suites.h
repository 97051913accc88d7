/* What the tests against the oracle share. */
#ifndef PIMSIM_TESTS_UNIT_NOC_ORACLE_SUITES_H
#define PIMSIM_TESTS_UNIT_NOC_ORACLE_SUITES_H

#include "models/noc/noc.h"

#include <check.h>

enum { EXCHANGES = 60 };

/* PIMSIM_ORACLE_FIRST and PIMSIM_ORACLE_CASES in the environment, or else what is usual. */
uint64_t oracle_seed(int index);
int oracle_cases(int usual);

void describe_network(const struct pim_noc_configuration *is, uint64_t seed, char *text, size_t size);

TCase *exchange_tests(void);

#endif

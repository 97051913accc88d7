#ifndef PIMSIM_TESTS_UNIT_LEARN_SUITES_H
#define PIMSIM_TESTS_UNIT_LEARN_SUITES_H

#include "mappers/learn/adam.h"
#include "sim/output/json.h"
#include "tests/unit/test_main.h"

Suite *learn_kernels_suite(void);
Suite *learn_layers_suite(void);
Suite *learn_gaussian_suite(void);
Suite *learn_trees_suite(void);

/* Rate, moments and epsilon of a case. */
struct pim_adam_options golden_adam(const json_t *adam);

#endif

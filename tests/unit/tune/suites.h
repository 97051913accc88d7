#ifndef PIMSIM_TESTS_UNIT_TUNE_SUITES_H
#define PIMSIM_TESTS_UNIT_TUNE_SUITES_H

#include "tests/unit/test_main.h"
#include "tools/tune/space.h"

Suite *best_suite(void);
Suite *goal_suite(void);
Suite *space_suite(void);
Suite *strategy_suite(void);
Suite *strategy_learning_suite(void);

/* The space of the paper, on the hardware file of that name in configs/hardware. */
void make_space(struct pim_tune_space *space, const char *hardware);

#endif

#ifndef PIMSIM_TESTS_UNIT_TILE_SUITES_H
#define PIMSIM_TESTS_UNIT_TILE_SUITES_H

#include <check.h>

Suite *tile_replay_suite(void);
Suite *tile_units_suite(void);

#endif

/* What the tests of the placement share. */
#ifndef PIMSIM_TESTS_UNIT_PLACEMENT_SUITES_H
#define PIMSIM_TESTS_UNIT_PLACEMENT_SUITES_H

#include "mappers/allspark/placement/placement.h"
#include "mappers/network/descriptor/descriptor.h"
#include "tests/unit/test_main.h"

/* A descriptor of configs/networks, with the given side of the image; to be destroyed. */
struct pim_network *shipped(const char *name, uint32_t image);

/* 64 random bits from a state that the caller seeds: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
uint64_t next_random(uint64_t *state);

Suite *dependencies_suite(void);
Suite *binding_suite(void);
Suite *stage_suite(void);

#endif

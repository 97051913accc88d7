#ifndef PIMSIM_TESTS_UNIT_NOC_GENERAL_SUITES_H
#define PIMSIM_TESTS_UNIT_NOC_GENERAL_SUITES_H

#include "tests/unit/noc/lists.h"

#include "tests/unit/test_main.h"

Suite *equal_suite(void);      /* the general routers against the fast mesh and against BookSim's lists */
Suite *loads_suite(void);      /* the fast mesh against the general routers, under loads of any kind */
Suite *sets_suite(void);       /* the bit-set evaluation against the general routers */
Suite *match_suite(void);      /* allocators and arbiters on request matrices */
Suite *shapes_suite(void);     /* tori, concentration, express links, any configuration */
Suite *rules_suite(void);      /* speedup, classes, balance, adaptive choice, reports, what is refused */
Suite *topologies_suite(void); /* topologies that are no plain grid */
Suite *links_suite(void);      /* how long flits hold links, and what is reported of them */

#endif

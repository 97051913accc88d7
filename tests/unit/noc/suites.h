#ifndef PIMSIM_TESTS_UNIT_NOC_SUITES_H
#define PIMSIM_TESTS_UNIT_NOC_SUITES_H

#include "tests/unit/noc/lists.h"

#include "tests/unit/test_main.h"

Suite *golden_suite(void);     /* measured lists of BookSim 2 */
Suite *micro_suite(void);      /* small cases worked out cycle by cycle */
Suite *run_length_suite(void); /* sleeping routers against stepped ones */
Suite *crowd_suite(void);      /* worms as runs or by flit */
Suite *blocked_suite(void);    /* blocked cycles of links */
Suite *watchdog_suite(void);   /* stuck networks */
Suite *network_suite(void);    /* configuration, kernel adapter, callbacks, statistics, reports */
Suite *estimate_suite(void);   /* the ideal and the analytic fidelity */

#endif

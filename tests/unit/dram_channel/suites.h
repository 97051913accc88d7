#ifndef PIMSIM_TESTS_UNIT_DRAM_CHANNEL_SUITES_H
#define PIMSIM_TESTS_UNIT_DRAM_CHANNEL_SUITES_H

#include <check.h>

Suite *suite_channel_golden(void);
Suite *suite_channel_stepped(void);
Suite *suite_channel_stepped_long(void);
Suite *suite_channel_check(void);
Suite *suite_channel_stream(void);
Suite *suite_channel_tensor(void);
Suite *suite_channel_refusals(void);
Suite *suite_channel_policy(void);
Suite *suite_channel_run(void);
Suite *suite_channel_energy(void);
Suite *suite_channel_idle(void);
Suite *suite_channel_refresh(void);

#endif

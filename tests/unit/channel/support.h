/*
 * Programs replayed on a few channels: configs/hardware/fast-overlapim-hbm2.cfg, or RERAM, with the array
 * (channels of a stack, stacks) and the settings of the test. A tick is a cycle of every clock.
 */
#ifndef PIMSIM_TESTS_UNIT_CHANNEL_SUPPORT_H
#define PIMSIM_TESTS_UNIT_CHANNEL_SUPPORT_H

#include "tests/unit/replay/replay.h"

#include <string.h>

#define RERAM "configs/hardware/fast-overlapim-reram.cfg"

#endif

/*
 * Programs replayed on a few cores. The hardware is that of the schema's defaults with the settings of `base`
 * (support.c) and of the test; a tick is a cycle of every clock. With `base`:
 *
 *   local memory   16 bytes a beat, not pipelined, 2 cycles to read and 3 to write a beat
 *   crossbars      F = 4, B = 3, T = 2, not pipelined: an MVM takes 14 cycles; 8 arrays of 4 x 4 weights
 *   vector units   8 elements a cycle, latency 4, pipelined
 *   global memory  16 bytes a beat, pipelined, 10 cycles to read and 5 to write
 */
#ifndef PIMSIM_TESTS_UNIT_CORE_SUPPORT_H
#define PIMSIM_TESTS_UNIT_CORE_SUPPORT_H

#include "tests/unit/replay/replay.h"

#endif

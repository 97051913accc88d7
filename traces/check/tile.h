/*
 * Checks a trace of tiles: that edges have two ends which say the same, that takes name inputs and packets
 * that there are, and that all programs end when packets need no time. Buffers alone can hold tiles up;
 * what order packets have in a network changes nothing about that, so that it is proved for every network
 * that delivers what it has begun to carry.
 */
#ifndef PIMSIM_TRACES_CHECK_TILE_H
#define PIMSIM_TRACES_CHECK_TILE_H

#include "traces/check/limits.h"

/* PIM_BAD_INPUT with unit and edge, PIM_DEADLOCK with who waits for what. `result` counts; limits are
 * tile_input_bits and tile_output_bits. */
enum pim_status pim_check_tile(const struct pim_trace *trace, const struct pim_check_limits *limits,
                               struct pim_check_result *result, struct pim_error *error);

#endif

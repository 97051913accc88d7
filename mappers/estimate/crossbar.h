/*
 * Closed form of a matrix-vector product in crossbar arrays: the cycles that models/crossbar takes, from the
 * parts of an array and its converters (docs/models/crossbar.md).
 */
#ifndef PIMSIM_MAPPERS_ESTIMATE_CROSSBAR_H
#define PIMSIM_MAPPERS_ESTIMATE_CROSSBAR_H

#include "sim/configuration.h"

#include <stdbool.h>
#include <stdint.h>

/* Times in cycles of the cores' clock; counts are of one physical array. */
struct pim_estimate_crossbar {
    uint32_t rows, columns; /* cells */
    uint32_t input_bits;
    uint32_t dac_bits, dac_count, adc_count;
    uint32_t input_buffer_cycles, dac_cycles, read_cycles, sample_hold_cycles;
    uint32_t adc_cycles, shift_add_cycles, output_buffer_cycles;
    bool pipelined;      /* the front works on the next input bits while the back converts */
    bool floor_division; /* counts of steps are rounded down, as the simulator pimsim-nn does */
};

/* Takes the values of crossbar.* from a complete hardware configuration. */
void pim_estimate_crossbar_read(const struct pim_configuration *configuration,
                                struct pim_estimate_crossbar *crossbar);

/*
 * Cycles of one MVM between its input in the array's buffer and its last output: input_bits are applied
 * dac_bits at a time to dac_count rows at a time, T steps; in each step adc_count columns are converted at a
 * time, A times. A step has a front F (buffer, DAC, analog read, sample and hold) and a back B (A
 * conversions, each followed by shift-and-add and output buffer while the next one converts):
 *     F + B + (T - 1) * max(F, B) when pipelined, else T * (F + B).
 */
uint64_t pim_estimate_crossbar_cycles(const struct pim_estimate_crossbar *crossbar);

#endif

/*
 * Crossbar arrays: the cycles of a matrix-vector multiplication from its parts, how weights sit in arrays,
 * and its energy.
 *
 * Rules (docs/models/crossbar.md; the parts are those of the simulator pimsim-nn, commit 3e3442b, and of the
 * architecture template of PIMCOMP, Table II):
 *  1. An input element of `input_bits` is applied in steps of `dac_bits`; `dac_count` rows are driven at
 *     once: T = ceil(input_bits / dac_bits) * ceil(rows / dac_count) applications.
 *  2. An application takes F cycles: input buffer, DAC, analog read, sample and hold.
 *  3. Its columns are converted `adc_count` at a time: A = ceil(columns / adc_count) conversions, which take
 *     B = adc + shift_add + output_buffer + (A - 1) * max(adc, shift_add + output_buffer) cycles.
 *  4. Pipelined: F + B + (T - 1) * max(F, B) cycles; else T * (F + B). At least 1.
 *  5. With `floor_division` the divisions of 1 and 3 round down, and T = 0 leaves F + B - max(F, B) cycles
 *     pipelined: what pimsim-nn does.
 *
 * The arrays of a group work in step: an MVM takes these cycles whatever the number of arrays.
 */
#ifndef PIMSIM_MODELS_COST_CROSSBAR_H
#define PIMSIM_MODELS_COST_CROSSBAR_H

#include "sim/status.h"

#include <stdbool.h>
#include <stdint.h>

/* Counts are at least 1 and bits 1 to 64; cycles may be 0. */
struct pim_crossbar_configuration {
    uint32_t arrays;        /* physical arrays of a core */
    uint32_t rows, columns; /* cells of a physical array */
    uint32_t cell_bits, weight_bits, input_bits;
    bool slices_in_arrays; /* each slice of a weight in an array of its own; else in neighbouring columns */
    bool differential;     /* a weight is the difference of two cells: twice the slices */
    uint32_t management_arrays; /* a group occupies a multiple of this many logical arrays */
    bool pipelined;
    bool floor_division;
    uint32_t dac_bits, dac_count, adc_count;
    uint32_t input_buffer_cycles, dac_cycles, read_cycles, sample_hold_cycles;
    uint32_t adc_cycles, shift_add_cycles, output_buffer_cycles;
    uint32_t write_row_cycles; /* of a row of cells; 0: programs cannot write */
};

/* What follows from a configuration. A logical array holds a weight in a cell. */
struct pim_crossbar_cost {
    uint32_t slices;                        /* cells of a weight */
    uint32_t logical_arrays;                /* of a core */
    uint32_t logical_rows, logical_columns; /* weights of a logical array */
    uint32_t array_slices;                  /* physical arrays of a logical one */
    uint64_t applications;                  /* T */
    uint64_t conversions;                   /* A, for each application */
    uint64_t front_cycles, back_cycles;     /* F, B */
    uint64_t mvm_cycles;
};

/* Powers in mW; 0: not modelled. Those of sample and hold, shift and add, and buffers are for the circuits of
 * one physical array, the others for one DAC, array or ADC. */
struct pim_crossbar_power {
    double dac, read, sample_hold, adc, shift_add, input_buffer, output_buffer;
};

/* PIM_BAD_INPUT names the field. */
enum pim_status pim_crossbar_check(const struct pim_crossbar_configuration *configuration,
                                   struct pim_error *error);

/* `configuration` must have passed the check. */
void pim_crossbar_cost_of(const struct pim_crossbar_configuration *configuration,
                          struct pim_crossbar_cost *cost);

/* Logical arrays that a group of `arrays` logical arrays keeps busy: the next multiple of
 * management_arrays. */
uint64_t pim_crossbar_occupied(const struct pim_crossbar_configuration *configuration, uint64_t arrays);

/* Energy in pJ of one MVM in one physical array: powers times the time that their parts work. A cycle lasts
 * `cycle_ns`, an analog read `read_ns`. 0 when no power is given. */
double pim_crossbar_mvm_pj(const struct pim_crossbar_configuration *configuration,
                           const struct pim_crossbar_power *power, double cycle_ns, double read_ns);

#endif

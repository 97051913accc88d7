/* Cycles of a matrix-vector product: the parts of crossbar.h, in the order of the signal. */
#include "mappers/estimate/crossbar.h"

#include <assert.h>
#include <math.h>

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void pim_estimate_crossbar_read(const struct pim_configuration *configuration,
                                struct pim_estimate_crossbar *crossbar)
{
#define VALUE(key) ((uint32_t)pim_configuration_integer(configuration, "crossbar." key))
    double cycles = pim_configuration_real(configuration, "crossbar.read_ns") *
                    (double)pim_configuration_integer(configuration, "clock.logic_khz") / 1e6;
    *crossbar = (struct pim_estimate_crossbar){
        .rows = VALUE("rows"),
        .columns = VALUE("columns"),
        .input_bits = VALUE("input_bits"),
        .dac_bits = VALUE("dac_bits"),
        .dac_count = VALUE("dac_count"),
        .adc_count = VALUE("adc_count"),
        .input_buffer_cycles = VALUE("input_buffer_cycles"),
        .dac_cycles = VALUE("dac_cycles"),
        .read_cycles = (uint32_t)ceil(cycles - 1e-6),
        .sample_hold_cycles = VALUE("sample_hold_cycles"),
        .adc_cycles = VALUE("adc_cycles"),
        .shift_add_cycles = VALUE("shift_add_cycles"),
        .output_buffer_cycles = VALUE("output_buffer_cycles"),
        .pipelined = pim_configuration_boolean(configuration, "crossbar.pipelined"),
        .floor_division = pim_configuration_boolean(configuration, "crossbar.floor_division"),
    };
#undef VALUE
}

/* Steps that `count` things take `at_once` at a time. */
static uint64_t steps(const struct pim_estimate_crossbar *crossbar, uint64_t count, uint64_t at_once)
{
    assert(at_once != 0);
    return crossbar->floor_division ? count / at_once : (count + at_once - 1) / at_once;
}

uint64_t pim_estimate_crossbar_cycles(const struct pim_estimate_crossbar *c)
{
    uint64_t applications = steps(c, c->input_bits, c->dac_bits) * steps(c, c->rows, c->dac_count); /* T */
    uint64_t conversions = steps(c, c->columns, c->adc_count);                                      /* A */
    uint64_t after = (uint64_t)c->shift_add_cycles + c->output_buffer_cycles;
    uint64_t front =
        (uint64_t)c->input_buffer_cycles + c->dac_cycles + c->read_cycles + c->sample_hold_cycles;
    /* Counts are 0 only by rounding down: then pimsim-nn's formula wraps to one step less. */
    uint64_t pace = larger(c->adc_cycles, after);
    uint64_t back = c->adc_cycles + after + conversions * pace;
    back = back >= pace ? back - pace : 0;
    uint64_t slower = larger(front, back);
    uint64_t cycles =
        c->pipelined ? front + back + applications * slower - slower : applications * (front + back);
    return cycles ? cycles : 1;
}

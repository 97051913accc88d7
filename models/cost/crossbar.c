/* Cost and energy of an MVM. Rules: crossbar.h. */
#include "models/cost/crossbar.h"
#include "sim/integer.h"

#include <assert.h>
#include <inttypes.h>
#include <stddef.h>

static uint64_t quotient(const struct pim_crossbar_configuration *configuration, uint32_t dividend,
                         uint32_t divisor)
{
    assert(divisor > 0);
    return configuration->floor_division ? dividend / divisor : ((uint64_t)dividend + divisor - 1) / divisor;
}

static uint32_t slices_of(const struct pim_crossbar_configuration *configuration)
{
    assert(configuration->cell_bits > 0);
    uint32_t cells = (configuration->weight_bits + configuration->cell_bits - 1) / configuration->cell_bits;
    return configuration->differential ? 2 * cells : cells;
}

enum pim_status pim_crossbar_check(const struct pim_crossbar_configuration *configuration,
                                   struct pim_error *error)
{
    const struct {
        const char *name;
        uint32_t value, most;
    } fields[] = {
        {"arrays", configuration->arrays, UINT32_MAX},
        {"rows", configuration->rows, 65536},
        {"columns", configuration->columns, 65536},
        {"cell_bits", configuration->cell_bits, 64},
        {"weight_bits", configuration->weight_bits, 64},
        {"input_bits", configuration->input_bits, 64},
        {"management_arrays", configuration->management_arrays, 65536},
        {"dac_bits", configuration->dac_bits, 64},
        {"dac_count", configuration->dac_count, 65536},
        {"adc_count", configuration->adc_count, 65536},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (fields[i].value == 0 || fields[i].value > fields[i].most)
            return pim_fail(error, PIM_BAD_INPUT, "%s is %" PRIu32 ", allowed are 1 to %" PRIu32,
                            fields[i].name, fields[i].value, fields[i].most);
    uint32_t slices = slices_of(configuration);
    if (configuration->slices_in_arrays && slices > configuration->arrays)
        return pim_fail(error, PIM_BAD_INPUT,
                        "a weight needs %" PRIu32 " arrays, one a slice, and a core has %" PRIu32, slices,
                        configuration->arrays);
    if (!configuration->slices_in_arrays && slices > configuration->columns)
        return pim_fail(error, PIM_BAD_INPUT,
                        "a weight needs %" PRIu32 " columns, one a slice, and an array has %" PRIu32, slices,
                        configuration->columns);
    uint32_t array_slices = configuration->slices_in_arrays ? slices : 1;
    if (configuration->management_arrays > configuration->arrays / array_slices)
        return pim_fail(error, PIM_BAD_INPUT,
                        "management_arrays is %" PRIu32 ", a core has %" PRIu32 " logical arrays",
                        configuration->management_arrays, configuration->arrays / array_slices);
    return PIM_OK;
}

void pim_crossbar_cost_of(const struct pim_crossbar_configuration *configuration,
                          struct pim_crossbar_cost *cost)
{
    const struct pim_crossbar_configuration *c = configuration;
    cost->slices = slices_of(c);
    cost->array_slices = c->slices_in_arrays ? cost->slices : 1;
    assert(cost->slices > 0 && cost->array_slices > 0);
    cost->logical_arrays = c->arrays / cost->array_slices;
    cost->logical_rows = c->rows;
    cost->logical_columns = c->slices_in_arrays ? c->columns : c->columns / cost->slices;
    cost->applications = quotient(c, c->input_bits, c->dac_bits) * quotient(c, c->rows, c->dac_count);
    cost->conversions = quotient(c, c->columns, c->adc_count);
    cost->front_cycles =
        (uint64_t)c->input_buffer_cycles + c->dac_cycles + c->read_cycles + c->sample_hold_cycles;
    uint64_t after = (uint64_t)c->shift_add_cycles + c->output_buffer_cycles;
    uint64_t repeated = pim_larger(c->adc_cycles, after);
    cost->back_cycles = c->adc_cycles + after;
    if (cost->conversions > 0)
        cost->back_cycles += (cost->conversions - 1) * repeated;
    else
        cost->back_cycles -= repeated; /* floor_division with more ADCs than columns */
    uint64_t front = cost->front_cycles, back = cost->back_cycles, slower = pim_larger(front, back);
    if (!c->pipelined)
        cost->mvm_cycles = cost->applications * (front + back);
    else if (cost->applications > 0)
        cost->mvm_cycles = front + back + (cost->applications - 1) * slower;
    else
        cost->mvm_cycles = front + back - slower;
    if (cost->mvm_cycles == 0)
        cost->mvm_cycles = 1;
}

uint64_t pim_crossbar_occupied(const struct pim_crossbar_configuration *configuration, uint64_t arrays)
{
    uint64_t step = configuration->management_arrays;
    assert(step > 0);
    return arrays / step * step + (arrays % step != 0 ? step : 0);
}

double pim_crossbar_mvm_pj(const struct pim_crossbar_configuration *configuration,
                           const struct pim_crossbar_power *power, double cycle_ns, double read_ns)
{
    struct pim_crossbar_cost cost;
    pim_crossbar_cost_of(configuration, &cost);
    /* 1 mW over 1 ns is 1 pJ. */
    double conversion = (power->adc * configuration->adc_cycles * configuration->adc_count +
                         power->shift_add * configuration->shift_add_cycles +
                         power->output_buffer * configuration->output_buffer_cycles) *
                        cycle_ns;
    double application = (power->input_buffer * configuration->input_buffer_cycles +
                          power->dac * configuration->dac_cycles * configuration->dac_count +
                          power->sample_hold * configuration->sample_hold_cycles) *
                             cycle_ns +
                         power->read * read_ns + (double)cost.conversions * conversion;
    return (double)cost.applications * application;
}

/*
 * What a PE array and a product must be before their cost is asked for.
 */
#include "models/cost/pe.h"
#include "sim/names.h"

#include <inttypes.h>
#include <stddef.h>

PIM_NAMES(pim_pe_dataflow_name, PIM_PE_DATAFLOW_MAP)

static enum pim_status check_range(const char *name, uint64_t value, uint64_t least, uint64_t most,
                                   struct pim_error *error)
{
    if (value >= least && value <= most)
        return PIM_OK;
    return pim_fail(error, PIM_BAD_INPUT, "PE array: %s is %" PRIu64 ": allowed are %" PRIu64 " to %" PRIu64,
                    name, value, least, most);
}

enum pim_status pim_pe_check_configuration(const struct pim_pe_configuration *configuration,
                                           struct pim_error *error)
{
    const struct pim_pe_configuration *p = configuration;
    const struct {
        const char *name;
        uint64_t value, least, most;
    } ranges[] = {
        {"dataflow", p->dataflow, 0, PIM_PE_DATAFLOWS - 1},
        {"rows", p->rows, 1, PIM_PE_SIDE_MAX},
        {"columns", p->columns, 1, PIM_PE_SIDE_MAX},
        {"pipeline_depth", p->pipeline_depth, 0, PIM_PE_DEPTH_MAX},
        {"folds", p->folds, PIM_PE_FOLDS_TRIMMED, PIM_PE_FOLDS_PADDED},
        {"weight_load", p->weight_load, PIM_PE_WEIGHTS_HIDDEN, PIM_PE_WEIGHTS_KERNEL_PER_CYCLE},
        {"accumulator_bits", p->accumulator_bits, 1, PIM_PE_BITS_MAX},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        enum pim_status status =
            check_range(ranges[i].name, ranges[i].value, ranges[i].least, ranges[i].most, error);
        if (status != PIM_OK)
            return status;
    }
    if (p->dataflow == PIM_PE_OUTPUT_STATIONARY && p->double_buffered)
        return pim_fail(error, PIM_BAD_INPUT,
                        "PE array: double_buffered with output_stationary: it holds no operand that a shadow "
                        "register could "
                        "load; allowed with vector_mac, weight_stationary and input_stationary");
    if (p->dataflow != PIM_PE_OUTPUT_STATIONARY && p->drain_outputs)
        return pim_fail(error, PIM_BAD_INPUT,
                        "PE array: drain_outputs with %s: its sums leave while it computes; allowed with "
                        "output_stationary",
                        pim_pe_dataflow_name(p->dataflow));
    return PIM_OK;
}

enum pim_status pim_pe_check_matrix(uint32_t m, uint32_t n, uint32_t k, unsigned input_bits,
                                    unsigned weight_bits, struct pim_error *error)
{
    const struct {
        const char *name;
        uint64_t value, most;
    } ranges[] = {
        {"m of a product", m, PIM_PE_EXTENT_MAX},
        {"n of a product", n, PIM_PE_EXTENT_MAX},
        {"k of a product", k, PIM_PE_EXTENT_MAX},
        {"bits of an input element", input_bits, PIM_PE_BITS_MAX},
        {"bits of a weight element", weight_bits, PIM_PE_BITS_MAX},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        enum pim_status status = check_range(ranges[i].name, ranges[i].value, 1, ranges[i].most, error);
        if (status != PIM_OK)
            return status;
    }
    uint64_t macs = (uint64_t)m * n * k;
    if (macs > PIM_PE_MACS_MAX)
        return pim_fail(error, PIM_BAD_INPUT,
                        "PE array: a product of %" PRIu32 " x %" PRIu32 " x %" PRIu32 " has %" PRIu64
                        " multiplications: allowed are up to %" PRIu64,
                        m, n, k, macs, PIM_PE_MACS_MAX);
    return PIM_OK;
}

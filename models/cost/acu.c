/*
 * Cycles of vector operations (docs/models/acu.md).
 */
#include "models/cost/acu.h"
#include "sim/integer.h"

#include <assert.h>
#include <inttypes.h>
#include <stddef.h>

void pim_acu_configuration_assumed(struct pim_acu_configuration *configuration, uint32_t elements_per_cycle)
{
    static const struct pim_acu_operation defaults[PIM_VECTORS] = {
        /* Maximum; sum of exponents; normalisation. The reciprocal of the sum lengthens the pipeline. */
        [PIM_VECTOR_SOFTMAX] = {.depth = 16, .passes = 3, .operands = 1, .by_row = true},
        /* Sum and sum of squares; normalisation. The square root lengthens the pipeline. */
        [PIM_VECTOR_LAYERNORM] = {.depth = 16, .passes = 2, .operands = 1, .by_row = true},
        /* Second-order polynomial in integers. */
        [PIM_VECTOR_GELU] = {.depth = 8, .passes = 1, .operands = 1},
        [PIM_VECTOR_RELU] = {.depth = 4, .passes = 1, .operands = 1},
        [PIM_VECTOR_ADD] = {.depth = 4, .passes = 1, .operands = 2},
        [PIM_VECTOR_MULTIPLY] = {.depth = 4, .passes = 1, .operands = 2},
        /* Pooling: one more window element against the running maximum or sum. */
        [PIM_VECTOR_MAXIMUM] = {.depth = 4, .passes = 1, .operands = 2},
        [PIM_VECTOR_AVERAGE] = {.depth = 4, .passes = 1, .operands = 2},
        [PIM_VECTOR_SIGMOID] = {.depth = 8, .passes = 1, .operands = 1},
        [PIM_VECTOR_TANH] = {.depth = 8, .passes = 1, .operands = 1},
        [PIM_VECTOR_COPY] = {.depth = 4, .passes = 1, .operands = 1},
    };
    for (size_t i = 0; i < PIM_VECTORS; i++) {
        configuration->operation[i] = defaults[i];
        configuration->operation[i].elements_per_cycle = elements_per_cycle;
    }
}

enum pim_status pim_acu_check_configuration(const struct pim_acu_configuration *configuration,
                                            struct pim_error *error)
{
    for (unsigned i = 0; i < PIM_VECTORS; i++) {
        const struct pim_acu_operation *o = &configuration->operation[i];
        const struct {
            const char *name;
            uint32_t value, least, most;
        } ranges[] = {
            {"elements_per_cycle", o->elements_per_cycle, 1, PIM_ACU_LANES_MAX},
            {"depth", o->depth, 0, PIM_ACU_DEPTH_MAX},
            {"passes", o->passes, 1, PIM_ACU_PASSES_MAX},
            {"operands", o->operands, 1, PIM_ACU_OPERANDS_MAX},
        };
        for (size_t j = 0; j < sizeof ranges / sizeof *ranges; j++) {
            if (ranges[j].value < ranges[j].least || ranges[j].value > ranges[j].most)
                return pim_fail(error, PIM_BAD_INPUT,
                                "ACU operation %s: %s is %" PRIu32 ": allowed are %" PRIu32 " to %" PRIu32,
                                pim_vector_name(i), ranges[j].name, ranges[j].value, ranges[j].least,
                                ranges[j].most);
        }
        if (o->passes > 1 && !o->by_row)
            return pim_fail(error, PIM_BAD_INPUT,
                            "ACU operation %s: %" PRIu32
                            " passes need by_row: what does not work row by row has one pass",
                            pim_vector_name(i), o->passes);
    }
    return PIM_OK;
}

enum pim_status pim_acu_check_vector(unsigned operation, uint32_t rows, uint32_t elements,
                                     struct pim_error *error)
{
    if (operation >= PIM_VECTORS)
        return pim_fail(error, PIM_BAD_INPUT, "ACU operation %u is unknown: allowed are 0 to %d", operation,
                        PIM_VECTORS - 1);
    if (rows == 0 || rows > PIM_ACU_EXTENT_MAX || elements == 0 || elements > PIM_ACU_EXTENT_MAX)
        return pim_fail(error, PIM_BAD_INPUT,
                        "ACU operation %s on %" PRIu32 " rows of %" PRIu32
                        " elements: allowed are 1 to %d of each",
                        pim_vector_name(operation), rows, elements, PIM_ACU_EXTENT_MAX);
    return PIM_OK;
}

void pim_acu_vector(const struct pim_acu_configuration *configuration, unsigned operation, uint32_t rows,
                    uint32_t elements, struct pim_acu_cost *cost)
{
    assert(operation < PIM_VECTORS && rows > 0 && elements > 0);
    const struct pim_acu_operation *o = &configuration->operation[operation];
    uint64_t total = (uint64_t)rows * elements;
    uint64_t lanes = o->elements_per_cycle;
    uint64_t row_groups = o->by_row ? (elements + lanes - 1) / lanes : (total + lanes - 1) / lanes;
    uint64_t groups = o->by_row ? rows * row_groups : row_groups;
    /* The next pass begins when all rows have been read, and not before the first row's result has left the
     * pipeline. */
    uint64_t pass_distance = pim_larger(groups, row_groups + o->depth);
    *cost = (struct pim_acu_cost){.cycles = (o->passes - 1) * pass_distance + groups + o->depth,
                                  .operations = total * o->passes,
                                  .elements_read = total * o->passes * o->operands,
                                  .elements_written = total};
}

/*
 * The functional check of a mapping: its trace, executed with real numbers (execute.h), must leave in the
 * global memory what the direct evaluation of the graph gives (mappers/verify/evaluate.h).
 */
#ifndef PIMSIM_MAPPERS_PIMCOMP_CHECK_CHECK_VALUES_H
#define PIMSIM_MAPPERS_PIMCOMP_CHECK_CHECK_VALUES_H

#include "mappers/pimcomp/representation/pimcomp.h"
#include "mappers/verify/execute.h"

struct pim_core_check_options {
    uint32_t samples; /* that the trace takes through, at least 1 */
    uint64_t seed;    /* of the order of execution */
    uint32_t window;  /* as in execute.h; 0: 1 when the architecture issues in order, else 12 */
};

struct pim_core_check_result {
    uint32_t layers;   /* that were compared */
    uint64_t elements; /* of all their samples */
    struct pim_core_execution_counts counts;
};

/*
 * Fills the global memory with inputs and biases as `map` says, executes `trace`, and compares each map that
 * is in global memory (of the samples whose slot was not used again). PIM_BAD_INPUT names the first element
 * that differs (layer, sample, pixel, channel, both numbers), or what execution or evaluation refuse;
 * PIM_DEADLOCK. An output of the network that is not in the global memory is PIM_INTERNAL.
 */
enum pim_status pim_core_check_values(const struct pim_graph *graph, const struct pim_core_mapping *mapping,
                                      const struct pim_core_memory_map *map, const struct pim_trace *trace,
                                      const struct pim_core_check_options *options,
                                      struct pim_core_check_result *result, struct pim_error *error);

/* The number in (canonical row, column) of the weight matrix of a lowered layer: of the right element of a
 * linear layer behind a flatten, of the layer whose weights are shared, and 0 where a grouped convolution has
 * none. */
int32_t pim_core_weight_of(const struct pim_graph *graph, const struct pim_core_layer *layer, uint32_t row,
                           uint32_t column);

#endif

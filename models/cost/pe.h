/*
 * PE array of a node: cycles and SRAM traffic of a matrix product output[m][n] (+)= input[m][k] *
 * weight[k][n], in closed form.
 *
 * Dataflows: an NVDLA-style vector-MAC unit (rows = atomic_c products added up by each of columns = atomic_k
 * kernels) and systolic arrays of rows x columns PEs, output-, weight- or input-stationary. A product that is
 * larger than the array is cut into folds that run one after another. The rules, in the order in which
 * hardware applies them, are in docs/models/pe.md.
 *
 * Invariants:
 *  1. cycles == compute_cycles + port_stall_cycles; port_stall_cycles == 0 when all ports are unlimited.
 *  2. macs == m * n * k: padding of a fold costs cycles, it is no work.
 */
#ifndef PIMSIM_MODELS_COST_PE_H
#define PIMSIM_MODELS_COST_PE_H

#include "sim/status.h"

#include <stdbool.h>
#include <stdint.h>

/* X(name, text in configurations) */
#define PIM_PE_DATAFLOW_MAP(X)                                                                               \
    X(PIM_PE_VECTOR_MAC, "vector_mac")                                                                       \
    X(PIM_PE_OUTPUT_STATIONARY, "output_stationary")                                                         \
    X(PIM_PE_WEIGHT_STATIONARY, "weight_stationary")                                                         \
    X(PIM_PE_INPUT_STATIONARY, "input_stationary")

enum pim_pe_dataflow {
#define X(name, text) name,
    PIM_PE_DATAFLOW_MAP(X)
#undef X
        PIM_PE_DATAFLOWS
};

enum pim_pe_folds {
    PIM_PE_FOLDS_TRIMMED, /* a partial fold takes the time of the rows and columns it fills */
    PIM_PE_FOLDS_PADDED   /* a partial fold takes the time of a full one (SCALE-Sim) */
};

/* How the weights of a fold of the vector-MAC unit reach its registers. Ignored by systolic arrays. */
enum pim_pe_weight_load {
    PIM_PE_WEIGHTS_HIDDEN,          /* all at once, as fast as the weight port allows */
    PIM_PE_WEIGHTS_KERNEL_PER_CYCLE /* the weights of one column (kernel) at most in a cycle */
};

enum {
    PIM_PE_SIDE_MAX = 4096,
    PIM_PE_BITS_MAX = 64,
    PIM_PE_EXTENT_MAX = 1 << 20,
    PIM_PE_DEPTH_MAX = 1 << 20
};
#define PIM_PE_MACS_MAX (UINT64_C(1) << 40) /* of one matrix product */

struct pim_pe_configuration {
    enum pim_pe_dataflow dataflow;
    uint32_t rows, columns;  /* atomic_c, atomic_k for the vector-MAC unit */
    uint32_t pipeline_depth; /* cycles added once to each product */
    /* Stationary operands have shadow registers: those of the next fold are loaded under the current one.
     * Not for output-stationary. */
    bool double_buffered;
    /* Output-stationary only: sums leave row by row after each fold. Otherwise they leave under the next. */
    bool drain_outputs;
    enum pim_pe_folds folds;
    enum pim_pe_weight_load weight_load;
    /* Bytes a cycle; 0: unlimited. The output buffer has one such port for reading and one for writing. */
    uint32_t input_port_bytes, weight_port_bytes, output_port_bytes;
    uint32_t accumulator_bits; /* of a partial sum in the output buffer */
};

struct pim_pe_cost {
    uint64_t cycles; /* from the first operand to the last sum in the output buffer, pipeline included */
    uint64_t compute_cycles;    /* the same with unlimited ports */
    uint64_t port_stall_cycles; /* the difference */
    uint64_t macs;
    uint64_t input_bytes_read, weight_bytes_read; /* SRAM traffic, rounded up to bytes once for the product */
    uint64_t output_bytes_read, output_bytes_written; /* partial sums of accumulator_bits */
};

/* SRAM traffic of a product, all together. */
static inline uint64_t pim_pe_sram_bits(const struct pim_pe_cost *cost)
{
    return 8 * (cost->input_bytes_read + cost->weight_bytes_read + cost->output_bytes_read +
                cost->output_bytes_written);
}

/* Refuses sizes of 0 or beyond the bounds above and combinations that no hardware has. */
enum pim_status pim_pe_check_configuration(const struct pim_pe_configuration *configuration,
                                           struct pim_error *error);

/* Refuses a product with an extent of 0 or beyond PIM_PE_EXTENT_MAX, more than PIM_PE_MACS_MAX, or bits
 * outside 1 to PIM_PE_BITS_MAX. */
enum pim_status pim_pe_check_matrix(uint32_t m, uint32_t n, uint32_t k, unsigned input_bits,
                                    unsigned weight_bits, struct pim_error *error);

/*
 * Cost of output[m][n] (+)= input[m][k] * weight[k][n]; `accumulate`: partial sums are already in the output
 * buffer. Arguments must have passed the two checks above. O(1).
 */
void pim_pe_matrix(const struct pim_pe_configuration *configuration, uint32_t m, uint32_t n, uint32_t k,
                   unsigned input_bits, unsigned weight_bits, bool accumulate, struct pim_pe_cost *cost);

/* `cycles` of pim_pe_matrix() alone, for searches. */
uint64_t pim_pe_matrix_cycles(const struct pim_pe_configuration *configuration, uint32_t m, uint32_t n,
                              uint32_t k, unsigned input_bits, unsigned weight_bits);

/* However n and k are cut into tiles, and whatever tiles there are of m, no product takes fewer cycles. */
double pim_pe_least_cycles(const struct pim_pe_configuration *configuration, uint64_t m, uint64_t n,
                           uint64_t k);

/* Its SRAM traffic alone: the four members after `macs`. */
void pim_pe_matrix_traffic(const struct pim_pe_configuration *configuration, uint32_t m, uint32_t n,
                           uint32_t k, unsigned input_bits, unsigned weight_bits, bool accumulate,
                           struct pim_pe_cost *cost);

/* "vector_mac" ...; NULL for a value outside the table. */
const char *pim_pe_dataflow_name(unsigned dataflow);

#endif

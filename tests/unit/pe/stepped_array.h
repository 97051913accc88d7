/*
 * PE arrays stepped PE by PE: the oracle for models/cost/pe.h. Operands move through registers, real integer
 * products are formed, and SRAM accesses are counted where they happen; controllers decide from the state of
 * the array what comes next, so that no closed form is used.
 */
#ifndef PIMSIM_TESTS_UNIT_PE_STEPPED_ARRAY_H
#define PIMSIM_TESTS_UNIT_PE_STEPPED_ARRAY_H

#include "models/cost/pe.h"

struct stepped_product {
    const struct pim_pe_configuration *configuration;
    uint32_t m, n, k;
    unsigned input_bits, weight_bits;
    bool accumulate;
    const int32_t *input;  /* [m][k] */
    const int32_t *weight; /* [k][n] */
    int64_t *output;       /* [m][n]; read only when accumulating, or after it was written */
    /* Results. Elements fetched from and written to SRAM. */
    uint64_t cycles;
    uint64_t inputs_read, weights_read, sums_read, sums_written;
};

/* Runs the product: fills output and the results. */
void stepped_array_run(struct stepped_product *product);

#endif

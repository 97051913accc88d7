/* Integer programmes, and the MPS files in which solvers read them. */
#ifndef PIMSIM_MAPPERS_SEARCH_INTEGER_MPS_H
#define PIMSIM_MAPPERS_SEARCH_INTEGER_MPS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum pim_mps_sense { PIM_MPS_AT_MOST, PIM_MPS_AT_LEAST, PIM_MPS_EQUAL };

struct pim_mps_column {
    int64_t objective, lower, upper; /* upper INT64_MAX: none */
};

struct pim_mps_row {
    enum pim_mps_sense sense;
    int64_t right;
};

struct pim_mps_entry {
    uint32_t column, row;
    int64_t value;
};

/*
 * Minimise the sum of objective * column where sum of value * column (sense) right, all columns integers.
 * Columns and rows are known by their numbers, from 0. All-zero is an empty programme.
 */
struct pim_mps {
    struct pim_mps_column *columns;
    struct pim_mps_row *rows;
    struct pim_mps_entry *entries;
    uint32_t column_count, row_count, entry_count;
    uint32_t column_room, row_room, entry_room;
    bool out_of_memory; /* once set, everything is without effect */
};

uint32_t pim_mps_column(struct pim_mps *mps, int64_t objective, int64_t lower, int64_t upper);
uint32_t pim_mps_row(struct pim_mps *mps, enum pim_mps_sense sense, int64_t right);
/* Adds value * column to the row; at most once for a column and a row. A value of 0 is left out. */
void pim_mps_entry(struct pim_mps *mps, uint32_t row, uint32_t column, int64_t value);
void pim_mps_terminate(struct pim_mps *mps);

/* Writes it as free MPS: column i is "Ci", row i "Ri", the objective "cost". False when writing fails. */
bool pim_mps_write(struct pim_mps *mps, FILE *file);

#endif

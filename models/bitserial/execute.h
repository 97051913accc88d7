/*
 * The functional mode: real bits in real rows. A program's steps are executed as the hardware would, row by
 * row and majority by majority; nothing here knows what an addition is.
 */
#ifndef PIMSIM_MODELS_BITSERIAL_EXECUTE_H
#define PIMSIM_MODELS_BITSERIAL_EXECUTE_H

#include "models/bitserial/program.h"

struct pim_bitserial_bits;

/* A bank with `data_rows` rows of `columns` columns (a multiple of 64), all 0, and its compute rows, all
 * undefined: they start with a pattern of their own, so that a program which reads one before it is written
 * goes wrong. NULL: memory is out, or a size cannot be represented. */
struct pim_bitserial_bits *pim_bitserial_bits_create(uint32_t data_rows, uint32_t columns);
void pim_bitserial_bits_destroy(struct pim_bitserial_bits *bits);

/* One cell. */
bool pim_bitserial_bit(const struct pim_bitserial_bits *bits, uint32_t row, uint32_t column);
void pim_bitserial_set_bit(struct pim_bitserial_bits *bits, uint32_t row, uint32_t column, bool value);

/* The number of a column in `count` (at most 64) rows from `first` on, bit 0 in the first. */
uint64_t pim_bitserial_number(const struct pim_bitserial_bits *bits, uint32_t first, uint32_t count,
                              uint32_t column);
void pim_bitserial_set_number(struct pim_bitserial_bits *bits, uint32_t first, uint32_t count,
                              uint32_t column, uint64_t value);

/* Runs all steps. `access_bits`: columns of one column access (a multiple of 64 that divides the columns, or
 * all of them). Rows beyond `data_rows` are an assertion: check the operation first. */
void pim_bitserial_execute(struct pim_bitserial_bits *bits, const struct pim_bitserial_program *program,
                           uint32_t access_bits);

#endif

/*
 * The same operations in ReRAM (Fast-OverlaPIM's Fig. 7): crossbars that compute NOR from cell to cell in all
 * rows at once, as in FloatPIM (M. Imani et al., "FloatPIM", ISCA 2019), which Fig. 7 stands for.
 *
 * Integers are computed by explicit steps on real cells, as in a DRAM bank; a number lies in the cells of a
 * row, and a step does the same in every row, in one cycle:
 *   SET    cells first .. first + count - 1 become 1 (NOR pulls its output to 0 or leaves it)
 *   RESET  the same become 0
 *   NOR    output = NOT (a OR b); the output must have been set before
 * A full adder takes nine NORs; so n bits take 10n + 2 cycles, with the SETs and the first carry, and
 * n x n -> 2n bits take 12n^2 - n - 1 (9 for n = 1).
 *
 * Floating point goes by closed forms, in e bits of exponent and m of mantissa:
 *   multiply 12e + 6.5m^2 - 7.5m - 2 NORs; add 3 + 16e + 19m + m^2 NORs and 2m + 1 searches.
 * They, and the times of a step, are assumed to be FloatPIM's (its text was not at hand); they reproduce both
 * latencies of Fig. 7 for half precision.
 */
#ifndef PIMSIM_MODELS_BITSERIAL_RERAM_H
#define PIMSIM_MODELS_BITSERIAL_RERAM_H

#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pim_reram_specification {
    uint32_t nor_ps, search_ps; /* assumed of FloatPIM: 1100 and 1500 */
};

enum pim_reram_step_kind { PIM_RERAM_SET, PIM_RERAM_RESET, PIM_RERAM_NOR };

struct pim_reram_step {
    uint32_t kind;   /* enum pim_reram_step_kind */
    uint32_t output; /* SET, RESET: the first cell */
    uint32_t a, b;   /* SET, RESET: a is the number of cells */
};

struct pim_reram_program {
    struct pim_reram_step *steps; /* owned */
    size_t count, capacity;
    uint32_t cells;        /* of a row that the program uses */
    uint32_t a, b, result; /* first cells of operands and result, bit 0 first */
    uint32_t result_bits;
    bool out_of_memory;
};

enum { PIM_RERAM_BITS_MAX = 32 };

/* result = a + b modulo 2^bits; the product of unsigned numbers in 2 x bits. The program starts as {0}. */
enum pim_status pim_reram_add(struct pim_reram_program *program, uint32_t bits, struct pim_error *error);
enum pim_status pim_reram_multiply(struct pim_reram_program *program, uint32_t bits, struct pim_error *error);
/* result = a - b modulo 2^bits, as the complement of ~a + b; result = a, by two complements. */
enum pim_status pim_reram_subtract(struct pim_reram_program *program, uint32_t bits, struct pim_error *error);
enum pim_status pim_reram_copy(struct pim_reram_program *program, uint32_t bits, struct pim_error *error);

/* Steps of these programs. */
uint64_t pim_reram_add_steps(uint64_t bits);
uint64_t pim_reram_multiply_steps(uint64_t bits);
uint64_t pim_reram_subtract_steps(uint64_t bits);
uint64_t pim_reram_copy_steps(uint64_t bits);

void pim_reram_program_terminate(struct pim_reram_program *program);

/* Runs the steps on `rows` rows of 64 rows each: cell c of row group r is cells[c * rows + r], one bit a row.
 * False: a NOR's output had not been set (a bug of the program). */
bool pim_reram_execute(const struct pim_reram_program *program, uint64_t *cells, size_t rows);

/* By the closed forms above. */
uint64_t pim_reram_float_multiply_nors(uint32_t exponent, uint32_t mantissa);
uint64_t pim_reram_float_add_nors(uint32_t exponent, uint32_t mantissa);
uint64_t pim_reram_float_add_searches(uint32_t mantissa);

#endif

/*
 * Microprograms: the row commands that an operation issues in each of its banks, as an explicit list.
 *
 * Numbers lie bit by bit in rows: bit j of the number of every column is in row `first + j` (bit 0: the least
 * significant). One program serves all columns of all its banks at once.
 *
 * Steps:
 *   AAP    ACT row, ACT2 second, PRE: what the rows of `row` hold goes to the rows of `second` (rows.h).
 *   READ   ACT row, RD of `accesses` column accesses, PRE: they go to a slot of the channel's buffer.
 *   WRITE  ACT row, WR, PRE: a slot comes back, moved by `shift` columns towards column 0.
 *   WRITE_BIT   the same with bit `shift` of every word: the slots hold words, one after another in the rows
 *               that were read (transposition from words to bit rows).
 *
 * The buffer and the transposition unit belong to the channel's controller; between the last data of a slot
 * and the first data written from it no time passes but that of the channel.
 */
#ifndef PIMSIM_MODELS_BITSERIAL_PROGRAM_H
#define PIMSIM_MODELS_BITSERIAL_PROGRAM_H

#include "models/bitserial/rows.h"
#include "sim/status.h"

#include <stddef.h>

enum pim_bitserial_step_kind {
    PIM_BITSERIAL_STEP_AAP,
    PIM_BITSERIAL_STEP_READ,
    PIM_BITSERIAL_STEP_WRITE,
    PIM_BITSERIAL_STEP_WRITE_BIT
};

struct pim_bitserial_step {
    uint32_t kind;   /* enum pim_bitserial_step_kind */
    uint32_t row;    /* data row or reserved address */
    uint32_t second; /* AAP: the row of the second activation; else the first slot */
    uint32_t shift;
    /* Column accesses first_access, first_access + access_step, ... */
    uint32_t first_access, access_step, accesses;
};

struct pim_bitserial_program {
    struct pim_bitserial_step *steps; /* owned */
    size_t count, capacity;
    uint32_t slots; /* of the buffer, that the steps use */
    bool out_of_memory;
};

enum { PIM_BITSERIAL_BITS_MAX = 64, PIM_BITSERIAL_SLOTS_MAX = 128 };

/* X(enumerator, text) */
#define PIM_BITSERIAL_OPERATION_MAP(X)                                                                       \
    X(ADD, "add")             /* result = a + b, modulo 2^bits */                                            \
    X(SUBTRACT, "subtract")   /* result = a - b, modulo 2^bits */                                            \
    X(MULTIPLY, "multiply")   /* result = a * b, unsigned or signed, modulo 2^result_bits */                 \
    X(COPY, "copy")           /* result = a */                                                               \
    X(TRANSPOSE, "transpose") /* words in rows of their own become bit rows */                               \
    X(REDUCE, "reduce")       /* column c of each group of `width` columns: the sum over the group */

enum pim_bitserial_kind {
#define X(name, text) PIM_BITSERIAL_OPERATION_##name,
    PIM_BITSERIAL_OPERATION_MAP(X)
#undef X
        PIM_BITSERIAL_OPERATIONS
};

const char *pim_bitserial_operation_text(enum pim_bitserial_kind kind);

/* The shape of a bank as far as programs need it. */
struct pim_bitserial_bank_shape {
    uint32_t rows;         /* addresses, the reserved ones included */
    uint32_t accesses;     /* column accesses of a row */
    uint32_t access_bytes; /* of one */
};

struct pim_bitserial_operation {
    enum pim_bitserial_kind kind;
    uint32_t bits;                  /* of an operand, 1 to 64 */
    uint32_t result_bits;           /* MULTIPLY: bits to 2 x bits */
    uint32_t width;                 /* REDUCE: columns of a group, a power of two */
    bool is_signed;                 /* MULTIPLY: operands and product are two's complement */
    bool carry_out;                 /* ADD: the carry becomes bit `bits` of the result */
    uint32_t a, b, result, scratch; /* first rows; REDUCE needs `scratch` rows for one shifted number */
};

/* Does the product differ from that of the same bits without signs? Its low n bits do not. */
bool pim_bitserial_sign_counts(const struct pim_bitserial_operation *operation);

/* Rows of the result: bits, bits + 1, result_bits, or bits + log2(width). */
uint32_t pim_bitserial_result_rows(const struct pim_bitserial_operation *operation);

/* Rows of one horizontal word in a transposition: the next power of two of `bits`. */
uint32_t pim_bitserial_word_bits(uint32_t bits);

/* Puts operands, result and scratch one after another from row 0 on. */
void pim_bitserial_place(struct pim_bitserial_operation *operation);

/* Refuses operations that a bank of this shape cannot hold, and rows that overlap where they must not. */
enum pim_status pim_bitserial_check_operation(const struct pim_bitserial_operation *operation,
                                              const struct pim_bitserial_bank_shape *shape,
                                              struct pim_error *error);

/* Appends the steps of a checked operation. PIM_NO_MEMORY only. A program starts as {0}. */
enum pim_status pim_bitserial_compile(struct pim_bitserial_program *program,
                                      const struct pim_bitserial_operation *operation,
                                      const struct pim_bitserial_bank_shape *shape, struct pim_error *error);

/* A step that does not fit is dropped and remembered in program->out_of_memory. */
void pim_bitserial_append(struct pim_bitserial_program *program, const struct pim_bitserial_step *step);

void pim_bitserial_program_terminate(struct pim_bitserial_program *program);

/* Steps of a kind. */
uint64_t pim_bitserial_count_steps(const struct pim_bitserial_program *program,
                                   enum pim_bitserial_step_kind kind);

/*
 * AAPs by the closed forms: n = bits, w = result_bits.
 *   add 4n + 1 (with carry 4n + 2), subtract 5n + 1, copy n, transpose 0;
 *   multiply 4n + sum over i = 1 .. n - 1 of 7 min(n, w - i) + 1 (+ 1 where i + n < w); 1 more for n = 1,
 *     w = 2. For w = 2n and n > 1 it is 7n^2 - n - 2. Signed to more than n bits: 2 more for each partial
 *     product of one sign bit, and 1 where w = 2n (7n^2 + 3n - 5);
 *   reduce sum over its levels l of 4(n + l) + 2.
 */
uint64_t pim_bitserial_aaps(const struct pim_bitserial_operation *operation);

/* AAPs as Fast-OverlaPIM's text counts them: addition 4n + 1; multiplication n full additions; a reduction
 * one addition of n bits a level; 0 where it gives no form. */
uint64_t pim_bitserial_paper_aaps(const struct pim_bitserial_operation *operation);

#endif

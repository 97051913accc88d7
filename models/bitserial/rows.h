/*
 * The rows of a bank that computes. Nearly all are data rows; the last PIM_BITSERIAL_RESERVED_ROWS row
 * addresses of a bank name sets of compute rows, all of which an activation of that address opens.
 *
 * Rules:
 *  1. An activation of a closed bank lets the cells of all opened rows drive the bit lines: the sense
 *     amplifiers hold the majority of them (of a single row: its value), and write it back into every row of
 *     the set.
 *  2. A second activation, with the bank open, connects further rows to the sense amplifiers: they take the
 *     value. So activate-activate-precharge (AAP) copies a row, or the majority of 3 or 5 rows, to rows.
 *  3. N0 and N1 are rows of dual-contact cells: through the second, negated word line such a cell gives and
 *     takes the complement.
 *  4. The sets of first activations have an odd number of rows.
 *
 * Fast-OverlaPIM gives 4n + 1 AAPs for an addition and names the works it builds upon; the rest is assumed
 * after them, without their text at hand (docs/models/bitserial.md says what that reproduces): AAP, reserved
 * addresses and dual-contact cells after V. Seshadri et al., "Ambit", MICRO 2017; the sum by the majority of
 * three and of five rows after M. F. Ali, A. Jaiswal, K. Roy, "In-memory low-cost bit-serial addition using
 * commodity DRAM technology", IEEE TCAS-I 67(1), 2019. The nine compute rows and the addresses are this
 * model's.
 */
#ifndef PIMSIM_MODELS_BITSERIAL_ROWS_H
#define PIMSIM_MODELS_BITSERIAL_ROWS_H

#include <stdbool.h>
#include <stdint.h>

/* Word lines of compute rows: A and B hold operands, K carries, N is dual-contact. */
enum pim_bitserial_wordline {
    PIM_BITSERIAL_A0,
    PIM_BITSERIAL_A1,
    PIM_BITSERIAL_B0,
    PIM_BITSERIAL_B1,
    PIM_BITSERIAL_K0,
    PIM_BITSERIAL_K1,
    PIM_BITSERIAL_K2,
    PIM_BITSERIAL_N0,
    PIM_BITSERIAL_N1,
    PIM_BITSERIAL_Z, /* always 0 */
    PIM_BITSERIAL_O, /* always 1 */
    PIM_BITSERIAL_WORDLINES
};

#define PIM_BITSERIAL_LINE(name) (UINT32_C(1) << PIM_BITSERIAL_##name)

/* X(enumerator, text, rows, rows through their negated word lines) */
#define PIM_BITSERIAL_ADDRESS_MAP(X)                                                                         \
    X(ZERO, "0", PIM_BITSERIAL_LINE(Z), 0)                                                                   \
    X(ONE, "1", PIM_BITSERIAL_LINE(O), 0)                                                                    \
    X(OPERAND_A, "A0 A1", PIM_BITSERIAL_LINE(A0) | PIM_BITSERIAL_LINE(A1), 0)                                \
    X(OPERAND_B, "B0 B1", PIM_BITSERIAL_LINE(B0) | PIM_BITSERIAL_LINE(B1), 0)                                \
    X(CARRY_IN, "K0 K1", PIM_BITSERIAL_LINE(K0) | PIM_BITSERIAL_LINE(K1), 0)                                 \
    X(CARRY_OUT, "K0", PIM_BITSERIAL_LINE(K0), 0)                                                            \
    X(MAJORITY3, "A0 B0 K0", PIM_BITSERIAL_LINE(A0) | PIM_BITSERIAL_LINE(B0) | PIM_BITSERIAL_LINE(K0), 0)    \
    X(CARRY_EVEN, "~N0 ~N1 K2", PIM_BITSERIAL_LINE(K2), PIM_BITSERIAL_LINE(N0) | PIM_BITSERIAL_LINE(N1))     \
    X(CARRY_ODD, "~N0 ~N1 K1", PIM_BITSERIAL_LINE(K1), PIM_BITSERIAL_LINE(N0) | PIM_BITSERIAL_LINE(N1))      \
    X(MAJORITY5_EVEN, "A1 B1 K1 N0 N1",                                                                      \
      PIM_BITSERIAL_LINE(A1) | PIM_BITSERIAL_LINE(B1) | PIM_BITSERIAL_LINE(K1) | PIM_BITSERIAL_LINE(N0) |    \
          PIM_BITSERIAL_LINE(N1),                                                                            \
      0)                                                                                                     \
    X(MAJORITY5_ODD, "A1 B1 K2 N0 N1",                                                                       \
      PIM_BITSERIAL_LINE(A1) | PIM_BITSERIAL_LINE(B1) | PIM_BITSERIAL_LINE(K2) | PIM_BITSERIAL_LINE(N0) |    \
          PIM_BITSERIAL_LINE(N1),                                                                            \
      0)                                                                                                     \
    X(FIRST_FACTOR, "A0", PIM_BITSERIAL_LINE(A0), 0)                                                         \
    X(SECOND_FACTOR, "A1", PIM_BITSERIAL_LINE(A1), 0)                                                        \
    X(THIRD_FACTOR, "N0", PIM_BITSERIAL_LINE(N0), 0)                                                         \
    X(AND, "A0 A1 N0", PIM_BITSERIAL_LINE(A0) | PIM_BITSERIAL_LINE(A1) | PIM_BITSERIAL_LINE(N0), 0)          \
    X(NOT, "~N0", 0, PIM_BITSERIAL_LINE(N0))

enum pim_bitserial_address {
#define X(name, text, rows, negated) PIM_BITSERIAL_##name,
    PIM_BITSERIAL_ADDRESS_MAP(X)
#undef X
        PIM_BITSERIAL_ADDRESSES
};

enum { PIM_BITSERIAL_RESERVED_ROWS = 32 };
_Static_assert(PIM_BITSERIAL_ADDRESSES <= (int)PIM_BITSERIAL_RESERVED_ROWS, "every address has a place");

/* A row of a microprogram: a data row by its number, or a reserved address with this bit. */
#define PIM_BITSERIAL_RESERVED (UINT32_C(1) << 31)

struct pim_bitserial_opened {
    uint32_t rows, negated; /* sets of word lines */
};

/* What a reserved address opens, and its rows as text ("A0 B0 K0"). */
struct pim_bitserial_opened pim_bitserial_opens(enum pim_bitserial_address address);
const char *pim_bitserial_address_text(enum pim_bitserial_address address);

/* The row address that stands for `row` in a bank of `rows` rows. */
static inline uint32_t pim_bitserial_row_address(uint32_t row, uint32_t rows)
{
    return row & PIM_BITSERIAL_RESERVED ? rows - PIM_BITSERIAL_RESERVED_ROWS + (row & ~PIM_BITSERIAL_RESERVED)
                                        : row;
}

#endif

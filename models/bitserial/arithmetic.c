/*
 * The microprograms that compute.
 *
 * One bit of an addition, four AAPs, with the carry in K0 and, for even bits, in K1, for odd ones in K2:
 *   1. a_j -> A0 A1        2. b_j -> B0 B1
 *   3. MAJ(A0 B0 K0) -> ~N0 ~N1 K2 (odd: K1): the new carry, in K0 as well; N0 and N1 hold its complement
 *   4. MAJ(A1 B1 K1 N0 N1) (odd: K2) -> result_j: a, b, carry in and twice the complement of the carry out
 *      have a majority exactly when a + b + carry in is odd
 * Before the first bit the carry is set: one AAP. So n bits take 4n + 1.
 *
 * Subtraction adds the complement of b with carry 1: b_j -> ~N0, N0 -> B0 B1 takes one AAP more a bit.
 *
 * Multiplication adds a AND b_i, shifted by i, for i = 1, 2, ... to the partial product a AND b_0. AND is the
 * majority with a row of zeros: four AAPs. A bit of such an addition has seven.
 */
#include "models/bitserial/steps.h"

static void start(struct pim_bitserial_program *program, bool carry)
{
    pim_bitserial_aap(program, carry ? RESERVED_ROW(ONE) : RESERVED_ROW(ZERO), RESERVED_ROW(CARRY_IN));
}

/* Steps 3 and 4 of bit j; A and B are there. */
static void full_adder(struct pim_bitserial_program *program, uint32_t j, uint32_t result)
{
    pim_bitserial_aap(program, RESERVED_ROW(MAJORITY3),
                      j % 2 == 0 ? RESERVED_ROW(CARRY_EVEN) : RESERVED_ROW(CARRY_ODD));
    pim_bitserial_aap(program, j % 2 == 0 ? RESERVED_ROW(MAJORITY5_EVEN) : RESERVED_ROW(MAJORITY5_ODD),
                      result);
}

/* `first` AND `second`, copied to `to`. */
static void and_rows(struct pim_bitserial_program *program, uint32_t first, uint32_t second, uint32_t to)
{
    pim_bitserial_aap(program, first, RESERVED_ROW(FIRST_FACTOR));
    pim_bitserial_aap(program, second, RESERVED_ROW(SECOND_FACTOR));
    pim_bitserial_aap(program, RESERVED_ROW(ZERO), RESERVED_ROW(THIRD_FACTOR));
    pim_bitserial_aap(program, RESERVED_ROW(AND), to);
}

void pim_bitserial_write_add(struct pim_bitserial_program *program, uint32_t a, uint32_t b, uint32_t result,
                             uint32_t bits, bool carry_out)
{
    start(program, false);
    for (uint32_t j = 0; j < bits; j++) {
        pim_bitserial_aap(program, a + j, RESERVED_ROW(OPERAND_A));
        pim_bitserial_aap(program, b + j, RESERVED_ROW(OPERAND_B));
        full_adder(program, j, result + j);
    }
    if (carry_out)
        pim_bitserial_aap(program, RESERVED_ROW(CARRY_OUT), result + bits);
}

void pim_bitserial_write_subtract(struct pim_bitserial_program *program, uint32_t a, uint32_t b,
                                  uint32_t result, uint32_t bits)
{
    start(program, true);
    for (uint32_t j = 0; j < bits; j++) {
        pim_bitserial_aap(program, a + j, RESERVED_ROW(OPERAND_A));
        pim_bitserial_aap(program, b + j, RESERVED_ROW(NOT));
        pim_bitserial_aap(program, RESERVED_ROW(THIRD_FACTOR), RESERVED_ROW(OPERAND_B));
        full_adder(program, j, result + j);
    }
}

/* The same, or its complement: by A0, which holds the AND as well, through ~N0. The copy to B is for the AND
 * alone: only a second activation ends it. */
static void partial_product(struct pim_bitserial_program *program, uint32_t first, uint32_t second,
                            bool negated, uint32_t to)
{
    and_rows(program, first, second, negated ? RESERVED_ROW(OPERAND_B) : to);
    if (!negated)
        return;
    pim_bitserial_aap(program, RESERVED_ROW(FIRST_FACTOR), RESERVED_ROW(NOT));
    pim_bitserial_aap(program, RESERVED_ROW(THIRD_FACTOR), to);
}

/*
 * Signed factors (Baugh and Wooley): the partial products of one sign bit are complemented, and 2^n and
 * 2^(2n - 1) are added. The first is a one in the place of the zero above row 0, the second complements the
 * last carry.
 */
void pim_bitserial_write_multiply(struct pim_bitserial_program *program,
                                  const struct pim_bitserial_operation *operation)
{
    const uint32_t a = operation->a, b = operation->b, result = operation->result, bits = operation->bits;
    const uint32_t result_bits = operation->result_bits;
    const bool sign = pim_bitserial_sign_counts(operation);
    for (uint32_t j = 0; j < bits; j++)
        partial_product(program, a + j, b, sign && j == bits - 1, result + j);
    uint32_t filled = bits; /* rows of the result that hold something */
    for (uint32_t i = 1; i < bits; i++) {
        uint32_t width = bits < result_bits - i ? bits : result_bits - i;
        start(program, false);
        for (uint32_t j = 0; j < width; j++) {
            partial_product(program, a + j, b + i, sign && (i == bits - 1) != (j == bits - 1),
                            RESERVED_ROW(OPERAND_B));
            pim_bitserial_aap(program,
                              i + j < filled          ? result + i + j
                              : sign && i + j == bits ? RESERVED_ROW(ONE)
                                                      : RESERVED_ROW(ZERO),
                              RESERVED_ROW(OPERAND_A));
            full_adder(program, j, result + i + j);
        }
        filled = i + width;
        if (filled == result_bits)
            continue;
        if (sign && filled == 2 * bits - 1) {
            pim_bitserial_aap(program, RESERVED_ROW(CARRY_OUT), RESERVED_ROW(NOT));
            pim_bitserial_aap(program, RESERVED_ROW(THIRD_FACTOR), result + filled++);
        } else {
            pim_bitserial_aap(program, RESERVED_ROW(CARRY_OUT), result + filled++);
        }
    }
    for (; filled < result_bits; filled++)
        pim_bitserial_aap(program, RESERVED_ROW(ZERO), result + filled);
}

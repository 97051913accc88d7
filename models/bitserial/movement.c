/*
 * The microprograms that move: copies inside the bank, and what goes through the channel's buffer.
 *
 * A reduction adds in log2(width) levels. At level l with shift s = 2^l, column c of every group of 2s
 * columns gets the value of column c + s: all rows of the number are read and written back moved by s
 * columns, only in the column accesses that hold a column which counts; then the two numbers are added, and
 * the sum is one bit longer. Other columns hold nothing of use.
 */
#include "models/bitserial/steps.h"

void pim_bitserial_write_copy(struct pim_bitserial_program *program, uint32_t a, uint32_t result,
                              uint32_t bits)
{
    for (uint32_t j = 0; j < bits; j++)
        pim_bitserial_aap(program, a + j, result + j);
}

void pim_bitserial_write_transpose(struct pim_bitserial_program *program,
                                   const struct pim_bitserial_operation *operation,
                                   const struct pim_bitserial_bank_shape *shape)
{
    uint32_t words = pim_bitserial_word_bits(operation->bits);
    for (uint32_t i = 0; i < words; i++)
        pim_bitserial_append(program, &(struct pim_bitserial_step){.kind = PIM_BITSERIAL_STEP_READ,
                                                                   .row = operation->a + i,
                                                                   .second = i,
                                                                   .access_step = 1,
                                                                   .accesses = shape->accesses});
    for (uint32_t j = 0; j < operation->bits; j++)
        pim_bitserial_append(program, &(struct pim_bitserial_step){.kind = PIM_BITSERIAL_STEP_WRITE_BIT,
                                                                   .row = operation->result + j,
                                                                   .shift = j,
                                                                   .access_step = 1,
                                                                   .accesses = shape->accesses});
    program->slots = words;
}

void pim_bitserial_write_reduce(struct pim_bitserial_program *program,
                                const struct pim_bitserial_operation *operation,
                                const struct pim_bitserial_bank_shape *shape)
{
    uint32_t access_bits = shape->access_bytes * 8, bits = operation->bits, from = operation->a;
    for (uint32_t shift = 1; shift < operation->width; shift *= 2, bits++) {
        /* Below the width of an access every access counts; above it one in 2 x shift columns does. */
        uint32_t step = shift < access_bits ? 1 : 2 * shift / access_bits;
        uint32_t source = shift < access_bits ? 0 : shift / access_bits;
        for (uint32_t j = 0; j < bits; j++)
            pim_bitserial_append(program, &(struct pim_bitserial_step){.kind = PIM_BITSERIAL_STEP_READ,
                                                                       .row = from + j,
                                                                       .second = j,
                                                                       .first_access = source,
                                                                       .access_step = step,
                                                                       .accesses = shape->accesses / step});
        for (uint32_t j = 0; j < bits; j++)
            pim_bitserial_append(program, &(struct pim_bitserial_step){.kind = PIM_BITSERIAL_STEP_WRITE,
                                                                       .row = operation->scratch + j,
                                                                       .second = j,
                                                                       .shift = shift,
                                                                       .access_step = step,
                                                                       .accesses = shape->accesses / step});
        if (program->slots < bits)
            program->slots = bits;
        pim_bitserial_write_add(program, from, operation->scratch, operation->result, bits, true);
        from = operation->result;
    }
}

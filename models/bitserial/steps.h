/* Appending steps to a microprogram; shared by the files that write them. */
#ifndef PIMSIM_MODELS_BITSERIAL_STEPS_H
#define PIMSIM_MODELS_BITSERIAL_STEPS_H

#include "models/bitserial/program.h"

#define RESERVED_ROW(name) (PIM_BITSERIAL_RESERVED | (uint32_t)PIM_BITSERIAL_##name)

static inline void pim_bitserial_aap(struct pim_bitserial_program *program, uint32_t from, uint32_t to)
{
    pim_bitserial_append(
        program, &(struct pim_bitserial_step){.kind = PIM_BITSERIAL_STEP_AAP, .row = from, .second = to});
}

/* arithmetic.c */
void pim_bitserial_write_add(struct pim_bitserial_program *program, uint32_t a, uint32_t b, uint32_t result,
                             uint32_t bits, bool carry_out);
void pim_bitserial_write_subtract(struct pim_bitserial_program *program, uint32_t a, uint32_t b,
                                  uint32_t result, uint32_t bits);
void pim_bitserial_write_multiply(struct pim_bitserial_program *program,
                                  const struct pim_bitserial_operation *operation);

/* movement.c */
void pim_bitserial_write_copy(struct pim_bitserial_program *program, uint32_t a, uint32_t result,
                              uint32_t bits);
void pim_bitserial_write_transpose(struct pim_bitserial_program *program,
                                   const struct pim_bitserial_operation *operation,
                                   const struct pim_bitserial_bank_shape *shape);
void pim_bitserial_write_reduce(struct pim_bitserial_program *program,
                                const struct pim_bitserial_operation *operation,
                                const struct pim_bitserial_bank_shape *shape);

#endif

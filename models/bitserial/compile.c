/* The choice of the microprogram. */
#include "models/bitserial/steps.h"

#include <assert.h>

enum pim_status pim_bitserial_compile(struct pim_bitserial_program *program,
                                      const struct pim_bitserial_operation *operation,
                                      const struct pim_bitserial_bank_shape *shape, struct pim_error *error)
{
    const struct pim_bitserial_operation *o = operation;
    switch (o->kind) {
    case PIM_BITSERIAL_OPERATION_ADD:
        pim_bitserial_write_add(program, o->a, o->b, o->result, o->bits, o->carry_out);
        break;
    case PIM_BITSERIAL_OPERATION_SUBTRACT:
        pim_bitserial_write_subtract(program, o->a, o->b, o->result, o->bits);
        break;
    case PIM_BITSERIAL_OPERATION_MULTIPLY:
        pim_bitserial_write_multiply(program, o);
        break;
    case PIM_BITSERIAL_OPERATION_COPY:
        pim_bitserial_write_copy(program, o->a, o->result, o->bits);
        break;
    case PIM_BITSERIAL_OPERATION_TRANSPOSE:
        pim_bitserial_write_transpose(program, o, shape);
        break;
    case PIM_BITSERIAL_OPERATION_REDUCE:
        pim_bitserial_write_reduce(program, o, shape);
        break;
    case PIM_BITSERIAL_OPERATIONS:
    default:
        assert(false && "no such operation");
    }
    return program->out_of_memory ? pim_fail(error, PIM_NO_MEMORY, "out of memory for a microprogram")
                                  : PIM_OK;
}

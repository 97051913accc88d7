#include "traces/fields.h"

#include <stddef.h>
#include <string.h>

#define PLACE(part, member)                                                                                  \
    .offset =                                                                                                \
        (uint8_t)(offsetof(struct pim_instruction, u.part.member) - offsetof(struct pim_instruction, u)),    \
    .size = sizeof(((struct pim_instruction *)NULL)->u.part.member)

static const struct pim_field memory_fields[] = {
    {.name = "address", PLACE(memory, address), .required = true, .hexadecimal = true},
    {.name = "bytes", PLACE(memory, bytes), .required = true},
    {.name = "stride", PLACE(memory, stride)},
    {.name = "count", PLACE(memory, count), .standard = 1},
    {.name = "step", PLACE(memory, step), .is_signed = true},
    {.name = NULL},
};

static const struct pim_field matrix_fields[] = {
    {.name = "m", PLACE(matrix, m), .required = true},
    {.name = "n", PLACE(matrix, n), .required = true},
    {.name = "k", PLACE(matrix, k), .required = true},
    {.name = "input_bits", PLACE(matrix, input_bits), .standard = 8},
    {.name = "weight_bits", PLACE(matrix, weight_bits), .standard = 8},
    {.name = "output_bits", PLACE(matrix, output_bits), .standard = 8},
    {.name = NULL},
};

static const struct pim_field mvm_fields[] = {
    {.name = "group", PLACE(mvm, group), .required = true},
    {.name = "windows", PLACE(mvm, windows), .standard = 1},
    {.name = "input_address", PLACE(mvm, input_address), .hexadecimal = true},
    {.name = "input_bytes", PLACE(mvm, input_bytes)},
    {.name = "output_address", PLACE(mvm, output_address), .hexadecimal = true},
    {.name = "output_bytes", PLACE(mvm, output_bytes)},
    {.name = NULL},
};

static const struct pim_field bit_serial_fields[] = {
    {.name = "bits", PLACE(bit_serial, bits), .required = true},
    {.name = "rows", PLACE(bit_serial, rows), .required = true},
    {.name = "first_bank", PLACE(bit_serial, first_bank)},
    {.name = "banks", PLACE(bit_serial, banks), .standard = 1},
    {.name = "count", PLACE(bit_serial, count), .standard = 1},
    {.name = NULL},
};

static const struct pim_field row_compute_fields[] = {
    {.name = "bits", PLACE(row_compute, bits), .required = true},
    {.name = "size", PLACE(row_compute, size)},
    {.name = "source", PLACE(row_compute, source), .required = true},
    {.name = "second", PLACE(row_compute, second)},
    {.name = "result", PLACE(row_compute, result), .required = true},
    {.name = "first_bank", PLACE(row_compute, first_bank)},
    {.name = "banks", PLACE(row_compute, banks), .standard = 1},
    {.name = "bank_stride", PLACE(row_compute, bank_stride), .standard = 1},
    {.name = "count", PLACE(row_compute, count), .standard = 1},
    {.name = NULL},
};

static const struct pim_field row_transpose_fields[] = {
    {.name = "bits", PLACE(row_compute, bits), .required = true},
    {.name = "source", PLACE(row_compute, source), .required = true},
    {.name = "result", PLACE(row_compute, result), .required = true},
    {.name = "first_bank", PLACE(row_compute, first_bank)},
    {.name = "banks", PLACE(row_compute, banks), .standard = 1},
    {.name = "bank_stride", PLACE(row_compute, bank_stride), .standard = 1},
    {.name = "count", PLACE(row_compute, count), .standard = 1},
    {.name = NULL},
};

static const struct pim_field row_move_fields[] = {
    {.name = "source", PLACE(row_move, source), .required = true},
    {.name = "result", PLACE(row_move, result), .required = true},
    {.name = "rows", PLACE(row_move, rows), .required = true},
    {.name = "shift", PLACE(row_move, shift)},
    {.name = "first_bank", PLACE(row_move, first_bank)},
    {.name = "banks", PLACE(row_move, banks), .standard = 1},
    {.name = "bank_stride", PLACE(row_move, bank_stride), .standard = 1},
    {.name = "to_bank", PLACE(row_move, to_bank)},
    {.name = NULL},
};

static const struct pim_field row_message_fields[] = {
    {.name = "peer", PLACE(row_message, peer), .required = true},
    {.name = "tag", PLACE(row_message, tag)},
    {.name = "row", PLACE(row_message, row), .required = true},
    {.name = "rows", PLACE(row_message, rows), .required = true},
    {.name = "first_bank", PLACE(row_message, first_bank)},
    {.name = "banks", PLACE(row_message, banks), .standard = 1},
    {.name = "bank_stride", PLACE(row_message, bank_stride), .standard = 1},
    {.name = NULL},
};

static const struct pim_field vector_fields[] = {
    {.name = "rows", PLACE(vector, rows), .required = true},
    {.name = "elements", PLACE(vector, elements), .required = true},
    {.name = "release", PLACE(vector, release)},
    {.name = "source_address", PLACE(vector, source_address), .hexadecimal = true},
    {.name = "destination_address", PLACE(vector, destination_address), .hexadecimal = true},
    {.name = "bits", PLACE(vector, bits), .standard = 8},
    {.name = NULL},
};

static const struct pim_field transfer_fields[] = {
    {.name = "address", PLACE(transfer, address), .required = true, .hexadecimal = true},
    {.name = "local", PLACE(transfer, local), .required = true, .hexadecimal = true},
    {.name = "bytes", PLACE(transfer, bytes), .required = true},
    {.name = "count", PLACE(transfer, count), .standard = 1},
    {.name = "stride", PLACE(transfer, stride)},
    {.name = NULL},
};

static const struct pim_field local_vector_fields[] = {
    {.name = "elements", PLACE(local_vector, elements), .required = true},
    {.name = "destination", PLACE(local_vector, destination), .required = true, .hexadecimal = true},
    {.name = "source", PLACE(local_vector, source), .required = true, .hexadecimal = true},
    {.name = "second", PLACE(local_vector, second), .hexadecimal = true},
    {.name = "bits", PLACE(local_vector, bits), .standard = 16},
    {.name = "immediate", PLACE(local_vector, immediate), .is_signed = true},
    {.name = NULL},
};

static const struct pim_field local_copy_fields[] = {
    {.name = "destination", PLACE(local_copy, destination), .required = true, .hexadecimal = true},
    {.name = "source", PLACE(local_copy, source), .required = true, .hexadecimal = true},
    {.name = "bytes", PLACE(local_copy, bytes), .required = true},
    {.name = "count", PLACE(local_copy, count), .standard = 1},
    {.name = "destination_stride", PLACE(local_copy, destination_stride)},
    {.name = "source_stride", PLACE(local_copy, source_stride)},
    {.name = NULL},
};

static const struct pim_field local_write_fields[] = {
    {.name = "destination", PLACE(local_write, destination), .required = true, .hexadecimal = true},
    {.name = "bytes", PLACE(local_write, bytes), .required = true},
    {.name = "count", PLACE(local_write, count), .standard = 1},
    {.name = "stride", PLACE(local_write, stride)},
    {.name = "value", PLACE(local_write, value)},
    {.name = NULL},
};

static const struct pim_field network_fields[] = {
    {.name = "peer", PLACE(network, peer), .required = true},
    {.name = "tag", PLACE(network, tag)},
    {.name = "address", PLACE(network, address), .hexadecimal = true},
    {.name = "bytes", PLACE(network, bytes), .required = true},
    {.name = NULL},
};

static const struct pim_field phase_fields[] = {
    {.name = "phase", PLACE(control, phase), .required = true},
    {.name = NULL},
};

static const struct pim_field repeat_fields[] = {
    {.name = "count", PLACE(control, count), .required = true},
    {.name = NULL},
};

static const struct pim_field no_fields[] = {{.name = NULL}};

const struct pim_field *pim_opcode_fields(unsigned opcode)
{
    static const struct pim_field *const fields[PIM_OPCODES] = {
        [PIM_OP_PHASE_BEGIN] = phase_fields,
        [PIM_OP_PHASE_END] = phase_fields,
        [PIM_OP_JOIN] = no_fields,
        [PIM_OP_REPEAT] = repeat_fields,
        [PIM_OP_LOAD] = memory_fields,
        [PIM_OP_STORE] = memory_fields,
        [PIM_OP_MATRIX] = matrix_fields,
        [PIM_OP_MVM] = mvm_fields,
        [PIM_OP_BIT_SERIAL] = bit_serial_fields,
        [PIM_OP_VECTOR] = vector_fields,
        [PIM_OP_SEND] = network_fields,
        [PIM_OP_RECEIVE] = network_fields,
        [PIM_OP_LOCAL_LOAD] = transfer_fields,
        [PIM_OP_LOCAL_STORE] = transfer_fields,
        [PIM_OP_LOCAL_VECTOR] = local_vector_fields,
        [PIM_OP_LOCAL_COPY] = local_copy_fields,
        [PIM_OP_LOCAL_WRITE] = local_write_fields,
        [PIM_OP_ROW_COMPUTE] = row_compute_fields,
        [PIM_OP_ROW_TRANSPOSE] = row_transpose_fields,
        [PIM_OP_ROW_MOVE] = row_move_fields,
        [PIM_OP_ROW_SEND] = row_message_fields,
        [PIM_OP_ROW_RECEIVE] = row_message_fields,
    };
    return fields[opcode];
}

enum pim_detail_kind pim_opcode_detail(unsigned opcode)
{
    static const enum pim_detail_kind kinds[PIM_OPCODES] = {
        [PIM_OP_LOAD] = PIM_DETAIL_BUFFER,       [PIM_OP_STORE] = PIM_DETAIL_BUFFER,
        [PIM_OP_VECTOR] = PIM_DETAIL_VECTOR,     [PIM_OP_BIT_SERIAL] = PIM_DETAIL_BIT_SERIAL,
        [PIM_OP_MATRIX] = PIM_DETAIL_FLAGS,      [PIM_OP_LOCAL_VECTOR] = PIM_DETAIL_LOCAL,
        [PIM_OP_SEND] = PIM_DETAIL_MESSAGE,      [PIM_OP_RECEIVE] = PIM_DETAIL_MESSAGE,
        [PIM_OP_ROW_MOVE] = PIM_DETAIL_REACH,    [PIM_OP_ROW_SEND] = PIM_DETAIL_REACH,
        [PIM_OP_ROW_RECEIVE] = PIM_DETAIL_REACH, [PIM_OP_ROW_COMPUTE] = PIM_DETAIL_ROW,
    };
    return kinds[opcode];
}

const char *pim_matrix_flag_name(unsigned bit)
{
    static const char *const names[] = {"release_input", "release_weight", "open_output", "accumulate"};
    _Static_assert(PIM_MATRIX_RELEASE_INPUT == 1 && PIM_MATRIX_RELEASE_WEIGHT == 2 &&
                       PIM_MATRIX_OPEN_OUTPUT == 4 && PIM_MATRIX_ACCUMULATE == 8 && PIM_MATRIX_FLAGS == 15,
                   "a name for each flag, in the order of the bits");
    return bit < sizeof names / sizeof names[0] ? names[bit] : NULL;
}

const char *pim_detail_name(enum pim_detail_kind kind, unsigned value)
{
    switch (kind) {
    case PIM_DETAIL_BUFFER:
        return pim_buffer_name(value);
    case PIM_DETAIL_VECTOR:
        return pim_vector_name(value);
    case PIM_DETAIL_BIT_SERIAL:
        return pim_bit_serial_name(value);
    case PIM_DETAIL_LOCAL:
        return pim_local_name(value);
    case PIM_DETAIL_MESSAGE:
        return pim_message_name(value);
    case PIM_DETAIL_ROW:
        return pim_row_operation_name(value);
    case PIM_DETAIL_REACH:
        return pim_reach_name(value);
    case PIM_DETAIL_FLAGS:
        return pim_matrix_flag_name(value);
    case PIM_DETAIL_NONE:
        break;
    }
    return NULL;
}

uint64_t pim_field_get(const struct pim_instruction *instruction, const struct pim_field *field)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < field->size; i++)
        value |= (uint64_t)instruction->u.raw[field->offset + i] << (8 * i);
    if (field->is_signed && field->size == 4)
        value = (uint64_t)(int64_t)(int32_t)(uint32_t)value;
    return value;
}

void pim_field_set(struct pim_instruction *instruction, const struct pim_field *field, uint64_t value)
{
    for (unsigned i = 0; i < field->size; i++)
        instruction->u.raw[field->offset + i] = (uint8_t)(value >> (8 * i));
}

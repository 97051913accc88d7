#include "traces/text/fields.h"

#include <stddef.h>

enum { NEEDED = PIM_FIELD_NEEDED, OPERANDS = 8 };
_Static_assert(offsetof(struct pim_instruction, u) == OPERANDS,
               "offsets in the table are those of the record");

#define FORM(form) static const struct pim_field form##_fields[] = {
#define FIELD(form, offset_, type, member, standard_, look_, ...)                                            \
    {.name = #member,                                                                                        \
     .offset = (offset_)-OPERANDS,                                                                           \
     .size = sizeof(type),                                                                                   \
     .look = PIM_FIELD_##look_,                                                                              \
     .standard = (standard_)},
#define FORM_END(form)                                                                                       \
    {                                                                                                        \
        .name = NULL                                                                                         \
    }                                                                                                        \
    }                                                                                                        \
    ;
#include "traces/opcodes.def"

const struct pim_field *pim_opcode_fields(unsigned opcode)
{
    static const struct pim_field *const fields[] = {
#define OPCODE(number, name, mnemonic, engine, units, form, ...) [number] = form##_fields,
#include "traces/opcodes.def"
    };
    return fields[opcode];
}

#define FORM(form) enum {
#define FIELD(form, offset, type, member, ...) FIELD_##form##_##member,
#define FORM_END(form)                                                                                       \
    FIELDS_##form                                                                                            \
    }                                                                                                        \
    ;                                                                                                        \
    _Static_assert((int)FIELDS_##form <= (int)PIM_FIELDS_MOST, #form);
#include "traces/opcodes.def"

uint32_t pim_opcode_uses(unsigned opcode)
{
    static const uint32_t used[] = {
#define ALL UINT32_MAX
#define USE(form, member) (1U << FIELD_##form##_##member)
#define OPCODE(number, name, mnemonic, engine, units, form, uses, ...) [number] = uses,
#include "traces/opcodes.def"
    };
    return used[opcode];
}

enum pim_detail_kind pim_opcode_detail(unsigned opcode)
{
    static const unsigned char kinds[] = {
#define OPCODE(number, name, mnemonic, engine, units, form, uses, detail, text)                              \
    [number] = PIM_DETAIL_##detail,
#include "traces/opcodes.def"
    };
    return kinds[opcode];
}

unsigned pim_detail_range(enum pim_detail_kind kind, unsigned *least, const char **what)
{
    static const struct {
        unsigned least, most;
        const char *what;
    } ranges[] = {
#define X(name, least, most, what) [PIM_DETAIL_##name] = {least, most, what},
        PIM_DETAIL_MAP(X)
#undef X
    };
    *least = ranges[kind].least;
    *what = ranges[kind].what;
    return ranges[kind].most;
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
    case PIM_DETAIL_MOVE:
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
    if (field->look == PIM_FIELD_SIGNED && field->size == 4)
        value = (uint64_t)(int64_t)(int32_t)(uint32_t)value;
    return value;
}

void pim_field_set(struct pim_instruction *instruction, const struct pim_field *field, uint64_t value)
{
    for (unsigned i = 0; i < field->size; i++)
        instruction->u.raw[field->offset + i] = (uint8_t)(value >> (8 * i));
}

#include "traces/instruction.h"

#include <stddef.h>

/* Numbers without gaps: a name for each. */
#define X(...) +1
#define OPCODE(...) +1
_Static_assert(PIM_OPCODES == 0
#include "traces/opcodes.def"
               ,
               "opcodes count up from 0");
_Static_assert(PIM_BUFFERS == 0 PIM_BUFFER_MAP(X), "buffers count up from 0");
_Static_assert(PIM_VECTORS == 0 PIM_VECTOR_MAP(X), "vector operations count up from 0");
_Static_assert(PIM_LOCALS == 0 PIM_LOCAL_MAP(X), "local vector operations count up from 0");
_Static_assert(PIM_BIT_SERIALS == 0 PIM_BIT_SERIAL_MAP(X), "bit-serial operations count up from 0");
_Static_assert(PIM_ROW_OPERATIONS == 0 PIM_ROW_OPERATION_MAP(X), "row operations count up from 0");
_Static_assert(PIM_REACHES == 0 PIM_REACH_MAP(X), "reaches count up from 0");
_Static_assert(PIM_MESSAGES == 0 PIM_MESSAGE_MAP(X), "kinds of messages count up from 0");
_Static_assert(PIM_MATRIX_FLAGS + 1 == 1 << (0 PIM_MATRIX_MAP(X)), "flags count up from bit 0");
#undef X

/* Operands lie where the table says, one behind the other to the end of the record. */
#define AT(form, place, member)                                                                              \
    _Static_assert(offsetof(struct pim_instruction, u.form.member) == (place), #form " " #member);
#define FIELD(form, offset, type, member, ...) AT(form, offset, member)
#define RESERVED(form, offset, type, member) AT(form, offset, member)
#define RESERVED_WORDS(form, offset, member, count) AT(form, offset, member)
#define FORM_END(form) _Static_assert(sizeof(struct pim_operands_##form) == 24, #form " fills the record");
#include "traces/opcodes.def"

/* The texts of a map. */
#define X(number, name, text, ...) [number] = text,
#define NAMES(function, map)                                                                                 \
    const char *function(unsigned value)                                                                     \
    {                                                                                                        \
        static const char *const names[] = {map(X)};                                                         \
        return value < sizeof names / sizeof names[0] ? names[value] : NULL;                                 \
    }
NAMES(pim_buffer_name, PIM_BUFFER_MAP)
NAMES(pim_vector_name, PIM_VECTOR_MAP)
NAMES(pim_bit_serial_name, PIM_BIT_SERIAL_MAP)
NAMES(pim_local_name, PIM_LOCAL_MAP)
NAMES(pim_row_operation_name, PIM_ROW_OPERATION_MAP)
NAMES(pim_reach_name, PIM_REACH_MAP)
NAMES(pim_message_name, PIM_MESSAGE_MAP)
NAMES(pim_matrix_flag_name, PIM_MATRIX_MAP)
#undef X

const char *pim_opcode_name(unsigned opcode)
{
    static const char *const names[] = {
#define OPCODE(number, name, mnemonic, ...) [number] = mnemonic,
#include "traces/opcodes.def"
    };
    return opcode < PIM_OPCODES ? names[opcode] : NULL;
}

const unsigned char pim_local_vectors_read[] = {
#define X(number, name, text, vectors, meaning) [number] = vectors,
    PIM_LOCAL_MAP(X)
#undef X
};

const char *pim_engine_name(unsigned engine)
{
    static const char *const names[] = {"matrix", "vector", "memory", "send", "receive", "control"};
    return engine < PIM_ENGINES ? names[engine] : NULL;
}

const unsigned char pim_opcode_engines[] = {
#define OPCODE(number, name, mnemonic, engine, ...) [number] = PIM_ENGINE_##engine,
#include "traces/opcodes.def"
};

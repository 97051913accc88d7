#include "traces/instruction.h"

#include <stddef.h>

/* Numbers without gaps: a name for each. */
#define X(...) +1
_Static_assert(PIM_OPCODES == 0 PIM_OPCODE_MAP(X), "opcodes count up from 0");
_Static_assert(PIM_BUFFERS == 0 PIM_BUFFER_MAP(X), "buffers count up from 0");
_Static_assert(PIM_VECTORS == 0 PIM_VECTOR_MAP(X), "vector operations count up from 0");
_Static_assert(PIM_LOCALS == 0 PIM_LOCAL_MAP(X), "local vector operations count up from 0");
_Static_assert(PIM_BIT_SERIALS == 0 PIM_BIT_SERIAL_MAP(X), "bit-serial operations count up from 0");
_Static_assert(PIM_ROW_OPERATIONS == 0 PIM_ROW_OPERATION_MAP(X), "row operations count up from 0");
_Static_assert(PIM_REACHES == 0 PIM_REACH_MAP(X), "reaches count up from 0");
_Static_assert(PIM_MESSAGES == 0 PIM_MESSAGE_MAP(X), "kinds of messages count up from 0");
#undef X

const char *pim_opcode_name(unsigned opcode)
{
    static const char *const names[] = {
#define X(number, name, mnemonic, engine) [number] = mnemonic,
        PIM_OPCODE_MAP(X)
#undef X
    };
    return opcode < PIM_OPCODES ? names[opcode] : NULL;
}

const char *pim_buffer_name(unsigned buffer)
{
    static const char *const names[] = {
#define X(number, name, text) [number] = text,
        PIM_BUFFER_MAP(X)
#undef X
    };
    return buffer < PIM_BUFFERS ? names[buffer] : NULL;
}

const char *pim_vector_name(unsigned operation)
{
    static const char *const names[] = {
#define X(number, name, mnemonic) [number] = mnemonic,
        PIM_VECTOR_MAP(X)
#undef X
    };
    return operation < PIM_VECTORS ? names[operation] : NULL;
}

const char *pim_bit_serial_name(unsigned operation)
{
    static const char *const names[] = {
#define X(number, name, mnemonic) [number] = mnemonic,
        PIM_BIT_SERIAL_MAP(X)
#undef X
    };
    return operation < PIM_BIT_SERIALS ? names[operation] : NULL;
}

const char *pim_local_name(unsigned operation)
{
    static const char *const names[] = {
#define X(number, name, mnemonic, vectors) [number] = mnemonic,
        PIM_LOCAL_MAP(X)
#undef X
    };
    return operation < PIM_LOCALS ? names[operation] : NULL;
}

const char *pim_row_operation_name(unsigned operation)
{
    static const char *const names[] = {
#define X(number, name, mnemonic) [number] = mnemonic,
        PIM_ROW_OPERATION_MAP(X)
#undef X
    };
    return operation < PIM_ROW_OPERATIONS ? names[operation] : NULL;
}

const char *pim_reach_name(unsigned reach)
{
    static const char *const names[] = {
#define X(number, name, text) [number] = text,
        PIM_REACH_MAP(X)
#undef X
    };
    return reach < PIM_REACHES ? names[reach] : NULL;
}

const char *pim_message_name(unsigned kind)
{
    static const char *const names[] = {
#define X(number, name, text) [number] = text,
        PIM_MESSAGE_MAP(X)
#undef X
    };
    return kind < PIM_MESSAGES ? names[kind] : NULL;
}

unsigned pim_local_sources(unsigned operation)
{
    static const unsigned char vectors_read[] = {
#define X(number, name, mnemonic, vectors) [number] = vectors,
        PIM_LOCAL_MAP(X)
#undef X
    };
    return vectors_read[operation];
}

const char *pim_engine_name(unsigned engine)
{
    static const char *const names[] = {"matrix", "vector", "memory", "send", "receive", "control"};
    return engine < PIM_ENGINES ? names[engine] : NULL;
}

enum pim_engine pim_opcode_engine(unsigned opcode)
{
    static const enum pim_engine engines[] = {
#define X(number, name, mnemonic, engine) [number] = engine,
        PIM_OPCODE_MAP(X)
#undef X
    };
    return engines[opcode];
}

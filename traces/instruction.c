#include "traces/instruction.h"

#include <stddef.h>

const char *pim_opcode_name(unsigned opcode)
{
    static const char *const names[] = {
#define X(name, mnemonic, engine) mnemonic,
        PIM_OPCODE_MAP(X)
#undef X
    };
    return opcode < PIM_OPCODES ? names[opcode] : NULL;
}

const char *pim_buffer_name(unsigned buffer)
{
    static const char *const names[] = {
#define X(name, text) text,
        PIM_BUFFER_MAP(X)
#undef X
    };
    return buffer < PIM_BUFFERS ? names[buffer] : NULL;
}

const char *pim_vector_name(unsigned operation)
{
    static const char *const names[] = {
#define X(name, mnemonic) mnemonic,
        PIM_VECTOR_MAP(X)
#undef X
    };
    return operation < PIM_VECTORS ? names[operation] : NULL;
}

const char *pim_bit_serial_name(unsigned operation)
{
    static const char *const names[] = {
#define X(name, mnemonic) mnemonic,
        PIM_BIT_SERIAL_MAP(X)
#undef X
    };
    return operation < PIM_BIT_SERIALS ? names[operation] : NULL;
}

const char *pim_local_name(unsigned operation)
{
    static const char *const names[] = {
#define X(name, mnemonic, vectors) mnemonic,
        PIM_LOCAL_MAP(X)
#undef X
    };
    return operation < PIM_LOCALS ? names[operation] : NULL;
}

const char *pim_message_name(unsigned kind)
{
    static const char *const names[] = {
#define X(name, text) text,
        PIM_MESSAGE_MAP(X)
#undef X
    };
    return kind < PIM_MESSAGES ? names[kind] : NULL;
}

unsigned pim_local_sources(unsigned operation)
{
    static const unsigned char vectors_read[] = {
#define X(name, mnemonic, vectors) vectors,
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
#define X(name, mnemonic, engine) engine,
        PIM_OPCODE_MAP(X)
#undef X
    };
    return engines[opcode];
}

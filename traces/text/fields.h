/*
 * The fields of each opcode as the text form writes them: one table for assembler and disassembler, so that
 * they cannot differ.
 */
#ifndef PIMSIM_TRACES_TEXT_FIELDS_H
#define PIMSIM_TRACES_TEXT_FIELDS_H

#include "traces/instruction.h"

#include <stdint.h>

/* What `detail` is: nothing, one word behind the mnemonic (that of a message may be left out), or flags
 * anywhere. X(name, least, most, what) */
#define PIM_DETAIL_MAP(X)                                                                                    \
    X(NONE, 0, 0, "detail")                                                                                  \
    X(BUFFER, 0, PIM_BUFFERS - 1, "buffer")                                                                  \
    X(VECTOR, 0, PIM_VECTORS - 1, "operation")                                                               \
    X(BIT_SERIAL, 0, PIM_BIT_SERIALS - 1, "operation")                                                       \
    X(FLAGS, 0, PIM_MATRIX_FLAGS, "flags")                                                                   \
    X(LOCAL, 0, PIM_LOCALS - 1, "operation")                                                                 \
    X(MESSAGE, 0, PIM_MESSAGES - 1, "kind of message")                                                       \
    X(ROW, 0, PIM_ROW_OPERATIONS - 1, "operation")                                                           \
    X(MOVE, PIM_REACH_COLUMN, PIM_REACH_BANK, "reach")    /* within a channel */                             \
    X(REACH, PIM_REACH_CHANNEL, PIM_REACH_STACK, "reach") /* beyond it */

enum pim_detail_kind {
#define X(name, ...) PIM_DETAIL_##name,
    PIM_DETAIL_MAP(X)
#undef X
};

/* How a field is written; decimal and hexadecimal are read alike. */
enum pim_field_look { PIM_FIELD_DECIMAL, PIM_FIELD_HEXADECIMAL, PIM_FIELD_SIGNED };

struct pim_field {
    const char *name;         /* NULL ends a table */
    uint8_t offset;           /* in u */
    uint8_t size;             /* 1, 2, 4 or 8 bytes */
    enum pim_field_look look; /* SIGNED: two's complement */
    int standard;             /* the value at which it is left out; negative: it must be given */
};

enum { PIM_FIELD_NEEDED = -1, PIM_FIELDS_MOST = 9 };

/* The fields of an opcode's form, ended by an entry without name, and a bit for each that the opcode uses.
 * Control instructions are written without names. */
const struct pim_field *pim_opcode_fields(unsigned opcode);
uint32_t pim_opcode_uses(unsigned opcode);
enum pim_detail_kind pim_opcode_detail(unsigned opcode);

/* The values that `detail` may have, *least to what is returned, and what it is. */
unsigned pim_detail_range(enum pim_detail_kind kind, unsigned *least, const char **what);

/* Name of a value of `detail`; FLAGS: of bit 1 << value. NULL beyond. */
const char *pim_detail_name(enum pim_detail_kind kind, unsigned value);

/* A field as 64 bits (sign-extended when it is signed), and back; the value must fit. */
uint64_t pim_field_get(const struct pim_instruction *instruction, const struct pim_field *field);
void pim_field_set(struct pim_instruction *instruction, const struct pim_field *field, uint64_t value);

#endif

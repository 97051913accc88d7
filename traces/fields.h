/*
 * The fields of each opcode as the text form writes them: one table for assembler and disassembler, so that
 * they cannot differ.
 */
#ifndef PIMSIM_TRACES_FIELDS_H
#define PIMSIM_TRACES_FIELDS_H

#include "traces/instruction.h"

#include <stdbool.h>
#include <stdint.h>

/* How `detail` is written: not at all, as one word behind the mnemonic, or as flags anywhere. */
enum pim_detail_kind {
    PIM_DETAIL_NONE,
    PIM_DETAIL_BUFFER,
    PIM_DETAIL_VECTOR,
    PIM_DETAIL_BIT_SERIAL,
    PIM_DETAIL_FLAGS,
    PIM_DETAIL_LOCAL,   /* operation of LOCAL_VECTOR */
    PIM_DETAIL_MESSAGE, /* of SEND and RECEIVE: the word may be left out */
    PIM_DETAIL_ROW,     /* operation of ROW_COMPUTE */
    PIM_DETAIL_REACH    /* of moves of rows */
};

struct pim_field {
    const char *name; /* NULL ends a table */
    uint8_t offset;   /* in u */
    uint8_t size;     /* 1, 2, 4 or 8 bytes */
    bool is_signed;
    bool hexadecimal; /* is written so; either form is read */
    bool required;    /* else it is left out where it has the value `standard` */
    uint8_t standard;
};

enum { PIM_FIELDS_MOST = 9 };

/* The fields of an opcode, ended by an entry without name; PHASE_* have "phase", REPEAT has "count" (written
 * without names). */
const struct pim_field *pim_opcode_fields(unsigned opcode);
enum pim_detail_kind pim_opcode_detail(unsigned opcode);

/* Name of bit 1 << `bit` of the flags of MATRIX; NULL beyond. Name of value `value` for the other kinds; NULL
 * beyond. */
const char *pim_matrix_flag_name(unsigned bit);
const char *pim_detail_name(enum pim_detail_kind kind, unsigned value);

/* A field as 64 bits (sign-extended when it is signed), and back; the value must fit. */
uint64_t pim_field_get(const struct pim_instruction *instruction, const struct pim_field *field);
void pim_field_set(struct pim_instruction *instruction, const struct pim_field *field, uint64_t value);

#endif

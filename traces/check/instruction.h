/* An instruction in a check: what units execute it, and how messages name it. */
#ifndef PIMSIM_TRACES_CHECK_INSTRUCTION_H
#define PIMSIM_TRACES_CHECK_INSTRUCTION_H

#include "traces/check/limits.h"

/* A bit 1 << kind for each kind of unit that executes an opcode. */
unsigned pim_check_units_of(unsigned opcode);

/* For nodes or for cores: as limits->kind says; else as the first instruction does that only one of them
 * executes; nodes when there is none. Reads stored programs up to that instruction. */
enum pim_status pim_check_find_kind(const struct pim_trace *trace, const struct pim_check_limits *limits,
                                    enum pim_check_kind *kind, struct pim_error *error);

/* PIM_BAD_INPUT, with a message that does not name the place, when units of `kind` do not execute such an
 * instruction. */
enum pim_status pim_check_kind_of(const struct pim_instruction *instruction, enum pim_check_kind kind,
                                  struct pim_error *error);

/* "unit 3 instruction 17 (load input address=0x40 …)", written to `buffer`, which is returned. */
const char *pim_check_place(uint32_t unit, uint64_t stored, uint64_t fetch,
                            const struct pim_instruction *instruction, char *buffer, size_t size);

#endif

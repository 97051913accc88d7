/*
 * The local memories of cores, for traces/check/check.c: each unit alone, in program order, which is what
 * hardware keeps (docs/trace-format.md, "Local memory").
 */
#ifndef PIMSIM_TRACES_CHECK_LOCAL_H
#define PIMSIM_TRACES_CHECK_LOCAL_H

#include "traces/check/check.h"

/* For nodes or for cores: as limits->kind says; else as the first instruction does that only one of them
 * executes; nodes when there is none. Reads stored programs up to that instruction. */
enum pim_status pim_check_find_kind(const struct pim_trace *trace, const struct pim_check_limits *limits,
                                    enum pim_check_kind *kind, struct pim_error *error);

/* PIM_BAD_INPUT, with a message that does not name the place, when units of `kind` do not execute such an
 * instruction. */
enum pim_status pim_check_kind_of(const struct pim_instruction *instruction, enum pim_check_kind kind,
                                  struct pim_error *error);

/*
 * Executes the program of each unit of a trace for cores and refuses: an array group that the unit does not
 * have, vectors that do not fit it, an address beyond the local or the global memory, a byte that is read and
 * that nothing before has written, source and destination of an instruction that overlap in part. Sets the
 * local_* and global_* fields of `result` and its counts.crossbar_macs.
 *
 * Time is proportional to the instructions executed, their pieces, and 1/64 of their bytes; memory is one bit
 * for each byte of the largest local memory.
 */
enum pim_status pim_check_local(const struct pim_trace *trace, const struct pim_check_limits *limits,
                                struct pim_check_result *result, struct pim_error *error);

#endif

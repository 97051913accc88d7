/*
 * The local memories of cores, for traces/check/check.c: each unit alone, in program order, which is what
 * hardware keeps (docs/trace-format.md, "Local memory").
 */
#ifndef PIMSIM_TRACES_CHECK_LOCAL_H
#define PIMSIM_TRACES_CHECK_LOCAL_H

#include "traces/check/limits.h"

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

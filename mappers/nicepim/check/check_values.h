/*
 * The functional check of a mapping: its trace, executed with numbers (execute.h), must leave every tensor
 * where the emitter says it lies, whole and with the values that the direct evaluation of the network gives
 * (mappers/verify/evaluate.h). Elements carry with them what they are: addresses, loads, stores,
 * messages and what waits for what are read from the trace; notes of the emitter say which tile of which
 * layer an instruction works.
 */
#ifndef PIMSIM_MAPPERS_NICEPIM_CHECK_CHECK_VALUES_H
#define PIMSIM_MAPPERS_NICEPIM_CHECK_CHECK_VALUES_H

#include "mappers/nicepim/check/record.h"
#include "mappers/nicepim/map/plan.h"
#include "traces/file/reader.h"

struct nice_check {
    uint64_t elements; /* that were compared */
    uint64_t products; /* multiply-accumulates that were made */
    uint64_t moved;    /* elements in messages */
};

/* PIM_BAD_INPUT names the first node and element that are wrong, or an operator that cannot be evaluated;
 * PIM_DEADLOCK. */
enum pim_status nice_check_values(const struct nice_plan *plan, const struct nice_record *record,
                                  const struct pim_trace *trace, uint64_t seed, struct nice_check *result,
                                  struct pim_error *error);

#endif

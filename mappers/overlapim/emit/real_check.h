/*
 * The check of values (--check-values): the trace of a plan with real rows is executed on real bits, numbers
 * for inputs and weights are drawn, and every output of every product layer is held against its direct
 * evaluation, modulo 2^levels.word_bits. Each layer has inputs of its own: what its producers send is
 * carried, but no instruction spreads it over columns (real.h).
 */
#ifndef PIMSIM_MAPPERS_OVERLAPIM_EMIT_REAL_CHECK_H
#define PIMSIM_MAPPERS_OVERLAPIM_EMIT_REAL_CHECK_H

#include "mappers/overlapim/plan.h"

/* PIM_BAD_INPUT: a layer is too large, named; PIM_INTERNAL: an output differs, named with both values. */
enum pim_status pim_real_check(const struct pim_overlapim_plan *plan, const struct pim_mapper_inputs *inputs,
                               const char *trace, struct pim_real_report *report, struct pim_error *error);

#endif

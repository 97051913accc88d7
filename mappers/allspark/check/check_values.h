/*
 * The functional check of a mapping: weights and inputs are placed as docs/mappers/allspark.md says, the
 * trace is executed on numbers (machine/machine.h), and what every node holds after every stage must be the
 * network computed without nodes (network/reference.h).
 */
#ifndef PIMSIM_MAPPERS_ALLSPARK_CHECK_CHECK_VALUES_H
#define PIMSIM_MAPPERS_ALLSPARK_CHECK_CHECK_VALUES_H

#include "mappers/allspark/allspark.h"
#include "traces/file/reader.h"

struct pim_allspark_check {
    uint64_t elements; /* that were compared: those of all stages, and the classes */
};

/* `watch` is told of stages; its stop is not asked. PIM_BAD_INPUT names the first node and element that are
   wrong, or the instruction that cannot be executed; PIM_DEADLOCK. */
enum pim_status pim_allspark_check_values(const struct pim_allspark_plan *plan, const struct pim_trace *trace,
                                          const struct pim_schedule_watch *watch,
                                          struct pim_allspark_check *check, struct pim_error *error);

#endif

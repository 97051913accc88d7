/*
 * What the crossbars of a core hold, in the order of its program.
 *
 * Rules: a group of a set is written from its first row to its last before the first mvm of it; the first row
 * that is written of another set ends the one before; and no mvm of that may be under way then, so a join
 * (or a phase mark) stands between.
 */
#ifndef PIMSIM_TRACES_CHECK_ARRAYS_H
#define PIMSIM_TRACES_CHECK_ARRAYS_H

#include "sim/status.h"
#include "traces/instruction.h"
#include "traces/trace.h"

#include <stdbool.h>

struct pim_check_arrays {
    const struct pim_trace_array_group *group;
    uint32_t groups, room;
    uint32_t *written; /* rows of each group */
    uint32_t set;      /* that the arrays hold; 0: none */
    bool busy;         /* a group of it may be at work: an instruction of the arrays since the last join */
};

/* Begins with the groups of a unit; `written` is the owner's to free. PIM_NO_MEMORY. */
enum pim_status pim_check_arrays_begin(struct pim_check_arrays *arrays,
                                       const struct pim_trace_array_group *group, uint32_t groups,
                                       struct pim_error *error);

/* An mvm of group `number`, which exists. */
enum pim_status pim_check_arrays_multiply(struct pim_check_arrays *arrays, uint32_t number,
                                          struct pim_error *error);

/* An array_write. */
enum pim_status pim_check_arrays_write(struct pim_check_arrays *arrays,
                                       const struct pim_instruction *instruction, struct pim_error *error);

/* Everything before is complete. */
void pim_check_arrays_wait(struct pim_check_arrays *arrays);

#endif

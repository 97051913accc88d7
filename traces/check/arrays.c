/* See arrays.h. */
#include "traces/check/arrays.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENT_BYTES = 2 };

enum pim_status pim_check_arrays_begin(struct pim_check_arrays *arrays,
                                       const struct pim_trace_array_group *group, uint32_t groups,
                                       struct pim_error *error)
{
    if (groups > arrays->room) {
        uint32_t *larger = realloc(arrays->written, groups * sizeof *larger);
        if (!larger)
            return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu32 " array groups", groups);
        arrays->written = larger;
        arrays->room = groups;
    }
    if (groups > 0)
        memset(arrays->written, 0, groups * sizeof *arrays->written);
    arrays->group = group;
    arrays->groups = groups;
    arrays->set = 0;
    arrays->busy = false;
    return PIM_OK;
}

enum pim_status pim_check_arrays_multiply(struct pim_check_arrays *arrays, uint32_t number,
                                          struct pim_error *error)
{
    const struct pim_trace_array_group *group = &arrays->group[number];
    arrays->busy = true;
    if (group->set == 0)
        return PIM_OK;
    if (group->set != arrays->set)
        return pim_fail(error, PIM_BAD_INPUT,
                        "array group %" PRIu32 " is of set %" PRIu32 ", and the arrays hold %s", number,
                        group->set, arrays->set ? "another one" : "none that was written");
    if (arrays->written[number] < group->rows)
        return pim_fail(error, PIM_BAD_INPUT,
                        "array group %" PRIu32 " has %" PRIu32 " rows, of which %" PRIu32 " are written",
                        number, group->rows, arrays->written[number]);
    return PIM_OK;
}

enum pim_status pim_check_arrays_write(struct pim_check_arrays *arrays,
                                       const struct pim_instruction *instruction, struct pim_error *error)
{
    const uint32_t number = instruction->u.array_write.group, row = instruction->u.array_write.row;
    const uint32_t rows = instruction->u.array_write.rows;
    if (number >= arrays->groups)
        return pim_fail(error, PIM_BAD_INPUT,
                        "there is no array group %" PRIu32 ": the unit has %" PRIu32 " (.array_group)",
                        number, arrays->groups);
    const struct pim_trace_array_group *group = &arrays->group[number];
    const uint64_t bytes = (uint64_t)rows * group->folds * group->columns * ELEMENT_BYTES;
    if (group->set == 0)
        return pim_fail(error, PIM_BAD_INPUT,
                        "array group %" PRIu32 " holds its weights from the beginning: what is written is in "
                        "a set (.array_group set=...)",
                        number);
    if (rows > group->rows || row > group->rows - rows || instruction->u.array_write.bytes != bytes)
        return pim_fail(error, PIM_BAD_INPUT,
                        "array group %" PRIu32 " has %" PRIu32 " rows of %" PRIu64 " bytes: rows %" PRIu32
                        " to %" PRIu64 " are not %" PRIu32 " bytes of it",
                        number, group->rows, (uint64_t)group->folds * group->columns * ELEMENT_BYTES, row,
                        (uint64_t)row + rows - 1, instruction->u.array_write.bytes);
    if (group->set != arrays->set) {
        if (arrays->busy)
            return pim_fail(error, PIM_BAD_INPUT,
                            "array group %" PRIu32 " takes arrays that may be at work: a join must stand "
                            "before the first array_write of a set",
                            number);
        memset(arrays->written, 0, arrays->groups * sizeof *arrays->written);
        arrays->set = group->set;
    }
    if (row != 0 && row != arrays->written[number])
        return pim_fail(error, PIM_BAD_INPUT,
                        "array group %" PRIu32 ": row %" PRIu32 " is written, and %" PRIu32
                        " comes next: rows are written in their order",
                        number, row, arrays->written[number]);
    arrays->written[number] = row + rows;
    arrays->busy = true;
    return PIM_OK;
}

void pim_check_arrays_wait(struct pim_check_arrays *arrays)
{
    arrays->busy = false;
}

#include "traces/counts.h"

#include <string.h>

uint64_t pim_add_saturating(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

uint64_t pim_multiply_saturating(uint64_t a, uint64_t b)
{
    return a != 0 && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

uint64_t pim_group_macs(const struct pim_trace_array_group *group)
{
    uint64_t cells = (uint64_t)group->folds * group->columns * group->rows; /* below 2^31 * 2^31 */
    return group->blocks ? cells / group->blocks : cells;
}

static void add(uint64_t *count, uint64_t value, uint64_t times)
{
    *count = pim_add_saturating(*count, pim_multiply_saturating(value, times));
}

void pim_counts_add(struct pim_trace_counts *counts, const struct pim_instruction *instruction,
                    uint64_t times)
{
    const unsigned opcode = instruction->opcode;
    add(&counts->by_opcode[opcode], 1, times);
    if (opcode != PIM_OP_REPEAT)
        add(&counts->fetched, 1, times);
    switch (opcode) {
#define V(member) ((uint64_t)o->member)
#define OPCODE(number, name, mnemonic, engine, units, form, ...)                                             \
    case PIM_OP_##name: {                                                                                    \
        const struct pim_operands_##form *const o = &instruction->u.form;                                    \
        (void)o;
#define COUNTS(counter, amount) add(&counts->counter, amount, times);
#define OPCODE_END(name)                                                                                     \
    break;                                                                                                   \
    }
#include "traces/opcodes.def"
    default:
        break;
    }
}

void pim_counts_merge(struct pim_trace_counts *counts, const struct pim_trace_counts *other)
{
    /* nothing but counts: added one by one, whatever their names are */
    enum { COUNTS = sizeof *counts / sizeof(uint64_t) };
    _Static_assert(sizeof *counts == COUNTS * sizeof(uint64_t), "every member is one or several uint64_t");
    uint64_t sums[COUNTS], others[COUNTS];
    memcpy(sums, counts, sizeof sums);
    memcpy(others, other, sizeof others);
    for (int i = 0; i < COUNTS; i++)
        add(&sums[i], others[i], 1);
    memcpy(counts, sums, sizeof sums);
}

enum pim_status pim_counts_of_unit(const struct pim_trace *trace, uint32_t unit,
                                   struct pim_trace_counts *counts, struct pim_error *error)
{
    uint64_t times[PIM_REPEAT_DEPTH + 1] = {1}; /* how often the code at each depth is executed */
    uint32_t remaining[PIM_REPEAT_DEPTH + 1] = {0};
    unsigned depth = 0;
    uint32_t groups;
    const struct pim_trace_array_group *group = pim_trace_array_groups(trace, unit, &groups);
    struct pim_trace_cursor *cursor;
    memset(counts, 0, sizeof *counts);
    enum pim_status status = pim_trace_cursor_create_stored(trace, unit, &cursor, error);
    if (status != PIM_OK)
        return status;
    const struct pim_instruction *instruction;
    while ((status = pim_trace_cursor_next(cursor, &instruction, error)) == PIM_OK && instruction) {
        counts->stored++;
        pim_counts_add(counts, instruction, times[depth]);
        if (instruction->opcode == PIM_OP_MVM && instruction->u.mvm.group < groups)
            add(&counts->crossbar_macs,
                pim_multiply_saturating(pim_group_macs(&group[instruction->u.mvm.group]),
                                        instruction->u.mvm.windows),
                times[depth]);
        if (instruction->opcode == PIM_OP_REPEAT) {
            if (depth > 0)
                remaining[depth] -= 1 + instruction->u.control.length;
            depth++;
            remaining[depth] = instruction->u.control.length;
            times[depth] = pim_multiply_saturating(times[depth - 1], instruction->u.control.count);
            continue;
        }
        if (depth > 0)
            remaining[depth]--;
        while (depth > 0 && remaining[depth] == 0)
            depth--;
    }
    pim_trace_cursor_destroy(cursor);
    return status;
}

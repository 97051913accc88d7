/*
 * Fetch and control of a unit, inline: a family includes this and calls pim_unit_fetch() with a constant
 * table of its own functions, which the compiler then expands. Rules 1 to 3 of unit.h.
 */
#ifndef PIMSIM_MODELS_UNIT_FETCH_H
#define PIMSIM_MODELS_UNIT_FETCH_H

#include "models/unit/unit.h"

/* Times are in cycles of units->period. */
struct pim_fetch_operations {
    /* Whether an instruction in flight is complete at `now`. */
    bool (*is_done)(const struct pim_unit *unit, uint64_t sequence, uint64_t now);
    /* Puts an instruction into the queue of its engine; false when it cannot be executed (and failed). */
    bool (*prepare)(struct pim_unit *unit, uint64_t sequence, const struct pim_instruction *instruction,
                    uint64_t now);
    /* Nothing more is fetched before everything in flight is complete, or before the oldest is; NULL where
     * completions are events. */
    void (*wait_for_all)(struct pim_unit *unit);
    void (*wait_for_oldest)(struct pim_unit *unit);
};

/* A control instruction whose turn has come: everything before it is complete. */
static inline void pim_unit_control(struct pim_unit *unit, uint64_t now)
{
    const struct pim_instruction *instruction = &unit->held;
    if (instruction->opcode == PIM_OP_PHASE_BEGIN)
        pim_unit_begin_phase(unit, instruction->u.control.phase, now * unit->units->period);
    else if (instruction->opcode == PIM_OP_PHASE_END)
        pim_unit_end_phase(unit, instruction->u.control.phase, now * unit->units->period);
    else if (++unit->joins > PIM_JOINS_MOST)
        pim_unit_too_many_joins(unit);
    unit->oldest = unit->issued = ++unit->fetched;
    unit->result.instructions++;
}

static PIM_ALWAYS_INLINE void pim_unit_fetch(struct pim_unit *unit,
                                             const struct pim_fetch_operations *operations, uint64_t now)
{
    struct pim_units *units = unit->units;
    struct pim_error *error = units->error;
    /* What is fetched below is not complete, so that nothing more retires before the next call. */
    while (unit->oldest < unit->fetched && operations->is_done(unit, unit->oldest, now))
        unit->oldest++;
    if (unit->finished || error->status != PIM_OK)
        return;
    for (;;) {
        if (unit->holding || unit->at_end) {
            if (unit->oldest != unit->fetched) {
                if (operations->wait_for_all)
                    operations->wait_for_all(unit);
                return;
            }
            if (unit->at_end) {
                pim_unit_finish(unit, now * units->period);
                return;
            }
            unit->holding = false;
            pim_unit_control(unit, now);
            if (error->status != PIM_OK)
                return;
            continue;
        }
        if (unit->fetched - unit->oldest >= units->window) {
            if (operations->wait_for_oldest)
                operations->wait_for_oldest(unit);
            return;
        }
        const struct pim_instruction *instruction;
        if (pim_trace_cursor_next(unit->cursor, &instruction, error) != PIM_OK) {
            pim_kernel_stop(units->kernel);
            return;
        }
        if (!instruction) {
            unit->at_end = true;
        } else if (pim_opcode_engine(instruction->opcode) == PIM_ENGINE_CONTROL) {
            unit->held = *instruction;
            unit->holding = true;
        } else {
            unit->joins = 0;
            unit->result.instructions++;
            if (!operations->prepare(unit, unit->fetched++, instruction, now))
                return;
        }
    }
}

#endif

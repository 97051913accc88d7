/* Accounts of a unit's time by the states of its engines. */
#include "models/unit/unit.h"

#include <assert.h>

void pim_states_account(struct pim_unit *unit, pim_time time)
{
    struct pim_engine_states *states = &unit->states;
    pim_time elapsed = time - states->accounted;
    if (elapsed == 0)
        return;
    assert(time > states->accounted);
    states->accounted = time;
    struct pim_unit_result *result = &unit->result;
    unsigned busy = states->busy_mask;
    unsigned wait = states->wait_mask;
    enum { NETWORK = 1 << PIM_ENGINE_SEND | 1 << PIM_ENGINE_RECEIVE };
    static const unsigned classes[PIM_CLASSES] = {1 << PIM_ENGINE_MATRIX, 1 << PIM_ENGINE_VECTOR,
                                                  1 << PIM_ENGINE_MEMORY, NETWORK};
    unsigned share = PIM_SHARE_WAITING;
    for (unsigned class = PIM_CLASSES; class -- > 0;) {
        if (busy & classes[class]) {
            result->busy[class] += elapsed;
            share = class;
        } else if (wait & classes[class]) {
            result->stall[class] += elapsed;
        } else {
            result->idle[class] += elapsed;
        }
    }
    result->share[share] += elapsed;
    struct pim_phase_result *phase = unit->in_phase ? unit->sums : NULL;
    if (phase) {
        phase->share[share] += elapsed;
        if (share != PIM_SHARE_WAITING && time - elapsed < phase->work_start)
            phase->work_start = time - elapsed;
    }
    for (; wait; wait &= wait - 1) {
        unsigned engine = (unsigned)__builtin_ctz(wait);
        unsigned cause = states->state[engine] - PIM_STATE_WAIT;
        result->wait[engine][cause] += elapsed;
        if (phase)
            phase->wait[cause] += elapsed;
    }
}

void pim_states_set(struct pim_unit *unit, unsigned engine, uint8_t state)
{
    struct pim_engine_states *states = &unit->states;
    if (states->state[engine] == state)
        return;
    pim_states_account_now(unit);
    states->state[engine] = state;
    uint8_t bit = (uint8_t)(1u << engine);
    states->busy_mask =
        (uint8_t)(state == PIM_STATE_BUSY ? states->busy_mask | bit : states->busy_mask & ~bit);
    states->wait_mask =
        (uint8_t)(state >= PIM_STATE_WAIT ? states->wait_mask | bit : states->wait_mask & ~bit);
}

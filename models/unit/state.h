/*
 * What the engines of a unit do, for families whose completions are events: an engine is idle, busy, or waits
 * for a cause. The accounts of its time follow from that. (Cores, which run ahead, account by ends.)
 */
#ifndef PIMSIM_MODELS_UNIT_STATE_H
#define PIMSIM_MODELS_UNIT_STATE_H

#include "models/unit/unit.h"

enum { PIM_STATE_IDLE = 0, PIM_STATE_BUSY = 1, PIM_STATE_WAIT = 2 /* + enum pim_wait */ };

struct pim_engine_states {
    uint8_t state[PIM_ENGINE_CONTROL]; /* PIM_STATE_* */
    uint8_t busy_mask, wait_mask;      /* one bit an engine */
    pim_time accounted;                /* up to here */
};

/* Brings the accounts of a unit up to a tick; before a state changes. */
void pim_states_account(struct pim_unit *unit, struct pim_engine_states *states, pim_time time);

/* The engine's state from now on. */
void pim_states_set(struct pim_unit *unit, struct pim_engine_states *states, unsigned engine, uint8_t state);

#endif

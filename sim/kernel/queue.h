/*
 * The slow side of the event queue (see sim/kernel/wheel.h for its invariants): far lists, overflow heap, the
 * step from epoch to epoch, the pool of records, and blanks. Private to sim/kernel.
 */
#ifndef PIMSIM_SIM_KERNEL_QUEUE_H
#define PIMSIM_SIM_KERNEL_QUEUE_H

#include "sim/bits.h"
#include "sim/kernel/wheel.h"

#define PIM_NO_EPOCH UINT64_MAX

/* Epoch of a key. */
static inline uint64_t pim_queue_epoch_of(uint64_t key)
{
    return key >> PIM_EPOCH_BITS;
}

static inline void pim_list_clear(struct pim_list *list)
{
    list->head = NULL;
    list->tail = &list->head;
}

/* The handler of a blank: takes it back out of the count of fired events. It also marks a record as blank. */
void pim_queue_blank(struct pim_kernel *kernel, void *context);

/* Empty lists around epoch 0, and the release of everything. */
void pim_queue_initialize(struct pim_kernel *kernel);
void pim_queue_terminate(struct pim_kernel *kernel);

/* Whether no record is queued, blanks included (the list that is being fired counts). */
bool pim_queue_is_empty(const struct pim_kernel *kernel);

/* The first epoch after the current one that holds a record; PIM_NO_EPOCH when there is none. */
uint64_t pim_queue_next_epoch(const struct pim_kernel *kernel);

/* Makes `epoch` the current one and fills the near lists. No record may lie in an epoch before it. */
void pim_queue_enter(struct pim_kernel *kernel, uint64_t epoch);

/*
 * The key of the next live event, UINT64_MAX when there is none. Only the word that is being fired may
 * hold blanks.
 */
uint64_t pim_queue_first_key(const struct pim_kernel *kernel);

/* Takes blanks off the front of near list `index`; returns whether a live event is left in front. */
bool pim_queue_prune(struct pim_kernel *kernel, uint64_t index);

/*
 * Takes all blanks out of the queue; from a handler all but those of the word of near_bits that is being
 * fired.
 */
void pim_queue_sweep(struct pim_kernel *kernel);

#endif

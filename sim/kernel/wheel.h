/*
 * The storage of the event kernel. Only the files of sim/kernel use this header; nothing here is a contract.
 *
 * The key of an event is (time << 2) | phase. 128 ticks (512 keys) make an epoch.
 *
 *   near   1024 FIFO lists, one for each key of the current epoch and of the one after it
 *   far     512 FIFO lists, one for each of the 512 epochs after those (65 536 ticks)
 *   heap    4-ary heap on (key, sequence) for what lies beyond
 *
 * 1. An epoch is moved from heap and far lists to the near lists when the epoch before it begins, before any
 *    handler of that one runs. Only from then on can a new event go to the near lists of that epoch directly,
 *    so nobody gets in front: lists are FIFO among equals without a stored sequence number. Deltas below 128
 *    ticks always go directly to their list.
 * 2. All events of an epoch in the heap were scheduled before all those in its far list (the horizon only
 *    moves forward), so the heap comes first.
 * 3. Every list ends with a NULL link; `tail` points to the link that ends it (to `head` in an empty list).
 * 4. A bit of `near_bits` (`far_bits`) is set exactly when its list is not empty. No bit lies before the
 *    current key.
 * 5. Outside a run, and inside a handler, the current key lies in the epoch `epoch`.
 * 6. The list of the running key is detached from its bucket; `rest` is what is left of it. New events of the
 *    same key go to the bucket and fire when `rest` is through. pim_kernel_stop() puts `rest` back in front.
 */
#ifndef PIMSIM_SIM_KERNEL_WHEEL_H
#define PIMSIM_SIM_KERNEL_WHEEL_H

#include "sim/check.h"
#include "sim/kernel/time.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

#define PIM_PHASE_BITS 2
#define PIM_EPOCH_BITS 9 /* keys of an epoch */
#define PIM_NEAR_LISTS (2u << PIM_EPOCH_BITS)
#define PIM_FAR_LISTS 512u
#define PIM_BITS_PER_WORD 64u
#define PIM_EPOCH_TICKS (1u << (PIM_EPOCH_BITS - PIM_PHASE_BITS))

_Static_assert(PIM_PHASES == 1 << PIM_PHASE_BITS, "the phase is the low part of the key");

struct pim_record {
    struct pim_record *next;
    uint64_t key;
    pim_handler *handler;
    void *context;
};

struct pim_list {
    struct pim_record *head;
    struct pim_record **tail;
};

struct pim_heap_entry {
    uint64_t key;
    uint64_t sequence;
    struct pim_record *record;
};

struct pim_pool_block;

struct pim_kernel {
    uint64_t key;             /* of the event that runs, or of the last one that ran */
    uint64_t near_end;        /* first key behind the near lists */
    uint64_t run_end;         /* first key that the present run does not fire; 0 once stopped */
    uint64_t events;          /* fired */
    struct pim_record *spare; /* free records, last in first out */
    struct pim_record *rest;  /* of the list that is being fired */
    uint64_t cancelled;       /* blanks in the queue */
    uint64_t epoch;           /* the near lists hold the keys of `epoch` and `epoch` + 1 */
    uint64_t near_bits[PIM_NEAR_LISTS / PIM_BITS_PER_WORD];
    struct pim_list near[PIM_NEAR_LISTS];
    uint64_t far_bits[PIM_FAR_LISTS / PIM_BITS_PER_WORD];
    struct pim_list far[PIM_FAR_LISTS];
    struct pim_heap_entry *heap;
    size_t heap_count;
    size_t heap_capacity;
    uint64_t heap_sequence;
    struct pim_pool_block *blocks;
    uint64_t records; /* in all blocks */
    struct pim_pending_work *work;
    struct pim_pending_work **work_tail;
    bool running;
    bool stopped;
};

/* Everything but the hot case: no spare record, or a key behind the near lists. Returns the record. */
struct pim_record *pim_kernel_insert(struct pim_kernel *kernel, uint64_t key, pim_handler *handler,
                                     void *context);
void pim_kernel_schedule_slow(struct pim_kernel *kernel, uint64_t key, pim_handler *handler,
                              void *context) PIM_NOINLINE;

/* The same for a delay, which is checked. */
void pim_kernel_schedule_delayed(struct pim_kernel *kernel, pim_time delay, enum pim_phase phase,
                                 pim_handler *handler, void *context) PIM_NOINLINE;

static inline uint64_t pim_kernel_key(const struct pim_kernel *kernel, pim_time time, enum pim_phase phase)
{
    assert((unsigned)phase < PIM_PHASES);
    pim_check(time <= PIM_TIME_LAST, "an event lies behind the last tick");
    uint64_t key = (time << PIM_PHASE_BITS) + (uint64_t)phase;
    pim_check(key >= kernel->key, "an event lies in the past, or in an earlier phase of this tick");
    return key;
}

static inline void pim_list_append(struct pim_list *list, struct pim_record *record)
{
    record->next = NULL;
    *list->tail = record;
    list->tail = &record->next;
}

static inline void pim_bits_set(uint64_t *bits, uint64_t index)
{
    bits[index / PIM_BITS_PER_WORD] |= UINT64_C(1) << (index % PIM_BITS_PER_WORD);
}

/* `record` is the first spare one, `key` lies in the near lists. */
static inline void pim_kernel_append_near(struct pim_kernel *kernel, struct pim_record *record, uint64_t key,
                                          pim_handler *handler, void *context)
{
    kernel->spare = record->next;
    record->key = key;
    record->handler = handler;
    record->context = context;
    uint64_t index = key % PIM_NEAR_LISTS;
    pim_list_append(&kernel->near[index], record);
    pim_bits_set(kernel->near_bits, index);
}

/*
 * The slow path comes last and returns nothing: so the compiler saves no registers for it in the handler
 * that schedules.
 */
static inline void pim_kernel_schedule_key(struct pim_kernel *kernel, uint64_t key, pim_handler *handler,
                                           void *context)
{
    struct pim_record *record = kernel->spare;
    if (PIM_LIKELY(record && key < kernel->near_end)) {
        pim_kernel_append_near(kernel, record, key, handler, context);
        return;
    }
    pim_kernel_schedule_slow(kernel, key, handler, context);
}

#endif

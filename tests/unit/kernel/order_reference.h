/*
 * The oracle of the order test: a plain binary heap of (time, phase, sequence), with removal by search. Slow
 * and simple.
 */
#ifndef PIMSIM_TESTS_UNIT_KERNEL_ORDER_REFERENCE_H
#define PIMSIM_TESTS_UNIT_KERNEL_ORDER_REFERENCE_H

#include "sim/kernel/kernel.h"

struct reference_entry {
    pim_time time;
    unsigned phase;
    uint64_t sequence;
    uint32_t id;
};

struct reference {
    struct reference_entry *entries;
    size_t count;
    size_t capacity;
    uint64_t sequence;
    pim_time now;
    unsigned phase;
    bool stopped;
};

void reference_initialize(struct reference *reference);
void reference_terminate(struct reference *reference);
void reference_insert(struct reference *reference, pim_time time, unsigned phase, uint32_t id);

/* Removes the entry of `id`, which is unique; returns whether it was there. */
bool reference_remove(struct reference *reference, uint32_t id);

/*
 * Pops events and calls fire(context, id), until the queue is dry, the next is later than `until`, or
 * stopped is set.
 */
enum pim_run_end reference_run(struct reference *reference, pim_time until,
                               void (*fire)(void *context, uint32_t id), void *context);

pim_time reference_next_time(const struct reference *reference);

#endif

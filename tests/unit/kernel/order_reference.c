/*
 * A plain heap as oracle for the order of events.
 */
#include "tests/unit/kernel/order_reference.h"

#include <stdlib.h>

static bool before(const struct reference_entry *a, const struct reference_entry *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    if (a->phase != b->phase)
        return a->phase < b->phase;
    return a->sequence < b->sequence;
}

static void swap(struct reference_entry *a, struct reference_entry *b)
{
    struct reference_entry other = *a;
    *a = *b;
    *b = other;
}

static void rise(struct reference *reference, size_t i)
{
    while (i > 0 && before(&reference->entries[i], &reference->entries[(i - 1) / 2])) {
        swap(&reference->entries[i], &reference->entries[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
}

static void sink(struct reference *reference, size_t i)
{
    for (;;) {
        size_t least = i;
        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < reference->count; child++)
            if (before(&reference->entries[child], &reference->entries[least]))
                least = child;
        if (least == i)
            return;
        swap(&reference->entries[i], &reference->entries[least]);
        i = least;
    }
}

static void take_out(struct reference *reference, size_t i)
{
    reference->count--;
    if (i == reference->count)
        return;
    reference->entries[i] = reference->entries[reference->count];
    rise(reference, i);
    sink(reference, i);
}

void reference_initialize(struct reference *reference)
{
    *reference = (struct reference){.entries = NULL};
}

void reference_terminate(struct reference *reference)
{
    free(reference->entries);
}

void reference_insert(struct reference *reference, pim_time time, unsigned phase, uint32_t id)
{
    if (reference->count == reference->capacity) {
        reference->capacity = reference->capacity ? 2 * reference->capacity : 64;
        reference->entries = realloc(reference->entries, reference->capacity * sizeof *reference->entries);
        if (!reference->entries)
            abort();
    }
    reference->entries[reference->count++] = (struct reference_entry){time, phase, reference->sequence++, id};
    rise(reference, reference->count - 1);
}

bool reference_remove(struct reference *reference, uint32_t id)
{
    for (size_t i = 0; i < reference->count; i++) {
        if (reference->entries[i].id == id) {
            take_out(reference, i);
            return true;
        }
    }
    return false;
}

enum pim_run_end reference_run(struct reference *reference, pim_time until,
                               void (*fire)(void *context, uint32_t id), void *context)
{
    reference->stopped = false;
    while (reference->count > 0) {
        struct reference_entry first = reference->entries[0];
        if (first.time > until) {
            if (until > reference->now) {
                reference->now = until;
                reference->phase = 0;
            }
            return PIM_RUN_UNTIL;
        }
        take_out(reference, 0);
        reference->now = first.time;
        reference->phase = first.phase;
        fire(context, first.id);
        if (reference->stopped)
            return PIM_RUN_STOPPED;
    }
    return PIM_RUN_EMPTY;
}

pim_time reference_next_time(const struct reference *reference)
{
    return reference->count > 0 ? reference->entries[0].time : PIM_TIME_NEVER;
}

/*
 * Events that can be cancelled: an owner's `struct pim_event` points to its record in the queue, and the
 * record back to it.
 *
 * 1. event->record is not NULL exactly while the event is pending, and then the record is queued and not
 *    recycled.
 * 2. A cancelled record (a blank) has no pointer to the event: the owner may free the event at once.
 */
#include "sim/kernel/kernel.h"
#include "sim/kernel/queue.h"

/* The event is free again before its handler runs: the handler may schedule it anew, or free its owner. */
static void event_fires(struct pim_kernel *kernel, void *context)
{
    struct pim_event *event = context;
    event->record = NULL;
    event->handler(kernel, event->context);
}

void pim_event_schedule_at(struct pim_kernel *kernel, struct pim_event *event, pim_time time,
                           enum pim_phase phase)
{
    pim_check(!event->record, "the event is pending: use pim_event_reschedule");
    event->record = pim_kernel_insert(kernel, pim_kernel_key(kernel, time, phase), event_fires, event);
}

void pim_event_schedule(struct pim_kernel *kernel, struct pim_event *event, pim_time delay,
                        enum pim_phase phase)
{
    pim_check(delay <= PIM_TIME_LAST - pim_kernel_now(kernel), "a delay overflows");
    pim_event_schedule_at(kernel, event, pim_kernel_now(kernel) + delay, phase);
}

bool pim_event_cancel(struct pim_kernel *kernel, struct pim_event *event)
{
    if (!event->record)
        return false;
    event->record->handler = pim_queue_blank;
    event->record->context = NULL;
    event->record = NULL;
    kernel->cancelled++;
    return true;
}

void pim_event_reschedule_at(struct pim_kernel *kernel, struct pim_event *event, pim_time time,
                             enum pim_phase phase)
{
    (void)pim_event_cancel(kernel, event);
    pim_event_schedule_at(kernel, event, time, phase);
}

void pim_event_reschedule(struct pim_kernel *kernel, struct pim_event *event, pim_time delay,
                          enum pim_phase phase)
{
    (void)pim_event_cancel(kernel, event);
    pim_event_schedule(kernel, event, delay, phase);
}

pim_time pim_event_time(const struct pim_event *event)
{
    return event->record ? event->record->key >> PIM_PHASE_BITS : PIM_TIME_NEVER;
}

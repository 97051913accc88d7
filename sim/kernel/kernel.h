/*
 * The event kernel: a two-level timing wheel.
 *
 * An event is a call handler(kernel, context) at a tick, in a phase. Events fire in the total order (time,
 * phase, insertion sequence); handlers run to completion and nothing happens between them. The model page is
 * docs/models/kernel.md; the storage is in sim/kernel/wheel.h.
 *
 * 1. Phases are monotone inside a tick: while phase p of tick t runs, new events of tick t have a phase >= p
 *    (checked in every build).
 * 2. `now` moves only to the tick of an event that fires, or to `until` when pim_kernel_run() returns
 *    PIM_RUN_UNTIL. A cancelled event leaves no trace: not in `now`, not in the count, not in the order of
 *    the others.
 * 3. There is no global state: kernels in one process are independent. A kernel belongs to one thread at a
 *    time.
 * 4. In steady state (no more events pending than at an earlier time) nothing is allocated.
 */
#ifndef PIMSIM_SIM_KERNEL_KERNEL_H
#define PIMSIM_SIM_KERNEL_KERNEL_H

#include "sim/kernel/wheel.h"
#include "sim/status.h"

/* A kernel with an empty queue at tick 0, phase 0. The caller owns it. NULL only when memory is out. */
struct pim_kernel *pim_kernel_create(void);

/*
 * Frees the kernel and every pending event; `kernel` may be NULL. Does not touch contexts or events of
 * owners.
 */
void pim_kernel_destroy(struct pim_kernel *kernel);

/* Tick and phase of the event that runs (or of the last one that ran). */
static inline pim_time pim_kernel_now(const struct pim_kernel *kernel);
static inline enum pim_phase pim_kernel_phase(const struct pim_kernel *kernel);

/*
 * Number of events that fired since the kernel was created (the running one included; cancelled ones do
 * not count).
 */
static inline uint64_t pim_kernel_events(const struct pim_kernel *kernel);

/*
 * Calls handler(kernel, context) `delay` ticks from now, in `phase`. Needs now + delay <= PIM_TIME_LAST and,
 * for delay 0, a phase not before the current one. Both are checked in every build, but for delays that stay
 * inside the wheel, which are not held against the end of time. `context` stays the caller's and must live
 * until the event fires. Never fails: memory that runs out aborts the program with a
 * message.
 */
static inline void pim_kernel_schedule(struct pim_kernel *kernel, pim_time delay, enum pim_phase phase,
                                       pim_handler *handler, void *context);

/* The same at an absolute tick: now <= time <= PIM_TIME_LAST (checked in every build). */
static inline void pim_kernel_schedule_at(struct pim_kernel *kernel, pim_time time, enum pim_phase phase,
                                          pim_handler *handler, void *context);

/*
 * From a handler that is about to return after scheduling itself: goes on to that tick and phase, not before
 * the present ones, when an event scheduled there would be the next to fire; then the handler does at once
 * what it would have done in that event, which counts as one that fired. false, and nothing has changed:
 * something else fires before, the run ends before, or it is too far to be seen cheaply: schedule.
 */
static inline bool pim_kernel_go_on(struct pim_kernel *kernel, pim_time time, enum pim_phase phase);

enum pim_run_end {
    PIM_RUN_EMPTY,   /* the queue is dry; now is the tick of the last event that fired */
    PIM_RUN_UNTIL,   /* the next event is later than `until`; now == until (unchanged when until < now) */
    PIM_RUN_STOPPED, /* pim_kernel_stop() was called; the rest of the tick is still queued */
};

/*
 * Fires events in order up to and including tick `until` (PIM_TIME_NEVER: all). Can be called again after
 * each kind of end, and goes on with exactly the events that are left. Not to be called from a handler
 * (checked in every build).
 */
enum pim_run_end pim_kernel_run(struct pim_kernel *kernel, pim_time until);

/*
 * From a handler: the run ends when this handler returns, before any other event. Without effect outside a
 * run.
 */
void pim_kernel_stop(struct pim_kernel *kernel);

/*
 * Tick of the next event, or PIM_TIME_NEVER when the queue is dry. Changes no observable state. From a
 * handler: the next event after it. Costs a scan when the next 128 ticks are empty, and a sweep of the queue
 * after a cancellation: not for hot loops.
 */
pim_time pim_kernel_next_time(struct pim_kernel *kernel);

/*
 * An event that can be cancelled or moved, embedded in its owner. While it is pending it must neither move in
 * memory nor be destroyed; after pim_event_cancel() or once it fired the owner may free it at once.
 * Cancellation is lazy: the queue's record is turned into a blank that is skipped when it comes up, so
 * cancelling is O(1), and blanks never refer to the owner. When the pool runs dry and a quarter of it is
 * blanks, they are swept out instead of allocating.
 */
struct pim_event {
    pim_handler *handler;
    void *context;
    struct pim_record *record; /* its record in the queue; NULL while not pending */
};

/* Makes `event` ready and not pending. Also needed after the kernel it was pending in was destroyed. */
static inline void pim_event_initialize(struct pim_event *event, pim_handler *handler, void *context);

static inline bool pim_event_pending(const struct pim_event *event);

/* Tick at which a pending event fires, PIM_TIME_NEVER when it is not pending. */
pim_time pim_event_time(const struct pim_event *event);

/* Schedule an event that is not pending (asserted); times and phases as for pim_kernel_schedule(). */
void pim_event_schedule(struct pim_kernel *kernel, struct pim_event *event, pim_time delay,
                        enum pim_phase phase);
void pim_event_schedule_at(struct pim_kernel *kernel, struct pim_event *event, pim_time time,
                           enum pim_phase phase);

/* Takes a pending event out. Returns whether it was pending. From its own handler it is no longer pending. */
bool pim_event_cancel(struct pim_kernel *kernel, struct pim_event *event);

/*
 * Cancels if pending, then schedules anew: the event goes behind those already there at that time and
 * phase.
 */
void pim_event_reschedule(struct pim_kernel *kernel, struct pim_event *event, pim_time delay,
                          enum pim_phase phase);
void pim_event_reschedule_at(struct pim_kernel *kernel, struct pim_event *event, pim_time time,
                             enum pim_phase phase);

/*
 * Deadlock report. A component that can have work left registers a `struct pim_pending_work` that it embeds.
 * When the queue is dry and some component has work left, pim_kernel_check_idle() asks each for lines that
 * say who waits for what.
 */
struct pim_idle_report;

struct pim_pending_work {
    bool (*pending)(void *context); /* is there work left? */
    void (*report)(void *context,
                   struct pim_idle_report *report); /* one line for each waiter: pim_idle_report_line() */
    void *context;
    struct pim_pending_work *next; /* the kernel's; no need to set it */
};

/*
 * Registers `work` (owner: the caller, until the kernel is destroyed or the work removed). Reports come in
 * this order.
 */
void pim_kernel_add_pending_work(struct pim_kernel *kernel, struct pim_pending_work *work);
void pim_kernel_remove_pending_work(struct pim_kernel *kernel, struct pim_pending_work *work);

/*
 * Adds one waiter, e.g. "unit 17: instruction 4021 receive from unit 3, channel 7: no message". One line,
 * without newline.
 */
void pim_idle_report_line(struct pim_idle_report *report, const char *format, ...) PIM_PRINTF(2, 3);

/*
 * PIM_DEADLOCK when the queue is dry and work is left: the message has the tick, and a line for each waiter
 * as far as the error's text reaches ("... and N more" after that). PIM_OK when no work is left, or when
 * events are pending.
 */
enum pim_status pim_kernel_check_idle(struct pim_kernel *kernel, struct pim_error *error);

/* --- the hot path, inline --- */

/*
 * A delay shorter than an epoch always reaches a near list (invariant 1), and cannot overflow. All others
 * take the slow path, which looks at them in full.
 */
static inline void pim_kernel_schedule(struct pim_kernel *kernel, pim_time delay, enum pim_phase phase,
                                       pim_handler *handler, void *context)
{
    assert((unsigned)phase < PIM_PHASES);
    uint64_t now = kernel->key, key = (now & ~(uint64_t)(PIM_PHASES - 1)) + (delay << PIM_PHASE_BITS) + phase;
    struct pim_record *record = kernel->spare;
    if (PIM_LIKELY(record && delay < PIM_EPOCH_TICKS && key >= now)) {
        pim_kernel_append_near(kernel, record, key, handler, context);
        return;
    }
    pim_kernel_schedule_delayed(kernel, delay, phase, handler, context);
}

static inline void pim_kernel_schedule_at(struct pim_kernel *kernel, pim_time time, enum pim_phase phase,
                                          pim_handler *handler, void *context)
{
    pim_kernel_schedule_key(kernel, pim_kernel_key(kernel, time, phase), handler, context);
}

/* Within the present epoch: no bit lies before the current key, whose own list is detached. */
static inline bool pim_kernel_go_on(struct pim_kernel *kernel, pim_time time, enum pim_phase phase)
{
    uint64_t key = pim_kernel_key(kernel, time, phase);
    if (kernel->rest || key >= kernel->run_end || key >> PIM_EPOCH_BITS != kernel->epoch)
        return false;
    uint64_t word = kernel->key % PIM_NEAR_LISTS / PIM_BITS_PER_WORD;
    uint64_t last = key % PIM_NEAR_LISTS / PIM_BITS_PER_WORD;
    for (; word < last; word++)
        if (kernel->near_bits[word])
            return false;
    if (kernel->near_bits[last] & ((UINT64_C(2) << key % PIM_BITS_PER_WORD) - 1))
        return false;
    kernel->key = key;
    kernel->events++;
    return true;
}

static inline pim_time pim_kernel_now(const struct pim_kernel *kernel)
{
    return kernel->key >> PIM_PHASE_BITS;
}

static inline enum pim_phase pim_kernel_phase(const struct pim_kernel *kernel)
{
    return (enum pim_phase)(kernel->key % PIM_PHASES);
}

static inline uint64_t pim_kernel_events(const struct pim_kernel *kernel)
{
    return kernel->events;
}

static inline void pim_event_initialize(struct pim_event *event, pim_handler *handler, void *context)
{
    *event = (struct pim_event){.handler = handler, .context = context, .record = NULL};
}

static inline bool pim_event_pending(const struct pim_event *event)
{
    return event->record != NULL;
}

#endif

/*
 * The core as a unit: fetch, window, conflicts, start, and its calendar. Rules: docs/models/core.md.
 *
 * A core that has nothing under way outside of it runs ahead of the kernel: what it does inside is nobody
 * else's business. It waits for the kernel
 *  1. before it asks the global memory or an interconnect, or starts a load, send or receive;
 *  2. while an answer of the global memory or a message is under way or may come: a receive that is reached,
 *     a send that is looked for;
 *  3. at the horizon: the cycle at which the run may be stopped.
 */
#include "models/core/cores_internal.h"
#include "models/unit/fetch.h"

#include <assert.h>
#include <inttypes.h>

/* --- kernel --- */

void pim_core_wake_at(struct pim_core *core, uint64_t cycle)
{
    if (cycle >= core->wake)
        return;
    struct pim_cores *cores = core->cores;
    if (!pim_core_in_time(core, cycle))
        return;
    core->wake = cycle;
    pim_kernel_schedule_at(cores->units.kernel, cycle * cores->configuration.logic_period, PIM_PHASE_ENGINE,
                           pim_core_wake, core);
}

/* --- start and end --- */

/* The cycle from which no earlier instruction stands in the way; PIM_CYCLE_UNKNOWN while that is not known.
 * Each pair is looked at once: an end that is known does not change. */
static inline uint64_t conflicts_end(struct pim_core *core, struct pim_core_slot *slot, uint64_t now)
{
    return slot->checked == slot->sequence ? slot->ready : pim_core_search(core, slot, now);
}

void pim_core_set_end(struct pim_core_slot *slot, uint64_t cycle)
{
    struct pim_core *core = slot->core;
    struct pim_cores *cores = core->cores;
    uint64_t done = pim_larger(cycle, slot->started + 1);
    if (cores->configuration.nn)
        done = cycle + (slot->instruction.opcode == PIM_OP_LOCAL_STORE ? 2 : 1); /* commit */
    assert(slot->done == PIM_CYCLE_UNKNOWN && core->queue[slot->engine].unknown > 0 && core->unknown > 0);
    slot->done = done;
    core->unknown--;
    core->queue[slot->engine].unknown--;
    uint64_t *busy = &core->busy[pim_class_of_engine(slot->engine)];
    *busy = pim_larger(*busy, done);
    core->blocked &= ~(uint32_t)slot->blocks;
    core->latest = pim_larger(core->latest, done);
    if (cores->configuration.nn)
        pim_core_nn_ended(core, slot);
    pim_unit_observe(&core->unit, &slot->instruction, slot->started * cores->units.period,
                     done * cores->units.period);
}

/* Whether its start is seen from outside of the core. */
static bool is_outside(const struct pim_core_slot *slot)
{
    return slot->engine == PIM_ENGINE_SEND || slot->engine == PIM_ENGINE_RECEIVE ||
           slot->instruction.opcode == PIM_OP_LOCAL_LOAD;
}

void pim_core_tell(struct pim_core *core, enum pim_engine engine, uint64_t cycle)
{
    core->blocked &= ~(1u << engine);
    pim_core_wake_at(core, cycle);
}

/* When pim_core_available() does not know: the instruction that keeps the engine of `slot` until its end;
 * NULL when it waits for a peer. */
static struct pim_core_slot *holder_of(const struct pim_core *core, const struct pim_core_slot *slot)
{
    if (slot->engine == PIM_ENGINE_MATRIX)
        return core->groups[pim_core_group_of(slot)].holder;
    if (slot->engine == PIM_ENGINE_VECTOR)
        return core->vector_holder;
    return slot->engine == PIM_ENGINE_SEND ? core->sending : NULL;
}

/* The head of a queue is not looked at again before the end of `blocker` is known: pim_core_set_end() tells;
 * or, if it is NULL, before a peer has done something: pim_core_tell(). Until then a look would find the
 * same. */
static void block(struct pim_core *core, unsigned engine, struct pim_core_slot *blocker)
{
    assert(!blocker || blocker->done == PIM_CYCLE_UNKNOWN);
    if (blocker)
        blocker->blocks |= (uint8_t)(1u << engine);
    core->blocked |= 1u << engine;
}

/* Starts the head of a queue if it can; else notes when that may change. */
static bool try_head(struct pim_core *core, unsigned engine, uint64_t now)
{
    struct pim_core_queue *queue = &core->queue[engine];
    struct pim_core_slot *slot = pim_core_slot_of(core, queue->head);
    uint64_t at = conflicts_end(core, slot, now);
    if (at == PIM_CYCLE_UNKNOWN) {
        block(core, engine, pim_core_slot_of(core, slot->checked));
    } else if (at <= now) {
        if (core->ahead && is_outside(slot)) {
            core->ready = now;
            return false;
        }
        at = pim_larger(at, pim_core_available(core, slot, now));
        if (at == PIM_CYCLE_UNKNOWN && !core->cores->configuration.nn)
            block(core, engine, holder_of(core, slot));
    }
    if (at > now) {
        if (queue->cause != slot->cause)
            pim_core_account_at(core, now); /* up to now it waited for another thing */
        queue->cause = slot->cause;
        queue->at = at == PIM_CYCLE_UNKNOWN ? 0 : at;
        if (at < core->ready)
            core->ready = at;
        return false;
    }
    if (queue->unknown == 0) /* else its class goes on working, and the accounts can wait */
        pim_core_account_at(core, now);
    queue->at = 0;
    if (queue->head == queue->tail)
        core->queued &= ~(1u << engine);
    else
        queue->head += slot->next;
    queue->unknown++;
    slot->started = now;
    pim_core_start(core, slot, now);
    return true;
}

/* Starts what it can of the queues of all engines; true when there was something. What one of them starts may
 * free the head of a later one. */
static bool start_heads(struct pim_core *core, uint64_t now)
{
    const struct pim_error *error = core->cores->units.error;
    bool started = false;
    uint32_t left;
    for (unsigned engine = 0; (left = (core->queued & ~core->blocked) >> engine) != 0; engine++) {
        engine += (unsigned)__builtin_ctz(left);
        const struct pim_core_queue *queue = &core->queue[engine];
        if (queue->at > now) {
            core->ready = core->ready < queue->at ? core->ready : queue->at;
            continue;
        }
        while (error->status == PIM_OK && try_head(core, engine, now)) {
            started = true;
            if (!(core->queued >> engine & 1))
                break;
        }
    }
    return started;
}

/* --- fetch --- */

/* False when it cannot be executed. */
static PIM_ALWAYS_INLINE bool dispatch(struct pim_unit *unit, uint64_t sequence,
                                       const struct pim_instruction *instruction, uint64_t now)
{
    struct pim_core *core = (struct pim_core *)unit;
    struct pim_core_slot *slot = pim_core_slot_of(core, sequence);
    slot->instruction = *instruction;
    slot->sequence = sequence;
    slot->done = PIM_CYCLE_UNKNOWN;
    slot->checked = slot->ready = 0;
    slot->message = NULL;
    slot->blocks = 0;
    core->unknown++;
    if (!pim_core_prepare(core, slot))
        return false;
    if (core->cores->configuration.nn)
        pim_core_nn_fetched(core, slot, now);
    struct pim_core_queue *queue = &core->queue[slot->engine];
    if (core->queued >> slot->engine & 1) {
        pim_core_slot_of(core, queue->tail)->next = (uint32_t)(sequence - queue->tail);
    } else {
        pim_core_account_at(core, now);
        queue->cause = PIM_WAIT_ISSUE;
        queue->head = sequence;
        core->queued |= 1u << slot->engine;
    }
    queue->tail = sequence;
    return true;
}

static PIM_ALWAYS_INLINE bool is_done(const struct pim_unit *unit, uint64_t sequence, uint64_t now)
{
    return pim_core_slot_of((const struct pim_core *)unit, sequence)->done <= now;
}

/* What waits for everything in flight may go on when the last of it ends. */
static PIM_ALWAYS_INLINE void wait_for_all(struct pim_unit *unit)
{
    struct pim_core *core = (struct pim_core *)unit;
    if (core->unknown == 0 && core->latest < core->ready)
        core->ready = core->latest;
}

static PIM_ALWAYS_INLINE void wait_for_oldest(struct pim_unit *unit)
{
    struct pim_core *core = (struct pim_core *)unit;
    uint64_t done = pim_core_slot_of(core, unit->oldest)->done;
    if (done < core->ready)
        core->ready = done;
}

static void fetch(struct pim_core *core, uint64_t now)
{
    static const struct pim_fetch_operations operations = {.is_done = is_done,
                                                           .prepare = dispatch,
                                                           .wait_for_all = wait_for_all,
                                                           .wait_for_oldest = wait_for_oldest};
    pim_unit_fetch(&core->unit, &operations, now);
}

/* Starts and fetches what it can; `ready` is then the next cycle in which there may be more to do. */
static void advance(struct pim_core *core, uint64_t now)
{
    const bool nn = core->cores->configuration.nn;
    uint32_t unknown;
    bool started;
    do {
        core->ready = PIM_CYCLE_UNKNOWN;
        fetch(core, now);
        unknown = core->unknown;
        started = start_heads(core, now);
        /* Another engine waits for no more than the ends that a start has made known. */
    } while (started && (core->unknown != unknown || nn));
}

/* Whether the core may do what it has to do at `next` before the kernel is there: nothing that is under way
 * outside, or that another core looks at, is of it. The counts are taken together, which is one branch. */
static inline bool may_run_ahead(const struct pim_core *core, uint64_t next)
{
    const struct pim_cores *cores = core->cores;
    const uint32_t seen_from_outside = core->outside | core->posted_count |
                                       core->queue[PIM_ENGINE_SEND].unknown |
                                       core->queue[PIM_ENGINE_RECEIVE].unknown | ~core->waits_for;
    return seen_from_outside == 0 && next <= cores->horizon && cores->units.error->status == PIM_OK &&
           !cores->configuration.nn;
}

/* Does what is due at `now`; the next cycle in which something is, or PIM_CYCLE_UNKNOWN. */
static uint64_t work(struct pim_core *core, uint64_t now)
{
    while (core->due <= now) {
        if (core->ahead && pim_core_first(core)->step != PIM_STEP_WRITE)
            return now;
        const struct pim_core_entry entry = pim_core_take(core);
        pim_core_take_step(core, &entry);
    }
    advance(core, now);
    return core->due < core->ready ? core->due : core->ready;
}

/* What it looks at when it wakes lies apart, and other cores were at work since: all of it is
 * prefetched. */
static void prefetch_state(const struct pim_core *core)
{
    const struct pim_unit *unit = &core->unit;
    for (uint32_t left = core->queued & ~core->blocked; left; left &= left - 1)
        PIM_PREFETCH(pim_core_slot_of(core, core->queue[__builtin_ctz(left)].head));
    PIM_PREFETCH(pim_core_slot_of(core, unit->oldest));
    PIM_PREFETCH(pim_core_slot_of(core, unit->fetched));
    PIM_PREFETCH(unit->cursor->next);
}

void pim_core_wake(struct pim_kernel *kernel, void *context)
{
    struct pim_core *core = context;
    uint64_t now = core->wake;
    if (now == PIM_CYCLE_UNKNOWN || now * core->cores->configuration.logic_period != pim_kernel_now(kernel))
        return; /* an earlier event has done it */
    prefetch_state(core);
    core->working = true;
    core->wake = PIM_CYCLE_UNKNOWN;
    uint64_t next;
    for (;;) {
        next = work(core, now);
        bool later = next > now;
        if (next == PIM_CYCLE_UNKNOWN || !(later || !core->ahead) || !may_run_ahead(core, next))
            break;
        core->ahead = later || core->ahead;
        now = next;
    }
    core->ahead = core->working = false;
    if (next != PIM_CYCLE_UNKNOWN)
        pim_core_wake_at(core, next);
}

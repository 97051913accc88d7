/* Accounts of a core's time, phases and actions; as for nodes (models/unit/result.h). */
#include "models/core/cores_internal.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

static void add_wait(struct pim_core *core, unsigned engine, unsigned cause, pim_time time)
{
    core->result.wait[engine][cause] += time;
    core->sums->wait[cause] += time;
}

/* One class from the last account to `cycle`; `shared`: what is shared out so far, and the same with this
 * class. Expanded for each class, which settles most of it. */
static PIM_ALWAYS_INLINE uint64_t account_class(struct pim_core *core, unsigned class, unsigned first,
                                                uint64_t from, uint64_t cycle, uint64_t shared)
{
    const pim_time period = core->cores->configuration.logic_period;
    struct pim_unit_result *result = &core->result;
    bool open = core->queue[first].unknown > 0 ||
                (class == PIM_CLASS_NOC && core->queue[PIM_ENGINE_RECEIVE].unknown > 0);
    uint64_t end = open || core->busy[class] > cycle ? cycle : pim_later(core->busy[class], from);
    if (end > from)
        result->busy[class] += (end - from) * period;
    if (end > shared) {
        result->share[class] += (end - shared) * period;
        core->sums->share[class] += (end - shared) * period;
        shared = end;
    }
    if (end == cycle)
        return shared;
    pim_time rest = (cycle - end) * period;
    bool waits = core->queued >> first & 1;
    if (waits)
        add_wait(core, first, core->queue[first].cause, rest);
    if (class == PIM_CLASS_NOC && (core->posted_count > 0 || (core->queued >> PIM_ENGINE_RECEIVE & 1))) {
        add_wait(core, PIM_ENGINE_RECEIVE,
                 core->posted_count > 0 ? PIM_WAIT_PEER : core->queue[PIM_ENGINE_RECEIVE].cause, rest);
        waits = true;
    }
    if (waits)
        result->stall[class] += rest;
    else
        result->idle[class] += rest;
    return shared;
}

/* Between two calls an engine that works may end, and none may begin: what each class does is a stretch of
 * work up to an end that is known, or up to now. */
void pim_core_account(struct pim_core *core, uint64_t cycle)
{
    uint64_t from = core->accounted, shared = from;
    if (cycle <= from)
        return;
    core->accounted = cycle;
    _Static_assert(PIM_CLASSES == 4 && PIM_CLASS_PE == 0 && PIM_CLASS_ACU == 1 && PIM_CLASS_DRAM == 2,
                   "a cycle is shared out to the classes in their order");
    shared = account_class(core, PIM_CLASS_PE, PIM_ENGINE_MATRIX, from, cycle, shared);
    shared = account_class(core, PIM_CLASS_ACU, PIM_ENGINE_VECTOR, from, cycle, shared);
    shared = account_class(core, PIM_CLASS_DRAM, PIM_ENGINE_MEMORY, from, cycle, shared);
    shared = account_class(core, PIM_CLASS_NOC, PIM_ENGINE_SEND, from, cycle, shared);
    if (shared < cycle) {
        pim_time waiting = (cycle - shared) * core->cores->configuration.logic_period;
        core->result.share[PIM_SHARE_WAITING] += waiting;
        core->sums->share[PIM_SHARE_WAITING] += waiting;
    }
}

void pim_core_uncountable(struct pim_core *core)
{
    pim_core_fail(core, NULL, "its work cannot be counted in 64 bits");
}

bool pim_core_begin_phase(struct pim_core *core, uint32_t phase, uint64_t cycle)
{
    struct pim_cores *cores = core->cores;
    if (core->in_phase || phase >= cores->phase_count) {
        pim_core_fail(core, NULL, "phase_begin %" PRIu32 ": %s", phase,
                      core->in_phase ? "the phase before it is still open" : "the trace has no such phase");
        return false;
    }
    pim_core_account(core, cycle);
    struct pim_phase_result *result = &cores->phases[phase];
    pim_time now = cycle * cores->configuration.logic_period;
    if (result->units == 0 || now < result->start)
        result->start = now;
    result->units++;
    core->in_phase = true;
    core->phase = phase;
    core->phase_start = cycle;
    core->sums = result;
    memcpy(core->share_at_start, core->result.share, sizeof core->share_at_start);
    return true;
}

bool pim_core_end_phase(struct pim_core *core, uint32_t phase, uint64_t cycle)
{
    struct pim_cores *cores = core->cores;
    if (!core->in_phase || phase != core->phase) {
        pim_core_fail(core, NULL, "phase_end %" PRIu32 ": that phase is not open", phase);
        return false;
    }
    pim_core_account(core, cycle);
    uint64_t start = core->phase_start;
    pim_core_leave_phase(core, cycle);
    pim_time period = cores->configuration.logic_period;
    if (cores->observer)
        cores->observer(cores->observer_context, core->id, NULL, phase, start * period, cycle * period);
    return true;
}

void pim_core_leave_phase(struct pim_core *core, uint64_t cycle)
{
    struct pim_cores *cores = core->cores;
    struct pim_phase_result *result = core->sums;
    pim_time period = cores->configuration.logic_period;
    pim_time duration = (cycle - core->phase_start) * period, now = cycle * period;
    result->time_sum += duration;
    if (duration > result->time_maximum)
        result->time_maximum = duration;
    if (now >= result->end) {
        result->end = now;
        result->last_time = duration;
        for (unsigned share = 0; share < PIM_SHARES; share++)
            result->last_share[share] = core->result.share[share] - core->share_at_start[share];
    }
    core->in_phase = false;
    core->sums = &cores->outside;
}

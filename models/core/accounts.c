/* Accounts of a core's time; as for nodes (models/unit/result.h). */
#include "models/core/cores_internal.h"

static void add_wait(struct pim_core *core, unsigned engine, unsigned cause, pim_time time)
{
    core->unit.result.wait[engine][cause] += time;
    core->unit.sums->wait[cause] += time;
}

/* One class from the last account to `cycle`; `shared`: what is shared out so far, and the same with this
 * class. Expanded for each class, which settles most of it. */
static PIM_ALWAYS_INLINE uint64_t account_class(struct pim_core *core, unsigned class, unsigned first,
                                                uint64_t from, uint64_t cycle, uint64_t shared)
{
    const pim_time period = core->cores->configuration.logic_period;
    struct pim_unit_result *result = &core->unit.result;
    bool open = core->queue[first].unknown > 0 ||
                (class == PIM_CLASS_NOC && core->queue[PIM_ENGINE_RECEIVE].unknown > 0);
    uint64_t end = open || core->busy[class] > cycle ? cycle : pim_larger(core->busy[class], from);
    if (end > from)
        result->busy[class] += (end - from) * period;
    if (end > shared) {
        result->share[class] += (end - shared) * period;
        core->unit.sums->share[class] += (end - shared) * period;
        result->actions.clocked_ticks += (end - shared) * period;
        core->unit.sums->actions.clocked_ticks += (end - shared) * period;
        if (shared * period < core->unit.sums->work_start)
            core->unit.sums->work_start = shared * period;
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

/* Between two calls an engine that works may end, and none may begin, but in a class that goes on with work
 * whose end is not known: what each class does is a stretch of work up to an end that is known, or up to
 * now. */
void pim_core_account_at(struct pim_core *core, uint64_t cycle)
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
        core->unit.result.share[PIM_SHARE_WAITING] += waiting;
        core->unit.sums->share[PIM_SHARE_WAITING] += waiting;
    }
}

void pim_core_account(struct pim_unit *unit, pim_time time)
{
    pim_core_account_at((struct pim_core *)unit, time / unit->units->period);
}

/* What of a unit starts, and is complete: docs/models/node.md, "Unit". */
#include "mappers/estimate/estimate.h"
#include "mappers/estimate/exchange/timing.h"
#include "sim/integer.h"

static bool is_free(const struct timing *timing, const struct unit *unit, unsigned engine)
{
    switch (engine) {
    case ITEM_RECEIVE:
        return unit->open < timing->open;
    case ITEM_SEND:
        return unit->sending == NONE;
    case ITEM_MEMORY:
        return unit->request[CLIENT_WORK].subject == NONE;
    default:
        return !unit->working;
    }
}

/* Whether what it waits for is complete; a send is announced as well. */
static bool is_ready(const struct timing *timing, const struct unit *unit, uint32_t index)
{
    const struct item *item = &timing->item[index];
    if (item->kind == ITEM_SEND) {
        const struct course *course = &timing->course[item->transfer];
        if (course->granted == 0)
            return false;
    }
    for (unsigned i = 0; item->instruction && i < PIM_DEPENDENCIES; i++) {
        const uint32_t distance = item->instruction->dependency[i];
        if (distance > 0 && distance <= index - unit->first && !timing->item[index - distance].complete)
            return false;
    }
    return true;
}

static void start_vector(struct timing *timing, struct unit *unit, uint32_t index)
{
    const struct pim_instruction *instruction = timing->item[index].instruction;
    struct pim_acu_cost cost;
    pim_acu_vector(&timing->hardware->acu, instruction->detail, instruction->u.vector.rows,
                   instruction->u.vector.elements, &cost);
    const uint64_t at = pim_divide_up(timing->now, timing->logic) * timing->logic;
    unit->working = true;
    timing_at(timing, pim_larger(at + cost.cycles * timing->logic, timing->now + 1), EVENT_WORKED, index);
}

static void start_item(struct timing *timing, struct unit *unit, uint32_t index)
{
    const struct item *item = &timing->item[index];
    switch (item->kind) {
    case ITEM_RECEIVE:
        unit->open++;
        timing_signal(timing, item->transfer, EVENT_ANNOUNCED);
        break;
    case ITEM_SEND:
        unit->sending = item->transfer;
        timing_pump(timing, item->unit);
        break;
    case ITEM_MEMORY:
        timing_ask_memory(timing, index);
        break;
    default:
        start_vector(timing, unit, index);
    }
}

static bool try_engine(struct timing *timing, struct unit *unit, unsigned engine)
{
    uint32_t *next = &unit->next[engine];
    while (*next < unit->last && timing->item[*next].kind != engine)
        ++*next;
    if (*next >= unit->fence || *next - unit->oldest >= timing->window || !is_free(timing, unit, engine) ||
        (timing->in_order && *next != unit->issued) || !is_ready(timing, unit, *next))
        return false;
    unit->issued++;
    start_item(timing, unit, (*next)++);
    return true;
}

/* A start lets no other engine start; in order it does. */
void timing_start(struct timing *timing, uint32_t index)
{
    struct unit *unit = &timing->unit[index];
    bool started = unit->begun;
    while (started) {
        started = false;
        for (unsigned engine = 0; engine < ITEM_ENGINES; engine++)
            while (try_engine(timing, unit, engine))
                started = timing->in_order;
    }
}

static void end_item(struct timing *timing, struct item *item)
{
    item->complete = true;
    item->end = timing->now;
    timing->end[item->unit] = pim_larger(timing->end[item->unit], timing->now);
}

/* What is complete is done with; a join is, when all before it is. */
void timing_retire(struct timing *timing, struct unit *unit)
{
    while (unit->oldest < unit->last) {
        struct item *item = &timing->item[unit->oldest];
        if (unit->oldest == unit->fence) {
            end_item(timing, item);
            unit->issued = ++unit->fence;
            while (unit->fence < unit->last && timing->item[unit->fence].kind != ITEM_JOIN)
                unit->fence++;
        }
        if (!item->complete)
            return;
        unit->oldest++;
    }
}

void timing_complete(struct timing *timing, uint32_t index)
{
    struct item *item = &timing->item[index];
    end_item(timing, item);
    timing_retire(timing, &timing->unit[item->unit]);
    timing_start(timing, item->unit);
}

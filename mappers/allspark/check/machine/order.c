/*
 * What is complete when an instruction starts, through dependencies and engines that work one instruction at
 * a time; and accesses to the same bytes that nothing orders.
 *
 * Since an engine completes its instructions in order, what is known of it is a number. Receives complete in
 * any order: they are a set of bits, which instructions share as long as they know the same of them.
 */
#include "mappers/allspark/check/machine/machine_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void order_initialize(struct order *order)
{
    enum { CHUNK = 4096 };
    pim_arena_initialize(&order->arena, CHUNK);
}

void order_terminate(struct order *order)
{
    free(order->moments);
    for (int kind = 0; kind < ACCESS_KINDS; kind++)
        free(order->accesses[kind].items);
    pim_arena_terminate(&order->arena);
}

void order_join(struct order *order, uint64_t sequence)
{
    order->join = sequence;
    order->count = 0;
    order->receives = 0;
    order->passed = 0;
    memset(order->last, 0, sizeof order->last);
    for (int kind = 0; kind < ACCESS_KINDS; kind++)
        order->accesses[kind].count = 0;
    pim_arena_reset(&order->arena);
}

/* --- moments --- */

static bool knows(const struct moment *moment, uint32_t receive)
{
    return receive / 64 < moment->words && (moment->receives[receive / 64] >> receive % 64 & 1);
}

/* Whether all bits of `b` are in `a`. */
static bool covers(const struct moment *a, const uint64_t *b, uint32_t words)
{
    for (uint32_t i = 0; i < words; i++)
        if (b[i] & ~(i < a->words ? a->receives[i] : 0))
            return false;
    return true;
}

static bool add_receives(struct order *order, struct moment *moment, const uint64_t *set, uint32_t words)
{
    if (set == moment->receives || covers(moment, set, words))
        return true;
    uint32_t most = words > moment->words ? words : moment->words;
    uint64_t *both = PIM_ARENA_ARRAY(&order->arena, uint64_t, most);
    if (!both)
        return false;
    for (uint32_t i = 0; i < most; i++)
        both[i] = (i < words ? set[i] : 0) | (i < moment->words ? moment->receives[i] : 0);
    moment->receives = both;
    moment->words = most;
    return true;
}

static bool add_receive(struct order *order, struct moment *moment, uint32_t receive)
{
    if (knows(moment, receive))
        return true;
    uint32_t words = receive / 64 + 1 > moment->words ? receive / 64 + 1 : moment->words;
    uint64_t *set = PIM_ARENA_ARRAY(&order->arena, uint64_t, words);
    if (!set)
        return false;
    if (moment->words > 0)
        memcpy(set, moment->receives, moment->words * sizeof *set);
    set[receive / 64] |= UINT64_C(1) << receive % 64;
    moment->receives = set;
    moment->words = words;
    return true;
}

/* Instruction `index` of the join, and all that is behind it, is complete. */
static bool add_complete(struct order *order, struct moment *moment, uint32_t index)
{
    const struct moment *other = &order->moments[index];
    for (int engine = 0; engine < ORDERED_ENGINES; engine++)
        if (other->complete[engine] > moment->complete[engine])
            moment->complete[engine] = other->complete[engine];
    if (other->words > 0 && !add_receives(order, moment, other->receives, other->words))
        return false;
    if (other->engine == PIM_ENGINE_RECEIVE)
        return add_receive(order, moment, other->receive);
    if (index + 1 > moment->complete[other->engine])
        moment->complete[other->engine] = index + 1;
    return true;
}

enum pim_status order_begin(struct machine *machine, uint32_t number)
{
    struct unit *unit = &machine->units[number];
    struct order *order = &unit->order;
    struct moment *grown =
        pim_array_grow(order->moments, &order->capacity, order->count + 1, sizeof *order->moments);
    if (!grown)
        return machine_no_memory(machine);
    order->moments = grown;
    struct moment moment = {.engine = (uint8_t)pim_opcode_engine(unit->now->opcode)};
    bool receives = moment.engine == PIM_ENGINE_RECEIVE, there = true;
    if (!receives && order->last[moment.engine] > 0)
        there = add_complete(order, &moment, order->last[moment.engine] - 1);
    for (int i = 0; i < PIM_DEPENDENCIES && there; i++) {
        uint64_t distance = unit->now->dependency[i];
        if (distance > 0 && distance <= order->count) /* others are in front of the join */
            there = add_complete(order, &moment, (uint32_t)(order->count - distance));
    }
    if (!there)
        return machine_no_memory(machine);
    if (receives)
        moment.receive = order->receives++;
    else
        order->last[moment.engine] = (uint32_t)order->count + 1;
    order->moments[order->count++] = moment;
    return PIM_OK;
}

bool order_is_behind(const struct unit *unit, uint64_t sequence)
{
    const struct order *order = &unit->order;
    if (sequence <= order->join)
        return true;
    uint64_t index = sequence - order->join - 1;
    const struct moment *now = &order->moments[order->count - 1];
    const struct moment *then = &order->moments[index];
    return then->engine == PIM_ENGINE_RECEIVE ? knows(now, then->receive)
                                              : now->complete[then->engine] > index;
}

/* --- accesses --- */

static bool meet(const struct access *a, const struct access *b)
{
    if (a->begin >= b->end || b->begin >= a->end)
        return false;
    for (uint64_t i = 0; i < a->count; i++)
        for (uint64_t j = 0; j < b->count; j++)
            if (a->begin + i * a->stride < b->begin + j * b->stride + b->bytes &&
                b->begin + j * b->stride < a->begin + i * a->stride + a->bytes)
                return true;
    return false;
}

static enum pim_status uncertain(const struct machine *machine, uint32_t number, const struct access *access,
                                 const struct access *other)
{
    return machine_broken(machine, number,
                          "bytes %" PRIu64 " to %" PRIu64 " are also accessed by instruction %" PRIu64
                          " in no certain order: one of the two must wait for the other",
                          access->begin, access->end, machine->units[number].order.join + 1 + other->moment);
}

/* Those of an engine in order: what lies before one that is complete is complete. */
static enum pim_status hold_against(const struct machine *machine, uint32_t number, enum access_kind kind,
                                    const struct access *access)
{
    const struct order *order = &machine->units[number].order;
    const struct accesses *list = &order->accesses[kind];
    enum pim_engine engine = kind == ACCESS_SEND ? PIM_ENGINE_SEND : PIM_ENGINE_MEMORY;
    uint32_t complete = order->moments[order->count - 1].complete[engine];
    for (size_t i = list->count; i-- > 0 && list->items[i].moment >= complete;)
        if (meet(access, &list->items[i]))
            return uncertain(machine, number, access, &list->items[i]);
    return PIM_OK;
}

static enum pim_status hold_against_receives(struct machine *machine, uint32_t number, bool memory,
                                             const struct access *access)
{
    struct order *order = &machine->units[number].order;
    const struct accesses *list = &order->accesses[ACCESS_RECEIVE];
    const struct moment *now = &order->moments[order->count - 1];
    for (size_t i = memory ? order->passed : 0; i < list->count; i++) {
        if (knows(now, order->moments[list->items[i].moment].receive)) {
            if (memory && i == order->passed)
                order->passed++;
            continue;
        }
        if (meet(access, &list->items[i]))
            return uncertain(machine, number, access, &list->items[i]);
    }
    return PIM_OK;
}

enum pim_status order_access(struct machine *machine, uint32_t number, enum access_kind kind,
                             struct access access)
{
    struct order *order = &machine->units[number].order;
    struct accesses *list = &order->accesses[kind];
    bool memory = kind == ACCESS_LOAD || kind == ACCESS_STORE;
    bool writes = kind == ACCESS_STORE || kind == ACCESS_RECEIVE;
    access.end = access.begin + (access.count - 1) * access.stride + access.bytes;
    access.moment = (uint32_t)order->count - 1;
    enum pim_status status = PIM_OK;
    if (kind == ACCESS_RECEIVE)
        status = hold_against(machine, number, ACCESS_LOAD, &access);
    if (status == PIM_OK && !memory)
        status = hold_against(machine, number, ACCESS_STORE, &access);
    if (status == PIM_OK && writes)
        status = hold_against(machine, number, ACCESS_SEND, &access);
    if (status == PIM_OK)
        status = hold_against_receives(machine, number, memory, &access);
    struct access *grown = pim_array_grow(list->items, &list->capacity, list->count + 1, sizeof access);
    if (!grown)
        return machine_no_memory(machine);
    list->items = grown;
    grown[list->count++] = access;
    return status;
}

/*
 * The calendar of a core: what its instructions in flight have to do, in the order of cycle, then of the
 * program, then of entering.
 *
 * It has a lane for each engine, and each lane is kept in this order.
 *  1. An engine's steps are mostly entered in the order in which they are due: a new one stays at the end of
 *     its lane, or near to it.
 *  2. The steps of an instruction are all in the lane of its engine. So entries that differ by nothing but
 *     the time of entering are in one lane, where the later one is put behind; the first entries of two lanes
 *     never tie.
 *  3. `due`, `due_sequence` and `due_lane` are of the first of all entries; `due` is PIM_CYCLE_UNKNOWN when
 *     there is none. Bit i of `lanes` says that lane i is not empty.
 */
#include "models/core/cores_internal.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

static inline bool is_before(uint64_t cycle, uint64_t sequence, uint64_t other_cycle, uint64_t other_sequence)
{
    return cycle < other_cycle || (cycle == other_cycle && sequence < other_sequence);
}

static inline struct pim_core_entry *entry_at(const struct pim_core_lane *lane, uint32_t place)
{
    return &lane->entry[place & (lane->capacity - 1)];
}

static PIM_NOINLINE void grow(struct pim_core_lane *lane)
{
    struct pim_core_lane grown = {.capacity = lane->capacity ? 2 * lane->capacity : 8};
    grown.entry = malloc(grown.capacity * sizeof *grown.entry);
    if (!grown.entry) {
        fprintf(stderr, "pimsim: out of memory for the calendar of a core\n");
        _Exit(1);
    }
    while (lane->head != lane->tail)
        grown.entry[grown.tail++] = *entry_at(lane, lane->head++);
    free(lane->entry);
    *lane = grown;
}

void pim_core_enter(struct pim_core *core, uint64_t cycle, enum pim_core_step step,
                    struct pim_core_slot *slot, uint64_t bytes)
{
    const uint64_t sequence = slot->sequence;
    struct pim_core_lane *lane = &core->lane[slot->engine];
    assert(cycle != PIM_CYCLE_UNKNOWN && bytes <= UINT32_MAX); /* of the local memory */
    if (lane->tail - lane->head == lane->capacity)
        grow(lane);
    uint32_t place = lane->tail++;
    for (; place != lane->head; place--) {
        const struct pim_core_entry *last = entry_at(lane, place - 1);
        if (!is_before(cycle, sequence, last->cycle, last->sequence))
            break;
        *entry_at(lane, place) = *last;
    }
    *entry_at(lane, place) = (struct pim_core_entry){
        .cycle = cycle, .sequence = sequence, .slot = slot, .bytes = (uint32_t)bytes, .step = (uint32_t)step};
    core->lanes |= 1u << slot->engine;
    if (is_before(cycle, sequence, core->due, core->due_sequence)) {
        core->due = cycle;
        core->due_sequence = sequence;
        core->due_lane = slot->engine;
    }
    if (!core->working) /* else it sees for itself */
        pim_core_wake_at(core, cycle);
}

const struct pim_core_entry *pim_core_first(const struct pim_core *core)
{
    const struct pim_core_lane *lane = &core->lane[core->due_lane];
    assert(core->due != PIM_CYCLE_UNKNOWN && lane->head != lane->tail);
    return entry_at(lane, lane->head);
}

struct pim_core_entry pim_core_take(struct pim_core *core)
{
    const struct pim_core_entry first = *pim_core_first(core);
    struct pim_core_lane *taken = &core->lane[core->due_lane];
    if (++taken->head == taken->tail)
        core->lanes &= ~(1u << core->due_lane);
    core->due = core->due_sequence = PIM_CYCLE_UNKNOWN;
    for (uint32_t left = core->lanes; left; left &= left - 1) {
        unsigned engine = (unsigned)__builtin_ctz(left);
        const struct pim_core_lane *lane = &core->lane[engine];
        const struct pim_core_entry *entry = entry_at(lane, lane->head);
        if (!is_before(entry->cycle, entry->sequence, core->due, core->due_sequence))
            continue;
        core->due = entry->cycle;
        core->due_sequence = entry->sequence;
        core->due_lane = engine;
    }
    return first;
}

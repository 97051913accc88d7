/*
 * Says why an abstract execution stuck; see check.h.
 *
 * Everything that waits waits for one thing that can be named: another instruction of the unit, the other end
 * of a message, or the fetch of a unit. Following these from any stuck unit ends in a circle or in something
 * that never comes.
 */
#include "traces/check/instruction.h"
#include "traces/check/internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 1900, TEXT_FULL = 1100 };

/* Something that waits: an instruction in flight, or (fetch PIM_NO_FETCH) the fetch of a unit. */
struct waiting {
    uint32_t unit;
    uint64_t fetch;
    bool none; /* what is waited for never comes */
};

struct text {
    char bytes[TEXT];
    size_t used;
};

static PIM_PRINTF(2, 3) void add(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text->bytes + text->used, TEXT - text->used, format, arguments);
    va_end(arguments);
    text->used += length > 0 ? (size_t)length : 0;
    if (text->used > TEXT - 1)
        text->used = TEXT - 1;
}

static void add_place(struct text *text, const struct pim_check_unit *unit, uint32_t number, uint64_t fetch)
{
    const struct pim_check_slot *slot = pim_check_slot(unit, fetch);
    char place[256];
    add(text, "%s ", pim_check_place(number, slot->stored, fetch, &slot->instruction, place, sizeof place));
}

static struct waiting explain_fetch(const struct pim_check *check, uint32_t number, struct text *text)
{
    const struct pim_check_unit *unit = &check->unit[number];
    char place[256];
    add(text, "%s cannot be fetched: ",
        pim_check_place(number, pim_trace_cursor_stored(unit->cursor), unit->fetched, unit->next, place,
                        sizeof place));
    if (pim_opcode_engine(unit->next->opcode) == PIM_ENGINE_CONTROL)
        add(text, "it waits for everything before it");
    else
        add(text, "the window of %" PRIu32 " instructions is full", check->limits.window);
    add(text, ", and instruction %" PRIu64 " is not complete", pim_check_slot(unit, unit->oldest)->stored);
    return (struct waiting){.unit = number, .fetch = unit->oldest};
}

static struct waiting explain_space(const struct pim_check *check, uint32_t number, uint64_t fetch,
                                    struct text *text)
{
    const struct pim_check_unit *unit = &check->unit[number];
    const struct pim_instruction *instruction = &pim_check_slot(unit, fetch)->instruction;
    enum pim_buffer buffer = PIM_BUFFER_INPUT;
    while (buffer < PIM_BUFFER_OUTPUT && !pim_check_lacks_space(check, unit, instruction, buffer))
        buffer = (enum pim_buffer)(buffer + 1);
    add(text, "waits for %" PRIu64 " bytes of the %s buffer, of which %" PRIu64 " of %" PRIu64 " are taken; ",
        pim_check_takes(check, instruction, buffer), pim_buffer_name(buffer), unit->held[buffer],
        check->limits.buffer_bytes[buffer]);
    for (uint64_t giver = unit->oldest; giver < unit->fetched; giver++) {
        const struct pim_check_slot *slot = pim_check_slot(unit, giver);
        if (slot->done || pim_space_given(&slot->instruction).bytes[buffer] == 0)
            continue;
        add(text, "the next to give some back is instruction %" PRIu64, slot->stored);
        return (struct waiting){.unit = number, .fetch = giver};
    }
    add(text, "nothing that was fetched gives any back");
    return (struct waiting){.unit = number, .fetch = PIM_NO_FETCH};
}

/* The first instruction of `unit` in flight, not complete, that is the other end of a message of unit
 * `number`. */
static uint64_t find_other_end(const struct pim_check_unit *unit, enum pim_opcode opcode,
                               const struct pim_instruction *own, uint32_t number)
{
    for (uint64_t fetch = unit->oldest; fetch < unit->fetched; fetch++) {
        const struct pim_check_slot *slot = pim_check_slot(unit, fetch);
        if (!slot->done && slot->instruction.opcode == opcode &&
            pim_check_meets(own, number, &slot->instruction))
            return fetch;
    }
    return PIM_NO_FETCH;
}

static struct waiting explain_message(const struct pim_check *check, uint32_t number, uint64_t fetch,
                                      struct text *text)
{
    const struct pim_check_unit *unit = &check->unit[number];
    const struct pim_check_slot *slot = pim_check_slot(unit, fetch);
    const struct pim_instruction *own = &slot->instruction;
    const bool receives = pim_opcode_engine(own->opcode) == PIM_ENGINE_RECEIVE;
    if (receives && !slot->started) {
        add(text, "waits because %" PRIu32 " receives are open, the first is instruction %" PRIu64,
            unit->open_count, pim_check_slot(unit, unit->open[0])->stored);
        return (struct waiting){.unit = number, .fetch = unit->open[0]};
    }
    uint32_t peer = own->u.network.peer;
    const struct pim_check_unit *other = &check->unit[peer];
    const bool rows = own->opcode == PIM_OP_ROW_SEND || own->opcode == PIM_OP_ROW_RECEIVE;
    enum pim_opcode opcode =
        receives ? (rows ? PIM_OP_ROW_SEND : PIM_OP_SEND) : (rows ? PIM_OP_ROW_RECEIVE : PIM_OP_RECEIVE);
    uint64_t found = find_other_end(other, opcode, own, number);
    add(text, "waits for the %s of unit %" PRIu32, pim_opcode_name(opcode), peer);
    if (found != PIM_NO_FETCH)
        add(text, ", its instruction %" PRIu64, pim_check_slot(other, found)->stored);
    else if (!other->ended)
        add(text, ", which has not been fetched");
    else
        add(text, ", whose program has ended: that message is missing");
    return (struct waiting){.unit = peer, .fetch = found, .none = found == PIM_NO_FETCH && other->ended};
}

/* Adds "<who> waits for <what>" and returns whom it waits for. */
static struct waiting explain(const struct pim_check *check, struct waiting who, struct text *text)
{
    if (who.fetch == PIM_NO_FETCH)
        return explain_fetch(check, who.unit, text);
    const struct pim_check_unit *unit = &check->unit[who.unit];
    const struct pim_check_slot *slot = pim_check_slot(unit, who.fetch);
    enum pim_engine engine = pim_opcode_engine(slot->instruction.opcode);
    uint64_t head = unit->queue[engine].head, blocker = pim_check_blocker(unit, who.fetch);
    const bool cores = check->limits.kind == PIM_CHECK_CORES;
    const uint64_t hazard = cores ? pim_check_hazard(unit, who.fetch, 0) : PIM_NO_FETCH;
    struct waiting next = {.unit = who.unit};
    add_place(text, unit, who.unit, who.fetch);
    if (slot->started)
        return explain_message(check, who.unit, who.fetch, text);
    if (head != who.fetch) {
        add(text, "stands in the queue of the %s engine behind instruction %" PRIu64, pim_engine_name(engine),
            pim_check_slot(unit, head)->stored);
        next.fetch = head;
    } else if (blocker != PIM_NO_FETCH) {
        add(text, "depends on instruction %" PRIu64, pim_check_slot(unit, blocker)->stored);
        next.fetch = blocker;
    } else if (hazard != PIM_NO_FETCH) {
        add(text, "waits for instruction %" PRIu64 ", which uses the same bytes of the local memory",
            pim_check_slot(unit, hazard)->stored);
        next.fetch = hazard;
    } else if (cores && check->limits.in_order && who.fetch != unit->oldest) {
        add(text, "may not start before instruction %" PRIu64 " is complete (in-order issue)",
            pim_check_slot(unit, unit->oldest)->stored);
        next.fetch = unit->oldest;
    } else if (!cores && check->limits.in_order && who.fetch != unit->issued) {
        add(text, "may not start before instruction %" PRIu64 " (in-order issue)",
            pim_check_slot(unit, unit->issued)->stored);
        next.fetch = unit->issued;
    } else if (engine == PIM_ENGINE_SEND || engine == PIM_ENGINE_RECEIVE) {
        return explain_message(check, who.unit, who.fetch, text);
    } else {
        return explain_space(check, who.unit, who.fetch, text);
    }
    return next;
}

static bool is_same(struct waiting a, struct waiting b)
{
    return a.unit == b.unit && a.fetch == b.fetch;
}

/* Follows the waiting from `start` (Brent's algorithm): the last one before something that never comes, or
 * one of the circle. */
static struct waiting follow(const struct pim_check *check, struct waiting start, bool *circle)
{
    struct text ignored;
    struct waiting mark = start, last = start;
    uint64_t steps = 0, power = 1;
    for (;;) {
        ignored.used = 0;
        struct waiting next = explain(check, last, &ignored);
        *circle = !next.none;
        if (next.none || is_same(next, mark))
            return last;
        last = next;
        if (++steps == power) {
            mark = last;
            power *= 2;
            steps = 0;
        }
    }
}

enum pim_status pim_check_explain(const struct pim_check *check, struct pim_error *error)
{
    struct text text = {.used = 0}, ignored;
    uint32_t stuck = 0, left_out = 0;
    uint64_t steps = 0;
    bool circle;
    while (check->unit[stuck].ended)
        stuck++;
    struct waiting first = follow(check, (struct waiting){.unit = stuck, .fetch = PIM_NO_FETCH}, &circle),
                   who = first;
    if (!circle) {
        (void)explain(check, first, &text);
        return pim_fail(error, PIM_DEADLOCK, "deadlock: %s", text.bytes);
    }
    do {
        bool room = text.used < TEXT_FULL;
        ignored.used = 0;
        if (room)
            add(&text, "\n  ");
        who = explain(check, who, room ? &text : &ignored);
        left_out += !room;
        steps++;
    } while (!is_same(who, first));
    if (left_out > 0)
        add(&text, "\n  and %" PRIu32 " more", left_out);
    return pim_fail(error, PIM_DEADLOCK, "deadlock: a circle of %" PRIu64 " that wait for each other:%s",
                    steps, text.bytes);
}

/* Links of a mesh: timing_internal.h. */
#include "mappers/pimcomp/cost/timing_internal.h"

#include "mappers/machine/network.h"
#include "sim/integer.h"

enum { PARTS = 256 }; /* of a cycle */

bool pim_timing_link_make(struct pim_timing_link *link, struct pim_arena *arena)
{
    link->message = PIM_ARENA_ITEMS(arena, struct pim_timing_message, PIM_LINK_KEPT);
    return link->message != NULL;
}

static bool is_there(const struct pim_timing_link *link, const struct pim_timing_message *message)
{
    return message->left > 0 && message->head <= link->now;
}

/* Of the cycles from link->now on each message has one in turns[i]; 0: none. Returns until when that holds,
 * `until` at most. */
static uint64_t share(const struct pim_timing_link *link, uint64_t until, uint64_t turns[PIM_LINK_KEPT])
{
    uint64_t messages[PIM_MACHINE_LINKS] = {0}, inputs = 0;
    for (uint32_t i = 0; i < link->count; i++)
        if (is_there(link, &link->message[i]))
            inputs += messages[link->message[i].input]++ == 0;
    for (uint32_t i = 0; i < link->count; i++) {
        const struct pim_timing_message *message = &link->message[i];
        const bool there = is_there(link, message);
        turns[i] = there ? inputs * messages[message->input] : 0;
        if (there)
            until = pim_smaller(until, link->now + pim_divide_up(message->left * turns[i], PARTS));
        else if (message->left > 0)
            until = pim_smaller(until, message->head);
    }
    return until;
}

/* Gives cycles to the messages up to a cycle, or until all have passed. */
static void serve(struct pim_timing_link *link, uint64_t until)
{
    uint64_t turns[PIM_LINK_KEPT];
    while (link->now < until) {
        const uint64_t next = share(link, until, turns), parts = (next - link->now) * PARTS;
        if (next == UINT64_MAX)
            return;
        for (uint32_t i = 0; i < link->count; i++) {
            struct pim_timing_message *message = &link->message[i];
            if (turns[i] == 0)
                continue;
            message->left -= pim_smaller(message->left, parts / turns[i]);
            message->end = message->left == 0 ? next : message->end;
        }
        link->now = next;
    }
}

/* The present moves on: messages that have passed are forgotten. */
static void move_on(struct pim_timing_link *link, uint64_t now)
{
    uint32_t kept = 0;
    if (link->count > 0 && now > link->now)
        serve(link, now);
    link->now = pim_larger(link->now, now);
    for (uint32_t i = 0; i < link->count; i++)
        if (link->message[i].left > 0)
            link->message[kept++] = link->message[i];
    link->count = kept;
}

/* One more message: where there are too many it comes no sooner than the first of the others ends, in its
 * place. */
static struct pim_timing_message *add(struct pim_timing_link *link, const struct pim_timing_message *message)
{
    uint64_t head = message->head;
    uint32_t first = 0;
    for (uint32_t i = 1; i < link->count; i++)
        first = link->message[i].end < link->message[first].end ? i : first;
    if (link->count == PIM_LINK_KEPT) {
        head = pim_larger(head, link->message[first].end);
        link->message[first] = link->message[--link->count];
    }
    struct pim_timing_message *own = &link->message[link->count++];
    *own = *message;
    own->head = head;
    own->left = own->hold * PARTS;
    own->end = head + own->hold;
    return own;
}

static void put_off(const struct pim_timing_message *message)
{
    struct pim_timing_entry *send = message->send, *receive = message->receive;
    if (receive->sequence == message->received_by && receive->end == PIM_TIMING_UNKNOWN)
        receive->whole = pim_larger(receive->whole, message->end + message->rest);
    if (message->held > 0 && send->sequence == message->sent_by && send->end == PIM_TIMING_UNKNOWN) {
        const uint64_t passed = pim_scale_up(message->end - message->head, message->held, message->flits);
        send->due = pim_larger(send->due, message->head + passed);
    }
}

/* True when no other message is on the link together with `message`. */
static bool passes_alone(const struct pim_timing_link *link, const struct pim_timing_message *message)
{
    for (uint32_t i = 0; i < link->count; i++) {
        const struct pim_timing_message *other = &link->message[i];
        if (other != message && other->end > message->head && other->head < message->end)
            return false;
    }
    return true;
}

void pim_timing_link_pass(struct pim_timing_link *link, const struct pim_timing_message *message,
                          uint64_t now)
{
    uint64_t left[PIM_LINK_KEPT], end[PIM_LINK_KEPT];
    move_on(link, now);
    const struct pim_timing_message *own = add(link, message);
    put_off(own);
    if (passes_alone(link, own))
        return;
    for (uint32_t i = 0; i < link->count; i++) {
        left[i] = link->message[i].left;
        end[i] = link->message[i].end;
    }
    const uint64_t present = link->now;
    serve(link, UINT64_MAX);
    link->now = present;
    for (uint32_t i = 0; i < link->count; i++) {
        link->message[i].left = left[i];
        if (link->message[i].end > end[i])
            put_off(&link->message[i]);
    }
}

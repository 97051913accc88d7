/* The network interface of a unit: docs/models/node.md, "Messages". */
#include "mappers/estimate/estimate.h"
#include "mappers/estimate/exchange/timing.h"

/* Whether a send passes on from the interface what one receive alone brought. */
static bool is_forwarded(const struct timing *timing, uint32_t index)
{
    const struct item *item = &timing->item[index];
    const struct unit *unit = &timing->unit[item->unit];
    uint32_t distance = 0;
    if (!timing->programs || !timing->hardware->cut_through)
        return false;
    for (unsigned i = 0; i < PIM_DEPENDENCIES; i++) {
        const uint32_t other = item->instruction->dependency[i];
        if (other > 0 && distance > 0)
            return false;
        distance = other > 0 ? other : distance;
    }
    if (distance == 0 || distance > index - unit->first || distance >= timing->window ||
        timing->item[index - distance].kind != ITEM_RECEIVE)
        return false;
    const struct pim_operands_network *sent = &item->instruction->u.network,
                                      *come = &timing->item[index - distance].instruction->u.network;
    return sent->address >= come->address && sent->bytes <= come->bytes &&
           sent->address - come->address <= come->bytes - sent->bytes;
}

void timing_pump(struct timing *timing, uint32_t index)
{
    struct unit *unit = &timing->unit[index];
    while (unit->sending != NONE && unit->request[CLIENT_SEND].subject == NONE &&
           unit->packets < timing->held) {
        struct course *course = &timing->course[unit->sending];
        if (course->asked == course->granted)
            return;
        const uint32_t packet = course->first_packet + course->asked++;
        unit->packets++;
        unit->sending = course->asked == course->packets ? NONE : unit->sending;
        if (is_forwarded(timing, course->sent_at))
            timing_inject(timing, packet);
        else
            timing_ask_packet(timing, index, CLIENT_SEND, packet);
    }
}

void timing_left(struct timing *timing, uint32_t packet)
{
    const uint32_t transfer = timing->packet[packet].transfer, from = timing->transfer[transfer].from;
    struct course *course = &timing->course[transfer];
    timing->unit[from].packets--;
    timing_pump(timing, from);
    if (++course->left == course->packets)
        timing_complete(timing, course->sent_at);
    else
        timing_start(timing, from);
}

/* The packet that came in first, of those that wait. */
void timing_queue_write(struct timing *timing, uint32_t index)
{
    struct unit *unit = &timing->unit[index];
    const uint32_t packet = unit->to_write;
    if (packet == NONE || unit->request[CLIENT_RECEIVE].subject != NONE)
        return;
    unit->to_write = timing->packet[packet].next;
    timing_ask_packet(timing, index, CLIENT_RECEIVE, packet);
}

void timing_receive(struct timing *timing, uint32_t packet)
{
    const uint32_t to = timing->transfer[timing->packet[packet].transfer].to;
    struct unit *unit = &timing->unit[to];
    if (unit->to_write == NONE)
        unit->to_write = packet;
    else
        timing->packet[unit->newest].next = packet;
    unit->newest = packet;
    timing_queue_write(timing, to);
}

void timing_written(struct timing *timing, uint32_t packet)
{
    const uint32_t transfer = timing->packet[packet].transfer;
    struct course *course = &timing->course[transfer];
    course->written++;
    if (timing->granted < course->packets && course->written <= course->packets - timing->granted)
        timing_signal(timing, transfer, EVENT_GRANTED);
    if (course->written < course->packets)
        return;
    timing->unit[timing->transfer[transfer].to].open--;
    timing_complete(timing, course->received_at);
}

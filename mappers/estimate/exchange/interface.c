/* The network interface of a unit: docs/models/node.md, "Messages". */
#include "mappers/estimate/estimate.h"
#include "mappers/estimate/exchange/timing.h"

void timing_pump(struct timing *timing, uint32_t index)
{
    struct unit *unit = &timing->unit[index];
    if (unit->sending == NONE || unit->request[CLIENT_SEND].subject != NONE || unit->packets == timing->held)
        return;
    struct course *course = &timing->course[unit->sending];
    if (course->asked == course->granted)
        return;
    const uint32_t packet = course->first_packet + course->asked++;
    unit->packets++;
    unit->sending = course->asked == course->packets ? NONE : unit->sending;
    timing_ask_packet(timing, index, CLIENT_SEND, packet);
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
    if (course->passed_on != NONE)
        timing_at(timing, timing->now + timing->logic * timing->transfer[course->passed_on].delay, EVENT_MADE,
                  course->passed_on);
    timing_complete(timing, course->received_at);
}

/* Copies and messages by units and steps, and the instructions of a unit. */
#include "mappers/allspark/redistribution/transport.h"
#include "sim/arena.h"

#include <stdlib.h>

/* --- adding --- */

bool pim_transport_add_copy(struct pim_transport *transport, const struct pim_transport_copy *copy,
                            bool joined)
{
    struct pim_transport_copy *last =
        joined && transport->copy_count > 0 ? &transport->copies[transport->copy_count - 1] : NULL;
    if (last && last->unit == copy->unit && last->step == copy->step &&
        last->from + last->bytes == copy->from && last->to + last->bytes == copy->to &&
        copy->bytes <= UINT32_MAX - last->bytes) {
        last->bytes += copy->bytes;
        return true;
    }
    struct pim_transport_copy *grown = pim_array_grow(transport->copies, &transport->copy_capacity,
                                                      (size_t)transport->copy_count + 1, sizeof *grown);
    if (!grown || transport->copy_count == UINT32_MAX)
        return false;
    transport->copies = grown;
    transport->copies[transport->copy_count++] = *copy;
    return true;
}

bool pim_transport_add_message(struct pim_transport *transport, const struct pim_transport_message *message)
{
    struct pim_transport_message *last =
        transport->message_count > 0 ? &transport->messages[transport->message_count - 1] : NULL;
    if (last && last->step == message->step && last->from_unit == message->from_unit &&
        last->to_unit == message->to_unit && last->order == message->order &&
        last->from + last->bytes == message->from && last->to + last->bytes == message->to) {
        last->bytes += message->bytes;
        return true;
    }
    struct pim_transport_message *grown = pim_array_grow(transport->messages, &transport->message_capacity,
                                                         (size_t)transport->message_count + 1, sizeof *grown);
    if (!grown || transport->message_count == UINT32_MAX)
        return false;
    transport->messages = grown;
    transport->messages[transport->message_count++] = *message;
    return true;
}

/* --- order --- */

static int compare_messages(const void *left, const void *right)
{
    const struct pim_transport_message *a = left, *b = right;
    if (a->step != b->step)
        return a->step < b->step ? -1 : 1;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return a->tag < b->tag ? -1 : a->tag > b->tag;
}

void pim_transport_sort(struct pim_transport *transport)
{
    for (uint32_t i = 0; i < transport->message_count; i++)
        transport->messages[i].tag = i;
    if (transport->message_count > 0)
        qsort(transport->messages, transport->message_count, sizeof *transport->messages, compare_messages);
    for (uint32_t i = 0; i < transport->message_count; i++)
        transport->messages[i].tag = i;
    transport->tags = transport->message_count;
}

/* Place of the list of a unit in a step. */
static size_t list_of(const struct pim_transport *transport, uint32_t unit, uint32_t step)
{
    return (size_t)unit * transport->steps + step;
}

/* Lists have one more entry than there are in front of it until they are filled: first[i + 1] is where the
   next thing of list i goes then, and where list i + 1 begins at the end. */
static uint32_t *make_lists(const struct pim_transport *transport)
{
    return calloc(list_of(transport, transport->units, 0) + 2, sizeof(uint32_t));
}

static void add_up_lists(const struct pim_transport *transport, uint32_t *first)
{
    for (size_t i = 0; i < list_of(transport, transport->units, 0); i++)
        first[i + 2] += first[i + 1];
}

static bool list_copies(struct pim_transport *transport)
{
    uint32_t *first = transport->first_copy = make_lists(transport);
    struct pim_transport_copy *sorted = calloc((size_t)transport->copy_count + 1, sizeof *sorted);
    if (!first || !sorted) {
        free(sorted);
        return false;
    }
    for (uint32_t i = 0; i < transport->copy_count; i++)
        first[list_of(transport, transport->copies[i].unit, transport->copies[i].step) + 2]++;
    add_up_lists(transport, first);
    for (uint32_t i = 0; i < transport->copy_count; i++)
        sorted[first[list_of(transport, transport->copies[i].unit, transport->copies[i].step) + 1]++] =
            transport->copies[i];
    free(transport->copies);
    transport->copies = sorted;
    transport->copy_capacity = transport->copy_count;
    return true;
}

static bool list_messages(struct pim_transport *transport)
{
    uint32_t *first = transport->first_message = make_lists(transport);
    transport->of_unit = calloc(2 * (size_t)transport->message_count + 1, sizeof *transport->of_unit);
    if (!first || !transport->of_unit)
        return false;
    for (uint32_t i = 0; i < transport->message_count; i++) {
        const struct pim_transport_message *message = &transport->messages[i];
        first[list_of(transport, message->from_unit, message->step) + 2]++;
        first[list_of(transport, message->to_unit, message->step) + 2]++;
    }
    add_up_lists(transport, first);
    for (uint32_t i = 0; i < transport->message_count; i++) {
        const struct pim_transport_message *message = &transport->messages[i];
        transport->of_unit[first[list_of(transport, message->from_unit, message->step) + 1]++] = i;
        transport->of_unit[first[list_of(transport, message->to_unit, message->step) + 1]++] = i;
    }
    return true;
}

bool pim_transport_end(struct pim_transport *transport)
{
    return list_copies(transport) && list_messages(transport);
}

void pim_transport_terminate(struct pim_transport *transport)
{
    free(transport->copies);
    free(transport->first_copy);
    free(transport->messages);
    free(transport->first_message);
    free(transport->of_unit);
    *transport = (struct pim_transport){0};
}

/* --- programs --- */

/* Copies that one load and one store take: as many bytes each, evenly apart on both sides. */
struct group {
    uint32_t count;
    uint64_t from_stride, to_stride;
};

static struct group group_of(const struct pim_transport_copy *copy, uint32_t left)
{
    struct group group = {.count = 1};
    for (; group.count < left; group.count++) {
        const struct pim_transport_copy *before = &copy[group.count - 1], *next = before + 1;
        if (next->run != before->run || next->bytes != before->bytes ||
            next->from < before->from + before->bytes || next->to < before->to + before->bytes)
            break;
        uint64_t from = next->from - before->from, to = next->to - before->to;
        if (group.count > 1 && (from != group.from_stride || to != group.to_stride))
            break;
        group.from_stride = from;
        group.to_stride = to;
    }
    return group;
}

/* A store follows one load later, so that loads do not wait for it. */
static void emit_copies(struct pim_emitter *emitter, const struct pim_transport *transport, uint32_t copy,
                        uint32_t end)
{
    while (copy < end) {
        const struct pim_transport_copy *first = &transport->copies[copy];
        const struct group group = group_of(first, end - copy);
        uint64_t loaded = pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_NONE, first->from, first->bytes,
                                          group.from_stride, group.count, PIM_NOTHING);
        pim_emit_flush(emitter);
        emitter->store =
            (struct pim_pending_store){first->to, first->bytes, group.to_stride, group.count, loaded};
        copy += group.count;
    }
    pim_emit_flush(emitter);
}

/* What the unit at hand has of a message: it sends it, receives it, or copies what it has for itself. */
static void emit_message(struct pim_emitter *emitter, const struct pim_transport_message *message,
                         uint32_t tag)
{
    bool sends = message->from_unit == emitter->place.unit;
    if (message->from_unit == message->to_unit)
        (void)pim_emit_copy(emitter, message->from, message->to, message->bytes);
    else
        (void)pim_emit_message(emitter,
                               (struct pim_message_end){.sends = sends,
                                                        .kind = message->kind,
                                                        .peer = sends ? message->to_unit : message->from_unit,
                                                        .tag = tag + message->tag,
                                                        .address = sends ? message->from : message->to,
                                                        .bytes = message->bytes},
                               PIM_NOTHING);
}

void pim_transport_emit_plain(struct pim_emitter *emitter, uint32_t count, pim_message_function *message_of,
                              uint32_t tag)
{
    const uint32_t unit = emitter->place.unit;
    for (unsigned gives = 0; gives < 2; gives++)
        for (uint32_t i = 0; i < count; i++) {
            const struct pim_transport_message message = message_of(emitter, i);
            const bool own =
                gives ? message.from_unit == unit : message.to_unit == unit && message.from_unit != unit;
            if (own && message.bytes > 0)
                emit_message(emitter, &message, tag);
        }
}

bool pim_transport_has_unit(const struct pim_transport *transport, uint32_t unit)
{
    size_t begin = list_of(transport, unit, 0), end = list_of(transport, unit + 1, 0);
    return transport->first_copy[begin] < transport->first_copy[end] ||
           transport->first_message[begin] < transport->first_message[end];
}

void pim_transport_emit(struct pim_emitter *emitter, const struct pim_transport *transport, uint32_t tag)
{
    const size_t begin = list_of(transport, emitter->place.unit, 0), end = begin + transport->steps;
    const uint32_t *copy = transport->first_copy, *message = transport->first_message;
    for (size_t list = begin; list < end; list++) {
        bool works = copy[list] < copy[list + 1] || message[list] < message[list + 1],
             goes_on = copy[list + 1] < copy[end] || message[list + 1] < message[end];
        emit_copies(emitter, transport, copy[list], copy[list + 1]);
        for (uint32_t i = message[list]; i < message[list + 1]; i++)
            emit_message(emitter, &transport->messages[transport->of_unit[i]], tag);
        if (transport->joins_always ? list + 1 < end : works && goes_on)
            pim_emit_join(emitter);
    }
}

/* --- estimate --- */

uint64_t pim_transport_collect(const struct pim_estimate_hardware *hardware, uint64_t bytes, uint64_t count)
{
    return (count - 1) * pim_estimate_flits(hardware, bytes / hardware->flit_bytes + 1) +
           pim_estimate_ring(hardware, bytes, 2);
}

uint64_t pim_transport_copies(const struct pim_estimate_hardware *hardware,
                              const struct pim_transport *transport, uint32_t unit, uint32_t step)
{
    size_t list = list_of(transport, unit, step);
    uint64_t cycles = 0;
    for (uint32_t copy = transport->first_copy[list]; copy < transport->first_copy[list + 1];) {
        const struct pim_transport_copy *first = &transport->copies[copy];
        const struct group group = group_of(first, transport->first_copy[list + 1] - copy);
        cycles += pim_estimate_pieces(hardware, first->bytes, group.from_stride, group.count, 1, false) +
                  pim_estimate_pieces(hardware, first->bytes, group.to_stride, group.count, 1, true);
        copy += group.count;
    }
    return cycles;
}

#include "sim/output/timeline.h"

#include "sim/arena.h"
#include "sim/output/output.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * Field numbers of google/perfetto's protos/perfetto/trace/{trace,trace_packet}.proto,
 * interned_data/interned_data.proto and
 * track_event/{track_event,track_descriptor,process_descriptor,counter_descriptor}.proto.
 */
enum field {
    TRACE_PACKET = 1,

    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_SEQUENCE_FLAGS = 13,
    PACKET_TRACK_DESCRIPTOR = 60,

    INTERNED_EVENT_NAMES = 2,
    EVENT_NAME_IID = 1,
    EVENT_NAME_NAME = 2,

    DESCRIPTOR_UUID = 1,
    DESCRIPTOR_NAME = 2,
    DESCRIPTOR_PROCESS = 3,
    DESCRIPTOR_PARENT = 5,
    DESCRIPTOR_COUNTER = 8,
    DESCRIPTOR_CHILD_ORDERING = 11,
    DESCRIPTOR_SIBLING_RANK = 12,

    PROCESS_PID = 1,
    PROCESS_NAME = 6,
    COUNTER_UNIT_NAME = 6,

    EVENT_ANNOTATION = 4, /* of its messages: a name and a text */
    ANNOTATION_NAME = 10,
    ANNOTATION_TEXT = 6,
    EVENT_TYPE = 9,
    EVENT_IID = 10,
    EVENT_TRACK = 11,
    EVENT_NAME = 23,
    EVENT_COUNTER_VALUE = 30,
    EVENT_FLOW = 47, /* of 8 bytes */
    EVENT_LAST_OF_FLOW = 48
};

enum event_type { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };
enum sequence_flags { STATE_CLEARED = 1, NEEDS_STATE = 2 };
enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

/* All packets belong to one sequence, whose id must not be 0. Children stand in the order of their ranks. */
enum { SEQUENCE_ID = 1, ORDER_EXPLICIT = 3, PROCESS_ID = 1 };

/* A message is built in a small buffer; a name is cut so that the largest fits. */
enum { LONGEST_NAME = 200, MESSAGE_BYTES = 1024, NOTE_BYTES = 512, FIRST_TABLE_SIZE = 64 };

struct message {
    size_t length;
    unsigned char bytes[MESSAGE_BYTES];
};

struct name {
    const char *text;
    size_t length;
};

struct pim_timeline {
    struct pim_output *output;
    uint64_t maximum_bytes;
    uint64_t written_bytes;
    uint64_t left_out;
    uint64_t last_ns; /* latest time written */
    uint32_t tracks;  /* the last id given out; uuid 1 is the process, track t has uuid t + 1 */
    bool full;
    struct pim_arena arena; /* text of names */
    struct name *names;     /* names[i] has iid i + 1 */
    size_t name_count, name_capacity;
    uint32_t *table; /* open addressing: iids, 0 is empty; a power of two */
    size_t table_size;
};

/* --- protobuf --- */

static void add_varint(struct message *message, uint64_t value)
{
    assert(message->length + 10 <= sizeof message->bytes);
    while (value >= 0x80) {
        message->bytes[message->length++] = (unsigned char)(value | 0x80);
        value >>= 7;
    }
    message->bytes[message->length++] = (unsigned char)value;
}

static void add_number(struct message *message, enum field field, uint64_t value)
{
    add_varint(message, (uint64_t)field << 3 | WIRE_VARINT);
    add_varint(message, value);
}

static void add_fixed(struct message *message, enum field field, uint64_t value)
{
    add_varint(message, (uint64_t)field << 3 | WIRE_FIXED64);
    assert(message->length + sizeof value <= sizeof message->bytes);
    for (unsigned i = 0; i < sizeof value; i++)
        message->bytes[message->length++] = (unsigned char)(value >> 8 * i);
}

static void add_bytes(struct message *message, enum field field, const void *bytes, size_t length)
{
    add_varint(message, (uint64_t)field << 3 | WIRE_BYTES);
    add_varint(message, length);
    assert(message->length + length <= sizeof message->bytes);
    memcpy(message->bytes + message->length, bytes, length);
    message->length += length;
}

static void add_message(struct message *message, enum field field, const struct message *inner)
{
    add_bytes(message, field, inner->bytes, inner->length);
}

/* --- names --- */

/* Length of a name as it is written: cut before the UTF-8 character that would pass LONGEST_NAME. */
static size_t name_length(const char *text)
{
    size_t length = strlen(text);
    if (length <= LONGEST_NAME)
        return length;
    length = LONGEST_NAME;
    while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--;
    return length;
}

/* The place in the table of a name: of its iid, or the empty one where it would go. Hash: FNV-1a. */
static size_t table_place(const struct pim_timeline *timeline, const char *text, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325U;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3U;
    size_t place = (size_t)hash & (timeline->table_size - 1);
    while (timeline->table[place]) {
        const struct name *name = &timeline->names[timeline->table[place] - 1];
        if (name->length == length && memcmp(name->text, text, length) == 0)
            break;
        place = (place + 1) & (timeline->table_size - 1);
    }
    return place;
}

static void grow_table(struct pim_timeline *timeline)
{
    size_t size = timeline->table_size ? timeline->table_size * 2 : FIRST_TABLE_SIZE, room = 0;
    free(timeline->table);
    timeline->table = pim_array_require(NULL, &room, size, sizeof *timeline->table);
    timeline->table_size = size;
    memset(timeline->table, 0, size * sizeof *timeline->table);
    for (uint32_t iid = 1; iid <= timeline->name_count; iid++) {
        const struct name *name = &timeline->names[iid - 1];
        timeline->table[table_place(timeline, name->text, name->length)] = iid;
    }
}

static void intern(struct pim_timeline *timeline, const char *text, size_t length)
{
    char *copy = pim_arena_require(&timeline->arena, length + 1, 1);
    memcpy(copy, text, length);
    copy[length] = '\0';
    timeline->names = pim_array_require(timeline->names, &timeline->name_capacity, timeline->name_count + 1,
                                        sizeof *timeline->names);
    timeline->names[timeline->name_count++] = (struct name){copy, length};
    if (timeline->name_count * 2 > timeline->table_size)
        grow_table(timeline);
    else
        timeline->table[table_place(timeline, copy, length)] = (uint32_t)timeline->name_count;
}

/* --- packets --- */

/* Appends a whole packet to `trace`. */
static void add_packet(struct message *trace, const struct message *packet)
{
    add_message(trace, TRACE_PACKET, packet);
}

/* Writes packets that belong together, all or none; false when they would pass the limit, which leaves
 * `reserve` bytes. */
static bool write_packets(struct pim_timeline *timeline, const struct message *trace, uint64_t reserve)
{
    if (timeline->full && reserve)
        return false;
    if (trace->length + reserve > timeline->maximum_bytes - timeline->written_bytes) {
        timeline->full = true;
        return false;
    }
    (void)fwrite(trace->bytes, 1, trace->length, pim_output_file(timeline->output));
    timeline->written_bytes += trace->length;
    return true;
}

static void start_packet(struct message *packet, enum sequence_flags flags)
{
    packet->length = 0;
    add_number(packet, PACKET_SEQUENCE, SEQUENCE_ID);
    add_number(packet, PACKET_SEQUENCE_FLAGS, flags);
}

static uint64_t track_uuid(uint32_t track)
{
    return (uint64_t)track + 1;
}

/* The descriptor of a track; `unit` is NULL for one that is no counter. */
static void describe_track(struct message *trace, uint32_t track, uint32_t parent, const char *name,
                           const char *unit)
{
    struct message descriptor = {0}, packet;
    add_number(&descriptor, DESCRIPTOR_UUID, track_uuid(track));
    add_number(&descriptor, DESCRIPTOR_PARENT, track_uuid(parent));
    add_bytes(&descriptor, DESCRIPTOR_NAME, name, name_length(name));
    if (unit) {
        struct message counter = {0};
        add_bytes(&counter, COUNTER_UNIT_NAME, unit, name_length(unit));
        add_message(&descriptor, DESCRIPTOR_COUNTER, &counter);
    }
    add_number(&descriptor, DESCRIPTOR_CHILD_ORDERING, ORDER_EXPLICIT);
    add_number(&descriptor, DESCRIPTOR_SIBLING_RANK, track);
    start_packet(&packet, NEEDS_STATE);
    add_message(&packet, PACKET_TRACK_DESCRIPTOR, &descriptor);
    add_packet(trace, &packet);
}

/* The process under which all tracks stand. Its packet is the first and clears the sequence's state, as
 * readers demand. */
static void write_process(struct pim_timeline *timeline, const char *title)
{
    struct message process = {0}, descriptor = {0}, packet, trace = {0};
    add_number(&process, PROCESS_PID, PROCESS_ID);
    add_bytes(&process, PROCESS_NAME, title, name_length(title));
    add_number(&descriptor, DESCRIPTOR_UUID, track_uuid(0));
    add_message(&descriptor, DESCRIPTOR_PROCESS, &process);
    add_number(&descriptor, DESCRIPTOR_CHILD_ORDERING, ORDER_EXPLICIT);
    start_packet(&packet, STATE_CLEARED);
    add_message(&packet, PACKET_TRACK_DESCRIPTOR, &descriptor);
    add_packet(&trace, &packet);
    (void)write_packets(timeline, &trace, NOTE_BYTES);
}

/* The packet of an event without a name: the end of a slice, at which the arrow `arrives` unless it is 0, or
 * a counter's value. */
static void add_plain_event(struct message *trace, uint64_t time_ns, enum event_type type, uint32_t track,
                            const int64_t *value, uint64_t arrives)
{
    struct message event, packet;
    event.length = 0;
    add_number(&event, EVENT_TYPE, type);
    add_number(&event, EVENT_TRACK, track_uuid(track));
    if (value)
        add_number(&event, EVENT_COUNTER_VALUE, (uint64_t)*value);
    if (arrives)
        add_fixed(&event, EVENT_LAST_OF_FLOW, arrives);
    start_packet(&packet, NEEDS_STATE);
    add_number(&packet, PACKET_TIMESTAMP, time_ns);
    add_message(&packet, PACKET_TRACK_EVENT, &event);
    add_packet(trace, &packet);
}

static void add_extra(struct message *event, const struct pim_timeline_extra *extra)
{
    struct message annotation = {0};
    if (extra->leaves)
        add_fixed(event, EVENT_FLOW, extra->leaves);
    if (!extra->detail)
        return;
    const size_t whole = strlen(extra->detail);
    size_t length = whole;
    while (length > PIM_TIMELINE_DETAIL_BYTES ||
           (length < whole && ((unsigned char)extra->detail[length] & 0xc0) == 0x80))
        length--;
    add_bytes(&annotation, ANNOTATION_NAME, extra->key, name_length(extra->key));
    add_bytes(&annotation, ANNOTATION_TEXT, extra->detail, length);
    add_message(event, EVENT_ANNOTATION, &annotation);
}

/* The packet of an event whose name is interned as `iid`; with `text`, the packet introduces the name. */
static void add_named_event(struct message *trace, uint64_t time_ns, enum event_type type, uint32_t track,
                            uint64_t iid, const char *text, size_t length,
                            const struct pim_timeline_extra *extra)
{
    struct message event, packet;
    event.length = 0;
    add_number(&event, EVENT_TYPE, type);
    add_number(&event, EVENT_IID, iid);
    add_number(&event, EVENT_TRACK, track_uuid(track));
    if (extra)
        add_extra(&event, extra);
    start_packet(&packet, NEEDS_STATE);
    add_number(&packet, PACKET_TIMESTAMP, time_ns);
    if (text) {
        struct message name = {0}, interned = {0};
        add_number(&name, EVENT_NAME_IID, iid);
        add_bytes(&name, EVENT_NAME_NAME, text, length);
        add_message(&interned, INTERNED_EVENT_NAMES, &name);
        add_message(&packet, PACKET_INTERNED, &interned);
    }
    add_message(&packet, PACKET_TRACK_EVENT, &event);
    add_packet(trace, &packet);
}

/* Writes the event that begins at `begin_ns`, and its end when it is a slice. */
static void write_named(struct pim_timeline *timeline, uint32_t track, enum event_type type,
                        uint64_t begin_ns, uint64_t end_ns, const char *text,
                        const struct pim_timeline_extra *extra)
{
    assert(track >= 1 && track <= timeline->tracks && begin_ns <= end_ns);
    if (timeline->full) {
        timeline->left_out++;
        return;
    }
    size_t length = name_length(text);
    uint64_t iid = timeline->table[table_place(timeline, text, length)];
    bool new_name = iid == 0;
    if (new_name)
        iid = timeline->name_count + 1;
    struct message trace;
    trace.length = 0;
    add_named_event(&trace, begin_ns, type, track, iid, new_name ? text : NULL, length, extra);
    if (type == SLICE_BEGIN)
        add_plain_event(&trace, end_ns, SLICE_END, track, NULL, extra ? extra->arrives : 0);
    if (!write_packets(timeline, &trace, NOTE_BYTES)) {
        timeline->left_out++;
        return;
    }
    if (new_name)
        intern(timeline, text, length);
    if (end_ns > timeline->last_ns)
        timeline->last_ns = end_ns;
}

/* --- interface --- */

enum pim_status pim_timeline_create(struct pim_timeline **timeline, const char *path, const char *title,
                                    uint64_t maximum_bytes, struct pim_error *error)
{
    *timeline = NULL;
    if (maximum_bytes < PIM_TIMELINE_LEAST_BYTES)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%s: a timeline of at most %" PRIu64 " bytes is too small: at least %d are needed",
                        path, maximum_bytes, PIM_TIMELINE_LEAST_BYTES);
    struct pim_timeline *created = calloc(1, sizeof *created);
    if (!created)
        return pim_fail(error, PIM_NO_MEMORY, "%s: no memory for a timeline", path);
    enum pim_status status = pim_output_open(&created->output, path, error);
    if (status != PIM_OK) {
        free(created);
        return status;
    }
    created->maximum_bytes = maximum_bytes;
    pim_arena_initialize(&created->arena, 0);
    grow_table(created);
    write_process(created, title);
    *timeline = created;
    return PIM_OK;
}

static uint32_t add_track(struct pim_timeline *timeline, uint32_t parent, const char *name, const char *unit)
{
    assert(parent <= timeline->tracks && timeline->tracks < UINT32_MAX);
    struct message trace = {0};
    uint32_t track = ++timeline->tracks;
    describe_track(&trace, track, parent, name, unit);
    if (!write_packets(timeline, &trace, NOTE_BYTES))
        timeline->left_out++;
    return track;
}

uint32_t pim_timeline_track(struct pim_timeline *timeline, uint32_t parent, const char *name)
{
    return add_track(timeline, parent, name, NULL);
}

uint32_t pim_timeline_counter(struct pim_timeline *timeline, uint32_t parent, const char *name,
                              const char *unit)
{
    return add_track(timeline, parent, name, unit);
}

void pim_timeline_slice(struct pim_timeline *timeline, uint32_t track, uint64_t begin_ns, uint64_t end_ns,
                        const char *name)
{
    write_named(timeline, track, SLICE_BEGIN, begin_ns, end_ns, name, NULL);
}

void pim_timeline_detailed_slice(struct pim_timeline *timeline, uint32_t track, uint64_t begin_ns,
                                 uint64_t end_ns, const char *name, const struct pim_timeline_extra *extra)
{
    write_named(timeline, track, SLICE_BEGIN, begin_ns, end_ns, name, extra);
}

void pim_timeline_instant(struct pim_timeline *timeline, uint32_t track, uint64_t time_ns, const char *name)
{
    write_named(timeline, track, INSTANT, time_ns, time_ns, name, NULL);
}

void pim_timeline_count(struct pim_timeline *timeline, uint32_t counter, uint64_t time_ns, int64_t value)
{
    assert(counter >= 1 && counter <= timeline->tracks);
    struct message trace;
    trace.length = 0;
    add_plain_event(&trace, time_ns, COUNTER, counter, &value, 0);
    if (!write_packets(timeline, &trace, NOTE_BYTES))
        timeline->left_out++;
    else if (time_ns > timeline->last_ns)
        timeline->last_ns = time_ns;
}

uint64_t pim_timeline_left_out(const struct pim_timeline *timeline)
{
    return timeline->left_out;
}

/* Says in the file that it is incomplete. */
static void write_note(struct pim_timeline *timeline)
{
    char text[128];
    (void)snprintf(text, sizeof text, "truncated: %" PRIu64 " events left out, limit %" PRIu64 " bytes",
                   timeline->left_out, timeline->maximum_bytes);
    uint32_t track = ++timeline->tracks;
    struct message trace = {0}, event = {0}, packet;
    describe_track(&trace, track, 0, "truncated", NULL);
    add_number(&event, EVENT_TYPE, INSTANT);
    add_number(&event, EVENT_TRACK, track_uuid(track));
    add_bytes(&event, EVENT_NAME, text, strlen(text));
    start_packet(&packet, NEEDS_STATE);
    add_number(&packet, PACKET_TIMESTAMP, timeline->last_ns);
    add_message(&packet, PACKET_TRACK_EVENT, &event);
    add_packet(&trace, &packet);
    bool written = write_packets(timeline, &trace, 0);
    assert(written);
    (void)written;
}

static void release(struct pim_timeline *timeline)
{
    pim_arena_terminate(&timeline->arena);
    free(timeline->names);
    free(timeline->table);
    free(timeline);
}

enum pim_status pim_timeline_close(struct pim_timeline *timeline, uint64_t *left_out, struct pim_error *error)
{
    if (left_out)
        *left_out = timeline->left_out;
    if (timeline->left_out)
        write_note(timeline);
    enum pim_status status = pim_output_commit(timeline->output, error);
    release(timeline);
    return status;
}

void pim_timeline_abandon(struct pim_timeline *timeline)
{
    if (!timeline)
        return;
    pim_output_abandon(timeline->output);
    release(timeline);
}

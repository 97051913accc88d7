/*
 * The timeline is decoded by a reader of its own, written from the protobuf encoding rules and Perfetto's
 * field numbers, that shares nothing with the writer: each packet becomes one struct decoded.
 */
#include "sim/output/timeline.h"
#include "tests/unit/services/services.h"

#include <stdlib.h>
#include <string.h>

struct span {
    const unsigned char *at, *end;
};

static uint64_t varint(struct span *span)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        ck_assert(span->at < span->end && shift < 64);
        unsigned char byte = *span->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
}

/* The next field: its number; the value in *number (varint) or *bytes (length-delimited). 0 at the end. */
static unsigned next_field(struct span *span, uint64_t *number, struct span *bytes)
{
    if (span->at == span->end)
        return 0;
    uint64_t key = varint(span);
    *number = 0;
    *bytes = (struct span){NULL, NULL};
    if ((key & 7) == 0) {
        *number = varint(span);
    } else if ((key & 7) == 1) { /* eight bytes, the lowest first */
        ck_assert_uint_ge((uint64_t)(span->end - span->at), 8);
        for (unsigned i = 0; i < 8; i++)
            *number |= (uint64_t)span->at[i] << 8 * i;
        span->at += 8;
    } else {
        ck_assert_uint_eq(key & 7, 2);
        uint64_t length = varint(span);
        ck_assert_uint_le(length, (uint64_t)(span->end - span->at));
        *bytes = (struct span){span->at, span->at + length};
        span->at += length;
    }
    return (unsigned)(key >> 3);
}

struct decoded {
    uint64_t timestamp, sequence, flags;
    /* track descriptor */
    uint64_t uuid, parent, rank, pid, child_ordering;
    bool is_counter;
    char track_name[256], unit[256];
    /* track event */
    uint64_t type, track;
    int64_t value;
    char name[256];
    char key[256], detail[256]; /* of an annotation */
    uint64_t leaves, arrives;   /* arrows */
};

struct trace {
    char *bytes;
    size_t length;
    size_t count;
    size_t names; /* interned */
    struct decoded packets[3000];
    char interned[1000][256]; /* by iid */
};

static void copy_text(char text[256], struct span bytes)
{
    ck_assert_ptr_nonnull(bytes.at); /* the field is text, not a number */
    size_t length = (size_t)(bytes.end - bytes.at);
    ck_assert_uint_lt(length, 256);
    memcpy(text, bytes.at, length);
    text[length] = '\0';
}

static void decode_descriptor(struct decoded *packet, struct span span)
{
    uint64_t number;
    struct span bytes, ignored;
    for (unsigned field = next_field(&span, &number, &bytes); field;
         field = next_field(&span, &number, &bytes)) {
        switch (field) {
        case 1:
            packet->uuid = number;
            break;
        case 2:
            copy_text(packet->track_name, bytes);
            break;
        case 3:
            ck_assert_uint_eq(next_field(&bytes, &packet->pid, &ignored), 1);
            ck_assert_uint_eq(next_field(&bytes, &number, &ignored), 6);
            copy_text(packet->track_name, ignored);
            break;
        case 5:
            packet->parent = number;
            break;
        case 8:
            packet->is_counter = true;
            ck_assert_uint_eq(next_field(&bytes, &number, &ignored), 6);
            copy_text(packet->unit, ignored);
            break;
        case 11:
            packet->child_ordering = number;
            break;
        case 12:
            packet->rank = number;
            break;
        default:
            ck_abort_msg("unexpected field %u of a descriptor", field);
        }
    }
}

static void decode_event(const struct trace *trace, struct decoded *packet, struct span span)
{
    uint64_t number;
    struct span bytes, ignored;
    for (unsigned field = next_field(&span, &number, &bytes); field;
         field = next_field(&span, &number, &bytes)) {
        switch (field) {
        case 4: /* DebugAnnotation: name = 10, string_value = 6 */
            ck_assert_uint_eq(next_field(&bytes, &number, &ignored), 10);
            copy_text(packet->key, ignored);
            ck_assert_uint_eq(next_field(&bytes, &number, &ignored), 6);
            copy_text(packet->detail, ignored);
            break;
        case 9:
            packet->type = number;
            break;
        case 10:
            ck_assert_uint_ge(number, 1);
            ck_assert_uint_le(number, trace->names); /* introduced in this packet or before */
            memcpy(packet->name, trace->interned[number], 256);
            break;
        case 11:
            packet->track = number;
            break;
        case 23:
            copy_text(packet->name, bytes);
            break;
        case 30:
            packet->value = (int64_t)number;
            break;
        case 47:
            packet->leaves = number;
            break;
        case 48:
            packet->arrives = number;
            break;
        default:
            ck_abort_msg("unexpected field %u of an event", field);
        }
    }
}

static void decode_interned(struct trace *trace, struct span span)
{
    uint64_t number, iid;
    struct span bytes, name;
    while (next_field(&span, &number, &bytes) == 2) {
        ck_assert_uint_eq(next_field(&bytes, &iid, &name), 1);
        ck_assert_uint_eq(iid, ++trace->names);
        ck_assert_uint_eq(next_field(&bytes, &number, &name), 2);
        copy_text(trace->interned[iid], name);
    }
    ck_assert_ptr_eq(span.at, span.end);
}

static void decode_packet(struct trace *trace, struct span span)
{
    uint64_t number;
    struct span bytes;
    struct decoded *packet = &trace->packets[trace->count++];
    for (unsigned field = next_field(&span, &number, &bytes); field;
         field = next_field(&span, &number, &bytes)) {
        switch (field) {
        case 8:
            packet->timestamp = number;
            break;
        case 10:
            packet->sequence = number;
            break;
        case 11:
            decode_event(trace, packet, bytes);
            break;
        case 12:
            decode_interned(trace, bytes);
            break;
        case 13:
            packet->flags = number;
            break;
        case 60:
            decode_descriptor(packet, bytes);
            break;
        default:
            ck_abort_msg("unexpected field %u of a packet", field);
        }
    }
}

static struct trace *decode(const char *path)
{
    struct trace *trace = calloc(1, sizeof *trace);
    ck_assert_ptr_nonnull(trace);
    trace->bytes = read_file(path, &trace->length);
    struct span span = {(unsigned char *)trace->bytes, (unsigned char *)trace->bytes + trace->length}, bytes;
    uint64_t number;
    while (span.at < span.end) {
        ck_assert_uint_eq(next_field(&span, &number, &bytes), 1);
        ck_assert_uint_lt(trace->count, sizeof trace->packets / sizeof trace->packets[0]);
        decode_packet(trace, bytes);
    }
    /* What readers demand of the sequence: one id, state cleared by the first packet and needed by all
     * others. */
    for (size_t i = 0; i < trace->count; i++) {
        ck_assert_uint_eq(trace->packets[i].sequence, 1);
        ck_assert_uint_eq(trace->packets[i].flags, i == 0 ? 1 : 2);
    }
    return trace;
}

static void free_trace(struct trace *trace)
{
    free(trace->bytes);
    free(trace);
}

static struct scratch scratch;
static char path[512];

static void set_up(void)
{
    scratch_make(&scratch);
    (void)scratch_path(&scratch, "timeline.pftrace", path);
}

static void tear_down(void)
{
    scratch_remove(&scratch);
}

static struct pim_timeline *created(uint64_t maximum_bytes)
{
    struct pim_error error = {0};
    struct pim_timeline *timeline;
    ck_assert_msg(pim_timeline_create(&timeline, path, "pimsim", maximum_bytes, &error) == PIM_OK, "%s",
                  error.text);
    return timeline;
}

static void closed(struct pim_timeline *timeline, uint64_t expected_left_out)
{
    struct pim_error error = {0};
    uint64_t left_out = 99;
    ck_assert_msg(pim_timeline_close(timeline, &left_out, &error) == PIM_OK, "%s", error.text);
    ck_assert_uint_eq(left_out, expected_left_out);
}

static void expect_event(const struct decoded *packet, uint64_t type, uint64_t time, uint64_t track,
                         const char *name)
{
    ck_assert_uint_eq(packet->type, type);
    ck_assert_uint_eq(packet->timestamp, time);
    ck_assert_uint_eq(packet->track, track);
    ck_assert_str_eq(packet->name, name);
}

enum { BEGIN = 1, END = 2, INSTANT = 3, COUNTER = 4 };

START_TEST(tracks_and_events)
{
    struct pim_timeline *timeline = created(1 << 20);
    uint32_t unit = pim_timeline_track(timeline, 0, "unit 17");
    uint32_t array = pim_timeline_track(timeline, unit, "PE array");
    uint32_t bank = pim_timeline_track(timeline, unit, "DRAM");
    uint32_t flits = pim_timeline_counter(timeline, 0, "flits in flight", "flits");
    pim_timeline_slice(timeline, array, 100, 250, "matrix");
    pim_timeline_slice(timeline, bank, 0, UINT64_C(1) << 62, "load");
    pim_timeline_slice(timeline, array, 250, 250, "matrix");
    pim_timeline_count(timeline, flits, 7, -5);
    pim_timeline_count(timeline, flits, 8, INT64_MAX);
    pim_timeline_instant(timeline, unit, 300, "load");
    ck_assert_uint_eq(pim_timeline_left_out(timeline), 0);
    closed(timeline, 0);
    ck_assert_int_eq(scratch_count(&scratch), 1);

    struct trace *trace = decode(path);
    ck_assert_uint_eq(trace->count, 5 + 6 + 2 + 1);
    const struct decoded *packet = trace->packets;
    ck_assert_uint_eq(packet[0].pid, 1);
    ck_assert_str_eq(packet[0].track_name, "pimsim");
    static const struct {
        const char *name;
        unsigned parent; /* packet that describes it */
        bool is_counter;
    } tracks[] = {
        {"unit 17", 0, false}, {"PE array", 1, false}, {"DRAM", 1, false}, {"flits in flight", 0, true}};
    for (size_t i = 0; i < 4; i++) {
        ck_assert_str_eq(packet[i + 1].track_name, tracks[i].name);
        ck_assert_uint_eq(packet[i + 1].parent, packet[tracks[i].parent].uuid);
        ck_assert_int_eq(packet[i + 1].is_counter, tracks[i].is_counter);
        ck_assert_uint_eq(packet[i + 1].child_ordering, 3);
        ck_assert_uint_gt(packet[i + 1].uuid, packet[i].uuid); /* all different, and none is 0 */
        ck_assert_uint_gt(packet[i + 1].rank, packet[i].rank);
    }
    ck_assert_str_eq(packet[4].unit, "flits");
    uint64_t array_uuid = packet[2].uuid, bank_uuid = packet[3].uuid, flits_uuid = packet[4].uuid;
    expect_event(&packet[5], BEGIN, 100, array_uuid, "matrix");
    expect_event(&packet[6], END, 250, array_uuid, "");
    expect_event(&packet[7], BEGIN, 0, bank_uuid, "load");
    expect_event(&packet[8], END, UINT64_C(1) << 62, bank_uuid, "");
    expect_event(&packet[9], BEGIN, 250, array_uuid, "matrix");
    expect_event(&packet[10], END, 250, array_uuid, "");
    expect_event(&packet[11], COUNTER, 7, flits_uuid, "");
    ck_assert_int_eq(packet[11].value, -5);
    ck_assert_int_eq(packet[12].value, INT64_MAX);
    expect_event(&packet[13], INSTANT, 300, packet[1].uuid, "load");
    ck_assert_uint_eq(trace->names, 2); /* each is stored once */
    free_trace(trace);
}
END_TEST

/* Hundreds of names, met again in another order: every event has its own. */
START_TEST(names_are_interned)
{
    enum { NAMES = 400 };
    struct pim_timeline *timeline = created(1 << 20);
    uint32_t track = pim_timeline_track(timeline, 0, "phases");
    char name[32];
    for (unsigned i = 0; i < 2 * NAMES; i++) {
        unsigned which = i < NAMES ? i : i * 7 % NAMES;
        (void)snprintf(name, sizeof name, "phase %u", which);
        pim_timeline_instant(timeline, track, i, name);
    }
    closed(timeline, 0);
    struct trace *trace = decode(path);
    ck_assert_uint_eq(trace->names, NAMES);
    for (unsigned i = 0; i < 2 * NAMES; i++) {
        (void)snprintf(name, sizeof name, "phase %u", i < NAMES ? i : i * 7 % NAMES);
        ck_assert_str_eq(trace->packets[2 + i].name, name);
    }
    free_trace(trace);
}
END_TEST

/* At every limit: the file keeps it, holds whole slices only, and says last how many are missing. */
START_TEST(size_is_bounded)
{
    enum { SLICES = 700 };
    for (uint64_t limit = PIM_TIMELINE_LEAST_BYTES; limit < PIM_TIMELINE_LEAST_BYTES + 120; limit += 7) {
        struct pim_timeline *timeline = created(limit);
        uint32_t track = pim_timeline_track(timeline, 0, "busy");
        for (uint64_t i = 0; i < SLICES; i++)
            pim_timeline_slice(timeline, track, i * 10, i * 10 + 5, "work");
        uint64_t left_out = pim_timeline_left_out(timeline);
        ck_assert_uint_gt(left_out, 0);
        closed(timeline, left_out);
        struct trace *trace = decode(path);
        ck_assert_uint_le(trace->length, limit);
        ck_assert_uint_gt(trace->length, limit - 600);
        size_t slices = (trace->count - 4) / 2; /* without process, track, and the note with its track */
        ck_assert_uint_eq(slices, SLICES - left_out);
        ck_assert_uint_eq(trace->packets[trace->count - 3].type, END);
        const struct decoded *note = &trace->packets[trace->count - 1];
        char text[128];
        (void)snprintf(text, sizeof text, "truncated: %u events left out, limit %u bytes", (unsigned)left_out,
                       (unsigned)limit);
        expect_event(note, INSTANT, (slices - 1) * 10 + 5, trace->packets[trace->count - 2].uuid, text);
        free_trace(trace);
    }
}
END_TEST

/* Tracks count towards the limit, too. Nothing is written after the first event that was left out, small as
 * it may be. */
START_TEST(tracks_are_bounded)
{
    struct pim_timeline *timeline = created(PIM_TIMELINE_LEAST_BYTES);
    char name[151];
    uint32_t last = 0;
    memset(name, 'x', sizeof name);
    name[150] = '\0';
    for (int i = 0; i < 100; i++) {
        uint32_t track = pim_timeline_track(timeline, 0, name);
        ck_assert_uint_eq(track, ++last);
    }
    uint64_t left_out = pim_timeline_left_out(timeline);
    ck_assert_uint_gt(left_out, 0);
    pim_timeline_slice(timeline, last, 0, 1, "a");
    pim_timeline_count(timeline, 1, 0, 1);
    closed(timeline, left_out + 2);
    struct trace *trace = decode(path);
    ck_assert_uint_le(trace->length, PIM_TIMELINE_LEAST_BYTES);
    ck_assert_uint_eq(trace->count, 1 + 100 - left_out + 2);
    free_trace(trace);
}
END_TEST

/* A slice may carry a text beside its name; one that is too long is cut between characters. */
START_TEST(details)
{
    struct pim_timeline *timeline = created(1 << 20);
    char text[400];
    uint32_t track = pim_timeline_track(timeline, 0, "array");
    pim_timeline_detailed_slice(
        timeline, track, 1, 2, "matrix",
        &(struct pim_timeline_extra){.key = "instruction", .detail = "matrix m=5 n=32 k=96"});
    memset(text, 'x', sizeof text);
    memcpy(text + PIM_TIMELINE_DETAIL_BYTES - 1, "\xc3\xa4", 2); /* one character of two bytes at the limit */
    text[399] = '\0';
    pim_timeline_detailed_slice(timeline, track, 2, 3, "matrix",
                                &(struct pim_timeline_extra){.key = "instruction", .detail = text});
    closed(timeline, 0);
    struct trace *trace = decode(path);
    ck_assert_uint_eq(trace->count, 2 + 4);
    expect_event(&trace->packets[2], BEGIN, 1, trace->packets[1].uuid, "matrix");
    ck_assert_str_eq(trace->packets[2].key, "instruction");
    ck_assert_str_eq(trace->packets[2].detail, "matrix m=5 n=32 k=96");
    ck_assert_str_eq(trace->packets[3].detail, ""); /* the end */
    ck_assert_uint_eq(strlen(trace->packets[4].detail), PIM_TIMELINE_DETAIL_BYTES - 1);
    free_trace(trace);
}
END_TEST

/* An arrow begins with the slice that it leaves and ends with the one where it arrives. */
START_TEST(arrows)
{
    const uint64_t number = UINT64_C(0x1122334455667788);
    struct pim_timeline *timeline = created(1 << 20);
    uint32_t send = pim_timeline_track(timeline, 0, "send"),
             receive = pim_timeline_track(timeline, 0, "receive");
    pim_timeline_detailed_slice(timeline, send, 1, 5, "send", &(struct pim_timeline_extra){.leaves = number});
    pim_timeline_detailed_slice(timeline, receive, 0, 9, "receive",
                                &(struct pim_timeline_extra){.arrives = number});
    closed(timeline, 0);
    struct trace *trace = decode(path);
    ck_assert_uint_eq(trace->count, 3 + 4);
    const struct decoded *packet = &trace->packets[3];
    ck_assert(packet[0].leaves == number && packet[0].timestamp == 1 && packet[0].arrives == 0);
    ck_assert(packet[1].leaves == 0 && packet[1].arrives == 0);
    ck_assert(packet[2].leaves == 0 && packet[2].arrives == 0);
    ck_assert(packet[3].arrives == number && packet[3].timestamp == 9 && packet[3].leaves == 0);
    ck_assert_str_eq(packet[0].detail, "");
    free_trace(trace);
}
END_TEST

/* A name that is too long is cut between characters. */
START_TEST(long_names)
{
    char name[400];
    for (size_t i = 0; i + 2 < sizeof name; i += 3)
        memcpy(name + i, "\xe2\x82\xac", 3); /* the euro sign */
    name[399] = '\0';
    struct pim_timeline *timeline = created(1 << 20);
    pim_timeline_instant(timeline, pim_timeline_track(timeline, 0, name), 1, name);
    pim_timeline_instant(timeline, 1, 1, name);
    closed(timeline, 0);
    struct trace *trace = decode(path);
    ck_assert_uint_eq(strlen(trace->packets[1].track_name), 198);
    ck_assert_uint_eq(strlen(trace->packets[2].name), 198);
    ck_assert_uint_eq(trace->names, 1);
    free_trace(trace);
}
END_TEST

START_TEST(files)
{
    struct pim_error error = {0};
    struct pim_timeline *timeline;
    enum pim_status status = pim_timeline_create(&timeline, scratch.folder, "x", 1 << 20, &error);
    expect_failure(status, PIM_IO, &error, "is a folder");
    ck_assert_ptr_null(timeline);
    status = pim_timeline_create(&timeline, path, "x", PIM_TIMELINE_LEAST_BYTES - 1, &error);
    expect_failure(status, PIM_BAD_INPUT, &error, "at least 4096");
    ck_assert_int_eq(scratch_count(&scratch), 0);
    timeline = created(1 << 20);
    pim_timeline_abandon(timeline);
    pim_timeline_abandon(NULL);
    ck_assert_int_eq(scratch_count(&scratch), 0);
}
END_TEST

Suite *timeline_suite(void)
{
    Suite *suite = suite_create("timeline");
    TCase *timeline = tcase_create("timeline");
    tcase_add_checked_fixture(timeline, set_up, tear_down);
    tcase_add_test(timeline, tracks_and_events);
    tcase_add_test(timeline, names_are_interned);
    tcase_add_test(timeline, size_is_bounded);
    tcase_add_test(timeline, tracks_are_bounded);
    tcase_add_test(timeline, details);
    tcase_add_test(timeline, arrows);
    tcase_add_test(timeline, long_names);
    tcase_add_test(timeline, files);
    suite_add_tcase(suite, timeline);
    return suite;
}

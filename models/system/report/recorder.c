#include "models/system/report/recorder.h"

#include "models/system/report/arrows.h"
#include "models/system/report/counters.h"

#include "traces/text/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRACK_PHASE = PIM_ENGINES, TRACKS, LANE_SLICES = 32 };
#define TIMELINE_BYTES (UINT64_C(64) << 20)

/* The outermost slices that were written last on a track, the latest behind: begins and ends in ns. */
struct lane {
    uint64_t begin[LANE_SLICES], end[LANE_SLICES];
    uint64_t floor; /* the end of those that are forgotten */
    unsigned count;
};

struct pim_recorder {
    struct pim_system *system;
    struct pim_timeline *timeline;
    uint32_t (*tracks)[TRACKS];   /* a row a unit; 0: not observed */
    struct lane (*lanes)[TRACKS]; /* slices of a track must nest or not overlap */
    pim_time begin, end;          /* ticks */
    struct pim_arrows arrows;
    struct pim_counters *counters;
};

static uint64_t nanoseconds(const struct pim_recorder *recorder, pim_time time)
{
    return pim_system_picoseconds(recorder->system, time) / 1000;
}

/* With the instruction as the text form of traces has it: shape, addresses, bytes, peer, tag. `arrow` leaves
 * a send and arrives at a receive. */
static void write_slice(const struct pim_recorder *recorder, uint32_t track, uint64_t start, uint64_t end,
                        const char *name, const struct pim_instruction *instruction, uint64_t arrow)
{
    char text[2 * PIM_TIMELINE_DETAIL_BYTES] = "";
    FILE *file = instruction ? fmemopen(text, sizeof text, "w") : NULL;
    if (file) {
        pim_instruction_print(instruction, file);
        (void)fclose(file);
        text[strcspn(text, "\n")] = '\0';
    }
    const bool sends = instruction && pim_opcode_engine(instruction->opcode) == PIM_ENGINE_SEND;
    const struct pim_timeline_extra extra = {.key = "instruction",
                                             .detail = text[0] ? text : NULL,
                                             .leaves = sends ? arrow : 0,
                                             .arrives = sends ? 0 : arrow};
    pim_timeline_detailed_slice(recorder->timeline, track, start, end, name, &extra);
}

/*
 * Where the slice begins of what worked from `begin` to `end`. Instructions of a queue overlap, and are told
 * when they end: one that begins before slices that are written is drawn around them, and of one that begins
 * inside of one, which shows that time already, the rest is drawn. One that begins before a slice and ends
 * inside of it is not drawn: a reader would take its end for that slice's. A begin behind `end`: nothing
 * is left.
 */
static uint64_t place_slice(struct lane *lane, uint64_t begin, uint64_t end)
{
    if (begin < lane->floor)
        begin = lane->floor;
    for (unsigned i = 0; i < lane->count; i++)
        if (lane->begin[i] <= begin && lane->end[i] > begin)
            begin = lane->end[i];
    for (unsigned i = 0; i < lane->count; i++)
        if (lane->begin[i] > begin && lane->begin[i] <= end && lane->end[i] > end)
            return end + 1;
    if (begin > end)
        return begin;
    while (lane->count > 0 && lane->begin[lane->count - 1] > begin)
        lane->count--;
    if (lane->count == LANE_SLICES) {
        lane->floor = lane->end[0];
        lane->count--;
        memmove(lane->begin, lane->begin + 1, lane->count * sizeof lane->begin[0]);
        memmove(lane->end, lane->end + 1, lane->count * sizeof lane->end[0]);
    }
    lane->begin[lane->count] = begin;
    lane->end[lane->count++] = end;
    return begin;
}

/* Whether the engines of a unit are recorded. */
static bool is_chosen(const struct pim_recorder *recorder, uint32_t unit)
{
    return unit < recorder->system->unit_count && recorder->tracks[unit][TRACK_PHASE] != 0;
}

/* The number of the message whose end the instruction is; 0: none, or its other end is not recorded. */
static uint64_t arrow_of(struct pim_recorder *recorder, uint32_t unit,
                         const struct pim_instruction *instruction)
{
    struct pim_arrow_end end;
    if (!instruction || !pim_message_end_of(instruction, unit, &end) || !is_chosen(recorder, end.source) ||
        !is_chosen(recorder, end.destination))
        return 0;
    return pim_arrows_next(&recorder->arrows, &end);
}

static void observe(void *context, uint32_t unit, const struct pim_instruction *instruction, uint32_t phase,
                    pim_time start, pim_time end)
{
    struct pim_recorder *recorder = context;
    const uint32_t *tracks = recorder->tracks[unit];
    const uint64_t arrow = arrow_of(recorder, unit, instruction); /* counted outside of the window too */
    if (tracks[TRACK_PHASE] == 0 || end < recorder->begin || start > recorder->end)
        return;
    if (instruction)
        pim_counters_observe(recorder->counters, unit, instruction, start, end);
    unsigned row = instruction ? (unsigned)pim_opcode_engine(instruction->opcode) : TRACK_PHASE;
    const uint64_t last = nanoseconds(recorder, end);
    const uint64_t first = place_slice(&recorder->lanes[unit][row], nanoseconds(recorder, start), last);
    if (first > last)
        return;
    const char *name;
    if (!instruction)
        name = pim_trace_phase(recorder->system->trace, phase)->name;
    else if (instruction->opcode == PIM_OP_VECTOR)
        name = pim_vector_name(instruction->detail);
    else if (pim_opcode_engine(instruction->opcode) == PIM_ENGINE_SEND && instruction->detail)
        name = pim_message_name(instruction->detail);
    else
        name = pim_opcode_name(instruction->opcode);
    write_slice(recorder, tracks[row], first, last, name, instruction, arrow);
}

static void add_tracks(struct pim_recorder *recorder, uint32_t unit)
{
    if (recorder->tracks[unit][TRACK_PHASE] != 0)
        return;
    char name[64];
    uint32_t width = recorder->system->hardware.width;
    (void)snprintf(name, sizeof name, "unit %" PRIu32 " (%" PRIu32 ", %" PRIu32 ")", unit, unit % width,
                   unit / width);
    uint32_t parent = pim_timeline_track(recorder->timeline, 0, name);
    recorder->tracks[unit][TRACK_PHASE] = pim_timeline_track(recorder->timeline, parent, "phase");
    for (unsigned engine = 0; engine < PIM_ENGINE_CONTROL; engine++)
        recorder->tracks[unit][engine] =
            pim_timeline_track(recorder->timeline, parent, pim_engine_name(engine));
    pim_counters_add_unit(recorder->counters, unit, parent);
}

/* "0-3,17": every unit that is named. */
static enum pim_status choose_units(struct pim_recorder *recorder, const char *list, struct pim_error *error)
{
    uint32_t count = recorder->system->unit_count;
    const char *text = list;
    while (*text) {
        char *rest;
        unsigned long first = isdigit((unsigned char)*text) ? strtoul(text, &rest, 10) : count;
        unsigned long last = first;
        if (first < count && *rest == '-' && isdigit((unsigned char)rest[1]))
            last = strtoul(rest + 1, &rest, 10);
        if (first >= count || last >= count || last < first || (*rest != '\0' && *rest != ','))
            return pim_fail(error, PIM_BAD_INPUT,
                            "timeline units \"%s\": a list like 0-3,17 of units from 0 to %" PRIu32
                            " is expected",
                            list, count - 1);
        for (unsigned long unit = first; unit <= last; unit++)
            add_tracks(recorder, (uint32_t)unit);
        text = *rest ? rest + 1 : rest;
    }
    return PIM_OK;
}

static pim_time ticks_of(const struct pim_recorder *recorder, uint64_t cycle)
{
    pim_time period = recorder->system->hardware.node.logic_period;
    return cycle > PIM_TIME_LAST / period ? PIM_TIME_LAST : cycle * period;
}

enum pim_status pim_recorder_create(struct pim_system *system, struct pim_recorder **out,
                                    struct pim_error *error)
{
    const struct pim_system_options *options = &system->options;
    *out = NULL;
    struct pim_recorder *recorder = calloc(1, sizeof *recorder);
    if (recorder) {
        recorder->tracks = calloc(system->unit_count, sizeof *recorder->tracks);
        recorder->lanes = calloc(system->unit_count, sizeof *recorder->lanes);
    }
    if (!recorder || !recorder->tracks || !recorder->lanes) {
        pim_recorder_abandon(recorder);
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the timeline");
    }
    recorder->system = system;
    recorder->begin = ticks_of(recorder, options->timeline_begin);
    recorder->end = ticks_of(recorder, options->timeline_end);
    const char *title = pim_trace_description(system->trace)->network;
    if (pim_timeline_create(&recorder->timeline, options->timeline, title && *title ? title : "pimsim",
                            TIMELINE_BYTES, error) != PIM_OK) {
        pim_recorder_abandon(recorder);
        return error->status;
    }
    recorder->counters = pim_counters_create(system, recorder->timeline, recorder->begin, recorder->end);
    if (!recorder->counters) {
        pim_recorder_abandon(recorder);
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the timeline");
    }
    char fallback[32];
    (void)snprintf(fallback, sizeof fallback, "0,%" PRIu32, system->unit_count - 1);
    if (choose_units(recorder, options->timeline_units ? options->timeline_units : fallback, error) !=
        PIM_OK) {
        pim_recorder_abandon(recorder);
        return error->status;
    }
    pim_system_observe(system, observe, recorder);
    *out = recorder;
    return PIM_OK;
}

enum pim_status pim_recorder_sample(struct pim_recorder *recorder, pim_time now, struct pim_error *error)
{
    return pim_counters_sample(recorder->counters, now, error);
}

pim_time pim_recorder_period(const struct pim_recorder *recorder)
{
    return pim_counters_period(recorder->counters);
}

enum pim_status pim_recorder_close(struct pim_recorder *recorder, uint64_t *left_out, struct pim_error *error)
{
    struct pim_timeline *timeline = recorder->timeline;
    pim_counters_finish(recorder->counters);
    recorder->timeline = NULL;
    pim_system_observe(recorder->system, NULL, NULL);
    pim_recorder_abandon(recorder);
    return pim_timeline_close(timeline, left_out, error);
}

void pim_recorder_abandon(struct pim_recorder *recorder)
{
    if (!recorder)
        return;
    pim_timeline_abandon(recorder->timeline);
    pim_counters_destroy(recorder->counters);
    pim_arrows_terminate(&recorder->arrows);
    free(recorder->tracks);
    free(recorder->lanes);
    free(recorder);
}

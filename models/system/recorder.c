#include "models/system/recorder.h"

#include "traces/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRACK_PHASE = PIM_ENGINES, TRACKS };
#define TIMELINE_BYTES (UINT64_C(64) << 20)

struct pim_recorder {
    struct pim_system *system;
    struct pim_timeline *timeline;
    uint32_t (*tracks)[TRACKS];   /* a row a unit; 0: not observed */
    pim_time (*last_end)[TRACKS]; /* of the slice written last: slices of a track must not overlap */
    pim_time begin, end;          /* ticks */
};

static uint64_t nanoseconds(const struct pim_recorder *recorder, pim_time time)
{
    return pim_system_picoseconds(recorder->system, time) / 1000;
}

/* With the instruction as the text form of traces has it: shape, addresses, bytes, peer, tag. */
static void write_slice(const struct pim_recorder *recorder, uint32_t track, pim_time start, pim_time end,
                        const char *name, const struct pim_instruction *instruction)
{
    char text[2 * PIM_TIMELINE_DETAIL_BYTES] = "";
    FILE *file = instruction ? fmemopen(text, sizeof text, "w") : NULL;
    if (file) {
        pim_instruction_print(instruction, file);
        (void)fclose(file);
        text[strcspn(text, "\n")] = '\0';
    }
    if (text[0])
        pim_timeline_detailed_slice(recorder->timeline, track, nanoseconds(recorder, start),
                                    nanoseconds(recorder, end), name, "instruction", text);
    else
        pim_timeline_slice(recorder->timeline, track, nanoseconds(recorder, start),
                           nanoseconds(recorder, end), name);
}

static void observe(void *context, uint32_t unit, const struct pim_instruction *instruction, uint32_t phase,
                    pim_time start, pim_time end)
{
    struct pim_recorder *recorder = context;
    const uint32_t *tracks = recorder->tracks[unit];
    if (tracks[TRACK_PHASE] == 0 || end < recorder->begin || start > recorder->end)
        return;
    unsigned row = instruction ? (unsigned)pim_opcode_engine(instruction->opcode) : TRACK_PHASE;
    /* Loads, sends and receives overlap their successors; what an earlier slice shows already is not shown
     * twice. */
    if (start < recorder->last_end[unit][row])
        start = recorder->last_end[unit][row];
    if (start > end)
        return;
    recorder->last_end[unit][row] = end;
    const char *name;
    if (!instruction)
        name = pim_trace_phase(recorder->system->trace, phase)->name;
    else if (instruction->opcode == PIM_OP_VECTOR)
        name = pim_vector_name(instruction->detail);
    else if (pim_opcode_engine(instruction->opcode) == PIM_ENGINE_SEND && instruction->detail)
        name = pim_message_name(instruction->detail);
    else
        name = pim_opcode_name(instruction->opcode);
    write_slice(recorder, tracks[row], start, end, name, instruction);
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
        recorder->last_end = calloc(system->unit_count, sizeof *recorder->last_end);
    }
    if (!recorder || !recorder->tracks || !recorder->last_end) {
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

enum pim_status pim_recorder_close(struct pim_recorder *recorder, uint64_t *left_out, struct pim_error *error)
{
    struct pim_timeline *timeline = recorder->timeline;
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
    free(recorder->tracks);
    free(recorder->last_end);
    free(recorder);
}

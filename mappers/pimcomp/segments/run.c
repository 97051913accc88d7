/* Programs of segments, one behind the other: segments.h. */
#include "mappers/pimcomp/layout/layout.h"
#include "mappers/pimcomp/segments/segments.h"
#include "sim/try.h"

#include <inttypes.h>
#include <stdio.h>

/* Of the local memory while weights are written: the barrier's elements, then places for pieces of weights,
 * which are loaded into one place after the other. */
enum { BUFFERS = 64, PLACES = 8, PLACE_BYTES = 16384, PLACE_STEP = 4 };

struct run {
    const struct pim_core_segment_problem *problem;
    struct pim_trace_writer *writer;
    struct pim_arena *arena;
    struct pim_core_memory_map *map;
    struct pim_error *error;
    struct pim_core_place *place; /* of each layer of the network that segments share */
    uint32_t *first_group;        /* of each core: groups of earlier segments */
    uint32_t *core;               /* all of them */
    uint32_t phase;               /* the next, without a writer */
    struct pim_core_schedule_report report;
    /* the segment that is written */
    const struct pim_core_segment *segment;
    uint32_t number;
};

static uint64_t row_bytes(const struct pim_trace_array_group *group)
{
    return (uint64_t)group->folds * group->columns * PIM_CORE_ELEMENT_BYTES;
}

/* --- weights into cells --- */

/* What is left to write of an array group. */
struct piece {
    uint32_t layer, replica, group, row;
    uint64_t address; /* of its next row in the global memory */
};

/* The groups of a core; *widest is the one with the longest row. */
static uint32_t list_pieces(const struct run *run, uint32_t core, struct piece *piece, uint64_t *longest,
                            uint32_t *widest)
{
    const struct pim_core_segment *segment = run->segment;
    uint32_t count = 0;
    for (uint32_t i = 0; i < segment->network.count; i++) {
        const struct pim_core_partition_layer *part = &segment->partition.layer[i];
        const struct pim_core_layout_layer *layout = &segment->layout.layer[i];
        uint64_t address = part->groups ? run->map->weights[segment->origin[i]] : 0;
        for (uint32_t g = 0; g < part->groups; g++) {
            for (uint32_t r = 0; r < layout->replicas; r++)
                if (layout->core[(size_t)r * part->groups + g] == core) {
                    if (row_bytes(&part->group[g]) > *longest) {
                        *longest = row_bytes(&part->group[g]);
                        *widest = i;
                    }
                    piece[count++] = (struct piece){.layer = i, .replica = r, .group = g, .address = address};
                }
            address += row_bytes(&part->group[g]) * part->group[g].rows;
        }
    }
    return count;
}

/* Rows of all groups of a core in turns, so that groups are written beside each other. */
static void write_core(const struct run *run, struct pim_core_emitter *emitter, uint32_t core,
                       struct piece *piece)
{
    uint64_t room = run->problem->architecture->local_memory_bytes, longest = 0;
    uint32_t widest = 0, count = list_pieces(run, core, piece, &longest, &widest), left = count, turn = 0;
    room = room > UINT32_MAX ? UINT32_MAX : room;
    room = room > BUFFERS ? room - BUFFERS : 0;
    if (count == 0 || longest == 0)
        return;
    uint64_t bytes = (room / PLACES < PLACE_BYTES ? room / PLACES : PLACE_BYTES) / PLACE_STEP * PLACE_STEP;
    if (longest > bytes)
        bytes = (longest + PLACE_STEP - 1) / PLACE_STEP * PLACE_STEP;
    uint32_t places = (uint32_t)(room / bytes < PLACES ? room / bytes : PLACES);
    if (places == 0) {
        emitter->program.status =
            pim_fail(run->error, PIM_BAD_INPUT,
                     "core %" PRIu32 ": a row of weights of %s is %" PRIu64
                     " bytes, too many to be written from its local memory: core.local_memory_bytes is "
                     "%" PRIu64,
                     core, run->segment->network.layer[widest].name, longest,
                     run->problem->architecture->local_memory_bytes);
        return;
    }
    while (left > 0 && emitter->program.status == PIM_OK)
        for (uint32_t i = 0; i < count; i++) {
            const struct pim_trace_array_group *group =
                &run->segment->partition.layer[piece[i].layer].group[piece[i].group];
            uint64_t row = row_bytes(group), rows = group->rows - piece[i].row;
            if (rows == 0 || row == 0)
                continue;
            uint64_t most = bytes / row;
            rows = rows < most ? rows : most;
            uint64_t local = BUFFERS + (turn++ % places) * bytes;
            pim_core_emit_transfer(emitter, PIM_OP_LOCAL_LOAD, core, local, piece[i].address, rows * row, 1,
                                   0);
            pim_core_emit_array_write(emitter, piece[i].layer, piece[i].replica, piece[i].group, piece[i].row,
                                      (uint32_t)rows, local);
            piece[i].row += (uint32_t)rows;
            piece[i].address += rows * row;
            left -= piece[i].row == group->rows;
        }
}

/* The phase before a segment: when all cores are done with the one before, each writes its own arrays. */
static void write_weights(void *context, struct pim_core_emitter *emitter)
{
    struct run *run = context;
    const struct pim_core_architecture *a = run->problem->architecture;
    char name[64];
    uint64_t groups = 1;
    for (uint32_t i = 0; i < run->segment->network.count; i++)
        groups += (uint64_t)run->segment->partition.layer[i].groups * run->segment->layout.layer[i].replicas;
    struct piece *piece = PIM_ARENA_ARRAY(run->arena, struct piece, groups);
    if (!piece) {
        emitter->program.status =
            pim_fail(run->error, PIM_NO_MEMORY, "no memory for the weights of a segment");
        return;
    }
    if (!run->writer)
        emitter->program.phases = run->phase;
    (void)snprintf(name, sizeof name, "weights of segment %" PRIu32, run->number);
    (void)pim_program_phase_begin(&emitter->program, name);
    if (run->number > 0)
        pim_core_emit_barrier(emitter, run->core, a->cores);
    for (uint32_t core = 0; core < a->cores && emitter->program.status == PIM_OK; core++)
        write_core(run, emitter, core, piece);
    pim_program_phase_end(&emitter->program);
}

/* --- places --- */

/* What segments share lies at the beginning of the global memory: maps with all samples, and weights. */
static enum pim_status place_shared(struct run *run, const struct pim_core_segments *segments)
{
    const struct pim_core_network *network = run->problem->network;
    uint64_t end = 0;
    for (uint32_t i = 0; i < network->count; i++) {
        run->place[i].address = run->map->weights[i] = run->map->bias[i] = PIM_CORE_NOWHERE;
        run->map->map[i].address = PIM_CORE_NOWHERE;
    }
    for (uint32_t s = 0; s < segments->count; s++) {
        const struct pim_core_segment *segment = &segments->segment[s];
        for (uint32_t i = 0; i < segment->network.count; i++) {
            const struct pim_core_layer *layer = &segment->network.layer[i];
            const struct pim_core_partition_layer *part = &segment->partition.layer[i];
            struct pim_core_place *place = &run->place[segment->origin[i]];
            if ((layer->kind == PIM_CORE_INPUT || layer->output) && place->address == PIM_CORE_NOWHERE) {
                uint64_t pixel = (uint64_t)layer->channels * PIM_CORE_ELEMENT_BYTES;
                uint64_t sample = pim_core_map_bytes((uint64_t)layer->height * layer->width * pixel);
                *place = (struct pim_core_place){.address = end,
                                                 .pixel_stride = pixel,
                                                 .sample_stride = sample,
                                                 .slots = run->problem->samples};
                end += sample * run->problem->samples;
            }
            if (part->groups > 0)
                run->map->weights[segment->origin[i]] = end;
            for (uint32_t g = 0; g < part->groups; g++)
                end += row_bytes(&part->group[g]) * part->group[g].rows;
            end = pim_core_map_bytes(end);
        }
    }
    run->map->bytes = end;
    uint64_t capacity = run->problem->architecture->global_memory_bytes;
    if (end > capacity)
        return pim_fail(run->error, PIM_BAD_INPUT,
                        "weights, and maps between segments for %" PRIu32 " samples, take %" PRIu64
                        " bytes of global memory: there are %" PRIu64,
                        run->problem->samples, end, capacity);
    return PIM_OK;
}

/* --- one segment --- */

/* What a segment's schedule came to, and where its maps are, into those of the network. */
static void take_results(struct run *run, const struct pim_core_memory_map *map,
                         const struct pim_core_schedule_report *report)
{
    const struct pim_core_segment *segment = run->segment;
    for (uint32_t i = 0; i < segment->network.count; i++) {
        uint32_t origin = segment->origin[i];
        run->map->map[origin] = map->map[i];
        if (segment->network.layer[i].kind == PIM_CORE_INPUT)
            continue;
        run->map->bias[origin] = map->bias[i];
        run->report.group[origin] = report->group[i];
        run->report.resident[origin] = report->resident && report->resident[i];
        run->report.layer_mvms[origin] = report->layer_mvms[i];
        const struct pim_core_partition_layer *part = &segment->partition.layer[i];
        for (uint64_t g = 0; g < (uint64_t)part->groups * segment->layout.layer[i].replicas; g++)
            run->first_group[segment->layout.layer[i].core[g]]++;
    }
    for (uint32_t core = 0; core < run->problem->architecture->cores; core++)
        if (run->report.local_bytes[core] < report->local_bytes[core])
            run->report.local_bytes[core] = report->local_bytes[core];
    run->map->bytes = pim_core_map_bytes(map->bytes);
    run->phase = report->first_phase + report->phases;
    run->report.groups = report->groups > run->report.groups ? report->groups : run->report.groups;
    run->report.rounds += report->rounds;
    run->report.phases = run->phase;
    pim_core_add_counts(&run->report.counts, &report->counts, sizeof report->counts, 1);
}

static enum pim_status schedule_segment(struct run *run, const struct pim_core_schedule_options *options)
{
    const struct pim_core_segment *segment = run->segment;
    struct pim_core_mapping mapping = pim_core_segment_mapping(run->problem, segment);
    mapping.first_group = run->first_group;
    mapping.origin = segment->origin;
    mapping.set = run->number + 1;
    struct pim_core_place *place = PIM_ARENA_ARRAY(run->arena, struct pim_core_place, segment->network.count);
    PIM_NEED_MEMORY(place, run->error, "no memory for the maps of a segment");
    for (uint32_t i = 0; i < segment->network.count; i++)
        place[i] = run->place[segment->origin[i]];
    const struct pim_core_placement placement = {.base = run->map->bytes, .place = place};
    struct pim_core_schedule_options used = *options;
    struct pim_core_schedule_report report;
    struct pim_core_memory_map map;
    char part[32];
    used.no_keeping = options->no_keeping || segment->no_keeping;
    used.report = &report;
    used.placement = &placement;
    (void)snprintf(part, sizeof part, "segment %" PRIu32, run->number);
    used.part = part;
    used.prologue = write_weights;
    used.prologue_context = run;
    PIM_TRY(pim_core_layout_check(&mapping, run->error));
    enum pim_status status = pim_core_schedule(&mapping, run->writer, &used, run->arena, &map, run->error);
    if (status == PIM_OK)
        take_results(run, &map, &report);
    return status;
}

enum pim_status pim_core_segments_schedule(const struct pim_core_segment_problem *problem,
                                           const struct pim_core_segments *segments,
                                           struct pim_trace_writer *writer,
                                           const struct pim_core_schedule_options *options,
                                           struct pim_arena *arena, struct pim_core_memory_map *map,
                                           struct pim_error *error)
{
    uint32_t layers = problem->network->count, cores = problem->architecture->cores;
    struct run run = {.problem = problem,
                      .writer = writer,
                      .arena = arena,
                      .map = map,
                      .error = error,
                      .place = PIM_ARENA_ARRAY(arena, struct pim_core_place, layers),
                      .first_group = PIM_ARENA_ARRAY(arena, uint32_t, cores),
                      .core = PIM_ARENA_ARRAY(arena, uint32_t, cores),
                      .report = {.group = PIM_ARENA_ARRAY(arena, uint32_t, layers),
                                 .resident = PIM_ARENA_ARRAY(arena, bool, layers),
                                 .local_bytes = PIM_ARENA_ARRAY(arena, uint64_t, cores),
                                 .layer_mvms = PIM_ARENA_ARRAY(arena, uint64_t, layers)}};
    map->map = PIM_ARENA_ARRAY(arena, struct pim_core_place, layers);
    map->bias = PIM_ARENA_ARRAY(arena, uint64_t, layers);
    map->weights = PIM_ARENA_ARRAY(arena, uint64_t, layers);
    PIM_NEED_MEMORY(run.place && run.first_group && run.core && run.report.group && run.report.resident &&
                        run.report.local_bytes && run.report.layer_mvms && map->map && map->bias &&
                        map->weights,
                    error, "no memory for the segments of %" PRIu32 " layers", layers);
    for (uint32_t core = 0; core < cores; core++)
        run.core[core] = core;
    PIM_TRY(place_shared(&run, segments));
    for (; run.number < segments->count; run.number++) {
        run.segment = &segments->segment[run.number];
        if (schedule_segment(&run, options) != PIM_OK)
            return pim_fail_in(error, "segment %" PRIu32, run.number);
    }
    if (options->report)
        *options->report = run.report;
    return PIM_OK;
}

/* The array of cores: life cycle, and what they wait for. */
#include "models/core/cores_internal.h"
#include "sim/try.h"
#include "traces/counts.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Array groups of a core; pim_cores_check() found that they fit. */
static enum pim_status take_groups(struct pim_cores *cores, struct pim_core *core, struct pim_error *error)
{
    uint32_t count;
    const struct pim_trace_array_group *groups =
        pim_trace_array_groups(cores->units.trace, core->unit.id, &count);
    const struct pim_crossbar_configuration *crossbar = &cores->configuration.crossbar;
    core->groups = calloc((size_t)count + 1, sizeof *core->groups);
    PIM_NEED_MEMORY(core->groups, error, "out of memory for the array groups of core %" PRIu32,
                    core->unit.id);
    core->group_count = count;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t occupied = pim_crossbar_occupied(crossbar, groups[i].arrays);
        uint64_t weights = (uint64_t)groups[i].folds * groups[i].columns;
        core->groups[i] = (struct pim_core_group){.arrays = occupied * cores->cost.array_slices,
                                                  .macs = pim_group_macs(&groups[i]),
                                                  .rows = groups[i].rows,
                                                  .row_bytes = 2 * weights,
                                                  .row_cells = weights * cores->cost.slices};
    }
    return PIM_OK;
}

/* Each at the beginning of a line of the cache, if its size allows it. */
static struct pim_core_slot *slots_of(size_t count)
{
    size_t bytes = count * sizeof(struct pim_core_slot);
    bytes = (bytes + PIM_CORE_CACHE_LINE - 1) / PIM_CORE_CACHE_LINE * PIM_CORE_CACHE_LINE;
    struct pim_core_slot *slots = aligned_alloc(PIM_CORE_CACHE_LINE, bytes);
    if (slots)
        memset(slots, 0, bytes);
    return slots;
}

static enum pim_status initialize_core(struct pim_cores *cores, uint32_t id, struct pim_error *error)
{
    struct pim_core *core = pim_core_at(cores, id);
    const struct pim_cores_configuration *configuration = &cores->configuration;
    uint32_t ring = 1;
    while (ring < configuration->window)
        ring *= 2;
    PIM_TRY(pim_unit_initialize(&cores->units, id, 0, error));
    core->cores = cores;
    uint32_t chip_x = id % configuration->width / configuration->chip_width;
    uint32_t chip_y = id / configuration->width / configuration->chip_height;
    core->chip = &cores->chips[chip_x + chip_y * cores->chips_across];
    core->mask = ring - 1;
    core->words = (ring + 63) / 64;
    while (configuration->local_bytes > UINT64_C(1) * PIM_CORE_LINES << core->line_shift)
        core->line_shift++;
    core->wake = core->ready = core->due = core->due_sequence = PIM_CYCLE_UNKNOWN;
    core->waits_for = UINT32_MAX;
    core->slots = slots_of(ring);
    core->lines = calloc((size_t)(PIM_CORE_LINES + 1) * core->words, sizeof *core->lines);
    core->touched = calloc(ring, sizeof *core->touched);
    core->others = calloc(ring, sizeof *core->others);
    core->over = calloc(core->words, sizeof *core->over);
    core->posted = calloc(ring, sizeof *core->posted);
    PIM_NEED_MEMORY(core->slots && core->lines && core->touched && core->others && core->over && core->posted,
                    error, "out of memory for core %" PRIu32 " of %" PRIu32, id, cores->units.count);
    for (uint32_t i = 0; i < ring; i++)
        core->slots[i].core = core;
    PIM_TRY(take_groups(cores, core, error));
    pim_core_wake_at(core, 0);
    return PIM_OK;
}

static enum pim_status initialize_chips(struct pim_cores *cores, struct pim_error *error)
{
    const struct pim_cores_configuration *configuration = &cores->configuration;
    assert(configuration->chip_width > 0 && configuration->width % configuration->chip_width == 0);
    assert(configuration->chip_height > 0 && configuration->height % configuration->chip_height == 0);
    cores->chips_across = configuration->width / configuration->chip_width;
    cores->chip_count = cores->chips_across * (configuration->height / configuration->chip_height);
    cores->chips = calloc(cores->chip_count, sizeof *cores->chips);
    PIM_NEED_MEMORY(cores->chips, error, "out of memory for %" PRIu32 " chips", cores->chip_count);
    for (uint32_t i = 0; i < cores->chip_count; i++) {
        struct pim_core_chip *chip = &cores->chips[i];
        chip->memory.cores = chip->interconnect.cores = cores;
        chip->memory.served = pim_core_memory_served;
        chip->memory.taken = configuration->on_channels ? pim_core_memory_ask : NULL;
        chip->interconnect.served = pim_core_message_served;
        for (unsigned port = 0; port < PIM_CHIP_PORTS; port++) {
            chip->port[port].cores = cores;
            chip->port[port].served = pim_core_link_served;
        }
    }
    return PIM_OK;
}

/* --- deadlock report --- */

/* What the head of a queue waits for. */
static void report_head(const struct pim_core *core, unsigned engine, struct pim_idle_report *report)
{
    const struct pim_core_queue *queue = &core->queue[engine];
    if (!(core->queued >> engine & 1))
        return;
    const struct pim_core_slot *slot = pim_core_slot_of(core, queue->head);
    const struct pim_instruction *instruction = &slot->instruction;
    char cause[128];
    if (slot->checked < slot->sequence) {
        const struct pim_core_slot *other = pim_core_slot_of(core, slot->checked);
        (void)snprintf(cause, sizeof cause, "instruction %" PRIu64 " (%s)%s", other->sequence,
                       pim_opcode_name(other->instruction.opcode),
                       slot->cause == PIM_WAIT_ISSUE ? " to end (in-order issue)" : "");
    } else if (engine == PIM_ENGINE_SEND && core->waits_for != UINT32_MAX) {
        const struct pim_core *peer = pim_core_at(core->cores, core->waits_for);
        (void)snprintf(cause, sizeof cause, "core %" PRIu32 " %s%s", core->waits_for,
                       slot->cause == PIM_WAIT_BUFFER ? "to have room for it" : "to reach its receive",
                       peer->unit.finished ? ": that core has finished" : "");
    } else {
        (void)snprintf(cause, sizeof cause, "its engine");
    }
    pim_unit_report_head(&core->unit, slot->sequence, instruction, cause, report);
}

static void describe(struct pim_unit *unit, struct pim_idle_report *report)
{
    const struct pim_core *core = (struct pim_core *)unit;
    for (uint32_t i = 0; i < core->posted_count; i++) {
        const struct pim_core_posted *posted = &core->posted[i];
        pim_idle_report_line(report,
                             "core %" PRIu32 ", instruction %" PRIu64 ": receive waits for core %" PRIu32
                             " to send tag %" PRIu32 "%s",
                             unit->id, posted->slot->sequence, posted->source, posted->tag,
                             pim_units_at(unit->units, posted->source)->finished ? ": that core has finished"
                                                                                 : "");
    }
    if (core->nn_send)
        pim_idle_report_line(report,
                             "core %" PRIu32 ", instruction %" PRIu64 ": send waits for core %" PRIu32
                             " to reach its receive, tag %" PRIu32,
                             unit->id, core->nn_send->sequence, core->waits_for,
                             core->nn_send->instruction.u.network.tag);
    for (unsigned engine = 0; engine < PIM_ENGINE_CONTROL; engine++)
        report_head(core, engine, report);
}

/* --- life cycle --- */

enum pim_status pim_cores_initialize(struct pim_cores *cores, struct pim_kernel *kernel,
                                     const struct pim_cores_configuration *configuration,
                                     const struct pim_trace *trace, struct pim_error *error)
{
    *cores = (struct pim_cores){.configuration = *configuration};
    pim_crossbar_cost_of(&configuration->crossbar, &cores->cost);
    assert(configuration->logic_period > 0);
    PIM_TRY(
        pim_units_initialize(&cores->units, &pim_core_family, kernel, trace, sizeof(struct pim_core), error));
    PIM_TRY(initialize_chips(cores, error));
    cores->units.window = configuration->window;
    cores->units.period = configuration->logic_period;
    cores->cycle_last = cores->units.time_last / configuration->logic_period;
    cores->horizon = cores->cycle_last;
    if (configuration->on_channels)
        PIM_TRY(pim_core_memory_create(cores, error));
    PIM_TRY(pim_cores_check(&configuration->crossbar, trace, error));
    for (uint32_t id = 0; id < cores->units.count; id++)
        PIM_TRY(initialize_core(cores, id, error));
    return PIM_OK;
}

static void limit(struct pim_units *units, uint64_t until)
{
    struct pim_cores *cores = (struct pim_cores *)units;
    cores->cycle_last = units->time_last / units->period;
    cores->horizon = until < cores->cycle_last ? until : cores->cycle_last;
}

static void terminate(struct pim_units *units)
{
    struct pim_cores *cores = (struct pim_cores *)units;
    for (uint32_t id = 0; units->first && id < units->count; id++) {
        struct pim_core *core = pim_core_at(cores, id);
        for (unsigned engine = 0; engine < PIM_ENGINE_CONTROL; engine++)
            free(core->lane[engine].entry);
        free(core->slots);
        free(core->lines);
        free(core->touched);
        free(core->others);
        free(core->over);
        free(core->posted);
        free(core->groups);
    }
    for (uint32_t i = 0; cores->chips && i < cores->chip_count; i++) {
        free(cores->chips[i].memory.pending);
        free(cores->chips[i].interconnect.pending);
        for (unsigned port = 0; port < PIM_CHIP_PORTS; port++)
            free(cores->chips[i].port[port].pending);
    }
    pim_core_memory_destroy(cores);
    pim_pool_terminate(&cores->messages);
    pim_pool_terminate(&cores->packets);
    free(cores->chips);
    pim_units_terminate(units);
}

const struct pim_unit_family pim_core_family = {
    .noun = "core",
    .noc = {.injected = pim_core_injected, .delivered = pim_core_delivered},
    .limit = limit,
    .account = pim_core_account,
    .describe = describe,
    .shared_rows = pim_core_memory_rows,
    .terminate = terminate,
};

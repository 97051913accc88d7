/* The array of cores: life cycle, results, and the report of who waits for what. */
#include "models/core/cores_internal.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Arrays of a core: the groups of the trace must fit. */
static enum pim_status take_groups(struct pim_cores *cores, struct pim_core *core, struct pim_error *error)
{
    uint32_t count;
    const struct pim_trace_array_group *groups = pim_trace_array_groups(cores->trace, core->id, &count);
    const struct pim_crossbar_configuration *crossbar = &cores->configuration.crossbar;
    core->groups = calloc((size_t)count + 1, sizeof *core->groups);
    if (!core->groups)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the array groups of core %" PRIu32,
                        core->id);
    core->group_count = count;
    uint64_t taken = 0; /* 2^24 groups of 2^32 arrays at most */
    for (uint32_t i = 0; i < count; i++) {
        uint64_t occupied = pim_crossbar_occupied(crossbar, groups[i].arrays);
        taken += occupied;
        core->groups[i].arrays = occupied * cores->cost.array_slices;
        core->groups[i].macs = (uint64_t)groups[i].rows * groups[i].columns * groups[i].folds;
    }
    if (taken > cores->cost.logical_arrays)
        return pim_fail(error, PIM_BAD_INPUT,
                        "core %" PRIu32 " holds %" PRIu64 " arrays, has %" PRIu32 ": %" PRIu64
                        " are missing (crossbar.count_x, crossbar.count_y)",
                        core->id, taken, cores->cost.logical_arrays, taken - cores->cost.logical_arrays);
    return PIM_OK;
}

static enum pim_status initialize_core(struct pim_cores *cores, uint32_t id, struct pim_error *error)
{
    struct pim_core *core = &cores->cores[id];
    const struct pim_cores_configuration *configuration = &cores->configuration;
    uint32_t ring = 1;
    while (ring < configuration->window)
        ring *= 2;
    core->cores = cores;
    core->id = id;
    uint32_t chip_x = id % configuration->width / configuration->chip_width;
    uint32_t chip_y = id / configuration->width / configuration->chip_height;
    core->chip = &cores->chips[chip_x + chip_y * cores->chips_across];
    core->mask = ring - 1;
    while (configuration->local_bytes > UINT64_C(1) * PIM_CORE_LINES * PIM_CORE_LINE_TURNS
                                            << core->line_shift)
        core->line_shift++;
    core->wake = core->ready = core->due = core->due_sequence = PIM_CYCLE_UNKNOWN;
    core->waits_for = UINT32_MAX;
    core->sums = &cores->outside;
    core->slots = calloc(ring, sizeof *core->slots);
    core->lines = calloc((size_t)2 * ring, sizeof *core->lines);
    core->posted = calloc(ring, sizeof *core->posted);
    bool complete = core->slots && core->lines && core->posted;
    for (unsigned engine = 0; engine < PIM_ENGINE_CONTROL; engine++) {
        core->queue[engine].sequence = calloc(ring, sizeof(uint64_t));
        complete = complete && core->queue[engine].sequence;
    }
    if (!complete)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for core %" PRIu32 " of %" PRIu32, id,
                        cores->count);
    for (uint32_t i = 0; i < ring; i++)
        core->slots[i].core = core;
    if (take_groups(cores, core, error) != PIM_OK)
        return error->status;
    if (pim_trace_cursor_create(cores->trace, id, &core->cursor, error) != PIM_OK)
        return pim_fail_in(error, "core %" PRIu32, id);
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
    if (!cores->chips)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu32 " chips", cores->chip_count);
    for (uint32_t i = 0; i < cores->chip_count; i++) {
        struct pim_core_chip *chip = &cores->chips[i];
        chip->memory.cores = chip->interconnect.cores = cores;
        chip->memory.served = pim_core_memory_served;
        chip->interconnect.served = pim_core_message_served;
        for (unsigned port = 0; port < PIM_CHIP_PORTS; port++) {
            chip->port[port].cores = cores;
            chip->port[port].served = pim_core_link_served;
        }
    }
    return PIM_OK;
}

/* --- deadlock report --- */

static bool pending(void *context)
{
    const struct pim_cores *cores = context;
    return cores->running > 0;
}

/* What the head of a queue waits for. */
static void report_head(const struct pim_core *core, unsigned engine, struct pim_idle_report *report)
{
    const struct pim_core_queue *queue = &core->queue[engine];
    if (queue->head == queue->tail)
        return;
    const struct pim_core_slot *slot = pim_core_slot_of(core, queue->sequence[queue->head & core->mask]);
    const struct pim_instruction *instruction = &slot->instruction;
    char cause[128];
    if (slot->checked < slot->sequence) {
        const struct pim_core_slot *other = pim_core_slot_of(core, slot->checked);
        (void)snprintf(cause, sizeof cause, "instruction %" PRIu64 " (%s)%s", other->sequence,
                       pim_opcode_name(other->instruction.opcode),
                       slot->cause == PIM_WAIT_ISSUE ? " to end (in-order issue)" : "");
    } else if (engine == PIM_ENGINE_SEND && core->waits_for != UINT32_MAX) {
        const struct pim_core *peer = &core->cores->cores[core->waits_for];
        (void)snprintf(cause, sizeof cause, "core %" PRIu32 " %s%s", core->waits_for,
                       slot->cause == PIM_WAIT_BUFFER ? "to have room for it" : "to reach its receive",
                       peer->finished ? ": that core has finished" : "");
    } else {
        (void)snprintf(cause, sizeof cause, "its engine");
    }
    char message[64] = "";
    if (engine == PIM_ENGINE_SEND || engine == PIM_ENGINE_RECEIVE)
        (void)snprintf(message, sizeof message, " %s core %" PRIu32 ", tag %" PRIu32,
                       engine == PIM_ENGINE_SEND ? "to" : "from", instruction->u.network.peer,
                       instruction->u.network.tag);
    pim_idle_report_line(report, "core %" PRIu32 ", instruction %" PRIu64 ": %s%s waits for %s", core->id,
                         slot->sequence, pim_opcode_name(instruction->opcode), message, cause);
}

static void report_core(void *context, struct pim_idle_report *report)
{
    struct pim_cores *cores = context;
    for (uint32_t id = 0; id < cores->count; id++) {
        const struct pim_core *core = &cores->cores[id];
        if (core->finished)
            continue;
        for (uint32_t i = 0; i < core->posted_count; i++) {
            const struct pim_core_posted *posted = &core->posted[i];
            pim_idle_report_line(report,
                                 "core %" PRIu32 ", instruction %" PRIu64 ": receive waits for core %" PRIu32
                                 " to send tag %" PRIu32 "%s",
                                 id, posted->slot->sequence, posted->source, posted->tag,
                                 cores->cores[posted->source].finished ? ": that core has finished" : "");
        }
        if (core->nn_send)
            pim_idle_report_line(report,
                                 "core %" PRIu32 ", instruction %" PRIu64 ": send waits for core %" PRIu32
                                 " to reach its receive, tag %" PRIu32,
                                 id, core->nn_send->sequence, core->waits_for,
                                 core->nn_send->instruction.u.network.tag);
        for (unsigned engine = 0; engine < PIM_ENGINE_CONTROL; engine++)
            report_head(core, engine, report);
    }
}

/* --- life cycle --- */

enum pim_status pim_cores_initialize(struct pim_cores *cores, struct pim_kernel *kernel,
                                     const struct pim_cores_configuration *configuration,
                                     const struct pim_trace *trace, struct pim_error *error)
{
    memset(cores, 0, sizeof *cores);
    cores->kernel = kernel;
    cores->configuration = *configuration;
    cores->trace = trace;
    cores->error = error;
    pim_crossbar_cost_of(&configuration->crossbar, &cores->cost);
    assert(configuration->logic_period > 0);
    cores->count = pim_trace_description(trace)->units;
    cores->phase_count = pim_trace_phases(trace);
    /* Sums of times over all cores, and what a network adds behind the last event, stay below 2^64. */
    cores->cycle_last = PIM_TIME_LAST / 2 / (cores->count ? cores->count : 1) / configuration->logic_period;
    cores->horizon = cores->cycle_last;
    cores->cores = calloc((size_t)cores->count + 1, sizeof *cores->cores);
    cores->phases = calloc((size_t)cores->phase_count + 1, sizeof *cores->phases);
    if (!cores->cores || !cores->phases)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu32 " cores", cores->count);
    if (pim_core_pool_create(&cores->pool, error) != PIM_OK || initialize_chips(cores, error) != PIM_OK)
        return error->status;
    cores->running = cores->count;
    for (uint32_t id = 0; id < cores->count; id++)
        if (initialize_core(cores, id, error) != PIM_OK)
            return error->status;
    cores->pending_work =
        (struct pim_pending_work){.pending = pending, .report = report_core, .context = cores};
    pim_kernel_add_pending_work(kernel, &cores->pending_work);
    return PIM_OK;
}

void pim_cores_limit(struct pim_cores *cores, pim_time last, uint64_t until)
{
    uint64_t cycle = last / cores->configuration.logic_period;
    if (cycle < cores->cycle_last)
        cores->cycle_last = cycle;
    cores->horizon = until < cores->cycle_last ? until : cores->cycle_last;
}

void pim_cores_terminate(struct pim_cores *cores)
{
    for (uint32_t id = 0; cores->cores && id < cores->count; id++) {
        struct pim_core *core = &cores->cores[id];
        for (unsigned engine = 0; engine < PIM_ENGINE_CONTROL; engine++) {
            free(core->queue[engine].sequence);
            free(core->lane[engine].entry);
        }
        free(core->slots);
        free(core->lines);
        free(core->posted);
        free(core->groups);
        pim_trace_cursor_destroy(core->cursor);
    }
    for (uint32_t i = 0; cores->chips && i < cores->chip_count; i++) {
        free(cores->chips[i].memory.pending);
        free(cores->chips[i].interconnect.pending);
        for (unsigned port = 0; port < PIM_CHIP_PORTS; port++)
            free(cores->chips[i].port[port].pending);
    }
    pim_core_pool_destroy(cores->pool);
    free(cores->chips);
    free(cores->cores);
    free(cores->phases);
}

struct pim_noc_callbacks pim_cores_callbacks(struct pim_cores *cores)
{
    return (struct pim_noc_callbacks){
        .context = cores, .injected = pim_core_injected, .delivered = pim_core_delivered};
}

/* --- results --- */

uint64_t pim_cores_instructions(const struct pim_cores *cores)
{
    uint64_t sum = 0;
    for (uint32_t id = 0; id < cores->count; id++)
        sum += cores->cores[id].result.instructions;
    return sum;
}

static uint64_t last_cycle(const struct pim_cores *cores)
{
    assert(cores->configuration.logic_period > 0);
    return cores->running > 0 ? pim_kernel_now(cores->kernel) / cores->configuration.logic_period
                              : cores->finished_at;
}

pim_time pim_cores_end(const struct pim_cores *cores)
{
    return last_cycle(cores) * cores->configuration.logic_period;
}

void pim_cores_close(struct pim_cores *cores)
{
    uint64_t end = last_cycle(cores);
    for (uint32_t id = 0; id < cores->count; id++) {
        struct pim_core *core = &cores->cores[id];
        if (!core->in_phase)
            continue;
        pim_core_account(core, end);
        pim_core_leave_phase(core, end);
    }
}

void pim_cores_result(struct pim_cores *cores, uint32_t id, struct pim_unit_result *result)
{
    struct pim_core *core = &cores->cores[id];
    pim_core_account(core, last_cycle(cores));
    *result = core->result;
#ifndef NDEBUG
    pim_time shares = 0, end = pim_cores_end(cores);
    for (unsigned share = 0; share < PIM_SHARES; share++)
        shares += result->share[share];
    assert(shares == end);
    for (unsigned class = 0; class < PIM_CLASSES; class ++)
        assert(result->busy[class] + result->stall[class] + result->idle[class] == end);
#endif
}

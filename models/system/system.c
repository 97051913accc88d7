#include "models/system/system.h"

#include "models/system/report/recorder.h"
#include "sim/integer.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

enum { PACKET_LATENCY_BITS = 10 };
#define PACKET_LATENCY_LARGEST (UINT64_C(1) << 32)
#define PICOSECONDS_PER_SECOND UINT64_C(1000000000000)

static void delivered(void *context, const struct pim_noc_delivery *delivery)
{
    struct pim_system *system = context;
    const struct pim_unit_family *family = system->units->family;
    if (!family->is_payload || family->is_payload(delivery)) {
        pim_histogram_add(&system->packet_latency, delivery->tail_arrived - delivery->created);
        system->packets++;
        system->hops += delivery->hops;
    }
    family->noc.delivered(system->units, delivery);
}

static void injected(void *context, uint64_t packet, uint32_t source)
{
    struct pim_system *system = context;
    system->units->family->noc.injected(system->units, packet, source);
}

/* The units; the error of their handlers is the system's. */
static enum pim_status build_units(struct pim_system *system, struct pim_error *error)
{
    const struct pim_hardware *hardware = &system->hardware;
    /* Times are reported in picoseconds too: those must fit 64 bits. */
    const uint64_t seconds = UINT64_MAX / PICOSECONDS_PER_SECOND;
    const pim_time last = seconds < PIM_TIME_LAST / hardware->ticks_per_second
                              ? seconds * hardware->ticks_per_second
                              : PIM_TIME_LAST;
    system->units = calloc(1, hardware->family->size);
    if (!system->units)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the %s", hardware->family->plural);
    if (hardware->family->initialize(system->units, system->kernel, hardware, system->trace, error) != PIM_OK)
        return error->status;
    system->units->error = &system->error;
    pim_units_limit(system->units, last, system->options.until_cycle);
    system->unit_count = system->units->count;
    system->phase_count = system->units->phase_count;
    system->phases = system->units->phases;
    return PIM_OK;
}

static enum pim_status build(struct pim_system *system, struct pim_error *error)
{
    const struct pim_trace_description *description = pim_trace_description(system->trace);
    const struct pim_hardware *hardware = &system->hardware;
    if (description->width != hardware->width || description->height != hardware->height)
        return pim_fail(error, PIM_BAD_INPUT,
                        "the trace is made for an array of %" PRIu32 " x %" PRIu32
                        ", the hardware has %" PRIu32 " x %" PRIu32
                        ": set array.width and array.height, or map again",
                        description->width, description->height, hardware->width, hardware->height);
    system->kernel = pim_kernel_create();
    if (!system->kernel)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the kernel");
    if (build_units(system, error) != PIM_OK)
        return error->status;
    struct pim_noc_callbacks callbacks = {.context = system, .injected = injected, .delivered = delivered};
    if (pim_noc_create(&hardware->noc, system->kernel, hardware->node.network_period, &callbacks,
                       &system->noc, error) != PIM_OK)
        return error->status;
    system->units->noc = system->noc;
    if (system->options.timeline && pim_recorder_create(system, &system->recorder, error) != PIM_OK)
        return error->status;
    return PIM_OK;
}

enum pim_status pim_system_create(const struct pim_hardware *hardware, const struct pim_trace *trace,
                                  const struct pim_system_options *options, struct pim_system **out,
                                  struct pim_error *error)
{
    *out = NULL;
    struct pim_system *system = calloc(1, sizeof *system);
    if (!system)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a simulation");
    system->hardware = *hardware;
    system->trace = trace;
    system->options = *options;
    pim_histogram_initialize(&system->packet_latency, PACKET_LATENCY_BITS, PACKET_LATENCY_LARGEST);
    if (build(system, error) != PIM_OK) {
        pim_system_destroy(system);
        return error->status;
    }
    *out = system;
    return PIM_OK;
}

void pim_system_destroy(struct pim_system *system)
{
    if (!system)
        return;
    pim_recorder_abandon(system->recorder);
    pim_noc_destroy(system->noc);
    if (system->units)
        system->hardware.family->units->terminate(system->units);
    free(system->units);
    pim_kernel_destroy(system->kernel);
    pim_histogram_terminate(&system->packet_latency);
    free(system);
}

uint64_t pim_system_cycles(const struct pim_system *system, pim_time time)
{
    return pim_divide_up(time, system->hardware.node.logic_period);
}

uint64_t pim_system_part_cycles(const struct pim_system *system, pim_time before, pim_time part)
{
    return pim_system_cycles(system, before + part) - pim_system_cycles(system, before);
}

uint64_t pim_system_share_cycles(const struct pim_system *system, const pim_time share[PIM_SHARES],
                                 unsigned which)
{
    pim_time before = 0;
    for (unsigned i = 0; i < which; i++)
        before += share[i];
    return pim_system_part_cycles(system, before, share[which]);
}

uint64_t pim_system_picoseconds(const struct pim_system *system, pim_time time)
{
    __extension__ typedef unsigned __int128 wide; /* 10^12 times a tick count needs more than 64 bits */
    return (uint64_t)((wide)time * PICOSECONDS_PER_SECOND / system->hardware.ticks_per_second);
}

double pim_system_nanoseconds(const struct pim_system *system, pim_time time)
{
    return (double)time * 1e9 / (double)system->hardware.ticks_per_second;
}

static uint64_t instructions_stored(const struct pim_trace *trace)
{
    uint64_t sum = 0;
    for (uint32_t unit = 0; unit < pim_trace_description(trace)->units; unit++)
        sum += pim_trace_instructions(trace, unit);
    return sum;
}

/* Runs in slices of time so that the bar can move and counters be read; slices change nothing in the order of
 * events. */
static enum pim_run_end run_slices(struct pim_system *system, pim_time until)
{
    if (system->options.quiet && !system->recorder)
        return pim_kernel_run(system->kernel, until);
    struct pim_progress progress;
    pim_progress_start(&progress, "simulating", instructions_stored(system->trace), system->options.quiet);
    pim_time slice = system->hardware.family->slice_cycles * system->hardware.node.logic_period;
    if (system->recorder)
        slice = pim_recorder_period(system->recorder);
    enum pim_run_end end;
    do {
        pim_time next = pim_kernel_next_time(system->kernel);
        pim_time stop =
            next == PIM_TIME_NEVER || next > PIM_TIME_LAST - slice ? PIM_TIME_NEVER : next + slice;
        end = pim_kernel_run(system->kernel, stop < until ? stop : until);
        pim_progress_update(&progress, pim_units_instructions(system->units));
        if (system->recorder && system->error.status == PIM_OK &&
            pim_recorder_sample(system->recorder, pim_kernel_now(system->kernel), &system->error) != PIM_OK)
            end = PIM_RUN_STOPPED;
    } while (end == PIM_RUN_UNTIL && pim_kernel_now(system->kernel) < until);
    pim_progress_finish(&progress);
    return end;
}

enum pim_status pim_system_run(struct pim_system *system, struct pim_error *error)
{
    pim_time period = system->hardware.node.logic_period;
    pim_time until = PIM_TIME_NEVER;
    if (system->options.until_cycle < PIM_TIME_LAST / period)
        until = system->options.until_cycle * period;
    enum pim_run_end end = run_slices(system, until);
    if (end == PIM_RUN_STOPPED || system->error.status != PIM_OK) {
        assert(system->error.status != PIM_OK);
        *error = system->error;
        return error->status;
    }
    if (end == PIM_RUN_EMPTY && pim_kernel_check_idle(system->kernel, error) != PIM_OK)
        return error->status;
    system->complete = system->units->running == 0;
    if (!system->recorder)
        return PIM_OK;
    const uint64_t cycles = pim_system_cycles(system, pim_system_end(system));
    const uint64_t begin = system->options.timeline_begin;
    if (begin > 0 && begin >= cycles) /* its file is abandoned with the system */
        return pim_fail(error, PIM_BAD_INPUT,
                        "the timeline's window begins at cycle %" PRIu64 ", the run ended at cycle %" PRIu64
                        ": nothing would be in it",
                        begin, cycles);
    struct pim_recorder *recorder = system->recorder;
    system->recorder = NULL;
    return pim_recorder_close(recorder, &system->timeline_left_out, error);
}

void pim_system_observe(struct pim_system *system, pim_observer *observer, void *context)
{
    system->units->observer = observer;
    system->units->observer_context = context;
}

/* --- results --- */

pim_time pim_system_end(const struct pim_system *system)
{
    return pim_units_end(system->units);
}

static enum pim_status collect_links(struct pim_system *system, struct pim_run_result *result,
                                     struct pim_error *error)
{
    const struct pim_hardware_family *family = system->hardware.family;
    if (family->has_routers && !family->has_routers(&system->hardware))
        return PIM_OK;
    return pim_noc_collect_links(system->noc, &result->links, &result->link_count, error);
}

enum pim_status pim_system_collect_links(struct pim_system *system, struct pim_run_result *result,
                                         struct pim_error *error)
{
    const struct pim_hardware_family *family = system->hardware.family;
    pim_noc_get_statistics(system->noc, &result->noc);
    return (family->collect ? family->collect : collect_links)(system, result, error);
}

/* Adds the counters of one unit to the sums: both structs hold nothing but uint64_t. */
static void add_counts(void *sum, const void *part, size_t size)
{
    uint64_t *into = sum;
    const uint64_t *from = part;
    for (size_t i = 0; i < size / sizeof *into; i++)
        into[i] += from[i];
}

enum pim_status pim_system_collect(struct pim_system *system, struct pim_run_result *result,
                                   struct pim_error *error)
{
    *result = (struct pim_run_result){.complete = system->complete, .unit_count = system->unit_count};
    pim_units_close(system->units);
    result->end = pim_system_end(system);
    result->cycles = pim_system_cycles(system, result->end);
    result->time_ps = pim_system_picoseconds(system, result->end);
    result->network_cycles = result->end / system->hardware.node.network_period;
    result->units = calloc(result->unit_count, sizeof *result->units);
    if (!result->units)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the units of the result");
    for (uint32_t unit = 0; unit < result->unit_count; unit++) {
        struct pim_unit_result *one = &result->units[unit];
        pim_unit_result_of(system->units, unit, one);
        add_counts(&result->actions, &one->actions, sizeof one->actions);
        add_counts(&result->dram, &one->bank, sizeof one->bank);
        result->bytes_loaded += one->bytes_loaded;
        result->bytes_stored += one->bytes_stored;
        result->bytes_sent += one->bytes_sent;
        result->bytes_received += one->bytes_received;
        result->instructions += one->instructions;
    }
    pim_energy_of(&system->hardware.energy, &result->actions,
                  system->hardware.width * system->hardware.height,
                  pim_system_nanoseconds(system, result->end), &result->energy);
    if (system->hardware.family->complete)
        system->hardware.family->complete(system, result);
    if (system->error.status != PIM_OK) { /* a count beyond 64 bits, late refreshes */
        pim_run_result_terminate(result);
        *error = system->error;
        return error->status;
    }
    result->events = pim_kernel_events(system->kernel);
    if (pim_system_collect_links(system, result, error) != PIM_OK) {
        pim_run_result_terminate(result);
        return error->status;
    }
    return PIM_OK;
}

void pim_run_result_terminate(struct pim_run_result *result)
{
    free(result->units);
    free(result->links);
    *result = (struct pim_run_result){.units = NULL};
}

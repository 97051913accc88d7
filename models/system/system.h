/*
 * A simulation: a trace replayed on the hardware of a configuration.
 *
 *     create -> run -> collect -> destroy
 *
 * Several may live in one process, also on the same trace in several threads: a trace is read-only, all else
 * belongs to one system.
 */
#ifndef PIMSIM_MODELS_SYSTEM_SYSTEM_H
#define PIMSIM_MODELS_SYSTEM_SYSTEM_H

#include "models/dram/energy.h"
#include "models/system/family.h"
#include "sim/output/histogram.h"
#include "sim/output/progress.h"
#include "sim/output/timeline.h"
#include "traces/file/reader.h"

#define PIM_UNTIL_END UINT64_MAX

struct pim_system_options {
    uint64_t until_cycle;                  /* of the logic clock; PIM_UNTIL_END runs the trace to its end */
    const char *timeline;                  /* path, or NULL */
    const char *timeline_units;            /* "0-3,17"; NULL: unit 0 and the last one */
    uint64_t timeline_begin, timeline_end; /* logic cycles; slices that reach into the window are written */
    bool quiet;                            /* no progress bar */
};

struct pim_system {
    struct pim_kernel *kernel;
    struct pim_noc *noc;
    struct pim_hardware hardware;
    struct pim_units *units; /* of hardware.family */
    uint32_t unit_count, phase_count;
    struct pim_phase_result *phases; /* of the units */
    const struct pim_trace *trace;
    struct pim_histogram packet_latency; /* network cycles, payload packets only */
    uint64_t packets, hops;              /* payload packets */
    struct pim_system_options options;
    struct pim_recorder *recorder;
    struct pim_error error;     /* of a handler */
    bool complete;              /* every unit finished its program */
    uint64_t timeline_left_out; /* slices beyond the size limit of the timeline */
};

/* All that reports are made of, collected once after a run. Cycles are of the logic clock, rounded up, unless
 * named otherwise. */
struct pim_run_result {
    uint64_t cycles;
    uint64_t time_ps;
    uint64_t network_cycles; /* the same time in cycles of the network clock */
    bool complete;
    pim_time end; /* ticks */
    struct pim_actions actions;
    struct pim_energy energy;
    bool on_channels; /* nodes, or the global memory of cores: */
    struct pim_dram_energy memory_energy;
    struct pim_unit_result *units;
    uint32_t unit_count;
    struct pim_noc_link_use *links;
    uint32_t link_count;
    struct pim_bank_counters dram;
    uint64_t bytes_loaded, bytes_stored, bytes_sent, bytes_received;
    uint64_t instructions;
    uint64_t events;
    struct pim_noc_statistics noc;
    const struct pim_message_sum *messages; /* by kind, borrowed; NULL: the units know no kinds */
    uint64_t receive_queue_maximum;         /* packets that a unit held before they were in memory */
};

/*
 * Makes the system. `trace` is borrowed. PIM_BAD_INPUT when the trace is made for an array of another size,
 * or has array groups and the hardware has no cores, or too few arrays in one. (An instruction for which the
 * hardware has no engine is refused when it would start.)
 */
enum pim_status pim_system_create(const struct pim_hardware *hardware, const struct pim_trace *trace,
                                  const struct pim_system_options *options, struct pim_system **system,
                                  struct pim_error *error);

/* Runs to the end of the trace or to options.until_cycle. PIM_DEADLOCK with a report when units wait for
 * ever. */
enum pim_status pim_system_run(struct pim_system *system, struct pim_error *error);

/*
 * Collects the result; pim_run_result_terminate gives its memory back. After a run that was stopped by
 * options.until_cycle the phases that were open count as if they ended there: phases still tile each unit's
 * time. To be called once.
 */
enum pim_status pim_system_collect(struct pim_system *system, struct pim_run_result *result,
                                   struct pim_error *error);
void pim_run_result_terminate(struct pim_run_result *result);

/* The links and counts of packets up to now, into a result that says its network cycles; may be called while
 * the simulation goes on. */
enum pim_status pim_system_collect_links(struct pim_system *system, struct pim_run_result *result,
                                         struct pim_error *error);

void pim_system_destroy(struct pim_system *system);

/* Who is told of the ends of instructions and phases; NULL: nobody. */
void pim_system_observe(struct pim_system *system, pim_observer *observer, void *context);

/* Tick up to which results account. */
pim_time pim_system_end(const struct pim_system *system);

/* The units as what they are; NULL when they are of another family. */
static inline const struct pim_node_array *pim_system_nodes(const struct pim_system *system)
{
    return system->units->family == &pim_node_family ? (const struct pim_node_array *)system->units : NULL;
}
/* Have the units private banks, whose port time is split into data, rows, refresh and turnaround? */
static inline bool pim_system_banks(const struct pim_system *system)
{
    const struct pim_hardware_family *family = system->hardware.family;
    return family->has_banks && family->has_banks(&system->hardware);
}
static inline const struct pim_channels *pim_system_channels(const struct pim_system *system)
{
    return system->units->family == &pim_channel_family ? (const struct pim_channels *)system->units : NULL;
}

/* Ticks as cycles of the logic clock, rounded up; a phase or unit time for reports. */
uint64_t pim_system_cycles(const struct pim_system *system, pim_time time);
/* The same of a part of a time that begins `before` ticks behind its start: the parts add up to the whole. */
uint64_t pim_system_part_cycles(const struct pim_system *system, pim_time before, pim_time part);
/* The same of one of the shares of a time, which follow one another in their order. */
uint64_t pim_system_share_cycles(const struct pim_system *system, const pim_time share[PIM_SHARES],
                                 unsigned which);

/* Ticks in picoseconds, rounded down. */
uint64_t pim_system_picoseconds(const struct pim_system *system, pim_time time);
/* Not rounded, for energies: those of units add up to that of the run. */
double pim_system_nanoseconds(const struct pim_system *system, pim_time time);

#endif

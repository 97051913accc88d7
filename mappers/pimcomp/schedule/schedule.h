/*
 * The last stage of the PIMCOMP front-end: programs of the cores (paper: PIMCOMP, sections VI-B and VII).
 *
 * High throughput: layers in groups, every group on a sample of its own, rounds with a barrier after each
 * (docs/mappers/pimcomp-high-throughput.md). Low latency: one sample, layers pass pixels on as they appear.
 */
#ifndef PIMSIM_MAPPERS_PIMCOMP_SCHEDULE_SCHEDULE_H
#define PIMSIM_MAPPERS_PIMCOMP_SCHEDULE_SCHEDULE_H

#include "mappers/pimcomp/kernels/emitter.h"
#include "mappers/pimcomp/representation/pimcomp.h"
#include "traces/file/writer.h"

/* How much of the input of a layer a core reads once and keeps (high throughput). */
enum pim_core_reuse {
    PIM_CORE_REUSE_ROWS,      /* rows of the map stay as long as windows of the core need them */
    PIM_CORE_REUSE_UNFOLDING, /* as Table IV counts: layers with ikk_o_1 load each window, the others each
                                 column once for a row of windows */
    PIM_CORE_REUSE_NONE       /* every window is loaded whole */
};

/* What the schedule came to; filled on success. */
struct pim_core_schedule_report {
    uint32_t groups;               /* of layers (high throughput); 1 in low latency */
    uint32_t rounds;               /* as emitted */
    uint32_t *group;               /* of each layer; in the arena */
    bool *resident;                /* of each layer: its output stays on chip; in the arena; may be NULL */
    uint32_t first_phase, phases;  /* of the trace, where the schedule has phases */
    uint64_t *local_bytes;         /* of each core: highest local address in use; in the arena */
    struct pim_core_counts counts; /* of all cores */
    uint64_t *layer_mvms;          /* of each layer; in the arena */
};

/* What lies in the global memory begins on a multiple of 64 bytes: the bytes that so many take. */
static inline uint64_t pim_core_map_bytes(uint64_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

/* Where some maps lie already, and from where on there is room for the others. */
struct pim_core_placement {
    uint64_t base;
    const struct pim_core_place *place; /* of each layer; PIM_CORE_NOWHERE: the schedule places it */
};

struct pim_core_schedule_options {
    /* High throughput. Samples: 0 emits one saturated round, every group of layers at work; N emits the N +
     * groups - 1 rounds that take N samples through. */
    uint32_t batch;
    bool no_grouping; /* every layer is a group of its own (the baseline of Fig. 14) */
    bool no_keeping;  /* every map goes through global memory, even where cores have room to keep it */
    enum pim_core_reuse reuse;
    /* Low latency. Messages are held back until so many wait; 0: the schedule's own choice; 1: none is held
     * back (the baseline of Fig. 16). */
    uint32_t transmit_threshold;
    /* Pixels stay in local memory for ever, which counts as unlimited: for the report's local_bytes (the
     * baseline of Fig. 17), not for hardware. */
    bool keep_pixels;
    /* Both. May be NULL. */
    struct pim_core_schedule_report *report;
    const struct pim_core_placement *placement;
    /* What of a network in parts this is, in a few words ("segment 2"): phases and their steps are named
     * after it. NULL: all of the network. */
    const char *part;
    /* Emits phases of its own before the schedule's. */
    void (*prologue)(void *context, struct pim_core_emitter *emitter);
    void *prologue_context;
    pim_program_observer *observe; /* of every instruction, in the emitter's order */
    void *observer;
};

/*
 * Emits the programs of all cores into `writer` (NULL: counts only) and says where the maps lie in global
 * memory. By mapping->mode one of the two below. All results live in `arena`. PIM_BAD_INPUT names the layer
 * that does not fit the local memory of a core, with what it needs and what there is, or the map that does
 * not fit the global memory; PIM_NO_MEMORY.
 */
enum pim_status pim_core_schedule(const struct pim_core_mapping *mapping, struct pim_trace_writer *writer,
                                  const struct pim_core_schedule_options *options, struct pim_arena *arena,
                                  struct pim_core_memory_map *map, struct pim_error *error);

/* Begins a program: initialises the emitter as the options say, and emits the prologue. */
enum pim_status pim_core_schedule_begin(const struct pim_core_schedule_options *options,
                                        struct pim_core_emitter *emitter,
                                        const struct pim_core_mapping *mapping,
                                        struct pim_trace_writer *writer, struct pim_arena *arena,
                                        struct pim_error *error);

/* Fills what of a report the emitter knows, and makes room for the layers' groups. PIM_NO_MEMORY. */
enum pim_status pim_core_schedule_report(const struct pim_core_emitter *emitter, struct pim_arena *arena,
                                         struct pim_core_schedule_report *report, struct pim_error *error);

enum pim_status pim_core_schedule_high_throughput(const struct pim_core_mapping *mapping,
                                                  struct pim_trace_writer *writer,
                                                  const struct pim_core_schedule_options *options,
                                                  struct pim_arena *arena, struct pim_core_memory_map *map,
                                                  struct pim_error *error);

enum pim_status pim_core_schedule_low_latency(const struct pim_core_mapping *mapping,
                                              struct pim_trace_writer *writer,
                                              const struct pim_core_schedule_options *options,
                                              struct pim_arena *arena, struct pim_core_memory_map *map,
                                              struct pim_error *error);

#endif

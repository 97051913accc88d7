/*
 * Channels whose banks compute: units that execute operations on rows, and move rows between columns, banks,
 * channels and stacks (the memory of Fast-OverlaPIM). docs/models/channel.md is the page.
 *
 * Rules, in the order in which hardware applies them:
 *  1. Fetch, phase marks, joins: models/unit/unit.h. Instructions of one engine start in program order.
 *  2. An instruction starts when those that it names are complete and all of its banks are free. Of several
 *     that could start in one cycle the oldest of the program goes first, then the others as far as they can;
 *     channels in the order of their numbers, again until none can start anything. Nothing is reserved for
 *     what cannot start.
 *  3. It keeps its banks to its end: its cost alone (costs.h), and the refreshes that become due.
 *  4. What works at the same time shares the rows of the channel (activations and row commands) and its data
 *     bus: each is a server, first come first served, on which an instruction has to have its row_cycles and
 *     data_cycles before it ends. Where nothing else is under way this costs nothing.
 *  5. A receive that may start is posted; that takes no banks. A send starts when its receive is posted,
 *     reads its rows, and keeps its banks until they are read. Rows cross the link out of the channel and
 *     the link into the other at `link_bytes` a cycle each; between stacks also the bus that all share, at
 *     `bus_bytes`: servers again. The send ends when its last row has left.
 *  6. Posted rows are written when the first of them is there and the banks are free: to the end of the
 *     write, and not before the last row has come and been written. The controller has room for what waits.
 *  7. Channel x of row y of the array is in stack y. A message within a stack says "channel", one between
 *     stacks "stack": another one is refused.
 */
#ifndef PIMSIM_MODELS_CHANNEL_CHANNEL_H
#define PIMSIM_MODELS_CHANNEL_CHANNEL_H

#include "models/channel/costs.h"
#include "models/channel/values.h"
#include "models/unit/unit.h"

struct pim_channels_configuration {
    uint32_t width;  /* channels of a stack: units of a row of the array */
    uint32_t window; /* instructions in flight, a power of two */
    struct pim_channel_memory memory;
    pim_time period; /* of the clock that costs are counted in, ticks */
};

/* What all channels share. Times are cycles of `configuration.period`. */
struct pim_channels {
    struct pim_units units; /* first */
    struct pim_channels_configuration configuration;
    struct pim_channel_costs *costs;
    struct pim_channel_values *values; /* functional mode: borrowed, set before the run; NULL: none */
    uint64_t bus_free;                 /* between stacks */
    uint64_t bus_cycles;               /* that it was in use */
    bool *looking;                     /* channels in which something may start in this tick */
    uint32_t looking_count;
};

/*
 * Makes a channel for each unit of `trace` and schedules their first fetch at tick 0. The trace must outlive
 * the channels; `error` keeps the first error of a run. pim_channel_family.terminate gives back what there
 * is, also after a failure.
 */
enum pim_status pim_channels_initialize(struct pim_channels *channels, struct pim_kernel *kernel,
                                        const struct pim_channels_configuration *configuration,
                                        const struct pim_trace *trace, struct pim_error *error);

/* Rows, banks and columns of every instruction of a trace, moves and messages within the array, without
 * running it: PIM_BAD_INPUT names channel and stored instruction. */
enum pim_status pim_channels_check(const struct pim_channels_configuration *configuration,
                                   const struct pim_trace *trace, struct pim_error *error);

extern const struct pim_unit_family pim_channel_family;

#endif
